package browser

import (
	"context"
	"encoding/json"
	"io/fs"
	"strings"

	"deskbell/backend/human"
)

// tabSources are what of a tab is recorded beside what is done in it: its looks, its requests, its complaints. What was
// not asked for is nil and costs nothing; of requests the answers to those that change something always count.
type tabSources struct {
	screenshots *screenshots
	traffic     *traffic
	film        *film
	console     bool
	since       float64            // ms since 1970: what is older was before the recording
	doing       human.RecordedType // what is being delivered,
	done        int64              // and when it was done
}

// sharedSources bound what the sources of all tabs deliver.
type sharedSources struct {
	requests, console, film valve
	source                  string // of the film
	workers                 map[string]*tab
}

// begin prepares what is the same for all tabs, before there are any.
func (m *sharedSources) begin(b *Browser) error {
	m.requests = valve{what: "requests", rate: 200, burst: 5000}
	m.console = valve{what: "lines of the console", rate: 10, burst: 300}
	m.film = valve{what: "parts of the film of a page", rate: filmRate, burst: filmBurst}
	m.workers, m.source = map[string]*tab{}, ""
	if !b.want.DOM {
		return nil
	}
	if b.o.RRWeb == nil {
		return human.Errorf(human.Unavailable, "Pages cannot be recorded: this build has no rrweb. Record without the page itself.")
	}
	rrweb, err := b.o.RRWeb()
	if err == nil {
		m.source, err = filmSource(rrweb, pageConfig{Parameters: b.o.Parameters})
	}
	if err != nil {
		return human.Wrap(human.Unavailable, err, "Pages cannot be recorded: rrweb cannot be read. Record without the page itself.")
	}
	return nil
}

// equip has a session report what its tab's sources need. It is called for each one, before what it reaches begins.
func (t *tab) equip(session string) {
	c := t.conn
	c.send(session, "Network.enable", object{"maxTotalBufferSize": 0, "maxResourceBufferSize": 0, "maxPostDataSize": 0})
	if t.b.want.Console {
		c.send(session, "Log.enable", nil)
	}
	if source := t.b.shared.source; source != "" {
		c.send(session, "Runtime.addBinding", object{"name": filmWorld, "executionContextName": filmWorld})
		c.send(session, "Page.addScriptToEvaluateOnNewDocument", object{"source": source, "worldName": filmWorld, "runImmediately": true})
	}
	if p := t.b.picking.Load(); p != nil && p.t == t {
		p.arm(session)
	}
}

// worker is called for a worker of a tab before it begins.
func (t *tab) worker(session string) {
	if t.b.want.Network || t.b.want.Console {
		t.b.shared.workers[session] = t
	}
	if t.b.want.Network {
		t.conn.send(session, "Network.enable", object{"maxTotalBufferSize": 0, "maxResourceBufferSize": 0, "maxPostDataSize": 0})
	}
	if t.b.want.Console {
		t.conn.send(session, "Runtime.enable", nil)
		t.conn.send(session, "Log.enable", nil)
	}
}

// elsewhere takes an event of a session that reaches no page.
func (b *Browser) elsewhere(e event) {
	if t := b.shared.workers[e.session]; t != nil && t.ctx.Err() == nil {
		t.event(e.session, e.method, e.params)
	}
}

// opened is called when a tab is heard; ctx ends when it is gone. Like the others it is called where events are
// handled: it must not wait for the browser, but may begin a goroutine by t.do.
func (t *tab) opened(context.Context) {
	b := t.b
	wall, _ := b.o.Clock()
	t.sources = tabSources{console: b.want.Console, since: float64(wall.UnixMilli())}
	if b.save != nil {
		t.sources.screenshots = &screenshots{t: t, came: make(chan struct{}, 1)}
		t.do(t.sources.screenshots.watch)
	}
	t.sources.traffic = &traffic{answers: !b.want.Network, url: b.maskURL, text: b.mask, done: t.asked, lost: func() { b.shared.requests.lose(b.now()) }}
	if b.want.DOM {
		t.sources.film = &film{t: t, worlds: map[string]*reel{}}
	}
}

// closed is called when the tab is gone.
func (t *tab) closed() {
	if t.sources.traffic != nil {
		t.sources.traffic.close()
	}
	if ss := t.sources.screenshots; ss != nil {
		t.b.do(func(context.Context) { ss.release(true) }) // what was not judged is black
	}
}

// endSources reports what is under way at the end.
func (b *Browser) endSources() {
	for _, t := range b.order {
		t.closed()
	}
	b.reportLimits(true)
}

// event is called with every event of every session of the tab.
func (t *tab) event(session, method string, params json.RawMessage) {
	s := &t.sources
	switch method {
	case "Page.screencastFrame":
		if s.screenshots != nil {
			s.screenshots.frame(params)
		}
		return
	case "Overlay.inspectNodeRequested", "Overlay.inspectModeCanceled":
		t.b.pointed(t, session, method, params)
		return
	}
	if s.traffic != nil {
		s.traffic.event(session, method, params)
	}
	if s.film != nil {
		s.film.event(session, method, params)
	}
	if s.console {
		t.complain(session, method, params)
	}
}

// picturesChanged is called when the tab comes to the front, or shows another page.
func (t *tab) picturesChanged() {
	if ss := t.sources.screenshots; ss != nil {
		ss.changed()
	}
}

// beforeAction is called with what a person did in a page before it is delivered, and may change it. afterAction
// follows it.
func (b *Browser) beforeAction(t *tab, e *human.RecordedEvent) {
	t.sources.doing, t.sources.done = e.Type, e.At
}

// afterAction is called once the event has its Ref.
func (b *Browser) afterAction(t *tab, ref uint64) {
	if ss := t.sources.screenshots; ss != nil && ref != 0 {
		ss.action(ref, t.sources.doing, t.sources.done)
	}
}

// asked delivers a request that is over.
func (t *tab) asked(session, frame string, r human.WebRequest) {
	b := t.b
	f := t.frames[frame]
	if f == nil {
		f = t.main
	}
	now := b.now()
	if t.shields(f) || b.private(r.URL) {
		return
	}
	b.reportLimits(false)
	page, what := t.pageOf(f), human.PageRequest
	if !b.want.Network {
		what = human.PageAnswer
		if r.Status == 0 || !page.SameSite(r.URL) || r.Kind == "document" && f == t.main {
			return // no answer, none of the page's business, or a page, whose navigation says it
		}
		address, _, _ := strings.Cut(r.URL, "?")
		r = human.WebRequest{Method: r.Method, URL: address, Kind: r.Kind, At: r.At, Status: r.Status, Took: r.Took, Failed: r.Failed}
	}
	if b.shared.requests.pass(now, 1) {
		b.emit(human.RecordedEvent{At: now, Type: what, Browsing: human.Browsing{Page: &page, Request: &r}})
	}
}

// complain delivers an error or warning of the console.
func (t *tab) complain(session, method string, params json.RawMessage) {
	c, ok := complains(method, params)
	if !ok || c.at < t.sources.since {
		return
	}
	b := t.b
	f := t.main
	if p := b.by[session]; p != nil {
		if p.contexts[c.context] != nil {
			return // of our own world
		}
		if root := t.frames[p.root]; root != nil {
			f = root
		}
	}
	if t.shields(f) || b.private(c.line.URL) {
		return
	}
	now := b.now()
	b.reportLimits(false)
	if b.shared.console.pass(now, 1) {
		page, line := t.pageOf(f), b.hushed(c.line)
		b.emit(human.RecordedEvent{At: now, Type: human.PageConsole, Browsing: human.Browsing{Page: &page, Console: &line}})
	}
}

// shields says whether a frame, or one around it, is of a private site.
func (t *tab) shields(f *frame) bool {
	for ; f != nil; f = f.parent {
		if t.conceals(f) {
			return true
		}
	}
	return false
}

// reportLimits reports what was over the bounds.
func (b *Browser) reportLimits(end bool) {
	now := b.now()
	for _, v := range []*valve{&b.shared.requests, &b.shared.console, &b.shared.film} {
		if e, ok := v.gap(now, end); ok {
			b.emit(e)
		}
	}
}

// RRWeb is the source of rrweb's recorder, which the build of Deskbell's own page leaves beside the page; nil is no page.
func RRWeb(page fs.FS) func() (string, error) {
	return func() (string, error) {
		if page == nil {
			return "", human.Errorf(human.Unavailable, "pages cannot be recorded: this Deskbell was built without its console")
		}
		script, err := fs.ReadFile(page, "rrweb-record.js")
		if err != nil {
			return "", human.Wrap(human.Unavailable, err, "pages cannot be recorded: this Deskbell was built without rrweb")
		}
		return string(script), nil
	}
}
