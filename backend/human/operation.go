// Package human has the nouns of Deskbell: an operation, the events that make it up, the rules of its
// life, and the errors that all layers share. It does no I/O, reads no clock and starts no goroutine. The
// JSON tags are the wire format of the REST API, the WebSocket, MCP results and the exported files.
package human

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// OperationID names one operation, for ever. It sorts by the time it was made.
type OperationID string

// Kind is what an agent asks a human for (H2). On the wire it is called action_type.
type Kind string

// The kinds of operations.
const (
	Feedback Kind = "feedback"
	Bash     Kind = "bash"
	Desktop  Kind = "desktop"
	Browser  Kind = "browser"
	Review   Kind = "review"
	Approve  Kind = "approve"
)

// State is where an operation stands in its life (see Operation.Apply).
type State string

// The states. The last three are terminal: nothing changes them any more.
const (
	Pending      State = "pending"
	Claimed      State = "claimed"
	InProgress   State = "in_progress"
	WaitingInput State = "waiting_input"
	Completed    State = "completed"
	Cancelled    State = "cancelled"
	Declined     State = "declined"
)

// States lists every state, in the order of a life.
var States = []State{Pending, Claimed, InProgress, WaitingInput, Completed, Cancelled, Declined}

// Terminal says whether nothing can change an operation in this state any more.
func (s State) Terminal() bool { return s == Completed || s == Cancelled || s == Declined }

// Risk is how dangerous the agent says the request is; "" when it does not say.
type Risk string

// The risks an agent may name in details.risk_level, in any case.
const (
	LowRisk      Risk = "low"
	MediumRisk   Risk = "medium"
	HighRisk     Risk = "high"
	CriticalRisk Risk = "critical"
)

// Dangerous says whether an approval must be deliberate: no default, no single key, no
// button on a system notification.
func (r Risk) Dangerous() bool { return r == HighRisk || r == CriticalRisk }

// Decision is the answer to an approval.
type Decision string

// The decisions.
const (
	Approved Decision = "approve"
	Refused  Decision = "deny"
)

// OnTimeout is what happens to an operation whose time limit has passed (H14).
type OnTimeout string

// The two ways; Mark is the default.
const (
	Mark   OnTimeout = "mark"   // it stays open and is marked overdue
	Cancel OnTimeout = "cancel" // it ends as canceled
)

// Priorities run from 0 to MaxPriority; higher comes first.
const (
	DefaultPriority = 5
	MaxPriority     = 9
)

// Role says who acts: an agent, an operator, or the system itself.
type Role string

// The roles.
const (
	Agent    Role = "agent"
	Operator Role = "operator"
	System   Role = "system"
)

// An Actor did something: an agent by the name of its key, an operator by name.
type Actor struct {
	Role Role   `json:"role" enum:"agent,operator,system"`
	Name string `json:"name,omitempty"`
}

// Request is what an agent asked for. It never changes once it is in the journal.
type Request struct {
	Kind           Kind            `json:"action_type"`
	Description    string          `json:"description"`
	Details        json.RawMessage `json:"details,omitempty"` // a JSON object, its bytes as sent
	Context        json.RawMessage `json:"context,omitempty"` // a JSON object, its bytes as sent
	AgentID        string          `json:"agent_id"`
	SessionID      string          `json:"session_id,omitempty"`
	IdempotencyKey string          `json:"idempotency_key,omitempty"`
	Priority       int             `json:"priority"`
	Timeout        float64         `json:"timeout,omitempty"` // seconds; 0 is never overdue
	OnTimeout      OnTimeout       `json:"on_timeout,omitempty" enum:"mark,cancel"`
	Attachments    []Attachment    `json:"attachments,omitempty"`
	Traceparent    string          `json:"traceparent,omitempty"` // of the agent's span, see the function; no part of what it asks

	// The server that takes the request sets these.
	RequestedBy string `json:"requested_by,omitempty" doc:"In a team: the operator whose agent asked."`
	Approvals   int    `json:"approvals,omitempty" doc:"How many people have to approve it; absent: one."`
	To          string `json:"to,omitempty" doc:"In a team: a person asks, by requested_by, and this member alone can answer."`
}

// Digest is the SHA-256, in hex, of the exact bytes an answer is bound to: the command in
// details.action where there is one, of an approval with details.arguments those too (see callBytes), else details as sent,
// else the description. With attachments it is that of a text of lines: the digest without them, and the id of each.
func (r Request) Digest() string {
	action, _, _ := r.bound()
	return r.digest(action)
}

func (r Request) digest(action string) string {
	bytes := []byte(action)
	if action == "" {
		bytes = r.Details
	}
	if len(bytes) == 0 {
		bytes = []byte(r.Description)
	}
	sum := sha256.Sum256(bytes)
	if len(r.Attachments) > 0 {
		text := hex.EncodeToString(sum[:])
		for _, a := range r.Attachments {
			text += "\n" + string(a.ID)
		}
		sum = sha256.Sum256([]byte(text))
	}
	return hex.EncodeToString(sum[:])
}

// Same says whether two requests ask for the same thing in the same words, with the same files in the same order, whatever
// their idempotency keys, priorities and time limits, and the files' names.
func (r Request) Same(o Request) bool {
	return r.Kind == o.Kind && r.AgentID == o.AgentID && r.SessionID == o.SessionID &&
		r.Description == o.Description && string(r.Details) == string(o.Details) && string(r.Context) == string(o.Context) &&
		slices.EqualFunc(r.Attachments, o.Attachments, func(a, b Attachment) bool { return a.ID == b.ID })
}

// Risk is how dangerous details say the request is; see readRisk.
func (r Request) Risk() Risk {
	_, risk, _ := r.bound()
	return risk
}

// bound reads from details what an answer depends on. It goes by the exact names: a struct's tags would
// take "Action" for "action", too, and the person who answers would be shown another text than the answer
// is bound to.
func (r Request) bound() (action string, risk Risk, sent string) {
	var command, arguments, level, risks, severity json.RawMessage
	Members(r.Details, func(name []byte, value json.RawMessage) {
		switch string(name) { // the last of several counts, as for encoding/json
		case "action":
			command = value
		case "arguments":
			arguments = value
		case "risk_level":
			level = value
		case "risk":
			risks = value
		case "severity":
			severity = value
		}
	})
	if action, _ = JSONString(command); action != "" && r.Kind == Approve {
		action = callBytes(action, arguments)
	}
	risk, sent = readRisk(level, risks, severity)
	return action, risk, sent
}

// Members calls each for every member of a JSON object, in order, without a copy of its value; never where raw is something
// else. It does what encoding/json does with a map, without its cost.
func Members(raw json.RawMessage, each func(name []byte, value json.RawMessage)) {
	if !json.Valid(raw) {
		return
	}
	if raw = bytes.TrimSpace(raw); raw[0] != '{' {
		return
	}
	var name []byte
	depth, start := 0, 1
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; c {
		case '"':
			for i++; raw[i] != '"'; i++ {
				if raw[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			depth++
		case ':':
			if depth != 1 {
				break
			}
			quoted := bytes.TrimSpace(raw[start:i])
			if name = quoted[1 : len(quoted)-1]; bytes.IndexByte(name, '\\') >= 0 {
				text, _ := JSONString(quoted) // it is valid
				name = []byte(text)
			}
			start = i + 1
		case ',', '}', ']':
			if value := bytes.TrimSpace(raw[start:i]); depth == 1 && len(value) > 0 {
				each(name, value)
				start = i + 1
			}
			if c != ',' {
				depth--
			}
		}
	}
}

// readRisk returns the risk in details.risk_level, and the words it was sent in where they are not known. Case does not
// matter, and what is not known counts as high: a request must not look harmless because of a word. Where there is no
// risk_level, the others (risk and severity) count if they are one of the words; else they are a text about the risk.
func readRisk(level json.RawMessage, others ...json.RawMessage) (risk Risk, sent string) {
	if text := riskText(level); text != "" {
		if risk, known := riskWord(text); known {
			return risk, ""
		}
		return HighRisk, OneLine(text, 80)
	}
	for _, other := range others {
		if risk, known := riskWord(riskText(other)); known {
			return risk, ""
		}
	}
	return "", ""
}

func riskText(raw json.RawMessage) string {
	text, is := JSONString(raw)
	if !is {
		text = string(raw)
	}
	return strings.TrimSpace(text)
}

// riskWord is the risk of a word; "" for none.
func riskWord(text string) (risk Risk, known bool) {
	switch risk := Risk(strings.ToLower(text)); risk {
	case LowRisk, MediumRisk, HighRisk, CriticalRisk:
		return risk, true
	case NoRisk:
		return "", true
	}
	return "", false
}

// A Message is one turn of the conversation about an operation (M6).
type Message struct {
	By   Actor     `json:"by"`
	At   time.Time `json:"at"`
	Text string    `json:"text"`
}

// An Answer is what a human gives back (H8).
type Answer struct {
	HumanInput      string                 `json:"human_input,omitempty" doc:"The operator's own words."`
	ExecutionResult string                 `json:"execution_result,omitempty" doc:"What came of the work."`
	Summary         string                 `json:"summary,omitempty" doc:"What was done, in a line or more."`
	KeyFindings     []string               `json:"key_findings,omitempty" doc:"What the agent should know."`
	Decision        Decision               `json:"decision,omitempty" enum:"approve,deny" doc:"The answer to an approval."`
	Fields          map[string]string      `json:"fields,omitempty" doc:"Values for the fields the agent asked for."`
	FieldSources    map[string]FieldSource `json:"field_sources,omitempty" doc:"Where the values of fields came from, by the field's name; absent for what was only typed."`
	Attachments     []string               `json:"attachments,omitempty" doc:"Ids of attached evidence: recordings, and files that the operator attached."`
	Files           []Attachment           `json:"files,omitempty" doc:"What is known of the files among attachments and the steps' attachments. The server writes it; what is sent counts for nothing."`
	Findings        []Finding              `json:"findings,omitempty" doc:"What the agent should know, each with its evidence; key_findings are then their texts."`
	Suggestions     []Finding              `json:"suggestions,omitempty" doc:"What the agent could do next."`
	SummaryID       SummaryID              `json:"summary_id,omitempty" doc:"The summary it was drafted from."`
	WorkAnswer
	PermissionAnswer
	BoxAnswer
	Plan *PlanAnswer `json:"plan,omitempty" doc:"Of a plan: what was done with it."`
}

// A Result is the final answer, with who gave it, when, and the digest of what it is bound to.
type Result struct {
	Answer
	By     Actor     `json:"by"`
	At     time.Time `json:"at"`
	Digest string    `json:"digest" doc:"SHA-256, in hex, of the exact bytes this answer is bound to."`
}

// A Draft is an answer saved and not sent. Only operators see it.
type Draft struct {
	Answer
	By Actor     `json:"by"`
	At time.Time `json:"at"`
}

// Leaving is an answer, or a reason to decline, that can still be undone: its agent gets it at LeavesAt. Only operators see it.
type Leaving struct {
	Answer
	Declined string    `json:"declined,omitempty" doc:"In place of an answer: why the operator declines."`
	By       Actor     `json:"by"`
	At       time.Time `json:"at"`
	LeavesAt time.Time `json:"leaves_at"`
	Version  uint64    `json:"version" doc:"Of the operation, once it was held."`
	Seal     string    `json:"seal,omitempty" doc:"The server's signature, without which it is not sent."`
	Desk     string    `json:"desk,omitempty" doc:"In a team: the desk that sends it; absent for this one."`
}

// An Ending says who ended an operation without an answer, when and why.
type Ending struct {
	By     Actor     `json:"by"`
	At     time.Time `json:"at"`
	Reason string    `json:"reason,omitempty"`
}

// A Delivery is one channel of the ledger: when a request was shown on it and when it was seen there.
type Delivery struct {
	Channel string     `json:"channel" doc:"card, notification, tray or console."`
	Shown   *time.Time `json:"shown,omitempty"`
	Seen    *time.Time `json:"seen,omitempty"`
	Again   *time.Time `json:"seen_again,omitempty" doc:"When it was first seen after it came back from being snoozed."`
	Failed  string     `json:"failed,omitempty" doc:"Why it could not be shown."`
}

// Last is when the request was last seen on the channel for the first time: at all, or since it came back from being snoozed.
func (d Delivery) Last() *time.Time {
	if d.Again != nil {
		return d.Again
	}
	return d.Seen
}

// An Operation is whatever needs a human, as it stands after its last event. It is a value: Apply
// returns a changed copy.
type Operation struct {
	ID          OperationID     `json:"operation_id"`
	Version     uint64          `json:"version" doc:"The number of events so far."`
	Kind        Kind            `json:"action_type"`
	State       State           `json:"state" enum:"pending,claimed,in_progress,waiting_input,completed,cancelled,declined"`
	Overdue     bool            `json:"overdue"`
	Description string          `json:"description"`
	Details     json.RawMessage `json:"details,omitempty"`
	Context     json.RawMessage `json:"context,omitempty"`
	AgentID     string          `json:"agent_id"`
	Desk        string          `json:"desk,omitempty" doc:"In a team: the desk that its agent works at; absent for this one."`
	SessionID   string          `json:"session_id,omitempty"`
	ProjectName string          `json:"project,omitempty" doc:"What its agent says it works on: context.project, else context.cwd, in one line."`
	Priority    int             `json:"priority" doc:"0 to 9; higher comes first."`
	Risk        Risk            `json:"risk,omitempty" enum:"low,medium,high,critical" doc:"From details.risk_level; a word that is not known counts as high."`
	RiskSent    string          `json:"risk_sent,omitempty" doc:"The risk as its agent sent it, where that is none of the known words."`
	Attachments []Attachment    `json:"attachments,omitempty" doc:"Files that came with the request."`
	Digest      string          `json:"digest" doc:"SHA-256, in hex, of the exact bytes an answer is bound to: details.action (of an approval with details.arguments a line break and those, without white space), else details, else description; with attachments, of lines with that digest and each one's id."`
	CreatedAt   time.Time       `json:"created_at"`
	UpdatedAt   time.Time       `json:"updated_at"`
	ExpiresAt   *time.Time      `json:"expires_at,omitempty" doc:"When it becomes overdue; absent: never."`
	OnTimeout   OnTimeout       `json:"on_timeout" enum:"mark,cancel"`
	ClaimedBy   string          `json:"claimed_by,omitempty"`
	Messages    []Message       `json:"messages"`
	Result      *Result         `json:"result,omitempty" doc:"Once completed."`
	Ended       *Ending         `json:"ended,omitempty" doc:"Once canceled or declined: who, when, why."`
	DeliveredAt *time.Time      `json:"delivered_at,omitempty" doc:"When its agent first read the end of it."`
	Recordings  []RecordingID   `json:"recordings"`
	PlanState
	TeamState
	Import *Import `json:"import,omitempty" doc:"Of an operation of another Deskbell: who brought it here, when, and from which file. Its receipts, recordings and files are not here."`

	// For operators only; ForAgent leaves them out.
	Draft        *Draft     `json:"draft,omitempty"`
	Drafts       []Draft    `json:"drafts,omitempty" doc:"Where several operators work on it: one of each. An operator gets their own as draft."`
	Leaving      *Leaving   `json:"leaving,omitempty" doc:"An answer, or a reason to decline, that can still be undone; its agent gets it at leaves_at."`
	SnoozedUntil *time.Time `json:"snoozed_until,omitempty"`
	Deliveries   []Delivery `json:"deliveries,omitempty"`
	Later        *Later     `json:"later,omitempty" doc:"What was decided on this desk and waits for the team, or came too late. Lists leave it out."`

	IdempotencyKey string  `json:"idempotency_key,omitempty"`
	Timeout        float64 `json:"timeout,omitempty" doc:"Seconds from created_at to expires_at."`
}

// ForAgent is the operation as its agent may see it: without what operators keep to themselves, and with
// the recordings that were released to it.
func (o Operation) ForAgent() Operation {
	o.Draft, o.Drafts, o.Leaving, o.SnoozedUntil, o.Deliveries, o.Later = nil, nil, nil, nil, nil, nil
	o.Approvals, o.HandOver, o.Routing = nil, nil, nil
	if o.Result != nil {
		result := *o.Result
		result.Answer = result.ForAgent()
		o.Result = &result
	}
	o.Recordings = slices.DeleteFunc(slices.Clone(o.Recordings), func(id RecordingID) bool { return !o.Released(id) })
	return o
}

// Released says whether the operator gave this recording to the agent, as an attachment of the answer.
func (o Operation) Released(id RecordingID) bool {
	return o.Result != nil && slices.Contains(o.Recordings, id) && slices.Contains(o.Result.Attachments, string(id))
}

// Stands says whether what was noted at a moment still counts: a request that was snoozed comes back as a new one.
func (o Operation) Stands(noted *time.Time, now time.Time) bool {
	return noted != nil && (o.SnoozedUntil == nil || now.Before(*o.SnoozedUntil) || !noted.Before(*o.SnoozedUntil))
}

// DraftOf is what an operator has saved and not sent; nil for nothing.
func (o Operation) DraftOf(by Actor) *Draft {
	if o.Draft != nil && o.Draft.By == by {
		return o.Draft
	}
	if i := slices.IndexFunc(o.Drafts, func(d Draft) bool { return d.By == by }); i >= 0 {
		return &o.Drafts[i]
	}
	return nil
}

// Brief is the operation as lists carry it: without the parts that can be large.
func (o Operation) Brief() Operation {
	o = o.Named()
	o.Details, o.Context = nil, nil
	return o
}

// Request is what the agent asked for, as it was sent.
func (o Operation) Request() Request {
	return Request{
		Kind: o.Kind, Description: o.Description, Details: o.Details, Context: o.Context, AgentID: o.AgentID,
		SessionID: o.SessionID, IdempotencyKey: o.IdempotencyKey, Priority: o.Priority, Timeout: o.Timeout, OnTimeout: o.OnTimeout,
		Attachments: o.Attachments, RequestedBy: o.RequestedBy, Approvals: o.ApprovalsNeeded, To: o.To,
	}
}

// Project is what the agent says it works on: context.project, else context.cwd, as far as those are texts.
func (o Operation) Project() string {
	var all map[string]json.RawMessage
	if len(o.Context) == 0 || json.Unmarshal(o.Context, &all) != nil {
		return ""
	}
	for _, name := range []string{"project", "cwd"} {
		var text string
		if json.Unmarshal(all[name], &text) == nil && text != "" {
			return text
		}
	}
	return ""
}

// Named is the operation with its project's name, which it keeps when it has no context any more.
func (o Operation) Named() Operation {
	if o.ProjectName == "" {
		o.ProjectName = OneLine(o.Project(), 200)
	}
	return o
}

// EndedAt is when the operation reached its terminal state, or the zero time.
func (o Operation) EndedAt() time.Time {
	switch {
	case o.Result != nil:
		return o.Result.At
	case o.Ended != nil:
		return o.Ended.At
	}
	return time.Time{}
}
