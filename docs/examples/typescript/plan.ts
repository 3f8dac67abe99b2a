// Has a plan confirmed, and then runs it task by task, obeying what an operator orders meanwhile:
//
//     export DESKBELL_URL=http://127.0.0.1:7717 DESKBELL_KEY=...    # deskbell keys add my-agent
//     node --experimental-strip-types docs/examples/typescript/plan.ts docs/examples/plan.json
//
// In the console an operator confirms the plan, changes its tasks, or cancels it; and while it runs they pause it, let it go
// on, skip a task, change those that have not begun, or stop it. Where the setting plan.confirm_by_human is off, the plan is
// confirmed at once and nobody is asked. The exit code is 0 where the plan was run to its end, 1 where a person or a task
// that failed kept it from that, 2 where nobody answered in time, 3 for an error.
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { Deskbell, Problem } from './deskbell.ts'

interface Task {
  id: string
  description: string
  tool_name?: string
  args?: { text?: string; command?: string[] }
}

/** How far a confirmed plan has come. */
interface Run {
  state: 'waiting' | 'running' | 'paused' | 'stopped' | 'finished'
  tasks: (Task & { state: 'waiting' | 'running' | 'done' | 'failed' | 'skipped' })[]
}

interface Status {
  operation_id?: string
  status: 'pending' | 'confirmed' | 'modified' | 'cancelled' | 'timeout'
  auto?: 'off' | 'safe'
  /** What may run. */
  tasks: Task[]
  question?: string
  user_response?: { user_message?: string }
  run?: Run
}

/** The answer to a task that begins or ends. */
interface Standing {
  go: boolean
  why?: 'paused' | 'asking' | 'skipped' | 'changed' | 'begun' | 'stopped' | 'refused' | 'unknown'
  task?: Task
  /** The operation by which an operator is asked about the task, and what they ask back. */
  asking?: string
  question?: string
  run: Run
  message: string
}

const bell = Deskbell.fromEnv()
const known = 'I am a small example: all that I know is in the plan.'
const session = `plan-${randomUUID()}`

/** Does one task, just as it stands: an operator may have changed it. Returns whether it worked, and what came of it. */
async function act({ tool_name, args = {} }: Task): Promise<{ worked: boolean; note: string }> {
  if (tool_name === 'say') {
    console.log('says:', args.text)
    return { worked: true, note: 'said' }
  }
  const [program, ...rest] = args.command ?? []
  if (tool_name !== 'run' || program === undefined) return { worked: false, note: `there is no tool ${tool_name}` }
  return new Promise((done) => {
    execFile(program, rest, (err, stdout, stderr) => done({ worked: err === null, note: (stdout + stderr).trim().slice(-500) || (err?.message ?? '') }))
  })
}

async function main(): Promise<number> {
  const plan = JSON.parse(await readFile(process.argv[2] ?? '', 'utf8'))
  let status = await bell.call<Status>('POST', '/api/plans?wait=25', { ...plan, session_id: session, idempotency_key: session })
  console.log('plan:', status.operation_id ?? 'needs no answer')
  while (status.status === 'pending') {
    if (status.question && status.operation_id) {
      // An operator asks before they decide.
      await bell.reply({ operation_id: status.operation_id }, known)
    }
    status = await bell.call<Status>('GET', `/api/plans/${session}?wait=25`)
  }
  console.log(`${status.status}: ${status.user_response?.user_message ?? ''}`)
  if (status.status === 'timeout') return 2
  if (status.tasks.length === 0) return 1 // cancelled; or they said what to change, and an agent with a model would hand in a new plan
  if (status.run) return run(status.run)
  for (const task of status.tasks) {
    if (!tell(task, await act(task))) return 1 // confirming is off: nobody follows the run, so there is nobody to tell
  }
  return 0
}

/** Runs the tasks that wait, in the order that they have now. */
async function run(now: Run): Promise<number> {
  for (;;) {
    const next = now.tasks.find((t) => t.state === 'waiting')
    if (next === undefined) {
      console.log(now.state)
      return 0
    }
    const begun = await progress(next.id, 'running')
    now = begun.run
    if (!begun.go || begun.task === undefined) {
      console.log(`${begun.why}: ${begun.message}`)
      // An operator asks before they decide about this task.
      if (begun.question && begun.asking) await bell.reply({ operation_id: begun.asking }, known)
      // Go on with what the run is now: the call waits up to 25 seconds while the plan is paused or a person is asked.
      if (['paused', 'asking', 'skipped', 'changed', 'begun'].includes(begun.why ?? '')) continue
      return 1 // stopped, or no such task
    }
    const came = await act(begun.task)
    tell(begun.task, came)
    now = (await progress(next.id, came.worked ? 'done' : 'failed', came.note)).run
    if (came.worked) continue
    for (const rest of now.tasks.filter((t) => t.state === 'waiting')) await progress(rest.id, 'skipped', 'a task before it failed')
    return 1
  }
}

/** Says that a task begins, which an operator may keep it from, or how it ended. */
async function progress(task_id: string, state: Run['tasks'][number]['state'], note = ''): Promise<Standing> {
  const stands = (run: Run) => run.tasks.find((t) => t.id === task_id && t.state === state)
  let begun: Standing
  try {
    begun = await bell.call('POST', `/api/plans/${session}/progress?wait=25`, { task_id, state, note })
  } catch (err) {
    if (!(err instanceof Problem) || err.kind !== 'conflict') throw err
    const { run } = await bell.call<Status>('GET', `/api/plans/${session}`)
    if (run === undefined || !stands(run)) throw err
    begun = { go: false, run, message: '' }
  }
  // Where the call arrived and its answer did not, the task is ours to do: no other process runs this plan.
  const ours = state === 'running' && !begun.go ? stands(begun.run) : undefined
  return ours ? { ...begun, go: true, task: ours } : begun
}

function tell(task: Task, { worked, note }: { worked: boolean; note: string }): boolean {
  console.log(`${worked ? 'done' : 'failed'}: ${task.id}: ${note}`)
  return worked
}

main().then(
  (code) => (process.exitCode = code),
  (err) => {
    console.error('plan:', err instanceof Error ? err.message : err)
    process.exitCode = 3
  },
)
