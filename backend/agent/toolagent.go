package agent

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"deskbell/backend/human"
)

// The defaults of sessions.
const (
	defaultTTL      = 30 * time.Minute
	defaultSessions = 1000
)

// stalled is how many replies in a row may bring nothing before an agent gives up.
const stalled = 8

// A ToolAgent answers messages with a model and its tools (M1). Each message belongs to a session, which keeps the conversation for
// the next one (M2). It is safe for concurrent use.
type ToolAgent struct {
	about  About
	deps   Deps
	box    toolbox
	system string
	ask    *ToolSpec
	store  Sessions

	mu   sync.Mutex
	live map[string]*session // as this process knows them: with what is secret, and was not kept
}

// NewToolAgent returns an agent of those of the tools whose categories it declares. The error is Invalid or Internal.
func NewToolAgent(about About, deps Deps) (*ToolAgent, error) {
	if err := deps.requires(); err != nil {
		return nil, err
	}
	if deps.Judge == nil {
		deps.Judge = StructuredJudge{Otherwise: WordsJudge{}}
	}
	deps.About = about
	deps.TTL, deps.Sessions = cmp.Or(deps.TTL, defaultTTL), cmp.Or(deps.Sessions, defaultSessions)
	a := &ToolAgent{about: about, deps: deps, ask: deps.Judge.Tool(), store: deps.Store, live: map[string]*session{}}
	if a.store == nil {
		a.store = &memory{most: deps.Sessions, all: map[string]*remembered{}, gone: map[string]bool{}}
	}
	taken := []string{}
	if a.ask != nil {
		taken = append(taken, a.ask.Name)
	}
	var err error
	if a.box, err = newToolbox(deps.Tools, about.has, taken...); err != nil {
		return nil, err
	}
	a.system = a.instructions()
	return a, nil
}

// instructions is the system prompt.
func (a *ToolAgent) instructions() string {
	var b strings.Builder
	fmt.Fprintf(&b, "You are %s.", cmp.Or(a.about.Name, "an assistant"))
	if a.about.Description != "" {
		fmt.Fprintf(&b, " %s", a.about.Description)
	}
	if len(a.about.Capabilities) > 0 {
		fmt.Fprintf(&b, "\nWhat you can do: %s.", strings.Join(a.about.Capabilities, ", "))
	}
	if a.deps.Cwd != "" {
		fmt.Fprintf(&b, "\nTools work in the folder %s.", a.deps.Cwd)
	}
	if a.about.System != "" {
		fmt.Fprintf(&b, "\n\n%s", a.about.System)
	}
	ask := "ask the user for it in your reply, and call no tool in that reply"
	if a.ask != nil {
		ask = "ask the user for it by calling " + a.ask.Name
	}
	fmt.Fprintf(&b, `

How to work:
1. Find out what the user wants, and choose the tools that fit. Where several steps are needed, take one after the other.
2. Where what the user said is not enough to call a tool, because something that it needs is missing or could mean more than one thing, do not guess and do not call it: %s. Ask one short question for just what is missing. Do not ask for what was said before, or for what you can look up yourself.
3. Where you know enough, act. Ask for no permission: what needs it is asked for without you.
4. When it is done, say in a sentence or two what came of it. Never say that something was done that no tool has done.
5. Answer in the language that the user writes in.
6. Where a call fails, fix it or find another way. Where one was blocked or denied, do not try to get the same result another way.

%s`, ask, dataRule)
	return b.String()
}

// About says what the agent is (M5).
func (a *ToolAgent) About() About { return a.about }

// Handle answers a message of a person, as Answer does.
func (a *ToolAgent) Handle(ctx context.Context, query, sessionID string) (Response, error) {
	return a.Answer(ctx, Message{Text: query, Session: sessionID})
}

// A Message is what a ToolAgent is to answer.
type Message struct {
	By      string // the agent that sends it; empty: a person
	Text    string
	Session string // of the conversation that it belongs to; empty: a new one
	New     bool   // the session is to begin with this, unless it is there
	Key     string // the sender's own name for it: the last message again, of the same key, gets the same answer again
}

// Sent is a message as a caller sends it.
type Sent struct {
	Message string `json:"message"`
	Session string `json:"session_id,omitempty" doc:"Of the conversation that it belongs to; absent: a new one."`
	Folder  string `json:"folder,omitempty" doc:"Of a new conversation, from a person: where its tools run, absolute."`
	Key     string `json:"idempotency_key,omitempty" maxLength:"200" doc:"Your own name for this message: the same key again gets the same answer, and nothing is done twice."`
}

// Answer answers a message: one that begins a conversation, or the next of one. The Response's status is success
// for the first message of a session and completed for a later one, waiting_input, or failed; whichever it is, the session takes
// further messages for as long as it is kept. A message whose answer was lost, because ctx ended or the process did, may be sent
// again: what was done for it is not done twice. Errors are Invalid for an empty message, NotFound for a session that is not known
// or has expired, or is another agent's, Conflict for one that is answering another message, ctx's, or the Store's. It blocks while the model and its tools work.
func (a *ToolAgent) Answer(ctx context.Context, m Message) (Response, error) {
	query := strings.TrimSpace(m.Text)
	if query == "" {
		return Response{}, human.BadField("message", "is empty; say what is to be done")
	}
	s, err := a.open(ctx, m)
	if err != nil {
		return Response{}, err
	}
	r := s.answer
	switch again := m.Key != "" && m.Key == s.key && s.asked == ""; {
	case again && !a.isMessage(s.message, query):
		err = human.Errorf(human.Conflict, "the idempotency key %q was used for another message of the session; give this one its own", human.OneLine(m.Key, 80))
	case !again:
		s.sending = m.Key
		r, err = a.converse(ctx, s, query)
	}
	r.Agent, r.Query, r.SessionID, r.Data.History = a.about.Name, query, s.info.ID, slices.Clone(s.turns)
	a.close(s)
	return r, err
}

// isMessage says whether a message that a session has is this one. One that was read from the journal has no secrets.
func (a *ToolAgent) isMessage(kept, message string) bool {
	if kept == message || a.deps.Mask == nil {
		return kept == message
	}
	masked, _ := a.deps.Mask(message)
	return kept == masked
}

// open takes hold of a session; of a new one for no id.
func (a *ToolAgent) open(ctx context.Context, m Message) (*session, error) {
	id := m.Session
	if id == "" {
		return a.begin(ctx, m)
	}
	log, records, err := a.store.Open(id)
	if m.New && human.KindOf(err) == human.NotFound && err != nil {
		return a.begin(ctx, m)
	}
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	s := a.live[id]
	a.mu.Unlock()
	if s == nil || s.n != len(records) { // another process has answered messages of it since
		s = &session{judge: a.deps.Judge, seen: ids{}}
		for _, rec := range records {
			s.apply(rec)
		}
	}
	s.log = log
	if s.info.Agent != a.about.Name || m.By != "" && m.By != s.info.By {
		err = human.Errorf(human.NotFound, "session %q is not a conversation of yours with the agent %s", human.OneLine(id, 80), a.about.Name)
	} else if a.deps.Now().Sub(s.last) >= a.deps.TTL {
		err = human.Errorf(human.NotFound, "session %s has expired: it waited %v for a message; send the message without a session id to begin anew", id, a.deps.TTL)
	}
	if err != nil {
		a.close(s)
		return nil, err
	}
	return s, nil
}

// begin begins a session.
func (a *ToolAgent) begin(ctx context.Context, m Message) (s *session, err error) {
	s = &session{judge: a.deps.Judge, seen: ids{}}
	info := RunInfo{
		ID: m.Session, Agent: a.about.Name, Task: human.OneLine(m.Text, 300), Cwd: a.deps.Cwd, Model: a.deps.Model.Name(), At: a.deps.Now(), By: m.By,
	}
	if c := a.deps.Limits.Currency; c != "" { // the limits themselves are of one message
		info.Limits = &Limits{Currency: c}
	}
	if info.ID == "" {
		info.ID = a.deps.NewID(ConversationPrefix)
	}
	if s.log, err = a.store.Begin(info.ID); err != nil {
		return nil, err
	}
	if err := a.keep(ctx, s, Record{Kind: RunRecord, Run: &info}); err != nil {
		a.close(s)
		return nil, err
	}
	return s, nil
}

// close closes the log of a session, which waits for its next message.
func (a *ToolAgent) close(s *session) {
	_ = s.log.Close() // what it was told is durable
	s.log = nil
	a.mu.Lock()
	defer a.mu.Unlock()
	for id, o := range a.live {
		if a.deps.Now().Sub(o.last) >= a.deps.TTL {
			delete(a.live, id)
		}
	}
	a.live[s.info.ID] = s
}

// keep writes a record, and then takes it. Its own context outlives ctx, as that of a run does.
func (a *ToolAgent) keep(ctx context.Context, s *session, rec Record) error {
	rec.At = a.deps.Now()
	out := rec
	if a.deps.Mask != nil {
		out = (&masker{mask: a.deps.Mask}).record(rec)
	}
	if err := s.log.Append(context.WithoutCancel(ctx), out); err != nil {
		return human.Wrap(human.Unavailable, err, "the conversation cannot be stored, so it stops here")
	}
	s.apply(rec)
	return nil
}

// tell keeps and tells an update.
func (a *ToolAgent) tell(ctx context.Context, s *session, u Update) error {
	u.At, u.SessionID, u.State = a.deps.Now(), s.info.ID, cmp.Or(u.State, Executing)
	if a.deps.Mask != nil {
		u = *(&masker{mask: a.deps.Mask}).update(u)
	}
	u.Call = human.Shorten(u.Call, maxLine)
	if err := a.keep(ctx, s, Record{Kind: UpdateRecord, Update: &u}); err != nil {
		return err
	}
	if a.deps.Emit != nil {
		a.deps.Emit(u)
	}
	return nil
}

// converse asks the model, runs what it calls, and continues until it answers or asks. Afterwards each call of the session's
// turns has its result, whatever happened.
func (a *ToolAgent) converse(ctx context.Context, s *session, query string) (Response, error) {
	w := &work{Deps: a.deps, box: a.box, session: s.info.ID}
	w.Cwd = cmp.Or(s.info.Cwd, w.Cwd)
	defer func() {
		if len(s.open) > 0 {
			_ = a.results(ctx, s) // with its own error the session is settled when it is next read
		}
	}()
	if !a.isMessage(s.asked, query) {
		if err := a.results(ctx, s); err != nil {
			return Response{}, err
		}
		if err := a.keep(ctx, s, Record{Kind: TurnRecord, Turn: &Turn{Role: User, Text: query}}); err != nil {
			return Response{}, err
		}
		if err := a.tell(ctx, s, Update{Type: UserMessage, Content: query}); err != nil {
			return Response{}, err
		}
	}
	w.task = s.said
	before := s.spent
	spent := func() *Spent { sum := before.plus(w.spent); return &sum }
	for {
		if err := ctx.Err(); err != nil {
			return Response{}, err
		}
		var err error
		switch {
		case len(s.open) > 0:
			err = a.answerCalls(ctx, w, s, spent)
		case s.question != "":
			text := s.text
			if !strings.Contains(text, s.question) {
				text = joined(text, s.question)
			}
			return a.conclude(ctx, s, Response{Status: WaitingInput, Message: text, Prompt: s.question})
		case s.text != "" && s.turns[len(s.turns)-1].Role == Assistant:
			return a.conclude(ctx, s, Response{Status: Success, Message: s.text})
		case s.barren >= stalled:
			return a.conclude(ctx, s, Response{Status: NotDone, Message: fmt.Sprintf("%s made no progress in %d replies", a.deps.Model.Name(), stalled)})
		default:
			var failed string
			if failed, err = a.think(ctx, w, s, spent); failed != "" {
				return a.conclude(ctx, s, Response{Status: NotDone, Message: failed})
			}
		}
		if err != nil {
			return Response{}, err
		}
	}
}

// think asks the model what to do next. failed is why it has no answer.
func (a *ToolAgent) think(ctx context.Context, w *work, s *session, spent func() *Spent) (failed string, err error) {
	tools := a.box.specs
	if a.ask != nil {
		tools = append(slices.Clip(tools), *a.ask)
	}
	if last := s.turns[len(s.turns)-1]; last.Role == Assistant {
		if err := a.keep(ctx, s, Record{Kind: TurnRecord, Turn: &Turn{Role: User, Text: "You said nothing. Answer, ask, or call a tool."}, Text: nothing}); err != nil {
			return "", err
		}
	}
	reply, err := w.fitted(ctx, &s.given, func() Prompt { return Prompt{System: a.system, Turns: s.given.turns, Tools: tools} }, s.turns[0].Text, "", func(c Cut) error {
		return a.keep(ctx, s, Record{Kind: CutRecord, Cut: &c, Spent: spent()})
	})
	if err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return human.SafeText(err), nil
	}
	s.seen.settle(reply.Calls)
	said := Turn{Role: Assistant, Text: reply.Text, Calls: reply.Calls, Kept: reply.Kept}
	rec := Record{Kind: TurnRecord, Turn: &said, Spent: spent()}
	switch {
	case len(reply.Calls) == 0 && strings.TrimSpace(reply.Text) == "":
		said.Text, rec.Text = nothing, nothing // an empty turn is refused by models
	case reply.Cut && len(reply.Calls) > 0:
		rec.Outcome = OutcomeFailed
	}
	return "", a.keep(ctx, s, rec)
}

// conclude keeps and tells what came of a message.
func (a *ToolAgent) conclude(ctx context.Context, s *session, r Response) (Response, error) {
	u := Update{Type: ConversationalResponse, State: Completed, Outcome: OutcomeDone, Content: r.Message}
	switch {
	case r.Status == WaitingInput:
		u.Outcome, u.State = OutcomeAsks, AwaitingConfirmation
	case r.Status == NotDone:
		u.Outcome, u.State = OutcomeFailed, Failed
	case s.answers > 0:
		r.Status = Done
	}
	spent := s.spent
	u.Spent = &spent
	if err := a.tell(ctx, s, u); err != nil {
		return Response{}, err
	}
	return r, a.keep(ctx, s, Record{Kind: AnswerRecord, Text: string(r.Status), Key: s.sending, Spent: &spent})
}

// answerCalls runs the calls of the last reply that nothing has come of, one after the other, and adds the turn with what came of
// all of them. The error is ctx's, or the Store's.
func (a *ToolAgent) answerCalls(ctx context.Context, w *work, s *session, spent func() *Spent) error {
	for _, use := range s.open {
		if _, has := s.results[use.ID]; has {
			continue
		}
		no := func(text string, failed bool) error {
			return a.keep(ctx, s, Record{Kind: DoneRecord, Done: &CallDone{CallID: use.ID, Failed: failed, Text: text}})
		}
		var err error
		switch {
		case s.using == use.ID:
			err = no("It may have run, in part or whole, or not at all: the agent was stopped meanwhile. Look before you do it again.", true)
		case s.cut:
			err = no("It did not run: your reply was longer than the limit of tokens. Make it shorter.", true)
		case s.masked:
			err = no("It did not run: the agent was restarted, and what is secret in it was not kept. Say it again.", true)
		case a.ask != nil && use.Name == a.ask.Name:
			text := "Asked. The answer is the user's next message."
			if question(use) == "" {
				text = "Nothing was asked: give the question."
			}
			err = no(text, question(use) == "")
		default:
			err = a.call(ctx, w, s, use, spent)
		}
		if err != nil {
			return err
		}
	}
	return a.results(ctx, s)
}

// results adds the turn with what came of the calls of the last reply; those that nothing has come of did not run.
func (a *ToolAgent) results(ctx context.Context, s *session) error {
	if len(s.open) == 0 {
		return nil
	}
	t := Turn{Role: ToolTurn}
	for _, use := range s.open {
		done, has := s.results[use.ID]
		if !has {
			done = CallDone{CallID: use.ID, Failed: true, Text: "It did not run: the conversation was broken off."}
			if s.using == use.ID {
				done.Text = "It may have run, in part or whole, or not at all: the conversation was broken off. Look before you do it again."
			}
		}
		t.Results = append(t.Results, done)
	}
	return a.keep(ctx, s, Record{Kind: TurnRecord, Turn: &t})
}

// call has a call judged and runs it.
func (a *ToolAgent) call(ctx context.Context, w *work, s *session, use ToolUse, spent func() *Spent) error {
	failed := func(text string) error {
		return a.keep(ctx, s, Record{Kind: DoneRecord, Done: &CallDone{CallID: use.ID, Failed: true, Text: text}})
	}
	t := w.box.byName[use.Name]
	if t == nil {
		return failed("There is no tool of this name here.")
	}
	args, err := object(use.Args)
	if err != nil {
		return failed("It did not run: " + human.SafeText(err) + ".")
	}
	if err := w.over(); err != nil {
		return failed("It did not run: " + human.SafeText(err) + ".")
	}
	use.Args = args
	if err := a.tell(ctx, s, Update{Type: TaskInit, Tool: use.Name, Call: wholeLine(use.Name, use.Args)}); err != nil {
		return err
	}
	args, changed, no, err := w.judged(ctx, use, t)
	if err != nil {
		return err
	}
	if no != "" {
		if err := failed(string(no)); err != nil {
			return err
		}
		return a.tell(ctx, s, Update{Type: SubTaskResult, Tool: use.Name, Call: wholeLine(use.Name, use.Args), Outcome: OutcomeRefused, Content: human.OneLine(string(no), 300)})
	}
	use.Args = args
	if err := a.keep(ctx, s, Record{Kind: UseRecord, Use: &use, Spent: spent()}); err != nil {
		return err
	}
	out, err := w.perform(ctx, t, args)
	ended := Update{Type: SubTaskResult, Tool: use.Name, Call: wholeLine(use.Name, use.Args), Outcome: OutcomeDone}
	if out.Failed {
		ended.Outcome, ended.Content = OutcomeFailed, human.OneLine(out.Text, 300)
	}
	done := CallDone{CallID: use.ID, Failed: out.Failed, Text: joined(changed, w.data(use.Name, out))}
	if kept := a.keep(ctx, s, Record{Kind: DoneRecord, Done: &done, Outcome: ended.Outcome, Spent: spent()}); kept != nil {
		return kept
	}
	if told := a.tell(ctx, s, ended); told != nil {
		return told
	}
	return err
}
