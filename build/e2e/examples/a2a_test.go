//go:build examples

package examples

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"deskbell/backend/human"
)

// The protocol in its two versions: what a task's states are called there, and how one asks for them.
var a2aVersions = map[string]struct{ method, needed, completed, canceled string }{
	"1.0": {"GetTask", "TASK_STATE_INPUT_REQUIRED", "TASK_STATE_COMPLETED", "TASK_STATE_CANCELED"},
	"0.3": {"tasks/get", "input-required", "completed", "canceled"},
}

func TestA2A(t *testing.T) {
	for version := range a2aVersions {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			testA2A(t, version)
		})
	}
}

func testA2A(t *testing.T, version string) {
	d := newFixture(t)
	wire := a2aVersions[version]
	client := compiled(t, "adapters", "a2a-client")
	server := d.run(compiled(t, "adapters", "a2a-agent"), "0", version)
	url := strings.TrimPrefix(d.line(server, "url: "), "url: ")
	const first, again = "Which day of the week shall I book?", `"next week" is no day of the week. Which day?`
	book := func(args ...string) *process {
		return d.run(client, append([]string{url, "A table for two, please."}, args...)...)
	}
	// asked waits for a ring with a question of the agent's, and checks that its task needs input meanwhile.
	asked := func(t *testing.T, p *process, question string) (op human.Operation, task string) {
		t.Helper()
		d.wait(question, func() bool {
			open := d.open()
			return len(open) == 1 && open[0].Description == question || p.over()
		})
		op = d.asked(p)
		task = strings.Fields(d.line(p, "task: "))[1]
		if state := taskState(t, url, version, task); op.Kind != human.Feedback || op.Description != question || state != wire.needed {
			t.Errorf("it asked with %s %q while the task is %s", op.Kind, op.Description, state)
		}
		return op, task
	}

	t.Run("answered, at the second go", func(t *testing.T) {
		p := book()
		op, _ := asked(t, p, first)
		d.complete(op, human.Answer{HumanInput: "next week"})
		op, task := asked(t, p, again)
		d.complete(op, human.Answer{HumanInput: "Tuesday, please"})
		says(t, d.ends(p, 0), "TASK_STATE_INPUT_REQUIRED\n", "TASK_STATE_INPUT_REQUIRED\n", "TASK_STATE_COMPLETED\n", "outcome: Booked for Tuesday.")
		if state := taskState(t, url, version, task); state != wire.completed {
			t.Errorf("the task is %s", state)
		}
	})
	t.Run("declined", func(t *testing.T) {
		p := book()
		op, task := asked(t, p, first)
		d.decline(op, "we stay at home")
		says(t, d.ends(p, 2), "TASK_STATE_INPUT_REQUIRED\n", "TASK_STATE_CANCELED\n", "outcome: Nothing was booked.")
		if state := taskState(t, url, version, task); state != wire.canceled {
			t.Errorf("the task is %s", state)
		}
	})
	t.Run("nobody there", func(t *testing.T) {
		says(t, d.ends(book("--timeout", "0.3"), 2), "TASK_STATE_CANCELED\n", "outcome: Nothing was booked.")
	})
	t.Run("killed while it waits", func(t *testing.T) {
		before := len(d.all())
		p := book()
		op, task := asked(t, p, first)
		p.kill()
		p = book("--task", task)
		d.line(p, "task: ")
		d.complete(op, human.Answer{HumanInput: "Friday"})
		says(t, d.ends(p, 0), "outcome: Booked for Friday.")
		if rings := len(d.all()) - before; rings != 1 {
			t.Errorf("it asked %d times", rings)
		}
	})
	t.Run("no need to ask", func(t *testing.T) {
		before := len(d.all())
		p := d.run(client, url, "A table on Sunday, please.")
		says(t, d.ends(p, 0), "TASK_STATE_COMPLETED\n", "outcome: Booked for Sunday.")
		if rings := len(d.all()) - before; rings != 0 {
			t.Errorf("it asked %d times", rings)
		}
	})
}

// taskState asks an A2A agent, on the wire, for the state of a task.
func taskState(t *testing.T, url, version, id string) string {
	t.Helper()
	body := `{"jsonrpc":"2.0","id":1,"method":"` + a2aVersions[version].method + `","params":{"id":"` + id + `"}}`
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/rpc", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("A2A-Version", version)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var answer struct {
		Result struct{ Status struct{ State string } }
	}
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil {
		t.Fatal(err)
	}
	return answer.Result.Status.State
}
