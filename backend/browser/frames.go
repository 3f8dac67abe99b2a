package browser

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"deskbell/backend/human"
)

const (
	locateWithin = 500 * time.Millisecond // for the browser to say where a frame is
	maxDocuments = 256                    // whose numbers are kept, of one tab
	maxFrames    = 2000                   // that are kept apart, of one tab
)

func (p *part) forgetContexts() {
	for id, f := range p.contexts {
		if f.contextID == id {
			f.contextID = 0
		}
	}
	clear(p.contexts)
	clear(p.early)
}

func (t *tab) contextCreated(p *part, e event) {
	var c struct {
		Context struct {
			ID   int64  `json:"id"`
			Name string `json:"name"`
			Aux  struct {
				Frame string `json:"frameId"`
			} `json:"auxData"`
		} `json:"context"`
	}
	if json.Unmarshal(e.params, &c) != nil || c.Context.Name != worldName {
		return
	}
	if f := t.frames[c.Context.Aux.Frame]; f != nil {
		t.b.change(func() { f.reach(p, c.Context.ID) })
	} else if len(p.early) < maxFrames {
		p.early[c.Context.Aux.Frame] = c.Context.ID
	}
}

// reach notes the isolated world of a frame.
func (f *frame) reach(p *part, context int64) {
	p.tab.crashed = false
	f.contextID, f.session = context, p.session
	p.contexts[context] = f
}

func (t *tab) contextDestroyed(p *part, e event) {
	var d struct {
		ID int64 `json:"executionContextId"`
	}
	if json.Unmarshal(e.params, &d) != nil {
		return
	}
	t.b.change(func() {
		if f := p.contexts[d.ID]; f != nil && f.contextID == d.ID {
			f.contextID = 0
		}
		delete(p.contexts, d.ID)
	})
}

// treeFrame is a frame as DevTools reports it.
type treeFrame struct {
	ID          string `json:"id"`
	Parent      string `json:"parentId"`
	Loader      string `json:"loaderId"`
	URL         string `json:"url"`
	Fragment    string `json:"urlFragment"`
	Unreachable string `json:"unreachableUrl"`
}

// address is the URL that a person sees: of a page that could not be loaded, the one they wanted.
func (f treeFrame) address() string {
	if f.Unreachable != "" {
		return f.Unreachable
	}
	return f.URL + f.Fragment
}

// askFrames asks for the frames of a session that nothing was reported of.
func (t *tab) askFrames(p *part) {
	t.conn.ask(p.session, "Page.getFrameTree", nil, func(raw json.RawMessage, err error) {
		if err == nil {
			t.frameTree(p, raw)
		}
	})
}

// frameTree takes in the frames that were there before they could be reported.
func (t *tab) frameTree(p *part, raw json.RawMessage) {
	type tree struct {
		Frame    treeFrame         `json:"frame"`
		Children []json.RawMessage `json:"childFrames"`
	}
	there := false
	var add func(raw json.RawMessage)
	add = func(raw json.RawMessage) {
		var r tree
		if json.Unmarshal(raw, &r) != nil {
			return
		}
		f := t.frames[r.Frame.ID]
		if f == nil {
			f = t.addFrame(r.Frame.ID, r.Frame.Parent, p)
		}
		if f == nil {
			return
		}
		if url := r.Frame.address(); url != "" && url != ":" { // it shows something
			there = there || f == t.main
			t.b.change(func() { f.url = url })
			t.checkPrivate(f, t.b.now())
		}
		for _, c := range r.Children {
			add(c)
		}
	}
	var root struct {
		Tree json.RawMessage `json:"frameTree"`
	}
	if json.Unmarshal(raw, &root) == nil {
		add(root.Tree)
	}
	if p.session == t.session && !t.moved && there && t.main.url != "about:blank" && !isNewTab(t.main.url) {
		t.arrived()
	}
}

// addFrame adds a frame to the tree, or returns nil.
func (t *tab) addFrame(id, parentID string, p *part) *frame {
	parent := t.frames[parentID]
	if parent == nil || len(t.frames) >= maxFrames {
		return nil
	}
	f := &frame{id: id, session: p.session, url: "about:blank"}
	t.b.change(func() {
		t.adopt(parent, f)
		if context := p.early[id]; context != 0 {
			delete(p.early, id)
			f.reach(p, context)
		}
	})
	return f
}

// adopt puts a frame into the tree, where it stood before if it comes back with its page.
func (t *tab) adopt(parent, f *frame) {
	if len(t.ranks) > 4*maxFrames {
		clear(t.ranks)
	}
	if t.ranks[f.id] == 0 {
		t.ranked++
		t.ranks[f.id] = t.ranked
	} else {
		f.again = t.b.now()
	}
	f.parent, t.frames[f.id] = parent, f
	parent.children = append(parent.children, f)
	slices.SortStableFunc(parent.children, func(a, b *frame) int { return cmp.Compare(t.ranks[a.id], t.ranks[b.id]) })
}

func (t *tab) frameAttached(p *part, e event) {
	var a struct {
		ID     string `json:"frameId"`
		Parent string `json:"parentFrameId"`
	}
	if json.Unmarshal(e.params, &a) != nil {
		return
	}
	if f := t.frames[a.ID]; f != nil { // back from another process
		t.b.change(func() { f.session, f.placed = p.session, false })
		return
	}
	t.addFrame(a.ID, a.Parent, p)
}

func (t *tab) frameDetached(p *part, e event) {
	var d struct {
		ID     string `json:"frameId"`
		Reason string `json:"reason"`
	}
	if json.Unmarshal(e.params, &d) != nil || d.Reason == "swap" {
		return
	}
	f := t.frames[d.ID]
	if f == nil || f.parent == nil || d.ID == p.root {
		return
	}
	t.dropFrame(f, e.at)
}

// dropFrame takes a frame with all in it out of the tree.
func (t *tab) dropFrame(f *frame, at int64) {
	t.endGap(f, at)
	for _, c := range slices.Clone(f.children) {
		t.dropFrame(c, at)
	}
	t.b.change(func() {
		f.parent.children = slices.DeleteFunc(f.parent.children, func(o *frame) bool { return o == f })
		delete(t.frames, f.id)
	})
}

// documentOpened is called when a page was written anew by document.open, which takes all listeners away.
func (t *tab) documentOpened(p *part, e event) {
	var d struct {
		Frame treeFrame `json:"frame"`
	}
	if json.Unmarshal(e.params, &d) != nil {
		return
	}
	if f := t.frames[d.Frame.ID]; f != nil {
		t.b.change(func() { f.url = d.Frame.address() })
		t.rearm(f)
	}
}

// rearm has a frame listen again. A script that listens still is not disturbed.
func (t *tab) rearm(f *frame) {
	if f.contextID != 0 {
		t.conn.send(f.session, "Runtime.evaluate", object{
			"expression": armPage + ";" + shownScript, "contextId": f.contextID, "silent": true,
		})
	}
}

// A document is one page in one frame, from its load to its end.
type document struct {
	frame  string
	origin float64 // its performance.timeOrigin
}

// A counter is what is known of the messages of one document.
type counter struct {
	next uint64  // the number of the next message
	base int64   // monotonic ns at which the document's own clock stood at 0, as far as is known
	last int64   // At of its last event
	at   float64 // what the document's own clock said of that, in ms
}

// said takes in what a script of ours reports.
func (t *tab) said(p *part, e event) {
	var call struct {
		Name    string `json:"name"`
		Payload string `json:"payload"`
		Context int64  `json:"executionContextId"`
	}
	if json.Unmarshal(e.params, &call) != nil {
		return
	}
	f := p.contexts[call.Context]
	if f == nil {
		return // a document that is gone
	}
	switch call.Name {
	case shownBinding:
		if said, ok := strings.CutPrefix(call.Payload, "hand "); ok {
			t.b.hands.heard(said)
			return
		}
		if title, ok := strings.CutPrefix(call.Payload, "title "); f == t.main && ok {
			t.b.change(func() { t.title = cut(title, maxName) })
		} else if f == t.main {
			t.cameToFront(call.Payload, e.at)
		}
	case bindingName:
		m, err := decode(call.Payload)
		if err != nil {
			t.b.log.Warn("a page's script sent what cannot be read", "err", err)
			t.b.emit(gap(e.at, e.at, "lost", 1))
			t.skip(f)
			return
		}
		t.take(f, m, e.at)
	}
}

// take delivers what happened in a frame.
func (t *tab) take(f *frame, m message, at int64) {
	counter := t.counted(f, m, at)
	if m.Failed != "" {
		t.b.log.Warn("the script in a page failed", "err", m.Failed)
		t.b.emit(gap(at, at, "lost", 1))
	}
	when := counter.when(m, at)
	if t.hidden(f, m.Href) {
		return
	}
	t.judge(f, &m)
	for _, e := range m.Events {
		if e.Type == human.PageShown {
			t.cameToFront("visible", when)
			continue
		}
		if e.Type == human.PageInput {
			t.b.remember(e.Element)
		}
		t.b.shows(&e)
		e.At, e.Seq, e.CausedBy, e.Gap, e.Picture = when, 0, 0, nil, ""
		t.deliver(f, e)
	}
}

// when is the time of what a message of the page script tells of. Nothing happened before what came before it, but what a page
// says comes when the page has come to rest: something may have been done since, which it is no answer to.
func (c *counter) when(m message, at int64) int64 {
	says := len(m.Events) > 0 && !slices.ContainsFunc(m.Events, func(e human.RecordedEvent) bool { return e.Type != human.PageMessage })
	if says && m.At < c.at {
		return max(0, c.last-int64((c.at-m.At)*1e6))
	}
	c.last, c.at = max(c.last, min(c.base+int64(m.At*1e6), at)), max(c.at, m.At)
	return c.last
}

// latest is how late a page's message may be. On a busy machine it is late by seconds.
const latest = 10 * time.Second

// counted checks the number of a message against the one before, reports what is missing, and keeps the document's
// clock: it stands where the quickest message so far puts it. The first is put where the time of day says, which the page read when
// it sent the message: the quickest may be yet to come.
func (t *tab) counted(f *frame, m message, at int64) *counter {
	id := document{f.id, m.Origin}
	c := t.docs[id]
	base := at - int64(m.At*1e6)
	if c == nil {
		if len(t.docs) >= maxDocuments {
			clear(t.docs)
		}
		c = &counter{next: 1, base: base}
		wall, mono := t.b.o.Clock()
		if m.Origin < float64(t.b.since.UnixMilli()) { // it may have been listened to before
			c.next = m.Number
		}
		if guess := int64(m.Zero*1e6) - wall.UnixNano() + mono; guess <= base && base-guess < int64(latest) {
			c.base = guess
		}
		t.docs[id] = c
	}
	c.base = min(c.base, base)
	if m.Number > c.next {
		from := c.last
		if from == 0 {
			from = c.base
		}
		t.b.emit(gap(from, at, "lost", m.Number-c.next))
	}
	c.next = max(c.next, m.Number+1)
	return c
}

// skip counts a message of a frame's document that could not be read, so that it is not reported twice.
func (t *tab) skip(f *frame) {
	var newest *counter
	var since float64
	for id, c := range t.docs {
		if id.frame == f.id && id.origin >= since {
			newest, since = c, id.origin
		}
	}
	if newest != nil {
		newest.next++
	}
}

// deliver completes an event with its page and its place in it, and delivers it.
func (t *tab) deliver(f *frame, e human.RecordedEvent) {
	b := t.b
	page := t.pageOf(f)
	if own := e.Page; own != nil {
		if f == t.main && own.W > 0 && own.H > 0 {
			b.change(func() { t.w, t.h = own.W, own.H })
			page.W, page.H = own.W, own.H
		}
		page.ScreenX, page.ScreenY, page.Scale = own.ScreenX, own.ScreenY, own.Scale
	}
	e.Page = &page
	b.beforeAction(t, &e)
	var l *pendingEvent
	switch {
	case f == t.main:
		l = b.box.put(e)
	case f.placed && e.Type != human.PagePress:
		move(&e, f.x, f.y)
		l = b.box.put(e)
	default:
		l = b.box.hold(e)
		t.do(func(ctx context.Context) {
			ctx, cancel := context.WithTimeout(ctx, locateWithin)
			defer cancel()
			x, y, _ := t.locate(ctx, f.id) // where it was last, when the browser does not say
			b.box.finish(l, func(e *human.RecordedEvent) { move(e, x, y) })
		})
	}
	switch e.Type {
	case human.PageScrolled, human.PageHover, human.PageCopied, human.PageMessage:
	default:
		t.last = action{ref: l.ref, at: e.At, kind: e.Type}
	}
	b.afterAction(t, l.ref)
}

// move turns places in a frame into places in its tab.
func move(e *human.RecordedEvent, x, y float64) {
	dx, dy := int(x+0.5), int(y+0.5)
	switch e.Type {
	case human.PagePress, human.PageClick, human.PageHover:
		e.X, e.Y = e.X+dx, e.Y+dy
	case human.PageDrag:
		e.X, e.Y, e.ToX, e.ToY = e.X+dx, e.Y+dy, e.ToX+dx, e.ToY+dy
	}
	for _, el := range []**human.Element{&e.Element, &e.Target} {
		if *el != nil && (*el).Bounds != (human.Bounds{}) {
			moved := **el
			moved.Bounds.X, moved.Bounds.Y = moved.Bounds.X+dx, moved.Bounds.Y+dy
			*el = &moved
		}
	}
	if e.Page != nil && e.Page.Scale > 0 {
		page := *e.Page
		page.ScreenX, page.ScreenY = page.ScreenX-x, page.ScreenY-y
		e.Page = &page
	}
}

// locate asks the browser where a frame's viewport stands in its tab's, in CSS pixels. With an error it returns where
// it was last. It may make the browser lay the page out: not for each event.
func (t *tab) locate(ctx context.Context, id string) (x, y float64, err error) {
	type hop struct{ frame, session, root string }
	t.b.mu.Lock()
	f := t.frames[id]
	if f == nil {
		t.b.mu.Unlock()
		return 0, 0, errDetached
	}
	oldX, oldY := f.x, f.y
	var hops []hop
	for at := f; at.parent != nil; {
		h := hop{frame: at.id, session: at.parent.session, root: t.main.id}
		if p := t.b.by[h.session]; p != nil {
			h.root = p.root
		}
		hops = append(hops, h)
		if at = t.frames[h.root]; at == nil {
			break
		}
	}
	t.b.mu.Unlock()
	for _, h := range hops {
		dx, dy, err := t.within(ctx, h.session, h.frame)
		if err != nil {
			return oldX, oldY, err
		}
		x, y = x+dx, y+dy
	}
	t.b.later(func() { f.x, f.y, f.placed = x, y, true })
	return x, y, nil
}

// within is where a frame's viewport stands in that of the topmost frame its parent's session reaches.
func (t *tab) within(ctx context.Context, session, frame string) (x, y float64, err error) {
	if err := t.conn.call(ctx, session, "DOM.enable", nil, nil); err != nil {
		return 0, 0, err
	}
	var owner struct {
		Node int64 `json:"backendNodeId"`
	}
	if err := t.conn.call(ctx, session, "DOM.getFrameOwner", object{"frameId": frame}, &owner); err != nil {
		return 0, 0, err
	}
	var box struct {
		Model struct {
			Content []float64 `json:"content"`
		} `json:"model"`
	}
	if err := t.conn.call(ctx, session, "DOM.getBoxModel", object{"backendNodeId": owner.Node}, &box); err != nil {
		return 0, 0, err
	}
	if len(box.Model.Content) < 2 {
		return 0, 0, errDetached
	}
	return box.Model.Content[0], box.Model.Content[1], nil
}
