package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

const (
	around   = 24      // CSS pixels of the page around what was picked, in its crop
	maxRows  = 10_000  // of a table or list
	maxCells = 200     // of a row
	maxCell  = 2000    // bytes of a cell
	maxTaken = 1 << 20 // bytes of all of them

	takeNode    = "take" // what the page script gives: a function,
	secretRects = "secretRects()"
)

// A picker is a pick that waits for the person.
type picker struct {
	b       *Browser
	t       *tab
	request human.PickRequest
}

// Pick implements record.Browser. While the page waits, DevTools itself draws the outline of what the pointer is over,
// outside of the page, and the page hears neither the pointer nor the click.
func (b *Browser) Pick(ctx context.Context, p human.PickRequest) error {
	if p.Take == "" {
		p.Take = human.TakeElement
	}
	t := b.front()
	if last := b.picking.Swap(nil); last != nil {
		last.end(func(session, method string, params any) { _ = last.t.conn.call(ctx, session, method, params, nil) })
	}
	switch {
	case p.Field == "":
		return nil
	case t == nil || t.ctx.Err() != nil:
		return human.Errorf(human.Conflict, "There is no page to pick from. Open the browser, then pick.")
	case t.private():
		return human.Errorf(human.Conflict, "This page belongs to a private site, so nothing can be picked from it.")
	case p.Take == human.TakeSelection:
		return b.takeSelection(ctx, t, p)
	}
	w := &picker{b: b, t: t, request: p}
	b.picking.Store(w)
	for i, session := range t.sessions() {
		if err := w.point(ctx, session); err != nil && i == 0 {
			b.picking.CompareAndSwap(w, nil)
			return human.Wrap(human.Conflict, err, "Nothing can be picked from this page. Reload it, then pick again.")
		}
	}
	return nil
}

type highlight struct {
	R int     `json:"r"`
	G int     `json:"g"`
	B int     `json:"b"`
	A float64 `json:"a"`
}

var pointing = object{"mode": "searchForNode", "highlightConfig": object{
	"showInfo": false, "contentColor": highlight{37, 99, 235, 0.3}, "borderColor": highlight{37, 99, 235, 0.9},
}}

// point has one session wait for a click.
func (w *picker) point(ctx context.Context, session string) error {
	for _, m := range []string{"DOM.enable", "Overlay.enable"} {
		if err := w.t.conn.call(ctx, session, m, nil, nil); err != nil {
			return err
		}
	}
	return w.t.conn.call(ctx, session, "Overlay.setInspectMode", pointing, nil)
}

// arm has a session that is new wait, too.
func (w *picker) arm(session string) {
	for _, m := range []string{"DOM.enable", "Overlay.enable"} {
		w.t.conn.send(session, m, nil)
	}
	w.t.conn.send(session, "Overlay.setInspectMode", pointing)
}

// end lets the page continue as usual.
func (w *picker) end(send func(session, method string, params any)) {
	for _, session := range w.t.sessions() {
		send(session, "Overlay.setInspectMode", object{"mode": "none", "highlightConfig": object{}})
		send(session, "Overlay.disable", nil)
	}
}

// pointed is called when the person clicked on something, or pressed Escape. Called where events are handled.
func (b *Browser) pointed(t *tab, session, method string, params json.RawMessage) {
	w := b.picking.Load()
	if w == nil || w.t != t || !b.picking.CompareAndSwap(w, nil) {
		return
	}
	w.end(t.conn.send)
	var p struct {
		Node int64 `json:"backendNodeId"`
	}
	if method != "Overlay.inspectNodeRequested" || json.Unmarshal(params, &p) != nil {
		return
	}
	t.do(func(ctx context.Context) {
		err := b.takeNode(ctx, t, session, p.Node, w.request)
		if err == nil {
			return
		}
		b.log.Warn("what was picked could not be taken", "err", err)
		if b.picking.CompareAndSwap(nil, w) { // they may point at something else
			for _, session := range t.sessions() {
				w.arm(session)
			}
		}
	})
}

// taken is what the page script takes. Bounds are in the frame's viewport.
type taken struct {
	Text    string         `json:"text"`
	Rows    [][]string     `json:"rows"`
	Header  bool           `json:"header"`
	Cut     int            `json:"cut"` // rows left out
	Bounds  human.Bounds   `json:"bounds"`
	Element *human.Element `json:"element"`
}

// takeNode takes what was clicked on in one of the frames of a session.
func (b *Browser) takeNode(ctx context.Context, t *tab, session string, node int64, p human.PickRequest) error {
	places := t.places()
	for i, at := range places {
		if at.session != session || at.contextID == 0 {
			continue
		}
		if !t.holds(ctx, at, node) {
			continue
		}
		if at.private {
			return human.Errorf(human.Conflict, "This part of the page belongs to a private site, so nothing can be picked from it.")
		}
		id, err := t.resolve(ctx, at.session, node, at.contextID)
		if err != nil {
			continue
		}
		var answer struct {
			Result struct {
				Value *taken `json:"value"`
			} `json:"result"`
			Exception *struct {
				Text string `json:"text"`
			} `json:"exceptionDetails"`
		}
		err = t.conn.call(ctx, session, "Runtime.callFunctionOn", object{
			"objectId": id, "functionDeclaration": "function (kind) { return " + takeNode + "(kind, this) }",
			"arguments": []object{{"value": p.Take}}, "returnByValue": true, "silent": true,
		}, &answer)
		t.conn.send(session, "Runtime.releaseObject", object{"objectId": id})
		switch {
		case err != nil:
			return human.Wrap(human.Conflict, err, "The page was busy or closed. Pick again.")
		case answer.Exception != nil:
			return human.Errorf(human.Internal, "Deskbell's script failed in the page: %s", answer.Exception.Text)
		case answer.Result.Value == nil:
			return human.Errorf(human.Conflict, "There is no %s around what you clicked.", p.Take)
		}
		b.picked(ctx, t, places, i, answer.Result.Value, p)
		return nil
	}
	return human.Errorf(human.Conflict, "The page was busy or closed. Pick again.")
}

// pickWorld is a world of scripts for holds alone.
const pickWorld = worldName + "Pick"

// holds says whether a node belongs to a frame. The browser gives a node to the world of any frame of its process; one that another
// frame's world was given first is no Element for the world of its own. So this asks in a world that nothing else runs in.
func (t *tab) holds(ctx context.Context, at place, node int64) bool {
	var world struct {
		ID int64 `json:"executionContextId"`
	}
	if t.conn.call(ctx, at.session, "Page.createIsolatedWorld", object{"frameId": at.id, "worldName": pickWorld}, &world) != nil {
		return false
	}
	id, err := t.resolve(ctx, at.session, node, world.ID)
	if err != nil {
		return false
	}
	defer t.conn.send(at.session, "Runtime.releaseObject", object{"objectId": id})
	var its struct {
		Result struct {
			Value bool `json:"value"`
		} `json:"result"`
	}
	err = t.conn.call(ctx, at.session, "Runtime.callFunctionOn", object{
		"objectId": id, "functionDeclaration": "function () { return (this.ownerDocument || this) === document }", "returnByValue": true,
	}, &its)
	return err == nil && its.Result.Value
}

// resolve gives a node to a world, and returns the id of the object that it is there.
func (t *tab) resolve(ctx context.Context, session string, node, contextID int64) (string, error) {
	var found struct {
		Object struct {
			ID string `json:"objectId"`
		} `json:"object"`
	}
	err := t.conn.call(ctx, session, "DOM.resolveNode", object{"backendNodeId": node, "executionContextId": contextID}, &found)
	return found.Object.ID, err
}

// takeSelection takes what is selected in the tab: in the frame that has the focus, or had it before the person
// turned to another window.
func (b *Browser) takeSelection(ctx context.Context, t *tab, p human.PickRequest) error {
	places := t.places()
	best, rank := -1, 0
	var selected *taken
	into := make([]bool, len(places)) // the focus is in a frame of it
	g := geometry{places: places}
	for i, at := range places {
		if at.private || at.contextID == 0 {
			continue
		}
		var s struct {
			Focused bool   `json:"focused"`
			Inner   bool   `json:"inner"`
			Taken   *taken `json:"taken"`
		}
		err := t.evaluate(ctx, at, "({focused: document.hasFocus(), inner: /^(IFRAME|FRAME)$/.test(document.activeElement?.tagName), taken: "+takeNode+"('selection', null)})", &s)
		if err != nil {
			continue
		}
		into[i] = s.Inner
		if s.Taken == nil || strings.TrimSpace(s.Taken.Text) == "" {
			continue
		}
		now := 1
		if i > 0 {
			if up := g.parent(i); up >= 0 && into[up] {
				now = 2
			}
		} else if !s.Inner {
			now = 2
		}
		if s.Focused && !s.Inner {
			now = 3
		}
		if now >= rank {
			best, rank, selected = i, now, s.Taken
		}
	}
	if best < 0 {
		return human.Errorf(human.Conflict, "Nothing is selected on the page. Select some text there, then pick it.")
	}
	b.picked(ctx, t, places, best, selected, p)
	return nil
}

// picked delivers what was taken from a frame, with a crop of the page around it. It returns it, and where it is in the tab's viewport.
func (b *Browser) picked(ctx context.Context, t *tab, places []place, i int, from *taken, p human.PickRequest) (human.Pick, human.Bounds) {
	pick := human.Pick{Field: p.Field, Take: p.Take, Text: cut(b.mask(from.Text), maxTaken), Header: from.Header}
	if p.Take == human.TakeTable || p.Take == human.TakeList {
		rows, left := b.maskRows(from.Rows)
		pick.Rows = rows
		text, _ := json.Marshal(rows) // texts alone
		pick.Text = string(text)
		if left += max(from.Cut, 0); left > 0 {
			pick.Text += fmt.Sprintf(" … and %d more rows, which were too many to take", left)
		}
	}
	page := t.page()
	if i > 0 {
		page.Frame, page.FrameURL = places[i].path, b.maskURL(places[i].url)
	}
	e := human.RecordedEvent{At: b.now(), Type: human.PagePicked, Element: boundedElement(from.Element), Browsing: human.Browsing{Page: &page, Pick: &pick}}
	g := geometry{t: t, places: places, boxes: map[int]*framed{}}
	bounds := from.Bounds
	if f, err := g.frame(ctx, i); err == nil && f != nil {
		if i > 0 && !f.turned {
			at := f.place(bounds, 0, 0)
			bounds = box{at.x0, at.y0, at.x1, at.y1}.bounds()
		}
		if e.Element != nil {
			e.Element.Bounds = bounds
		}
		if ss := t.sources.screenshots; ss != nil {
			e.Picture, pick.Bounds = ss.crop(ctx, bounds)
		}
	}
	b.emit(e)
	return pick, bounds
}

// maskRows masks and bounds the rows of a table, and says how many were left out.
func (b *Browser) maskRows(rows [][]string) (kept [][]string, left int) {
	size := 0
	for i, row := range rows {
		row = row[:min(len(row), maxCells)]
		for j, cell := range row {
			row[j] = cut(cell, maxCell)
			size += len(row[j]) + 4
		}
		if i == maxRows || size > maxTaken {
			left = len(rows) - i
			break
		}
		kept = append(kept, row)
	}
	var all strings.Builder
	for _, row := range kept {
		for _, cell := range row {
			all.WriteString(cell)
			all.WriteByte('\n')
		}
	}
	if b.mask(all.String()) == all.String() {
		return kept, left // as mostly: this is quicker than to look at each cell
	}
	for _, row := range kept {
		for j := range row {
			row[j] = b.mask(row[j])
		}
	}
	return kept, left
}

// crop stores the part of the page around bounds, as it looks now, and says where they are in it. There is none when
// nothing of it is on the screen, or it is not known what is secret.
func (ss *screenshots) crop(ctx context.Context, of human.Bounds) (picture string, in human.Bounds) {
	ss.work.Lock()
	s := ss.refresh(ctx) // without the outline that was drawn for picking
	ss.work.Unlock()
	if s.data == "" {
		return "", human.Bounds{}
	}
	f, err := ss.develop(s)
	if err != nil {
		return "", human.Bounds{}
	}
	part, in := cropped(f, of)
	if part == nil {
		return "", human.Bounds{}
	}
	if picture, err = ss.t.b.save(part); err != nil {
		ss.t.b.log.Debug("no picture of a pick", "err", err)
		return "", human.Bounds{}
	}
	return picture, in
}

// cropped is the part of a picture around bounds, and where in it they are, in its pixels; nil when it shows nothing
// of them.
func cropped(f *record.Frame, of human.Bounds) (*record.Frame, human.Bounds) {
	px := func(v, most int) int { return int(min(max(math.Round(float64(v)*f.Scale), 0), float64(most))) }
	x0, y0 := px(of.X, f.W), px(of.Y, f.H)
	x1, y1 := px(of.X+of.W, f.W), px(of.Y+of.H, f.H)
	if x0 >= x1 || y0 >= y1 {
		return nil, human.Bounds{}
	}
	left, top := px(of.X-around, f.W), px(of.Y-around, f.H)
	right, bottom := px(of.X+of.W+around, f.W), px(of.Y+of.H+around, f.H)
	part := &record.Frame{W: right - left, H: bottom - top, Scale: f.Scale, At: f.At}
	part.Pix = make([]byte, 0, 4*part.W*part.H)
	for y := top; y < bottom; y++ {
		part.Pix = append(part.Pix, f.Pix[4*(y*f.W+left):4*(y*f.W+right)]...)
	}
	return part, human.Bounds{X: x0 - left, Y: y0 - top, W: x1 - x0, H: y1 - y0}
}
