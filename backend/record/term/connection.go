package term

import (
	"context"
	"sync"

	"deskbell/backend/human"
)

// A Connection is a page's hold on a terminal: there is one at a time, and a new one ends that before it. Its methods are safe
// for concurrent use.
type Connection struct {
	session *session

	mu      sync.Mutex
	changed *sync.Cond
	queue   []message
	unacked int // sent or waiting, and not acknowledged
	ended   bool
	open    bool // no flow control any more
}

// A message is output, or an event.
type message struct {
	output []byte
	event  *Event
}

// Next returns what comes next: output, or an event. It blocks; ok is false once the terminal has ended, another page has
// connected, or ctx ended.
func (c *Connection) Next(ctx context.Context) (output []byte, event *Event, ok bool) {
	defer context.AfterFunc(ctx, c.end)()
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.queue) == 0 && !c.ended {
		c.changed.Wait()
	}
	if len(c.queue) == 0 || ctx.Err() != nil {
		return nil, nil, false
	}
	m := c.queue[0]
	c.queue = c.queue[1:]
	return m.output, m.event, true
}

// Write types bytes into the terminal.
func (c *Connection) Write(b []byte) { c.session.type_(b) }

// Resize changes the terminal's size; Invalid for one that no terminal has.
func (c *Connection) Resize(cols, rows int) error { return c.session.resize(cols, rows) }

// Ack says that the page has drawn so many bytes more of output.
func (c *Connection) Ack(bytes int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if bytes < 0 || bytes > c.unacked {
		return human.BadField("bytes", "is %d, but %d bytes wait to be acknowledged", bytes, c.unacked)
	}
	c.unacked -= bytes
	c.changed.Broadcast()
	return nil
}

// Close disconnects the page; the terminal continues.
func (c *Connection) Close() {
	c.end()
	c.session.mu.Lock()
	defer c.session.mu.Unlock()
	if c.session.client == c {
		c.session.client = nil
	}
}

func (c *Connection) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended, c.open = true, true
	c.changed.Broadcast()
}

// largestMessage is how much output is put into one message.
const largestMessage = 64 << 10

func (c *Connection) output(b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return
	}
	c.unacked += len(b)
	if n := len(c.queue); n > 0 && c.queue[n-1].event == nil && len(c.queue[n-1].output)+len(b) <= largestMessage {
		c.queue[n-1].output = append(c.queue[n-1].output, b...)
	} else {
		c.queue = append(c.queue, message{output: append(make([]byte, 0, len(b)), b...)})
	}
	c.changed.Broadcast()
}

func (c *Connection) tell(e Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ended {
		c.queue = append(c.queue, message{event: &e})
		c.changed.Broadcast()
	}
}

// room blocks while too much is not acknowledged.
func (c *Connection) room() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.unacked > maxUnacked && !c.open {
		c.changed.Wait()
	}
}

// free ends flow control.
func (c *Connection) free() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open = true
	c.changed.Broadcast()
}
