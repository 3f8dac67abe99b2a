package api

import (
	"bytes"
	"encoding/json"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/queue"
	"deskbell/backend/queue/asking"
)

// An Operation is a human.Operation as this caller may see it.
type Operation struct {
	human.Operation
	Others   bool            `json:"others_asked,omitempty" doc:"In a team: another has claimed it; or others are asked, and this operator is not, or not yet: they can answer it anyway."`
	Asking   *asking.Asking  `json:"asking,omitempty" doc:"For operators, in a team, while no one has claimed it: how the asking stands. Lists leave it out."`
	Away     bool            `json:"away,omitempty" doc:"For operators, in a team: it cannot be changed now, because this desk is not connected. It can be denied, declined and handed over: that is kept, and done once it is. Lists leave it out."`
	Presence *queue.Presence `json:"presence,omitempty" doc:"Whether its agent still waits. For operators, while the operation is open or its end undelivered."`
	Known    int             `json:"operators_known,omitempty" doc:"Of an open plan that several have to confirm, for operators: how many are known here, by a session or a phone."`
}

// appendTo keeps the exact bytes of details and context.
func (o *Operation) appendTo(buf *bytes.Buffer) error {
	short := *o
	short.Details, short.Context = nil, nil
	if err := plain(buf, &short); err != nil {
		return err
	}
	reopen(buf, 1, member{"details", o.Details}, member{"context", o.Context})
	return nil
}

// An Event is one event of an operation, on the WebSocket and in its history.
type Event struct {
	Seq         uint64            `json:"seq" doc:"The event's place among all; without gaps for operators."`
	Type        human.EventType   `json:"type" enum:"invoked,claimed,released,started,input_saved,held,undone,asked,replied,commented,snoozed,shown,seen,overdue,completed,cancelled,declined,delivered,recording_began,recording_dropped,voted,progressed,ordered,handed_over,approved_first,routed,removed"`
	At          time.Time         `json:"at"`
	OperationID human.OperationID `json:"operation_id"`
	Version     uint64            `json:"version"`
	By          human.Actor       `json:"by"`
	Data        EventData         `json:"data"` // must stay the last member: see appendTo
}

// EventData is what an event of its type says.
type EventData struct {
	Request *human.Request `json:"request,omitempty" doc:"invoked"`
	Text    string         `json:"text,omitempty" doc:"asked, replied, commented; the note of handed_over; the reason of released, declined and cancelled; why a channel failed."`
	Answer  *human.Answer  `json:"answer,omitempty" doc:"completed; held; voted; approved_first; input_saved, absent when a draft was forgotten."`
	Channel string         `json:"channel,omitempty" doc:"shown, seen"`
	Until   *time.Time     `json:"until,omitempty" doc:"snoozed, absent when it was woken; held: when the answer is sent."`

	Recording human.RecordingID   `json:"recording,omitempty" doc:"recording_began, recording_dropped"`
	Progress  *human.TaskProgress `json:"progress,omitempty" doc:"progressed"`
	Order     *human.Order        `json:"order,omitempty" doc:"ordered"`

	To      string         `json:"to,omitempty" doc:"handed_over"`
	Digest  string         `json:"digest,omitempty" doc:"approved_first: of the bytes that were approved."`
	Routing *human.Routing `json:"routing,omitempty" doc:"routed"`
}

func eventOf(e human.Entry) *Event {
	return &Event{
		Seq: e.Seq, Type: e.Event.Type, At: e.Event.At, OperationID: e.ID, Version: e.Version, By: e.Event.By,
		Data: EventData{Request: e.Event.Request, Text: e.Event.Text, Answer: e.Event.Answer, Channel: e.Event.Channel, Until: e.Event.Until, Recording: e.Event.Recording, Progress: e.Event.Progress, Order: e.Event.Order,
			To: e.Event.To, Digest: e.Event.Digest, Routing: e.Event.Routing},
	}
}

// appendTo keeps the exact bytes of details and context. Only an invoked event has them, and it has
// nothing else in its data.
func (e *Event) appendTo(buf *bytes.Buffer) error {
	if e.Data.Request == nil {
		return plain(buf, e)
	}
	short, request := *e, *e.Data.Request
	request.Details, request.Context = nil, nil
	short.Data = EventData{Request: &request}
	if err := plain(buf, &short); err != nil {
		return err
	}
	reopen(buf, 3, member{"details", e.Data.Request.Details}, member{"context", e.Data.Request.Context})
	return nil
}

// Events is the history of an operation.
type Events struct {
	Events []*Event `json:"events"`
}

func (e *Events) appendTo(buf *bytes.Buffer) error {
	buf.WriteString(`{"events":[`)
	for i, event := range e.Events {
		if i > 0 {
			buf.WriteByte(',')
		}
		if err := event.appendTo(buf); err != nil {
			return err
		}
	}
	buf.WriteString(`]}`)
	return nil
}

// Hello is the first message on a WebSocket.
type Hello struct {
	Type     string `json:"type" enum:"hello"`
	Seq      uint64 `json:"seq" doc:"The last event when the connection was made. Without ?after, what follows begins after it."`
	Operator string `json:"operator,omitempty" doc:"Who reads, if an operator does."`
	AgentID  string `json:"agent_id,omitempty" doc:"Who reads, if an agent does."`
}

// Invocation is what follows each invoked event on a WebSocket (H7).
type Invocation struct {
	Type          string            `json:"type" enum:"human_invocation"`
	OperationID   human.OperationID `json:"operation_id"`
	ActionType    human.Kind        `json:"action_type"`
	Description   string            `json:"description"`
	RequestParams json.RawMessage   `json:"request_params" doc:"The request's details."`
	Context       InvocationContext `json:"context"`
}

// InvocationContext says who sent the request, and when.
type InvocationContext struct {
	AgentID   string    `json:"agent_id"`
	CreatedAt time.Time `json:"created_at"`
}

func invocationOf(e *Event) *Invocation {
	r := e.Data.Request
	params := r.Details
	if len(params) == 0 {
		params = json.RawMessage("{}")
	}
	return &Invocation{
		Type: "human_invocation", OperationID: e.OperationID, ActionType: r.Kind, Description: r.Description,
		RequestParams: params, Context: InvocationContext{AgentID: r.AgentID, CreatedAt: e.At},
	}
}

func (i *Invocation) appendTo(buf *bytes.Buffer) error {
	err := plain(buf, struct {
		Type        string            `json:"type"`
		OperationID human.OperationID `json:"operation_id"`
		ActionType  human.Kind        `json:"action_type"`
		Description string            `json:"description"`
		Context     InvocationContext `json:"context"`
	}{i.Type, i.OperationID, i.ActionType, i.Description, i.Context})
	if err != nil {
		return err
	}
	reopen(buf, 1, member{"request_params", i.RequestParams})
	return nil
}

// DataChange tells operators on a WebSocket how the data stands, after each hello and whenever that changes. The last one counts.
type DataChange struct {
	Type string          `json:"type" enum:"data"`
	Data human.DataState `json:"data"`
}

// TeamChange tells operators on a WebSocket how this desk stands with its team, after each hello and whenever that changes. The last
// one counts.
type TeamChange struct {
	Type string          `json:"type" enum:"team"`
	Team human.DeskState `json:"team"`
}

// PresenceChange tells operators on a WebSocket that an agent waits, or no longer does. It is the state
// of the moment, with no seq.
type PresenceChange struct {
	Type string `json:"type" enum:"presence"`
	queue.Presence
}
