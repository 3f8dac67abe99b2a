//go:build window

package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/procedure"
	"deskbell/build/e2e/desktoptest"
)

// A showing is a person who shows work in a form on the desktop, and has it done again.
type showing struct {
	*serving
	p      *person
	key    string // an agent's
	folder string
}

func newShowing(t *testing.T) *showing {
	t.Helper()
	d := newFixture(t, desktoptest.Options{})
	s := &showing{serving: d.serve(), folder: filepath.Join(d.Home, "papers")}
	s.p = &person{Desktop: d.Desktop, app: "form.gtk3.py", looking: 600 * time.Millisecond}
	if err := os.MkdirAll(s.folder, 0o700); err != nil {
		t.Fatal(err)
	}
	var agent struct{ Key string }
	s.call("POST", "/api/agents", map[string]string{"name": "qa-runner"}, &agent)
	s.key = agent.Key
	return s
}

// form starts the form, with more in its environment, and ends it with the function returned.
func (s *showing) form(env ...string) (f *desktoptest.Form, end func()) {
	s.T.Helper()
	f = s.StartForm("form.gtk3.py", s.folder, env)
	s.p.find("Greet")
	return f, func() {
		f.Kill()
		s.WaitNoWindow("Form GTK 3")
	}
}

// shows records how a person fills in the form and saves it. On a busy machine the form may say too late what its parts are; then the
// person shows it once more.
func (s *showing) shows(name, notes string) human.RecordingID {
	s.T.Helper()
	for range 6 {
		if id, seen := s.show(name, notes); seen {
			return id
		}
	}
	s.T.Fatal("there is no recording in which all was seen")
	return ""
}

func (s *showing) show(name, notes string) (id human.RecordingID, seen bool) {
	s.T.Helper()
	f, end := s.form()
	defer end()
	var op human.Operation
	s.call("POST", "/api/human/invoke", map[string]any{"action_type": "desktop", "description": "write down a customer"}, &op, s.key)
	s.call("POST", "/api/human/claim", map[string]any{"operation_id": op.ID}, &op)
	var rec human.Recording
	s.call("POST", "/api/recordings", map[string]any{"operation_id": op.ID}, &rec)
	s.p.pause()
	s.p.enter("Notes") // the keyboard is in the first field from the start, of which the form says nothing
	s.p.types(notes)
	f.Await("notes", notes)
	s.p.enter("Name")
	s.p.types(name)
	f.Await("name", name)
	s.p.press("File", menu, menuItem)
	s.p.press("Export", menuItem)
	f.Await("menu", "Export")
	s.p.press("Save file", desktoptest.Button)
	f.Await("saved", "form.txt")
	s.p.pause()
	s.call("POST", "/api/recordings/"+string(rec.ID)+"/stop", nil, &rec)
	seen = true
	for _, a := range s.actions(rec.ID) {
		s.T.Logf("%6.2f %-13s %s", float64(a.At)/1e9, a.Type, a.Words)
		seen = seen && (a.Type != human.Click || a.Element != nil && a.Element.Name != "") && (a.Type != human.Typing || a.Value != "")
	}
	return rec.ID, seen
}

// performs asks for a run as the agent, starts it as the operator, and waits until it is over or stands still.
func (s *showing) performs(with map[string]string) (id human.OperationID, r human.RunOfProcedure) {
	s.T.Helper()
	var asked procedure.Asked
	s.call("POST", "/api/procedures/note_customer/runs", map[string]any{"parameters": with}, &asked, s.key)
	path := "/api/operations/" + string(asked.Operation) + "/procedure"
	s.call("POST", path, map[string]any{}, &r)
	s.Wait("the run to end or to stop", func() bool {
		r = human.RunOfProcedure{}
		s.call("GET", path, nil, &r)
		return r.State != human.Performing
	})
	return asked.Operation, r
}

// ends ends a run that stopped.
func (s *showing) ends(id human.OperationID) {
	s.T.Helper()
	path := "/api/operations/" + string(id) + "/procedure"
	s.call("POST", path+"/orders", procedure.RunOrder{Do: "end"}, nil)
	s.Wait("the run to be over", func() bool {
		var r human.RunOfProcedure
		s.call("GET", path, nil, &r)
		return r.State.Over()
	})
}

// Work that a person showed twice in a program is done again there with other values. Where the program is not as it was, it stops at the
// step, and where the person uses the pointer, it pauses.
func TestDesktopProcedure(t *testing.T) {
	t.Parallel()
	s := newShowing(t)
	recordings := []human.RecordingID{s.shows("Nordwind", "pays late"), s.shows("Kranich", "asks for Anna")}
	var draft procedure.ProcedureDraft
	s.call("POST", "/api/procedure-drafts", map[string]any{"recordings": recordings}, &draft)
	p := draft.Procedure
	t.Logf("%s\n%+v", draft.File, draft.Findings)
	if len(p.Parameters) != 2 || p.Parameters[0].Name != "notes" || p.Parameters[1].Name != "name" {
		t.Fatalf("the parameters are %+v", p.Parameters)
	}
	p.Name = "note_customer"
	s.call("POST", "/api/procedures", map[string]any{"procedure": p}, nil)
	values := map[string]string{"name": "Ēriksson & Søn {3}", "notes": "moved to\nZürich"}
	save := p.Steps[len(p.Steps)-1]
	if save.Target == nil || save.Target.Name != "Save file" {
		t.Fatalf("the last step is %+v", save)
	}

	t.Run("a third value", func(t *testing.T) {
		s.T = t
		f, end := s.form()
		defer end()
		_, r := s.performs(values)
		if r.State != human.Succeeded || r.Stops != 0 {
			t.Fatalf("%+v", r)
		}
		text, err := os.ReadFile(filepath.Join(s.folder, "form.txt"))
		if err != nil || string(text) != "name: Ēriksson & Søn {3}\nnotes: moved to\nZürich\n" {
			t.Errorf("%v, %q", err, text)
		}
		f.Await("menu", "Export")
	})
	for _, c := range []struct{ name, env, found string }{
		{"renamed", "FORM_SAVE=Keep file", "It is not there."},
		{"twice", "FORM_TWIN=1", "There are 2 that are alike."},
	} {
		t.Run(c.name, func(t *testing.T) {
			s.T = t
			f, end := s.form(c.env)
			defer end()
			id, r := s.performs(values)
			// What must be there for the last step is the checkpoint of the one before it.
			if r.State != human.Halted || r.Stop == nil || r.Stop.Step != p.Steps[len(p.Steps)-2].ID || r.Stop.Unsure || r.Stop.Found.Text != c.found ||
				!strings.Contains(r.Stop.Expected.Text, `"Save file"`) || r.Steps[len(p.Steps)-1].State != human.StepLater {
				t.Errorf("%+v, %+v", r, r.Stop)
			}
			if saved := f.State()["saved"]; saved != "" {
				t.Errorf("it saved %v", saved)
			}
			s.ends(id)
		})
	}
	t.Run("the pointer moved by hand", func(t *testing.T) {
		s.T = t
		_, end := s.form("FORM_SAVE=Keep file")
		defer end()
		var asked procedure.Asked
		s.call("POST", "/api/procedures/note_customer/runs", map[string]any{"parameters": values}, &asked, s.key)
		path := "/api/operations/" + string(asked.Operation) + "/procedure"
		var r human.RunOfProcedure
		s.call("POST", path, map[string]any{}, &r)
		n := 0
		s.Wait("the run to pause", func() bool {
			n++
			s.Move(700+40*(n%2), 700)
			r = human.RunOfProcedure{}
			s.call("GET", path, nil, &r)
			return r.State != human.Performing
		})
		if r.State != human.HeldUp || r.Why == nil || r.Why.Text != "you moved the pointer" {
			t.Errorf("%+v, %+v", r, r.Stop)
		}
		s.ends(asked.Operation)
	})
	t.Run("what has no element", func(t *testing.T) {
		i := slices.IndexFunc(p.Steps, func(s human.ProcedureStep) bool { return s.Do == "click" })
		q := p
		q.Steps = slices.Clone(p.Steps)
		q.Steps[i].Target = nil
		if why := procedure.Blocked(q, procedure.Standard); why == nil || !strings.Contains(why.Text, "only its place") {
			t.Errorf("%+v", why)
		}
	})
}
