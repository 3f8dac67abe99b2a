package mcpproxy

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"sync"
	"time"

	"deskbell/backend/human"
)

// An Elicitor is a Judge that asks an operator what a server wants to know (MCP's elicitation/create), in place of a client that
// cannot. It blocks until there is an answer; the end of ctx takes the question back. An Invalid error is for the server.
type Elicitor interface {
	Elicit(ctx context.Context, e Elicitation) (Elicited, error)
}

// An Elicitation is what a server asks.
type Elicitation struct {
	Server  string          // its name
	Session string          // the agent's thread
	ID      string          // the same again asks no operator twice
	Message string          // untrusted, as all of it
	Schema  json.RawMessage // requestedSchema, of mode form
	URL     string          // of mode url
}

// Elicited is the answer, as MCP has it: accept with what was filled in, decline or cancel.
type Elicited struct {
	Action  string          `json:"action"`
	Content json.RawMessage `json:"content,omitempty"`
}

// An eliciting answers what the server asks in a session whose client does not.
type eliciting struct {
	mu   sync.Mutex
	on   bool // the proxy said that it can, in the client's name
	run  string
	open map[string]context.CancelFunc // by the key of their id
}

// declare adds to the capabilities of a client's initialize that it can be asked, where it does not say so itself. That is of
// protocols before 2026-07-28, in which servers send requests of their own.
func (l *lines) declare(m message, raw []byte) []byte {
	if _, can := l.checker.judge.(Elicitor); !can || m.method != "initialize" || !m.isRequest() || len(m.params) == 0 || m.params[0] != '{' {
		return raw
	}
	at := bytes.Index(raw, m.params)
	for _, f := range members(m.params) {
		if f.key != "capabilities" || m.params[f.from] != '{' {
			continue
		}
		all := members(m.params[f.from:f.to])
		for _, c := range all {
			if c.key == "elicitation" {
				return raw
			}
		}
		put := []byte(`"elicitation":{"form":{},"url":{}}`)
		if len(all) > 0 {
			put = append(put, ',')
		}
		l.elicits.mu.Lock()
		l.elicits.on, l.elicits.run, l.elicits.open = true, rand.Text(), map[string]context.CancelFunc{}
		l.elicits.mu.Unlock()
		place := at + f.from + 1
		return append(append(append([]byte{}, raw[:place]...), put...), raw[place:]...)
	}
	return raw
}

// asked takes a message of the server that is a question to the client, or takes one back, and says whether it did. The answer goes
// to the server.
func (l *lines) asked(ctx context.Context, line []byte) bool {
	if !bytes.Contains(line, []byte("elicitation")) && !bytes.Contains(line, []byte("cancelled")) {
		return false
	}
	e := &l.elicits
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.on {
		return false
	}
	m := read(line)
	if id := m.cancels(); id != nil && e.open[key(id)] != nil {
		e.open[key(id)]()
		return true
	}
	if m.method != "elicitation/create" || !m.isRequest() {
		return false
	}
	ctx, stop := context.WithCancel(ctx)
	name := key(m.id)
	e.open[name] = stop
	go func() {
		select {
		case <-l.closing:
			stop()
		case <-ctx.Done():
		}
	}()
	l.judging.Go(func() {
		defer stop()
		reply := l.elicit(ctx, m, e.run+"-"+name)
		e.mu.Lock()
		delete(e.open, name)
		e.mu.Unlock()
		if ctx.Err() == nil {
			_ = l.send(message{raw: reply}, append(reply, '\n'))
		}
	})
	return true
}

// elicit is the answer to a server's question.
func (l *lines) elicit(ctx context.Context, m message, id string) []byte {
	var p struct {
		Mode    string          `json:"mode"`
		Message string          `json:"message"`
		Schema  json.RawMessage `json:"requestedSchema"`
		URL     string          `json:"url"`
	}
	if json.Unmarshal(m.params, &p) != nil || p.Mode != "" && p.Mode != "form" && p.Mode != "url" || p.Mode == "url" && p.URL == "" {
		return failure(m.id, invalidParams, "the elicitation cannot be read; its mode is form or url")
	}
	ask := Elicitation{Server: l.checker.opts.Server, Session: l.checker.opts.Session, ID: id, Message: p.Message}
	if p.Mode == "url" {
		ask.URL = p.URL
	} else {
		ask.Schema = p.Schema
	}
	answered, err := l.checker.judge.(Elicitor).Elicit(ctx, ask)
	switch {
	case err != nil && human.KindOf(err) == human.Invalid:
		return failure(m.id, invalidParams, human.SafeText(err))
	case err != nil:
		l.checker.opts.Log.Warn("an operator could not be asked what a server wants to know", "server", ask.Server, "err", err)
		answered = Elicited{Action: "cancel"}
	}
	return plain(struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Result  Elicited        `json:"result"`
	}{"2.0", m.id, answered})
}

// takeBack is how long an operation may take to be withdrawn for which no one waits any more.
const takeBack = 2 * time.Second
