// Two LangGraph agents whose interrupts a person answers (see langgraph.ts):
//
//     cd docs/examples && npm install
//     export DESKBELL_URL=http://127.0.0.1:7717 DESKBELL_KEY=...    # deskbell keys add my-agent
//     node --experimental-strip-types adapters/langgraph-agent.ts node        # a graph with interrupt() in a node
//     node --experimental-strip-types adapters/langgraph-agent.ts tools       # LangChain's middleware before its tools
//     node --experimental-strip-types adapters/langgraph-agent.ts ask 'Which of the two logos?'
//
// With --state FILE the graph is kept in a file: kill the program while it waits and start it again, and it goes on where
// it was, with the same question. The models are played, so that nothing here needs one.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { deserialize, serialize } from 'node:v8'
import { AIMessage } from '@langchain/core/messages'
import { fakeModel } from '@langchain/core/testing'
import { Annotation, END, interrupt, MemorySaver, START, StateGraph } from '@langchain/langgraph'
import { createAgent, humanInTheLoopMiddleware, tool } from 'langchain'
import { z } from 'zod'
import { Deskbell } from '../typescript/deskbell.ts'
import { invoke, Unanswered } from './langgraph.ts'

/** Checkpoints in a file. A real agent takes one of LangGraph's savers for a database. */
class FileSaver extends MemorySaver {
  constructor(path: string | undefined) {
    super()
    this.path = path
    if (path && existsSync(path)) [this.storage, this.writes] = deserialize(readFileSync(path))
  }
  private path: string | undefined
  private save<T>(value: T): T {
    if (this.path) writeFileSync(this.path, serialize([this.storage, this.writes]))
    return value
  }
  override async put(...args: Parameters<MemorySaver['put']>) {
    return this.save(await super.put(...args))
  }
  override async putWrites(...args: Parameters<MemorySaver['putWrites']>) {
    return this.save(await super.putWrites(...args))
  }
}

/** A node that asks before it sends, in the shape of the Agent Inbox. */
function nodeGraph(checkpointer: MemorySaver) {
  const State = Annotation.Root({ letter: Annotation<{ to: string; text: string }>, outcome: Annotation<string> })
  const send = ({ letter }: typeof State.State) => {
    console.log('the node begins') // once more after each answer
    const [said] = interrupt([
      {
        action_request: { action: 'send_letter', args: letter },
        config: { allow_accept: true, allow_edit: true, allow_respond: true, allow_ignore: true },
        description: `Send this letter to ${letter.to}?`,
      },
    ])
    if (said.type === 'accept') return { outcome: `sent to ${letter.to}` }
    if (said.type === 'edit') return { outcome: `sent to ${said.args.args.to}` }
    return { outcome: said.type === 'response' ? `not sent: ${said.args}` : 'not sent' }
  }
  return new StateGraph(State).addNode('send', send).addEdge(START, 'send').addEdge('send', END).compile({ checkpointer })
}

/** An agent with tools that LangChain's middleware holds back until a person has looked at them. */
function toolsAgent(checkpointer: MemorySaver) {
  const remove = tool(({ path }) => done(`removed ${path}`), { name: 'remove', description: 'Remove a file', schema: z.object({ path: z.string() }) })
  const pay = tool(({ to, euro }) => done(`paid ${euro} to ${to}`), { name: 'pay', description: 'Pay', schema: z.object({ to: z.string(), euro: z.number() }) })
  const calls = [
    { id: 'call_1', name: 'remove', args: { path: 'old.log' } },
    { id: 'call_2', name: 'pay', args: { to: 'Mei', euro: 20 } },
  ]
  // What the model hears, and then says.
  const model = fakeModel()
    .respond((messages) => (messages.some((m) => m.type === 'tool') ? heard(messages) : new AIMessage({ content: '', tool_calls: calls })))
    .respond((messages) => heard(messages))
  return createAgent({
    model,
    tools: [remove, pay],
    middleware: [humanInTheLoopMiddleware({ interruptOn: { remove: { allowedDecisions: ['approve', 'reject'] }, pay: true } })],
    checkpointer,
  })
}

function done(what: string): string {
  console.log('done:', what)
  return what
}

function heard(messages: { type: string; text: string }[]): AIMessage {
  const results = messages.filter((m) => m.type === 'tool').map((m) => m.text)
  return new AIMessage(`the model heard: ${results.join('; ')}`)
}

/** A node that only wants to know something; or that asks just what it is given as JSON. */
function askGraph(question: string, checkpointer: MemorySaver) {
  const State = Annotation.Root({ outcome: Annotation<unknown> })
  const value: unknown = question.startsWith('{') || question.startsWith('[') ? JSON.parse(question) : question
  const ask = () => ({ outcome: interrupt(value) })
  return new StateGraph(State).addNode('ask', ask).addEdge(START, 'ask').addEdge('ask', END).compile({ checkpointer })
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { state: { type: 'string' }, timeout: { type: 'string', default: '600' } },
  })
  const [which, ...questions] = positionals
  const saver = new FileSaver(values.state)
  const bell = Deskbell.fromEnv()
  const how = { risk: ({ name }: { name: string }) => (name === 'pay' ? 'high' : 'medium') as 'high' | 'medium', timeout: Number(values.timeout) }
  const run = async (graph: Parameters<typeof invoke>[1], input: unknown, thread = 'letters') => {
    const goesOn = (await saver.getTuple({ configurable: { thread_id: thread } })) !== undefined
    return invoke(bell, graph, goesOn ? null : input, thread, how)
  }
  switch (which) {
    case 'node': {
      const state = (await run(nodeGraph(saver), { letter: { to: 'Ann', text: 'See you on Monday.' } })) as { outcome: string }
      console.log('outcome:', state.outcome)
      return 0
    }
    case 'tools': {
      const state = (await run(toolsAgent(saver), { messages: [{ role: 'user', content: 'Tidy up, and pay Mei.' }] })) as { messages: AIMessage[] }
      console.log('outcome:', state.messages.at(-1)?.text)
      return 0
    }
    case 'ask': {
      for (const [i, question] of questions.entries()) {
        try {
          const state = (await run(askGraph(question, saver), {}, `letters-${i}`)) as { outcome: unknown }
          console.log('outcome:', typeof state.outcome === 'string' ? state.outcome : JSON.stringify(state.outcome))
        } catch (err) {
          if (!(err instanceof Unanswered)) throw err
          console.log('unanswered:', err.message)
          return 2
        }
      }
      return 0
    }
  }
  throw new Error('say which: node, tools or ask')
}

main().then(
  (code) => process.exit(code),
  (err) => {
    console.error('langgraph-agent:', err instanceof Error ? err.message : err)
    process.exit(3)
  },
)
