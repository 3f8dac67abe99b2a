//go:build window

package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/procedure"
)

// A shop takes orders. It can hold back an answer: about a customer, or to an order, before or after that is in its books.
type shop struct {
	url            string
	arrived, taken atomic.Int64 // orders
	holds          atomic.Value // what is held back: customer, before, after or nothing
	held           atomic.Int64 // answers that were
	free           chan struct{}
}

func newShop(t *testing.T) *shop {
	t.Helper()
	s := &shop{free: make(chan struct{})}
	s.holds.Store("")
	// at says whether who asks is still there.
	at := func(r *http.Request, what string) bool {
		if s.holds.Load() == what {
			s.held.Add(1)
			select {
			case <-s.free:
			case <-r.Context().Done():
			}
		}
		return r.Context().Err() == nil
	}
	page := func(w http.ResponseWriter, title, body string) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, "<!doctype html><title>%s</title><h1>%[1]s</h1>%s", title, body)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		page(w, "New order", `<form method=post action=/orders><label>Customer
			<input name=customer oninput="fetch('/customers').then(() => document.querySelector('#known').textContent = 'Known customer')"></label>
			<p id=known></p><button>Order</button></form>`)
	})
	mux.HandleFunc("GET /customers", func(_ http.ResponseWriter, r *http.Request) { at(r, "customer") })
	mux.HandleFunc("POST /orders", func(w http.ResponseWriter, r *http.Request) {
		customer := r.FormValue("customer")
		s.arrived.Add(1)
		if !at(r, "before") {
			return
		}
		n := s.taken.Add(1)
		at(r, "after")
		http.Redirect(w, r, fmt.Sprintf("/orders/%d?customer=%s", n, url.QueryEscape(customer)), http.StatusSeeOther)
	})
	mux.HandleFunc("GET /orders/{n}", func(w http.ResponseWriter, r *http.Request) {
		page(w, "Thank you", fmt.Sprintf("<p role=status>Order %s of %s</p>", r.PathValue("n"), r.FormValue("customer")))
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

// taughtToOrder has a person order once, and saves what they showed as the procedure order_one.
func (s *study) taughtToOrder(t *testing.T, shop *shop) {
	t.Helper()
	_, rec, p := s.record(t, "order for a customer", shop.url+"/", human.BrowserOptions{})
	p.enters("input", "Nordwind")
	p.sees("Known customer")
	p.clicks("button")
	p.sees("Order 1 of Nordwind")
	s.call("POST", "/api/recordings/"+string(rec.ID)+"/pick", human.PickRequest{Field: "number", Take: human.TakeElement}, nil)
	p.clicks("[role=status]")
	p.pause()
	s.stop(t, &rec)
	var draft procedure.ProcedureDraft
	s.call("POST", "/api/procedure-drafts", map[string]any{"recordings": []human.RecordingID{rec.ID}}, &draft)
	taught := draft.Procedure
	taught.Name, taught.Policy = "order_one", "permissive"
	typing := slices.IndexFunc(taught.Steps, func(s human.ProcedureStep) bool { return s.Do == "change" })
	taught.Steps[typing].Then = append(taught.Steps[typing].Then, human.ProcedureCheckpoint{Is: "text", Text: "Known customer"})
	taught = procedure.Parameterize(taught, taught.Steps[typing].ID, "text", "customer")
	if n := len(taught.Steps); typing+3 != n || !taught.Steps[typing+1].Writes || taught.Steps[n-1].Output != "number" {
		t.Fatalf("what was shown is\n%s", draft.File)
	}
	s.call("POST", "/api/procedures", map[string]any{"procedure": taught}, nil)
}

// killed kills Deskbell without a warning, and starts it on the same data folder.
func (p *performance) killed(t *testing.T) {
	t.Helper()
	if err := p.program.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	p.Ended(p.program)
	if err := os.Remove(filepath.Join(p.folder, "profile")); err != nil {
		t.Fatal(err)
	}
	*p.serving = *p.serve()
	p.read()
}

// person is who sits before the browser of the run.
func (p *performance) person(t *testing.T) *surfer {
	t.Helper()
	profile, err := os.ReadFile(filepath.Join(p.folder, "profile"))
	if err != nil {
		t.Fatal(err)
	}
	return newSurfer(t, dial(t, strings.TrimSpace(string(profile))), p.site)
}

// continues has the run continue, and waits until it is over or stops again.
func (p *performance) continues(t *testing.T, order procedure.RunOrder) {
	t.Helper()
	before := p.r.Stops
	p.call("POST", p.path()+"/orders", order, nil)
	eventually(t, "the run to end or to stop again", func() bool {
		p.read()
		return p.r.State.Over() || p.r.State == human.Halted && p.r.Stops > before
	})
}

// Deskbell is killed while a run works. Whatever it was at, the site gets the order once, by the word of the operator, and the agent its answer.
func TestBrowserRunIsKilled(t *testing.T) {
	s := newStudy(t, false)
	shop := newShop(t)
	s.taughtToOrder(t, shop)
	for _, c := range []struct {
		name, holds    string
		arrived, taken int64 // in the end
		decides        func(t *testing.T, run *performance)
	}{
		{"the order is taken, its answer is lost", "after", 1, 1, func(t *testing.T, run *performance) {
			run.call("POST", run.path()+"/orders", procedure.RunOrder{Do: "take"}, nil)
			p := run.person(t)
			p.must(p.page, "Page.navigate", map[string]any{"url": shop.url + "/orders/1?customer=Eastern"}, nil)
			p.sees("Order 1 of Eastern")
			run.continues(t, procedure.RunOrder{Do: "done"})
		}},
		{"the order arrives and is not taken", "before", 2, 1, func(t *testing.T, run *performance) {
			run.continues(t, procedure.RunOrder{Do: "continue", NotDone: true})
			run.types(t)
		}},
		{"between two steps", "customer", 1, 1, func(t *testing.T, run *performance) {
			run.continues(t, procedure.RunOrder{Do: "continue"})
			run.types(t)
		}},
	} {
		shop.arrived.Store(0)
		shop.taken.Store(0)
		shop.held.Store(0)
		shop.holds.Store(c.holds)
		shop.free = make(chan struct{})
		var asked procedure.Asked
		s.call("POST", "/api/procedures/order_one/runs", map[string]any{"parameters": map[string]string{"customer": "Eastern"}}, &asked, s.key)
		run := &performance{study: s, op: asked.Operation}
		s.call("POST", run.path(), map[string]any{}, &run.r)
		eventually(t, "the answer to be held back", func() bool { return shop.held.Load() > 0 })
		if c.holds == "customer" {
			run.call("POST", run.path()+"/orders", procedure.RunOrder{Do: "pause"}, nil)
			close(shop.free)
			eventually(t, "the run to pause", func() bool {
				run.read()
				return run.r.State == human.HeldUp
			})
		}
		run.killed(t)
		shop.holds.Store("")
		inFlight := c.holds != "customer"
		if run.r.State != human.Halted || run.r.Stop == nil || run.r.Stop.Unsure != inFlight || run.r.Stop.Step != run.r.Steps[len(run.r.Steps)-2].Step {
			t.Fatalf("%s: after the start it is %s at %+v", c.name, run.r.State, run.r.Stop)
		}
		if inFlight {
			if status, said := s.ask("POST", run.path()+"/orders", procedure.RunOrder{Do: "continue"}); status != http.StatusConflict {
				t.Errorf("%s: it continues though the operator has not looked: %d %s", c.name, status, said)
			}
		}
		c.decides(t, run)
		if run.r.State != human.Succeeded {
			t.Fatalf("%s: it ends as %s: %+v", c.name, run.r.State, run.r)
		}
		if arrived, taken := shop.arrived.Load(), shop.taken.Load(); arrived != c.arrived || taken != c.taken {
			t.Errorf("%s: %d orders arrived and %d were taken, not %d and %d", c.name, arrived, taken, c.arrived, c.taken)
		}
		var op human.Operation
		eventually(t, "the answer", func() bool {
			op = human.Operation{}
			s.call("GET", "/api/human/operations/"+string(run.op), nil, &op, s.key)
			return op.State == human.Completed
		})
		if got := op.Result.Fields["number"]; got != "Order 1 of Eastern" {
			t.Errorf("%s: the agent gets %q of %+v", c.name, got, op.Result.Answer)
		}
	}
}

// types has the operator type again what the browser that was killed had in its field, which the run insists on.
func (p *performance) types(t *testing.T) {
	t.Helper()
	if p.r.State != human.Halted || !strings.Contains(p.r.Stop.Expected.Text, "Eastern") {
		t.Fatalf("it would order with an empty field: %+v", p.r)
	}
	by := p.person(t)
	by.enters("input", "Eastern")
	by.sees("Known customer")
	p.continues(t, procedure.RunOrder{Do: "continue"})
}
