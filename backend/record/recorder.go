package record

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"log/slog"
	"strings"
	"sync"
	"time"

	"deskbell/backend/human"
)

// A Recorder records one operator's desktop, one recording at a time. Its methods are safe for concurrent use.
type Recorder struct {
	deps     Deps
	opts     Options
	exclude  exclusions
	mask     *mask
	watchers watchers
	serving  chan struct{} // closed once Run has looked after what a crash left

	mu       sync.Mutex
	base     context.Context // Run's; nil before
	stopped  bool            // Run's has ended
	trouble  error           // why Run gave up
	session  *session        // the running recording, or one that begins or ends
	last     *session        // the one before
	starting sync.WaitGroup
}

// New makes a recorder. Nothing happens before Run.
func New(deps Deps, opts Options) *Recorder {
	if deps.Log == nil {
		deps.Log = slog.Default()
	}
	if deps.Masker == nil {
		deps.Masker = closed{}
	}
	return &Recorder{
		deps: deps, opts: opts, exclude: newExclusions(opts.Exclude, deps.SelfPID), mask: &mask{masker: deps.Masker}, serving: make(chan struct{}),
	}
}

// Run first marks recordings that a crash left running as interrupted, then serves until ctx ends, and stops
// the running recording with the reason "shutdown". It is called once. It returns an error only when the store
// cannot be read or written.
func (r *Recorder) Run(ctx context.Context) error {
	err := r.lookAfterCrash(ctx)
	failed := err != nil && ctx.Err() == nil
	r.mu.Lock()
	r.base, r.trouble = ctx, err
	r.mu.Unlock()
	close(r.serving)
	if failed {
		return err
	}
	<-ctx.Done()
	r.mu.Lock()
	r.stopped = true
	r.mu.Unlock()
	r.starting.Wait()
	r.mu.Lock()
	s := r.session
	r.mu.Unlock()
	if s != nil {
		s.loop.post(func() { s.stop("shutdown") })
		<-s.loop.over // it bounds itself
	}
	return nil
}

// lookAfterCrash ends recordings whose process has died.
func (r *Recorder) lookAfterCrash(ctx context.Context) error {
	running, err := r.deps.Store.Running(ctx)
	if err != nil {
		return err
	}
	for _, rec := range running {
		if rec.Options.Terminal != nil {
			continue // package term's
		}
		if err := Interrupt(ctx, r.deps.Store, rec); err != nil {
			return err
		}
		r.deps.Log.Warn("a recording was interrupted; it is kept up to its last moment", "recording", rec.ID)
	}
	return nil
}

// Interrupt ends a recording whose process has died while it ran.
func Interrupt(ctx context.Context, store Store, rec human.Recording) error {
	seq := rec.Counts.Events // as stored with the last events
	for e, err := range store.Events(ctx, rec.ID, seq) {
		if err != nil {
			return err
		}
		seq, rec.Span = e.Seq, max(rec.Span, e.At)
	}
	ended := rec.StartedAt.Add(time.Duration(rec.Span))
	gap := human.Gap{From: rec.Span, To: rec.Span, Reason: "crash"} // no one knows how long it lasted
	rec.State, rec.Reason, rec.Complete, rec.NearLimit, rec.EndedAt = human.RecordingInterrupted, "crash", false, false, &ended
	rec.Gaps = append(rec.Gaps, gap)
	rec.Counts.Events = seq + 1
	event := human.RecordedEvent{Seq: seq + 1, At: rec.Span, Source: human.RecorderSource, Type: human.GapOpened, Gap: &gap}
	return store.Append(ctx, rec, []human.RecordedEvent{event})
}

// terminals says no to what ends or steers the recording of a terminal that runs: that is its terminal's.
func terminals(rec human.Recording) error {
	if rec.Options.Terminal != nil && rec.Running() {
		return human.Errorf(human.Conflict, "recording %s is that of a terminal which is open; end the terminal first", rec.ID)
	}
	return nil
}

// Ready says what each source could deliver now. It blocks until every source has answered, 3 s at most.
func (r *Recorder) Ready(ctx context.Context) []human.SourceState {
	desktop := true
	all := ask(r.deps, human.RecordingOptions{Desktop: &desktop, Browser: &human.BrowserOptions{}}, nil)
	for i := range all {
		if files := &all[i]; files.name == human.FileSource && r.deps.Files != nil { // none are chosen yet
			files.off, files.check = false, r.deps.Files(nil).Check
		}
	}
	return check(ctx, all, r.deps.System, len(r.exclude.patterns) > 0)
}

// Start begins to record for an operation that by has claimed, and returns when every source that can be had
// listens. A Conflict error when a recording runs already, or the operation is not claimed by this operator;
// Unavailable when nothing at all can be recorded, with what to do. After an error nothing is left behind.
func (r *Recorder) Start(ctx context.Context, by human.Actor, op human.OperationID, options human.RecordingOptions) (human.Recording, error) {
	if by.Role != human.Operator {
		return human.Recording{}, human.Errorf(human.Denied, "only an operator may record the desktop")
	}
	options, err := checkOptions(options)
	if err != nil {
		return human.Recording{}, err
	}
	select {
	case <-r.serving:
	case <-ctx.Done():
		return human.Recording{}, human.Wrap(human.Unavailable, ctx.Err(), "the recorder is not ready yet; try again")
	}
	s, err := r.reserve(by, op, options)
	if err != nil {
		return human.Recording{}, err
	}
	defer r.starting.Done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(r.base, cancel)()
	// Stored first: whoever hears of it from the operation may ask for it at once.
	if err := r.deps.Store.Create(ctx, s.status.header()); err != nil {
		r.free(s)
		return human.Recording{}, err
	}
	began, err := r.deps.Operations.RecordingBegan(ctx, by, op, s.id)
	if err != nil {
		_ = r.erase(s.id, s.log) // it is in the log
		r.free(s)
		return human.Recording{}, err
	}
	if b := s.status.rec.Options.Browser; b != nil && b.URL == "" {
		b.URL = addressOf(began)
	}
	if err := s.open(ctx); err != nil {
		s.abandon()
		_ = r.erase(s.id, s.log) // it is in the log
		r.drop(s, by)
		r.free(s)
		return human.Recording{}, err
	}
	return *s.status.latest.Load(), nil
}

// reserve makes the session of a recording, unless there is one.
func (r *Recorder) reserve(by human.Actor, op human.OperationID, options human.RecordingOptions) (*session, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.trouble != nil {
		return nil, human.Wrap(human.Unavailable, r.trouble, "nothing can be recorded, because earlier recordings cannot be read; restart Deskbell, and if that does not help, see its log")
	}
	if r.stopped {
		return nil, human.Errorf(human.Unavailable, "Deskbell is shutting down; nothing new is recorded")
	}
	if s := r.session; s != nil {
		return nil, human.Errorf(human.Conflict, "recording %s of operation %s runs already; stop it first", s.id, s.status.rec.OperationID)
	}
	wall, mono := r.deps.Clock()
	s := newSession(r.base, r.deps, r.opts, human.Recording{
		ID: r.deps.NewID(), OperationID: op, By: by.Name, State: human.RecordingRuns, StartedAt: wall.UTC(), System: r.deps.System,
		Screens: []human.Screen{}, Options: options, Gaps: []human.Gap{}, MaxBytes: r.opts.MaxBytes, MaxElapsed: int64(r.opts.MaxElapsed),
	}, mono, r.exclude, r.mask)
	s.status.report, s.gone = r.watchers.publish, r.ended
	r.session = s
	r.starting.Add(1)
	return s, nil
}

// free gives the place of a recording that did not begin to the next.
func (r *Recorder) free(s *session) {
	s.sources.cancel()
	s.loop.finish()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.session == s {
		r.session = nil
	}
}

// ended notes that a recording has ended.
func (r *Recorder) ended(s *session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.session == s && s.status.rec.State != Discarded { // what is discarded is deleted first
		r.session = nil
	}
	r.last = s
}

// drop takes a recording out of its operation.
func (r *Recorder) drop(s *session, by human.Actor) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.base), storeTime)
	defer cancel()
	if err := r.deps.Operations.RecordingDropped(ctx, by, s.status.rec.OperationID, s.id); err != nil {
		s.log.Error("a recording that is gone still stands in its operation", "recording", s.id, "operation", s.status.rec.OperationID, "err", err)
	}
}

// erase deletes all that is stored of a recording.
func (r *Recorder) erase(id human.RecordingID, log *slog.Logger) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.base), storeTime)
	defer cancel()
	var pictures error
	if r.deps.Pictures != nil {
		pictures = r.deps.Pictures.Delete(ctx, id)
	}
	err := errors.Join(pictures, r.deps.Store.Delete(ctx, id))
	if err != nil {
		log.Error("a recording could not be deleted", "recording", id, "err", err)
		return human.Wrap(human.Internal, err, "recording %s could not be deleted completely; delete it again", id)
	}
	return nil
}

// find returns the running recording if it is this one and by may steer it.
func (r *Recorder) find(by human.Actor, id human.RecordingID) (*session, error) {
	if by.Role == human.Agent {
		return nil, human.Errorf(human.NotFound, "no recording %s", id)
	}
	r.mu.Lock()
	s := r.session
	r.mu.Unlock()
	if s == nil || s.id != id || s.status.latest.Load() == nil {
		return nil, nil
	}
	if by.Role == human.Operator && by.Name != s.status.rec.By {
		return nil, human.Errorf(human.Denied, "recording %s belongs to %s", id, s.status.rec.By)
	}
	return s, nil
}

// steer has the running recording do something, and returns when that is on disk.
func (r *Recorder) steer(ctx context.Context, by human.Actor, id human.RecordingID, f func(*session)) (human.Recording, error) {
	s, err := r.find(by, id)
	if err != nil {
		return human.Recording{}, err
	}
	if s == nil {
		rec, err := r.deps.Store.Recording(ctx, id)
		if err != nil {
			return rec, err
		}
		if err := terminals(rec); err != nil {
			return rec, err
		}
		return rec, human.Errorf(human.Conflict, "recording %s has ended", id)
	}
	if err := s.steer(ctx, func() { f(s) }); err != nil {
		return *s.status.latest.Load(), err
	}
	return *s.status.latest.Load(), nil
}

// Pause holds a recording: nothing is recorded until Resume, and a gap says so. Paused already is no error.
func (r *Recorder) Pause(ctx context.Context, by human.Actor, id human.RecordingID) (human.Recording, error) {
	return r.steer(ctx, by, id, (*session).pause)
}

// Resume continues with a paused recording. Running already is no error.
func (r *Recorder) Resume(ctx context.Context, by human.Actor, id human.RecordingID) (human.Recording, error) {
	return r.steer(ctx, by, id, (*session).resume)
}

// Mark stores the operator's note, or a tick of the checklist, at this moment of the recording.
func (r *Recorder) Mark(ctx context.Context, by human.Actor, id human.RecordingID, note Note) (human.Recording, error) {
	note.Text = strings.TrimSpace(note.Text)
	switch {
	case note.Text == "" && note.Step == nil:
		return human.Recording{}, human.BadField("text", "is empty; send a note, or a step that is done")
	case len(note.Text) > maxNote:
		return human.Recording{}, human.BadField("text", "is longer than %d bytes", maxNote)
	case note.Step != nil && *note.Step < 0:
		return human.Recording{}, human.BadField("step", "is %d; steps count from 0", *note.Step)
	}
	return r.steer(ctx, by, id, func(s *session) { s.note(note) })
}

const maxNote = 4 << 10

// Stop ends a recording and returns it with its account: complete, or with its gaps. It blocks until all is
// stored, some 300 ms as a rule and a few seconds at most. One that has ended already is returned as it is,
// with the error that ended it, if one did.
func (r *Recorder) Stop(ctx context.Context, by human.Actor, id human.RecordingID) (human.Recording, error) {
	s, err := r.find(by, id)
	if err != nil {
		return human.Recording{}, err
	}
	if s == nil {
		r.mu.Lock()
		s = r.last
		r.mu.Unlock()
		if s == nil || s.id != id {
			rec, err := r.deps.Store.Recording(ctx, id)
			return rec, cmp.Or(err, terminals(rec))
		}
	}
	return r.stop(ctx, s, "operator")
}

func (r *Recorder) stop(ctx context.Context, s *session, reason string) (human.Recording, error) {
	s.loop.post(func() { s.stop(reason) })
	select {
	case <-s.loop.over:
	case <-ctx.Done():
		return *s.status.latest.Load(), human.Wrap(human.Unavailable, ctx.Err(), "recording %s is still being stopped", s.id)
	}
	if s.status.rec.State == Discarded {
		return human.Recording{}, human.Errorf(human.NotFound, "no recording %s", s.id)
	}
	return *s.status.latest.Load(), s.writer.failure
}

// Discard ends a recording and deletes all of it, one that has ended already, too.
func (r *Recorder) Discard(ctx context.Context, by human.Actor, id human.RecordingID) error {
	s, err := r.find(by, id)
	if err != nil {
		return err
	}
	if s == nil {
		rec, err := r.deps.Store.Recording(ctx, id)
		if err != nil {
			return err
		}
		if rec.By != by.Name && by.Role == human.Operator {
			return human.Errorf(human.Denied, "recording %s belongs to %s", id, rec.By)
		}
		if err := terminals(rec); err != nil {
			return err
		}
		if err := r.erase(id, r.deps.Log); err != nil {
			return err
		}
		rec.State = Discarded
		r.watchers.publish(rec)
		return r.deps.Operations.RecordingDropped(context.WithoutCancel(ctx), by, rec.OperationID, id)
	}
	s.loop.post(func() { s.discard("operator") })
	<-s.loop.over // it bounds itself
	err = r.erase(id, s.log)
	r.drop(s, by)
	r.free(s)
	r.watchers.publish(*s.status.latest.Load())
	return err
}

// OperationEnded stops the recording of an operation that has ended, if there is one, and waits for that.
func (r *Recorder) OperationEnded(ctx context.Context, op human.OperationID) error {
	r.mu.Lock()
	s := r.session
	r.mu.Unlock()
	if s == nil || s.status.rec.OperationID != op || !s.loop.post(func() { s.stop("operation_ended") }) {
		return nil
	}
	select {
	case <-s.loop.over:
		return s.writer.failure
	case <-ctx.Done():
		return human.Wrap(human.Unavailable, ctx.Err(), "recording %s is still being stopped", s.id)
	}
}

// EndWith stops the recording of each operation that ends, as entries tell, until these end.
func (r *Recorder) EndWith(ctx context.Context, entries iter.Seq2[human.Entry, error]) error {
	for e, err := range entries {
		if err != nil {
			return err
		}
		switch e.Event.Type {
		case human.Finished, human.Withdrawn, human.TurnedDown:
			if err := r.OperationEnded(ctx, e.ID); err != nil {
				r.deps.Log.Error("a recording did not stop with its operation", "operation", e.ID, "err", err)
			}
		}
	}
	return nil
}

// Current returns the recording that runs or is paused, as it was at most a second ago.
func (r *Recorder) Current() (human.Recording, bool) {
	r.mu.Lock()
	s := r.session
	r.mu.Unlock()
	if s == nil {
		return human.Recording{}, false
	}
	rec := s.status.latest.Load()
	if rec == nil || !rec.Running() {
		return human.Recording{}, false
	}
	return *rec, true
}

// Watch calls changed with the recording at each change of its state, its end (State Discarded included), and
// in between at most four times a second, until ctx ends. It blocks; changed may, too, and then misses some of
// what lay in between, but no change of state.
func (r *Recorder) Watch(ctx context.Context, changed func(human.Recording)) {
	r.watchers.watch(ctx, changed)
}
