import { settled } from './runs';
import type { AgentRun, RunUpdate } from './wire';

/** Where a conversation is: the agent works, asks, has answered or failed; or the answer was stopped. */
export type ChatState = 'working' | 'asks' | 'answered' | 'failed' | 'stopped';

export function chatState(chat: AgentRun): ChatState {
  if (chat.state === 'awaiting_confirmation') return 'asks';
  if (chat.state === 'completed') return 'answered';
  if (chat.state === 'failed') return 'failed';
  return chat.alive ? 'working' : 'stopped';
}

/** A part of a conversation: what somebody says, or the calls of the agent between. */
export type Turn = { key: number; said: RunUpdate } | { key: number; calls: RunUpdate[] };

/** What was said and done, in order; of a call what came of it, where that is there. */
export function turns(updates: readonly RunUpdate[]): Turn[] {
  const list: Turn[] = [];
  updates.forEach((update, key) => {
    if (update.type === 'user_message' || update.type === 'conversational_response') {
      list.push({ key, said: update });
      return;
    }
    if (settled(update, updates[key + 1])) return;
    const last = list.at(-1);
    if (last && 'calls' in last) last.calls.push(update);
    else list.push({ key, calls: [update] });
  });
  return list;
}
