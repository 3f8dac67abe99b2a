package actions

import (
	"slices"
	"strings"
	"time"

	"deskbell/backend/human"
)

// windowKinds are what a tab or popup is on the desktop.
var windowKinds = []human.ActionType{human.OpenApp, human.SwitchWindow}

// barKinds are how a person uses the browser's own buttons, and its keys.
var barKinds = []human.ActionType{human.Click, human.Shortcut}

const (
	openTime    = int64(time.Minute)      // within it a browser is opened
	addressTime = int64(15 * time.Second) // within it an address is typed
)

func (d *Deriver) pageOpened(t *tab, ev human.RecordedEvent) {
	w := d.web
	if t.open != nil {
		return // reported twice
	}
	t.page = *ev.Page
	if ev.CausedBy == 0 && ev.At-w.began <= turnPause {
		return // it was there before
	}
	w.front = ev.Page.Target // new ones come to the front, unless what is done next is done elsewhere
	c := d.led(t, ev, pageTime, causingTypes...)
	e := d.beginPage(human.OpenPage, t, ev)
	t.open, t.named, t.nav = e, e, nil
	from := ev.At - causePause
	if ev.Page.Opener != "" {
		d.causes(c, e)
	} else if ev.At-w.opened <= turnPause {
		from = w.opened - openTime // its first: a browser is on the screen before its pages are heard
	} else {
		d.claim(e, claim{kinds: barKinds, app: true, from: ev.At - clickLate, to: ev.At})
	}
	d.claim(e, claim{kinds: windowKinds, app: true, from: from, to: ev.At + causePause})
}

func (d *Deriver) pageClosed(ev human.RecordedEvent) {
	w := d.web
	t := w.tabs[ev.Page.Target]
	if t == nil {
		return // nothing was ever seen of it
	}
	if ev.Page.URL == "" {
		page := t.page
		page.Frame, page.FrameURL = nil, ""
		ev.Page = &page
	}
	c := d.led(t, ev, causePause, human.Click, human.DoubleClick, human.Shortcut, human.DialogEnded)
	e := d.beginPage(human.ClosePage, t, ev)
	d.causes(c, e)
	d.claim(e, claim{kinds: []human.ActionType{human.CloseWindow}, app: true, from: ev.At - causePause, to: ev.At + causePause})
	if c == nil {
		d.claim(e, claim{kinds: barKinds, app: true, from: max(w.heard+1, ev.At-clickLate), to: ev.At})
	}
	delete(w.tabs, ev.Page.Target)
	w.heard = ev.At
	if w.front == ev.Page.Target {
		w.front, w.closed = "", ev.At
	}
}

func (d *Deriver) pageShown(t *tab, ev human.RecordedEvent) {
	w := d.web
	before := w.front
	w.front = ev.Page.Target
	switch {
	case before == w.front, before == "" && w.closed < 0:
		return // the first that is shown
	case ev.At-w.closed <= causePause, t.named != nil && t.named.a.Type == human.OpenPage && ev.At-t.named.a.At <= causePause:
		return // the browser chose another, or that it was opened says it
	}
	e := d.beginPage(human.SwitchPage, t, ev)
	d.claim(e, claim{kinds: barKinds, app: true, from: max(w.heard+1, ev.At-clickPause), to: ev.At})
	d.browserRests()
	w.heard = ev.At
	d.claim(e, claim{kinds: windowKinds, app: true, from: ev.At - causePause, to: ev.At + causePause})
}

// titled gives what opened or navigated a page the title that the page has found since.
func (d *Deriver) titled(t *tab, ev human.RecordedEvent) {
	e := t.named
	if e == nil || e.gone || ev.Page.Title == "" || ev.Page.Title == e.a.Page.Title || ev.Page.URL != e.a.Page.URL {
		return
	}
	if e.a.Page.Title != "" && ev.At-e.a.End > titleTime {
		return
	}
	page := *e.a.Page
	page.Title = ev.Page.Title
	e.a.Page = &page
	d.touch(e)
}

func blank(url string) bool {
	return url == "" || strings.HasPrefix(url, "about:blank") || strings.HasPrefix(url, "chrome://newtab") || strings.HasPrefix(url, "chrome://new-tab-page")
}

// within a page: the address changes and the page stays.
func inner(kind string) bool { return kind == "history" || kind == "fragment" }

// navigated takes a navigation: of a frame, to what a new tab is opened for, one that is reported once more, within a page,
// or to another page.
func (d *Deriver) navigated(t *tab, ev human.RecordedEvent) {
	n := ev.Navigation
	if n == nil {
		n = &human.Navigation{Kind: "script"}
	}
	c := d.wentBy(t, n.Kind, ev)
	if len(ev.Page.Frame) > 0 {
		if c != nil && (n.Kind == "link" || n.Kind == "form") { // pages fill their frames by themselves
			e := d.beginPage(human.Navigate, t, ev)
			e.a.Navigation = n
			d.causes(c, e)
		}
		return
	}
	was, since := t.page.URL, d.web.heard+1
	d.arrived(t, n.Kind, ev)
	if d.openedFor(t, n, ev, since) {
		return
	}
	t.open = nil
	if d.navigatedAgain(t, n, ev) || inner(n.Kind) && d.navigatedWithin(t, was, ev) {
		return
	}
	e := d.web.last
	if n.Kind == "address" && e != nil && !e.gone && e.page.tab == t && toBar(e.a) && ev.At-e.a.End <= addressTime {
		d.take(e, ev) // to where the address is typed
		e.a.Type, e.a.Key, e.a.Modifiers, e.a.Count, e.a.Element, e.a.Page = human.Navigate, "", nil, 0, nil, ev.Page
		t.acts = slices.DeleteFunc(t.acts, func(f *entry) bool { return f == e })
		d.browserRests()
		d.awaitPage(e)
		since = min(since, e.a.At)
	} else {
		e = d.beginPage(human.Navigate, t, ev)
		d.causes(c, e)
	}
	e.a.Navigation = n
	t.nav, t.named = e, e
	switch {
	case n.Kind == "address":
		d.claim(e, claim{kinds: addressKinds, app: true, from: max(since, ev.At-addressTime), to: ev.At})
	case c == nil && (n.Kind == "reload" || n.Kind == "back_forward"):
		d.claim(e, claim{kinds: barKinds, app: true, from: max(since, ev.At-causePause), to: ev.At})
	}
}

// arrived notes which page a tab shows.
func (d *Deriver) arrived(t *tab, kind string, ev human.RecordedEvent) {
	w, opener := d.web, t.page.Opener
	t.page = *ev.Page
	if t.page.Opener == "" {
		t.page.Opener = opener
	}
	if !inner(kind) {
		clear(t.places)
		if w.press != nil && w.press.page.tab == t {
			w.press = nil
		}
		if w.last != nil && w.last.page.tab == t && !toBar(w.last.a) {
			w.last = nil // it was done to what is not there any more
		}
	}
	w.heard = ev.At
}

// openedFor takes what a new tab is opened for as a part of its opening, and says whether it was that. since is when the browser
// was last heard of.
func (d *Deriver) openedFor(t *tab, n *human.Navigation, ev human.RecordedEvent, since int64) bool {
	e := t.open
	if e == nil || e.gone || ev.At-e.a.At > pageTime || len(t.acts) > 0 || e.a.Page.Opener == "" && !blank(e.a.Page.URL) && e.a.Page.URL != ev.Page.URL {
		return false
	}
	d.take(e, ev)
	page := *ev.Page
	if page.Opener == "" {
		page.Opener = e.a.Page.Opener
	}
	if page.Title == "" && page.URL == e.a.Page.URL {
		page.Title = e.a.Page.Title
	}
	e.a.Page = &page
	if !blank(page.URL) {
		e.a.Navigation, t.open, t.nav = n, nil, e
		if n.Kind == "address" {
			d.claim(e, claim{kinds: addressKinds, app: true, from: max(since, e.a.At), to: ev.At})
		}
	}
	d.awaitPage(e)
	return true
}

// navigatedAgain takes a navigation that is reported once more, and says whether it was one: a popup is empty before it shows
// what it was opened for.
func (d *Deriver) navigatedAgain(t *tab, n *human.Navigation, ev human.RecordedEvent) bool {
	e := t.nav
	if e == nil || e.gone || e.a.Page.URL != ev.Page.URL || ev.At-e.a.End > causePause || n.Kind != "link" && n.Kind != "script" && n.Kind != "form" {
		return false
	}
	d.take(e, ev)
	page, how := *ev.Page, *e.a.Navigation
	if page.Opener == "" {
		page.Opener = e.a.Page.Opener
	}
	if how.Status == 0 {
		how.Status = n.Status
	}
	e.a.Page, e.a.Navigation = &page, &how
	d.awaitPage(e)
	return true
}

// navigatedWithin takes a navigation within a page as a part of the one before, and says whether it was that. was is the address
// before it.
func (d *Deriver) navigatedWithin(t *tab, was string, ev human.RecordedEvent) bool {
	if ev.Page.URL == was && was != "" {
		return true // the page notes something of its own
	}
	e := t.nav
	if e == nil || e.gone || !inner(kindOf(e)) && ev.At-e.a.End > causePause {
		return false
	}
	d.take(e, ev)
	if inner(kindOf(e)) {
		e.a.Page = ev.Page
	}
	d.awaitPage(e)
	return true
}

// toBar says whether an action was going to where the browser takes addresses.
func toBar(a human.Action) bool {
	if a.Type != human.Shortcut {
		return false
	}
	switch strings.ToLower(a.Key) {
	case "f6":
		return len(a.Modifiers) == 0
	case "l":
		return slices.Equal(a.Modifiers, []string{"ctrl"}) || slices.Equal(a.Modifiers, []string{"meta"})
	case "d":
		return slices.Equal(a.Modifiers, []string{"alt"})
	}
	return false
}

// addressKinds are how an address is typed.
var addressKinds = []human.ActionType{human.Click, human.DoubleClick, human.TripleClick, human.Shortcut, human.Typing, human.Paste}

func kindOf(e *entry) string {
	if e.a.Navigation == nil {
		return ""
	}
	return e.a.Navigation.Kind
}

// wentBy is what led to a navigation, by its kind. Whoever types an address does nothing else; a redirect is the
// server's doing.
func (d *Deriver) wentBy(t *tab, kind string, ev human.RecordedEvent) *entry {
	clicked := []human.ActionType{human.Click, human.DoubleClick, human.Shortcut, human.DialogEnded}
	switch kind {
	case "link":
		return d.led(t, ev, pageTime, append(clicked, human.Typing)...)
	case "form":
		return d.led(t, ev, pageTime, append(clicked, human.Typing, human.Choose, human.Check, human.Upload)...)
	case "script":
		return d.led(t, ev, 3*causePause, causingTypes...)
	case "history", "fragment":
		return d.led(t, ev, causePause, append(causingTypes[:len(causingTypes):len(causingTypes)], human.Scroll)...)
	case "reload", "back_forward":
		return d.led(t, ev, causePause, clicked...)
	}
	return nil
}
