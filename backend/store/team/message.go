package team

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"deskbell/backend/human"
	"deskbell/backend/queue/replica"
)

// format is the version of what a message has.
const format = 1

// A wireMessage is the payload of a message, as JSON.
type wireMessage struct {
	Format int         `json:"format"`
	Before uint64      `json:"before"` // the operation's version before it
	Events []wireEvent `json:"events"`
}

// A wireEvent keeps apart what has to arrive byte for byte: JSON within JSON does not.
type wireEvent struct {
	human.Event
	Details []byte `json:"details,omitempty"`
	Context []byte `json:"context,omitempty"`
	Signed  []byte `json:"signed,omitempty"` // the receipt
}

// encode makes the payload of an append by a member's desk. What was done at the desk under another name, before it joined, has no receipt
// there: it would be of no one in the team.
func encode(member string, before uint64, events []human.Event) ([]byte, error) {
	m := wireMessage{Format: format, Before: before, Events: make([]wireEvent, len(events))}
	for i, e := range events {
		w := wireEvent{Event: e}
		w.Desk = ""
		if q := e.Request; q != nil {
			request := *q
			w.Details, w.Context = q.Details, q.Context
			request.Details, request.Context = nil, nil
			w.Request = &request
		}
		if w.Receipt = nil; e.Receipt != nil && e.By.Name == member {
			w.Signed = e.Receipt.RawMessage
		}
		m.Events[i] = w
	}
	payload, err := json.Marshal(m)
	if err != nil {
		return nil, human.Wrap(human.Invalid, err, "the events cannot be written as JSON")
	}
	return payload, nil
}

// decode reads a message that a desk published, as the desk me sees it: what comes from another desk says so, and its agents are
// not those of the same name here. An error says why the message counts for nothing: the desk may not say that.
func decode(me, subject string, place uint64, payload []byte) (replica.Message, error) {
	id, desk, class, err := parse(subject)
	if err != nil {
		return replica.Message{}, err
	}
	m := replica.Message{Place: place, ID: id}
	member, err := MemberOf(desk)
	if err != nil {
		return m, err
	}
	var wire wireMessage
	if err := json.Unmarshal(payload, &wire); err != nil {
		return m, err
	}
	if wire.Format != format {
		return m, fmt.Errorf("its format is %d, this Deskbell knows %d", wire.Format, format)
	}
	m.Before = wire.Before
	for _, w := range wire.Events {
		e := w.Event
		for _, raw := range [][]byte{w.Details, w.Context, w.Signed} { // would damage the storage of every desk
			if len(raw) > 0 && (!json.Valid(raw) || !utf8.Valid(raw)) {
				return m, errors.New("a part of it is not JSON")
			}
		}
		if q := e.Request; q != nil {
			q.Details, q.Context = w.Details, w.Context
		}
		if w.Signed != nil {
			e.Receipt = &human.Receipt{RawMessage: w.Signed}
		}
		if err := may(e, member, class, m.Before); err != nil {
			return m, err
		}
		if e.Desk = ""; desk != me {
			e = from(desk, member, e)
		}
		m.Events = append(m.Events, e)
	}
	return m, nil
}

// from is an event as a desk sees it that is not the one it comes from, which is a member's.
func from(desk, member string, e human.Event) human.Event {
	e.Desk = desk
	at := "@" + shown(desk)
	if e.By.Role == human.Agent || e.By.Role == human.Operator && e.By.Name != member {
		e.By.Name += at
	}
	if e.Request != nil && e.Request.To == "" {
		e.Request.AgentID += at
	}
	return e
}

// shown is a desk's name as people read it: its member's, with the number of a second desk. No two desks share one.
func shown(desk string) string {
	member, err := MemberOf(desk)
	if err != nil || strings.Contains(member, "=") {
		return desk
	}
	if _, n, _ := strings.Cut(desk, "="); n != "1" {
		return member + "=" + n
	}
	return member
}

// may says why a member's desk cannot publish an event in a message of a class, where the operation is at the version before. What was there when the
// desk joined may have been done under another name: it is the first that the team hears of the operation, and shown as that desk's. Only
// an approval that needs a second person is not taken so.
func may(e human.Event, member string, class Class, before uint64) error {
	switch {
	case e.By.Role == human.Operator && class != ByOperator:
		return human.Errorf(human.Denied, "%s cannot answer: this desk is an agents' desk", e.By.Name)
	case e.By.Role == human.Operator && e.By.Name != member && (before > 0 || e.Type == human.ApprovedFirst):
		return human.Errorf(human.Denied, "this desk is %s's, and not %s's", member, e.By.Name)
	case e.Request != nil && e.Request.RequestedBy != "" && e.Request.RequestedBy != member:
		return human.Errorf(human.Denied, "this desk is %s's, and not %s's", member, e.Request.RequestedBy)
	case class != ByOperator && class != ByAgent:
		return fmt.Errorf("%q is no class of messages", class)
	}
	return nil
}

// classOf is the class of the message that has these events.
func classOf(events []human.Event) Class {
	for _, e := range events {
		if e.By.Role == human.Operator {
			return ByOperator
		}
	}
	return ByAgent
}
