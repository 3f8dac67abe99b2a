package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deskbell/backend/human"
	"deskbell/backend/kind"
)

// The actions of the tool (H1).
const (
	doInvoke   = "invoke"
	doCheck    = "check_result"
	doWait     = "wait"
	doReply    = "reply"
	doCancel   = "cancel"
	doSummary  = "get_summary"
	doEvidence = "get_evidence"
	doList     = "list_pending"
)

var actions = []string{doInvoke, doCheck, doWait, doReply, doCancel, doSummary, doEvidence, doList}

// arguments are a call's, as sent. A pointer is nil where nothing, or null, was sent.
type arguments struct {
	Action, ActionType, Description         string
	Details, Context                        object
	Timeout, Priority, WaitSeconds          *number
	IdempotencyKey, SessionID, OnTimeout    string
	OperationID, Text, Reason, Since, Field string
	Limit, Offset, MaxTokens                *number
	Evidence                                labels
	Pictures                                yes
	Attachments                             attachedFiles
}

// A property is one argument: its schema, and where it goes in A.
type property[A any] struct {
	name   string
	schema map[string]any
	into   func(*A) any
}

func describe(kind, text string, more ...any) map[string]any {
	m := map[string]any{"type": kind, "description": text}
	for i := 0; i+1 < len(more); i += 2 {
		m[more[i].(string)] = more[i+1]
	}
	return m
}

// properties are all arguments, in the order they are listed. An agent pays for every word here in each of its conversations: what
// a name says is not said again.
var properties = []property[arguments]{
	{"action", describe("string", "What to do.", "enum", actions),
		func(a *arguments) any { return &a.Action }},
	{"action_type", describe("string", "invoke: what you need.", "enum", kind.ForAgents()),
		func(a *arguments) any { return &a.ActionType }},
	{"description", describe("string", "invoke: what you need and why; the line the human reads first."),
		func(a *arguments) any { return &a.Description }},
	{"details", describe("object", detailsText()),
		func(a *arguments) any { return &a.Details }},
	{"context", describe("object", "invoke: what else helps to understand: task, project, what you tried."),
		func(a *arguments) any { return &a.Context }},
	{"attachments", describe("array", "invoke: files for the human: {path}, or {name, data} in base64.", "items", map[string]any{"type": "object"}),
		func(a *arguments) any { return &a.Attachments }},
	{"timeout", describe("number", "invoke: seconds until it is overdue; 0 is never."),
		func(a *arguments) any { return &a.Timeout }},
	{"on_timeout", describe("string", "invoke: an overdue request stays open (mark, the default) or ends (cancel).", "enum", []human.OnTimeout{human.Mark, human.Cancel}),
		func(a *arguments) any { return &a.OnTimeout }},
	{"priority", describe("integer", "invoke: 0 to 9; 5 is usual, 9 most urgent."),
		func(a *arguments) any { return &a.Priority }},
	{"idempotency_key", describe("string", "invoke: your own name for it; the same key joins the same request."),
		func(a *arguments) any { return &a.IdempotencyKey }},
	{"session_id", describe("string", "invoke: your conversation or task."),
		func(a *arguments) any { return &a.SessionID }},
	{"wait_seconds", describe("number", "invoke, wait, reply: wait at most this long; 0 returns at once."),
		func(a *arguments) any { return &a.WaitSeconds }},
	{"operation_id", describe("string", "The request, as invoke named it."),
		func(a *arguments) any { return &a.OperationID }},
	{"text", describe("string", "reply: your words."),
		func(a *arguments) any { return &a.Text }},
	{"reason", describe("string", "cancel: why."),
		func(a *arguments) any { return &a.Reason }},
	{"limit", describe("integer", "get_summary, list_pending: at most this many."),
		func(a *arguments) any { return &a.Limit }},
	{"since", describe("string", "get_summary: a time, or an age like 90m or 24h."),
		func(a *arguments) any { return &a.Since }},
	{"field", describe("string", "check_result: one long text of the result, from offset.", "enum", textFields),
		func(a *arguments) any { return &a.Field }},
	{"offset", describe("integer", "The character to start at."),
		func(a *arguments) any { return &a.Offset }},
	{"evidence", describe("array", "get_evidence: labels from findings, such as e1, or an attachment_id from files.", "items", map[string]any{"type": "string"}),
		func(a *arguments) any { return &a.Evidence }},
	{"pictures", describe("boolean", "get_evidence: with pictures."),
		func(a *arguments) any { return &a.Pictures }},
	{"max_tokens", describe("integer", "About how long the result may be, from 200."),
		func(a *arguments) any { return &a.MaxTokens }},
}

// detailsText names the fields of details by kind. The names say what belongs there; docs/agents.md says more.
func detailsText() string {
	var b strings.Builder
	b.WriteString("invoke: the rest of the request; any field is shown. Fields with a place of their own: ")
	for _, k := range kind.All {
		if !k.Agents {
			continue
		}
		names := make([]string, len(k.Fields))
		for i, f := range k.Fields {
			names[i] = f.Name
		}
		fmt.Fprintf(&b, "%s: %s. ", k.Name, strings.Join(names, ", "))
	}
	b.WriteString("risk_level is low, medium, high or critical.")
	return b.String()
}

// An object is a JSON object. It also reads a string: one that holds an object is that object, any other
// is kept under "text", for models that send objects as text.
type object json.RawMessage

func (o *object) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) == nil {
		inner := bytes.TrimSpace([]byte(text))
		switch {
		case len(inner) == 0:
			return nil
		case inner[0] == '{' && json.Valid(inner):
			b = inner
		default:
			var err error
			if b, err = json.Marshal(map[string]string{"text": text}); err != nil {
				return err
			}
		}
	}
	if b = bytes.TrimSpace(b); len(b) == 0 || b[0] != '{' {
		return fmt.Errorf("must be a JSON object")
	}
	var flat bytes.Buffer
	if err := json.Compact(&flat, b); err != nil {
		return err
	}
	*o = flat.Bytes()
	return nil
}

// labels are a JSON array of texts. It also reads a text with one or more, separated by commas or spaces.
type labels []string

func (l *labels) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*l = strings.FieldsFunc(one, func(r rune) bool { return r == ',' || r == ' ' })
		return nil
	}
	return json.Unmarshal(b, (*[]string)(l))
}

// A yes is true or false. It also reads a text that says so.
type yes bool

func (y *yes) UnmarshalJSON(b []byte) error {
	is, err := strconv.ParseBool(strings.Trim(string(b), `"`))
	*y = yes(is)
	return err
}

// A number is a JSON number. It also reads a string that holds one.
type number float64

func (n *number) UnmarshalJSON(b []byte) error {
	f, err := strconv.ParseFloat(strings.TrimSpace(strings.Trim(string(b), `"`)), 64)
	if err != nil || f != f || f > 1e15 || f < -1e15 {
		return fmt.Errorf("must be a number")
	}
	*n = number(f)
	return nil
}

// read takes a call's arguments apart. Its errors are Invalid and name the argument at fault.
func read[A any](raw json.RawMessage, properties []property[A]) (a A, err error) {
	sent := map[string]json.RawMessage{}
	if len(bytes.TrimSpace(raw)) > 0 {
		if err := json.Unmarshal(raw, &sent); err != nil {
			return a, human.Errorf(human.Invalid, "the arguments must be a JSON object with the field action")
		}
	}
	for _, p := range properties {
		value, ok := sent[p.name]
		delete(sent, p.name)
		if !ok || string(value) == "null" {
			continue
		}
		var ours *human.Error
		if err := json.Unmarshal(value, p.into(&a)); errors.As(err, &ours) {
			return a, ours
		} else if err != nil {
			return a, human.BadField(p.name, "must be of type %s; got %s", p.schema["type"], human.OneLine(string(value), 80))
		}
	}
	for name := range sent {
		return a, human.BadField(name, "there is no such argument; there are %s", strings.Join(names(properties), ", "))
	}
	return a, nil
}

func names[A any](properties []property[A]) []string {
	var all []string
	for _, p := range properties {
		all = append(all, p.name)
	}
	return all
}

// schemaOf is the schema of a call's arguments.
func schemaOf[A any](properties []property[A], required ...string) map[string]any {
	props := map[string]any{}
	for _, p := range properties {
		props[p.name] = p.schema
	}
	schema := map[string]any{"type": "object", "properties": props, "additionalProperties": false}
	if len(required) > 0 {
		schema["required"] = required
	}
	return schema
}

// ring is what invoke rings with; session is the connection's, where the agent names none.
func (a arguments) ring(session string) (Ring, error) {
	if a.ActionType == "" {
		return Ring{}, human.BadField("action_type", "is missing; it says what you need: %s", kind.Sentence(kind.ForAgents()))
	}
	r := Ring{
		Kind: human.Kind(a.ActionType), Description: a.Description, Details: json.RawMessage(a.Details), Context: json.RawMessage(a.Context),
		SessionID: a.SessionID, IdempotencyKey: a.IdempotencyKey, Priority: human.DefaultPriority, OnTimeout: human.OnTimeout(a.OnTimeout),
	}
	if r.SessionID == "" {
		r.SessionID = session
	}
	if a.Priority != nil {
		p, err := whole("priority", *a.Priority)
		if err != nil {
			return r, err
		}
		r.Priority = p
	}
	if a.Timeout != nil {
		seconds := float64(*a.Timeout)
		r.Timeout = &seconds
	}
	return r, nil
}

// operation is the request that an action names.
func (a arguments) operation() (human.OperationID, error) {
	if id := strings.TrimSpace(a.OperationID); id != "" {
		return human.OperationID(id), nil
	}
	return "", human.BadField("operation_id", "is missing; action=%s needs the operation_id that invoke returned, and action=list_pending lists yours", a.Action)
}

// budget is how many tokens the result may have.
func (a arguments) budget() (int, error) { return budget(a.MaxTokens) }

func budget(given *number) (int, error) {
	if given == nil {
		return maxBudget, nil
	}
	n, err := whole("max_tokens", *given)
	if err == nil && n < minBudget {
		err = human.BadField("max_tokens", "is %d; it runs from %d to %d", n, minBudget, maxBudget)
	}
	return min(n, maxBudget), err
}

// from is the character that a text is read from.
func (a arguments) from() (int, error) {
	if a.Offset == nil {
		return 0, nil
	}
	return whole("offset", *a.Offset)
}

// most is how long the agent wants to wait, negative where it does not say.
func (a arguments) most() (time.Duration, error) { return most(a.WaitSeconds) }

func most(given *number) (time.Duration, error) {
	if given == nil {
		return -1, nil
	}
	const longest = 7 * 24 * 3600
	if *given < 0 || *given > longest {
		return 0, human.BadField("wait_seconds", "is %g; it runs from 0 to %d", float64(*given), longest)
	}
	return time.Duration(float64(*given) * float64(time.Second)), nil
}

// count is an optional whole number of at least 1, 0 where it was not sent.
func count(name string, n *number) (int, error) {
	if n == nil {
		return 0, nil
	}
	i, err := whole(name, *n)
	if err == nil && i < 1 {
		err = human.BadField(name, "is %d; it must be 0 or more from 1", i)
	}
	return i, err
}

func whole(name string, n number) (int, error) {
	if i := int(n); number(i) == n {
		return i, nil
	}
	return 0, human.BadField(name, "is %g; it must be a whole number", float64(n))
}

// time is the moment since means: a time, or an age before now.
func (a arguments) time(now time.Time) (time.Time, error) {
	s := strings.TrimSpace(a.Since)
	if s == "" {
		return time.Time{}, nil
	}
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t, nil
	}
	if t, err := time.Parse(time.DateOnly, s); err == nil {
		return t, nil
	}
	if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	return time.Time{}, human.BadField("since", "%q is neither a time like 2026-11-20T08:00:00Z nor an age like 90m or 24h", s)
}

// definition is the tool as clients list it.
func definition() *mcp.Tool {
	no, yes := false, true
	return &mcp.Tool{
		Name:         "human",
		Title:        "Ask a human",
		Description:  description,
		InputSchema:  schemaOf(properties, "action"),
		OutputSchema: outputSchema,
		// It adds requests and messages; what a human then does is theirs, and out in the world.
		Annotations: &mcp.ToolAnnotations{DestructiveHint: &no, OpenWorldHint: &yes},
	}
}

const instructions = `Deskbell lets you ask a human with the tool human. Requests are kept until a human answers; when a result says pending, call the tool again with action=wait.`

// description is under 2 KB, because some clients cut what is longer.
const description = `Ask a human and get their decision, answer or work: a judgment, an approval before something risky, a login or captcha, a step on another machine or desktop, a fact that is not written anywhere. Ask one complete question; they may not have seen your conversation.

action=invoke sends a request and waits. action_type: feedback (an opinion), review (of code), approve (yes or no before you act; give details.action exactly, with impact, risk_level, rollback_plan), bash (a command they run), browser, desktop (work they do there).

Then read status:
- completed: read decision, edited (they changed your details.arguments: run exactly edited.arguments), verdict (done, partly, could_not; of a review approve, request_changes, comment), human_input, response, steps, comments, focus, summary, findings, fields, suggestions, files. After an approve continue only if decision is "approve"; "deny" means do not do it, in no other way either. get_evidence with labels (e1) shows what findings rest on.
- pending: no answer yet; nothing is lost. Call action=wait with its operation_id, or work on and call check_result later. Do not send it again in other words: that asks twice.
- waiting_input: they ask you something (question). Answer with action=reply.
- declined, cancelled: read reason and find another way.
overdue=true: late but still open; keep waiting, continue without an answer, or cancel.

list_pending: your open requests and unread answers, for instance after a restart. get_summary: what humans did for you lately. max_tokens keeps a result short.`
