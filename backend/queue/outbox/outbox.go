// Package outbox takes what came of each request to where its operator wants it besides the journal (H15): a structured log, a folder
// of an agent's workspace, a webhook. Each is a setting. A request that ends is noted for each of them in the journal's own file;
// from there it is delivered until that works, in the background: no answer waits for it, and no crash loses it. It may arrive
// twice, under the same id.
package outbox

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"log/slog"
	"maps"
	"sync"
	"time"

	"deskbell/backend/human"
)

// Category is that of every document.
const Category = "human_actions"

// A Document is what is kept of an ended request outside the journal. Secrets in it are masked.
type Document struct {
	ID          string            `json:"id" doc:"human_operation_ and the operation's id."`
	Category    string            `json:"category"`
	OperationID human.OperationID `json:"operation_id"`
	AgentID     string            `json:"agent_id"`
	SessionID   string            `json:"session_id,omitempty"`
	Kind        human.Kind        `json:"action_type"`
	State       human.State       `json:"state"`
	CreatedAt   time.Time         `json:"created_at"`
	EndedAt     time.Time         `json:"ended_at"`
	Text        string            `json:"text" doc:"What was asked and what came of it, in a line."`
	Request     Asked             `json:"request"`
	Result      *human.Result     `json:"result,omitempty"`
	Ended       *human.Ending     `json:"ended,omitempty" doc:"Who ended it without an answer, and why."`
}

// Asked is what an agent asked for.
type Asked struct {
	Description string          `json:"description"`
	Details     json.RawMessage `json:"details,omitempty"`
	Context     json.RawMessage `json:"context,omitempty"`
}

// ID is the name of an operation's document.
func ID(id human.OperationID) string { return "human_operation_" + string(id) }

// DocumentOf is the document of an ended operation, as it was given to its agent.
func DocumentOf(op human.Operation) Document {
	op = op.ForAgent()
	d := Document{
		ID: ID(op.ID), Category: Category, OperationID: op.ID, AgentID: op.AgentID, SessionID: op.SessionID, Kind: op.Kind, State: op.State,
		CreatedAt: op.CreatedAt, EndedAt: op.UpdatedAt, Result: op.Result, Ended: op.Ended,
		Request: Asked{op.Description, op.Details, op.Context},
	}
	said := string(op.State)
	switch {
	case op.Result != nil:
		d.EndedAt, said = op.Result.At, op.Result.OneLine()
	case op.Ended != nil:
		d.EndedAt = op.Ended.At
		if op.Ended.Reason != "" {
			said += ": " + op.Ended.Reason
		}
	}
	d.Text = human.OneLine(op.Description, 160) + " – " + human.OneLine(said, 160)
	return d
}

// A Sink is one place where documents go.
type Sink interface {
	// Put delivers a document, given as it is and as JSON; again, where it did before. It blocks until it is there, and returns
	// why it is not.
	Put(ctx context.Context, d Document, text []byte) error
}

// An Item is a document that is to be delivered to a sink.
type Item struct {
	Operation human.OperationID
	Attempts  int
}

// A SinkState is how a sink stands.
type SinkState struct {
	Name    string     `json:"name" enum:"log,folder,webhook"`
	On      bool       `json:"on"`
	To      string     `json:"to,omitempty" doc:"The file, the folder, or the webhook's host."`
	Waiting int        `json:"waiting" doc:"Documents that were not delivered yet."`
	Problem string     `json:"problem,omitempty" doc:"Why the last attempt failed, where it did."`
	Since   *time.Time `json:"since,omitempty" doc:"When the oldest that waits was noted."`
}

// A Store keeps what is to be delivered, in the journal's file. Its errors are of package human.
type Store interface {
	// OutboxSeq is the seq up to which the journal was read.
	OutboxSeq(ctx context.Context) (uint64, error)
	// Post notes an operation for sinks, and how far the journal was read; durable when it returns.
	Post(ctx context.Context, seq uint64, id human.OperationID, to []string, now time.Time) error
	// Outbox returns items of a sink, at most so many: those of the fewest attempts first, then in the order they ended.
	Outbox(ctx context.Context, sink string, most int) ([]Item, error)
	Delivered(ctx context.Context, sink string, id human.OperationID) error
	Failed(ctx context.Context, sink string, item Item, problem string) error
	// Discard drops all items of a sink.
	Discard(ctx context.Context, sink string) error
	Outboxes(ctx context.Context) ([]SinkState, error)
}

// A Queue is where requests end.
type Queue interface {
	Get(ctx context.Context, by human.Actor, id human.OperationID) (human.Operation, error)
	Follow(ctx context.Context, by human.Actor, after uint64) iter.Seq2[human.Entry, error]
}

// Names are the sinks there may be, in the order they are shown.
var Names = []string{"log", "folder", "webhook"}

// Deps are what a Service stands on.
type Deps struct {
	Queue    Queue
	Store    Store
	Operator human.Actor
	// Sinks are those that are on at present, by name, with where they lead; they are asked for at each delivery.
	Sinks func() map[string]On
	// Mask hides secrets in a text.
	Mask func(string) string
	Now  func() time.Time
	Log  *slog.Logger
}

// On is a sink that is on.
type On struct {
	Sink
	To string
}

// A Service delivers documents. Its methods may be called by several goroutines.
type Service struct {
	d    Deps
	wake map[string]chan struct{}
}

// New makes a Service.
func New(d Deps) *Service {
	s := &Service{d: d, wake: map[string]chan struct{}{}}
	for _, name := range Names {
		s.wake[name] = make(chan struct{}, 1)
	}
	return s
}

// Run follows the queue and delivers, until ctx ends. Its error is that of the store that could not be read at the start.
func (s *Service) Run(ctx context.Context) error {
	after, err := s.d.Store.OutboxSeq(ctx)
	if err != nil && ctx.Err() == nil {
		return err
	}
	var running sync.WaitGroup
	defer running.Wait()
	for _, name := range Names {
		running.Go(func() { s.deliver(ctx, name) })
	}
	for pause := time.Second; ctx.Err() == nil; {
		err := s.follow(ctx, &after)
		if ctx.Err() != nil {
			break
		}
		s.d.Log.Warn("what ended could not be noted for the log, folder and webhook; it will be tried again", "err", err)
		rest(ctx, pause, nil)
		pause = min(2*pause, time.Minute)
	}
	return nil
}

// follow notes what ends, and moves after along.
func (s *Service) follow(ctx context.Context, after *uint64) error {
	for e, err := range s.d.Queue.Follow(ctx, s.d.Operator, *after) {
		if err != nil {
			return err
		}
		if ends(e.Event.Type) {
			var to []string
			for name := range s.d.Sinks() {
				to = append(to, name)
			}
			if err := s.d.Store.Post(ctx, e.Seq, e.ID, to, s.d.Now()); err != nil {
				return err
			}
			for _, name := range to {
				s.nudge(name)
			}
		}
		*after = e.Seq
	}
	return errors.New("the journal could not be followed further")
}

// ends says whether an event may end an operation. Whether it did is seen at the delivery.
func ends(t human.EventType) bool {
	switch t {
	case human.Finished, human.Withdrawn, human.TurnedDown, human.Expired, human.Voted:
		return true
	}
	return false
}

func (s *Service) nudge(name string) {
	select {
	case s.wake[name] <- struct{}{}:
	default:
	}
}

// Recheck has every sink look again at what is to be delivered, as after a change of settings.
func (s *Service) Recheck() {
	for _, name := range Names {
		s.nudge(name)
	}
}

const (
	round     = 50               // items at a time
	limit     = 30 * time.Second // of one delivery
	firstWait = time.Second      // after a delivery that failed
	longest   = 15 * time.Minute
)

// deliver empties the outbox of one sink, again and again. After a failure it pauses, longer each time, and continues with those that were
// tried least: one document that is never taken does not keep back the others.
func (s *Service) deliver(ctx context.Context, name string) {
	wait := time.Duration(0)
	for ctx.Err() == nil {
		done, more, err := s.round(ctx, name)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			if wait = 0; !more {
				rest(ctx, longest, s.wake[name])
			}
			continue
		}
		if wait == 0 {
			s.d.Log.Warn("a finished request was not delivered; it will be tried again", "to", name, "err", err)
		}
		if wait = min(max(2*wait, firstWait), longest); done > 0 {
			wait = firstWait
		}
		rest(ctx, wait, s.wake[name])
	}
}

// round delivers some of what waits for a sink, and stops at the first failure.
func (s *Service) round(ctx context.Context, name string) (done int, more bool, err error) {
	sink, on := s.d.Sinks()[name]
	if !on {
		return 0, false, s.d.Store.Discard(ctx, name)
	}
	items, err := s.d.Store.Outbox(ctx, name, round)
	for _, item := range items {
		if err != nil {
			break
		}
		if err = s.one(ctx, sink, item.Operation); err == nil {
			err = s.d.Store.Delivered(ctx, name, item.Operation)
			done++
		} else if ctx.Err() == nil {
			err = errors.Join(err, s.d.Store.Failed(ctx, name, item, s.d.Mask(human.OneLine(human.SafeText(err), 300))))
		}
	}
	return done, len(items) == round, err
}

func (s *Service) one(ctx context.Context, sink Sink, id human.OperationID) error {
	op, err := s.d.Queue.Get(ctx, s.d.Operator, id)
	if human.KindOf(err) == human.NotFound || err == nil && !op.State.Terminal() {
		return nil // nothing ended
	}
	if err != nil {
		return err
	}
	d, text, err := s.document(op)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return sink.Put(ctx, d, text)
}

// document is that of an operation without secrets, and its JSON.
func (s *Service) document(op human.Operation) (d Document, text []byte, err error) {
	text, err = json.Marshal(DocumentOf(op))
	if err != nil {
		return d, nil, human.Wrap(human.Internal, err, "the document of operation %s cannot be written", op.ID)
	}
	var tree any
	if err = json.Unmarshal(text, &tree); err == nil {
		text, err = json.Marshal(masked(tree, s.d.Mask))
	}
	if err == nil {
		err = json.Unmarshal(text, &d)
	}
	if err != nil {
		return d, nil, human.Wrap(human.Internal, err, "the document of operation %s cannot be masked", op.ID)
	}
	text, err = json.Marshal(d) // in the order of its fields
	return d, text, err
}

// masked is a JSON value with the secrets in its texts and names hidden. A text is looked at together with its name, which may say
// that it is one.
func masked(v any, mask func(string) string) any {
	switch v := v.(type) {
	case string:
		return mask(v)
	case []any:
		for i := range v {
			v[i] = masked(v[i], mask)
		}
	case map[string]any:
		hidden := make(map[string]any, len(v))
		for name, value := range v {
			if _, is := value.(string); is {
				var pair map[string]any
				text, err := json.Marshal(map[string]any{name: value})
				if err == nil && json.Unmarshal([]byte(mask(string(text))), &pair) == nil {
					maps.Copy(hidden, pair)
					continue
				}
			}
			hidden[mask(name)] = masked(value, mask)
		}
		return hidden
	}
	return v
}

// States says how the sinks stand, each that there is.
func (s *Service) States(ctx context.Context) ([]SinkState, error) {
	kept, err := s.d.Store.Outboxes(ctx)
	if err != nil {
		return nil, err
	}
	on := s.d.Sinks()
	all := make([]SinkState, len(Names))
	for i, name := range Names {
		all[i].Name = name
		for _, k := range kept {
			if k.Name == name {
				all[i] = k
			}
		}
		if sink, is := on[name]; is {
			all[i].On, all[i].To = true, sink.To
		}
	}
	return all, nil
}

// Try delivers a sample to a sink, at once, and returns why that failed.
func (s *Service) Try(ctx context.Context, name string) error {
	sink, on := s.d.Sinks()[name]
	if !on {
		return human.Errorf(human.NotFound, "%s is off; switch it on in the settings first", human.OneLine(name, 40))
	}
	now := s.d.Now().UTC()
	d, text, err := s.document(human.Operation{
		ID: "op_sample", Kind: human.Feedback, State: human.Completed, AgentID: "deskbell", Description: "Does this arrive?", CreatedAt: now, UpdatedAt: now,
		Result: &human.Result{Answer: human.Answer{HumanInput: "It does: this is a test from Deskbell."}, By: s.d.Operator, At: now},
	})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return sink.Put(ctx, d, text)
}

// rest waits for a while, until something wakes it, or ctx ends.
func rest(ctx context.Context, d time.Duration, wake <-chan struct{}) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-wake:
	case <-ctx.Done():
	}
}
