package mcpproxy

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"slices"
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

	Rung func(human.OperationID) // called with the operation that asks; may be nil
}

// Elicited is the answer, as MCP has it: accept with what was filled in, decline or cancel.
type Elicited struct {
	Action  string          `json:"action"`
	Content json.RawMessage `json:"content,omitempty"`
}

// An eliciting answers what a server asks in a session whose client does not (protocols before 2026-07-28, in which servers send
// requests of their own). The zero value answers nothing.
type eliciting struct {
	mu   sync.Mutex
	on   bool // the proxy said that it can, in the client's name
	run  string
	open map[string]*asked // by the key of their id
}

// An asked is one question of a server.
type asked struct {
	stop context.CancelFunc
	of   []string // keys of the ids of the requests in whose answer it came, where that is known
}

// declare adds to the capabilities of a client's initialize that it can be asked, where it does not say so itself.
func (e *eliciting) declare(d *checker, m message, raw []byte) []byte {
	if d.elicitor == nil || m.method != "initialize" || !m.isRequest() {
		return raw
	}
	raw, e.on = declared(raw, "params", "capabilities")
	e.run, e.open = rand.Text(), map[string]*asked{}
	return raw
}

// declared is a message with elicitation among the capabilities at a path; false where it is there already, or no place for it.
func declared(raw []byte, path ...string) ([]byte, bool) {
	from, to, ok := within(raw, path...)
	if !ok || raw[from] != '{' {
		return raw, false
	}
	all := members(raw[from:to])
	put := `"elicitation":{"form":{},"url":{}}`
	if slices.ContainsFunc(all, func(c member) bool { return c.key == "elicitation" }) {
		return raw, false
	}
	if len(all) > 0 {
		put += ","
	}
	return slices.Concat(raw[:from+1], []byte(put), raw[from+1:]), true
}

// asked takes a message of the server that is a question to the client, or revokes one, and says whether it did. answer sends
// the server what became of it. of are the keys of the requests in whose answer it came; gone is closed when the client has left,
// which is a cancellation.
func (e *eliciting) asked(ctx context.Context, d *checker, line []byte, of []string, gone <-chan struct{}, work *sync.WaitGroup, answer func(reply []byte)) bool {
	if !bytes.Contains(line, []byte("elicitation")) && !bytes.Contains(line, []byte("cancelled")) {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.on {
		return false
	}
	m := read(line)
	if id := m.cancels(); id != nil && e.open[key(id)] != nil {
		e.open[key(id)].stop()
		return true
	}
	if m.method != "elicitation/create" || !m.isRequest() {
		return false
	}
	name := key(m.id)
	if e.open[name] != nil {
		return true // a stream that was resumed brings it again
	}
	ctx, stop := context.WithCancel(ctx)
	e.open[name] = &asked{stop, of}
	work.Go(func() {
		defer stop()
		reply := d.reply(ctx, m, e.run+"-"+name, gone)
		e.mu.Lock()
		delete(e.open, name)
		e.mu.Unlock()
		if ctx.Err() == nil {
			answer(reply)
		}
	})
	return true
}

// cancel revokes what a server asked while it worked on a request that its client gives up. The server hears of that itself.
func (e *eliciting) cancel(id json.RawMessage) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, a := range e.open {
		if slices.Contains(a.of, key(id)) {
			a.stop()
		}
	}
}

// end revokes all.
func (e *eliciting) end() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, a := range e.open {
		a.stop()
	}
}

// reply is the answer to a server's question, as a message.
func (d *checker) reply(ctx context.Context, m message, id string, gone <-chan struct{}) []byte {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		select {
		case <-gone:
			stop()
		case <-ctx.Done():
		}
	}()
	answered, err := d.elicit(ctx, m.params, id, nil)
	if err != nil {
		return failure(m.id, invalidParams, human.SafeText(err))
	}
	return plain(struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Result  Elicited        `json:"result"`
	}{"2.0", m.id, answered})
}

// elicit has an operator answer the params of an elicitation. The only error is that it cannot be asked.
func (d *checker) elicit(ctx context.Context, params json.RawMessage, id string, rung func(human.OperationID)) (Elicited, error) {
	var p struct {
		Mode    string          `json:"mode"`
		Message string          `json:"message"`
		Schema  json.RawMessage `json:"requestedSchema"`
		URL     string          `json:"url"`
	}
	if json.Unmarshal(params, &p) != nil || p.Mode != "" && p.Mode != "form" && p.Mode != "url" || p.Mode == "url" && p.URL == "" {
		return Elicited{}, human.Errorf(human.Invalid, "the elicitation cannot be read; its mode is form or url")
	}
	ask := Elicitation{Server: d.opts.Server, Session: d.opts.Session, ID: id, Message: p.Message, Rung: rung}
	if p.Mode == "url" {
		ask.URL = p.URL
	} else {
		ask.Schema = p.Schema
	}
	answered, err := d.elicitor.Elicit(ctx, ask)
	switch {
	case err != nil && human.KindOf(err) == human.Invalid:
		return Elicited{}, err
	case err != nil:
		if ctx.Err() == nil {
			d.opts.Log.Warn("an operator could not be asked what a server wants to know", "server", ask.Server, "err", err)
		}
		answered = Elicited{Action: "cancel"}
	}
	return answered, nil
}

// takeBack is how long an operation may take to be withdrawn for which no one waits any more.
const takeBack = 2 * time.Second
