package api

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/queue"
)

// InvokeRequest is a request (H2).
type InvokeRequest struct {
	ActionType     agentKind            `json:"action_type"`
	Description    string               `json:"description" doc:"What you need from the human, in a line."`
	Details        json.RawMessage      `json:"details,omitempty" doc:"Free-form. details.action is the command an approval is bound to, details.risk_level is low, medium, high or critical. FeedbackDetails and the like name the fields that have a place of their own."`
	Context        json.RawMessage      `json:"context,omitempty" doc:"Free-form."`
	Timeout        *float64             `json:"timeout,omitempty" doc:"Seconds until it is overdue; absent: the setting default_timeout; 0: never."`
	Priority       *int                 `json:"priority,omitempty" minimum:"0" maximum:"9" doc:"Higher rings first; absent: 5."`
	IdempotencyKey string               `json:"idempotency_key,omitempty" doc:"The same key with the same words gives the same operation again."`
	SessionID      string               `json:"session_id,omitempty" doc:"The agent's own thread."`
	OnTimeout      human.OnTimeout      `json:"on_timeout,omitempty" enum:"mark,cancel"`
	Attachments    []human.AttachmentID `json:"attachments,omitempty" maxItems:"10" doc:"Ids of files, as POST /api/attachments returned them."`
	Attach         bool                 `json:"attach,omitempty" doc:"Join an operation of the same words in the same session whose end you have not read, rather than ring twice."`
}

// CompleteRequest is an answer.
type CompleteRequest struct {
	OperationID human.OperationID `json:"operation_id"`
	human.Answer
	Digest   string `json:"digest,omitempty" doc:"The digest of what was shown; the answer is refused when the operation's is another."`
	Undoable bool   `json:"undoable,omitempty" doc:"Hold the answer for five seconds, in which it can be undone, where its kind and risk allow that: the operation has leaving then. Else it is sent at once."`
}

// DeclineRequest says why an operation is declined.
type DeclineRequest struct {
	OperationID human.OperationID `json:"operation_id"`
	Reason      string            `json:"reason"`
	Undoable    bool              `json:"undoable,omitempty" doc:"Hold it for five seconds, as complete does."`
}

// InputRequest is a draft.
type InputRequest struct {
	OperationID human.OperationID `json:"operation_id"`
	human.Answer
}

// OperationRequest names an operation.
type OperationRequest struct {
	OperationID human.OperationID `json:"operation_id"`
}

// ReasonRequest names an operation and says why.
type ReasonRequest struct {
	OperationID human.OperationID `json:"operation_id"`
	Reason      string            `json:"reason,omitempty"`
}

// HandOverRequest says to whom an operation is handed over.
type HandOverRequest struct {
	To   string `json:"to" doc:"The operator's name."`
	Note string `json:"note,omitempty" doc:"What they should know."`
}

type handOverInput struct {
	ID human.OperationID `path:"id" doc:"The operation's id."`
	payload[HandOverRequest]
}

func (in *handOverInput) operation() human.OperationID { return in.ID }

// ReplyRequest is a message.
type ReplyRequest struct {
	OperationID human.OperationID `json:"operation_id"`
	Text        string            `json:"text"`
}

// SnoozeRequest says until when an operation must not ring.
type SnoozeRequest struct {
	OperationID human.OperationID `json:"operation_id"`
	Until       *time.Time        `json:"until" doc:"Absent or null: ring again."`
}

// ShownRequest says that a channel showed a request, or why it could not.
type ShownRequest struct {
	OperationID human.OperationID `json:"operation_id"`
	Channel     string            `json:"channel" enum:"card,notification,tray,console,terminal"`
	Failed      string            `json:"failed,omitempty" doc:"Why it could not."`
}

// SeenRequest says that a request was looked at.
type SeenRequest struct {
	OperationID human.OperationID `json:"operation_id"`
	Channel     string            `json:"channel" enum:"card,notification,tray,console,terminal"`
}

// Page is a part of a list. Its operations come without details and context.
type Page struct {
	Operations []Operation `json:"operations"`
	Next       string      `json:"next,omitempty" doc:"The cursor of the next page; absent on the last."`
}

// Memory is a readable memory of what humans did.
type Memory struct {
	Text       string      `json:"text" doc:"Markdown to put into a prompt."`
	Operations []Operation `json:"operations"`
}

type (
	oneInput struct {
		ID           string  `path:"id" doc:"The operation's id."`
		Wait         float64 `query:"wait" minimum:"0" maximum:"60" doc:"Seconds to wait for the version to pass after_version. Clients and proxies give up soon after 60."`
		AfterVersion uint64  `query:"after_version" doc:"The version you have."`
		Ack          string  `query:"ack" enum:"read,explicit" doc:"What counts as delivery of the end to its agent: this answer (read, absent), or only POST /api/human/delivered."`
	}
	idInput struct {
		ID string `path:"id" doc:"The operation's id."`
	}
	// ListInput says which operations are listed.
	ListInput struct {
		State   []string   `query:"state" enum:"open,closed,pending,claimed,in_progress,waiting_input,completed,cancelled,declined" doc:"One or more, with commas."`
		Kind    human.Kind `query:"action_type"`
		Plan    string     `query:"plan_status" enum:"pending,confirmed,modified,sent_back,cancelled,timeout" doc:"Only plans, and of them those that stand like this; sent_back: with words that say what to change."`
		AgentID string     `query:"agent_id" doc:"For operators; an agent sees its own."`
		Text    string     `query:"q" maxLength:"500" doc:"Full text: all words, the last as a prefix."`
		Order   string     `query:"order" enum:"newest,urgent,recent" doc:"By creation (absent), by urgency and age, or by last change."`
		Limit   int        `query:"limit" minimum:"1" maximum:"500" doc:"Absent: 50."`
		Cursor  string     `query:"cursor" doc:"next of the page before."`
		CountedInput
	}
	summaryInput struct {
		Limit     int       `query:"limit" minimum:"1" maximum:"500" doc:"How many finished operations are read; absent, and at most: the setting human.max_history."`
		Since     time.Time `query:"since" doc:"Leave out what was last changed before."`
		MaxTokens int       `query:"max_tokens" minimum:"100" maximum:"12000" doc:"The length of text, in tokens by an estimate on the high side; absent: 2000."`
	}
)

type operationAnswer = answer[*Operation]

// toHuman is a call about operations.
func toHuman(name, id, summary string, who role) route {
	return route{method: http.MethodPost, path: "/api/human/" + name, id: id, summary: summary, who: who}
}

func (s *Server) operations(c catalogue) {
	q := s.deps.Queue
	invoke := toHuman("invoke", "invoke", "Send a request to a human", agents)
	invoke.also = http.StatusCreated
	add(c, invoke, func(ctx context.Context, x *exchange, in *payload[InvokeRequest]) (*operationAnswer, error) {
		r := in.JSON.request(x.by.Name, q.DefaultTimeout())
		r.Traceparent = human.Traceparent(x.request.Header.Get("Traceparent"))
		op, created, err := q.Ring(ctx, r, in.JSON.Attach)
		if err != nil {
			return nil, err
		}
		status := http.StatusOK
		if created {
			status = http.StatusCreated
		}
		return &operationAnswer{status, s.view(x.by, op.ForAgent())}, nil
	})

	add(c, route{http.MethodGet, "/api/human/operations/{id}", "getOperation", "Read an operation, or wait for it to change", signedIn, 0},
		func(ctx context.Context, x *exchange, in *oneInput) (*operationAnswer, error) {
			id := human.OperationID(in.ID)
			op, err := s.get(ctx, x.by, id, time.Duration(in.Wait*float64(time.Second)), in.AfterVersion)
			if err == nil && in.Ack != "explicit" && x.by.Role == human.Agent && op.State.Terminal() && op.DeliveredAt == nil {
				x.then = func() { s.delivered(x.by, id) }
			}
			return ok(s.view(x.by, op), err)
		})

	add(c, route{http.MethodGet, "/api/human/operations/{id}/events", "getEvents", "What happened to an operation, in order", signedIn, 0},
		func(ctx context.Context, x *exchange, in *idInput) (*answer[*Events], error) {
			entries, err := q.History(ctx, x.by, human.OperationID(in.ID))
			events := &Events{Events: make([]*Event, 0, len(entries))}
			for _, e := range entries {
				events.Events = append(events.Events, eventOf(e))
			}
			return ok(events, err)
		})

	add(c, route{http.MethodGet, "/api/human/operations", "listOperations", "List and search operations", signedIn, 0},
		func(ctx context.Context, x *exchange, in *ListInput) (*answer[*Page], error) {
			f, err := in.filter(s.deps.Now())
			if err != nil {
				return nil, err
			}
			page, err := q.List(ctx, x.by, f)
			return ok(&Page{s.views(x.by, page.Operations), page.Next}, err)
		})

	add(c, route{http.MethodGet, "/api/human/summary", "getSummary", "What humans did lately", signedIn, 0},
		func(ctx context.Context, x *exchange, in *summaryInput) (*answer[*Memory], error) {
			sum, err := q.Summary(ctx, x.by, queue.SummaryQuery{Limit: in.Limit, Since: in.Since, MaxTokens: in.MaxTokens})
			return ok(&Memory{sum.Text, s.views(x.by, sum.Operations)}, err)
		})

	reply := func(ctx context.Context, x *exchange, in *payload[ReplyRequest]) (human.Operation, error) {
		return q.Reply(ctx, x.by, in.JSON.OperationID, in.JSON.Text)
	}
	change(c, toHuman("reply", "reply", "Say something about an operation: ask, answer, or add a word after its end", signedIn), reply)
	change(c, toHuman("comment", "comment", "Add a word, as reply does", operators), reply)
	change(c, toHuman("cancel", "cancel", "Withdraw your own operation", agents),
		func(ctx context.Context, x *exchange, in *payload[ReasonRequest]) (human.Operation, error) {
			return q.Cancel(ctx, x.by, in.JSON.OperationID, in.JSON.Reason)
		})
	change(c, toHuman("delivered", "delivered", "Say that you have the end of your operation; before its end this does nothing", agents),
		func(ctx context.Context, x *exchange, in *payload[OperationRequest]) (human.Operation, error) {
			if err := q.MarkDelivered(ctx, x.by, in.JSON.OperationID); err != nil {
				return human.Operation{}, err
			}
			return q.Get(ctx, x.by, in.JSON.OperationID)
		})
}

// answering is what operators do with an operation.
func (s *Server) answering(c catalogue) {
	q := s.deps.Queue
	change(c, toHuman("claim", "claim", "Make an operation yours", operators),
		func(ctx context.Context, x *exchange, in *payload[OperationRequest]) (human.Operation, error) {
			return q.Claim(ctx, x.by, in.JSON.OperationID)
		})
	change(c, toHuman("release", "release", "Give a claimed operation back", operators),
		func(ctx context.Context, x *exchange, in *payload[ReasonRequest]) (human.Operation, error) {
			return q.Release(ctx, x.by, in.JSON.OperationID, in.JSON.Reason)
		})
	add(c, route{http.MethodPost, "/api/operations/{id}/handover", "handOver", "Hand an operation over to another operator; it stays with who has it until they claim it", operators, 0},
		func(ctx context.Context, x *exchange, in *handOverInput) (*operationAnswer, error) {
			op, err := q.HandOver(ctx, x.by, in.ID, in.JSON.To, in.JSON.Note)
			return ok(s.view(x.by, op), err)
		})
	change(c, toHuman("start", "start", "Say that you work on it", operators),
		func(ctx context.Context, x *exchange, in *payload[OperationRequest]) (human.Operation, error) {
			return q.Start(ctx, x.by, in.JSON.OperationID)
		})
	change(c, toHuman("decline", "decline", "End an operation without an answer, with a reason", operators),
		func(ctx context.Context, x *exchange, in *payload[DeclineRequest]) (human.Operation, error) {
			if in.JSON.Undoable {
				return q.HoldDecline(ctx, x.by, in.JSON.OperationID, in.JSON.Reason)
			}
			return q.Decline(ctx, x.by, in.JSON.OperationID, in.JSON.Reason)
		})
	change(c, toHuman("input", "saveInput", "Save a draft of the answer, unsent; an empty one forgets it", operators),
		func(ctx context.Context, x *exchange, in *payload[InputRequest]) (human.Operation, error) {
			return q.SaveInput(ctx, x.by, in.JSON.OperationID, in.JSON.draft())
		})
	change(c, toHuman("complete", "complete", "Answer", operators),
		func(ctx context.Context, x *exchange, in *payload[CompleteRequest]) (human.Operation, error) {
			a := in.JSON.Answer
			if a.Plan != nil {
				return human.Operation{}, human.BadField("plan", "is not read here; send it to POST /api/plans/%s/response", in.JSON.OperationID)
			}
			if op, err := q.Get(ctx, x.by, in.JSON.OperationID); a.Choice != "" || a.Backup != nil || a.Args != nil && (err != nil || op.Kind != human.Approve) {
				return human.Operation{}, human.BadField("choice", "is a choice of the gatekeeper; send it to POST /api/gate/questions/%s/answer", in.JSON.OperationID)
			}
			ctx, err := s.proveComplete(ctx, x, in.JSON)
			if err != nil {
				return human.Operation{}, err
			}
			if in.JSON.Undoable {
				return q.Hold(ctx, x.by, in.JSON.OperationID, a, in.JSON.Digest)
			}
			return q.Complete(ctx, x.by, in.JSON.OperationID, a, in.JSON.Digest)
		})
	change(c, toHuman("undo", "undo", "Undo an answer that has not left: it is a draft again; or a decline", operators),
		func(ctx context.Context, x *exchange, in *payload[OperationRequest]) (human.Operation, error) {
			return q.Undo(ctx, x.by, in.JSON.OperationID)
		})
	add(c, toHuman("edited", "editCall", "What an approval would be with edited arguments: its digest, to answer with, and its risk", operators),
		func(ctx context.Context, x *exchange, in *payload[EditRequest]) (*answer[*EditedView], error) {
			view, err := s.edited(ctx, x.by, in.JSON)
			return ok(&view, err)
		})
	change(c, toHuman("snooze", "snooze", "Set an operation aside for a while", operators),
		func(ctx context.Context, x *exchange, in *payload[SnoozeRequest]) (human.Operation, error) {
			return q.Snooze(ctx, x.by, in.JSON.OperationID, in.JSON.Until)
		})
	change(c, toHuman("shown", "shown", "Note that a channel showed the request", operators),
		func(ctx context.Context, _ *exchange, in *payload[ShownRequest]) (human.Operation, error) {
			return q.Shown(ctx, in.JSON.OperationID, in.JSON.Channel, in.JSON.Failed)
		})
	change(c, toHuman("seen", "seen", "Note that the request was looked at", operators),
		func(ctx context.Context, x *exchange, in *payload[SeenRequest]) (human.Operation, error) {
			return q.Seen(ctx, x.by, in.JSON.OperationID, in.JSON.Channel)
		})
}

// names is implemented by every body that names an operation.
type names interface{ operation() human.OperationID }

func (r OperationRequest) operation() human.OperationID { return r.OperationID }
func (r ReasonRequest) operation() human.OperationID    { return r.OperationID }
func (r DeclineRequest) operation() human.OperationID   { return r.OperationID }
func (r ReplyRequest) operation() human.OperationID     { return r.OperationID }
func (r SnoozeRequest) operation() human.OperationID    { return r.OperationID }
func (r ShownRequest) operation() human.OperationID     { return r.OperationID }
func (r SeenRequest) operation() human.OperationID      { return r.OperationID }
func (r InputRequest) operation() human.OperationID     { return r.OperationID }
func (r CompleteRequest) operation() human.OperationID  { return r.OperationID }

// change registers a call that changes an operation and answers with it.
func change[T names](c catalogue, r route, do func(context.Context, *exchange, *payload[T]) (human.Operation, error)) {
	add(c, r, func(ctx context.Context, x *exchange, in *payload[T]) (*operationAnswer, error) {
		if in.JSON.operation() == "" {
			return nil, human.BadField("operation_id", "is missing")
		}
		op, err := do(ctx, x, in)
		return ok(c.view(x.by, op), err)
	})
}

// get reads an operation, waiting for a version greater than after where wait is not 0.
func (s *Server) get(ctx context.Context, by human.Actor, id human.OperationID, wait time.Duration, after uint64) (human.Operation, error) {
	if wait == 0 {
		return s.deps.Queue.Get(ctx, by, id)
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	return s.deps.Queue.Wait(ctx, by, id, after)
}

// delivered notes that an agent has read the end, without keeping the agent waiting for it.
func (s *Server) delivered(by human.Actor, id human.OperationID) {
	if !s.begin() {
		return
	}
	go func() {
		defer s.work.Done()
		s.noteDelivered(by, id)
	}()
}

func (s *Server) noteDelivered(by human.Actor, id human.OperationID) {
	if err := s.deps.Queue.MarkDelivered(context.Background(), by, id); err != nil {
		s.deps.Log.Warn("a delivery could not be noted; the agent will be told again", "operation_id", id, "err", err)
	}
}

// view is an operation as the caller may see it.
func (s *Server) view(by human.Actor, op human.Operation) *Operation {
	v := s.listed(by, op)
	if by.Role == human.Operator && s.deps.Team != nil {
		v.Asking = s.deps.Team.Asking(op, s.deps.Now())
		v.Later, v.Away = s.deps.Team.Later(s.ctx, op.ID)
	}
	return v
}

// listed is an operation as lists have it.
func (s *Server) listed(by human.Actor, op human.Operation) *Operation {
	if op.Together {
		op.Draft, op.Drafts = op.DraftOf(by), nil
	}
	v := &Operation{Operation: s.deps.Queue.Marked(s.ctx, op.Named())}
	v.Others = by.Role == human.Operator && op.AsksOthers(by.Name, s.deps.Now())
	v.Frozen = by.Role == human.Operator && s.deps.Team != nil && s.deps.Team.Frozen(s.ctx, op.ID)
	if by.Role == human.Operator && (!op.State.Terminal() || op.DeliveredAt == nil) {
		p := s.deps.Queue.PresenceOf(op.ID)
		v.Presence = &p
	}
	if by.Role == human.Operator && op.Together && !op.State.Terminal() {
		v.Known = s.operatorsKnown()
	}
	return v
}

// operatorsKnown is how many operators could answer: the desktop's, those who signed in, and those of phones.
func (s *Server) operatorsKnown() int {
	names := s.sessions.names()
	names[s.deps.Operator] = true
	if s.phones != nil {
		for _, d := range s.phones.paired() {
			names[d.Operator] = true
		}
	}
	return len(names)
}

func (s *Server) views(by human.Actor, ops []human.Operation) []Operation {
	views := make([]Operation, len(ops))
	for i, op := range ops {
		views[i] = *s.listed(by, op)
	}
	return views
}

// request is what the queue takes.
func (r *InvokeRequest) request(agent string, timeout float64) human.Request {
	if r.Timeout != nil {
		timeout = *r.Timeout
	}
	priority := human.DefaultPriority
	if r.Priority != nil {
		priority = *r.Priority
	}
	var files []human.Attachment
	for _, id := range r.Attachments {
		files = append(files, human.Attachment{ID: id})
	}
	return human.Request{
		Attachments: files,
		Kind:        human.Kind(r.ActionType), Description: r.Description, Details: r.Details, Context: r.Context, AgentID: agent,
		SessionID: r.SessionID, IdempotencyKey: r.IdempotencyKey, Priority: priority, Timeout: timeout, OnTimeout: r.OnTimeout,
	}
}

// draft is the answer to save, nil when there is nothing in it.
func (r *InputRequest) draft() *human.Answer {
	a := r.Answer
	if a.HumanInput == "" && a.ExecutionResult == "" && a.Summary == "" && a.Decision == "" && a.SummaryID == "" && a.Plan == nil &&
		len(a.KeyFindings)+len(a.Findings)+len(a.Suggestions)+len(a.Fields)+len(a.Attachments)+len(a.Parts()) == 0 {
		return nil
	}
	return &a
}

func (in *ListInput) filter(now time.Time) (queue.Filter, error) {
	f := queue.Filter{Kind: in.Kind, Plan: human.PlanStatus(in.Plan), AgentID: in.AgentID, Text: in.Text, Limit: in.Limit, Cursor: in.Cursor}
	switch in.Order {
	case "urgent":
		f.Order = queue.Urgent
	case "recent":
		f.Order = queue.Recent
	}
	for _, state := range in.State {
		for _, is := range human.States {
			if state == string(is) || state == "open" && !is.Terminal() || state == "closed" && is.Terminal() {
				f.States = append(f.States, is)
			}
		}
	}
	if len(in.State) == 1 && in.State[0] == "open" {
		f.States, f.Open = nil, true
	}
	return f, in.add(&f, now)
}
