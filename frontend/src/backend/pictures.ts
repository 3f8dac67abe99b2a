import { attachmentPath } from './attachments';
import { fetchBytes, type Connection } from './http';

/** Which picture, and how: `width` in pixels makes it smaller, `masked` is as an agent would get it. */
export interface Look {
  recording: string;
  picture: string;
  width?: number;
  masked?: boolean;
  /** Grows with each change of the edits, so that a masked picture is not an old one. */
  version?: number;
}

/** An address of a picture, and what to call when it is shown no more. The address rejects with a Problem. */
export interface Taken {
  url: Promise<string>;
  release: () => void;
}

interface Kept {
  url: Promise<string>;
  users: number;
}

/** How many pictures that nobody shows are kept, for whoever comes back to them. */
const spare = 48;

/**
 * Pictures as addresses an image can show. An image cannot send the token, so they are fetched here and kept as blobs
 * for as long as somebody shows them, and the latest ones a while longer.
 */
export class Pictures {
  readonly #kept = new Map<string, Kept>();

  constructor(private readonly to: Connection) {}

  take(look: Look): Taken {
    const query = new URLSearchParams();
    if (look.width) {
      query.set('width', String(look.width));
      query.set('format', 'jpeg');
    }
    if (look.masked) query.set('masked', 'true');
    const path = `/api/recordings/${encodeURIComponent(look.recording)}/pictures/${encodeURIComponent(look.picture)}?${query.toString()}`;
    return this.#take(`${path} ${look.masked ? (look.version ?? 0) : ''}`, path);
  }

  /** An attached image, as it is or at most so many pixels wide. */
  attached(id: string, width?: number): Taken {
    const path = attachmentPath(id, width ? `?width=${width}` : '');
    return this.#take(path, path);
  }

  #take(key: string, path: string): Taken {
    const kept = this.#kept.get(key) ?? { url: this.#fetch(key, path), users: 0 };
    kept.users += 1;
    // The latest taken come last, so that the first ones without users are the oldest.
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    let released = false;
    return {
      url: kept.url,
      release: () => {
        if (released) return;
        released = true;
        kept.users -= 1;
        this.#tidy();
      },
    };
  }

  async #fetch(key: string, path: string): Promise<string> {
    try {
      return URL.createObjectURL((await fetchBytes(this.to, path)).bytes);
    } catch (error) {
      this.#kept.delete(key);
      throw error;
    }
  }

  #tidy(): void {
    const unused = [...this.#kept].filter(([, kept]) => kept.users === 0);
    for (const [key, kept] of unused.slice(0, Math.max(0, unused.length - spare))) {
      this.#kept.delete(key);
      void kept.url.then((url) => URL.revokeObjectURL(url), () => undefined);
    }
  }
}
