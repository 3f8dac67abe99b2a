package actions_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"deskbell/backend/human"
	"deskbell/backend/record/actions"
)

// anything draws a recording that no person would make: every event at every moment, causes and ends that
// point anywhere. Typed text has a mark that nothing else has.
func anything(t *rapid.T) []human.RecordedEvent {
	pick := func(label string, from ...string) string { return rapid.SampledFrom(from).Draw(t, label) }
	kinds := []human.RecordedType{
		human.PointerMoved, human.PointerMoved, human.PointerDown, human.PointerDown, human.PointerUp, human.PointerUp, human.Scrolled,
		human.KeyDown, human.KeyDown, human.KeyDown, human.KeyUp, human.TextTyped, human.WindowActive, human.WindowOpened, human.WindowClosed,
		human.WindowRetitled, human.ElementSeen, human.FocusMoved, human.ValueRead, human.PictureTaken, human.FileChanged, human.ClipboardSet,
		human.RecordingHeld, human.RecordingGoesOn, human.Marked, human.GapOpened,
	}
	if browser := rapid.IntRange(0, 2).Draw(t, "browser"); browser == 1 {
		kinds = append(kinds, pageKinds...)
	} else if browser == 2 {
		kinds = slices.Concat(kinds[2:10], pageKinds, pageKinds, []human.RecordedType{human.PictureTaken, human.Marked, human.GapOpened, human.WindowActive})
	}
	elements := []*human.Element{nil, &logIn, &user, &password, &contracts, &menuFile, &exportAs}
	n := rapid.IntRange(0, 80).Draw(t, "events")
	var out []human.RecordedEvent
	at := int64(0)
	for i := range n {
		at += int64(time.Millisecond) * int64(rapid.SampledFrom([]int{-3, 0, 1, 20, 200, 450, 1200, 5000}).Draw(t, "pause"))
		ev := human.RecordedEvent{
			Seq: uint64(i + 1), At: at, Type: rapid.SampledFrom(kinds).Draw(t, "type"),
			X: rapid.IntRange(0, 12).Draw(t, "x"), Y: 5, Button: rapid.IntRange(1, 3).Draw(t, "button"),
			Element: rapid.SampledFrom(elements).Draw(t, "element"),
		}
		cause := uint64(rapid.IntRange(0, i+1).Draw(t, "cause"))
		switch ev.Type {
		case human.Scrolled:
			ev.DeltaY = float64(rapid.SampledFrom([]int{-1, 1}).Draw(t, "delta"))
		case human.KeyDown, human.KeyUp:
			ev.Key = pick("key", "", "", "", "Tab", "Backspace", "Enter", "Meta", "Shift", "c", "v", "Dead")
			if ev.Key == "c" || ev.Key == "v" {
				ev.Modifiers = []string{"ctrl"}
			}
		case human.TextTyped:
			ev.CausedBy, ev.Until = cause, uint64(rapid.IntRange(0, i+1).Draw(t, "until"))
			ev.Text, ev.Hidden = "typed§"+fmt.Sprint(i), pick("hidden", "", "", "password", "secure_input", "unknown_field")
			ev.Count = len([]rune(ev.Text))
			if ev.Hidden != "" {
				ev.Text = "hidden§"
			}
		case human.ValueRead:
			ev.CausedBy, ev.Text, ev.Hidden = cause, "typed§", pick("hidden", "", "password")
			if ev.Hidden != "" {
				ev.Text = "hidden§"
			}
		case human.WindowActive, human.WindowOpened, human.WindowClosed, human.WindowRetitled:
			w := windowEvent(ev.Type, pick("window", "w1", "w2", "d3"), "title", "app", rapid.IntRange(1, 2).Draw(t, "pid"))
			ev.App, ev.Window = w.App, w.Window
		case human.ElementSeen:
			ev.CausedBy = cause
		case human.PictureTaken:
			ev.CausedBy, ev.Picture, ev.When = cause, pick("picture", "picture§1", "picture§2"), pick("when", "before", "after", "window")
		case human.FileChanged:
			ev.File = &human.FileChange{Op: pick("op", "created", "changed", "renamed", "deleted"), Path: pick("path", "/a", "/b", "/c.tmp"), To: pick("to", "/a", "/b", "/c.tmp")}
		case human.ClipboardSet:
			ev.ContentKind, ev.Text = "text", "typed§"
		case human.Marked:
			if step := rapid.IntRange(-1, 2).Draw(t, "step"); step >= 0 {
				ev.Step, ev.Done = &step, rapid.Bool().Draw(t, "done")
			} else {
				ev.Text = "note"
			}
		case human.GapOpened:
			ev.Gap = &human.Gap{From: max(0, at-5), To: at, Reason: pick("reason", "lost", "paused", "excluded")}
		}
		if slices.Contains(pageKinds, ev.Type) || ev.Type == human.PictureTaken && rapid.Bool().Draw(t, "of a page") {
			paged(t, &ev, cause)
		}
		out = append(out, ev)
	}
	return out
}

var pageKinds = []human.RecordedType{
	human.PageOpened, human.PageClosed, human.PageShown, human.PageNavigated, human.PagePress, human.PagePress, human.PageClick, human.PageClick,
	human.PageInput, human.PageInput, human.PageChoice, human.PageKey, human.PageKey, human.PageScrolled, human.PageDrag, human.PageHover,
	human.PageCopied, human.PagePasted, human.PageDialog, human.PageUpload, human.PageDownload, human.PagePicked, human.PageRequest,
	human.PageAnswer, human.PageConsole, human.PageDOM, human.BrowserChanged,
}

// paged makes ev one of a browser, with everything in it that such an event may have.
func paged(t *rapid.T, ev *human.RecordedEvent, cause uint64) {
	pick := func(label string, from ...string) string { return rapid.SampledFrom(from).Draw(t, label) }
	ev.Source = human.BrowserSource
	if rapid.IntRange(0, 3).Draw(t, "caused") == 0 {
		ev.CausedBy = cause
	}
	if rapid.IntRange(0, 20).Draw(t, "page") > 0 {
		ev.Page = &human.WebPage{Target: pick("tab", "t1", "t1", "t2"), Opener: pick("opener", "", "t1"), URL: pick("url", "https://a.example/", "https://b.example/x#y", "about:blank", "%%")}
		ev.Page.Title = pick("title", "", "Title")
		if rapid.IntRange(0, 4).Draw(t, "framed") == 0 {
			ev.Page.Frame = []int{0, 1}
		}
	}
	ev.Element = rapid.SampledFrom([]*human.Element{nil, &country, &terms, &plan, &field, &password}).Draw(t, "page element")
	switch ev.Type {
	case human.PictureTaken:
	case human.BrowserChanged:
		ev.Text, ev.App = pick("change", "opened", "attached", "closed"), &human.App{Name: "app", PID: 1, Exe: "app"}
	case human.PageInput, human.PageCopied:
		ev.Text, ev.Hidden = pick("typed", "", "typed§1", "typed§12"), pick("hidden", "", "", "password")
		if ev.Hidden != "" {
			ev.Text = "hidden§"
		}
		ev.Count = len([]rune(ev.Text))
	case human.PageClick:
		ev.Count = rapid.IntRange(0, 4).Draw(t, "count")
		if rapid.IntRange(0, 4).Draw(t, "checks") == 0 {
			ev.Values = []string{"checked"}
		}
	case human.PageChoice:
		ev.Values = []string{pick("value", "checked", "unchecked", "typed§")}
		if ev.Values[0] == "typed§" {
			ev.Element = &field
		}
	case human.PageKey:
		ev.Key = pick("page key", "Enter", "Tab", "Backspace", "c", " ", "ArrowDown", "Shift", "", "x", "y")
	case human.PageScrolled:
		ev.ToY = rapid.IntRange(0, 300).Draw(t, "offset")
	case human.PageDrag:
		ev.Target = &country
	case human.PageDialog:
		ev.Dialog = &human.Dialog{Kind: pick("dialog", "alert", "confirm", "prompt", "beforeunload", "?"), Message: "message", Accepted: rapid.Bool().Draw(t, "accepted"), Input: pick("input", "", "typed§")}
	case human.PageUpload, human.PageDownload:
		ev.Transfers = []human.Transfer{{Name: "file§", State: pick("state", "completed", "canceled")}}[:rapid.IntRange(0, 1).Draw(t, "files")]
	case human.PagePicked:
		ev.Pick = &human.Pick{Field: pick("field", "plan_name", "price"), Take: human.TakeElement, Text: "picked§"}
		ev.Picture = "picture§crop"
	case human.PageNavigated:
		if rapid.IntRange(0, 9).Draw(t, "navigation") > 0 {
			ev.Navigation = &human.Navigation{Kind: pick("kind", "link", "form", "script", "address", "reload", "back_forward", "redirect", "history", "history", "fragment", "restored", "?")}
		}
	}
}

func derive(events []human.RecordedEvent) []human.Action {
	d := actions.NewDeriver("en")
	for _, ev := range events {
		d.Add(ev)
	}
	return d.Actions()
}

func TestEveryEventBelongsToAtMostOneAction(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := anything(t)
		owner := map[uint64]string{}
		for _, a := range derive(events) {
			if len(a.Seqs) == 0 || a.ID != fmt.Sprintf("a%d", a.Seqs[0]) {
				t.Fatalf("%s is made of %v", a.ID, a.Seqs)
			}
			if !slices.IsSorted(a.Seqs) {
				t.Fatalf("%s has its events out of order: %v", a.ID, a.Seqs)
			}
			for _, s := range a.Seqs {
				if owner[s] != "" {
					t.Fatalf("event %d, %s, belongs to %s and %s", s, events[s-1].Type, owner[s], a.ID)
				}
				owner[s] = a.ID
			}
		}
		ids := map[string]int{}
		for i, a := range derive(events) {
			ids[a.ID] = i
		}
		for i, a := range derive(events) {
			if at, known := ids[a.CausedBy]; a.CausedBy != "" && (!known || at == i) {
				t.Fatalf("%s is caused by %s, which is %v", a.ID, a.CausedBy, known)
			}
		}
		for _, ev := range events {
			if (ev.Type == human.PointerDown || ev.Type == human.PagePress || ev.Type == human.PageClick || ev.Type == human.PageInput) && owner[ev.Seq] == "" {
				t.Fatalf("press %d belongs to no action", ev.Seq)
			}
		}
	})
}

func TestActionsAreOrderedAndEachHasWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		last := uint64(0)
		for _, a := range derive(anything(t)) {
			if a.Seqs[0] <= last {
				t.Fatalf("%s stands after the action of event %d", a.ID, last)
			}
			last = a.Seqs[0]
			if a.End < a.At {
				t.Fatalf("%s ends at %d, before it begins at %d", a.ID, a.End, a.At)
			}
			for _, lang := range []string{"en", "zh-CN"} {
				if w := actions.Words(a, lang); strings.TrimSpace(w) == "" || strings.Contains(w, "%!") {
					t.Fatalf("%s in %s: %q", a.ID, lang, w)
				}
			}
		}
	})
}

func TestDerivingStepByStepIsDerivingAtOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := anything(t)
		live := actions.NewDeriver("en")
		for i, ev := range events {
			live.Add(ev)
			if rapid.IntRange(0, 4).Draw(t, "look") > 0 {
				continue
			}
			kept := live.Actions()
			before, _ := json.Marshal(kept)
			if want := derive(events[:i+1]); !reflect.DeepEqual(kept, want) {
				t.Fatalf("after event %d\n live %s\n once %s", i+1, text(kept), text(want))
			}
			for _, more := range events[i+1:] {
				live.Add(more)
			}
			if after, _ := json.Marshal(kept); string(after) != string(before) {
				t.Fatalf("what was given out changed later:\n was %s\n is  %s", before, after)
			}
			return
		}
	})
}

// TestLookingOftenChangesNothing looks after each event: what is kept between looks must not go stale.
func TestLookingOftenChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := anything(t)
		live := actions.NewDeriver("en")
		for i, ev := range events {
			live.Add(ev)
			if got, want := live.Actions(), derive(events[:i+1]); !reflect.DeepEqual(got, want) {
				t.Fatalf("after event %d\n live %s\n once %s", i+1, text(got), text(want))
			}
		}
	})
}

func text(list []human.Action) string { b, _ := json.Marshal(list); return string(b) }

func TestNothingHiddenIsSaid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		if all := text(derive(anything(t))); strings.Contains(all, "hidden§") {
			t.Fatalf("something hidden is in %s", all)
		}
	})
}

func TestAnAgentNeverGetsWhatWasTyped(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := derive(anything(t))
		var e human.Edits
		for _, a := range list {
			switch rapid.IntRange(0, 5).Draw(t, "edit") {
			case 0:
				e.Cuts = append(e.Cuts, a.ID)
			case 1:
				e.MaskedTexts = append(e.MaskedTexts, a.ID)
			}
		}
		given := actions.ForAgent(list, e, "en")
		if all := text(given); strings.Contains(all, "typed§") || strings.Contains(all, "picture§") {
			t.Fatalf("text or pictures are in %s", all)
		}
		e.ShareText, e.SharePictures = true, true
		for _, a := range actions.ForAgent(list, e, "en") {
			if slices.Contains(e.Cuts, a.ID) {
				t.Fatalf("%s was cut and is given", a.ID)
			}
			a.Before, a.After = "", ""
			if slices.Contains(e.MaskedTexts, a.ID) && (strings.Contains(text([]human.Action{a}), "§") || a.Element != nil && (a.Element.Name != "" || a.Element.Selectors != nil)) {
				t.Fatalf("%s was masked and says %q, %+v", a.ID, a.Words, a.Element)
			}
		}
	})
}

// million is an hour and more of a busy person: the pointer moves most of the time.
func million(n int) []human.RecordedEvent {
	tape := signer()
	for len(tape.events) < n {
		for i := range 60 {
			tape.move(100+i, 100)
		}
		tape.wait(600).press(1, 160, 100).picture("p1", "before", tape.last()).on(logIn).release(1, 160, 100).picture("p2", "after", tape.last())
		tape.focus(user).types("seventeen letters").value("seventeen letters")
		for range 5 {
			tape.scroll(150, 150, 1)
		}
		tape.wait(600).press(1, 100, 100)
		for i := range 30 {
			tape.move(100+3*i, 100)
		}
		tape.release(1, 190, 100).wait(900)
	}
	return tape.events[:n]
}

func BenchmarkMillionEvents(b *testing.B) {
	events := million(1_000_000)
	b.ReportAllocs()
	for b.Loop() {
		if n := len(derive(events)); n < 10_000 {
			b.Fatalf("%d actions", n)
		}
	}
}

// BenchmarkLive is what a view costs that asks after each action of a long recording.
func BenchmarkLive(b *testing.B) {
	events := million(100_000)
	d := actions.NewDeriver("en")
	for _, ev := range events {
		d.Add(ev)
	}
	d.Actions()
	seq, at := events[len(events)-1].Seq, events[len(events)-1].At
	b.ReportAllocs()
	for b.Loop() {
		seq++
		at += int64(time.Second)
		d.Add(human.RecordedEvent{Seq: seq, At: at, Type: human.PointerDown, Button: 1, X: 5, Y: 5})
		d.Actions()
	}
}
