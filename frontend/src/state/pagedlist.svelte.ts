import { errorText } from './sentences.svelte';

const pause = 200;

/** A page of a list, and the cursor of the next one. */
export interface Part<Row> {
  rows: Row[];
  next?: string;
}

/** A list that is found by a text and by filters, and read page by page. What the page shows of it is here; what is asked, its children say. */
export abstract class PagedList<Row> {
  query = $state('');
  rows = $state.raw<Row[]>([]);
  /** The query the rows were found with; it trails `query` by a pause. */
  found = $state('');
  loaded = $state(false);
  loading = $state(false);
  trouble = $state('');
  more = $state(false);

  #next = '';
  #asked = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Asks for the first page, or with a cursor for the one it leads to, as the filters now are. */
  protected abstract ask(cursor?: string): Promise<Part<Row>>;
  protected abstract id(row: Row): string;

  search(query: string): void {
    this.query = query;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.load(), pause);
  }

  /** Reads the first page anew. An answer that was overtaken by a later question is dropped. */
  load(): Promise<void> {
    clearTimeout(this.#timer);
    const query = this.query;
    this.#asked++;
    return this.read(this.ask(), (first) => {
      this.set(first);
      this.found = query;
      this.loaded = true;
    });
  }

  /** Reads the next page, unless there is none or one is under way. */
  async further(): Promise<void> {
    if (!this.#next || this.loading) return;
    await this.read(this.ask(this.#next), (part) => {
      const known = new Set(this.rows.map((row) => this.id(row)));
      this.set({ rows: [...this.rows, ...part.rows.filter((row) => !known.has(this.id(row)))], next: part.next });
    });
  }

  protected set(part: Part<Row>): void {
    this.rows = part.rows;
    this.#next = part.next ?? '';
    this.more = !!this.#next;
  }

  protected async read(answer: Promise<Part<Row>>, take: (part: Part<Row>) => void): Promise<void> {
    const asked = this.#asked;
    this.loading = true;
    try {
      const part = await answer;
      if (asked !== this.#asked) return;
      take(part);
      this.trouble = '';
    } catch (error) {
      if (asked === this.#asked) this.trouble = errorText(error);
    } finally {
      if (asked === this.#asked) this.loading = false;
    }
  }
}
