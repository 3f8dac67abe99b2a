package app_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deskbell/backend/gate/service"
	"deskbell/backend/human"
	"deskbell/backend/llm/llmtest"
)

func bash(t testing.TB, command string) map[string]any {
	return map[string]any{"tool": "Bash", "args": map[string]string{"command": command}, "cwd": t.TempDir(), "session_id": "s", "call_id": "c1", "client": "claude-code"}
}

// Issue 6: the app is killed in the middle of a question. The agent that waits gets no answer, so it does not run the call;
// the question is there again after a restart, what was decided before is in the log, and the same call joins the question.
func TestAQuestionOutlivesSIGKILL(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := serve(t, dir, nil)
	agent := newCaller(t, s.url, key(t, dir, "bot"))
	var passed, asked human.Judgement
	agent.good(t, "POST", "/api/gate/evaluate", bash(t, "git status"), &passed)
	call := bash(t, "frobnicate it")
	agent.good(t, "POST", "/api/gate/evaluate", call, &asked)
	if passed.Decision != human.Allow || asked.Decision != human.Ask || asked.OperationID == "" {
		t.Fatalf("judged %+v and %+v", passed, asked)
	}
	call["operation_id"] = asked.OperationID
	waits := make(chan error, 1)
	go func() {
		_, err := agent.call("POST", "/api/gate/evaluate?wait=50", call, new(human.Judgement))
		waits <- err
	}()
	s.kill()
	select {
	case err := <-waits:
		if err == nil {
			t.Error("the agent that waited was answered")
		}
	case <-time.After(30 * time.Second):
		t.Fatal("the agent waits for a server that was killed")
	}

	s = serve(t, dir, nil)
	boss := operator(t, s.url, s.code)
	agent.url = s.url
	delete(call, "operation_id")
	var again, answered human.Judgement
	agent.good(t, "POST", "/api/gate/evaluate", call, &again)
	if again.OperationID != asked.OperationID {
		t.Errorf("the same call asks again: %s, not %s", again.OperationID, asked.OperationID)
	}
	var op human.Operation
	boss.good(t, "GET", "/api/human/operations/"+string(asked.OperationID), nil, &op)
	boss.good(t, "POST", "/api/gate/questions/"+string(op.ID)+"/answer", map[string]string{"choice": "deny", "digest": op.Digest, "reason": "no"}, nil)
	call["operation_id"] = asked.OperationID
	agent.good(t, "POST", "/api/gate/evaluate?wait=10", call, &answered)
	if answered.Decision != human.Deny || answered.Reason != "no" {
		t.Errorf("answered %+v", answered)
	}
	var page service.LogPage
	boss.good(t, "GET", "/api/gate/decisions", nil, &page)
	if len(page.Decisions) != 2 || page.Decisions[0].Outcome != service.Refused || page.Decisions[1].ID != passed.DecisionID {
		t.Errorf("the log %+v", page)
	}
	s.stop(t)
}

// G6: what gate.toml says counts from the next call on; what is wrong with it is said, and it does not loosen anything.
func TestGateTOML(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := serve(t, dir, nil)
	boss := operator(t, s.url, s.code)
	agent := newCaller(t, s.url, key(t, dir, "bot"))
	judged := func(command string) human.Ruling {
		var j human.Judgement
		call := bash(t, command)
		delete(call, "call_id")
		agent.good(t, "POST", "/api/gate/evaluate", call, &j)
		return j.Decision
	}
	if got := judged("frobnicate it"); got != human.Ask {
		t.Fatalf("without a file: %s", got)
	}
	file := filepath.Join(dir, "gate.toml")
	put := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("# mine\npolicy = \"balanced\"\n\n[[rules]]\nid = \"frob\"\ndecision = \"allow\"\ncommand = \"frobnicate *\"\nmatch = [\"frobnicate it\"]\ndiffer = [\"frobnicate\"]\n")
	if got := judged("frobnicate it"); got != human.Allow {
		t.Errorf("with the rule: %s", got)
	}
	var state service.State
	boss.good(t, "PUT", "/api/gate/policy", map[string]string{"policy": "strict"}, &state)
	text, err := os.ReadFile(file)
	if err != nil || state.Policy != "strict" || !strings.Contains(string(text), "# mine") || !strings.Contains(string(text), `policy = "strict"`) {
		t.Errorf("the policy %s, the file %q, %v", state.Policy, text, err)
	}
	if got := judged("mkdir x"); got != human.Ask {
		t.Errorf("mkdir under strict: %s", got)
	}
	put("policy = \"permisive\"\n")
	boss.good(t, "GET", "/api/gate", nil, &state)
	if state.Problem == "" {
		t.Error("a mistake in gate.toml is not said")
	}
	if got := judged("mkdir x"); got != human.Ask {
		t.Errorf("mkdir under a file with a mistake: %s", got)
	}
	s.stop(t)
}

// G4: the settings' model is asked about what is ambiguous, where gate.toml says so.
func TestTheGatekeepersModel(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	models, url := llmtest.Start(t)
	models.Answer = func(q llmtest.Request) any {
		return map[string]any{
			"risk": "low", "reversibility": "reversible", "blast_radius": "project", "ask": !strings.Contains(q.Text, "frobnicate the widgets"), "reason": "It is what was asked for.",
		}
	}
	s := serve(t, dir, []string{
		"DESKBELL_MODEL_PROVIDER=openai", "DESKBELL_MODEL_NAME=" + llmtest.Model, "DESKBELL_MODEL_BASE_URL=" + url + "/v1", "DESKBELL_MODEL_KEY=" + llmtest.Key,
	})
	agent := newCaller(t, s.url, key(t, dir, "bot"))
	var j human.Judgement
	agent.good(t, "POST", "/api/gate/evaluate", bash(t, "frobnicate it"), &j)
	if j.Decision != human.Ask || len(models.Requests()) != 0 {
		t.Fatalf("it is off by default: %+v, %d requests", j, len(models.Requests()))
	}
	if err := os.WriteFile(filepath.Join(dir, "gate.toml"), []byte("model = true\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for task, want := range map[string]human.Ruling{"frobnicate the widgets": human.Allow, "write a poem": human.Ask} {
		call := bash(t, "frobnicate it")
		delete(call, "call_id")
		call["task"] = task
		agent.good(t, "POST", "/api/gate/evaluate", call, &j)
		said := false
		for _, b := range j.Verdict.Because {
			said = said || b.Rule == "model" && strings.Contains(b.Text, "It is what was asked for.")
		}
		if j.Decision != want || !said {
			t.Errorf("%s: %+v", task, j)
		}
	}
	if asked := models.Requests(); len(asked) != 2 || asked[0].Form != "schema" {
		t.Errorf("the model was asked %+v", asked)
	}
	s.stop(t)
}
