package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"deskbell/backend/llm/llmtest"
)

// example is the script in the program's documentation.
func example(t *testing.T) string {
	t.Helper()
	source, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?s)//\t\{"steps": \[.*?\n//\t\]\}`).FindString(string(source))
	return regexp.MustCompile(`(?m)^//\t`).ReplaceAllString(found, "")
}

// What the documentation shows works, over HTTP as a test in another language sees it.
func TestServe(t *testing.T) {
	s := &state{Server: llmtest.New()}
	s.Wrong = s.refused
	file := filepath.Join(t.TempDir(), "script.json")
	if err := os.WriteFile(file, []byte(example(t)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.open(file); err != nil {
		t.Fatal(err)
	}
	if err := s.open(file + ".not"); err == nil {
		t.Error("a script that is not there was read")
	}
	h := httptest.NewServer(s.handler())
	defer h.Close()
	call := func(method, path, body string) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, h.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		res, err := h.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		said, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(said)
	}
	first := `{"model":"m","messages":[{"role":"user","content":"Please run the tests in the folder /srv/app now"}]}`
	status, said := call("POST", "/v1/chat/completions", first)
	if status != 200 || !strings.Contains(said, `{\"path\":\"/srv/app/go.mod\"}`) || !strings.Contains(said, "I look for them first.") {
		t.Errorf("%d %s", status, said)
	}
	if status, said = call("POST", "/v1/chat/completions", first); status != http.StatusServiceUnavailable {
		t.Errorf("%d %s", status, said)
	}
	if status, said = call("POST", "/v1/chat/completions", first); status != http.StatusBadRequest || !strings.Contains(said, "no step") {
		t.Errorf("%d %s", status, said)
	}
	var stands struct {
		Left     []int
		Wrong    []string
		Requests []struct {
			Provider string
			Turns    []struct{ Role, Text string }
		}
	}
	if _, said = call("GET", "/script", ""); json.Unmarshal([]byte(said), &stands) != nil || len(stands.Left) != 2 || stands.Left[0] != 3 || len(stands.Wrong) != 1 ||
		len(stands.Requests) != 2 || stands.Requests[0].Provider != "openai" || !strings.HasPrefix(stands.Requests[0].Turns[0].Text, "Please run") {
		t.Errorf("%s", said)
	}
	if status, said = call("PUT", "/script", `{"steps":[{"txt":"x"}]}`); status != http.StatusBadRequest || !strings.Contains(said, "txt") {
		t.Errorf("%d %s", status, said)
	}
	if status, said = call("PUT", "/script", `{"steps":[{"text":"Well."}]}`); status != http.StatusNoContent {
		t.Errorf("%d %s", status, said)
	}
	if status, said = call("POST", "/v1/chat/completions", first); status != 200 || !strings.Contains(said, "Well.") {
		t.Errorf("%d %s", status, said)
	}
}
