import { call } from './http';
import type { components } from './schema';
import type { Session } from './session';

type Schemas = components['schemas'];

/** Begins a session of a phone: with the code of its pairing, or with the cookie that it got then. @throws Problem */
export async function phoneSession(code: string): Promise<Session> {
  const url = window.location.origin;
  const to = { url, token: '', cookies: true };
  const answer = await (code
    ? call<Schemas['Session']>(to, 'POST', '/api/phone/pair', { code })
    : call<Schemas['Session']>(to, 'POST', '/api/phone/session', {}));
  return { url, token: answer.token, resume: '', operator: answer.operator, calls: answer.calls ?? undefined };
}
