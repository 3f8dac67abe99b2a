// Command plan has a plan confirmed, and then runs it task by task, obeying what an operator orders meanwhile:
//
//	export DESKBELL_URL=http://127.0.0.1:7717 DESKBELL_KEY=...    # deskbell keys add my-agent
//	go run ./docs/examples/go/plan docs/examples/plan.json
//
// In the console an operator confirms the plan, changes its tasks, or cancels it; and while it runs they pause it, let it
// continue, skip a task, change those that have not begun, or stop it. Where the setting plan.confirm_by_human is off, the
// plan is confirmed at once and no one is asked. The exit code is 0 where the plan was run to its end, 1 where a person or a
// task that failed kept it from that, 2 where no one answered in time, 3 for an error.
package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"deskbell/docs/examples/go/bell"
)

const known = "I am a small example: all that I know is in the plan."

// A plan is what the agent wants to do.
type plan struct {
	SessionID      string `json:"session_id"`
	IdempotencyKey string `json:"idempotency_key"`
	Message        string `json:"message"`
	Tasks          []task `json:"tasks"`

	Timeout float64 `json:"timeout_seconds,omitempty"` // until no one will answer any more; the settings may be shorter
}

type task struct {
	ID          string          `json:"id,omitempty"`
	Description string          `json:"description"`
	Tool        string          `json:"tool_name,omitempty"`
	Type        string          `json:"type,omitempty"`
	Expected    string          `json:"expected_outcome,omitempty"`
	Args        json.RawMessage `json:"args,omitempty"`

	State string `json:"state,omitempty"` // in a run: waiting, running, done, failed, skipped
}

// A status is how a plan stands.
type status struct {
	OperationID string `json:"operation_id"`
	Status      string `json:"status"` // pending, confirmed, modified, cancelled, timeout
	Tasks       []task `json:"tasks"`  // what may run
	Question    string `json:"question"`
	Response    struct {
		Message string `json:"user_message"`
	} `json:"user_response"`
	Run *run `json:"run"` // once confirmed; none where no one has to confirm
}

// A run is how far a confirmed plan has come.
type run struct {
	State string `json:"state"`
	Tasks []task `json:"tasks"`
}

// next is the first task that waits, in the order that they have now.
func (r *run) next() (task, bool) {
	i := slices.IndexFunc(r.Tasks, func(t task) bool { return t.State == "waiting" })
	if i < 0 {
		return task{}, false
	}
	return r.Tasks[i], true
}

// find is a task in a state.
func (r *run) find(id, state string) *task {
	i := slices.IndexFunc(r.Tasks, func(t task) bool { return t.ID == id && t.State == state })
	if i < 0 {
		return nil
	}
	return &r.Tasks[i]
}

// A standing is the answer to a task that begins or ends.
type standing struct {
	Go      bool   `json:"go"`
	Why     string `json:"why"` // why not
	Task    *task  `json:"task"`
	Run     *run   `json:"run"`
	Message string `json:"message"`

	// The operation by which an operator is asked about the task, and what they ask back.
	Asking   string `json:"asking"`
	Question string `json:"question"`
}

func main() {
	code, err := agent(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, "plan:", err)
		code = 3
	}
	os.Exit(code)
}

func agent(ctx context.Context) (code int, err error) {
	if len(os.Args) != 2 {
		return 0, errors.New("name one file with a plan")
	}
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		return 0, err
	}
	var p plan
	if err := json.Unmarshal(text, &p); err != nil {
		return 0, err
	}
	b, err := bell.FromEnv()
	if err != nil {
		return 0, err
	}
	p.SessionID = "plan-" + rand.Text()
	p.IdempotencyKey = p.SessionID
	path := "/api/plans/" + p.SessionID

	var st status
	if err := b.Do(ctx, "POST", "/api/plans?wait=25", p, &st); err != nil {
		return 0, err
	}
	fmt.Println("plan:", cmp.Or(st.OperationID, "needs no answer"))
	for st.Status == "pending" {
		if st.Question != "" { // an operator asks before they decide
			if _, err := b.Reply(ctx, st.OperationID, known); err != nil {
				return 0, err
			}
		}
		st = status{}
		if err := b.Do(ctx, "GET", path+"?wait=25", nil, &st); err != nil {
			return 0, err
		}
	}
	fmt.Printf("%s: %s\n", st.Status, st.Response.Message)
	switch {
	case st.Status == "timeout":
		return 2, nil
	case len(st.Tasks) == 0: // canceled; or the message says what to change, and an agent with a model would hand in a new plan
		return 1, nil
	case st.Run == nil: // confirming is off: no one follows the run, so there is no one to tell
		for _, t := range st.Tasks {
			if worked, _ := do(t); !worked {
				return 1, nil
			}
		}
		return 0, nil
	}
	return follow(ctx, b, path, st.Run)
}

// follow runs the tasks that wait, in the order that they have now.
func follow(ctx context.Context, b bell.Bell, path string, now *run) (code int, err error) {
	for {
		next, more := now.next()
		if !more {
			fmt.Println(now.State)
			return 0, nil
		}
		begun, err := progress(ctx, b, path, next.ID, "running", "")
		if err != nil {
			return 0, err
		}
		now = begun.Run
		if !begun.Go {
			fmt.Printf("%s: %s\n", begun.Why, begun.Message)
			if begun.Question != "" { // an operator asks before they decide about this task
				if _, err := b.Reply(ctx, begun.Asking, known); err != nil {
					return 0, err
				}
			}
			switch begun.Why {
			case "paused", "asking", "skipped", "changed", "begun":
				continue // with what the run is now: it waits up to 25 seconds while it is paused or a person is asked
			}
			return 1, nil // stopped, or no such task
		}
		worked, note := do(*begun.Task)
		state := "done"
		if !worked {
			state = "failed"
		}
		if begun, err = progress(ctx, b, path, next.ID, state, note); err != nil {
			return 0, err
		}
		now = begun.Run
		if worked {
			continue
		}
		for _, t := range now.Tasks {
			if t.State == "waiting" {
				if _, err := progress(ctx, b, path, t.ID, "skipped", "a task before it failed"); err != nil {
					return 0, err
				}
			}
		}
		return 1, nil
	}
}

// progress says that a task begins, which an operator may keep it from, or how it ended.
func progress(ctx context.Context, b bell.Bell, path, id, state, note string) (begun standing, err error) {
	body := map[string]string{"task_id": id, "state": state, "note": note}
	err = b.Do(ctx, "POST", path+"/progress?wait=25", body, &begun)
	var refused *bell.Problem
	if errors.As(err, &refused) && refused.Kind == "conflict" {
		var st status
		if again := b.Do(ctx, "GET", path, nil, &st); again == nil && st.Run != nil && st.Run.find(id, state) != nil {
			begun, err = standing{Run: st.Run}, nil
		}
	}
	if err == nil && state == "running" && !begun.Go {
		// Where the call arrived and its answer did not, the task is ours to do: no other process runs this plan.
		if ours := begun.Run.find(id, state); ours != nil {
			begun.Go, begun.Task = true, ours
		}
	}
	return begun, err
}

// do does one task, just as it stands: an operator may have changed it. It says whether it worked, and what came of it.
func do(t task) (worked bool, note string) {
	var args struct {
		Text    string
		Command []string
	}
	if len(t.Args) > 0 {
		if err := json.Unmarshal(t.Args, &args); err != nil {
			return false, err.Error()
		}
	}
	switch {
	case t.Tool == "say":
		fmt.Println("says:", args.Text)
		worked, note = true, "said"
	case t.Tool == "run" && len(args.Command) > 0:
		out, err := exec.Command(args.Command[0], args.Command[1:]...).CombinedOutput()
		worked, note = err == nil, strings.TrimSpace(string(out))
		if err != nil && note == "" {
			note = err.Error()
		}
		note = note[max(0, len(note)-500):]
	default:
		note = "there is no tool " + t.Tool
	}
	if worked {
		fmt.Printf("done: %s: %s\n", t.ID, note)
	} else {
		fmt.Printf("failed: %s: %s\n", t.ID, note)
	}
	return worked, note
}
