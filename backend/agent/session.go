package agent

import (
	"context"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"deskbell/backend/human"
)

// Sessions keep the conversations of a ToolAgent, each as records. Implementations are safe for concurrent use.
type Sessions interface {
	// Begin makes the log of a new session.
	Begin(id string) (SessionLog, error)
	// Open takes hold of a session until its log is closed, and returns its records. The error is NotFound where there is none of
	// that id, and Conflict where another one holds it.
	Open(id string) (SessionLog, []Record, error)
}

// A SessionLog is a session that is held.
type SessionLog interface {
	Journal
	io.Closer
}

// A session is a conversation (M4). Only apply changes it, and it reads nothing but records, so that a conversation whose process
// was killed stands, after its records are applied again, where it stood.
type session struct {
	judge Judge
	log   SessionLog // while a message is answered

	info     RunInfo
	turns    []Turn       // all
	given    conversation // what the model is given of them
	seen     ids
	said     string // by the user, for the gatekeeper
	asked    string // the message that has no answer yet
	message  string // the last one
	sending  string // its key
	key      string // of the last message that was answered
	answer   Response
	answers  int
	open     []ToolUse // calls of the last reply, until a turn with their results follows
	results  map[string]CallDone
	using    string // the call that began and has no end
	cut      bool   // of open: the reply was too long
	masked   bool   // of open: secrets are not in them any more
	question string // of the last reply
	text     string // of the last reply
	worked   bool   // a tool ran since the user last said something
	barren   int    // replies in a row that brought nothing
	spent    Spent
	last     time.Time
	n        int // records
}

// mostSaid is how much of what the user said the gatekeeper gets, in bytes: the latest.
const mostSaid = 16 << 10

func (s *session) apply(rec Record) {
	s.n++
	s.last = rec.At
	if rec.Turn != nil && rec.Turn.Role == Assistant && rec.Spent != nil {
		s.given.replied(rec.Spent.TokensIn - s.spent.TokensIn)
	}
	if rec.Spent != nil {
		s.spent = *rec.Spent
	}
	switch rec.Kind {
	case RunRecord:
		s.info = *rec.Run
	case TurnRecord:
		s.turn(rec)
	case CutRecord:
		s.given.cut(*rec.Cut, s.turns[0].Text, "")
	case UseRecord:
		s.using = rec.Use.ID
	case DoneRecord:
		s.results[rec.Done.CallID], s.using = *rec.Done, ""
		if rec.Outcome != "" {
			s.worked, s.barren = true, 0
		}
	case UpdateRecord:
		if rec.Update.Type == ConversationalResponse {
			s.answer = Response{Message: rec.Update.Content}
		}
	case AnswerRecord:
		s.asked, s.key = "", rec.Key
		s.answers++
		if s.answer.Status = Status(rec.Text); s.answer.Status == WaitingInput {
			s.answer.Prompt = s.question
		}
	}
}

// turn takes a turn of the conversation. Of one with a text in its record, no one said anything.
func (s *session) turn(rec Record) {
	t := *rec.Turn
	s.turns = append(s.turns, t)
	s.given.add(t)
	switch t.Role {
	case User:
		if rec.Text == "" {
			s.said = joined(s.said, t.Text)
			s.said = strings.ToValidUTF8(s.said[max(0, len(s.said)-mostSaid):], "")
			s.given.hear("%s", t.Text)
			s.asked, s.message, s.worked, s.barren = t.Text, t.Text, false, 0
		}
		s.question, s.text = "", ""
	case Assistant:
		for _, c := range t.Calls {
			s.seen[c.ID] = true
		}
		s.open, s.results, s.cut, s.masked = t.Calls, map[string]CallDone{}, rec.Outcome != "", rec.Masked
		s.question, s.text = "", ""
		s.barren++
		if rec.Text != "" {
			return
		}
		s.text = strings.TrimSpace(t.Text)
		if q, asks := s.judge.Asks(Reply{Text: t.Text, Calls: t.Calls}, s.worked); asks {
			s.question = q
		}
	case ToolTurn:
		s.open, s.results, s.using = nil, nil, ""
	}
}

// plus adds up what was used.
func (s Spent) plus(o Spent) Spent {
	return Spent{Steps: s.Steps + o.Steps, TokensIn: s.TokensIn + o.TokensIn, TokensOut: s.TokensOut + o.TokensOut, Time: s.Time + o.Time, Money: s.Money + o.Money}
}

// memory keeps sessions for as long as the process lives: where there are too many, the one unused for longest goes.
type memory struct {
	most int
	mu   sync.Mutex
	all  map[string]*remembered
	gone map[string]bool
	ids  []string // of gone, the oldest first
}

type remembered struct {
	of      *memory
	records []Record
	held    bool
	used    time.Time
}

// Begin implements Sessions.
func (m *memory) Begin(id string) (SessionLog, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := &remembered{of: m, held: true}
	m.all[id] = r
	for len(m.all) > m.most {
		oldest := ""
		for id, o := range m.all {
			if !o.held && (oldest == "" || o.used.Before(m.all[oldest].used)) {
				oldest = id
			}
		}
		if oldest == "" {
			break // all others are at work
		}
		delete(m.all, oldest)
		m.gone[oldest] = true
		if m.ids = append(m.ids, oldest); len(m.ids) > m.most {
			delete(m.gone, m.ids[0])
			m.ids = m.ids[1:]
		}
	}
	return r, nil
}

// Open implements Sessions.
func (m *memory) Open(id string) (SessionLog, []Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.all[id]
	switch {
	case r == nil && m.gone[id]:
		return nil, nil, human.Errorf(human.NotFound, "session %s was dropped, because too many others were waiting; send the message without a session id to begin anew", human.OneLine(id, 80))
	case r == nil:
		return nil, nil, human.Errorf(human.NotFound, "session %q is not known here: check the id, or send the message without one to start a new session", human.OneLine(id, 80))
	case r.held:
		return nil, nil, human.Errorf(human.Conflict, "session %s is still answering another message; wait for that answer", id)
	}
	r.held = true
	return r, slices.Clip(r.records), nil
}

// Append implements Journal.
func (r *remembered) Append(_ context.Context, rec Record) error {
	r.of.mu.Lock()
	defer r.of.mu.Unlock()
	r.records, r.used = append(r.records, rec), rec.At
	return nil
}

// Close implements io.Closer.
func (r *remembered) Close() error {
	r.of.mu.Lock()
	defer r.of.mu.Unlock()
	r.held = false
	return nil
}
