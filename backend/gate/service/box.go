package service

import (
	"context"
	"slices"
	"strings"

	"deskbell/backend/gate"
	"deskbell/backend/human"
)

// Boxes run commands on a copy of a project.
type Boxes struct {
	// Available says why there are none on this machine; nil where there are. It may take a moment.
	Available func() error
	// Command is what an agent runs in place of a command: its own program, with what is to run as an argument.
	Command func(r BoxRun) (string, error)
}

// A BoxRun is a command that is to run in a box, for an agent in a session of it.
type BoxRun struct{ Agent, Session, Script string }

// A BoxState says whether a call can run in a box instead.
type BoxState struct {
	Available bool            `json:"available"`
	Reason    *human.Sentence `json:"reason,omitempty" doc:"Why not, and what to do about it."`
}

// claudeLimit is the longest that Claude Code lets a command of its shell take, in milliseconds.
const claudeLimit = 600_000

// boxable says whether a call that is asked about could run in a box: a command of a shell, and nothing that no setting allows.
func boxable(call gate.Call, v human.Verdict) bool {
	if v.Decision != human.Ask || v.HardLimit || v.Risk.Level() > human.HighRisk.Level() {
		return false
	}
	_, ok := gate.ShellCommand(call)
	return ok && !slices.ContainsFunc(v.Effects, beyondBox)
}

// beyondBox says whether an effect can surely not be had in a box: of Deskbell's own program, over a network, or on the machine.
func beyondBox(e human.Effect) bool {
	if strings.HasPrefix(e.Rule, "deskbell.") {
		return true
	}
	switch e.Verb {
	case human.NetworkRead, human.NetworkWrite, human.GitRemoteWrite, human.PackageInstall, human.ContainerEffect, human.ServiceEffect, human.ProcessSignal,
		human.DatabaseEffect, human.PrivilegeEscalation, human.CostEffect:
		return e.Certainty == human.Certain
	}
	return false
}

// boxState says whether a call can run in a box here; nil where no box has to do with it.
func (k *Service) boxState(call gate.Call, v human.Verdict) *BoxState {
	if !boxable(call, v) || k.d.Boxes.Command == nil {
		return nil
	}
	if err := k.d.Boxes.Available(); err != nil {
		said := human.Sayf("%s", human.Inner{Err: err})
		return &BoxState{Reason: &said}
	}
	return &BoxState{Available: true}
}

// offerBox adds the choice of a box to a question, where there is one.
func (k *Service) offerBox(j *judged) {
	state := k.boxState(j.call, j.verdict)
	if state == nil || !state.Available {
		return
	}
	choices := slices.Clone(j.verdict.Choices)
	at := slices.IndexFunc(choices, func(c human.Choice) bool { return c.Action == human.ChooseChange || c.Action == human.ChooseDeny })
	if at < 0 {
		at = len(choices)
	}
	j.verdict.Choices = slices.Insert(choices, at, gate.BoxChoice())
}

// boxed is the call of a question as it runs in a box. It is judged like any other, and may be blocked by a rule.
func (k *Service) boxed(ctx context.Context, op human.Operation, q human.Question) (j judged, err error) {
	call := k.engineCall(q.ToolCall)
	state := k.boxState(call, q.Verdict)
	switch {
	case state == nil:
		return j, human.BadField("choice", "is box, and this call cannot run in one")
	case !state.Available:
		return j, human.BadField("choice", "is box, and there is none: %s", state.Reason.Text)
	}
	script, _ := gate.ShellCommand(call)
	command, err := k.d.Boxes.Command(BoxRun{op.AgentID, op.SessionID, script})
	if err != nil {
		return j, err
	}
	var more map[string]any
	if q.Client == "claude-code" && q.Tool == "Bash" {
		more = map[string]any{"timeout": claudeLimit} // the operator's answer takes time, too
	}
	args, ok := gate.WithCommand(call, command, more)
	if !ok {
		return j, human.BadField("choice", "is box, and this call cannot run in one")
	}
	return k.changed(ctx, op, inBox(q), args)
}

// inBox is a question about a call in a box. To run any command in one is of medium risk.
func inBox(q human.Question) human.Question {
	if q.Verdict.Risk.Level() < human.MediumRisk.Level() {
		q.Verdict.Risk = human.MediumRisk
	}
	return q
}
