//go:build examples

package examples

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/llm/llmtest"
)

func TestOpenAIAgents(t *testing.T) {
	t.Parallel()
	tidy := compiled(t, "adapters", "openai-agents-agent")
	deletes := func(id, path string) llmtest.Call {
		args, err := json.Marshal(map[string]string{"path": path})
		if err != nil {
			t.Fatal(err)
		}
		return llmtest.Call{ID: id, Name: "delete_file", Args: args}
	}
	hears := func(text, says string) llmtest.Step {
		return llmtest.Step{When: llmtest.When{Result: text}, Answer: llmtest.Answer{Text: says}}
	}
	calls := func(when llmtest.When, calls ...llmtest.Call) llmtest.Step {
		return llmtest.Step{When: when, Answer: llmtest.Answer{Calls: calls}}
	}
	start := calls(llmtest.When{Says: "Delete the old ones."}, llmtest.Call{ID: "call_0", Name: "list_files"})
	for name, tt := range map[string]struct {
		steps []llmtest.Step
		plays func(d *fixture, p *process)
		args  []string
		says  []string
		not   []string
	}{
		"approved": {
			steps: []llmtest.Step{calls(llmtest.When{Result: "old.log, new.log"}, deletes("call_1", "old.log")), hears("old.log is gone", "It is gone.")},
			plays: func(d *fixture, p *process) {
				op := d.asked(p)
				if q := details(t, op); op.Kind != human.Approve || op.Description != "Tidy wants to call delete_file" || q.Risk != "high" || q.Action != `delete_file({"path":"old.log"})` {
					t.Errorf("it asked with %s %q, %+v", op.Kind, op.Description, q)
				}
				saysNot(t, p.out.String(), "done: ")
				d.approve(op, "")
			},
			says: []string{"done: deleted old.log", "outcome: It is gone."},
		},
		"denied, with why": {
			steps: []llmtest.Step{calls(llmtest.When{Result: "old.log"}, deletes("call_1", "old.log")), hears("A person refused this call. The auditors need it.", "Then it stays.")},
			plays: func(d *fixture, p *process) { d.deny(d.asked(p), "The auditors need it.") },
			says:  []string{"outcome: Then it stays."}, not: []string{"done: "},
		},
		"two at once, one of them": {
			steps: []llmtest.Step{calls(llmtest.When{Result: "old.log"}, deletes("call_1", "old.log"), deletes("call_2", "new.log")), hears("A person refused this call.", "One of two.")},
			plays: func(d *fixture, p *process) {
				d.wait("both rings", func() bool { return len(d.open()) == 2 || p.over() })
				for _, op := range d.open() {
					if op = d.get(op.ID); details(t, op).Action == `delete_file({"path":"new.log"})` {
						d.decline(op, "not mine")
					} else {
						d.approve(op, "")
					}
				}
			},
			says: []string{"done: deleted old.log", "outcome: One of two."}, not: []string{"deleted new.log"},
		},
		"nobody there": {
			steps: []llmtest.Step{calls(llmtest.When{Result: "old.log"}, deletes("call_1", "old.log")), hears("A person refused this call.", "Nobody said yes.")},
			args:  []string{"--timeout", "0.3"},
			says:  []string{"outcome: Nobody said yes."}, not: []string{"done: "},
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newFixture(t)
			server, url := llmtest.Start(t)
			server.Script(append([]llmtest.Step{start}, tt.steps...)...)
			p := d.runWith(model(url), tidy, append(tt.args, "Which logs are here? Delete the old ones.")...)
			if tt.plays != nil {
				tt.plays(d, p)
			}
			out := d.ends(p, 0)
			says(t, out, tt.says...)
			saysNot(t, out, tt.not...)
			if left := server.Left(); len(left) > 0 {
				t.Errorf("the model was not asked for its answers %v", left)
			}
		})
	}
	t.Run("killed while it waits", func(t *testing.T) {
		d := newFixture(t)
		server, url := llmtest.Start(t)
		server.Script(start, calls(llmtest.When{Result: "old.log"}, deletes("call_1", "old.log")), hears("old.log is gone", "It is gone."))
		args := []string{"--state", filepath.Join(d.work, "run"), "Which logs are here? Delete the old ones."}
		p := d.runWith(model(url), tidy, args...)
		op := d.asked(p)
		p.kill()
		d.approve(op, "")
		p = d.runWith(model(url), tidy, args...)
		says(t, d.ends(p, 0), "done: deleted old.log", "outcome: It is gone.")
		if all := d.all(); len(all) != 1 {
			t.Errorf("it asked %d times", len(all))
		}
		if _, err := os.Stat(args[1]); err == nil {
			t.Error("the state of a run that has ended is still there")
		}

		// Another run, whose model makes the same call with the same id, rings anew.
		server.Script(start, calls(llmtest.When{Result: "old.log"}, deletes("call_1", "old.log")), hears("A person refused", "Not again."))
		p = d.runWith(model(url), tidy, args...)
		d.deny(d.asked(p), "")
		saysNot(t, d.ends(p, 0), "done: ")
	})
}

// model is the environment of a client of OpenAI's protocol.
func model(url string) []string {
	return []string{"OPENAI_BASE_URL=" + url + "/v1", "OPENAI_API_KEY=" + llmtest.Key, "MODEL=" + llmtest.Model}
}
