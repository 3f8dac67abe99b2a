// Written by `make generate` from backend/kind. Do not edit.

/** The kinds of operations, in the order they are shown. */
export const kinds = ['feedback', 'bash', 'desktop', 'browser', 'review', 'approve', 'permission', 'plan'] as const;

/** A field of details: the names it is looked for under, and whether all that were sent are shown. */
export interface Field { names: readonly string[]; all?: boolean }

/** The fields of details that have a place of their own, by kind and name. */
export const fields = {
  feedback: {
    question: {"names":["question","questions","prompt"]},
    design: {"names":["design","current_design","proposal","draft"]},
    concerns: {"names":["concerns","issues"]},
    options: {"names":["options","choices","alternatives"]},
  },
  bash: {
    required_action: {"names":["required_action","action","task","what_to_do","instructions"]},
    command: {"names":["command","commands","cmd","script"],"all":true},
    why_agent_cant: {"names":["why_agent_cant","why_human","requires_human","why_agent_cannot","why_agent_can_not"]},
    target: {"names":["target","target_db","target_host","host","server","machine","database"],"all":true},
    folder: {"names":["folder","cwd","working_directory","directory"]},
    expected_outcome: {"names":["expected_outcome","expected_result","expected_output"]},
    risk_level: {"names":["risk_level"]},
  },
  desktop: {
    app: {"names":["app","application","program"]},
    path: {"names":["path","project_path","file_path","file","folder"],"all":true},
    required_action: {"names":["required_action","action","task","what_to_do"]},
    action_sequence: {"names":["action_sequence","steps","actions","checklist","instructions"]},
    expected_outcome: {"names":["expected_outcome","expected_result"]},
    requires_human: {"names":["requires_human","why_human","why_agent_cant","why_agent_cannot","why_agent_can_not"]},
    risk_level: {"names":["risk_level"]},
  },
  browser: {
    url: {"names":["url","start_url","link","address"]},
    required_action: {"names":["required_action","action","task","what_to_do","instructions"]},
    action_sequence: {"names":["action_sequence","steps","actions","checklist"]},
    data_to_extract: {"names":["data_to_extract","extract","fields","data","fields_to_extract"]},
    requires_human: {"names":["requires_human","why_human","why_agent_cant","why_agent_cannot","why_agent_can_not"]},
    expected_outcome: {"names":["expected_outcome","expected_result"]},
    risk_level: {"names":["risk_level"]},
  },
  review: {
    file_path: {"names":["file_path","file","path","filename"]},
    diff: {"names":["diff","patch"]},
    files: {"names":["files","changed_files","changes"]},
    code_snippet: {"names":["code_snippet","snippet","code"]},
    focus_areas: {"names":["focus_areas","focus","questions","checklist"]},
    tests_passed: {"names":["tests_passed","tests"]},
    risk_level: {"names":["risk_level"]},
  },
  approve: {
    action: {"names":["action"]},
    impact: {"names":["impact","impact_assessment","consequences"]},
    risk_level: {"names":["risk_level"]},
    risk: {"names":["risk","risks"]},
    rollback_plan: {"names":["rollback_plan","rollback","how_to_undo"]},
  },
  permission: {
    tool: {"names":["tool"]},
    args: {"names":["args"]},
    cwd: {"names":["cwd"]},
    verdict: {"names":["verdict"]},
    project: {"names":["project"]},
    check: {"names":["check"]},
    task: {"names":["task"]},
    about: {"names":["about"]},
    schema: {"names":["schema"]},
    annotations: {"names":["annotations"]},
    client: {"names":["client"]},
    root: {"names":["root"]},
    home: {"names":["home"]},
    session_id: {"names":["session_id"]},
    call_id: {"names":["call_id"]},
    files: {"names":["files"]},
    asker: {"names":["asker"]},
    changed: {"names":["changed"]},
    risk_level: {"names":["risk_level"]},
  },
  plan: {
    tasks: {"names":["tasks"]},
    tasks_summary: {"names":["tasks_summary"]},
    options: {"names":["options"]},
    confirmations: {"names":["confirmations"]},
    operators: {"names":["operators"]},
    cwd: {"names":["cwd"]},
    of: {"names":["of"]},
    replaces: {"names":["replaces"]},
    why: {"names":["why"]},
    risk_level: {"names":["risk_level"]},
  },
} as const satisfies Record<(typeof kinds)[number], Record<string, Field>>;
