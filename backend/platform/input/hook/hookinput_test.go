//go:build hooktest && linux

package hook_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/platform/input/hook"
	"deskbell/backend/record/recordtest"
)

var began = time.Now()

func clock() (time.Time, int64) { return time.Now(), int64(time.Since(began)) }

// The library opens the display when the process begins, and breaks without: run this as
//
//	xvfb-run -a go test -tags hooktest ./backend/platform/input/hook
//
// The hook is set before any test counts goroutines.
func TestMain(m *testing.M) {
	ctx, cancel := context.WithCancel(context.Background())
	if _, err := hook.New(clock).Run(ctx, cancel, func(human.RecordedEvent) {}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func xdotool(t testing.TB, script string) {
	t.Helper()
	if out, err := exec.Command("xdotool", strings.Fields(script)...).CombinedOutput(); err != nil {
		t.Fatalf("xdotool %s: %v\n%s", script, err, out)
	}
}

func TestConformance(t *testing.T) {
	recordtest.Source(t, func(testing.TB) recordtest.SourceRig {
		x := 100
		return recordtest.SourceRig{
			Source: hook.New(clock), Name: human.InputSource, Clock: clock,
			Provoke: func(t testing.TB) []human.RecordedEvent {
				x++ // a move to where the pointer is already is none
				xdotool(t, fmt.Sprintf("mousemove %d 50 mousedown 3 mousemove %d 60 mouseup 3 click 5 key a key shift+b key ctrl+c key Return", x, x))
				in := human.InputSource
				return []human.RecordedEvent{
					{Source: in, Type: human.PointerMoved, X: x, Y: 50},
					{Source: in, Type: human.PointerDown, X: x, Y: 50, Button: 3},
					{Source: in, Type: human.PointerMoved, X: x, Y: 60},
					{Source: in, Type: human.PointerUp, X: x, Y: 60, Button: 3},
					{Source: in, Type: human.Scrolled, X: x, Y: 60, DeltaY: 1},
					{Source: in, Type: human.KeyDown, Key: "a", Text: "a"},
					{Source: in, Type: human.KeyUp, Key: "a"},
					{Source: in, Type: human.KeyDown, Key: "Shift"},
					{Source: in, Type: human.KeyDown, Key: "B", Text: "B", Modifiers: []string{"shift"}},
					{Source: in, Type: human.KeyUp, Key: "B"},
					{Source: in, Type: human.KeyDown, Key: "c", Modifiers: []string{"ctrl"}},
					{Source: in, Type: human.KeyUp, Key: "c"},
					{Source: in, Type: human.KeyDown, Key: "Enter"},
					{Source: in, Type: human.KeyUp, Key: "Enter"},
				}
			},
		}
	})
}

// A shortcut says which key, and no text.
func TestAShortcutIsNoText(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var got []human.RecordedEvent
	seen, err := hook.New(clock).Run(ctx, func() { xdotool(t, "key ctrl+v key F5") }, func(e human.RecordedEvent) {
		got = append(got, e)
		if e.Type == human.KeyUp && e.Key == "F5" {
			cancel()
		}
	})
	if err != nil || seen != uint64(len(got)) {
		t.Errorf("counted %d of %d: %v", seen, len(got), err)
	}
	var downs []string
	for _, e := range got {
		if e.Text != "" {
			t.Errorf("text %q", e.Text)
		}
		if e.Type == human.KeyDown {
			downs = append(downs, strings.Join(append(e.Modifiers, e.Key), "+"))
		}
	}
	if s := strings.Join(downs, " "); s != "ctrl+Control ctrl+v F5" {
		t.Errorf("keys were %s", s)
	}
}

func TestOneAtATime(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := hook.New(clock).Run(ctx, func() {
		_, err := hook.New(clock).Run(ctx, func() { t.Error("ready a second time") }, func(human.RecordedEvent) {})
		if human.KindOf(err) != human.Conflict {
			t.Errorf("said %v", err)
		}
		cancel()
	}, func(human.RecordedEvent) {})
	if err != nil {
		t.Error(err)
	}
}
