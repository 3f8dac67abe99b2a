import { beforeAll, describe, expect, it } from 'vitest';
import { effectVerbs } from '../lib/verdict';
import { sampleEffect, samplePaths } from '../lib/verdict.testing';
import * as words from './effectwording';
import { both } from './locale.testing';
import { loadSentences } from './sentences.svelte';

beforeAll(loadSentences);

describe('what a call would do', () => {
  it('says what the call has no name for by its code, and a file of that name as it is', () => {
    expect(both(() => words.thingWord({ resource: 'the page', thing: 'thing_page' }))).toEqual(['the page', '页面']);
    expect(both(() => words.effectSentence(sampleEffect({ verb: 'lang_exec', resource: 'what was downloaded', target: '', thing: 'thing_downloaded' })))[1]).toContain('刚下载的内容');
    for (const name of ['the page', 'constructor', 'build/']) expect(both(() => words.thingWord({ resource: name }))).toEqual([name, name]);
    expect(both(() => words.thingWord({ resource: 'something newer', thing: 'thing_newer' }))).toEqual(['something newer', 'something newer']);
  });

  it('has a name for every kind of effect, in both languages', () => {
    const names = effectVerbs.map((verb) => both(() => words.verbWord(verb)));
    expect(new Set(names.flat()).size).toBe(2 * effectVerbs.length);
  });

  it('is said with how many files there are, and how many of them are not committed', () => {
    expect(both(() => words.effectsSentence(samplePaths))).toEqual([
      'Delete fixtures/, build/: 1,204 files, 214 of them not committed', '删除 fixtures/、build/：1,204 个文件，其中 214 个未提交',
    ]);
  });

  it('counts nothing that is not known', () => {
    expect(both(() => words.effectsSentence(samplePaths.map((effect) => ({ ...effect, files: undefined, kept: undefined }))))).toEqual(['Delete fixtures/, build/', '删除 fixtures/、build/']);
  });

  it('names a single file alone', () => {
    expect(both(() => words.effectsSentence([sampleEffect({ resource: 'a.txt', files: 1, kept: 'no_copy' })]))).toEqual(['Delete a.txt, not committed', '删除 a.txt（未提交）']);
    expect(words.effectsSentence([sampleEffect({ verb: 'filesystem_write', resource: 'a.txt', kept: 'absent' })])).toBe('Create a.txt');
  });

  it('names the first of many, and counts the other effects', () => {
    const many = Array.from({ length: 40 }, (_, i) => sampleEffect({ resource: `p${i}`, target: `/p/p${i}` }));
    expect(both(() => words.effectsSentence([...many, sampleEffect({ verb: 'cost', resource: 'aws', target: '', risk: 'low' })]))).toEqual(['Delete p0, p1, p2 and 37 more, and 1 more effect', '删除 p0、p1、p2 等共 40 项，另有 1 项影响']);
  });

  it('keeps a long name short', () => {
    expect(words.effectsSentence([sampleEffect({ verb: 'lang_exec', resource: 'x'.repeat(500), target: '' })]).length).toBeLessThan(100);
  });
});

describe('why it is asked', () => {
  const why = (because: Parameters<typeof words.reasonSentence>[0]['because'], effects = [] as typeof samplePaths): [string, string] => both(() => words.reasonSentence({ because, effects }));

  it('says trust with the threshold it was held against', () => {
    const text = 'Not over 0.80, so trust does not answer for you.';
    const trust = { rule_id: 'trust.filesystem_delete', verb: 'filesystem_delete', trust: 0.45, text, said: [{ code: 'trust_under', params: { least: '0.80' }, text }] };
    expect(why(trust)).toEqual(['Delete files. Not over 0.80, so trust does not answer for you.', '删除文件：未超过 0.80，信任不会替你回答。']);
    expect(why({ ...trust, said: [{ code: 'trust_low', params: { least: '0.20' }, text }] })[1]).toContain('低于 0.20');
    expect(why({ ...trust, said: undefined })[1], 'recorded before there were codes').toBe(`删除文件：${text}`);
  });

  it('says policies by their codes', () => {
    const because = { rule_id: 'policy', text: 'A. B.', said: [{ code: 'policy_asks_balanced', text: 'A.' }, { code: 'project_important', text: 'B.' }] };
    expect(why(because)).toEqual(['A. B.', '“平衡”策略要求询问；“宽松”则不会。该项目已标记为重要。']);
  });

  it('says what an offered rule leaves out', () => {
    const own = { code: 'left_own_command', params: { what: '`git push`' }, text: '`git push` would need a rule of its own.' };
    const commit = { code: 'left_commit', params: { what: 'Deletes: build/', verb: 'filesystem_delete', resource: 'build/', thing: '' }, text: 'Deletes: build/ is left out.' };
    expect(both(() => words.leftOutSentence([own, commit]))).toEqual(['`git push` would need a rule of its own. Deletes: build/ is left out.', '`git push` 需要单独的规则。不包含 删除 build/：规则不能允许可能未提交的内容。']);
  });

  it('says what a rule found, and what nothing lowers', () => {
    expect(why({ rule_id: 'rm', text: 'Deletes: fixtures/.' }, samplePaths.slice(0, 1))[1]).toBe('删除 fixtures/：214 个文件，均未提交');
    expect(why({ rule_id: 'floor.x', text: '' }, [sampleEffect({ floor: true })])[0]).toBe('Delete build/. No setting can override this.');
  });

  it('leaves a rule of one’s own as it is written', () => {
    expect(why({ rule_id: 'rule.mine', text: 'Your rule asks about rm: not on Fridays.' })).toEqual(['Your rule asks about rm: not on Fridays.', 'Your rule asks about rm: not on Fridays.']);
  });
});
