// Asks a person, and answers what they ask back before they decide:
//
//     export DESKBELL_URL=http://127.0.0.1:7717 DESKBELL_KEY=...    # deskbell keys add my-agent
//     node --experimental-strip-types docs/examples/typescript/ask.ts
//
// In the card or the console choose "Ask back" and write, say, "how many rows?" or "is there a backup?". The exit code is 0
// for a yes, 1 for a no, 2 where nobody decided, 3 for an error.
import { Deskbell } from './deskbell.ts'

/** What the agent knows, by a word of the question. An agent with a model would ask the model. */
const knows = {
  rows: '48,210 rows, the oldest of 2019.',
  backup: 'There is a dump of last night, checked.',
}

function answer(question: string): string {
  const fact = Object.entries(knows).find(([word]) => question.toLowerCase().includes(word))
  const text = fact === undefined ? 'I do not know that. Please decide without it, or deny.' : fact[1]
  console.log('asked:', question)
  console.log('replied:', text)
  return text
}

async function main(): Promise<number> {
  const stopped = new AbortController()
  process.once('SIGINT', () => stopped.abort())
  const ring = {
    action_type: 'approve',
    description: 'Delete the table visits_old?',
    details: { action: 'DROP TABLE visits_old', risk_level: 'high' },
    timeout: 3600,
    on_timeout: 'cancel',
  } as const
  try {
    const op = await Deskbell.fromEnv().ask(ring, { answer, signal: stopped.signal })
    if (op.state === 'completed') {
      const yes = op.result?.decision === 'approve'
      console.log(yes ? 'approved:' : 'denied:', op.result?.human_input ?? '')
      return yes ? 0 : 1
    }
    console.log(`${op.state}: ${op.ended?.reason ?? ''}`)
    return op.state === 'declined' ? 1 : 2
  } catch (err) {
    if (stopped.signal.aborted) return 2 // interrupted: the ring is withdrawn
    throw err
  }
}

main().then(
  (code) => (process.exitCode = code),
  (err) => {
    console.error('ask:', err instanceof Error ? err.message : err)
    process.exitCode = 3
  },
)
