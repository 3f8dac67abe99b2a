import type { ProofNeeded } from './wire';

/** One server, one token: where calls go and what proves who makes them. The token is never written anywhere. */
export interface Connection {
  url: string;
  /** Changes when the same page signs in anew. */
  token: string;
  /** Takes and sends cookies: where a phone's session begins, and nowhere else. */
  cookies?: boolean;
  /** Asks the operator for the proof that a call needs: what proves it, or '' when they do not want to. */
  prove?: (needed: ProofNeeded) => Promise<string>;
}

/** What the server refused, or why it could not be asked. `message` is fit to show. */
export class Problem extends Error {
  constructor(
    /** The HTTP status; 0 when no answer came at all. */
    readonly status: number,
    message: string,
    /** The request's field at fault, in wire spelling, or ''. */
    readonly field = '',
    /** Names the sentence, without the field; with the values in its places. */
    readonly said: { code?: string; params?: Record<string, string> } = {},
    /** What proves that a person is there, where the call needs that. */
    readonly proof?: ProofNeeded,
  ) {
    super(message);
    this.name = 'Problem';
  }

  /** Somebody or something was faster: the operation changed or ended before this request came. */
  get conflict(): boolean {
    return this.status === 409;
  }

  get unauthorized(): boolean {
    return this.status === 401;
  }

  get offline(): boolean {
    return this.status === 0;
  }

  /** This Deskbell runs without the part that was called. */
  get missing(): boolean {
    return this.status === 503;
  }
}

interface ProblemDocument {
  title?: string;
  detail?: string;
  errors?: { location?: string; message?: string }[];
  code?: string;
  params?: Record<string, string>;
  proof?: ProofNeeded;
}

async function problem(response: Response): Promise<Problem> {
  return refusal(response.status, response.statusText, await response.json().catch(() => ({})));
}

/** The Problem of an answer that refuses, by its status and its body. */
export function refusal(status: number, text: string, body: unknown): Problem {
  const document = body as ProblemDocument;
  const field = document.errors?.[0]?.location ?? '';
  return new Problem(status, document.detail ?? document.title ?? text, field.replace(/^(body|query)\./, ''), { code: document.code, params: document.params }, document.proof);
}

/** @throws Problem when no answer came, or a refusal. */
async function ask(to: Connection, method: string, path: string, init: RequestInit, proof = ''): Promise<Response> {
  const headers: Record<string, string> = {};
  if (proof) headers['Deskbell-Proof'] = proof;
  if (to.token) headers.Authorization = `Bearer ${to.token}`;
  if (init.body !== undefined) headers['Content-Type'] = 'application/json';
  let response: Response;
  try {
    response = await fetch(to.url + path, { method, headers, credentials: to.cookies ? 'same-origin' : 'omit', cache: 'no-store', ...init });
  } catch {
    throw new Problem(0, '');
  }
  if (response.ok) return response;
  const refused = await problem(response);
  const given = refused.proof && to.prove && !proof ? await to.prove(refused.proof) : '';
  if (given) return ask(to, method, path, init, given);
  throw refused;
}

/**
 * Makes one call and returns what it answered, or undefined for an empty answer.
 * @throws Problem, and nothing else.
 */
export async function call<T>(to: Connection, method: string, path: string, body?: unknown, keepalive = false): Promise<T> {
  const response = await ask(to, method, path, { keepalive, body: body === undefined ? undefined : JSON.stringify(body) });
  if (response.status === 204) return undefined as T;
  try {
    return (await response.json()) as T;
  } catch {
    return undefined as T;
  }
}

/** A query of what has a value, to be put behind a path. */
export function search(query: object): string {
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  return pairs.length ? '?' + new URLSearchParams(pairs.map(([key, value]) => [key, String(value)])).toString() : '';
}

/** Reads bytes, with a body by a POST, and the name they are to be saved under. @throws Problem, and nothing else. */
export async function fetchBytes(to: Connection, path: string, body?: unknown): Promise<{ bytes: Blob; name: string }> {
  const response = await (body === undefined ? ask(to, 'GET', path, {}) : ask(to, 'POST', path, { body: JSON.stringify(body) }));
  const name = /filename="?([^";]+)"?/.exec(response.headers.get('Content-Disposition') ?? '')?.[1] ?? '';
  try {
    return { bytes: await response.blob(), name };
  } catch {
    throw new Problem(0, '');
  }
}
