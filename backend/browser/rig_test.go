package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"deskbell/backend/human"
)

// patience is how long something may take on a busy machine.
const patience = 30 * time.Second

var clockStart = time.Now()

func testClock() (time.Time, int64) {
	now := time.Now()
	return now, int64(now.Sub(clockStart))
}

// A rig is a browser that runs, and what it reported. The person is played through the browser's own connection, by trusted
// input.
type rig struct {
	t    *testing.T
	b    *Browser
	stop context.CancelFunc
	done chan struct{}

	mu      sync.Mutex
	events  []human.RecordedEvent
	ready   bool
	seen    uint64
	err     error
	changed chan struct{}
}

// serve serves pages by their path; those that begin with "/" alone are HTML.
func serve(t *testing.T, pages map[string]string, more map[string]http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h, ok := more[r.URL.Path]; ok {
			h(w, r)
			return
		}
		html, ok := pages[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = fmt.Fprint(w, strings.ReplaceAll(html, "PORT", r.Host[strings.LastIndex(r.Host, ":")+1:]))
	}))
	t.Cleanup(s.Close)
	return s
}

func headless(t *testing.T) Options {
	return Options{Clock: testClock, headless: true, Args: []string{"--host-resolver-rules=MAP *.test 127.0.0.1", "--disable-gpu"}}
}

// run runs the browser until the test ends, and returns when it is ready.
func run(t *testing.T, o Options, want human.BrowserOptions) *rig {
	t.Helper()
	r := start(t, New(o, want, nil))
	r.until("it is ready", func() bool { r.mu.Lock(); defer r.mu.Unlock(); return r.ready })
	return r
}

func start(t *testing.T, b *Browser) *rig {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r := &rig{t: t, b: b, stop: cancel, done: make(chan struct{}), changed: make(chan struct{}, 1)}
	note := func(what func()) {
		r.mu.Lock()
		what()
		r.mu.Unlock()
		select {
		case r.changed <- struct{}{}:
		default:
		}
	}
	go func() {
		defer close(r.done)
		seen, err := b.Run(ctx, func() { note(func() { r.ready = true }) }, func(e human.RecordedEvent) {
			note(func() { r.events = append(r.events, e) })
		})
		note(func() { r.seen, r.err = seen, err })
	}()
	t.Cleanup(func() { cancel(); <-r.done })
	return r
}

// end stops the browser and returns what Run returned.
func (r *rig) end() (uint64, error) {
	r.t.Helper()
	r.stop()
	select {
	case <-r.done:
	case <-time.After(patience):
		r.t.Fatal("Run does not return")
	}
	return r.seen, r.err
}

func (r *rig) all() []human.RecordedEvent {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.events)
}

// until waits for something to come true.
func (r *rig) until(what string, is func() bool) {
	r.t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if is() {
			return
		}
		select {
		case <-tick.C:
		case <-r.changed:
		case <-r.done:
			if !is() {
				r.t.Fatalf("Run returned (%v) before %s; it reported:\n%s", r.err, what, describe(r.all()))
			}
			return
		case <-deadline:
			r.t.Fatalf("never: %s; it reported:\n%s", what, describe(r.all()))
		}
	}
}

// wait returns the first event that fits.
func (r *rig) wait(kind human.RecordedType, fits func(human.RecordedEvent) bool) human.RecordedEvent {
	r.t.Helper()
	var found human.RecordedEvent
	r.until("an event "+string(kind), func() bool {
		for _, e := range r.all() {
			if e.Type == kind && (fits == nil || fits(e)) {
				found = e
				return true
			}
		}
		return false
	})
	return found
}

// at waits until a tab shows a page whose URL ends so, loaded and with the script in it.
func (r *rig) at(ending string) *tab {
	r.t.Helper()
	var found *tab
	r.until("a tab shows "+ending, func() bool {
		r.b.mu.Lock()
		tabs := slices.Clone(r.b.order)
		r.b.mu.Unlock()
		slices.Reverse(tabs) // the newest first
		for _, t := range tabs {
			p := t.places()[0]
			if strings.HasSuffix(p.url, ending) && p.contextID != 0 {
				ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
				var state string
				err := t.evaluate(ctx, p, "document.readyState", &state)
				cancel()
				if err == nil && state == "complete" {
					found = t
					return true
				}
			}
		}
		return false
	})
	return found
}

// frame waits for a frame of a tab whose URL ends so.
func (r *rig) frame(t *tab, ending string) place {
	r.t.Helper()
	var found place
	r.until("a frame shows "+ending, func() bool {
		for _, p := range t.places() {
			if strings.HasSuffix(p.url, ending) && p.contextID != 0 {
				var state string
				ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
				defer cancel()
				if t.evaluate(ctx, p, "document.readyState", &state) == nil && state == "complete" {
					found = p
					return true
				}
			}
		}
		return false
	})
	return found
}

// do sends a command to a tab.
func (r *rig) do(t *tab, method string, params any) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := t.conn.call(ctx, t.session, method, params, nil); err != nil {
		r.t.Fatal(err)
	}
}

// js evaluates an expression in a frame's isolated world.
func (r *rig) js(t *tab, in place, expression string, result any) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var err error
	r.until("the frame answers", func() bool {
		if err = t.evaluate(ctx, in, expression, result); err == nil || !strings.Contains(err.Error(), "context") && !errors.Is(err, errDetached) {
			return true
		}
		for _, p := range t.places() { // it may have got another document
			if p.id == in.id {
				in = p
			}
		}
		return false
	})
	if err != nil {
		r.t.Fatalf("%s: %v", expression, err)
	}
}

// click clicks an element of a frame, as the person would: at its place in the tab. It returns that.
func (r *rig) click(t *tab, in place, selector string) (x, y float64) {
	r.t.Helper()
	var at [2]float64
	s, _ := json.Marshal(selector)
	r.js(t, in, `new Promise(found => {
		const look = () => {
			const e = document.querySelector(`+string(s)+`)
			if (!e) return setTimeout(look, 20)
			const b = e.getBoundingClientRect()
			found([b.x + b.width / 2, b.y + b.height / 2])
		}
		look()
	})`, &at)
	// Until a frame is on the screen, what is pressed is its parent, and of a new page nothing.
	r.js(t, in, `new Promise(seen => { requestAnimationFrame(() => requestAnimationFrame(seen)); setTimeout(seen, 1000) })`, nil)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	dx, dy, err := t.locate(ctx, in.id)
	if err != nil {
		r.t.Fatal(err)
	}
	x, y = at[0]+dx, at[1]+dy
	r.clickAt(t, x, y)
	return x, y
}

func (r *rig) clickAt(t *tab, x, y float64) {
	r.t.Helper()
	r.do(t, "Input.dispatchMouseEvent", object{"type": "mouseMoved", "x": x, "y": y})
	t.conn.send(t.session, "Input.dispatchMouseEvent", object{"type": "mousePressed", "x": x, "y": y, "button": "left", "clickCount": 1})
	t.conn.send(t.session, "Input.dispatchMouseEvent", object{"type": "mouseReleased", "x": x, "y": y, "button": "left", "clickCount": 1})
}

// top is the page itself.
func (r *rig) top(t *tab) place { return t.places()[0] }

// describe lists events for people.
func describe(events []human.RecordedEvent) string {
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintf(&b, "%d %s (%d,%d) cause %d %s %s", e.Ref, e.Type, e.X, e.Y, e.Cause, e.Text, strings.Join(e.Values, ","))
		if e.Page != nil {
			fmt.Fprintf(&b, " [%s %v %s %s]", e.Page.Target, e.Page.Frame, e.Page.URL, e.Page.FrameURL)
		}
		if e.Navigation != nil {
			fmt.Fprintf(&b, " %+v", *e.Navigation)
		}
		if e.Element != nil {
			fmt.Fprintf(&b, " <%s %s %q>", e.Element.Tag, e.Element.Role, e.Element.Name)
		}
		if e.Gap != nil {
			fmt.Fprintf(&b, " gap %+v", *e.Gap)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
