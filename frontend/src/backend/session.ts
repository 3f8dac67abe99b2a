import { call, Problem, type Connection } from './http';
import { loadPart } from '../lib/loading';
import type { Rights } from './rights';
import { shell } from './shell';

export interface Session extends Connection, Rights {
  operator: string;
  /** A code that signs this page in once more after a reload; '' in the desktop window. */
  resume: string;
  locale?: string;
  theme?: string;
}

const resumeKey = 'deskbell.resume';

/** Where the API is when the page was served by it. */
const origin = (): string => window.location.origin;

/** Signs in with a one-time code. @throws Problem with status 401 or 403 for a wrong or used code. */
export async function signIn(code: string): Promise<Session> {
  const answer = await call<{ token: string; resume?: string; operator: string }>({ url: origin(), token: '' }, 'POST', '/api/session', {
    code: code.trim(),
  });
  return { url: origin(), token: answer.token, resume: answer.resume ?? '', operator: answer.operator };
}

/**
 * Whether this page may be that of a phone, which comes by TLS and an address of its own. Its cookie begins a session; no other call
 * takes it.
 */
const byTLS = (): boolean => window.location.protocol === 'https:';

/** Takes a code out of the page's address at once, so that neither history nor a bookmark keeps it. */
function codeFromAddress(name: 'code' | 'pair'): string {
  const match = new RegExp(`^#${name}=([^&]+)`).exec(window.location.hash);
  if (!match?.[1]) return '';
  window.history.replaceState(null, '', window.location.pathname + window.location.search);
  return decodeURIComponent(match[1]);
}

function takeResume(): string {
  const code = window.sessionStorage.getItem(resumeKey) ?? '';
  window.sessionStorage.removeItem(resumeKey);
  return code;
}

/**
 * Finds a session without asking anyone: the desktop window's, the code in the address, or the one a reload left
 * behind. Null when a person has to type a code; `refused` then says that a code was tried and not taken. `phone` is why a phone
 * does not come in, where this page is at the address for phones: no code can be typed there.
 */
export async function findSession(): Promise<{ session: Session | null; refused: boolean; phone?: Problem }> {
  const own = await shell.session();
  if (own) return { session: { ...own, resume: '' }, refused: false };
  const pairing = codeFromAddress('pair');
  if (byTLS()) {
    try {
      const { phoneSession } = await loadPart(() => import('./phone'));
      return { session: await phoneSession(pairing), refused: false };
    } catch (error) {
      if (error instanceof Problem && error.status !== 404) return { session: null, refused: false, phone: error };
    }
  }
  const codes = [codeFromAddress('code'), takeResume()].filter(Boolean);
  for (const code of codes) {
    try {
      return { session: await signIn(code), refused: false };
    } catch {
      continue;
    }
  }
  return { session: null, refused: codes.length > 0 };
}

/** Keeps the session over a reload, and over nothing else: the code lies in storage only between two pages. */
export function keepOverReload(session: Session): void {
  if (!session.resume) return;
  window.addEventListener('pagehide', () => window.sessionStorage.setItem(resumeKey, session.resume));
  window.addEventListener('pageshow', () => window.sessionStorage.removeItem(resumeKey));
}
