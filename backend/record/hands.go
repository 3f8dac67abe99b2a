package record

import (
	"context"
	"sync"
	"time"

	"deskbell/backend/human"
)

// A Finder is an Elements that finds elements by what they are called and acts on them: what hands on the desktop need.
type Finder interface {
	Elements
	// Find lists the elements of a window, and of what its program has opened over it, that have a role and a name; those alone that lie
	// in something called inside, where that is given. An error where not all of the window could be looked through.
	Find(ctx context.Context, in Placed, role, name, inside string) ([]human.Element, error)
	// Push does what a click does. done is false where the element has nothing of the kind; nothing happened then.
	Push(ctx context.Context, e human.Element) (done bool, err error)
	// Write has a text stand in a field instead of what did. done is as that of Push.
	Write(ctx context.Context, e human.Element, text string) (done bool, err error)
	// Focus asks for an element to have the keyboard.
	Focus(ctx context.Context, e human.Element) error
}

// A Desk acts on this desktop in a person's place. Its methods are as those of Hands.
type Desk interface {
	Do(ctx context.Context, s human.ProcedureStep, secret *Secret, patience time.Duration) (Did, error)
	Holds(ctx context.Context, c human.ProcedureCheckpoint, since int64) (*Mismatch, error)
	Close() error
}

// Acting tells what is done with pointer or keys in a person's place: until end is called, and a moment longer, what is heard of them
// is not a person's.
type Acting func() (end func())

const (
	lags    = int64(250 * time.Millisecond) // by which what is heard of the pointer and the keys may come after it was done
	tremble = 8                             // pixels that a pointer moves that is only touched
)

// A takeover is what a person does on the desktop while hands are at work there. Its methods are safe for concurrent use.
type takeover struct {
	mu    sync.Mutex
	clock func() int64 // of the recording
	on    bool
	why   *human.Sentence
	acts  int
	until int64 // of the last act, once none is under way
	known bool  // where the pointer rests
	x, y  int
}

// acting implements Acting.
func (t *takeover) acting() (end func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.acts++
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.acts--
		t.until = t.clock() + lags
	}
}

// hears takes what was done with the pointer or the keys.
func (t *takeover) hears(e human.RecordedEvent) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.on {
		return
	}
	ours := t.acts > 0 || e.At <= t.until
	var why human.Sentence
	switch e.Type {
	case human.PointerMoved:
		if ours || !t.known {
			t.known, t.x, t.y = true, e.X, e.Y
			return
		}
		if max(e.X-t.x, t.x-e.X, e.Y-t.y, t.y-e.Y) <= tremble {
			return
		}
		why = human.Sayf("you moved the pointer")
	case human.PointerDown:
		why = human.Sayf("you clicked")
	case human.Scrolled:
		why = human.Sayf("you scrolled")
	case human.KeyDown:
		why = human.Sayf("you pressed a key")
	default:
		return
	}
	if !ours && t.why == nil {
		t.why = &why
	}
}

// deskHands are the hands on the desktop of a recording.
type deskHands struct {
	Desk
	*takeover
	loop *loop
}

var _ Hands = deskHands{}

// Now implements Hands.
func (h deskHands) Now() int64 { return h.loop.mono() - h.loop.began }

// Picture implements Hands. A recording of the desktop has its own pictures.
func (deskHands) Picture(context.Context) (string, human.WebPage) { return "", human.WebPage{} }

// Rows implements Hands: there is no page.
func (deskHands) Rows(context.Context) ([][]string, error) {
	return nil, human.Errorf(human.Conflict, "rows of a page are looked at in a browser alone")
}

// Address implements Hands: there is none.
func (deskHands) Address() string { return "" }

// Interrupted implements Hands.
func (h deskHands) Interrupted() *human.Sentence {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.why
}

// Resume implements Hands.
func (h deskHands) Resume() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.on, h.why, h.known = true, nil, false
}

// Hands are those of Deskbell in a running recording: in its browser or, where it has none, on the desktop. Conflict where it records
// neither; Unavailable where Deskbell cannot act.
func (r *Recorder) Hands(_ context.Context, by human.Actor, id human.RecordingID) (Hands, error) {
	s, err := r.find(by, id)
	switch {
	case err != nil:
		return nil, err
	case s == nil:
		return nil, human.Errorf(human.Conflict, "recording %s is not running", id)
	case s.browser.browser != nil:
		if h, ok := s.browser.browser.(Hands); ok {
			return h, nil
		}
		return nil, human.Errorf(human.Conflict, "Deskbell cannot act in the browser of recording %s", id)
	case !s.status.rec.Options.RecordsDesktop() || r.deps.Desk == nil:
		return nil, human.Errorf(human.Conflict, "recording %s has no browser", id)
	}
	desk, err := r.deps.Desk(s.intake.takeover.acting)
	if err != nil {
		return nil, err
	}
	s.loop.workers.Go(func() { // until the recording ends
		<-s.loop.working.Done()
		if err := desk.Close(); err != nil {
			s.log.Warn("the desktop was not left as it was", "recording", s.id, "err", err)
		}
	})
	return deskHands{desk, s.intake.takeover, s.loop}, nil
}
