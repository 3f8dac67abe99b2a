package app_test

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deskbell/backend/human"
)

// speak starts `deskbell mcp` as an agent would, and connects to it.
func speak(t testing.TB, dir string, env []string, args ...string) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: program(t, dir, env, append([]string{"mcp"}, args...)...)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// A said is what the tool answers.
type said struct {
	OperationID human.OperationID `json:"operation_id"`
	Status      string            `json:"status"`
	HumanInput  string            `json:"human_input"`
}

func ask(ctx context.Context, session *mcp.ClientSession, arguments map[string]any) (said, error) {
	var s said
	r, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "human", Arguments: arguments})
	if err != nil {
		return s, err
	}
	text, err := json.Marshal(r.StructuredContent)
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal(text, &s)
}

func TestMCPFindsTheServerAndHasAKeyWhileItRuns(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	session := speak(t, d.dir, nil, "--agent", "claude-code")
	if list := run(t, d.dir, nil, "keys", "list").out; !strings.Contains(list, "claude-code") || !strings.Contains(list, "for one session") {
		t.Errorf("keys: %s", list)
	}
	answered := make(chan said, 1)
	go func() {
		s, err := ask(t.Context(), session, map[string]any{"action": "invoke", "action_type": "feedback", "description": "Which colour?"})
		if err != nil {
			t.Error(err)
		}
		answered <- s
	}()
	op := d.rung(t)
	if op.AgentID != "claude-code" || !strings.HasPrefix(op.SessionID, "app-") {
		t.Errorf("rang as %q in session %q", op.AgentID, op.SessionID)
	}
	d.boss.good(t, "POST", "/api/human/complete", map[string]any{"operation_id": op.ID, "human_input": "red"}, nil)
	if s := <-answered; s.OperationID != op.ID || s.Status != "completed" || s.HumanInput != "red" {
		t.Errorf("the agent was told %+v", s)
	}
	if err := session.Close(); err != nil {
		t.Error(err)
	}
	if list := run(t, d.dir, nil, "keys", "list").out; strings.Contains(list, "claude-code") {
		t.Errorf("its key is still there: %s", list)
	}
}

func TestMCPWithAKeyOfItsOwnMakesNone(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	session := speak(t, d.dir, d.env)
	if list := run(t, d.dir, nil, "keys", "list", "--json").out; strings.Count(list, `"name"`) != 1 {
		t.Errorf("keys: %s", list)
	}
	if _, err := session.ListTools(t.Context(), nil); err != nil {
		t.Error(err)
	}
	run(t, d.dir, []string{"DESKBELL_URL=" + d.url}, "mcp").want(t, 3, "DESKBELL_KEY")
}

func TestMCPStartsTheServerWhereNoneRuns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var pid int
	t.Cleanup(func() {
		if p, err := os.FindProcess(pid); err == nil && pid != 0 {
			_ = p.Kill()
		}
	})
	env := []string{"DESKBELL_ADDR=127.0.0.1:0"}
	session := speak(t, dir, env, "--agent", "first")
	running := func() (s struct {
		PID int
		URL string
	}) {
		text, err := os.ReadFile(serverFile(dir))
		if err != nil {
			t.Fatal(err)
		}
		return decode[struct {
			PID int
			URL string
		}](t, string(text))
	}
	first := running()
	pid = first.PID
	if _, err := session.ListTools(t.Context(), nil); err != nil {
		t.Error(err)
	}
	if err := session.Close(); err != nil {
		t.Error(err)
	}
	// It outlives who started it, and the next one finds it.
	newCaller(t, first.URL, "").good(t, "GET", "/healthz", nil, nil)
	speak(t, dir, env, "--agent", "second")
	if again := running(); again != first {
		t.Errorf("a second server was started: %+v", again)
	}
}

func TestMCPGoesOnAfterACrashOfTheServer(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	session := speak(t, d.dir, nil)
	answered := make(chan said, 1)
	go func() {
		s, err := ask(t.Context(), session, map[string]any{"action": "invoke", "action_type": "feedback", "description": "Still there?"})
		if err != nil {
			t.Error(err)
		}
		answered <- s
	}()
	op := d.rung(t)
	d.kill()
	again := serve(t, d.dir, nil) // on another port
	operator(t, again.url, again.code).good(t, "POST", "/api/human/complete", map[string]any{"operation_id": op.ID, "human_input": "yes"}, nil)
	select {
	case s := <-answered:
		if s.OperationID != op.ID || s.Status != "completed" || s.HumanInput != "yes" {
			t.Errorf("the agent was told %+v", s)
		}
	case <-time.After(40 * time.Second):
		t.Error("the agent waits in vain")
	}
}
