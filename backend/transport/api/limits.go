package api

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"deskbell/backend/human"
)

// Limits of requests' bodies.
const (
	bodyTime    = 20 * time.Second // to send one
	refusedTime = time.Second      // to send the rest of one that is not read, so that its sender reads why
	openBody    = 16 << 10         // bytes of one without a key
	agentBytes  = 16 << 20         // of all bodies of an agent's requests under way
)

// A body is the body of a request, as it arrives. What its reader keeps of it grows with it, so that a long one that was
// announced costs nothing.
type body struct {
	io.ReadCloser
	request *http.Request
	answer  http.ResponseWriter
	count   func(n int) error // nil: they are not counted
	life    context.Context   // whose end ends reading; nil: never
	err     error             // counted too many
	whole   atomic.Bool
}

// limitBody puts a body with its deadline into a request.
func (s *Server) limitBody(w http.ResponseWriter, r *http.Request) *body {
	most := s.deps.MaxBody
	if open(r) {
		most = min(most, openBody)
	}
	if r.URL.Path == attachmentsPath {
		most = max(most, human.LargestAttachment)
	}
	b := &body{ReadCloser: http.MaxBytesReader(w, r.Body, most), request: r, answer: w}
	if b.whole.Store(r.Body == http.NoBody); !b.whole.Load() {
		b.deadline(time.Now().Add(s.deps.BodyTime))
		r.Body = b
	}
	return b
}

// deadline is for reading. A recorder has no connection, and takes as long as it takes.
func (b *body) deadline(t time.Time) { _ = http.NewResponseController(b.answer).SetReadDeadline(t) }

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	n, err := b.ReadCloser.Read(p)
	if n > 0 && b.count != nil {
		if b.err = b.count(n); b.err != nil {
			b.answer.Header().Set("Connection", "close") // the rest is not read
			return 0, b.err
		}
	}
	if err != nil && b.life != nil && b.life.Err() != nil {
		return n, context.Cause(b.life)
	}
	if errors.Is(err, io.EOF) && !b.whole.Swap(true) {
		b.deadline(time.Time{}) // it would end waits
		if b.count != nil {
			b.claim()
		}
	}
	return n, err
}

// countedFor counts the bytes for an agent, until the returned function is called. The agent's connection may have to
// make room until the body is there.
func (b *body) countedFor(s *Server, a *agent, life context.Context) (done func()) {
	if b.whole.Load() {
		b.claim()
		return func() {}
	}
	own := 0
	b.life = life
	b.count = func(n int) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		if a.bytes+n > agentBytes {
			return human.Errorf(human.Exhausted, "your requests under way have more than %d MiB of bodies; wait until some of them end", agentBytes>>20)
		}
		a.bytes, own = a.bytes+n, own+n
		return nil
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		a.bytes -= own
	}
}

// claim keeps the connection from making room for others.
func (b *body) claim() { claim(b.request) }

// giveUp ends reading.
func (b *body) giveUp() {
	if !b.whole.Load() {
		b.deadline(time.Now())
	}
}

// end is for a body that its request's handler has not read.
func (b *body) end() {
	if !b.whole.Load() {
		b.deadline(time.Now().Add(refusedTime))
	}
}
