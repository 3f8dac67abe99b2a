package browser

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"deskbell/backend/human"
)

// chromium is a headless browser that tests of the page script speak to through its debugging pipe.
type chromium struct {
	out *os.File

	mu      sync.Mutex
	last    int
	waiting map[int]chan reply
	pages   map[string]*testPage // by session
	ended   error
}

type reply struct {
	ID      int             `json:"id"`
	Session string          `json:"sessionId"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   json.RawMessage `json:"error"`
}

// testPage is one tab with the page script in it, and what the script sent.
type testPage struct {
	t       *testing.T
	browser *chromium
	session string
	world   int // the script's context
	loaded  bool
	events  []human.RecordedEvent
	from    []message // of each event, its message
	bad     []error
	// payloads are the messages as they were sent.
	payloads []string
	dragged  json.RawMessage // what is dragged, where drags are intercepted
	changed  chan struct{}
}

func startChromium(t *testing.T) *chromium {
	t.Helper()
	fromUs, toIt, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	fromIt, toUs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--remote-debugging-pipe",
		"--user-data-dir="+t.TempDir(), "--window-size=1000,800", "--host-resolver-rules=MAP *.test 127.0.0.1", "about:blank")
	cmd.ExtraFiles = []*os.File{fromUs, toUs}
	if err := cmd.Start(); err != nil {
		t.Fatalf("Chromium does not start: %v", err)
	}
	_ = fromUs.Close()
	_ = toUs.Close()
	c := &chromium{out: toIt, waiting: map[int]chan reply{}, pages: map[string]*testPage{}}
	var read sync.WaitGroup
	read.Go(func() { c.read(fromIt) })
	t.Cleanup(func() {
		c.send("", "Browser.close", nil)
		_ = toIt.Close()
		_ = cmd.Wait()
		read.Wait()
		_ = fromIt.Close()
	})
	return c
}

func (c *chromium) read(from *os.File) {
	in := bufio.NewReaderSize(from, 1<<20)
	for {
		line, err := in.ReadBytes(0)
		if err != nil {
			c.mu.Lock()
			c.ended = err
			for _, w := range c.waiting {
				close(w)
			}
			c.waiting = map[int]chan reply{}
			c.mu.Unlock()
			return
		}
		var r reply
		if json.Unmarshal(line[:len(line)-1], &r) != nil {
			continue
		}
		c.mu.Lock()
		if w := c.waiting[r.ID]; r.ID != 0 && w != nil {
			delete(c.waiting, r.ID)
			w <- r
		} else if p := c.pages[r.Session]; p != nil {
			p.heard(r)
		}
		c.mu.Unlock()
	}
}

func (c *chromium) send(session, method string, params any) chan reply {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last++
	answer := make(chan reply, 1)
	if c.ended != nil {
		close(answer)
		return answer
	}
	c.waiting[c.last] = answer
	m := map[string]any{"id": c.last, "method": method}
	if session != "" {
		m["sessionId"] = session
	}
	if params != nil {
		m["params"] = params
	}
	line, _ := json.Marshal(m)
	_, _ = c.out.Write(append(line, 0))
	return answer
}

func (c *chromium) call(t *testing.T, session, method string, params, result any) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	select {
	case r, ok := <-c.send(session, method, params):
		if !ok {
			t.Fatalf("%s: the browser is gone", method)
		}
		if r.Error != nil {
			t.Fatalf("%s: %s", method, r.Error)
		}
		if result != nil {
			if err := json.Unmarshal(r.Result, result); err != nil {
				t.Fatalf("%s: %v", method, err)
			}
		}
	case <-ctx.Done():
		t.Fatalf("%s: no answer", method)
	}
}

// args are parameters of a command.
type args = map[string]any

// open serves the page at / and opens it in a new tab with the script in it.
func (c *chromium) open(t *testing.T, html string, more ...func(*testSite)) *testPage {
	t.Helper()
	site := &testSite{html: html, header: http.Header{}, pages: map[string]string{}, config: pageConfig{Clipboard: true}}
	for _, m := range more {
		m(site)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for k, v := range site.header {
			w.Header()[k] = v
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if site.folder != "" {
			w.Header().Del("Content-Type")
			http.FileServer(http.Dir(site.folder)).ServeHTTP(w, r)
			return
		}
		if html, ok := site.pages[r.URL.Path]; ok {
			_, _ = fmt.Fprint(w, html)
			return
		}
		_, _ = fmt.Fprint(w, "<!DOCTYPE html><title>Test</title>"+site.html)
	}))
	t.Cleanup(server.Close)
	var target struct{ TargetID string }
	c.call(t, "", "Target.createTarget", args{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	c.call(t, "", "Target.attachToTarget", args{"targetId": target.TargetID, "flatten": true}, &attached)
	p := &testPage{t: t, browser: c, session: attached.SessionID, changed: make(chan struct{}, 1)}
	c.mu.Lock()
	c.pages[p.session] = p
	c.mu.Unlock()
	t.Cleanup(func() {
		c.mu.Lock()
		delete(c.pages, p.session)
		c.mu.Unlock()
		c.send("", "Target.closeTarget", args{"targetId": target.TargetID})
	})
	p.call("Page.enable", nil)
	p.call("Runtime.enable", nil)
	p.call("Emulation.setFocusEmulationEnabled", args{"enabled": true})
	if !site.bare {
		source, err := script(site.config)
		if err != nil {
			t.Fatal(err)
		}
		p.call("Runtime.addBinding", args{"name": bindingName, "executionContextName": worldName})
		p.call("Page.addScriptToEvaluateOnNewDocument", args{"source": source, "worldName": worldName, "runImmediately": true, "includeCommandLineAPI": true})
	}
	c.mu.Lock()
	p.world, p.loaded = 0, false // of the empty page
	c.mu.Unlock()
	p.call("Page.navigate", args{"url": server.URL + site.at})
	p.until("the page is loaded", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return p.loaded && (site.bare || p.world != 0)
	})
	// Input is dropped until a page was drawn.
	p.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))", !site.bare, nil)
	return p
}

// testSite is what a test serves.
type testSite struct {
	html   string
	at     string // path and query that are opened
	header http.Header
	pages  map[string]string
	folder string // served in place of html and pages
	config pageConfig
	bare   bool // without the script, to compare
}

func (p *testPage) heard(r reply) {
	switch r.Method {
	case "Runtime.executionContextCreated":
		var e struct {
			Context struct {
				ID   int
				Name string
			}
		}
		_ = json.Unmarshal(r.Params, &e)
		if e.Context.Name == worldName {
			p.world = e.Context.ID
		}
	case "Runtime.bindingCalled":
		var e struct{ Name, Payload string }
		_ = json.Unmarshal(r.Params, &e)
		p.payloads = append(p.payloads, e.Payload)
		m, err := decode(e.Payload)
		if err != nil {
			p.bad = append(p.bad, fmt.Errorf("%w: %s", err, e.Payload))
			return
		}
		p.events = append(p.events, m.Events...)
		for range m.Events {
			p.from = append(p.from, m)
		}
	case "Page.loadEventFired":
		p.loaded = true
	case "Input.dragIntercepted":
		var e struct{ Data json.RawMessage }
		_ = json.Unmarshal(r.Params, &e)
		p.dragged = e.Data
	case "Runtime.exceptionThrown":
		p.bad = append(p.bad, errors.New(string(r.Params)))
	}
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

func (p *testPage) call(method string, params any) {
	p.t.Helper()
	p.browser.call(p.t, p.session, method, params, nil)
}

// evaluate runs an expression in the page's own world, or in the script's where there is one.
func (p *testPage) evaluate(expression string, isolated bool, result any) {
	p.t.Helper()
	params := args{"expression": expression, "returnByValue": true, "awaitPromise": true}
	if isolated {
		p.browser.mu.Lock()
		if p.world != 0 {
			params["contextId"] = p.world
		}
		p.browser.mu.Unlock()
	}
	var got struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	p.browser.call(p.t, p.session, "Runtime.evaluate", params, &got)
	if got.ExceptionDetails != nil {
		p.t.Fatalf("%s: %s", expression, got.ExceptionDetails)
	}
	if result != nil && got.Result.Value != nil {
		if err := json.Unmarshal(got.Result.Value, result); err != nil {
			p.t.Fatalf("%s: %v", expression, err)
		}
	}
}

func (p *testPage) run(expression string) { p.t.Helper(); p.evaluate(expression, false, nil) }

// text is an expression's value in the page's own world, as text.
func (p *testPage) text(expression string) (s string) {
	p.t.Helper()
	p.evaluate("String("+expression+")", false, &s)
	return s
}

// until waits for something to come true.
func (p *testPage) until(what string, is func() bool) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 20*time.Second)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-tick.C:
		case <-p.changed:
		case <-ctx.Done():
			p.t.Fatalf("never: %s; so far: %s", what, p.describe())
		}
	}
}

// all returns the events so far; that the script failed is a failure of the test.
func (p *testPage) all() []human.RecordedEvent {
	p.t.Helper()
	p.browser.mu.Lock()
	defer p.browser.mu.Unlock()
	for _, err := range p.bad {
		p.t.Errorf("the script: %v", err)
	}
	p.bad = nil
	return slices.Clone(p.events)
}

func (p *testPage) describe() string { b, _ := json.MarshalIndent(p.all(), "", " "); return string(b) }

// wait returns the first event that fits, which may have happened already.
func (p *testPage) wait(kind human.RecordedType, fits func(human.RecordedEvent) bool) human.RecordedEvent {
	p.t.Helper()
	var found human.RecordedEvent
	p.until("an event "+string(kind), func() bool {
		for _, e := range p.all() {
			if e.Type == kind && (fits == nil || fits(e)) {
				found = e
				return true
			}
		}
		return false
	})
	return found
}

// lines has the script send what it holds back, and returns all events, one to a line.
func (p *testPage) lines() (lines []string) {
	p.t.Helper()
	p.evaluate("deskbell.flush()", true, nil)
	for _, e := range p.all() {
		if e.Type != human.PageMessage { // which messages has
			lines = append(lines, line(e))
		}
	}
	return lines
}

// line is what an event says, without places.
func line(e human.RecordedEvent) string {
	words := []string{strings.TrimPrefix(string(e.Type), "page_")}
	if e.Button > 1 {
		words = append(words, fmt.Sprintf("button%d", e.Button))
	}
	if e.Count > 1 && e.Type == human.PageClick {
		words = append(words, fmt.Sprintf("x%d", e.Count))
	}
	if e.Key != "" || len(e.Modifiers) > 0 {
		words = append(words, strings.Join(append(e.Modifiers, e.Key), "+"))
	}
	for _, el := range []*human.Element{e.Element, e.Target} {
		if el == nil {
			continue
		}
		words = append(words, el.Role)
		if el.Name != "" {
			words = append(words, quoted(el.Name))
		}
	}
	if e.Text != "" && e.Type != human.PagePress && e.Type != human.PageKey { // there it is what the page says, which is not kept
		words = append(words, "= "+e.Text)
	}
	if len(e.Values) > 0 {
		words = append(words, "["+strings.Join(e.Values, ", ")+"]")
	}
	if e.Hidden != "" {
		words = append(words, fmt.Sprintf("hidden:%s(%d)", e.Hidden, e.Count))
	}
	for _, f := range e.Transfers {
		words = append(words, fmt.Sprintf("%s:%d", f.Name, f.Size))
	}
	return strings.Join(words, " ")
}

// at is the middle of an element, which may be given by a path of JavaScript.
func (p *testPage) at(selector string) (x, y float64) {
	p.t.Helper()
	var at [2]float64
	p.evaluate(`(() => { let e = document.querySelector(`+quoted(selector)+`); e.scrollIntoViewIfNeeded && e.scrollIntoViewIfNeeded();
		let r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2] })()`, true, &at)
	return at[0], at[1]
}

func quoted(s string) string { b, _ := json.Marshal(s); return string(b) }

func (p *testPage) mouse(kind string, x, y float64, more args) {
	p.t.Helper()
	params := args{"type": kind, "x": x, "y": y, "button": "none"}
	for k, v := range more {
		params[k] = v
	}
	p.call("Input.dispatchMouseEvent", params)
}

func (p *testPage) clickAt(x, y float64, button string, count int) {
	p.t.Helper()
	p.mouse("mouseMoved", x, y, nil)
	for n := 1; n <= count; n++ {
		p.mouse("mousePressed", x, y, args{"button": button, "clickCount": n, "buttons": map[string]int{"left": 1, "right": 2, "middle": 4}[button]})
		p.mouse("mouseReleased", x, y, args{"button": button, "clickCount": n})
	}
}

func (p *testPage) click(selector string) {
	p.t.Helper()
	x, y := p.at(selector)
	p.clickAt(x, y, "left", 1)
}

// Bits of modifiers in commands of Input.
const (
	altKey = 1 << iota
	ctrlKey
	metaKey
	shiftKey
)

var keyCodes = map[string]int{"Enter": 13, "Tab": 9, "Escape": 27, "Backspace": 8, "ArrowDown": 40, "ArrowUp": 38, "ArrowLeft": 37, "ArrowRight": 39,
	" ": 32, "Shift": 16, "Control": 17, "F5": 116, "Delete": 46, "End": 35, "Home": 36}

// key presses one key; one that makes text types it.
func (p *testPage) key(key string, modifiers int) {
	p.t.Helper()
	code, ok := keyCodes[key]
	params := args{"type": "rawKeyDown", "key": key, "modifiers": modifiers}
	if r := key[0]; !ok && len(key) == 1 && (r >= '0' && r <= '9' || r >= 'a' && r <= 'z') {
		code = int(strings.ToUpper(key)[0])
	}
	params["windowsVirtualKeyCode"] = code
	switch {
	case key == "Enter":
		params["type"], params["text"] = "keyDown", "\r"
	case len([]rune(key)) == 1 && modifiers&(ctrlKey|altKey|metaKey) == 0:
		params["type"], params["text"] = "keyDown", key
	}
	if modifiers&ctrlKey != 0 {
		if command := map[string]string{"a": "selectAll", "c": "copy", "x": "cut", "v": "paste"}[key]; command != "" {
			params["commands"] = []string{command}
		}
	}
	p.call("Input.dispatchKeyEvent", params)
	p.call("Input.dispatchKeyEvent", args{"type": "keyUp", "key": key, "modifiers": modifiers, "windowsVirtualKeyCode": code})
}

func (p *testPage) typed(text string) {
	p.t.Helper()
	for _, r := range text {
		p.key(string(r), 0)
	}
}

// drag presses in the middle of an element, moves in steps, and releases the button.
func (p *testPage) drag(selector string, toX, toY float64) {
	p.t.Helper()
	x, y := p.at(selector)
	p.mouse("mouseMoved", x, y, nil)
	p.mouse("mousePressed", x, y, args{"button": "left", "clickCount": 1, "buttons": 1})
	for i := 1.0; i <= 5; i++ {
		p.mouse("mouseMoved", x+(toX-x)*i/5, y+(toY-y)*i/5, args{"button": "left", "buttons": 1})
	}
	p.mouse("mouseReleased", toX, toY, args{"button": "left", "clickCount": 1})
}
