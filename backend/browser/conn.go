package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// errDetached is the error of a command whose session ended before it was answered.
var errDetached = errors.New("the page or frame is gone")

// A conn is one flat connection to a browser: commands and events of all its sessions share it. Messages are
// carried by chromedp's transports (a pipe, or a WebSocket); sessions are ours, because chromedp drops what comes
// from sessions it did not make, such as frames of another site.
type conn struct {
	transport chromedp.Transport
	now       func() int64

	mu      sync.Mutex
	last    int64
	waiting map[int64]waiting
	queue   []event
	err     error // why it ended; set before done is closed

	more chan struct{} // there is something in queue
	done chan struct{} // nothing comes any more
}

// waiting is a command that was not answered yet.
type waiting struct {
	session string
	answer  func(result json.RawMessage, err error)
	queued  bool // the answer goes through the queue, in order with the events
}

// An event is what the browser reports, or an answer that is to be taken in order with what it reports.
type event struct {
	session string
	method  string
	params  json.RawMessage
	at      int64 // monotonic ns, when it was read
	answer  func()
}

// newConn begins to read; close ends it.
func newConn(transport chromedp.Transport, now func() int64) *conn {
	c := &conn{
		transport: transport,
		now:       now,
		waiting:   map[int64]waiting{},
		more:      make(chan struct{}, 1),
		done:      make(chan struct{}),
	}
	go c.read()
	return c
}

// close ends the connection and returns when nothing is read any more. What was read before stays in the queue.
func (c *conn) close() {
	_ = c.transport.Close() // reading ends with an error either way
	<-c.done
}

// call sends one command and waits for its answer, which is decoded into result unless that is nil. session is ""
// for the browser itself. params and result are as encoding/json takes them. Safe for concurrent use; but not to be
// called where events are handled, which would wait for itself to continue.
func (c *conn) call(ctx context.Context, session, method string, params, result any) error {
	type answer struct {
		result json.RawMessage
		err    error
	}
	answered := make(chan answer, 1)
	id, err := c.post(session, method, params, waiting{session: session, answer: func(r json.RawMessage, err error) {
		answered <- answer{r, err}
	}})
	if err != nil {
		return err
	}
	select {
	case a := <-answered:
		if a.err != nil {
			return fmt.Errorf("%s: %w", method, a.err)
		}
		if result == nil {
			return nil
		}
		return json.Unmarshal(a.result, result)
	case <-ctx.Done():
		c.mu.Lock()
		delete(c.waiting, id)
		c.mu.Unlock()
		return ctx.Err()
	}
}

// send sends one command whose answer no one waits for.
func (c *conn) send(session, method string, params any) {
	_, _ = c.post(session, method, params, waiting{session: session, answer: func(json.RawMessage, error) {}})
}

// ask sends one command; then is called where events are handled, in order with them.
func (c *conn) ask(session, method string, params any, then func(result json.RawMessage, err error)) {
	if _, err := c.post(session, method, params, waiting{session: session, answer: then, queued: true}); err != nil {
		c.push(event{answer: func() { then(nil, err) }})
	}
}

func (c *conn) post(session, method string, params any, w waiting) (int64, error) {
	var raw []byte
	if params != nil {
		var err error
		if raw, err = json.Marshal(params); err != nil {
			return 0, err
		}
	}
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		return 0, c.err
	}
	c.last++
	id := c.last
	c.waiting[id] = w
	c.mu.Unlock()
	err := c.transport.Write(context.Background(), &cdproto.Message{
		ID: id, SessionID: target.SessionID(session), Method: cdproto.MethodType(method), Params: raw,
	})
	if err != nil {
		c.mu.Lock()
		delete(c.waiting, id)
		c.mu.Unlock()
		return 0, err
	}
	return id, nil
}

// forget answers the commands of a session that has ended: the browser does not.
func (c *conn) forget(session string) {
	c.mu.Lock()
	var left []waiting
	for id, w := range c.waiting {
		if w.session == session {
			left = append(left, w)
			delete(c.waiting, id)
		}
	}
	c.mu.Unlock()
	for _, w := range left {
		c.answer(w, nil, errDetached)
	}
}

func (c *conn) answer(w waiting, result json.RawMessage, err error) {
	if w.queued {
		c.push(event{answer: func() { w.answer(result, err) }})
		return
	}
	w.answer(result, err)
}

func (c *conn) push(e event) {
	c.mu.Lock()
	c.queue = append(c.queue, e)
	c.mu.Unlock()
	select {
	case c.more <- struct{}{}:
	default:
	}
}

// take returns what has come since it was last called.
func (c *conn) take() []event {
	c.mu.Lock()
	defer c.mu.Unlock()
	q := c.queue
	c.queue = nil
	return q
}

func (c *conn) read() {
	var err error
	for {
		var m cdproto.Message
		if err = c.transport.Read(context.Background(), &m); err != nil {
			break
		}
		if m.Method != "" {
			c.push(event{session: string(m.SessionID), method: string(m.Method), params: json.RawMessage(m.Params), at: c.now()})
			continue
		}
		c.mu.Lock()
		w, ok := c.waiting[m.ID]
		delete(c.waiting, m.ID)
		c.mu.Unlock()
		if !ok {
			continue
		}
		if m.Error != nil {
			c.answer(w, nil, m.Error)
		} else {
			c.answer(w, json.RawMessage(m.Result), nil)
		}
	}
	c.mu.Lock()
	c.err = fmt.Errorf("the connection to the browser ended: %w", err)
	left := c.waiting
	c.waiting = map[int64]waiting{}
	c.mu.Unlock()
	for _, w := range left {
		c.answer(w, nil, c.err)
	}
	close(c.done)
}
