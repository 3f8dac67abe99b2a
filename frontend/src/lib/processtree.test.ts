import { expect, test } from 'vitest';
import { processTree } from './processtree';
import type { Ancestor, Try } from './wire';

const process = (pid: number, agent = false, started = '2026-11-23T08:00:00Z'): Ancestor => ({ pid, agent, command: `program ${pid}`, started_at: started });
const tried = (line: Ancestor[], what: Try['what'] = 'sign_in'): Try => ({ at: '2026-11-23T14:16:03Z', what, limit: '', line });
const drawn = (tries: Try[]): string[] =>
  processTree(tries).map((row) => `${row.root ? '' : row.guides.map((more) => (more ? '| ' : '  ')).join('') + (row.more ? '+-' : '`-')}${row.process.pid}${row.process.agent ? '*' : ''}${row.blocked ? '!' : ''}`);

test('tries of one process share its parents', () => {
  const above = [process(1), process(20), process(31, true)];
  expect(drawn([tried([...above, process(40), process(41)]), tried([...above, process(40), process(42)]), tried([...above, process(50)]), tried([...above, process(40), process(41)])])).toEqual([
    '1', '`-20', '  `-31*', '    +-40', '    | +-41!', '    | `-42!', '    `-50!',
  ]);
});

test('a number that is used again is another process', () => {
  expect(drawn([tried([process(1), process(7)]), tried([process(1), process(7, false, '2026-11-23T09:00:00Z')])])).toEqual(['1', '+-7!', '`-7!']);
});

test('of a tool call no process is blocked, and without processes there is no tree', () => {
  expect(drawn([tried([process(1), process(31, true)], 'command'), tried([])])).toEqual(['1', '`-31*']);
  expect(new Set(processTree([tried([process(1)]), tried([process(2)])]).map((row) => row.key)).size).toBe(2);
});
