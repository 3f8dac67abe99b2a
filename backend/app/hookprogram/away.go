package hookprogram

import (
	"context"
	"path/filepath"
	"time"

	"deskbell/backend/gate"
	"deskbell/backend/gate/rules"
	"deskbell/backend/human"
	"deskbell/backend/store/settings/gatefile"
	"deskbell/backend/workspace"
)

// away judges while no Deskbell runs, by the same engine, gate.toml and evidence. No one can be asked then, and neither
// trust nor what operators laid down is known: both are in the database.
type away struct{ dir, client string }

func (a away) judge(ctx context.Context, call human.ToolCall) (human.Judgement, error) {
	if call.Root == "" && call.Cwd != "" {
		call.Root = workspace.Root(call.Cwd)
	}
	file := gatefile.Open(filepath.Join(a.dir, gatefile.Name))
	now := file.Read()
	c := gate.Call{
		Tool: call.Tool, Args: call.Args, Cwd: call.Cwd, Root: call.Root, Home: call.Home, Guard: a.dir,
		Annotations: call.Annotations, Schema: call.Schema, About: call.About,
	}
	v := file.With(call.Root).Judge(c, workspace.New(ctx, c, nil), rules.Circumstances{
		Agent: a.client, Session: call.SessionID, Project: call.Root, Now: time.Now(),
	})
	j := human.Judgement{Decision: v.Decision, Message: v.Reason, Verdict: v}
	switch {
	case v.Decision == human.Deny:
		j.Message = "Deskbell blocked this call: " + v.Reason
	case v.Decision == human.Ask && now.Config.Away == rules.AskInClient && !v.HardLimit:
		j.Message = "Deskbell does not run, so it leaves this to you: " + v.Reason
	case v.Decision == human.Ask:
		j.Decision = human.Deny
		j.Message = "Deskbell blocked this call: " + v.Reason + " An operator would be asked, but Deskbell does not run. The call was not run. Tell your user to start Deskbell (deskbell), and call the tool again then; what only reads runs meanwhile."
	}
	if j.Decision != human.Allow && now.Problem != "" {
		j.Message += "\nTell your user, too, that what gate.toml says does not count: " + now.Problem
	}
	return j, nil
}
