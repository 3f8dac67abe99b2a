import type { Operation } from './wire';

/** An operation for tests, with what matters to the test laid over it. */
export function sampleOperation(over: Partial<Operation> = {}): Operation {
  return {
    operation_id: 'op_1',
    version: 1,
    action_type: 'approve',
    state: 'pending',
    overdue: false,
    description: 'Roll out api',
    agent_id: 'release-bot',
    priority: 5,
    digest: '',
    created_at: '2026-01-02T10:00:00Z',
    updated_at: '2026-01-02T10:00:00Z',
    on_timeout: 'mark',
    messages: [],
    recordings: [],
    ...over,
  };
}
