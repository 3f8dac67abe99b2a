import { beforeAll, describe, expect, it } from 'vitest';
import { Problem } from '../backend/http';
import { both } from './locale.testing';
import { loadSentences, problemWords } from './sentences.svelte';

beforeAll(loadSentences);

const said = (problem: Problem, where?: 'beside'): [string, string] => both(() => problemWords(problem, where));

describe('what was refused', () => {
  it('is said with its values', () => {
    const late = new Problem(409, 'operation op_1 was completed by mei at 2026-11-22T08:30:00Z; nothing was changed', '', {
      code: 'operation_x_was_completed_by_x_at_x_nothing_was_changed', params: { 1: 'op_1', 2: 'mei', 3: '2026-11-22T08:30:00Z' },
    });
    const [en, zh] = said(late);
    expect(en).toBe(late.message);
    expect(zh).toMatch(/^操作 op_1 已由 mei 于 2026年11月2\d日 \d\d:\d\d 完成；没有更改任何内容$/);
  });

  it('names the field at fault by its label, else by its name, and not where it stands beside it', () => {
    const past = { code: 'is_in_the_past' };
    expect(said(new Problem(422, 'until: is in the past', 'until', past))).toEqual(['Until is in the past', '有效期：已是过去的时间']);
    expect(said(new Problem(422, 'cwd: is in the past', 'cwd', past))).toEqual(['“cwd” is in the past', '“cwd”：已是过去的时间']);
    const range = new Problem(422, 'limits.max: it must be a whole number from 1 to 9 (bytes), not 0', 'limits.max', {
      code: 'it_must_be_a_whole_number_from_x_to_x_x_not_x', params: { 1: '1', 2: '9', 3: 'bytes', '3.code': 'word_bytes', 4: '0' },
    });
    expect(said(range, 'beside')).toEqual(['It must be a whole number from 1 to 9 (bytes), not 0', '须为 1 到 9 的整数（字节），而不是 0']);
  });

  it('says a sentence within a sentence', () => {
    const around = new Problem(409, 'your answer was sent, but the rule could not be saved: until: is in the past', '', {
      code: 'your_answer_was_sent_but_the_rule_could_not_be_saved_x', params: { 1: 'until: is in the past', '1.code': 'is_in_the_past', '1.field': 'until' },
    });
    expect(said(around)[1]).toBe('你的回答已发送，但规则未能保存：有效期：已是过去的时间');
  });

  it('stays as it was sent where it has no code, or one that is not known', () => {
    for (const how of [{}, { code: 'something_newer' }, { code: 'constructor' }]) expect(said(new Problem(409, 'something newer', '', how))).toEqual(['something newer', 'something newer']);
  });
});
