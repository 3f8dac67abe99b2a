// Package llmtest is a server that speaks as the providers of models do: Anthropic's Messages and OpenAI's chat
// completions, both streamed. It checks requests as the real ones do and behaves as it is told, well or badly.
package llmtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"
)

// A Behaviour is what the server does with one request.
type Behaviour string

// The behaviours.
const (
	Right             Behaviour = "right"              // a report that rests on what was sent
	Slow              Behaviour = "slow"               // the same, a piece every Pace
	Prose             Behaviour = "prose"              // the same, between words and in a fence
	RateLimited       Behaviour = "rate-limited"       // 429, try again in 2 s
	RateLimitedLong   Behaviour = "rate-limited-long"  // 429, try again in an hour
	NoCredit          Behaviour = "no-credit"          // the account is empty
	Overloaded        Behaviour = "overloaded"         // 529 or 503
	OverloadedMidway  Behaviour = "overloaded-midway"  // an error among the events
	BadGateway        Behaviour = "bad-gateway"        // 502 with a page of a proxy's
	Denied            Behaviour = "denied"             // 401, repeating the key
	UnknownModel      Behaviour = "unknown-model"      // 404, repeating the key
	TooLong           Behaviour = "too-long"           // the request does not fit
	NoSchema          Behaviour = "no-schema"          // right, but 400 for structured output
	NoTools           Behaviour = "no-tools"           // right, but 400 for tools
	OnlyText          Behaviour = "only-text"          // right, but 400 for both
	Cut               Behaviour = "cut"                // the connection breaks in the middle
	Short             Behaviour = "short"              // the stream ends in order, before the answer does
	Stall             Behaviour = "stall"              // nothing more comes, and the connection stays
	Silent            Behaviour = "silent"             // nothing comes at all
	Pings             Behaviour = "pings"              // signs of life for ever, and no answer
	Truncated         Behaviour = "truncated"          // by the limit of tokens
	Refusal           Behaviour = "refusal"            // the model would not
	Nonsense          Behaviour = "nonsense"           // no JSON
	WrongSchema       Behaviour = "wrong-schema"       // JSON of another shape
	InventedReference Behaviour = "invented-reference" // a finding whose evidence was not sent
	InventedNumber    Behaviour = "invented-number"    // a finding with a number that its evidence has not
	InventedQuote     Behaviour = "invented-quote"     // likewise with words in quotes
	Planted           Behaviour = "planted"            // does what a text among the data tells it
	Huge              Behaviour = "huge"               // an answer without end
	Page              Behaviour = "page"               // 200, and a web page
	Elsewhere         Behaviour = "elsewhere"          // a redirect
)

// Behaviours lists them all.
var Behaviours = []Behaviour{
	Right, Slow, Prose, RateLimited, RateLimitedLong, NoCredit, Overloaded, OverloadedMidway, BadGateway, Denied, UnknownModel, TooLong,
	NoSchema, NoTools, OnlyText, Cut, Short, Stall, Silent, Pings, Truncated, Refusal, Nonsense, WrongSchema,
	InventedReference, InventedNumber, InventedQuote, Planted, Huge, Page, Elsewhere,
}

// Key is the key that the server takes; with any other a request is refused. Without one, only chat completions are
// taken, as on a server of one's own.
const Key = "sk-test-4f7a1c90e2b35d68-only-for-tests"

// Model is the model that the server knows.
const Model = "test-model-1"

// A TB is what a test gives to Start.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	Cleanup(func())
}

// A Request is one that came, and was as the protocol wants it.
type Request struct {
	Provider string // anthropic or openai
	Form     string // schema, tool or text: how it asks for its answer
	System   string
	Text     string   // of the first part of the message
	Names    []string // of the pictures
	Pictures [][]byte
	Tokens   int // most of the answer
	Schema   json.RawMessage
	Header   http.Header
	Body     []byte
}

// A Server is the handler. It is safe for concurrent use.
type Server struct {
	// Answer makes the right answer; nil: Report.
	Answer func(Request) any
	// Pace is between two pieces of a slow answer; 0: 200 ms.
	Pace time.Duration
	// Wrong is told of each request that the protocol does not allow; nil: it is only refused.
	Wrong func(problem string)

	mu   sync.Mutex
	next []Behaviour
	got  []Request
}

// New makes a server that does the behaviours in turn, one for each request, and then the last for ever. None: Right.
func New(next ...Behaviour) *Server {
	if len(next) == 0 {
		next = []Behaviour{Right}
	}
	return &Server{next: next}
}

// Start runs a server on this machine until the test ends, which fails with each wrong request. URL is its address.
func Start(t TB, next ...Behaviour) (s *Server, url string) {
	t.Helper()
	s = New(next...)
	s.Wrong = func(p string) { t.Errorf("a request that the real server refuses: %s", p) }
	h := httptest.NewServer(s)
	t.Cleanup(func() {
		h.CloseClientConnections()
		h.Close()
	})
	return s, h.URL
}

// Pipe runs a server in memory until the test ends, for tests with a clock of their own (testing/synctest), and
// returns how to connect to it, whatever the address.
func Pipe(t TB, next ...Behaviour) (*Server, func(context.Context, string, string) (net.Conn, error)) {
	t.Helper()
	s := New(next...)
	s.Wrong = func(p string) { t.Errorf("a request that the real server refuses: %s", p) }
	l := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
	h := &http.Server{Handler: s}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = h.Serve(l)
	}()
	t.Cleanup(func() {
		_ = h.Close()
		<-served
	})
	return s, l.dial
}

type pipes struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case p.conns <- there:
		return here, nil
	case <-p.done:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.done) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

// Requests are those that came so far and were right.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.got)
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 64<<20))
	if err != nil {
		return // the client went away
	}
	var a api
	switch {
	case r.URL.Path == "/v1/messages":
		a = messages{}
	case strings.HasSuffix(r.URL.Path, "/chat/completions"):
		a = chat{}
	default:
		http.NotFound(w, r)
		return
	}
	q := Request{Provider: a.name(), Header: r.Header.Clone(), Body: body}
	if key, given := a.key(r.Header); key != Key && (given || a.name() == "anthropic") {
		a.fail(w, http.StatusUnauthorized, "authentication_error", "invalid_api_key", "this key is not valid: "+key)
		return
	}
	if err := check(r, &q, a); err != nil {
		if s.Wrong != nil {
			s.Wrong(err.Error())
		}
		a.fail(w, http.StatusBadRequest, "invalid_request_error", "invalid_value", err.Error())
		return
	}
	s.mu.Lock()
	b := s.next[0]
	if len(s.next) > 1 {
		s.next = s.next[1:]
	}
	s.got = append(s.got, q)
	s.mu.Unlock()
	s.behave(w, r, a, q, b)
}

// check holds a request against what both protocols share.
func check(r *http.Request, q *Request, a api) error {
	if r.Method != http.MethodPost {
		return fmt.Errorf("method %s", r.Method)
	}
	if kind := r.Header.Get("Content-Type"); kind != "application/json" {
		return fmt.Errorf("content type %q", kind)
	}
	d := json.NewDecoder(bytes.NewReader(q.Body))
	d.DisallowUnknownFields()
	return a.read(d, r.Header, q)
}

// behave answers one request. One that refuses a form of answer is asked again with another.
func (s *Server) behave(w http.ResponseWriter, r *http.Request, a api, q Request, b Behaviour) {
	switch b {
	case RateLimited, RateLimitedLong:
		w.Header().Set("Retry-After", map[Behaviour]string{RateLimited: "2", RateLimitedLong: "3600"}[b])
		a.fail(w, http.StatusTooManyRequests, "rate_limit_error", "rate_limit_exceeded", "too many requests")
	case NoCredit:
		a.fail(w, a.noCredit(), "billing_error", "insufficient_quota", "your credit is used up")
	case Overloaded:
		a.fail(w, a.overloaded(), "overloaded_error", "server_overloaded", "overloaded")
	case BadGateway:
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusBadGateway)
		_, _ = io.WriteString(w, "<html><body><h1>502 Bad Gateway</h1></body></html>")
	case Denied:
		key, _ := a.key(r.Header)
		a.fail(w, http.StatusUnauthorized, "authentication_error", "invalid_api_key", "incorrect key provided: "+key)
	case UnknownModel:
		key, _ := a.key(r.Header)
		a.fail(w, http.StatusNotFound, "not_found_error", "model_not_found", "model: "+Model+" (asked with "+key+")")
	case TooLong:
		a.fail(w, http.StatusBadRequest, "invalid_request_error", "context_length_exceeded", "prompt is too long")
	case Page:
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<html><body>Welcome</body></html>")
	case Elsewhere:
		http.Redirect(w, r, "http://192.0.2.1/v1/messages", http.StatusTemporaryRedirect)
	case Silent:
		<-r.Context().Done()
	default:
		if q.Form == "schema" && (b == NoSchema || b == OnlyText) || q.Form == "tool" && (b == NoTools || b == OnlyText) {
			s.again(b)
			a.fail(w, http.StatusBadRequest, "invalid_request_error", "unsupported_parameter", "this model does not take "+q.Form)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		w.WriteHeader(http.StatusOK)
		s.stream(&stream{w: w, r: r}, a, q, b)
	}
}

// again keeps a behaviour for the next request as well.
func (s *Server) again(b Behaviour) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next = append([]Behaviour{b}, s.next...)
}

func (s *Server) stream(out *stream, a api, q Request, b Behaviour) {
	text, end := s.text(q, b), finished
	switch b {
	case Truncated:
		text, end = text[:len(text)/2], truncated
	case Refusal:
		text, end = "", refused
	}
	a.begin(out, q)
	pieces := 0
	for piece := range slices.Chunk([]rune(text), 24) {
		pieces++
		switch {
		case b == Slow:
			out.wait(s.pace())
		case pieces == 3 && b == Cut:
			panic(http.ErrAbortHandler)
		case pieces == 3 && b == Short:
			return
		case pieces == 3 && b == Stall:
			<-out.r.Context().Done()
			return
		case pieces == 3 && b == OverloadedMidway:
			a.event(out, q)
			return
		}
		a.piece(out, q, string(piece))
	}
	for b == Huge && out.r.Context().Err() == nil {
		a.piece(out, q, strings.Repeat("and so on ", 1000))
	}
	for b == Pings && out.r.Context().Err() == nil {
		a.ping(out)
		out.wait(10 * time.Second)
	}
	a.end(out, q, end)
}

func (s *Server) pace() time.Duration {
	if s.Pace > 0 {
		return s.Pace
	}
	return 200 * time.Millisecond
}

// text is what the model writes.
func (s *Server) text(q Request, b Behaviour) string {
	var made any = Report(q.Text)
	if s.Answer != nil {
		made = s.Answer(q)
	}
	if r, ok := made.(Made); ok {
		made = r.spoiled(q.Text, b)
	}
	switch b {
	case Nonsense:
		return "I had a look, and {everything seems to be in order."
	case WrongSchema:
		made = map[string]any{"summary": 7, "points": []string{"one", "two"}}
	case Pings:
		return ""
	}
	data, err := json.Marshal(made)
	if err != nil {
		panic(err) // a test's own answer
	}
	if b == Prose || b == OnlyText {
		return "<think>Where is {it}?</think>\nHere is the report:\n```json\n" + string(data) + "\n```\nAsk me for more."
	}
	return string(data)
}

// A stream writes events.
type stream struct {
	w http.ResponseWriter
	r *http.Request
}

func (s *stream) send(event string, v any) {
	var b bytes.Buffer
	if event != "" {
		fmt.Fprintf(&b, "event: %s\n", event)
	}
	data, ok := v.(string)
	if !ok {
		raw, err := json.Marshal(v)
		if err != nil {
			panic(err) // shapes of our own
		}
		data = string(raw)
	}
	fmt.Fprintf(&b, "data: %s\n\n", data)
	_, _ = s.w.Write(b.Bytes())
	if f, ok := s.w.(http.Flusher); ok {
		f.Flush()
	}
}

func (s *stream) wait(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-s.r.Context().Done():
	}
}
