//go:build window

package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/procedure"
)

// orders is a page that looks for orders. Once it has changed, a notice lies over it, and its button is called otherwise when that is gone.
func orders(t *testing.T) (url string, changed *atomic.Bool) {
	t.Helper()
	changed = &atomic.Bool{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		notice := ""
		if changed.Load() {
			notice = `<div role=dialog aria-label=News style="position:fixed;inset:0;background:white">
				<button onclick="this.parentNode.remove(), document.querySelector('form button').textContent = 'Search'">Got it</button></div>`
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		found := ""
		if customer := r.FormValue("customer"); customer != "" {
			found = "<p role=status>Orders of " + customer + "</p>"
		}
		fmt.Fprintf(w, `<!doctype html><title>Orders</title><h1>Orders</h1><form><label>Customer <input name=customer></label><button>Find</button></form>%s%s`, found, notice)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/", changed
}

// A performance is a run, and the browser it is done in.
type performance struct {
	*study
	op human.OperationID
	r  human.RunOfProcedure
}

// performs asks for a run as the agent, starts it as the operator, and waits until it is over or stops.
func (s *study) performs(t *testing.T, name string, with map[string]string) *performance {
	t.Helper()
	var asked procedure.Asked
	s.call("POST", "/api/procedures/"+name+"/runs", map[string]any{"parameters": with}, &asked, s.key)
	p := &performance{study: s, op: asked.Operation}
	if err := os.Remove(filepath.Join(s.folder, "profile")); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	s.call("POST", p.path(), map[string]any{}, &p.r)
	p.until(t)
	return p
}

func (p *performance) path() string { return "/api/operations/" + string(p.op) + "/procedure" }

// read reads the run.
func (p *performance) read() {
	p.r = human.RunOfProcedure{}
	p.call("GET", p.path(), nil, &p.r)
}

// until waits until the run is over or stops.
func (p *performance) until(t *testing.T) {
	t.Helper()
	eventually(t, "the run to end or to stop", func() bool {
		p.read()
		return p.r.State.Over() || p.r.State == human.Halted
	})
}

// order has the run continue.
func (p *performance) order(t *testing.T, do string) {
	t.Helper()
	p.call("POST", p.path()+"/orders", procedure.RunOrder{Do: do}, &p.r)
	eventually(t, "the run to continue", func() bool {
		p.read()
		return p.r.Stop == nil
	})
	p.until(t)
}

// What an operator shows at a stop becomes the next version: a step of its own where Deskbell then did what was taught, and the step itself
// where they did it. The parameters stay.
func TestBrowserShowsTheNextVersion(t *testing.T) {
	s := newStudy(t, false)
	url, changed := orders(t)
	_, rec, p := s.record(t, "find the orders of a customer", url, human.BrowserOptions{})
	p.enters("input", "Nordwind")
	p.clicks("button")
	p.sees("Orders of Nordwind")
	s.stop(t, &rec)
	var draft procedure.ProcedureDraft
	s.call("POST", "/api/procedure-drafts", map[string]any{"recordings": []human.RecordingID{rec.ID}}, &draft)
	taught := draft.Procedure
	taught.Name = "find_orders"
	typing := slices.IndexFunc(taught.Steps, func(s human.ProcedureStep) bool { return s.Do == "change" })
	taught = procedure.Parameterize(taught, taught.Steps[typing].ID, "text", "customer")
	s.call("POST", "/api/procedures", map[string]any{"procedure": taught}, nil)

	changed.Store(true)
	run := s.performs(t, "find_orders", map[string]string{"customer": "Eastern & Sons"})
	person := func() *surfer {
		profile, err := os.ReadFile(filepath.Join(s.folder, "profile"))
		if err != nil {
			t.Fatal(err)
		}
		return newSurfer(t, dial(t, strings.TrimSpace(string(profile))), s.site)
	}
	if run.r.Stop == nil || !strings.Contains(run.r.Stop.Found.Text, "covered") {
		t.Fatalf("the notice does not stop it: %+v", run.r)
	}
	person().clicks("[role=dialog] button")
	run.order(t, "continue")
	if run.r.Stop == nil || run.r.Stop.Step != taught.Steps[typing+1].ID || !strings.Contains(run.r.Stop.Expected.Text, "Find") {
		t.Fatalf("the button that is called otherwise does not stop it: %+v", run.r)
	}
	by := person()
	by.clicks("form button")
	by.sees("Orders of Eastern")
	run.order(t, "done")
	if run.r.State != human.Succeeded {
		t.Fatalf("%+v", run.r)
	}

	var next procedure.ProcedureDraft
	s.call("GET", run.path()+"/correction", nil, &next)
	file := next.File
	if next.After != 1 || len(next.Changed) != 2 || len(next.Procedure.Steps) != len(taught.Steps)+1 {
		t.Fatalf("%+v of\n%s", next.Changed, file)
	}
	notice, search := next.Procedure.Steps[typing+1], next.Procedure.Steps[typing+2]
	if !notice.Optional || notice.Target.Name != "Got it" || search.ID != taught.Steps[typing+1].ID || search.Target.Name != "Search" || !strings.Contains(search.Title, "Search") || next.Procedure.Steps[typing].Text != "{customer}" || strings.Contains(file, "Eastern") {
		t.Fatalf("it is not what was shown:\n%s", file)
	}
	s.call("POST", "/api/procedures", map[string]any{"procedure": next.Procedure, "after": next.After}, nil)
	if status, said := s.ask("GET", run.path()+"/correction", nil); status != http.StatusConflict {
		t.Errorf("what was shown is taught twice: %d %s", status, said)
	}
	again := s.performs(t, "find_orders", map[string]string{"customer": "Südwind"})
	if again.r.State != human.Succeeded || again.r.Stops != 0 || again.r.Version != 2 {
		t.Fatalf("%+v\n%s", again.r, file)
	}
	if status, said := s.ask("GET", again.path()+"/correction", nil); status != http.StatusConflict || !strings.Contains(string(said), "nothing was done by hand") {
		t.Errorf("a run without a stop has a correction: %d %s", status, said)
	}
}

// What stands around a button that was not there when it was taught stops a run. Once an operator has had it done as it is, the next
// version allows that.
func TestBrowserAcceptsOtherWords(t *testing.T) {
	s := newStudy(t, false)
	var hint atomic.Value
	var sent atomic.Int32
	hint.Store("<p>You get a mail.</p>")
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if r.Method == http.MethodPost {
			sent.Add(1)
			fmt.Fprint(w, `<!doctype html><title>Sent</title><p role=status>Sent</p>`)
			return
		}
		fmt.Fprintf(w, `<!doctype html><title>Order</title><h1>Order no. %d</h1><form method=post>%s<label>Customer <input name=customer></label><button>Send</button></form>`, 5+sent.Load(), hint.Load())
	}))
	t.Cleanup(site.Close)
	_, rec, p := s.record(t, "send an order", site.URL+"/", human.BrowserOptions{})
	p.enters("input", "Nordwind")
	p.clicks("button")
	p.sees("Sent")
	s.stop(t, &rec)
	var draft procedure.ProcedureDraft
	s.call("POST", "/api/procedure-drafts", map[string]any{"recordings": []human.RecordingID{rec.ID}}, &draft)
	taught := draft.Procedure
	taught.Name, taught.Policy = "send_order", procedure.Permissive
	sends := slices.IndexFunc(taught.Steps, func(s human.ProcedureStep) bool { return s.Writes })
	if sends < 0 || !slices.Equal(taught.Steps[sends].Says, []string{"Order no. #", "You get a mail."}) {
		t.Fatalf("taught %+v", taught.Steps)
	}
	s.call("POST", "/api/procedures", map[string]any{"procedure": taught}, nil)

	more := `<p>You get a mail.</p><p>A copy is sent, too.</p><label><input type=checkbox name=copy checked> Copy</label>`
	hint.Store(more)
	run := s.performs(t, "send_order", nil)
	if run.r.Stop == nil || !run.r.Stop.Differs || !strings.Contains(run.r.Stop.Found.Text, "Copy") || sent.Load() != 1 {
		t.Fatalf("a box that is ticked does not stop it: %+v", run.r.Stop)
	}
	run.order(t, "accept")
	if run.r.State != human.Succeeded || sent.Load() != 2 {
		t.Fatalf("%+v", run.r)
	}
	var next procedure.ProcedureDraft
	s.call("GET", run.path()+"/correction", nil, &next)
	step := next.Procedure.Steps[sends]
	if !slices.Equal(next.Changed, []string{step.ID}) || !slices.Equal(step.Says, []string{"Order no. #", "You get a mail.", "A copy is sent, too.", "Copy"}) || !slices.ContainsFunc(step.Form, func(f human.Filled) bool { return f.Name == "Copy" && f.Optional }) {
		t.Fatalf("it is not what was accepted: %q, %+v", next.Changed, step)
	}
	s.call("POST", "/api/procedures", map[string]any{"procedure": next.Procedure, "after": next.After}, nil)
	if again := s.performs(t, "send_order", nil); again.r.State != human.Succeeded || again.r.Stops != 0 || sent.Load() != 3 {
		t.Fatalf("%+v", again.r)
	}
	hint.Store(more + "<p>Now, without asking again.</p>")
	if run = s.performs(t, "send_order", nil); run.r.Stop == nil || !strings.Contains(run.r.Stop.Found.Text, "without asking") || sent.Load() != 3 {
		t.Fatalf("a new line does not stop it: %+v", run.r.Stop)
	}
}
