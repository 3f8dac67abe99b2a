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

// A ToolAgent answers messages with a model and its tools (M1). Where a message is not enough it asks, and keeps the
// conversation in a session until the next message of that session comes (M2). It is safe for concurrent use.
type ToolAgent struct {
	about    About
	deps     Deps
	box      toolbox
	system   string
	ask      *ToolSpec
	mu       sync.Mutex
	sessions map[string]*session
	gone     map[string]string // why sessions that were are no more
	goneIDs  []string          // the oldest first
}

// A session is a conversation that waits for its user (M4).
type session struct {
	id    string
	turns []Turn       // all
	given conversation // what the model is given of them
	seen  ids
	said  string // by the user, for the gatekeeper
	spent Spent
	last  time.Time
	busy  bool
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
	a := &ToolAgent{about: about, deps: deps, ask: deps.Judge.Tool(), sessions: map[string]*session{}, gone: map[string]string{}}
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

// Handle answers a message: one that begins a conversation, or with sessionID the next of one that waits for it. The
// Response's status is success, waiting_input, completed or failed; a failed session is kept, and the same message may be
// sent again. Errors are Invalid for an empty message, NotFound for a session that is not known or has expired, Conflict for
// one that is answering another message, or ctx's. It blocks while the model and its tools work.
func (a *ToolAgent) Handle(ctx context.Context, query, sessionID string) (Response, error) {
	query = strings.TrimSpace(query)
	if query == "" {
		return Response{}, human.BadField("query", "say what is to be done")
	}
	s, err := a.take(sessionID)
	if err != nil {
		return Response{}, err
	}
	old := sessionID != ""
	r, err := a.converse(ctx, s, query)
	r.Agent, r.Query, r.Data.History = a.about.Name, query, slices.Clone(s.turns)
	switch {
	case r.Status == WaitingInput, old && (err != nil || r.Status == NotDone):
		a.keep(s)
		r.SessionID = s.id
	case old:
		r.Status, r.SessionID = Done, s.id
		a.drop(s.id, "is completed; send the message without a session id to begin another one")
	}
	return r, err
}

// take returns the session, marked as busy; a new one for no id.
func (a *ToolAgent) take(id string) (*session, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.expire()
	if id == "" {
		return &session{id: a.deps.NewID("chat_"), seen: ids{}, busy: true}, nil
	}
	s := a.sessions[id]
	switch {
	case s == nil && a.gone[id] != "":
		return nil, human.Errorf(human.NotFound, "session %s %s", human.OneLine(id, 80), a.gone[id])
	case s == nil:
		return nil, human.Errorf(human.NotFound, "session %q is not known here: check the id, or send the message without one to start a new session", human.OneLine(id, 80))
	case s.busy:
		return nil, human.Errorf(human.Conflict, "session %s is still answering another message; wait for that answer", s.id)
	}
	s.busy = true
	return s, nil
}

// keep lets a session wait for its next message. Where there are too many, the one that waits for longest goes.
func (a *ToolAgent) keep(s *session) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s.last, s.busy = a.deps.Now(), false
	a.sessions[s.id] = s
	for len(a.sessions) > a.deps.Sessions {
		var oldest *session
		for _, o := range a.sessions {
			if !o.busy && o != s && (oldest == nil || o.last.Before(oldest.last)) {
				oldest = o
			}
		}
		if oldest == nil {
			return // all others are at work
		}
		a.forget(oldest.id, "was dropped, because too many others were waiting; send the message without a session id to begin anew")
	}
}

func (a *ToolAgent) drop(id, why string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.forget(id, why)
}

// expire forgets the sessions that have expired; a.mu is held.
func (a *ToolAgent) expire() {
	now := a.deps.Now()
	for id, s := range a.sessions {
		if !s.busy && now.Sub(s.last) >= a.deps.TTL {
			a.forget(id, fmt.Sprintf("has expired: it waited %v for a message; send the message without a session id to begin anew", a.deps.TTL))
		}
	}
}

// forget drops a session and remembers why, of as many as there may be sessions; a.mu is held.
func (a *ToolAgent) forget(id, why string) {
	delete(a.sessions, id)
	a.gone[id] = why
	if a.goneIDs = append(a.goneIDs, id); len(a.goneIDs) > a.deps.Sessions {
		delete(a.gone, a.goneIDs[0])
		a.goneIDs = a.goneIDs[1:]
	}
}

// converse asks the model, runs what it calls, and continues until it answers or asks. Afterwards each call of the session's
// turns has its result, whatever happened.
func (a *ToolAgent) converse(ctx context.Context, s *session, query string) (Response, error) {
	s.said = joined(s.said, query)
	w := &work{Deps: a.deps, box: a.box, session: s.id, task: s.said, spent: s.spent}
	defer func() { s.spent = w.spent }()
	s.add(Turn{Role: User, Text: query})
	s.given.hear("%s", query)
	tools := a.box.specs
	if a.ask != nil {
		tools = append(slices.Clip(tools), *a.ask)
	}
	worked, barren := false, 0
	for {
		before := w.spent.TokensIn
		reply, err := w.fitted(ctx, &s.given, func() Prompt { return Prompt{System: a.system, Turns: s.given.turns, Tools: tools} }, s.turns[0].Text, "", func(c Cut) error {
			s.given.cut(c, s.turns[0].Text, "")
			return nil
		})
		if err != nil {
			if ctx.Err() != nil {
				return Response{}, ctx.Err()
			}
			return Response{Status: NotDone, Message: human.SafeText(err)}, nil
		}
		s.seen.settle(reply.Calls)
		s.given.replied(w.spent.TokensIn - before)
		said := Turn{Role: Assistant, Text: reply.Text, Calls: reply.Calls, Kept: reply.Kept}
		if len(reply.Calls) == 0 && strings.TrimSpace(reply.Text) == "" {
			said.Text = nothing // an empty turn is refused by models
		}
		s.add(said)
		question, asks := a.deps.Judge.Asks(reply, worked)
		ran, err := a.answerCalls(ctx, w, s, reply)
		worked = worked || ran
		if barren++; ran {
			barren = 0
		}
		switch text := strings.TrimSpace(reply.Text); {
		case err != nil:
			return Response{}, err
		case asks:
			if !strings.Contains(text, question) {
				text = joined(text, question)
			}
			return Response{Status: WaitingInput, Message: text, Prompt: question}, nil
		case len(reply.Calls) == 0 && text != "":
			return Response{Status: Success, Message: text}, nil
		case len(reply.Calls) == 0:
			s.add(Turn{Role: User, Text: "You said nothing. Answer, ask, or call a tool."})
		}
		if barren >= stalled {
			return Response{Status: NotDone, Message: fmt.Sprintf("%s made no progress in %d replies", a.deps.Model.Name(), stalled)}, nil
		}
	}
}

// add takes a turn.
func (s *session) add(t Turn) {
	s.turns = append(s.turns, t)
	s.given.add(t)
}

// answerCalls runs the calls of a reply, one after the other, and adds the turn with what came of them. It says whether a
// tool ran. The error is ctx's.
func (a *ToolAgent) answerCalls(ctx context.Context, w *work, s *session, r Reply) (ran bool, err error) {
	if len(r.Calls) == 0 {
		return false, nil
	}
	results := make([]CallDone, len(r.Calls))
	for i, use := range r.Calls {
		results[i] = CallDone{CallID: use.ID, Failed: true, Text: "It did not run: the conversation was broken off."}
		switch {
		case err != nil:
		case r.Cut:
			results[i].Text = "It did not run: your reply was longer than the limit of tokens. Make it shorter."
		case a.ask != nil && use.Name == a.ask.Name:
			results[i] = asked(use)
		default:
			var did bool
			did, results[i], err = w.call(ctx, use)
			ran = ran || did
		}
	}
	s.add(Turn{Role: ToolTurn, Results: results})
	return ran, err
}

func asked(use ToolUse) CallDone {
	if question(use) == "" {
		return CallDone{CallID: use.ID, Failed: true, Text: "Nothing was asked: give the question."}
	}
	return CallDone{CallID: use.ID, Text: "Asked. The answer is the user's next message."}
}

// call has a call judged and runs it. The error is ctx's; the CallDone is right even then.
func (w *work) call(ctx context.Context, use ToolUse) (ran bool, done CallDone, err error) {
	failed := func(text string) (bool, CallDone, error) {
		return false, CallDone{CallID: use.ID, Failed: true, Text: text}, nil
	}
	t := w.box.byName[use.Name]
	if t == nil {
		return failed("There is no tool of this name here.")
	}
	if use.Args, err = object(use.Args); err != nil {
		return failed("It did not run: " + human.SafeText(err) + ".")
	}
	if err := w.over(); err != nil {
		return failed("It did not run: " + human.SafeText(err) + ".")
	}
	w.tell(use, Update{Type: TaskInit})
	args, changed, no, err := w.judged(ctx, use, t)
	if err != nil {
		_, done, _ = failed("It did not run: it was broken off before the gatekeeper had judged it.")
		return false, done, err
	}
	if no != "" {
		w.tell(use, Update{Type: SubTaskResult, Outcome: OutcomeRefused, Content: human.OneLine(string(no), 300)})
		return failed(string(no))
	}
	out, err := w.perform(ctx, t, args)
	ended := Update{Type: SubTaskResult, Outcome: OutcomeDone}
	if out.Failed {
		ended.Outcome, ended.Content = OutcomeFailed, human.OneLine(out.Text, 300)
	}
	use.Args = args
	w.tell(use, ended)
	return true, CallDone{CallID: use.ID, Failed: out.Failed, Text: joined(changed, w.data(use.Name, out))}, err
}

// tell tells of a call.
func (w *work) tell(use ToolUse, u Update) {
	if w.Emit == nil {
		return
	}
	u.At, u.SessionID, u.State = w.Now(), w.session, Executing
	u.Tool, u.Call = use.Name, callLine(use.Name, use.Args)
	w.Emit(u)
}
