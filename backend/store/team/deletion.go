package team

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"deskbell/backend/human"
)

// deletions are the operations that leads deleted for the whole team: the keys of the bucket Deletions, which begin with the lead's desk so that the
// server knows who may write them. They stay there, for desks that come back. It is safe for concurrent use.
type deletions struct {
	mu      sync.Mutex
	by      map[human.OperationID]string // the member who did it
	changed chan struct{}                // has room for one
}

// againAfter is how long after a deletion that failed it is tried again.
const againAfter = time.Minute

// deletionKey is an operation's key in Deletions; deleted splits it.
func deletionKey(desk string, id human.OperationID) string { return desk + "." + string(id) }

func deleted(key string) (member string, id human.OperationID, err error) {
	desk, op, found := strings.Cut(key, ".")
	if !found || op == "" {
		return "", "", fmt.Errorf("%q is no key of a deletion", key)
	}
	member, err = MemberOf(desk)
	return member, human.OperationID(op), err
}

// of is who deleted an operation; empty: no one did.
func (d *deletions) of(id human.OperationID) (member string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.by[id]
}

// all are the operations by who deleted them.
func (d *deletions) all() map[human.OperationID]string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return maps.Clone(d.by)
}

// learnDeletions learns what leads delete, until done is called.
func (j *Journal) learnDeletions(ctx context.Context, js jetstream.JetStream) (done func(), err error) {
	bucket, err := js.KeyValue(ctx, Deletions)
	if err != nil {
		return nil, err
	}
	return follow(ctx, bucket, func(e jetstream.KeyValueEntry) {
		member, id, err := deleted(e.Key())
		if err != nil {
			j.o.Log.Warn("a deletion counts for nothing", "key", e.Key(), "reason", err)
			return
		}
		j.deletions.mu.Lock()
		defer j.deletions.mu.Unlock()
		if j.deletions.by[id] == "" {
			j.deletions.by[id] = member
		}
		select {
		case j.deletions.changed <- struct{}{}:
		default:
		}
	})
}

// keepDeleting deletes here what leads deleted for the whole team, until ctx ends.
func (j *Journal) keepDeleting(ctx context.Context) {
	if j.o.Delete == nil {
		return
	}
	gone := map[human.OperationID]bool{} // in this session
	for {
		again := time.NewTimer(againAfter)
		by := map[string][]human.OperationID{}
		left := false
		for id, member := range j.deletions.all() {
			at, err := j.Standing(ctx, id)
			left = left || err != nil
			if err == nil && !gone[id] && !at.Elsewhere && at.Shared > 0 { // a lead decides on what is the team's only
				by[member] = append(by[member], id)
			}
		}
		for member, ids := range by {
			for some := range slices.Chunk(slices.Sorted(slices.Values(ids)), atOnce) {
				stay, reason := j.deleteHere(ctx, human.Actor{Role: human.Operator, Name: member}, some, gone)
				if stay > 0 && ctx.Err() == nil {
					left = true
					j.o.Log.Warn("what was deleted for the whole team is still on this desk; it is tried again", "operations", stay, "by", member, "reason", reason)
				}
			}
		}
		if !left {
			again.Stop()
		}
		select {
		case <-j.deletions.changed:
			again.Stop()
		case <-again.C:
		case <-ctx.Done():
			again.Stop()
			return
		}
	}
}

// deleteHere deletes operations at once, and notes them as gone. Where one of them has to stay, none is deleted, so it tries the halves. It returns how many
// stay, and why one does.
func (j *Journal) deleteHere(ctx context.Context, by human.Actor, ids []human.OperationID, gone map[human.OperationID]bool) (stay int, reason error) {
	err := j.o.Delete(ctx, by, ids)
	if err == nil {
		for _, id := range ids {
			gone[id] = true
		}
		return 0, nil
	}
	if len(ids) == 1 || human.KindOf(err) != human.Conflict {
		return len(ids), err
	}
	for _, half := range [][]human.OperationID{ids[:len(ids)/2], ids[len(ids)/2:]} {
		if n, err := j.deleteHere(ctx, by, half, gone); n > 0 {
			stay, reason = stay+n, err
		}
	}
	return stay, reason
}

// DeleteForAll has every desk of the team delete operations that have ended, at once or when it connects next. It returns once the team's
// server has that; an error means that a part may have.
func (j *Journal) DeleteForAll(ctx context.Context, ids []human.OperationID) error {
	if j.o.Role != LeadRole {
		return human.Errorf(human.Denied, "only a lead deletes requests for the whole team; delete them on this desk, or ask a lead")
	}
	for _, id := range ids {
		switch at, err := j.Standing(ctx, id); {
		case err != nil:
			return err
		case at.Elsewhere:
			return human.Errorf(human.Denied, "operation %s is of a team that this desk left; delete it on this desk", id)
		case at.Waits():
			return human.Errorf(human.Unavailable, "operation %s is not in the team's journal yet; try again once this desk is connected", id)
		}
	}
	bucket, err := j.bucket(ctx, Deletions)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if _, err := bucket.Put(ctx, deletionKey(j.o.Desk, id), nil); err != nil {
			return notHeard(err)
		}
	}
	return nil
}

// Forget deletes what leads deleted for the whole team from the stream and from the snapshots, and returns how many operations had something there.
// It may be killed at any moment, and run on several servers at once. js has to have all permissions.
func Forget(ctx context.Context, js jetstream.JetStream) (n int, err error) {
	bucket, err := js.KeyValue(ctx, Deletions)
	if err != nil {
		return 0, err
	}
	keys, err := bucket.Keys(ctx)
	if errors.Is(err, jetstream.ErrNoKeysFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	for _, key := range keys {
		_, id, err := deleted(key)
		if err != nil {
			continue // of a newer Deskbell
		}
		had := false
		for _, from := range []struct{ stream, subject string }{{Stream, AllOf(id)}, {"KV_" + Snapshots, "$KV." + Snapshots + "." + string(id)}} {
			stream, err := js.Stream(ctx, from.stream)
			if err != nil {
				return n, err
			}
			switch _, err := stream.GetLastMsgForSubject(ctx, from.subject); {
			case errors.Is(err, jetstream.ErrMsgNotFound):
				continue
			case err != nil:
				return n, err
			}
			if err := stream.Purge(ctx, jetstream.WithPurgeSubject(from.subject)); err != nil {
				return n, err
			}
			had = true
		}
		if had {
			n++
		}
	}
	return n, nil
}
