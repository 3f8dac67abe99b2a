package queue

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/oklog/ulid/v2"

	"deskbell/backend/human"
	"deskbell/backend/kind"
)

// newID makes an id that sorts by time and cannot be guessed.
func newID(at time.Time) human.OperationID {
	return human.OperationID("op_" + strings.ToLower(ulid.MustNew(ulid.Timestamp(at), rand.Reader).String()))
}

// Ring takes an agent's request into the queue (H2) and returns the operation, durable. created is
// false when the request joined an operation that exists: one with the same idempotency key and the
// same words, or, where attach is set, one with the same words in the same session whose end the agent
// has not read. A key used before for other words is a Conflict; too many open operations of the agent
// are Exhausted; what breaks a limit is Invalid and names the field.
func (q *Queue) Ring(ctx context.Context, r human.Request, attach bool) (op human.Operation, created bool, err error) {
	k, is := kind.Of(r.Kind)
	if !is || !k.Agents && !k.Program {
		return op, false, human.BadField("action_type", "%q is not one of %s", r.Kind, kind.Sentence(kind.ForAgents()))
	}
	if k.OnTimeout != "" {
		r.OnTimeout = k.OnTimeout
	}
	return q.take(ctx, r, attach, func(r human.Request) (human.Operation, bool, error) { return q.existing(ctx, r, attach) }, nil)
}

// byKey finds the operation of the same kind that has the request's idempotency key.
func (q *Queue) byKey(ctx context.Context, r human.Request) (human.Operation, bool, error) {
	if r.IdempotencyKey == "" {
		return human.Operation{}, false, nil
	}
	id, err := q.index.ByKey(ctx, r.AgentID, r.IdempotencyKey)
	if isNotFound(err) {
		return human.Operation{}, false, nil
	}
	if err != nil {
		return human.Operation{}, false, err
	}
	op, err := q.load(ctx, id)
	if err == nil && op.Kind != r.Kind {
		err = human.Errorf(human.Conflict, "the idempotency_key %q belongs to operation %s, which asks for something else; use another key", r.IdempotencyKey, id)
	}
	return op, err == nil, err
}

// take stores a request, unless there is an operation that it joins. then, where not nil, is what happens to it at once.
func (q *Queue) take(ctx context.Context, r human.Request, attach bool, joins func(human.Request) (human.Operation, bool, error), then *human.Event) (op human.Operation, created bool, err error) {
	if err := q.check(&r); err != nil {
		return op, false, err
	}
	for _, identity := range identities(r, attach) {
		done, err := q.alone(ctx, identity)
		if err != nil {
			return op, false, err
		}
		defer done()
	}
	if op, found, err := joins(r); found || err != nil {
		return op, false, err
	}
	q.persons(&r, then != nil)
	at := q.now()
	op = human.Operation{ID: q.opts.NewID(at)}
	if len(r.Attachments) > 0 {
		if r.Attachments, err = q.keepFiles(ctx, human.Actor{Role: human.Agent, Name: r.AgentID}, op.ID, human.AttachmentIDs(r.Attachments)); err != nil {
			return human.Operation{}, false, err
		}
	}
	if err := q.reserve(r.AgentID); err != nil {
		return op, false, err
	}
	events := []human.Event{{Type: human.Invoked, At: at, By: human.Actor{Role: human.Agent, Name: r.AgentID}, Request: &r}}
	if r.To != "" {
		events[0].By = human.Actor{Role: human.Operator, Name: r.RequestedBy}
	}
	if then != nil {
		then.At = at
		events = append(events, *then)
	}
	for _, event := range events {
		if op, err = op.Apply(event); err != nil {
			break
		}
	}
	if err == nil {
		q.mu.Lock()
		q.arriving[op.ID] = nil
		q.mu.Unlock()
		_, err = q.journal.Append(context.WithoutCancel(ctx), op.ID, 0, events...)
	}
	if err != nil {
		q.arrive(human.Operation{ID: op.ID}, r.AgentID)
		return human.Operation{}, false, err
	}
	if r.To == "" {
		q.presence.touch(op.ID, r.AgentID)
	}
	q.arrive(op, r.AgentID)
	return op, true, nil
}

// persons sets who asked, and how many people have to approve. What a rule decided asks no one. An approval whose agent names no
// risk counts as critical; the gatekeeper names one where there is one.
func (q *Queue) persons(r *human.Request, decided bool) {
	r.RequestedBy, r.Approvals = q.opts.Member(), 0
	from, risk := q.opts.SecondApproval(), r.Risk()
	if decided || from.Level() == 0 || r.To != "" {
		return
	}
	if (r.Kind == human.Approve || r.Kind == human.Permission && risk != "") && risk.Level() >= from.Level() {
		r.Approvals = 2
	}
}

// check returns an error for what breaks a rule, and fills in the defaults.
func (q *Queue) check(r *human.Request) error {
	if q.opts.Disabled {
		return human.Errorf(human.Unavailable, "Deskbell is switched off and accepts no requests (the setting enabled is false); ask its operator to switch it on")
	}
	if strings.TrimSpace(r.Description) == "" {
		return human.BadField("description", "is missing; say in a line what you need from the human")
	}
	for _, sent := range []struct{ field, text string }{
		{"description", r.Description}, {"session_id", r.SessionID}, {"idempotency_key", r.IdempotencyKey},
	} {
		if !utf8.ValidString(sent.text) {
			return human.BadField(sent.field, "is not valid UTF-8")
		}
	}
	for _, l := range []struct {
		field     string
		size, max int
	}{
		{"description", len(r.Description), q.opts.MaxDescription},
		{"details", len(r.Details), q.opts.MaxDetails},
		{"context", len(r.Context), q.opts.MaxContext},
		{"session_id", len(r.SessionID), maxSession},
		{"idempotency_key", len(r.IdempotencyKey), maxKey},
	} {
		if l.size <= l.max {
			continue
		}
		switch l.field {
		case "description":
			return human.BadField(l.field, "is %d bytes, the limit is %d; put the long part into details", l.size, l.max)
		case "details", "context":
			return human.BadField(l.field, "is %d bytes, the limit is %d; send a part, or a path to a file", l.size, l.max)
		}
		return human.BadField(l.field, "is %d bytes, the limit is %d; use a shorter one", l.size, l.max)
	}

	for _, sent := range []struct {
		field string
		raw   *json.RawMessage
	}{{"details", &r.Details}, {"context", &r.Context}} {
		text := bytes.TrimSpace(*sent.raw)
		if len(text) == 0 || string(text) == "null" {
			*sent.raw = nil
			continue
		}
		if text[0] != '{' || !json.Valid(text) {
			return human.BadField(sent.field, "must be a JSON object")
		}
		if !utf8.Valid(text) {
			return human.BadField(sent.field, "is not valid UTF-8")
		}
		if at, twice := repeated(text); twice {
			return human.BadField(sent.field, "has the name %s twice in one object; programs do not agree on which counts, so send each name once", human.OneLine(at, 200))
		}
	}
	if err := kind.Asks(*r); err != nil {
		return err
	}
	if err := checkFiles(human.AttachmentIDs(r.Attachments)); err != nil {
		return err
	}
	if r.Priority < 0 || r.Priority > human.MaxPriority {
		return human.BadField("priority", "is %d; it runs from 0 to %d, higher comes first", r.Priority, human.MaxPriority)
	}
	if r.Timeout < 0 || r.Timeout > maxTimeout || r.Timeout != r.Timeout {
		return human.BadField("timeout", "is %g; it is in seconds, from 0 (never overdue) to %d", r.Timeout, maxTimeout)
	}
	switch r.OnTimeout {
	case "":
		r.OnTimeout = human.Mark
	case human.Mark, human.Cancel:
	default:
		return human.BadField("on_timeout", "%q is not one of mark, cancel", r.OnTimeout)
	}
	return nil
}

// decoders are those of repeated: what one has in memory is most of what a new one costs.
var decoders = sync.Pool{New: func() any { return new(jsontext.Decoder) }}

// repeated finds a name that stands twice in one object of a JSON value, at any depth and however it is escaped. at is its path, a
// JSON Pointer. What else is wrong with the JSON does not matter here.
func repeated(raw []byte) (at string, twice bool) {
	d := decoders.Get().(*jsontext.Decoder)
	d.Reset(bytes.NewBuffer(raw))
	err := d.SkipValue()
	d.Reset(new(bytes.Buffer)) // it would keep raw
	decoders.Put(d)
	var bad *jsontext.SyntacticError
	if errors.Is(err, jsontext.ErrDuplicateName) && errors.As(err, &bad) {
		return string(bad.JSONPointer), true
	}
	return "", false
}

// DefaultTimeout is the time limit, in seconds, of a request that names none.
func (q *Queue) DefaultTimeout() float64 { return q.opts.DefaultTimeout.Seconds() }

// identities are what two rings must not share while both are on their way.
func identities(r human.Request, attach bool) []string {
	var ids []string
	if r.IdempotencyKey != "" {
		ids = append(ids, "key\x00"+r.AgentID+"\x00"+r.IdempotencyKey)
	}
	if attach {
		h := sha256.New()
		for _, part := range []string{r.AgentID, r.SessionID, string(r.Kind), r.Description, string(r.Details), string(r.Context)} {
			h.Write([]byte(part))
			h.Write([]byte{0})
		}
		for _, a := range r.Attachments {
			h.Write([]byte(a.ID))
		}
		ids = append(ids, "words\x00"+hex.EncodeToString(h.Sum(nil)))
	}
	return ids
}

// alone waits until no other ring with this identity is under way, and keeps others out until done.
func (q *Queue) alone(ctx context.Context, identity string) (done func(), err error) {
	for {
		q.mu.Lock()
		other, busy := q.ringing[identity]
		if !busy {
			mine := make(chan struct{})
			q.ringing[identity] = mine
			q.mu.Unlock()
			return func() {
				q.mu.Lock()
				delete(q.ringing, identity)
				q.mu.Unlock()
				close(mine)
			}, nil
		}
		q.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return nil, human.Wrap(human.Unavailable, ctx.Err(), "the request was canceled before it was stored")
		}
	}
}

// existing finds the operation a request joins instead of making a new one.
func (q *Queue) existing(ctx context.Context, r human.Request, attach bool) (op human.Operation, found bool, err error) {
	if r.IdempotencyKey != "" {
		id, err := q.index.ByKey(ctx, r.AgentID, r.IdempotencyKey)
		if err == nil {
			op, err = q.load(ctx, id)
			words := op.Request()
			words.SessionID = r.SessionID // a client that comes back has another session and the same key
			if err == nil && !words.Same(r) {
				err = human.Errorf(human.Conflict,
					"the idempotency_key %q belongs to operation %s, which asks for something else; use another key", r.IdempotencyKey, id)
			}
			return op, err == nil, err
		}
		if !isNotFound(err) {
			return op, false, err
		}
	}
	if !attach {
		return op, false, nil
	}
	ended, err := q.index.Undelivered(ctx, r.AgentID)
	if err != nil {
		return op, false, err
	}
	words := wordsOf(r)
	alike := q.openOf(r.AgentID, func(s standing) bool { return s.words == words || s.words == 0 })
	for _, id := range append(alike, ended...) {
		if op, err = q.load(ctx, id); err != nil {
			return op, false, err
		}
		otherKey := r.IdempotencyKey != "" && op.IdempotencyKey != "" && r.IdempotencyKey != op.IdempotencyKey
		if op.Request().Same(r) && !otherKey {
			return op, true, nil
		}
	}
	return human.Operation{}, false, nil
}

// reserve counts one more open operation for the agent, or says how many wait and what to do.
func (q *Queue) reserve(agent string) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if n := q.perAgent[agent]; n >= q.opts.MaxPending {
		return human.Errorf(human.Exhausted,
			"%d of your requests wait for a human already, the most allowed (max_pending_requests is %d); wait for one of them or cancel one, then send the request again",
			n, q.opts.MaxPending)
	}
	q.perAgent[agent]++
	return nil
}
