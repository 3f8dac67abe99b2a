import { call, fetchBytes, Problem, refusal, type Connection } from './http';
import { shell } from './shell';
import type { Attachment } from '../lib/wire';

/** The most bytes of a file of any type; the server knows the limit of each. */
export const largestFile = 10_000_000;

export const attachmentPath = (id: string, what = ''): string => `/api/attachments/${encodeURIComponent(id)}${what}`;

export interface Uploading {
  /** Told how much of it has arrived, from 0 to 1. */
  progress?: (share: number) => void;
  /** Gives it up. */
  signal?: AbortSignal;
}

/** The calls about attached files. Each throws a Problem and nothing else. Cards have no room for them: whoever attaches makes one with Api.to. */
export class AttachmentsApi {
  constructor(private readonly to: Connection) {}

  /**
   * Stores a file, checked and masked, for an answer to name. The server finds out what it is; one that nothing names is removed
   * after a day. @throws Problem; one that was given up has status 0.
   */
  upload(file: Blob, name: string, { progress, signal }: Uploading = {}): Promise<Attachment> {
    // Fetch tells nothing of how far it has come.
    return new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      request.open('POST', `${this.to.url}/api/attachments?${new URLSearchParams({ name }).toString()}`);
      request.responseType = 'text';
      if (this.to.token) request.setRequestHeader('Authorization', `Bearer ${this.to.token}`);
      request.setRequestHeader('Content-Type', 'application/octet-stream');
      request.upload.onprogress = ({ loaded, total }) => progress?.(total ? loaded / total : 0);
      request.onload = () => {
        const document: unknown = parsed(request.responseText);
        if (request.status === 201) resolve(document as Attachment);
        else reject(refusal(request.status, request.statusText, document));
      };
      request.onerror = request.onabort = request.ontimeout = () => reject(new Problem(0, ''));
      signal?.addEventListener('abort', () => request.abort(), { once: true });
      if (signal?.aborted) request.onabort(new ProgressEvent('abort'));
      else request.send(file);
    });
  }

  info(id: string): Promise<Attachment> {
    return call(this.to, 'GET', attachmentPath(id, '/info'));
  }

  /** The bytes of a text, as text. */
  async text(id: string): Promise<string> {
    return (await fetchBytes(this.to, attachmentPath(id))).bytes.text();
  }

  /** Saves it as a file. Returns its name, or '' when the operator thought better of it. */
  save(file: Attachment): Promise<string> {
    const path = attachmentPath(file.attachment_id);
    return shell.save(file.name, path, async () => ({ ...(await fetchBytes(this.to, path)), name: file.name }));
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
