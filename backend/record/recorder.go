package record

import (
	"context"
	"log/slog"
	"time"

	"deskbell/backend/human"
)

// Deps are the parts a Recorder stands on. A source that is nil is reported as missing.
type Deps struct {
	Store      Store
	Pictures   Pictures
	Operations Operations
	Clock      Clock

	Input     Source
	Windows   Windows
	Elements  Elements
	Guards    []Guard
	Screen    Screen
	Files     func(folders []string) Source
	Clipboard func(content bool) Source
	Masker    Masker // nil hides every text

	NewID   func() human.RecordingID
	Log     *slog.Logger // nil is slog's default
	System  string       // operating system and window system, such as linux/x11
	SelfPID int          // the process whose windows are left out, Deskbell's own
}

// Options are the operator's settings.
type Options struct {
	MaxElapsed time.Duration // of one recording, pauses left out; 0 is no limit
	MaxBytes   int64         // of one recording on disk; 0 is no limit
	Exclude    []string      // patterns of applications and windows that are not recorded; see DefaultExclude
}

// Discarded is the state in which Watch shows a discarded recording, once; no stored recording has it.
const Discarded human.RecordingState = "discarded"

// A Note is what the operator marks in a recording: a text, or a step of the checklist, or both.
type Note struct {
	Text string
	Step *int // index into details.action_sequence
	Done bool // the step was ticked, and not unticked
}

// A Recorder records one operator's desktop, one recording at a time. Its methods are safe for concurrent use.
type Recorder struct {
	deps Deps
	opts Options
}

// New makes a recorder. Nothing happens before Run.
func New(deps Deps, opts Options) *Recorder { return &Recorder{deps: deps, opts: opts} }

// Run first marks recordings that a crash left running as interrupted, then serves until ctx ends, and stops
// the running recording with the reason "shutdown". It returns an error only when the store cannot be read.
func (r *Recorder) Run(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

// Ready says what each source could deliver now. It blocks until every source has answered, 3 s at most.
func (r *Recorder) Ready(ctx context.Context) []human.SourceState { return nil }

// Start begins to record for an operation that by has claimed, and returns when every source that can be had
// listens. A Conflict error when a recording runs already, or the operation is not claimed by this operator;
// Unavailable when nothing at all can be recorded, with what to do. After an error nothing is left behind.
func (r *Recorder) Start(ctx context.Context, by human.Actor, op human.OperationID, options human.RecordingOptions) (human.Recording, error) {
	return human.Recording{}, errNotYet
}

// Pause holds a recording: nothing is recorded until Resume, and a gap says so. Paused already is no error.
func (r *Recorder) Pause(ctx context.Context, by human.Actor, id human.RecordingID) (human.Recording, error) {
	return human.Recording{}, errNotYet
}

// Resume goes on with a paused recording.
func (r *Recorder) Resume(ctx context.Context, by human.Actor, id human.RecordingID) (human.Recording, error) {
	return human.Recording{}, errNotYet
}

// Stop ends a recording and returns it with its account: complete, or with its gaps. It blocks until all is
// stored, some 300 ms as a rule and a few seconds at most. One that has ended already is returned as it is.
func (r *Recorder) Stop(ctx context.Context, by human.Actor, id human.RecordingID) (human.Recording, error) {
	return human.Recording{}, errNotYet
}

// Discard ends a recording and deletes all of it, one that has ended already, too.
func (r *Recorder) Discard(ctx context.Context, by human.Actor, id human.RecordingID) error {
	return errNotYet
}

// Mark stores the operator's note, or a tick of the checklist, at this moment of the recording.
func (r *Recorder) Mark(ctx context.Context, by human.Actor, id human.RecordingID, note Note) (human.Recording, error) {
	return human.Recording{}, errNotYet
}

// OperationEnded stops the recording of an operation that has ended, if there is one.
func (r *Recorder) OperationEnded(ctx context.Context, op human.OperationID) error { return nil }

// Current returns the recording that runs or is paused, as it was at most a quarter of a second ago.
func (r *Recorder) Current() (human.Recording, bool) { return human.Recording{}, false }

// Watch calls changed with the recording at each change of its state, its end (State Discarded included), and
// in between at most four times a second, until ctx ends. It blocks; changed may, too, and then misses some of
// what lay in between, but no change of state.
func (r *Recorder) Watch(ctx context.Context, changed func(human.Recording)) { <-ctx.Done() }

var errNotYet = human.Errorf(human.Unavailable, "recording is not available")
