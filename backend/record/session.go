package record

import (
	"cmp"
	"context"
	"log/slog"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"deskbell/backend/human"
)

const (
	tick       = 250 * time.Millisecond // between two tellings of the watchers, and half of what is between flushes
	batchSize  = 1024                   // events that are stored without waiting for the tick
	maxPending = 64 << 10               // events kept in memory while the store is slow; the queue fills after that
	stopTime   = 5 * time.Second        // for everything that is under way when a recording is stopped,
	closeTime  = 10 * time.Second       // and more for a browser to close
	storeTime  = 10 * time.Second       // for one append
	lookTime   = 200 * time.Millisecond // for one look-up of an element
	lookUps    = 16                     // at a time
	looksLive  = int64(500 * time.Millisecond)
	nearEnd    = int64(2 * time.Minute)
)

type item struct {
	from  *feed
	event human.RecordedEvent
}

// awaited is a seq somebody waits for to be stored.
type awaited struct {
	seq  uint64
	kept chan struct{}
}

// A session is one running recording. Its loop owns all that is not said to be otherwise; other goroutines
// reach it through post.
type session struct {
	id    human.RecordingID
	deps  Deps
	log   *slog.Logger
	fence fence
	mask  *mask

	tell func(human.Recording) // the watchers
	gone func(*session)        // called when it has ended, before over is closed

	listening context.Context // of the sources
	deafen    context.CancelFunc
	working   context.Context // of everything else
	finish    context.CancelFunc
	hearers   sync.WaitGroup // the sources
	workers   sync.WaitGroup // everything else but the loop

	queue  chan item
	calls  chan func()
	left   chan struct{} // closed when the loop takes no calls any more
	over   chan struct{} // closed when all is done
	slots  chan struct{} // for look-ups
	feeds  []*feed
	camera *camera // nil without pictures
	web    browsing
	film   chan exposure
	latest atomic.Pointer[human.Recording]

	// Once over is closed, for everybody.
	failure error

	began    int64 // monotonic
	woke     int64 // when the loop did last, from began
	rec      human.Recording
	seq      uint64
	bytes    int64 // of events, about
	pending  []human.RecordedEvent
	writing  bool       // an append is under way,
	written  chan error // and its outcome comes here
	flushed  uint64     // seq of the last event that was handed to the store,
	stored   uint64     // and of the last that it has
	awaited  []awaited
	ticks    int
	span     int64
	told     human.RecordingCounts // as last told to the watchers
	toldAt   int64
	gaps     map[string]*human.Gap // open ones
	heldAt   int64                 // since when it is paused
	idle     int64                 // time paused before
	discard  bool
	public   bool // it has begun for everybody to see
	stopping bool
	ending   bool // the loop is over
	silent   bool // the sources have ended
	deadline int64

	active     Placed
	activeIs   kind
	known      bool // there is an active window
	fencedTo   int64
	visible    []standing
	seenAt     int64 // when visible was read
	looking    bool
	moved      bool            // windows may have moved since
	pressed    map[int]uint64  // by button, the seq of its press
	pressedOut map[int]bool    // by button, whether its last press was left out
	named      map[string]bool // keys that are down and may be told by name
	ownKeys    []Chord
	ownDown    map[string]bool // of these, those that are down
	lookups    int

	runs        []*run
	before      string // the end of what was typed before the open run, in the same go
	secretAt    int64  // when a secret field was seen to have the focus
	secretNow   bool   // the last that was seen to have it is secret,
	secretPID   int    // and belongs to this process
	secretRefs  map[string]bool
	fields      []field
	wishes      map[string]wish
	lastPicture int64
	shooting    int // wishes the camera has
	held        []exposure
	filming     int
}

// now is the monotonic time since the recording began, as it was when the loop last woke: a clock is a system
// call, and what the loop does takes no time to speak of.
func (s *session) now() int64 { return s.woke }

func (s *session) wake() { s.woke = s.mono() - s.began }

func (s *session) mono() int64 {
	_, mono := s.deps.Clock()
	return mono
}

// post has f called by the loop. It says whether that will happen.
func (s *session) post(f func()) bool {
	select {
	case s.calls <- f:
		return true
	case <-s.left:
		return false
	case <-s.working.Done(): // it has not begun
		return false
	}
}

// do has f called by the loop and waits for it.
func (s *session) do(ctx context.Context, f func() error) error {
	done := make(chan error, 1)
	select {
	case s.calls <- func() { done <- f() }:
	case <-s.left:
		return human.Errorf(human.Conflict, "recording %s has ended", s.id)
	case <-ctx.Done():
		return human.Wrap(human.Unavailable, ctx.Err(), "recording %s did not answer in time", s.id)
	}
	select {
	case err := <-done:
		return err
	case <-s.over: // the loop may have done it as its last deed
		select {
		case err := <-done:
			return err
		default:
			return human.Errorf(human.Conflict, "recording %s has ended", s.id)
		}
	}
}

// work runs a look-up beside the loop, which is given what it returns. It says whether there was room.
func (s *session) work(f func(context.Context) func()) bool {
	select {
	case s.slots <- struct{}{}:
	default:
		return false
	}
	s.lookups++
	s.workers.Go(func() {
		ctx, cancel := context.WithTimeout(s.working, lookTime)
		then := f(ctx)
		cancel()
		<-s.slots
		s.post(func() {
			s.lookups--
			if then != nil {
				then()
			}
		})
	})
	return true
}

// open starts everything, and returns once every source that can be had listens. After an error the caller
// calls abandon.
func (s *session) open(ctx context.Context) error {
	all := s.deps.sources(s.rec.Options, s.keep)
	states := check(ctx, all, s.deps.System, s.fence)
	var waits []*feed
	for i, a := range all {
		f := &feed{asked: a, state: states[i], first: make(chan error, 1), again: make(chan struct{}, 1)}
		s.feeds = append(s.feeds, f)
		if b, is := a.source.(Browser); is && !a.off {
			s.web.browser, s.web.feed = b, f
		}
		switch {
		case f.state.Status == "off" || f.state.Status == "missing":
		case a.name == human.ScreenSource:
			if err := s.openScreen(ctx, f); err != nil {
				f.state = missing(f.state, err)
				continue
			}
			waits = append(waits, f)
		default:
			waits = append(waits, f)
		}
	}
	go s.loop()
	s.post(func() { s.store(human.RecordedEvent{Source: human.RecorderSource, Type: human.RecordingBegan}) })
	if s.camera != nil {
		s.workers.Go(func() { s.camera.run(s.working) })
	}
	for _, f := range waits {
		switch f.name {
		case human.ScreenSource:
			s.hearers.Go(func() { s.watch(f) })
		case human.BrowserSource:
			s.hearers.Go(func() { s.roam(f) })
		default:
			s.hearers.Go(func() { s.listen(f) })
		}
	}
	s.workers.Go(func() {
		<-s.working.Done()
		if err := s.web.album.close(); err != nil {
			s.log.Error("pictures may not outlast a loss of power", "recording", s.id, "err", err)
		}
	})
	patience, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	working := 0
	for _, f := range waits {
		if f.name == human.BrowserSource {
			continue
		}
		if err := f.begins(patience); err == nil {
			working++
		} else {
			s.post(func() { s.lost(f, err) })
		}
	}
	if ctx.Err() != nil {
		return human.Wrap(human.Unavailable, ctx.Err(), "the recording was not begun, because the request ended")
	}
	if s.rec.Options.Browser != nil { // without it the operator would begin to work where nothing is recorded
		if err := s.browserBegins(ctx, states[6]); err != nil {
			return err
		}
		working++
	}
	if working == 0 {
		return nothing(states)
	}
	return s.do(ctx, func() error {
		if s.stopping {
			return human.Errorf(human.Conflict, "recording %s has ended as soon as it began", s.id)
		}
		s.shoot(wish{when: "start", before: never})
		s.public = true
		s.publish()
		return nil
	})
}

func missing(state human.SourceState, err error) human.SourceState {
	state.Status, state.Code, state.Detail = "missing", cmp.Or(state.Code, "lost"), human.SafeText(err)
	return state
}

// nothing is the error when there is nothing to record.
func nothing(states []human.SourceState) error {
	what := ""
	for _, s := range states {
		if s.Status == "missing" && (s.Source == human.InputSource || s.Source == human.ScreenSource) {
			what += " " + string(s.Source) + ": " + s.Detail
			if s.Fix != "" {
				what += " " + s.Fix
			}
		}
	}
	return human.Errorf(human.Unavailable, "nothing can be recorded here.%s", what)
}

func (s *session) openScreen(ctx context.Context, f *feed) error {
	screens, err := s.deps.Screen.Screens(ctx)
	if err != nil {
		return err
	}
	s.rec.Screens = append([]human.Screen{}, screens...)
	writer, err := s.deps.Pictures.Writer(s.id)
	if err != nil {
		return err
	}
	windows := s.deps.Windows
	if s.feeds[1].state.Status == "missing" {
		windows = nil
	}
	s.camera = newCamera(s.deps.Screen, windows, s.fence, s.mono)
	s.camera.taken = func(w wish, shot *shot, err error) {
		if !s.post(func() { s.taken(w, shot, err) }) && err == nil {
			s.camera.release(shot)
		}
	}
	s.camera.looked = func(visible []Placed) {
		s.post(func() { s.see(visible) })
	}
	s.film = make(chan exposure, filmLength)
	s.workers.Go(func() { s.develop(writer) })
	return nil
}

// abandon ends a recording that could not begin, without account.
func (s *session) abandon() {
	s.post(func() {
		s.discard = true
		s.stop("failed")
	})
	<-s.over
}

// loop is the recording. It ends when the recording has been stopped and all that was under way is done.
func (s *session) loop() {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	next := time.NewTimer(time.Hour)
	defer next.Stop()
	set := never
	for !s.done() {
		queue := s.queue
		if len(s.pending) >= maxPending && !s.stopping {
			queue = nil
		}
		if due := s.next(); due != set {
			set = due
			next.Reset(time.Duration(min(int64(time.Hour), max(0, due-s.now()))))
		}
		select {
		case it := <-queue:
			s.wake()
			s.take(it)
		case f := <-s.calls:
			s.wake()
			f()
		case err := <-s.written:
			s.wake()
			s.wrote(err)
		case <-ticker.C:
			s.wake()
			s.keepHouse()
		case <-next.C:
			s.wake()
			set = 0
		}
		s.settle()
		s.shootDue()
	}
	s.end()
}

// never is later than any time.
const never = int64(math.MaxInt64)

// next is when the loop has something to do although nothing happens.
func (s *session) next() int64 {
	now, at := s.now(), never
	for _, r := range s.runs {
		at = min(at, r.wakes(now))
	}
	for _, w := range s.wishes {
		at = min(at, w.due)
	}
	if s.stopping {
		at = min(at, s.deadline)
	}
	return at
}

// keepHouse does what is due now and then.
func (s *session) keepHouse() {
	now := s.now()
	for _, f := range s.feeds {
		if dropped := f.dropped.Load(); dropped > f.told {
			s.rec.Counts.Lost += dropped - f.told
			s.gap(human.Gap{From: max(0, now-int64(tick)), To: now, Source: f.name, Reason: "overflow", Count: dropped - f.told})
			f.told = dropped
		}
	}
	if s.ticks++; s.ticks%2 == 0 {
		s.flush()
	}
	if !s.stopping {
		s.limit()
	}
	if s.rec.Counts != s.told || now-s.toldAt >= int64(time.Second) {
		s.publish()
	}
}

// limit stops the recording at its limits, and says so before.
func (s *session) limit() {
	near := false
	elapsed := s.elapsed()
	if limit := s.rec.MaxElapsed; limit > 0 {
		left := limit - elapsed
		if left <= 0 {
			s.stop("limit")
			return
		}
		near = left <= limit/10 || left <= nearEnd
	}
	if limit := s.rec.MaxBytes; limit > 0 {
		left := limit - s.size()
		if left <= 0 {
			s.stop("limit")
			return
		}
		// At the rate so far; the first seconds tell little of that.
		ahead := float64(s.size()) / float64(max(elapsed, int64(10*time.Second))) * float64(nearEnd)
		near = near || left <= limit/10 || float64(left) <= ahead
	}
	if near != s.rec.NearLimit {
		s.rec.NearLimit = near
		s.publish()
	}
}

func (s *session) elapsed() int64 {
	idle := s.idle
	if s.rec.State == human.RecordingPaused {
		idle += s.now() - s.heldAt
	}
	return s.now() - idle
}

func (s *session) size() int64 { return s.rec.Bytes + s.bytes }

// lost notes that a source delivers nothing any more.
func (s *session) lost(f *feed, err error) {
	if s.stopping {
		return
	}
	if s.gaps["lost"+string(f.name)] == nil {
		s.log.Warn("a source of the recording was lost", "recording", s.id, "source", f.name, "err", err)
	}
	f.up = false
	f.state.Status, f.state.Code, f.state.Detail = "partial", "lost", human.SafeText(err)
	s.openGap("lost", f.name)
	s.publish()
}

// found notes that a source listens.
func (s *session) found(f *feed) {
	f.up = true
	if !s.stopping && s.gaps["lost"+string(f.name)] != nil {
		s.closeGap("lost", f.name)
		s.publish()
	}
}

func (s *session) feed(name human.SourceName) *feed {
	for _, f := range s.feeds {
		if f.name == name {
			return f
		}
	}
	return nil
}

func (s *session) pause() error {
	if s.stopping {
		return human.Errorf(human.Conflict, "recording %s is being stopped", s.id)
	}
	if s.rec.State == human.RecordingPaused {
		return nil
	}
	s.closeRun(byOther)
	clear(s.wishes)
	s.closeGap("excluded", "")
	s.heldAt = s.now()
	s.web.album.held.Store(true)
	s.rec.State = human.RecordingPaused // first, because the header is stored with the event
	s.store(human.RecordedEvent{At: s.now(), Source: human.RecorderSource, Type: human.RecordingHeld})
	s.openGap("paused", "")
	if s.camera != nil {
		s.camera.hold(true)
	}
	s.publish()
	return nil
}

func (s *session) resume() error {
	if s.stopping {
		return human.Errorf(human.Conflict, "recording %s is being stopped", s.id)
	}
	if s.rec.State != human.RecordingPaused {
		return nil
	}
	s.goOn()
	s.store(human.RecordedEvent{At: s.now(), Source: human.RecorderSource, Type: human.RecordingGoesOn})
	if s.camera != nil {
		s.camera.hold(false)
	}
	// The active window may be another than before.
	if s.known && s.activeIs == ordinary {
		s.feed(human.WindowSource).made++
		s.storeWindow(human.RecordedEvent{
			At: s.now(), Source: human.WindowSource, Type: human.WindowActive, App: &s.active.App, Window: &s.active.Window,
		})
	}
	if s.activeIs == excluded {
		s.openGap("excluded", "")
	}
	s.publish()
	return nil
}

// goOn ends the pause.
func (s *session) goOn() {
	s.idle += s.now() - s.heldAt
	s.web.album.held.Store(false)
	s.rec.State = human.RecordingRuns
	s.closeGap("paused", "")
}

func (s *session) note(n Note) error {
	if s.stopping {
		return human.Errorf(human.Conflict, "recording %s is being stopped", s.id)
	}
	e := human.RecordedEvent{At: s.now(), Source: human.RecorderSource, Type: human.Marked, Step: n.Step, Done: n.Done}
	var found bool
	if e.Text, found = s.mask.text(n.Text); found {
		e.Hidden = "secret"
		s.rec.Counts.Masked++
	}
	s.store(e)
	s.publish()
	return nil
}
