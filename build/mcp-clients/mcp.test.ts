import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { Bell, until } from './bell.js'
import { byFolder, variants, type Agent, type Reading } from './clients.js'

/** A usual request. */
const ask = (words: string, more: object = {}) => ({ action: 'invoke', action_type: 'feedback', description: words, ...more })

/** A PNG of one pixel. */
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

describe('MCP clients', { concurrency: true }, () => {
  for (const variant of variants) {
    describe(variant.label, { concurrency: true }, () => {
      let bell: Bell
      let agent: Agent
      let key: string
      const name = 'typescript'
      before(async () => {
        bell = await Bell.start()
        key = await bell.key(name)
        agent = await variant.connect(bell, name, key)
      })
      after(async () => {
        await agent?.close()
        await bell?.remove()
      })

      test('it negotiates the newest version both know, and shows its tools', async () => {
        assert.equal(agent.protocol, variant.protocol)
        const tools = await agent.tools()
        assert.deepEqual(tools.map((t) => t.name).sort(), ['human'])
        for (const tool of tools) assert.ok(Buffer.byteLength(tool.description ?? '') < 2048)
      })

      test('a call waits for the answer', async () => {
        const called = agent.human(ask('Which tone?', { details: { design: 'plain' } }))
        const op = await bell.rung(name, 'Which tone?')
        await bell.answer(op.operation_id, 'Warm')
        const r = await called
        assert.equal(r.status, 'completed')
        assert.equal(r.human_input, 'Warm')
        await until('it counts as delivered', async () => (await bell.operation(op.operation_id)).delivered_at !== undefined)
      })

      test('the human may ask back', async () => {
        const { operation_id } = await agent.human(ask('Write the note', { wait_seconds: 0 }))
        await bell.ask(operation_id, 'For whom?')
        const asked = await agent.human({ action: 'wait', operation_id })
        assert.equal(asked.status, 'waiting_input')
        assert.equal(asked.question, 'For whom?')
        const replied = agent.human({ action: 'reply', operation_id, text: 'For newcomers' })
        await until('the reply is there', async () => (await bell.operation(operation_id)).state === 'in_progress')
        await bell.decline(operation_id, 'They have one')
        const r = await replied
        assert.equal(r.status, 'declined')
        assert.equal(r.reason, 'They have one')
      })

      test('progress is told, and increases', async () => {
        const notes: { progress: number; message?: string }[] = []
        const called = agent.human(ask('With progress'), { onprogress: (p) => notes.push(p), resetTimeoutOnProgress: true })
        const op = await bell.rung(name, 'With progress')
        await until('there is a note', async () => notes.length > 0)
        assert.match(notes[0]?.message ?? '', /waiting for a human/)
        await bell.answer(op.operation_id, 'Seen')
        assert.equal((await called).human_input, 'Seen')
        for (const [i, n] of notes.entries()) assert.ok(i === 0 || n.progress > (notes[i - 1]?.progress ?? Infinity))
      })

      test('a client with a short time-out waits on, as long as progress comes', async () => {
        const notes: number[] = []
        const began = Date.now()
        const called = agent.human(ask('Half a minute'), { onprogress: (p) => notes.push(p.progress), resetTimeoutOnProgress: true, timeout: 20_000 })
        const op = await bell.rung(name, 'Half a minute')
        await new Promise((over) => setTimeout(over, 33_000))
        await bell.answer(op.operation_id, 'Still here')
        assert.equal((await called).human_input, 'Still here')
        assert.ok(Date.now() - began > 33_000)
        assert.ok(notes.length >= 3, `${notes.length} notes`)
      })

      // The client's own limit is 60 s, and progress does not change that unless it is told to restart its clock.
      for (const [how, options] of [['without progress', undefined], ['with progress', { onprogress: () => {} }]] as const) {
        test(`${how} a call returns before the client gives up`, async () => {
          const began = Date.now()
          const r = await agent.human(ask(`Nobody there, ${how}`), options)
          const took = Date.now() - began
          assert.equal(r.status, 'pending')
          assert.match(r.next ?? '', /action=wait/)
          assert.ok(took > 44_000 && took < 58_000, `after ${took} ms`)
          await bell.answer(r.operation_id, 'Now')
          assert.equal((await agent.human({ action: 'wait', operation_id: r.operation_id })).human_input, 'Now')
        })
      }

      test('a client that gives up loses nothing', async () => {
        const patience = new AbortController()
        const called = agent.human(ask('Too slow', { session_id: 's' }), { signal: patience.signal, onprogress: () => {} })
        const op = await bell.rung(name, 'Too slow')
        patience.abort('too slow')
        await assert.rejects(called)
        await bell.left(op.operation_id) // older clients tell the server in a message of its own
        await bell.answer(op.operation_id, 'Late')
        assert.equal((await bell.operation(op.operation_id)).delivered_at, undefined)
        const r = await agent.human(ask('Too slow', { session_id: 's' }))
        assert.equal(r.operation_id, op.operation_id)
        assert.equal(r.attached, true)
        assert.equal(r.human_input, 'Late')
      })

      test('a client that is cut off loses nothing', async () => {
        const cut = await variant.connect(bell, name, key)
        const lost = cut.human(ask('Cut off', { idempotency_key: 'cut' }), { onprogress: () => {} }).catch((err: unknown) => err)
        const op = await bell.rung(name, 'Cut off')
        await cut.close()
        assert.ok((await lost) instanceof Error)
        await bell.answer(op.operation_id, 'Kept')
        const unread = await agent.human({ action: 'list_pending' })
        assert.ok(unread.unread?.some((l) => l.operation_id === op.operation_id))
        const r = await agent.human(ask('Cut off', { idempotency_key: 'cut' }))
        assert.equal(r.operation_id, op.operation_id)
        assert.equal(r.human_input, 'Kept')
      })

      test('two agents are kept apart', async () => {
        const other = await variant.connect(bell, 'other', await bell.key('other'))
        try {
          const mine = await agent.human(ask('The same words', { session_id: 'a', wait_seconds: 0 }))
          const again = await agent.human(ask('The same words', { session_id: 'a', wait_seconds: 0 }))
          const theirs = await other.human(ask('The same words', { session_id: 'a', wait_seconds: 0 }))
          assert.equal(again.operation_id, mine.operation_id)
          assert.notEqual(theirs.operation_id, mine.operation_id)
          const peek = await other.human({ action: 'check_result', operation_id: mine.operation_id })
          assert.equal(peek.isError, true)
          assert.equal(peek.kind, 'not_found')
          const gone = await agent.human({ action: 'cancel', operation_id: mine.operation_id, reason: 'done' })
          assert.equal(gone.status, 'cancelled')
          assert.equal((await bell.operation(theirs.operation_id)).state, 'pending')
        } finally {
          await other.close()
        }
      })

      test('what is wrong is said as a result, which the model sees', async () => {
        const bad: [object, string, string][] = [
          [{ action: 'retry' }, 'invalid', 'action'],
          [{ action: 'invoke', description: 'x' }, 'invalid', 'action_type'],
          [ask('x', { priority: 11 }), 'invalid', 'priority'],
          [{ action: 'wait' }, 'invalid', 'operation_id'],
        ]
        for (const [args, kind, field] of bad) {
          const r = await agent.human(args as Record<string, unknown>)
          assert.equal(r.isError, true)
          assert.equal(r.kind, kind)
          assert.equal(r.field, field)
          assert.ok(r.message && r.next)
        }
      })

      test('findings come with what they rest on, within the tokens that are asked for', async () => {
        const { operation_id } = await agent.human(ask('What is the quota?', { wait_seconds: 0 }))
        const findings = [
          { kind: 'value', text: 'The quota is 8,412,903', evidence: [{ kind: 'field', id: 'quota' }, { kind: 'request', id: 'description' }] },
          { kind: 'note', text: 'left out', evidence: [], cut: true },
          { kind: 'note', text: 'It is renewed on Monday', evidence: [], by_hand: true },
        ]
        await bell.complete(operation_id, { fields: { quota: '8,412,903' }, findings, human_input: 'many words '.repeat(500) })
        const r = await agent.human({ action: 'check_result', operation_id, max_tokens: 300 })
        assert.equal(r.status, 'completed')
        assert.equal(r.key_findings, undefined)
        assert.deepEqual(r.findings, [
          { text: 'The quota is 8,412,903', kind: 'value', evidence: ['e1', 'e2'] },
          { text: 'It is renewed on Monday', kind: 'note', by_hand: true },
        ])
        assert.match(r.next ?? '', /get_evidence/)
        assert.ok(r.cut?.some((c) => c.startsWith('human_input from offset')), String(r.cut))
        assert.ok(JSON.stringify(r).length < 1000)
        const seen = await agent.human({ action: 'get_evidence', operation_id, evidence: ['e1', 'e2', 'e3'], pictures: true })
        assert.deepEqual(seen.evidence?.map((e) => e.text), ['8,412,903', 'What is the quota?', undefined])
        assert.match(seen.evidence?.[2]?.missing ?? '', /its answer has e1 to e2/)
      })

      test('files go both ways', async () => {
        const folder = await mkdtemp(join(tmpdir(), 'deskbell-files-'))
        try {
          const log = join(folder, 'build.log')
          await writeFile(log, 'it failed in line 7')
          const shot = { name: 'shot.png', data: png, mime: 'image/png' }
          const byPath = ask('Look at these', { attachments: [shot, { path: log }], wait_seconds: 0 })
          let asked = await agent.human(byPath)
          if (variant.transport === 'http') {
            assert.equal(asked.field, 'attachments[1]')
            assert.match(asked.message ?? '', /send name and data/)
            const data = Buffer.from('it failed in line 7').toString('base64')
            asked = await agent.human({ ...byPath, attachments: [shot, { name: 'build.log', data }] })
          }
          const { operation_id } = asked
          assert.ok(operation_id, JSON.stringify(asked))
          const op = await bell.operation(operation_id)
          assert.deepEqual(op.attachments?.map((a) => [a.name, a.media_type]), [['shot.png', 'image/png'], ['build.log', 'text/plain']])

          const marked = await bell.attach('marked.png', Buffer.from(png, 'base64'))
          const note = await bell.attach('note.md', Buffer.from('# Here'))
          const large = await bell.attach('core.bin', Buffer.alloc(200_000, 1))
          await bell.complete(operation_id, { human_input: 'see the files', attachments: [marked, note, large] })
          const r = await agent.human({ action: 'wait', operation_id })
          assert.equal(r.human_input, 'see the files')
          assert.deepEqual(r.files?.map((f) => f.content.split(':')[0]), ['image 1', 'resource 1', 'left out'])
          assert.deepEqual(r.more.map((c) => [c.type, c.mimeType ?? c.resource?.mimeType]), [['image', 'image/jpeg'], ['resource', 'text/plain']])
          assert.ok(Buffer.from(r.more[0]?.data ?? '', 'base64').subarray(0, 2).equals(Buffer.from([0xff, 0xd8])))
          assert.equal(r.more[1]?.resource?.text, '# Here')
          const again = await agent.human({ action: 'get_evidence', operation_id, evidence: [marked] })
          assert.equal(again.more[0]?.type, 'image')
          assert.equal((await agent.human({ action: 'get_evidence', operation_id, evidence: [note] })).text, '# Here')
          const whole = await agent.resource(`deskbell://human_actions/human_operation_${operation_id}/${large}`)
          assert.equal(Buffer.from(whole?.blob ?? '', 'base64').length, 200_000)
        } finally {
          await rm(folder, { recursive: true })
        }
      })

      test('the summary is there to be read', async () => {
        const { operation_id } = await agent.human(ask('For the memory', { wait_seconds: 0 }))
        await bell.answer(operation_id, 'Remembered')
        const r = await agent.human({ action: 'get_summary', limit: 50 })
        assert.match(r.text ?? '', /Said: Remembered/)
      })
    })

    describe(`${variant.label}, while Deskbell restarts`, { concurrency: false }, () => {
      let bell: Bell
      let agent: Agent
      before(async () => {
        bell = await Bell.start()
        agent = await variant.connect(bell, 'restarted', await bell.key('restarted'))
      })
      after(async () => {
        await agent?.close()
        await bell?.remove()
      })

      for (const how of ['SIGTERM', 'SIGKILL'] as const) {
        test(`nothing is lost by ${how}`, async () => {
          const words = `Survive ${how}`
          // Over HTTP these clients do not notice a stream that breaks; their time-out ends the call.
          const patient = { onprogress: () => {}, resetTimeoutOnProgress: true, timeout: 20_000 }
          const called = agent.human(ask(words), patient).catch((err: unknown) => err as Error)
          const op = await bell.rung('restarted', words)
          await bell.down(how)
          await bell.up()
          await bell.answer(op.operation_id, 'After the restart')
          let r: Reading | Error = await called
          if (variant.transport === 'stdio') {
            // The same call outlives the server.
            assert.ok(!(r instanceof Error), String(r))
          } else if (how === 'SIGTERM') {
            assert.ok(!(r instanceof Error), String(r))
            assert.equal(r.status, 'pending')
            r = await agent.human({ action: 'wait', operation_id: r.operation_id })
          } else {
            assert.ok(r instanceof Error) // nobody was left to answer; the agent asks again
            r = await agent.human(ask(words))
          }
          assert.equal(r.operation_id, op.operation_id)
          assert.equal(r.human_input, 'After the restart')
        })
      }
    })
  }

  test('deskbell mcp finds the server of its data folder and makes a key', async () => {
    const bell = await Bell.start()
    try {
      const agent = await byFolder(bell, 'by-folder')
      const r = await agent.human(ask('Found you', { wait_seconds: 0 }))
      assert.equal((await bell.operation(r.operation_id)).agent_id, 'by-folder')
      await agent.close()
    } finally {
      await bell.remove()
    }
  })
})
