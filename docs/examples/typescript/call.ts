// Asks a person something and waits for the answer:
//
//     export DESKBELL_URL=http://127.0.0.1:7717 DESKBELL_KEY=...    # deskbell keys add my-agent
//     node --experimental-strip-types docs/examples/typescript/call.ts "Which of the two logos?"
//     node --experimental-strip-types docs/examples/typescript/call.ts --approve "make deploy" --risk high "Deploy to production?"
//
// With --patience it stops waiting before the person answers. Nothing is lost by that: the next run begins with what was
// answered meanwhile. The exit code is 0 for an answer or a yes, 1 for a no, 2 for a time-out, 3 for an error, 4 where
// patience ran out.
import { parseArgs } from 'node:util'
import { Deskbell, over, type Operation } from './deskbell.ts'

/** Marks the rings of this example among all that the agent's key has made. */
const session = 'example-call'

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      approve: { type: 'string' }, // ask for a yes or no to exactly this command
      risk: { type: 'string', default: 'medium' }, // low, medium, high or critical
      timeout: { type: 'string', default: '3600' }, // seconds until no operator will answer any more
      patience: { type: 'string', default: '3600' }, // seconds that this program waits
    },
  })
  const [question] = positionals
  if (question === undefined || positionals.length > 1) throw new Error('say in one argument what you want to know')
  const bell = Deskbell.fromEnv()
  await late(bell)

  const ring = { description: question, session_id: session, timeout: Number(values.timeout), on_timeout: 'cancel' as const }
  let op = await bell.ring(
    values.approve === undefined
      ? { ...ring, action_type: 'feedback' }
      : { ...ring, action_type: 'approve', details: { action: values.approve, risk_level: values.risk } },
  )
  console.log('rang:', op.operation_id)
  const patience = AbortSignal.timeout(Number(values.patience) * 1000)
  try {
    while (!over(op)) op = await bell.changed(op, patience)
  } catch (err) {
    if (!patience.aborted) throw err
    console.log('no answer yet; the next run begins with it')
    return 4
  }
  return report(bell, op)
}

/**
 * Prints what people answered while no program of this agent waited. An approval that comes late is told, too, and
 * nothing is done with it: whoever asked has gone.
 */
async function late(bell: Deskbell): Promise<void> {
  const page = await bell.call<{ operations: Operation[] }>('GET', '/api/human/operations?state=closed&limit=100')
  for (const op of page.operations) {
    if (op.session_id !== session || op.delivered_at !== undefined) continue
    console.log('meanwhile:', op.description)
    await report(bell, await bell.get(op.operation_id))
  }
}

/**
 * Prints how an operation ended, and returns the exit code. Only a completed one may be taken for a yes, and of an
 * approval only the decision "approve".
 */
async function report(bell: Deskbell, op: Operation): Promise<number> {
  const { result } = op
  if (op.state !== 'completed' || result === undefined) {
    console.log(`${op.state}: ${op.ended?.reason ?? ''}`)
    return op.state === 'declined' ? 1 : 2
  }
  if (result.decision) console.log('decision:', result.decision)
  if (result.human_input) console.log(`${result.by.name} says: ${result.human_input}`)
  if (result.summary) console.log('summary:', result.summary)
  for (const [name, value] of Object.entries(result.fields ?? {})) console.log(`field: ${name} = ${value}`)
  for (const finding of result.key_findings ?? []) console.log('finding:', finding)
  if (result.key_findings?.length) {
    // What the findings rest on, in words; a picture of a moment can be had one by one.
    const path = `/api/human/operations/${op.operation_id}/evidence?max_tokens=2000`
    const all = await bell.call<{ evidence: { label: string; kind: string; text?: string }[] }>('GET', path)
    for (const e of all.evidence) console.log(`evidence: ${e.label}, ${e.kind}: ${(e.text ?? '').trim()}`)
  }
  return result.decision === 'deny' ? 1 : 0
}

main().then(
  (code) => (process.exitCode = code),
  (err) => {
    console.error('call:', err instanceof Error ? err.message : err)
    process.exitCode = 3
  },
)
