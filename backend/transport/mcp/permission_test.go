package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deskbell/backend/gate"
	"deskbell/backend/gate/service"
	"deskbell/backend/human"
	mcpserver "deskbell/backend/transport/mcp"
)

// A gatekeeper asks about every call but those with an answer of their own, and takes answers from a channel.
type gatekeeper struct {
	mu      sync.Mutex
	by      []human.Actor
	calls   []human.ToolCall
	asked   []service.Asking
	now     *human.Judgement
	err     error
	answers chan human.Judgement
}

func newGatekeeper() *gatekeeper { return &gatekeeper{answers: make(chan human.Judgement, 1)} }

func (g *gatekeeper) Evaluate(ctx context.Context, by human.Actor, call human.ToolCall, how service.Asking) (human.Judgement, error) {
	g.mu.Lock()
	g.by, g.calls, g.asked = append(g.by, by), append(g.calls, call), append(g.asked, how)
	now, err := g.now, g.err
	g.mu.Unlock()
	if now != nil || err != nil {
		if now == nil {
			now = &human.Judgement{}
		}
		return *now, err
	}
	t := time.NewTimer(how.Wait)
	defer t.Stop()
	if how.Question != "" {
		select {
		case j := <-g.answers:
			return j, nil
		case <-t.C:
		case <-ctx.Done():
			return human.Judgement{}, ctx.Err()
		}
	}
	return human.Judgement{Decision: human.Ask, OperationID: "op_1"}, nil
}

type permitted struct {
	Behavior     string
	UpdatedInput json.RawMessage
	Message      string
}

// permit calls the tool.
func (c *client) permit(ctx context.Context, a args, progress chan note) (permitted, error) {
	params := &mcp.CallToolParams{Name: "permission", Arguments: map[string]any(a)}
	if progress != nil {
		c.mu.Lock()
		c.notes["permit"] = progress
		c.mu.Unlock()
		params.SetProgressToken("permit")
	}
	res, err := c.CallTool(ctx, params)
	if err != nil {
		return permitted{}, err
	}
	var p permitted
	if res.IsError || len(res.Content) != 1 || res.StructuredContent != nil {
		c.t.Errorf("clients do not read this: %+v", res)
	}
	d := json.NewDecoder(strings.NewReader(res.Content[0].(*mcp.TextContent).Text))
	d.DisallowUnknownFields()
	return p, d.Decode(&p)
}

var aCall = args{"tool_name": "Bash", "input": map[string]any{"command": "rm <a>"}, "tool_use_id": "toolu_1"}

const anInput = `{"command":"rm <a>"}`

func TestWhatIsJudgedIsToldInTheClientsWords(t *testing.T) {
	digest := gate.Digest(gate.Call{Tool: "Bash", Args: json.RawMessage(anInput)})
	for name, tt := range map[string]struct {
		call  args
		j     human.Judgement
		err   error
		input string // empty: a deny
		says  string
	}{
		"allowed":                   {aCall, human.Judgement{Decision: human.Allow, Verdict: human.Verdict{Digest: digest}}, nil, anInput, ""},
		"another call was allowed":  {aCall, human.Judgement{Decision: human.Allow, Verdict: human.Verdict{Digest: "sha256:0"}}, nil, "", "not what was asked"},
		"with other arguments":      {aCall, human.Judgement{Decision: human.Allow, Args: json.RawMessage(`{"command":"ls"}`)}, nil, `{"command":"ls"}`, ""},
		"with none that are usable": {aCall, human.Judgement{Decision: human.Allow, Args: json.RawMessage(`"ls"`)}, nil, "", "not a JSON object"},
		"refused":                   {aCall, human.Judgement{Decision: human.Deny, Message: "It is precious."}, nil, "", "It is precious."},
		"refused without a word":    {aCall, human.Judgement{Decision: human.Deny}, nil, "", "denied"},
		"nobody to ask":             {aCall, human.Judgement{Decision: human.Ask, Message: "Nobody is there."}, nil, "", "Nobody is there."},
		"no decision":               {aCall, human.Judgement{}, nil, "", "denied"},
		"no gatekeeper":             {aCall, human.Judgement{}, human.Errorf(human.Unavailable, "it went away"), "", "it went away"},
		"an error":                  {aCall, human.Judgement{Decision: human.Allow}, errors.New("secret"), "", "could not be judged"},
		"no tool":                   {args{"tool_name": "", "input": map[string]any{}}, human.Judgement{Decision: human.Allow}, nil, "", "tool_name"},
		"an input that is a text":   {args{"tool_name": "Bash", "input": "rm"}, human.Judgement{Decision: human.Allow}, nil, "", "input"},
		"no input":                  {args{"tool_name": "Bash"}, human.Judgement{Decision: human.Allow}, nil, "", "input"},
		"another type":              {args{"tool_name": 7, "input": map[string]any{}}, human.Judgement{Decision: human.Allow}, nil, "", "cannot be read"},
		"more than is known":        {aCall.with(args{"later": 1}), human.Judgement{Decision: human.Allow}, nil, anInput, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGatekeeper()
			g.now, g.err = &tt.j, tt.err
			c := inMemory(t, nil, mcpserver.Options{Gate: g, Session: "s", Folder: "/w"}, legacy)
			p, err := c.permit(t.Context(), tt.call, nil)
			if err != nil {
				t.Fatal(err)
			}
			if tt.input != "" {
				if p.Behavior != "allow" || string(p.UpdatedInput) != tt.input || p.Message != "" {
					t.Errorf("%+v %s", p, p.UpdatedInput)
				}
			} else if p.Behavior != "deny" || p.UpdatedInput != nil || !strings.Contains(p.Message, tt.says) || strings.Contains(p.Message, "secret") {
				t.Errorf("%+v", p)
			}
			for _, call := range g.calls {
				if call.Tool != "Bash" || string(call.Args) != anInput || call.SessionID != "s" || call.Root != "/w" || call.CallID != "toolu_1" || call.Client != "mcp" {
					t.Errorf("%+v", call)
				}
			}
		})
	}
}

func TestTheToolForPermissionsIsListedForAClientThatAsksWithIt(t *testing.T) {
	for _, version := range []string{legacy, modern} {
		other := inMemory(t, nil, mcpserver.Options{Gate: newGatekeeper()}, version)
		if list, err := other.ListTools(t.Context(), nil); err != nil || len(list.Tools) != 1 || list.Tools[0].Name != "human" {
			t.Errorf("%+v %v", list, err)
		}
		if p, err := other.permit(t.Context(), aCall.with(args{"input": 1}), nil); err != nil || p.Behavior != "deny" {
			t.Errorf("called all the same: %+v %v", p, err)
		}
		c := inMemory(t, nil, mcpserver.Options{Gate: newGatekeeper(), Permission: true}, version)
		list, err := c.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var found *mcp.Tool
		for _, tool := range list.Tools {
			if tool.Name == "permission" {
				found = tool
			}
		}
		if len(list.Tools) != 2 || found == nil || len(found.Description) > 2048 {
			t.Errorf("%+v", list.Tools)
		}
	}
}

func TestAPermissionWaitsWhileProgressIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGatekeeper()
		c := inMemory(t, nil, mcpserver.Options{Gate: g}, legacy)
		notes := make(chan note, 100)
		time.AfterFunc(10*time.Minute+time.Second, func() { g.answers <- human.Judgement{Decision: human.Allow} })
		began := time.Now()
		p, err := c.permit(t.Context(), aCall, notes)
		if err != nil || p.Behavior != "allow" || time.Since(began) != 10*time.Minute+time.Second {
			t.Errorf("%+v %v after %v", p, err, time.Since(began))
		}
		synctest.Wait() // notes may come after the result
		close(notes)
		n, last := 0, 0.0
		for one := range notes {
			if n++; one.Number <= last || !strings.Contains(one.Text, "op_1") {
				t.Errorf("%+v after %v", one, last)
			}
			last = one.Number
		}
		if n != 41 {
			t.Errorf("%d notes", n)
		}
		for _, how := range g.asked[1:] {
			if how.Question != "op_1" || how.Wait != 15*time.Second {
				t.Errorf("%+v", how)
			}
		}
		_ = c.Close()
	})
}

func TestAPermissionIsAnsweredInTimeWhereNoProgressIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGatekeeper()
		c := inMemory(t, nil, mcpserver.Options{Gate: g}, legacy)
		began := time.Now()
		p, err := c.permit(t.Context(), aCall, nil)
		if took := time.Since(began); err != nil || p.Behavior != "deny" || took != 45*time.Second || !strings.Contains(p.Message, "op_1") || !strings.Contains(p.Message, "again") {
			t.Errorf("%+v %v after %v", p, err, took)
		}
		// The same call, with the id of another try, continues waiting for the same question.
		g.answers <- human.Judgement{Decision: human.Allow}
		p, err = c.permit(t.Context(), aCall.with(args{"tool_use_id": "toolu_2"}), nil)
		if err != nil || p.Behavior != "allow" {
			t.Errorf("%+v %v", p, err)
		}
		last := len(g.asked) - 1
		if g.asked[last].Question != "op_1" || g.calls[last].CallID != "toolu_1" {
			t.Errorf("%+v %+v", g.asked[last], g.calls[last])
		}
		// Once: the next is another.
		if _, err := c.permit(t.Context(), aCall.with(args{"tool_use_id": "toolu_3"}), nil); err != nil {
			t.Fatal(err)
		}
		if g.asked[last+1].Question != "" || g.calls[last+1].CallID != "toolu_3" {
			t.Errorf("%+v %+v", g.asked[last+1], g.calls[last+1])
		}
		_ = c.Close()
	})
}

func TestAClientThatLeavesGetsNoPermission(t *testing.T) {
	g := newGatekeeper()
	c := inMemory(t, nil, mcpserver.Options{Gate: g}, legacy)
	ctx, cancel := context.WithCancel(t.Context())
	notes := make(chan note, 10)
	done := make(chan error, 1)
	go func() {
		_, err := c.permit(ctx, aCall, notes)
		done <- err
	}()
	<-notes
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestPermissionsOverHTTPAreTheirAgents(t *testing.T) {
	q := open(t)
	g := newGatekeeper()
	g.now = &human.Judgement{Decision: human.Allow}
	s, h := serve(t, q, mcpserver.Options{Gate: g})
	for key, want := range map[string]human.Actor{"dbk_bot": bot, "dbk_other": other} {
		p, err := overHTTP(t, s, key, modern).permit(t.Context(), aCall, nil)
		if err != nil || p.Behavior != "allow" || g.by[len(g.by)-1] != want {
			t.Errorf("%+v %v %+v", p, err, g.by)
		}
	}
	// A question that one agent left is not another's.
	g.mu.Lock()
	g.now = nil
	g.mu.Unlock()
	notes := make(chan note, 10)
	c := overHTTP(t, s, "dbk_bot", modern)
	answered := make(chan permitted, 1)
	go func() {
		p, err := c.permit(t.Context(), aCall, notes)
		if err != nil {
			t.Error(err)
		}
		answered <- p
	}()
	<-notes
	h.EndWaits()
	if p := <-answered; p.Behavior != "deny" || !strings.Contains(p.Message, "closing") {
		t.Errorf("%+v", p)
	}
	before := len(g.asked)
	if _, err := overHTTP(t, s, "dbk_other", modern).permit(t.Context(), aCall, nil); err != nil {
		t.Fatal(err)
	}
	if g.asked[before].Question != "" {
		t.Errorf("%+v", g.asked[before])
	}
}
