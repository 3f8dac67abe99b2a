// The tool confirm_plan, called by the official clients.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Bell, until } from './bell.js'
import { variants, type Agent, type Plan } from './clients.js'

const confirming = { DESKBELL_PLAN_CONFIRM_BY_HUMAN: 'true' }

/** A usual plan. */
const plan = (session_id: string, more: object = {}) => ({
  session_id,
  message: `Mend ${session_id}`,
  tasks: [
    { description: 'Look', tool_name: 'bash', args: { command: 'make <all> && echo "done"' } },
    { description: 'Mend', tool_name: 'edit', expected_outcome: 'It builds' },
  ],
  ...more,
})

describe('the tool confirm_plan', { concurrency: true }, () => {
  for (const variant of variants) {
    describe(variant.label, { concurrency: true }, () => {
      let bell: Bell
      let agent: Agent
      let key: string
      const name = 'planner'
      before(async () => {
        bell = await Bell.start(confirming)
        key = await bell.key(name)
        agent = await variant.connect(bell, name, key)
      })
      after(async () => {
        await agent?.close()
        await bell?.remove()
      })

      test('a plan is confirmed, runs, and hears what humans order meanwhile', async () => {
        const called = agent.plan(plan('run'))
        await bell.rung(name, 'Mend run')
        await bell.respond('run', 'confirm', { user_message: 'Go' })
        const p = await called
        assert.equal(p.status, 'confirmed')
        assert.equal(p.user_message, 'Go')
        assert.deepEqual(p.tasks?.map((t) => [t.id, t.state]), [['t1', 'waiting'], ['t2', 'waiting']])
        const begun = await agent.plan({ action: 'begin', session_id: 'run', task_id: 't1' })
        assert.equal(begun.go, true)
        assert.deepEqual(begun.task?.args, { command: 'make <all> && echo "done"' })
        await bell.order('run', 'pause', { text: 'Lunch' })
        const ended = await agent.plan({ action: 'end', session_id: 'run', task_id: 't1', note: 'well' })
        assert.deepEqual([ended.run_state, ended.orders?.[0]?.order, ended.orders?.[0]?.text], ['paused', 'pause', 'Lunch'])
        const notes: { progress: number; message?: string }[] = []
        const waiting = agent.plan({ action: 'begin', session_id: 'run', task_id: 't2' }, { onprogress: (n) => notes.push(n), resetTimeoutOnProgress: true })
        await until('it is told that the plan is paused', async () => notes.some((n) => n.message?.includes('paused')))
        await bell.order('run', 'resume')
        assert.equal((await waiting).go, true)
        const last = await agent.plan({ action: 'end', session_id: 'run', task_id: 't2', state: 'failed' })
        assert.equal(last.run_state, 'finished')
      })

      test('a plan is changed, and what was taken out does not begin', async () => {
        const called = agent.plan(plan('change'))
        await bell.rung(name, 'Mend change')
        await bell.respond('change', 'modify', { modified_tasks: [{ id: 't2', description: 'Mend it well' }, { description: 'Tell me' }] })
        const p = await called
        assert.equal(p.status, 'modified')
        assert.deepEqual(p.tasks?.map((t) => t.description), ['Mend it well', 'Tell me'])
        assert.ok(p.changes?.some((c) => c.startsWith('removed t1')), String(p.changes))
        const gone = await agent.plan({ action: 'begin', session_id: 'change', task_id: 't1' })
        assert.equal(gone.go, false)
      })

      test('a plan is canceled', async () => {
        const called = agent.plan(plan('no'))
        await bell.rung(name, 'Mend no')
        await bell.respond('no', 'cancel', { user_message: 'Not today' })
        const p = await called
        assert.deepEqual([p.status, p.user_message, p.tasks], ['cancelled', 'Not today', undefined])
      })

      test('nobody answers a plan', async () => {
        const p = await agent.plan(plan('late', { timeout_seconds: 2 }))
        assert.equal(p.status, 'timeout')
        assert.match(p.next ?? '', /do none of it/)
      })

      test('the human may ask back', async () => {
        const { operation_id = '' } = await agent.plan(plan('ask', { wait_seconds: 0 }))
        await bell.ask(operation_id, 'Which branch?')
        const asked = await agent.plan({ action: 'wait', session_id: 'ask' })
        assert.deepEqual([asked.status, asked.question], ['waiting_input', 'Which branch?'])
        const replied = agent.plan({ action: 'reply', session_id: 'ask', text: 'main' })
        await until('the reply is there', async () => (await bell.operation(operation_id)).state !== 'waiting_input')
        await bell.respond('ask', 'confirm')
        assert.equal((await replied).status, 'confirmed')
      })

      test('without progress a call returns before the client gives up, and the same plan joins', async () => {
        const began = Date.now()
        const p = await agent.plan(plan('long', { timeout_seconds: 250 })) // the client's own limit is 60 s
        const took = Date.now() - began
        assert.equal(p.status, 'pending')
        assert.ok(took > 44_000 && took < 58_000, `after ${took} ms`)
        const again = agent.plan(plan('long', { timeout_seconds: 250 }))
        await bell.respond('long', 'confirm')
        const joined = await again
        assert.deepEqual([joined.status, joined.operation_id, joined.attached], ['confirmed', p.operation_id, true])
      })

      test('a client with a short time-out waits on, as long as progress comes', async () => {
        const notes: number[] = []
        const called = agent.plan(plan('patience'), { onprogress: (n) => notes.push(n.progress), resetTimeoutOnProgress: true, timeout: 20_000 })
        await bell.rung(name, 'Mend patience')
        await new Promise((over) => setTimeout(over, 33_000))
        await bell.respond('patience', 'confirm')
        assert.equal((await called).status, 'confirmed')
        assert.ok(notes.length >= 3 && notes.every((n, i) => i === 0 || n > (notes[i - 1] ?? Infinity)), String(notes))
      })

      test('a client that gives up loses nothing', async () => {
        const patience = new AbortController()
        const called = agent.plan(plan('slow'), { signal: patience.signal, onprogress: () => {} })
        const op = await bell.rung(name, 'Mend slow')
        patience.abort('too slow')
        await assert.rejects(called)
        await bell.left(op.operation_id) // older clients tell the server in a message of its own
        await bell.respond('slow', 'confirm')
        assert.equal((await bell.operation(op.operation_id)).delivered_at, undefined)
        const p = await agent.plan(plan('slow'))
        assert.deepEqual([p.status, p.operation_id, p.attached], ['confirmed', op.operation_id, true])
      })

      test('what is wrong is said as a result, which the model sees', async () => {
        const bad: [object, string, string | undefined][] = [
          [{ action: 'confirm' }, 'invalid', 'action'],
          [{ message: 'x' }, 'invalid', 'tasks'],
          [plan('bad', { message: '' }), 'invalid', 'message'],
          [{ action: 'begin', session_id: 'run' }, 'invalid', 'task_id'],
          [{ action: 'check', session_id: 'nowhere' }, 'not_found', undefined],
        ]
        for (const [args, kind, field] of bad) {
          const p = await agent.plan(args as Record<string, unknown>)
          assert.deepEqual([p.isError, p.kind, p.field], [true, kind, field])
          assert.ok(p.message && p.next)
        }
      })
    })

    test(`${variant.label}: a plan outlives its server`, async () => {
      const bell = await Bell.start(confirming)
      const agent = await variant.connect(bell, 'restarted', await bell.key('restarted'))
      try {
        const patient = { onprogress: () => {}, resetTimeoutOnProgress: true, timeout: 20_000 }
        const called = agent.plan(plan('kill'), patient).catch((err: unknown) => err as Error)
        const op = await bell.rung('restarted', 'Mend kill')
        await bell.down('SIGKILL')
        await bell.up()
        await bell.respond('kill', 'confirm')
        let p: Plan | Error = await called
        if (variant.transport === 'http') {
          assert.ok(p instanceof Error) // nobody was left to answer; the agent hands the plan in again
          p = await agent.plan(plan('kill'))
        }
        assert.ok(!(p instanceof Error), String(p))
        assert.deepEqual([p.status, p.operation_id], ['confirmed', op.operation_id])
      } finally {
        await agent.close()
        await bell.remove()
      }
    })
  }

  test('without confirming nobody is asked', async () => {
    const bell = await Bell.start()
    try {
      const agent = await variants[0]!.connect(bell, 'free', await bell.key('free'))
      const p = await agent.plan(plan('free'))
      assert.deepEqual([p.status, p.auto, p.operation_id, p.tasks?.length], ['confirmed', 'off', undefined, 2])
      assert.equal(await bell.open('free'), 0)
      await agent.close()
    } finally {
      await bell.remove()
    }
  })
})
