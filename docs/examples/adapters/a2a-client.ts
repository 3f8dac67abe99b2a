// Gives an A2A agent something to do, and has a person answer what it needs to know (see a2a.ts):
//
//     cd docs/examples && npm install
//     export DESKBELL_URL=http://127.0.0.1:7717 DESKBELL_KEY=...    # deskbell keys add my-client
//     node --experimental-strip-types adapters/a2a-agent.ts 4100 &
//     node --experimental-strip-types adapters/a2a-client.ts http://127.0.0.1:4100 "A table for two, please."
//
// It prints each state of the task. With --task ID it goes on with a task that it was following when it was killed.
import { parseArgs } from 'node:util'
import { TaskState, taskStateToJSON, type Task } from '@a2a-js/sdk'
import { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory, RestTransportFactory } from '@a2a-js/sdk/client'
import { Deskbell } from '../typescript/deskbell.ts'
import { follow, send, textOf } from './a2a.ts'

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { task: { type: 'string' }, timeout: { type: 'string', default: '600' } },
  })
  const [url, text = ''] = positionals
  if (url === undefined) throw new Error('say where the agent is')
  const bell = Deskbell.fromEnv()
  const legacyCompat = { enabled: true } // agents that speak A2A 0.3 still, where the state is called input-required
  const client = await new ClientFactory({
    transports: [new JsonRpcTransportFactory({ legacyCompat }), new RestTransportFactory({ legacyCompat })],
    cardResolver: new DefaultAgentCardResolver({ legacyCompat }),
  }).createFromUrl(url)
  const told = (task: Task) => console.log(`task: ${task.id} ${taskStateToJSON(task.status?.state ?? TaskState.UNRECOGNIZED)}`)
  const how = { timeout: Number(values.timeout), told }
  const end = values.task ? await follow(bell, client, await client.getTask({ tenant: '', id: values.task }), how) : await send(bell, client, text, how)
  if ('messageId' in end) {
    console.log('outcome:', textOf(end))
    return 0
  }
  console.log('outcome:', textOf(end.status?.message))
  return end.status?.state === TaskState.TASK_STATE_COMPLETED ? 0 : 2
}

main().then(
  (code) => (process.exitCode = code),
  (err) => {
    console.error('a2a-client:', err instanceof Error ? err.message : err)
    process.exitCode = 3
  },
)
