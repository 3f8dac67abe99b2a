import type { FilteredList } from '../lib/filters';
import type { Route } from './route.svelte';

/** An address that is only remembered. */
export function sampleRoute(inbox = ''): Pick<Route, 'queries' | 'filter'> {
  const queries = $state<Record<FilteredList, string>>({ inbox, history: '', statistics: '' });
  return { queries, filter: (list, query) => void (queries[list] = query) };
}
