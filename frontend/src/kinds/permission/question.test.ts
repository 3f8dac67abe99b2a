import { describe, expect, it } from 'vitest';
import { grave } from '../../lib/verdict';
import { sampleOperation } from '../../lib/sample.testing';
import { samplePermission, sampleQuestion, sampleVerdict } from '../../lib/verdict.testing';
import { argsFrom, argsText, choicesOf, commandOf, mild, questionOf, risky, runs } from './question';

describe('the choices', () => {
  it('begin with what stops the call and end with what lets it run', () => {
    const verdict = sampleVerdict({ choices: (['allow', 'change', 'difference', 'backup', 'instead', 'deny'] as const).map((action) => ({ action, label: action })) });
    expect(choicesOf(verdict).map((choice) => choice.action)).toEqual(['deny', 'instead', 'backup', 'difference', 'change', 'allow']);
  });

  it('have no key for allowing what is grave', () => {
    expect(risky('allow', sampleVerdict())).toBe(true);
    expect(risky('backup', sampleVerdict())).toBe(false);
    expect(risky('allow', sampleVerdict({ risk: 'medium' }))).toBe(false);
    expect(risky('allow', sampleVerdict({ risk: 'medium', floor: true }))).toBe(true);
    expect(risky('allow', sampleVerdict({ risk: 'low', form: 'input' }))).toBe(true);
  });

  it('let something run or do not', () => {
    expect((['allow', 'backup', 'change', 'deny', 'instead', 'difference'] as const).map(runs)).toEqual([true, true, true, false, false, false]);
  });
});

describe('a card', () => {
  const verdict = sampleVerdict({ risk: 'medium' });
  it('allows what is mild', () => {
    expect(grave(verdict)).toBe(false);
    expect(mild(samplePermission(sampleQuestion({ verdict })))).toBe(true);
  });

  it.each([
    ['what is high', samplePermission()],
    ['the floor', samplePermission(sampleQuestion({ verdict: { ...verdict, floor: true } }))],
    ['what must be typed for', samplePermission(sampleQuestion({ verdict: { ...verdict, form: 'input' } }))],
    ['what checks that it was read', samplePermission(sampleQuestion({ verdict, check: { options: ['cost'] } }))],
    ['what is not known yet', samplePermission(sampleQuestion({ verdict }), { details: undefined })],
    ['another kind', sampleOperation({ risk: 'low' })],
  ])('never allows %s', (_, op) => expect(mild(op)).toBe(false));
});

describe('a question', () => {
  it('is in the details of its operation', () => {
    expect(questionOf(samplePermission())?.tool).toBe('Bash');
    expect(questionOf(sampleOperation({ details: { tool: 'Bash', verdict: {} } }))).toBeUndefined();
    expect(questionOf(samplePermission(sampleQuestion(), { details: { tool: 'Bash' } }))).toBeUndefined();
  });

  it('has lists where the server says null', () => {
    const op = samplePermission(sampleQuestion(), { details: { tool: 'Bash', verdict: { effects: null, choices: null } } });
    expect(questionOf(op)?.verdict).toMatchObject({ effects: [], choices: [], because: [] });
  });
});

describe('the arguments of a call', () => {
  it('are drawn as the command they hold', () => {
    expect(commandOf({ args: { command: 'ls', timeout: 3 } })).toEqual({ name: 'command', text: 'ls' });
    expect(commandOf({ args: { command: ['ls'] } })).toBeUndefined();
    expect(argsText({ args: { path: 'a' } })).toBe('{\n  "path": "a"\n}');
  });

  it('are put back where they came from when they were edited', () => {
    expect(argsFrom({ args: { command: 'ls', timeout: 3 } }, 'ls -l')).toEqual({ command: 'ls -l', timeout: 3 });
    expect(argsFrom({ args: { command: 'ls' } }, '  ')).toBeUndefined();
    expect(argsFrom({ args: { path: 'a' } }, '{"path":"b"}')).toEqual({ path: 'b' });
    expect(argsFrom({ args: { path: 'a' } }, '[1]')).toBeUndefined();
    expect(argsFrom({ args: { path: 'a' } }, '{')).toBeUndefined();
  });
});
