package gatehouse

import (
	"os"
	"path/filepath"
	"time"

	"deskbell/backend/gate"
	"deskbell/backend/gate/rules"
	"deskbell/backend/human"
)

// away judges while no Deskbell runs, with the same engine and rules. Nobody can be asked then.
type away struct{ dir, client string }

func (a away) judge(call human.ToolCall) (human.Judgement, error) {
	if call.Root == "" {
		call.Root = root(call.Cwd)
	}
	set, err := rules.Compile(rules.Defaults(), nil)
	if err != nil {
		return human.Judgement{}, err
	}
	v := set.Judge(gate.Call{
		Tool: call.Tool, Args: call.Args, Cwd: call.Cwd, Root: call.Root, Home: call.Home,
		Annotations: call.Annotations, Schema: call.Schema, About: call.About,
	}, nil, rules.Circumstances{Agent: a.client, Session: call.SessionID, Project: call.Root, Now: time.Now()})
	return a.judgement(v, rules.Refuse), nil
}

func (a away) judgement(v human.Verdict, then rules.Away) human.Judgement {
	j := human.Judgement{Decision: v.Decision, Message: v.Reason, Verdict: v}
	switch {
	case v.Decision == human.Deny:
		j.Message = "Deskbell refused this call: " + v.Reason
	case v.Decision == human.Ask && then == rules.AskInClient:
		j.Message = "Deskbell does not run, so it leaves this to you: " + v.Reason
	case v.Decision == human.Ask:
		j.Decision = human.Deny
		j.Message = "Deskbell refused this call: " + v.Reason + " An operator would be asked, but Deskbell does not run. The call was not run. Tell your user to start Deskbell (deskbell), and call the tool again then; what only reads runs meanwhile."
	}
	return j
}

// root is the working tree that a folder is in: the nearest one above it, or itself, that a version control marks.
func root(cwd string) string {
	if !filepath.IsAbs(cwd) {
		return ""
	}
	for dir := filepath.Clean(cwd); ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}
