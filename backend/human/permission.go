package human

import (
	"encoding/json"
	"time"
)

// Permission is the kind of operation by which the gatekeeper asks about a call of a tool. No agent rings with it.
const Permission Kind = "permission"

// Annotations are what a tool's own server says about it (MCP). They may only make a verdict stricter.
type Annotations struct {
	ReadOnly    *bool `json:"readOnlyHint,omitempty"`
	Destructive *bool `json:"destructiveHint,omitempty"`
	Idempotent  *bool `json:"idempotentHint,omitempty"`
	OpenWorld   *bool `json:"openWorldHint,omitempty"`
}

// A ToolCall is a call of a tool as its client tells it to the gatekeeper, before it runs.
type ToolCall struct {
	Tool        string          `json:"tool" doc:"The tool's name, as the agent's client calls it."`
	Args        json.RawMessage `json:"args,omitempty" doc:"Its arguments: a JSON object."`
	Cwd         string          `json:"cwd,omitempty" doc:"The folder it would run in; absolute."`
	Root        string          `json:"root,omitempty" doc:"Of the working tree; found from cwd where absent."`
	Home        string          `json:"home,omitempty"`
	Schema      json.RawMessage `json:"schema,omitempty" doc:"The tool's input schema (MCP)."`
	About       string          `json:"about,omitempty" doc:"The tool's own description (MCP)."`
	Annotations Annotations     `json:"annotations,omitzero"`
	Was         json.RawMessage `json:"was,omitempty" doc:"What the tool's server said about it before, where it has changed that in this session (MCP): description, inputSchema and annotations."`
	Client      string          `json:"client,omitempty" doc:"Which program asks: claude-code, codex, mcp-proxy ..."`
	Task        string          `json:"task,omitempty" doc:"What the agent's user asked for, where the client knows it."`
	SessionID   string          `json:"session_id,omitempty"`
	Fixed       bool            `json:"fixed,omitempty" doc:"The client cannot run a call with other arguments than its own: one that an operator changed is blocked, and let through once when the agent makes it."`
	CallID      string          `json:"call_id,omitempty" doc:"The client's own id of this call: the same again asks no operator twice."`
}

// ProjectInfo is what is known of the working tree that a call is made in (G1).
type ProjectInfo struct {
	Name   string `json:"name,omitempty" doc:"The last part of its path."`
	Root   string `json:"root,omitempty"`
	Git    bool   `json:"git"`
	Branch string `json:"branch,omitempty"`
	Files  int    `json:"files,omitempty" doc:"Of version control; else counted, up to 100,000."`
	Clean  bool   `json:"clean" doc:"There is nothing that no commit holds."`
	Pushed bool   `json:"pushed" doc:"Every commit of the branch is at its remote."`
}

// A ReadCheck is a small question that shows whether the operator read what they are asked (off by default).
type ReadCheck struct {
	Options []EffectVerb `json:"options" doc:"One of them is what the call would do."`
}

// A Question is the details of an operation of kind permission. An answer is bound to its exact bytes, and so to the call.
type Question struct {
	Risk Risk `json:"risk_level" enum:"none,low,medium,high,critical"`
	ToolCall
	Verdict Verdict     `json:"verdict"`
	Project ProjectInfo `json:"project,omitzero"`
	Check   *ReadCheck  `json:"check,omitempty"`

	Files   []JudgedFile `json:"files,omitempty" doc:"The files that the verdict rests on: what runs is what is in them."`
	Asker   *ProcessID   `json:"asker,omitempty" doc:"The process of the agent's client, where it is known. When it ends, the request is withdrawn."`
	Changed *Changed     `json:"changed,omitempty" doc:"Why it is asked again: what is not as it was."`
}

// A JudgedFile is a file that a verdict rests on, as it was when the call was judged.
type JudgedFile struct {
	Path   string    `json:"path"`
	State  FileState `json:"state" enum:"read,absent,unreadable"`
	SHA256 string    `json:"sha256,omitempty" doc:"Of its bytes, where they were read."`
	Size   int64     `json:"size,omitempty" doc:"In bytes."`
	Text   string    `json:"text,omitempty" doc:"The beginning of its text, at most 16 KiB; secrets are masked."`
}

// Same says whether a file is still as it was.
func (f JudgedFile) Same(now JudgedFile) bool {
	return f.Path == now.Path && f.State == now.State && f.SHA256 == now.SHA256 && f.Size == now.Size
}

// FileState is what there was at the path of a JudgedFile.
type FileState string

// The states of files.
const (
	FileRead       FileState = "read"
	FileAbsent     FileState = "absent"
	FileUnreadable FileState = "unreadable" // no regular file, larger than is read, or not to be read
)

// A Changed says what is not as it was when a call was allowed, or asked about, before: what was allowed then does not run.
type Changed struct {
	Since       ChangedSince  `json:"since" enum:"question,verdict,rule,tool"`
	OperationID OperationID   `json:"operation_id,omitempty" doc:"Of question: the request before this one."`
	Rule        string        `json:"rule_id,omitempty" doc:"Of rule: the rule that allowed the call as it was."`
	At          time.Time     `json:"at" doc:"When it was as it was."`
	Noticed     time.Time     `json:"noticed_at" doc:"When the difference was seen."`
	Choice      ChoiceAction  `json:"choice,omitempty" enum:"allow,deny,backup,difference,instead,change,box" doc:"The operator's answer that was not used."`
	AnsweredAt  *time.Time    `json:"answered_at,omitempty"`
	Risk        Risk          `json:"risk_level,omitempty" enum:"none,low,medium,high,critical" doc:"As it was judged before."`
	Effects     []Effect      `json:"effects,omitempty" doc:"As it was judged before, the most severe first, at most 100."`
	Files       []ChangedFile `json:"files"`
	By          *ChangedBy    `json:"by,omitempty" doc:"The last call of an agent that wrote one of the files, as far as the gatekeeper knows."`
}

// ChangedSince is what a Changed compares with.
type ChangedSince string

// What there is to compare with.
const (
	SinceQuestion ChangedSince = "question" // an operator was asked about
	SinceVerdict  ChangedSince = "verdict"  // judged, a moment ago
	SinceRule     ChangedSince = "rule"     // an operator made the rule
	SinceTool     ChangedSince = "tool"     // an MCP server said of its tool before
)

// A ChangedFile is one file, or an MCP tool's definition, before and now.
type ChangedFile struct {
	Path    string     `json:"path" doc:"Of a file; the name of a tool."`
	Before  JudgedFile `json:"before"`
	Now     JudgedFile `json:"now"`
	Diff    string     `json:"diff,omitempty" doc:"Unified; secrets are masked, and a long one is shortened."`
	Added   int        `json:"added,omitempty" doc:"Lines."`
	Removed int        `json:"removed,omitempty" doc:"Lines."`
}

// A ChangedBy is a call that wrote a file.
type ChangedBy struct {
	Agent string    `json:"agent_id"`
	Tool  string    `json:"tool"`
	Path  string    `json:"path"`
	At    time.Time `json:"at"`
}

// A PermissionAnswer is the part of an answer that permissions have beside the words.
type PermissionAnswer struct {
	Choice ChoiceAction    `json:"choice,omitempty" enum:"allow,deny,backup,instead,change,box" doc:"Of a permission: what was chosen."`
	Args   json.RawMessage `json:"args,omitempty" doc:"Of a permission: the arguments that the call may run with in place of its own."`
	Backup *Backup         `json:"backup,omitempty" doc:"Of a permission: the copy that was made before the call ran."`
}

// A Backup is a verified copy that was made before a call ran.
type Backup struct {
	ID    string    `json:"backup_id,omitempty" doc:"By which it is restored. Empty: it is a git stash, and git restores it."`
	Path  string    `json:"path" doc:"The folder that holds the copies, with a list of them; or the name of a git stash."`
	Stash bool      `json:"stash,omitempty" doc:"It is a git stash."`
	Files int       `json:"files"`
	Bytes int64     `json:"bytes"`
	At    time.Time `json:"at"`
	Until time.Time `json:"until,omitzero" doc:"When it is deleted."`
	Tool  string    `json:"tool,omitempty" doc:"What was called."`
}

// BackupContents is a Backup with what is in it.
type BackupContents struct {
	Backup
	Items []BackupItem `json:"items"`
}

// A BackupItem is one file, folder or link of a backup.
type BackupItem struct {
	Path string `json:"path" doc:"Where it was, and where it is restored to."`
	Mode string `json:"mode" doc:"Its kind and permissions, such as -rw-r--r--."`
	Size int64  `json:"size,omitempty" doc:"In bytes, of a file."`
	Link string `json:"link,omitempty" doc:"What a link leads to."`
}

// Restored is what came of restoring a backup.
type Restored struct {
	Files int   `json:"files" doc:"Files and links that were put back."`
	Bytes int64 `json:"bytes" doc:"Of these files."`
	Kept  int   `json:"kept" doc:"Files and links that were there, exactly as in the backup."`
}

// A Judgement is what comes of asking the gatekeeper about a call.
type Judgement struct {
	Decision    Ruling          `json:"decision" enum:"allow,ask,deny" doc:"allow: run it, with args where they are given; deny: do not; ask: an operator is being asked, so do not, and ask again with operation_id."`
	DecisionID  string          `json:"decision_id,omitempty" doc:"Its line in the log; empty where nothing was logged."`
	Message     string          `json:"message" doc:"For the agent: why, and what to do."`
	OperationID OperationID     `json:"operation_id,omitempty" doc:"The question, where an operator was or is asked."`
	Choice      ChoiceAction    `json:"choice,omitempty" enum:"allow,deny,backup,difference,instead,change,box" doc:"What the operator chose."`
	By          string          `json:"by,omitempty" doc:"The operator who answered."`
	Reason      string          `json:"reason,omitempty" doc:"The operator's own words."`
	Args        json.RawMessage `json:"args,omitempty" doc:"Run it with these arguments and no others."`
	Backup      *Backup         `json:"backup,omitempty"`
	Verdict     Verdict         `json:"verdict"`
}

// A GateRule is a rule of the user's own: of the file gate.toml, of a project's file, or one that an
// operator gave.
type GateRule struct {
	ID       string       `json:"rule_id"`
	Decision Ruling       `json:"decision" enum:"allow,ask,deny"`
	Tool     string       `json:"tool,omitempty" doc:"A tool's name; * stands for any letters. Empty: any."`
	Command  string       `json:"command,omitempty" doc:"The words of a command; the word * stands for one word, ** at the end for any."`
	Path     string       `json:"path,omitempty" doc:"A path that it touches; * within a name, ** over folders. Relative ones are the project's."`
	Verbs    []EffectVerb `json:"verbs,omitempty" doc:"Kinds of effects. Empty: any."`
	Project  string       `json:"project,omitempty" doc:"The root of a working tree. Empty: every project."`
	Session  string       `json:"session_id,omitempty" doc:"One session of an agent. Empty: every session."`
	Agent    string       `json:"agent_id,omitempty" doc:"Empty: every agent."`
	Until    *time.Time   `json:"until,omitempty" doc:"Absent: always."`
	Reason   string       `json:"reason,omitempty"`
	Source   RuleSource   `json:"source" enum:"file,project,operator"`
	Match    []string     `json:"match,omitempty" doc:"Of files: commands that it must match; checked when it loads."`
	Differ   []string     `json:"differ,omitempty" doc:"Of files: commands that it must not match; checked when it loads."`
	By       string       `json:"by,omitempty" doc:"Who made it, of operators."`
	At       *time.Time   `json:"at,omitempty"`
	Matched  int          `json:"matched" doc:"Calls that it decided."`
	LastUsed *time.Time   `json:"last_used,omitempty"`
	Files    []JudgedFile `json:"files,omitempty" doc:"Of operators: the files of the call that the rule was made from, as they were. It allows no call for which one of them is another."`
}

// RuleSource is where a rule comes from.
type RuleSource string

// Where rules come from.
const (
	RuleFile     RuleSource = "file"     // gate.toml
	RuleProject  RuleSource = "project"  // the project's own file, which may only tighten
	RuleOperator RuleSource = "operator" // a rule
)
