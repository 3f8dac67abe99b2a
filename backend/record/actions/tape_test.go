package actions_test

import (
	"iter"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/record/actions"
)

// A tape writes down what a recorder would: each event a few milliseconds after the one before.
type tape struct {
	at     int64
	events []human.RecordedEvent
}

func record() *tape { return &tape{} }

func (t *tape) add(ev human.RecordedEvent) *tape {
	t.at += int64(10 * time.Millisecond)
	ev.Seq, ev.At = uint64(len(t.events)+1), t.at
	t.events = append(t.events, ev)
	return t
}

func (t *tape) last() uint64 { return uint64(len(t.events)) }

func (t *tape) wait(ms int) *tape { t.at += int64(ms) * int64(time.Millisecond); return t }

func (t *tape) window(id, title, app string, pid int) *tape {
	return t.add(windowEvent(human.WindowActive, id, title, app, pid))
}

func (t *tape) opened(id, title, app string, pid int) *tape {
	return t.add(windowEvent(human.WindowOpened, id, title, app, pid))
}

func (t *tape) closed(id, title, app string, pid int) *tape {
	return t.add(windowEvent(human.WindowClosed, id, title, app, pid))
}

func windowEvent(kind human.RecordedType, id, title, app string, pid int) human.RecordedEvent {
	bounds := human.Bounds{X: 100, Y: 100, W: 800, H: 600}
	if id[0] == 'd' { // a dialog stands over its window
		bounds = human.Bounds{X: 300, Y: 200, W: 300, H: 200}
	}
	return human.RecordedEvent{
		Source: human.WindowSource, Type: kind, App: &human.App{Name: app, PID: pid, Exe: app},
		Window: &human.Window{ID: id, Title: title, Bounds: bounds},
	}
}

func (t *tape) move(x, y int) *tape {
	return t.add(human.RecordedEvent{Source: human.InputSource, Type: human.PointerMoved, X: x, Y: y})
}

func (t *tape) press(button, x, y int, mods ...string) *tape {
	return t.add(human.RecordedEvent{Source: human.InputSource, Type: human.PointerDown, Button: button, X: x, Y: y, Modifiers: mods})
}

func (t *tape) release(button, x, y int) *tape {
	return t.add(human.RecordedEvent{Source: human.InputSource, Type: human.PointerUp, Button: button, X: x, Y: y})
}

func (t *tape) click(x, y int, mods ...string) *tape {
	return t.press(1, x, y, mods...).release(1, x, y)
}

// on says what was under the pointer at the last press or scroll.
func (t *tape) on(e human.Element) *tape {
	cause := uint64(0)
	for i := len(t.events) - 1; i >= 0 && cause == 0; i-- {
		if ev := t.events[i]; ev.Type == human.PointerDown || ev.Type == human.Scrolled {
			cause = ev.Seq
		}
	}
	return t.caused(cause, e)
}

func (t *tape) caused(cause uint64, e human.Element) *tape {
	return t.add(human.RecordedEvent{Source: human.ElementSource, Type: human.ElementSeen, Element: &e, CausedBy: cause})
}

func (t *tape) scroll(x, y int, dy float64) *tape {
	return t.add(human.RecordedEvent{Source: human.InputSource, Type: human.Scrolled, X: x, Y: y, DeltaY: dy})
}

func (t *tape) key(key string, mods ...string) *tape {
	return t.down(key, mods...).add(human.RecordedEvent{Source: human.InputSource, Type: human.KeyUp, Key: key, Modifiers: mods})
}

func (t *tape) down(key string, mods ...string) *tape {
	return t.add(human.RecordedEvent{Source: human.InputSource, Type: human.KeyDown, Key: key, Modifiers: mods})
}

// strokes are keys that make text, as they are stored.
func (t *tape) strokes(n int) *tape {
	for range n {
		t.add(human.RecordedEvent{Source: human.InputSource, Type: human.KeyDown})
		t.add(human.RecordedEvent{Source: human.InputSource, Type: human.KeyUp})
	}
	return t
}

func (t *tape) text(text string, first, last uint64) *tape {
	return t.add(human.RecordedEvent{Source: human.InputSource, Type: human.TextTyped, Text: text, Count: len([]rune(text)), CausedBy: first, Until: last})
}

// types is a whole run: the keys, then their text.
func (t *tape) types(text string) *tape {
	first := t.last() + 1
	t.strokes(len([]rune(text)))
	return t.text(text, first, t.last()-1)
}

func (t *tape) hidden(n int, why string) *tape {
	first := t.last() + 1
	t.strokes(n)
	return t.add(human.RecordedEvent{Source: human.InputSource, Type: human.TextTyped, Count: n, Hidden: why, CausedBy: first, Until: t.last() - 1})
}

func (t *tape) value(text string) *tape {
	return t.add(human.RecordedEvent{Source: human.ElementSource, Type: human.ValueRead, Text: text})
}

func (t *tape) focus(e human.Element) *tape {
	return t.add(human.RecordedEvent{Source: human.ElementSource, Type: human.FocusMoved, Element: &e})
}

func (t *tape) picture(id, when string, cause uint64) *tape {
	return t.add(human.RecordedEvent{Source: human.ScreenSource, Type: human.PictureTaken, Picture: id, When: when, CausedBy: cause})
}

func (t *tape) file(op, path, to string) *tape {
	return t.add(human.RecordedEvent{Source: human.FileSource, Type: human.FileChanged, File: &human.FileChange{Op: op, Path: path, To: to}})
}

func (t *tape) clip(kind, text string) *tape {
	return t.add(human.RecordedEvent{Source: human.ClipboardSource, Type: human.ClipboardSet, ContentKind: kind, Text: text})
}

func (t *tape) note(text string) *tape {
	return t.add(human.RecordedEvent{Source: human.RecorderSource, Type: human.Marked, Text: text})
}

func (t *tape) tick(step int, done bool) *tape {
	return t.add(human.RecordedEvent{Source: human.RecorderSource, Type: human.Marked, Step: &step, Done: done})
}

func (t *tape) all() iter.Seq2[human.RecordedEvent, error] {
	return func(yield func(human.RecordedEvent, error) bool) {
		for _, ev := range t.events {
			if !yield(ev, nil) {
				return
			}
		}
	}
}

func (t *tape) actions(lang string) []human.Action {
	list, err := actions.From(t.all(), lang)
	if err != nil {
		panic(err)
	}
	return list
}

func words(list []human.Action) []string {
	out := []string{}
	for _, a := range list {
		out = append(out, a.Words)
	}
	return out
}

var (
	logIn     = human.Element{Role: "button", Name: "Log in", Bounds: human.Bounds{X: 10, Y: 10, W: 80, H: 30}}
	user      = human.Element{Role: "textbox", Name: "User"}
	password  = human.Element{Role: "textbox", Name: "Password", Secret: true}
	search    = human.Element{Role: "searchbox", Name: "Search"}
	contracts = human.Element{Role: "list", Name: "Contracts", Bounds: human.Bounds{X: 100, Y: 100, W: 400, H: 400}}
	menuFile  = human.Element{Role: "menu", Name: "File", Ancestry: []human.Element{{Role: "menubar"}, {Role: "frame", Name: "Signer"}}}
	exportAs  = human.Element{Role: "menuitem", Name: "Export as…", Ancestry: []human.Element{{Role: "menu", Name: "File"}, {Role: "menubar"}}}
)

// signer is a recording that begins in the program Signer, which was there before.
func signer() *tape { return record().window("w1", "Contracts - Signer", "Signer", 7) }
