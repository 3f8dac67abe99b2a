package plan

import (
	"context"
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
	one.Writes = slices.ContainsFunc(v.Effects, changes) || len(v.Effects) == 0 && v.Risk.Level() >= human.HighRisk.Level()
}

// changes says whether an effect changes anything.
func changes(e human.Effect) bool {
	switch e.Verb {
	case human.FilesystemRead, human.GitRead, human.NetworkRead, human.CredentialAccess, human.CostEffect:
		return false
	}
	return true
}
