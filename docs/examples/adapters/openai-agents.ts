// The OpenAI Agents SDK's tool approvals, given by a person: a tool with `needsApproval` stops the run, and here each stopped
// call rings. Only a clear yes lets it run; a no goes to the model with the person's words. Copy this file and
// ../typescript/deskbell.ts.
import { run, RunState, type Agent, type RunToolApprovalItem } from '@openai/agents'
import type { Approval, Call, Deskbell } from '../typescript/deskbell.ts'

export interface How {
  /** Names this one run, for ids of calls are unique only in one; the same when it is resumed, and another for the next. */
  session: string
  /** How bad a call can be. */
  risk?: (call: Call) => Approval['risk']
  /** Seconds until it is a no; 600 where not given. */
  timeout?: number
  /** Keeps a run that waits for people. After a crash, give what was kept to `resume`. */
  save?: (state: string) => void | Promise<void>
}

/** Runs an agent to its end. Calls that the model makes at the same time ring at the same time. */
export async function runApproved<A extends Agent<any, any>>(bell: Deskbell, agent: A, input: string | RunState<undefined, A>, how: How) {
  let result = await run<A, undefined>(agent, input)
  while (result.interruptions.length > 0) {
    const { state } = result
    await how.save?.(state.toString())
    const answers = await Promise.all(result.interruptions.map(async (item) => ({ item, ...(await ask(bell, item, how)) })))
    for (const { item, yes, words } of answers) {
      if (yes) state.approve(item)
      else state.reject(item, { message: `A person refused this call. ${words || 'Do not make it again.'}` })
    }
    result = await run<A, undefined>(agent, state)
  }
  return result
}

/** Goes on with a run that was kept. What people were asked is not asked again: it rings with the same keys. */
export async function resume<A extends Agent<any, any>>(bell: Deskbell, agent: A, saved: string, how: How) {
  return runApproved(bell, agent, await RunState.fromString<undefined, A>(agent, saved), how)
}

async function ask(bell: Deskbell, item: RunToolApprovalItem, { session, risk, timeout }: How) {
  const raw = item.rawItem
  const call = { name: item.name ?? raw.type, args: parsed(item.arguments) ?? raw }
  const id = 'callId' in raw ? raw.callId : raw.id
  return bell.approve(call, {
    key: `openai-agents:${session}:${id}`,
    session,
    description: `${item.agent.name} wants to call ${call.name}`,
    ...(risk && { risk: risk(call) }),
    ...(timeout && { timeout }),
  })
}

/** The arguments; as they are where the model wrote what is no JSON. */
function parsed(args: string | undefined): unknown {
  try {
    return args === undefined ? undefined : JSON.parse(args)
  } catch {
    return args
  }
}
