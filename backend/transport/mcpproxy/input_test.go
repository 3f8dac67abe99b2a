//go:build unix

package mcpproxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deskbell/backend/human"
)

// addInput adds what asks the user of a client in its results.
func addInput(s *mcp.Server) {
	form := func(message, name string) *mcp.ElicitParams {
		return &mcp.ElicitParams{Message: message, RequestedSchema: json.RawMessage(`{"type":"object","properties":{"` + name + `":{"type":"string"}},"required":["` + name + `"]}`)}
	}
	mcp.AddTool(s, &mcp.Tool{Name: "rounds"}, func(_ context.Context, r *mcp.CallToolRequest, in struct {
		Kind string `json:"kind,omitempty"`
	}) (*mcp.CallToolResult, any, error) {
		asks := func(state string, all mcp.InputRequestMap) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{InputRequests: all, RequestState: state}, nil, nil
		}
		if caps := r.ClientCapabilities(); caps == nil || caps.Elicitation == nil {
			return nil, nil, errors.New("its client cannot be asked")
		}
		p := r.Params
		switch {
		case in.Kind == "endless":
			return asks(p.RequestState+"i", mcp.InputRequestMap{"a": form("Again?", "a")})
		case in.Kind == "mixed" && p.InputResponses == nil:
			return asks("mixed", mcp.InputRequestMap{"a": form("Which?", "a"), "roots": &mcp.ListRootsParams{}}) //nolint:staticcheck // deprecated, and still asked for
		case in.Kind == "no schema" && p.InputResponses == nil:
			return asks("", mcp.InputRequestMap{"a": &mcp.ElicitParams{Message: "Ready?"}})
		case in.Kind == "" && p.RequestState == "":
			return asks("first", mcp.InputRequestMap{"when": form("When?", "day"), "where": &mcp.ElicitParams{Mode: "url", Message: "Sign in", URL: "https://example.com/?a=b", ElicitationID: "1"}})
		case in.Kind == "" && p.RequestState == "first":
			when, where := p.InputResponses["when"].(*mcp.ElicitResult), p.InputResponses["where"].(*mcp.ElicitResult)
			if when.Action != "accept" {
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "when: " + when.Action}}}, nil, nil
			}
			return asks(fmt.Sprintf("%v, %s", when.Content["day"], where.Action), mcp.InputRequestMap{"why": form("Why?", "reason")})
		}
		text := p.RequestState
		for name, one := range p.InputResponses {
			if e, ok := one.(*mcp.ElicitResult); ok {
				text += fmt.Sprintf("; %s %s %v", name, e.Action, e.Content)
			}
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, nil
	})
	s.AddPrompt(&mcp.Prompt{Name: "brief"}, func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		if r.Params.InputResponses == nil {
			return &mcp.GetPromptResult{InputRequests: mcp.InputRequestMap{"a": form("Which?", "a")}}, nil
		}
		text := fmt.Sprint(r.Params.InputResponses["a"].(*mcp.ElicitResult).Content)
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: text}}}}, nil
	})
}

// ways are the ways to a server, by name.
func ways(t *testing.T, judge Judge, opts Options, stateless bool) map[string]mcp.Transport {
	u := serveTools(t, stateless, false)
	plain := serveTools(t, stateless, stateless)
	r := run(t, judge, opts, server(t, "tools")...)
	return map[string]mcp.Transport{
		"standard input and output": &mcp.IOTransport{Reader: io.NopCloser(r.out), Writer: r.in},
		"--url":                     bridged(t, u, judge),
		"--listen":                  overHTTP(t, face(t, u, judge, opts).URL+"/mcp"),
		"--listen, plain JSON":      overHTTP(t, face(t, plain, judge, opts).URL+"/mcp"),
	}
}

// fills is an operator that fills in every field with its name.
func fills(_ context.Context, e Elicitation) (Elicited, error) {
	if e.URL != "" {
		return Elicited{Action: "accept"}, nil
	}
	var schema struct{ Properties map[string]any }
	_ = json.Unmarshal(e.Schema, &schema)
	content := map[string]any{}
	for name := range schema.Properties {
		content[name] = "the " + name
	}
	return Elicited{Action: "accept", Content: plain(content)}, nil
}

func connect(t *testing.T, transport mcp.Transport, version string, opts *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	c, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, opts).Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func called(t *testing.T, c *mcp.ClientSession, name string, args map[string]any) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	r, err := c.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		return err.Error()
	}
	if len(r.Content) == 0 {
		return fmt.Sprintf("%+v", r)
	}
	return r.Content[0].(*mcp.TextContent).Text
}

func TestWhatAResultAsksIsAnsweredInPlaceOfAClientThatCannot(t *testing.T) {
	a := &answering{Judge: allowAll, reply: fills}
	for way, transport := range ways(t, a, Options{Server: "fs"}, true) {
		t.Run(way, func(t *testing.T) {
			c := connect(t, transport, modernVersion, nil)
			for kind, want := range map[string]string{
				"":          "the day, accept; why accept map[reason:the reason]",
				"no schema": "; a accept map[]",
				"endless":   "10 times",
			} {
				args := map[string]any{}
				if kind != "" {
					args["kind"] = kind
				}
				if got := called(t, c, "rounds", args); !strings.Contains(got, want) {
					t.Errorf("%s: %q", kind, got)
				}
			}
			a.mu.Lock()
			n := len(a.asked)
			a.mu.Unlock()
			got, err := c.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "brief"})
			if err != nil || got.Messages[0].Content.(*mcp.TextContent).Text != "map[a:the a]" {
				t.Errorf("%+v %v", got, err)
			}
			if n != 3+1+maxRounds || len(a.asked) != n+1 || a.asked[n].Server != "fs" {
				t.Errorf("asked %d times: %+v", n, a.asked)
			}
			a.asked = nil
		})
	}
}

func TestWhatAServerAsksInItsSessionIsAnsweredOnEachWay(t *testing.T) {
	a := &answering{Judge: allowAll, reply: fills}
	all := ways(t, a, Options{Server: "fs"}, false)
	for way, transport := range all {
		t.Run(way, func(t *testing.T) {
			c := connect(t, transport, "2025-11-25", nil)
			if got := called(t, c, "form", nil); got != "accept map[day:the day]" {
				t.Error(got)
			}
			if got := called(t, c, "form", map[string]any{"url": "https://example.com/?a=b"}); got != "accept map[]" {
				t.Error(got)
			}
			// The server's own answer to a client of an older protocol is to ask it.
			if got := called(t, c, "rounds", map[string]any{"kind": "no schema"}); !strings.Contains(got, "a accept") {
				t.Error(got)
			}
		})
	}
}

func TestAQuestionThatTheClientCanAnswerGoesToIt(t *testing.T) {
	a := &answering{Judge: allowAll, reply: fills}
	for name, tt := range map[string]struct {
		opts Options
		can  bool
		kind string
		want string
	}{
		"it can be asked":                    {can: true, want: "when: decline"},
		"beside what no operator can answer": {kind: "mixed", want: "elicitation"},
		"switched off":                       {opts: Options{NoElicitation: true}, want: "cannot be asked"},
	} {
		t.Run(name, func(t *testing.T) {
			for way, transport := range ways(t, a, tt.opts, true) {
				if way == "--url" && tt.opts.NoElicitation {
					continue // has no options here
				}
				opts := &mcp.ClientOptions{}
				if tt.can {
					opts.ElicitationHandler = func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
						return &mcp.ElicitResult{Action: "decline"}, nil
					}
				}
				c := connect(t, transport, modernVersion, opts)
				args := map[string]any{}
				if tt.kind != "" {
					args["kind"] = tt.kind
				}
				if got := called(t, c, "rounds", args); !strings.Contains(got, tt.want) {
					t.Errorf("%s: %q", way, got)
				}
			}
			if len(a.asked) != 0 {
				t.Errorf("%+v", a.asked)
			}
		})
	}
}

// waits is an operator who does not answer.
func waits() (a *answering, asked, ended chan string) {
	asked, ended = make(chan string, 10), make(chan string, 10)
	return &answering{Judge: allowAll, reply: func(ctx context.Context, e Elicitation) (Elicited, error) {
		asked <- e.Message
		<-ctx.Done()
		ended <- e.Message
		return Elicited{}, ctx.Err()
	}}, asked, ended
}

func within30(t *testing.T, from <-chan string) string {
	t.Helper()
	select {
	case got := <-from:
		return got
	case <-time.After(30 * time.Second):
		t.Fatal("nothing came")
		return ""
	}
}

func TestAClientThatGivesUpTakesTheQuestionBack(t *testing.T) {
	a, asked, ended := waits()
	for _, version := range []string{modernVersion, "2025-11-25"} {
		for way, transport := range ways(t, a, Options{}, version == modernVersion) {
			t.Run(version+" "+way, func(t *testing.T) {
				c := connect(t, transport, version, nil)
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan string, 1)
				go func() {
					_, err := c.CallTool(ctx, &mcp.CallToolParams{Name: "rounds", Arguments: map[string]any{"kind": "no schema"}})
					done <- fmt.Sprint(err)
				}()
				if got := within30(t, asked); got != "Ready?" {
					t.Error(got)
				}
				cancel()
				within30(t, done)
				within30(t, ended)
				if got := called(t, c, "echo", map[string]any{"text": "still there"}); got != "still there" {
					t.Error(got)
				}
			})
		}
	}
}

func TestASecondRoundCanBeGivenUp(t *testing.T) {
	path := t.TempDir() + "/told"
	script := `{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","requestState":"s","inputRequests":{"a":{"method":"elicitation/create","params":{"message":"?"}}}}}`
	// The server keeps what it hears, asks once, and answers nothing more.
	r := run(t, &answering{Judge: allowAll, reply: fills}, Options{}, "sh", "-c", `read a; echo '`+script+`'; read b; echo '{"jsonrpc":"2.0","method":"heard"}'; read c; printf '%s\n%s\n' "$b" "$c" > '`+path+`'`)
	r.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","_meta":{"` + versionKey + `":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}` + "\n")
	if got := r.next(); !strings.Contains(got, "heard") {
		t.Fatal(got)
	}
	r.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}` + "\n")
	r.end()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	again, gone := read([]byte(lines[0])), read([]byte(lines[1]))
	var p struct {
		InputResponses map[string]Elicited
		RequestState   string
		Name           string
	}
	if json.Unmarshal(again.params, &p) != nil || p.RequestState != "s" || p.Name != "x" || p.InputResponses["a"].Action != "accept" || key(again.id) == "1" {
		t.Errorf("%s", again.raw)
	}
	if id := gone.cancels(); id == nil || key(id) != key(again.id) {
		t.Errorf("%s after %s", gone.raw, again.raw)
	}
}

// A client that does not wait long learns what to do, and continues where it was.
func TestAnAnswerMayTakeLongerThanTheClientWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers := make(chan Elicited)
		a := &answering{Judge: allowAll, reply: func(ctx context.Context, e Elicitation) (Elicited, error) {
			e.Rung("op_7")
			select {
			case given := <-answers:
				return given, nil
			case <-ctx.Done():
				return Elicited{}, ctx.Err()
			}
		}}
		d := newChecker(a, Options{})
		defer d.close()
		request := func(id string) (*query, message) {
			m := read([]byte(`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"x","arguments":{"a":1},"_meta":{"progressToken":"t` + id + `","` + versionKey + `":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`))
			q, _ := d.query(m, m.raw, nil)
			return q, m
		}
		q, _ := request("1")
		if !d.inquire(q, []byte(`{"resultType":"input_required","requestState":"s","inputRequests":{"a":{"method":"elicitation/create","params":{"message":"?"}}}}`)) {
			t.Fatal("it is not asked")
		}
		began := time.Now()
		reply, again := d.hold(t.Context(), q, caller{tell: func(string) {}})
		if time.Since(began) != 45*time.Second || again || !strings.Contains(string(reply), "op_7") || !strings.Contains(string(reply), "same arguments") {
			t.Errorf("%v %s", time.Since(began), reply)
		}
		_, m := request("2")
		if q = d.resume(m); q == nil {
			t.Fatal("it begins anew")
		}
		go func() { answers <- Elicited{Action: "decline"} }()
		if reply, again = d.hold(t.Context(), q, caller{}); !again || reply != nil || !strings.Contains(string(q.sent.params), `"inputResponses":{"a":{"action":"decline"}}`) || !strings.Contains(string(q.sent.params), `"progressToken":"t2"`) {
			t.Errorf("%s %s", reply, q.sent.raw)
		}
		if d.resume(m) != nil {
			t.Error("it is resumed twice")
		}
		// One that no one comes back for is revoked.
		q, _ = request("3")
		d.inquire(q, []byte(`{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"message":"?"}}}}`))
		d.hold(t.Context(), q, caller{})
		<-time.After(freshFor + time.Second)
		<-q.done
		if d.resume(m) != nil {
			t.Error("it is resumed too late")
		}
	})
}

// What Deskbell does not show is an error for the client, which says why.
func TestAFormThatCannotBeShownIsSaid(t *testing.T) {
	a := &answering{Judge: allowAll, reply: func(context.Context, Elicitation) (Elicited, error) {
		return Elicited{}, human.BadField("details.response_schema", "asks for a password")
	}}
	for way, transport := range ways(t, a, Options{}, true) {
		if got := called(t, connect(t, transport, modernVersion, nil), "rounds", nil); !strings.Contains(got, "asks for a password") {
			t.Errorf("%s: %q", way, got)
		}
	}
}

// How long a call may take depends on the client, which says its name at the beginning or in each request.
func TestTheClientIsKnownByItsName(t *testing.T) {
	first := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{},"protocolVersion":"2025-11-25","clientInfo":{"name":"claude-code","version":"2"}}}`
	l := newLines(newChecker(allowAll, Options{}), &writer{w: io.Discard}, func(message, []byte) error { return nil })
	defer l.checker.close()
	if got := l.caller(read([]byte(aCall))).name; got != "" {
		t.Error(got)
	}
	if err := l.take(t.Context(), []byte(first+"\n")); err != nil {
		t.Fatal(err)
	}
	if got := l.caller(read([]byte(aCall))).name; got != "claude-code" {
		t.Error(got)
	}
	modern := read([]byte(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x","_meta":{"io.modelcontextprotocol/clientInfo":{"name":"opencode"}}}}`))
	if got := clientName(modern); got != "opencode" {
		t.Error(got)
	}
	u := serveTools(t, false, false)
	f, err := Remote{URL: u.URL + "/mcp"}.Face(allowAll, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1/mcp", strings.NewReader(first))
	r.Header.Set("Content-Type", plainJSON)
	r.Header.Set("Accept", plainJSON+", "+eventStream)
	w := httptest.NewRecorder()
	f.ServeHTTP(w, r)
	r.Header.Set(sessionHeader, w.Header().Get(sessionHeader))
	if got := f.caller(&stream{}, r, read([]byte(aCall))).name; got != "claude-code" {
		t.Errorf("%q: %d %s", got, w.Code, w.Body)
	}
	last := httptest.NewRequestWithContext(t.Context(), http.MethodDelete, "http://127.0.0.1/mcp", nil)
	last.Header = r.Header
	if f.ServeHTTP(httptest.NewRecorder(), last); f.session(last) != nil {
		t.Error("a session that ended is still known")
	}
}
