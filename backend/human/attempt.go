package human

import "time"

// A ProcessID names a process of this machine for as long as the machine runs: a number is used again, with another start.
type ProcessID struct {
	PID     int    `json:"pid"`
	Started uint64 `json:"started"` // in a unit of the system's own
}

// A Process is one of this machine's, as it was when it was looked at. Its words are untrusted text.
type Process struct {
	PID     int
	Started uint64    // in a unit of the system's own; with PID it is never another's
	Began   time.Time // the same by the clock
	Parent  int
	Program string // the path of its executable, or the name it goes by
	Args    []string
	// Of Unix: the session of its terminal, and the device; 0 and "" without a terminal.
	Session    int
	Terminal   string
	Foreground bool // it is what the terminal's keys go to
}

// ID names it.
func (p Process) ID() ProcessID { return ProcessID{p.PID, p.Started} }

// AttemptID names an attempt.
type AttemptID string

// AttemptPrefix is how every AttemptID begins.
const AttemptPrefix = "at_"

// An Attempt is what an agent tried that only a person may do, or somebody who gave a wrong code or PIN, from the first try on until
// an operator dismisses it. Deskbell blocked all of it. What programs say is masked, but untrusted.
type Attempt struct {
	ID          AttemptID  `json:"attempt_id"`
	AgentID     string     `json:"agent_id" doc:"The agent's name; empty where no agent is known to have tried, and where there were too many names to keep them apart."`
	How         AgentMark  `json:"how" enum:"hook,mcp,key,gate,none" doc:"How its process is known to be an agent's."`
	FirstAt     time.Time  `json:"first_at"`
	LastAt      time.Time  `json:"last_at"`
	Count       int        `json:"count" doc:"How often it tried. Tries has the first ones and the last ones."`
	Tries       []Try      `json:"tries"`
	Process     ProcessID  `json:"process" doc:"The agent's process at its last try; pid is 0 where it is not known."`
	Running     bool       `json:"running" doc:"That process still runs."`
	DismissedAt *time.Time `json:"dismissed_at,omitempty"`
	DismissedBy string     `json:"dismissed_by,omitempty"`
}

// AgentMark is how a process is known to be an agent's.
type AgentMark string

// The marks.
const (
	MarkHook AgentMark = "hook" // it started a hook
	MarkMCP  AgentMark = "mcp"  // it is a client of MCP
	MarkKey  AgentMark = "key"  // it used an agent's key
	MarkGate AgentMark = "gate" // it asked the gatekeeper about a call
	MarkNone AgentMark = "none" // it is not
)

// A Trial is what was tried.
type Trial string

// The trials.
const (
	TrySignIn  Trial = "sign_in"
	TryInvite  Trial = "invite"
	TryKey     Trial = "key"
	TryAnswer  Trial = "answer"
	TryOperate Trial = "operate" // any other call that is an operator's
	TryCommand Trial = "command" // a tool call that a hard limit blocked

	TryCode     Trial = "code"     // sign in with a wrong, used or expired code
	TryTerminal Trial = "terminal" // use the code or the session of another terminal
	TryPIN      Trial = "pin"      // give a wrong PIN
)

// A Try is one try.
type Try struct {
	At          time.Time   `json:"at"`
	What        Trial       `json:"what" enum:"sign_in,invite,key,answer,operate,command,code,terminal,pin"`
	Limit       string      `json:"limit" doc:"What blocked it, such as caller.sign_in, or a hard limit's id."`
	OperationID OperationID `json:"operation_id,omitempty" doc:"The operation that it was about, where there is one."`
	Detail      string      `json:"detail,omitempty" doc:"What it called: a call of the API, or a tool call in a line."`
	Line        []Ancestor  `json:"line" doc:"The process that tried, last, and what it descends from; of a tool call that a hook asked about, what started the hook. Empty where it is not known."`
}

// An Ancestor is a process in the line of one that tried.
type Ancestor struct {
	PID       int       `json:"pid"`
	StartedAt time.Time `json:"started_at"`
	Command   string    `json:"command" doc:"Its arguments in a line, masked and cut."`
	Agent     bool      `json:"agent" doc:"It is the agent."`
}
