package queue

import (
	"cmp"
	"container/heap"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"
	"unique"

	"deskbell/backend/human"
	"deskbell/backend/kind"
	"deskbell/backend/queue/receipt"
	"deskbell/backend/queue/recent"
)

// Limits of what one request may carry, in bytes unless said otherwise.
const (
	DefaultMaxDescription = 16 << 10
	DefaultMaxPayload     = 1 << 20 // details and context, each
	maxMessage            = 64 << 10
	maxAnswer             = 1 << 20 // all texts of an answer together
	maxSession            = 256
	maxKey                = 256
	maxTimeout            = 366 * 24 * 3600 // seconds
)

// DefaultUndoTime is how long an answer or a reason to decline that is held can be undone.
const DefaultUndoTime = 5 * time.Second

// Options are the queue's settings; the zero value is the default of each.
type Options struct {
	Disabled       bool          // refuse new rings (H13, setting enabled)
	DefaultTimeout time.Duration // of a ring that names none; 0 is 300 s
	MaxPending     int           // open operations per agent; 0 is 10
	MaxHistory     int           // finished operations that Summary considers; 0 is 100
	MaxDescription int           // bytes
	MaxDetails     int           // bytes
	MaxContext     int           // bytes

	// Summarize writes the summary of an answer whose operator left it empty (H13); "" leaves it so. It must be
	// quick: the operator waits. nil is Answer.OneLine.
	Summarize func(human.Operation, human.Answer) string

	// UndoTime is how long an answer that is held can be undone; 0 or less holds none. nil is DefaultUndoTime.
	UndoTime func() time.Duration

	// SecondApproval is the risk from which on two people have to approve; NoRisk, or nil: one is enough.
	SecondApproval func() human.Risk

	// Member is the operator whose machine this is, in a team; nil or "": it is in none.
	Member func() string

	// Files keeps what requests and answers have attached; nil keeps nothing, and nothing can be attached.
	Files Files
	// Fetch returns a file of an operation from another desk that may have it; NotFound where none does. nil: there are no other desks.
	Fetch func(ctx context.Context, entries []human.Entry, id human.AttachmentID) ([]byte, error)

	// Later keeps a denial, a decline or a hand-over that the journal cannot take while its team cannot be reached; nil: that is an error. It is durable when
	// Later returns.
	Later func(ctx context.Context, l human.Later) error

	// Receipts makes the receipts of answers; nil makes none.
	Receipts *receipt.Maker

	Now   func() time.Time
	NewID func(time.Time) human.OperationID
	Log   *slog.Logger
}

// A Queue is made by New, and works once Run has said it is ready.
type Queue struct {
	journal Journal
	index   Index
	opts    Options

	presence *presence

	mu        sync.Mutex
	open      map[human.OperationID]standing                   // every operation that is not terminal, as last committed here
	waiting   int                                              // of those: what Pending counts
	loaded    uint64                                           // the journal's head when Load read it
	whole     recent.Cache[human.OperationID, human.Operation] // those of open that were used last, as last committed
	arriving  map[human.OperationID]*human.Operation           // rings whose Append has not returned; not nil: as changed since, and committed
	appending map[human.OperationID]int                        // changes whose Append has not returned: how many
	perAgent  map[string]int                                   // open operations, and rings on their way to the journal
	ringing   map[string]chan struct{}                         // rings under way that a second one must wait for, by identity
	watches   map[human.OperationID]*watch
	fetching  sync.Map      // files that come from another desk: a channel that has room for one caller, by id
	counted   chan struct{} // closed and replaced whenever the number of operations that wait changes
	expiry    expiryHeap
	expirySet chan struct{}              // has room for one token: the earliest expiry may have changed
	stuck     map[human.OperationID]bool // due while the journal could not be reached; Run's own
}

// A watch wakes those who wait for an operation to change.
type watch struct {
	changed chan struct{}
	waiters int
}

// New makes a queue over a journal and its index. Nothing happens before Run.
func New(journal Journal, index Index, opts Options) *Queue {
	opts.DefaultTimeout = cmp.Or(opts.DefaultTimeout, 300*time.Second)
	opts.MaxPending = cmp.Or(opts.MaxPending, 10)
	opts.MaxHistory = cmp.Or(opts.MaxHistory, 100)
	opts.MaxDescription = cmp.Or(opts.MaxDescription, DefaultMaxDescription)
	opts.MaxDetails = cmp.Or(opts.MaxDetails, DefaultMaxPayload)
	opts.MaxContext = cmp.Or(opts.MaxContext, DefaultMaxPayload)
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.NewID == nil {
		opts.NewID = newID
	}
	if opts.Log == nil {
		opts.Log = slog.Default()
	}
	if opts.UndoTime == nil {
		opts.UndoTime = func() time.Duration { return DefaultUndoTime }
	}
	if opts.SecondApproval == nil {
		opts.SecondApproval = func() human.Risk { return human.NoRisk }
	}
	if opts.Member == nil {
		opts.Member = func() string { return "" }
	}
	if opts.Summarize == nil {
		opts.Summarize = func(_ human.Operation, a human.Answer) string { return a.OneLine() }
	}
	q := &Queue{
		journal: journal, index: index, opts: opts,
		open: map[human.OperationID]standing{}, arriving: map[human.OperationID]*human.Operation{}, perAgent: map[string]int{},
		appending: map[human.OperationID]int{}, ringing: map[string]chan struct{}{}, watches: map[human.OperationID]*watch{},
		counted: make(chan struct{}), expirySet: make(chan struct{}, 1), stuck: map[human.OperationID]bool{},
	}
	q.presence = newPresence(opts.Now, q.stands)
	return q
}

// stands says whether an operation is open.
func (q *Queue) stands(id human.OperationID) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	_, is := q.open[id]
	return is
}

// Load reads how the open operations stand. It must return before the first command is given.
func (q *Queue) Load(ctx context.Context) error {
	head, err := q.journal.Head(ctx)
	if err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.loaded = head
	return q.index.Open(ctx, func(s Standing) error {
		agent := unique.Make(s.AgentID)
		q.put(s.ID, standing{
			version: uint32(s.Version), agent: agent, kind: unique.Make(s.Kind), created: s.CreatedAt.UnixMicro(), priority: int8(s.Priority), leaves: s.Leaving != nil, claimed: claimedBy(s.ClaimedBy),
			others: q.forOthers(s.ClaimedBy, s.TeamState),
		})
		q.perAgent[agent.Value()]++
		if s.ExpiresAt != nil && !s.Overdue {
			q.dueAt(*s.ExpiresAt, s.ID)
		}
		if s.Leaving != nil {
			q.dueAt(s.Leaving.LeavesAt, s.ID)
		}
		return nil
	})
}

// Run marks operations overdue, or cancels them, and sends answers that were held, as their time comes, until ctx ends; then it
// sends the answers that are held still. It returns nil.
func (q *Queue) Run(ctx context.Context) error {
	for {
		wait := q.expireDue(ctx)
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			q.sendHeld(ctx)
			return nil
		case <-timer.C:
		case <-q.expirySet:
			timer.Stop()
		}
	}
}

// Recheck looks at the time of day again: timers stand still while the machine sleeps. It does not block.
func (q *Queue) Recheck() {
	select {
	case q.expirySet <- struct{}{}:
	default: // it is about to
	}
}

// change gives the operation's present state to decide, appends the events it returns, and returns the
// operation after them. A lost race is tried again with the newer state, so decide may be called more
// than once; its errors, and events the life cycle does not allow, are returned as they are.
func (q *Queue) change(ctx context.Context, id human.OperationID, decide func(human.Operation) ([]human.Event, error)) (human.Operation, error) {
	const tries = 16
	for range tries {
		op, err := q.load(ctx, id)
		if err != nil {
			return op, err
		}
		events, err := decide(op)
		if err != nil || len(events) == 0 {
			return op, err
		}
		next, err := q.apply(ctx, op, events)
		if err != nil {
			return op, err
		}
		q.mu.Lock()
		q.appending[id]++
		q.mu.Unlock()
		// Once it is on its way, giving up would leave no one knowing whether it was stored.
		_, err = q.journal.Append(context.WithoutCancel(ctx), id, op.Version, events...)
		if err == nil {
			q.keep(next)
		}
		q.appended(id)
		if err == nil {
			return next, nil
		}
		q.refresh(op)
		if human.KindOf(err) != human.Conflict {
			return op, err
		}
	}
	return human.Operation{}, human.Errorf(human.Conflict, "operation %s keeps changing; read it again", id)
}

// apply dates the events, adds the proof and the receipt of those that answer, and returns the operation after them.
func (q *Queue) apply(ctx context.Context, op human.Operation, events []human.Event) (human.Operation, error) {
	at := q.now()
	for i := range events {
		e := &events[i]
		e.At = at
		if e.By.Role == human.Operator {
			e.Proof = human.ProofOf(ctx)
		}
		next, err := op.Apply(*e)
		if err != nil {
			return op, err
		}
		if e.Type == human.Held && q.opts.Receipts != nil {
			if e.Seal, err = q.opts.Receipts.Seal(next); err != nil {
				return op, err
			}
			next.Leaving.Seal = e.Seal
		}
		var after *human.Event
		if i+1 < len(events) {
			after = &events[i+1]
		}
		if q.opts.Receipts != nil && receipt.Answers(*e, after) {
			if e.Receipt, err = q.receipt(ctx, op, *e); err != nil {
				return op, err
			}
		}
		op = next
	}
	return op, nil
}

// receipt makes the receipt of an event that answers op.
func (q *Queue) receipt(ctx context.Context, op human.Operation, e human.Event) (*human.Receipt, error) {
	var earlier []receipt.Receipt
	if e.Type == human.Finished && (e.Answer.Plan != nil && len(op.Votes) > 0 || op.NeedsTwo(*e.Answer)) {
		entries, err := q.journal.Operation(ctx, op.ID)
		if err == nil {
			earlier, err = receipt.Agreeing(entries, e.By, *e.Answer)
		}
		if err != nil {
			return nil, err
		}
	}
	made, err := q.opts.Receipts.Make(ctx, op, op.Version+1, e, earlier)
	if err != nil {
		return nil, err
	}
	raw, err := made.Encode()
	return &raw, err
}

// now is the time events carry: UTC, to the microsecond, so that it survives JSON and SQLite unchanged.
func (q *Queue) now() time.Time { return q.opts.Now().UTC().Truncate(time.Microsecond) }

// keep takes a committed operation into memory, or out of it when it has ended, and wakes who waits for it.
func (q *Queue) keep(op human.Operation) {
	q.mu.Lock()
	defer q.mu.Unlock()
	had, is := q.open[op.ID]
	rings, arrives := q.arriving[op.ID]
	switch {
	case arrives && (rings == nil || rings.Version < op.Version):
		newest := op
		q.arriving[op.ID] = &newest
	case is && op.State.Terminal():
		q.fall(op.ID)
	case is && uint64(had.version) < op.Version:
		q.stand(op)
		if !had.leaves {
			q.sendLater(op)
		}
	}
	// Anything else has ended: a change that was stored before the end, and gets here after it, must not bring it back.
	q.wake(op.ID)
}

// appended notes that a change is not on its way to the journal any more.
func (q *Queue) appended(id human.OperationID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.appending[id]--; q.appending[id] == 0 {
		delete(q.appending, id)
	}
	q.wake(id)
}

// wake wakes those who wait for an operation. The caller holds mu.
func (q *Queue) wake(id human.OperationID) {
	if w := q.watches[id]; w != nil {
		close(w.changed)
		w.changed = make(chan struct{})
	}
}

// recounted wakes those who follow the number of operations that wait. The caller holds mu.
func (q *Queue) recounted() {
	close(q.counted)
	q.counted = make(chan struct{})
}

// arrive takes a request that was stored into memory, or forgets one that was not: then op has no version. Another caller may
// have changed it, or ended it, before its Append returned.
func (q *Queue) arrive(op human.Operation, agent string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if newest := q.arriving[op.ID]; newest != nil && newest.Version > op.Version {
		op = *newest
	}
	delete(q.arriving, op.ID)
	defer q.wake(op.ID)
	if op.Version == 0 || op.State.Terminal() {
		q.leave(agent)
		return
	}
	q.stand(op)
	q.expireLater(op)
}

// Learn takes into memory what other desks append to the journal, until ctx ends; then it returns nil. A queue whose journal is its
// own needs it not.
func (q *Queue) Learn(ctx context.Context) error {
	for e, err := range q.Follow(ctx, human.Actor{Role: human.System}, q.loaded) {
		if err == nil {
			err = q.learn(ctx, e)
		}
		if err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

// learn brings memory up to an entry. Of an operation that is not in memory, only the request matters: it has ended, or it is new.
func (q *Queue) learn(ctx context.Context, e human.Entry) error {
	q.mu.Lock()
	s, is := q.open[e.ID]
	q.mu.Unlock()
	if is && uint64(s.version) >= e.Version || !is && e.Event.Type != human.Invoked {
		return nil
	}
	entries, err := q.journal.Operation(ctx, e.ID)
	if err != nil {
		return err
	}
	op, err := human.Fold(e.ID, entries)
	if human.KindOf(err) == human.NotFound { // it was deleted, maybe while it was open here
		q.mu.Lock()
		defer q.mu.Unlock()
		if is {
			q.fall(e.ID)
		}
		q.wake(e.ID)
		return nil
	}
	if err != nil {
		return err
	}
	if is {
		q.keep(op)
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, is := q.open[op.ID]; is || op.State.Terminal() {
		return nil
	}
	q.perAgent[op.AgentID]++
	q.stand(op)
	q.expireLater(op)
	return nil
}

// refresh brings what memory has of an operation up to the journal, where that may know better: after an append that failed.
func (q *Queue) refresh(op human.Operation) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	entries, err := q.journal.Operation(ctx, op.ID)
	if err != nil {
		return // what memory has is a committed state; the next append will tell
	}
	if fresh, err := human.Fold(op.ID, entries); err == nil && fresh.Version > op.Version {
		q.keep(fresh)
	}
}

// Forget has the open operations that gone names not count and not be marked overdue any more: nothing changes them here.
func (q *Queue) Forget(gone func(human.OperationID) bool) {
	q.mu.Lock()
	ids := slices.Collect(maps.Keys(q.open))
	q.mu.Unlock()
	for _, id := range slices.DeleteFunc(ids, func(id human.OperationID) bool { return !gone(id) }) {
		q.mu.Lock()
		q.fall(id)
		q.wake(id)
		q.mu.Unlock()
	}
}

// leave uncounts one open operation of an agent. The caller holds mu.
func (q *Queue) leave(agent string) {
	if q.perAgent[agent]--; q.perAgent[agent] <= 0 {
		delete(q.perAgent, agent)
	}
}

// Pending counts the operations of all agents that wait for a human: those that are open, without those whose answer is held. In a team
// it leaves out what is for others than this machine's operator.
func (q *Queue) Pending() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.waiting
}

// FollowPending yields what Pending counts now, and when it has changed, until ctx ends. A slow reader misses what lay in between.
func (q *Queue) FollowPending(ctx context.Context) iter.Seq[int] {
	return func(yield func(int) bool) {
		for last := -1; ctx.Err() == nil; {
			q.mu.Lock()
			now, changed := q.waiting, q.counted
			q.mu.Unlock()
			if now != last && !yield(now) {
				return
			}
			last = now
			select {
			case <-changed:
			case <-ctx.Done():
			}
		}
	}
}

// PendingOf counts the open operations of one agent.
func (q *Queue) PendingOf(agent string) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.perAgent[agent]
}

// An expiry is when an open operation's time has come, or what is held of it leaves.
type expiry struct {
	at int64 // nanoseconds
	id human.OperationID
}

type expiryHeap []expiry

func (h expiryHeap) Len() int           { return len(h) }
func (h expiryHeap) Less(i, j int) bool { return h[i].at < h[j].at }
func (h expiryHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *expiryHeap) Push(x any)        { *h = append(*h, x.(expiry)) }
func (h *expiryHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}

// expireLater notes when an operation is due. The caller holds mu.
func (q *Queue) expireLater(op human.Operation) {
	if op.ExpiresAt != nil && !op.Overdue {
		q.dueAt(*op.ExpiresAt, op.ID)
	}
	q.sendLater(op)
}

// sendLater notes when an answer that is held leaves. The caller holds mu.
func (q *Queue) sendLater(op human.Operation) {
	if op.Leaving != nil {
		q.dueAt(op.Leaving.LeavesAt, op.ID)
	}
}

// dueAt has an operation looked at then. The caller holds mu.
func (q *Queue) dueAt(at time.Time, id human.OperationID) {
	heap.Push(&q.expiry, expiry{at.UnixNano(), id})
	if q.expiry[0].id == id {
		select {
		case q.expirySet <- struct{}{}:
		default:
		}
	}
}

// expireDue marks or cancels what is due, or sends an answer to it, and returns how long until the next.
func (q *Queue) expireDue(ctx context.Context) time.Duration {
	const idle, retry = time.Hour, time.Second
	for {
		q.mu.Lock()
		if len(q.expiry) == 0 {
			q.mu.Unlock()
			return idle
		}
		next := q.expiry[0]
		if wait := time.Unix(0, next.at).Sub(q.opts.Now()); wait > 0 {
			q.mu.Unlock()
			return min(wait, idle)
		}
		heap.Pop(&q.expiry)
		_, isOpen := q.open[next.id]
		q.mu.Unlock()
		if !isOpen {
			delete(q.stuck, next.id)
			continue
		}
		err := q.expire(ctx, next)
		switch {
		case ctx.Err() != nil:
			return idle
		case err == nil:
			delete(q.stuck, next.id)
			continue
		case human.KindOf(err) != human.Unavailable || len(q.stuck) == 0: // said once while the team cannot be reached, whatever else becomes due
			q.opts.Log.Error("an operation could not be marked overdue, or its answer not be sent; trying again", "operation_id", next.id, "err", err)
		}
		if human.KindOf(err) == human.Unavailable {
			q.stuck[next.id] = true
		}
		q.mu.Lock()
		q.dueAt(q.opts.Now().Add(retry), next.id)
		q.mu.Unlock()
	}
}

func (q *Queue) expire(ctx context.Context, due expiry) error {
	_, err := q.change(ctx, due.id, func(op human.Operation) ([]human.Event, error) {
		if l := op.Leaving; l != nil {
			if l.Desk != "" || due.at < l.LeavesAt.UnixNano() {
				return nil, nil // another desk sends it, or an earlier one was undone
			}
			return q.sends(op), nil
		}
		if op.Desk != "" || op.State.Terminal() || op.Overdue || op.ExpiresAt == nil || due.at < op.ExpiresAt.UnixNano() {
			return nil, nil
		}
		overdue := human.Event{Type: human.Expired, By: human.Actor{Role: human.System}}
		if op.OnTimeout == human.Mark {
			return []human.Event{overdue}, nil
		}
		return []human.Event{overdue, {
			Type: human.Withdrawn, By: human.Actor{Role: human.System},
			Text: fmt.Sprintf("no answer within %g seconds", op.Timeout),
		}}, nil
	})
	return err
}

// sends are the events by which an answer or a reason that is held leaves. What another program wrote into the storage does not:
// neither without the seal of this server, nor where it would not have been held. It is undone.
func (q *Queue) sends(op human.Operation) []human.Event {
	var err error
	if k, _ := kind.Of(op.Kind); k.Undo == nil || !k.Undo(op, op.Leaving.Answer) {
		err = human.Errorf(human.Denied, "an answer to an operation of this kind and risk is never held")
	} else if q.opts.Receipts != nil {
		err = q.opts.Receipts.Sealed(op)
	}
	if err != nil {
		q.opts.Log.Error("an answer that was held is not sent, it is a draft again", "operation_id", op.ID, "err", err)
		return []human.Event{{Type: human.Undone, By: human.Actor{Role: human.System}}}
	}
	if reason := op.Leaving.Declined; reason != "" {
		return []human.Event{{Type: human.TurnedDown, By: op.Leaving.By, Text: reason}}
	}
	answer := q.summarized(op, op.Leaving.Answer)
	return []human.Event{{Type: human.Finished, By: op.Leaving.By, Answer: &answer}}
}

// sendHeld sends all answers that are held. What cannot be sent is when Run begins again.
func (q *Queue) sendHeld(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	var held []human.OperationID
	q.mu.Lock()
	for id, s := range q.open {
		if s.leaves {
			held = append(held, id)
		}
	}
	q.mu.Unlock()
	for _, id := range held {
		_, err := q.change(ctx, id, func(op human.Operation) ([]human.Event, error) {
			if op.Leaving == nil || op.Leaving.Desk != "" {
				return nil, nil
			}
			return q.sends(op), nil
		})
		if err != nil {
			q.opts.Log.Error("an answer could not be sent; it is sent at the next start", "operation_id", id, "err", err)
		}
	}
}

// Wait blocks until the operation's version is greater than after, then returns it; when ctx ends
// first it returns the operation as it is, and no error. An agent that waits is shown as waiting.
func (q *Queue) Wait(ctx context.Context, by human.Actor, id human.OperationID, after uint64) (human.Operation, error) {
	return q.WaitFor(ctx, by, id, func(op human.Operation) bool { return op.Version > after })
}

// WaitFor is Wait with a condition of the caller's own. It returns at once for a terminal operation.
func (q *Queue) WaitFor(ctx context.Context, by human.Actor, id human.OperationID, enough func(human.Operation) bool) (human.Operation, error) {
	return q.WaitUntil(ctx, by, id, func(op human.Operation) bool { return op.State.Terminal() || enough(op) })
}

// WaitUntil is WaitFor that continues after the operation's end: a confirmed plan has a run.
func (q *Queue) WaitUntil(ctx context.Context, by human.Actor, id human.OperationID, enough func(human.Operation) bool) (human.Operation, error) {
	if op, err := q.Get(ctx, by, id); err != nil || enough(op) {
		return op, err
	}
	w := q.watch(id)
	defer q.unwatch(id, w)
	if by.Role == human.Agent {
		defer q.presence.waits(id, by.Name)()
	}
	for {
		q.mu.Lock()
		changed := w.changed
		q.mu.Unlock()
		op, err := q.Get(context.WithoutCancel(ctx), by, id)
		if err != nil || enough(op) {
			return op, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return op, nil
		}
	}
}

func (q *Queue) watch(id human.OperationID) *watch {
	q.mu.Lock()
	defer q.mu.Unlock()
	w := q.watches[id]
	if w == nil {
		w = &watch{changed: make(chan struct{})}
		q.watches[id] = w
	}
	w.waiters++
	return w
}

func (q *Queue) unwatch(id human.OperationID, w *watch) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if w.waiters--; w.waiters == 0 {
		delete(q.watches, id)
	}
}

// isNotFound says whether err is a NotFound error.
func isNotFound(err error) bool {
	var e *human.Error
	return errors.As(err, &e) && e.Kind == human.NotFound
}
