// Package rules judges calls by the engine's verdict and by the user's and operators' settings: the policy, rules, trust, and
// how important a project is. Like the engine it is pure.
//
// Severities form a lattice and the most severe wins. A rule that allows removes only the effects of the commands that it
// matches, so a call passes only when every effect of it is harmless or covered; a rule that asks or blocks always holds.
// Nothing lowers a hard limit (gatekeeping, step 6).
package rules

import (
	"time"

	"deskbell/backend/gate"
	"deskbell/backend/human"
)

// A Config is what gate.toml says.
type Config struct {
	Policy     gate.Policy
	Trust      Trust
	Thresholds Thresholds
	Tools      map[string]Tool // by the tool's name
	Rules      []human.GateRule
	Projects   map[string]Importance // by the root of a working tree
	Timeout    time.Duration         // how long a question waits before it ends as a refusal
	ReadCheck  float64               // the share of questions that check whether they were read, 0 to 1
	Away       Away
	Model      bool // ask the model about what is ambiguous

	// Problem is why a project's own file cannot be read. It then counts as strict: it may have tightened anything.
	Problem string
}

// Trust is how answers move it (G5).
type Trust struct {
	Initial, Increment, Decrement float64
	HalfLife                      time.Duration // in which half of the way back to Initial is gone
}

// Thresholds are of trust.
type Thresholds struct {
	LowRiskAutoApprove float64 // over it, low risk needs no confirmation
	ParanoidMode       float64 // under it, everything does
}

// A Tool is what is laid down about one tool (G6).
type Tool struct {
	AlwaysConfirm     bool
	SafeCommands      []string // as GateRule.Command
	DangerousPatterns []string // words that stand in a command in this order; asked about wherever they stand
}

// Importance is how much is at stake in a project.
type Importance string

// The importances.
const (
	Low    Importance = "low" // a playground: judged as by the next more permissive policy
	Normal Importance = "normal"
	High   Importance = "high" // judged as by the next stricter policy
)

// Away is what a hook does with a call that it would ask about, while the app does not run.
type Away string

// What it can do.
const (
	Refuse      Away = "refuse"
	AskInClient Away = "client" // leave it to the client's own prompt
)

// Circumstances are what a call is made in.
type Circumstances struct {
	Agent, Session string
	Project        string                         // the root of the working tree
	Standing       []human.GateRule               // of operators
	Trust          func(human.EffectVerb) float64 // nil: Config.Trust.Initial for all
	Now            time.Time
}
