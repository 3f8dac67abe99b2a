package browser

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"deskbell/backend/human"
)

// A box is a rectangle in CSS pixels of a tab's viewport.
type box struct{ x0, y0, x1, y1 float64 }

func (b box) bounds() human.Bounds {
	at := func(v float64) int { return int(min(max(v, -1<<24), 1<<24)) }
	x, y := at(math.Floor(b.x0)), at(math.Floor(b.y0))
	return human.Bounds{X: x, Y: y, W: at(math.Ceil(b.x1)) - x, H: at(math.Ceil(b.y1)) - y}
}

func (b box) with(c box) box {
	return box{min(b.x0, c.x0), min(b.y0, c.y0), max(b.x1, c.x1), max(b.y1, c.y1)}
}

// A measure is where a tab's secret fields stood at a time.
type measure struct {
	at      int64 // monotonic ns
	ok      bool  // they are known; false: nothing may be shown
	private bool  // the page is of a site that is not recorded
	frames  string
	w, h    float64 // of the viewport
	black   []box
	typed   []typedBox
	page    human.WebPage
}

// between is what has to be black in a picture taken after from and before to, both monotonic. It returns false when
// that is not known, because there was another page, or nothing known of it.
func (ss *screenshots) between(from, to int64) ([]box, []typedBox, bool) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	first := -1
	for i, m := range ss.measured {
		if m.at <= from {
			first = i
		}
	}
	if first < 0 {
		return nil, nil, false
	}
	var all []measure
	for _, m := range ss.measured[first:] {
		if m.at > to && len(all) > 1 {
			break
		}
		all = append(all, m)
	}
	black := slices.Clone(all[0].black)
	var typed []typedBox
	for _, m := range all {
		if !m.ok || m.frames != all[0].frames || m.w != all[0].w || m.h != all[0].h {
			return nil, nil, false
		}
		typed = append(typed, m.typed...)
		if len(m.black) == len(all[0].black) { // they may have moved
			for i := range m.black {
				black[i] = black[i].with(m.black[i])
			}
		} else {
			black = append(black, m.black...)
		}
	}
	return black, typed, true
}

// looked is what a frame says of itself.
type looked struct {
	W      float64 `json:"w"`
	H      float64 `json:"h"`
	Scale  float64 `json:"scale"` // of a pinch
	Origin float64 `json:"origin"`
	Rects  []struct {
		human.Bounds
		Field   uint64 `json:"field"` // 0: it is secret
		Version uint64 `json:"version"`
	} `json:"rects"`
}

// measure asks all frames where their secret fields are, and keeps what they say. A private frame, and one that does
// not answer, is black as a whole.
func (ss *screenshots) measure(ctx context.Context) measure {
	m := ss.measuring(ctx)
	m.at = ss.t.b.now()
	ss.mu.Lock()
	defer ss.mu.Unlock()
	ss.measured = append(ss.measured, m)
	if n := len(ss.measured); n > 8 {
		ss.measured = slices.Delete(ss.measured, 0, n-8)
	}
	return m
}

func (ss *screenshots) measuring(ctx context.Context) measure {
	t := ss.t
	if t.private() {
		return measure{private: true}
	}
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	m := measure{page: t.page()}
	places := t.places()
	var ids strings.Builder
	answers := make([]looked, len(places))
	known := make([]bool, len(places))
	var asking sync.WaitGroup
	few := make(chan struct{}, 8)
	for i, p := range places {
		fmt.Fprint(&ids, p.id, p.session, p.contextID, p.private, " ")
		if p.contextID == 0 || p.private {
			continue
		}
		asking.Go(func() {
			few <- struct{}{}
			defer func() { <-few }()
			err := t.evaluate(ctx, p, "({w: innerWidth, h: innerHeight, scale: visualViewport.scale, origin: performance.timeOrigin, rects: "+secretRects+"})", &answers[i])
			known[i] = err == nil
		})
	}
	asking.Wait()
	if !known[0] || answers[0].W <= 0 || answers[0].Scale != 1 {
		return m
	}
	m.frames, m.w, m.h = ids.String(), answers[0].W, answers[0].H
	m.page.W, m.page.H = int(m.w), int(m.h)
	g := geometry{t: t, places: places, boxes: map[int]*framed{}}
	for i, a := range answers {
		if known[i] && len(a.Rects) == 0 || i > 0 && places[g.parent(i)].private {
			continue
		}
		f, err := g.frame(ctx, i)
		if err != nil {
			return m
		}
		if f == nil {
			continue // it is not shown
		}
		if !known[i] || f.turned {
			m.black = append(m.black, f.box)
			continue
		}
		for _, r := range a.Rects {
			if at := f.place(r.Bounds, a.W, a.H); r.Field == 0 {
				m.black = append(m.black, at)
			} else {
				m.typed = append(m.typed, typedBox{field{document{places[i].id, a.Origin}, r.Field}, r.Version, at})
			}
		}
	}
	m.ok = true
	return m
}

// A framed is where a frame's viewport stands in that of its tab.
type framed struct {
	box
	turned bool // it is not upright
}

// place is a rectangle of a frame, whose viewport is w by h in its own pixels, in the tab.
func (f *framed) place(r human.Bounds, w, h float64) box {
	x, y := 1.0, 1.0
	if w > 0 && h > 0 && !math.IsInf(f.x1, 0) {
		x, y = (f.x1-f.x0)/w, (f.y1-f.y0)/h
	}
	return box{f.x0 + float64(r.X)*x, f.y0 + float64(r.Y)*y, f.x0 + float64(r.X+r.W)*x, f.y0 + float64(r.Y+r.H)*y}
}

// A geometry finds out where frames are; those it was asked for once it knows.
type geometry struct {
	t      *tab
	places []place
	boxes  map[int]*framed
}

// parent is the frame around one.
func (g *geometry) parent(i int) int {
	path := g.places[i].path
	return slices.IndexFunc(g.places, func(p place) bool { return slices.Equal(p.path, path[:len(path)-1]) })
}

// frame is where one is; nil when nothing is seen of it.
func (g *geometry) frame(ctx context.Context, i int) (*framed, error) {
	if i == 0 {
		return &framed{box: box{0, 0, math.Inf(1), math.Inf(1)}}, nil
	}
	if f, ok := g.boxes[i]; ok {
		return f, nil
	}
	up := g.parent(i)
	if up < 0 {
		return nil, errDetached
	}
	session := g.places[up].session
	var owner struct {
		Node int64 `json:"backendNodeId"`
	}
	c := g.t.conn
	if err := c.call(ctx, session, "DOM.enable", nil, nil); err != nil {
		return nil, err
	}
	if err := c.call(ctx, session, "DOM.getFrameOwner", object{"frameId": g.places[i].id}, &owner); err != nil {
		return nil, err
	}
	var shown struct {
		Model struct {
			Content []float64 `json:"content"` // four corners, clockwise, in the viewport of the session's own page
		} `json:"model"`
	}
	if err := c.call(ctx, session, "DOM.getBoxModel", object{"backendNodeId": owner.Node}, &shown); err != nil {
		g.boxes[i] = nil
		return nil, nil //nolint:nilerr // what has no box is not shown
	}
	q := shown.Model.Content
	if len(q) != 8 {
		return nil, errDetached
	}
	f := &framed{
		box:    box{min(q[0], q[2], q[4], q[6]), min(q[1], q[3], q[5], q[7]), max(q[0], q[2], q[4], q[6]), max(q[1], q[3], q[5], q[7])},
		turned: math.Abs(q[1]-q[3]) > 0.5 || math.Abs(q[0]-q[6]) > 0.5 || q[2] < q[0] || q[5] < q[3],
	}
	// The corners count from the topmost frame that the session reaches.
	root := up
	for root > 0 && g.places[g.parent(root)].session == session {
		root = g.parent(root)
	}
	if root > 0 {
		outer, err := g.frame(ctx, root)
		if err != nil || outer == nil {
			g.boxes[i] = nil
			return nil, err
		}
		w, h := outer.x1-outer.x0, outer.y1-outer.y0
		f.box = box{f.x0 + outer.x0, f.y0 + outer.y0, f.x1 + outer.x0, f.y1 + outer.y0}
		f.turned = f.turned || outer.turned || w <= 0 || h <= 0
		if f.turned {
			f.box = outer.box
		}
	}
	g.boxes[i] = f
	return f, nil
}
