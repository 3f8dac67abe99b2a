package queue

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"deskbell/backend/human"
	"deskbell/backend/kind"
)

// Channels a request can be shown on, as the delivery ledger names them.
var Channels = []string{"card", "notification", "tray", "console", "terminal"}

// Get returns an operation. An agent gets its own, as ForAgent shows it, and is noted as in contact;
// another's is NotFound, as if it did not exist.
func (q *Queue) Get(ctx context.Context, by human.Actor, id human.OperationID) (human.Operation, error) {
	op, err := q.load(ctx, id)
	if err != nil {
		return op, err
	}
	if by.Role != human.Agent {
		return op, nil
	}
	if op.AgentID != by.Name {
		return human.Operation{}, human.Errorf(human.NotFound, "you have no operation %s", id)
	}
	q.presence.touch(id, by.Name)
	return op.ForAgent(), nil
}

// Claim makes an operation the operator's own; no one else can answer it until it is released.
func (q *Queue) Claim(ctx context.Context, by human.Actor, id human.OperationID) (human.Operation, error) {
	return q.operate(ctx, by, id, human.Event{Type: human.ClaimedBy})
}

// Release gives a claimed operation back to everybody.
func (q *Queue) Release(ctx context.Context, by human.Actor, id human.OperationID, reason string) (human.Operation, error) {
	return q.operate(ctx, by, id, human.Event{Type: human.Released, Text: reason})
}

// maxName is the longest name of an operator, in bytes.
const maxName = 100

// HandOver lets another operator claim an operation that is claimed, or claims it for by until they do. note is for them. Handing
// over again replaces the hand-over before. Invalid for by themselves; a Conflict error for who has claimed it.
func (q *Queue) HandOver(ctx context.Context, by human.Actor, id human.OperationID, to, note string) (human.Operation, error) {
	if to = strings.TrimSpace(to); len(to) > maxName || !utf8.ValidString(to) {
		return human.Operation{}, human.BadField("to", "is %d bytes; a name has at most %d, in valid UTF-8", len(to), maxName)
	}
	return q.doOrKeep(ctx, human.Later{Operation: id, Does: human.HandsOver, By: by, To: to, Text: note}, false)
}

// Route notes who is asked for an operation now, and why. A step that there is already changes nothing: in a team several servers
// note the same one.
func (q *Queue) Route(ctx context.Context, id human.OperationID, step human.Routing) (human.Operation, error) {
	return q.change(ctx, id, func(op human.Operation) ([]human.Event, error) {
		if op.State.Terminal() || step.Step <= len(op.Routing) {
			return nil, nil
		}
		return []human.Event{{Type: human.Routed, By: human.Actor{Role: human.System}, Routing: &step}}, nil
	})
}

// Start says that the operator works on it.
func (q *Queue) Start(ctx context.Context, by human.Actor, id human.OperationID) (human.Operation, error) {
	return q.operate(ctx, by, id, human.Event{Type: human.Started})
}

// Decline ends an operation without an answer. A reason is required: the agent has nothing else to go by.
func (q *Queue) Decline(ctx context.Context, by human.Actor, id human.OperationID, reason string) (human.Operation, error) {
	return q.doOrKeep(ctx, human.Later{Operation: id, Does: human.Declines, By: by, Text: reason}, false)
}

// HoldDecline is Decline with time to undo it, as Hold is Complete.
func (q *Queue) HoldDecline(ctx context.Context, by human.Actor, id human.OperationID, reason string) (human.Operation, error) {
	return q.doOrKeep(ctx, human.Later{Operation: id, Does: human.Declines, By: by, Text: reason}, human.ProofOf(ctx) == nil)
}

func (q *Queue) decline(ctx context.Context, by human.Actor, id human.OperationID, reason string, hold bool) (human.Operation, error) {
	if strings.TrimSpace(reason) == "" {
		return human.Operation{}, human.BadField("reason", "is missing; say why you decline, so that the agent can do something else")
	}
	if err := checkText(reason); err != nil {
		return human.Operation{}, err
	}
	return q.asOperator(ctx, by, id, func(op human.Operation) ([]human.Event, error) {
		if op.Leaving != nil {
			return nil, op.HeldError()
		}
		if until := q.until(op, human.Answer{}); hold && until != nil {
			return []human.Event{{Type: human.Held, By: by, Text: reason, Until: until}}, nil
		}
		return []human.Event{{Type: human.TurnedDown, By: by, Text: reason}}, nil
	})
}

// SaveInput keeps an answer as a draft, unsent; nil forgets the draft.
func (q *Queue) SaveInput(ctx context.Context, by human.Actor, id human.OperationID, draft *human.Answer) (human.Operation, error) {
	if draft != nil {
		if err := checkAnswer(*draft); err != nil {
			return human.Operation{}, err
		}
		saved := whole(*draft)
		draft = &saved
	}
	return q.asOperator(ctx, by, id, func(op human.Operation) (_ []human.Event, err error) {
		if draft != nil {
			if draft.Files, err = q.files(ctx, by, op, *draft); err != nil {
				return nil, err
			}
		}
		return []human.Event{{Type: human.InputSaved, By: by, Answer: draft}}, nil
	})
}

// Complete gives the answer (H9). Where answer has no human_input, a saved draft of the same operator
// supplies it; where it has no summary, one line is made of the rest, unless the settings say no. An approval
// needs a decision. Where two people have to approve, the first approval leaves the operation open for the second. digest must be the operation's: what was drawn on the screen is what is answered. Only answers that let no
// agent act may be without. Findings that were removed go no further than this call; those that are left must rest on what the
// operation has.
func (q *Queue) Complete(ctx context.Context, by human.Actor, id human.OperationID, answer human.Answer, digest string) (human.Operation, error) {
	return q.answer(ctx, by, id, answer, digest, false)
}

// Hold is Complete with time to undo it: the answer is durable when it returns, and its agent gets it Options.UndoTime later, or when the
// request would become overdue; see human.Operation.Leaving. Where kind.Kind.Undo does not allow that, and where the operator has
// proved that they are there, the answer is sent at once.
func (q *Queue) Hold(ctx context.Context, by human.Actor, id human.OperationID, answer human.Answer, digest string) (human.Operation, error) {
	return q.answer(ctx, by, id, answer, digest, human.ProofOf(ctx) == nil)
}

func (q *Queue) answer(ctx context.Context, by human.Actor, id human.OperationID, answer human.Answer, digest string, hold bool) (human.Operation, error) {
	if answer.Decision == human.Refused {
		return q.doOrKeep(ctx, human.Later{Operation: id, Does: human.Denies, By: by, Text: answer.HumanInput, Answer: &answer, Digest: digest}, hold)
	}
	return q.complete(ctx, by, id, answer, digest, hold)
}

// Undo makes an answer that is held a draft again, and a declined operation one that is not. A Conflict error once it has left.
func (q *Queue) Undo(ctx context.Context, by human.Actor, id human.OperationID) (human.Operation, error) {
	return q.operate(ctx, by, id, human.Event{Type: human.Undone})
}

func (q *Queue) complete(ctx context.Context, by human.Actor, id human.OperationID, answer human.Answer, digest string, hold bool) (human.Operation, error) {
	if err := checkAnswer(answer); err != nil {
		return human.Operation{}, err
	}
	return q.asOperator(ctx, by, id, func(op human.Operation) ([]human.Event, error) {
		if op.Leaving != nil {
			return nil, op.HeldError()
		}
		full := whole(answer.Kept())
		if draft := op.DraftOf(by); full.HumanInput == "" && draft != nil {
			full.HumanInput = draft.HumanInput
		}
		if !op.State.Terminal() {
			if err := fits(op, &full, digest); err != nil {
				return nil, err
			}
			var err error
			if full.Files, err = q.files(ctx, by, op, full); err != nil {
				return nil, err
			}
			if until := q.until(op, full); hold && until != nil {
				return []human.Event{{Type: human.Held, By: by, Answer: &full, Until: until}}, nil
			}
			full = q.summarized(op, full)
			if op.ApprovesFirst(full, q.now()) {
				return []human.Event{{Type: human.ApprovedFirst, By: by, Answer: &full, Digest: op.AnswerDigest(full)}}, nil
			}
			if k, _ := kind.Of(op.Kind); k.Events != nil {
				return k.Events(op, by, full)
			}
		}
		return []human.Event{{Type: human.Finished, By: by, Answer: &full}}, nil
	})
}

// until is when an answer, the empty one of a decline, leaves that is held now: no request becomes overdue meanwhile. nil is at once.
func (q *Queue) until(op human.Operation, a human.Answer) *time.Time {
	if k, _ := kind.Of(op.Kind); k.Undo == nil || !k.Undo(op, a) {
		return nil
	}
	at := q.now().Add(q.opts.UndoTime())
	if op.ExpiresAt != nil && !op.Overdue && op.ExpiresAt.Before(at) {
		at = *op.ExpiresAt
	}
	if !at.After(q.now()) {
		return nil
	}
	return &at
}

// summarized is an answer that has a summary, whoever wrote it.
func (q *Queue) summarized(op human.Operation, a human.Answer) human.Answer {
	if a.Summary == "" {
		a.Summary = q.opts.Summarize(op, a)
	}
	return a
}

// bound says whether answers to a kind must say which request they are for: those that let an agent act.
func bound(k human.Kind) bool {
	return k == human.Approve || k == human.Permission || k == human.Box || k == human.Plan
}

// fits says what is wrong with an answer to this operation.
func fits(op human.Operation, a *human.Answer, digest string) error {
	for _, id := range a.Attachments {
		if strings.HasPrefix(id, human.RecordingPrefix) && !slices.Contains(op.Recordings, human.RecordingID(id)) {
			return human.BadField("attachments", "operation %s has no recording %s; it was discarded, or belongs to another operation", op.ID, id)
		}
	}
	for field, from := range a.FieldSources {
		if _, is := a.Fields[field]; !is {
			return human.BadField("field_sources", "%q is not a field of the answer", human.OneLine(field, 80))
		}
		if !slices.Contains(op.Recordings, from.Recording) {
			return human.BadField("field_sources", "operation %s has no recording %s, the source of %q; it was discarded, or belongs to another operation", op.ID, from.Recording, human.OneLine(field, 80))
		}
	}
	if err := rests(op, *a); err != nil {
		return err
	}
	if digest == "" && bound(op.Kind) {
		return human.BadField("digest", "is missing; an answer to a request of this kind is bound to what was shown: give the digest of operation %s as you read it", op.ID)
	}
	want, err := answerDigest(op, *a)
	if err != nil {
		return err
	}
	if digest != "" && digest != want {
		return human.Errorf(human.Conflict, "the answer is for another version of the request (%.12s…) than operation %s has (%.12s…); read it again", digest, op.ID, want)
	}
	k, is := kind.Of(op.Kind)
	if !is {
		return human.Errorf(human.Internal, "operation %s is of a kind this version does not know: %q", op.ID, op.Kind)
	}
	for _, part := range a.Parts() {
		if !slices.Contains(k.Answer, part) {
			return human.BadField(part, "is no part of an answer to %s", op.Kind)
		}
	}
	if len(a.Keep) > 0 && !slices.Contains(k.Answer, "keep") {
		return human.BadField("keep", "is no part of an answer to %s", op.Kind)
	}
	return k.Check(op, a)
}

// answerDigest is the digest that an answer must be given with: of an approval with edited arguments that of the edited call, so
// that what was shown is what is answered.
func answerDigest(op human.Operation, a human.Answer) (string, error) {
	if op.Kind != human.Approve || a.Decision != human.Approved {
		return op.Digest, nil
	}
	full, err := op.Edited(a.Args)
	a.Args = full
	return op.AnswerDigest(a), err
}

func checkAnswer(a human.Answer) error {
	switch a.Decision {
	case "", human.Approved, human.Refused:
	default:
		return human.BadField("decision", "%q is not one of approve, deny", a.Decision)
	}
	if err := checkFiles(a.AttachedIDs()); err != nil {
		return err
	}
	size := a.Size() + len(a.Args)
	for _, text := range slices.Concat([]string{a.HumanInput, a.ExecutionResult, a.Summary}, a.KeyFindings, a.Attachments, a.Keep) {
		if !utf8.ValidString(text) {
			return human.BadField("human_input", "the answer is not valid UTF-8")
		}
		size += len(text)
	}
	for k, v := range a.Fields {
		size += len(k) + len(v)
	}
	for k, v := range a.FieldSources {
		size += len(k) + len(v.Recording) + len(v.Action) + len(v.Picked) + len(v.URL) + len(v.Selector) + len(v.Picture)
	}
	found, err := checkFindings(a)
	if err != nil {
		return err
	}
	if size += found; size > maxAnswer {
		return human.BadField("human_input", "the answer is %d bytes, the limit is %d", size, maxAnswer)
	}
	return nil
}

// RecordingBegan notes in an operation that its work is recorded. A Conflict error unless by has claimed it
// and it is open.
func (q *Queue) RecordingBegan(ctx context.Context, by human.Actor, id human.OperationID, recording human.RecordingID) (human.Operation, error) {
	return q.operate(ctx, by, id, human.Event{Type: human.Recorded, Recording: recording})
}

// RecordingDropped takes a recording that was discarded or deleted out of its operation, whoever claimed
// that and however it stands. One that it does not have is no error.
func (q *Queue) RecordingDropped(ctx context.Context, by human.Actor, id human.OperationID, recording human.RecordingID) error {
	_, err := q.asOperator(ctx, by, id, func(op human.Operation) ([]human.Event, error) {
		if !slices.Contains(op.Recordings, recording) {
			return nil, nil
		}
		return []human.Event{{Type: human.Unrecorded, By: by, Recording: recording}}, nil
	})
	return err
}

// Snooze sets an operation aside until a time; nil brings it back.
func (q *Queue) Snooze(ctx context.Context, by human.Actor, id human.OperationID, until *time.Time) (human.Operation, error) {
	if until != nil && !until.After(q.opts.Now()) {
		return human.Operation{}, human.BadField("until", "is in the past")
	}
	return q.operate(ctx, by, id, human.Event{Type: human.Snoozed, Until: until})
}

// Reply adds a message. From its agent it answers a question and the work continues; from an operator it
// is a question (M6), and the operation waits for the agent; after the end an operator's message is
// delivered at the agent's next contact.
func (q *Queue) Reply(ctx context.Context, by human.Actor, id human.OperationID, text string) (human.Operation, error) {
	if strings.TrimSpace(text) == "" {
		return human.Operation{}, human.BadField("text", "is missing")
	}
	if len(text) > maxMessage || !utf8.ValidString(text) {
		return human.Operation{}, human.BadField("text", "is %d bytes; the limit is %d, in valid UTF-8", len(text), maxMessage)
	}
	if by.Role == human.Agent {
		return q.asAgent(ctx, by, id, human.Event{Type: human.Replied, Text: text})
	}
	return q.asOperator(ctx, by, id, func(op human.Operation) ([]human.Event, error) {
		t := human.Asked
		if op.State.Terminal() {
			t = human.Commented
		}
		return []human.Event{{Type: t, By: by, Text: text}}, nil
	})
}

// Cancel withdraws an agent's own operation.
func (q *Queue) Cancel(ctx context.Context, by human.Actor, id human.OperationID, reason string) (human.Operation, error) {
	if by.Role != human.Agent {
		return human.Operation{}, human.Errorf(human.Denied, "only its agent can cancel operation %s; an operator declines it, with a reason", id)
	}
	if len(reason) > maxMessage {
		return human.Operation{}, human.BadField("reason", "is %d bytes, the limit is %d", len(reason), maxMessage)
	}
	return q.asAgent(ctx, by, id, human.Event{Type: human.Withdrawn, Text: reason})
}

// Withdraw ends all open operations of an agent that will not read their ends.
func (q *Queue) Withdraw(ctx context.Context, agent, reason string) error {
	var all error
	for _, id := range q.openOf(agent, anyOf) {
		_, err := q.change(ctx, id, func(op human.Operation) ([]human.Event, error) {
			if op.State.Terminal() {
				return nil, nil
			}
			return []human.Event{{Type: human.Withdrawn, By: human.Actor{Role: human.System}, Text: reason}}, nil
		})
		all = errors.Join(all, err)
	}
	return all
}

// Shown notes in the ledger that a channel showed the ring, or why it could not.
func (q *Queue) Shown(ctx context.Context, id human.OperationID, channel, failed string) (human.Operation, error) {
	return q.ledger(ctx, id, human.Event{Type: human.Shown, Channel: channel, Text: failed, By: human.Actor{Role: human.System}},
		func(op human.Operation, d human.Delivery) bool {
			return op.Stands(d.Shown, q.now()) || (failed != "" && d.Failed == failed)
		})
}

// Seen notes that the operator looked at the ring on a channel.
func (q *Queue) Seen(ctx context.Context, by human.Actor, id human.OperationID, channel string) (human.Operation, error) {
	if err := onlyOperators(by); err != nil {
		return human.Operation{}, err
	}
	return q.ledger(ctx, id, human.Event{Type: human.Seen, Channel: channel, By: by},
		func(op human.Operation, d human.Delivery) bool { return op.Stands(d.Last(), q.now()) })
}

// ledger appends a delivery event unless the ledger says so already.
func (q *Queue) ledger(ctx context.Context, id human.OperationID, e human.Event, known func(human.Operation, human.Delivery) bool) (human.Operation, error) {
	if !slices.Contains(Channels, e.Channel) {
		return human.Operation{}, human.BadField("channel", "%q is not one of %s", e.Channel, strings.Join(Channels, ", "))
	}
	return q.change(ctx, id, func(op human.Operation) ([]human.Event, error) {
		for _, d := range op.Deliveries {
			if d.Channel == e.Channel && known(op, d) {
				return nil, nil
			}
		}
		return []human.Event{e}, nil
	})
}

// MarkDelivered notes that the agent has read the end of its operation. Before the end, or a second
// time, it does nothing.
func (q *Queue) MarkDelivered(ctx context.Context, by human.Actor, id human.OperationID) error {
	if by.Role != human.Agent {
		return nil
	}
	_, err := q.change(ctx, id, func(op human.Operation) ([]human.Event, error) {
		if !op.State.Terminal() || op.DeliveredAt != nil || op.AgentID != by.Name {
			return nil, nil
		}
		return []human.Event{{Type: human.Delivered, By: human.Actor{Role: human.System}}}, nil
	})
	if err == nil {
		q.presence.drop(id)
	}
	return err
}

func onlyOperators(by human.Actor) error {
	if by.Role != human.Operator {
		return human.Errorf(human.Denied, "only an operator can do this; an agent's key can send requests, ask and read its own operations")
	}
	return nil
}

func checkText(reason string) error {
	if len(reason) > maxMessage || !utf8.ValidString(reason) {
		return human.BadField("reason", "is %d bytes; the limit is %d, in valid UTF-8", len(reason), maxMessage)
	}
	return nil
}

// operate appends one event of an operator's.
func (q *Queue) operate(ctx context.Context, by human.Actor, id human.OperationID, e human.Event) (human.Operation, error) {
	if err := checkText(e.Text); err != nil {
		return human.Operation{}, err
	}
	return q.asOperator(ctx, by, id, func(human.Operation) ([]human.Event, error) {
		e.By = by
		return []human.Event{e}, nil
	})
}

func (q *Queue) asOperator(ctx context.Context, by human.Actor, id human.OperationID, decide func(human.Operation) ([]human.Event, error)) (human.Operation, error) {
	if err := onlyOperators(by); err != nil {
		return human.Operation{}, err
	}
	return q.change(ctx, id, decide)
}

// asAgent appends one event of the agent the operation belongs to.
func (q *Queue) asAgent(ctx context.Context, by human.Actor, id human.OperationID, e human.Event) (human.Operation, error) {
	op, err := q.change(ctx, id, func(op human.Operation) ([]human.Event, error) {
		if op.AgentID != by.Name {
			return nil, human.Errorf(human.NotFound, "you have no operation %s", id)
		}
		e.By = by
		return []human.Event{e}, nil
	})
	if err != nil {
		return human.Operation{}, err
	}
	q.presence.touch(id, by.Name)
	return op.ForAgent(), nil
}
