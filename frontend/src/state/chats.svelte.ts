import { Problem } from '../backend/http';
import { chatState, turns, type ChatState, type Turn } from '../lib/chat';
import type { AppState } from './app.svelte';
import { Reading } from './runs.svelte';
import { errorText } from './sentences.svelte';

type Of = Pick<AppState, 'api' | 'operations' | 'unsent'>;

/** A conversation with an agent: one that is there, or one that begins with its first message. */
export class Conversation extends Reading {
  /** Of a new one: who is to answer, and where its tools are to run. */
  chosen = $state('');
  folder = $state('');
  /** The message that is being answered, since when, in ms; and how many updates there were before. */
  sent = $state('');
  since = $state(0);
  #before = $state(0);
  sending = $state(false);
  /** Why the last message was not answered, or the agent was not stopped. */
  refused = $state('');
  /** It waited too long for a message: it takes none any more. */
  expired = $state(false);
  #halted = false;

  readonly agent = $derived.by<string>(() => this.run?.agent ?? this.chosen);
  readonly turns = $derived.by<Turn[]>(() => turns(this.updates));
  readonly #news = $derived(this.updates.slice(this.#before));
  /** The message that was sent and is not in the journal yet; or ''. */
  readonly pending = $derived.by<string>(() => (this.sending && !this.#news.some(({ type }) => type === 'user_message') && !this.#again ? this.sent : ''));
  readonly state = $derived.by<ChatState | 'new'>(() => {
    if (this.sending && !this.#news.some(({ type }) => type === 'conversational_response')) return 'working';
    return this.run ? chatState(this.run) : 'new';
  });
  /** The message continues one that was stopped, which is in the journal. */
  #again = $state(false);
  #key = '';

  constructor(
    private readonly app: Of,
    id = '',
    pause?: (ms: number) => Promise<void>,
  ) {
    super(app.api, app.operations, id, pause);
  }

  protected get at(): Of['api']['chats'] {
    return this.app.api.chats;
  }

  protected get ends(): boolean {
    return false;
  }

  protected override get begins(): boolean {
    return this.sending;
  }

  /** What is typed and not sent. */
  get text(): string {
    return this.app.unsent.get(`chat.${this.id}`);
  }

  set text(text: string) {
    this.app.unsent.set(`chat.${this.id}`, text);
  }

  /** Whether a message can be sent now. */
  get ready(): boolean {
    return this.state !== 'working' && !this.expired && !!this.agent;
  }

  /** Sends what is typed. */
  async send(): Promise<void> {
    const words = this.text.trim();
    if (!words || !this.ready) return;
    this.text = '';
    if (!(await this.#answer(words, false))) this.text = this.text || words;
  }

  /** Sends the last message again: what was done for it is not done twice. */
  async again(): Promise<void> {
    const words = this.sent || (this.updates.findLast(({ type }) => type === 'user_message')?.content ?? '');
    if (words && this.ready) await this.#answer(words, this.state === 'stopped');
  }

  /** Stops the answer. What was done stays, and the same message continues. */
  async stop(): Promise<void> {
    this.#halted = true;
    try {
      await this.at.stop(this.id);
    } catch (error) {
      this.refused = errorText(error);
    }
  }

  /** Has a message answered. Resolves to whether it is in the journal. */
  async #answer(words: string, again: boolean): Promise<boolean> {
    Object.assign(this, { sent: words, since: Date.now(), sending: true, refused: '' });
    this.#before = this.updates.length;
    this.#again = again;
    this.#halted = false;
    // Again: for what was stopped, or did not come back. With the same key what came of it is not done twice.
    if (!again) this.#key = `${Date.now()}.${Math.random()}`;
    try {
      if (this.id) await this.at.send(this.agent, { message: words, session_id: this.id, idempotency_key: this.#key });
      else await this.#begin(words);
      return true;
    } catch (error) {
      const told = again || this.#news.some(({ type }) => type === 'user_message');
      // What stopped it is known; where it begins there is nothing to come back to.
      if (!this.#halted) this.refused = errorText(error);
      this.expired = error instanceof Problem && error.status === 404 && !!error.said.code?.startsWith('session_');
      if (!told && !this.run) this.#move('');
      return told;
    } finally {
      this.sending = false;
    }
  }

  /** The first message: its id comes with the answer, so that is not waited for; the same message again joins it. */
  async #begin(words: string): Promise<void> {
    const folder = this.folder.trim();
    const first = await this.at.send(this.chosen, { message: words, idempotency_key: this.#key, ...(folder && { folder }) }, 1);
    this.#move(first.session_id);
    if (first.status === 'working') await this.at.send(this.chosen, { message: words, session_id: first.session_id, idempotency_key: this.#key });
  }

  /** Takes what is typed along to another id. */
  #move(id: string): void {
    const { text } = this;
    this.text = '';
    this.id = id;
    if (text) this.text = text;
  }
}

/** The conversations that were opened: what is sent goes on wherever one looks. */
export class Conversations {
  readonly #all = new Map<string, Conversation>();
  /** The one that begins with its first message. */
  fresh = $state.raw<Conversation>() as Conversation;

  constructor(private readonly app: Of) {
    this.fresh = this.#new();
  }

  /** The conversation of an id, made when first asked for; of '' the one that begins. */
  of(id: string): Conversation {
    if (!id) return this.fresh;
    const known = this.#all.get(id) ?? this.#new(id);
    this.#all.set(id, known);
    return known;
  }

  /** The one that was to begin has: the next may. */
  begun(): void {
    this.#all.set(this.fresh.id, this.fresh);
    this.fresh = this.#new();
  }

  #new(id = ''): Conversation {
    return new Conversation(this.app, id);
  }
}
