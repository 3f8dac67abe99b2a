import { beforeAll, describe, expect, it } from 'vitest';
import { samplePaths, samplePermission, sampleQuestion, sampleVerdict } from '../../lib/verdict.testing';
import { both } from '../../state/locale.testing';
import { loadSentences } from '../../state/sentences.svelte';
import { callerOf, nameOf } from '../words';
import * as words from './words';

beforeAll(loadSentences);

describe('the name of an operation', () => {
  it('is in the language of the page for a question, and as it was rung before its details are here', () => {
    const op = samplePermission();
    expect(both(() => nameOf(op))).toEqual(['Delete build/', '删除 build/']);
    expect(both(() => nameOf({ ...op, details: undefined }))).toEqual(['Deletes: build/', 'Deletes: build/']);
    expect(nameOf(op, 8)).toBe('Delete …');
  });
});

describe('how a question ended', () => {
  const at = '2026-11-21T14:00:00Z';
  const by = { role: 'operator' as const, name: 'mei' };
  const answered = (choice: 'allow' | 'backup' | 'change' | 'deny' | 'instead'): string =>
    words.endSentence({ ...samplePermission(), state: 'completed', result: { by, at, digest: '', choice, decision: choice === 'deny' || choice === 'instead' ? 'deny' : 'approve' } }, 'mei', '14:00');

  it('says what was done', () => {
    expect((['allow', 'backup', 'change', 'deny', 'instead'] as const).map(answered)).toEqual([
      'Allowed by mei at 14:00', 'Backed up, then allowed by mei at 14:00', 'Changed, then allowed by mei at 14:00', 'Denied by mei at 14:00', 'Denied by mei at 14:00, with another command suggested',
    ]);
  });

  it('says that nobody answered, or that it was withdrawn', () => {
    const op = { ...samplePermission(), state: 'cancelled' as const };
    expect(words.endSentence({ ...op, ended: { by: { role: 'system' }, at } }, '', '14:00')).toBe('Timed out at 14:00, so it was denied');
    expect(words.endSentence({ ...op, ended: { by: { role: 'agent', name: 'cc' }, at } }, 'cc', '14:00')).toBe('Canceled by cc at 14:00');
  });
});

describe('the button that answers', () => {
  it('says what it would answer, and that a rule goes with it', () => {
    const all = (['deny', 'instead', 'backup', 'difference', 'change', 'allow'] as const).map((action) => words.answerWord(action, false));
    expect(new Set(all).size).toBe(6);
    expect(words.answerWord('allow', true)).toBe('Answer: allow, and create the rule');
    expect(words.choiceSentence('allow', sampleVerdict(), 'cc')).toContain('Cannot be undone. It has no shortcut');
    expect(words.choiceSentence('backup', sampleVerdict({ effects: samplePaths }), 'cc')).toContain('1,204 files');
    expect(callerOf(samplePermission(sampleQuestion({ project: { name: 'api', git: true, clean: true, pushed: true } })))).toBe('release-bot, api');
  });
});
