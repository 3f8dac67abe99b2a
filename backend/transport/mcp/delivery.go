package mcp

import (
	"bytes"
	"context"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"deskbell/backend/human"
)

// A delivery is an operation's end on its way to the client. It is settled once it is known whether it
// arrived, and, where it did, the queue knows too.
type delivery struct {
	id      human.OperationID
	mark    func()
	settled chan struct{}
}

// An outbox watches what is written to one client and marks ends as delivered when their bytes have
// gone out. It is safe for concurrent use.
type outbox struct {
	shared *deliveries

	mu      sync.Mutex
	waiting []*delivery
	written []*delivery
	closed  bool
	marking sync.WaitGroup
}

func newOutbox(shared *deliveries) *outbox { return &outbox{shared: shared} }

// add says that a message naming the operation's end comes next; mark runs, apart, when it has gone out.
func (b *outbox) add(id human.OperationID, mark func()) {
	d := &delivery{id: id, mark: mark, settled: make(chan struct{})}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	b.waiting = append(b.waiting, d)
	b.shared.add(d)
}

// write notes that a message was taken by the client's connection; sent, that all of it went out.
func (b *outbox) write(message []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting = slices.DeleteFunc(b.waiting, func(d *delivery) bool {
		if !bytes.Contains(message, []byte(d.id)) {
			return false
		}
		b.written = append(b.written, d)
		return true
	})
}

func (b *outbox) sent() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, d := range b.written {
		b.marking.Go(func() {
			d.mark()
			b.shared.settle(d)
		})
	}
	b.written = nil
}

// close gives up what has not gone out, and waits for the marks under way.
func (b *outbox) close() {
	b.mu.Lock()
	b.closed = true
	for _, d := range slices.Concat(b.waiting, b.written) {
		b.shared.settle(d)
	}
	b.waiting, b.written = nil, nil
	b.mu.Unlock()
	b.marking.Wait()
}

// deliveries are all those of one server that are not settled.
type deliveries struct {
	mu  sync.Mutex
	all map[*delivery]struct{}
}

func newDeliveries() *deliveries { return &deliveries{all: map[*delivery]struct{}{}} }

func (s *deliveries) add(d *delivery) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all[d] = struct{}{}
}

func (s *deliveries) settle(d *delivery) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, d)
	close(d.settled)
}

// wait blocks until the deliveries under way are settled: a client that has just read an answer and asks
// the same again must ring anew, not be given the old answer twice. A client that does not read holds
// others up for a second at most.
func (s *deliveries) wait(ctx context.Context) {
	const most = time.Second
	s.mu.Lock()
	all := slices.Collect(maps.Keys(s.all))
	s.mu.Unlock()
	if len(all) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	for _, d := range all {
		select {
		case <-d.settled:
		case <-ctx.Done():
			return
		}
	}
}

// A watchedWriter tells an outbox what went out. Closing it closes nothing: out is the caller's.
type watchedWriter struct {
	out io.Writer
	box *outbox
}

func (w *watchedWriter) Write(p []byte) (int, error) {
	n, err := w.out.Write(p)
	if err == nil {
		w.box.write(p)
		w.box.sent()
	}
	return n, err
}

func (*watchedWriter) Close() error { return nil }
