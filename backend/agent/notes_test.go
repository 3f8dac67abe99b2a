package agent_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"deskbell/backend/agent"
)

var fact = regexp.MustCompile(`The port of service-\d+ is \d+\.`)

// noteTaker is a model's way to take notes: it overlooks one fact in fifty, says nothing twice, and says which of them are outdated.
func noteTaker(random *rand.Rand) func(agent.Prompt) agent.Reply {
	return func(p agent.Prompt) agent.Reply {
		text := p.Turns[0].Text
		notes, said, _ := strings.Cut(text, "What was said and done")
		var in struct {
			Goal      string   `json:"goal"`
			Facts     []string `json:"facts"`
			Decisions []string `json:"decisions"`
			Outdated  []string `json:"outdated"`
		}
		in.Goal = "Know all ports."
		for _, f := range fact.FindAllString(said, -1) {
			if slices.Contains(in.Facts, f) || strings.Contains(notes, f) || random.IntN(50) == 0 {
				continue
			}
			about, _, _ := strings.Cut(f, " is ")
			if old := regexp.MustCompile(`(F\d+): ` + regexp.QuoteMeta(about) + ` is `).FindStringSubmatch(notes); old != nil {
				in.Outdated = append(in.Outdated, old[1])
			}
			in.Facts = append(in.Facts, f)
		}
		if strings.Contains(said, "Use blue.") {
			in.Decisions = []string{"A person wants blue."}
		}
		args, _ := json.Marshal(in)
		return agent.Reply{Calls: []agent.ToolUse{{Name: "take_notes", Args: args}}, TokensIn: measure(p), TokensOut: len(args) / 4}
	}
}

// A task that outgrows the model many times: facts asked for at its end, after at least three compactions, are right in 95 %, also
// where the run was interrupted and resumed after each. The model is a scripted one, so that this measures what becomes of notes,
// not how well a model takes them.
func TestFactsOutliveCompactions(t *testing.T) {
	right, asked := 0, 0
	for seed := range uint64(5) {
		random := rand.New(rand.NewPCG(seed, 17))
		const services = 60
		ports := map[int]int{}
		m := &script{notes: noteTaker(random)}
		s := newScene(t)
		s.deps.Model, s.office = m, nil
		s.deps.Limits.Context = 6_000
		s.tool(gadget{name: "read", category: agent.Files, returns: func(args json.RawMessage) (agent.Output, error) {
			var in struct{ Service int }
			if err := json.Unmarshal(args, &in); err != nil {
				return agent.Output{}, err
			}
			ports[in.Service] = 1000 + random.IntN(9000)
			filler := strings.Repeat(fmt.Sprintf("line %d of a log that says little ", random.IntN(1000)), 40)
			return agent.Output{Text: filler + fmt.Sprintf("The port of service-%d is %d. ", in.Service, ports[in.Service]) + filler}, nil
		}})
		read := 0
		m.answer = func(p agent.Prompt) agent.Reply {
			if measure(p) > 7_000 {
				t.Errorf("a prompt of %d tokens", measure(p))
			}
			if read++; read > services+10 {
				return calls("finish", `{"outcome":"done","note":"All are read."}`)
			}
			service := read
			if service > services {
				service -= services // these have changed meanwhile
			}
			return calls("read", fmt.Sprintf(`{"service":%d}`, service))
		}
		if res := s.run(); res.Ending != agent.EndDone {
			t.Fatalf("%+v", res)
		}
		compactions := 0
		var last agent.Note
		for _, r := range s.diary.records {
			if r.Cut != nil && r.Cut.Note != nil {
				compactions++
				last = *r.Cut.Note
			}
		}
		if compactions < 3 || last.Goal == "" {
			t.Fatalf("%d compactions, the last note %+v", compactions, last)
		}
		prompt := words(m.prompts[len(m.prompts)-1])
		for service, port := range ports {
			asked++
			all := regexp.MustCompile(fmt.Sprintf(`The port of service-%d is (\d+)\.`, service)).FindAllStringSubmatch(prompt, -1)
			if len(all) > 0 && all[len(all)-1][1] == fmt.Sprint(port) { // the latest is what holds
				right++
			}
		}
		// The journal has all of it, and a run that is resumed from it stands where this one did.
		again := newScene(t)
		again.deps.Model, again.office = m, nil
		again.deps.Limits.Context = 6_000
		whole := s.diary.records
		for i := len(whole) - 1; whole[i].Kind != agent.CutRecord; i-- {
			whole = whole[:i]
		}
		if _, err := again.engine().Resume(t.Context(), slices.Clone(whole)); err != nil {
			t.Fatal(err)
		}
		if first := m.prompts[len(m.prompts)-1].Turns[0].Text; !strings.Contains(first, last.String()) {
			t.Errorf("the notes are not in the prompt of a resumed run: %.600s", first)
		}
	}
	t.Logf("%d of %d facts are right", right, asked)
	if right*100 < asked*95 {
		t.Errorf("%d of %d facts are right", right, asked)
	}
}

func TestNotes(t *testing.T) {
	s := newScene(t)
	m := &script{}
	s.deps.Model, s.office = m, nil
	s.deps.Limits.Context = 6_000
	s.deps.Mask = func(text string) (string, bool) {
		return strings.ReplaceAll(text, "hunter2", "•••"), strings.Contains(text, "hunter2")
	}
	s.tool(gadget{name: "read", category: agent.Files, returns: func(json.RawMessage) (agent.Output, error) {
		return agent.Output{Text: strings.Repeat("word ", 900)}, nil
	}})
	m.notes = func(p agent.Prompt) agent.Reply {
		if strings.Contains(p.Turns[0].Text, "There are no notes so far.") {
			return calls("take_notes", `{"goal":"G","facts":["one","the password is hunter2"],"decisions":["blue"],"open_questions":["why"],"files":["a.go: main"]}`)
		}
		return calls("take_notes", `{"facts":["two","one"],"outdated":["Q1","D9"]}`)
	}
	m.answer = func(p agent.Prompt) agent.Reply {
		r := calls("read", fmt.Sprintf(`{"path":"f%d"}`, len(m.prompts)))
		if len(m.prompts) > 12 {
			r = calls("finish", `{"outcome":"done","note":"ok"}`)
		}
		r.TokensIn = measure(p)
		return r
	}
	s.run()
	last := m.prompts[len(m.prompts)-1].Turns[0].Text
	for _, want := range []string{"The goal: G", "F1: one", "F2: the password is hunter2", "F3: two", "D1: blue", "P1: a.go: main"} {
		if !strings.Contains(last, want) {
			t.Errorf("the notes do not have %q: %s", want, last)
		}
	}
	if strings.Contains(last, "Q1: why") {
		t.Error("what is outdated is still there")
	}
	for _, r := range s.diary.records {
		if text, err := json.Marshal(r); err != nil || strings.Contains(string(text), "hunter2") {
			t.Fatalf("a secret is in the journal: %s, %v", text, err)
		}
	}
}
