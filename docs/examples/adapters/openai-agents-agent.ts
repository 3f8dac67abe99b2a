// An agent of the OpenAI Agents SDK that may delete files only when a person says yes (see openai-agents.ts):
//
//     cd docs/examples && npm install
//     export DESKBELL_URL=http://127.0.0.1:7717 DESKBELL_KEY=...    # deskbell keys add my-agent
//     export OPENAI_API_KEY=... MODEL=...                           # and OPENAI_BASE_URL for any server that speaks its protocol
//     node --experimental-strip-types adapters/openai-agents-agent.ts "Which logs are here? Delete the old ones."
//
// With --state FILE the run is kept in a file while people are asked: kill the program then and start it again, and it goes
// on where it was, with the same questions.
import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { Agent, setOpenAIAPI, setTracingDisabled, tool } from '@openai/agents'
import { z } from 'zod'
import { Deskbell } from '../typescript/deskbell.ts'
import { resume, runApproved } from './openai-agents.ts'

setOpenAIAPI('chat_completions') // what all servers of models speak
setTracingDisabled(true) // nothing goes elsewhere

// A pretended folder: an example has no business with your files.
const files = new Set(['old.log', 'new.log'])

const agent = new Agent({
  name: 'Tidy',
  instructions: 'You tidy up a folder. Deleting needs a yes of a person; do not try again what they refused.',
  model: process.env.MODEL ?? '',
  tools: [
    tool({
      name: 'list_files',
      description: 'The files in the folder',
      parameters: z.object({}),
      execute: () => [...files].join(', '),
    }),
    tool({
      name: 'delete_file',
      description: 'Delete one file',
      parameters: z.object({ path: z.string() }),
      needsApproval: true,
      execute: ({ path }) => {
        console.log('done: deleted', path)
        return files.delete(path) ? `${path} is gone` : `there is no ${path}`
      },
    }),
  ],
})

async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { state: { type: 'string' }, timeout: { type: 'string', default: '600' } },
  })
  const bell = Deskbell.fromEnv()
  const file = values.state
  const kept: { session: string; state?: string } = file && existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : { session: `tidy-${randomUUID()}` }
  const how = {
    session: kept.session,
    risk: () => 'high' as const,
    timeout: Number(values.timeout),
    ...(file && { save: (state: string) => writeFileSync(file, JSON.stringify({ session: kept.session, state })) }),
  }
  const result = kept.state ? await resume(bell, agent, kept.state, how) : await runApproved(bell, agent, positionals[0] ?? '', how)
  if (file) rmSync(file, { force: true })
  console.log('outcome:', result.finalOutput)
}

main().catch((err) => {
  console.error('openai-agents-agent:', err instanceof Error ? err.message : err)
  process.exitCode = 3
})
