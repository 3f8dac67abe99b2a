package plan

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"deskbell/backend/human"
)

// maxEffects is how many effects of a task are shown.
const maxEffects = 8

// assess says what tasks come to: what the gatekeeper thinks of each, and how long such tasks took before.
func (s *Service) assess(ctx context.Context, session, cwd string, tasks []human.Task) human.TasksSummary {
	if !filepath.IsAbs(cwd) {
		cwd = ""
	}
	took := s.durations(ctx)
	all := make([]human.TaskSummary, len(tasks))
	for i, t := range tasks {
		all[i] = human.TaskSummary{ID: t.ID, Description: t.Description, Tool: t.Tool, Type: t.Type, Priority: t.Priority, ExpectedOutcome: t.ExpectedOutcome}
		s.judge(ctx, &all[i], human.ToolCall{Tool: t.Tool, Args: t.Args, Cwd: cwd, SessionID: session})
		all[i].Seconds, all[i].Runs = took.of(t)
	}
	return human.Summarize(all)
}

// judge fills in what the gatekeeper thinks of a task. A task without a tool is the agent's own thinking, or no one knows.
func (s *Service) judge(ctx context.Context, one *human.TaskSummary, call human.ToolCall) {
	if strings.TrimSpace(call.Tool) == "" {
		one.Risk = human.LowRisk
		return
	}
	v, err := s.d.Judge(ctx, call)
	if err != nil {
		s.d.Log.Warn("a task of a plan could not be judged; it counts as dangerous", "tool", human.OneLine(call.Tool, 80), "err", err)
		one.Risk, one.Asked = human.HighRisk, true
		one.Said = []human.Sentence{human.Sayf("The gatekeeper could not judge it, so it counts as dangerous.")}
		return
	}
	one.Risk, one.Asked = v.Risk, v.Decision != human.Allow
	if v.Risk.Level() >= human.HighRisk.Level() {
		one.Said = v.Said
		if len(one.Said) == 0 && v.Reason != "" {
			one.Said = []human.Sentence{{Text: v.Reason}}
		}
	}
	for _, e := range v.Effects {
		if len(one.Effects) < maxEffects && e.Risk.Level() > human.NoRisk.Level() {
			one.Effects = append(one.Effects, e)
		}
	}
	if one.Risk.Level() >= human.HighRisk.Level() && len(one.Said) == 0 && len(one.Effects) == 0 {
		one.Said = []human.Sentence{human.Sayf("Its arguments do not say what it would do, so it counts as dangerous.")}
	}
	one.Writes = slices.ContainsFunc(v.Effects, changes) || len(v.Effects) == 0 && v.Risk.Level() >= human.HighRisk.Level()
	one.Reads = reads(v)
}

// reads says whether a call does nothing but read what is here and no secret.
func reads(v human.Verdict) bool {
	return v.Risk.Level() <= human.LowRisk.Level() && !slices.ContainsFunc(v.Effects, func(e human.Effect) bool {
		return e.Verb != human.FilesystemRead && e.Verb != human.GitRead
	})
}

// Try runs a command of a plan before it is answered, for operators only, where the gatekeeper judges that it only reads; and then
// confined, so that it changes nothing where that judgment is wrong. Nothing of it is stored. It blocks until the command has ended.
func (s *Service) Try(ctx context.Context, by human.Actor, session, command string) (human.Tried, error) {
	op, err := s.find(ctx, by, session)
	if err != nil {
		return human.Tried{}, err
	}
	q, err := op.PlanQuestion()
	switch {
	case err != nil:
		return human.Tried{}, err
	case strings.TrimSpace(command) == "":
		return human.Tried{}, human.BadField("command", "is empty; send the command to try")
	case !filepath.IsAbs(q.Cwd):
		return human.Tried{}, human.Errorf(human.Conflict, "the plan names no folder to run in, so its commands cannot be tried")
	}
	args, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		return human.Tried{}, human.Wrap(human.Internal, err, "the command cannot be judged")
	}
	v, err := s.d.Judge(ctx, human.ToolCall{Tool: "bash", Args: args, Cwd: q.Cwd, SessionID: op.SessionID})
	if err != nil {
		return human.Tried{}, err
	}
	if !reads(v) {
		return human.Tried{}, human.Errorf(human.Denied, "only a command that does nothing but read can be tried, and the gatekeeper does not judge this one so")
	}
	tried, err := s.d.Try(ctx, command, q.Cwd)
	if err == nil {
		tried.Output = s.d.Mask(tried.Output)
	}
	return tried, err
}

// changes says whether an effect changes anything.
func changes(e human.Effect) bool {
	switch e.Verb {
	case human.FilesystemRead, human.GitRead, human.NetworkRead, human.CredentialAccess, human.CostEffect:
		return false
	}
	return true
}
