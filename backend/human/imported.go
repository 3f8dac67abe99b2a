package human

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"time"
	"unicode/utf8"
)

// An Import says that an operation was another Deskbell's, and who brought it here. Nothing changes it any more.
type Import struct {
	By   Actor     `json:"by"`
	At   time.Time `json:"at"`
	From string    `json:"from" doc:"The name of the file."`
}

// allows says, as a Conflict error, that an operation that was imported does not change. Who saw it is noted.
func (i *Import) allows(id OperationID, e Event) error {
	if i == nil || e.Type == Shown || e.Type == Seen {
		return nil
	}
	return Errorf(Conflict, "operation %s was imported from %s; nothing changes it any more", id, i.From)
}

// ImportResult is what came of an import.
type ImportResult struct {
	Imported int `json:"imported"`
	There    int `json:"there" doc:"How many were skipped: they are here, or were, and were deleted."`
}

// Imported is what the first event of an operation that was imported has besides its request.
type Imported struct {
	From      string          `json:"from"`
	Operation json.RawMessage `json:"operation"` // as it was, without details and context
}

// ErrOpen is what the error of ReadExported is for an operation that is right, but has not ended.
var ErrOpen = errors.New("still open")

// ReadExported reads a line of an exported history. The error is Invalid, and says what is wrong, for what is no operation that ended.
func ReadExported(line []byte) (Operation, error) {
	var o Operation
	if !utf8.Valid(line) {
		return o, Errorf(Invalid, "it is not UTF-8")
	}
	if err := json.Unmarshal(line, &o); err != nil {
		return o, Errorf(Invalid, "it is no operation as JSON: %s", OneLine(err.Error(), 200))
	}
	name := func(text string) bool {
		return text != "" && len(text) <= 100 && strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") == ""
	}
	object := func(text []byte) bool { return len(text) == 0 || bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) }
	switch {
	case !name(string(o.ID)):
		return o, Errorf(Invalid, "operation_id is missing, or no id")
	case !name(string(o.Kind)):
		return o, Errorf(Invalid, "action_type is missing, or no type")
	case o.Description == "" || o.AgentID == "" || o.CreatedAt.IsZero():
		return o, Errorf(Invalid, "description, agent_id or created_at is missing")
	case !object(o.Details) || !object(o.Context):
		return o, Errorf(Invalid, "details and context must be JSON objects")
	case !o.State.Terminal() || o.Run != nil && !o.Run.Over():
		return o, Wrap(Invalid, ErrOpen, "operation %s is still open; only those that ended can be imported", o.ID)
	case (o.State == Completed) != (o.Result != nil) || (o.State == Completed) == (o.Ended != nil):
		return o, Errorf(Invalid, "the result of operation %s does not fit its state", o.ID)
	}
	return o, nil
}

// ImportEvent is the first and only event of an operation that ReadExported read: without what was of use only where it was open, and
// without its recordings, which stay where they are.
func (o Operation) ImportEvent(by Actor, at time.Time, from string) (Event, error) {
	r := o.Request()
	o.Details, o.Context, o.IdempotencyKey, r.IdempotencyKey = nil, nil, "", ""
	o.Draft, o.Drafts, o.Leaving, o.SnoozedUntil, o.Deliveries, o.Recordings, o.Import, o.Routing, o.Later = nil, nil, nil, nil, nil, nil, nil, nil, nil
	text, err := json.Marshal(o)
	if err != nil {
		return Event{}, Wrap(Invalid, err, "operation %s cannot be written as JSON", o.ID)
	}
	return Event{Type: Invoked, At: at, By: by, Request: &r, Imported: &Imported{OneLine(from, 200), text}}, nil
}

// imported is the operation of an event that ImportEvent made.
func imported(id OperationID, e Event) (Operation, error) {
	o, err := ReadExported(e.Imported.Operation)
	o.ID, o.Version, o.Details, o.Context, o.UpdatedAt = id, 1, e.Request.Details, e.Request.Context, e.At
	o.Messages, o.Recordings = append([]Message{}, o.Messages...), []RecordingID{}
	o.Import = &Import{e.By, e.At, e.Imported.From}
	if o.DeliveredAt == nil { // no agent here waits for it
		o.DeliveredAt = &e.At
	}
	return o, err
}
