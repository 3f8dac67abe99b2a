package queue

import (
	"context"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"
	"unique"

	"deskbell/backend/human"
)

// Presence tells whether an operation's agent still waits for it. It is a state, kept in memory, not
// history: a reader gets the latest and may miss what was in between.
type Presence struct {
	ID          human.OperationID `json:"operation_id"`
	Waiting     bool              `json:"waiting" doc:"Its agent waits for it now, or has a live connection."`
	LastContact *time.Time        `json:"last_contact,omitempty" doc:"When its agent last asked about it; absent: not since Deskbell started, or it has ended since and that was not lately."`
}

// contactKept is how long a contact about an operation that has ended is kept at least: its agent may be about to read the end.
const contactKept = 10 * time.Minute

// fewContacts is how many contacts are kept before it is worth looking for old ones.
const fewContacts = 1024

// presence is what the queue knows of agents' contacts. Its lock is taken before the queue's, never while that is held.
type presence struct {
	now  func() time.Time
	open func(human.OperationID) bool // takes the queue's lock

	mu      sync.Mutex
	contact map[human.OperationID]*contact
	room    int            // how many contacts there may be before old ones are looked for
	online  map[string]int // live connections by agent
	readers map[*presenceReader]struct{}
}

type contact struct {
	agent unique.Handle[string]
	last  int64 // nanoseconds
	waits int
}

type presenceReader struct {
	changed map[human.OperationID]struct{}
	wake    chan struct{}
}

func newPresence(now func() time.Time, open func(human.OperationID) bool) *presence {
	return &presence{now: now, open: open, room: fewContacts, contact: map[human.OperationID]*contact{}, online: map[string]int{}, readers: map[*presenceReader]struct{}{}}
}

// touch notes a contact of an agent about an operation of its own.
func (p *presence) touch(id human.OperationID, agent string) {
	p.add(id, agent, 0)
}

// waits notes that an agent waits, until the returned function is called.
func (p *presence) waits(id human.OperationID, agent string) (done func()) {
	p.add(id, agent, 1)
	return func() { p.add(id, agent, -1) }
}

func (p *presence) add(id human.OperationID, agent string, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.contact[id]
	if c == nil {
		p.forget()
		c = &contact{agent: unique.Make(agent)}
		p.contact[id] = c
	}
	c.last = p.now().UnixNano()
	before := p.waiting(c)
	c.waits += n
	if before != p.waiting(c) {
		p.tell(id)
	}
}

// forget drops old contacts about operations that have ended, so that many do not pile up whose end no agent reads. The caller holds mu.
func (p *presence) forget() {
	if len(p.contact) < p.room {
		return
	}
	old := p.now().Add(-contactKept).UnixNano()
	for id, c := range p.contact {
		if c.waits == 0 && c.last < old && !p.open(id) {
			delete(p.contact, id)
		}
	}
	p.room = max(fewContacts, 2*len(p.contact))
}

func (p *presence) waiting(c *contact) bool { return c.waits > 0 || p.online[c.agent.Value()] > 0 }

// connect counts an agent's live connections up or down, and notes contact about its open operations.
func (p *presence) connect(agent string, n int, open []human.OperationID) {
	for _, id := range open {
		p.touch(id, agent)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.online[agent] += n; p.online[agent] <= 0 {
		delete(p.online, agent)
	}
	name := unique.Make(agent)
	for id, c := range p.contact {
		if c.agent == name {
			p.tell(id)
		}
	}
}

func (p *presence) tell(id human.OperationID) {
	for r := range p.readers {
		r.changed[id] = struct{}{}
		select {
		case r.wake <- struct{}{}:
		default:
		}
	}
}

// drop forgets an operation whose end was delivered.
func (p *presence) drop(id human.OperationID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := p.contact[id]; c != nil && c.waits == 0 {
		delete(p.contact, id)
	}
}

func (p *presence) of(id human.OperationID) Presence {
	c := p.contact[id]
	if c == nil {
		return Presence{ID: id}
	}
	last := time.Unix(0, c.last).UTC()
	return Presence{ID: id, Waiting: p.waiting(c), LastContact: &last}
}

// PresenceOf tells whether an operation's agent waits for it.
func (q *Queue) PresenceOf(id human.OperationID) Presence {
	q.presence.mu.Lock()
	defer q.presence.mu.Unlock()
	return q.presence.of(id)
}

// Deserted says whether no one has waited for an operation for so long.
func (q *Queue) Deserted(id human.OperationID, since time.Duration) bool {
	p := q.PresenceOf(id)
	return !p.Waiting && (p.LastContact == nil || q.presence.now().Sub(*p.LastContact) >= since)
}

// FollowPresence yields the presence of every operation in contact, then each change, coalesced, until
// ctx ends.
func (q *Queue) FollowPresence(ctx context.Context) iter.Seq[Presence] {
	p := q.presence
	return func(yield func(Presence) bool) {
		r := &presenceReader{changed: map[human.OperationID]struct{}{}, wake: make(chan struct{}, 1)}
		p.mu.Lock()
		for id := range p.contact {
			r.changed[id] = struct{}{}
		}
		p.readers[r] = struct{}{}
		p.mu.Unlock()
		defer func() {
			p.mu.Lock()
			delete(p.readers, r)
			p.mu.Unlock()
		}()
		for {
			p.mu.Lock()
			var news []Presence
			for id := range r.changed {
				news = append(news, p.of(id))
			}
			clear(r.changed)
			p.mu.Unlock()
			for _, n := range news {
				if !yield(n) {
					return
				}
			}
			select {
			case <-r.wake:
			case <-ctx.Done():
				return
			}
		}
	}
}

// AgentOnline shows all operations of an agent as waited for while it has a live connection (a
// WebSocket), until the returned function is called.
func (q *Queue) AgentOnline(agent string) (done func()) {
	q.presence.connect(agent, 1, q.openOf(agent, anyOf))
	return func() { q.presence.connect(agent, -1, nil) }
}

// Online says whether an agent has a live connection or waits for any of its operations.
func (q *Queue) Online(agent string) bool {
	p := q.presence
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.online[agent] > 0 {
		return true
	}
	name := unique.Make(agent)
	for _, c := range p.contact {
		if c.agent == name && c.waits > 0 {
			return true
		}
	}
	return false
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
