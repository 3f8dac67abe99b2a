package human

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// EventType is what happened to an operation.
type EventType string

// The events. Each says who may cause it.
const (
	Invoked       EventType = "invoked"           // agent: Request
	ClaimedBy     EventType = "claimed"           // operator
	Released      EventType = "released"          // operator: Text is the reason, if any
	Started       EventType = "started"           // operator: work has begun
	InputSaved    EventType = "input_saved"       // operator: Answer is a draft, nil forgets it
	Asked         EventType = "asked"             // operator: Text is a question to the agent
	Replied       EventType = "replied"           // agent: Text
	Commented     EventType = "commented"         // operator: Text, after the end ("add as a message")
	Snoozed       EventType = "snoozed"           // operator: Until; nil wakes it
	Shown         EventType = "shown"             // system: Channel showed the request; Text says why it failed
	Seen          EventType = "seen"              // operator: Channel was looked at
	Expired       EventType = "overdue"           // system: the time limit has passed
	Held          EventType = "held"              // operator: Answer, or without one Text, why they decline; it leaves at Until unless it is undone
	Undone        EventType = "undone"            // operator, or system where it cannot be sent: the answer that is held is a draft again, or nothing was declined
	Finished      EventType = "completed"         // operator: Answer
	Withdrawn     EventType = "cancelled"         // agent, or system on time-out: Text is the reason
	TurnedDown    EventType = "declined"          // operator: Text is the reason
	Delivered     EventType = "delivered"         // system: the agent has read the end
	Recorded      EventType = "recording_began"   // operator: a Recording of the work was begun
	Unrecorded    EventType = "recording_dropped" // operator: the Recording was discarded or deleted
	Voted         EventType = "voted"             // operator: Answer to a plan that needs several
	Progressed    EventType = "progressed"        // agent: Progress of a task of a confirmed plan
	Ordered       EventType = "ordered"           // operator: Order to the agent whose plan runs
	HandedOver    EventType = "handed_over"       // operator: To is who may claim it now, Text a note
	Routed        EventType = "routed"            // system: Routing says who is asked, and why
	ApprovedFirst EventType = "approved_first"    // operator: Answer, the first of two approvals of the bytes with this Digest
	Erased        EventType = "removed"           // system, operator: the words of all events before were removed, as Removal says; the last of its operation
)

// An Event is one change of one operation. Which of the optional fields are set follows from Type.
type Event struct {
	Type    EventType  `json:"type"`
	At      time.Time  `json:"at"`
	By      Actor      `json:"by"`
	Request *Request   `json:"request,omitempty"`
	Text    string     `json:"text,omitempty"`
	Answer  *Answer    `json:"answer,omitempty"`
	Channel string     `json:"channel,omitempty"`
	Until   *time.Time `json:"until,omitempty"`
	To      string     `json:"to,omitempty"`
	Digest  string     `json:"digest,omitempty"`
	Routing *Routing   `json:"routing,omitempty"`

	Recording RecordingID   `json:"recording,omitempty"`
	Progress  *TaskProgress `json:"progress,omitempty"`
	Order     *Order        `json:"order,omitempty"`
	Proof     *Proof        `json:"proof,omitempty"`   // of the operator who answers, where they gave one
	Receipt   *Receipt      `json:"receipt,omitempty"` // of an operator's answer
	Seal      string        `json:"seal,omitempty"`    // of an answer or a reason that is held; see Leaving
	Removal   *Removal      `json:"removal,omitempty"`
	Imported  *Imported     `json:"imported,omitempty"` // of the first event of an operation that was imported
	Desk      string        `json:"desk,omitempty"`     // in a team: which desk it comes from; empty for this one
}

// An Entry is an event in its place: Seq counts all events of a journal from 1 without gaps, Version
// those of one operation.
type Entry struct {
	Seq     uint64
	ID      OperationID
	Version uint64
	Event   Event
}

// forAgents are the events an operation's agent learns of. The rest is the operator's own
// business: drafts, snoozes, which screen showed what.
var forAgents = []EventType{Invoked, ClaimedBy, Released, Started, Asked, Replied, Commented, Expired, Finished, Withdrawn, TurnedDown, Voted, Progressed, Ordered}

// ForAgents says whether the operation's agent may see events of this type.
func (t EventType) ForAgents() bool { return slices.Contains(forAgents, t) }

// ForAgent is the event as the operation's agent may see it, where it may (see EventType.ForAgents). The one
// given stays as it is.
func (e Event) ForAgent() Event {
	if e.Answer != nil {
		answer := e.Answer.ForAgent()
		e.Answer = &answer
	}
	e.Proof, e.Receipt = nil, nil
	return e
}

// Apply folds one event into the operation and returns the result; o itself is unchanged. It is the
// only place where state changes. It returns a Conflict error, and o as it was, when the life cycle
// does not allow the event now.
//
//	pending -> claimed -> in_progress -> completed
//	any open state -> waiting_input -> (agent replies) in_progress
//	an answer or a reason to decline that is held changes no state but keeps operators from changing it, until it leaves or is undone
//	any open state -> canceled | declined
func (o Operation) Apply(e Event) (Operation, error) {
	if err := o.allows(e); err != nil {
		return o, err
	}
	if e.Type == Invoked && e.Imported != nil {
		return imported(o.ID, e)
	}
	if e.Type == Invoked {
		return invoked(o.ID, e), nil
	}
	next := o
	next.Version++
	next.UpdatedAt = e.At
	at := e.At
	switch e.Type {
	case ClaimedBy:
		next.claim(e)
	case Released:
		next.State, next.ClaimedBy = Pending, ""
	case Started:
		next.take(e, InProgress)
	case InputSaved:
		next.saveDraft(e)
		if !o.State.Terminal() && o.State != WaitingInput {
			next.take(e, InProgress)
		}
	case Asked:
		next.take(e, WaitingInput)
		next.say(e)
	case Replied:
		if o.State == WaitingInput {
			next.State = InProgress
		}
		next.say(e)
	case Commented:
		next.say(e)
		next.DeliveredAt = nil
	case Snoozed:
		next.SnoozedUntil = e.Until
	case Shown, Seen:
		next.ledger(e)
	case Expired:
		next.Overdue = true
	case Held:
		if o.State != WaitingInput {
			next.take(e, InProgress)
		}
		next.hold(e)
	case Undone:
		next.drop(e)
	case Finished:
		next.take(e, Completed)
		next.Leaving = nil
		next.Result = &Result{Answer: *e.Answer, By: e.By, At: at, Digest: o.AnswerDigest(*e.Answer)}
		next.SnoozedUntil = nil
		if o.DraftOf(e.By) != nil {
			next.saveDraft(Event{By: e.By}) // another operator's words are theirs to keep or drop
		}
		if done := lives[o.Kind].finished; done != nil {
			done(&next)
		}
	case Withdrawn:
		next.drop(e)
		next.State, next.Ended, next.SnoozedUntil = Cancelled, &Ending{By: e.By, At: at, Reason: e.Text}, nil
	case TurnedDown:
		next.take(e, Declined)
		next.Leaving = nil
		next.Ended, next.SnoozedUntil = &Ending{By: e.By, At: at, Reason: e.Text}, nil
	case Delivered:
		next.DeliveredAt = &at
	case Recorded:
		if o.State != WaitingInput {
			next.take(e, InProgress)
		}
		next.Recordings = append(slices.Clip(o.Recordings), e.Recording)
	case Unrecorded:
		next.Recordings = slices.DeleteFunc(slices.Clone(o.Recordings), func(id RecordingID) bool { return id == e.Recording })
	default:
		o.own(e.Type).apply(&next, e)
	}
	next.endHandOver(o, e)
	return next, nil
}

// hold keeps an answer, or a reason to decline, until it leaves.
func (o *Operation) hold(e Event) {
	o.Leaving = &Leaving{Declined: e.Text, By: e.By, At: e.At, LeavesAt: *e.Until, Version: o.Version, Seal: e.Seal, Desk: e.Desk}
	if e.Answer != nil {
		o.Leaving.Answer = *e.Answer
	}
	o.SnoozedUntil = nil
}

// A life is what one kind of operation adds to the life cycle that all have: state of its own, changed by events of its own.
// Each of the functions may be nil.
type life struct {
	invoked  func(Operation) Operation // after the request was taken
	finished func(*Operation)          // after the answer was taken
	events   map[EventType]lifeEvent
}

// A lifeEvent says, as allows does, why an event cannot happen now, whatever the operation's state; and takes one that can.
type lifeEvent struct {
	allows func(Operation, Event) error
	apply  func(*Operation, Event)
}

// own is an event of the operation's kind, or of teams; without functions for all others.
func (o Operation) own(t EventType) lifeEvent {
	if own, is := lives[o.Kind].events[t]; is {
		return own
	}
	return teamEvents[t]
}

// lives are the kinds that add something.
var lives map[Kind]life

func init() { lives = map[Kind]life{Plan: planLife} } // its functions fold, and folding reads it

// take moves the operation to a state an operator brought about, and makes it theirs.
func (o *Operation) take(e Event, s State) {
	o.State = s
	if e.By.Role == Operator {
		o.ClaimedBy = e.By.Name
	}
}

// saveDraft keeps an operator's draft, or forgets it. Where several operators work on an operation, each has one.
func (o *Operation) saveDraft(e Event) {
	var draft *Draft
	if e.Answer != nil {
		draft = &Draft{Answer: *e.Answer, By: e.By, At: e.At}
	}
	if !o.Together {
		o.Draft = draft
		return
	}
	o.Drafts = slices.DeleteFunc(slices.Clone(o.Drafts), func(d Draft) bool { return d.By == e.By })
	if draft != nil {
		o.Drafts = append(o.Drafts, *draft)
	}
}

// drop makes an answer that is held a draft again. A reason to decline leaves the draft as it was.
func (o *Operation) drop(e Event) {
	l := o.Leaving
	o.Leaving = nil
	if l != nil && l.Declined == "" {
		o.saveDraft(Event{By: l.By, At: e.At, Answer: &l.Answer})
	}
}

func (o *Operation) say(e Event) {
	o.Messages = append(slices.Clip(o.Messages), Message{By: e.By, At: e.At, Text: e.Text})
}

// invoked is a new operation.
func invoked(id OperationID, e Event) Operation {
	r := e.Request
	action, risk, sent := r.bound()
	o := Operation{
		ID: id, Version: 1, Kind: r.Kind, State: Pending, Description: r.Description, Details: r.Details, Context: r.Context,
		AgentID: r.AgentID, SessionID: r.SessionID, IdempotencyKey: r.IdempotencyKey, Priority: r.Priority, Risk: risk, RiskSent: sent,
		Digest: r.digest(action), CreatedAt: e.At, UpdatedAt: e.At, Timeout: r.Timeout, OnTimeout: r.OnTimeout,
		Messages: []Message{}, Recordings: []RecordingID{}, Attachments: r.Attachments, Desk: e.Desk,
		TeamState: TeamState{RequestedBy: r.RequestedBy, ApprovalsNeeded: r.Approvals, To: r.To},
	}
	if begun := lives[o.Kind].invoked; begun != nil {
		o = begun(o)
	}
	if o.OnTimeout == "" {
		o.OnTimeout = Mark
	}
	if r.Timeout > 0 {
		expires := e.At.Add(time.Duration(r.Timeout * float64(time.Second)))
		o.ExpiresAt = &expires
	}
	return o
}

func (o *Operation) ledger(e Event) {
	at := e.At
	o.Deliveries = slices.Clone(o.Deliveries)
	i := slices.IndexFunc(o.Deliveries, func(d Delivery) bool { return d.Channel == e.Channel })
	if i < 0 {
		o.Deliveries = append(o.Deliveries, Delivery{Channel: e.Channel})
		i = len(o.Deliveries) - 1
	}
	d := &o.Deliveries[i]
	switch {
	case e.Type == Seen:
		if d.Seen == nil {
			d.Seen = &at
		} else if !o.Stands(d.Last(), at) {
			d.Again = &at
		}
	case e.Text != "":
		d.Failed = e.Text
	case !o.Stands(d.Shown, at):
		d.Shown, d.Failed = &at, ""
	}
}

// allows says, as a Conflict or Invalid error, why the event cannot happen now; nil when it can.
func (o Operation) allows(e Event) error {
	if o.Version == 0 {
		if e.Type != Invoked || e.Request == nil {
			return Errorf(Invalid, "an operation begins with a request, not with %q", e.Type)
		}
		return e.Request.mayAsk(e)
	}
	if err := o.Import.allows(o.ID, e); err != nil {
		return err
	}
	if err := cmp.Or(o.allowsDesk(e), o.allowsPerson(e)); err != nil {
		return err
	}
	if own := o.own(e.Type); own.allows != nil {
		return own.allows(o, e)
	}
	if o.State.Terminal() {
		switch e.Type {
		case Commented, Delivered, Shown, Seen, InputSaved, Unrecorded:
			return nil
		case Invoked, ClaimedBy, Released, Started, Asked, Replied, Snoozed, Expired, Held, Undone, Finished, Withdrawn, TurnedDown, Recorded, Voted, Progressed, Ordered, HandedOver, ApprovedFirst, Routed, Erased:
		}
		return o.overError()
	}
	if o.Leaving != nil && !o.Leaving.allows(e) {
		return o.HeldError()
	}
	switch e.Type {
	case Invoked:
		return Errorf(Conflict, "operation %s exists already", o.ID)
	case Undone:
		if o.Leaving == nil {
			return Errorf(Conflict, "operation %s has no answer that can be undone", o.ID)
		}
	case ClaimedBy:
		return o.mayClaim(e.By)
	case Released:
		if o.ClaimedBy == "" {
			return Errorf(Conflict, "operation %s is not claimed, so there is nothing to release", o.ID)
		}
	case Started, InputSaved, Asked, Held, Finished, TurnedDown:
		return o.mayWork(e)
	case Recorded:
		if o.ClaimedBy == "" {
			return Errorf(Conflict, "operation %s is not claimed; claim it before you record work on it", o.ID)
		}
		if o.ClaimedBy != e.By.Name {
			return o.takenError(e.By)
		}
		if e.Recording == "" {
			return Errorf(Invalid, "the recording is missing")
		}
	case Expired:
		if o.Overdue {
			return Errorf(Conflict, "operation %s is overdue already", o.ID)
		}
	case Commented, Delivered:
		return o.openError()
	case Replied, Snoozed, Shown, Seen, Withdrawn, Unrecorded:
	case Voted, Progressed, Ordered:
		return Errorf(Invalid, "operation %s is not a plan", o.ID)
	case Erased:
		return o.openError()
	default:
		return Errorf(Invalid, "no such event: %q", e.Type)
	}
	return nil
}

// allowsDesk says, as a Denied error, why the event cannot come from the desk that it comes from: in a team, an agent's own desk
// speaks for the agent, and what is held is sent, or becomes a draft again, where it is held.
func (o Operation) allowsDesk(e Event) error {
	from := o.Desk
	switch {
	case e.By.Role == Operator:
		return nil
	case e.Type == Undone && o.Leaving != nil:
		from = o.Leaving.Desk
	case e.By.Role == System && (e.Type == Shown || e.Type == Routed || e.Type == Erased):
		return nil
	}
	if e.Desk != from {
		return Errorf(Denied, "operation %s belongs to an agent of another desk", o.ID)
	}
	return nil
}

func (o Operation) openError() error { return Errorf(Conflict, "operation %s is still open", o.ID) }

// mayWork says why an operator's work on the operation, or an end of it, cannot be taken.
func (o Operation) mayWork(e Event) error {
	denies := o.ApprovalsNeeded > 1 && e.Answer != nil && e.Answer.Decision == Refused && e.Type == Finished
	if o.ClaimedBy != "" && o.ClaimedBy != e.By.Name && !o.Together && !denies {
		return o.takenError(e.By)
	}
	if e.Type == Finished && e.Answer == nil {
		return Errorf(Invalid, "an answer is missing")
	}
	if e.Type == Finished && o.NeedsTwo(*e.Answer) {
		return o.mayApprove(e)
	}
	if e.Type == Held && (e.Answer == nil) == (e.Text == "") {
		return Errorf(Invalid, "what is held is either an answer or a reason to decline")
	}
	if e.Type == Held && e.Until == nil {
		return Errorf(Invalid, "the time at which the answer leaves is missing")
	}
	return nil
}

// allows says whether an event can happen while the answer or the reason is held.
func (l Leaving) allows(e Event) bool {
	switch e.Type {
	case Replied, Shown, Seen, Expired, Withdrawn, Unrecorded:
		return true
	case Undone:
		return e.By == l.By || e.By.Role == System
	case Finished:
		return e.By == l.By && l.Declined == ""
	case TurnedDown:
		return e.By == l.By && l.Declined != "" && l.Declined == e.Text
	}
	return false
}

// HeldError says, as a Conflict error, that an answer of this operation, or a reason to decline it, is about to leave.
func (o Operation) HeldError() error {
	by, at := o.Leaving.By.Name, o.Leaving.LeavesAt.UTC().Format(time.RFC3339)
	if o.Leaving.Declined != "" {
		return Errorf(Conflict, "operation %s was declined by %s, and the reason is sent at %s; undo it to change anything", o.ID, by, at)
	}
	return Errorf(Conflict, "operation %s was answered by %s, and the answer is sent at %s; undo it to change anything", o.ID, by, at)
}

func (o Operation) takenError(by Actor) error {
	if o.ClaimedBy == by.Name {
		return Errorf(Conflict, "you have claimed operation %s already", o.ID)
	}
	if o.handedTo(by) {
		return Errorf(Conflict, "operation %s was handed over to you; claim it first", o.ID)
	}
	return Errorf(Conflict, "operation %s is claimed by %s; ask them to release it, or release it yourself", o.ID, o.ClaimedBy)
}

// overError says what ended the operation, who did it and when, so that a late answer knows.
func (o Operation) overError() error {
	var by Actor
	switch {
	case o.Result != nil:
		by = o.Result.By
	case o.Ended != nil:
		by = o.Ended.By
	}
	who, at := cmp.Or(by.Name, "Deskbell"), o.EndedAt().UTC().Format(time.RFC3339)
	switch o.State {
	case Completed:
		return Errorf(Conflict, "operation %s was completed by %s at %s; nothing was changed", o.ID, who, at)
	case Declined:
		return Errorf(Conflict, "operation %s was declined by %s at %s; nothing was changed", o.ID, who, at)
	}
	return Errorf(Conflict, "operation %s was canceled by %s at %s; nothing was changed", o.ID, who, at)
}

// Fold applies entries in order to an empty operation. It returns an Internal error where a version
// is missing or an entry does not fit, which means the journal is damaged, and a NotFound error that says when where the
// operation was removed.
func Fold(id OperationID, entries []Entry) (Operation, error) {
	op := Operation{ID: id}
	if n := len(entries); n > 0 && entries[n-1].Event.Type == Erased {
		if last := entries[n-1].Event; last.By.Role == Operator {
			return op, Errorf(NotFound, "operation %s was deleted on %s by %s", id, last.At.Format(time.DateOnly), cmp.Or(last.By.Name, string(Operator)))
		}
		return op, Errorf(NotFound, "operation %s was removed on %s by retention", id, entries[n-1].Event.At.Format(time.DateOnly))
	}
	for _, e := range entries {
		if e.Version != op.Version+1 {
			return op, Errorf(Internal, "the journal of %s jumps from version %d to %d", id, op.Version, e.Version)
		}
		var err error
		if op, err = op.Apply(e.Event); err != nil {
			return op, Wrap(Internal, err, "the journal of %s is damaged at version %d", id, e.Version)
		}
	}
	if op.Version == 0 {
		return op, Errorf(NotFound, "no operation %s", id)
	}
	return op, nil
}

func (e Entry) String() string {
	return fmt.Sprintf("%d %s v%d %s", e.Seq, e.ID, e.Version, e.Event.Type)
}
