package browser

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto"

	"deskbell/backend/human"
	"deskbell/backend/record"
	"deskbell/backend/record/masking"
)

// A visit is a browser that runs for a test, with what it reported so far.
type visit struct {
	*testing.T
	b    *Browser
	site *httptest.Server
	stop func() (uint64, error)

	mu     sync.Mutex
	events []human.RecordedEvent
	frames map[string]record.Frame // that were kept
	log    bytes.Buffer            // what the browser's log says
}

// Write implements io.Writer for the log.
func (v *visit) Write(line []byte) (int, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.log.Write(line)
}

// visits opens the site in a real browser and waits until the page is there.
func visits(t *testing.T, want human.BrowserOptions, pages http.Handler, change ...func(*Options)) *visit {
	t.Helper()
	site := httptest.NewServer(pages)
	t.Cleanup(site.Close)
	began := time.Now()
	v := &visit{T: t, site: site, frames: map[string]record.Frame{}}
	o := Options{
		Log:    slog.New(slog.NewTextHandler(v, nil)),
		Clock:  func() (time.Time, int64) { now := time.Now(); return now, int64(now.Sub(began)) + 1 },
		Masker: masking.New(), Args: []string{"--host-resolver-rules=MAP *.example 127.0.0.1", "--window-size=1000,800"}, headless: true,
	}
	if os.Getuid() == 0 {
		o.Args = append(o.Args, "--no-sandbox")
	}
	for _, c := range change {
		c(&o)
	}
	want.Profile = "throwaway"
	if want.URL == "" {
		want.URL = site.URL
	}
	v.b = New(o, want, v.save)
	ctx, cancel := context.WithCancel(t.Context())
	ready, ended := make(chan struct{}), make(chan struct{})
	var seen uint64
	var err error
	go func() {
		defer close(ended)
		seen, err = v.b.Run(ctx, func() { close(ready) }, v.hear)
	}()
	v.stop = sync.OnceValues(func() (uint64, error) {
		cancel()
		<-ended
		return seen, err
	})
	t.Cleanup(func() { _, _ = v.stop() })
	select {
	case <-ready:
	case <-ended:
		t.Fatalf("the browser ended: %v", err)
	case <-time.After(90 * time.Second):
		t.Fatal("the browser is not ready after 90 s")
	}
	v.wait("the page", func(e human.RecordedEvent) bool {
		return e.Type == human.PageNavigated && strings.HasPrefix(e.Page.URL, want.URL)
	})
	v.until("the page is loaded", func() bool {
		var state string
		return v.b.front() != nil && v.b.front().evaluate(t.Context(), v.place(), "document.readyState", &state) == nil && state == "complete"
	})
	return v
}

func (v *visit) hear(e human.RecordedEvent) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.events = append(v.events, e)
}

func (v *visit) save(f *record.Frame) (string, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	id := fmt.Sprint("picture-", len(v.frames)+1)
	copied := *f
	copied.Pix = slices.Clone(f.Pix)
	v.frames[id] = copied
	return id, nil
}

func (v *visit) picture(id string) record.Frame {
	v.Helper()
	v.mu.Lock()
	defer v.mu.Unlock()
	f, ok := v.frames[id]
	if !ok {
		v.Fatalf("there is no picture %q", id)
	}
	return f
}

// all are the events so far that it wants.
func (v *visit) all(wants func(human.RecordedEvent) bool) []human.RecordedEvent {
	v.mu.Lock()
	defer v.mu.Unlock()
	var found []human.RecordedEvent
	for _, e := range v.events {
		if wants(e) {
			found = append(found, e)
		}
	}
	return found
}

// of are the events so far of a type.
func (v *visit) of(what human.RecordedType) []human.RecordedEvent {
	return v.all(func(e human.RecordedEvent) bool { return e.Type == what })
}

// wait waits for an event.
func (v *visit) wait(what string, wants func(human.RecordedEvent) bool) human.RecordedEvent {
	v.Helper()
	var found []human.RecordedEvent
	v.until(what, func() bool { found = v.all(wants); return len(found) > 0 })
	return found[0]
}

// until polls until something is so.
func (v *visit) until(what string, so func() bool) {
	v.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	end := time.After(40 * time.Second)
	for !so() {
		select {
		case <-tick.C:
		case <-end:
			v.mu.Lock()
			defer v.mu.Unlock()
			var reported strings.Builder
			for _, e := range v.events[max(0, len(v.events)-40):] {
				raw, _ := json.Marshal(e)
				fmt.Fprintf(&reported, "%.400s\n", raw)
			}
			v.Fatalf("waited for %s in vain; reported:\n%slogged:\n%s", what, reported.String(), v.log.String())
		}
	}
}

// rest waits until a stretch of time has passed.
func (v *visit) rest(d time.Duration) {
	end := time.Now().Add(d)
	v.until("time to pass", func() bool { return time.Now().After(end) })
}

// place is the page itself.
func (v *visit) place() place { return v.b.front().places()[0] }

// run runs a script in the page's own world.
func (v *visit) run(script string) {
	v.Helper()
	t := v.b.front()
	if err := t.conn.call(v.Context(), t.session, "Runtime.evaluate", object{"expression": script, "awaitPromise": true}, nil); err != nil {
		v.Fatal(err)
	}
}

// ask is a value of the page's own world, as JSON.
func (v *visit) ask(script string) string {
	v.Helper()
	t := v.b.front()
	var answer struct {
		Result struct {
			Value json.RawMessage `json:"value"`
		} `json:"result"`
	}
	if err := t.conn.call(v.Context(), t.session, "Runtime.evaluate", object{"expression": script, "returnByValue": true}, &answer); err != nil {
		v.Fatal(err)
	}
	return string(answer.Result.Value)
}

// click clicks as a person does.
func (v *visit) click(x, y float64) {
	v.Helper()
	t := v.b.front()
	for _, kind := range []string{"mouseMoved", "mousePressed", "mouseReleased"} {
		if err := t.conn.call(v.Context(), t.session, "Input.dispatchMouseEvent", object{"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1}, nil); err != nil {
			v.Fatal(err)
		}
	}
}

// typing types as a person does.
func (v *visit) typing(text string) {
	v.Helper()
	t := v.b.front()
	for _, r := range text {
		for _, kind := range []string{"keyDown", "keyUp"} {
			p := object{"type": kind, "key": string(r)}
			if kind == "keyDown" {
				p["text"] = string(r)
			}
			if err := t.conn.call(v.Context(), t.session, "Input.dispatchKeyEvent", p, nil); err != nil {
				v.Fatal(err)
			}
		}
	}
}

// pages serves pages by their path.
func pages(of map[string]string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page, ok := of[r.URL.Path]
		if r.URL.Path == "/favicon.ico" {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = fmt.Fprint(w, "<!doctype html>"+page)
	})
}

// What was not asked for is not recorded, nor even asked of the browser. Of requests only the answers to those that change something
// are always.
func TestWhatWasNotAskedForIsNotEvenEnabled(t *testing.T) {
	v := visits(t, human.BrowserOptions{}, pages(map[string]string{"/": `<script>console.error("oops"); fetch("/nothing")</script>`}))
	v.rest(500 * time.Millisecond)
	tab := v.b.front()
	if s := tab.sources; !s.traffic.answers || s.film != nil || s.console {
		t.Errorf("the tab has sources nobody asked for: %+v", s)
	}
	if got := v.all(func(e human.RecordedEvent) bool {
		return e.Type == human.PageRequest || e.Type == human.PageAnswer || e.Type == human.PageConsole || e.Type == human.PageDOM
	}); len(got) > 0 {
		t.Errorf("recorded without being asked: %v", got)
	}
}

// A listener is a transport that keeps what is sent, and never answers.
type listener struct {
	mu     sync.Mutex
	sent   []string
	closed chan struct{}
}

func (l *listener) Write(_ context.Context, m *cdproto.Message) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sent = append(l.sent, string(m.Method))
	return nil
}

func (l *listener) Read(context.Context, *cdproto.Message) error {
	<-l.closed
	return io.EOF
}

func (l *listener) Close() error {
	close(l.closed)
	return nil
}

func TestSessionsAreToldNothingThatNobodyAskedFor(t *testing.T) {
	rrweb := func() (string, error) { return "var rrweb = {record() {}}", nil }
	for name, tt := range map[string]struct {
		want human.BrowserOptions
		sent []string
	}{
		"nothing":  {sent: []string{"Network.enable"}},
		"requests": {want: human.BrowserOptions{Network: true}, sent: []string{"Network.enable"}},
		"console":  {want: human.BrowserOptions{Console: true}, sent: []string{"Network.enable", "Log.enable"}},
		"the page": {want: human.BrowserOptions{DOM: true}, sent: []string{"Network.enable", "Runtime.addBinding", "Page.addScriptToEvaluateOnNewDocument"}},
	} {
		t.Run(name, func(t *testing.T) {
			l := &listener{closed: make(chan struct{})}
			b := New(Options{Clock: func() (time.Time, int64) { return time.Now(), 1 }, RRWeb: rrweb}, tt.want, nil)
			if err := b.shared.begin(b); err != nil {
				t.Fatal(err)
			}
			c := newConn(l, b.now)
			defer c.close()
			tab := &tab{b: b, conn: c}
			tab.equip("session")
			l.mu.Lock()
			defer l.mu.Unlock()
			if !slices.Equal(l.sent, tt.sent) {
				t.Errorf("sent %v; want %v", l.sent, tt.sent)
			}
		})
	}
}
