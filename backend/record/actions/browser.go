package actions

import (
	"cmp"
	"slices"
	"time"

	"deskbell/backend/human"
)

// What belongs together in a browser, by the times pages give their events.
const (
	sameMoment  = int64(100 * time.Millisecond) // an event of a page is the consequence of the one just before
	turnPause   = int64(2 * time.Second)        // a longer one ends a scroll of a page
	clickLate   = int64(time.Second)            // a key that clicks a button may be held so long
	pageTime    = int64(10 * time.Second)       // within it a page is loaded because of what was done
	titleTime   = int64(5 * time.Second)        // within it a page that was loaded finds its title
	requestTime = int64(3 * time.Second)        // within it a page begins to send what was done
	messageTime = int64(15 * time.Second)       // within it a page says what came of what was done
	answerTime  = int64(5 * time.Minute)        // a dialog or a choice of files waits so long for an answer
)

// browsers are the types of events that a browser gives.
var browsers = map[human.RecordedType]bool{
	human.PageOpened: true, human.PageClosed: true, human.PageShown: true, human.PageNavigated: true, human.PagePress: true,
	human.PageClick: true, human.PageInput: true, human.PageChoice: true, human.PageKey: true, human.PageScrolled: true,
	human.PageDrag: true, human.PageHover: true, human.PageCopied: true, human.PagePasted: true, human.PageDialog: true,
	human.PageUpload: true, human.PageDownload: true, human.PagePicked: true, human.PageRequest: true, human.PageAnswer: true, human.PageConsole: true,
	human.PageDOM: true, human.PageMessage: true, human.PageMedia: true, human.BrowserChanged: true,
}

// A web is what is known of the browser.
type web struct {
	app     *human.App
	tabs    map[string]*tab
	front   string // the tab that is shown
	began   int64  // when the browser was attached to: tabs that are reported then were there already
	opened  int64  // when it was opened
	closed  int64  // when the tab in front was closed
	heard   int64  // when something was done or shown last
	last    *entry // what the person did last in any page
	press   *entry // the press that is not a click yet
	waiting []*entry
	loose   []*entry // of the desktop, and not known to be the other side of anything in the browser
	recent  []*entry // in the browser, which something of the desktop may be the other side of
}

// A tab is a tab or popup.
type tab struct {
	page   human.WebPage // what it showed last
	open   *entry        // it was opened by, and has shown nothing since
	named  *entry        // opened or navigated it last, and takes the title of the page
	nav    *entry        // navigated it last, with nothing done since
	acts   []*entry      // what was done in it, the last at the end
	places map[string][2]int
}

// paged is what an entry of the browser has beside its action.
type paged struct {
	tab     *tab
	presses int
	clicked bool // the press has become a click
	chosen  bool // its choice was reported
	valued  bool // what it left in the field was reported
	claims  []claim
	effects []*entry // what it led to
}

func (d *Deriver) browsed(ev human.RecordedEvent) {
	if d.web == nil {
		d.web = &web{tabs: map[string]*tab{}, began: -turnPause, opened: -turnPause, closed: -causePause}
		for _, e := range d.list[max(0, len(d.list)-manySides):] {
			if !e.gone { // what its window was seen of before its pages
				d.web.loose = append(d.web.loose, e)
			}
		}
	}
	if ev.Page == nil {
		ev.Page = &human.WebPage{}
	}
	w := d.web
	switch ev.Type {
	case human.BrowserChanged:
		if ev.App != nil {
			w.app = ev.App
		}
		switch ev.Text {
		case "attached":
			w.began = ev.At
		case "opened":
			w.opened = ev.At
		default:
			return
		}
		clear(w.tabs) // they are those of the one before
		w.front = ""
		d.browserRests()
		return
	case human.PageRequest, human.PageAnswer:
		d.requested(ev)
		return
	case human.PageConsole, human.PageDOM:
		return
	case human.PageClosed:
		d.pageClosed(ev)
		return
	}
	t := w.tabs[ev.Page.Target]
	if t == nil {
		t = &tab{page: *ev.Page}
		w.tabs[ev.Page.Target] = t
	}
	switch ev.Type {
	case human.PageOpened:
		d.pageOpened(t, ev)
		return
	case human.PageNavigated:
		d.navigated(t, ev)
		return
	}
	d.titled(t, ev)
	t.page = *ev.Page
	d.happened(t, ev)
}

// happened takes what was done in a page, or came of it.
func (d *Deriver) happened(t *tab, ev human.RecordedEvent) {
	switch ev.Type {
	case human.PageShown:
		d.pageShown(t, ev)
	case human.PagePress:
		d.pagePressed(t, ev)
	case human.PageClick:
		d.pageClicked(t, ev)
	case human.PageInput:
		d.pageTyped(t, ev)
	case human.PageChoice:
		d.chosen(t, ev)
	case human.PageKey:
		d.pageKey(t, ev)
	case human.PageScrolled:
		d.pageScrolled(t, ev)
	case human.PageDrag:
		d.pageDragged(t, ev)
	case human.PageHover:
		d.hovered(t, ev)
	case human.PageCopied, human.PagePasted:
		d.pageCopied(t, ev)
	case human.PageMedia:
		d.played(t, ev)
	case human.PageMessage:
		d.pageSaid(t, ev)
	case human.PageDialog:
		d.answered(t, ev)
	case human.PageUpload:
		d.uploaded(t, ev)
	case human.PageDownload:
		d.downloaded(t, ev)
	case human.PagePicked:
		d.picked(t, ev)
	}
}

// browserRests ends what only continues in the browser while nothing else is done.
func (d *Deriver) browserRests() {
	if w := d.web; w != nil {
		w.last, w.press = nil, nil
	}
}

// browserStops ends what continues and what could still come of it: something is not recorded.
func (d *Deriver) browserStops() {
	if w := d.web; w != nil {
		for _, t := range w.tabs {
			t.acts, t.nav = nil, nil
		}
		d.browserRests()
	}
}

// browserLeft ends the same, but for a press: the window it is in may become active because of it.
func (d *Deriver) browserLeft() {
	if w := d.web; w != nil && w.press == nil {
		w.last = nil
	}
}

// beginPage makes the action in a page whose first event is ev.
func (d *Deriver) beginPage(kind human.ActionType, t *tab, ev human.RecordedEvent) *entry {
	e := &entry{page: &paged{tab: t}, a: human.Action{
		Type: kind, App: d.web.app, Page: ev.Page, X: ev.X, Y: ev.Y, Button: ev.Button, Modifiers: ev.Modifiers, Element: ev.Element, Hidden: ev.Hidden,
	}}
	d.take(e, ev)
	d.insert(e)
	d.awaitPage(e)
	return e
}

// acted makes e what was done last.
func (d *Deriver) acted(e *entry, ev human.RecordedEvent) {
	w, t := d.web, e.page.tab
	w.last, w.heard, w.front = e, ev.At, ev.Page.Target
	t.nav = nil
	t.acts = append(slices.DeleteFunc(t.acts, func(f *entry) bool { return f == e || f.gone }), e)
	if len(t.acts) > 8 {
		t.acts = slices.Delete(t.acts, 0, 1)
	}
	d.awaitPage(e)
}

// going is what was done last, where that was in the same frame of the same page.
func (d *Deriver) going(ev human.RecordedEvent) *entry {
	e := d.web.last
	if e == nil || e.gone || !sameFrame(e.a.Page, ev.Page) {
		return nil
	}
	return e
}

func sameFrame(a, b *human.WebPage) bool {
	return a.Target == b.Target && slices.Equal(a.Frame, b.Frame)
}

// same says whether two looks at elements of one frame were looks at one element: where both say how to find
// it, by that.
func same(a, b *human.Element) bool {
	switch {
	case a == nil || b == nil:
		return false
	case a == b:
		return true
	case len(a.Selectors) > 0 && len(b.Selectors) > 0:
		for _, s := range a.Selectors {
			if slices.ContainsFunc(b.Selectors, func(other []string) bool { return slices.Equal(s, other) }) {
				return true
			}
		}
		return false
	}
	return a.Role == b.Role && a.Name == b.Name && a.Tag == b.Tag
}

// swallow makes all of f, which began after e, a part of it.
func (d *Deriver) swallow(e, f *entry) {
	for _, s := range f.a.Seqs {
		d.own[s] = e
	}
	e.a.Seqs = append(slices.Clone(e.a.Seqs), f.a.Seqs...)
	slices.Sort(e.a.Seqs)
	e.a.End = max(e.a.End, f.a.End)
	if e.a.Before == "" {
		e.a.Before = f.a.Before
	}
	if f.shows || !e.shows {
		e.a.After, e.shows = f.a.After, f.shows
	}
	if e.a.Step == nil {
		e.a.Step = f.a.Step
	}
	f.gone, f.into = true, e
	e.page.claims = append(e.page.claims, f.page.claims...)
	e.page.effects = append(e.page.effects, f.page.effects...)
	e.a.Answers = slices.Concat(e.a.Answers, f.a.Answers)
	e.a.Answers = e.a.Answers[:min(len(e.a.Answers), manyAnswers)]
	sides := f.sides
	f.sides = nil
	for _, s := range sides {
		s.of = nil
		d.pair(e, s)
	}
	if d.web.press == f {
		d.web.press = e
	}
	d.affected(e)
	d.touch(f)
	d.touch(e)
}

// causes says that c led to e.
func (d *Deriver) causes(c, e *entry) {
	if c == nil || e.cause != nil || c.idx >= e.idx {
		return
	}
	e.cause = c
	c.page.effects = append(c.page.effects, e)
	d.touch(e)
}

// affected has what e led to name it anew.
func (d *Deriver) affected(e *entry) {
	for _, f := range e.page.effects {
		d.touch(f)
	}
}

// reported is the cause that the browser itself named.
func (d *Deriver) reported(ev human.RecordedEvent) *entry {
	if c := d.own[ev.CausedBy]; c != nil && c.page != nil && !c.gone {
		return c
	}
	return nil
}

// led is what was done last in a tab, or in the one that opened it, and may have led to ev within a time.
func (d *Deriver) led(t *tab, ev human.RecordedEvent, within int64, kinds ...human.ActionType) *entry {
	if c := d.reported(ev); c != nil {
		return c
	}
	for _, t := range []*tab{t, d.web.tabs[t.page.Opener]} {
		if t == nil {
			continue
		}
		for i := len(t.acts) - 1; i >= 0; i-- {
			if e := t.acts[i]; !e.gone && slices.Contains(kinds, e.a.Type) && ev.At >= e.a.At-sameMoment && ev.At-e.a.End <= within {
				return e
			}
		}
	}
	return nil
}

// --- what the browser shows beside the page, and files

func (d *Deriver) answered(t *tab, ev human.RecordedEvent) {
	if ev.Dialog == nil {
		return
	}
	c := d.led(t, ev, answerTime, causingTypes...)
	e := d.beginPage(human.DialogEnded, t, ev)
	e.a.Dialog, e.a.Element = ev.Dialog, nil
	d.causes(c, e)
	since := ev.At - 3*clickLate
	if c != nil {
		since = max(since, c.a.End)
	}
	d.acted(e, ev)
	d.claim(e, claim{kinds: nativeKinds, from: since, to: ev.At + sameMoment})
}

// played takes what was done to a player, by a click on its controls or a key.
func (d *Deriver) played(t *tab, ev human.RecordedEvent) {
	if len(ev.Values) == 0 {
		return
	}
	e := d.going(ev)
	if e != nil && same(e.a.Element, ev.Element) && slices.Contains(playerKinds, e.a.Type) {
		d.take(e, ev)
		e.a.Type, e.a.Target, e.a.Key, e.a.Count, e.a.Modifiers = human.PlayMedia, nil, "", 0, nil
	} else {
		e = d.beginPage(human.PlayMedia, t, ev)
	}
	e.a.Values = ev.Values
	d.web.press = nil
	d.acted(e, ev)
	d.claim(e, claim{kinds: playerKinds, from: ev.At - clickLate, to: ev.At + sameMoment})
}

// playerKinds are how players are used, seen from the desktop.
var playerKinds = []human.ActionType{human.Click, human.DoubleClick, human.Drag, human.Shortcut}

// pageSaid takes a message of a page. What came with a page is one where a form brought it: others say what they always say.
func (d *Deriver) pageSaid(t *tab, ev human.RecordedEvent) {
	if ev.Text == "" {
		return
	}
	c := d.led(t, ev, messageTime, causingTypes...)
	if slices.Contains(ev.Values, "loaded") {
		if t.nav == nil || t.nav.a.Navigation == nil || t.nav.a.Navigation.Kind != "form" {
			return
		}
		c = cmp.Or(t.nav.cause, t.nav)
	}
	if c == nil || echoes(c.a, ev.Text) {
		return
	}
	e := d.beginPage(human.PageSaid, t, ev)
	e.a.Dialog, e.a.Values = &human.Dialog{Kind: "message", Message: ev.Text}, ev.Values
	d.causes(c, e)
}

// echoes says whether a page shows no more after a click than the list that was opened, or what was chosen.
func echoes(a human.Action, text string) bool {
	if a.Element == nil || a.Type != human.Click {
		return false
	}
	switch a.Element.Role {
	case "combobox":
		return true
	case "option", "generic", "":
		return a.Element.Name == text
	}
	return false
}

const manyAnswers = 3 // that an action carries; more of them is a page that keeps count of what is done in it

// requested takes a request that is over. What changed something at the page's own site, and began shortly after something was
// done, has its answer with that action. What brings a page is a navigation, and what other sites are told is theirs; a redirect
// says neither that it was done nor that it was not.
func (d *Deriver) requested(ev human.RecordedEvent) {
	r, t := ev.Request, d.web.tabs[ev.Page.Target]
	if r == nil || t == nil || r.Failed != "" && r.Failed != unread || r.Status < 200 || r.Status >= 300 && r.Status < 400 || !r.Changes() {
		return
	}
	if r.Kind == "document" && len(ev.Page.Frame) == 0 || !ev.Page.SameSite(r.URL) {
		return
	}
	ev.At -= min(max(r.Took, 0), ev.At) // it is reported at its end
	ev.CausedBy = 0
	c := d.led(t, ev, requestTime, sendingTypes...)
	if c == nil || len(c.a.Answers) >= manyAnswers {
		return
	}
	c.a.Answers = append(slices.Clone(c.a.Answers), human.WebAnswer{Method: r.Method, URL: r.URL, Status: r.Status})
	d.touch(c)
}

// unread is how a request ends whose answer came and whose page read no more than its status.
const unread = "net::ERR_ABORTED"

// sendingTypes are what pages send something because of.
var sendingTypes = []human.ActionType{
	human.Click, human.DoubleClick, human.TripleClick, human.Drag, human.Typing, human.Shortcut, human.Paste, human.Choose, human.Check,
	human.DialogEnded, human.Upload,
}

// causingTypes are what pages react to.
var causingTypes = []human.ActionType{
	human.Click, human.DoubleClick, human.TripleClick, human.Drag, human.Typing, human.Shortcut, human.Paste, human.Choose, human.Check,
	human.Hover, human.PlayMedia, human.DialogEnded, human.Upload,
}

func (d *Deriver) uploaded(t *tab, ev human.RecordedEvent) {
	e := d.going(ev)
	if e != nil && (e.a.Type == human.Click || e.a.Type == human.Upload) && same(e.a.Element, ev.Element) {
		d.take(e, ev)
		e.a.Type = human.Upload
	} else {
		c := d.reported(ev)
		if c == nil && e != nil && ev.At-e.a.End <= answerTime && (e.a.Type == human.Click || e.a.Type == human.Shortcut) {
			c = e
		}
		e = d.beginPage(human.Upload, t, ev)
		d.causes(c, e)
	}
	e.a.Transfers, e.a.Element = ev.Transfers, ev.Element
	d.web.press = nil
	d.acted(e, ev)
}

func (d *Deriver) downloaded(t *tab, ev human.RecordedEvent) {
	c := d.led(t, ev, pageTime, causingTypes...)
	e := d.beginPage(human.Download, t, ev)
	e.a.Transfers = ev.Transfers
	d.causes(c, e)
}

func (d *Deriver) picked(t *tab, ev human.RecordedEvent) {
	if ev.Pick == nil {
		return
	}
	e := d.beginPage(human.Extract, t, ev)
	e.a.Pick = ev.Pick
	if ev.Picture != "" {
		e.a.After, e.shows = ev.Picture, true
	}
	d.browserRests()
	d.web.heard = ev.At
	d.claim(e, claim{kinds: []human.ActionType{human.Click, human.DoubleClick}, from: ev.At - clickLate, to: ev.At + sameMoment})
}

// awaitPage has e get the nearest picture of its page after it, until one comes that was taken for it.
func (d *Deriver) awaitPage(e *entry) {
	w := d.web
	if e.shows {
		return
	}
	e.a.After = ""
	w.waiting = append(slices.DeleteFunc(w.waiting, func(f *entry) bool { return f == e || f.gone || f.shows }), e)
	if len(w.waiting) > 16 {
		w.waiting = slices.Delete(w.waiting, 0, 1)
	}
}

// pageShot takes a picture of a page. Those of the desktop show other places at a point of the page's.
func (d *Deriver) pageShot(ev human.RecordedEvent) {
	if d.web == nil || ev.Picture == "" {
		return
	}
	if ev.Page != nil && d.web.tabs[ev.Page.Target] != nil {
		d.titled(d.web.tabs[ev.Page.Target], ev)
	}
	d.web.waiting = slices.DeleteFunc(d.web.waiting, func(e *entry) bool {
		if e.shows || e.gone {
			return true
		}
		if ev.At < e.a.End || ev.When == "before" && d.own[ev.CausedBy] == e || ev.Page != nil && ev.Page.Target != e.a.Page.Target {
			return false
		}
		e.a.After = ev.Picture
		d.touch(e)
		return true
	})
}
