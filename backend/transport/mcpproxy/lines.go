package mcpproxy

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"deskbell/backend/human"
)

// maxMessage bounds one message, in bytes.
const maxMessage = 64 << 20

var errTooLong = human.Errorf(human.Invalid, "a message is longer than %d MiB", maxMessage>>20)

// A reader reads lines of any length up to maxMessage.
type reader struct{ *bufio.Reader }

func newReader(r io.Reader) reader { return reader{bufio.NewReaderSize(r, 64<<10)} }

// next returns the next line with its end, which the last may lack. The bytes are the caller's. The error may come with a
// line, and is io.EOF at the end, or errTooLong.
func (r reader) next() ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > maxMessage {
			return nil, errTooLong
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// A writer writes whole lines, from several goroutines.
type writer struct {
	mu sync.Mutex
	w  io.Writer
}

func (w *writer) write(line []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err := w.w.Write(line)
	return err
}

// lines is a client that sends and takes a message a line.
type lines struct {
	checker *checker
	out     *writer
	// send passes a message on, whose bytes are given: they may differ from its own. It does not wait for an answer.
	send    func(m message, raw []byte) error
	watch   *watches
	elicits eliciting

	closing chan struct{} // closed when the client will send no more
	judging sync.WaitGroup

	name atomic.Pointer[string] // of the client; nil where it does not say
	open queries

	mu    sync.Mutex
	calls map[string]context.CancelFunc // being judged, by the key of their id
}

func newLines(d *checker, out *writer, send func(message, []byte) error) *lines {
	return &lines{checker: d, out: out, send: send, watch: &watches{}, closing: make(chan struct{}), calls: map[string]context.CancelFunc{}}
}

// run reads from the client until its input ends, ctx ends, or the server takes no more; then it waits for what is being
// judged. An end of input is no error.
func (l *lines) run(ctx context.Context, in io.Reader) error {
	r := newReader(in)
	for {
		line, err := r.next()
		if len(line) > 0 && ctx.Err() == nil {
			if broken := l.take(ctx, line); err == nil {
				err = broken
			}
		}
		if err == nil && ctx.Err() == nil {
			continue
		}
		close(l.closing)
		l.judging.Wait()
		if errors.Is(err, io.EOF) || ctx.Err() != nil {
			return nil
		}
		return err
	}
}

// take handles a line from the client.
func (l *lines) take(ctx context.Context, line []byte) error {
	body := bytes.TrimSuffix(line, []byte("\n"))
	body = bytes.TrimSuffix(body, []byte("\r"))
	end := line[len(body):]
	if bytes.IndexByte(body, '\r') >= 0 && json.Valid(body) {
		// JSON may have them between its parts, but there are servers for which a line ends at each.
		var flat bytes.Buffer
		if err := json.Compact(&flat, body); err != nil {
			return err
		}
		body = flat.Bytes()
	}
	m := read(body)
	m.end = end
	for _, one := range append([]message{m}, m.batch...) {
		id := one.cancels()
		if id == nil {
			continue
		}
		l.elicits.cancel(id)
		now, done := l.cancel(id)
		if done && m.batch == nil {
			return nil // the server has not seen the call
		}
		if now != nil && m.batch == nil {
			m = read(with(body, now, "params", "requestId"))
			m.end, body = end, m.raw
		}
	}
	if name := clientName(m); name != "" {
		l.name.Store(&name)
	}
	switch {
	case m.err != nil:
		return l.reply(failure(m.id, m.err.code, m.err.text))
	case l.resume(ctx, m):
		return nil
	case m.call != nil, m.gated():
		return l.judge(ctx, m)
	}
	return l.forward(m, body, nil)
}

func (l *lines) forward(m message, raw []byte, asked map[string]question) error {
	raw = l.elicits.declare(l.checker, m, raw)
	q, raw := l.checker.query(m, raw, asked)
	if q != nil {
		return l.query(q)
	}
	l.watch.of(l.checker, m, asked)
	return l.send(m, append(raw[:len(raw):len(raw)], m.end...))
}

// query sends what may be asked about in its result.
func (l *lines) query(q *query) error {
	l.watch.of(l.checker, q.sent, q.permitted())
	l.open.add(q)
	return l.send(q.sent, slices.Concat(q.sent.raw, q.client.end))
}

// deliver brings the client what the server sent, or asks an operator in its place. It fails where the client has gone. It does not
// take mu, which may be held until the server has read what it gets. to is the message that it came in answer to, where that is known.
func (l *lines) deliver(ctx context.Context, line []byte, to message) error {
	q, held := l.open.take(ctx, line, l.checker.inquire)
	if held != nil {
		l.watch.forget(q.sent.id)
		l.hold(held, q)
		return nil
	}
	l.watch.look(line)
	if l.elicits.asked(ctx, l.checker, line, to.requests(), l.closing, &l.judging, func(reply []byte) {
		_ = l.send(message{raw: reply}, append(reply, '\n'))
	}) {
		return nil
	}
	if q != nil {
		line = with(line, q.client.id, "id")
	}
	return l.out.write(line)
}

// resume continues to wait with a request that is sent again, and says whether it is one.
func (l *lines) resume(ctx context.Context, m message) bool {
	q := l.checker.resume(m)
	if q != nil {
		l.hold(l.open.hold(ctx, q), q)
	}
	return q != nil
}

// hold waits for the operators' answers to what the server asks, and sends the request again with them. It does not block.
func (l *lines) hold(ctx context.Context, q *query) {
	by := l.caller(q.client)
	l.judging.Go(func() {
		reply, again := l.checker.hold(ctx, q, by)
		l.mu.Lock()
		gone := ctx.Err() != nil
		l.open.release(q)
		if !gone && again {
			if err := l.query(q); err != nil {
				reply = failure(q.client.id, unreachable, "the server takes nothing any more")
			}
		}
		l.mu.Unlock()
		if !gone && reply != nil {
			_ = l.reply(reply)
		}
	})
}

// caller is who waits for an answer to m.
func (l *lines) caller(m message) caller {
	by := caller{closing: l.closing}
	if name := l.name.Load(); name != nil {
		by.name = *name
	}
	if token := m.token(); token != nil {
		by.tell = l.progress(token)
	}
	return by
}

// reply answers the client. That it has gone is seen where its input is read.
func (l *lines) reply(raw []byte) error {
	_ = l.out.write(append(raw, '\n'))
	return nil
}

// cancel gives up a call that is being judged or asked about, and says whether there was one. Otherwise now is the id that the
// server knows the request by, where it is another.
func (l *lines) cancel(id json.RawMessage) (now json.RawMessage, done bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if stop := l.calls[key(id)]; stop != nil {
		stop()
		return nil, true
	}
	return l.open.cancel(id)
}

// judge has a call, or those of a batch, judged while others pass. What comes after it waits for a moment, so that calls
// which no one has to be asked about stay in order.
func (l *lines) judge(ctx context.Context, m message) error {
	ctx, stop := context.WithCancel(ctx)
	var ids []string
	l.mu.Lock()
	for _, one := range append([]message{m}, m.batch...) {
		if one.call == nil {
			continue
		}
		id := key(one.id)
		if l.calls[id] != nil {
			l.mu.Unlock()
			l.release(ids)
			stop()
			return l.reply(failure(one.id, invalidRequest, "a call with this id is being asked about"))
		}
		l.calls[id] = stop
		ids = append(ids, id)
	}
	l.mu.Unlock()
	by := l.caller(m)
	judged := make(chan struct{})
	once := sync.OnceFunc(func() { close(judged) })
	l.judging.Go(func() {
		defer stop()
		defer once()
		by.asking = once
		if m.batch == nil {
			o := l.checker.decide(ctx, m, by)
			asked := map[string]question{}
			if o.asked != nil {
				asked[key(m.id)] = *o.asked
			}
			l.finish(ctx, m, ids, o.forward, o.reply, asked)
			return
		}
		b := l.checker.decideAll(ctx, m, by)
		l.finish(ctx, m, ids, b.forward, b.reply(), b.asked)
	})
	t := time.NewTimer(l.checker.opts.Orderly)
	defer t.Stop()
	select {
	case <-judged:
	case <-t.C:
	}
	return nil
}

// finish sends what was judged where it goes. A call that is withdrawn meanwhile goes nowhere; one that is withdrawn
// later is, after the call itself.
func (l *lines) finish(ctx context.Context, m message, ids []string, forward, reply []byte, asked map[string]question) {
	defer l.release(ids)
	l.mu.Lock()
	gone := ctx.Err() != nil
	if !gone && forward != nil {
		if err := l.forward(m, forward, asked); err != nil {
			reply = failure(m.id, unreachable, "the server takes nothing any more")
		}
	}
	l.mu.Unlock()
	if !gone && reply != nil {
		_ = l.reply(reply)
	}
}

func (l *lines) release(ids []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range ids {
		delete(l.calls, id)
	}
}

// progress tells a client that waits. The numbers increase, and stay below any that a server begins with, so that its own
// notes still increase when they follow.
func (l *lines) progress(token json.RawMessage) func(string) {
	n := 0
	return func(text string) {
		n++
		_ = l.out.write(append(note(token, n, text), '\n'))
	}
}

func note(token json.RawMessage, n int, text string) []byte {
	return plain(notification{"2.0", "notifications/progress", progress{token, -1 / float64(n), text}})
}

// A batched outcome is that of a batch.
type batched struct {
	forward []byte // nil where nothing is left of it
	replies [][]byte
	asked   map[string]question
}

// reply is one batch of answers to blocked calls.
func (b batched) reply() []byte {
	if len(b.replies) == 0 {
		return nil
	}
	return fmt.Appendf(nil, "[%s]", bytes.Join(b.replies, []byte(",")))
}

// decideAll has all calls of a batch judged at once. Where all may continue as they are, the batch does, byte for byte.
func (d *checker) decideAll(ctx context.Context, m message, by caller) batched {
	outcomes := make([]outcome, len(m.batch))
	var all sync.WaitGroup
	for i, one := range m.batch {
		switch {
		case one.err != nil:
			outcomes[i].reply = failure(one.id, one.err.code, one.err.text)
		case one.call == nil:
			outcomes[i].forward = one.raw
		default:
			all.Go(func() { outcomes[i] = d.decide(ctx, one, by) })
		}
	}
	all.Wait()
	b := batched{asked: map[string]question{}}
	var left [][]byte
	same := true
	for i, o := range outcomes {
		if o.forward != nil {
			left = append(left, o.forward)
			same = same && bytes.Equal(o.forward, m.batch[i].raw)
		} else {
			same = false
		}
		if o.reply != nil {
			b.replies = append(b.replies, o.reply)
		}
		if o.asked != nil {
			b.asked[key(m.batch[i].id)] = *o.asked
		}
	}
	switch {
	case same:
		b.forward = m.raw
	case len(left) > 0:
		b.forward = fmt.Appendf(nil, "[%s]", bytes.Join(left, []byte(",")))
	}
	return b
}
