package procedure

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"deskbell/backend/human"
)

// causes is how long after something was done a window that opens or closes is taken to have done so because of it.
const causes = int64(1500 * time.Millisecond)

// dots stand for what a recording hides.
const dots = "•••"

// desktop is what was done in programs as the steps of a procedure, each with what their windows showed of it as its checkpoints. It has
// no parameters. What was done to no accessible element is a step without a target, which Lint says cannot be done again.
func desktop(title string, recording human.RecordingID, list []human.Action) human.Procedure {
	c := &deskCompiler{recording: recording, last: -1}
	c.p.Format, c.p.Where, c.p.Title = 1, "desktop", title
	c.p.Taught = []human.ProcedureSource{{Recording: recording}}
	list = slices.DeleteFunc(slices.Clone(list), func(a human.Action) bool { return a.Cut || a.Page != nil || a.Reported })
	for i, a := range list {
		c.retitled(a)
		c.action(a, list[i+1:])
	}
	for i := range c.p.Steps {
		c.p.Steps[i].ID = fmt.Sprintf("s%d", i+1)
	}
	return c.p
}

type deskCompiler struct {
	p         human.Procedure
	recording human.RecordingID
	last      int // the action of the last step; -1: none
	did       human.Action
}

func (c *deskCompiler) action(a human.Action, later []human.Action) {
	next := human.Action{} // but for what is pressed in the same field on the way there
	for _, next = range later {
		if next.Type != human.Shortcut || !edits(next) || !sameField(a.Element, next.Element) {
			break
		}
	}
	fills := (next.Type == human.Typing || next.Type == human.Paste) && sameField(a.Element, next.Element)
	switch a.Type {
	case human.Click, human.DoubleClick, human.TripleClick:
		closes := next.Type == human.CloseWindow && next.At-a.End <= causes
		switch {
		case fills && a.Button <= 1:
			return // it only put the caret there
		case closes && a.Element == nil:
			c.did.End = a.At - 2*causes // it was on the window's frame: nothing before it closes that
			return
		}
		do := map[human.ActionType]string{human.Click: "click", human.DoubleClick: "doubleClick", human.TripleClick: "tripleClick"}[a.Type]
		c.add(a, human.ProcedureStep{Do: do, Target: deskTarget(a)})
	case human.Drag:
		c.add(a, human.ProcedureStep{Do: "drag"})
	case human.Typing, human.Paste:
		c.types(a)
	case human.Copy:
		if a.Value != "" { // cut, and this is left
			c.types(a)
		}
	case human.Shortcut:
		if fills && edits(a) || a.Key == "Tab" && !hasAny(a.Modifiers, "ctrl", "alt", "meta") {
			return // what then stands in the field is typed as a whole; targets need no way to them
		}
		c.add(a, human.ProcedureStep{Do: "press", Key: a.Key, Count: max(a.Count, 1) - 1, Target: deskTarget(a)})
	case human.OpenApp, human.SwitchWindow:
		if a.Window != nil && (a.Type == human.OpenApp || a.Element != nil) {
			c.then(a, "opened")
		}
	case human.CloseWindow:
		if a.Window != nil && !c.then(a, "closed") {
			c.add(a, human.ProcedureStep{Do: "close"})
		}
	}
}

// then adds what a window did as a checkpoint of the step that it came of, if it did.
func (c *deskCompiler) then(a human.Action, is string) bool {
	if c.last < 0 || a.At-c.did.End > causes || a.Window.Title == "" {
		return false
	}
	s := &c.p.Steps[c.last]
	s.Then = append(s.Then, human.ProcedureCheckpoint{Is: is, Text: escape(a.Window.Title), Window: deskWindow(a)})
	return true
}

// retitled adds another title of a window as a checkpoint of the last step in it.
func (c *deskCompiler) retitled(a human.Action) {
	if c.last < 0 || a.Window == nil || c.did.Window == nil || a.Window.ID != c.did.Window.ID || a.Window.Title == c.did.Window.Title || a.Window.Title == "" {
		return
	}
	s := &c.p.Steps[c.last]
	for i := range s.Then {
		if s.Then[i].Window == nil {
			s.Then[i].Window = deskWindow(a)
		}
	}
	s.Then = append(s.Then, human.ProcedureCheckpoint{Is: "title", Text: escape(a.Window.Title), Window: deskWindow(a)})
	c.did.Window = a.Window
}

func (c *deskCompiler) add(a human.Action, s human.ProcedureStep) {
	s.Title, s.Window, s.Modifiers = escape(a.Words), deskWindow(a), a.Modifiers
	if a.Button > 1 {
		s.Button = a.Button
	}
	if s.Count > 0 {
		s.Count++
	}
	s.From = []human.ProcedureSource{{Recording: c.recording, Action: a.ID}}
	c.p.Steps = append(c.p.Steps, s)
	c.last, c.did = len(c.p.Steps)-1, a
}

// types adds a field that was filled. What then stood in it is the whole of what is typed.
func (c *deskCompiler) types(a human.Action) {
	s := human.ProcedureStep{Do: "change", Target: deskTarget(a)}
	text := cmp.Or(a.Value, a.Text)
	switch {
	case a.Hidden != "" || a.Masked || strings.Contains(text, dots) || a.Element != nil && a.Element.Secret:
		s.Secret = c.secret(a)
	case text == "" || a.Type == human.Paste && a.Value == "":
		s.Target = nil // what stands in it is not known
	default:
		s.Text = escape(text)
	}
	if a.Key == "Enter" {
		s.Key = a.Key
	}
	if s.Target != nil && a.Value != "" && s.Secret == "" && s.Key == "" {
		s.Then = []human.ProcedureCheckpoint{{Is: "value", Text: s.Text, Target: s.Target}}
	}
	a.Modifiers, a.Button = nil, 0
	c.add(a, s)
}

func (c *deskCompiler) secret(a human.Action) string {
	name := "secret"
	if a.Element != nil {
		name = cmp.Or(strings.ReplaceAll(Called(a.Element.Name), "_", "-"), name)
	}
	if !slices.ContainsFunc(c.p.Secrets, func(s human.ProcedureSecret) bool { return s.Name == name }) {
		c.p.Secrets = append(c.p.Secrets, human.ProcedureSecret{Name: name})
	}
	return name
}

func deskWindow(a human.Action) *human.ProcedureWindow {
	if a.App == nil {
		return nil
	}
	w := &human.ProcedureWindow{Program: cmp.Or(a.App.Name, a.App.Exe)}
	if a.Window != nil && !strings.Contains(a.Window.Title, dots) {
		w.Title = escape(a.Window.Title)
	}
	return w
}

// renamed are roles of what some toolkits call by what is chosen in it, so that its name says nothing of where something lies.
var renamed = []string{"tablist", "combobox"}

// around are roles of windows, which stand in the step.
var around = []string{"window", "dialog", "alert", "file chooser", "application"}

// deskTarget is what finds the element of an action again: nil where nothing does but its place. A field need not have a name.
func deskTarget(a human.Action) *human.ProcedureTarget {
	e := a.Element
	if e == nil || e.Role == "" || e.Role == "unknown" || slices.Contains(around, e.Role) || e.Hidden != "" || strings.Contains(e.Name, dots) || e.Name == "" && !takesText(e.Role) {
		return nil
	}
	t := &human.ProcedureTarget{Role: e.Role, Name: escape(e.Name)}
	for _, up := range e.Ancestry {
		if slices.Contains(around, up.Role) || strings.HasPrefix(e.Role, "menuitem") { // one menu is open at a time
			break
		}
		if up.Name != "" && up.Hidden == "" && !strings.Contains(up.Name, dots) && !slices.Contains(renamed, up.Role) {
			t.Beside = escape(up.Name)
			break
		}
	}
	return t
}

func takesText(role string) bool {
	return slices.Contains([]string{"textbox", "combobox", "spinbutton"}, role)
}

func sameField(a, b *human.Element) bool {
	return a != nil && b != nil && takesText(a.Role) && a.Role == b.Role && a.Name == b.Name
}

// edits says whether keys only move the caret in a field, or select or delete in it, or are of a letter that no key of the keyboard has.
func edits(a human.Action) bool {
	keys := []string{"Unidentified", "Backspace", "Delete", "Home", "End", "ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"}
	return slices.Contains(keys, a.Key) || strings.EqualFold(a.Key, "a") && slices.Equal(a.Modifiers, []string{"ctrl"})
}

func hasAny(all []string, some ...string) bool {
	return slices.ContainsFunc(some, func(s string) bool { return slices.Contains(all, s) })
}

// deskStep says what makes a step on the desktop one that cannot be done.
func (l *linter) deskStep(s human.ProcedureStep) {
	switch {
	case !slices.Contains([]string{"click", "doubleClick", "tripleClick", "change", "check", "press", "close", "drag"}, s.Do):
		l.say("unknown_step", LintError, s.ID, human.Sayf("there is no step of the kind %q on the desktop: choose another", s.Do))
	case s.Do == "drag" || s.Target == nil && s.Do != "press" && s.Do != "close":
		l.say("cannot_be_done_again", LintError, s.ID, human.Sayf("it cannot be done again: only its place on the screen is known, where something else may be next time"))
	case s.Window == nil || s.Window.Program == "":
		l.say("incomplete_step", LintError, s.ID, human.Sayf("a step of the kind %s needs the field %s: add it", s.Do, "window"))
	case s.Do == "press" && s.Key == "":
		l.say("incomplete_step", LintError, s.ID, human.Sayf("a step of the kind %s needs the field %s: add it", s.Do, "key"))
	case s.Do == "check" && !slices.Equal(s.Options, []string{"checked"}) && !slices.Equal(s.Options, []string{"unchecked"}) && len(Placeholders(strings.Join(s.Options, ""))) == 0:
		l.say("incomplete_step", LintError, s.ID, human.Sayf("a step of the kind %s needs the field %s: add it", s.Do, "options"))
	case s.Secret != "":
		l.say("secret_on_desktop", LintError, s.ID, human.Sayf("it types the secret %s: secrets are typed into pages of a site alone, not on the desktop", s.Secret))
	case s.Do == "press" && s.Target == nil && !hasAny(s.Modifiers, "ctrl", "alt", "meta"):
		l.say("key_without_field", LintWarning, s.ID, human.Sayf("nothing says which part of the window the key is for: what has the keyboard then takes it"))
	case s.Do == "click" && s.Target != nil && slices.Contains([]string{"checkbox", "switch", "menuitemcheckbox"}, s.Target.Role):
		l.say("click_toggles", LintWarning, s.ID, human.Sayf("a click turns it over, whatever it was before: make it a step of the kind check"))
	}
	for _, c := range s.Then {
		if !slices.Contains([]string{"title", "element", "gone", "value", "opened", "closed"}, c.Is) {
			l.say("incomplete_checkpoint", LintError, s.ID, human.Sayf("there is no checkpoint of the sort %s on the desktop: delete it", c.Is))
		}
	}
}
