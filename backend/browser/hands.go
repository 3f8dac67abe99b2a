package browser

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

const (
	lookAgain  = 25 * time.Millisecond  // between two looks at a page for what is not there yet
	asked      = 5 * time.Second        // for a page to answer
	takenIn    = 10 * time.Second       // for a page to take what was done
	atRest     = 300 * time.Millisecond // for what is picked to stay the same
	comesSoon  = time.Second            // in which a navigation that a page asks for begins
	goesWithin = 30 * time.Second       // likewise, in which one that has begun comes to an end
	keptSent   = 64
)

// installHands gives a frame the part of the page script that finds elements and acts.
var installHands = sync.OnceValue(func() string {
	return "globalThis.extend && !globalThis.hands && !Object.defineProperty(globalThis, 'hands', {value: extend(" + expression(pageFind) + ")})"
})

// hands are what is kept of Deskbell's acting in a browser. Its methods are safe for concurrent use.
type hands struct {
	mu      sync.Mutex
	on      bool
	why     *human.Sentence // how a person used the pages
	sent    []*sent         // what was done last
	screen  *[2]float64     // where the pointer is, on the screen
	files   []arrival
	woken   chan struct{} // a dialog opened or closed
	dragged chan json.RawMessage
}

// sent is something that Deskbell does with the mouse or the keyboard.
type sent struct {
	how      string // point, key, drag
	key      string
	from, to float64 // when, in ms since 1970; to is 0 while it lasts
}

// An arrival is a download that is complete.
type arrival struct {
	began int64
	names [2]string // as it was offered, and as it was stored
}

var _ record.Hands = (*Browser)(nil)

// Now implements record.Hands.
func (b *Browser) Now() int64 { return b.now() }

// Address implements record.Hands.
func (b *Browser) Address() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.shown == nil {
		return ""
	}
	return b.shown.main.url
}

// Interrupted implements record.Hands.
func (b *Browser) Interrupted() *human.Sentence {
	b.hands.mu.Lock()
	defer b.hands.mu.Unlock()
	return b.hands.why
}

// Resume implements record.Hands. From then on all frames say what a person does in them.
func (b *Browser) Resume() {
	h := &b.hands
	h.mu.Lock()
	fresh := !h.on
	if h.on, h.why = true, nil; fresh {
		h.woken, h.dragged = make(chan struct{}, 1), make(chan json.RawMessage, 1)
	}
	h.mu.Unlock()
	if !fresh {
		return
	}
	b.mu.Lock()
	tabs := slices.Clone(b.order)
	b.mu.Unlock()
	for _, t := range tabs {
		for _, session := range t.sessions() {
			t.conn.send(session, "Page.addScriptToEvaluateOnNewDocument", handsScript())
		}
	}
}

// given says whether the frames of the browser have hands.
func (h *hands) given() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.on
}

// handsScript gives all documents of a session hands, also those that are there.
func handsScript() object {
	return object{"source": installHands(), "worldName": worldName, "runImmediately": true}
}

// wake has what waits for a page look at its dialogs.
func (h *hands) wake() { offer(&h.mu, &h.woken, struct{}{}) }

// lifted takes what the page drags.
func (h *hands) lifted(params json.RawMessage) { offer(&h.mu, &h.dragged, params) }

// offer puts a value into a channel that has room for it.
func offer[T any](mu *sync.Mutex, c *chan T, value T) {
	mu.Lock()
	defer mu.Unlock()
	select {
	case *c <- value:
	default:
	}
}

func (h *hands) arrived(began int64, names ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.files = append(h.files, arrival{began, [2]string(names)})
}

// sends notes what is about to be done, and returns what ends it.
func (b *Browser) sends(how, key string) (end func()) {
	h := &b.hands
	wall := func() float64 {
		now, _ := b.o.Clock()
		return float64(now.UnixMicro()) / 1000
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.sent) >= keptSent {
		h.sent = slices.Delete(h.sent, 0, keptSent/2)
	}
	s := &sent{how: how, key: key, from: wall()}
	h.sent = append(h.sent, s)
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		s.to = wall()
	}
}

const slack = 200.0 // ms by which the clocks of a page and of Deskbell differ on a busy machine

// heard takes what a frame says of the mouse, the keyboard and the window. It is a person's where Deskbell did nothing of the kind
// at that time, or not there. A pointer that rests moves over a page that scrolls or is new: its place on the screen stays.
func (h *hands) heard(said string) {
	var e struct {
		How  string  `json:"how"`
		X    float64 `json:"x"`
		Y    float64 `json:"y"`
		Key  string  `json:"key"`
		Ours bool    `json:"ours"`
		At   float64 `json:"at"`
	}
	if json.Unmarshal([]byte(said), &e) != nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.on {
		return
	}
	ours := slices.ContainsFunc(h.sent, func(s *sent) bool {
		if e.At < s.from-slack || s.to != 0 && e.At > s.to+slack {
			return false
		}
		switch {
		case s.how == "drag" || e.How == "size":
			return true
		case e.How == "key":
			return s.how == "key" && s.key == e.Key
		}
		return e.Ours && s.how == "point"
	})
	rests := false
	if e.How == "move" {
		at := [2]float64{e.X, e.Y}
		rests = h.screen == nil || math.Hypot(at[0]-h.screen[0], at[1]-h.screen[1]) <= 2
		h.screen = &at
	}
	if ours || rests || h.why != nil {
		return
	}
	switch e.How {
	case "move":
		h.why = new(human.Sayf("you moved the pointer"))
	case "press":
		h.why = new(human.Sayf("you clicked"))
	case "wheel":
		h.why = new(human.Sayf("you scrolled"))
	case "key":
		h.why = new(human.Sayf("you pressed a key"))
	case "size":
		h.why = new(human.Sayf("you changed the window"))
	}
}

// An act is one step or checkpoint that is worked on.
type act struct {
	b       *Browser
	t       *tab // where it is done, once that is known
	until   int64
	left    []human.ProcedureDialog // that are yet to come
	begun   bool                    // something was done
	did     record.Did
	looking bool // nothing is waited for
}

// mismatch says what was expected and what there is instead.
func mismatch(expected, found human.Sentence) *record.Mismatch {
	return &record.Mismatch{Expected: expected, Found: found}
}

func differs(expected, found human.Sentence) *record.Mismatch {
	return &record.Mismatch{Expected: expected, Found: found, Differs: true}
}

// Do implements record.Hands.
func (b *Browser) Do(ctx context.Context, s human.ProcedureStep, secret *record.Secret, patience time.Duration) (record.Did, error) {
	b.mu.Lock()
	running := b.running && b.begun
	b.mu.Unlock()
	if !running {
		return record.Did{}, human.Errorf(human.Conflict, "The browser is closed.")
	}
	if !b.hands.given() {
		b.Resume()
	}
	a := &act{b: b, until: b.now() + int64(patience), left: slices.Clone(s.Dialogs)}
	err := a.do(ctx, s, secret)
	if err == nil {
		err = a.answersRest(ctx)
	}
	if m := (*record.Mismatch)(nil); errors.As(err, &m) {
		m.Did = a.begun
		return a.did, m
	}
	return a.did, err
}

// pause waits a little; false when there is no patience left.
func (a *act) pause(ctx context.Context) bool {
	if a.looking || a.b.now() >= a.until {
		return false
	}
	_ = rests(ctx, lookAgain) // who looks again sees that ctx has ended
	return true
}

// rests blocks for a time, or until ctx ends, and returns its error then.
func rests(ctx context.Context, within time.Duration) error {
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return ctx.Err()
}

// await waits for the browser to answer and meanwhile answers the dialogs that are expected. Another dialog ends it.
func (a *act) await(ctx context.Context, within time.Duration, answered <-chan error) error {
	timer := time.NewTimer(within)
	defer timer.Stop()
	for {
		if err := a.dialogs(); err != nil {
			return err
		}
		select {
		case err := <-answered:
			return err
		case <-a.b.hands.woken:
		case <-timer.C:
			return mismatch(human.Sayf("The page answers."), human.Sayf("It does not answer; it may be busy."))
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// dialogs answers a dialog that is open and expected now.
func (a *act) dialogs() error {
	b := a.b
	b.mu.Lock()
	var d dialog
	var t *tab
	for _, o := range b.order {
		if o.dialog != nil && !o.dialog.answered {
			d, t = *o.dialog, o
			break
		}
	}
	if t == nil {
		b.mu.Unlock()
		return nil
	}
	said := human.Sayf("A dialog is open: %s %q", d.kind, b.mask(cut(d.message, maxName)))
	if !a.begun || len(a.left) == 0 {
		b.mu.Unlock()
		return mismatch(human.Sayf("No dialog is open."), said)
	}
	next := a.left[0]
	if next.Kind != d.kind || next.Message != "" && flat(next.Message) != flat(d.message) {
		b.mu.Unlock()
		return mismatch(human.Sayf("A dialog opens: %s %q", next.Kind, next.Message), said)
	}
	t.dialog.answered = true
	b.mu.Unlock()
	a.left = a.left[1:]
	params := object{"accept": next.Accept}
	if next.Kind == "prompt" {
		params["promptText"] = next.Input
	}
	t.conn.send(t.session, "Page.handleJavaScriptDialog", params)
	return nil
}

// answersRest waits for the dialogs that are yet to come of a step.
func (a *act) answersRest(ctx context.Context) error {
	for {
		if err := a.dialogs(); err != nil {
			return err
		}
		if len(a.left) == 0 {
			return ctx.Err()
		}
		if !a.pause(ctx) {
			return mismatch(human.Sayf("A dialog opens: %s %q", a.left[0].Kind, a.left[0].Message), human.Sayf("No dialog is open."))
		}
	}
}

func flat(text string) string { return strings.Join(strings.Fields(text), " ") }

// call sends one command and waits until it is taken, though it brings up a dialog.
func (a *act) call(ctx context.Context, session, method string, params, result any) error {
	return a.during(ctx, takenIn, func(ctx context.Context, t *tab) error { return t.conn.call(ctx, session, method, params, result) })
}

// evaluate asks a frame.
func (a *act) evaluate(ctx context.Context, at place, expression string, result any) error {
	return a.during(ctx, asked, func(ctx context.Context, t *tab) error { return t.evaluate(ctx, at, expression, result) })
}

// during works with the tab and meanwhile answers dialogs. Work that is not awaited any more ends soon.
func (a *act) during(ctx context.Context, within time.Duration, work func(context.Context, *tab) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answered := make(chan error, 1)
	t := a.t
	go func() { answered <- work(ctx, t) }() // ends with ctx
	return a.await(ctx, within, answered)
}

// tab finds the tab of a step or checkpoint, ready to be asked.
func (a *act) tab(name string) error {
	if name == "" {
		name = "t1"
	}
	expected := human.Sayf("The tab %s is open.", name)
	b := a.b
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.running {
		return human.Errorf(human.Conflict, "The browser is closed.")
	}
	i := slices.IndexFunc(b.order, func(t *tab) bool { return t.name == name })
	switch {
	case i >= 0:
	case b.wasOpen(name):
		return mismatch(expected, human.Sayf("It was closed."))
	default:
		return mismatch(expected, human.Sayf("It has not opened."))
	}
	a.t = b.order[i]
	if a.t.crashed {
		return mismatch(human.Sayf("The page answers."), human.Sayf("It has crashed."))
	}
	return nil
}

// wasOpen says whether a tab was there once. mu is held.
func (b *Browser) wasOpen(name string) bool {
	n, err := strconv.Atoi(strings.TrimPrefix(name, "t"))
	return err == nil && n <= b.numbers
}

// goesElsewhere says that the tab is about to show another page.
func (t *tab) goesElsewhere() bool {
	t.b.mu.Lock()
	defer t.b.mu.Unlock()
	within := comesSoon
	if t.nav.going {
		within = goesWithin
	}
	return t.nav.at != 0 && t.nav.at > t.rested && t.b.now()-t.nav.at < int64(within)
}

// frame finds a frame of the tab.
func (a *act) frame(path []int) (place, error) {
	places := a.t.places()
	i := slices.IndexFunc(places, func(p place) bool { return slices.Equal(p.path, path) })
	switch {
	case i < 0:
		return place{}, mismatch(human.Sayf("The page has the frame %v.", path), human.Sayf("It does not have it."))
	case places[i].private:
		return place{}, mismatch(human.Sayf("The page is recorded."), human.Sayf("It belongs to a private site."))
	case places[i].contextID == 0 || a.t.goesElsewhere():
		return place{}, mismatch(human.Sayf("The page is loaded."), human.Sayf("It is still loading."))
	}
	return places[i], nil
}

// ask asks a frame's hands, and gives it hands first where it has none.
func (a *act) ask(ctx context.Context, at place, expression string, result any) error {
	var raw json.RawMessage
	for range 2 {
		err := a.evaluate(ctx, at, "globalThis.hands ? "+expression+" ?? true : null", &raw)
		m := (*record.Mismatch)(nil)
		switch {
		case errors.As(err, &m) || ctx.Err() != nil:
			return err
		case err != nil: // its document has gone
			a.b.log.Debug("a page could not be asked", "err", err)
			return mismatch(human.Sayf("The page answers."), human.Sayf("It was reloaded or has failed."))
		case len(raw) > 0 && string(raw) != "null":
			if result == nil {
				return nil
			}
			return json.Unmarshal(raw, result)
		}
		if err := a.evaluate(ctx, at, installHands(), nil); err != nil {
			return err
		}
	}
	return mismatch(human.Sayf("The page is loaded."), human.Sayf("It is still loading."))
}

func quote(v any) string {
	raw, _ := json.Marshal(v) // of texts, numbers and what is made of them
	return string(raw)
}

// A spot is an element that is ready.
type spot struct {
	at      place
	Words   string  `json:"words"`
	By      string  `json:"by"`
	Drifted bool    `json:"drifted"`
	Done    bool    `json:"done"`
	Wait    string  `json:"wait"`
	Near    string  `json:"near"`
	Many    int     `json:"many"`
	X       float64 `json:"x"` // in the tab's viewport
	Y       float64 `json:"y"`

	around []place // the frames it lies in
}

// find waits for an element to be there, alone and ready for what is done to it.
func (a *act) find(ctx context.Context, s human.ProcedureStep, target *human.ProcedureTarget, how object) (*spot, error) {
	began := a.b.now()
	for tries := 0; ; tries++ {
		// A page may load for ever, and be used all that time.
		how["tries"], how["hurry"] = tries, a.b.now() > began+(a.until-began)/2
		found, err := a.look(ctx, s, target, how)
		m := (*record.Mismatch)(nil)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err == nil || !errors.As(err, &m):
			return found, err
		}
		if !a.pause(ctx) {
			return nil, err
		}
	}
}

// look looks for an element once.
func (a *act) look(ctx context.Context, s human.ProcedureStep, target *human.ProcedureTarget, how object) (*spot, error) {
	if err := a.tab(s.Page); err != nil {
		return nil, err
	}
	at, err := a.frame(s.Frame)
	if err != nil {
		return nil, err
	}
	var found spot
	if err := a.ask(ctx, at, "hands.ready("+quote(target)+", "+quote(how)+")", &found); err != nil {
		return nil, err
	}
	if found.Wait == "hidden" {
		return nil, errors.Join(a.call(ctx, a.t.session, "Page.bringToFront", nil, nil), mismatch(human.Sayf("The tab %s is in front.", a.t.name), human.Sayf("Another one is.")))
	}
	if err := found.lacks(target, how); err != nil {
		return nil, err
	}
	found.at = at
	if _, points := how["point"]; points && !found.Done {
		if err := a.lift(ctx, &found, how["hover"] == nil); err != nil {
			return nil, err
		}
	}
	return &found, nil
}

// named is a target in words.
func named(t *human.ProcedureTarget) string {
	words := t.Role
	if words == "" {
		words = t.Tag
	}
	if t.Name != "" {
		words += " " + strconv.Quote(t.Name)
	}
	for _, near := range append([]string{t.Beside}, t.Cells...) {
		if near != "" {
			words += " beside " + strconv.Quote(near)
		}
	}
	return words
}

// lacks says what an element that was looked for is not.
func (s *spot) lacks(t *human.ProcedureTarget, how object) error {
	target := named(t)
	switch s.Wait {
	case "":
		return nil
	case "missing":
		m := mismatch(human.Sayf("%s is on the page.", target), human.Sayf("It is not there."))
		if m.Missing = true; s.Near != "" {
			m.Found = human.Sayf("There is %s instead.", s.Near)
		}
		return m
	case "many":
		return mismatch(human.Sayf("One %s is on the page.", target), human.Sayf("There are %d that are alike.", s.Many))
	case "site":
		return mismatch(human.Sayf("The secret is typed on %s alone.", how["site"]), human.Sayf("The field is on %s.", s.Near))
	case "disabled":
		return mismatch(human.Sayf("%s can be used.", target), human.Sayf("It is disabled."))
	case "readonly", "text":
		return mismatch(human.Sayf("%s can be typed into.", target), human.Sayf("It takes no text."))
	case "file":
		return mismatch(human.Sayf("%s takes files.", target), human.Sayf("It is no field for files."))
	case "more":
		return differs(human.Sayf("In its form nothing else is filled in, ticked or chosen than when it was taught."), human.Sayf("There is also %s.", s.Near))
	case "less":
		return differs(human.Sayf("In its form %s is ticked, as when it was taught.", s.Near), human.Sayf("It is not ticked."))
	case "says":
		return differs(human.Sayf("The words around %s are those that were there when it was taught.", target), human.Sayf("It also says: %s", s.Near))
	case "options":
		return mismatch(human.Sayf("%s is a list to choose from.", target), human.Sayf("It is %s instead.", s.Words))
	case "option":
		return mismatch(human.Sayf("%s has what is to be chosen.", target), human.Sayf("Its options are: %s", s.Near))
	case "loading":
		return mismatch(human.Sayf("The page is loaded."), human.Sayf("It is still loading."))
	case "moves":
		return mismatch(human.Sayf("%s stands still.", target), human.Sayf("It is moving."))
	case "covered":
		return mismatch(human.Sayf("%s can be reached.", target), human.Sayf("It is covered by %s.", s.Near))
	}
	return mismatch(human.Sayf("%s can be reached.", target), human.Sayf("It is outside of what is shown."))
}

// upwards turns a point of a frame into one of the frame around it, and says whether the frame is what can be reached there. It has the
// frame around notice what arrives there instead: a frame that was drawn only now may not take the mouse yet.
const upwards = `function (x, y, pressed) {
	const r = this.getBoundingClientRect(), style = getComputedStyle(this)
	const sx = r.width / this.offsetWidth || 1, sy = r.height / this.offsetHeight || 1
	x = r.x + (this.clientLeft + parseFloat(style.paddingLeft) + x) * sx
	y = r.y + (this.clientTop + parseFloat(style.paddingTop) + y) * sy
	let hit = document.elementFromPoint(x, y)
	while (hit && hit !== this && hit.shadowRoot) {
		const inner = hit.shadowRoot.elementFromPoint(x, y)
		if (!inner || inner === hit) break
		hit = inner
	}
	hands.passes(x, y, pressed)
	return {x, y, hit: hit === this}
}`

// lift turns the point of an element in a frame into one of the tab, and looks whether anything covers the frames there.
func (a *act) lift(ctx context.Context, s *spot, pressed bool) error {
	places := a.t.places()
	for path := s.at.path; len(path) > 0; path = path[:len(path)-1] {
		frame := slices.IndexFunc(places, func(p place) bool { return slices.Equal(p.path, path) })
		up := slices.IndexFunc(places, func(p place) bool { return slices.Equal(p.path, path[:len(path)-1]) })
		if frame < 0 || up < 0 || places[up].contextID == 0 {
			return mismatch(human.Sayf("The page is loaded."), human.Sayf("It is still loading."))
		}
		session := places[up].session
		var at struct {
			Result struct {
				Value struct {
					X, Y float64
					Hit  bool
				} `json:"value"`
			} `json:"result"`
		}
		err := a.during(ctx, asked, func(ctx context.Context, t *tab) error {
			if err := t.conn.call(ctx, session, "DOM.enable", nil, nil); err != nil {
				return err
			}
			var owner struct {
				Node int64 `json:"backendNodeId"`
			}
			if err := t.conn.call(ctx, session, "DOM.getFrameOwner", object{"frameId": places[frame].id}, &owner); err != nil {
				return err
			}
			id, err := t.resolve(ctx, session, owner.Node, places[up].contextID)
			if err != nil {
				return err
			}
			defer t.conn.send(session, "Runtime.releaseObject", object{"objectId": id})
			return t.conn.call(ctx, session, "Runtime.callFunctionOn", object{
				"objectId": id, "functionDeclaration": upwards, "arguments": []object{{"value": s.X}, {"value": s.Y}, {"value": pressed}}, "returnByValue": true,
			}, &at)
		})
		if m := (*record.Mismatch)(nil); errors.As(err, &m) || ctx.Err() != nil {
			return err
		}
		if err != nil || !at.Result.Value.Hit {
			return mismatch(human.Sayf("%s can be reached.", s.Words), human.Sayf("Its frame is covered or not shown."))
		}
		s.X, s.Y = at.Result.Value.X, at.Result.Value.Y
		s.around = append(s.around, places[up])
	}
	return nil
}
