import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { GateRule } from '../lib/gatewire';
import { ruleWord, saysAll } from './gatewording';
import { both } from './locale.testing';

const own = (source: GateRule['source']): GateRule => ({ rule_id: 'mine', source, decision: 'ask', matched: 0 });

describe('what a decision rests on', () => {
  it('has words of its own for every hard limit that the gatekeeper names', () => {
    const folder = path.resolve(import.meta.dirname, '../../../backend/gate/shell');
    const code = readdirSync(folder).filter((name) => /(?<!_test)\.go$/.test(name)).map((name) => readFileSync(path.join(folder, name), 'utf8')).join('');
    const limits = new Set(code.match(/(?<=")floor\.\w+(?=")/g));
    expect(limits.size).toBeGreaterThan(5);
    const words = [...limits].flatMap((id) => both(() => ruleWord(id)));
    expect(words).not.toContain(null);
    expect(new Set(words).size).toBe(2 * limits.size);
  });

  it('is said by what a rule finds where there are many such rules', () => {
    expect(both(() => ruleWord('rm.r', { verb: 'filesystem_delete' }))).toEqual(['Delete files', '删除文件']);
    expect(both(() => ruleWord('trust.filesystem_delete'))).toEqual(['Trust: Delete files', '信任度：删除文件']);
    expect(both(() => ruleWord('model.late'))).toEqual(["the model's opinion", '模型的意见']);
    expect(ruleWord('something.newer')).toBeNull();
    expect(ruleWord('constructor')).toBeNull();
  });

  it('says whose a rule of one’s own is, as far as that is known', () => {
    expect(both(() => ruleWord('rule.mine', { rules: [own('project')] }))).toEqual(['rule of the project', '项目的规则']);
    expect(ruleWord('rule.mine', { rules: [] })).toBe('a deleted rule');
    expect(both(() => ruleWord('rule.mine'))).toEqual(['rule', '规则']);
    expect([saysAll('rule.mine', [own('operator')]), saysAll('rule.mine'), saysAll('policy'), saysAll('floor.fork_bomb', [])]).toEqual([true, false, true, false]);
  });
});
