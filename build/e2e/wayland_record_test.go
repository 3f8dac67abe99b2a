//go:build window

package e2e

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"deskbell/backend/human"
	"deskbell/build/e2e/desktoptest"
)

// A formWorker works in a form under a compositor, with the compositor's own pointer and keyboard.
type formWorker struct {
	*desktoptest.Compositor
	form *desktoptest.Form
	name string // of the form, on the bus of accessibility
}

// press clicks a part of the form.
func (w formWorker) press(part string) {
	at := w.form.Place(part)
	p := at.Min.Add(at.Size().Div(2)).Add(w.Corner())
	w.Click(p.X, p.Y)
}

// enter clicks a field and waits until it has the keyboard.
func (w formWorker) enter(part string) {
	w.press(part)
	w.Wait(part+" to have the keyboard", func() bool {
		return slices.ContainsFunc(w.Elements(w.name+".py"), func(e desktoptest.Element) bool { return e.Focused && e.At.Overlaps(w.form.Place(part)) })
	})
}

// fill clicks a field and types into it.
func (w formWorker) fill(part, text, key string, want any) {
	w.enter(part)
	w.Type(text)
	w.form.Await(key, want)
}

// Of a button that is pressed GTK reports that it has the keyboard, and no more.
//
// recordsReports records work in a form under a compositor: what the form reports is in the recording and nothing else, its
// passwords are nowhere, and the time in a program that reports nothing is a gap.
func recordsReports(t *testing.T, c *desktoptest.Compositor, script, system, secret string) {
	const password = "hunter2plain"
	d := fixtureOn(t, c.Desktop)
	w := formWorker{c, d.StartForm(script, d.Home, nil), strings.TrimSuffix(script, ".py")}
	w.form.Place("Greet")
	h := d.serve()
	var ready struct{ Sources []human.SourceState }
	h.call("GET", "/api/recorder", nil, &ready)
	said := map[human.SourceName]human.SourceState{}
	for _, s := range ready.Sources {
		said[s.Source] = s
	}
	for source, status := range map[human.SourceName]string{
		human.InputSource: "missing", human.WindowSource: "partial", human.ElementSource: "partial", human.FileSource: "off",
	} {
		if s := said[source]; s.Status != status || status != "off" && (s.Code != "wayland" || s.Detail == "" || s.Fix == "") {
			t.Errorf("before it starts it says of %s: %+v", source, s)
		}
	}
	w.enter("Name")
	op, _ := h.ring("Fill in the form", map[string]any{"path": "form"})
	var rec human.Recording
	h.call("POST", "/api/recordings", map[string]any{"operation_id": op.ID}, &rec)
	if rec.System != system {
		t.Errorf("the system is %q, not %q", rec.System, system)
	}
	w.fill("Name", "ada", "name", "ada")
	w.fill(secret, password, "password_length", len(password))
	w.press("Agree")
	w.form.Await("agree", true)
	w.press("Greet")
	w.form.Await("greetings", 1)
	silent := c.Terminal() // it is not on the bus of accessibility
	c.Type("rm")
	c.Wait("the terminal to read", func() bool { return silent() == "rm" })
	since, _ := h.recorder()
	c.Wait("a second in it", func() bool { current, running := h.recorder(); return running && current.Elapsed > since.Elapsed+1e9 })
	h.call("POST", "/api/recordings/"+string(rec.ID)+"/stop", nil, &rec)

	for _, e := range h.events(rec.ID) {
		t.Logf("%s %s %s reported %t text %q hidden %s %+v", e.Source, e.Type, elementOf(e), e.Reported, e.Text, e.Hidden, e.Gap)
	}
	all := h.actions(rec.ID)
	for _, a := range all {
		t.Log(a.Words)
		switch a.Type {
		case human.Click, human.DoubleClick, human.Typing, human.Shortcut, human.Drag, human.Scroll:
			t.Errorf("no input was seen, and there is %q", a.Words)
		case human.ValueChange, human.Focus:
			if !a.Reported {
				t.Errorf("%q is not marked as reported", a.Words)
			}
		}
	}
	has(t, all, "the name", func(a human.Action) bool {
		return a.Type == human.ValueChange && a.Element.Name == "Name" && a.Text == "ada"
	})
	has(t, all, "the password", func(a human.Action) bool {
		return a.Type == human.ValueChange && a.Element.Name == secret && a.Hidden == "password" && a.Text == ""
	})
	has(t, all, "the checkbox", func(a human.Action) bool {
		return a.Type == human.ValueChange && a.Element.Name == "Agree" && slices.Contains(a.Element.States, "checked")
	})
	has(t, all, "the button", func(a human.Action) bool {
		return a.Type == human.Focus && a.Element.Name == "Greet" && a.Window != nil && strings.HasPrefix(a.Window.Title, "Form")
	})
	has(t, all, "the time in the terminal", func(a human.Action) bool {
		return a.Type == human.Missing && a.Gap.Reason == "unreported" && a.Gap.To > a.Gap.From
	})
	if rec.Complete || rec.Counts.Clicks+rec.Counts.Keys > 0 {
		t.Errorf("the recording says complete %t, with %+v", rec.Complete, rec.Counts)
	}
	d.nowhere(password)

	var draft json.RawMessage
	h.call("POST", "/api/recordings/"+string(rec.ID)+"/summary", map[string]any{}, &draft)
	text := draft
	t.Logf("%s", text)
	for _, claim := range []string{"licked", "yped", "ressed ", "Nothing was done", password} {
		if strings.Contains(string(text), claim) {
			t.Errorf("the summary claims %q: %s", claim, text)
		}
	}
	if !strings.Contains(string(text), "reported nothing") || !strings.Contains(string(text), "Not recorded at all") {
		t.Errorf("the summary does not say what it cannot know: %s", text)
	}
}

func elementOf(e human.RecordedEvent) string {
	if e.Element == nil {
		return ""
	}
	return e.Element.Role + " " + e.Element.Name
}

func TestWaylandRecordOnSway(t *testing.T) {
	t.Parallel()
	recordsReports(t, desktoptest.StartSway(t), "form.gtk3.py", "linux/wayland/sway", "Password")
}

func TestWaylandRecordOnGNOME(t *testing.T) {
	recordsReports(t, desktoptest.StartGNOME(t), "form.gtk3.py", "linux/wayland/gnome", "Password")
}
