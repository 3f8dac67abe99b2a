package human

import (
	"encoding/json"
	"time"
)

// A Removal is what stays of an operation whose words were removed, signed by the server (see receipt.Key.SignRemoval).
type Removal struct {
	Entries   []RemovedEntry  `json:"entries"`   // all of the operation, in order
	Operation json.RawMessage `json:"operation"` // its Stub, as it was signed
	KeyID     string          `json:"key_id"`
	Signature string          `json:"signature,omitempty"`
}

// A RemovedEntry is an entry of the journal without its words.
type RemovedEntry struct {
	Seq  uint64 `json:"seq"`
	Link string `json:"link"` // as it was appended: what the entry after it was linked to
	Left string `json:"left"` // the link that it has without its words: of what is left of it, and of the link before
}

// Stub is the operation as its removal leaves it: names, times and how it ended, which statistics count, and no other words.
func (o Operation) Stub() Operation {
	s := Operation{
		ID: o.ID, Version: o.Version, Kind: o.Kind, State: o.State, Overdue: o.Overdue, AgentID: o.AgentID, ProjectName: o.ProjectName,
		Priority: o.Priority, Risk: o.Risk, CreatedAt: o.CreatedAt, UpdatedAt: o.UpdatedAt, DeliveredAt: o.DeliveredAt,
	}
	if r := o.Result; r != nil {
		s.Result = &Result{Answer: Answer{Decision: r.Decision}, By: r.By, At: r.At}
	}
	if e := o.Ended; e != nil {
		s.Ended = &Ending{By: e.By, At: e.At}
	}
	for _, d := range o.Deliveries {
		d.Failed = ""
		s.Deliveries = append(s.Deliveries, d)
	}
	return s
}

// Skeleton is what is known of an event whose words were removed.
func Skeleton(kind string, at time.Time) Event { return Event{Type: EventType(kind), At: at.UTC()} }
