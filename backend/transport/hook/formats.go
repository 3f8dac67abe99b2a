package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"deskbell/backend/human"
)

// said is what clients tell their hooks, by the names that most of them use.
type said struct {
	Event, Session, Cwd, Mode, Tool string
	Input                           json.RawMessage
	ToolUseID                       string
}

// places are where the fields of a client's object go.
func (s *said) places() map[string]any {
	return map[string]any{
		"hook_event_name": &s.Event, "session_id": &s.Session, "cwd": &s.Cwd, "permission_mode": &s.Mode,
		"tool_name": &s.Tool, "tool_input": &s.Input, "tool_use_id": &s.ToolUseID,
	}
}

func (s said) call() human.ToolCall {
	return human.ToolCall{Tool: s.Tool, Args: arguments(s.Input), Cwd: s.Cwd, SessionID: s.Session, CallID: s.ToolUseID}
}

func arguments(raw json.RawMessage) json.RawMessage {
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
		return nil
	}
	return raw
}

func understand(input []byte, places map[string]any) error {
	if len(bytes.TrimSpace(input)) == 0 {
		return errors.New("it said nothing")
	}
	return Take(input, places)
}

// Take puts the fields of a JSON object in their places, which are pointers, as json.Unmarshal would; what has no place
// is left out. A hook takes few objects apart, and none twice: to make ready for a struct would take longer.
func Take(object []byte, places map[string]any) error {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(object, &all); err != nil {
		return err
	}
	for name, place := range places {
		raw, there := all[name]
		if !there {
			continue
		}
		if err := json.Unmarshal(raw, place); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func unknownEvent(name string) error {
	return fmt.Errorf("the event %q is none that this hook answers", clean(name))
}

// A fields is a JSON object; encoding sorts its keys.
type fields = map[string]any

// Events of Claude Code and Codex.
const (
	preToolUse        = "PreToolUse"
	permissionRequest = "PermissionRequest"
)

func specific(event string, f fields) fields {
	f["hookEventName"] = event // without it the rest is ignored
	return fields{"hookSpecificOutput": f}
}

// claudeCode: https://code.claude.com/docs/en/hooks
var claudeCode = Client{
	Name: "claude-code", Limit: 600 * time.Second,
	read: func(input []byte) (event, error) {
		var s said
		if err := understand(input, s.places()); err != nil {
			return event{}, err
		}
		switch s.Event {
		case preToolUse, permissionRequest:
			return event{s.call(), func(d decision) any { return claudeAnswer(s, d) }}, nil
		}
		return event{}, unknownEvent(s.Event)
	},
	refuse: claudeRefuse,
}

func claudeRefuse(message string) any {
	return specific(preToolUse, fields{"permissionDecision": "deny", "permissionDecisionReason": message})
}

// asksItsUser are tools that exist to ask the client's own user. To allow them by a hook would answer for the user.
var asksItsUser = map[string]bool{"AskUserQuestion": true, "ExitPlanMode": true, "EnterPlanMode": true}

func claudeAnswer(s said, d decision) any {
	if d.ruling == human.Allow && asksItsUser[s.Tool] {
		return fields{}
	}
	if s.Event == permissionRequest {
		switch d.ruling {
		case human.Allow:
			f := fields{"behavior": "allow"}
			if d.args != nil {
				f["updatedInput"] = d.args
			}
			return specific(permissionRequest, fields{"decision": f})
		case human.Ask:
			return fields{} // its prompt is what it was about to show
		}
		return specific(permissionRequest, fields{"decision": fields{"behavior": "deny", "message": d.message}})
	}
	f := fields{"permissionDecision": string(d.ruling), "permissionDecisionReason": d.message}
	if d.ruling == human.Allow {
		if d.args != nil {
			f["updatedInput"] = d.args // in place of the whole input
		}
		if d.note {
			f["additionalContext"] = d.told()
		}
	}
	return specific(preToolUse, f)
}

// Two clients that speak as Claude Code does: https://qwenlm.github.io/qwen-code-docs/en/users/features/hooks and
// https://docs.github.com/en/copilot/reference/hooks-reference.
var (
	qwen    = Client{Name: "qwen", Limit: 60 * time.Second, read: offering, refuse: claudeRefuse}
	copilot = Client{Name: "copilot", Limit: 30 * time.Second, read: offering, refuse: claudeRefuse}
)

// offering reads as Claude Code's hook does, and blocks a call that the operator changed, with the new arguments: no test has seen these
// clients take them.
func offering(input []byte) (event, error) {
	e, err := claudeCode.read(input)
	if err != nil {
		return e, err
	}
	answer, tool := e.answer, e.call.Tool
	e.answer = func(d decision) any {
		if d.ruling == human.Allow && d.args != nil {
			return claudeRefuse(offer(tool, d))
		}
		return answer(d)
	}
	return e, nil
}

// codex: https://developers.openai.com/codex/hooks. What it does not know in an answer makes it take the hook for failed,
// and then the call runs: it is given nothing but what every version of it knows.
var codex = Client{
	Name: "codex", Limit: 600 * time.Second,
	read: func(input []byte) (event, error) {
		var s said
		if err := understand(input, s.places()); err != nil {
			return event{}, err
		}
		switch s.Event {
		case preToolUse, permissionRequest:
			call := s.call()
			call.Fixed = true
			return event{call, func(d decision) any { return codexAnswer(s, d) }}, nil
		}
		return event{}, unknownEvent(s.Event)
	},
	refuse: claudeRefuse,
}

func codexAnswer(s said, d decision) any {
	switch {
	case d.args != nil: // some versions run the call as it was when they are given other arguments
		d = decision{ruling: human.Deny, message: offer(s.Tool, d)}
	case d.ruling == human.Ask && (s.Mode == "bypassPermissions" || s.Mode == "dontAsk"):
		d = decision{ruling: human.Deny, message: d.message + "\nIt was left to Codex's own prompt, which is switched off."}
	}
	if d.ruling == human.Ask {
		return fields{}
	}
	if s.Event == permissionRequest {
		if d.ruling == human.Allow {
			return specific(permissionRequest, fields{"decision": fields{"behavior": "allow"}})
		}
		return specific(permissionRequest, fields{"decision": fields{"behavior": "deny", "message": d.message}})
	}
	switch {
	case d.ruling != human.Allow:
		return claudeRefuse(d.message)
	case d.note:
		return specific(preToolUse, fields{"additionalContext": d.message})
	}
	return fields{} // there is no word for allow
}

// gemini is Gemini CLI: https://geminicli.com/docs/hooks/reference
var gemini = Client{
	Name: "gemini", Limit: 60 * time.Second,
	read: func(input []byte) (event, error) {
		var s said
		var mcp struct {
			Server string `json:"server_name"`
			Tool   string `json:"tool_name"`
		}
		places := s.places()
		places["mcp_context"] = &mcp
		if err := understand(input, places); err != nil {
			return event{}, err
		}
		if s.Event != "BeforeTool" {
			return event{}, unknownEvent(s.Event)
		}
		call := s.call()
		if mcp.Server != "" && mcp.Tool != "" {
			call.Tool = "mcp__" + mcp.Server + "__" + mcp.Tool // its own spelling does not say where the server's name ends
		}
		return event{call, func(d decision) any { return geminiAnswer(s, d) }}, nil
	},
	refuse: geminiRefuse,
}

func geminiRefuse(message string) any { return fields{"decision": "deny", "reason": message} }

func geminiAnswer(s said, d decision) any {
	switch d.ruling {
	case human.Allow:
		f := fields{"decision": "allow"}
		if d.args != nil {
			// They may be laid over the old ones, so an argument cannot be removed.
			if !covers(d.args, s.Input) {
				return geminiRefuse(offer(s.Tool, d))
			}
			f["hookSpecificOutput"] = fields{"hookEventName": s.Event, "tool_input": d.args}
		}
		if d.note {
			f["systemMessage"] = d.told()
		}
		return f
	case human.Ask:
		return fields{"decision": "ask", "reason": d.message, "systemMessage": d.message}
	}
	return geminiRefuse(d.message)
}

// covers says whether every field of one object is in another.
func covers(changed, original json.RawMessage) bool {
	var a, b map[string]json.RawMessage
	if json.Unmarshal(changed, &a) != nil || json.Unmarshal(original, &b) != nil {
		return false
	}
	for key := range b {
		if _, there := a[key]; !there {
			return false
		}
	}
	return true
}

// cursor: https://cursor.com/docs/hooks
var cursor = Client{
	Name: "cursor", Limit: 30 * time.Second, // its document names no default
	read: func(input []byte) (event, error) {
		var s said
		var conversation, path string
		var roots []string
		var command *string
		places := s.places()
		places["conversation_id"], places["workspace_roots"], places["command"], places["file_path"] = &conversation, &roots, &command, &path
		if err := understand(input, places); err != nil {
			return event{}, err
		}
		call := s.call()
		if conversation != "" {
			call.SessionID = conversation
		}
		if call.Cwd == "" && len(roots) > 0 {
			call.Cwd = roots[0]
		}
		asks, changes := false, false
		switch s.Event {
		case "beforeShellExecution":
			if command == nil {
				return event{}, errors.New("it names no command")
			}
			asks, call.Tool, call.Args = true, "Shell", object("command", *command)
		case "beforeMCPExecution":
			asks, call.Args = true, unwrapped(call.Args)
			if !strings.HasPrefix(call.Tool, "mcp__") {
				call.Tool = "mcp__server__" + call.Tool // it names no server; the tool is not Cursor's own
			}
		case "preToolUse":
			changes, call.Args = true, unwrapped(call.Args)
		case "beforeReadFile":
			call.Tool, call.Args = "Read", object("file_path", path)
		default:
			return event{}, unknownEvent(s.Event)
		}
		call.Fixed = !changes
		return event{call, func(d decision) any { return cursorAnswer(call.Tool, d, asks, changes) }}, nil
	},
	refuse: cursorRefuse,
}

func object(key, value string) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(map[string]string{key: value}) // texts always can be
	return bytes.TrimSpace(b.Bytes())
}

// unwrapped is an object that was given as a text.
func unwrapped(raw json.RawMessage) json.RawMessage {
	var text string
	if json.Unmarshal(raw, &text) == nil && json.Valid([]byte(text)) {
		return arguments(json.RawMessage(text))
	}
	return raw
}

func cursorRefuse(message string) any {
	return fields{"permission": "deny", "user_message": message, "agent_message": message}
}

func cursorAnswer(tool string, d decision, asks, changes bool) any {
	switch {
	case d.ruling == human.Allow && d.args != nil && !changes:
		return cursorRefuse(offer(tool, d))
	case d.ruling == human.Ask && !asks:
		return cursorRefuse(d.message + "\nCursor has no prompt for such a call.")
	case d.ruling == human.Deny:
		return cursorRefuse(d.message)
	}
	f := fields{"permission": string(d.ruling)}
	if d.args != nil {
		f["updated_input"] = d.args
	}
	if d.ruling == human.Ask || d.note {
		f["user_message"], f["agent_message"] = d.told(), d.told()
	}
	return f
}

// opencode has plug-ins and no hooks that are programs; ours (deskbell.js) speaks this way with us.
var opencode = Client{
	Name: "opencode", Limit: 600 * time.Second,
	read: func(input []byte) (event, error) {
		var s said
		if err := understand(input, map[string]any{
			"event": &s.Event, "sessionID": &s.Session, "callID": &s.ToolUseID, "tool": &s.Tool, "args": &s.Input, "directory": &s.Cwd,
		}); err != nil {
			return event{}, err
		}
		if s.Event != "tool.execute.before" {
			return event{}, unknownEvent(s.Event)
		}
		return event{s.call(), opencodeAnswer}, nil
	},
	refuse: opencodeRefuse,
}

func opencodeRefuse(message string) any { return fields{"decision": "deny", "message": message} }

func opencodeAnswer(d decision) any {
	switch {
	case d.ruling == human.Allow && d.args != nil:
		return fields{"decision": "allow", "args": d.args}
	case d.ruling == human.Allow:
		return fields{"decision": "allow"}
	case d.ruling == human.Ask:
		return opencodeRefuse(d.message + "\nopencode's plug-ins cannot make it ask its user.")
	}
	return opencodeRefuse(d.message)
}
