import { expect, test, vi } from 'vitest';
import { Problem } from '../../backend/http';
import { ProceduresApi } from '../../backend/procedures';
import { emptyForm } from '../../lib/answer';
import { sampleOperation } from '../../lib/sample.testing';
import type { ProcedureOffer, RunOfProcedure } from '../../lib/wire';
import type { OpenOperation } from '../../state/openoperation.svelte';
import { Offering } from './offering.svelte';

const day = { name: 'month', type: 'month' } as const;
const offer = (more: Partial<ProcedureOffer> = {}): ProcedureOffer => ({
  procedure: 'export_invoice', title: 'Export an invoice', version: 3, sha256: 'ab', taught_at: '2026-11-03T00:00:00Z', does: ['reads'], risk_level: 'low', steps: 4,
  figures: { runs: 12, good: 12, stopped: 0 }, why: [], parameters: [day], values: [{ value: '2026-10', from: { text: 'from “October”' } }], gives: {}, missing: [], ...more,
});
const run = (state: RunOfProcedure['state']): RunOfProcedure => ({ operation_id: 'op_1', procedure: 'export_invoice', version: 3, sha256: 'ab', by: 'mei', parameters: { month: '2026-10' }, started_at: '2026-11-30T00:00:00Z', state, steps: [] });

/** A request on the table, for which this is offered. */
async function offered(one: ProcedureOffer | undefined, begun?: RunOfProcedure) {
  vi.spyOn(ProceduresApi.prototype, 'offers').mockResolvedValue({ offers: one ? [one] : [], run: begun });
  const take = vi.spyOn(ProceduresApi.prototype, 'take').mockResolvedValue(run('running'));
  const opened = { id: 'op_1', op: sampleOperation({}), app: { api: { to: {} } }, draft: { form: emptyForm() }, recording: null, recorded: [], barred: false, ready: true };
  const offering = new Offering(opened as unknown as OpenOperation);
  await offering.load();
  return { offering, opened, take };
}

test('to run it is usual where the risk is low, every value known and nothing done by hand yet', async () => {
  const { offering } = await offered(offer());
  expect(offering.usual).toBe(true);
  expect(offering.command().keys).toEqual(['Mod+Enter']);
  for (const risk of ['medium', 'high', 'critical'] as const) {
    const risky = (await offered(offer({ risk_level: risk }))).offering;
    expect(risky.usual, risk).toBe(false);
    expect(risky.command().keys).toEqual(risk === 'medium' ? [] : ['Mod+Shift+Enter']);
  }
  expect((await offered(undefined)).offering.usual).toBe(false);
  const begun = await offered(offer());
  begun.opened.draft.form.human_input = 'It was 12';
  expect(begun.offering.usual).toBe(false);
});

test('a missing value is never filled in, and nothing runs without it', async () => {
  const { offering, take } = await offered(offer({ values: [{ value: '', from: { text: 'several fit' } }] }));
  expect(offering.usual).toBe(false);
  await offering.take();
  expect(take).not.toHaveBeenCalled();
  expect(Object.keys(offering.wrong)).toEqual(['month']);
  offering.values.month = '2026-09';
  expect(offering.usual).toBe(true);
  await offering.take();
  expect(take).toHaveBeenCalledWith('op_1', expect.objectContaining({ version: 3, sha256: 'ab' }), { month: '2026-09' });
  expect(offering.running).toBe(true);
  expect(offering.offer).toBeUndefined();
});

test('a value that does not fit is said beside it, and anything else under the offer', async () => {
  const { offering, take } = await offered(offer());
  take.mockRejectedValueOnce(new Problem(422, 'no such month', 'parameters.month'));
  await offering.take();
  expect(offering.wrong.month).toMatch(/no such month/i);
  take.mockRejectedValueOnce(new Problem(409, 'it has changed'));
  await offering.take();
  expect(offering.trouble).toMatch(/it has changed/i);
  expect(offering.running).toBe(false);
});

test('a run that was begun is there again, until it is over', async () => {
  expect((await offered(undefined, run('stopped'))).offering.running).toBe(true);
  const over = (await offered(undefined, run('given_up'))).offering;
  expect(over.running).toBe(false);
  expect(over.performing.call).toMatchObject({ procedure: 'export_invoice', version: 3, parameters: { month: '2026-10' } });
});
