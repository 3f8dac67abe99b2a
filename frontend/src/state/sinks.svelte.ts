import type { Api } from '../backend/api';
import type { Sink } from '../lib/wire';
import { Trying } from './trying.svelte';

/** Where finished requests go besides the journal, and a test of each. */
export class Sinks extends Trying {
  all = $state.raw<Sink[]>([]);
  /** What is being tested, and what took the last sample. */
  testing = $state<Sink['name'] | ''>('');
  tested = $state<Sink['name'] | ''>('');

  constructor(private readonly api: Api) {
    super();
  }

  load(): Promise<boolean> {
    return this.try(async () => (this.all = await this.api.sinks()));
  }

  async test(name: Sink['name']): Promise<void> {
    [this.testing, this.tested] = [name, ''];
    if (await this.try(() => this.api.testSink(name))) this.tested = name;
    this.testing = '';
  }
}
