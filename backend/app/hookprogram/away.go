package hookprogram

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"deskbell/backend/gate"
	"deskbell/backend/gate/rules"
	"deskbell/backend/human"
	"deskbell/backend/store/mirror"
	"deskbell/backend/store/settings/gatefile"
	"deskbell/backend/workspace"
)

// away judges while no Deskbell runs, by the same engine, gate.toml and evidence. No one can be asked then. Of what is in the
// database, the operators' rules that ask or deny, the keys that count and the tools that are known are in the mirror; trust
// and the rules that allow are not. Without a mirror that counts it is stricter, never looser.
type away struct {
	dir, client string
	key         func() (string, error) // the agent's
}

func (a away) judge(ctx context.Context, call human.ToolCall) (human.Judgement, error) {
	known, used, err := mirror.Read(a.dir)
	no := func(format string, args ...any) (human.Judgement, error) {
		return human.Judgement{Decision: human.Deny, Message: fmt.Sprintf("Deskbell blocked this call: "+format, args...)}, nil
	}
	if err != nil {
		return no("Deskbell does not run, and what its operator forbade is not known (%s: %v). The call was not run. Tell your user to start Deskbell (deskbell).", mirror.Name, err)
	}
	agent := a.client
	if used {
		key, err := a.key()
		if err != nil {
			return human.Judgement{}, err
		}
		if agent = known.Keys[mirror.Hash(key)]; agent == "" {
			return no("its key was revoked, or is not one of this Deskbell. The call was not run. Tell your user to run: deskbell hook install %s", a.client)
		}
	}
	if call.Root == "" && call.Cwd != "" {
		call.Root = workspace.Root(call.Cwd)
	}
	file := gatefile.Open(filepath.Join(a.dir, gatefile.Name))
	now := file.Read()
	c := gate.Call{
		Tool: call.Tool, Args: call.Args, Cwd: call.Cwd, Root: call.Root, Home: call.Home, Guard: a.dir,
		Annotations: call.Annotations, Schema: call.Schema, About: call.About,
	}
	set := file.With(call.Root)
	if !used {
		set = set.AtLeast(gate.Strict) // so that deleting the folder loosens nothing
	}
	v := set.Judge(c, workspace.New(ctx, c, nil), rules.Circumstances{
		Agent: agent, Session: call.SessionID, Project: call.Root, Now: time.Now(), Standing: known.Rules,
	})
	if v.Decision == human.Allow && changed(known, agent, c, call) {
		v.Decision, v.Reason = human.Ask, "The definition of the tool "+human.OneLine(call.Tool, 100)+" is not as it was before."
	}
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

// changed says whether an MCP server describes the tool of a call otherwise than it did.
func changed(known mirror.Content, agent string, c gate.Call, call human.ToolCall) bool {
	now := gate.Definition(c)
	if now == "" || !strings.HasPrefix(call.Tool, "mcp__") {
		return false
	}
	list := known.Tools[mirror.ToolName(agent, call.Tool)]
	return len(call.Was) > 0 && len(list) == 0 || len(list) > 0 && !slices.Contains(list, mirror.Hash(now))
}
