package mcpproxy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/transport/client"
)

// A Remote is a server that speaks MCP over streamable HTTP.
type Remote struct {
	URL    string
	Header http.Header // added to every request: a key, for example
}

const (
	sessionHeader = "Mcp-Session-Id"
	versionHeader = "Mcp-Protocol-Version"
	eventHeader   = "Last-Event-ID"
	eventStream   = "text/event-stream"
	plainJSON     = "application/json"
	modernVersion = "2026-07-28" // the first without sessions, whose requests are named in headers
	maxProblem    = 16 << 10     // of what a server says that fails
	reconnects    = 8            // to a stream that brings nothing, in a row; with their pauses 16 s
)

// client makes the requests of a proxy. It follows no redirection: the calls would go where no one has said that they may,
// and the header with them.
func (r Remote) client() (*http.Client, func()) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 16
	transport.DisableCompression = true
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, transport.CloseIdleConnections
}

// A bridge is one client on standard input and output in front of a Remote.
type bridge struct {
	Remote
	http  *http.Client
	lines *lines
	life  context.Context
	work  sync.WaitGroup // requests under way
	own   sync.WaitGroup // the server's own stream

	mu      sync.Mutex
	session string
	version string                        // agreed on by initialize
	listens bool                          // to the server's own stream
	modern  map[string]context.CancelFunc // requests of the newer protocol under way, by the key of their id
}

// Serve passes messages between the server and a client that speaks a line per message, until the client's input ends or
// ctx does; then it ends its session with the server. What is under way then is given up.
func (r Remote) Serve(ctx context.Context, judge Judge, in io.Reader, out io.Writer, opts Options) error {
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	b := &bridge{Remote: r, life: life, modern: map[string]context.CancelFunc{}}
	var idle func()
	b.http, idle = r.client()
	defer idle()
	d := newChecker(judge, opts)
	defer d.close()
	b.lines = newLines(d, &writer{w: out}, b.send)
	read := make(chan error, 1)
	go func() { read <- b.lines.run(life, in) }()
	var err error
	select {
	case err = <-read:
		b.finish(ctx)
	case <-ctx.Done():
	}
	end()
	b.work.Wait()
	b.own.Wait()
	b.leave(ctx)
	return err
}

// finish waits for what is under way, for a while.
func (b *bridge) finish(ctx context.Context) {
	done := make(chan struct{})
	go func() { b.work.Wait(); close(done) }()
	t := time.NewTimer(b.lines.checker.opts.Grace)
	defer t.Stop()
	select {
	case <-done:
	case <-t.C:
	case <-ctx.Done():
	}
}

// leave ends the session.
func (b *bridge) leave(ctx context.Context) {
	b.mu.Lock()
	session := b.session
	b.mu.Unlock()
	if session == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if answer, err := b.do(ctx, http.MethodDelete, nil, message{}, ""); err == nil {
		_ = answer.Body.Close() // a server may not know how to end sessions
	}
}

// send passes a message on. Only what others build on is waited for.
func (b *bridge) send(m message, raw []byte) error {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return nil
	}
	if id := m.cancels(); id != nil {
		b.mu.Lock()
		stop := b.modern[key(id)]
		b.mu.Unlock()
		if stop != nil {
			stop() // of the newer protocol, whose requests end with their connection
			return nil
		}
	}
	switch m.method {
	case "initialize":
		b.post(b.life, m, raw)
		return nil
	case "notifications/initialized":
		b.post(b.life, m, raw)
		b.mu.Lock()
		first := !b.listens && b.version < modernVersion
		b.listens = b.listens || first
		b.mu.Unlock()
		if first {
			b.own.Go(b.listen)
		}
		return nil
	}
	ctx, stop := context.WithCancel(b.life)
	name := ""
	if m.isRequest() && versionOf(m.params) != "" {
		name = key(m.id)
		b.mu.Lock()
		b.modern[name] = stop
		b.mu.Unlock()
	}
	b.work.Go(func() {
		defer stop()
		b.post(ctx, m, raw)
		if name != "" {
			b.mu.Lock()
			delete(b.modern, name)
			b.mu.Unlock()
		}
	})
	return nil
}

// do makes a request.
func (b *bridge) do(ctx context.Context, method string, body []byte, m message, after string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, b.URL, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	session, version := b.session, b.version
	b.mu.Unlock()
	if own := versionOf(m.params); own != "" {
		version = own
	}
	if version != "" {
		r.Header.Set(versionHeader, version)
	}
	if session != "" {
		r.Header.Set(sessionHeader, session)
	}
	r.Header.Set("Accept", plainJSON+", "+eventStream)
	switch method {
	case http.MethodPost:
		r.Header.Set("Content-Type", plainJSON)
		if version >= modernVersion && m.method != "" {
			nameInHeaders(r.Header, m, b.lines.checker.tools.get)
		}
	case http.MethodGet:
		r.Header.Set("Accept", eventStream)
		if after != "" {
			r.Header.Set(eventHeader, after)
		}
	}
	for name, values := range b.Header {
		r.Header[name] = values
	}
	return b.http.Do(r)
}

// post sends a message and brings the client what comes back.
func (b *bridge) post(ctx context.Context, m message, raw []byte) {
	// What goes on may have other arguments than what came.
	if sent := read(raw); sent.call != nil {
		m.call, m.params = sent.call, sent.params
	}
	due := map[string]json.RawMessage{} // ids whose answers have not come
	for _, one := range append([]message{m}, m.batch...) {
		if one.isRequest() {
			due[key(one.id)] = one.id
		}
	}
	err := b.exchange(ctx, m, raw, due)
	if ctx.Err() != nil {
		return
	}
	if err == nil && len(due) > 0 {
		err = errors.New("its answer ended before all of it had come")
	}
	if err == nil {
		return
	}
	if len(due) == 0 {
		b.lines.checker.opts.Log.Warn("the server did not take a message", "url", b.URL, "method", m.method, "err", err)
	}
	for _, id := range due {
		_ = b.lines.deliver(b.life, append(failure(id, unreachable, fmt.Sprintf("the server at %s: %v", b.URL, err)), '\n'), m)
	}
}

// exchange is one request and all that answers it. It takes from due what has been answered.
func (b *bridge) exchange(ctx context.Context, m message, raw []byte, due map[string]json.RawMessage) error {
	answer, err := b.do(ctx, http.MethodPost, raw, m, "")
	if err != nil {
		return short(err)
	}
	defer func() { _ = answer.Body.Close() }()
	if s := answer.Header.Get(sessionHeader); s != "" {
		b.mu.Lock()
		b.session = s
		b.mu.Unlock()
	}
	kind := mediaType(answer.Header)
	if answer.StatusCode >= 300 {
		text, _ := io.ReadAll(io.LimitReader(answer.Body, maxProblem))
		if kind == plainJSON && b.bring(m, text, due) == nil && len(due) == 0 {
			return nil // the error of the request itself
		}
		return problem(answer, text)
	}
	switch kind {
	case eventStream:
		return b.stream(ctx, m, answer.Body, due)
	case plainJSON:
		text, err := io.ReadAll(io.LimitReader(answer.Body, maxMessage+1))
		if err == nil && len(text) > maxMessage {
			err = errTooLong
		}
		if err != nil || len(bytes.TrimSpace(text)) == 0 {
			return err
		}
		return b.bring(m, text, due)
	}
	if len(due) > 0 {
		return fmt.Errorf("it answered with %q, which is neither JSON nor a stream of events", answer.Header.Get("Content-Type"))
	}
	return nil
}

// bring gives the client a message of the server's, on one line.
func (b *bridge) bring(m message, text []byte, due map[string]json.RawMessage) error {
	text = bytes.TrimSpace(text)
	if !json.Valid(text) {
		return errors.New("it sent what is not JSON")
	}
	if bytes.ContainsAny(text, "\r\n") {
		var line bytes.Buffer
		if err := json.Compact(&line, text); err != nil {
			return err
		}
		text = line.Bytes()
	}
	if len(due) > 0 {
		for id, result := range answers(text) {
			delete(due, id)
			if m.method == "initialize" {
				b.agreed(result)
			}
		}
	}
	return b.lines.deliver(b.life, append(text[:len(text):len(text)], '\n'), m)
}

// agreed notes the version that the server chose.
func (b *bridge) agreed(result []byte) {
	var r struct {
		ProtocolVersion string `json:"protocolVersion"`
	}
	if json.Unmarshal(result, &r) == nil {
		b.mu.Lock()
		b.version = r.ProtocolVersion
		b.mu.Unlock()
	}
}

// answers are the results, or errors, in a message of the server's, by the keys of their ids.
func answers(text []byte) map[string][]byte {
	all := map[string][]byte{}
	one := func(raw []byte) {
		var id, result []byte
		for _, f := range members(raw) {
			switch f.key {
			case "method":
				return
			case "id":
				id = raw[f.from:f.to]
			case "result", "error":
				result = raw[f.from:f.to]
			}
		}
		if id != nil && result != nil {
			all[key(id)] = result
		}
	}
	switch text[0] {
	case '{':
		one(text)
	case '[':
		for _, e := range elements(text) {
			if text[e.from] == '{' {
				one(text[e.from:e.to])
			}
		}
	}
	return all
}

// answerTo is the result, or error, in a message of the server's that answers a request; nil where it answers none, or another.
func answerTo(id json.RawMessage, text []byte) []byte {
	if text = bytes.TrimSpace(text); !json.Valid(text) || text[0] != '{' {
		return nil
	}
	return answers(text)[key(id)]
}

// stream brings the messages of a stream of events, and continues with it where it broke off and the server can.
func (b *bridge) stream(ctx context.Context, m message, body io.Reader, due map[string]json.RawMessage) error {
	last, idle := "", 0
	var pause client.Backoff
	for {
		before := last
		err := b.events(m, body, due, &last, &pause)
		if ctx.Err() != nil || len(due) == 0 || errors.Is(err, errTooLong) {
			return err
		}
		if last == "" {
			return errors.New("its stream ended before the answer had come")
		}
		if idle++; last != before {
			idle = 0
			pause.Reset()
		}
		if idle > reconnects {
			return errors.New("its stream broke off again and again")
		}
		again, err := b.resume(ctx, last, &pause)
		if err != nil {
			return err
		}
		body = again
		defer func() { _ = again.Close() }()
	}
}

// events brings the messages of one response.
func (b *bridge) events(m message, body io.Reader, due map[string]json.RawMessage, last *string, pause *client.Backoff) error {
	s := newEvents(body)
	for {
		e, err := s.next()
		if err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if e.seen {
			*last = e.id
		}
		if e.retry > 0 {
			pause.Least = e.retry
		}
		if len(e.data) == 0 || e.kind != "" && e.kind != "message" {
			continue
		}
		if err := b.bring(m, e.data, due); err != nil {
			return err
		}
	}
}

// resume asks for what comes after an event.
func (b *bridge) resume(ctx context.Context, last string, pause *client.Backoff) (io.ReadCloser, error) {
	if !pause.Wait(ctx) {
		return nil, ctx.Err()
	}
	answer, err := b.do(ctx, http.MethodGet, nil, message{}, last)
	if err != nil {
		return nil, short(err)
	}
	if answer.StatusCode != http.StatusOK || mediaType(answer.Header) != eventStream {
		text, _ := io.ReadAll(io.LimitReader(answer.Body, maxProblem))
		_ = answer.Body.Close()
		return nil, problem(answer, text)
	}
	return answer.Body, nil
}

// listen brings what the server sends by itself, as long as the session lasts. A server need not have such a stream.
func (b *bridge) listen() {
	last := ""
	var pause client.Backoff
	for failed := 0; failed <= reconnects; {
		answer, err := b.do(b.life, http.MethodGet, nil, message{}, last)
		if b.life.Err() != nil {
			return
		}
		if err == nil && (answer.StatusCode != http.StatusOK || mediaType(answer.Header) != eventStream) {
			_ = answer.Body.Close()
			if answer.StatusCode < 500 {
				return
			}
			err = errors.New(answer.Status)
		}
		if err == nil {
			before := last
			err = b.events(message{}, answer.Body, nil, &last, &pause)
			_ = answer.Body.Close()
			if last != before {
				failed = 0
				pause.Reset()
			}
		}
		if b.life.Err() != nil || errors.Is(err, errTooLong) {
			return
		}
		failed++
		if !pause.Wait(b.life) {
			return
		}
	}
}

// versionOf is the protocol version that a request of the newer protocol names, empty for the older ones.
func versionOf(params []byte) string {
	from, to, ok := within(params, "_meta", versionKey)
	if !ok {
		return ""
	}
	return stringOf(params[from:to])
}

func mediaType(h http.Header) string {
	kind, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return kind
}

// problem says what a server answered that did not do what it was asked.
func problem(answer *http.Response, text []byte) error {
	said := human.OneLine(strings.TrimSpace(string(text)), 300)
	switch {
	case answer.StatusCode >= 300 && answer.StatusCode < 400:
		return fmt.Errorf("it redirects to %s, which is not followed: give that address", human.OneLine(answer.Header.Get("Location"), 200))
	case said != "" && mediaType(answer.Header) != "text/html":
		return fmt.Errorf("%s: %s", answer.Status, said)
	}
	return errors.New(answer.Status)
}

// short is an error without the address, which is said beside it.
func short(err error) error {
	if inner := errors.Unwrap(err); inner != nil {
		return inner
	}
	return err
}
