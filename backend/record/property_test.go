package record_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

// A move is one thing that happens at a fixture, and how long after the one before.
type move struct {
	what  string // letter, focus, tab, enter, erase, click, window, ctrl, pause
	to    int    // which field or window
	after time.Duration
	late  time.Duration // until it is reported
}

// laggard is an application whose answers are late, and say what was so some time ago.
type laggard struct {
	*source
	mu     sync.Mutex
	was    []state
	values [len(places)][]byte
	slow   time.Duration
	lag    time.Duration
	due    time.Time // when the last report of the focus comes: they keep their order
}

type state struct {
	since time.Time
	field int
}

// places are what may have the keyboard: two fields and a terminal that reports nothing.
var places = [...]human.Element{
	{Role: "textbox", Name: "Name", Ref: "name", Bounds: human.Bounds{X: 2, Y: 2, W: 10, H: 4}},
	{Role: "textbox", Name: "Password", Ref: "password", Secret: true, Bounds: human.Bounds{X: 2, Y: 10, W: 10, H: 4}},
	{Role: "textbox", Name: "Comment", Ref: "comment", Bounds: human.Bounds{X: 2, Y: 20, W: 10, H: 4}},
}

func (l *laggard) field(at time.Time) int {
	for i := len(l.was) - 1; i > 0; i-- {
		if !l.was[i].since.After(at) {
			return l.was[i].field
		}
	}
	return l.was[0].field
}

func (l *laggard) wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return human.Wrap(human.Unavailable, ctx.Err(), "no answer")
	case <-time.After(l.slow):
		return nil
	}
}

func (l *laggard) At(ctx context.Context, _, _ int, _ record.Placed) (human.Element, error) {
	return l.Focused(ctx, record.Placed{})
}

func (l *laggard) Focused(ctx context.Context, in record.Placed) (human.Element, error) {
	if err := l.wait(ctx); err != nil {
		return human.Element{}, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if in.App.PID == 300 {
		return human.Element{}, human.Errorf(human.NotFound, "nothing is known of it")
	}
	return places[l.field(time.Now().Add(-l.lag))], nil
}

func (l *laggard) Value(ctx context.Context, e human.Element) (string, error) {
	if err := l.wait(ctx); err != nil {
		return "", err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, p := range places {
		if p.Ref == e.Ref && !p.Secret {
			return string(l.values[i]), nil
		}
	}
	return "", human.Errorf(human.Denied, "a secret field")
}

// Whatever is typed and wherever the focus goes, and however late that is reported: what was typed while a field
// for passwords had the focus is in no event, and every event is accounted for.
func TestNoSecretIsStored(t *testing.T) {
	ms := func(most int) *rapid.Generator[time.Duration] {
		return rapid.Map(rapid.IntRange(0, most), func(n int) time.Duration { return time.Duration(n) * time.Millisecond })
	}
	moves := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) move {
		return move{
			what: rapid.SampledFrom([]string{
				"letter", "letter", "letter", "letter", "letter", "letter", "focus", "tab", "tab", "enter", "erase", "click", "window", "ctrl", "space", "pause",
			}).Draw(t, "what"),
			to:    rapid.IntRange(0, len(places)-1).Draw(t, "to"),
			after: rapid.OneOf(ms(20), ms(150), ms(700)).Draw(t, "after"),
			late:  rapid.OneOf(ms(0), ms(240)).Draw(t, "late"),
		}
	}), 10, 60)
	shown, hidden := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		script := moves.Draw(rt, "script")
		slow, lag := rapid.OneOf(ms(5), ms(250)).Draw(rt, "slow"), ms(100).Draw(rt, "lag")
		var wrong []string
		synctest.Test(t, func(t *testing.T) {
			s, h, w := play(t, script, slow, lag)
			shown, hidden, wrong = shown+s, hidden+h, w
		})
		if len(wrong) > 0 {
			rt.Fatalf("slow %v, lag %v: %s", slow, lag, strings.Join(wrong, "\n"))
		}
	})
	if t.Logf("%d characters shown, %d hidden", shown, hidden); shown < hidden/10 {
		t.Errorf("%d characters shown and %d hidden: it hides nearly everything", shown, hidden)
	}
}

func play(t *testing.T, script []move, slow, lag time.Duration) (shown, hidden int, wrong []string) {
	app := &laggard{source: newSource(human.ElementSource), slow: slow, lag: lag, was: []state{{time.Now(), 0}}}
	d := newFixture(t, record.Options{}, func(deps *record.Deps) { deps.Elements = app })
	defer d.close()
	d.start(human.RecordingOptions{})
	form := placed("w1", "Form", "Form", 100, human.Bounds{W: 40, H: 40})
	terminal := placed("w2", "XTerm", "xterm", 300, human.Bounds{X: 40, W: 20, H: 40})
	d.activate(form)
	d.wait(time.Second)
	var reports sync.WaitGroup
	inTerminal := false
	letters, digits, sent := 0, 0, uint64(0)
	press := func(e human.RecordedEvent) {
		e.At = d.mono()
		sent++
		d.input.send(e)
	}
	focus := func(to int, late time.Duration) {
		app.mu.Lock()
		app.was = append(app.was, state{time.Now(), to})
		at := time.Now().Add(late)
		if !at.After(app.due) {
			at = app.due.Add(1)
		}
		app.due = at
		app.mu.Unlock()
		el := places[to]
		reports.Go(func() {
			<-time.After(time.Until(at))
			app.send(human.RecordedEvent{At: d.mono(), Type: human.FocusMoved, Element: &el, App: &form.App})
		})
	}
	for _, m := range script {
		d.wait(m.after)
		switch m.what {
		case "letter", "space":
			app.mu.Lock()
			at := app.was[len(app.was)-1].field
			var c byte
			switch {
			case m.what == "space":
				c = ' '
			case !inTerminal && places[at].Secret:
				c = "0123456789"[digits%10]
				digits++
			default:
				c = "abcdefghij"[letters%10]
				letters++
			}
			if !inTerminal {
				app.values[at] = append(app.values[at], c)
			}
			app.mu.Unlock()
			press(human.RecordedEvent{Type: human.KeyDown, Key: string(c), Text: string(c)})
			press(human.RecordedEvent{Type: human.KeyUp, Key: string(c), Text: string(c)})
		case "focus":
			if !inTerminal {
				focus(m.to, m.late)
			}
		case "tab":
			press(human.RecordedEvent{Type: human.KeyDown, Key: "Tab", Text: "\t"})
			if !inTerminal {
				focus(m.to, m.late)
			}
		case "enter":
			press(human.RecordedEvent{Type: human.KeyDown, Key: "Enter", Text: "\r"})
		case "erase":
			press(human.RecordedEvent{Type: human.KeyDown, Key: "Backspace", Text: "\b"})
		case "click":
			press(human.RecordedEvent{Type: human.PointerDown, Button: 1, X: 3, Y: 3})
			press(human.RecordedEvent{Type: human.PointerUp, Button: 1, X: 3, Y: 3})
			if !inTerminal {
				focus(m.to, m.late)
			}
		case "ctrl":
			press(human.RecordedEvent{Type: human.KeyDown, Key: "s", Modifiers: []string{"ctrl"}})
		case "window":
			if inTerminal = !inTerminal; inTerminal {
				d.activate(terminal)
			} else {
				d.activate(form)
				focus(m.to, m.late)
			}
		}
	}
	reports.Wait()
	d.wait(2 * time.Second)
	r := d.stop()
	for _, e := range d.events(r.ID) {
		if strings.ContainsAny(e.Text+e.Key, "0123456789") {
			wrong = append(wrong, fmt.Sprintf("stored: %+v", e))
		}
		if e.Type == human.TextTyped {
			if e.Hidden == "" {
				shown += e.Count
			} else {
				hidden += e.Count
			}
		}
	}
	if in := r.Sources[0]; in.Seen != sent || in.Stored != sent || !r.Complete {
		wrong = append(wrong, fmt.Sprintf("%d events sent: %+v", sent, r))
	}
	return shown, hidden, wrong
}
