package browser

import (
	"context"
	"encoding/json"
	"slices"

	"deskbell/backend/human"
)

// A tab is a page target: a tab or a popup. Its fields are guarded by the browser's mu, except those set once.
type tab struct {
	b       *Browser
	conn    *conn
	name    string // t1, t2, in the order they were seen
	target  string // as DevTools names it
	session string // of the page itself; set once
	opener  string
	ctx     context.Context // ends when the tab is gone
	cancel  context.CancelFunc

	title  string
	main   *frame
	frames map[string]*frame // by DevTools' id
	ranks  map[string]int    // in what order frames came first, also those that are gone
	ranked int
	parts  []*part    // its sessions: the page's own first, then those of frames in other processes
	w, h   int        // of the viewport, as its pages reported
	last   action     // what was done in it last
	nav    navigation // the one that is under way
	dialog *dialog    // the one that is open
	popup  string     // the URL of a popup that is about to open
	docs   map[document]*counter

	since   int64 // when it was opened
	rested  int64 // when its page last stopped loading
	crashed bool

	shy       bool // a private page opened it
	moved     bool // it has shown more than the empty page it began with
	armed     bool // all that happens in it is heard
	announced bool // PageOpened was delivered
	sources   tabSources
}

// A part is a session of a tab.
type part struct {
	session  string
	tab      *tab
	root     string           // id of its topmost frame
	contexts map[int64]*frame // isolated worlds of ours, by the id of their execution context
	early    map[string]int64 // those of frames that are not known yet, by frame
}

// A frame is one frame of a tab's tree.
type frame struct {
	id        string
	session   string // the session that reaches it
	contextID int64  // execution context of the isolated world; 0: none
	url       string
	parent    *frame
	children  []*frame // as they came, which is how runners count them
	x, y      float64  // of its viewport in the tab's, when it was last asked
	placed    bool     // x and y are known
	again     int64    // when it came back with its page; 0: it did not
	away      int64    // since when it has shown a private page; 0: it shows none
}

// path is where the frame stands: which child each frame is, from the page down.
func (f *frame) path() []int {
	var path []int
	for ; f.parent != nil; f = f.parent {
		path = append(path, slices.Index(f.parent.children, f))
	}
	slices.Reverse(path)
	return path
}

// An action is what was done in a tab last, to which what follows belongs.
type action struct {
	ref  uint64
	at   int64
	kind human.RecordedType
}

// A place is a frame as it was when it was asked for.
type place struct {
	id        string // DevTools' id of the frame
	session   string
	contextID int64 // of the isolated world; 0: it has none now
	url       string
	path      []int // nil: the page itself
	private   bool  // of a site that is not recorded
}

// places lists the tab's frames, the page itself first, parents before their children.
func (t *tab) places() []place {
	t.b.mu.Lock()
	defer t.b.mu.Unlock()
	var all []place
	var add func(f *frame, hidden bool)
	add = func(f *frame, hidden bool) {
		hidden = hidden || t.conceals(f)
		all = append(all, place{f.id, f.session, f.contextID, f.url, f.path(), hidden})
		for _, c := range f.children {
			add(c, hidden)
		}
	}
	add(t.main, false)
	return all
}

// sessions lists the sessions that reach the tab's frames, the page's own first.
func (t *tab) sessions() []string {
	t.b.mu.Lock()
	defer t.b.mu.Unlock()
	var all []string
	for _, p := range t.parts {
		all = append(all, p.session)
	}
	return all
}

// private says whether the tab shows a page of a site that is not recorded.
func (t *tab) private() bool {
	t.b.mu.Lock()
	defer t.b.mu.Unlock()
	return t.conceals(t.main)
}

// conceals says whether what a frame shows is of a site that is not recorded. An empty page that a private one opened
// is its, too: it may write into it.
func (t *tab) conceals(f *frame) bool {
	return t.b.private(f.url) || t.shy && f == t.main && f.url == "about:blank"
}

// page is the tab's page as events name it, without the frame.
func (t *tab) page() human.WebPage {
	t.b.mu.Lock()
	defer t.b.mu.Unlock()
	return t.pageOf(t.main)
}

// pageOf is the page as events in one of its frames name it. Of a private page there is no more than which tab it is.
func (t *tab) pageOf(f *frame) human.WebPage {
	p := human.WebPage{Target: t.name, Opener: t.opener}
	if t.conceals(t.main) {
		return p
	}
	p.URL, p.Title, p.W, p.H = t.b.maskURL(t.main.url), t.b.mask(t.title), t.w, t.h
	if f != t.main {
		p.Frame, p.FrameURL = f.path(), t.b.maskURL(f.url)
	}
	return p
}

// pageWorld stands for the world that a page itself has, in which nothing of pages of others is evaluated.
const pageWorld = -1

// evaluate runs an expression in a frame's isolated world and decodes its value, which is awaited, into result.
func (t *tab) evaluate(ctx context.Context, in place, expression string, result any) error {
	if in.contextID == 0 {
		return errDetached
	}
	var answer struct {
		Result struct {
			Value json.RawMessage `json:"value"`
		} `json:"result"`
		Exception *struct {
			Text string `json:"text"`
		} `json:"exceptionDetails"`
	}
	params := object{"expression": expression, "returnByValue": true, "awaitPromise": true, "silent": true}
	if in.contextID != pageWorld {
		params["contextId"] = in.contextID
	}
	err := t.conn.call(ctx, in.session, "Runtime.evaluate", params, &answer)
	switch {
	case err != nil:
		return err
	case answer.Exception != nil:
		return human.Errorf(human.Internal, "Deskbell's script failed in the page: %s", answer.Exception.Text)
	case result == nil || len(answer.Result.Value) == 0:
		return nil
	}
	return json.Unmarshal(answer.Result.Value, result)
}

// do runs work for the tab in a goroutine of its own, whose ctx ends with the tab; Run waits for it.
func (t *tab) do(work func(ctx context.Context)) {
	t.b.do(func(context.Context) { work(t.ctx) })
}
