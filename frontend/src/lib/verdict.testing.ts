import type { Effect, Operation, Question, Verdict } from './wire';
import { sampleOperation } from './sample.testing';

/** An effect for tests, with what matters to the test laid over it. */
export function sampleEffect(over: Partial<Effect> = {}): Effect {
  return { verb: 'filesystem_delete', resource: 'build/', target: '/home/ada/api/build', certainty: 'certain', risk: 'high', reversibility: 'irreversible', blast_radius: 'project', rule_id: 'rm', ...over };
}

/** Two paths that a call deletes: one with no copy, one that Git ignores. */
export const samplePaths: Effect[] = [
  sampleEffect({ resource: 'fixtures/', target: '/p/fixtures', files: 214, kept: 'no_copy' }),
  sampleEffect({ resource: 'build/', target: '/p/build', risk: 'medium', files: 990, kept: 'ignored' }),
];

export function sampleVerdict(over: Partial<Verdict> = {}): Verdict {
  return {
    decision: 'ask', risk: 'high', reversibility: 'irreversible', blast_radius: 'project', reason: 'Deletes: build/.', rule_ids: ['rm'], effects: [sampleEffect()], form: 'choice', digest: 'sha256:00',
    choices: [{ action: 'allow', label: 'Allow once' }, { action: 'backup', label: 'Back up first' }, { action: 'deny', label: 'Deny', default: true }],
    ...over,
  };
}

export function sampleQuestion(over: Partial<Question> = {}): Question {
  const verdict = over.verdict ?? sampleVerdict();
  return { tool: 'Bash', args: { command: 'rm -rf build/' }, cwd: '/home/ada/api', risk_level: verdict.risk, verdict, ...over };
}

/** An operation of kind permission with its details. */
export function samplePermission(question: Question = sampleQuestion(), over: Partial<Operation> = {}): Operation {
  const risk = question.risk_level === 'none' ? undefined : question.risk_level;
  return sampleOperation({ action_type: 'permission', risk, description: 'Deletes: build/', digest: 'ab'.repeat(32), details: question as unknown as Operation['details'], ...over });
}
