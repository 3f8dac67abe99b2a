package browser

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"sync"
	"time"

	"deskbell/backend/human"
)

const (
	flushWithin = 700 * time.Millisecond // for pages to send what they hold back, at the end
	emptyFor    = 1500 * time.Millisecond
)

type object = map[string]any

// checked says whether what the operator chose can be done.
func (b *Browser) checked() error {
	if b.want.URL == "" || b.want.URL == "about:blank" {
		return nil
	}
	u, err := url.Parse(b.want.URL)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return human.BadField("url", "a browser is opened at http, https and about:blank addresses only, not at %q", b.want.URL)
	}
	return nil
}

// Run implements record.Source. It begins with a BrowserChanged event, opened or attached, and ends with one: closed,
// or lost, when it ended with neither ctx nor the person.
func (b *Browser) Run(ctx context.Context, ready func(), emit func(human.RecordedEvent)) (uint64, error) {
	if err := b.checked(); err != nil {
		return 0, err
	}
	if ctx.Err() != nil {
		return 0, nil
	}
	inner, cancel := context.WithCancel(context.WithoutCancel(ctx)) // outlives ctx by what is reported at the end
	defer cancel()
	b.mu.Lock()
	if b.running {
		b.mu.Unlock()
		return 0, human.Errorf(human.Conflict, "The browser is open already.")
	}
	b.running, b.ctx, b.own, b.numbers = true, inner, b.want.Attach == "", 0
	b.tabs, b.by, b.order, b.shown = map[string]*tab{}, map[string]*part{}, nil, nil
	b.mu.Unlock()
	defer b.change(func() { b.running, b.conn = false, nil })
	source, err := script(pageConfig{Parameters: b.o.Parameters, Clipboard: b.o.Clipboard, Seed: b.seed})
	if err != nil {
		return 0, human.Wrap(human.Internal, err, "The script for pages cannot be made.")
	}
	b.since, _ = b.o.Clock()
	b.source, b.begun, b.downloads = source+";"+shownScript, false, map[string]*download{}
	if err := b.shared.begin(b); err != nil {
		return 0, err
	}

	process, err := b.connect(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return 0, nil
		}
		return 0, err
	}
	b.box.open(emit)
	s := &browserSession{b: b, process: process, ready: ready}
	s.begin()
	err = s.work(ctx)

	// What is under way gets its event, as far as it is known; then nothing is reported any more.
	b.endGaps()
	b.endSources()
	b.change(func() { b.running = false })
	cancel()
	for _, t := range b.order {
		t.cancel()
	}
	b.work.Wait()
	switch {
	case err != nil:
		b.emit(human.RecordedEvent{Type: human.BrowserChanged, Text: "lost", App: b.application()})
	case b.begun:
		b.emit(human.RecordedEvent{Type: human.BrowserChanged, Text: "closed", App: b.application()})
	}
	seen := b.box.close()
	s.leave()
	return seen, err
}

// connect launches a browser or attaches to one, and has its answer.
func (b *Browser) connect(ctx context.Context) (*process, error) {
	if b.want.Attach != "" {
		transport, err := attach(ctx, b.want.Attach)
		if err != nil {
			return nil, err
		}
		b.change(func() {
			b.app = human.App{}
			b.conn = newConn(transport, b.now)
		})
	}
	var p *process
	if b.own {
		var err error
		if p, err = b.launch(); err != nil {
			return nil, err
		}
		b.change(func() { b.conn = newConn(p.transport, b.now) })
	}
	var version struct {
		Product string `json:"product"`
	}
	asking, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	if err := b.conn.call(asking, "", "Browser.getVersion", nil, &version); err != nil {
		if p == nil {
			b.conn.close()
			return nil, human.Wrap(human.Unavailable, err, "The browser at %s does not answer.", b.want.Attach)
		}
		err = p.notStarted(asking, err)
		b.conn.close()
		p.close()
		return nil, err
	}
	if b.app.Name == "" {
		b.change(func() { b.app.Name = version.Product })
	}
	return p, nil
}

func (b *Browser) application() *human.App {
	b.mu.Lock()
	defer b.mu.Unlock()
	app := b.app
	return &app
}

// change changes what mu guards. Only the goroutine of Run changes it, which is why that may read it without mu.
func (b *Browser) change(what func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	what()
}

// later has Run's goroutine change what mu guards, in order with what the browser reports.
func (b *Browser) later(what func()) {
	b.mu.Lock()
	c := b.conn
	b.mu.Unlock()
	if c != nil {
		c.push(event{answer: func() { b.change(what) }})
	}
}

// A browserSession is the time in which a browser is open. Only the goroutine of Run uses it.
type browserSession struct {
	b       *Browser
	process *process // nil: attached
	ready   func()

	listed bool // all pages there were at the beginning are known
	empty  int64
}

// begin has the browser report its pages, and hold new ones until they are heard.
func (s *browserSession) begin() {
	c := s.b.conn
	c.send("", "Target.setDiscoverTargets", object{"discover": true, "filter": []object{{"type": "page"}}})
	c.send("", "Browser.setDownloadBehavior", object{"behavior": "default", "eventsEnabled": true})
	c.ask("", "Target.setAutoAttach", autoAttach, func(json.RawMessage, error) {
		s.listed = true
	})
}

// start is where the browser is to open.
func (b *Browser) start() string {
	if b.want.URL == "" {
		return "about:blank"
	}
	return b.want.URL
}

var autoAttach = object{"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true}

// work handles what the browser reports until ctx ends, the person closes it (nil, too), or it is lost.
func (s *browserSession) work(ctx context.Context) error {
	b, c := s.b, s.b.conn
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	stop := ctx.Done()
	var flushed chan struct{}
	for {
		select {
		case <-stop:
			stop, flushed = nil, make(chan struct{})
			b.do(func(ctx context.Context) {
				defer close(flushed)
				b.flush(ctx)
			})
		case <-flushed:
			s.handle()
			return nil
		case <-c.more:
			s.handle()
		case <-tick.C:
			if s.deserted() && stop != nil {
				return nil
			}
		case <-c.done:
			s.handle()
			if stop == nil {
				return nil
			}
			return s.ended()
		}
	}
}

// handle handles what has come.
func (s *browserSession) handle() {
	for _, e := range s.b.conn.take() {
		if e.answer != nil {
			e.answer()
		} else {
			s.b.handle(e)
		}
	}
	b := s.b
	if b.begun || !s.listed || b.own && len(b.order) == 0 || slices.ContainsFunc(b.order, func(t *tab) bool { return !t.armed }) {
		return
	}
	b.begun = true
	s.ready()
	text := "attached"
	if s.b.own {
		text = "opened"
	}
	s.b.emit(human.RecordedEvent{Type: human.BrowserChanged, Text: text, App: s.b.application()})
	for _, t := range b.order {
		t.announce(0)
	}
	if front := b.shown; front != nil {
		b.change(func() { b.shown = nil })
		front.cameToFront("visible", b.now())
	}
	switch {
	case !b.own && (b.want.URL != "" || len(b.order) == 0): // the operator's own pages stay as they are
		b.conn.send("", "Target.createTarget", object{"url": b.start()})
	case b.own && b.start() != "about:blank":
		first := b.order[0]
		first.goes(navigation{kind: "address", at: b.now()})
		b.conn.send(first.session, "Page.navigate", object{"url": b.start(), "transitionType": "typed"})
	}
}

// deserted says that the person closed all pages, though the browser itself continues, as it does on macOS.
func (s *browserSession) deserted() bool {
	if !s.b.begun || len(s.b.tabs) > 0 {
		s.empty = 0
		return false
	}
	if s.empty == 0 {
		s.empty = s.b.now()
	}
	return s.b.own && s.b.now()-s.empty > int64(emptyFor)
}

// ended says whether the person closed the browser, which is no loss, or it was lost.
func (s *browserSession) ended() error {
	if s.process == nil {
		if len(s.b.tabs) == 0 {
			return nil
		}
		return human.Wrap(human.Unavailable, s.b.conn.err, "The connection to the browser was lost.")
	}
	select {
	case <-s.process.exited:
	case <-time.After(closeWithin):
	}
	select {
	case <-s.process.exited:
		if s.process.err == nil {
			return nil
		}
		return human.Wrap(human.Unavailable, s.process.err, "The browser ended unexpectedly.")
	default:
		return human.Wrap(human.Unavailable, s.b.conn.err, "The connection to the browser was lost.")
	}
}

// leave closes what was opened, and releases what was attached to.
func (s *browserSession) leave() {
	if s.process != nil {
		closing, cancel := context.WithTimeout(context.Background(), closeWithin)
		_ = s.b.conn.call(closing, "", "Browser.close", nil, nil) // it may be gone before it answers
		cancel()
		s.process.close()
	}
	s.b.conn.close()
}

// flush has all pages send what they hold back, such as what is being typed, and, where the browser continues without
// us, fall silent.
func (b *Browser) flush(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, flushWithin)
	defer cancel()
	expression := flushPage
	if !b.own {
		expression = stopPage
	}
	b.mu.Lock()
	tabs := slices.Clone(b.order)
	b.mu.Unlock()
	var asked sync.WaitGroup // answers come in order with what is reported; a page that a dialog holds gives none
	for _, t := range tabs {
		if ss := t.sources.screenshots; ss != nil {
			asked.Go(ss.finish)
		}
		for _, p := range t.places() {
			if p.contextID != 0 {
				asked.Go(func() { _ = t.evaluate(ctx, p, expression, nil) })
			}
		}
	}
	asked.Wait()
}

// Show implements record.Browser.
func (b *Browser) Show(ctx context.Context) error {
	b.mu.Lock()
	t, c := b.shown, b.conn
	if t == nil && len(b.order) > 0 {
		t = b.order[len(b.order)-1]
	}
	running := b.running
	b.mu.Unlock()
	if !running || c == nil || t == nil {
		return human.Errorf(human.Conflict, "The browser is closed.")
	}
	var window struct {
		ID     int `json:"windowId"`
		Bounds struct {
			State string `json:"windowState"`
		} `json:"bounds"`
	}
	if err := c.call(ctx, "", "Browser.getWindowForTarget", object{"targetId": t.target}, &window); err == nil && window.Bounds.State == "minimized" {
		_ = c.call(ctx, "", "Browser.setWindowBounds", object{"windowId": window.ID, "bounds": object{"windowState": "normal"}}, nil)
	}
	if err := c.call(ctx, t.session, "Page.bringToFront", nil, nil); err != nil {
		return human.Wrap(human.Conflict, err, "The browser is closed.")
	}
	return nil
}

// What the page script is asked for: to listen again, to send what it holds back, and besides to listen no more.
const (
	armPage   = "globalThis.deskbell?.arm()"
	flushPage = "globalThis.deskbell?.flush()"
	stopPage  = "globalThis.deskbell?.stop()"
)
