package app_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deskbell/backend/human"
)

// asEliciting makes the test's own binary an MCP server with a tool that asks the user of its client.
const asEliciting = "DESKBELL_TEST_AS_ELICITING"

func eliciting() {
	_ = elicitingServer().Run(context.Background(), &mcp.StdioTransport{})
}

func elicitingServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "windows", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "get_window", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}}, func(ctx context.Context, r *mcp.CallToolRequest, _ any) (*mcp.CallToolResult, any, error) {
		a, err := r.Session.Elicit(ctx, &mcp.ElicitParams{Message: "When may it be read-only?", RequestedSchema: json.RawMessage(
			`{"type":"object","properties":{"minutes":{"type":"integer","maximum":30},"channels":{"type":"array","items":{"type":"string","enum":["a","b"]}}},"required":["minutes"]}`)})
		if err != nil {
			return nil, nil, err
		}
		text, _ := json.Marshal(a.Content)
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf("%s %s", a.Action, text)}}}, nil, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "get_result", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}}, func(_ context.Context, r *mcp.CallToolRequest, _ any) (*mcp.CallToolResult, any, error) {
		if r.Params.RequestState == "" {
			return &mcp.CallToolResult{RequestState: "asked", InputRequests: mcp.InputRequestMap{"which": &mcp.ElicitParams{
				Message: "Which?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{"which":{"type":"string","enum":["a","b"]}},"required":["which"]}`)}}}, nil, nil
		}
		a := r.Params.InputResponses["which"].(*mcp.ElicitResult)
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf("%s %v", a.Action, a.Content)}}}, nil, nil
	})
	return s
}

// A server behind the proxy asks an operator, in the place of a client that cannot be asked; and waits while Deskbell is restarted.
func TestAServerBehindTheProxyAsksAnOperator(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.boss.good(t, "PUT", "/api/gate/policy", map[string]any{"policy": "permissive"}, nil)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	proxy := program(t, d.dir, d.env, "mcp-proxy", "--name", "windows", "--", "env", asProgram+"=", asEliciting+"=yes", self)
	session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: proxy}, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	call := func() <-chan string {
		said := make(chan string, 1)
		go func() {
			r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "get_window"})
			if err != nil {
				said <- err.Error()
				return
			}
			said <- r.Content[0].(*mcp.TextContent).Text
		}()
		return said
	}
	said := call()
	op := d.rung(t)
	var details struct {
		Server, Question string
	}
	if err := json.Unmarshal(op.Details, &details); op.Details != nil && (err != nil || details.Server != "windows") {
		t.Errorf("%s %v", op.Details, err)
	}
	if op.Kind != human.Feedback || op.AgentID != "bot" || op.Description != "The MCP server windows asks: When may it be read-only?" {
		t.Errorf("%+v", op)
	}
	d.stop(t)
	d.server = serve(t, d.dir, nil)
	d.boss = operator(t, d.url, d.code)
	answer := func(response map[string]any) (int, error) {
		return d.boss.call("POST", "/api/human/complete", map[string]any{"operation_id": op.ID, "response": response}, nil)
	}
	if status, err := answer(map[string]any{"minutes": 45}); status != 422 && status != 400 {
		t.Errorf("%d %v", status, err)
	}
	if _, err := answer(map[string]any{"minutes": 20, "channels": []string{"b"}}); err != nil {
		t.Fatal(err)
	}
	if got := <-said; got != `accept {"channels":["b"],"minutes":20}` {
		t.Error(got)
	}
	said = call()
	op = d.rung(t)
	d.boss.good(t, "POST", "/api/human/decline", map[string]any{"operation_id": op.ID, "reason": "not today"}, nil)
	if got := <-said; got != "decline null" {
		t.Error(got)
	}
}

// In protocol 2026-07-28 a server asks in its results; on each way to it.
func TestAServersResultBehindTheProxyAsksAnOperator(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.boss.good(t, "PUT", "/api/gate/policy", map[string]any{"policy": "permissive"}, nil)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	back := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return elicitingServer() }, &mcp.StreamableHTTPOptions{Stateless: true}))
	t.Cleanup(back.Close)
	for way, args := range map[string][]string{
		"a command": {"--", "env", asProgram + "=", asEliciting + "=yes", self},
		"--url":     {"--url", back.URL},
		"--listen":  {"--url", back.URL, "--listen", "127.0.0.1:0"},
	} {
		proxy := program(t, d.dir, d.env, append([]string{"mcp-proxy", "--name", "windows"}, args...)...)
		var transport mcp.Transport = &mcp.CommandTransport{Command: proxy}
		if way == "--listen" {
			out, err := proxy.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := proxy.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _, _ = proxy.Process.Kill(), proxy.Wait() })
			at, err := bufio.NewReader(out).ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			base := &http.Transport{}
			t.Cleanup(base.CloseIdleConnections)
			transport = &mcp.StreamableClientTransport{Endpoint: strings.TrimSpace(at), HTTPClient: &http.Client{Transport: base}}
		}
		session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: "2026-07-28"})
		if err != nil {
			t.Fatalf("%s: %v", way, err)
		}
		said := make(chan string, 1)
		go func() {
			r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "get_result"})
			if err != nil {
				said <- err.Error()
				return
			}
			said <- r.Content[0].(*mcp.TextContent).Text
		}()
		op := d.rung(t)
		d.boss.good(t, "POST", "/api/human/complete", map[string]any{"operation_id": op.ID, "response": map[string]any{"which": "b"}}, nil)
		select {
		case got := <-said:
			if got != "accept map[which:b]" {
				t.Errorf("%s: %s", way, got)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%s: no answer", way)
		}
		_ = session.Close()
	}
}
