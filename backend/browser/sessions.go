package browser

import (
	"context"
	"encoding/json"
	"slices"

	"deskbell/backend/human"
)

// shownBinding is how a page says that its tab came to the front.
const shownBinding = worldName + "Shown"

// shownScript runs beside the page script, in the page itself and not in its frames. A page says "start" when it is
// visible from its beginning, "visible" and "focus" when it becomes so, and "title" with its title: DevTools reports
// neither.
const shownScript = `(() => {
	const say = globalThis.` + shownBinding + `
	if (!say || window !== window.top) return
	const look = globalThis.` + shownBinding + `Look ??= (() => {
		let title = '', soon = false, watched = null
		const entitle = () => {
			soon = false
			if (document.title !== title) say('title ' + (title = document.title).slice(0, 300))
			if (document.head === watched) return
			observer.disconnect()
			if (watched = document.head) observer.observe(watched, {childList: true, subtree: true, characterData: true})
		}
		const observer = new MutationObserver(() => { if (!soon) soon = true, requestIdleCallback(entitle, {timeout: 500}) })
		return event => {
			if (!event) { if (document.visibilityState === 'visible') say(document.hasFocus() ? 'focus' : 'start') }
			else if (event.type === 'focus') { if (event.target === window) say('focus') }
			else if (event.type === 'visibilitychange' && document.visibilityState === 'visible') say('visible')
			entitle()
		}
	})()
	for (const type of ['visibilitychange', 'readystatechange', 'DOMContentLoaded']) document.addEventListener(type, look)
	window.addEventListener('focus', look)
	look()
})()`

// handle handles one event. Like all it calls it runs in Run's goroutine, and does not wait for the browser.
func (b *Browser) handle(e event) {
	if e.session == "" {
		switch e.method {
		case "Target.attachedToTarget":
			b.attached(e)
		case "Target.detachedFromTarget":
			b.detached(e)
		case "Target.targetCrashed":
			b.crashed(e)
		case "Browser.downloadWillBegin":
			b.downloadBegins(e)
		case "Browser.downloadProgress":
			b.downloadGoesOn(e)
		}
		return
	}
	switch e.method {
	case "Target.attachedToTarget":
		b.attached(e)
		return
	case "Target.detachedFromTarget":
		b.detached(e)
		return
	}
	p := b.by[e.session]
	if p == nil {
		b.elsewhere(e) // of a worker, or of one that has gone
		return
	}
	t := p.tab
	switch e.method {
	case "Runtime.bindingCalled":
		t.said(p, e)
	case "Runtime.executionContextCreated":
		t.contextCreated(p, e)
	case "Runtime.executionContextDestroyed":
		t.contextDestroyed(p, e)
	case "Runtime.executionContextsCleared":
		b.change(p.forgetContexts)
	case "Page.frameAttached":
		t.frameAttached(p, e)
	case "Page.frameDetached":
		t.frameDetached(p, e)
	case "Page.frameNavigated":
		t.frameNavigated(p, e)
	case "Page.documentOpened":
		t.documentOpened(p, e)
	case "Page.frameRequestedNavigation":
		t.requested(e)
	case "Page.frameStartedNavigating":
		t.started(e)
	case "Page.navigatedWithinDocument":
		t.navigatedWithin(e)
	case "Page.windowOpen":
		t.windowOpens(e)
	case "Page.javascriptDialogOpening":
		t.dialogOpens(e)
	case "Page.javascriptDialogClosed":
		t.dialogCloses(e)
	case "Page.frameStoppedLoading":
		t.stopped(e)
	case "Input.dragIntercepted":
		b.hands.lifted(e.params)
	}
	t.event(e.session, e.method, e.params)
}

// targetInfo is what DevTools reports of a page, frame or worker.
type targetInfo struct {
	ID          string `json:"targetId"`
	Type        string `json:"type"`
	Subtype     string `json:"subtype"`
	Title       string `json:"title"`
	URL         string `json:"url"`
	Opener      string `json:"openerId"`
	ParentFrame string `json:"parentFrameId"`
}

// attached is called for each page, frame in another process and worker, which wait until they are let go.
func (b *Browser) attached(e event) {
	var a struct {
		Session string     `json:"sessionId"`
		Info    targetInfo `json:"targetInfo"`
	}
	if json.Unmarshal(e.params, &a) != nil {
		return
	}
	over := b.by[e.session]
	switch {
	case a.Info.Type == "page" && e.session == "":
		b.pageAttached(a.Session, a.Info, e.at)
	case a.Info.Type == "iframe" && over != nil:
		b.frameMoved(over, a.Session, a.Info)
	default: // a worker, or the browser's own
		if over != nil {
			over.tab.worker(a.Session)
		}
		b.conn.send(a.Session, "Target.setAutoAttach", autoAttach)
		b.conn.send(a.Session, "Runtime.runIfWaitingForDebugger", nil)
	}
}

func (b *Browser) pageAttached(session string, info targetInfo, at int64) {
	if old := b.tabs[info.ID]; old != nil { // attached anew
		b.gone(old, at)
	}
	t := &tab{b: b, conn: b.conn, target: info.ID, session: session, title: info.Title, frames: map[string]*frame{}, ranks: map[string]int{}, docs: map[document]*counter{}}
	t.ctx, t.cancel = context.WithCancel(b.ctx)
	t.main = &frame{id: info.ID, session: session, url: info.URL}
	t.frames[info.ID] = t.main
	p := &part{session: session, tab: t, root: info.ID, contexts: map[int64]*frame{}, early: map[string]int64{}}
	t.parts = []*part{p}
	opener := b.tabs[info.Opener]
	var cause uint64
	if opener != nil {
		t.opener = opener.name
		cause = opener.cause(at, soon)
		if t.main.url == "" {
			t.main.url = opener.popup
		}
		opener.popup = ""
		t.shy = opener.conceals(opener.main)
	}
	if t.main.url == "" {
		t.main.url = "about:blank"
	}
	b.change(func() {
		b.numbers++
		t.name = tabName(b.numbers)
		b.tabs[info.ID], b.by[session] = t, p
		t.since = at
		b.order = append(b.order, t)
	})
	t.last = action{ref: cause, at: at}
	t.checkPrivate(t.main, at)
	// In a page that is rendered ahead nothing would be heard.
	b.conn.send(session, "Page.setPrerenderingAllowed", object{"isAllowed": false})
	t.arm(p, func() {
		b.change(func() { t.armed = true })
	})
	t.opened(t.ctx)
	if b.begun {
		t.announce(cause)
	}
}

// announce reports that the tab is there.
func (t *tab) announce(cause uint64) {
	if t.announced {
		return
	}
	t.announced = true
	page := t.pageOf(t.main)
	t.b.emit(human.RecordedEvent{Type: human.PageOpened, Browsing: human.Browsing{Page: &page, Cause: cause}})
}

// frameMoved is called for a frame that lives in another process than its parent.
func (b *Browser) frameMoved(over *part, session string, info targetInfo) {
	t := over.tab
	p := &part{session: session, tab: t, root: info.ID, contexts: map[int64]*frame{}, early: map[string]int64{}}
	b.change(func() {
		f := t.frames[info.ID]
		if f == nil {
			parent := t.frames[info.ParentFrame]
			if parent == nil {
				parent = t.frames[over.root]
			}
			f = &frame{id: info.ID, url: info.URL}
			t.adopt(parent, f)
		}
		f.session, f.contextID, f.placed = session, 0, false
		t.parts = append(t.parts, p)
		b.by[session] = p
	})
	t.arm(p, func() {})
}

// arm has a page or frame report what happens in it, and then lets it continue. Nothing is waited for in between: the order
// is enough. then is called when all was done.
func (t *tab) arm(p *part, then func()) {
	c := t.conn
	c.send(p.session, "Page.enable", nil)
	c.send(p.session, "Runtime.enable", nil)
	for _, name := range []string{bindingName, shownBinding} {
		c.send(p.session, "Runtime.addBinding", object{"name": name, "executionContextName": worldName})
	}
	c.send(p.session, "Page.addScriptToEvaluateOnNewDocument", object{
		"source": t.b.source, "worldName": worldName, "runImmediately": true, "includeCommandLineAPI": true,
	})
	if t.b.hands.given() {
		c.send(p.session, "Page.addScriptToEvaluateOnNewDocument", handsScript())
	}
	t.askFrames(p)
	t.equip(p.session)
	c.send(p.session, "Target.setAutoAttach", autoAttach)
	c.ask(p.session, "Runtime.runIfWaitingForDebugger", nil, func(json.RawMessage, error) { then() })
}

// detached is called when a session has ended: the page was closed, or the frame is gone or has moved.
func (b *Browser) detached(e event) {
	var d struct {
		Session string `json:"sessionId"`
	}
	if json.Unmarshal(e.params, &d) != nil {
		return
	}
	b.conn.forget(d.Session)
	p := b.by[d.Session]
	if p == nil {
		return
	}
	t := p.tab
	if p.session == t.session {
		b.gone(t, e.at)
		return
	}
	b.change(func() {
		p.forgetContexts()
		delete(b.by, p.session)
		t.parts = slices.DeleteFunc(t.parts, func(o *part) bool { return o == p })
		for _, f := range t.frames {
			if f.session == p.session { // it may live on in its parent's process
				f.session, f.placed = t.frames[p.root].sessionAbove(t), false
			}
		}
	})
}

// sessionAbove is the session that reaches what is around a frame.
func (f *frame) sessionAbove(t *tab) string {
	if f == nil || f.parent == nil {
		return t.session
	}
	return f.parent.session
}

// gone takes a tab away that was closed.
func (b *Browser) gone(t *tab, at int64) {
	t.endGaps(at)
	if t.announced {
		page := t.pageOf(t.main)
		b.emit(human.RecordedEvent{Type: human.PageClosed, At: at, Browsing: human.Browsing{Page: &page, Cause: t.cause(at, atOnce)}})
	}
	b.change(func() {
		for _, p := range t.parts {
			delete(b.by, p.session)
		}
		delete(b.tabs, t.target)
		b.order = slices.DeleteFunc(b.order, func(o *tab) bool { return o == t })
		if b.shown == t {
			b.shown = nil
		}
	})
	t.cancel()
	t.closed()
}

// crashed is called when the process of a page has died. What its scripts had not sent yet is lost.
func (b *Browser) crashed(e event) {
	var c struct {
		ID string `json:"targetId"`
	}
	if json.Unmarshal(e.params, &c) != nil {
		return
	}
	t := b.tabs[c.ID]
	if t != nil {
		b.change(func() { t.crashed = true })
	}
	if t != nil && !t.conceals(t.main) {
		b.emit(gap(max(t.last.at, e.at-int64(soon)), e.at, "crash", 0))
	}
}

// cameToFront is called when a page reports that its tab is seen.
func (t *tab) cameToFront(how string, at int64) {
	b := t.b
	if b.shown == t || how == "start" && b.shown != nil {
		return
	}
	b.change(func() { b.shown = t })
	t.picturesChanged()
	if !t.announced {
		return
	}
	page := t.pageOf(t.main)
	b.emit(human.RecordedEvent{Type: human.PageShown, At: at, Browsing: human.Browsing{Page: &page}})
}

// gap is a stretch of which something is missing.
func gap(from, to int64, reason string, count uint64) human.RecordedEvent {
	return human.RecordedEvent{Type: human.GapOpened, At: to, Gap: &human.Gap{
		From: from, To: to, Source: human.BrowserSource, Reason: reason, Count: count,
	}}
}
