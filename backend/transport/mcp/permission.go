package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deskbell/backend/gate"
	"deskbell/backend/gate/service"
	"deskbell/backend/human"
)

// A Gatekeeper judges calls before they run; service.Service is one. by is the agent whose call it is, empty where the
// connection is of one agent only.
type Gatekeeper interface {
	Evaluate(ctx context.Context, by human.Actor, call human.ToolCall, how service.Asking) (human.Judgement, error)
}

const permissionDescription = `Not for a model to call: an MCP client with an option for permission prompts asks with it whether a call of one of its tools may run. Deskbell's gatekeeper judges the call, and asks the operator when its rules say so. The result is one text with JSON: {"behavior":"allow","updatedInput":{...}}, where updatedInput is what the call must run with, or {"behavior":"deny","message":"..."}. Any error is a deny. An allow counts for exactly this call.

A client that would stop waiting while the operator is asked gets a deny in time, whose message says so: nothing was denied, and the same call within ten minutes continues to wait for the same answer.`

func permissionDefinition() *mcp.Tool {
	no, yes := false, true
	return &mcp.Tool{
		Name:        "permission",
		Title:       "May this call run?",
		Description: permissionDescription,
		InputSchema: map[string]any{
			"type": "object",
			"properties": map[string]any{
				"tool_name":   describe("string", "The tool that is to be called."),
				"input":       describe("object", "Its exact arguments."),
				"tool_use_id": describe("string", "The client's own id of the call: the same id again asks no one twice."),
			},
			"required": []string{"tool_name", "input"},
		},
		Annotations: &mcp.ToolAnnotations{DestructiveHint: &no, OpenWorldHint: &yes},
	}
}

// A permit is the answer to a client, in its words.
type permit struct {
	Behavior     string          `json:"behavior"`
	UpdatedInput json.RawMessage `json:"updatedInput,omitempty"`
	Message      string          `json:"message,omitempty"`
}

func deny(format string, args ...any) permit {
	return permit{Behavior: "deny", Message: fmt.Sprintf(format, args...)}
}

// permission answers a call of the tool. Its error is for the protocol.
func (c *call) permission(ctx context.Context, raw json.RawMessage) (*mcp.CallToolResult, error) {
	p := c.permit(ctx, raw)
	if ctx.Err() != nil {
		return nil, errGone
	}
	text, err := plainJSON(p)
	if err != nil {
		return nil, err
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(text)}}}, nil
}

func (c *call) permit(ctx context.Context, raw json.RawMessage) permit {
	var a struct {
		ToolName  string          `json:"tool_name"`
		Input     json.RawMessage `json:"input"`
		ToolUseID string          `json:"tool_use_id"`
	}
	switch err := json.Unmarshal(raw, &a); {
	case err != nil:
		return deny("The call did not run: what asks for a permission cannot be read (%v).", err)
	case a.ToolName == "":
		return deny("The call did not run: tool_name is missing.")
	}
	a.Input = bytes.TrimSpace(a.Input)
	if len(a.Input) == 0 || a.Input[0] != '{' {
		return deny("The call did not run: input is not a JSON object.")
	}
	call := human.ToolCall{
		Tool: a.ToolName, Args: a.Input, Root: c.opts.Folder, Client: "mcp", SessionID: c.session, CallID: a.ToolUseID,
	}
	if call.SessionID == "" {
		call.SessionID = c.opts.Session
	}
	j, err := c.judge(ctx, call)
	switch {
	case errors.Is(err, errClosing):
		return deny("The call did not run: Deskbell is closing while an operator is being asked. The request is kept; call again with the same arguments to continue waiting.")
	case err != nil:
		return deny("The call did not run, because it could not be judged: %s", human.SafeText(err))
	case j.Decision == human.Ask && j.OperationID != "":
		return deny("The call has not run yet: an operator is still being asked about it (%s). It was not denied. "+
			"Call the same tool with the same arguments again to continue waiting; no one is asked twice.", j.OperationID)
	case j.Decision != human.Allow:
		if j.Message == "" {
			j.Message = "The call was denied."
		}
		return deny("%s", j.Message)
	case j.Args != nil:
		if args := bytes.TrimSpace(j.Args); len(args) == 0 || args[0] != '{' || !json.Valid(args) {
			return deny("The call did not run: the arguments that it was allowed with are not a JSON object.")
		}
		return permit{Behavior: "allow", UpdatedInput: j.Args}
	case j.Verdict.Digest != "" && j.Verdict.Digest != digestOf(call):
		return deny("The call did not run: what was allowed is not what was asked about.")
	}
	return permit{Behavior: "allow", UpdatedInput: a.Input}
}

func digestOf(call human.ToolCall) string {
	return gate.Digest(gate.Call{Tool: call.Tool, Args: call.Args, Cwd: call.Cwd})
}

// judge has a call judged, and waits while an operator is asked, as long as the client does (see patience). The judgement is Ask
// where the operator is still being asked then.
func (c *call) judge(ctx context.Context, call human.ToolCall) (human.Judgement, error) {
	name := c.by.Name + "\x00" + digestOf(call)
	how := service.Asking{}
	if q, ok := c.questions.take(name); ok {
		how.Question, call.CallID = q.id, q.call
	}
	j, err := c.evaluate(ctx, call, how)
	if err != nil && how.Question != "" && ctx.Err() == nil {
		j, err = c.evaluate(ctx, call, service.Asking{}) // the question is no more
	}
	for err == nil && j.Decision == human.Ask && j.OperationID != "" {
		how = service.Asking{Question: j.OperationID, Wait: c.opts.Beat}
		if patience := c.patience(); patience >= 0 {
			how.Wait = min(how.Wait, patience-time.Since(c.began))
		}
		if c.progress != nil && c.tell(ctx, "an operator is being asked ("+string(j.OperationID)+")") != nil {
			err = errGone
			break
		}
		if how.Wait <= 0 {
			break
		}
		began := time.Now()
		var next human.Judgement
		if next, err = c.evaluate(ctx, call, how); err == nil {
			j = next
			if early := min(time.Second, how.Wait) - time.Since(began); early > 0 && j.Decision == human.Ask {
				pause(ctx, early) // a gatekeeper that does not wait is not asked without end
			}
		}
	}
	if how.Question != "" && (err != nil || j.Decision == human.Ask) {
		c.questions.leave(name, leftQuestion{id: how.Question, call: call.CallID, at: time.Now()})
	}
	return j, err
}

// evaluate is the Gatekeeper's, ended early by the server's own end.
func (c *call) evaluate(ctx context.Context, call human.ToolCall, how service.Asking) (human.Judgement, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if how.Wait > 0 {
		defer context.AfterFunc(c.closing, func() { cancel(errClosing) })()
	}
	j, err := c.opts.Gate.Evaluate(ctx, c.by, call, how)
	if errors.Is(context.Cause(ctx), errClosing) && (err != nil || j.Decision == human.Ask) {
		return j, errClosing
	}
	return j, err
}

// questions are those whose client left before the answer. The zero value has none; it is safe for concurrent use.
type questions struct {
	mu  sync.Mutex
	all map[string]leftQuestion // by agent and digest
}

type leftQuestion struct {
	id   human.OperationID
	call string // ToolCall.CallID
	at   time.Time
}

// joinable is how long the same call joins a question that was left.
const joinable = 10 * time.Minute

func (q *questions) take(name string) (leftQuestion, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	one, ok := q.all[name]
	delete(q.all, name)
	return one, ok && time.Since(one.at) < joinable
}

func (q *questions) leave(name string, one leftQuestion) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.all == nil {
		q.all = map[string]leftQuestion{}
	}
	for name, old := range q.all {
		if time.Since(old.at) > joinable {
			delete(q.all, name)
		}
	}
	q.all[name] = one
}
