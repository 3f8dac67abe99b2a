package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deskbell/backend/agent"
	"deskbell/backend/human"
)

// A Messenger has other agents answer messages of agents (M2). by is the agent that sends one, empty where the connection is of one
// agent only. Errors are of package human.
type Messenger interface {
	// OpenAgents are those that take messages of agents.
	OpenAgents(ctx context.Context, by human.Actor) ([]agent.Profile, error)
	// Message blocks until the answer, at the longest for wait: the status is working then, and the same message of the session waits
	// for the answer again.
	Message(ctx context.Context, by human.Actor, name string, sent agent.Sent, wait time.Duration) (agent.Response, error)
}

// messageArguments are a call's, as sent.
type messageArguments struct {
	Agent, Message, SessionID, IdempotencyKey string
	WaitSeconds                               *number
}

var messageProperties = []property[messageArguments]{
	{"agent", describe("string", "Its name."), func(a *messageArguments) any { return &a.Agent }},
	{"message", describe("string", "What it is to do, or your answer to what it asked."), func(a *messageArguments) any { return &a.Message }},
	{"session_id", describe("string", "Of the conversation; leave it out to begin one."), func(a *messageArguments) any { return &a.SessionID }},
	{"idempotency_key", describe("string", "Your own name for the message: the same key again gets the same answer."), func(a *messageArguments) any { return &a.IdempotencyKey }},
	{"wait_seconds", describe("number", "Wait at most this long; the answer is then to be asked for again."), func(a *messageArguments) any { return &a.WaitSeconds }},
}

// messageDefinition describes the tool, with the agents that there are.
func messageDefinition(open []agent.Profile) *mcp.Tool {
	about := "Send a message to another agent of this machine. With status waiting_input it asks: answer with another message of the same session_id. " +
		"With status working, send the same message with the session_id again, to wait."
	for _, a := range open {
		about += fmt.Sprintf("\n- %s: %s", a.Name, human.OneLine(a.Description, 200))
	}
	return &mcp.Tool{Name: "message_agent", Description: about, InputSchema: schemaOf(messageProperties, "agent", "message")}
}

// nameAgents names the agents that there are in the description of the tool.
func (t *tool) nameAgents(ctx context.Context, x *exchange, list *mcp.ListToolsResult) {
	for i, tool := range list.Tools {
		if tool.Name != "message_agent" {
			continue
		}
		if open, err := t.opts.Agents.OpenAgents(ctx, x.by); err == nil {
			list.Tools[i] = messageDefinition(open)
		}
	}
}

// message has a message answered.
func (c *call) message(ctx context.Context, raw json.RawMessage) (*mcp.CallToolResult, error) {
	a, err := read(raw, messageProperties)
	var r agent.Response
	if err == nil {
		r, err = c.messaged(ctx, a)
	}
	if errors.Is(err, errGone) || ctx.Err() != nil {
		return nil, errGone
	}
	if err != nil {
		return failureOf(err, ""), nil
	}
	whole, err := plainJSON(r)
	if err != nil {
		return nil, err
	}
	r.Data.History = []agent.Turn{} // a model has said, or read, all of it that is for it
	text, err := plainJSON(r)
	if err != nil {
		return nil, err
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(text)}}, StructuredContent: json.RawMessage(whole)}, nil
}

func (c *call) messaged(ctx context.Context, a messageArguments) (r agent.Response, err error) {
	longest, err := most(a.WaitSeconds)
	if err != nil {
		return r, err
	}
	if strings.TrimSpace(a.Agent) == "" {
		return r, human.BadField("agent", "is missing; name the agent")
	}
	r = agent.Response{Agent: a.Agent, Query: a.Message, SessionID: a.SessionID, Status: agent.Working}
	why, err := c.climb(ctx, longest, waited{
		over:     func() bool { return r.Status != agent.Working },
		standing: func() string { return a.Agent + " is working" },
		wait: func(ctx context.Context, most time.Duration) error {
			now, err := c.opts.Agents.Message(ctx, c.by, a.Agent, agent.Sent{Message: a.Message, Session: r.SessionID, Key: a.IdempotencyKey}, most)
			if err == nil {
				r = now
			}
			return err
		},
	})
	if r.Status == agent.Working {
		r.Message = cmp.Or(why, "It is still working. Send the same message with this session_id again, to wait.")
	}
	return r, err
}
