package tools_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deskbell/backend/agent"
	"deskbell/backend/agent/tools"
	"deskbell/backend/gate"
	"deskbell/backend/human"
)

// servers are the same server, both ways.
func servers(t *testing.T) map[string]tools.MCPServer {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(asServer, "1")
	t.Setenv("DESKBELL_KEY", "a key of ours")
	handler := mcp.NewStreamableHTTPHandler(func(r *http.Request) *mcp.Server {
		if r.Header.Get("Authorization") != "Bearer x" {
			return nil
		}
		return mcpServer()
	}, nil)
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return map[string]tools.MCPServer{
		"a command": {Name: "sums", Command: []string{self}, Dir: t.TempDir(), Version: "test"},
		"a URL":     {Name: "sums", URL: s.URL, Header: http.Header{"Authorization": {"Bearer x"}}, Version: "test"},
	}
}

func TestToolsOfAnMCPServer(t *testing.T) {
	for name, server := range servers(t) {
		t.Run(name, func(t *testing.T) {
			c, err := tools.ConnectMCP(t.Context(), server)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := c.Close(); err != nil {
					t.Error(err)
				}
			}()
			byName := map[string]agent.Tool{}
			for _, tool := range c.Tools() {
				byName[tool.Spec().Name] = tool
			}
			add, drop := byName["mcp__sums__add"], byName["mcp__sums__files_drop"]
			if len(byName) != 4 || add == nil || drop == nil {
				t.Fatalf("the tools are %v", byName)
			}
			if spec := add.Spec(); spec.Description != "Adds." || !strings.Contains(string(spec.Schema), `"the other"`) || add.Category() != agent.Remote {
				t.Errorf("%+v", spec)
			}
			if out := call(t, add, with{"a": 2, "b": 40}); out.Failed || out.Text != "42\n[an image, image/png, 5 bytes]" {
				t.Errorf("%+v", out)
			}
			if out := call(t, add, with{"a": "two"}); !out.Failed {
				t.Errorf("%+v", out)
			}
			if out := call(t, add, "[]"); !out.Failed || !strings.Contains(out.Text, "must be a JSON object") {
				t.Errorf("%+v", out)
			}
			if out := call(t, drop, ""); !out.Failed || out.Text != "there is nothing to drop" {
				t.Errorf("%+v", out)
			}
			// The gatekeeper is told the name that rules know, and what the server says of it.
			judged := human.ToolCall{Args: []byte(`{}`)}
			drop.(tools.Judged).Tell(&judged)
			if judged.Tool != "mcp__sums__files.drop" || judged.Annotations.ReadOnly == nil || *judged.Annotations.ReadOnly || len(judged.Schema) == 0 {
				t.Errorf("%+v", judged)
			}
			if v := gate.Judge(gate.Call{Tool: judged.Tool, Args: judged.Args, Cwd: "/tmp", Annotations: judged.Annotations}, gate.Balanced, nil); v.Decision == human.Allow {
				t.Errorf("a tool that may delete passes: %+v", v)
			}
			if name == "a command" {
				if out := call(t, byName["mcp__sums__key"], ""); out.Text != "key:" {
					t.Errorf("a server sees a key of ours: %+v", out)
				}
				if out := call(t, byName["mcp__sums__die"], ""); !out.Failed {
					t.Errorf("%+v", out)
				}
				if out := call(t, add, with{"a": 1, "b": 1}); !out.Failed || !strings.Contains(out.Text, "the MCP server sums") {
					t.Errorf("a server that has ended answers: %+v", out)
				}
			}
		})
	}
}

func TestAnMCPServerThatIsNone(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	for name, server := range map[string]tools.MCPServer{
		"no such command":    {Name: "x", Command: []string{"/no/such/command"}},
		"another program":    {Name: "x", Command: []string{"true"}},
		"one that is mute":   {Name: "x", Command: []string{"cat", "/dev/null"}},
		"another web server": {Name: "x", URL: s.URL},
		"nothing":            {Name: "x"},
	} {
		if c, err := tools.ConnectMCP(t.Context(), server); err == nil || !strings.Contains(err.Error(), "MCP server x") {
			t.Errorf("%s: %v, %v", name, c, err)
		}
	}
	_, err := tools.ConnectMCP(t.Context(), tools.MCPServer{Name: "x", Command: []string{"sh", "-c", "echo no such module >&2; exit 1"}})
	if err == nil || !strings.Contains(err.Error(), "it said: no such module") {
		t.Errorf("what it says beside the protocol is lost: %v", err)
	}
}
