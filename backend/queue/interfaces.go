// Package queue is the one queue of Deskbell: it takes rings, keeps them in order, lets operators
// answer and agents wait. It declares here what it asks of storage and knows nothing of SQLite, HTTP
// or windows. A Queue is safe for concurrent use.
package queue

import (
	"context"
	"iter"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/queue/receipt"
)

// Journal is all the queue asks of the truth. Implementations are safe for concurrent use and pass the
// conformance suite in journaltest.
type Journal interface {
	// Append commits events as the versions expected+1, expected+2, ... of one operation: all or none,
	// durable when it returns, and only then visible to Read. It returns the seq of the last event. The
	// error is a Conflict when the operation is not at version expected, Internal when storage fails (then
	// nothing was stored). A canceled ctx may return before the commit is known; the events are then
	// stored as a whole or not at all.
	Append(ctx context.Context, id human.OperationID, expected uint64, events ...human.Event) (seq uint64, err error)

	// Operation returns all entries of one operation in order; none is no error.
	Operation(ctx context.Context, id human.OperationID) ([]human.Entry, error)

	// Read yields every entry committed by the time it starts with a seq greater than after, in order
	// and without gaps, then ends. It never yields an entry that could still be undone.
	Read(ctx context.Context, after uint64) iter.Seq2[human.Entry, error]

	// Head returns the seq of the last committed entry, 0 for an empty journal.
	Head(ctx context.Context) (uint64, error)

	// Wait blocks until an entry with a seq greater than after is committed, or ctx ends (its error).
	Wait(ctx context.Context, after uint64) error

	// Receipts returns the receipts of an operation's answers in order, each with its place in the log of receipts; none is
	// no error. An event with a receipt is appended together with that place, signed, and the journal is a chain: each
	// entry's link is made of the one before and of all that the journal keeps of the entry (receipt.Link, receipt.Log).
	Receipts(ctx context.Context, id human.OperationID) ([]human.Receipt, error)

	// Audit reads everything again and says what was changed, removed or put elsewhere since it was appended.
	Audit(ctx context.Context, trust receipt.Trust) (receipt.Audit, error)

	// Chain shows where an operation's last receipt stands among all, and audits what lies between its neighbors. The
	// neighbors have no descriptions.
	Chain(ctx context.Context, id human.OperationID, trust receipt.Trust) (receipt.Chain, error)
}

// Index is what lists and look-ups read: a projection of the journal, as new as the last Append that
// returned. Implementations are safe for concurrent use.
type Index interface {
	// List returns a page of operations without details and context (human.Operation.Brief).
	List(ctx context.Context, f Filter) (Page, error)
	// Open gives each how every operation stands whose state is not terminal, in no order, and stops at each's first error.
	// each must not call the index.
	Open(ctx context.Context, each func(Standing) error) error
	// ByKey returns the id of the agent's operation with that idempotency key; a NotFound error without.
	ByKey(ctx context.Context, agentID, key string) (human.OperationID, error)
	// Undelivered returns the ids of the agent's operations that ended and whose end it has not read, newest
	// first.
	Undelivered(ctx context.Context, agentID string) ([]human.OperationID, error)
	// Statistics counts the operations that a filter selects; see Queue.Statistics.
	Statistics(ctx context.Context, f Filter, now time.Time) (HistoryStatistics, error)
	// Asked gives each what Attention counts of every request before a time, in the order in which they were stored. each must not
	// call the index.
	Asked(ctx context.Context, to time.Time, each func(Asked)) error
}

// A Filter selects operations; zero fields select all.
type Filter struct {
	States    []human.State
	Open      bool // only states that are not terminal
	Kind      human.Kind
	AgentID   string
	SessionID string
	Plan      human.PlanStatus // only plans, and of them those with this PlanOutcome
	Text      string           // full-text: all words, the last as a prefix; Chinese, Japanese and Korean by character
	Since     time.Time        // updated at or after
	When      When             // requested
	Project   string           // human.Operation.Project; None selects those without
	Risk      human.Risk       // None selects those without
	End       End              // how it ended
	Order     Order
	Limit     int    // 1 to MaxPage; 0 is DefaultPage
	Cursor    string // Page.Next of the page before; opaque
}

// Order is how a list is sorted.
type Order uint8

// The orders.
const (
	Newest Order = iota // by creation, newest first
	Urgent              // by priority, highest first, then by age, oldest first (H6)
	Recent              // by last change, newest first
)

// Sizes of pages.
const (
	DefaultPage = 50
	MaxPage     = 500
)

// A Page is a part of a list.
type Page struct {
	Operations []human.Operation `json:"operations"`
	Next       string            `json:"next,omitempty" doc:"The cursor of the next page; absent on the last."`
}
