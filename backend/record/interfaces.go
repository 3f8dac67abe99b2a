// Package record is the recorder: it listens to what an operator does while they work on an operation,
// hides what is secret before anything is stored, and accounts for every event. It declares here what it
// asks of the system and of storage, and knows nothing of X11, D-Bus, SQLite or HTTP. What people read is
// derived from its events in the packages below it.
package record

import (
	"context"
	"errors"
	"io"
	"iter"
	"time"

	"deskbell/backend/human"
)

// Clock gives the time of day and the machine's monotonic clock, in nanoseconds, in one reading. Sources
// stamp their events on the same monotonic clock.
type Clock func() (wall time.Time, mono int64)

// A Source delivers events as they happen. Implementations pass the conformance suite in recordtest.
type Source interface {
	// Check says, without recording, what this source can deliver in this session. It may block until ctx ends.
	Check(ctx context.Context) human.SourceState

	// Run delivers events until ctx ends, then returns how many it saw at their origin, and nil; or, with
	// that count, the error by which the source was lost. It calls ready once, when nothing that happens
	// from then on is missed. emit never blocks and may be called from several goroutines, but events of the
	// same device come in order. An event's At is on the monotonic clock, as the system stamped it where it
	// does; Seq is not set. What the source knows it missed while it works it reports as a GapOpened event, whose
	// Gap is on the same clock. After Run has returned emit is not called any more. Run may be called again.
	//
	// A key_down has its Key and, where it makes text, the Text; a key_up has what its key_down had, so that
	// the recorder can hide both: the text that was typed is that of key_downs alone. A key whose text cannot
	// be known (a compose sequence) has the Key "Process" and no Text.
	Run(ctx context.Context, ready func(), emit func(human.RecordedEvent)) (seen uint64, err error)
}

// Windows is the source of window events (WindowActive, WindowOpened, WindowClosed, WindowRetitled). Run
// begins with the active window as a WindowActive event.
type Windows interface {
	Source
	// Visible lists the windows on the screen, topmost first, with their applications: for blacking out
	// those that are excluded. Fast enough to be asked for every picture (a few ms).
	Visible(ctx context.Context) ([]Placed, error)
}

// A Placed is a window with its application.
type Placed struct {
	App    human.App
	Window human.Window
}

// Elements looks up accessible elements, and as a source delivers FocusMoved events. It never reads the
// text of a secret field and never subscribes to text. Look-ups are safe for concurrent use; ctx bounds
// them, and an application that does not answer does not hold up look-ups in others.
type Elements interface {
	Source
	// At returns the innermost element at a point of the desktop within a window, with its ancestry.
	// NotFound when there is none, or none that contains the point.
	At(ctx context.Context, x, y int, at Placed) (human.Element, error)
	// Focused returns the element that has the keyboard in a window. NotFound when it is not known.
	Focused(ctx context.Context, in Placed) (human.Element, error)
	// Value returns the text of an element that was looked up; Denied for a secret one.
	Value(ctx context.Context, e human.Element) (string, error)
}

// A Displayer is an Elements that reads what a window shows, too: results, sums, states.
type Displayer interface {
	// Shown returns the labels of a window and its fields in which nothing can be typed, with their texts as names; no secret
	// fields, tables, lists and documents. ctx bounds it; NotFound where the window's elements are not known.
	Shown(ctx context.Context, in Placed) ([]human.Element, error)
}

// What a source of elements says besides its events where the places of windows are not known. None of it is stored. At is
// when it was so; Element has the Ref at least, and App and Window are set where they are known.
const (
	FieldFocused  human.RecordedType = "field_focused"  // it has the keyboard as the source begins
	FieldChanging human.RecordedType = "field_changing" // what it holds changes: said at once, before anything is looked up
	FieldRead     human.RecordedType = "field_read"     // it held Text some time after At
	FieldStill    human.RecordedType = "field_still"    // what it holds has not changed for a while; it was read if it could be
)

// A Guard knows of secret typing that no element shows: a terminal whose echo is off, the system's
// secure input.
type Guard interface {
	// Secret says whether what is typed into the window now is secret. It takes a few ms at most.
	Secret(ctx context.Context, in Placed) (bool, error)
}

// A Screen takes pictures.
type Screen interface {
	Check(ctx context.Context) human.SourceState
	// Screens lists the displays.
	Screens(ctx context.Context) ([]human.Screen, error)
	// Watch calls changed each time something on the screen changes, until ctx ends. changed does not block.
	// It returns an Unavailable error at once where the system reports none; then every
	// picture counts as changed; a Denied error when the person does not allow pictures; an error that is ErrScreenLost
	// when there are none any more until Watch is called again.
	Watch(ctx context.Context, ready func(), changed func()) error
	// Grab takes a picture of the whole desktop into f, reusing its memory. Not for concurrent use.
	Grab(ctx context.Context, f *Frame) error
	// Close frees what Grab keeps. Grab may be called again afterwards.
	Close() error
}

// ErrScreenLost is how Watch ends when Grab fails from then on.
var ErrScreenLost = errors.New("the screen was lost")

// ErrScreenWaits is in what Grab returns while a person may still be asked what pictures may show.
var ErrScreenWaits = errors.New("the screen cannot be seen yet")

// A Frame is a picture: W by H pixels of 4 bytes (blue, green, red, unused), rows without padding. Its
// top left is at X, Y of the desktop in the units of human.Screen; Scale pixels make one unit.
type Frame struct {
	X, Y  int
	W, H  int
	Scale float64
	Pix   []byte
	At    int64 // monotonic ns, when it was taken

	Unplaced bool // where windows and elements are on it is not known,
	Many     bool // and there may be more than one window
}

// A Masker hides known secret shapes in a text.
type Masker interface {
	// Mask returns the text with secrets replaced by "•••" and says whether there were any.
	Mask(text string) (masked string, found bool)
}

// A Browser is a browser that an operator works in. As a source it opens one, or attaches to one, when it is
// run, and calls ready when all its pages are heard. Run ends with ctx, and then closes what it opened; with
// nil before that when the person closed the browser, which is no loss; with an error when the browser was lost. Run may then be called again and opens it anew.
// Events are of human.BrowserSource; what is secret in them was hidden in the page.
type Browser interface {
	Source
	// Pick has the person point at something on a page; what they took comes as a PagePicked event. It returns
	// once the page waits for it; for a selection, once it was taken. Another request replaces one that waits; one
	// with no Field ends it. Conflict when there is no page to pick from, or nothing is selected.
	Pick(ctx context.Context, p human.PickRequest) error
	// Show brings the page that was used last to the front. Conflict when the browser is closed.
	Show(ctx context.Context) error
}

// Hands act in a person's place while it is recorded, in a browser or on the desktop. Its methods are for one goroutine, but for
// Interrupted. What they are given holds no parameters any more.
type Hands interface {
	// Do waits for the page, the frame and the element of a step, as long as patience lasts, and does it once. It returns when the
	// browser has taken it; what comes of it is for Holds to see. A *Mismatch where something is not as the step says: then nothing
	// was done, but where its Did is set. text is what is typed for a step with a secret; site is where that may be.
	Do(ctx context.Context, s human.ProcedureStep, secret *Secret, patience time.Duration) (Did, error)
	// Holds says whether a checkpoint holds now; nil where it does, else what is found instead. It does not wait. since is the time of
	// the step, of Now: what came before it does not count as a download or a tab that opened.
	Holds(ctx context.Context, c human.ProcedureCheckpoint, since int64) (*Mismatch, error)
	// Rows are the rows of all tables and lists that the first tab shows now, each with the texts of its cells. A Mismatch where the page
	// does not answer.
	Rows(ctx context.Context) ([][]string, error)
	// Picture takes a picture of the page in front for the recording, masked as all are, and returns its id and the page; "" where there is none.
	Picture(ctx context.Context) (id string, page human.WebPage)
	// Now is the recording's clock.
	Now() int64
	// Address is what the page in front shows now.
	Address() string
	// Interrupted says that a person used the pages themselves since Resume, and how; nil when not. It never blocks.
	Interrupted() *human.Sentence
	// Resume counts what a person does from now on.
	Resume()
}

// A Secret is a text that is typed into the pages of one site alone.
type Secret struct {
	Text string
	Site string // an origin, such as https://portal.example
	// Around are the origins of pages that the field's frame may lie in, beside Site.
	Around []string
}

// Did is what became of a step.
type Did struct {
	FoundBy string       // the kind of selector that found the element (test id, aria, text, id, path), or "role and name"
	Drifted bool         // the best selector of the step did not find it
	Element string       // the element in words
	Text    string       // what a pick took
	Rows    [][]string   // of a table or list
	Picked  human.Bounds // where, in the page's viewport
}

// A Mismatch is what is not as it was taught. It is an error of the kind Conflict.
type Mismatch struct {
	Expected, Found human.Sentence
	Missing         bool   // the element is not there at all, so that an optional step can be left out
	Differs         bool   // the step can be done: the form or the words around its element are not those that were taught
	Did             bool   // the step was begun: what came of it is not known
	Holds           string // of a value: what stands in the field instead; "" where that is not said
}

func (m *Mismatch) Error() string { return m.Expected.Text + "; " + m.Found.Text }

// Unwrap gives it its kind.
func (m *Mismatch) Unwrap() error { return &human.Error{Kind: human.Conflict, Msg: m.Error()} }

// SavePicture stores a picture that a source took itself, and returns its id, to be set as the Picture of an
// event. Safe for concurrent use; it returns when the picture can be read. It does not keep the frame.
type SavePicture func(f *Frame) (id string, err error)

// A Store keeps recordings and their events. Implementations are safe for concurrent use and pass the
// conformance suite in recordtest.
type Store interface {
	// Create stores a new recording.
	Create(ctx context.Context, r human.Recording) error
	// Append stores events, all or none, durable when it returns. Their Seqs follow the last stored without a
	// gap; a Conflict error when they do not. With it the recording's header is stored, too; with no events,
	// that alone.
	Append(ctx context.Context, r human.Recording, events []human.RecordedEvent) error
	// Recording returns one; NotFound without.
	Recording(ctx context.Context, id human.RecordingID) (human.Recording, error)
	// Recordings lists them, newest first: of one operation, or all ("").
	Recordings(ctx context.Context, op human.OperationID, limit int, cursor string) (RecordingPage, error)
	// Running lists those whose state is recording or paused.
	Running(ctx context.Context) ([]human.Recording, error)
	// Events yields those with a seq greater than after, in order.
	Events(ctx context.Context, id human.RecordingID, after uint64) iter.Seq2[human.RecordedEvent, error]
	// CountEvents counts stored events by source: for the reconciliation at the end.
	CountEvents(ctx context.Context, id human.RecordingID) (map[human.SourceName]uint64, error)
	// Edits returns what SetEdits stored, or none at version 0.
	Edits(ctx context.Context, id human.RecordingID) (human.Edits, error)
	// SetEdits stores edits whose Version is that of the stored ones and returns them with the next version;
	// a Conflict error when it is not.
	SetEdits(ctx context.Context, id human.RecordingID, e human.Edits) (human.Edits, error)
	// Expire notes that retention removes the pictures and the cast of a recording that has ended, or with whole all of it: then its
	// events and edits are removed with the note. A note that is there stays. NotFound without the recording, Conflict while it runs.
	Expire(ctx context.Context, id human.RecordingID, at time.Time, whole bool) error
	// EventBytes is how many bytes the events of each recording take.
	EventBytes(ctx context.Context) (map[human.RecordingID]int64, error)
	// Delete removes the recording and all that belongs to it; NotFound without. What was deleted is
	// overwritten, not only unlinked, where the medium allows.
	Delete(ctx context.Context, id human.RecordingID) error
}

// A RecordingPage is a part of a list.
type RecordingPage struct {
	Recordings []human.Recording `json:"recordings"`
	Next       string            `json:"next,omitempty" doc:"The cursor of the next page; absent on the last."`
}

// Pictures keeps pictures in files, named by their content.
type Pictures interface {
	// Writer begins to store pictures of one recording. Not for concurrent use.
	Writer(id human.RecordingID) (PictureWriter, error)
	// Read returns a picture; NotFound without. Safe for concurrent use, with Writer, too.
	Read(ctx context.Context, id human.RecordingID, picture string) (*Frame, error)
	// Delete removes all pictures of a recording.
	Delete(ctx context.Context, id human.RecordingID) error
}

// A PictureWriter stores one recording's pictures.
type PictureWriter interface {
	// Put stores a picture and returns its id, whether it is new, and the bytes it took on disk (0 when it is
	// not new). The picture can be read when Put returns, and survives a kill of the process then; a loss of
	// power only after Sync.
	Put(f *Frame) (id string, fresh bool, bytes int64, err error)
	Sync() error
	Close() error
}

// Casts keeps what terminals printed, one file of each recording, as lines.
type Casts interface {
	// Create makes the file of a recording; Conflict where there is one.
	Create(id human.RecordingID) (CastFile, error)
	// Open reads it from its beginning; NotFound without.
	Open(id human.RecordingID) (io.ReadCloser, error)
	// Repair cuts off half a line that a crash left at the end, and appends lines. No file is no error.
	Repair(id human.RecordingID, lines []byte) error
	// Delete removes and overwrites it. No file is no error.
	Delete(id human.RecordingID) error
}

// A CastFile is appended to. What was written survives a kill of the process; a loss of power only after Sync.
type CastFile interface {
	io.WriteCloser
	Sync() error
}

// Operations is what the recorder asks of the queue.
type Operations interface {
	// RecordingBegan notes a recording in the operation; a Conflict error unless by has claimed it and it
	// is open.
	RecordingBegan(ctx context.Context, by human.Actor, op human.OperationID, id human.RecordingID) (human.Operation, error)
	// RecordingDropped takes a discarded or deleted recording out of the operation again.
	RecordingDropped(ctx context.Context, by human.Actor, op human.OperationID, id human.RecordingID) error
}
