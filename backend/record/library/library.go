// Package library gives recordings out: to an operator all of it, to an agent what the operator released
// to it, and to both only as the operator's edits leave it once it leaves this machine. It reads; the one who
// makes recordings is package record.
package library

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/kind"
	"deskbell/backend/record"
	"deskbell/backend/record/actions"
)

// Operations is what the library asks of the queue.
type Operations interface {
	// Get returns an operation as by may see it; NotFound where that is not at all.
	Get(ctx context.Context, by human.Actor, id human.OperationID) (human.Operation, error)
	// RecordingDropped takes a deleted recording out of its operation. One that it does not have is no error.
	RecordingDropped(ctx context.Context, by human.Actor, op human.OperationID, id human.RecordingID) error
}

// An Encoder writes a frame as a PNG or JPEG (format png or jpeg), scaled down to a width in pixels where
// that is not 0 and less than the frame's. Safe for concurrent use; it does not keep the frame.
type Encoder func(w io.Writer, f *record.Frame, format string, width int) error

// Files are what is attached to operations. AttachmentData returns the bytes of a file that by may read, NotFound for others and for
// what was removed; with width 0 as they are.
type Files interface {
	AttachmentData(ctx context.Context, by human.Actor, id human.AttachmentID, width int) (human.Attachment, []byte, error)
}

// Deps are the parts a Library stands on. All are needed, except where they say otherwise.
type Deps struct {
	Store      record.Store
	Pictures   record.Pictures
	Casts      record.Casts // of terminals; nil: there are none
	Files      Files        // nil: there are none
	Operations Operations
	Encode     Encoder
	// Elsewhere writes what the desk of the team that has a recording gives of it (Give); NotFound where no other desk has it. nil: there
	// are no other desks.
	Elsewhere func(ctx context.Context, op human.OperationID, want Wanted, w io.Writer) error
	// Asked writes a part of a recording of another desk of the team whose owner agreed that this one reads it (GiveRecording), and says whose
	// desk that is. NotFound where this desk did not ask for it. nil: there are no other desks.
	Asked func(ctx context.Context, want Wanted, w io.Writer) (holder string, err error)
}

// A Library reads recordings. Its methods are safe for concurrent use; what they return is the caller's.
// What an agent was not given is NotFound to it, in the same words as what does not exist.
type Library struct {
	deps Deps

	mu    sync.Mutex
	books []*book // read last first
}

// New makes a library. It does nothing by itself.
func New(deps Deps) *Library { return &Library{deps: deps} }

// Actions are what was done in a recording, in order, and which of them seem to be steps of the operation's
// checklist.
type Actions struct {
	Actions     []human.Action       `json:"actions"`
	Suggestions []actions.Suggestion `json:"suggestions" doc:"Steps of details.action_sequence that an action seems to have done; the operator decides. None for an agent."`
}

// RecordedEvents are a part of a recording's raw events, in order.
type RecordedEvents struct {
	Events []human.RecordedEvent `json:"events"`
	Next   uint64                `json:"next,omitempty" doc:"The after of the next page; absent on the last, which may grow while the recording runs."`
}

// open returns a recording that by may read, and its operation as by sees it: the zero Operation for an
// operator where it is gone.
func (l *Library) open(ctx context.Context, by human.Actor, id human.RecordingID) (human.Recording, human.Operation, error) {
	r, err := l.deps.Store.Recording(ctx, id)
	if human.KindOf(err) == human.NotFound {
		l.forget(id)
		return none(id)
	}
	if err != nil {
		return r, human.Operation{}, err
	}
	r = WithLists(r)
	op, err := l.deps.Operations.Get(ctx, by, r.OperationID)
	switch {
	case err != nil && human.KindOf(err) != human.NotFound:
		return human.Recording{}, human.Operation{}, err
	case by.Role != human.Agent:
		return r, op, nil
	case err != nil || op.AgentID != by.Name || !op.Released(id):
		return none(id)
	}
	r.Options = human.RecordingOptions{} // which folders the operator had watched is theirs
	return r, op, nil
}

// WithLists is a recording whose lists are empty where they are nil, as its JSON promises.
func WithLists(r human.Recording) human.Recording {
	r.Screens = append([]human.Screen{}, r.Screens...)
	r.Sources = append([]human.SourceState{}, r.Sources...)
	r.Gaps = append([]human.Gap{}, r.Gaps...)
	return r
}

func none(id human.RecordingID) (human.Recording, human.Operation, error) {
	return human.Recording{}, human.Operation{}, human.Errorf(human.NotFound, "there is no recording %s", id)
}

// openAll is open for what only operators read.
func (l *Library) openAll(ctx context.Context, by human.Actor, id human.RecordingID) (human.Recording, human.Operation, error) {
	if by.Role == human.Agent {
		return none(id)
	}
	return l.open(ctx, by, id)
}

// Recordings lists recordings, newest first: of one operation, or all (""). limit 0 is 50. Operators only.
func (l *Library) Recordings(ctx context.Context, by human.Actor, op human.OperationID, limit int, cursor string) (record.RecordingPage, error) {
	if by.Role == human.Agent {
		return record.RecordingPage{}, human.Errorf(human.Denied, "only an operator can list recordings; an agent reads those that its operations name")
	}
	if limit == 0 {
		limit = 50
	}
	page, err := l.deps.Store.Recordings(ctx, op, limit, cursor)
	all := make([]human.Recording, len(page.Recordings))
	for i, r := range page.Recordings {
		all[i] = WithLists(r)
	}
	page.Recordings = all
	return page, err
}

// Recording returns a recording as it stands.
func (l *Library) Recording(ctx context.Context, by human.Actor, id human.RecordingID) (human.Recording, error) {
	r, _, err := l.open(ctx, by, id)
	if l.mayAsk(by, err) {
		r.Holder, err = l.asked(ctx, Wanted{Recording: id, Part: "recording"}, &r)
	}
	return r, err
}

// Actions returns what was done, in words of a language (en, also "", or zh-CN): all of it, or what comes
// after the action with the id after. An operator gets removed actions, too, marked as such; an agent does not,
// and no text and no pictures unless they are shared.
func (l *Library) Actions(ctx context.Context, by human.Actor, id human.RecordingID, language, after string) (Actions, error) {
	language, err := languageOf(language)
	if err != nil {
		return Actions{}, err
	}
	from, err := seqOf(after)
	if err != nil {
		return Actions{}, err
	}
	r, op, err := l.open(ctx, by, id)
	if l.mayAsk(by, err) {
		var found Actions
		_, err = l.asked(ctx, Wanted{Recording: id, Part: "actions", Language: language}, &found)
		return found, err
	}
	if err != nil {
		return Actions{}, err
	}
	b, all, err := l.read(ctx, id, language)
	if err != nil {
		return Actions{}, err
	}
	edits, err := l.deps.Store.Edits(ctx, id)
	if err != nil {
		return Actions{}, err
	}
	var found Actions
	if by.Role == human.Agent {
		found.Actions = actions.ForAgent(all, edits, language)
	} else {
		found.Actions = actions.Apply(all, edits, language)
		found.Suggestions = b.suggest(op, r.Options.Folders, found.Actions, edits.Version)
	}
	if after != "" {
		found.Actions = following(found.Actions, after, from)
	}
	return found, nil
}

// following are the actions after one, or, where that is no more (another event made it part of another
// action), those that began after it.
func following(all []human.Action, id string, seq uint64) []human.Action {
	if i := slices.IndexFunc(all, func(a human.Action) bool { return a.ID == id }); i >= 0 {
		return all[i+1:]
	}
	return slices.DeleteFunc(all, func(a human.Action) bool {
		began, err := seqOf(a.ID)
		return err == nil && began <= seq
	})
}

// Events returns at most limit (0 is 1000) raw events with a seq greater than after. Operators only.
func (l *Library) Events(ctx context.Context, by human.Actor, id human.RecordingID, after uint64, limit int) (RecordedEvents, error) {
	r, _, err := l.openAll(ctx, by, id)
	if err == nil {
		err = expired(r)
	}
	if err != nil {
		return RecordedEvents{}, err
	}
	if limit == 0 {
		limit = 1000
	}
	var page RecordedEvents
	film := 0
	for ev, err := range l.deps.Store.Events(ctx, id, after) {
		if err != nil {
			return RecordedEvents{}, err
		}
		if n := len(page.Events); n > 0 && (n == limit || film+len(ev.DOM) > maxFilm) {
			page.Next = page.Events[n-1].Seq
			break
		}
		film += len(ev.DOM)
		page.Events = append(page.Events, ev)
	}
	return page, nil
}

// maxFilm is how many bytes of a film of pages are in one answer; a single event may have more.
const maxFilm = 8 << 20

// Delete removes a recording that has ended, for good: its pictures, its events, and its name in the
// operation. Conflict while it runs. Operators only. When it fails in between, it can be called again.
func (l *Library) Delete(ctx context.Context, by human.Actor, id human.RecordingID) error {
	r, _, err := l.openAll(ctx, by, id)
	if err != nil {
		return err
	}
	if r.Running() {
		return human.Errorf(human.Conflict, "recording %s is still being made; stop it first, or discard it", id)
	}
	defer l.forget(id)
	ctx = context.WithoutCancel(ctx) // half deleted is of no use to anybody
	if err := l.deps.Pictures.Delete(ctx, id); err != nil && human.KindOf(err) != human.NotFound {
		return err
	}
	if l.deps.Casts != nil {
		if err := l.deps.Casts.Delete(id); err != nil {
			return err
		}
	}
	if err := l.deps.Store.Delete(ctx, id); err != nil {
		return err
	}
	if err := l.deps.Operations.RecordingDropped(ctx, by, r.OperationID, id); err != nil && human.KindOf(err) != human.NotFound {
		return human.Wrap(human.KindOf(err), err, "recording %s is deleted, but operation %s still names it", id, r.OperationID)
	}
	return nil
}

// Expire removes the pictures and the cast of a recording that has ended, or with whole all that was recorded. A note of it comes
// first, so that nothing that is half removed is shown as being there; called again, it removes what is left. See record.Store.
func (l *Library) Expire(ctx context.Context, id human.RecordingID, at time.Time, whole bool) error {
	if err := l.deps.Store.Expire(ctx, id, at, whole); err != nil {
		return err
	}
	return l.Erase(ctx, id)
}

// Erase removes the pictures and the cast of a recording whose events are gone, or noted as removed.
func (l *Library) Erase(ctx context.Context, id human.RecordingID) error {
	l.forget(id)
	err := l.deps.Pictures.Delete(ctx, id)
	if l.deps.Casts != nil {
		err = errors.Join(err, l.deps.Casts.Delete(id))
	}
	return err
}

// expired is the error for a recording that retention removed; nil where it is there.
func expired(r human.Recording) error {
	if r.Removed == nil {
		return nil
	}
	return human.Errorf(human.NotFound, "recording %s was removed on %s by retention", r.ID, dayOf(r.Removed))
}

func dayOf(at *time.Time) string { return at.Format(time.DateOnly) }

// A book is a recording as it was read last, in one language. Reading on costs what has come since.
type book struct {
	id       human.RecordingID
	language string

	mu        sync.Mutex
	deriver   *actions.Deriver
	seq       uint64 // of the last event
	all       []human.Action
	derived   uint64       // the last event in all
	ticked    map[int]bool // steps of the checklist
	suggested []actions.Suggestion
	after     struct{ seq, edits uint64 } // of suggested
}

// maxBooks is how many books are kept.
const maxBooks = 8

// book returns the one of a recording in a language, a new one where it has not been read.
func (l *Library) book(id human.RecordingID, language string) *book {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(l.books, func(b *book) bool { return b.id == id && b.language == language })
	var b *book
	if i < 0 {
		b = &book{id: id, language: language, deriver: actions.NewDeriver(language), ticked: map[int]bool{}}
		l.books = l.books[:min(len(l.books), maxBooks-1)]
	} else {
		b = l.books[i]
		l.books = slices.Delete(l.books, i, i+1)
	}
	l.books = slices.Insert(l.books, 0, b)
	return b
}

// forget drops what was read of a recording that is gone.
func (l *Library) forget(id human.RecordingID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.books = slices.DeleteFunc(l.books, func(b *book) bool { return b.id == id })
}

// read derives the actions of a recording as far as it goes now, without its edits and without pictures that were removed.
func (l *Library) read(ctx context.Context, id human.RecordingID, language string) (*book, []human.Action, error) {
	r, err := l.deps.Store.Recording(ctx, id)
	if err == nil {
		err = expired(r)
	}
	if err != nil {
		return nil, nil, err
	}
	b, err := l.readOn(ctx, id, language)
	if err != nil {
		return nil, nil, err
	}
	defer b.mu.Unlock()
	all := slices.Clone(b.all)
	if r.PicturesRemoved != nil {
		for i := range all {
			all[i].Before, all[i].After = "", ""
		}
	}
	return b, all, nil
}

// readOn brings the book of a recording up to date, and returns it locked.
func (l *Library) readOn(ctx context.Context, id human.RecordingID, language string) (_ *book, err error) {
	b := l.book(id, language)
	b.mu.Lock()
	defer func() {
		if err != nil {
			b.mu.Unlock()
		}
	}()
	for ev, err := range l.deps.Store.Events(ctx, id, b.seq) {
		if err != nil {
			return nil, err
		}
		b.deriver.Add(ev)
		b.seq = ev.Seq
		if ev.Type == human.Marked && ev.Step != nil {
			if b.ticked[*ev.Step] = ev.Done; !ev.Done {
				delete(b.ticked, *ev.Step)
			}
		}
	}
	if b.seq != b.derived {
		b.all, b.derived = b.deriver.Actions(), b.seq
	}
	return b, nil
}

// suggest names actions that seem to be steps of the operation, or its outcome.
func (b *book) suggest(op human.Operation, folders []string, all []human.Action, edits uint64) []actions.Suggestion {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.after.seq != b.seq || b.after.edits != edits {
		steps, outcome := kind.Steps(op), kind.Outcome(op)
		b.suggested = actions.Suggest(steps, all)
		if done, is := actions.Watched(outcome, folders, all); is {
			b.suggested = append(b.suggested, done)
		}
		b.after.seq, b.after.edits = b.seq, edits
	}
	return slices.Clone(b.suggested)
}

// languageOf is the language that was asked for.
func languageOf(asked string) (string, error) {
	switch asked {
	case "":
		return "en", nil
	case "en", "zh-CN":
		return asked, nil
	}
	return "", human.BadField("language", "%q is not one of en, zh-CN", human.OneLine(asked, 40))
}
