// A tiny A2A agent that books a table, once it knows the day: until then its task is TASK_STATE_INPUT_REQUIRED. It serves on
// 127.0.0.1, at the port it is given (0: any), and prints its address; a2a-client.ts calls it. With 0.3 after the port it
// speaks that version of the protocol, whose name for the state is input-required.
import { randomUUID } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { Role, TaskState, type AgentCard, type Message, type TaskStatus } from '@a2a-js/sdk'
import { AgentEvent, DefaultRequestHandler, InMemoryTaskStore, type AgentExecutor, type ExecutionEventBus } from '@a2a-js/sdk/server'
import { agentCardHandler, jsonRpcHandler, UserBuilder } from '@a2a-js/sdk/server/express'
import express from 'express'

const contexts = new Map<string, string>()

const executor: AgentExecutor = {
  async execute({ taskId, contextId, task, userMessage }, bus) {
    contexts.set(taskId, contextId)
    const text = userMessage.parts.map((part) => (part.content?.$case === 'text' ? part.content.value : '')).join(' ')
    const status: TaskStatus = { state: TaskState.TASK_STATE_WORKING, message: undefined, timestamp: new Date().toISOString() }
    bus.publish(AgentEvent.task({ id: taskId, contextId, status, artifacts: [], history: [...(task?.history ?? []), userMessage], metadata: undefined }))
    const day = /\b(mon|tues|wednes|thurs|fri|satur|sun)day\b/i.exec(text)?.[0]
    if (day !== undefined) publish(bus, taskId, TaskState.TASK_STATE_COMPLETED, `Booked for ${day}.`)
    else publish(bus, taskId, TaskState.TASK_STATE_INPUT_REQUIRED, task ? `"${text}" is no day of the week. Which day?` : 'Which day of the week shall I book?')
  },
  async cancelTask(taskId, bus) {
    publish(bus, taskId, TaskState.TASK_STATE_CANCELED, 'Nothing was booked.')
    bus.finished()
  },
}

function publish(bus: ExecutionEventBus, taskId: string, state: TaskState, text: string): void {
  const contextId = contexts.get(taskId) ?? ''
  const message: Message = {
    messageId: randomUUID(),
    contextId,
    taskId,
    role: Role.ROLE_AGENT,
    parts: [{ content: { $case: 'text', value: text }, metadata: undefined, filename: '', mediaType: 'text/plain' }],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  }
  bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status: { state, message, timestamp: new Date().toISOString() }, metadata: undefined }))
}

const versions = process.argv[3] === '0.3' ? ['0.3'] : ['1.0']
const app = express()
const server = app.listen(Number(process.argv[2] ?? 0), '127.0.0.1', () => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const card: AgentCard = {
    name: 'Tables',
    description: 'Books tables',
    version: '1.0.0',
    supportedInterfaces: versions.map((protocolVersion) => ({ url: `${url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion, tenant: '' })),
    provider: undefined,
    capabilities: { streaming: false, pushNotifications: false, extensions: [] },
    securitySchemes: {},
    securityRequirements: [],
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [{ id: 'book', name: 'Book', description: 'Books a table', tags: ['tables'], examples: [], inputModes: [], outputModes: [], securityRequirements: [] }],
    signatures: [],
  }
  const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), executor)
  const legacyCompat = { enabled: versions.includes('0.3') }
  app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler, legacyCompat }))
  app.use('/rpc', jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication, legacyCompat }))
  console.log('url:', url)
})
