import { describe, expect, it } from 'vitest';
import type { CallPart, PartCheck, Ruling } from '../lib/gatewire';
import { decidedBy, deciding, tally, testLine } from '../lib/parttree';
import { sampleEffect } from '../lib/verdict.testing';
import { PartTree } from './parttree.svelte';
import { changes, checkWord, partEffects, sureSentence } from './partwording';

function part(text: string, decision: Ruling | '' = '', runs: CallPart[] = [], over: Partial<CallPart> = {}): CallPart {
  const checks: PartCheck[] = decision ? [{ by: 'policy', rule_id: 'policy', policy: 'balanced', decision, decided: true }] : [];
  return { text, checks, decision: decision || 'allow', risk: 'none', whole: { decision: decision || 'allow', risk: 'none' }, runs, ...over };
}

/** cd web && env npm ci && git push --force, the last at a hard limit. */
const push = part('git push --force', 'deny', [], { risk: 'critical', checks: [{ by: 'hard_limit', rule_id: 'git.push.force', decision: 'deny', decided: true }] });
const call = [part('cd web && ...', '', [part('cd web', 'allow'), part('env npm ci', '', [part('npm ci', 'ask')]), push], { language: 'sh' })];

function tree(parts = call, decision: Ruling = 'deny'): PartTree {
  const made = new PartTree();
  made.set(parts, decision);
  return made;
}

describe('the tree of parts', () => {
  it('begins at the part that decides, with everything shown', () => {
    const made = tree();
    expect([made.selected, made.current?.part.text]).toEqual(['0.2', 'git push --force']);
    expect(made.rows.map(({ key, level, guides }) => [key, level, guides])).toEqual([['0', 1, []], ['0.0', 2, []], ['0.1', 2, []], ['0.1.0', 3, [true]], ['0.2', 2, []]]);
  });

  it('begins at the top where every part passes', () => expect(tree(call, 'allow').selected).toBe('0'));

  it('is of one command where that is all there is', () => expect(tree([part('ls', '', [part('ls', 'allow')], { language: 'sh' })], 'allow').rows.map((row) => [row.part.text, row.open])).toEqual([['ls', undefined]]));

  it('keeps a script of one command that was not understood', () => expect(tree([part('echo $(rm x', 'ask', [part('rm x', 'ask')], { language: 'sh', unparsed: true })], 'ask').rows).toHaveLength(2));

  it('moves with the arrows, Home and End, and stops at both ends', () => {
    const made = tree();
    const at = (...keys: string[]): string => {
      for (const key of keys) expect(made.press(key)).toBe(true);
      return made.selected;
    };
    expect(at('ArrowDown')).toBe('0.2');
    expect(at('ArrowUp', 'ArrowUp')).toBe('0.1');
    expect(at('Home', 'ArrowUp')).toBe('0');
    expect(at('End')).toBe('0.2');
    expect(made.press('x')).toBe(false);
  });

  it('folds to the left and opens to the right, and goes to what a part is run by and runs', () => {
    const made = tree();
    made.select('0.1');
    made.press('ArrowRight');
    expect(made.selected).toBe('0.1.0');
    made.press('ArrowLeft');
    expect(made.selected).toBe('0.1');
    made.press('ArrowLeft');
    expect(made.rows.map((row) => row.key)).toEqual(['0', '0.0', '0.1', '0.2']);
    expect(made.current?.open).toBe(false);
    made.press('ArrowDown');
    expect(made.selected).toBe('0.2');
    made.press('ArrowUp');
    made.press('ArrowRight');
    expect(made.rows).toHaveLength(5);
  });

  it('keeps something selected when its part is folded away, and shows what is selected', () => {
    const made = tree();
    made.select('0.1.0');
    made.fold('0', false);
    expect([made.selected, made.rows.length]).toEqual(['0', 1]);
    made.select('0.1.0');
    expect([made.current?.part.text, made.rows.length]).toEqual(['npm ci', 5]);
  });

  it('forgets what was folded when another call comes', () => {
    const made = tree();
    made.fold('0', false);
    made.set(call, 'deny');
    expect(made.rows).toHaveLength(5);
  });
});

describe('what is said of parts', () => {
  it('counts only those that do something by themselves', () => expect(tally(call)).toEqual({ allow: 1, ask: 1, deny: 1 }));

  it('names what decides: a hard limit first, then the riskiest', () => {
    const asks = [part('a', 'ask', [], { risk: 'medium' }), part('b', 'ask', [], { risk: 'high' })];
    expect(deciding(asks, 'ask').map((row) => row.part.text)).toEqual(['b', 'a']);
    expect(decidedBy(push)?.by).toBe('hard_limit');
    expect(checkWord({ by: 'trust', rule_id: 'trust.git_write', trust: 0.1 }, [])).toBe('trust 0.10');
  });

  it('says that a part only reads, what it does, or nothing', () => {
    expect(partEffects(part('ls', 'allow', [], { effects: [sampleEffect({ verb: 'filesystem_read', risk: 'none' })] }))).toBe('only reads');
    expect(partEffects(part('rm build', 'ask', [], { effects: [sampleEffect(), sampleEffect({ verb: 'filesystem_read', risk: 'none' })] }))).toBe('Delete build/');
    expect(partEffects(part('env x'))).toBe('');
  });

  it('says what would change a decision, and no more than is so', () => {
    expect(changes(push, [])).toEqual(['Hard limit: no trust or rule can override it.']);
    const check: PartCheck = { by: 'policy', rule_id: 'policy', policy: 'strict', decision: 'ask', decided: true, allowed_by: ['permissive', 'balanced'] };
    const trust: PartCheck = { by: 'trust', rule_id: 'trust.filesystem_write', trust: 0.5, under: 0.2, over: 0.8 };
    expect(changes(part('touch a', 'ask', [], { risk: 'low', checks: [trust, check] }), [])).toEqual(['These policies would let it pass: permissive, balanced.', 'Trust over 0.80. It is 0.50 now.']);
    expect(changes(part('git push', 'ask', [], { risk: 'medium', checks: [trust, { ...check, allowed_by: undefined }] }), [])).toEqual(['No policy lets it pass by itself.']);
    expect(changes(part('ls', 'allow'), [])).toEqual([]);
  });

  it('is as sure as the least certain effect that counts', () => {
    const sure = (...how: ('certain' | 'likely' | 'possible')[]): string => sureSentence(part('x', 'ask', [], { effects: how.map((certainty) => sampleEffect({ certainty })) }));
    expect([sure('certain'), sure('certain', 'likely'), sure('likely', 'possible'), sure()].map((text) => text.split('.')[0])).toEqual([
      'Certain', "Likely", 'Not sure', '',
    ]);
  });

  it('writes a row for deskbell gate test: the command, or the call where a row cannot hold it', () => {
    const bash = (command: string, more = {}): string => testLine({ tool: 'Bash', args: { command, ...more } }, 'ask');
    expect(bash('git push')).toBe('ask git push\n');
    expect(bash('ls\nrm a')).toBe('ask {"tool":"Bash","args":{"command":"ls\\nrm a"}}\n');
    expect(bash('{"a": 1}')).toContain('ask {"tool"');
    expect(bash('ls', { timeout: 5 })).toContain('"timeout":5');
    expect(testLine({ tool: 'write_file', args: { path: 'a' } }, 'allow')).toBe('allow {"tool":"write_file","args":{"path":"a"}}\n');
  });
});
