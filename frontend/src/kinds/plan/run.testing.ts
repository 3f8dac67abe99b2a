import type { PlanQuestion, PlanRun, Task, TaskRun } from '../../lib/planwire';
import { sampleOperation } from '../../lib/sample.testing';
import type { Operation } from '../../lib/wire';

export const noon = Date.parse('2026-01-02T12:00:00Z');
/** A wire time, so many seconds after noon. */
export const at = (seconds: number): string => new Date(noon + seconds * 1000).toISOString();

export const tasks: Task[] = [
  { id: 't1', description: 'Dump billing', tool_name: 'pg_dump' },
  { id: 't2', description: 'Restore into 17', tool_name: 'pg_restore' },
  { id: 't3', description: 'Switch over', tool_name: 'vault' },
];

/** A run whose tasks stand as these say. */
export function sampleRun(...states: Partial<TaskRun>[]): PlanRun {
  return { state: 'running', tasks: tasks.map((task, i) => ({ ...task, state: 'waiting', ...states[i] })), orders: [] };
}

/** A plan that was confirmed at noon, of whose tasks history knows the first two. */
export function samplePlan(over: Partial<Operation> = {}): Operation {
  const question: PlanQuestion = {
    risk_level: 'medium', tasks, options: ['confirm', 'modify', 'cancel'], confirmations: 1,
    tasks_summary: {
      total_tasks: 3, risk_level: 'medium', writes: 2, estimated_tasks: 2, runs: 4,
      tasks: tasks.map((task, i) => ({ index: i + 1, id: task.id ?? '', description: task.description, tool: task.tool_name ?? '', risk_level: 'low', ...(i < 2 && { estimated_seconds: [540, 480][i] }) })),
    },
  };
  return sampleOperation({
    action_type: 'plan', state: 'completed', description: 'Move billing', agent_id: 'migrator', session_id: 's1', details: question as unknown as Operation['details'], created_at: at(-60),
    result: { by: { role: 'operator', name: 'mei' }, at: at(0), digest: '', plan: { action: 'confirm' } }, run: sampleRun(), ...over,
  });
}
