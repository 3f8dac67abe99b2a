package browser

import (
	"context"
	"os"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/record/recordtest"
)

func TestBrowserIsASource(t *testing.T) {
	site := serve(t, map[string]string{"/": `<title>Press</title><body style="margin:0"><button style="width:400px;height:300px">Press</button>`}, nil)
	recordtest.Source(t, func(tb testing.TB) recordtest.SourceRig {
		// The profile is kept: it is quicker to open again.
		o := headless(t)
		o.ProfileDir = tb.TempDir()
		b := New(o, human.BrowserOptions{URL: site.URL + "/"}, nil)
		r := &rig{t: t, b: b, done: make(chan struct{}), changed: make(chan struct{})}
		return recordtest.SourceRig{
			Source: b,
			Name:   human.BrowserSource,
			Clock:  testClock,
			Early:  5 * time.Millisecond, // its clock is set by the time of day until a message was quick
			Starts: 8,
			Provoke: func(tb testing.TB) []human.RecordedEvent {
				b.mu.Lock()
				running := b.running
				b.mu.Unlock()
				if !running {
					return nil
				}
				tab := r.at("/")
				r.clickAt(tab, 200, 150)
				return []human.RecordedEvent{
					{Type: human.PagePress, X: 200, Y: 150, Button: 1},
					{Type: human.PageClick, X: 200, Y: 150, Button: 1},
				}
			},
		}
	})
}

func TestKilledBrowserIsLostAndAllIsToldUpToThen(t *testing.T) {
	site := serve(t, map[string]string{"/": `<button>Press</button>`}, nil)
	r := run(t, headless(t), human.BrowserOptions{URL: site.URL + "/", Profile: "throwaway"})
	tab := r.at("/")
	r.click(tab, r.top(tab), "button")
	r.wait(human.PageClick, nil)
	r.b.mu.Lock()
	pid := r.b.app.PID
	r.b.mu.Unlock()
	process, err := os.FindProcess(pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Kill(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-r.done:
	case <-time.After(patience):
		t.Fatal("Run goes on without a browser")
	}
	if r.err == nil || r.seen != uint64(len(r.events)) || human.KindOf(r.err) != human.Unavailable {
		t.Errorf("Run = %d, %v; want an error, and %d", r.seen, r.err, len(r.events))
	}
	if last := r.events[len(r.events)-1]; last.Type != human.BrowserChanged || last.Text != "lost" {
		t.Errorf("it ends with %s %q, want browser lost", last.Type, last.Text)
	}
	if err := r.b.Show(context.Background()); human.KindOf(err) != human.Conflict {
		t.Errorf("Show of a lost browser: %v, want a conflict", err)
	}
}

func TestClosedByThePersonIsNoLossAndItCanBeOpenedAgain(t *testing.T) {
	site := serve(t, map[string]string{"/": `<button>Press</button>`}, nil)
	o := headless(t)
	o.ProfileDir = t.TempDir()
	b := New(o, human.BrowserOptions{URL: site.URL + "/"}, nil)
	for range 2 {
		r := start(t, b)
		r.at("/")
		if err := b.Show(context.Background()); err != nil {
			t.Errorf("Show: %v", err)
		}
		b.mu.Lock()
		c := b.conn
		b.mu.Unlock()
		c.send("", "Browser.close", nil) // as the menu's Quit does
		select {
		case <-r.done:
		case <-time.After(patience):
			t.Fatal("Run goes on without a browser")
		}
		if r.err != nil || r.seen != uint64(len(r.events)) {
			t.Errorf("Run = %d, %v; it reported %d events", r.seen, r.err, len(r.events))
		}
		if last := r.events[len(r.events)-1]; last.Type != human.BrowserChanged || last.Text != "closed" {
			t.Errorf("it ends with %s %q, want browser closed", last.Type, last.Text)
		}
	}
}

func TestClosingTheLastPageClosesTheBrowser(t *testing.T) {
	r := run(t, headless(t), human.BrowserOptions{Profile: "throwaway"})
	r.do(r.at("about:blank"), "Page.close", nil)
	select {
	case <-r.done:
	case <-time.After(patience):
		t.Fatal("Run goes on without a page")
	}
	if r.err != nil {
		t.Errorf("Run: %v", r.err)
	}
	r.wait(human.PageClosed, nil)
}
