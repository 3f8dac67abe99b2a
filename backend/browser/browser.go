// Package browser records what a person does in a Chromium: it launches one, or attaches to one that runs, and hears
// every page, popup and frame of it through a script in a world of its own, which pages neither see nor can break.
package browser

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

// Options are what all browsers of one Deskbell have in common.
type Options struct {
	Clock      record.Clock           // of the events; needed
	Path       string                 // the executable; "" finds one
	ProfileDir string                 // where the kept profile lies; made when it is missing
	Args       []string               // more flags for the executable
	Exclude    []string               // private sites: HOST or HOST/PATH, with * for anything; nothing of their pages is recorded
	Parameters []string               // names of URL parameters whose values are masked, beside the built-in ones
	Masker     record.Masker          // of texts that come from the browser itself, such as dialogs; nil masks none
	Clipboard  bool                   // copied text may be recorded
	RRWeb      func() (string, error) // the source of rrweb's recorder; nil where there is none
	Log        *slog.Logger           // nil: nowhere

	headless bool // for tests of what is not seen
}

// A Browser is a record.Browser: one browser that an operator works in.
type Browser struct {
	o    Options
	want human.BrowserOptions
	save record.SavePicture
	log  *slog.Logger

	box outbox

	// What one Run has; mu guards it.
	mu      sync.Mutex
	running bool
	conn    *conn
	ctx     context.Context // ends with Run
	own     bool            // launched by us, not attached to
	app     human.App
	tabs    map[string]*tab  // by the id of their target
	by      map[string]*part // by session
	order   []*tab           // those seen, as they were opened
	shown   *tab             // the tab that was in front last
	numbers int

	namesMu     sync.Mutex      // also taken while mu is held
	secretNames []string        // of fields for passwords that were typed into
	secretIDs   map[float64]int // of secrets, by what they are compared by
	seed        [2]int32        // by which they are compared
	typed       []string        // and chosen, no secrets, the latest at the end

	source    string    // of the script for pages
	since     time.Time // when Run began, by the time of day
	begun     bool      // Run said that it is ready
	downloads map[string]*download
	shared    sharedSources
	picking   atomic.Pointer[picker] // the pick that waits, or nil
	hands     hands

	work sync.WaitGroup // goroutines of this Run
}

// New returns a browser that is not open yet. save stores pictures; nil: none are taken.
func New(o Options, b human.BrowserOptions, save record.SavePicture) *Browser {
	log := o.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Browser{o: o, want: b, save: save, log: log, seed: [2]int32{int32(rand.Uint32()), int32(rand.Uint32())}}
}

var _ record.Browser = (*Browser)(nil)

// now is the monotonic clock of the events.
func (b *Browser) now() int64 {
	_, mono := b.o.Clock()
	return mono
}

// do runs work of this Run in a goroutine of its own; Run waits for it. ctx ends with Run.
func (b *Browser) do(work func(ctx context.Context)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.running {
		return
	}
	ctx := b.ctx
	b.work.Go(func() { work(ctx) })
}

// front returns the tab that was in front last, or nil.
func (b *Browser) front() *tab {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.shown
}

// emit delivers an event of this source: now, where it has no time. It returns the event's Ref, 0 when no Run is
// on. It never blocks and is safe for concurrent use.
func (b *Browser) emit(e human.RecordedEvent) uint64 {
	if e.At == 0 {
		e.At = b.now()
	}
	return b.box.put(e).ref
}

// An outbox delivers events in the order in which they were put in, though some still wait for a part.
type outbox struct {
	mu      sync.Mutex
	deliver func(human.RecordedEvent) // nil: closed
	refs    uint64
	seen    uint64
	pending []*pendingEvent
}

// A pendingEvent is an event on its way out.
type pendingEvent struct {
	event human.RecordedEvent
	ref   uint64
	waits bool
}

func (o *outbox) open(deliver func(human.RecordedEvent)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.deliver, o.seen, o.pending = deliver, 0, nil
}

// close sends off what is there, as it is, and returns how many events went out since open.
func (o *outbox) close() uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, l := range o.pending {
		l.waits = false
	}
	o.flush()
	o.deliver = nil
	return o.seen
}

func (o *outbox) put(e human.RecordedEvent) *pendingEvent { return o.add(e, false) }

// hold puts in an event of which a part is still looked up; those after it wait for it, too. finish ends that.
func (o *outbox) hold(e human.RecordedEvent) *pendingEvent { return o.add(e, true) }

func (o *outbox) add(e human.RecordedEvent, waits bool) *pendingEvent {
	o.mu.Lock()
	defer o.mu.Unlock()
	l := &pendingEvent{waits: waits}
	if o.deliver == nil {
		return l
	}
	o.refs++
	e.Source, e.Ref, e.Seq = human.BrowserSource, o.refs, 0
	l.event, l.ref = e, o.refs
	o.pending = append(o.pending, l)
	o.flush()
	return l
}

// finish completes an event that was held, and lets it go. A second call does nothing.
func (o *outbox) finish(l *pendingEvent, complete func(*human.RecordedEvent)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !l.waits || o.deliver == nil {
		return
	}
	complete(&l.event)
	l.waits = false
	o.flush()
}

func (o *outbox) flush() {
	for len(o.pending) > 0 && !o.pending[0].waits {
		o.deliver(o.pending[0].event)
		o.seen++
		o.pending = o.pending[1:]
	}
}

// Check implements record.Source.
func (b *Browser) Check(context.Context) human.SourceState {
	state := human.SourceState{Source: human.BrowserSource, Status: "complete"}
	if b.want.Attach != "" {
		if _, _, err := loopback(b.want.Attach); err != nil {
			state.Status, state.Code, state.Detail, state.Fix = "missing", "unsupported", human.SafeText(err), attachHint
		}
		return state
	}
	name, _, err := locate(b.o.Path)
	if err != nil {
		state.Status, state.Code = "missing", "no_browser"
		state.Detail = "No browser was found that Deskbell can record."
		state.Fix = installHint
		return state
	}
	state.Detail = name
	if !b.o.headless && noDisplay() {
		state.Status, state.Code = "partial", "no_display"
		state.Detail = "There is no display that a browser could be shown on."
		state.Fix = "Start Deskbell in a desktop session, or set DISPLAY."
	}
	return state
}
