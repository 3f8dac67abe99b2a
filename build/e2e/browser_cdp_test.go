//go:build window

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"deskbell/build/e2e/desktoptest"
)

// A debugger is a connection to a browser's debugging port, of its own: what the recorder does on its connection
// it does not see, and the recorder not what is done on this one.
type debugger struct {
	ws   *websocket.Conn
	ends context.CancelFunc
	over chan struct{} // closed when nothing more is read
	wait time.Duration // for an answer

	mu       sync.Mutex
	next     int
	answers  map[int]chan answer
	sessions map[string]*target // by session id
	order    []string           // of pages, as they were attached
	events   []event
	broken   error
}

type answer struct {
	Result json.RawMessage
	Error  *struct{ Message string }
}

// A target is a page or an iframe with a process of its own.
type target struct {
	ID      string `json:"targetId"`
	Type    string `json:"type"`
	URL     string `json:"url"`
	Context string `json:"browserContextId"`
	session string
	parent  string // session it was attached within; "" of tabs
}

type event struct {
	session, method string
	params          json.RawMessage
}

// dial connects to a browser by its profile folder, in which it writes its port.
func dial(t *testing.T, profile string) *debugger {
	t.Helper()
	return dialBy(t, profile, nil)
}

func dialBy(t *testing.T, profile string, by *websocket.DialOptions) *debugger {
	t.Helper()
	var port, path string
	eventually(t, "the browser's debugging port", func() bool {
		text, err := os.ReadFile(filepath.Join(profile, "DevToolsActivePort"))
		if err != nil {
			return false
		}
		port, path, _ = strings.Cut(strings.TrimSpace(string(text)), "\n")
		return path != ""
	})
	d, err := connectBy(t.Context(), "ws://127.0.0.1:"+port+path, by)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.close)
	return d
}

func connect(ctx context.Context, url string) (*debugger, error) { return connectBy(ctx, url, nil) }

func connectBy(ctx context.Context, url string, by *websocket.DialOptions) (*debugger, error) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ws, _, err := websocket.Dial(ctx, url, by)
	if err != nil {
		cancel()
		return nil, err
	}
	ws.SetReadLimit(256 << 20)
	d := &debugger{ws: ws, ends: cancel, over: make(chan struct{}), wait: desktoptest.Patience, answers: map[int]chan answer{}, sessions: map[string]*target{}}
	go func() {
		defer close(d.over)
		d.read(ctx)
	}()
	if err := d.call("", "Target.setAutoAttach", attachAll, nil); err != nil {
		d.close()
		return nil, err
	}
	return d, nil
}

var attachAll = map[string]any{"autoAttach": true, "waitForDebuggerOnStart": false, "flatten": true}

func (d *debugger) close() {
	d.ends()
	_ = d.ws.CloseNow() // nobody is on the other side any more, often
	<-d.over
}

func (d *debugger) read(ctx context.Context) {
	for {
		_, data, err := d.ws.Read(ctx)
		var m struct {
			ID        int
			Method    string
			SessionID string
			Params    json.RawMessage
			answer
		}
		if err == nil {
			err = json.Unmarshal(data, &m)
		}
		d.mu.Lock()
		if err != nil {
			d.broken = err
			for _, c := range d.answers {
				close(c)
			}
			d.answers = map[int]chan answer{}
			d.mu.Unlock()
			return
		}
		if c := d.answers[m.ID]; m.ID != 0 && c != nil {
			delete(d.answers, m.ID)
			c <- m.answer
		}
		if m.Method != "" {
			d.heard(event{m.SessionID, m.Method, m.Params})
		}
		d.mu.Unlock()
	}
}

// heard keeps account of targets, and keeps the other events; d.mu is held.
func (d *debugger) heard(e event) {
	var p struct {
		SessionID  string
		TargetInfo target
	}
	switch e.method {
	case "Target.attachedToTarget", "Target.detachedFromTarget", "Target.targetInfoChanged":
		if json.Unmarshal(e.params, &p) != nil {
			return
		}
	default:
		d.events = append(d.events, e)
		return
	}
	switch e.method {
	case "Target.attachedToTarget":
		t := p.TargetInfo
		t.session, t.parent = p.SessionID, e.session
		d.sessions[t.session] = &t
		if t.Type == "page" {
			d.order = append(d.order, t.session)
		}
		if t.Type == "page" || t.Type == "iframe" {
			go func() {
				_ = d.call(t.session, "Target.setAutoAttach", attachAll, nil)
				_ = d.call(t.session, "Page.enable", nil, nil) // one that is gone by now is not needed
			}()
		}
	case "Target.detachedFromTarget":
		delete(d.sessions, p.SessionID)
	}
}

// call sends a command to a session, the browser itself when "", and reads the answer into result.
func (d *debugger) call(session, method string, params, result any) error {
	d.mu.Lock()
	if d.broken != nil {
		defer d.mu.Unlock()
		return d.broken
	}
	d.next++
	id, c := d.next, make(chan answer, 1)
	d.answers[id] = c
	d.mu.Unlock()
	message := map[string]any{"id": id, "method": method}
	if params != nil {
		message["params"] = params
	}
	if session != "" {
		message["sessionId"] = session
	}
	data, err := json.Marshal(message)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), d.wait)
	defer cancel()
	if err := d.ws.Write(ctx, websocket.MessageText, data); err != nil {
		return err
	}
	select {
	case a, ok := <-c:
		switch {
		case !ok:
			return fmt.Errorf("%s: the browser is gone", method)
		case a.Error != nil:
			return fmt.Errorf("%s: %s", method, a.Error.Message)
		case result != nil:
			return json.Unmarshal(a.Result, result)
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%s: no answer in %v", method, d.wait)
	}
}

// pages are the sessions of tabs and popups that are open, in the order in which they were attached.
func (d *debugger) pages() (all []*target) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range d.order {
		if t := d.sessions[s]; t != nil {
			all = append(all, t)
		}
	}
	return all
}

// frameSession is the session of a frame that has a process of its own.
func (d *debugger) frameSession(frame string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	for s, t := range d.sessions {
		if t.ID == frame {
			return s
		}
	}
	return ""
}

// evaluate runs a function's body in the page and reads what it returns into result.
func (d *debugger) evaluate(session, expression string, result any) error {
	var r struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct{ Text string }
	}
	err := d.call(session, "Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &r)
	switch {
	case err != nil:
		return err
	case r.ExceptionDetails != nil:
		return fmt.Errorf("%s: %s", expression, r.ExceptionDetails.Text)
	case result != nil && len(r.Result.Value) > 0:
		return json.Unmarshal(r.Result.Value, result)
	}
	return nil
}

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	deadline, tick := time.After(desktoptest.Patience), time.NewTicker(20*time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-deadline:
			t.Fatalf("waited %v for %s", desktoptest.Patience, what)
		case <-tick.C:
		}
	}
}
