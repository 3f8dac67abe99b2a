package browser

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"deskbell/backend/human"
)

const (
	soon       = 3 * time.Second        // after what a person did, in which what a page asks for is its doing
	atOnce     = time.Second            // likewise, of what no page asked for
	pageWithin = 500 * time.Millisecond // for a new page to say what it is
)

// A navigation is what is known of the one a tab is about to make.
type navigation struct {
	kind  string // of human.Navigation; "": not known
	sends bool   // likewise
	cause uint64
	at    int64 // monotonic ns, when it began; 0: none is under way
	going bool  // the browser began to go there
}

// goes notes where the tab is about to go; nowhere any more, with none.
func (t *tab) goes(n navigation) { t.b.change(func() { t.nav = n }) }

func tabName(n int) string { return "t" + strconv.Itoa(n) }

// cause is the Ref of what was done in the tab last, if that was shortly before; in a popup in which nothing was done
// yet, of what opened it.
func (t *tab) cause(at int64, within time.Duration) uint64 {
	if t.last.ref == 0 || at-t.last.at > int64(within) {
		return 0
	}
	return t.last.ref
}

// requested is called when a page wants to go elsewhere.
func (t *tab) requested(e event) {
	var r struct {
		Frame       string `json:"frameId"`
		Reason      string `json:"reason"`
		Disposition string `json:"disposition"`
	}
	if json.Unmarshal(e.params, &r) != nil || r.Frame != t.main.id || r.Disposition != "" && r.Disposition != "currentTab" {
		return
	}
	n := navigation{at: e.at, cause: t.cause(e.at, soon)}
	switch r.Reason {
	case "anchorClick":
		n.kind = "link"
	case "formSubmissionGet", "formSubmissionPost":
		n.kind, n.sends = "form", r.Reason == "formSubmissionPost"
	case "reload":
		n.kind = "reload"
	case "httpHeaderRefresh", "metaTagRefresh":
		n.kind, n.cause = "redirect", 0
	default:
		n.kind = "script"
	}
	t.goes(n)
}

// started is called when the browser begins to go elsewhere. What no page requested was the person's doing, by the
// browser's own buttons and keys; but history.back() in a script says nothing either.
func (t *tab) started(e event) {
	var s struct {
		Frame string `json:"frameId"`
		Type  string `json:"navigationType"`
	}
	if json.Unmarshal(e.params, &s) != nil || s.Frame != t.main.id {
		return
	}
	n := t.nav
	if n.at == 0 || n.going { // one that came to nothing does not count
		n = navigation{at: e.at}
	}
	n.going = true
	switch s.Type {
	case "reload", "reloadBypassingCache":
		if n.kind == "" {
			n.cause = t.cause(e.at, atOnce)
		}
		n.kind = "reload"
	case "historySameDocument", "historyDifferentDocument":
		n.kind, n.cause = "back_forward", t.cause(e.at, atOnce)
	case "restore", "restoreWithPost":
		n.kind = "restored"
	case "sameDocument":
		return
	default:
		switch {
		case n.kind != "":
		case t.opener != "" && !t.moved:
			n.kind, n.cause = "link", t.cause(e.at, soon)
		default:
			n.kind = "address"
		}
	}
	t.goes(n)
}

// frameNavigated is called when a frame shows another document.
func (t *tab) frameNavigated(p *part, e event) {
	var n struct {
		Frame treeFrame `json:"frame"`
		Type  string    `json:"type"`
	}
	if json.Unmarshal(e.params, &n) != nil {
		return
	}
	f := t.frames[n.Frame.ID]
	if f == nil {
		if f = t.addFrame(n.Frame.ID, n.Frame.Parent, p); f == nil {
			return
		}
	}
	from := f.url
	restored := n.Type == "BackForwardCacheRestore"
	for _, c := range slices.Clone(f.children) { // of the document before, unless they were quicker to come back
		if !restored || c.again == 0 || c.again < t.nav.at {
			t.dropFrame(c, e.at)
		}
	}
	t.b.change(func() { f.url, f.placed = n.Frame.address(), false })
	if restored {
		t.askFrames(p)
	}
	t.checkPrivate(f, e.at)
	t.rearm(f)
	if f != t.main {
		return
	}
	if restored && t.nav.kind == "" {
		t.b.change(func() { t.nav.kind = "back_forward" })
	}
	nav := t.nav
	t.goes(navigation{})
	if !t.moved && (from == f.url && f.url == "about:blank" || isNewTab(f.url)) {
		return // the empty page that a new tab begins with
	}
	t.moved = true
	t.b.change(func() { t.title = "" })
	if nav.kind == "" {
		nav.kind, nav.cause = "script", t.cause(e.at, atOnce)
	}
	t.navigated(nav, e.at, n.Frame.Unreachable != "")
}

// arrived notes that a tab shows a page, though nothing reported its coming: it had come before the tab could be heard.
func (t *tab) arrived() {
	t.moved = true
	nav := navigation{kind: "address"}
	if t.opener != "" {
		nav = navigation{kind: "link", cause: t.last.ref}
	}
	t.navigated(nav, t.b.now(), false)
}

// navigatedWithin is called when the address of a page changes, and the page does not.
func (t *tab) navigatedWithin(e event) {
	var n struct {
		Frame string `json:"frameId"`
		URL   string `json:"url"`
		Type  string `json:"navigationType"`
	}
	if json.Unmarshal(e.params, &n) != nil {
		return
	}
	f := t.frames[n.Frame]
	if f == nil || f.url == n.URL {
		return
	}
	t.b.change(func() { f.url = n.URL })
	t.checkPrivate(f, e.at)
	if f != t.main {
		return
	}
	nav := t.nav
	t.goes(navigation{})
	if nav.kind != "back_forward" {
		nav = navigation{kind: "history", cause: t.cause(e.at, soon)}
		if n.Type == "fragment" {
			nav.kind = "fragment"
		}
	}
	page := t.pageOf(t.main)
	if !t.announced || t.hidden(t.main, "") {
		return
	}
	t.b.emit(human.RecordedEvent{Type: human.PageNavigated, At: e.at, Browsing: human.Browsing{
		Page: &page, Navigation: &human.Navigation{Kind: nav.kind, Sends: nav.sends}, Cause: nav.cause,
	}})
}

// navigated reports that a tab shows another page, with what the page itself knows of how it came.
func (t *tab) navigated(nav navigation, at int64, failed bool) {
	t.picturesChanged()
	if !t.announced || t.hidden(t.main, "") {
		return
	}
	page := t.pageOf(t.main)
	l := t.b.box.hold(human.RecordedEvent{Type: human.PageNavigated, At: at, Browsing: human.Browsing{
		Page: &page, Navigation: &human.Navigation{Kind: nav.kind, Sends: nav.sends}, Cause: nav.cause,
	}})
	t.do(func(ctx context.Context) {
		var found struct {
			Status int    `json:"status"`
			Failed string `json:"failed"`
			Title  string `json:"title"`
			W      int    `json:"w"`
			H      int    `json:"h"`
		}
		expression, within := pageFacts, pageWithin
		if failed {
			expression, within = failureFacts, 4*pageWithin // it has to be loaded first
		}
		ctx, cancel := context.WithTimeout(ctx, within)
		defer cancel()
		err := t.ask(ctx, expression, failed, &found)
		t.b.box.finish(l, func(e *human.RecordedEvent) {
			if failed {
				e.Navigation.Failed = "net::ERR_FAILED"
			}
			if err != nil {
				return
			}
			e.Navigation.Status = found.Status
			if failed && found.Failed != "" {
				e.Navigation.Failed = cut(found.Failed, 100)
			}
			if found.W > 0 && found.H > 0 {
				e.Page.W, e.Page.H = found.W, found.H
			}
			if e.Page.Title == "" {
				e.Page.Title = t.b.mask(cut(found.Title, maxName))
			}
		})
		if err == nil && found.W > 0 && found.H > 0 {
			t.b.later(func() { t.w, t.h = found.W, found.H })
		}
	})
}

// pageFacts is what a page knows of how it came.
const pageFacts = `new Promise(resolve => {
	const answer = () => {
		const n = performance.getEntriesByType('navigation')[0]
		resolve({status: n && n.responseStatus || 0, title: document.title, w: innerWidth, h: innerHeight})
	}
	if (document.title || document.readyState !== 'loading') return answer()
	document.addEventListener('DOMContentLoaded', answer)
	setTimeout(answer, 300)
})`

// failureFacts is what the browser's own page about a failed load knows of it.
const failureFacts = `new Promise(resolve => {
	const answer = () => {
		const code = globalThis.loadTimeDataRaw?.errorCode || ''
		resolve({failed: code && (code.startsWith('net::') ? code : 'net::' + code), w: innerWidth, h: innerHeight})
	}
	if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', answer)
	else answer()
})`

// ask evaluates an expression in the isolated world, which may not be known yet; or, in the browser's own
// page about a failed load, in the world that page has.
func (t *tab) ask(ctx context.Context, expression string, failed bool, result any) error {
	if failed {
		return t.evaluate(ctx, place{session: t.session, contextID: pageWorld}, expression, result)
	}
	var world struct {
		ID int64 `json:"executionContextId"`
	}
	if err := t.conn.call(ctx, t.session, "Page.createIsolatedWorld", object{"frameId": t.main.id, "worldName": worldName}, &world); err != nil {
		return err
	}
	return t.evaluate(ctx, place{session: t.session, contextID: world.ID}, expression, result)
}

// windowOpens is called when a page is about to open a popup, whose own target knows no URL at first.
func (t *tab) windowOpens(e event) {
	var o struct {
		URL string `json:"url"`
	}
	if json.Unmarshal(e.params, &o) == nil {
		t.popup = o.URL
	}
}

// stopped is called when a frame has loaded, or will not.
func (t *tab) stopped(e event) {
	var s struct {
		Frame string `json:"frameId"`
	}
	if json.Unmarshal(e.params, &s) == nil && s.Frame == t.main.id {
		t.b.change(func() { t.rested = e.at })
	}
}
