import { sameDay, timeOfDay } from '../lib/time';
import { language } from './locale.svelte';
import { ticker } from './ticker.svelte';

const week = 6 * 24 * 3600_000;

/** A moment to come, on the clock here: the time of today, the day of the week within the next six days, else the date. */
export function moment(at: string): string {
  if (sameDay(at, ticker.now)) return timeOfDay(at);
  const soon = Date.parse(at) - ticker.now < week;
  return new Intl.DateTimeFormat(language.locale, { ...(soon ? { weekday: 'short' } : { month: 'short', day: 'numeric' }), hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }).format(new Date(at));
}
