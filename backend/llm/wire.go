package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"mime"
	"net"
	"net/http"
	"time"

	"github.com/tmaxmax/go-sse"
)

// An object is a part of a request, by the names that the protocol has for its fields.
type object = map[string]any

// A server is where requests of one protocol go.
type server struct {
	address string
	client  *http.Client
}

// events posts a request, and yields the data of each event of the answer; an error is the last. It is a *failure where the
// server answered with something else than events, and the cause where the guard ended the answer.
func (s server) events(ctx context.Context, header http.Header, body object) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		res, err := s.post(ctx, header, body)
		if err != nil {
			yield(nil, err)
			return
		}
		defer func() { _ = res.Body.Close() }()
		for e, err := range sse.Read(res.Body, &sse.ReadConfig{MaxEventSize: 2 * mostBytes}) { // the guard has the lower limit
			if err == nil && e.Data == "" {
				continue
			}
			if !yield([]byte(e.Data), err) || err != nil {
				return
			}
		}
	}
}

func (s server) post(ctx context.Context, header http.Header, body object) (*http.Response, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.address, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	r.Header = header
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("User-Agent", "deskbell")
	return s.client.Do(r)
}

// decode reads an event. A field that is of another type than the protocol has it counts as left out: what other servers make
// of a protocol is not always what it says.
func decode(data []byte, into any) error {
	err := json.Unmarshal(data, into)
	if field := (*json.UnmarshalTypeError)(nil); errors.As(err, &field) {
		return nil
	}
	return err
}

// newClient makes the HTTP client for both protocols. It uses no proxy, and follows no redirect, for which the guard lets
// none through: a key would go along.
func newClient(dial func(ctx context.Context, network, address string) (net.Conn, error)) *http.Client {
	if dial == nil {
		dial = (&net.Dialer{Timeout: 15 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	}
	return &http.Client{
		Transport: guard{&http.Transport{
			DialContext: dial, ForceAttemptHTTP2: true, TLSHandshakeTimeout: 15 * time.Second,
			MaxIdleConnsPerHost: 2, IdleConnTimeout: 90 * time.Second,
		}},
	}
}

// guard lets only streams of events through, within the bounds of time and size. Everything else is a failure.
type guard struct{ next http.RoundTripper }

func (g guard) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cut := context.WithCancelCause(r.Context())
	limit := time.AfterFunc(longest, func() { cut(errSlow) })
	b := &body{ctx: ctx, left: mostBytes, cut: cut, limit: limit}
	res, err := g.next.RoundTrip(r.WithContext(ctx))
	if err != nil {
		return nil, b.end(err)
	}
	b.from = res.Body
	b.stall = time.AfterFunc(idle, func() { cut(errStalled) })
	res.Body = b
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if res.StatusCode == http.StatusOK && kind == "text/event-stream" {
		return res, nil
	}
	defer func() { _ = res.Body.Close() }()
	said, err := io.ReadAll(io.LimitReader(res.Body, 64<<10))
	if err != nil && r.Context().Err() != nil {
		return nil, r.Context().Err()
	}
	return nil, failureOf(res.StatusCode, res.Header, said) // by its status, however much of the text came
}

// body is an answer as it comes.
type body struct {
	ctx   context.Context // of the request; its cause says what ended it
	from  io.ReadCloser
	left  int
	cut   context.CancelCauseFunc
	limit *time.Timer
	stall *time.Timer
}

func (b *body) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, b.end(errHuge)
	}
	n, err := b.from.Read(p[:min(len(p), b.left)])
	b.left -= n
	b.stall.Reset(idle)
	switch {
	case err == nil || errors.Is(err, io.EOF):
		return n, err
	case b.ctx.Err() == nil:
		err = errCut
	}
	return n, b.end(err)
}

func (b *body) Close() error {
	b.stall.Stop()
	_ = b.end(nil)
	return b.from.Close()
}

// end stops the clocks, and says what ended the request where the error does not.
func (b *body) end(err error) error {
	b.limit.Stop()
	if cause := context.Cause(b.ctx); cause != nil && err != nil {
		err = cause
	}
	b.cut(nil)
	return err
}
