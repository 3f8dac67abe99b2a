package record_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

// run has f work at a fixture whose recorder is ended afterwards.
func run(t *testing.T, opts record.Options, f func(*testing.T, *fixture), change ...func(*record.Deps)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d := newFixture(t, opts, change...)
		defer d.close()
		f(t, d)
	})
}

func wantKind(t *testing.T, what string, err error, kind human.ErrorKind, says ...string) {
	t.Helper()
	if err == nil || human.KindOf(err) != kind {
		t.Errorf("%s: %v, want kind %d", what, err, kind)
		return
	}
	for _, s := range says {
		if !strings.Contains(human.SafeText(err), s) {
			t.Errorf("%s: %q does not say %q", what, human.SafeText(err), s)
		}
	}
}

func TestWhoMayRecordWhat(t *testing.T) {
	run(t, record.Options{}, func(t *testing.T, d *fixture) {
		ctx := t.Context()
		d.ops.claimed["op_2"] = "Bob"
		_, err := d.rec.Start(ctx, human.Actor{Role: human.Agent, Name: "Ann"}, "op_1", human.RecordingOptions{})
		wantKind(t, "an agent records", err, human.Denied)
		_, err = d.rec.Start(ctx, ann, "op_2", human.RecordingOptions{})
		wantKind(t, "of what another has claimed", err, human.Conflict, "not claimed")
		_, err = d.rec.Start(ctx, ann, "op_1", human.RecordingOptions{Folders: []string{"here"}})
		wantKind(t, "a folder that is not absolute", err, human.Invalid)
		_, err = d.rec.Start(ctx, ann, "op_1", human.RecordingOptions{Clipboard: "all"})
		wantKind(t, "no such option", err, human.Invalid)
		if _, ok := d.rec.Current(); ok {
			t.Error("it records")
		}
		r := d.start(human.RecordingOptions{})
		_, err = d.rec.Start(ctx, human.Actor{Role: human.Operator, Name: "Bob"}, "op_2", human.RecordingOptions{})
		wantKind(t, "a second recording", err, human.Conflict, string(r.ID), "op_1")
		for what, who := range map[string]human.Actor{"Bob": {Role: human.Operator, Name: "Bob"}, "an agent": {Role: human.Agent, Name: "Ann"}} {
			if _, err = d.rec.Pause(ctx, who, r.ID); err == nil {
				t.Errorf("%s pauses Ann's recording", what)
			}
			if _, err = d.rec.Stop(ctx, who, r.ID); err == nil {
				t.Errorf("%s stops Ann's recording", what)
			}
			if err = d.rec.Discard(ctx, who, r.ID); err == nil {
				t.Errorf("%s discards Ann's recording", what)
			}
		}
		_, err = d.rec.Pause(ctx, ann, "rec_none")
		wantKind(t, "no such recording", err, human.NotFound)
		_, err = d.rec.Mark(ctx, ann, r.ID, record.Note{})
		wantKind(t, "an empty mark", err, human.Invalid)
		r = d.stop()
		again, err := d.rec.Stop(ctx, ann, r.ID)
		if err != nil || again.State != human.RecordingStopped {
			t.Errorf("stopped twice: %+v, %v", again, err)
		}
		_, err = d.rec.Resume(ctx, ann, r.ID)
		wantKind(t, "an ended recording", err, human.Conflict, "has ended")
	})
}

// nowhere fails unless nothing is left of a recording that did not begin.
func (d *fixture) nowhere() {
	d.t.Helper()
	if len(d.ops.has) > 0 || len(d.store.recs) > 0 {
		d.t.Errorf("left behind: in operations %v, in the store %v", d.ops.has, d.store.order)
	}
	if _, ok := d.rec.Current(); ok {
		d.t.Error("something is recorded")
	}
}

func TestAFailedStartLeavesNothingBehind(t *testing.T) {
	gone := &human.SourceState{Status: "missing", Code: "wayland", Detail: "Wayland gives no input away.", Fix: "Log in to an X11 session."}
	t.Run("nothing can be recorded", func(t *testing.T) {
		run(t, record.Options{}, func(t *testing.T, d *fixture) {
			d.input.not, d.windows.not, d.elements.not, d.clip.not = gone, gone, gone, gone
			_, err := d.rec.Start(t.Context(), ann, "op_1", human.RecordingOptions{})
			wantKind(t, "start", err, human.Unavailable, "Wayland gives no input away", "Log in to an X11 session")
			d.nowhere()
		}, func(deps *record.Deps) { deps.Screen = nil })
	})
	t.Run("every source fails as it begins", func(t *testing.T) {
		run(t, record.Options{}, func(t *testing.T, d *fixture) {
			for _, s := range []*source{d.input, d.windows.source, d.elements.source, d.clip} {
				s.mute = true
				s.fail <- human.Errorf(human.Unavailable, "the display is gone")
			}
			var seen []human.Recording
			ctx, cancel := context.WithCancel(t.Context())
			var watch sync.WaitGroup
			watch.Go(func() { d.rec.Watch(ctx, func(r human.Recording) { seen = append(seen, r) }) })
			d.settle()
			off := false
			_, err := d.rec.Start(t.Context(), ann, "op_1", human.RecordingOptions{Pictures: &off})
			wantKind(t, "start", err, human.Unavailable)
			d.nowhere()
			cancel()
			watch.Wait()
			if len(seen) > 0 {
				t.Errorf("saw what never was: %+v", seen)
			}
		})
	})
	t.Run("the store is full", func(t *testing.T) {
		run(t, record.Options{}, func(t *testing.T, d *fixture) {
			d.store.recs["rec_1"] = human.Recording{} // so that it cannot be created
			_, err := d.rec.Start(t.Context(), ann, "op_1", human.RecordingOptions{})
			wantKind(t, "start", err, human.Conflict)
			delete(d.store.recs, "rec_1")
			d.nowhere()
			d.start(human.RecordingOptions{})
			d.stop()
		})
	})
	t.Run("the request ends", func(t *testing.T) {
		run(t, record.Options{}, func(t *testing.T, d *fixture) {
			d.input.mute = true
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, err := d.rec.Start(ctx, ann, "op_1", human.RecordingOptions{})
			wantKind(t, "start", err, human.Unavailable, "request ended")
			d.nowhere()
		})
	})
}

func TestWhatIsMissingIsSaid(t *testing.T) {
	run(t, record.Options{Exclude: record.DefaultExclude}, func(t *testing.T, d *fixture) {
		ready := d.rec.Ready(t.Context())
		r := d.start(human.RecordingOptions{})
		for i, want := range map[int]string{0: "complete", 1: "missing", 2: "complete", 3: "missing", 4: "off", 5: "complete"} {
			if got := r.Sources[i]; got.Status != want || want == "missing" && (got.Detail == "" || got.Code == "") {
				t.Errorf("source: %+v, want %s", got, want)
			}
		}
		if ready[4].Status != "complete" || ready[1].Status != "missing" {
			t.Errorf("ready: %+v", ready)
		}
		d.types("abc")
		if r = d.stop(); r.Complete {
			t.Error("complete without windows")
		}
		// Pictures could not be masked, and where typing goes is not known.
		if text := only(d.events(r.ID), human.TextTyped); len(text) != 1 || text[0].Hidden != "unknown_field" {
			t.Errorf("text: %+v", text)
		}
	}, func(deps *record.Deps) { deps.Windows = nil })
}

func TestASourceIsLostAndComesBack(t *testing.T) {
	run(t, record.Options{}, func(t *testing.T, d *fixture) {
		d.start(human.RecordingOptions{})
		d.activate(editor)
		d.wait(time.Second)
		d.click(1, 1)
		d.wait(time.Second) // until all events are stored: the loss brings none
		d.input.fail <- human.Errorf(human.Unavailable, "the X server closed the connection")
		d.wait(time.Second)
		current, _ := d.rec.Current()
		stored, err := d.store.Recording(t.Context(), current.ID)
		if err != nil {
			t.Fatal(err)
		}
		for where, r := range map[string]human.Recording{"current": current, "stored": stored} {
			if r.Sources[0].Status != "partial" || r.Sources[0].Detail != "the X server closed the connection" || len(r.Gaps) != 1 {
				t.Errorf("%s, while it is lost: %+v", where, r)
			}
		}
		d.click(1, 1) // no one hears it
		d.wait(10 * time.Second)
		d.click(1, 1)
		r := d.stop()
		if len(r.Gaps) != 1 || r.Gaps[0].Reason != "lost" || r.Gaps[0].Source != human.InputSource || r.Gaps[0].To-r.Gaps[0].From != int64(5*time.Second) {
			t.Errorf("gaps: %+v", r.Gaps)
		}
		if r.Complete || r.Counts.Clicks != 2 || r.Sources[0].Seen != 4 || r.Sources[0].Stored != 4 || d.input.runs != 2 {
			t.Errorf("%+v", r)
		}
	})
}

func TestASourceThatIsLateIsAGap(t *testing.T) {
	run(t, record.Options{}, func(t *testing.T, d *fixture) {
		d.clip.mute = true
		d.start(human.RecordingOptions{})
		d.wait(time.Second)
		r := d.stop()
		if r.Complete || len(r.Gaps) != 1 || r.Gaps[0].Source != human.ClipboardSource || r.Sources[5].Status != "partial" {
			t.Errorf("%+v", r)
		}
	})
}

func TestPauseAndResume(t *testing.T) {
	run(t, record.Options{}, func(t *testing.T, d *fixture) {
		r := d.start(human.RecordingOptions{})
		d.activate(editor)
		d.wait(2 * time.Second)
		d.types("ab")
		for range 2 { // the second changes nothing
			if p, err := d.rec.Pause(t.Context(), ann, r.ID); err != nil || p.State != human.RecordingPaused {
				t.Fatalf("pause: %+v, %v", p, err)
			}
		}
		grabs := d.screen.taken()
		d.types("7391")
		d.click(1, 1)
		d.screen.show(3)
		d.activate(safe)
		d.wait(10 * time.Second)
		d.activate(bell)
		browser := placed("w9", "Browser", "News", 300, human.Bounds{W: 64, H: 64})
		d.activate(browser)
		if d.screen.taken() != grabs {
			t.Errorf("%d pictures while it is paused", d.screen.taken()-grabs)
		}
		for range 2 {
			if p, err := d.rec.Resume(t.Context(), ann, r.ID); err != nil || p.State != human.RecordingRuns {
				t.Fatalf("resume: %+v, %v", p, err)
			}
		}
		d.types("cd")
		d.wait(time.Second)
		r = d.stop()
		all := d.events(r.ID)
		var texts []string
		for _, e := range only(all, human.TextTyped) {
			texts = append(texts, e.Text)
		}
		if !slices.Equal(texts, []string{"ab", "cd"}) {
			t.Errorf("texts: %q", texts)
		}
		if active := only(all, human.WindowActive); len(active) != 2 || active[1].Window.ID != "w9" {
			t.Errorf("windows: %+v", active)
		}
		if len(r.Gaps) != 1 || r.Gaps[0].Reason != "paused" || r.Gaps[0].Count == 0 {
			t.Errorf("gaps: %+v", r.Gaps)
		}
		if !r.Complete {
			t.Errorf("a pause makes it incomplete: %+v", r)
		}
		if paused := r.Gaps[0].To - r.Gaps[0].From; r.Span-r.Elapsed != paused || paused < int64(10*time.Second) {
			t.Errorf("span %d, elapsed %d, paused %d", r.Span, r.Elapsed, paused)
		}
	})
}

func TestExcludedWindows(t *testing.T) {
	run(t, record.Options{Exclude: record.DefaultExclude}, func(t *testing.T, d *fixture) {
		d.start(human.RecordingOptions{})
		d.screen.show(9)
		d.activate(editor)
		d.wait(time.Second)
		d.click(1, 1)
		d.wait(time.Second)
		opened := d.mono() - 1e15
		d.activate(safe)
		d.focus(human.Element{Role: "textbox", Name: "Entry 7391"})
		d.wait(time.Second)
		d.types("7391")
		d.click(15, 55)
		d.wait(time.Second)
		d.activate(editor)
		d.wait(time.Second)
		d.click(1, 1)
		// The pointer over it is enough.
		d.wait(time.Second)
		d.click(15, 50)
		d.wait(time.Second)
		d.click(1, 1)
		d.windows.send(human.RecordedEvent{At: d.mono(), Type: human.WindowClosed, App: &safe.App, Window: &safe.Window}) // no gap of its own
		d.wait(time.Second)
		r := d.stop()
		all := d.written(r.ID)
		if strings.Contains(all, "7391") || strings.Contains(all, "KeePass") || strings.Contains(all, "Passwords") {
			t.Errorf("stored: %s", all)
		}
		if len(r.Gaps) != 2 || r.Gaps[0].Reason != "excluded" || r.Gaps[0].Count != 12 || r.Gaps[1].Count != 2 {
			t.Errorf("gaps: %+v", r.Gaps)
		}
		if r.Counts.Clicks != 3 || r.Counts.Keys != 0 || !r.Complete {
			t.Errorf("%+v", r)
		}
		for _, p := range only(d.events(r.ID), human.PictureTaken) {
			inside, title, outside := d.pics.pixel(p.Picture, 15, 55), d.pics.pixel(p.Picture, 15, 40), d.pics.pixel(p.Picture, 60, 5)
			switch {
			case p.At < opened:
			case inside != 0 || title != 0 || outside != 9:
				t.Errorf("the picture %s at %d shows %d, %d in the window and %d beside it", p.When, p.At, inside, title, outside)
			}
		}
	})
}

func TestDeskbellsOwnWindowsAreLeftOutInSilence(t *testing.T) {
	run(t, record.Options{}, func(t *testing.T, d *fixture) {
		d.start(human.RecordingOptions{})
		d.screen.show(9)
		d.activate(editor)
		d.wait(time.Second)
		d.activate(bell)
		d.wait(time.Second)
		d.types("7391")
		d.click(55, 5)
		d.wait(time.Second)
		d.click(1, 1) // beside it
		d.wait(time.Second)
		r := d.stop()
		if len(r.Gaps) > 0 || !r.Complete || r.Counts.Clicks != 1 || r.Counts.Keys != 0 || strings.Contains(d.written(r.ID), "Deskbell") {
			t.Errorf("%+v", r)
		}
		ends := only(d.events(r.ID), human.PictureTaken)
		if end := ends[len(ends)-1]; d.pics.pixel(end.Picture, 55, 5) != 0x80 || d.pics.pixel(end.Picture, 45, 5) != 9 {
			t.Error("its window is not grey, or more is")
		}
	})
}

// Nothing is known of what stands where: nothing is shown.
func TestAnExcludedWindowOfUnknownPlaceBlackensAll(t *testing.T) {
	run(t, record.Options{Exclude: record.DefaultExclude}, func(t *testing.T, d *fixture) {
		d.start(human.RecordingOptions{})
		d.activate(editor)
		d.screen.show(9)
		d.wait(time.Second)
		nowhere := safe
		nowhere.Window.Bounds = human.Bounds{}
		d.activate(nowhere)
		d.screen.show(10)
		d.wait(time.Second)
		r := d.stop()
		ends := only(d.events(r.ID), human.PictureTaken)
		if end := ends[len(ends)-1]; d.pics.pixel(end.Picture, 60, 60) != 0 {
			t.Error("it is not black")
		}
	})
	run(t, record.Options{Exclude: record.DefaultExclude}, func(t *testing.T, d *fixture) {
		d.start(human.RecordingOptions{})
		d.screen.show(9)
		d.windows.set(func(w *windows) { w.broken = human.Errorf(human.Unavailable, "no answer") })
		d.wait(time.Second)
		r := d.stop()
		ends := only(d.events(r.ID), human.PictureTaken)
		if end := ends[len(ends)-1]; d.pics.pixel(end.Picture, 60, 60) != 0 {
			t.Error("it is not black while no window is known")
		}
	})
}

func TestLimits(t *testing.T) {
	run(t, record.Options{MaxElapsed: time.Hour}, func(t *testing.T, d *fixture) {
		d.start(human.RecordingOptions{})
		d.wait(53 * time.Minute)
		if r, _ := d.rec.Current(); r.NearLimit || r.MaxElapsed != int64(time.Hour) {
			t.Errorf("near too early: %+v", r)
		}
		d.wait(2 * time.Minute)
		if r, _ := d.rec.Current(); !r.NearLimit {
			t.Errorf("not near: %+v", r)
		}
		d.wait(6 * time.Minute)
		if r, err := d.store.Recording(t.Context(), "rec_1"); err != nil || r.State != human.RecordingStopped || r.Reason != "limit" || !r.Complete {
			t.Errorf("%+v, %v", r, err)
		}
	})
	run(t, record.Options{MaxBytes: 20_000}, func(t *testing.T, d *fixture) {
		d.start(human.RecordingOptions{})
		near := 0
		for i := range 40 {
			d.screen.show(byte(i + 1))
			d.wait(time.Minute)
			d.click(1, 1)
			d.wait(time.Second)
			if r, ok := d.rec.Current(); ok && r.NearLimit {
				near++
			}
		}
		if r, err := d.store.Recording(t.Context(), "rec_1"); err != nil || r.Reason != "limit" || r.Bytes < 20_000 || r.Bytes > 23_000 || near == 0 {
			t.Errorf("near %d times: %+v, %v", near, r, err)
		}
	})
}

func TestItEndsWithItsOperationAndWithDeskbell(t *testing.T) {
	run(t, record.Options{}, func(t *testing.T, d *fixture) {
		r := d.start(human.RecordingOptions{})
		if err := d.rec.OperationEnded(t.Context(), "op_2"); err != nil {
			t.Fatal(err)
		}
		if _, ok := d.rec.Current(); !ok {
			t.Fatal("another operation's end ended it")
		}
		if err := d.rec.OperationEnded(t.Context(), "op_1"); err != nil {
			t.Fatal(err)
		}
		if r, _ = d.store.Recording(t.Context(), r.ID); r.Reason != "operation_ended" || !r.Complete {
			t.Errorf("%+v", r)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		d := newFixture(t, record.Options{})
		r := d.start(human.RecordingOptions{})
		d.close()
		if r, _ = d.store.Recording(t.Context(), r.ID); r.Reason != "shutdown" || r.State != human.RecordingStopped || !r.Complete {
			t.Errorf("%+v", r)
		}
		_, err := d.rec.Start(t.Context(), ann, "op_1", human.RecordingOptions{})
		wantKind(t, "start after the end", err, human.Unavailable)
	})
}

func TestDiscardLeavesNothing(t *testing.T) {
	run(t, record.Options{}, func(t *testing.T, d *fixture) {
		var mu sync.Mutex
		var states []human.RecordingState
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go d.rec.Watch(ctx, func(r human.Recording) {
			mu.Lock()
			defer mu.Unlock()
			states = append(states, r.State)
		})
		r := d.start(human.RecordingOptions{})
		d.activate(editor)
		d.types("abc")
		if err := d.rec.Discard(t.Context(), ann, r.ID); err != nil {
			t.Fatal(err)
		}
		d.settle()
		d.nowhere()
		mu.Lock()
		if !slices.Equal(d.pics.gone, []human.RecordingID{r.ID}) || states[len(states)-1] != record.Discarded {
			t.Errorf("pictures gone: %v, states %v", d.pics.gone, states)
		}
		mu.Unlock()
		wantKind(t, "again", d.rec.Discard(t.Context(), ann, r.ID), human.NotFound)
		r = d.start(human.RecordingOptions{}) // there is room for the next
		d.stop()
		if err := d.rec.Discard(t.Context(), ann, r.ID); err != nil {
			t.Fatal(err)
		}
		d.nowhere()
	})
}

func TestWatchersSeeChanges(t *testing.T) {
	run(t, record.Options{}, func(t *testing.T, d *fixture) {
		ctx, cancel := context.WithCancel(t.Context())
		var mu sync.Mutex
		var seen []human.Recording
		var watch sync.WaitGroup
		watch.Go(func() {
			d.rec.Watch(ctx, func(r human.Recording) {
				mu.Lock()
				defer mu.Unlock()
				seen = append(seen, r)
			})
		})
		d.settle()
		r := d.start(human.RecordingOptions{})
		for range 100 {
			d.input.send(human.RecordedEvent{At: d.mono(), Type: human.PointerMoved, X: 1})
			d.wait(50 * time.Millisecond)
		}
		mu.Lock()
		if n := len(seen); n < 15 || n > 22 {
			t.Errorf("saw it %d times in five seconds", n)
		}
		seen = nil
		mu.Unlock()
		for _, f := range []func(context.Context, human.Actor, human.RecordingID) (human.Recording, error){d.rec.Pause, d.rec.Resume, d.rec.Stop} {
			if _, err := f(ctx, ann, r.ID); err != nil {
				t.Fatal(err)
			}
		}
		d.settle()
		cancel()
		watch.Wait()
		var states []human.RecordingState
		for _, r := range seen {
			states = append(states, r.State)
		}
		want := []human.RecordingState{human.RecordingPaused, human.RecordingRuns, human.RecordingStopped}
		if states = slices.Compact(states); !slices.Equal(states, want) {
			t.Errorf("states %v, want %v", states, want)
		}
	})
}

func TestACrashLosesAtMostTheLastMoments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFixture(t, record.Options{})
		r := d.start(human.RecordingOptions{})
		d.activate(editor)
		for range 20 {
			d.click(1, 1)
			d.wait(200 * time.Millisecond)
		}
		// This is what a process that begins now finds.
		left := newStore()
		d.store.mu.Lock()
		left.recs, left.events, left.order = maps.Clone(d.store.recs), maps.Clone(d.store.events), slices.Clone(d.store.order)
		d.store.mu.Unlock()
		now := d.mono() - 1e15
		d.close()

		next := newFixture(t, record.Options{}, func(deps *record.Deps) { deps.Store = left })
		next.settle()
		r, err := left.Recording(t.Context(), r.ID)
		if err != nil || r.State != human.RecordingInterrupted || r.Reason != "crash" || r.Complete || r.EndedAt == nil {
			t.Fatalf("%+v, %v", r, err)
		}
		next.store = left
		all := next.events(r.ID)
		last := all[len(all)-1]
		if last.Type != human.GapOpened || last.Gap.Reason != "crash" || last.Seq != r.Counts.Events || len(r.Gaps) != 1 {
			t.Errorf("the last event: %+v", last)
		}
		if before := all[len(all)-2].At; now-before > int64(500*time.Millisecond) {
			t.Errorf("the last %v are lost", time.Duration(now-before))
		}
		if running, _ := left.Running(t.Context()); len(running) > 0 {
			t.Errorf("running: %+v", running)
		}
		next.close()
	})
}

func TestAFullDiskEndsARecordingAndKeepsWhatWasStored(t *testing.T) {
	run(t, record.Options{}, func(t *testing.T, d *fixture) {
		r := d.start(human.RecordingOptions{})
		d.activate(editor)
		d.click(1, 1)
		d.wait(time.Second)
		before := d.events(r.ID)
		d.store.breaks(errFull)
		d.click(1, 1)
		d.wait(time.Second)
		if _, ok := d.rec.Current(); ok {
			t.Error("it goes on")
		}
		got, err := d.rec.Stop(t.Context(), ann, r.ID)
		wantKind(t, "stop", err, human.Internal, string(r.ID), "disk full", "is kept")
		if got.Reason != "failed" || got.State != human.RecordingStopped || got.Complete || got.Counts.Events != uint64(len(before)) {
			t.Errorf("%+v", got)
		}
		if after := d.events(r.ID); len(after) != len(before) {
			t.Errorf("%d events were stored, %d are", len(before), len(after))
		}
		d.store.breaks(nil)
		if err := d.store.Delete(t.Context(), "rec_1"); err != nil {
			t.Fatal(err)
		}
		d.start(human.RecordingOptions{}) // the next can begin
		d.stop()
	})
}

func TestWhatTheQueueHasNoRoomForIsCounted(t *testing.T) {
	run(t, record.Options{}, func(t *testing.T, d *fixture) {
		d.start(human.RecordingOptions{})
		d.wait(time.Second)
		stuck := make(chan struct{})
		d.store.mu.Lock()
		d.store.stuck = stuck
		d.store.mu.Unlock()
		const sent = 100_000
		for i := range sent {
			d.input.send(human.RecordedEvent{At: d.mono(), Type: human.PointerMoved, X: i})
			if i%1000 == 0 {
				d.settle()
			}
		}
		close(stuck)
		d.wait(time.Second)
		r := d.stop()
		in := r.Sources[0]
		if in.Seen != sent || in.Lost == 0 || in.Seen != in.Stored+in.Lost || r.Counts.Lost != in.Lost || r.Complete || in.Status != "partial" {
			t.Errorf("%+v", in)
		}
		if len(r.Gaps) != 1 || r.Gaps[0].Reason != "overflow" || r.Gaps[0].Source != human.InputSource || r.Gaps[0].Count != in.Lost {
			t.Errorf("%+v, lost %d", r.Gaps, in.Lost)
		}
		last := -1
		for _, e := range only(d.events(r.ID), human.PointerMoved) {
			if e.X <= last {
				t.Fatalf("%d comes after %d", e.X, last)
			}
			last = e.X
		}
	})
}

// bubbled is how many goroutines the test's bubble has. The process has others, of finalizers for one, which come and go.
func bubbled() int {
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)] // the caller's first
	bubble := regexp.MustCompile(`synctest bubble \d+\]`).Find(stacks)
	return bytes.Count(stacks, bubble)
}

func TestAHundredStartsAndStops(t *testing.T) {
	run(t, record.Options{}, func(t *testing.T, d *fixture) {
		before := bubbled()
		for i := range 100 {
			r, err := d.rec.Start(t.Context(), ann, "op_1", human.RecordingOptions{})
			if err != nil {
				t.Fatal(err)
			}
			d.press(1, 1)
			switch i % 3 {
			case 0:
				r, err = d.rec.Stop(t.Context(), ann, r.ID)
				if !r.Complete {
					t.Errorf("the %d. is not complete: %+v", i, r)
				}
			case 1:
				err = d.rec.Discard(t.Context(), ann, r.ID)
			case 2: // two at once
				var other error
				var both sync.WaitGroup
				both.Go(func() { _, other = d.rec.Stop(t.Context(), ann, r.ID) })
				_, err = d.rec.Stop(t.Context(), ann, r.ID)
				both.Wait()
				if other != nil {
					t.Error(other)
				}
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		d.settle()
		if after := bubbled(); after > before {
			t.Errorf("%d goroutines before, %d after", before, after)
		}
	})
}

func TestMarks(t *testing.T) {
	run(t, record.Options{}, func(t *testing.T, d *fixture) {
		r := d.start(human.RecordingOptions{})
		d.wait(time.Second)
		step := 0
		for _, n := range []record.Note{{Text: " here it hangs "}, {Step: &step, Done: true}} {
			if _, err := d.rec.Mark(t.Context(), ann, r.ID, n); err != nil {
				t.Fatal(err)
			}
		}
		r = d.stop()
		marks := only(d.events(r.ID), human.Marked)
		if got := fmt.Sprint(marks[0].Text, marks[0].At, *marks[1].Step, marks[1].Done); len(marks) != 2 || got != fmt.Sprint("here it hangs", int64(time.Second), 0, true) {
			t.Errorf("marks: %s", got)
		}
	})
}

func TestWithoutItsStoreNothingIsRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := newStore()
		d := newFixture(t, record.Options{}, func(deps *record.Deps) { deps.Store = unreadable{broken} })
		_, err := d.rec.Start(t.Context(), ann, "op_1", human.RecordingOptions{})
		wantKind(t, "start", err, human.Unavailable, "earlier recordings")
		d.end()
		wantKind(t, "Run", <-d.ended, human.Internal)
	})
}

type unreadable struct{ *store }

func (unreadable) Running(context.Context) ([]human.Recording, error) {
	return nil, human.Errorf(human.Internal, "damaged")
}

func TestItsEndWhileTheStoreIsReadIsNoError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFixture(t, record.Options{}, func(deps *record.Deps) { deps.Store = slow{newStore()} })
		d.end()
		if err := <-d.ended; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
}

type slow struct{ *store }

func (slow) Running(ctx context.Context) ([]human.Recording, error) {
	<-ctx.Done()
	return nil, fmt.Errorf("read stopped: %w", ctx.Err())
}

// A source that does not end when it should holds nothing up for long, and nothing is claimed of it.
func TestASourceThatDoesNotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		input := &deaf{source: newSource(human.InputSource), end: make(chan struct{})}
		d := newFixture(t, record.Options{}, func(deps *record.Deps) { deps.Input = input })
		d.start(human.RecordingOptions{})
		began := d.mono()
		r := d.stop()
		if took := time.Duration(d.mono() - began); took > 6*time.Second || r.Complete || r.State != human.RecordingStopped {
			t.Errorf("after %v: %+v", took, r)
		}
		close(input.end)
		d.close()
	})
}

type deaf struct {
	*source
	end chan struct{}
}

func (s *deaf) Run(_ context.Context, ready func(), emit func(human.RecordedEvent)) (uint64, error) {
	ready()
	<-s.end
	emit(human.RecordedEvent{Type: human.PointerMoved})
	return 1, nil
}

func TestAnOperationThatEndsWhileItsRecordingBegins(t *testing.T) {
	run(t, record.Options{}, func(t *testing.T, d *fixture) {
		d.clip.mute = true // three seconds
		var started error
		var start sync.WaitGroup
		start.Go(func() { _, started = d.rec.Start(t.Context(), ann, "op_1", human.RecordingOptions{}) })
		d.wait(time.Second)
		if err := d.rec.OperationEnded(t.Context(), "op_1"); err != nil {
			t.Fatal(err)
		}
		start.Wait()
		wantKind(t, "start", started, human.Conflict)
		d.nowhere()
	})
}

// What was answered is stored (H4): a pause, its end, a note.
func TestAnAnswerIsDurable(t *testing.T) {
	run(t, record.Options{}, func(t *testing.T, d *fixture) {
		r := d.start(human.RecordingOptions{})
		stored := func() (human.Recording, human.RecordedEvent) {
			d.store.mu.Lock()
			defer d.store.mu.Unlock()
			events := d.store.events[r.ID]
			return d.store.recs[r.ID], events[len(events)-1]
		}
		for _, step := range []struct {
			do    func() (human.Recording, error)
			last  human.RecordedType
			state human.RecordingState
		}{
			{func() (human.Recording, error) {
				return d.rec.Mark(t.Context(), ann, r.ID, record.Note{Text: "found it"})
			}, human.Marked, human.RecordingRuns},
			{func() (human.Recording, error) { return d.rec.Pause(t.Context(), ann, r.ID) }, human.RecordingHeld, human.RecordingPaused},
			{func() (human.Recording, error) { return d.rec.Pause(t.Context(), ann, r.ID) }, human.RecordingHeld, human.RecordingPaused},
			{func() (human.Recording, error) { return d.rec.Resume(t.Context(), ann, r.ID) }, human.RecordingGoesOn, human.RecordingRuns},
		} {
			if _, err := step.do(); err != nil {
				t.Fatal(err)
			}
			if rec, last := stored(); rec.State != step.state || last.Type != step.last {
				t.Errorf("answered, but stored are %s and %s; want %s and %s", rec.State, last.Type, step.state, step.last)
			}
		}
		d.store.mu.Lock()
		d.store.broken = human.Errorf(human.Internal, "no space left on device")
		d.store.mu.Unlock()
		_, err := d.rec.Mark(t.Context(), ann, r.ID, record.Note{Text: "lost"})
		wantKind(t, "a note that cannot be stored", err, human.Internal, "could not be stored")
	})
}
