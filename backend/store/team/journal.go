package team

import (
	"cmp"
	"context"
	crand "crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"deskbell/backend/human"
	"deskbell/backend/queue"
	"deskbell/backend/queue/receipt"
	"deskbell/backend/queue/replica"
)

// Options are what a Journal is made with.
type Options struct {
	Role     Role                                       // what this desk may do; empty: everything that an operator's may
	Desk     string                                     // this desk's name, see Desk
	Connect  func() (*nats.Conn, error)                 // makes a connection that connects again by itself; Settings are to be among its options
	Patience time.Duration                              // how long an append waits for the team's server; 0 is 5 s
	Keys     func() []receipt.ServerKey                 // with which this desk signs receipts; nil: it tells nothing, and learns nothing
	Learn    func([]receipt.ServerKey) error            // keeps the keys of another desk
	Here     func() (now Here, changed <-chan struct{}) // what this desk says of its member; nil: it says nothing, and learns nothing
	Key      []byte                                     // the team's, by which files are encrypted
	Rules    string                                     // the team's rules as this desk knew them last
	Log      *slog.Logger                               // nil is none
	Now      func() time.Time                           // nil is time.Now

	// Give reads what another desk asks for, as far as it may have it; nil: it gets nothing.
	Give func(ctx context.Context, asker string, r Reader, a Ask) (io.Reader, error)
	// Named notes that an operation of another desk names files, before the operation itself is stored here; nil: nothing is noted.
	Named func(ctx context.Context, op human.OperationID, files []human.Attachment) error
	// Delete deletes operations that are here, ended or not, with all that belongs to them, as a lead did for the whole team; what is not here is
	// left out. A Conflict says that one has to stay for now, and that none was deleted. nil: nothing is deleted.
	Delete func(ctx context.Context, by human.Actor, ids []human.OperationID) error
}

// Settings are what a Journal needs of its connection: nothing is kept back while there is none, so that an append knows.
func Settings(desk string) []nats.Option {
	return []nats.Option{
		nats.Name("Deskbell " + desk), nats.CustomInboxPrefix(Inbox(desk)), nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1),
		nats.ReconnectBufSize(-1), nats.ReconnectWait(250 * time.Millisecond), nats.ReconnectJitter(250*time.Millisecond, 500*time.Millisecond),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}), // else it writes to the standard error output
		nats.PingInterval(5 * time.Second), nats.MaxPingsOutstanding(2),
	}
}

// A Journal is the team's, as one desk has it. Reading is from the desk's own storage; an append is published first, and returns
// once it has come back and is in that storage. While the team's server cannot be reached, new operations are stored here and wait: no other
// desk knows of them, so everything can be done with them, and they are published once there is a connection. Other operations
// do not change meanwhile. It is safe for concurrent use.
type Journal struct {
	replica.Storage
	o      Options
	member string

	directory *Directory
	deletions deletions

	mu      sync.RWMutex
	js      jetstream.JetStream
	status  Status
	changed chan struct{}                  // closed and replaced with each change of status
	place   uint64                         // up to which the team's journal is here
	taken   uint64                         // how many messages the session has stored
	awaited map[string]chan replica.Result // what becomes of messages of this desk that are on their way; each has room for one
	failed  chan error                     // has room for one: why the session has to begin again
	left    bool                           // nothing is published any more, see Leave

	taking sync.Mutex // held while messages are stored here
}

var _ queue.Journal = (*Journal)(nil)

// A Status says how a desk stands with its team.
type Status struct {
	Online  bool      // connected, and nothing waits
	Since   time.Time // of Online or not
	Problem string    // why it is not online
	Behind  uint64    // messages of the team's journal that are not here yet
}

// New makes a journal over a desk's own storage. It is offline until Run has connected it.
func New(storage replica.Storage, o Options) (*Journal, error) {
	member, err := MemberOf(o.Desk)
	if err != nil {
		return nil, err
	}
	o.Patience = cmp.Or(o.Patience, 5*time.Second)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Journal{Storage: storage, o: o, member: member, changed: make(chan struct{}), failed: make(chan error, 1), awaited: map[string]chan replica.Result{}, directory: newDirectory(o.Now, o.Rules),
		deletions: deletions{by: map[human.OperationID]string{}, changed: make(chan struct{}, 1)}, status: Status{Since: o.Now()}}, nil
}

// Directory is who is in the team and who is there; with Options.Here.
func (j *Journal) Directory() *Directory { return j.directory }

// Status returns how the desk stands, and a channel that is closed when that changes.
func (j *Journal) Status() (Status, <-chan struct{}) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return j.status, j.changed
}

// Touch has those look again who follow the status.
func (j *Journal) Touch() {
	j.mu.Lock()
	defer j.mu.Unlock()
	close(j.changed)
	j.changed = make(chan struct{})
}

// set changes the status. The caller holds mu.
func (j *Journal) set(s Status) {
	if s.Online != j.status.Online {
		s.Since = j.o.Now()
	}
	if s == j.status {
		return
	}
	j.status = s
	close(j.changed)
	j.changed = make(chan struct{})
}

// fail ends the session: the desk is offline until the next has begun.
func (j *Journal) fail(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.set(Status{Since: j.status.Since, Problem: err.Error(), Behind: j.status.Behind})
	select {
	case j.failed <- err:
	default:
	}
}

// Append implements queue.Journal. It blocks for as long as Options.Patience, and a little longer where an answer is being awaited.
// An Unavailable error says that the operation cannot be changed while there is no connection; where it says that the change is
// in doubt, the change may be stored, as a whole.
func (j *Journal) Append(ctx context.Context, id human.OperationID, expected uint64, events ...human.Event) (uint64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if id == "" || len(events) == 0 {
		return 0, human.Errorf(human.Invalid, "an append needs an operation's id and at least one event")
	}
	class := classOf(events)
	if err := j.o.Role.publishes(class); err != nil {
		return 0, err
	}
	for _, e := range events {
		if err := may(e, j.member, class, max(expected, 1)); err != nil {
			return 0, err
		}
	}
	if by := j.deletions.of(id); by != "" {
		return 0, human.Errorf(human.NotFound, "operation %s was deleted by %s for the whole team", id, by)
	}
	at, seq, done, err := j.appendHere(ctx, id, expected, events)
	if done || err != nil {
		return seq, err
	}
	message, result := j.await()
	if message == "" {
		_, seq, _, err = j.appendHere(ctx, id, expected, events)
		return seq, err
	}
	defer j.forget(message)
	_, err = j.publish(ctx, message, id, class, at, events)
	if err == nil {
		once := time.NewTimer(j.o.Patience)
		defer once.Stop()
		select {
		case r := <-result:
			return j.outcome(ctx, id, expected, events, r)
		case <-once.C:
			err = &lostError{errors.New("what was sent did not come back"), true}
		}
	}
	select {
	case r := <-result: // only the answer was lost
		return j.outcome(ctx, id, expected, events, r)
	default:
	}
	var lost *lostError
	if !errors.As(err, &lost) {
		return 0, err
	}
	defer j.fail(err) // the next session sends what waits
	if expected > 0 {
		return 0, lost.unavailable(id)
	}
	if seq, err = j.AppendWaiting(ctx, id, 0, lost.inDoubt, events...); human.KindOf(err) == human.Conflict {
		return j.outcome(ctx, id, 0, events, replica.Result{Refused: err}) // the session was first
	}
	return seq, err
}

// appendHere appends where there is no connection, or other events of the operation wait. done is false where the append can be
// published.
func (j *Journal) appendHere(ctx context.Context, id human.OperationID, expected uint64, events []human.Event) (at replica.Standing, seq uint64, done bool, err error) {
	j.mu.RLock() // going online, and sending what waits, is not begun meanwhile
	defer j.mu.RUnlock()
	if at, err = j.Standing(ctx, id); err != nil {
		return at, 0, false, err
	}
	switch {
	case at.Version != expected:
		return at, 0, false, conflict(id, at.Version, expected)
	case at.Elsewhere, at.Earlier && !slices.ContainsFunc(events, ofOperator):
		return at, 0, true, replica.Keep(ctx, j.Storage, id, events)
	case j.left && at.Kept():
		return at, 0, true, replica.Keep(ctx, j.Storage, id, events)
	case at.InDoubt, at.Shared > 0 && (at.Waits() || !j.status.Online):
		return at, 0, true, (&lostError{errors.New(cmp.Or(j.status.Problem, "it catches up with its team")), false}).unavailable(id)
	case at.Waits(), !j.status.Online, j.left:
		seq, err = j.AppendWaiting(ctx, id, at.Version, false, events...)
		return at, seq, true, err
	}
	return at, 0, false, nil
}

// ofOperator says whether an operator caused an event: every desk of theirs may say so.
func ofOperator(e human.Event) bool { return e.By.Role == human.Operator }

// await names a message that is to be published; the channel has what became of it here, once it has come back. The name is empty where this
// desk has left meanwhile.
func (j *Journal) await() (message string, result chan replica.Result) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.left {
		return "", nil
	}
	message, result = crand.Text(), make(chan replica.Result, 1)
	j.awaited[message] = result
	return message, result
}

func (j *Journal) forget(message string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.awaited, message)
	if j.left {
		close(j.changed)
		j.changed = make(chan struct{})
	}
}

// Leave ends the desk's part in its team. First everything that is on its way comes to rest: nothing is published from then on, and nothing is stored that
// others publish. Then last is called, with how this desk's copy compares with the team's journal. After an error of it the desk stays in the team;
// otherwise it has left, and Run is to be ended before last returns. Where the desk is offline, an Unavailable error says so; with
// offline it leaves anyway, and Team of what was compared is empty. Leave reads the team's whole journal.
func (j *Journal) Leave(ctx context.Context, offline bool, last func(human.TeamCheck) error) (err error) {
	j.mu.Lock()
	online := j.status.Online
	j.left = online || offline
	j.mu.Unlock()
	if !online && !offline {
		return human.Errorf(human.Unavailable, "this desk is not connected to its team, so it may lack changes of others, and the team changes of this desk; leave once it is connected, or say that it is to leave offline (`deskbell team leave --offline`)")
	}
	defer func() {
		if err != nil {
			j.mu.Lock()
			j.left = false
			j.mu.Unlock()
			j.fail(errors.New("it stays in the team")) // the next session sends what was done here meanwhile
		}
	}()
	for {
		j.mu.RLock()
		sent, changed := len(j.awaited), j.changed
		j.mu.RUnlock()
		if sent == 0 {
			break
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	j.taking.Lock()
	defer j.taking.Unlock()
	var found human.TeamCheck
	if online {
		found, err = j.Check(ctx)
	} else {
		found.Here, err = Copy(ctx, j.Storage)
	}
	if err != nil {
		return err
	}
	return last(found)
}

// outcome is what an append returns whose message came back: all desks store the team's journal in its order, so what is not stored
// here is stored nowhere.
func (j *Journal) outcome(ctx context.Context, id human.OperationID, expected uint64, events []human.Event, r replica.Result) (uint64, error) {
	if r.Refused == nil {
		return r.Seq, nil
	}
	entries, err := j.Operation(ctx, id) // it may have come twice
	last := int(expected) + len(events)
	if err != nil || len(entries) < last {
		return 0, errors.Join(r.Refused, err)
	}
	is, want := entries[last-1], events[len(events)-1]
	if is.Event.Desk != "" || is.Event.Type != want.Type || is.Event.By != want.By || !is.Event.At.Equal(want.At) {
		return 0, r.Refused
	}
	return is.Seq, nil
}

// A lostError says that the team's server gave no answer.
type lostError struct {
	cause   error
	inDoubt bool // it may have stored the message anyway
}

func (e *lostError) Error() string {
	return fmt.Sprintf("the team's server does not answer: %v", e.cause)
}
func (e *lostError) Unwrap() error { return e.cause }

// unavailable is the error for whoever wanted to change the operation.
func (e *lostError) unavailable(id human.OperationID) error {
	if e.inDoubt {
		return human.Wrap(human.Unavailable, e.cause, "the team's server did not confirm the change of operation %s; whether it was stored shows once there is a connection", id)
	}
	return human.Wrap(human.Unavailable, fmt.Errorf("%w: %w", queue.ErrOffline, e.cause), "this desk has no connection to its team, and others may change operation %s; try again once it is connected", id)
}

// publish puts an append into the team's journal, and returns its place. The error is a Conflict, a lostError, or says what is wrong
// with the message.
func (j *Journal) publish(ctx context.Context, message string, id human.OperationID, class Class, at replica.Standing, events []human.Event) (uint64, error) {
	payload, err := encode(j.member, at.Version, events)
	if err != nil {
		return 0, err
	}
	j.mu.RLock()
	js := j.js
	j.mu.RUnlock()
	if js == nil {
		return 0, &lostError{errors.New("not connected yet"), false}
	}
	msg := nats.NewMsg(Subject(id, j.o.Desk, class))
	msg.Data = payload
	patience, cancel := context.WithTimeout(context.WithoutCancel(ctx), j.o.Patience) // once on its way, its fate has to be known
	defer cancel()
	lost := &lostError{}
	for try := 0; ; try++ {
		once, done := context.WithTimeout(patience, max(j.o.Patience/3, 100*time.Millisecond))
		ack, err := js.PublishMsg(once, msg, jetstream.WithMsgID(message), jetstream.WithExpectStream(Stream), jetstream.WithRetryAttempts(0),
			jetstream.WithExpectLastSequenceForSubject(at.Place, AllOf(id)))
		done()
		if err == nil {
			return ack.Sequence, nil
		}
		var api *jetstream.APIError
		switch {
		case errors.As(err, &api) && api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence:
			if !j.first(patience, api) && lost.inDoubt { // it may be this very message
				return 0, lost
			}
			return 0, conflict(id, at.Version+1, at.Version)
		case errors.As(err, &api) && api.ErrorCode == wrongConstant: // another append of the operation is on its way
			lost.cause = err
		case errors.As(err, &api):
			lost.cause = err
			if api.ErrorCode == tooLarge {
				return 0, human.Wrap(human.Invalid, err, "the request is larger than the team's server takes; send less, or raise its max_payload")
			}
		case errors.Is(err, nats.ErrMaxPayload):
			return 0, human.Wrap(human.Invalid, err, "the request is larger than the team's server takes; send less, or raise its max_payload")
		case errors.Is(err, nats.ErrReconnectBufExceeded), errors.Is(err, nats.ErrNoResponders), errors.Is(err, jetstream.ErrNoStreamResponse):
			lost.cause = err // it was not sent, or it reached no one
		default:
			lost.cause, lost.inDoubt = err, true
		}
		pause := time.NewTimer(min(time.Duration(1<<min(try, 6))*4*time.Millisecond, 250*time.Millisecond) + rand.N(4*time.Millisecond))
		select {
		case <-pause.C:
		case <-patience.Done():
			pause.Stop()
			return 0, lost
		}
	}
}

// Codes of JetStream's errors that the client has no names for.
const (
	wrongConstant = 10164 // as JSErrCodeStreamWrongLastSequence, while the other message is not stored yet
	tooLarge      = 10054
)

// first waits until what was published before is here, so that whoever reads again reads something newer; it says whether that is so.
func (j *Journal) first(ctx context.Context, wrong *jetstream.APIError) bool {
	var last uint64
	if _, err := fmt.Sscanf(wrong.Description, "wrong last sequence: %d", &last); err == nil {
		j.arrived(ctx, last)
	}
	return ctx.Err() == nil
}

// arrived blocks until the team's journal is here up to place, or ctx ends.
func (j *Journal) arrived(ctx context.Context, place uint64) {
	for {
		j.mu.RLock()
		here, changed := j.place, j.changed
		j.mu.RUnlock()
		if here >= place {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

func conflict(id human.OperationID, is, expected uint64) error {
	if expected == 0 {
		return human.Errorf(human.Conflict, "operation %s exists already", id)
	}
	return human.Errorf(human.Conflict, "operation %s is at version %d, not %d: another change came first; read it again", id, is, expected)
}
