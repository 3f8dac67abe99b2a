package record

import (
	"context"
	"log/slog"
	"time"

	"deskbell/backend/human"
)

const (
	tick      = 250 * time.Millisecond // between two reports to the watchers, and half of what is between flushes
	stopTime  = 5 * time.Second        // for everything that is under way when a recording is stopped,
	closeTime = 10 * time.Second       // and more for a browser to close
)

// A session is one running recording: it starts its parts, gives each what is due, and ends them. Each part owns its own
// state, and only the loop uses them but where they say otherwise.
type session struct {
	id   human.RecordingID
	deps Deps
	log  *slog.Logger
	gone func(*session) // called when it has ended, before loop.over is closed

	loop        *loop
	status      *status
	writer      *writer
	sources     *sources
	windows     *openWindows
	privacy     *privacy
	screenshots *screenshots
	unplaced    *unplaced
	typing      *typing
	intake      *intake
	album       *album
	browser     *browserControl

	ticks    int
	deadline int64 // for all that is under way, once it is being stopped
}

// newSession makes a recording that nothing happens in before open. mono is when it began.
func newSession(base context.Context, deps Deps, opts Options, rec human.Recording, mono int64, exclude exclusions, mask *mask) *session {
	s := &session{id: rec.ID, deps: deps, log: deps.Log}
	s.loop = newLoop(base, rec.ID, deps.Clock, mono)
	s.status = &status{loop: s.loop, rec: rec, gaps: map[string]*human.Gap{}}
	s.writer = &writer{loop: s.loop, store: deps.Store, log: s.log, status: s.status, written: make(chan error, 1)}
	s.sources = &sources{loop: s.loop, log: s.log, status: s.status, writer: s.writer, queue: make(chan item, queueSize)}
	s.sources.listening, s.sources.cancel = context.WithCancel(context.WithoutCancel(base))
	s.windows = &openWindows{loop: s.loop, exclusions: exclude, moved: true}
	s.privacy = &privacy{loop: s.loop, status: s.status, mask: mask, refs: map[string]bool{}}
	s.unplaced = newUnplaced(s.loop, s.log, s.sources, mask)
	s.screenshots = &screenshots{
		loop: s.loop, log: s.log, status: s.status, writer: s.writer, sources: s.sources, privacy: s.privacy, unplaced: s.unplaced,
		wishes: map[string]wish{},
	}
	s.typing = &typing{
		loop: s.loop, status: s.status, writer: s.writer, windows: s.windows, privacy: s.privacy, screenshots: s.screenshots,
		focus: &focus{elements: deps.Elements, guards: deps.Guards, mask: mask},
	}
	s.intake = &intake{
		loop: s.loop, status: s.status, writer: s.writer, windows: s.windows, privacy: s.privacy, typing: s.typing, screenshots: s.screenshots,
		unplaced: s.unplaced, takeover: &takeover{clock: func() int64 { return s.loop.mono() - s.loop.began }},
		pointer: &pointer{
			loop: s.loop, status: s.status, writer: s.writer, windows: s.windows, privacy: s.privacy, typing: s.typing, screenshots: s.screenshots,
			elements: deps.Elements, source: deps.Windows, pressed: map[int]uint64{}, pressedOut: map[int]bool{},
		},
		keyboard: &keyboard{
			system: deps.System, loop: s.loop, status: s.status, writer: s.writer, typing: s.typing, screenshots: s.screenshots,
			own: opts.OwnKeys, ownDown: map[string]bool{}, named: map[string]bool{},
		},
		browser: &browserEvents{status: s.status, writer: s.writer, privacy: s.privacy, refs: map[uint64]uint64{}},
	}
	s.album = &album{loop: s.loop, status: s.status, pictures: deps.Pictures}
	s.browser = &browserControl{loop: s.loop, sources: s.sources}
	return s
}

// open starts everything, and returns once every source that can be had listens. After an error the caller
// calls abandon.
func (s *session) open(ctx context.Context) error {
	waits, states := s.openSources(ctx)
	go s.run()
	s.loop.post(func() { s.writer.add(human.RecordedEvent{Source: human.RecorderSource, Type: human.RecordingBegan}) })
	for _, f := range waits {
		if f.name == human.ScreenSource {
			s.screenshots.start()
		} else {
			s.sources.start(f)
		}
	}
	s.loop.workers.Go(func() {
		<-s.loop.working.Done()
		if err := s.album.close(); err != nil {
			s.log.Error("pictures may not outlast a loss of power", "recording", s.id, "err", err)
		}
	})
	if err := s.listen(ctx, waits, states); err != nil {
		return err
	}
	return s.loop.do(ctx, func() error {
		if s.sources.stopping {
			return human.Errorf(human.Conflict, "recording %s ended as soon as it started", s.id)
		}
		s.screenshots.takeNow("start")
		s.status.public = true
		s.status.publish()
		return nil
	})
}

// openSources makes the feeds, and returns those that can be had, and what all of them said.
func (s *session) openSources(ctx context.Context) (had feeds, states []human.SourceState) {
	all := ask(s.deps, s.status.rec.Options, s.album.save)
	states = check(ctx, all, s.deps.System, len(s.windows.exclusions.patterns) > 0)
	for i, a := range all {
		f := newFeed(a, states[i])
		s.status.feeds = append(s.status.feeds, f)
		if b, is := a.source.(Browser); is && !a.off {
			s.browser.browser, s.browser.feed = b, f
		}
		if !f.absent() {
			had = append(had, f)
		}
	}
	elements := s.status.feeds.named(human.ElementSource)
	s.typing.elements, s.intake.pointer.feed = elements, elements
	s.unplaced.feeds = [2]*feed{s.status.feeds.named(human.WindowSource), elements}
	if !s.status.feeds.named(human.WindowSource).missing() {
		s.windows.source = s.deps.Windows
	}
	if screen := had.named(human.ScreenSource); screen != nil {
		if err := s.openScreen(ctx, screen); err != nil {
			screen.state = lacking(screen.state, err)
			had = had.without(screen)
		}
	}
	return had, states
}

func (s *session) openScreen(ctx context.Context, f *feed) error {
	screens, err := s.deps.Screen.Screens(ctx)
	if err != nil {
		return err
	}
	s.status.rec.Screens = append([]human.Screen{}, screens...)
	pictures, err := s.deps.Pictures.Writer(s.id)
	if err != nil {
		return err
	}
	s.screenshots.open(newCamera(s.deps.Screen, s.windows.source, s.windows.exclusions, s.loop.mono), f, pictures, s.windows.see)
	return nil
}

// listen waits until the sources begin.
func (s *session) listen(ctx context.Context, waits feeds, states []human.SourceState) error {
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
			s.loop.post(func() { s.sources.lost(f, err) })
		}
	}
	if ctx.Err() != nil {
		return human.Wrap(human.Unavailable, ctx.Err(), "the recording was not started, because the request ended")
	}
	if s.status.rec.Options.Browser != nil { // without it the operator would begin to work where nothing is recorded
		if waits.named(human.BrowserSource) == nil {
			return noBrowser(states)
		}
		if err := s.browser.begins(ctx); err != nil {
			return err
		}
		working++
	}
	if working == 0 {
		return nothingToRecord(states)
	}
	return nil
}

// abandon ends a recording that could not begin, without account.
func (s *session) abandon() {
	s.loop.post(func() { s.discard("failed") })
	<-s.loop.over
}

// run is the loop. It ends when the recording has been stopped and all that was under way is done.
func (s *session) run() {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	next := time.NewTimer(time.Hour)
	defer next.Stop()
	set := never
	for !s.done() {
		queue := s.sources.queue
		if s.writer.full() && !s.sources.stopping {
			queue = nil
		}
		if due := s.due(); due != set {
			set = due
			next.Reset(time.Duration(min(int64(time.Hour), max(0, due-s.loop.now()))))
		}
		select {
		case it := <-queue:
			s.loop.wake()
			s.intake.take(it)
		case f := <-s.loop.calls:
			s.loop.wake()
			f()
		case err := <-s.writer.written:
			s.loop.wake()
			if !s.writer.wrote(err) {
				s.stop("failed")
			}
		case <-ticker.C:
			s.loop.wake()
			s.tick()
		case <-next.C:
			s.loop.wake()
			set = 0
		}
		if s.sources.drained() {
			s.typing.close(byOther) // of keys that came while the sources ended
		}
		s.typing.settle()
		s.screenshots.letGo(s.typing.undecided)
		s.screenshots.takeDue()
	}
	s.end()
}

// due is when the loop has something to do although nothing happens.
func (s *session) due() int64 {
	at := min(s.typing.due(), s.screenshots.due())
	if s.sources.stopping {
		at = min(at, s.deadline)
	}
	return at
}

// tick does what is due every now and then.
func (s *session) tick() {
	s.sources.reportDropped(tick)
	if s.ticks++; s.ticks%2 == 0 {
		s.writer.flush()
	}
	if !s.sources.stopping && s.status.checkLimits() {
		s.stop("limit")
	}
	s.status.showNews()
}

// steer has the loop do something, unless the recording is being stopped, and returns when that is on disk.
func (s *session) steer(ctx context.Context, f func()) error {
	return s.writer.durable(ctx, func() error {
		if s.sources.stopping {
			return human.Errorf(human.Conflict, "recording %s is being stopped", s.id)
		}
		f()
		return nil
	})
}

func (s *session) pause() {
	if s.status.paused() {
		return
	}
	s.typing.close(byOther)
	s.writer.closeGap("excluded", "")
	s.album.held.Store(true)
	s.status.setPaused(true) // first, because the header is stored with the event
	s.writer.addOwn(human.RecordedEvent{Type: human.RecordingHeld})
	s.writer.openGap("paused", "")
	s.screenshots.hold(true)
	s.status.publish()
}

func (s *session) resume() {
	if !s.status.paused() {
		return
	}
	s.goOn()
	s.writer.addOwn(human.RecordedEvent{Type: human.RecordingGoesOn})
	s.screenshots.hold(false)
	s.intake.resumed()
	s.status.publish()
}

// goOn ends the pause.
func (s *session) goOn() {
	s.album.held.Store(false)
	s.status.setPaused(false)
	s.writer.closeGap("paused", "")
}

func (s *session) note(n Note) {
	e := human.RecordedEvent{Type: human.Marked, Text: n.Text, Step: n.Step, Done: n.Done}
	s.privacy.hide(&e, &e.Text)
	s.writer.addOwn(e)
	s.status.publish()
}

// stop begins to end the recording.
func (s *session) stop(reason string) {
	if s.sources.stopping {
		return
	}
	s.status.rec.Reason = reason
	s.deadline = s.loop.now() + int64(stopTime)
	if s.browser.browser != nil {
		s.deadline += int64(closeTime)
	}
	s.typing.close(byOther)
	if s.status.paused() {
		s.screenshots.forget()
	} else {
		s.screenshots.takeLast()
	}
	s.sources.stop()
}

// discard stops the recording without account.
func (s *session) discard(reason string) {
	s.status.discarded = true
	s.stop(reason)
}

// underWay is how much is on its way into the recording.
func (s *session) underWay() int {
	return len(s.typing.runs) + s.screenshots.underWay() + s.loop.lookups
}

// done says whether nothing is under way any more, or nothing is waited for any more.
func (s *session) done() bool {
	if !s.sources.stopping {
		return false
	}
	if s.sources.drained() && (s.writer.useless() || s.underWay() == 0) {
		return true
	}
	return s.loop.now() >= s.deadline
}

// end stores the last of the recording and gives account of it. What is still under way did not end in time.
func (s *session) end() {
	close(s.loop.left)
	s.loop.wake()
	s.writer.closed = true
	if (s.underWay() > 0 || !s.sources.silent) && !s.writer.useless() {
		s.log.Warn("a recording was ended before all of it was done", "recording", s.id, "sources_ended", s.sources.silent,
			"runs", len(s.typing.runs), "pictures", s.screenshots.underWay(), "lookups", s.loop.lookups)
	}
	s.typing.storeUndecided()
	s.screenshots.drop()
	s.loop.join()
	s.writer.settle()
	wall, _ := s.deps.Clock()
	wall = wall.UTC()
	s.status.rec.EndedAt = &wall
	if s.status.discarded {
		s.status.rec.State = Discarded
	} else {
		s.account()
	}
	s.status.publish()
	s.gone(s)
	close(s.loop.over)
}

// account closes what is open, stores the last events, and says what the sources counted and the store has.
func (s *session) account() {
	if s.status.paused() {
		s.goOn()
	}
	s.writer.closeGaps()
	s.writer.addOwn(human.RecordedEvent{Type: human.RecordingEnded, Text: s.status.rec.Reason})
	s.status.rec.State, s.status.rec.NearLimit = human.RecordingStopped, false
	ctx, cancel := context.WithTimeout(context.Background(), storeTime)
	defer cancel()
	s.sources.reconcile(s.writer.storeLast(ctx))
	s.writer.storeHeader(ctx)
}
