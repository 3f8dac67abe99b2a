import type { Attempt, Try } from '../lib/wire';
import { m } from '../paraglide/messages';

const names: Record<Try['what'], () => string> = {
  sign_in: m.attempt_sign_in, invite: m.attempt_invite, key: m.attempt_key, answer: m.attempt_answer, operate: m.attempt_operate, command: m.attempt_command,
  code: m.attempt_code, terminal: m.attempt_terminal, pin: m.attempt_pin,
};
const known: Record<Attempt['how'], () => string> = { hook: m.attempt_by_hook, mcp: m.attempt_by_mcp, key: m.attempt_by_key, gate: m.attempt_by_gate, none: m.attempt_by_none };

/** What one try was. */
export const tryWord = (what: Try['what']): string => names[what]();

/** How the process is known to be an agent's. */
export const knownBy = (how: Attempt['how']): string => known[how]();

/** Who tried. */
export const agentOf = (attempt: Attempt): string => attempt.agent_id || m.attempt_someone();

/** What is said of an attempt in a line: its worst try. */
export function attemptTitle(attempt: Attempt): string {
  const order: Try['what'][] = ['answer', 'sign_in', 'key', 'invite', 'terminal', 'operate', 'command', 'pin', 'code'];
  const what = order.find((one) => attempt.tries.some((tried) => tried.what === one)) ?? 'command';
  const agent = agentOf(attempt);
  switch (what) {
    case 'answer': return m.attempt_title_answer({ agent });
    case 'sign_in': return m.attempt_title_sign_in({ agent });
    case 'key': case 'invite': return m.attempt_title_key({ agent });
    case 'operate': return m.attempt_title_operate({ agent });
    case 'terminal': return m.attempt_title_terminal({ agent });
    case 'pin': return m.attempt_title_pin({ agent });
    case 'code': return m.attempt_title_code({ agent });
    case 'command': return m.attempt_title_command({ agent });
  }
}
