package app_test

import (
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/llm/llmtest"
	"deskbell/backend/summary"
)

// write puts files into a folder, with the folders above them.
func write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

// H12: what lies in the folder summarizers counts at once: executables, prompts that a model answers; what is wrong
// with one is said, and the model is sent nothing before the operator agrees.
func TestSummarizersOfTheUsersOwn(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the executable is a shell script")
	}
	dir := t.TempDir()
	models, url := llmtest.Start(t)
	env := []string{"DESKBELL_MODEL_PROVIDER=openai", "DESKBELL_MODEL_NAME=" + llmtest.Model, "DESKBELL_MODEL_BASE_URL=" + url + "/v1", "DESKBELL_MODEL_KEY=" + llmtest.Key}
	s := serve(t, dir, env)
	boss := operator(t, s.url, s.code)
	agent := newCaller(t, s.url, key(t, dir, "bot"))
	var op human.Operation
	agent.good(t, "POST", "/api/human/invoke", map[string]any{"action_type": "feedback", "description": "Which tone?", "context": map[string]string{"project": "/src/site"}}, &op)
	boss.good(t, "POST", "/api/human/claim", map[string]any{"operation_id": op.ID}, nil)
	boss.good(t, "POST", "/api/human/input", map[string]any{"operation_id": op.ID, "human_input": "Plain, and short"}, nil)

	// While it runs, without a restart.
	write(t, filepath.Join(dir, "summarizers"), map[string]string{
		"mine/summarizer.json": `{"name":"mine","title":{"en":"Mine"},"command":["sh","./run.sh"],"sources":["answer"],"languages":["en"]}`,
		"mine/run.sh":          `cat >/dev/null; echo '{"line":"The operator answered.","text":"","findings":[],"suggestions":[]}'`,
		"bad/summarizer.json":  `{"name":"bad"}`,
		"notes.md":             "---\nname: notes\ntitle: Notes\nsources: answer\nlanguages: en\n---\nSay what was decided.\n",
		"browser.md":           "---\ntitle: Mine instead\nsources: answer\nlanguages: en\n---\nSay it.\n",
	})
	var all summary.Summarizers
	boss.good(t, "GET", "/api/summarizers", nil, &all)
	var names []string
	for _, k := range all.Summarizers {
		names = append(names, k.Name)
		if sends := strings.HasPrefix(url, "http://"+k.Sends) && k.Sends != ""; sends != (k.Name == "model" || k.Name == "notes") {
			t.Errorf("%s sends to %q", k.Name, k.Sends)
		}
	}
	if want := []string{"answer", "browser", "desktop", "terminal", "joined", "model", "mine", "notes"}; !slices.Equal(names, want) {
		t.Fatalf("summarizers %v, want %v", names, want)
	}
	for _, name := range []string{"bad", "browser"} {
		if !slices.ContainsFunc(all.Problems, func(p summary.Unusable) bool { return p.Name == name && p.Text != "" }) {
			t.Errorf("problems %+v do not name %s", all.Problems, name)
		}
	}

	path := "/api/human/operations/" + string(op.ID) + "/summaries"
	draft := func(body map[string]string) (last human.Summary) {
		t.Helper()
		var begun human.Summary
		if status, err := boss.call("POST", path, body, &begun); err != nil || status != http.StatusAccepted {
			t.Fatalf("%v: %d, %v", body, status, err)
		}
		waitFor(t, "the draft", func() bool {
			var drafts summary.Drafts
			boss.good(t, "GET", path, nil, &drafts)
			i := slices.IndexFunc(drafts.Summaries, func(s human.Summary) bool { return s.ID == begun.ID && s.State != human.SummaryRuns })
			if i >= 0 {
				last = drafts.Summaries[i]
			}
			return i >= 0
		})
		return last
	}
	if got := draft(map[string]string{"with": "mine"}); got.State != human.SummaryDone || got.Report.Line != "The operator answered." {
		t.Errorf("mine: %+v", got)
	}
	if got := draft(map[string]string{"with": "notes"}); got.State != human.SummaryAsks || len(models.Requests()) != 0 {
		t.Errorf("notes without consent: %+v after %d requests", got, len(models.Requests()))
	}
	var shown summary.Showing
	boss.good(t, "GET", path+"/preview?with=notes", nil, &shown)
	got := draft(map[string]string{"with": "notes", "consent": "once"})
	if got.State != human.SummaryDone || got.Model != llmtest.Model || got.TokensIn == 0 || got.TokensOut == 0 || got.Report.Line == "" {
		t.Errorf("notes: %+v", got)
	}
	requests := models.Requests()
	if len(requests) != 1 || requests[0].Text != shown.Text || requests[0].System != shown.System || shown.Scope != "project: /src/site" {
		t.Errorf("%d requests; shown was %+v", len(requests), shown)
	}

	run(t, dir, env, "model").want(t, 0, llmtest.Model, "DESKBELL_MODEL_KEY")
	run(t, dir, nil, "model").want(t, 3, "model.provider")
	run(t, dir, env, "doctor").want(t, 0, "summarizer bad", "own summarizers", "model")
	s.stop(t)
}
