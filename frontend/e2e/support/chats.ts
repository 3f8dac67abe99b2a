import { Model, music } from './model';
import type { Server } from './server';

/** Conversations at every point: one that waits for an answer, one answered, one that failed, one at work; by id. */
export async function seedChats(server: Server, model: Model): Promise<Record<string, string>> {
  const me = server.operator;
  const say = async (agent: string, message: string, session_id?: string, wait = ''): Promise<string> => (await me.call<{ session_id: string }>('POST', `/api/agent/${agent}/messages${wait}`, { message, session_id })).session_id;
  const allow = async (): Promise<void> => {
    for (;;) {
      const { operations } = await me.call<{ operations: { operation_id: string; digest: string }[] }>('GET', '/api/human/operations?state=open');
      if (operations[0]) return void (await me.call('POST', `/api/gate/questions/${operations[0].operation_id}/answer`, { choice: 'allow', digest: operations[0].digest }));
    }
  };
  const play = (artist: string, song: string) => ({ name: 'mcp__music__play_music', args: { song, artist } });
  await model.script([
    { when: { says: 'Take me out' }, text: 'Where would you like to go?', tokens_in: 512, tokens_out: 24 },
    { when: { says: 'Which songs' }, do: 'no-credit', times: -1 },
    { when: { says: 'Play two songs' }, calls: [play('Nina Simone', 'Feeling Good'), play('Etta James', 'At Last')], tokens_in: 540, tokens_out: 61 },
    { when: { result: 'At Last' }, text: 'Now playing **Feeling Good** by Nina Simone; *At Last* by Etta James is next.', tokens_in: 712, tokens_out: 38 },
    { when: { says: 'Close all windows' }, wait_ms: 600_000, text: 'Done.' },
    ...music,
  ]);
  const asks = await say('navigation', 'Take me out tonight');
  const failed = await say('music', 'Which songs do you know?');
  const two = say('music', 'Play two songs for a slow evening');
  await allow();
  await allow();
  const done = await two;
  const bot = await server.agent('release-bot');
  await bot.call('POST', '/api/agent/music/messages', { message: '播放音乐' });
  const dialogue = await say('music', '播放音乐');
  await say('music', '周杰伦的', dialogue);
  const working = await say('car', 'Close all windows, it begins to rain', undefined, '?wait=3');
  return { asks, failed, done, dialogue, working };
}
