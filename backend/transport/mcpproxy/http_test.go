//go:build unix

package mcpproxy

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deskbell/backend/gate/service"
	"deskbell/backend/human"
)

// An upstream is a server with tools over HTTP; it counts the calls that reach it.
type upstream struct {
	*httptest.Server
	calls atomic.Int64
	last  atomic.Pointer[http.Request]
}

func serveTools(t *testing.T, stateless, plain bool) *upstream {
	t.Helper()
	tools := toolServer()
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return tools },
		&mcp.StreamableHTTPOptions{Stateless: stateless, JSONResponse: plain, PropagateRequestCancellation: stateless})
	u := &upstream{}
	u.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if bytes.Contains(body, []byte(`"tools/call"`)) {
			u.calls.Add(1)
		}
		u.last.Store(r)
		r.Body = io.NopCloser(bytes.NewReader(body))
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		u.CloseClientConnections()
		u.Close()
	})
	return u
}

// face is a proxy that listens, in front of a server.
func face(t *testing.T, u *upstream, judge Judge, opts Options) *httptest.Server {
	t.Helper()
	f, err := Remote{URL: u.URL + "/mcp", Header: http.Header{"X-Key": {"secret"}}}.Face(judge, opts)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(f)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
		f.Close()
	})
	return s
}

func overHTTP(t *testing.T, url string) mcp.Transport {
	base := &http.Transport{}
	t.Cleanup(base.CloseIdleConnections)
	return &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: base}, MaxRetries: -1}
}

// bridged is a proxy between standard input and output and a server.
func bridged(t *testing.T, u *upstream, judge Judge) mcp.Transport {
	t.Helper()
	in, toProxy := io.Pipe()
	fromProxy, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- Remote{URL: u.URL + "/mcp"}.Serve(context.Background(), judge, in, out, Options{Server: "fs", Grace: time.Second})
		_ = out.Close()
	}()
	t.Cleanup(func() {
		_ = toProxy.Close()
		_ = fromProxy.Close()
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(20 * time.Second):
			t.Error("the proxy did not end")
		}
	})
	return &mcp.IOTransport{Reader: fromProxy, Writer: toProxy}
}

func TestASessionOverHTTPIsTheSameWithAndWithoutTheProxy(t *testing.T) {
	for name, tt := range map[string]struct {
		version          string
		stateless, plain bool
	}{
		"sessions": {"2025-11-25", false, false},
		"modern":   {modernVersion, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			u := serveTools(t, tt.stateless, tt.plain)
			straight := play(t, overHTTP(t, u.URL), tt.version)
			through := play(t, overHTTP(t, face(t, u, allowAll, Options{}).URL+"/mcp"), tt.version)
			same(t, straight, through)
			if u.last.Load().Header.Get("X-Key") != "secret" {
				t.Error("the header is missing")
			}
			for i, r := range straight.Results { // standard input and output have no status beside an error
				straight.Results[i] = strings.NewReplacer(`sending "tools/call": `, "", ": rejected by transport: Bad Request", "").Replace(r)
			}
			same(t, straight, play(t, bridged(t, u, allowAll), tt.version))
		})
	}
}

func TestCallsOverHTTPAreAskedAbout(t *testing.T) {
	for name, tt := range map[string]struct {
		version          string
		stateless, plain bool
		bridge, progress bool
	}{
		"sessions":                  {"2025-11-25", false, false, false, false},
		"sessions, with progress":   {"2025-11-25", false, false, false, true},
		"plain JSON":                {"2025-11-25", true, true, false, false},
		"plain JSON, with progress": {"2025-11-25", true, true, false, true},
		"modern":                    {modernVersion, true, false, false, false},
		"modern, with progress":     {modernVersion, true, false, false, true},
		"bridged":                   {"2025-11-25", false, false, true, true},
		"bridged, modern":           {modernVersion, true, false, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			u := serveTools(t, tt.stateless, tt.plain)
			op := newOperator()
			var transport mcp.Transport
			if tt.bridge {
				transport = bridged(t, u, op)
			} else {
				transport = overHTTP(t, face(t, u, op, Options{Server: "fs"}).URL+"/mcp")
			}
			notes := make(chan string, 10)
			c, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
				ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { notes <- r.Params.Message },
			}).Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: tt.version})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = c.Close() }()
			if _, err := c.ListTools(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			path, other := filepath.Join(t.TempDir(), "precious"), filepath.Join(t.TempDir(), "scrap")
			for _, p := range []string{path, other} {
				if err := os.WriteFile(p, []byte("work"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			remove := func(j human.Judgement) *mcp.CallToolResult {
				t.Helper()
				p := &mcp.CallToolParams{Name: "remove", Arguments: map[string]any{"path": path}}
				done := make(chan *mcp.CallToolResult, 1)
				if tt.progress {
					p.SetProgressToken("t")
				}
				go func() {
					res, err := c.CallTool(t.Context(), p)
					if err != nil {
						t.Error(err)
					}
					done <- res
				}()
				if tt.progress {
					if text := <-notes; !strings.Contains(text, "op_1") {
						t.Error(text)
					}
				}
				op.answers <- j
				return <-done
			}
			res := remove(human.Judgement{Decision: human.Deny, Message: "It is the only copy."})
			if res == nil || !res.IsError || res.Content[0].(*mcp.TextContent).Text != "It is the only copy." || u.calls.Load() != 0 {
				t.Fatalf("%+v, %d calls", res, u.calls.Load())
			}
			last := op.calls[len(op.calls)-1]
			if last.Tool != "mcp__fs__remove" || last.About != "Takes a file away" || last.Annotations.Destructive == nil {
				t.Errorf("%+v", last)
			}
			args, _ := json.Marshal(map[string]string{"path": other})
			if res := remove(human.Judgement{Decision: human.Allow, Args: args}); res == nil || res.IsError {
				t.Errorf("%+v", res)
			}
			if _, err := os.Stat(path); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(other); err == nil {
				t.Error("the other is still there")
			}
			if res := remove(human.Judgement{Decision: human.Allow}); res == nil || res.IsError {
				t.Errorf("%+v", res)
			}
			if _, err := os.Stat(path); err == nil {
				t.Error("it is still there")
			}
			// A client that gives a call up while it is asked about: it never reaches the server.
			before := u.calls.Load()
			ctx, cancel := context.WithCancel(t.Context())
			p := &mcp.CallToolParams{Name: "remove", Arguments: map[string]any{"path": "x"}}
			p.SetProgressToken("t")
			done := make(chan error, 1)
			go func() {
				_, err := c.CallTool(ctx, p)
				done <- err
			}()
			<-notes
			cancel()
			if err := <-done; err == nil {
				t.Error("a call that was given up has a result")
			}
			if _, err := c.ListTools(t.Context(), nil); err != nil {
				t.Error(err)
			}
			op.answers <- human.Judgement{Decision: human.Allow}
			if u.calls.Load() != before {
				t.Error("it reached the server")
			}
		})
	}
}

// post sends a body to a proxy as it is.
func post(t *testing.T, url, body string, header http.Header) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for name, values := range header {
		r.Header[name] = values
		if name == "Host" {
			r.Host = values[0]
		}
	}
	base := &http.Transport{DisableKeepAlives: true}
	answer, err := (&http.Client{Transport: base, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

func TestWhatAServerMightReadOtherwiseDoesNotReachIt(t *testing.T) {
	reached := 0
	back := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		reached++
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":7,"result":{}}`)
	}))
	defer back.Close()
	u := &upstream{Server: back}
	s := face(t, u, allowAll, Options{})
	ping := `{"jsonrpc":"2.0","id":7,"method":"ping"}`
	for name, tt := range map[string]struct {
		path, body string
		header     http.Header
		status     int
	}{
		"two names":               {"/mcp", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"a","name":"b"}}`, nil, 400},
		"no JSON":                 {"/mcp", `{"jsonrpc":`, nil, 400},
		"another character set":   {"/mcp", ping, http.Header{"Content-Type": {"application/json; charset=utf-7"}}, 415},
		"compressed":              {"/mcp", ping, http.Header{"Content-Encoding": {"gzip"}}, 415},
		"a form":                  {"/mcp", ping, http.Header{"Content-Type": {"text/plain"}}, 415},
		"a header for a call":     {"/mcp", ping, http.Header{"Mcp-Method": {"tools/call"}}, 400},
		"a header for none":       {"/mcp", aCall, http.Header{"Mcp-Method": {"ping"}}, 400},
		"a header for another":    {"/mcp", aCall, http.Header{"Mcp-Method": {"tools/call"}, "Mcp-Name": {"ls"}}, 400},
		"another place":           {"/messages", aCall, nil, 404},
		"a page of another site":  {"/mcp", ping, http.Header{"Origin": {"https://evil.example"}}, 403},
		"a name that leads here":  {"/mcp", ping, http.Header{"Host": {"evil.example"}}, 403},
		"a page of this machine":  {"/mcp", ping, http.Header{"Origin": {"http://localhost:5173"}}, 200},
		"what is as it should be": {"/mcp", aCall, http.Header{"Mcp-Method": {"tools/call"}, "Mcp-Name": {"rm"}, "Content-Type": {"application/json; charset=UTF-8"}}, 200},
	} {
		t.Run(name, func(t *testing.T) {
			before := reached
			status, text := post(t, s.URL+tt.path, tt.body, tt.header)
			if status != tt.status || (status == 200) != (reached > before) {
				t.Errorf("%d %s, reached %d times", status, text, reached-before)
			}
		})
	}
}

func TestAServerThatRedirectsIsNotFollowed(t *testing.T) {
	back := httptest.NewServer(http.RedirectHandler("http://127.0.0.1:1/elsewhere", http.StatusTemporaryRedirect))
	defer back.Close()
	s := face(t, &upstream{Server: back}, allowAll, Options{})
	for _, body := range []string{aCall, `{"jsonrpc":"2.0","id":7,"method":"ping"}`} {
		if status, text := post(t, s.URL+"/mcp", body, nil); status != http.StatusBadGateway || !strings.Contains(text, "elsewhere") {
			t.Errorf("%d %s", status, text)
		}
	}
	in, toProxy := io.Pipe()
	fromProxy, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- Remote{URL: back.URL}.Serve(t.Context(), allowAll, in, out, Options{}) }()
	_, _ = io.WriteString(toProxy, aCall+"\n")
	if line, err := bufio.NewReader(fromProxy).ReadString('\n'); err != nil || !strings.Contains(line, `"error"`) || !strings.Contains(line, "elsewhere") {
		t.Errorf("%s %v", line, err)
	}
	_ = toProxy.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestABatchOverHTTPComesBackWhole(t *testing.T) {
	for kind, reply := range map[string]string{
		"application/json":  `[{"jsonrpc":"2.0","id":2,"result":{}}]`,
		"text/event-stream": "event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}\n\n",
		"":                  "",
	} {
		var got string
		back := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			got = string(body)
			if kind == "" {
				w.WriteHeader(http.StatusAccepted)
				return
			}
			w.Header().Set("Content-Type", kind)
			_, _ = io.WriteString(w, reply)
		}))
		s := face(t, &upstream{Server: back}, says(human.Judgement{Decision: human.Deny, Message: "no"}), Options{})
		rest := `{"jsonrpc":"2.0","id":2,"method":"ping"}`
		status, text := post(t, s.URL+"/mcp", "["+aCall+","+rest+"]", nil)
		if status != http.StatusOK || got != "["+rest+"]" || !strings.Contains(text, `"isError":true`) || kind != "" && !strings.Contains(text, `"id":2`) {
			t.Errorf("%s: %d %s; the server saw %s", kind, status, text, got)
		}
		back.Close()
	}
}

func TestAStreamThatBreaksOffIsTakenUpAgain(t *testing.T) {
	asked := make(chan string, 10)
	back := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		if r.Method == http.MethodGet {
			asked <- r.Header.Get("Last-Event-ID")
			_, _ = io.WriteString(w, "id: 2\r\ndata: {\"jsonrpc\":\"2.0\",\r\ndata: \"id\":7,\"result\":{\"x\":1}}\r\n\r\n")
			return
		}
		_, _ = io.WriteString(w, ": hello\n\nretry: 1\nid: 1\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\n\n")
	}))
	defer back.Close()
	in, toProxy := io.Pipe()
	fromProxy, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- Remote{URL: back.URL}.Serve(t.Context(), allowAll, in, out, Options{}) }()
	_, _ = io.WriteString(toProxy, aCall+"\n")
	r := bufio.NewReader(fromProxy)
	for _, want := range []string{`{"jsonrpc":"2.0","method":"notifications/x"}`, `{"jsonrpc":"2.0","id":7,"result":{"x":1}}`} {
		if line, err := r.ReadString('\n'); err != nil || line != want+"\n" {
			t.Errorf("%q %v", line, err)
		}
	}
	if id := <-asked; id != "1" {
		t.Errorf("after %q", id)
	}
	_ = toProxy.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestArgumentsThatASchemaWantsInHeadersAreThere(t *testing.T) {
	d := newChecker(allowAll, Options{})
	d.tools.list([]byte(`{"tools":[{"name":"é","inputSchema":{"properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"properties":{"c":{"x-mcp-header":"C"}}},"d":{"x-mcp-header":"D"},"e":{}}}}]}`), true)
	h := http.Header{"Mcp-Param-Old": {"x"}}
	nameInHeaders(h, read([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"é","arguments":{"a":" x","b":{"c":7.0},"d":true,"e":"no"}}}`)), d.tools.get)
	want := http.Header{"Mcp-Method": {"tools/call"}, "Mcp-Name": {"=?base64?w6k=?="}, "Mcp-Param-A": {"=?base64?IHg=?="}, "Mcp-Param-C": {"7"}, "Mcp-Param-D": {"true"}}
	if !reflect.DeepEqual(h, want) {
		t.Errorf("%v", h)
	}
}

func TestOnlyThisMachineCanBeListenedOn(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:0", ":0", "192.0.2.1:80", "example.com:80", "nothing"} {
		err := Remote{URL: "http://127.0.0.1:1/mcp"}.Listen(t.Context(), allowAll, addr, func(string) { t.Error("it listens on", addr) }, Options{})
		if human.KindOf(err) != human.Invalid {
			t.Errorf("%s: %v", addr, err)
		}
	}
	u := serveTools(t, true, true)
	ctx, stop := context.WithCancel(t.Context())
	at, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- Remote{URL: u.URL + "/mcp?x=1"}.Listen(ctx, judgeFunc(func(context.Context, human.ToolCall, service.Asking) (human.Judgement, error) {
			return human.Judgement{Decision: human.Deny, Message: "no"}, nil
		}), "127.0.0.1:0", func(url string) { at <- url }, Options{})
	}()
	url := <-at
	if status, text := post(t, url, aCall, nil); status != http.StatusOK || !strings.Contains(text, `"isError":true`) {
		t.Errorf("%d %s", status, text)
	}
	if status, _ := post(t, url, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":%q}}}`, "1"), nil); status != http.StatusOK || u.last.Load().URL.RawQuery != "x=1" {
		t.Errorf("%d %s", status, u.last.Load().URL)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
