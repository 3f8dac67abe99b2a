package team

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"deskbell/backend/human"
	"deskbell/backend/queue/replica"
)

// atOnce is how many messages are stored in one transaction, and asked for in advance.
const atOnce = 256

// Run keeps the desk with its team until ctx ends: it takes what others publish, and publishes what waits here. A desk that cannot
// reach its team tries again, after ten seconds at most. It returns nil.
func (j *Journal) Run(ctx context.Context) error {
	for {
		err := j.connect(ctx)
		if ctx.Err() != nil {
			j.fail(errEnds)
			return nil
		}
		j.offline(ctx, err, 10*time.Second)
	}
}

// offline notes why the desk is offline, and pauses.
func (j *Journal) offline(ctx context.Context, why error, pause time.Duration) {
	j.o.Log.Info("this desk is offline", "reason", why)
	j.fail(why)
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// connect makes a connection and keeps it until ctx ends or the server does not take the desk any more, which the error says then.
func (j *Journal) connect(ctx context.Context) error {
	conn, err := j.o.Connect()
	if err != nil {
		return err
	}
	defer conn.Close()
	conn.SetDisconnectErrHandler(func(_ *nats.Conn, err error) {
		if err == nil {
			err = errors.New("the connection ended")
		}
		j.fail(err)
	})
	conn.SetErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
		j.o.Log.Info("the team's server reports an error", "reason", err)
	})
	js, err := jetstream.New(conn, jetstream.WithDefaultTimeout(j.o.Patience))
	if err != nil {
		return err
	}
	j.mu.Lock()
	j.js = js
	j.mu.Unlock()
	for {
		select {
		case err := <-j.failed:
			j.o.Log.Debug("the session before ended", "reason", err)
		default:
		}
		err := j.session(ctx, js)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if conn.IsClosed() {
			return fmt.Errorf("the team's server does not take this desk any more: %w", cmp.Or(conn.LastError(), err))
		}
		if !conn.IsConnected() { // what failed for that says nothing of the reason
			err = fmt.Errorf("the team's server cannot be reached: %w", cmp.Or(conn.LastError(), err))
		}
		j.offline(ctx, err, time.Second)
	}
}

// errEnds is why the desk is offline once it has ended.
var errEnds = errors.New("this desk is shutting down")

// session takes messages until that does not work any more, and returns why.
func (j *Journal) session(ctx context.Context, js jetstream.JetStream) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	place, stamp, err := j.Place(ctx)
	if err != nil {
		return err
	}
	ready, err := j.prepare(ctx, js)
	if err != nil {
		return err
	}
	defer ready()
	consumer, from, last, err := j.consume(ctx, js, place)
	if err != nil {
		return err
	}
	messages, err := consumer.Messages(jetstream.PullMaxMessages(atOnce), jetstream.PullExpiry(10*time.Second), jetstream.PullHeartbeat(2*time.Second),
		jetstream.WithMessagesErrOnMissingHeartbeat(true))
	if err != nil {
		return err
	}
	j.mu.Lock()
	j.place, j.taken = from-1, 0
	j.mu.Unlock()
	arriving := make(chan jetstream.Msg, atOnce)
	ended := make(chan error, 3)
	var working sync.WaitGroup
	working.Go(func() {
		defer close(arriving)
		for {
			m, err := messages.Next()
			if err != nil {
				ended <- err
				return
			}
			arriving <- m
		}
	})
	working.Go(func() {
		if err := j.take(ctx, js, arriving, place, stamp); err != nil {
			ended <- err
		}
		for range arriving { // so that the other goroutine ends
		}
	})
	working.Go(func() {
		err := j.caughtUp(ctx, consumer, last)
		if err == nil {
			var n int
			if n, err = j.Share(ctx); n > 0 { // what was here before the desk was in the team
				j.o.Log.Info("the requests of this desk are given to its team", "operations", n)
			}
		}
		if err == nil {
			err = j.join(ctx)
		}
		if err != nil {
			ended <- err
			return
		}
		j.keepDeleting(ctx)
	})
	defer func() { messages.Stop(); cancel(); working.Wait() }()
	select {
	case err := <-ended:
		return err
	case err := <-j.failed:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// prepare begins what has to be there before the team's journal is read, in this order; done ends it.
func (j *Journal) prepare(ctx context.Context, js jetstream.JetStream) (done func(), err error) {
	var ends []func()
	done = func() {
		for _, end := range slices.Backward(ends) {
			end()
		}
	}
	for _, begin := range []func(context.Context, jetstream.JetStream) (func(), error){
		j.exchangeKeys, // before any answer that they sign
		j.meet, j.learnDeletions, j.unfold, j.give,
	} {
		end, err := begin(ctx, js)
		if err != nil {
			done()
			return nil, err
		}
		ends = append(ends, end)
	}
	return done, nil
}

// consume begins to read the team's journal at the last message that is here, which take looks at again, or after it where it is not kept any more; last is the
// place where the journal ends now. The consumer on the server is made again each time: what is here says where
// it begins, and nothing that was sent to a connection that is gone has to be sent again.
func (j *Journal) consume(ctx context.Context, js jetstream.JetStream, place uint64) (consumer jetstream.Consumer, from, last uint64, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*j.o.Patience)
	defer cancel()
	stream, err := js.Stream(ctx, Stream)
	if err != nil {
		return nil, 0, 0, err
	}
	state := stream.CachedInfo().State
	if last = state.LastSeq; last < place {
		return nil, 0, 0, human.Errorf(human.Unavailable, "the team's journal ends at message %d, and this desk has %d: it is not the journal that this desk knows, or an old copy of it", last, place)
	}
	if from = max(place, 1); place > 0 && state.FirstSeq > place {
		from++
	}
	if err := js.DeleteConsumer(ctx, Stream, j.o.Desk); err != nil && !errors.Is(err, jetstream.ErrConsumerNotFound) {
		return nil, 0, 0, err
	}
	consumer, err = js.CreateConsumer(ctx, Stream, jetstream.ConsumerConfig{
		Durable: j.o.Desk, AckPolicy: jetstream.AckNonePolicy, DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: from,
		InactiveThreshold: time.Hour, MemoryStorage: true, Replicas: 1,
	})
	return consumer, from, last, err
}

// caughtUp waits until the team's journal is here up to last. What was at that place may be in a snapshot by now, and never comes: so it
// asks the server each second whether there is more.
func (j *Journal) caughtUp(ctx context.Context, consumer jetstream.Consumer, last uint64) error {
	for {
		info, err := consumer.Info(ctx)
		if err != nil {
			return err
		}
		j.mu.Lock()
		if info.NumPending == 0 && info.Delivered.Consumer == j.taken {
			j.place = max(j.place, last)
		}
		here := j.place >= last
		j.mu.Unlock()
		if here {
			return nil
		}
		second, cancel := context.WithTimeout(ctx, time.Second)
		j.arrived(second, last)
		cancel()
	}
}

// take stores messages as they arrive, as many at once as are there. The one that is here already has the stamp given.
func (j *Journal) take(ctx context.Context, js jetstream.JetStream, arriving <-chan jetstream.Msg, here uint64, stamp int64) error {
	next := uint64(1) // of the consumer's own count: a message that was lost on the way shows
	for first := range arriving {
		batch := []jetstream.Msg{first}
		for more := true; more && len(batch) < atOnce; {
			select {
			case m, open := <-arriving:
				if more = open; open {
					batch = append(batch, m)
				}
			default:
				more = false
			}
		}
		var messages []replica.Message
		var place, behind uint64
		for _, m := range batch {
			about, err := m.Metadata()
			if err != nil {
				return err
			}
			if about.Sequence.Consumer != next {
				return fmt.Errorf("message %d of this connection is missing", next)
			}
			next++
			place, behind = about.Sequence.Stream, about.NumPending
			if place == here && about.Timestamp.UnixNano() != stamp {
				return human.Errorf(human.Unavailable, "message %d of the team's journal is another than the one that this desk has: it is not the journal that this desk knows, or grew from an old copy of it", place)
			}
			got, err := decode(j.o.Desk, m.Subject(), place, m.Data())
			if err != nil {
				j.o.Log.Warn("a message of the team's journal counts for nothing", "subject", m.Subject(), "place", place, "reason", err)
				got.Events = nil
			}
			if j.deletions.of(got.ID) != "" { // sent before its desk knew
				got.Events = nil
			}
			got.Stamp = about.Timestamp.UnixNano()
			if err := j.note(ctx, got); err != nil {
				return err
			}
			messages = append(messages, got)
		}
		stored, err := j.store(ctx, js, messages, place)
		if err != nil {
			return err
		}
		for i, s := range stored {
			if s.Refused != nil && len(messages[i].Events) > 0 {
				j.o.Log.Debug("a message of the team's journal is here already, or counts for nothing", "operation_id", messages[i].ID, "place", messages[i].Place, "reason", s.Refused)
			}
		}
		j.mu.Lock()
		for i, m := range batch {
			if result := j.awaited[m.Headers().Get(jetstream.MsgIDHeader)]; result != nil {
				select {
				case result <- stored[i]:
				default: // it came twice
				}
			}
		}
		j.place = place
		j.taken = next - 1
		s := j.status
		s.Behind = behind
		j.set(s)
		close(j.changed) // whoever waits for a place, waits for a change
		j.changed = make(chan struct{})
		j.mu.Unlock()
	}
	return nil
}

// store stores messages here, where this desk has not left meanwhile.
func (j *Journal) store(ctx context.Context, js jetstream.JetStream, messages []replica.Message, place uint64) ([]replica.Result, error) {
	j.taking.Lock()
	defer j.taking.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	stored, err := j.Deliver(ctx, messages, place)
	if err == nil {
		err = j.fillGaps(ctx, js, messages, stored)
	}
	return stored, err
}

// fillGaps stores messages again that came before what they follow, and corrects what became of them.
func (j *Journal) fillGaps(ctx context.Context, js jetstream.JetStream, messages []replica.Message, stored []replica.Result) error {
	var gaps []replica.Message
	var at []int
	for i, s := range stored {
		if s.Gap {
			gaps, at = append(gaps, messages[i]), append(at, i)
		}
	}
	if len(gaps) == 0 {
		return nil
	}
	filled, err := j.fill(ctx, js, gaps, messages[len(messages)-1])
	for i, k := range at {
		if err == nil {
			stored[k] = filled[i]
		}
	}
	return err
}

// sideBySide is how many operations that waited are sent at once: agents continue to make requests meanwhile.
const sideBySide = 32

// join publishes what waits, and is online once nothing does.
func (j *Journal) join(ctx context.Context) error {
	stuck := map[human.OperationID]bool{} // what others changed as well, against all rules; it is kept
	for {
		waiting, err := j.waiting(ctx, stuck)
		if err != nil {
			return err
		}
		if len(waiting) == 0 {
			online, err := j.goOnline(ctx, stuck)
			if online || err != nil {
				return err
			}
		}
		waiting = waiting[:min(len(waiting), sideBySide)]
		sent := make([]error, len(waiting))
		var sending sync.WaitGroup
		for i, id := range waiting {
			sending.Go(func() { sent[i] = j.send(ctx, id) })
		}
		sending.Wait()
		for i, id := range waiting {
			err := sent[i]
			if human.KindOf(err) == human.Conflict {
				at, err := j.Standing(ctx, id) // an append in doubt was stored, and is here by now
				if err != nil {
					return err
				}
				if stuck[id] = at.Waits(); stuck[id] {
					j.o.Log.Error("an operation that waited on this desk was changed by another; what was done here is not sent", "operation_id", id)
				}
			} else if err != nil {
				return err
			}
		}
	}
}

// waiting are operations that wait, without those that are stuck.
func (j *Journal) waiting(ctx context.Context, stuck map[human.OperationID]bool) ([]human.OperationID, error) {
	ids, err := j.Waiting(ctx, atOnce+len(stuck))
	return slices.DeleteFunc(ids, func(id human.OperationID) bool { return stuck[id] }), err
}

// goOnline says whether nothing waits, and then this desk is online.
func (j *Journal) goOnline(ctx context.Context, stuck map[human.OperationID]bool) (bool, error) {
	j.mu.Lock() // nothing begins to wait meanwhile
	defer j.mu.Unlock()
	waiting, err := j.waiting(ctx, stuck)
	if err != nil || len(waiting) > 0 {
		return false, err
	}
	s := j.status
	s.Online, s.Problem = true, ""
	j.set(s)
	return true, nil
}

// mostBytes is about how large a message with waiting events becomes at most, before it is made two.
const mostBytes = 4 << 20

// send publishes what waits of an operation. Nothing else begins to wait of it once some is on its way: others may know it then.
func (j *Journal) send(ctx context.Context, id human.OperationID) error {
	j.mu.Lock() // appends that wait are stored, or see it
	at, err := j.Standing(ctx, id)
	if err == nil {
		err = j.Doubt(ctx, id, true)
	}
	j.mu.Unlock()
	if err != nil {
		return err
	}
	entries, err := j.Operation(ctx, id)
	if err != nil {
		return err
	}
	for shared := at.Shared; shared < at.Version; {
		var events []human.Event
		size := 0
		for _, e := range entries[shared:at.Version] {
			if size += sizeOf(e.Event); size > mostBytes && len(events) > 0 {
				break
			}
			events = append(events, e.Event)
		}
		place, err := j.publish(ctx, rand.Text(), id, classOf(events), replica.Standing{Version: shared, Place: at.Place}, events)
		var lost *lostError
		if errors.As(err, &lost) && !lost.inDoubt && !at.InDoubt {
			return errors.Join(err, j.Doubt(ctx, id, false))
		}
		if err != nil {
			return err
		}
		shared += uint64(len(events))
		at.Place = place
		if err := j.Sent(ctx, id, shared, place); err != nil {
			return err
		}
	}
	return nil
}

// sizeOf is about how many bytes an event takes.
func sizeOf(e human.Event) int {
	size := 512 + len(e.Text)
	if e.Request != nil {
		size += len(e.Request.Description) + (len(e.Request.Details)+len(e.Request.Context))*4/3
	}
	if e.Answer != nil {
		size += len(e.Answer.HumanInput) + len(e.Answer.ExecutionResult) + len(e.Answer.Summary)
	}
	if e.Receipt != nil {
		size += len(e.Receipt.RawMessage) * 4 / 3
	}
	return size
}
