//go:build unix

package mcpproxy

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deskbell/backend/human"
)

// An answering operator is asked in the client's place.
type answering struct {
	Judge
	mu    sync.Mutex
	asked []Elicitation
	reply func(ctx context.Context, e Elicitation) (Elicited, error)
}

func (a *answering) Elicit(ctx context.Context, e Elicitation) (Elicited, error) {
	a.mu.Lock()
	a.asked = append(a.asked, e)
	a.mu.Unlock()
	return a.reply(ctx, e)
}

// elicits plays a call of a tool that asks, for a client that can be asked itself or not.
func elicits(t *testing.T, judge Judge, can bool, args map[string]any) string {
	t.Helper()
	r := run(t, judge, Options{Server: "tools", Session: "s"}, server(t, "tools")...)
	opts := &mcp.ClientOptions{}
	if can {
		opts.ElicitationHandler = func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "decline"}, nil
		}
	}
	c, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, opts).
		Connect(t.Context(), &mcp.IOTransport{Reader: io.NopCloser(r.out), Writer: r.in}, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	result, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "form", Arguments: args})
	if err != nil {
		return err.Error()
	}
	return result.Content[0].(*mcp.TextContent).Text
}

func TestAServersQuestionIsAnsweredInPlaceOfAClientThatCannot(t *testing.T) {
	for name, tt := range map[string]struct {
		can   bool
		args  map[string]any
		reply Elicited
		err   error
		want  string
		asked int
	}{
		"filled in":                       {reply: Elicited{Action: "accept", Content: json.RawMessage(`{"day":"2026-11-23"}`)}, want: "accept map[day:2026-11-23]", asked: 1},
		"declined":                        {reply: Elicited{Action: "decline"}, want: "decline map[]", asked: 1},
		"a link":                          {args: map[string]any{"url": "https://example.com/?a=b"}, reply: Elicited{Action: "accept"}, want: "accept map[]", asked: 1},
		"a client that answers itself":    {can: true, reply: Elicited{Action: "cancel"}, want: "decline map[]"},
		"a form that Deskbell refuses":    {err: human.BadField("details.response_schema", "asks for a password"), want: "asks for a password", asked: 1},
		"no operator that could be asked": {err: human.Errorf(human.Unavailable, "away"), want: "cancel map[]", asked: 1},
	} {
		t.Run(name, func(t *testing.T) {
			a := &answering{Judge: allowAll, reply: func(context.Context, Elicitation) (Elicited, error) { return tt.reply, tt.err }}
			if got := elicits(t, a, tt.can, tt.args); !strings.Contains(got, tt.want) {
				t.Errorf("%q, want %q", got, tt.want)
			}
			if len(a.asked) != tt.asked {
				t.Fatalf("asked %+v", a.asked)
			}
			if tt.asked == 1 && (a.asked[0].Server != "tools" || a.asked[0].Session != "s" || a.asked[0].ID == "" ||
				(a.asked[0].URL == "") != (tt.args == nil) || (a.asked[0].Schema == nil) != (tt.args != nil)) {
				t.Errorf("%+v", a.asked[0])
			}
		})
	}
}

// A judge that asks no operators leaves all as it is.
func TestWithoutAnElicitorTheServerIsToldNothingElse(t *testing.T) {
	if got := elicits(t, allowAll, false, nil); !strings.Contains(got, "elicitation") {
		t.Error(got)
	}
}

func TestAQuestionEndsWithItsClient(t *testing.T) {
	asked, ended := make(chan bool, 1), make(chan bool, 1)
	a := &answering{Judge: allowAll, reply: func(ctx context.Context, _ Elicitation) (Elicited, error) {
		asked <- true
		<-ctx.Done()
		ended <- true
		return Elicited{}, ctx.Err()
	}}
	r := run(t, a, Options{}, server(t, "mirror")...)
	r.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{},"protocolVersion":"2025-06-18"}}` + "\n")
	if got := r.next(); !strings.Contains(got, `"capabilities":{"elicitation":{"form":{},"url":{}}}`) {
		t.Fatal(got)
	}
	// The mirror is the server: what is sent to it comes back as its own.
	r.send(`{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"?","requestedSchema":{}}}` + "\n")
	<-asked
	r.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q"}}` + "\n")
	<-ended
	r.send(`{"jsonrpc":"2.0","id":2,"method":"elicitation/create","params":{"message":"?"}}` + "\n")
	<-asked
	_ = r.in.Close()
	<-ended
	r.end()
}

func TestWhatAnOperationCameToInMCPsWords(t *testing.T) {
	answered := func(kind human.Kind, response string) human.Operation {
		op := human.Operation{Kind: kind, State: human.Completed, Result: &human.Result{}}
		if response != "" {
			op.Result.Response = json.RawMessage(response)
		}
		return op
	}
	for name, tt := range map[string]struct {
		op   human.Operation
		want string
	}{
		"values":      {answered(human.Feedback, `{"a":1}`), `{"action":"accept","content":{"a":1}}`},
		"words alone": {answered(human.Feedback, ""), `{"action":"accept","content":{}}`},
		"a link":      {answered(human.Browser, ""), `{"action":"accept"}`},
		"declined":    {human.Operation{State: human.Declined}, `{"action":"decline"}`},
		"out of time": {human.Operation{State: human.Cancelled}, `{"action":"cancel"}`},
	} {
		if got, _ := json.Marshal(elicited(tt.op)); string(got) != tt.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}
