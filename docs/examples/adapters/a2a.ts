// A2A's input-required, answered by a person: a client's side, for any agent that speaks the Agent2Agent protocol. Where a
// task needs input, its question rings, and the person's words go back into the same task. Where nobody answers, or a person
// declines, the task is cancelled. Copy this file and ../typescript/deskbell.ts.
import { createHash, randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { Role, TaskState, type Message, type Part, type Task } from '@a2a-js/sdk'
import type { Client } from '@a2a-js/sdk/client'
import type { Deskbell } from '../typescript/deskbell.ts'

export interface How {
  /** Seconds that a person has for each question; 600 where not given. */
  timeout?: number
  /** Is told of each state that the task comes to. */
  told?: (task: Task) => void
}

const open = [TaskState.TASK_STATE_SUBMITTED, TaskState.TASK_STATE_WORKING]

/** Gives an agent something to do, and returns what came of it: a task that has ended, or that needs what a person cannot
 *  give here (TASK_STATE_AUTH_REQUIRED); or a message, of agents that make no task of it. */
export async function send(bell: Deskbell, client: Client, text: string, how: How = {}): Promise<Task | Message> {
  const answer = await client.sendMessage(request(text))
  return 'messageId' in answer ? answer : follow(bell, client, answer, how)
}

/** Goes on with a task. After a crash, give the task as getTask returns it: what it asks rings with the same key, so nobody is
 *  rung twice. */
export async function follow(bell: Deskbell, client: Client, task: Task, how: How = {}): Promise<Task | Message> {
  for (;;) {
    how.told?.(task)
    const state = task.status?.state ?? TaskState.TASK_STATE_UNSPECIFIED
    if (state === TaskState.TASK_STATE_INPUT_REQUIRED) {
      const words = await ask(bell, task, how.timeout ?? 600)
      if (words === undefined) {
        const ended = await client.cancelTask({ tenant: '', id: task.id, metadata: undefined })
        how.told?.(ended)
        return ended
      }
      const answer = await client.sendMessage(request(words, task))
      if ('messageId' in answer) return answer
      task = answer
    } else if (open.includes(state)) {
      await pause(1000) // an agent that answers before it has ended
      task = await client.getTask({ tenant: '', id: task.id })
    } else {
      return task
    }
  }
}

/** Has a person answer what a task needs; undefined where nobody does. */
async function ask(bell: Deskbell, task: Task, timeout: number): Promise<string | undefined> {
  const asked = task.status?.message
  const data = asked?.parts.flatMap((part) => (part.content?.$case === 'data' ? [part.content.value] : [])) ?? []
  // A task may ask more than once, and every message has an id of its own.
  const which = asked?.messageId || createHash('sha256').update(JSON.stringify(task.status)).digest('hex').slice(0, 16)
  const op = await bell.ask({
    action_type: 'feedback',
    description: textOf(asked).split('\n', 1)[0]!.slice(0, 300) || 'The agent needs more to go on',
    details: { question: textOf(asked), ...(data.length > 0 && { data }), task: task.id },
    session_id: task.contextId,
    idempotency_key: `a2a:${task.id}:${which}`,
    timeout,
    on_timeout: 'cancel',
  })
  return op.state === 'completed' ? (op.result?.human_input ?? '') : undefined
}

/** The text of a message. */
export function textOf(message: Message | undefined): string {
  return (message?.parts ?? []).flatMap((part) => (part.content?.$case === 'text' ? [part.content.value] : [])).join('\n')
}

function request(text: string, task?: Task) {
  const part: Part = { content: { $case: 'text', value: text }, metadata: undefined, filename: '', mediaType: 'text/plain' }
  const message: Message = {
    messageId: randomUUID(),
    contextId: task?.contextId ?? '',
    taskId: task?.id ?? '',
    role: Role.ROLE_USER,
    parts: [part],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  }
  return { tenant: '', message, configuration: undefined, metadata: undefined }
}
