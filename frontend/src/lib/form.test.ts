import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { faultsOf, formQuestions, matcher, offeredQuestions, questionsOf } from './form';
import type { Json, JsonObject, Operation } from './wire';

// The server's own cases.
const read = (file: string): unknown => JSON.parse(readFileSync(`../backend/kind/${file}`, 'utf8'));

interface Conformance {
  schema: Json;
  values: { response: JsonObject; faults: string[] }[];
}

describe.each([['hard', read('form/testdata/hard.json')], ['made from a seed', read('form/testdata/cases.json')]] as [string, Conformance[]][])('the server says the same: %s', (_, all) => {
  test.each(all.map((one) => [JSON.stringify(one.schema), one] as const))('%s', async (_, { schema, values }) => {
    const questions = questionsOf(schema) ?? [];
    expect(questions).not.toHaveLength(0);
    const matches = await matcher(questions);
    for (const { response, faults } of values) {
      // Names that look like numbers come first in an object of JavaScript, in whichever order they were sent.
      expect(faultsOf(questions, response, matches).map(({ name, code }) => `${name} ${code}`).sort(), JSON.stringify(response)).toEqual([...faults].sort());
    }
  });
});

test.each(read('testdata/offered.json') as { details: JsonObject; questions: JsonObject }[])('options and a rating stand for questions: $details', ({ details, questions }) => {
  const op = { action_type: 'feedback', details } as unknown as Operation;
  const seen = Object.fromEntries(offeredQuestions(op).map((q) => [q.name, {
    type: q.type, required: q.required, ranking: q.ranking,
    ...(q.choices.length && { choices: q.choices.map((c) => [c.value, c.label, c.description]) }),
    ...(q.minItems !== undefined && { minItems: q.minItems }), ...(q.minimum !== undefined && { minimum: q.minimum, maximum: q.maximum }),
  }]));
  expect(seen).toEqual(questions);
});

test('a schema that is not known here is none', () => {
  const op = { action_type: 'approve', details: { response_schema: { type: 'object', properties: { a: { type: 'matrix' } } } } } as unknown as Operation;
  expect(formQuestions(op)).toBeNull();
  expect(questionsOf('x')).toBeNull();
  expect(questionsOf({ type: 'object', properties: { a: { type: 'array', items: {} } } })).toBeNull();
});
