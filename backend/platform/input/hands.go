package input

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

const (
	lookAgain = 50 * time.Millisecond // between two looks at a window for what is not there yet
	landed    = 60 * time.Millisecond // for what the pointer enters to notice it
)

// A Desk does steps of procedures on this desktop: by what programs offer to accessibility, else with pointer and keys. Not for concurrent
// use.
type Desk struct {
	*Player
	find   record.Finder
	acting record.Acting
}

var _ record.Desk = (*Desk)(nil)

// NewDesk makes a Desk of the sources that know windows and elements. Unavailable where there is no desktop on which elements can be found
// and acted on. Close it.
func NewDesk(windows record.Windows, elements record.Elements, acting record.Acting) (*Desk, error) {
	find, ok := elements.(record.Finder)
	if !ok {
		return nil, human.Errorf(human.Unavailable, "procedures of work on the desktop are run on Linux alone, in an X11 session")
	}
	p, err := New(windows, elements)
	if err != nil {
		return nil, human.Wrap(human.Unavailable, err, "procedures of work on the desktop are run in an X11 session alone")
	}
	return &Desk{p, find, acting}, nil
}

// Do implements record.Desk.
func (d *Desk) Do(ctx context.Context, s human.ProcedureStep, secret *record.Secret, patience time.Duration) (record.Did, error) {
	if secret != nil || s.Window == nil {
		return record.Did{}, human.Errorf(human.Invalid, "a step on the desktop needs its window, and types no secret")
	}
	until := time.Now().Add(patience)
	for asked := ""; ; {
		w, err := d.ready(ctx, *s.Window, &asked)
		var e human.Element
		if err == nil && s.Target != nil {
			e, err = d.one(ctx, w, s.Target, s.Do != "press")
		}
		at := act{Desk: d, step: s, in: w, on: e}
		if err == nil {
			err = at.do(ctx)
		}
		not := (*record.Mismatch)(nil)
		switch {
		case err == nil:
			did := record.Did{Element: words(w, s.Target)}
			if s.Target != nil {
				did.FoundBy = "role and name"
			}
			return did, nil
		case !errors.As(err, &not), at.begun || time.Now().After(until):
			if not != nil {
				not.Did = at.begun
			}
			return record.Did{}, err
		}
		if err := wait(ctx, lookAgain); err != nil {
			return record.Did{}, err
		}
	}
}

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func mismatch(expected, found human.Sentence) *record.Mismatch {
	return &record.Mismatch{Expected: expected, Found: found}
}

// fits says whether a text is of a pattern in which * stands for anything.
func fits(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	rest, ok := strings.CutPrefix(text, parts[0])
	for i, p := range parts[1:] {
		if i == len(parts)-2 {
			return ok && strings.HasSuffix(rest, p)
		}
		at := strings.Index(rest, p)
		if !ok || at < 0 {
			return false
		}
		rest = rest[at+len(p):]
	}
	return ok && rest == ""
}

// windowsOf are the windows on the screen that a procedure means.
func (d *Desk) windowsOf(ctx context.Context, of human.ProcedureWindow) ([]record.Placed, error) {
	all, err := d.Windows(ctx)
	return slices.DeleteFunc(slices.Clone(all), func(w record.Placed) bool {
		program := strings.EqualFold(w.App.Name, of.Program) || strings.EqualFold(w.App.Exe, of.Program)
		unmarked := strings.Trim(w.Window.Title, "*•● ")         // of unsaved changes
		popup, ok := d.hand.(interface{ popup(id string) bool }) // menus of Qt have the title of the program
		return !program || of.Title != "" && !fits(of.Title, w.Window.Title) && !fits(of.Title, unmarked) || ok && popup.popup(w.Window.ID)
	}), err
}

// ready is the window that a procedure means, once it is alone and has the keyboard. asked is the one that was asked to take it.
func (d *Desk) ready(ctx context.Context, of human.ProcedureWindow, asked *string) (w record.Placed, err error) {
	all, err := d.windowsOf(ctx, of)
	switch {
	case err != nil:
		return w, err
	case len(all) == 0:
		m := mismatch(human.Sayf("A window of %s is open: %s", of.Program, of.Title), human.Sayf("It is not there."))
		m.Missing = true
		return w, m
	case len(all) > 1:
		return w, mismatch(human.Sayf("One window of %s is open: %s", of.Program, of.Title), human.Sayf("There are %d that are alike.", len(all)))
	}
	w = all[0]
	now, err := d.Active(ctx)
	if err != nil && human.KindOf(err) != human.NotFound {
		return w, err
	}
	if err == nil && now.Window.ID == w.Window.ID {
		return w, nil
	}
	if *asked != w.Window.ID {
		*asked = w.Window.ID
		if err := d.Activate(ctx, w); err != nil {
			return w, err
		}
	}
	return w, mismatch(human.Sayf("The window %q has the keyboard.", w.Window.Title), human.Sayf("The window %q has it.", now.Window.Title))
}

// words are a target and its window.
func words(w record.Placed, t *human.ProcedureTarget) string {
	if t == nil {
		return w.Window.Title
	}
	said := t.Role
	if t.Name != "" {
		said += " " + strconv.Quote(t.Name)
	}
	if t.Beside != "" {
		said += " in " + strconv.Quote(t.Beside)
	}
	return said
}

// one finds an element in a window, alone and, to be used, not disabled.
func (d *Desk) one(ctx context.Context, w record.Placed, t *human.ProcedureTarget, used bool) (human.Element, error) {
	all, err := d.find.Find(ctx, w, t.Role, t.Name, t.Beside)
	target := words(w, t)
	switch {
	case err != nil && ctx.Err() == nil && (human.KindOf(err) == human.NotFound || human.KindOf(err) == human.Unavailable):
		return human.Element{}, mismatch(human.Sayf("%s is in the window %q.", target, w.Window.Title), human.Sayf("%s", human.SafeText(err)))
	case err != nil:
		return human.Element{}, err
	case len(all) == 0:
		m := mismatch(human.Sayf("%s is in the window %q.", target, w.Window.Title), human.Sayf("It is not there."))
		m.Missing = true
		return human.Element{}, m
	case len(all) > 1:
		return human.Element{}, mismatch(human.Sayf("One %s is in the window %q.", target, w.Window.Title), human.Sayf("There are %d that are alike.", len(all)))
	case used && slices.Contains(all[0].States, "disabled"):
		return human.Element{}, mismatch(human.Sayf("%s can be used.", target), human.Sayf("It is disabled."))
	}
	return all[0], nil
}

// An act is one step that is done on an element that was found, in a window that has the keyboard.
type act struct {
	*Desk
	step  human.ProcedureStep
	in    record.Placed
	on    human.Element
	begun bool // something was done
}

func (a *act) do(ctx context.Context) error {
	defer a.acting()()
	s := a.step
	switch s.Do {
	case "click":
		return a.click(ctx, 1)
	case "doubleClick":
		return a.click(ctx, 2)
	case "tripleClick":
		return a.click(ctx, 3)
	case "check":
		if on := slices.Contains(a.on.States, "checked"); len(s.Options) == 1 && on == (s.Options[0] == "checked") {
			return nil
		}
		return a.click(ctx, 1)
	case "change":
		return a.change(ctx)
	case "press":
		if s.Target != nil {
			if err := a.focus(ctx); err != nil {
				return err
			}
		}
		return a.keys(s.Key, s.Modifiers, max(s.Count, 1))
	case "close":
		h, ok := a.hand.(interface{ closeWindow(id string) error })
		if !ok {
			return human.Errorf(human.Unavailable, "windows cannot be closed on this system")
		}
		a.begun = true
		return failed("close the window", h.closeWindow(a.in.Window.ID))
	}
	return human.Errorf(human.Invalid, "there is no step of the kind %q on the desktop: choose another", s.Do)
}

// click clicks with the pointer, or has the program do what a click does where the pointer does not reach. That comes second: a program
// that opens a dialog by such an action may say nothing more to accessibility until that is closed.
func (a *act) click(ctx context.Context, times int) error {
	x, y, err := a.reach(ctx)
	if not := (*record.Mismatch)(nil); errors.As(err, &not) && times == 1 && a.step.Button <= 1 && len(a.step.Modifiers) == 0 {
		_ = a.find.Focus(ctx, a.on) // some give it to nothing; a field that is left may want to know
		a.begun = true
		done, pushed := a.find.Push(ctx, a.on)
		switch {
		case human.KindOf(pushed) == human.Unavailable:
			return mismatch(human.Sayf("The program answers."), human.Sayf("It does not answer; it may be busy."))
		case done || pushed != nil:
			return pushed
		}
		a.begun = false
	}
	if err != nil {
		return err
	}
	if err := errors.Join(a.Move(x, y), wait(ctx, landed)); err != nil {
		return err
	}
	if _, _, err := a.reach(ctx); err != nil { // it moved meanwhile, as a row does when one above it goes
		return err
	}
	if now := a.Interrupted(); now != "" { // the person has the pointer: it is not there any more
		return mismatch(human.Sayf("%s can be reached.", words(a.in, a.step.Target)), human.Sayf("you moved the pointer"))
	}
	button := max(a.step.Button, 1)
	return a.holding(a.step.Modifiers, func() error {
		a.begun = true
		for range times {
			if err := errors.Join(a.Press(button), wait(ctx, landed/2), a.Release(button), wait(ctx, landed/2)); err != nil {
				return err
			}
		}
		return nil
	})
}

// reach is a point of the element at which that very element is.
func (a *act) reach(ctx context.Context) (x, y int, err error) {
	b := a.on.Bounds
	x, y = b.X+b.W/2, b.Y+b.H/2
	target := words(a.in, a.step.Target)
	if b.W <= 0 || b.H <= 0 {
		return 0, 0, mismatch(human.Sayf("%s can be reached.", target), human.Sayf("It is outside of what is shown."))
	}
	all, err := a.Windows(ctx)
	if err != nil {
		return 0, 0, err
	}
	if top := slices.IndexFunc(all, func(w record.Placed) bool { return w.Window.Bounds.Contains(x, y) }); top >= 0 && all[top].App.PID != a.in.App.PID {
		return 0, 0, mismatch(human.Sayf("%s can be reached.", target), human.Sayf("It is covered by %s.", all[top].Window.Title))
	}
	there, err := a.find.At(ctx, x, y, a.in)
	switch {
	case err != nil && ctx.Err() == nil && (human.KindOf(err) == human.NotFound || human.KindOf(err) == human.Unavailable):
		return 0, 0, mismatch(human.Sayf("%s can be reached.", target), human.Sayf("%s", human.SafeText(err)))
	case err != nil:
		return 0, 0, err
	case there.Ref != a.on.Ref:
		return 0, 0, mismatch(human.Sayf("%s can be reached.", target), human.Sayf("It is covered by %s.", there.Role+" "+strconv.Quote(there.Name)))
	}
	return x, y, nil
}

// focus gives the element the keyboard, by a click where asking for it does nothing.
func (a *act) focus(ctx context.Context) error {
	has := func() bool {
		now, err := a.Focused(ctx, a.in)
		return err == nil && now.Ref == a.on.Ref
	}
	if has() {
		return nil
	}
	if a.find.Focus(ctx, a.on) == nil && errors.Join(wait(ctx, landed)) == nil && has() {
		return nil
	}
	if !slices.Contains(a.on.States, "editable") { // a click on it would be more than that
		return mismatch(human.Sayf("%s has the keyboard.", words(a.in, a.step.Target)), human.Sayf("Something else has it."))
	}
	x, y, err := a.reach(ctx)
	if err != nil {
		return err
	}
	if err := errors.Join(a.Move(x, y), a.Press(1), wait(ctx, landed), a.Release(1), wait(ctx, landed)); err != nil {
		return err
	}
	if !has() {
		return mismatch(human.Sayf("%s has the keyboard.", words(a.in, a.step.Target)), human.Sayf("Something else has it."))
	}
	return nil
}

// change has a text stand in a field, instead of what did.
func (a *act) change(ctx context.Context) error {
	if a.on.Secret {
		return mismatch(human.Sayf("%s can be typed into.", words(a.in, a.step.Target)), human.Sayf("It is a field for secrets."))
	}
	if !slices.Contains(a.on.States, "editable") {
		return mismatch(human.Sayf("%s can be typed into.", words(a.in, a.step.Target)), human.Sayf("It takes no text."))
	}
	if err := a.focus(ctx); err != nil {
		return err
	}
	a.begun = true
	done, err := a.find.Write(ctx, a.on, a.step.Text)
	switch {
	case human.KindOf(err) == human.Unavailable:
		return mismatch(human.Sayf("The program answers."), human.Sayf("It does not answer; it may be busy."))
	case err != nil:
		return err
	case !done:
		if err := a.keys("a", []string{"ctrl"}, 1); err != nil {
			return err
		}
		if err := a.keys("Delete", nil, 1); err != nil {
			return err
		}
		if err := a.Text(a.step.Text); err != nil {
			return err
		}
	}
	if a.step.Key == "" {
		return nil
	}
	return errors.Join(wait(ctx, landed), a.keys(a.step.Key, nil, 1))
}

func (a *act) keys(key string, modifiers []string, times int) error {
	a.begun = true
	return a.holding(modifiers, func() error {
		for range times {
			if err := a.Key(key); err != nil {
				return err
			}
		}
		return nil
	})
}

// holding does something while modifiers are held.
func (a *act) holding(modifiers []string, do func() error) (err error) {
	for _, m := range modifiers {
		if err := a.Hold(m); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, a.LetGo(m)) }()
	}
	return do()
}

// Holds implements record.Desk.
func (d *Desk) Holds(ctx context.Context, c human.ProcedureCheckpoint, _ int64) (*record.Mismatch, error) {
	if c.Window == nil {
		return nil, human.Errorf(human.Invalid, "a checkpoint on the desktop needs its window")
	}
	of := *c.Window
	switch c.Is {
	case "title", "opened", "closed":
		of.Title = c.Text
	}
	all, err := d.windowsOf(ctx, of)
	if err != nil {
		return nil, err
	}
	expected := human.Sayf("A window of %s is open: %s", of.Program, of.Title)
	switch {
	case c.Is == "closed" && len(all) > 0:
		return mismatch(human.Sayf("No window of %s is open: %s", of.Program, of.Title), human.Sayf("It is open.")), nil
	case c.Is == "closed" || c.Is == "gone" && len(all) == 0:
		return nil, nil
	case len(all) == 0:
		return mismatch(expected, human.Sayf("It is not there.")), nil
	case c.Is == "title" || c.Is == "opened":
		return nil, nil
	case len(all) > 1:
		return mismatch(human.Sayf("One window of %s is open: %s", of.Program, of.Title), human.Sayf("There are %d that are alike.", len(all))), nil
	case c.Target == nil:
		return nil, human.Errorf(human.Invalid, "there is no checkpoint of the sort %s on the desktop: delete it", c.Is)
	}
	e, err := d.one(ctx, all[0], c.Target, false)
	not := (*record.Mismatch)(nil)
	switch {
	case c.Is == "gone" && errors.As(err, &not) && not.Missing:
		return nil, nil
	case errors.As(err, &not):
		return not, nil
	case err != nil:
		return nil, err
	case c.Is == "gone":
		return mismatch(human.Sayf("%s is not in the window %q.", words(all[0], c.Target), all[0].Window.Title), human.Sayf("It is there.")), nil
	case c.Is != "value":
		return nil, nil
	}
	is, err := d.find.Value(ctx, e)
	if err == nil && is == c.Text {
		return nil, nil
	}
	expected = human.Sayf("%s holds %q", words(all[0], c.Target), c.Text)
	if err != nil {
		return mismatch(expected, human.Sayf("%s", human.SafeText(err))), ctx.Err()
	}
	return mismatch(expected, human.Sayf("It holds %q", human.OneLine(is, 200))), nil
}
