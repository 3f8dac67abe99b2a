import { beforeEach, describe, expect, it } from 'vitest';
import type { Api } from '../backend/api';
import { Problem } from '../backend/http';
import type { AgentAnswer, AgentRun, RunUpdate, RunUpdates } from '../lib/wire';
import { Conversation, Conversations } from './chats.svelte';
import { Operations } from './operations.svelte';
import type { Unsent } from './unsent.svelte';

const run = (of: Partial<AgentRun> = {}): AgentRun => ({ run_id: 'chat_1', agent: 'music', task: '播放音乐', at: '', state: 'executing', alive: true, over: false, last_at: '', content: '', spent: { steps: 0, tokens_in: 0, tokens_out: 0, time_ns: 0 }, ...of });
const update = (of: Partial<RunUpdate>): RunUpdate => ({ type: 'user_message', at: '', session_id: 'chat_1', state: 'executing', content: '', ...of });
const answer = (status: AgentAnswer['status']): AgentAnswer => ({ agent: 'music', status, query: '', message: '', session_id: 'chat_1', data: { conversation_history: [] } });
const asks = update({ type: 'conversational_response', state: 'awaiting_confirmation', outcome: 'asks', content: '好的，请问想听什么歌？' });

/** A server whose answers to messages a test gives, with the journal that it sets. */
class Room {
  sent: [object, number | undefined][] = [];
  stopped: string[] = [];
  journal: RunUpdates | undefined;
  answer: (value: AgentAnswer | Problem) => void = () => undefined;
  texts = new Map<string, string>();
  readonly unsent = { get: (id: string) => this.texts.get(id) ?? '', set: (id: string, text: string) => void this.texts.set(id, text) } as unknown as Unsent;
  readonly api = {
    operations: async () => ({ operations: [] }),
    chats: {
      read: async (_id: string, after: number) => {
        if (!this.journal) throw new Problem(404, 'there is no run chat_1');
        if (after >= this.journal.updates.length) await settle();
        return { ...this.journal, updates: this.journal.updates.slice(after), next: this.journal.updates.length };
      },
      send: (_agent: string, message: object, wait?: number) => {
        this.sent.push([message, wait]);
        return new Promise<AgentAnswer>((resolve, reject) => (this.answer = (value) => (value instanceof Problem ? reject(value) : resolve(value))));
      },
      stop: async (id: string) => void this.stopped.push(id),
    },
  } as unknown as Api;
  readonly app = { api: this.api, operations: new Operations(this.api), unsent: this.unsent };
}

const key = expect.stringMatching(/.{8}/) as string;
let room: Room;
beforeEach(() => (room = new Room()));
const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

/** A conversation whose journal is read once, as it is now. */
async function opened(updates: RunUpdate[], of: Partial<AgentRun> = {}): Promise<Conversation> {
  const chat = new Conversation(room.app, 'chat_1', () => settle());
  await look(chat, updates, of);
  return chat;
}
async function look(chat: Conversation, updates: RunUpdate[], of: Partial<AgentRun> = {}): Promise<void> {
  room.journal = { run: run({ state: updates.at(-1)?.state, alive: false, ...of }), updates, next: 0 };
  void chat.follow();
  await settle();
  chat.leave();
}

describe('a conversation', () => {
  it('begins with a message, of which it gets its id; the same message waits for the answer', async () => {
    const chats = new Conversations(room.app);
    const chat = chats.of('');
    Object.assign(chat, { chosen: 'music', folder: ' /srv ', text: ' 播放音乐 ' });
    const sending = chat.send();
    expect([chat.state, chat.pending, chat.text]).toEqual(['working', '播放音乐', '']);
    room.answer(answer('working'));
    await settle();
    expect(room.sent).toEqual([[{ message: '播放音乐', folder: '/srv', idempotency_key: key }, 1], [{ message: '播放音乐', session_id: 'chat_1', idempotency_key: key }, undefined]]);
    await look(chat, [update({ content: '播放音乐' })], { alive: true });
    expect([chat.state, chat.pending]).toEqual(['working', '']);
    await look(chat, [update({ content: '播放音乐' }), asks]);
    room.answer(answer('waiting_input'));
    await sending;
    expect(chat.state).toBe('asks');
    chats.begun();
    expect([chats.of('chat_1') === chat, chats.of('') === chat]).toEqual([true, false]);
  });

  it('that could not begin keeps the message and what was written meanwhile', async () => {
    const chat = new Conversation(room.app);
    Object.assign(chat, { chosen: 'music', text: '播放音乐' });
    const sending = chat.send();
    room.answer(answer('working'));
    await settle();
    room.answer(new Problem(503, 'the agent music could not be started: there is no model'));
    await sending;
    expect([chat.id, chat.state, chat.text, chat.refused]).toEqual(['', 'new', '播放音乐', 'the agent music could not be started: there is no model']);
  });

  it('says where it is, by its journal', async () => {
    const said = (of: Partial<RunUpdate>): RunUpdate => update({ type: 'conversational_response', state: 'completed', outcome: 'done', ...of });
    const states = [];
    for (const last of [said({}), said({ state: 'failed', outcome: 'failed' }), asks, update({})]) states.push((await opened([update({}), last])).state);
    expect([...states, (await opened([update({})], { alive: true })).state]).toEqual(['answered', 'failed', 'asks', 'stopped', 'working']);
  });

  it('is stopped without a complaint, and the same message continues', async () => {
    const chat = await opened([asks]);
    chat.text = '晴天';
    const sending = chat.send();
    await look(chat, [asks, update({ content: '晴天' })], { alive: true });
    await chat.stop();
    room.answer(new Problem(503, 'the answer was stopped; the same message again continues'));
    await sending;
    await look(chat, [asks, update({ content: '晴天' })]);
    expect([room.stopped, chat.state, chat.refused, chat.text]).toEqual([['chat_1'], 'stopped', '', '']);
    const first = room.sent.at(-1);
    void chat.again();
    expect(room.sent.at(-1)).toEqual(first); // with its key
    expect([room.sent.at(-1)?.[0], chat.state, chat.pending]).toEqual([{ message: '晴天', session_id: 'chat_1', idempotency_key: key }, 'working', '']);
  });

  it('that has expired takes no more, and keeps what was written', async () => {
    const chat = await opened([asks]);
    chat.text = '晴天';
    const sending = chat.send();
    room.answer(new Problem(404, 'session chat_1 has expired', '', { code: 'session_x_has_expired_it_waited_x_for_a_message_send_the_message_without_a' }));
    await sending;
    expect([chat.expired, chat.ready, chat.text]).toEqual([true, false, '晴天']);
  });

  it('sends nothing while the agent works, and nothing that is empty', async () => {
    const chat = await opened([update({})], { alive: true });
    chat.text = '晴天';
    await chat.send();
    const other = await opened([asks]);
    other.text = '  ';
    await other.send();
    expect(room.sent).toEqual([]);
  });

  it('shows of a call what came of it, between what is said', async () => {
    const call = { tool: 'mcp__music__play_music', call: '{"song":"晴天"}' };
    const chat = await opened([update({}), update({ type: 'task_init', ...call }), update({ type: 'sub_task_result', ...call, outcome: 'done' }), update({ type: 'task_init', ...call, call: '{}' }), asks]);
    expect(chat.turns.map((turn) => ('said' in turn ? turn.said.type : turn.calls.map(({ outcome }) => outcome)))).toEqual(['user_message', ['done', undefined], 'conversational_response']);
  });
});
