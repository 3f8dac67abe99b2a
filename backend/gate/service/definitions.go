package service

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"deskbell/backend/gate"
	"deskbell/backend/human"
)

// maxTools is how many definitions of one tool are known for an agent; the latest count.
const maxTools = 16

// An agentTool is a tool as one agent calls it.
type agentTool struct{ agent, tool string }

// definitions are those that are known of a tool, the latest last.
func (k *Service) definitions(ctx context.Context, of agentTool) ([]ToolKnown, error) {
	k.toolsOnce.Lock()
	defer k.toolsOnce.Unlock()
	if k.tools == nil {
		all, err := k.d.Store.Tools(ctx)
		if err != nil {
			return nil, err
		}
		k.tools = map[agentTool][]ToolKnown{}
		for _, t := range all {
			k.tools[agentTool{t.Agent, t.Tool}] = append(k.tools[agentTool{t.Agent, t.Tool}], t)
		}
	}
	return slices.Clone(k.tools[of]), nil
}

// accept makes a definition one that is known.
func (k *Service) accept(ctx context.Context, t ToolKnown) error {
	if _, err := k.definitions(ctx, agentTool{t.Agent, t.Tool}); err != nil {
		return err
	}
	if err := k.d.Store.PutTool(ctx, t); err != nil {
		return err
	}
	k.toolsOnce.Lock()
	defer k.toolsOnce.Unlock()
	list := append(k.tools[agentTool{t.Agent, t.Tool}], t)
	k.tools[agentTool{t.Agent, t.Tool}] = list[max(0, len(list)-maxTools):]
	return nil
}

// defined makes a call one to ask about whose tool its server describes otherwise than before. The first description of a tool
// becomes known with its first call; only an operator makes another one known, by allowing a call.
func (k *Service) defined(ctx context.Context, agent string, call human.ToolCall, j *judged) error {
	now := gate.Definition(j.call)
	if now == "" || !strings.HasPrefix(call.Tool, "mcp__") || j.verdict.Decision == human.Deny {
		return nil
	}
	known, err := k.definitions(ctx, agentTool{agent, call.Tool})
	if err != nil {
		return err
	}
	if len(known) == 0 {
		first := now
		if len(call.Was) > 0 { // the model may have read this
			first = string(gate.Canonical(call.Was))
		}
		t := ToolKnown{Agent: agent, Tool: call.Tool, At: k.d.Now().UTC(), Definition: first}
		if err := k.accept(ctx, t); err != nil {
			return err
		}
		known = []ToolKnown{t}
	}
	if slices.ContainsFunc(known, func(t ToolKnown) bool { return t.Definition == now }) {
		return nil
	}
	last := known[len(known)-1]
	changed := k.changedFrom(j.verdict, k.differing([]human.JudgedFile{definitionFile(call.Tool, last.Definition)}, []human.JudgedFile{definitionFile(call.Tool, now)}, true))
	changed.Since, changed.At, changed.Effects = human.SinceTool, last.At, nil
	j.ask(changed)
	return nil
}

// definitionFile is a definition as a file: what is hashed is the canonical JSON, what is read has lines.
func definitionFile(tool, definition string) human.JudgedFile {
	sum := sha256.Sum256([]byte(definition))
	f := human.JudgedFile{Path: tool, State: human.FileRead, SHA256: hex.EncodeToString(sum[:]), Size: int64(len(definition))}
	var text bytes.Buffer
	if json.Indent(&text, []byte(definition), "", "  ") == nil {
		f.Text = text.String() + "\n"
	}
	return f
}
