package team

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"deskbell/backend/human"
	"deskbell/backend/queue/replica"
)

// mostNamed is how many operations a check names of each sort.
const mostNamed = 100

// A copied is what there is of an operation: events as they are on the wire, and their hash.
type copied struct {
	entries []human.Entry // as this desk has them
	hashes  []string      // of each version and all before it
}

// add appends an event, which wire is as the desk of the member has it that it comes from.
func (c *copied) add(id human.OperationID, member string, e, wire human.Event) error {
	payload, err := encode(member, uint64(len(c.entries)), []human.Event{wire})
	if err != nil {
		return err
	}
	before := ""
	if n := len(c.hashes); n > 0 {
		before = c.hashes[n-1]
	}
	sum := sha256.Sum256(append([]byte(string(id)+" "+before+" "), payload...))
	c.entries = append(c.entries, human.Entry{ID: id, Version: uint64(len(c.entries) + 1), Event: e})
	c.hashes = append(c.hashes, hex.EncodeToString(sum[:]))
	return nil
}

// unlike is an event as the desk has it that it comes from; the reverse of from.
func unlike(e human.Event) human.Event {
	if e.Desk == "" {
		return e
	}
	at := "@" + shown(e.Desk)
	if member, err := MemberOf(e.Desk); e.By.Role == human.Agent || e.By.Role == human.Operator && err == nil && e.By.Name != member {
		e.By.Name = strings.TrimSuffix(e.By.Name, at)
	}
	if e.Request != nil && e.Request.To == "" {
		q := *e.Request
		q.AgentID = strings.TrimSuffix(q.AgentID, at)
		e.Request = &q
	}
	e.Desk = ""
	return e
}

// Check compares what this desk has with the team's journal, by counts and by a hash over the id, version and content of each event. It
// reads the whole journal and may take minutes; an Unavailable error means that there is no connection.
func (j *Journal) Check(ctx context.Context) (human.TeamCheck, error) {
	j.mu.RLock()
	js, place, online := j.js, j.place, j.status.Online
	j.mu.RUnlock()
	if !online {
		return human.TeamCheck{}, human.Errorf(human.Unavailable, "this desk is not connected to its team, so nothing can be compared; try again once it is")
	}
	shared, _, err := j.Copied(ctx)
	if err != nil {
		return human.TeamCheck{}, err
	}
	mine, err := here(ctx, j.Storage, j.o.Desk, func(id human.OperationID) bool {
		is, known := shared[id]
		return is || !known
	})
	if err != nil {
		return human.TeamCheck{}, err
	}
	theirs, err := j.published(ctx, js, place, mine)
	if err != nil {
		return human.TeamCheck{}, err
	}
	return compare(theirs, mine), nil
}

// Copy counts what this desk has of the team that it is in or, in none, left last.
func Copy(ctx context.Context, storage replica.Storage) (human.TeamCopy, error) {
	shared, desk, err := storage.Copied(ctx)
	if err != nil {
		return human.TeamCopy{}, err
	}
	if desk == "" {
		return human.TeamCopy{}, human.Errorf(human.NotFound, "this desk is in no team, and was in none")
	}
	mine, err := here(ctx, storage, desk, func(id human.OperationID) bool { return shared[id] })
	return totals(mine), err
}

// here is what a desk has of those operations that select says.
func here(ctx context.Context, storage replica.Storage, desk string, selected func(human.OperationID) bool) (map[human.OperationID]*copied, error) {
	mine := map[human.OperationID]*copied{}
	for entry, err := range storage.Read(ctx, 0) {
		if err != nil {
			return nil, err
		}
		if !selected(entry.ID) {
			continue
		}
		if entry.Event.Type == human.Erased { // it was deleted here
			delete(mine, entry.ID)
			continue
		}
		member, err := MemberOf(cmp.Or(entry.Event.Desk, desk))
		if err == nil {
			err = of(mine, entry.ID).add(entry.ID, member, entry.Event, unlike(entry.Event))
		}
		if err != nil {
			return nil, err
		}
	}
	return mine, nil
}

func of(all map[human.OperationID]*copied, id human.OperationID) *copied {
	if all[id] == nil {
		all[id] = &copied{}
	}
	return all[id]
}

// published is what the team's journal has, without what counts for nothing on any desk, and what came after place and is not in mine:
// it was read meanwhile.
func (j *Journal) published(ctx context.Context, js jetstream.JetStream, place uint64, mine map[human.OperationID]*copied) (map[human.OperationID]*copied, error) {
	all := map[human.OperationID]*copied{}
	take := func(subject string, at uint64, data []byte) error {
		_, desk, _, err := parse(subject)
		if err != nil {
			return nil //nolint:nilerr // it counts for nothing, as below
		}
		here, err := decode(j.o.Desk, subject, at, data)
		if err != nil || j.deletions.of(here.ID) != "" {
			return nil //nolint:nilerr
		}
		if m := mine[here.ID]; at > place && (m == nil || uint64(len(m.hashes)) <= here.Before) {
			return nil
		}
		wire, err := decode(desk, subject, at, data)
		if err != nil {
			return nil //nolint:nilerr
		}
		member, err := MemberOf(desk)
		if err != nil {
			return nil //nolint:nilerr
		}
		return apply(of(all, here.ID), member, here, wire)
	}
	if err := folded(ctx, js, take); err != nil {
		return nil, err
	}
	stream, err := js.Stream(ctx, Stream)
	if err != nil {
		return nil, human.Wrap(human.Unavailable, err, "the team's journal cannot be read")
	}
	for next := uint64(1); ; {
		raw, err := stream.GetMsg(ctx, next, jetstream.WithGetMsgSubject("op.>"))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return all, nil
		}
		if err != nil {
			return nil, human.Wrap(human.Unavailable, err, "the team's journal cannot be read")
		}
		next = raw.Sequence + 1
		if err := take(raw.Subject, raw.Sequence, raw.Data); err != nil {
			return nil, err
		}
	}
}

// folded has take called for the messages that are in snapshots.
func folded(ctx context.Context, js jetstream.JetStream, take func(subject string, place uint64, data []byte) error) error {
	var failed error
	bucket, err := js.KeyValue(ctx, Snapshots)
	if err == nil {
		var done func()
		done, err = follow(ctx, bucket, func(e jetstream.KeyValueEntry) {
			var s snapshot
			if err := json.Unmarshal(e.Value(), &s); err != nil {
				return // as no desk can read it
			}
			for _, m := range s.Messages {
				failed = cmp.Or(failed, take(m.Subject, m.Place, m.Data))
			}
		})
		if err == nil {
			done()
		}
	}
	if err != nil {
		return human.Wrap(human.Unavailable, err, "the team's snapshots cannot be read")
	}
	return failed
}

// apply adds a message, as every desk does, if it is the next of its operation and the life cycle allows it.
func apply(c *copied, member string, here, wire replica.Message) error {
	if here.Before != uint64(len(c.entries)) {
		return nil
	}
	next := copied{slices.Clone(c.entries), slices.Clone(c.hashes)}
	for i, e := range here.Events {
		if err := next.add(here.ID, member, e, wire.Events[i]); err != nil {
			return err
		}
	}
	if _, err := human.Fold(here.ID, next.entries); err == nil {
		*c = next
	}
	return nil
}

// compare says what differs.
func compare(theirs, mine map[human.OperationID]*copied) (r human.TeamCheck) {
	r.Here, r.Team = totals(mine), totals(theirs)
	note := func(ids *[]human.OperationID, id human.OperationID) { *ids = append(*ids, id) }
	for id, t := range theirs {
		m, n := mine[id], len(t.hashes)
		switch {
		case n == 0:
		case m == nil || len(m.hashes) < n && (len(m.hashes) == 0 || m.hashes[len(m.hashes)-1] == t.hashes[len(m.hashes)-1]):
			note(&r.Missing, id)
		case len(m.hashes) < n || m.hashes[n-1] != t.hashes[n-1]:
			note(&r.Different, id)
		case len(m.hashes) > n:
			note(&r.OnlyHere, id)
		}
	}
	for id := range mine {
		if t := theirs[id]; t == nil || len(t.hashes) == 0 {
			note(&r.OnlyHere, id)
		}
	}
	r.Same = len(r.Missing)+len(r.Different)+len(r.OnlyHere) == 0
	for _, ids := range []*[]human.OperationID{&r.Missing, &r.Different, &r.OnlyHere} {
		slices.Sort(*ids)
		*ids = (*ids)[:min(len(*ids), mostNamed)]
	}
	return r
}

// totals are the counts, and one hash over all operations by their ids.
func totals(all map[human.OperationID]*copied) (c human.TeamCopy) {
	ids := make([]human.OperationID, 0, len(all))
	for id, o := range all {
		if len(o.hashes) > 0 {
			ids = append(ids, id)
			c.Events += len(o.hashes)
		}
	}
	slices.Sort(ids)
	c.Operations = len(ids)
	sum := sha256.New()
	for _, id := range ids {
		_, _ = sum.Write([]byte(all[id].hashes[len(all[id].hashes)-1])) // a hash takes everything
	}
	c.Hash = hex.EncodeToString(sum.Sum(nil))
	return c
}
