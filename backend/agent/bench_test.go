package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"deskbell/backend/agent"
)

const (
	benchSteps = 20                     // calls of a tool in a run, one for each reply
	fastModel  = 100 * time.Millisecond // a reply of a model is slower than this: most take seconds
)

// paced is a model that calls a tool a number of times, after a pause each.
type paced struct {
	pause time.Duration
	n     int
}

func (*paced) Name() string { return "paced" }

func (m *paced) Chat(context.Context, agent.Prompt, func(string)) (agent.Reply, error) {
	if m.pause > 0 {
		<-time.After(m.pause)
	}
	if m.n++; m.n > benchSteps {
		return agent.Reply{Text: "It works."}, nil
	}
	return agent.Reply{Text: "Reading on.", Calls: []agent.ToolUse{{
		ID: fmt.Sprintf("call_%d", m.n), Name: "read", Args: json.RawMessage(`{"limit":200,"offset":0,"path":"docs/guide/installation.md"}`),
	}}}, nil
}

var page = strings.Repeat("A line of a file, as long as lines of files are.\n", 80)

func benchTools() []agent.Tool {
	return []agent.Tool{gadget{name: "read", category: agent.Files, ran: new([]string), returns: func(json.RawMessage) (agent.Output, error) {
		return agent.Output{Text: page}, nil
	}}}
}

// bare is the least that an agent has to do: ask the model, run what it calls, give it what came of that.
func bare(ctx context.Context, m agent.Model, tools []agent.Tool) (string, error) {
	byName := map[string]agent.Tool{}
	p := agent.Prompt{System: "You are an agent.", Turns: []agent.Turn{{Role: agent.User, Text: "make it work"}}}
	for _, t := range tools {
		byName[t.Spec().Name] = t
		p.Tools = append(p.Tools, t.Spec())
	}
	for {
		r, err := m.Chat(ctx, p, func(string) {})
		if err != nil || len(r.Calls) == 0 {
			return r.Text, err
		}
		turn := agent.Turn{Role: agent.ToolTurn}
		for _, c := range r.Calls {
			out, err := byName[c.Name].Run(ctx, c.Args)
			if err != nil {
				return "", err
			}
			turn.Results = append(turn.Results, agent.CallDone{CallID: c.ID, Text: out.Text, Failed: out.Failed})
		}
		p.Turns = append(p.Turns, agent.Turn{Role: agent.Assistant, Text: r.Text, Calls: r.Calls}, turn)
	}
}

// runs are one run of the bare loop, and one of an engine with confirming off.
func runs(tb testing.TB) map[string]func(pause time.Duration) {
	return map[string]func(time.Duration){
		"bare": func(pause time.Duration) {
			if text, err := bare(context.Background(), &paced{pause: pause}, benchTools()); err != nil || text != "It works." {
				tb.Fatal(text, err)
			}
		},
		"engine": func(pause time.Duration) {
			e, err := agent.NewEngine(agent.Deps{Model: &paced{pause: pause}, Tools: benchTools(), Now: time.Now, NewID: func(s string) string { return s }, Emit: func(agent.Update) {}})
			if err != nil {
				tb.Fatal(err)
			}
			if res, err := e.Run(context.Background(), agent.RunInfo{Task: "make it work"}); err != nil || res.Message != "It works." {
				tb.Fatal(res, err)
			}
		},
	}
}

// BenchmarkConfirmingOff shows what P8 costs: it compares a bare loop with an engine whose confirming is off, in runs of 20 calls: with a model
// that needs no time, which shows what the engine costs, and with a fast one.
func BenchmarkConfirmingOff(b *testing.B) {
	for _, pause := range []time.Duration{0, fastModel} {
		for _, name := range []string{"bare", "engine"} {
			run := runs(b)[name]
			b.Run(fmt.Sprintf("model=%v/%s", pause, name), func(b *testing.B) {
				for b.Loop() {
					run(pause)
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/(benchSteps+1), "µs/reply")
			})
		}
	}
}
