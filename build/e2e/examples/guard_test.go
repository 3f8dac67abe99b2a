//go:build examples

package examples

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"deskbell/backend/gate/service"
	"deskbell/backend/human"
	"deskbell/docs/examples/go/bell"
)

func TestGuard(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	guard := []string{filepath.Join(goExamples, "guard")}
	victim := filepath.Join(d.work, "report.txt")
	if err := os.WriteFile(victim, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	answer := func(op human.Operation, r service.AnswerRequest) {
		t.Helper()
		q, err := d.operator.Question(t.Context(), op.ID)
		if err != nil {
			t.Fatal(err)
		}
		r.Digest = op.Digest
		if q.Check != nil {
			r.Check = q.Verdict.Effects[0].Verb
		}
		if _, err := d.operator.AnswerQuestion(t.Context(), op.ID, r); err != nil {
			t.Fatal(err)
		}
	}
	there := func() bool {
		_, err := os.Stat(victim)
		return err == nil
	}

	// Safe, so no one is asked; and a hard limit, about which no one can be.
	says(t, d.ends(d.run(guard, "cat report.txt"), 0), "kept")
	says(t, d.ends(d.run(guard, "rm -rf /"), 1), "denied: ")
	if all := d.all(); len(all) != 0 {
		t.Fatalf("an operator was asked %+v", all)
	}

	// An operator denies it, and allows another command in its place.
	p := d.run(guard, "rm report.txt")
	answer(d.asked(p), service.AnswerRequest{Choice: human.ChooseDeny, Reason: "We need it."})
	says(t, d.ends(p, 1), "denied: ", "We need it.")
	p = d.run(guard, "rm report.txt")
	answer(d.asked(p), service.AnswerRequest{Choice: human.ChooseChange, Args: json.RawMessage(`{"command":"echo changed"}`)})
	says(t, d.ends(p, 0), "changed")

	// Ctrl+C while an operator thinks.
	p = d.run(guard, "rm report.txt")
	op := d.waited(p)
	p.signal(t, syscall.SIGINT)
	d.ends(p, 2)
	d.state(op.ID, human.Cancelled)
	if !there() {
		t.Fatal("it ran, and nobody had allowed it")
	}

	// Allowed, it runs.
	p = d.run(guard, "rm report.txt")
	answer(d.asked(p), service.AnswerRequest{Choice: human.ChooseAllow})
	d.ends(p, 0)
	if there() {
		t.Error("it did not run, and was allowed")
	}
}

// What a server says that no one can have allowed does not run.
func TestGuardRunsOnlyWhatWasJudged(t *testing.T) {
	type removal struct {
		Path  string   `json:"path"`
		Also  []string `json:"also,omitempty"`
		Count any      `json:"count,omitempty"`
	}
	for name, tt := range map[string]struct {
		status int
		answer string
		runs   string // the path it runs with; empty: it does not run
		says   string
	}{
		"allowed":                   {200, `{"decision":"allow"}`, "a", ""},
		"with other arguments":      {200, `{"decision":"allow","args": {"path":"b"}}`, "b", ""},
		"arguments of another type": {200, `{"decision":"allow","args":{"path":7}}`, "", "do not fit"},
		"more than it takes":        {200, `{"decision":"allow","args":{"path":"b","force":true}}`, "", "do not fit"},
		"keys in another case":      {200, `{"decision":"allow","args":{"PATH":"b"}}`, "", "not the same"},
		"a list that reads as none": {200, `{"decision":"allow","args":{"path":"b","also":[]}}`, "", "not the same"},
		"a number that is rounded":  {200, `{"decision":"allow","args":{"path":"b","count":12345678901234567890}}`, "", "not the same"},
		"denied":                    {200, `{"decision":"deny","message":"It is precious.","by":"Mei"}`, "", "It is precious."},
		"nobody to ask":             {200, `{"decision":"ask","message":"Nobody is there."}`, "", "Nobody is there."},
		"no decision":               {200, `{}`, "", "did not run"},
		"an error":                  {403, `{"detail":"this key is an operator's"}`, "", "an operator's"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var call struct {
					Tool string
					Args json.RawMessage
				}
				if err := json.NewDecoder(r.Body).Decode(&call); err != nil || call.Tool != "remove" || string(call.Args) != `{"path":"a"}` {
					t.Errorf("judged was %+v, %v", call, err)
				}
				w.WriteHeader(tt.status)
				_, _ = w.Write([]byte(tt.answer))
			}))
			defer server.Close()
			ran := ""
			out, err := bell.Guard(bell.Bell{URL: server.URL, Key: "k"}, "remove", func(_ context.Context, in removal) (string, error) {
				ran = in.Path
				return "removed", nil
			})(t.Context(), removal{Path: "a"})
			if ran != tt.runs || (err == nil) != (ran != "") || (out == "") != (ran == "") {
				t.Fatalf("it ran with %q: %q, %v", ran, out, err)
			}
			if err != nil && !strings.Contains(err.Error(), tt.says) {
				t.Errorf("it says %q; want %q", err, tt.says)
			}
			if denied := new(bell.Denied); errors.As(err, &denied) != (err != nil && tt.status == 200) {
				t.Errorf("%v is a %T", err, err)
			}
		})
	}
}
