package queue

import (
	"cmp"
	"context"
	"hash/maphash"
	"slices"
	"time"
	"unique"

	"deskbell/backend/human"
)

// A Standing is what the queue keeps in memory of each open operation: what its clock, its counts and its order need. The rest
// is read when it is looked at.
type Standing struct {
	ID        human.OperationID `json:"operation_id"`
	Version   uint64            `json:"version"`
	AgentID   string            `json:"agent_id"`
	Kind      human.Kind        `json:"action_type"`
	Priority  int               `json:"priority"`
	CreatedAt time.Time         `json:"created_at"`
	ExpiresAt *time.Time        `json:"expires_at"`
	Overdue   bool              `json:"overdue"`
	ClaimedBy string            `json:"claimed_by"`
	human.TeamState
	Leaving *struct {
		LeavesAt time.Time `json:"leaves_at"`
	} `json:"leaving"`
}

// A standing is a Standing as the queue holds a hundred thousand of them.
type standing struct {
	agent    unique.Handle[string]
	kind     unique.Handle[human.Kind]
	claimed  unique.Handle[string] // by whom; the zero handle: by no one
	words    uint64                // a hash of what makes two requests the same; 0 where it was not read yet
	created  int64                 // microseconds
	version  uint32
	priority int8
	leaves   bool // an answer to it is held
	others   bool // in a team: it is for others
}

// waits says whether Pending counts it.
func (s standing) waits() bool { return !s.leaves && !s.others }

// forOthers says whether, in a team, an operation that is open is for others than the operator whose machine this is.
func (q *Queue) forOthers(claimed string, team human.TeamState) bool {
	member := q.opts.Member()
	return member != "" && human.Operation{State: human.Pending, ClaimedBy: claimed, TeamState: team}.AsksOthers(member, q.now())
}

func claimedBy(name string) unique.Handle[string] {
	if name == "" {
		return unique.Handle[string]{}
	}
	return unique.Make(name)
}

// Claims counts the open operations that each operator has claimed.
func (q *Queue) Claims() map[string]int {
	q.mu.Lock()
	defer q.mu.Unlock()
	claims := map[string]int{}
	for _, s := range q.open {
		if s.claimed != (unique.Handle[string]{}) {
			claims[s.claimed.Value()]++
		}
	}
	return claims
}

// words is a hash of what Request.Same compares.
var wordsSeed = maphash.MakeSeed()

func wordsOf(r human.Request) uint64 {
	var h maphash.Hash
	h.SetSeed(wordsSeed)
	for _, part := range [...]string{string(r.Kind), r.AgentID, r.SessionID, r.Description} {
		_, _ = h.WriteString(part) // never an error
		_ = h.WriteByte(0)
	}
	for _, part := range [...][]byte{r.Details, r.Context} {
		_, _ = h.Write(part)
		_ = h.WriteByte(0)
	}
	for _, a := range r.Attachments {
		_, _ = h.WriteString(string(a.ID))
	}
	return h.Sum64() | 1
}

// stand takes an operation that is open into memory. The caller holds mu.
func (q *Queue) stand(op human.Operation) {
	words := q.open[op.ID].words
	if words == 0 {
		words = wordsOf(op.Request())
	}
	q.put(op.ID, standing{
		version: uint32(op.Version), agent: unique.Make(op.AgentID), kind: unique.Make(op.Kind), words: words,
		created: op.CreatedAt.UnixMicro(), priority: int8(op.Priority), leaves: op.Leaving != nil, claimed: claimedBy(op.ClaimedBy),
		others: q.forOthers(op.ClaimedBy, op.TeamState),
	})
	q.whole.Put(op.ID, op, sizeOf(op))
}

// put notes how an open operation stands, and counts it. The caller holds mu.
func (q *Queue) put(id human.OperationID, s standing) {
	before, had := q.open[id]
	q.open[id] = s
	switch is, was := s.waits(), had && before.waits(); {
	case is && !was:
		q.waiting++
	case was && !is:
		q.waiting--
	default:
		return
	}
	q.recounted()
}

// fall takes an operation that has ended out of memory. The caller holds mu.
func (q *Queue) fall(id human.OperationID) {
	s, had := q.open[id]
	if !had {
		return
	}
	delete(q.open, id)
	q.whole.Drop(id)
	if s.waits() {
		q.waiting--
	}
	q.recounted()
	q.leave(s.agent.Value())
}

// sizeOf is about how many bytes an operation takes.
func sizeOf(op human.Operation) int {
	size := 1024 + len(op.Description) + len(op.Details) + len(op.Context)
	for _, m := range op.Messages {
		size += len(m.Text)
	}
	for _, d := range op.Drafts {
		size += len(d.HumanInput)
	}
	return size
}

// load returns the operation as last committed.
func (q *Queue) load(ctx context.Context, id human.OperationID) (human.Operation, error) {
	q.mu.Lock()
	op, ok := q.whole.Get(id)
	q.mu.Unlock()
	if ok {
		return op, nil
	}
	entries, err := q.journal.Operation(ctx, id)
	if err != nil {
		return op, err
	}
	if op, err = human.Fold(id, entries); err != nil {
		return op, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	// Since it was read it may have changed, or ended.
	if s, is := q.open[id]; is && uint64(s.version) <= op.Version {
		q.whole.Put(id, op, sizeOf(op))
		if s.words == 0 {
			s.words = wordsOf(op.Request())
			q.open[id] = s
		}
	}
	return op, nil
}

// openOf returns the open operations of an agent that select says, in no order.
func (q *Queue) openOf(agent string, selected func(standing) bool) []human.OperationID {
	q.mu.Lock()
	defer q.mu.Unlock()
	name := unique.Make(agent)
	var ids []human.OperationID
	for id, s := range q.open {
		if s.agent == name && selected(s) {
			ids = append(ids, id)
		}
	}
	return ids
}

func anyOf(standing) bool { return true }

// OpenOf returns the open operations of a kind, in no order.
func (q *Queue) OpenOf(ctx context.Context, of human.Kind) ([]human.Operation, error) {
	q.mu.Lock()
	kind := unique.Make(of)
	var ids []human.OperationID
	for id, s := range q.open {
		if s.kind == kind {
			ids = append(ids, id)
		}
	}
	q.mu.Unlock()
	var open []human.Operation
	for _, id := range ids {
		op, err := q.load(ctx, id)
		if err != nil {
			return nil, err
		}
		if !op.State.Terminal() {
			open = append(open, op)
		}
	}
	return open, nil
}

// Waiting returns what Pending counts, in the order Urgent, at most limit, without the parts that can be large. It leaves out
// what cannot be read.
func (q *Queue) Waiting(limit int) []human.Operation {
	type place struct {
		id human.OperationID
		standing
	}
	var first []place
	q.mu.Lock()
	for id, s := range q.open {
		if !s.waits() {
			continue
		}
		at, _ := slices.BinarySearchFunc(first, place{id, s}, func(a, b place) int {
			return cmp.Or(cmp.Compare(b.priority, a.priority), cmp.Compare(a.created, b.created), cmp.Compare(a.id, b.id))
		})
		if at < limit {
			first = slices.Insert(first, at, place{id, s})
			first = first[:min(limit, len(first))]
		}
	}
	q.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	var waiting []human.Operation
	for _, p := range first {
		if op, err := q.load(ctx, p.id); err == nil && !op.State.Terminal() && op.Leaving == nil {
			waiting = append(waiting, op.Brief())
		}
	}
	return waiting
}
