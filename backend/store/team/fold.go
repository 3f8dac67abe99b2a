package team

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"deskbell/backend/human"
	"deskbell/backend/queue/replica"
)

// A snapshot has all messages of an operation up to one of them, which are no longer in the stream: the value at the operation's id in the bucket Snapshots,
// as JSON. Each desk reads them as it would have read the stream.
type snapshot struct {
	Format   int           `json:"format"`
	Messages []foldedEntry `json:"messages"`
}

type foldedEntry struct {
	Place   uint64          `json:"place"`
	Subject string          `json:"subject"`
	Data    json.RawMessage `json:"data"`
}

// mostFolded is how large a snapshot becomes at most, in bytes: operations with more stay in the stream.
const mostFolded = 4 << 20

// Fold moves the messages of operations that ended, and of which none came since before, from the stream into snapshots, and returns how many operations
// those were. It may be killed at any moment, and run on several servers at once: messages are deleted once their snapshot is stored, and only
// those in it. js has to have all permissions. It reads the stream twice, and blocks for that.
func Fold(ctx context.Context, js jetstream.JetStream, before time.Time) (n int, err error) {
	stream, err := js.Stream(ctx, Stream)
	if err != nil {
		return 0, err
	}
	bucket, err := js.KeyValue(ctx, Snapshots)
	if err != nil {
		return 0, err
	}
	type line struct {
		last    uint64 // its last message
		recent  bool
		entries []foldedEntry
		size    int
	}
	quiet := map[human.OperationID]*line{}
	err = readStream(ctx, stream, true, func(id human.OperationID, m jetstream.Msg, about *jetstream.MsgMetadata) error {
		if quiet[id] == nil {
			quiet[id] = &line{}
		}
		quiet[id].last, quiet[id].recent = about.Sequence.Stream, !about.Timestamp.Before(before)
		return nil
	})
	if err != nil {
		return 0, err
	}
	maps.DeleteFunc(quiet, func(_ human.OperationID, l *line) bool { return l.recent })
	if len(quiet) == 0 {
		return 0, nil
	}
	err = readStream(ctx, stream, false, func(id human.OperationID, m jetstream.Msg, about *jetstream.MsgMetadata) error {
		l := quiet[id]
		if l == nil || about.Sequence.Stream > l.last {
			return nil
		}
		if l.size += len(m.Data()); l.size <= mostFolded {
			l.entries = append(l.entries, foldedEntry{about.Sequence.Stream, m.Subject(), m.Data()})
		}
		if about.Sequence.Stream < l.last {
			return nil
		}
		delete(quiet, id)
		if l.size > mostFolded {
			return nil
		}
		done, err := fold(ctx, stream, bucket, id, l.entries)
		if err != nil {
			return fmt.Errorf("operation %s: %w", id, err)
		}
		if done {
			n++
		}
		return nil
	})
	return n, err
}

// readStream has each called for every message that the stream has now.
func readStream(ctx context.Context, stream jetstream.Stream, headers bool, each func(human.OperationID, jetstream.Msg, *jetstream.MsgMetadata) error) error {
	consumer, err := stream.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{HeadersOnly: headers})
	if err != nil {
		return err
	}
	info, err := consumer.Info(ctx)
	if err != nil || info.NumPending == 0 {
		return err
	}
	last := stream.CachedInfo().State.LastSeq
	messages, err := consumer.Messages()
	if err != nil {
		return err
	}
	defer messages.Stop()
	for {
		m, err := messages.Next(jetstream.NextContext(ctx))
		if err != nil {
			return err
		}
		about, err := m.Metadata()
		if err != nil {
			return err
		}
		if id, _, _, err := parse(m.Subject()); err == nil {
			if err := each(id, m, about); err != nil {
				return err
			}
		}
		if about.NumPending == 0 || about.Sequence.Stream >= last {
			return nil
		}
	}
}

// fold makes a snapshot of the messages of an operation, if it has ended, and deletes them.
func fold(ctx context.Context, stream jetstream.Stream, bucket jetstream.KeyValue, id human.OperationID, entries []foldedEntry) (bool, error) {
	whole := snapshot{Format: format, Messages: entries}
	var revision uint64
	switch entry, err := bucket.Get(ctx, string(id)); {
	case err == nil:
		var has snapshot
		if err := json.Unmarshal(entry.Value(), &has); err != nil || has.Format != format || len(has.Messages) == 0 {
			return false, err // a newer hub's
		}
		revision = entry.Revision()
		last := has.Messages[len(has.Messages)-1].Place // another run may have ended before it could delete it
		whole.Messages = append(has.Messages, slices.DeleteFunc(entries, func(e foldedEntry) bool { return e.Place <= last })...)
	case !errors.Is(err, jetstream.ErrKeyNotFound):
		return false, err
	}
	messages, err := whole.read("")
	if err != nil || !ended(id, messages) {
		return false, nil //nolint:nilerr // what no desk understands stays where it is
	}
	value, err := json.Marshal(whole)
	if err != nil || len(value) > mostFolded {
		return false, err
	}
	if revision == 0 {
		_, err = bucket.Create(ctx, string(id), value)
	} else {
		_, err = bucket.Update(ctx, string(id), value, revision)
	}
	var wrong *jetstream.APIError
	if errors.Is(err, jetstream.ErrKeyExists) || errors.As(err, &wrong) && wrong.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence {
		return false, nil // another hub was first
	}
	if err != nil {
		return false, err
	}
	last := whole.Messages[len(whole.Messages)-1].Place
	return true, stream.Purge(ctx, jetstream.WithPurgeSubject(AllOf(id)), jetstream.WithPurgeSequence(last+1))
}

// ended says whether an operation with these messages has.
func ended(id human.OperationID, messages []replica.Message) bool {
	var entries []human.Entry
	for _, m := range messages {
		if m.Before != uint64(len(entries)) {
			continue // left out by all desks
		}
		for _, e := range m.Events {
			entries = append(entries, human.Entry{Seq: uint64(len(entries) + 1), ID: id, Version: uint64(len(entries) + 1), Event: e})
		}
	}
	op, err := human.Fold(id, entries)
	return err == nil && op.State.Terminal()
}

// read returns the messages as the desk me sees them.
func (s snapshot) read(me string) (all []replica.Message, err error) {
	if s.Format != format {
		return nil, fmt.Errorf("its format is %d, this Deskbell knows %d", s.Format, format)
	}
	for _, m := range s.Messages {
		got, err := decode(me, m.Subject, m.Place, m.Data)
		if err != nil {
			return nil, err
		}
		all = append(all, got)
	}
	return all, nil
}

// unfold stores the snapshots that are not here, and then those that are made until done is called, which waits. It returns once those
// that are there now are here. What fails later ends the session.
func (j *Journal) unfold(ctx context.Context, js jetstream.JetStream) (done func(), err error) {
	bucket, err := js.KeyValue(ctx, Snapshots)
	if err != nil {
		return nil, err
	}
	place, _, err := j.Place(ctx)
	if err != nil {
		return nil, err
	}
	j.mu.Lock()
	s := j.status
	s.Problem = "" // it is connected, and has to catch up
	j.set(s)
	j.mu.Unlock()
	total := uint64(0) // to be read, of snapshots and messages
	for _, name := range []string{Stream, "KV_" + Snapshots} {
		stream, err := js.Stream(ctx, name)
		if err != nil {
			return nil, err
		}
		total += stream.CachedInfo().State.LastSeq
	}
	revision, err := j.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	watch, err := bucket.WatchAll(ctx, jetstream.ResumeFromRevision(revision+1))
	if err != nil {
		return nil, err
	}
	updates := watch.Updates()
	for more := true; more && err == nil; {
		more, err = j.unfoldSome(ctx, updates, func(revision uint64) {
			j.mu.Lock()
			defer j.mu.Unlock()
			s := j.status
			s.Behind = total - min(total, place+revision)
			j.set(s)
		})
	}
	if err != nil {
		return nil, errors.Join(err, watch.Stop())
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for more, err := true, error(nil); more; {
			if more, err = j.unfoldSome(ctx, updates, func(uint64) {}); err != nil {
				j.fail(err)
				return
			}
		}
	}()
	return func() {
		_ = watch.Stop() // its connection may have ended before
		<-ended
	}, nil
}

// unfoldSome waits for snapshots and stores as many at once as have come. more is false once those that were there first are here, and when the
// watch has ended.
func (j *Journal) unfoldSome(ctx context.Context, updates <-chan jetstream.KeyValueEntry, stored func(revision uint64)) (more bool, err error) {
	var all []storedSnapshot
	var revision uint64
	for e := range updates {
		if more = e != nil; !more {
			break
		}
		all, revision = append(all, storedSnapshot{human.OperationID(e.Key()), e.Value()}), e.Revision()
		if len(all) == atOnce || len(updates) == 0 {
			break
		}
	}
	if len(all) == 0 {
		return more, nil
	}
	if err := j.takeSnapshots(ctx, all, revision); err != nil {
		return false, err
	}
	stored(revision)
	return more, nil
}

// A storedSnapshot is a value of the bucket.
type storedSnapshot struct {
	id    human.OperationID
	value []byte
}

// takeSnapshots stores what snapshots have that is not here; of what was here and was deleted, nothing.
func (j *Journal) takeSnapshots(ctx context.Context, snapshots []storedSnapshot, revision uint64) error {
	var messages []replica.Message
	upTo := map[human.OperationID]uint64{}
	for _, stored := range snapshots {
		var s snapshot
		var all []replica.Message
		err := json.Unmarshal(stored.value, &s)
		if err == nil {
			all, err = s.read(j.o.Desk)
		}
		if err != nil {
			j.o.Log.Error("a snapshot of the team's journal cannot be read, and its operation is missing on this desk; a newer Deskbell may read it", "operation_id", stored.id, "reason", err)
			continue
		}
		at, err := j.Standing(ctx, stored.id)
		if err != nil {
			return err
		}
		for _, m := range all {
			if m.ID == stored.id && m.Before >= at.Shared {
				messages = append(messages, m)
			}
			upTo[stored.id] = m.Place
		}
	}
	if len(messages) > 0 {
		if _, err := j.Deliver(ctx, messages, 0); err != nil {
			return err
		}
	}
	return j.Folded(ctx, upTo, revision)
}

// fill stores messages that came before their operation's snapshot did, after that, and notes that the team's journal is here up to last.
func (j *Journal) fill(ctx context.Context, js jetstream.JetStream, gaps []replica.Message, last replica.Message) ([]replica.Result, error) {
	before := map[human.OperationID]uint64{} // how many versions are here, or among those that come first
	for i, m := range gaps {
		if _, asked := before[m.ID]; !asked {
			if value, err := lastSnapshot(ctx, js, m.ID); err != nil {
				return nil, err
			} else if value != nil {
				if err := j.takeSnapshots(ctx, []storedSnapshot{{m.ID, value}}, 0); err != nil {
					return nil, err
				}
			}
			at, err := j.Standing(ctx, m.ID)
			if err != nil {
				return nil, err
			}
			before[m.ID] = max(at.Version, at.Shared)
		}
		if before[m.ID] < m.Before { // no desk made that
			gaps[i].Before, gaps[i].Events = 0, nil
		} else {
			before[m.ID] = max(before[m.ID], m.Before+uint64(len(m.Events)))
		}
	}
	return j.Deliver(ctx, append(gaps, last), last.Place)
}

// lastSnapshot asks the server that leads for the snapshot of an operation: another may not have it yet. It is nil where there is none.
func lastSnapshot(ctx context.Context, js jetstream.JetStream, id human.OperationID) ([]byte, error) {
	asked, err := json.Marshal(map[string]string{"last_by_subj": "$KV." + Snapshots + "." + string(id)})
	if err != nil {
		return nil, err
	}
	m, err := js.Conn().RequestWithContext(ctx, "$JS.API.STREAM.MSG.GET.KV_"+Snapshots, asked)
	if err != nil {
		return nil, err
	}
	var got struct {
		Message *struct{ Data []byte }
		Error   *jetstream.APIError
	}
	switch err := json.Unmarshal(m.Data, &got); {
	case err != nil:
		return nil, err
	case got.Error != nil && got.Error.ErrorCode == jetstream.JSErrCodeMessageNotFound:
		return nil, nil
	case got.Error != nil:
		return nil, got.Error
	case got.Message == nil:
		return nil, errors.New("the server's answer has no snapshot")
	}
	return got.Message.Data, nil
}
