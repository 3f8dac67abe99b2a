import { describe, expect, it } from 'vitest';
import { effectVerbs, gist, knownVerb, reasons, rows } from './verdict';
import { sampleEffect, sampleVerdict } from './verdict.testing';

describe('a verb', () => {
  it('is one of those there are words for', () => {
    expect(new Set(effectVerbs).size).toBe(24);
    expect(knownVerb('git_discard')).toBe('git_discard');
    expect(knownVerb('time_travel')).toBe('unknown');
  });
});

describe('the rows of a table of effects', () => {
  it('are one for each thing that is done to something, by the most severe rule that found it', () => {
    const all = rows([
      sampleEffect({ verb: 'network_write', resource: 'curl -X POST', target: '', risk: 'medium', rule_id: 'curl.X' }),
      sampleEffect({ verb: 'network_write', resource: 'curl -X POST', target: '', risk: 'high', rule_id: 'curl.d' }),
      sampleEffect({ verb: 'network_read', resource: 'curl -X POST', target: '', risk: 'none', rule_id: 'curl' }),
    ]);
    expect(all.map(({ verb, rule_id }) => [verb, rule_id])).toEqual([['network_write', 'curl.d'], ['network_read', 'curl']]);
  });

  it('tell nothing that was counted here of a path on another machine', () => {
    expect(rows([sampleEffect({ blast_radius: 'shared', files: 0, kept: 'absent' })])).toMatchObject([{ files: undefined, kept: undefined }]);
  });

  it('begin with the floor, then with the most severe', () => {
    const all = rows([sampleEffect({ resource: 'a', target: 'a', risk: 'low' }), sampleEffect({ resource: 'b', target: 'b', risk: 'critical' }), sampleEffect({ resource: 'c', target: 'c', risk: 'high', floor: true })]);
    expect(all.map((e) => e.resource)).toEqual(['c', 'b', 'a']);
  });

  it('stay at the floor when a graver rule that is not there found the same', () => {
    expect(rows([sampleEffect({ risk: 'high', floor: true }), sampleEffect({ risk: 'critical' })])).toMatchObject([{ risk: 'critical', floor: true }]);
  });
});

describe('the gist of a call', () => {
  it('counts the files of the most severe kind, and those that are in no commit', () => {
    const all = gist([
      sampleEffect({ resource: 'fixtures/', target: '/p/fixtures', files: 214, kept: 'no_copy' }),
      sampleEffect({ resource: 'build/', target: '/p/build', risk: 'low', files: 961, kept: 'ignored' }),
      sampleEffect({ resource: '.cache/', target: '/p/.cache', risk: 'low', files: 29, kept: 'ignored' }),
      sampleEffect({ verb: 'git_write', resource: 'git commit', target: '', risk: 'low' }),
      sampleEffect({ verb: 'filesystem_read', resource: 'echo', target: '', risk: 'none' }),
    ]);
    expect(all).toMatchObject({ verb: 'filesystem_delete', things: ['fixtures/', 'build/', '.cache/'], files: 1204, lost: 214, others: 1 });
  });

  it('counts no files where they are not known of each', () => {
    expect(gist([sampleEffect({ files: 3 }), sampleEffect({ resource: 'b', target: 'b' })]).files).toBe(-1);
  });

  it('knows what does not exist yet', () => {
    expect(gist([sampleEffect({ verb: 'filesystem_write', kept: 'absent' })])).toMatchObject({ fresh: true, files: 0 });
  });

  it('counts nothing twice that one command does', () => {
    const discard = sampleEffect({ verb: 'git_discard', resource: 'git checkout .', target: '' });
    expect(gist([discard, { ...discard, verb: 'git_write', risk: 'low' }]).others).toBe(0);
  });

  it('is of looking, where a call only looks', () => {
    expect(gist([sampleEffect({ verb: 'filesystem_read', resource: 'a', risk: 'none' })])).toMatchObject({ verb: 'filesystem_read', things: ['a'], others: 0 });
  });

  it('is not known without effects', () => {
    expect(gist([])).toMatchObject({ verb: 'unknown', things: [], files: -1 });
  });
});

describe('the reasons', () => {
  it('are one for all that a rule found at one risk, and keep their order', () => {
    const effects = [sampleEffect({ resource: 'a' }), sampleEffect({ resource: 'b' }), sampleEffect({ resource: 'c', risk: 'medium' })];
    const because = [
      ...effects.map(({ rule_id, verb, resource, risk }) => ({ rule_id, verb, resource, risk, text: `Deletes: ${resource}.` })),
      { rule_id: 'trust.filesystem_delete', verb: 'filesystem_delete', trust: 0.5, text: 'Not over 0.80.' },
      { rule_id: 'rule.mine', text: 'Your rule.' },
    ];
    expect(reasons(sampleVerdict({ effects, because })).map((one) => [one.because.rule_id, one.effects.map((e) => e.resource)])).toEqual([
      ['rm', ['a', 'b']], ['rm', ['c']], ['trust.filesystem_delete', []], ['rule.mine', []],
    ]);
  });
});
