package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deskbell/backend/human"
)

// The statuses of a result.
const (
	statusOK        = "ok"
	statusPending   = "pending"
	statusWaiting   = "waiting_input"
	statusCompleted = "completed"
	statusDeclined  = "declined"
	statusCancelled = "cancelled"
	statusError     = "error"
)

// A reading is a tool result: what an agent reads of an operation, a list or a summary. The same object
// is its structured content and, as JSON, its text.
type reading struct {
	Status   string            `json:"status"`
	ID       human.OperationID `json:"operation_id,omitempty"`
	Attached bool              `json:"attached,omitempty"`
	Kind     human.Kind        `json:"action_type,omitempty"`
	State    human.State       `json:"state,omitempty"`
	Overdue  bool              `json:"overdue,omitempty"`
	Waited   int               `json:"waited_seconds,omitempty"`
	Message  string            `json:"message,omitempty"`
	Next     string            `json:"next,omitempty"`

	Question string    `json:"question,omitempty"`
	Messages []message `json:"messages,omitempty"`

	Decision        human.Decision      `json:"decision,omitempty"`
	Verdict         human.WorkVerdict   `json:"verdict,omitempty"`
	HumanInput      string              `json:"human_input,omitempty"`
	Steps           []human.StepResult  `json:"steps,omitempty"`
	ExecutionResult string              `json:"execution_result,omitempty"`
	Summary         string              `json:"summary,omitempty"`
	Findings        []finding           `json:"findings,omitempty"`
	KeyFindings     []string            `json:"key_findings,omitempty"` // of answers without findings
	Response        json.RawMessage     `json:"response,omitempty"`
	Edited          *edited             `json:"edited,omitempty"`
	Fields          map[string]string   `json:"fields,omitempty"`
	FieldSources    map[string]string   `json:"field_sources,omitempty"`
	Suggestions     []finding           `json:"suggestions,omitempty"`
	Comments        []human.CodeComment `json:"comments,omitempty"`
	Focus           []human.FocusResult `json:"focus,omitempty"`
	Attachments     []string            `json:"attachments,omitempty"`
	Files           []file              `json:"files,omitempty"` // of attachments and steps
	Recordings      []recording         `json:"recordings,omitempty"`
	Reason          string              `json:"reason,omitempty"`
	By              string              `json:"by,omitempty"`
	At              *time.Time          `json:"at,omitempty"`

	Evidence []evidence `json:"evidence,omitempty"`

	Field      string `json:"field,omitempty"`
	Text       string `json:"text,omitempty"`
	NextOffset int    `json:"next_offset,omitempty"`
	Total      int    `json:"total_characters,omitempty"`

	Pending []line `json:"pending,omitzero"`
	Unread  []line `json:"unread,omitzero"`

	Cut []string `json:"cut,omitempty"`

	ended  bool     // the operation's end is in it
	did    int      // actions of the recordings, those that are not shown too
	images [][]byte // JPEGs that come with it
	filled []field  // Fields and FieldSources in order, while it is fitted
	fitted bool     // into its budget

	resources []*mcp.ResourceContents // that come with it, after the images
}

// edited is the call that was approved in place of the one that was asked about.
type edited struct {
	Arguments  json.RawMessage     `json:"arguments"`
	Difference []human.EditedValue `json:"difference"`
	Digest     string              `json:"digest"`
	Requested  string              `json:"requested_digest"`
}

// A finding is what a human found, or suggests, and the labels of what it rests on.
type finding struct {
	Text     string            `json:"text"`
	Kind     human.FindingKind `json:"kind"`
	Evidence []string          `json:"evidence,omitempty"`
	ByHand   bool              `json:"by_hand,omitempty"`
}

// A recording is what a human did, a line an action, where they gave it with their answer.
type recording struct {
	ID      human.RecordingID `json:"recording_id"`
	Actions []string          `json:"actions"`
	Missing string            `json:"missing,omitempty"`
}

type message struct {
	From string    `json:"from"`
	At   time.Time `json:"at"`
	Text string    `json:"text"`
}

// A line is an operation in a list.
type line struct {
	ID          human.OperationID `json:"operation_id"`
	Kind        human.Kind        `json:"action_type"`
	State       human.State       `json:"state"`
	Overdue     bool              `json:"overdue,omitempty"`
	Description string            `json:"description"`
	SessionID   string            `json:"session_id,omitempty"`
	CreatedAt   time.Time         `json:"created_at"`
}

func lineOf(op human.Operation) line {
	return line{op.ID, op.Kind, op.State, op.Overdue, human.OneLine(op.Description, 200), op.SessionID, op.CreatedAt}
}

// outputSchema names what every result has; the rest depends on status, and the tool's description says what.
var outputSchema = map[string]any{
	"type":     "object",
	"required": []string{"status"},
	"properties": map[string]any{
		"status": map[string]any{"enum": []string{statusPending, statusWaiting, statusCompleted, statusDeclined, statusCancelled, statusOK, statusError}},
	},
}

// read tells an agent how an operation of its own stands.
func (c *call) read(ctx context.Context, op human.Operation, err error) (reading, error) {
	if err != nil {
		return reading{}, err
	}
	r := reading{
		ID: op.ID, Kind: op.Kind, Overdue: op.Overdue && !op.State.Terminal(), Waited: int(time.Since(c.began).Seconds()),
		ended: op.State.Terminal(),
	}
	for _, m := range op.Messages {
		from := "you"
		if m.By.Role == human.Operator {
			from = cmp.Or(m.By.Name, "operator")
			r.Question = m.Text
		}
		r.Messages = append(r.Messages, message{from, m.At, m.Text})
	}
	if op.State != human.WaitingInput {
		r.Question = ""
	}
	if a := op.Result; a != nil {
		r.Decision, r.HumanInput, r.ExecutionResult, r.Summary = a.Decision, a.HumanInput, a.ExecutionResult, a.Summary
		r.Verdict, r.Steps = a.Verdict, slices.Clone(a.Steps)
		if a.Response != nil {
			r.Response = a.Response
		}
		if e := op.EditedCall(a.Answer); e != nil {
			r.Edited = &edited{e.Arguments, e.Changes, e.Digest, e.Requested}
		}
		labels := a.Labels()
		if r.Findings = findingsOf(a.Findings, labels); len(r.Findings) == 0 {
			r.KeyFindings = slices.Clone(a.KeyFindings)
		}
		r.Suggestions = findingsOf(a.Suggestions, labels)
		r.Comments, r.Focus = slices.Clone(a.Comments), slices.Clone(a.Focus)
		r.Fields, r.Attachments = maps.Clone(a.Fields), slices.Clone(a.Attachments)
		r.Files = c.filesOf(op, a.Files)
		r.By, r.At = a.By.Name, &a.At
		for field, from := range a.FieldSources {
			if r.FieldSources == nil {
				r.FieldSources = map[string]string{}
			}
			r.FieldSources[field] = sourceLine(from, labels[from.Ref()])
		}
	}
	if e := op.Ended; e != nil {
		r.Reason, r.By, r.At = e.Reason, cmp.Or(e.By.Name, string(e.By.Role)), &e.At
	}
	r.advise(op)
	if op.Kind == human.Plan && op.State.Terminal() {
		// A yes may be to other tasks than the agent's.
		r.Decision = ""
		r.Next = fmt.Sprintf("it is a plan: call confirm_plan with action=check and session_id=%s to read what may run of it", op.ID)
	}
	c.recorded(ctx, op, &r)
	if op.Result != nil && len(op.Result.Evidence()) > 0 {
		const ask = `action=get_evidence with evidence=["e1"] shows what a finding or a field rests on`
		r.Next = strings.TrimPrefix(r.Next+"; "+ask, "; ")
	}
	return r, nil
}

// stepLine is what came of a step: its verdict, its note, and the ids of its files.
func stepLine(s human.StepResult) string {
	return strings.Join(slices.DeleteFunc([]string{s.Verdict, s.Note, strings.Join(s.Attachments, ", ")}, func(p string) bool { return p == "" }), ": ")
}

// findingsOf are the findings of an answer as its agent reads them.
func findingsOf(all []human.Finding, labels map[human.Ref]string) (out []finding) {
	for _, f := range all {
		if f.Cut {
			continue
		}
		told := finding{Text: f.Text, Kind: f.Kind, ByHand: f.ByHand}
		for _, r := range f.Evidence {
			told.Evidence = append(told.Evidence, labels[r])
		}
		out = append(out, told)
	}
	return out
}

// shown is how many actions of recordings are in a result, and how many characters of each. The rest is
// read as the field recordings.
const (
	shown     = 40
	shownWide = 160
)

// recorded puts what the human did into a result, where it came with the answer.
func (c *call) recorded(ctx context.Context, op human.Operation, r *reading) {
	left := shown
	for _, id := range given(op) {
		entry := recording{ID: id, Actions: []string{}}
		actions, err := c.ringer.Actions(ctx, id)
		if err != nil {
			// The answer counts; this can be had later.
			c.opts.Log.Warn("a recording could not be read for its agent", "recording_id", id, "err", err)
			entry.Missing = human.SafeText(err)
		}
		for _, a := range actions[:min(left, len(actions))] {
			line, _ := clip(actionLine(a), shownWide)
			entry.Actions = append(entry.Actions, line)
		}
		left -= len(entry.Actions)
		r.did += len(actions)
		r.Recordings = append(r.Recordings, entry)
	}
	if r.did > 0 && r.Next == "" {
		r.Next = "recordings has what the human did, in order; continue from there"
	}
}

// given are the recordings that came with the answer.
func given(op human.Operation) []human.RecordingID {
	return slices.DeleteFunc(slices.Clone(op.Recordings), func(id human.RecordingID) bool { return !op.Released(id) })
}

// actionLine is an action as an agent reads it: when, in minutes and seconds of the recording, and what.
func actionLine(a human.Action) string {
	return minutes(a.At) + " " + human.OneLine(a.Words, 1000)
}

// advise sets the status and what to do about it.
func (r *reading) advise(op human.Operation) {
	switch op.State {
	case human.Completed:
		r.Status = statusCompleted
		switch r.Decision {
		case human.Refused:
			r.Next = "the human said no: do not do it, and not in any other way either; tell your user, or ask what to do instead"
		case human.Approved:
			if r.Edited != nil {
				r.Next = "the human changed the arguments and said yes to exactly those in edited.arguments: run it with them, not with yours, and nothing else"
				break
			}
			r.Next = "the human said yes to exactly what you asked, and to nothing else; continue"
		}
		switch r.Verdict {
		case human.WorkPartly:
			r.Next = "the human did a part of it: read human_input, and steps if there are any, for what is left"
		case human.WorkCouldNot:
			r.Next = "the human could not do it: read human_input for why, and find another way; do not send the same request again"
		case human.RequestChanges:
			r.Next = "the human wants changes: see to comments and to each focus that is not good; lines are those of the text you sent, so apply the suggestions of a file from its last line to its first"
		case human.ReviewApprove, human.ReviewComment:
			if len(r.Comments) > 0 {
				r.Next = "read comments; apply the suggestions of a file from its last line to its first"
			}
		case "", human.WorkDone:
		}
	case human.Declined:
		r.Status = statusDeclined
		r.Next = "read reason and find another way; do not send the same request again"
	case human.Cancelled:
		r.Status = statusCancelled
		if op.Ended != nil && op.Ended.By.Role == human.System {
			r.Next = "no one answered in time; choose what is safe without an answer, or tell your user that no one answered"
		}
	case human.WaitingInput:
		r.Status, r.State = statusWaiting, op.State
		r.Next = fmt.Sprintf("answer the question: call human with action=reply, operation_id=%s and text", op.ID)
	default:
		r.Status, r.State = statusPending, op.State
		r.Next = fmt.Sprintf("call human with action=wait and operation_id=%s to continue waiting, or do other work and use action=check_result later", op.ID)
		if r.Overdue {
			r.Message = "Its time limit has passed. It is still open and a human may yet answer: keep waiting, continue without an answer, or call human with action=cancel and a reason."
		} else if op.ClaimedBy != "" {
			r.Message = op.ClaimedBy + " is working on it."
		}
	}
}

// sourceLine says where the value of a field came from. label is that of the evidence.
func sourceLine(from human.FieldSource, label string) string {
	line := label + ": picked from " + cmp.Or(from.URL, "a page") + " at " + from.At.UTC().Format(time.RFC3339)
	if from.Selector != "" {
		line += ", " + from.Selector
	}
	if from.Corrected {
		line += "; corrected by hand; the picked value was: " + human.OneLine(from.Picked, 200)
	}
	return line
}

// textFields are the texts of a result that can be read in parts.
var textFields = []string{"human_input", "steps", "execution_result", "summary", "findings", "key_findings", "suggestions", "comments", "focus", "response", "edited", "fields", "messages", "recordings", "attachments", "reason", "receipts"}

// excerpt is the part of one text of an operation that begins at a character and fits into a budget of tokens; more is the call that
// reads it.
func excerpt(op human.Operation, field, text string, offset, budget int, more string) (reading, error) {
	runes := []rune(text)
	if offset < 0 || offset > len(runes) {
		return reading{}, human.BadField("offset", "is %d; %s has %d characters", offset, field, len(runes))
	}
	rest := runes[offset:]
	part := func(n int) reading {
		r := reading{Status: statusOK, ID: op.ID, Field: field, Text: string(rest[:n]), Total: len(runes), ended: op.State.Terminal()}
		if n < len(rest) {
			r.NextOffset = offset + n
			r.Next = fmt.Sprintf("call human with %s, offset=%d to read more", more, r.NextOffset)
		}
		return r
	}
	n := sort.Search(min(len(rest), budget*3), func(n int) bool {
		data, err := plainJSON(part(n + 1))
		return err != nil || human.Tokens(data) > budget
	})
	return part(n), nil
}

// jsonOf is a part of an answer that is JSON, or lines of it; is says whether the field is one.
func jsonOf(op human.Operation, a human.Answer, field string) (text string, is bool, err error) {
	switch field {
	case "response":
		return string(a.Response), true, nil
	case "edited":
		if e := op.EditedCall(a); e != nil {
			var data []byte
			data, err = plainJSON(edited{e.Arguments, e.Changes, e.Digest, e.Requested})
			text = string(data)
		}
	case "comments":
		text, err = lined(a.Comments)
	case "focus":
		text, err = lined(a.Focus)
	default:
		return "", false, nil
	}
	return text, true, err
}

// text is one text of an operation, whole.
func (c *call) text(ctx context.Context, op human.Operation, field string) (string, error) {
	var a human.Answer
	if op.Result != nil {
		a = op.Result.Answer
	}
	var b strings.Builder
	if text, is, err := jsonOf(op, a, field); is {
		return text, err
	}
	switch field {
	case "human_input":
		return a.HumanInput, nil
	case "steps":
		for _, s := range a.Steps {
			fmt.Fprintf(&b, "%d. %s\n", s.Step, stepLine(s))
		}
	case "execution_result":
		return a.ExecutionResult, nil
	case "summary":
		return a.Summary, nil
	case "reason":
		if op.Ended != nil {
			return op.Ended.Reason, nil
		}
	case "findings", "suggestions":
		all := a.Findings
		if field == "suggestions" {
			all = a.Suggestions
		}
		for _, f := range findingsOf(all, a.Labels()) {
			rests := ""
			if len(f.Evidence) > 0 {
				rests = " (" + strings.Join(f.Evidence, ", ") + ")"
			}
			fmt.Fprintf(&b, "- %s%s: %s\n", f.Kind, rests, f.Text)
		}
	case "key_findings":
		for _, f := range a.KeyFindings {
			fmt.Fprintf(&b, "- %s\n", f)
		}
	case "attachments":
		return attachmentsOf(a), nil
	case "fields":
		labels := a.Labels()
		for _, k := range slices.Sorted(maps.Keys(a.Fields)) {
			fmt.Fprintf(&b, "%s: %s\n", k, a.Fields[k])
			if from, picked := a.FieldSources[k]; picked {
				fmt.Fprintf(&b, "  %s\n", sourceLine(from, labels[from.Ref()]))
			}
		}
	case "recordings":
		for _, id := range given(op) {
			actions, err := c.ringer.Actions(ctx, id)
			if err != nil {
				return "", err
			}
			fmt.Fprintf(&b, "%s\n", id)
			for _, a := range actions {
				b.WriteString(actionLine(a) + "\n")
			}
		}
	case "receipts": // as deskbell verify reads them
		list, err := c.ringer.Receipts(ctx, op.ID)
		return string(list), err
	case "messages":
		for _, m := range op.Messages {
			from := "you"
			if m.By.Role == human.Operator {
				from = cmp.Or(m.By.Name, "operator")
			}
			fmt.Fprintf(&b, "%s (%s): %s\n", from, m.At.UTC().Format(time.RFC3339), m.Text)
		}
	default:
		return "", human.BadField("field", "%q is not one of %s", field, strings.Join(textFields, ", "))
	}
	return b.String(), nil
}

// attachmentsOf are the recordings and files of an answer, a line each.
func attachmentsOf(a human.Answer) string {
	var b strings.Builder
	for _, id := range a.Attachments {
		if !strings.HasPrefix(id, human.AttachmentPrefix) {
			fmt.Fprintf(&b, "- %s\n", id)
		}
	}
	for _, f := range a.Files {
		fmt.Fprintf(&b, "- %s: %s, %s, %d bytes\n", f.ID, f.Name, f.Media, f.Size)
	}
	return b.String()
}

// lined is a list as JSON, a line each.
func lined[T any](list []T) (string, error) {
	var b strings.Builder
	for _, one := range list {
		data, err := plainJSON(one)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "%s\n", data)
	}
	return b.String(), nil
}

// failure is an error as an agent reads it: what is wrong, where, and what to do.
func failure(err error) *mcp.CallToolResult { return failureOf(err, kinds[human.KindOf(err)].next) }

func failureOf(err error, next string) *mcp.CallToolResult {
	r := struct {
		Status  string `json:"status"`
		Kind    string `json:"kind"`
		Field   string `json:"field,omitempty"`
		Message string `json:"message"`
		Next    string `json:"next"`
	}{statusError, kinds[human.KindOf(err)].name, "", human.SafeText(err), next}
	var e *human.Error
	if errors.As(err, &e) {
		r.Field = e.Field
	}
	data, _ := plainJSON(r) // strings only: cannot fail
	return &mcp.CallToolResult{
		IsError:           true,
		Content:           []mcp.Content{&mcp.TextContent{Text: string(data)}},
		StructuredContent: json.RawMessage(data),
	}
}

var kinds = map[human.ErrorKind]struct{ name, next string }{
	human.Invalid:      {"invalid", "correct the arguments and call human again"},
	human.NotFound:     {"not_found", "call human with action=list_pending to see your requests"},
	human.Conflict:     {"conflict", "call human with action=check_result and the operation_id to read its state"},
	human.Denied:       {"denied", "this key may not do it; tell your user"},
	human.Exhausted:    {"exhausted", "call human with action=list_pending, then wait for one of those requests or cancel one you no longer need"},
	human.Internal:     {"internal", "tell your user that Deskbell failed; if this was an invoke, action=list_pending says whether the request was kept"},
	human.Unavailable:  {"unavailable", "tell your user that Deskbell accepts no requests now (is the app running?), and continue only with what needs no human; earlier requests are kept"},
	human.Unauthorized: {"unauthorized", "tell your user that Deskbell does not know this key; a new one is made with: deskbell keys add NAME"},
}
