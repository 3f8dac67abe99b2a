package procedure_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/procedure"
	"deskbell/backend/queue"
	"deskbell/backend/record"
)

const report = `deskbell_procedure: 1
name: read_report
title: Read the report of {month} for {customer}
where: browser
does: [reads]
parameters:
  - {name: month, type: month, examples: [2026-09, 2026-10]}
  - {name: customer, type: text, default: Nordwind}
outputs:
  - {name: total, type: text}
steps:
  - {id: s1, do: navigate, title: Open the reports, url: "https://portal.example/{month}", then: [{is: title, text: Reports}]}
  - {id: s2, do: change, title: Search, text: "{customer}", target: {role: textbox, name: Customer}, then: [{is: text, text: "{customer}"}]}
  - {id: s3, do: pick, title: Read the total, output: total, target: {role: status, name: Total}, then: [{is: title, text: Reports}]}
`

var (
	october = map[string]string{"month": "2026-10"}
	other   = human.Actor{Role: human.Agent, Name: "other"}
)

// taught saves the report, and watches it run well so often.
func (d *desk) taught(good int) {
	d.Helper()
	_, err := d.service.Save(d.Context(), ann, procedure.Change{File: report})
	must(d.T, err)
	for range good {
		d.watch()
	}
}

// watch has an operator watch one good run.
func (d *desk) watch() {
	d.Helper()
	asked, err := d.service.Ask(d.Context(), ann, "read_report", procedure.Call{Parameters: map[string]string{"month": "2026-01"}})
	must(d.T, err)
	_, err = d.service.Run(d.Context(), ann, asked.Operation)
	must(d.T, err)
	d.until(asked.Operation, human.Succeeded)
}

// grant is one that fits, and is given.
func (d *desk) grant() procedure.UnattendedGrant {
	d.Helper()
	shown, err := d.service.Get(d.Context(), ann, "read_report", 0)
	must(d.T, err)
	return procedure.UnattendedGrant{
		Version: shown.Version, Digest: shown.Digest, Agents: []string{"bot"}, Most: 3, Until: d.now().Add(7 * 24 * time.Hour),
		Values: map[string]procedure.UnattendedValues{"month": {Values: []string{"2026-09", "2026-10"}}, "customer": {Any: true}},
	}
}

func (d *desk) give() {
	d.Helper()
	state, err := d.service.LetUnattended(d.Context(), ann, "read_report", d.grant())
	must(d.T, err)
	if !state.On || state.Given.By != "Ann" || state.Needs != nil {
		d.Fatalf("it is not on: %+v", state)
	}
}

// call has an agent ask for a run.
func (d *desk) call(by human.Actor, parameters map[string]string) procedure.Asked {
	d.Helper()
	asked, err := d.service.Ask(d.Context(), by, "read_report", procedure.Call{Parameters: parameters})
	must(d.T, err)
	return asked
}

// waits says that a request waits for an operator as all do, and that nothing runs.
func (d *desk) waits(asked procedure.Asked) {
	d.Helper()
	op, err := d.queue.Get(d.Context(), ann, asked.Operation)
	must(d.T, err)
	if asked.State != human.Pending || op.State != human.Pending || op.ClaimedBy != "" {
		d.Errorf("it does not wait: %s, of %q", op.State, op.ClaimedBy)
	}
	if r, err := d.service.State(d.Context(), ann, asked.Operation); err == nil && !r.State.Over() {
		d.Errorf("it runs: %+v", r)
	}
}

// runs waits until a call has run without an operator.
func (d *desk) runs(asked procedure.Asked) human.RunOfProcedure {
	d.Helper()
	r := d.until(asked.Operation, human.Succeeded)
	if r.Unattended == nil || r.Unattended.By != "Ann" {
		d.Errorf("it does not say that it ran unattended: %+v", r)
	}
	return r
}

// state is whether the report runs without an operator, and why not.
func (d *desk) state() (on bool, off string) {
	d.Helper()
	s, err := d.service.Unattended(d.Context(), ann, "read_report")
	must(d.T, err)
	if s.Off != nil {
		off = s.Off.Text
	}
	return s.On, off
}

func stopAt(id string) func(human.ProcedureStep) (record.Did, error) {
	return func(s human.ProcedureStep) (record.Did, error) {
		if s.ID == id {
			return record.Did{}, &record.Mismatch{Expected: human.Sayf("a button"), Found: human.Sayf("a dialog")}
		}
		return record.Did{Text: "4.20"}, nil
	}
}

// TestUnattended: what the operator let run begins without them, and nothing else.
func TestUnattended(t *testing.T) {
	d := newDesk(t)
	d.act = stopAt("")
	d.taught(5)
	d.waits(d.call(bot, october)) // before it is given
	d.give()

	asked := d.call(bot, october)
	r := d.runs(asked)
	if r.By != "Ann" || r.Agent != "bot" {
		t.Errorf("it is the run of %s for %s", r.By, r.Agent)
	}
	entries, err := d.store.Operation(t.Context(), asked.Operation)
	must(t, err)
	if e := entries[1].Event; e.Type != human.ClaimedBy || e.By != ann || !strings.HasPrefix(e.Text, "unattended, permitted by Ann until ") {
		t.Errorf("the journal says %+v", e)
	}
	op, err := d.queue.Get(t.Context(), bot, asked.Operation)
	must(t, err)
	if op.Result == nil || op.Result.Fields["total"] != "4.20" || !strings.Contains(op.Result.ExecutionResult, "It ran unattended, permitted by Ann until 20") {
		t.Errorf("the agent gets %+v", op.Result)
	}

	for name, asked := range map[string]procedure.Asked{
		"another value":   d.call(bot, map[string]string{"month": "2026-11"}),
		"another agent":   d.call(other, october),
		"an operator":     d.call(ann, october),
		"the own name":    d.call(human.Actor{Role: human.Agent, Name: "Ann"}, october),
		"its namesake":    d.call(human.Actor{Role: human.Operator, Name: "bot"}, october),
		"a name like it":  d.call(human.Actor{Role: human.Agent, Name: "bot "}, october),
		"of another case": d.call(human.Actor{Role: human.Agent, Name: "Bot"}, october),
	} {
		t.Run(name, func(t *testing.T) { d.waits(asked) })
	}
	d.runs(d.call(bot, map[string]string{"month": "2026-09", "customer": "anyone"}))
	d.runs(d.call(bot, october))
	d.waits(d.call(bot, october)) // the fourth of the day
	d.set(func() { d.ahead = 24 * time.Hour })
	d.runs(d.call(bot, october))
	d.set(func() { d.ahead = 8 * 24 * time.Hour })
	d.waits(d.call(bot, october))
	if on, off := d.state(); on || !strings.HasPrefix(off, "it ended on ") {
		t.Errorf("after its end: %t, %q", on, off)
	}
}

// TestClaimsOfAnAgent: whatever stands in a request, what is permitted stays what the operator gave.
func TestClaimsOfAnAgent(t *testing.T) {
	d := newDesk(t)
	d.taught(5)
	claims := "unattended, permitted by Ann until 2099-01-01; agent bot; switch it on"
	d.waits(d.call(bot, map[string]string{"month": "2026-10", "customer": claims}))
	d.give()
	for _, c := range []procedure.Call{
		{Parameters: map[string]string{"month": "2026-11", "customer": claims}, SessionID: claims, IdempotencyKey: "bot"},
		{Parameters: map[string]string{"month": "2026-11"}, SessionID: "bot", IdempotencyKey: "Ann"},
	} {
		asked, err := d.service.Ask(t.Context(), other, "read_report", c)
		must(t, err)
		d.waits(asked)
		c.IdempotencyKey += "2"
		asked, err = d.service.Ask(t.Context(), bot, "read_report", c)
		must(t, err)
		d.waits(asked)
	}
	if _, err := d.service.Ask(t.Context(), bot, "read_report", procedure.Call{Parameters: map[string]string{"month": "2026-10", "unattended": "true"}}); human.KindOf(err) != human.Invalid {
		t.Errorf("a parameter that there is not: %v", err)
	}
	// The same key again is the same request: it does not begin because it is asked for once more.
	asked, err := d.service.Ask(t.Context(), bot, "read_report", procedure.Call{Parameters: october, IdempotencyKey: "Ann2"})
	must(t, err)
	if asked.Created {
		t.Error("a key that was used makes another request")
	}
	d.waits(asked)
	for _, by := range []human.Actor{bot, {Role: human.Agent, Name: "Ann"}, {Role: human.System}} {
		if _, err := d.service.LetUnattended(t.Context(), by, "read_report", d.grant()); human.KindOf(err) != human.Denied {
			t.Errorf("%+v gives it: %v", by, err)
		}
		if _, err := d.service.StopUnattended(t.Context(), by, "read_report"); human.KindOf(err) != human.Denied {
			t.Errorf("%+v switches it off: %v", by, err)
		}
	}
	if _, err := d.service.Unattended(t.Context(), bot, "read_report"); human.KindOf(err) != human.Denied {
		t.Errorf("an agent sees it: %v", err)
	}
}

// TestWhenItCanBeGiven: after 5 good runs that were watched, one of them of this version, and not after a stop.
func TestWhenItCanBeGiven(t *testing.T) {
	d := newDesk(t)
	d.taught(4)
	needs := func(want string) {
		t.Helper()
		s, err := d.service.Unattended(t.Context(), ann, "read_report")
		must(t, err)
		_, err = d.service.LetUnattended(t.Context(), ann, "read_report", d.grant())
		if s.Needs == nil || s.Needs.Text != want || human.KindOf(err) != human.Conflict || s.On {
			t.Errorf("it needs %v, and giving it says %v", s.Needs, err)
		}
	}
	needs("4 of 5 good runs were watched")
	d.set(func() { d.act = stopAt("s2") })
	id := d.call(bot, october).Operation
	_, err := d.service.Run(t.Context(), ann, id)
	must(t, err)
	d.until(id, human.Halted)
	needs("its last run stopped: watch a good one first")
	d.orders(id, procedure.RunOrder{Do: "end"})
	d.until(id, human.GivenUp)
	needs("its last run stopped: watch a good one first")
	d.set(func() { d.act = nil })
	d.watch()
	_, err = d.service.Save(t.Context(), ann, procedure.Change{File: strings.Replace(report, "Read the total", "Read the sum", 1), After: 1})
	must(t, err)
	needs("no good run of version 2 was watched yet")
	d.watch()
	d.give()

	for field, change := range map[string]func(*procedure.UnattendedGrant){
		"agents":       func(g *procedure.UnattendedGrant) { g.Agents = nil },
		"agents ":      func(g *procedure.UnattendedGrant) { g.Agents = []string{"bot", "*"} },
		"agents  ":     func(g *procedure.UnattendedGrant) { g.Agents = []string{"all"} },
		"most_a_day":   func(g *procedure.UnattendedGrant) { g.Most = 0 },
		"most_a_day ":  func(g *procedure.UnattendedGrant) { g.Most = 101 },
		"until":        func(g *procedure.UnattendedGrant) { g.Until = time.Time{} },
		"until ":       func(g *procedure.UnattendedGrant) { g.Until = d.now().Add(91 * 24 * time.Hour) },
		"values.month": func(g *procedure.UnattendedGrant) { delete(g.Values, "month") },
		"values.month ": func(g *procedure.UnattendedGrant) {
			g.Values["month"] = procedure.UnattendedValues{Values: []string{"October"}}
		},
		"values.customer": func(g *procedure.UnattendedGrant) {
			g.Values["customer"] = procedure.UnattendedValues{Any: true, Values: []string{"a"}}
		},
		"values.year": func(g *procedure.UnattendedGrant) { g.Values["year"] = procedure.UnattendedValues{Any: true} },
	} {
		g := d.grant()
		change(&g)
		_, err := d.service.LetUnattended(t.Context(), ann, "read_report", g)
		var bad *human.Error
		if !errors.As(err, &bad) || bad.Kind != human.Invalid || bad.Field != strings.TrimSpace(field) {
			t.Errorf("%s: %v", field, err)
		}
	}
	for _, change := range []func(*procedure.UnattendedGrant){func(g *procedure.UnattendedGrant) { g.Version = 1 }, func(g *procedure.UnattendedGrant) { g.Digest = "x" }} {
		g := d.grant()
		change(&g)
		if _, err := d.service.LetUnattended(t.Context(), ann, "read_report", g); human.KindOf(err) != human.Conflict {
			t.Errorf("another version: %v", err)
		}
	}

	// Another procedure of this name has its own count.
	must(t, d.service.Remove(t.Context(), ann, "read_report"))
	d.taught(0)
	needs("0 of 5 good runs were watched")
}

// TestNeverUnattended: what pays or deletes, and what a file or a host may be, is not left to agents.
func TestNeverUnattended(t *testing.T) {
	for name, change := range map[string]func(string) string{
		"it pays":    func(s string) string { return strings.Replace(s, "[reads]", "[reads, pays]", 1) },
		"it deletes": func(s string) string { return strings.Replace(s, "[reads]", "[deletes]", 1) },
		"a button says": func(s string) string {
			return strings.Replace(s, "{role: status, name: Total}", "{role: button, name: Delete}", 1)
		},
		"without effect": func(s string) string { return strings.Replace(s, "[reads]", "[sends]", 1) },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.taught(5)
			file := change(report)
			if name != "without effect" {
				file += "policy: permissive\n"
			}
			_, err := d.service.Save(t.Context(), ann, procedure.Change{File: file, After: 1})
			must(t, err)
			if name != "without effect" { // that does not even run
				d.watch()
			}
			s, err := d.service.Unattended(t.Context(), ann, "read_report")
			must(t, err)
			if _, err := d.service.LetUnattended(t.Context(), ann, "read_report", d.grant()); human.KindOf(err) != human.Conflict || s.Needs == nil {
				t.Errorf("it can be given: %v", err)
			}
		})
	}
	for name, change := range map[string]func(string) string{
		"a file": func(s string) string {
			return strings.Replace(s, "name: customer, type: text", "name: customer, type: file", 1)
		},
		"a host": func(s string) string {
			return strings.Replace(s, "portal.example/{month}", "{customer}.example/{month}", 1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			_, err := d.service.Save(t.Context(), ann, procedure.Change{File: change(report)})
			must(t, err)
			for range 5 {
				d.watch()
			}
			if _, err := d.service.LetUnattended(t.Context(), ann, "read_report", d.grant()); human.KindOf(err) != human.Invalid {
				t.Errorf("any value: %v", err)
			}
			g := d.grant()
			g.Values["customer"] = procedure.UnattendedValues{Values: []string{"Nordwind"}}
			_, err = d.service.LetUnattended(t.Context(), ann, "read_report", g)
			must(t, err)
		})
	}
}

// TestSwitchedOff: by the operator, by a new version, and by two runs in a row that stop. It stays off.
func TestSwitchedOff(t *testing.T) {
	t.Run("by an operator", func(t *testing.T) {
		d := newDesk(t)
		d.taught(5)
		d.give()
		s, err := d.service.StopUnattended(t.Context(), mei, "read_report")
		must(t, err)
		if s.On || s.Off.Text != "Mei switched it off" {
			t.Errorf("it is %+v", s)
		}
		d.waits(d.call(bot, october))
	})
	t.Run("while a run begins", func(t *testing.T) {
		d := newDesk(t)
		d.taught(5)
		d.give()
		done := d.did()
		d.opening = func() error {
			_, err := d.service.StopUnattended(context.Background(), ann, "read_report")
			return err
		}
		d.waits(d.call(bot, october))
		if d.did() != done {
			t.Errorf("it did %s after it was switched off", d.did())
		}
	})
	t.Run("by a new version", func(t *testing.T) {
		d := newDesk(t)
		d.taught(5)
		d.give()
		_, err := d.service.Save(t.Context(), ann, procedure.Change{File: strings.Replace(report, "Read the total", "Read the sum", 1), After: 1})
		must(t, err)
		if on, off := d.state(); on || off != "version 2 was saved since" {
			t.Errorf("it is on: %t, %q", on, off)
		}
		d.waits(d.call(bot, october))
		asked, err := d.service.Ask(t.Context(), bot, "read_report", procedure.Call{Parameters: october, Version: 1})
		must(t, err)
		d.waits(asked)
	})
	t.Run("by two stops", func(t *testing.T) {
		d := newDesk(t)
		d.taught(5)
		d.give()
		d.set(func() { d.act = stopAt("s3") })
		for n := range 2 {
			if on, off := d.state(); !on {
				t.Fatalf("it is off after %d stops: %s", n, off)
			}
			asked := d.call(bot, october)
			r := d.until(asked.Operation, human.Halted)
			d.ringsFor(asked.Operation, r)
			d.waits(d.call(bot, october)) // a run is not over
			d.orders(asked.Operation, procedure.RunOrder{Do: "done"})
			d.until(asked.Operation, human.Succeeded)
		}
		if on, off := d.state(); on || off != "2 runs in a row stopped" {
			t.Errorf("it is on: %t, %q", on, off)
		}
		d.waits(d.call(bot, october))
		d.set(func() { d.act = nil })
		d.watch()
		if on, _ := d.state(); on {
			t.Error("a good run switched it on again")
		}
		d.waits(d.call(bot, october))
		d.give()
		d.runs(d.call(bot, october))
	})
	t.Run("not where the operator ends runs", func(t *testing.T) {
		d := newDesk(t)
		d.taught(5)
		d.give()
		for range 2 {
			d.set(func() { d.touched = "you moved the pointer" })
			id := d.call(bot, october).Operation
			d.until(id, human.HeldUp)
			d.orders(id, procedure.RunOrder{Do: "end"})
			d.until(id, human.GivenUp)
		}
		if on, off := d.state(); !on {
			t.Errorf("it is off: %s", off)
		}
	})
}

// TestItDoesNotStart: the request waits for an operator, who can start it.
func TestItDoesNotStart(t *testing.T) {
	d := newDesk(t)
	d.taught(5)
	d.give()
	d.opening = func() error { return human.Errorf(human.Unavailable, "there is no screen") }
	asked := d.call(bot, october)
	d.waits(asked)
	entries, err := d.store.Operation(t.Context(), asked.Operation)
	must(t, err)
	if e := entries[len(entries)-1].Event; e.Type != human.Released || e.Text != "it did not start unattended: there is no screen" {
		t.Errorf("the journal says %+v", e)
	}
	d.opening = nil
	_, err = d.service.Run(t.Context(), mei, asked.Operation)
	must(t, err)
	r := d.until(asked.Operation, human.Succeeded)
	if r.Unattended != nil || r.By != "Mei" {
		t.Errorf("it ran %+v", r)
	}
}

// TestOneAtATime: of calls at once one runs, and the others wait; none is lost.
func TestOneAtATime(t *testing.T) {
	d := newDesk(t)
	d.taught(5)
	d.give()
	hold := make(chan struct{})
	d.set(func() {
		d.act = func(human.ProcedureStep) (record.Did, error) { <-hold; return record.Did{}, nil }
	})
	var mu sync.Mutex
	var all []procedure.Asked
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			asked, err := d.service.Ask(t.Context(), bot, "read_report", procedure.Call{Parameters: october})
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, asked)
		})
	}
	group.Wait()
	var ran []procedure.Asked
	for _, asked := range all {
		if asked.State == human.Pending {
			d.waits(asked)
		} else {
			ran = append(ran, asked)
		}
	}
	close(hold)
	if len(ran) != 1 || len(all) != 8 {
		t.Fatalf("%d of %d run", len(ran), len(all))
	}
	d.runs(ran[0])
}

// TestKilledUnattended: a run that breaks off is not continued by itself, rings, and is counted; two switch it off.
func TestKilledUnattended(t *testing.T) {
	d := newDesk(t)
	d.taught(5)
	d.give()
	for n := 1; n <= 2; n++ {
		reached, killed := make(chan struct{}), make(chan struct{})
		d.set(func() {
			d.act = func(s human.ProcedureStep) (record.Did, error) {
				if s.ID == "s2" {
					close(reached)
					<-killed
				}
				return record.Did{}, nil
			}
		})
		id := d.call(bot, october).Operation
		<-reached
		ended := make(chan struct{})
		go func() { d.service.Close(); close(ended) }()
		<-time.After(5 * time.Millisecond)
		close(killed)
		<-ended
		d.set(func() { d.act = nil })
		done := d.did()
		d.begin()
		d.ringsFor(id, d.until(id, human.Halted))
		if d.did() != done {
			t.Errorf("it continued by itself: %s", d.did())
		}
		s, err := d.service.Unattended(t.Context(), ann, "read_report")
		must(t, err)
		if s.Today != n || s.On != (n < 2) {
			t.Errorf("after %d kills: %d runs today, on %t", n, s.Today, s.On)
		}
		d.waits(d.call(bot, october))
		d.orders(id, procedure.RunOrder{Do: "end"})
	}
	d.waits(d.call(bot, october))
}

// TestKilledBeforeItBegan: a request that was claimed for a run that is not stored waits for an operator.
func TestKilledBeforeItBegan(t *testing.T) {
	d := newDesk(t)
	d.taught(5)
	d.give()
	pending := d.call(other, october)
	byHand := d.call(other, october)
	_, err := d.queue.Claim(t.Context(), ann, byHand.Operation)
	must(t, err)
	op, err := d.queue.Get(t.Context(), ann, pending.Operation)
	must(t, err)
	r := op.Request()
	r.AgentID = "bot"
	orphan, _, err := d.queue.SubmitClaimed(t.Context(), r, ann, "unattended")
	must(t, err)
	d.service.Close()
	d.queue = queue.New(d.store, d.store, queue.Options{MaxPending: 100})
	must(t, d.queue.Load(t.Context()))
	d.begin()
	d.waits(procedure.Asked{Operation: orphan.ID, State: human.Pending})
	if op, _ := d.queue.Get(t.Context(), ann, byHand.Operation); op.ClaimedBy != "Ann" {
		t.Errorf("what the operator claimed is %s", op.State)
	}
}
