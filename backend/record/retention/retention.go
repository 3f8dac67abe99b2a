// Package retention removes what was recorded and attached once it is old or takes too much space, and at last what was asked and
// answered: pictures before words, and never what an open operation needs. The journal stays whole: it keeps that there was an
// entry, and what is removed leaves a note of when that was.
package retention

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

// Rules say what is removed; a zero field removes nothing.
type Rules struct {
	Pictures   time.Duration // after the end of an operation: pictures, what terminals printed, and attached files
	Recordings time.Duration // after it: recordings with all their events
	Requests   time.Duration // after the last change of an operation that ended: its words, once it has no recording and no file any more
	Bytes      int64         // of all recordings and attached files together
}

// Off says whether nothing is ever removed.
func (r Rules) Off() bool { return r == Rules{} }

// rest is how long nothing is removed for its size after an operation has ended: its agent may not have read it.
const rest = 24 * time.Hour

// A File is an attached file.
type File struct {
	ID         human.AttachmentID
	Bytes      int64 // 0 where they are gone
	Operations []human.OperationID
	Removed    bool // by retention; bytes that are there are still to go
	Young      bool // sent or named within a day: it may still be named
}

// Files are attached files. Safe for concurrent use.
type Files interface {
	// Held lists them.
	Held(ctx context.Context) ([]File, error)
	// Remove removes the bytes of a file, and notes when: durable when it returns. It asks may for the operations that name it, and
	// none names it meanwhile. It returns false where the file stays: may says so, or it is young. Called
	// again, it finishes what was begun.
	Remove(ctx context.Context, id human.AttachmentID, at time.Time, may func(context.Context, []human.OperationID) (bool, error)) (bool, error)
	Log
}

// Sizes knows how much all files of a recording take: pictures and a cast.
type Sizes interface {
	Bytes(id human.RecordingID) (int64, error)
}

// Library is where recordings are removed from.
type Library interface {
	Expire(ctx context.Context, id human.RecordingID, at time.Time, whole bool) error
	// Erase removes the files of a recording that the store has no more.
	Erase(ctx context.Context, id human.RecordingID) error
}

// Operations are read to know when they ended.
type Operations interface {
	Get(ctx context.Context, by human.Actor, id human.OperationID) (human.Operation, error)
}

// Requests are what was asked and answered. Safe for concurrent use.
type Requests interface {
	// Unchanged calls each for every operation that RemoveRequests would remove if it had no recording, the one that changed first
	// first, with the bytes of its words; the operation is human.Operation.Brief. It stops at each's first error.
	Unchanged(ctx context.Context, since time.Time, each func(human.Operation, int64) error) error
	// RemoveRequests removes the words of operations and signs that it did, all in one transaction, and returns which those were. It
	// leaves out those that changed since a time, have a recording, are still to be delivered, are named by an attempt that no
	// operator dismissed, or were changed outside Deskbell. The words may be in files until Scrub.
	RemoveRequests(ctx context.Context, ids []human.OperationID, since, at time.Time) ([]human.OperationID, error)
	// DeleteRequests removes the words of operations, with their recordings, however young they are and ended or not, and signs that by did
	// it: all in one transaction, or nothing with an error that names one. The files of recordings are there until they are erased.
	DeleteRequests(ctx context.Context, by human.Actor, ids []human.OperationID, at time.Time) error
	// DeletedRecordings are those that DeleteRequests deleted since Scrub last came to its end.
	DeletedRecordings(ctx context.Context) ([]human.RecordingID, error)
	// Scrub sees that the words of all that was removed are in no file any more; it does nothing where there are none. Others does
	// the same in other places, and is given what tells whether an operation was removed. It blocks, and so does every append;
	// called again, it finishes what was begun.
	Scrub(ctx context.Context, others func(context.Context, func(human.OperationID) (bool, error)) error) error
}

// A Log has what came of operations in a file of its own.
type Log interface {
	// Forget removes what it has of the operations that gone says yes to.
	Forget(ctx context.Context, gone func(human.OperationID) (bool, error)) error
}

// Deps are the parts a Service stands on. All are needed but Everywhere.
type Deps struct {
	Store      record.Store
	Sizes      Sizes
	Library    Library
	Files      Files
	Operations Operations
	Requests   Requests
	Finished   Log
	Rules      func() Rules // as they are now
	Copies     func() (Copies, error)
	// Everywhere has all desks of the team delete operations that are about to be deleted here.
	Everywhere func(ctx context.Context, ids []human.OperationID) error
	Now        func() time.Time
	Log        *slog.Logger
}

// A Service removes. Its methods are safe for concurrent use.
type Service struct {
	deps Deps
	mu   sync.Mutex // one run at a time
}

// New makes a service. It removes nothing before Run or Remove.
func New(deps Deps) *Service { return &Service{deps: deps} }

// What is removed.
const (
	Pictures   = "pictures" // and what a terminal printed
	Attachment = "attachment"
	Recording  = "recording"
	Request    = "request"
)

// A RemovalItem is one thing to remove.
type RemovalItem struct {
	What      string             `json:"what" enum:"pictures,attachment,recording,request" doc:"Pictures and what the terminal printed, of a recording; an attached file; a recording with all its events; or what was asked and answered."`
	Recording human.RecordingID  `json:"recording_id,omitempty"`
	File      human.AttachmentID `json:"attachment_id,omitempty"`
	Operation human.OperationID  `json:"operation_id,omitempty" doc:"Of several that name a file, the one that ended last."`
	Ended     time.Time          `json:"ended_at" doc:"When that operation ended; of a request, when it last changed."`
	Bytes     int64              `json:"bytes"`
	Why       string             `json:"why" enum:"age,size" doc:"Which of the settings it falls under."`
}

// A RemovalCount is how much of something there is.
type RemovalCount struct {
	Count int   `json:"count"`
	Bytes int64 `json:"bytes"`
}

func (c *RemovalCount) add(bytes int64) { c.Count++; c.Bytes += bytes }

// A Removal is what a run would remove, or has removed.
type Removal struct {
	Off         bool          `json:"off" doc:"Retention is off: nothing is removed."`
	At          time.Time     `json:"at"`
	Bytes       int64         `json:"bytes" doc:"What recordings and attached files take before it."`
	Pictures    RemovalCount  `json:"pictures" doc:"Recordings that lose their pictures and what their terminal printed."`
	Attachments RemovalCount  `json:"attachments" doc:"Attached files."`
	Recordings  RemovalCount  `json:"recordings" doc:"Recordings that are removed with all their events."`
	Requests    RemovalCount  `json:"requests" doc:"Requests that lose what was asked and answered; they have no recording and no file any more."`
	Removed     int64         `json:"removed_bytes" doc:"What all of it takes."`
	Items       []RemovalItem `json:"items" doc:"The first of them, in the order of removal."`
	More        int           `json:"more" doc:"How many there are besides items."`
}

// mostItems is how many items a plan lists.
const mostItems = 200

// Preview says what a run would remove now.
func (s *Service) Preview(ctx context.Context) (Removal, error) {
	plan, items, err := s.plan(ctx)
	if err != nil {
		return Removal{}, err
	}
	for _, i := range items {
		plan.count(i)
	}
	return plan, nil
}

// Remove removes what the rules say, oldest first. What it did stays done where it ends with an error.
func (s *Service) Remove(ctx context.Context) (Removal, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.finish(ctx); err != nil {
		return Removal{}, err
	}
	done, items, err := s.plan(ctx)
	for _, i := range items {
		if err = cmp.Or(err, ctx.Err()); err != nil {
			break
		}
		if i.What == Request {
			continue
		}
		var is bool
		if is, err = s.remove(ctx, i, done.At); is && err == nil {
			done.count(i)
		}
	}
	if err != nil || !slices.ContainsFunc(items, func(i RemovalItem) bool { return i.What == Request }) {
		return done, err
	}
	return done, s.removeRequests(ctx, &done)
}

// requestsAtOnce is how many operations lose their words in one transaction.
const requestsAtOnce = 100

// removeRequests removes the words of the operations that have no recording and no file now.
func (s *Service) removeRequests(ctx context.Context, done *Removal) error {
	since := done.At.Add(-s.deps.Rules().Requests)
	_, items, err := s.plan(ctx)
	if err != nil {
		return err
	}
	kept := map[human.OperationID]bool{} // something of it could not be removed
	for _, i := range items {
		kept[i.Operation] = kept[i.Operation] || i.What != Request
	}
	items = slices.DeleteFunc(items, func(i RemovalItem) bool { return kept[i.Operation] })
	for some := range slices.Chunk(items, requestsAtOnce) {
		ids := make([]human.OperationID, len(some))
		for i := range some {
			ids[i] = some[i].Operation
		}
		removed, err := s.deps.Requests.RemoveRequests(ctx, ids, since, done.At)
		if err != nil {
			return err
		}
		for _, i := range some {
			if slices.Contains(removed, i.Operation) {
				done.count(i)
			}
		}
	}
	return s.scrub(ctx)
}

func (p *Removal) count(i RemovalItem) {
	switch i.What {
	case Pictures:
		p.Pictures.add(i.Bytes)
	case Attachment:
		p.Attachments.add(i.Bytes)
	case Recording:
		p.Recordings.add(i.Bytes)
	case Request:
		p.Requests.add(i.Bytes)
	}
	p.Removed += i.Bytes
	if len(p.Items) < mostItems {
		p.Items = append(p.Items, i)
	} else {
		p.More++
	}
}

// remove removes an item, unless its operation is not at its end after all.
func (s *Service) remove(ctx context.Context, i RemovalItem, at time.Time) (bool, error) {
	may := func(ctx context.Context, ops []human.OperationID) (bool, error) {
		_, _, ended, err := s.ended(ctx, ops)
		return ended, err
	}
	if i.What == Attachment {
		return s.deps.Files.Remove(ctx, i.File, at, may)
	}
	if ok, err := may(ctx, []human.OperationID{i.Operation}); err != nil || !ok {
		return false, err
	}
	err := s.deps.Library.Expire(ctx, i.Recording, at, i.What == Recording)
	if kind := human.KindOf(err); err != nil && (kind == human.NotFound || kind == human.Conflict) {
		return false, nil // it was deleted meanwhile
	}
	return err == nil, err
}

// scrub sees that what was removed and deleted is in no file any more.
func (s *Service) scrub(ctx context.Context) error {
	return s.deps.Requests.Scrub(ctx, func(ctx context.Context, gone func(human.OperationID) (bool, error)) error {
		recordings, err := s.deps.Requests.DeletedRecordings(ctx)
		for _, id := range recordings {
			err = errors.Join(err, s.deps.Library.Erase(ctx, id))
		}
		return errors.Join(err, s.deps.Files.Forget(ctx, gone), s.deps.Finished.Forget(ctx, gone))
	})
}

// Copies are what still has what is deleted: it was made before.
type Copies struct {
	Backups []string `json:"backups" doc:"The ids of backups, the newest first."`
	Files   []string `json:"files" doc:"The paths of databases that were rescued or set aside."`
}

// A Deletion is what was deleted, and where it still is.
type Deletion struct {
	Operations []human.OperationID `json:"operations"`
	Copies     Copies              `json:"copies" doc:"Where it still is: in what was made before."`
}

// Delete deletes operations that ended, with all that belongs to them; when it returns, they are in no file of the data folder any more
// but in Copies. All are deleted or, with an error that names one, none; where only files could not be written, the error says
// so, and the next run finishes it. With everywhere all other desks of the team delete them too, at once or when they connect next. Operators only.
func (s *Service) Delete(ctx context.Context, by human.Actor, ids []human.OperationID, everywhere bool) (Deletion, error) {
	if by.Role != human.Operator {
		return Deletion{}, human.Errorf(human.Denied, "only an operator can delete operations")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	for _, id := range ids {
		op, err := s.deps.Operations.Get(ctx, by, id)
		if err != nil {
			return Deletion{}, err
		}
		if !finished(op) {
			return Deletion{}, human.Errorf(human.Conflict, "operation %s is still open; decline it first, or have its agent cancel it", id)
		}
		if _, _, over, err := s.ended(ctx, []human.OperationID{id}); err != nil {
			return Deletion{}, err
		} else if !over {
			return Deletion{}, human.Errorf(human.Conflict, "operation %s belongs to the plan %s, which has not ended", id, op.PartOf)
		}
	}
	if everywhere {
		if err := s.deps.Everywhere(ctx, ids); err != nil {
			return Deletion{}, err
		}
	}
	if err := s.delete(ctx, by, ids); err != nil {
		return Deletion{}, err
	}
	copies, err := s.deps.Copies()
	return Deletion{Operations: ids, Copies: copies}, err
}

// delete deletes operations. The caller holds mu.
func (s *Service) delete(ctx context.Context, by human.Actor, ids []human.OperationID) error {
	if err := s.deps.Requests.DeleteRequests(ctx, by, ids, s.deps.Now()); err != nil {
		return err
	}
	if err := s.scrub(ctx); err != nil {
		return human.Wrap(human.Unavailable, err, "they are deleted, but some words are still in files: %v; Deskbell tries again in an hour and at its next start", err)
	}
	return nil
}

// DeleteAlso deletes operations that by deleted on another desk for the whole team: also those that are open here, whose end this desk
// will not hear of. What is not here is left out.
func (s *Service) DeleteAlso(ctx context.Context, by human.Actor, ids []human.OperationID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var here []human.OperationID
	for _, id := range ids {
		op, err := s.operation(ctx, id)
		if err != nil {
			return err
		}
		if op.ID != "" {
			here = append(here, id)
		}
	}
	if len(here) == 0 {
		return nil
	}
	return s.delete(ctx, by, here)
}

// finish removes what a run that did not end has noted as removed and left.
func (s *Service) finish(ctx context.Context) error {
	if err := s.scrub(ctx); err != nil {
		return err
	}
	files, err := s.deps.Files.Held(ctx)
	if err != nil {
		return err
	}
	for _, f := range files {
		if f.Removed && f.Bytes > 0 {
			if _, err := s.deps.Files.Remove(ctx, f.ID, s.deps.Now(), nil); err != nil {
				return err
			}
		}
	}
	return s.each(ctx, func(r human.Recording) error {
		if r.PicturesRemoved == nil {
			return nil
		}
		left, err := s.deps.Sizes.Bytes(r.ID)
		if err != nil || left == 0 {
			return err
		}
		return s.deps.Library.Expire(ctx, r.ID, s.deps.Now(), r.Removed != nil)
	})
}

// each calls do for every recording.
func (s *Service) each(ctx context.Context, do func(human.Recording) error) error {
	for cursor := ""; ; {
		page, err := s.deps.Store.Recordings(ctx, "", 500, cursor)
		if err != nil {
			return err
		}
		for _, r := range page.Recordings {
			if err := do(r); err != nil {
				return err
			}
		}
		if cursor = page.Next; cursor == "" {
			return nil
		}
	}
}

// ended says when the last of some operations ended, and which that was; not where one is open, or belongs to a plan that has not
// come to its end. Those that do not exist count for nothing.
func (s *Service) ended(ctx context.Context, ops []human.OperationID) (last human.OperationID, at time.Time, ended bool, err error) {
	for _, id := range ops {
		op, err := s.operation(ctx, id)
		if err != nil {
			return "", at, false, err
		}
		if op.ID == "" {
			continue
		}
		if !finished(op) {
			return "", at, false, nil
		}
		if op.PartOf != "" {
			plan, err := s.operation(ctx, op.PartOf)
			if err != nil {
				return "", at, false, err
			}
			if plan.ID != "" && !finished(plan) {
				return "", at, false, nil
			}
		}
		if end := op.EndedAt(); end.After(at) {
			last, at = id, end
		}
	}
	return last, at, true, nil
}

func finished(op human.Operation) bool {
	return op.State.Terminal() && (op.Run == nil || op.Run.Over())
}

// operation is the zero Operation where there is none.
func (s *Service) operation(ctx context.Context, id human.OperationID) (human.Operation, error) {
	op, err := s.deps.Operations.Get(ctx, human.Actor{Role: human.System}, id)
	if human.KindOf(err) == human.NotFound {
		return human.Operation{}, nil
	}
	return op, err
}

// A thing is what could be removed.
type thing struct {
	RemovalItem
	light, heavy int64 // bytes of pictures, cast or file; of events
	taken        string
	of           []human.OperationID // that have it
}

// take makes it an item, or more of one that it is; it returns how many bytes more are removed.
func (t *thing) take(what, why string) int64 {
	before := t.Bytes
	if t.taken == "" {
		t.Why = why
	}
	t.What, t.taken = what, what
	if t.Bytes = t.light; what == Recording {
		t.Bytes += t.heavy
	}
	return t.Bytes - before
}

// plan says what there is, and what is to be removed, the oldest first: what is too old, and then, while all of it takes too much,
// pictures, casts and files, and at last recordings.
func (s *Service) plan(ctx context.Context) (Removal, []RemovalItem, error) {
	rules := s.deps.Rules()
	p := Removal{Off: rules.Off(), At: s.deps.Now().UTC(), Items: []RemovalItem{}}
	things, held, err := s.things(ctx, &p)
	if err != nil || p.Off {
		return p, nil, err
	}
	left := p.Bytes
	older := func(t *thing, age time.Duration) bool { return age > 0 && p.At.Sub(t.Ended) > age }
	for _, t := range things {
		switch {
		case t.File == "" && older(t, rules.Recordings):
			left -= t.take(Recording, "age")
		case older(t, rules.Pictures) && t.File != "":
			left -= t.take(Attachment, "age")
		case older(t, rules.Pictures) && t.light > 0:
			left -= t.take(Pictures, "age")
		}
	}
	for _, words := range []bool{false, true} {
		for _, t := range things {
			if rules.Bytes == 0 || left <= rules.Bytes || !older(t, rest) {
				continue
			}
			switch {
			case t.File != "" && t.taken == "":
				left -= t.take(Attachment, "size")
			case t.File == "" && t.taken == "" && t.light > 0:
				left -= t.take(Pictures, "size")
			case words && t.File == "" && t.taken != Recording && t.heavy > 0:
				left -= t.take(Recording, "size")
			}
		}
	}
	items := taken(things, held)
	if rules.Requests > 0 {
		items, err = s.requests(ctx, items, held, p.At.Add(-rules.Requests))
	}
	return p, items, err
}

// taken are the things that are to be removed; held counts them no more.
func taken(things []*thing, held map[human.OperationID]int) (items []RemovalItem) {
	for _, t := range things {
		if t.taken != "" {
			items = append(items, t.RemovalItem)
		}
		if t.taken == Recording || t.taken == Attachment {
			for _, id := range t.of {
				held[id]--
			}
		}
	}
	return items
}

// requests adds the operations whose words are to be removed: those of which nothing else is held.
func (s *Service) requests(ctx context.Context, items []RemovalItem, held map[human.OperationID]int, since time.Time) ([]RemovalItem, error) {
	var found []RemovalItem // their plans are looked at once the storage is not being read
	of := map[human.OperationID]human.OperationID{}
	err := s.deps.Requests.Unchanged(ctx, since, func(op human.Operation, bytes int64) error {
		if held[op.ID] == 0 && finished(op) {
			found = append(found, RemovalItem{What: Request, Operation: op.ID, Ended: op.UpdatedAt, Bytes: bytes, Why: "age"})
			if op.PartOf != "" {
				of[op.ID] = op.PartOf
			}
		}
		return nil
	})
	for _, i := range found {
		if err != nil {
			break
		}
		over := true
		if plan := of[i.Operation]; plan != "" {
			_, _, over, err = s.ended(ctx, []human.OperationID{plan})
		}
		if over && err == nil {
			items = append(items, i)
		}
	}
	return items, err
}

// things are all that may be removed, the oldest first; held counts recordings and files of each operation, these included; p gets
// how much everything takes.
func (s *Service) things(ctx context.Context, p *Removal) (things []*thing, held map[human.OperationID]int, err error) {
	held = map[human.OperationID]int{}
	events, err := s.deps.Store.EventBytes(ctx)
	if err != nil {
		return nil, nil, err
	}
	err = s.each(ctx, func(r human.Recording) error {
		t := &thing{RemovalItem: RemovalItem{Recording: r.ID, Operation: r.OperationID}, heavy: events[r.ID], of: []human.OperationID{r.OperationID}}
		var err error
		if t.light, err = s.deps.Sizes.Bytes(r.ID); err != nil {
			return err
		}
		p.Bytes += t.light + t.heavy
		if r.Removed == nil || t.light > 0 {
			held[r.OperationID]++
		}
		if r.Running() || r.Removed != nil {
			return nil
		}
		if r.PicturesRemoved != nil {
			t.light = 0
		}
		last, ended, is, err := s.ended(ctx, []human.OperationID{r.OperationID})
		if err != nil || !is {
			return err
		}
		if t.Ended = ended; last == "" { // its operation is gone
			t.Ended = r.StartedAt
		}
		things = append(things, t)
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	files, err := s.deps.Files.Held(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, f := range files {
		p.Bytes += f.Bytes
		if f.Bytes > 0 {
			for _, id := range f.Operations {
				held[id]++
			}
		}
		if f.Removed || f.Young || f.Bytes == 0 {
			continue
		}
		last, ended, is, err := s.ended(ctx, f.Operations)
		if err != nil {
			return nil, nil, err
		}
		if is && last != "" { // without an operation it is removed in any case, after a day
			things = append(things, &thing{RemovalItem: RemovalItem{File: f.ID, Operation: last, Ended: ended}, light: f.Bytes, of: f.Operations})
		}
	}
	slices.SortFunc(things, func(a, b *thing) int {
		return cmp.Or(a.Ended.Compare(b.Ended), cmp.Compare(a.Recording, b.Recording), cmp.Compare(a.File, b.File))
	})
	return things, held, nil
}

// Run removes at once and then every day, until ctx ends. Where nothing is to be removed it still finishes what a run began.
func (s *Service) Run(ctx context.Context) error {
	for {
		next := s.deps.Now().Add(24 * time.Hour)
		if done, err := s.Remove(ctx); err != nil && ctx.Err() == nil {
			next = s.deps.Now().Add(time.Hour)
			s.deps.Log.Warn("retention could not remove everything; it tries again in an hour", "err", err)
		} else if done.Removed > 0 {
			s.deps.Log.Info("retention removed what was old or too much", "bytes", done.Removed, "pictures", done.Pictures.Count, "attachments", done.Attachments.Count, "recordings", done.Recordings.Count, "requests", done.Requests.Count)
		}
		for s.deps.Now().Before(next) { // a machine that sleeps does not count the hours
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(time.Hour):
			}
		}
		if ctx.Err() != nil {
			return nil
		}
	}
}
