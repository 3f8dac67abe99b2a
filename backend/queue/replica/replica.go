// Package replica is what a journal that several desks share asks of each desk's own storage, which keeps a copy of it. The copy
// numbers its entries itself: a seq never leaves the desk.
package replica

import (
	"context"

	"deskbell/backend/human"
	"deskbell/backend/queue"
)

// A Message is one append, as it stands in the shared journal.
type Message struct {
	Place  uint64 // in the shared journal, from 1
	Stamp  int64  // when the shared journal got it, in nanoseconds: no other message has the same place and stamp
	ID     human.OperationID
	Before uint64 // the operation's version before it
	Events []human.Event
}

// A Standing is what this desk has of an operation.
type Standing struct {
	Version uint64 // 0: nothing
	Place   uint64 // of its last message in the shared journal; 0: none is there, or none any more
	Shared  uint64 // how many of its versions are in the shared journal, as far as this desk knows
	InDoubt bool   // some of those that are not were sent, and no answer came: they may be there

	Elsewhere bool // the shared journal that has it is that of a team which this desk left
	Earlier   bool // it was there before this desk left, and came back under another name
}

// Waits says whether some of its events are stored here only.
func (s Standing) Waits() bool { return s.Shared < s.Version }

// Kept says whether it stays as it is once this desk has left: the team has it, or may have it.
func (s Standing) Kept() bool { return s.Shared > 0 || s.InDoubt }

// A Result says what became of a message.
type Result struct {
	Seq     uint64 // of its last event, here
	Refused error  // why it was left out, a human.Error; nil where it was stored
	Gap     bool   // it was left out because what comes before it has not arrived: to be delivered again, after that
}

// Storage is a desk's own copy. It is safe for concurrent use.
type Storage interface {
	queue.Journal

	// Place is the place up to which the shared journal is here, and the stamp of the message there; 0: nothing is.
	Place(ctx context.Context) (place uint64, stamp int64, err error)

	// Standing says what is here of an operation.
	Standing(ctx context.Context, id human.OperationID) (Standing, error)

	// Deliver stores messages in the order given, and that the shared journal is here up to the place upTo, which is that of the
	// last of them; 0 leaves that as it is, and so does a gap. What is here already, and what the life cycle does not allow, is left out; the
	// results, one for each message, say so. An error means that a part may not have been stored: deliver them again.
	Deliver(ctx context.Context, messages []Message, upTo uint64) ([]Result, error)

	// AppendWaiting is queue.Journal's Append for events that the shared journal lacks. inDoubt says that they were sent.
	AppendWaiting(ctx context.Context, id human.OperationID, expected uint64, inDoubt bool, events ...human.Event) (seq uint64, err error)

	// Waiting returns up to n operations that wait, the oldest first.
	Waiting(ctx context.Context, n int) ([]human.OperationID, error)

	// Doubt notes whether what waits of an operation was sent, and no answer came yet.
	Doubt(ctx context.Context, id human.OperationID, inDoubt bool) error

	// Sent notes that the versions of an operation up to version are in the shared journal, the last of them at place.
	Sent(ctx context.Context, id human.OperationID, version, place uint64) error

	// Snapshot is the revision up to which all snapshots of the shared journal are here; 0: none is.
	Snapshot(ctx context.Context) (revision uint64, err error)

	// Folded notes that messages of operations, up to the place given for each, are in snapshots and no longer in the shared journal, and
	// that all snapshots up to revision are here; 0 leaves the latter as it is.
	Folded(ctx context.Context, upTo map[human.OperationID]uint64, revision uint64) error

	// Share has the operations of this desk that are in no shared journal wait; once each time that this desk joins. It returns how many those are.
	Share(ctx context.Context) (int, error)

	// Copied has the operations that are in shared journals: true for that of the team which this desk is in or, in none, left last, in which it
	// has the name desk.
	Copied(ctx context.Context) (ops map[human.OperationID]bool, desk string, err error)

	// NoteRead notes that an operation's agent has read its end, where no event may say so.
	NoteRead(ctx context.Context, id human.OperationID) error
}

// Left is the journal of a desk that left its team: what the team has does not change here.
type Left struct{ Storage }

var _ queue.Journal = Left{}

// Append implements queue.Journal.
func (l Left) Append(ctx context.Context, id human.OperationID, expected uint64, events ...human.Event) (uint64, error) {
	at, err := l.Standing(ctx, id)
	if err != nil {
		return 0, err
	}
	if at.Kept() {
		return 0, Keep(ctx, l.Storage, id, events)
	}
	return l.Storage.Append(ctx, id, expected, events...)
}

// Keep is what becomes of events of an operation that stays as the team has it: a Denied error says so. Only that the agent has read its
// end is noted, so that it does not get it again.
func Keep(ctx context.Context, s Storage, id human.OperationID, events []human.Event) error {
	if len(events) == 1 && events[0].Type == human.Delivered {
		return s.NoteRead(ctx, id)
	}
	return human.Errorf(human.Denied, "operation %s is from before this desk left its team, and stays as the team has it: the team would not hear of a change here", id)
}
