import { advanced, emptyTracks, ms, pictureAt, pointerAt, addTracks, second, type Tracks, type Track } from '../lib/recording';
import type { WebPage } from '../lib/wire';
import type { OpenRecording } from './recording.svelte';
import { errorText } from './sentences.svelte';

const page = 5000;
/** How long a press is shown on the picture, of the recording's time. */
const shown = 400 * ms;

export const speeds = ['1', '2', '4', '8'] as const;
export type Speed = (typeof speeds)[number];

/**
 * Plays a recording: its pictures, with the pointer drawn where it was. A step that was picked is shown on its own
 * picture; once playing or scrubbing begins, what stood on the screen at that time is shown.
 */
export class Player {
  time = $state(0);
  playing = $state(false);
  speed = $state<Speed>('1');
  skip = $state(true);
  /** True: the screen at `time`; false: the picked step. */
  live = $state(false);
  loading = $state(false);
  trouble = $state('');
  #tracks = $state.raw<Tracks>(emptyTracks());
  #read: Promise<void> | undefined;
  #frame = 0;
  #last = 0;

  readonly end = $derived.by<number>(() => Math.max(this.open.recording?.span_ns ?? 0, this.open.actions.at(-1)?.end_ns ?? 0, 1));
  readonly #shown = $derived.by<ReturnType<typeof pictureAt>>(() => (this.live ? pictureAt(this.#tracks, this.time) : undefined));
  readonly picture = $derived.by<string>(() => this.#shown?.id ?? '');
  /** The page that picture is of, where it is not of the desktop. */
  readonly page = $derived.by<WebPage | undefined>(() => this.#shown?.page);
  readonly #track = $derived.by<Track>(() => (this.page ? this.#tracks.onPage : this.#tracks));
  readonly pointer = $derived.by<{ x: number; y: number } | null>(() => (this.live ? pointerAt(this.#track, this.time) : null));
  readonly press = $derived.by<{ x: number; y: number } | null>(() => {
    if (!this.live) return null;
    const last = this.#track.presses.findLast((press) => press.at <= this.time);
    return last && this.time - last.at < shown ? last : null;
  });

  constructor(readonly open: OpenRecording) {}

  /** Shows the action that was selected by itself. */
  rest(): void {
    this.pause();
    this.live = false;
    this.time = this.open.action?.at_ns ?? 0;
  }

  async toggle(): Promise<void> {
    if (this.playing) this.pause();
    else await this.play();
  }

  async play(): Promise<void> {
    await this.load();
    if (this.trouble) return;
    if (this.time >= this.end - ms) this.time = 0;
    this.live = true;
    this.playing = true;
    this.#last = performance.now();
    this.#frame = requestAnimationFrame(this.#step);
  }

  pause(): void {
    this.playing = false;
    cancelAnimationFrame(this.#frame);
  }

  /** Shows the screen at a time. */
  async seek(time: number): Promise<void> {
    this.time = Math.min(Math.max(0, time), this.end);
    this.live = true;
    this.open.selectAt(this.time);
    await this.load();
  }

  /** Reads the pointer's path and the pictures' times, once. */
  load(): Promise<void> {
    this.#read ??= this.#fetch();
    return this.#read;
  }

  async #fetch(): Promise<void> {
    this.loading = true;
    try {
      const found = emptyTracks();
      let after: number | undefined = 0;
      while (after !== undefined) {
        const part = await this.open.app.api.recordedEvents(this.open.id, after, page);
        addTracks(found, part.events);
        after = part.events.length ? part.next : undefined;
      }
      this.#tracks = found;
      this.trouble = '';
    } catch (error) {
      this.trouble = errorText(error);
      this.#read = undefined;
    } finally {
      this.loading = false;
    }
  }

  #step = (now: number): void => {
    if (!this.playing) return;
    const step = (now - this.#last) * ms * Number(this.speed);
    this.#last = now;
    // A tab that slept must not leap.
    this.time = advanced(this.time, Math.min(step, second), this.skip, this.#tracks, this.open.actions, this.end);
    this.open.selectAt(this.time);
    if (this.time >= this.end) this.pause();
    else this.#frame = requestAnimationFrame(this.#step);
  };
}
