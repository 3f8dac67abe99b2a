package procedure

import (
	"deskbell/backend/human"
)

// A LintFinding is what Lint says about a procedure.
type LintFinding struct {
	Rule  string         `json:"rule" doc:"Names the rule, for programs."`
	Level string         `json:"level" enum:"error,warning,note" doc:"error: it cannot be saved."`
	Step  string         `json:"step,omitempty" doc:"The step's id."`
	Said  human.Sentence `json:"said"`
}

// The levels of findings.
const (
	LintError   = "error"
	LintWarning = "warning"
	LintNote    = "note"
)

// A TaughtRow is what became of one step of the recordings.
type TaughtRow struct {
	State string         `json:"state" enum:"same,parameter,optional,left_out"`
	Step  string         `json:"step,omitempty" doc:"The step of the procedure; absent where it was left out."`
	From  []string       `json:"from" doc:"One for each recording: the action's id; empty where it has none."`
	Why   human.Sentence `json:"why,omitzero"`
}

func Lint(human.Procedure) []LintFinding { return nil }
func RiskOf(human.Procedure) human.Risk  { return human.LowRisk }

func DoesOf(human.Procedure) []string { return []string{"reads"} }

// Standard is a policy.
const Standard = "standard"

func Refused(human.Procedure, string) *human.Sentence { return nil }
