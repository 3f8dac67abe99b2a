import { Problem } from '../backend/http';
import { withStep } from '../lib/steps';
import type { Attachment } from '../lib/wire';
import type { AppState } from './app.svelte';
import type { Draft } from './draft.svelte';
import { errorText } from './sentences.svelte';

/** A file on its way: it is checked for secrets by the server, or was refused, and why. */
export interface Uploading {
  key: number;
  name: string;
  share: number;
  /** The step it belongs to; 0 for the answer itself. */
  step: number;
  blocked: string;
  /** To try it again. */
  file: Blob;
  stop: AbortController;
}

let keys = 0;

/** The files of an answer that is being written. Those that have arrived are in the draft, which keeps their ids. */
export class Attaching {
  uploads = $state<Uploading[]>([]);
  /** Of files that arrived in this page, also those of steps. */
  #known = $state.raw<ReadonlyMap<string, Attachment>>(new Map());

  constructor(
    private readonly app: AppState,
    private readonly draft: Draft,
    private readonly saved: () => readonly Attachment[],
  ) {}

  /** What is known of an attached file, if it is. */
  of(id: string): Attachment | undefined {
    return this.#known.get(id) ?? this.draft.form.files.find((file) => file.attachment_id === id) ?? this.saved().find((file) => file.attachment_id === id);
  }

  get busy(): boolean {
    return this.uploads.some(({ blocked }) => !blocked);
  }

  /** Uploads a file, and puts it into the answer or one of its steps once it was checked. */
  async add(file: Blob, name: string, step = 0): Promise<void> {
    const upload: Uploading = { key: ++keys, name, share: 0, step, blocked: '', file, stop: new AbortController() };
    this.uploads.push(upload);
    const live = (): Uploading | undefined => this.uploads.find(({ key }) => key === upload.key);
    try {
      const { AttachmentsApi } = await import('../backend/attachments');
      const got = await new AttachmentsApi(this.app.api.to).upload(file, name, {
        signal: upload.stop.signal,
        progress: (share) => {
          const at = live();
          if (at) at.share = share;
        },
      });
      if (!live()) return;
      this.#known = new Map([...this.#known, [got.attachment_id, got]]);
      const { form } = this.draft;
      if (step) {
        const had = form.steps.find((one) => one.step === step)?.attachments ?? [];
        form.steps = withStep(form.steps, step, { attachments: [...had.filter((id) => id !== got.attachment_id), got.attachment_id] });
      } else if (!form.files.some((one) => one.attachment_id === got.attachment_id)) form.files.push(got);
      this.draft.touch();
      this.drop(upload.key);
    } catch (error) {
      const at = live();
      if (at && error instanceof Problem) at.blocked = errorText(error);
      else if (at) throw error;
    }
  }

  again(key: number): void {
    const upload = this.uploads.find((one) => one.key === key);
    if (!upload) return;
    this.drop(key);
    void this.add(upload.file, upload.name, upload.step);
  }

  /** Gives up a file that is on its way, or was refused. */
  drop(key: number): void {
    const upload = this.uploads.find((one) => one.key === key);
    this.uploads = this.uploads.filter((one) => one.key !== key);
    if (upload && !upload.blocked) upload.stop.abort();
  }

  /** Takes a file out of the answer. */
  remove(id: string, step = 0): void {
    const { form } = this.draft;
    if (step) form.steps = withStep(form.steps, step, { attachments: (form.steps.find((one) => one.step === step)?.attachments ?? []).filter((one) => one !== id) });
    else form.files = form.files.filter((file) => file.attachment_id !== id);
    this.draft.touch();
  }
}
