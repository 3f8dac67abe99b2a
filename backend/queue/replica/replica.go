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
}

// Waits says whether some of its events are stored here only.
func (s Standing) Waits() bool { return s.Shared < s.Version }

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

	// Share has all operations that are here, and not in the shared journal, wait; only once. It returns how many those are.
	Share(ctx context.Context) (int, error)
}
