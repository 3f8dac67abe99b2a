package record_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var ann = human.Actor{Role: human.Operator, Name: "Ann"}

// A fixture is a desktop that does what a test says: the recorder's interfaces, with the test behind them.
type fixture struct {
	t        testing.TB
	epoch    time.Time
	store    *store
	ops      *ops
	pics     *pictures
	input    *source
	windows  *windows
	elements *elements
	screen   *screen
	files    *source
	clip     *source
	guard    *guard
	rec      *record.Recorder
	end      context.CancelFunc
	ended    chan error
}

func clock(epoch time.Time) record.Clock {
	return func() (time.Time, int64) {
		now := time.Now()
		return now, int64(now.Sub(epoch)) + 1e15 // a machine that has been up for some time
	}
}

func newFixture(t testing.TB, opts record.Options, change ...func(*record.Deps)) *fixture {
	epoch := time.Now()
	d := &fixture{
		t: t, epoch: epoch, store: newStore(), ops: &ops{claimed: map[human.OperationID]string{"op_1": "Ann"}}, pics: newPictures(),
		input: newSource(human.InputSource), files: newSource(human.FileSource), clip: newSource(human.ClipboardSource), guard: &guard{},
	}
	now := clock(epoch)
	d.windows = &windows{source: newSource(human.WindowSource)}
	d.elements = &elements{source: newSource(human.ElementSource), values: map[string]string{}}
	d.screen = &screen{now: func() int64 { _, mono := now(); return mono }}
	n := 0
	deps := record.Deps{
		Store: d.store, Pictures: d.pics, Operations: d.ops, Clock: now, Input: d.input, Windows: d.windows, Elements: d.elements,
		Guards: []record.Guard{d.guard}, Screen: d.screen, Masker: masker{}, System: "linux/x11", SelfPID: 1,
		Files: func([]string) record.Source { return d.files }, Clipboard: func(bool) record.Source { return d.clip },
		NewID: func() human.RecordingID { n++; return human.RecordingID(fmt.Sprint("rec_", n)) },
		Log:   slog.New(slog.DiscardHandler),
	}
	for _, f := range change {
		f(&deps)
	}
	d.rec = record.New(deps, opts)
	ctx, cancel := context.WithCancel(context.Background())
	d.end, d.ended = cancel, make(chan error, 1)
	go func() { d.ended <- d.rec.Run(ctx) }()
	return d
}

// close ends the recorder and waits for it.
func (d *fixture) close() {
	d.t.Helper()
	d.end()
	if err := <-d.ended; err != nil {
		d.t.Errorf("Run: %v", err)
	}
}

func (d *fixture) start(o human.RecordingOptions) human.Recording {
	d.t.Helper()
	r, err := d.rec.Start(context.Background(), ann, "op_1", o)
	if err != nil {
		d.t.Fatal(err)
	}
	d.settle()
	return r
}

func (d *fixture) stop() human.Recording {
	d.t.Helper()
	r, ok := d.rec.Current()
	if !ok {
		d.t.Fatal("nothing is recorded")
	}
	r, err := d.rec.Stop(context.Background(), ann, r.ID)
	if err != nil {
		d.t.Fatal(err)
	}
	return r
}

// settle lets everything that is under way be done, without time passing.
func (d *fixture) settle() { synctest.Wait() }

func (d *fixture) wait(t time.Duration) {
	<-time.After(t)
	d.settle()
}

func (d *fixture) mono() int64 { _, m := clock(d.epoch)(); return m }

func (d *fixture) press(x, y int) {
	d.input.send(human.RecordedEvent{At: d.mono(), Type: human.PointerDown, Button: 1, X: x, Y: y})
	d.settle()
}

func (d *fixture) release(x, y int) {
	d.input.send(human.RecordedEvent{At: d.mono(), Type: human.PointerUp, Button: 1, X: x, Y: y})
	d.settle()
}

func (d *fixture) click(x, y int) {
	d.press(x, y)
	d.wait(50 * time.Millisecond)
	d.release(x, y)
}

func (d *fixture) key(name string, modifiers ...string) {
	d.input.send(human.RecordedEvent{At: d.mono(), Type: human.KeyDown, Key: name, Modifiers: modifiers})
	d.input.send(human.RecordedEvent{At: d.mono(), Type: human.KeyUp, Key: name, Modifiers: modifiers})
	d.settle()
}

// char types one character; its key has a name, and makes a text.
func (d *fixture) char(c string) {
	d.input.send(human.RecordedEvent{At: d.mono(), Type: human.KeyDown, Key: c, Text: c})
	d.input.send(human.RecordedEvent{At: d.mono(), Type: human.KeyUp, Key: c, Text: c})
	d.settle()
}

// types types a text at 12 characters a second, into the field that has the focus.
func (d *fixture) types(text string) {
	for _, c := range text {
		d.elements.put(string(c))
		d.char(string(c))
		d.wait(80 * time.Millisecond)
	}
}

func (d *fixture) activate(p record.Placed) {
	d.windows.set(func(w *windows) {
		w.visible = append([]record.Placed{p}, slices.DeleteFunc(slices.Clone(w.visible), func(o record.Placed) bool { return o.Window.ID == p.Window.ID })...)
	})
	d.windows.send(human.RecordedEvent{At: d.mono(), Type: human.WindowActive, App: &p.App, Window: &p.Window})
	d.screen.show(d.screen.shade)
	d.settle()
}

// focus moves the focus and says so.
func (d *fixture) focus(e human.Element) {
	d.elements.focus(&e)
	d.elements.send(human.RecordedEvent{At: d.mono(), Type: human.FocusMoved, Element: &e})
	d.settle()
}

func (d *fixture) events(id human.RecordingID) (all []human.RecordedEvent) {
	d.t.Helper()
	for e, err := range d.store.Events(context.Background(), id, 0) {
		if err != nil {
			d.t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

func only(all []human.RecordedEvent, t human.RecordedType) (some []human.RecordedEvent) {
	for _, e := range all {
		if e.Type == t {
			some = append(some, e)
		}
	}
	return some
}

func placed(id, app, title string, pid int, b human.Bounds) record.Placed {
	return record.Placed{App: human.App{Name: app, PID: pid, Exe: strings.ToLower(app)}, Window: human.Window{ID: id, Title: title, Bounds: b}}
}

var (
	editor = placed("w1", "Editor", "Letter", 100, human.Bounds{W: 40, H: 30})
	safe   = placed("w2", "KeePassXC", "Passwords", 200, human.Bounds{X: 10, Y: 48, W: 20, H: 10})
	bell   = placed("w3", "Deskbell", "Deskbell", 1, human.Bounds{X: 50, Y: 0, W: 10, H: 10})

	name     = human.Element{Role: "textbox", Name: "Name", Ref: "name", Bounds: human.Bounds{X: 2, Y: 2, W: 10, H: 4}}
	password = human.Element{Role: "textbox", Name: "Password", Ref: "password", Secret: true, Bounds: human.Bounds{X: 2, Y: 10, W: 10, H: 4}}
)

// --- the interfaces

type source struct {
	name human.SourceName
	mu   sync.Mutex
	emit func(human.RecordedEvent)
	fail chan error
	runs int
	sent uint64
	mute bool // never ready
	not  *human.SourceState
}

func newSource(name human.SourceName) *source { return &source{name: name, fail: make(chan error, 1)} }

func (s *source) Check(context.Context) human.SourceState {
	if s.not != nil {
		return *s.not
	}
	return human.SourceState{Source: s.name, Status: "complete"}
}

func (s *source) Run(ctx context.Context, ready func(), emit func(human.RecordedEvent)) (uint64, error) {
	s.mu.Lock()
	s.emit, s.sent = emit, 0
	s.runs++
	s.mu.Unlock()
	var err error
	if !s.mute {
		ready()
	}
	select {
	case <-ctx.Done():
	case err = <-s.fail:
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.emit = nil
	return s.sent, err
}

// send delivers an event, if a reader listens.
func (s *source) send(e human.RecordedEvent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.emit != nil {
		s.sent++
		s.emit(e)
	}
}

type windows struct {
	*source
	at      sync.Mutex
	visible []record.Placed
	broken  error
}

func (w *windows) set(f func(*windows)) {
	w.at.Lock()
	defer w.at.Unlock()
	f(w)
}

func (w *windows) Visible(context.Context) ([]record.Placed, error) {
	w.at.Lock()
	defer w.at.Unlock()
	return slices.Clone(w.visible), w.broken
}

// elements has one field with the focus, and what stands in every field.
type elements struct {
	*source
	at      sync.Mutex
	focused *human.Element
	under   *human.Element
	values  map[string]string
	slow    time.Duration // before an answer, which says what is so after it
	asked   int
}

func (e *elements) focus(el *human.Element) {
	e.at.Lock()
	defer e.at.Unlock()
	e.focused = el
}

// put is what an application does with a character.
func (e *elements) put(text string) {
	e.at.Lock()
	defer e.at.Unlock()
	if e.focused != nil {
		e.values[e.focused.Ref] += text
	}
}

func (e *elements) answer(ctx context.Context) error {
	e.at.Lock()
	slow := e.slow
	e.asked++
	e.at.Unlock()
	if slow == 0 {
		return ctx.Err()
	}
	select {
	case <-ctx.Done():
		return human.Wrap(human.Unavailable, ctx.Err(), "the application does not answer")
	case <-time.After(slow):
		return nil
	}
}

func (e *elements) At(ctx context.Context, x, y int, _ record.Placed) (human.Element, error) {
	if err := e.answer(ctx); err != nil {
		return human.Element{}, err
	}
	e.at.Lock()
	defer e.at.Unlock()
	if e.under == nil || !e.under.Bounds.Contains(x, y) {
		return human.Element{}, human.Errorf(human.NotFound, "nothing there")
	}
	return *e.under, nil
}

func (e *elements) Focused(ctx context.Context, _ record.Placed) (human.Element, error) {
	if err := e.answer(ctx); err != nil {
		return human.Element{}, err
	}
	e.at.Lock()
	defer e.at.Unlock()
	if e.focused == nil {
		return human.Element{}, human.Errorf(human.NotFound, "nothing has the focus")
	}
	return *e.focused, nil
}

func (e *elements) Value(ctx context.Context, el human.Element) (string, error) {
	if el.Secret {
		return "", human.Errorf(human.Denied, "a secret field")
	}
	e.at.Lock()
	defer e.at.Unlock()
	return e.values[el.Ref], ctx.Err()
}

type guard struct {
	mu     sync.Mutex
	secret bool
}

func (g *guard) Secret(context.Context, record.Placed) (bool, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.secret, nil
}

func (g *guard) set(secret bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.secret = secret
}

// screen is 64 by 64 pixels of one shade, which changes.
type screen struct {
	now     func() int64
	mu      sync.Mutex
	shade   byte
	grabs   int
	blind   bool // reports no changes
	nowhere bool // its pictures have no places
	many    bool // and more than one window
	broken  error
	changed func()
}

func (s *screen) Check(context.Context) human.SourceState {
	return human.SourceState{Source: human.ScreenSource, Status: "complete"}
}

func (s *screen) Screens(context.Context) ([]human.Screen, error) {
	return []human.Screen{{W: 64, H: 64, Scale: 1}}, nil
}

func (s *screen) Watch(ctx context.Context, ready func(), changed func()) error {
	if s.blind {
		return human.Errorf(human.Unavailable, "this system reports no changes")
	}
	s.mu.Lock()
	s.changed = changed
	s.mu.Unlock()
	ready()
	<-ctx.Done()
	return nil
}

func (s *screen) Grab(_ context.Context, f *record.Frame) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.grabs++
	if s.broken != nil {
		return s.broken
	}
	if len(f.Pix) != 4*64*64 {
		f.Pix = make([]byte, 4*64*64)
	}
	f.W, f.H, f.Scale, f.At, f.Unplaced, f.Many = 64, 64, 1, s.now(), s.nowhere, s.many
	for i := range f.Pix {
		f.Pix[i] = s.shade
	}
	return nil
}

func (s *screen) Close() error { return nil }

func (s *screen) set(f func(*screen)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(s)
}

// show changes the screen to a shade.
func (s *screen) show(shade byte) {
	s.mu.Lock()
	s.shade = shade
	changed := s.changed
	s.mu.Unlock()
	if changed != nil {
		changed()
	}
}

func (s *screen) taken() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.grabs
}

type pictures struct {
	mu    sync.Mutex
	all   map[string]*record.Frame
	puts  int
	full  error
	gone  []human.RecordingID
	slow  chan struct{} // not nil: each Put takes one of it
	owner human.RecordingID
}

func newPictures() *pictures { return &pictures{all: map[string]*record.Frame{}} }

func (p *pictures) Writer(id human.RecordingID) (record.PictureWriter, error) {
	p.owner = id
	return p, nil
}

func (p *pictures) Put(f *record.Frame) (string, bool, int64, error) {
	if p.slow != nil {
		<-p.slow
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.full != nil {
		return "", false, 0, p.full
	}
	p.puts++
	sum := sha256.Sum256(f.Pix)
	id := hex.EncodeToString(sum[:])
	if p.all[id] != nil {
		return id, false, 0, nil
	}
	c := *f
	c.Pix = bytes.Clone(f.Pix)
	p.all[id] = &c
	return id, true, 1000, nil
}

func (p *pictures) Sync() error  { return nil }
func (p *pictures) Close() error { return nil }

func (p *pictures) Read(_ context.Context, _ human.RecordingID, id string) (*record.Frame, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if f := p.all[id]; f != nil {
		return f, nil
	}
	return nil, human.Errorf(human.NotFound, "no picture %s", id)
}

func (p *pictures) Delete(_ context.Context, id human.RecordingID) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gone = append(p.gone, id)
	return nil
}

// pixel is the shade at a point of a stored picture.
func (p *pictures) pixel(id string, x, y int) byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := p.all[id]
	return f.Pix[4*(y*f.W+x)]
}

type ops struct {
	mu      sync.Mutex
	claimed map[human.OperationID]string
	has     []human.RecordingID
	details json.RawMessage // of every operation
}

func (o *ops) RecordingBegan(_ context.Context, by human.Actor, op human.OperationID, id human.RecordingID) (human.Operation, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.claimed[op] != by.Name {
		return human.Operation{}, human.Errorf(human.Conflict, "operation %s is not claimed by %s", op, by.Name)
	}
	o.has = append(o.has, id)
	return human.Operation{ID: op, Details: o.details}, nil
}

func (o *ops) RecordingDropped(_ context.Context, _ human.Actor, _ human.OperationID, id human.RecordingID) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.has = slices.DeleteFunc(o.has, func(h human.RecordingID) bool { return h == id })
	return nil
}

// masker knows one shape of secret.
type masker struct{}

func (masker) Mask(text string) (string, bool) {
	i := strings.Index(text, "sk-")
	if i < 0 || len(text) < i+7 {
		return text, false
	}
	end := i + strings.IndexByte(text[i:]+" ", ' ')
	return text[:i] + "•••" + text[end:], true
}

// store keeps recordings in memory.
type store struct {
	mu      sync.Mutex
	recs    map[human.RecordingID]human.Recording
	order   []human.RecordingID
	events  map[human.RecordingID][]human.RecordedEvent
	edits   map[human.RecordingID]human.Edits
	broken  error
	stuck   chan struct{} // not nil: Append waits for it to be closed
	appends int
}

func newStore() *store {
	return &store{
		recs: map[human.RecordingID]human.Recording{}, events: map[human.RecordingID][]human.RecordedEvent{}, edits: map[human.RecordingID]human.Edits{},
	}
}

func (s *store) Create(_ context.Context, r human.Recording) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, is := s.recs[r.ID]; is {
		return human.Errorf(human.Conflict, "recording %s exists already", r.ID)
	}
	s.recs[r.ID] = clone(r)
	s.order = append(s.order, r.ID)
	return nil
}

func clone(r human.Recording) human.Recording {
	r.Gaps, r.Sources, r.Screens = slices.Clone(r.Gaps), slices.Clone(r.Sources), slices.Clone(r.Screens)
	return r
}

func (s *store) Append(ctx context.Context, r human.Recording, events []human.RecordedEvent) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.stuck != nil {
		select {
		case <-s.stuck:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.appends++
	if s.broken != nil {
		return s.broken
	}
	if _, is := s.recs[r.ID]; !is {
		return human.Errorf(human.NotFound, "no recording %s", r.ID)
	}
	next := uint64(len(s.events[r.ID])) + 1
	for i, e := range events {
		if e.Seq != next+uint64(i) {
			return human.Errorf(human.Conflict, "event %d stands where %d is due", e.Seq, next+uint64(i))
		}
	}
	s.recs[r.ID] = clone(r)
	s.events[r.ID] = append(s.events[r.ID], events...)
	return nil
}

func (s *store) Recording(_ context.Context, id human.RecordingID) (human.Recording, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, is := s.recs[id]
	if !is {
		return r, human.Errorf(human.NotFound, "no recording %s", id)
	}
	return r, nil
}

func (s *store) Recordings(_ context.Context, op human.OperationID, limit int, cursor string) (page record.RecordingPage, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	page.Recordings = []human.Recording{}
	skip := cursor != ""
	for _, id := range slices.Backward(s.order) {
		if skip {
			skip = string(id) != cursor
			continue
		}
		if op != "" && s.recs[id].OperationID != op {
			continue
		}
		if len(page.Recordings) == cmp.Or(limit, 50) {
			page.Next = string(page.Recordings[len(page.Recordings)-1].ID)
			break
		}
		page.Recordings = append(page.Recordings, s.recs[id])
	}
	if skip {
		return page, human.BadField("cursor", "is not a cursor of this list")
	}
	return page, nil
}

func (s *store) Running(context.Context) (all []human.Recording, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range s.order {
		if r := s.recs[id]; r.Running() {
			all = append(all, r)
		}
	}
	return all, nil
}

func (s *store) Events(_ context.Context, id human.RecordingID, after uint64) iter.Seq2[human.RecordedEvent, error] {
	return func(yield func(human.RecordedEvent, error) bool) {
		s.mu.Lock()
		_, is := s.recs[id]
		events := slices.Clone(s.events[id])
		s.mu.Unlock()
		if !is {
			yield(human.RecordedEvent{}, human.Errorf(human.NotFound, "no recording %s", id))
			return
		}
		for _, e := range events {
			if e.Seq > after && !yield(e, nil) {
				return
			}
		}
	}
}

func (s *store) CountEvents(_ context.Context, id human.RecordingID) (map[human.SourceName]uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, is := s.recs[id]; !is {
		return nil, human.Errorf(human.NotFound, "no recording %s", id)
	}
	counts := map[human.SourceName]uint64{}
	for _, e := range s.events[id] {
		counts[e.Source]++
	}
	return counts, nil
}

func (s *store) Edits(_ context.Context, id human.RecordingID) (human.Edits, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, is := s.recs[id]; !is {
		return human.Edits{}, human.Errorf(human.NotFound, "no recording %s", id)
	}
	return cloneEdits(s.edits[id]), nil
}

func cloneEdits(e human.Edits) human.Edits {
	e.Cuts, e.MaskedTexts, e.Masks, e.Words = slices.Clone(e.Cuts), slices.Clone(e.MaskedTexts), slices.Clone(e.Masks), maps.Clone(e.Words)
	if e.Cuts == nil {
		e.Cuts = []string{}
	}
	if e.MaskedTexts == nil {
		e.MaskedTexts = []string{}
	}
	if e.Masks == nil {
		e.Masks = []human.Mask{}
	}
	return e
}

func (s *store) SetEdits(_ context.Context, id human.RecordingID, e human.Edits) (human.Edits, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, is := s.recs[id]; !is {
		return e, human.Errorf(human.NotFound, "no recording %s", id)
	}
	if e.Version != s.edits[id].Version {
		return e, human.Errorf(human.Conflict, "the edits are at version %d by now", s.edits[id].Version)
	}
	e.Version++
	s.edits[id] = cloneEdits(e)
	return cloneEdits(e), nil
}

func (s *store) Delete(_ context.Context, id human.RecordingID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, is := s.recs[id]; !is {
		return human.Errorf(human.NotFound, "no recording %s", id)
	}
	delete(s.recs, id)
	delete(s.events, id)
	delete(s.edits, id)
	s.order = slices.DeleteFunc(s.order, func(o human.RecordingID) bool { return o == id })
	return nil
}

func (s *store) Expire(_ context.Context, id human.RecordingID, at time.Time, whole bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, is := s.recs[id]
	if !is {
		return human.Errorf(human.NotFound, "no recording %s", id)
	}
	if r.Running() {
		return human.Errorf(human.Conflict, "recording %s is still being made", id)
	}
	if r.PicturesRemoved == nil {
		r.PicturesRemoved = &at
	}
	if whole {
		if r.Removed == nil {
			r.Removed = &at
		}
		delete(s.events, id)
		delete(s.edits, id)
	}
	s.recs[id] = r
	return nil
}

func (s *store) EventBytes(context.Context) (map[human.RecordingID]int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[human.RecordingID]int64{}
	for id, events := range s.events {
		if len(events) > 0 {
			all[id] = int64(len(events))
		}
	}
	return all, nil
}

func (s *store) breaks(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = err
}

var errFull = errors.New("no space left on device")
