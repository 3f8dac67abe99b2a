import { call } from './http';
import type { Session } from './session';

/** Begins a session of a phone: with the code of its pairing, or with the cookie that it got then. @throws Problem */
export async function phoneSession(code: string): Promise<Session> {
  const url = window.location.origin;
  const to = { url, token: '', cookies: true };
  const answer = await (code
    ? call<{ token: string; operator: string }>(to, 'POST', '/api/phone/pair', { code })
    : call<{ token: string; operator: string }>(to, 'POST', '/api/phone/session', {}));
  return { url, token: answer.token, resume: '', operator: answer.operator };
}
