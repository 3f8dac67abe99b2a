package human

import (
	"bytes"
	"encoding/json"
	"time"
)

// A RecordingAsk is the details of a request by which a member of a team asks another for a complete recording (Request.To).
type RecordingAsk struct {
	Operation OperationID `json:"operation_id"`
	Recording RecordingID `json:"recording_id"`
	Risk      Risk        `json:"risk_level"` // what it is approved as; not so low that the answer could be undone after it was read
}

// GrantTime is how long a recording can be read by whoever asked for it, from the approval on.
const GrantTime = 7 * 24 * time.Hour

// PersonID stands for the agent where a member of a team asks: no key can have such a name.
func PersonID(member string) string { return "@" + member }

// asks is what a member asks for. The details are exactly those that were made of it: no two programs read them as different recordings.
func asks(details json.RawMessage) (a RecordingAsk, is bool) {
	if json.Unmarshal(details, &a) != nil || a.Operation == "" || a.Recording == "" {
		return a, false
	}
	same, err := json.Marshal(a)
	return a, err == nil && bytes.Equal(same, details)
}

// Asks is the recording that a member of a team asks another for; false where the operation is something else.
func (o Operation) Asks() (RecordingAsk, bool) {
	a, is := asks(o.Details)
	return a, is && o.To != "" && o.Import == nil
}

// Grants says until when the recording can be read that the operation asks for; false where its member has not approved that, or the
// time has passed.
func (o Operation) Grants(at time.Time) (until time.Time, is bool) {
	r := o.Result
	if _, asked := o.Asks(); !asked || r == nil || r.Decision != Approved || r.By != (Actor{Operator, o.To}) {
		return until, false
	}
	until = r.At.Add(GrantTime)
	return until, at.Sub(r.At).Abs() < GrantTime
}

// mayAsk says why a request to one member does not count: only another member asks so, for a recording, and in their own name.
func (r Request) mayAsk(e Event) error {
	_, is := asks(r.Details)
	if r.To == "" || e.Imported != nil || is && r.Kind == Approve && e.By == (Actor{Operator, r.RequestedBy}) && r.RequestedBy != "" && r.RequestedBy != r.To && r.AgentID == PersonID(r.RequestedBy) {
		return nil
	}
	return Errorf(Denied, "only a member of a team asks another one, for a recording and in their own name")
}

// allowsPerson says why an operator cannot do something with a request that is for one member.
func (o Operation) allowsPerson(e Event) error {
	switch {
	case o.To == "" || e.By.Role != Operator || e.Type == Shown || e.Type == Seen || e.Type == Erased:
		return nil
	case e.By.Name != o.To:
		return Errorf(Denied, "only %s can answer operation %s", o.To, o.ID)
	case e.Type == Asked || e.Type == Commented || e.Type == HandedOver:
		return Errorf(Denied, "%s asked for a recording of yours; approve operation %s or deny it, with a note if you like", o.RequestedBy, o.ID)
	}
	return nil
}

// A RecordingHolder says on whose desk a recording is that is not here, and how asking for it stands.
type RecordingHolder struct {
	Member string      `json:"member" doc:"Whose desk has it."`
	Asked  OperationID `json:"asked,omitempty" doc:"The last request of this desk for it; absent: none."`
	Until  *time.Time  `json:"until,omitempty" doc:"They agreed: until when it can be read here."`
}
