package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deskbell/backend/human"
	"deskbell/backend/procedure"
)

// Procedures are those that operators taught, each a tool of its own; procedure.Service has them. by is the agent that asks, empty where
// the connection is of one agent only.
type Procedures interface {
	// Tools are the procedures that the agent can ask for, by name.
	Tools(ctx context.Context, by human.Actor) ([]procedure.Tool, error)
	// Ask asks for a run, durable when it returns.
	Ask(ctx context.Context, by human.Actor, name string, c procedure.Call) (procedure.Asked, error)
}

// procedurePrefix begins the names of their tools.
const procedurePrefix = "procedure_"

// renewed is how often a connection that stays open looks for procedures that were taught since.
const renewed = 15 * time.Second

// An offer keeps the tools of a server the procedures that its agent can ask for. It is safe for concurrent use.
type offer struct {
	*tool
	by      human.Actor
	server  *mcp.Server
	handler func(name string) mcp.ToolHandler

	mu   sync.Mutex
	made map[string]string // names of tools -> their definitions
}

// renew adds, changes and removes tools; the SDK tells clients that they changed. Where it cannot be told what there is, all stays.
func (o *offer) renew(ctx context.Context) {
	all, err := o.opts.Procedures.Tools(ctx, o.by)
	if err != nil {
		o.opts.Log.Debug("the procedures cannot be listed", "err", err)
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	now := map[string]string{}
	for _, p := range all {
		definition := procedureDefinition(p)
		raw, err := json.Marshal(definition)
		if err != nil {
			continue // of texts: cannot be
		}
		now[definition.Name] = string(raw)
		if o.made[definition.Name] != string(raw) {
			o.server.AddTool(definition, o.handler(p.Name))
		}
	}
	for name := range o.made {
		if now[name] == "" {
			o.server.RemoveTools(name)
		}
	}
	o.made = now
}

// keep renews until ctx ends.
func (o *offer) keep(ctx context.Context) {
	tick := time.NewTicker(renewed)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			o.renew(ctx)
		}
	}
}

// offers says whether a tool is there.
func (o *offer) offers(tool string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.made[tool] != ""
}

// offerProcedures adds the tools of procedures to a server for one agent.
func (t *tool) offerProcedures(s *mcp.Server, x *exchange, by human.Actor) *offer {
	o := &offer{tool: t, server: s, by: by, handler: func(name string) mcp.ToolHandler {
		return t.handler(x, func(c *call, ctx context.Context, raw json.RawMessage) (*mcp.CallToolResult, error) {
			return c.procedure(ctx, name, raw)
		})
	}}
	s.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			name, is := "", false
			called, _ := req.(*mcp.CallToolRequest)
			if called != nil {
				name, is = strings.CutPrefix(called.Params.Name, procedurePrefix)
			}
			if method == "tools/list" || is {
				o.renew(ctx)
			}
			if is && !o.offers(called.Params.Name) {
				return o.handler(name)(ctx, called) // which says why it cannot be called
			}
			return next(ctx, method, req)
		}
	})
	return o
}

// procedureDefinition is a procedure as a tool.
func procedureDefinition(p procedure.Tool) *mcp.Tool {
	properties, required := map[string]any{}, []string{}
	for _, q := range p.Parameters {
		properties[q.Name] = parameterSchema(q)
		if q.Default == "" {
			required = append(required, q.Name)
		}
	}
	text := strings.TrimSpace(p.Title + ". " + p.Description)
	if len(p.Outputs) > 0 {
		var names []string
		for _, o := range p.Outputs {
			names = append(names, o.Name)
		}
		text += " Gives back: " + strings.Join(names, ", ") + "."
	}
	text += " A human showed it once; one of them starts each run. Read status as of the tool human: with pending call human with action=wait."
	reads := !slices.ContainsFunc(p.Does, func(d string) bool { return d != "reads" })
	harms, open := slices.Contains(p.Does, "deletes") || slices.Contains(p.Does, "pays"), true
	return &mcp.Tool{
		Name: procedurePrefix + p.Name, Title: p.Title, Description: text, OutputSchema: outputSchema,
		InputSchema: map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false},
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: reads, DestructiveHint: &harms, OpenWorldHint: &open},
	}
}

// parameterSchema is a parameter in JSON Schema.
func parameterSchema(q human.ProcedureParameter) map[string]any {
	kind := "string"
	if q.Type == "integer" || q.Type == "number" {
		kind = q.Type
	}
	s := describe(kind, q.Description)
	if q.Description == "" {
		delete(s, "description")
	}
	if len(q.Examples) > 0 {
		s["examples"] = q.Examples
		if kind != "string" {
			s["examples"] = numbers(q.Examples)
		}
	}
	pattern := q.Pattern
	switch q.Type {
	case "date":
		s["format"] = "date"
	case "month":
		pattern = `^\d{4}-\d{2}$`
	case "choice":
		s["enum"] = q.Choices
	}
	if pattern != "" && kind == "string" {
		s["pattern"] = "^(?:" + strings.TrimSuffix(strings.TrimPrefix(pattern, "^"), "$") + ")$"
	}
	if q.Default != "" {
		s["default"] = q.Default
	}
	return s
}

func numbers(all []string) (out []any) {
	for _, text := range all {
		if n, err := strconv.ParseFloat(text, 64); err == nil {
			out = append(out, n)
		}
	}
	return out
}

// procedure asks for a run of a procedure and waits for its end, as long as its client does.
func (c *call) procedure(ctx context.Context, name string, raw json.RawMessage) (*mcp.CallToolResult, error) {
	r, err := c.askForRun(ctx, name, raw)
	switch {
	case ctx.Err() != nil:
		return nil, errGone
	case err != nil:
		return failure(err), nil
	}
	budget, err := arguments{}.budget()
	if err != nil {
		return failure(err), nil
	}
	if !r.fitted && len(r.Files) > 0 {
		r = r.fit(budget)
		if err := c.files(ctx, &r, budget-r.cost()); err != nil {
			return failure(err), nil
		}
	}
	if r.ended {
		c.deliver(ctx, r.ID)
	}
	return r.result(budget)
}

func (c *call) askForRun(ctx context.Context, name string, raw json.RawMessage) (reading, error) {
	var given map[string]any
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	if len(raw) > 0 && d.Decode(&given) != nil {
		return reading{}, human.BadField("arguments", "is no JSON object")
	}
	ask := procedure.Call{Parameters: map[string]string{}, SessionID: c.session}
	for key, value := range given {
		switch value.(type) {
		case string, json.Number, bool:
			ask.Parameters[key] = fmt.Sprint(value)
		default:
			return reading{}, human.BadField("parameters."+key, "is a list or an object; give a text or a number")
		}
	}
	c.onTheirWay.wait(ctx)
	asked, err := c.opts.Procedures.Ask(ctx, c.by, name, ask)
	if err != nil {
		return reading{}, err
	}
	op, err := c.ringer.Get(ctx, asked.Operation)
	if err != nil {
		return reading{}, err
	}
	return c.waitFor(ctx, arguments{}, op)
}
