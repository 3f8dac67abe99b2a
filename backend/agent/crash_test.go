package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"deskbell/backend/agent"
	"deskbell/backend/human"
)

// steady is a model that needs no memory: what it says follows from the conversation alone, as after a restart.
type steady struct {
	t         *testing.T
	confirmed bool
	told      []string // all that it was told
}

func (steady) Name() string { return "steady" }

func (m *steady) Chat(_ context.Context, p agent.Prompt, _ func(string)) (agent.Reply, error) {
	if why := orderly(p.Turns); why != "" {
		m.t.Fatalf("a conversation that no model takes: %s\n%+v", why, p.Turns)
	}
	var all strings.Builder
	for _, turn := range p.Turns {
		all.WriteString(turn.Text + "\n")
		for _, r := range turn.Results {
			all.WriteString(r.Text + "\n")
		}
	}
	m.told = append(m.told, all.String())
	last := p.Turns[len(p.Turns)-1]
	now := last.Text
	for _, r := range last.Results {
		now += r.Text + "\n"
	}
	has := func(s string) bool { return strings.Contains(all.String(), s) }
	did := func(tool string) bool { return has(`tool="`+tool+`"`) || has("while it called "+tool) }
	r := agent.Reply{TokensIn: 10, TokensOut: 1}
	switch {
	case strings.Contains(now, "asks you back"):
		r.Text = "For the report."
	case !has("The person answered"):
		r.Calls = calls("ask_human", `{"question":"Which file?"}`).Calls
	case !m.confirmed && !did("read"):
		r.Calls = calls("read", `{"path":"a"}`).Calls
	case !m.confirmed && !did("shell"):
		r.Calls = calls("shell", `{"command":"deploy"}`).Calls
	case !m.confirmed:
		r.Text = "All done."
	case strings.Contains(now, "No task of the plan is left"):
		r.Text = "All done."
	case strings.Contains(now, "The call may have run"), strings.Contains(now, `tool="write"`):
		r.Calls = calls("end_task", `{"outcome":"done","note":"looked, and it is there"}`).Calls
	case strings.Contains(now, "Now do task f"):
		r.Calls = calls("write", `{"path":"b"}`).Calls
	default:
		r.Calls = plan(readIt + "," + fixIt + `,{"id":"d","description":"Deploy","tool_name":"shell","args":{"command":"deploy"}}`).Calls
	}
	return r, nil
}

// mortal is a journal whose process dies with its n-th record: before it is kept, or right after.
type mortal struct {
	*diary
	at    int
	after bool
	n     int
}

var errKilled = errors.New("killed")

func (m *mortal) Append(ctx context.Context, r agent.Record) error {
	if m.n++; m.at > 0 && m.n >= m.at {
		if m.n == m.at && m.after {
			_ = m.diary.Append(ctx, r)
		}
		return errKilled
	}
	// What a real journal does to a record: it is read back from JSON.
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	var read agent.Record
	if err := json.Unmarshal(line, &read); err != nil {
		return err
	}
	return m.diary.Append(ctx, read)
}

// The agent is killed at each of its records in turn, before it is kept and after. Resumed, it comes to the same end, and
// no call has run twice.
func TestKilledAtEveryRecord(t *testing.T) {
	for _, confirmed := range []bool{true, false} {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("confirmed %v, kept %v", confirmed, after), func(t *testing.T) {
				records, cut := 0, 0
				for at := 0; at == 0 || at <= records; at++ {
					s := newScene(t)
					m := &steady{t: t, confirmed: confirmed}
					s.deps.Model = m
					s.asker = &asker{answers: []string{"a", "a"}, back: "What for?"}
					if !confirmed {
						s.office = nil
					}
					s.gate = func(human.ToolCall) (human.Judgement, error) { return human.Judgement{Decision: human.Allow}, nil }
					journal := &mortal{diary: s.diary, at: at, after: after}
					s.diary = nil
					s.deps.Journal = journal
					res, err := s.engine().Run(t.Context(), agent.RunInfo{ID: "run_a", Task: "go"})
					if at == 0 {
						records = journal.n
						if records < 25 {
							t.Fatalf("only %d records", records)
						}
					} else {
						if !errors.Is(err, errKilled) {
							t.Fatalf("at %d: it was not killed: %v", at, err)
						}
						began := len(journal.records) > 0
						journal.at = 0
						if began {
							res, err = s.engine().Resume(t.Context(), slices.Clone(journal.records))
						} else {
							res, err = s.engine().Run(t.Context(), agent.RunInfo{ID: "run_a", Task: "go"})
						}
						if human.KindOf(err) == human.Conflict && after && at == records {
							err = nil // the last record of all: it had ended
						}
					}
					if err != nil || res.Status != agent.Done || res.Message != "All done." {
						t.Fatalf("at %d: %+v, %v", at, res, err)
					}
					want := []string{`read {"path":"a"}`, `write {"path":"b"}`, `shell {"command":"deploy"}`}
					if !confirmed {
						want = slices.Delete(want, 1, 2)
					}
					ran := slices.Compact(slices.Clone(s.ran))
					if len(ran) != len(s.ran) {
						t.Errorf("at %d: a call ran twice: %q", at, s.ran)
					}
					if !slices.Equal(ran, want) {
						// Killed after the record of a call and before the call: no one can know that it did not run.
						missing := slices.DeleteFunc(slices.Clone(want), func(c string) bool { return slices.Contains(ran, c) })
						if len(missing) != 1 || !after || !strings.Contains(m.told[len(m.told)-1], "The call may have run") {
							t.Errorf("at %d: ran %q", at, s.ran)
						}
						cut++
					}
					if confirmed {
						equalList(t, fmt.Sprintf("at %d: the plan's run", at), s.office.log, []string{"begin r", "done r", "begin f", "done f", "begin d", "done d"})
						if n := len(s.office.plans); n != 1 {
							t.Errorf("at %d: %d plans were submitted", at, n)
						}
					}
				}
				if after && cut == 0 {
					t.Error("no call was cut off before it ran: the test sees too little")
				}
			})
		}
	}
}

// everyDeath runs a scene as often as its journal has records, killed at each in turn and resumed, and looks at each.
func everyDeath(t *testing.T, scene func() *scene, look func(at int, s *scene, res agent.Result)) {
	for _, after := range []bool{false, true} {
		for at, records := 0, 0; at == 0 || at < records; at++ {
			s := scene()
			journal := &mortal{diary: s.diary, at: at, after: after}
			s.diary = nil
			s.deps.Journal = journal
			res, err := s.engine().Run(t.Context(), agent.RunInfo{ID: "run_a", Task: "go"})
			if at == 0 {
				records = journal.n
			} else if journal.at = 0; len(journal.records) > 0 {
				if !errors.Is(err, errKilled) {
					t.Fatalf("at %d: it was not killed: %v", at, err)
				}
				res, err = s.engine().Resume(t.Context(), slices.Clone(journal.records))
			} else {
				res, err = s.engine().Run(t.Context(), agent.RunInfo{ID: "run_a", Task: "go"})
			}
			if err != nil || res.Status != agent.Done {
				t.Fatalf("at %d: %+v, %v", at, res, err)
			}
			look(at, s, res)
		}
	}
}

// by is a model that says what follows from the last turn.
type by func(now string) agent.Reply

func (by) Name() string { return "by" }
func (m by) Chat(_ context.Context, p agent.Prompt, _ func(string)) (agent.Reply, error) {
	last := p.Turns[len(p.Turns)-1]
	now := last.Text
	for _, r := range last.Results {
		now += r.Text + "\n"
	}
	return m(now), nil
}

// An operator adds a task while the first one starts: a crash at that moment neither loses the first one nor runs it twice.
func TestKilledWhileThePlanIsChanged(t *testing.T) {
	everyDeath(t, func() *scene {
		s := newScene(t)
		s.deps.Model = by(func(now string) agent.Reply {
			switch {
			case strings.Contains(now, "No task of the plan is left"):
				return says("over")
			case strings.Contains(now, "may have run"):
				return says("Done: I looked.")
			}
			return plan(readIt + "," + writeIt)
		})
		changed := false
		s.office.order = func(o *office, id string) *agent.Standing {
			if !changed {
				changed = true
				o.tasks = append(o.tasks, human.TaskRun{Task: human.Task{ID: "n", Description: "New", Tool: "shell", Args: json.RawMessage(`{}`)}, State: human.TaskWaiting})
			}
			return nil
		}
		return s
	}, func(at int, s *scene, _ agent.Result) {
		equalList(t, fmt.Sprintf("at %d: the plan's run", at), s.office.log, []string{"begin r", "done r", "begin w", "done w", "begin n", "done n"})
		if slices.Sort(s.ran); len(slices.Compact(slices.Clone(s.ran))) != len(s.ran) || len(s.ran) < 2 {
			t.Errorf("at %d: ran %q", at, s.ran)
		}
	})
}

// What the journal does not have, because it is secret, is not made up: no call runs with what stands in its place.
func TestKilledWithSecrets(t *testing.T) {
	again := 0
	for _, implicit := range []bool{true, false} {
		everyDeath(t, func() *scene {
			s := newScene(t)
			s.deps.Mask = func(text string) (string, bool) {
				return strings.ReplaceAll(text, "hunter2", "•••"), strings.Contains(text, "hunter2")
			}
			s.deps.Model = by(func(now string) agent.Reply {
				switch {
				case strings.Contains(now, "No task of the plan is left"), strings.Contains(now, `<tool_output tool="shell" status="done"`), strings.Contains(now, "The call may have run"):
					return says("Done: over.")
				case strings.Contains(now, "is secret in"):
					again++
				}
				if implicit {
					return calls("shell", `{"command":"login hunter2"}`)
				}
				return plan(`{"id":"s","description":"Log in","tool_name":"shell","args":{"command":"login hunter2"}}`)
			})
			return s
		}, func(at int, s *scene, _ agent.Result) {
			for _, call := range s.ran {
				equal(t, fmt.Sprintf("at %d: the call", at), call, `shell {"command":"login hunter2"}`)
			}
			if len(s.ran) > 1 {
				t.Errorf("at %d: ran %q", at, s.ran)
			}
		})
	}
	if again == 0 {
		t.Error("the model never had to say it again: the test sees too little")
	}
}
