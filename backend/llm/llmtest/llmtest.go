// Package llmtest is a server that speaks as the providers of models do: Anthropic's Messages and OpenAI's chat
// completions, streamed or not. It checks requests as the real ones do and behaves well or badly, as the test says. Requests
// for one answer of a given shape, as summarizers make them, are answered by a Behavior; conversations with tools by a
// Script.
package llmtest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"

	"deskbell/backend/agent"
)

// A Behavior is what the server does with one request.
type Behavior string

// The behaviors.
const (
	Right             Behavior = "right"              // a report that rests on what was sent
	Slow              Behavior = "slow"               // the same, a piece every Pace
	Prose             Behavior = "prose"              // the same, between words and in a code block
	RateLimited       Behavior = "rate-limited"       // 429, try again in 2 s
	RateLimitedLong   Behavior = "rate-limited-long"  // 429, try again in an hour
	NoCredit          Behavior = "no-credit"          // the account is empty
	Overloaded        Behavior = "overloaded"         // 529 or 503
	OverloadedMidway  Behavior = "overloaded-midway"  // an error among the events
	BadGateway        Behavior = "bad-gateway"        // 502 with a page of a proxy's
	Denied            Behavior = "denied"             // 401, repeating the key
	UnknownModel      Behavior = "unknown-model"      // 404, repeating the key
	TooLong           Behavior = "too-long"           // the request does not fit
	NoSchema          Behavior = "no-schema"          // right, but 400 for structured output
	NoTools           Behavior = "no-tools"           // right, but 400 for tools
	OnlyText          Behavior = "only-text"          // right, but 400 for both
	Cut               Behavior = "cut"                // the connection breaks in the middle
	Short             Behavior = "short"              // the stream ends in order, before the answer does
	Stall             Behavior = "stall"              // nothing more comes, and the connection stays
	Silent            Behavior = "silent"             // nothing comes at all
	Pings             Behavior = "pings"              // signs of life for ever, and no answer
	Truncated         Behavior = "truncated"          // by the limit of tokens
	Refusal           Behavior = "refusal"            // the model would not
	Nonsense          Behavior = "nonsense"           // no JSON
	WrongSchema       Behavior = "wrong-schema"       // JSON of another shape
	InventedReference Behavior = "invented-reference" // a finding whose evidence was not sent
	InventedNumber    Behavior = "invented-number"    // a finding with a number that its evidence has not
	InventedQuote     Behavior = "invented-quote"     // likewise with words in quotes
	Planted           Behavior = "planted"            // does what a text among the data tells it
	Huge              Behavior = "huge"               // an answer without end
	Page              Behavior = "page"               // 200, and a web page
	Elsewhere         Behavior = "elsewhere"          // a redirect
)

// Behaviours lists them all.
var Behaviours = []Behavior{
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
	Provider string            `json:"provider"` // anthropic or openai
	Form     string            `json:"form"`     // schema, tool or text: how it asks for its answer; chat: with tools that it may call
	System   string            `json:"system"`
	Text     string            `json:"text"` // of the user's last turn
	Names    []string          `json:"-"`    // of the pictures
	Pictures [][]byte          `json:"-"`
	Tokens   int               `json:"tokens"` // most of the answer
	Schema   json.RawMessage   `json:"-"`
	Turns    []agent.Turn      `json:"turns"` // failed calls are marked only in Anthropic's protocol; arguments that are no JSON are a string
	Tools    []agent.ToolSpec  `json:"tools"` // on offer
	Thoughts map[string]Answer `json:"-"`     // what came back as thought before a call, by its id
	Stream   bool              `json:"stream"`
	Header   http.Header       `json:"-"`
	Body     []byte            `json:"-"`

	usage bool // is wanted at a stream's end
}

// A Server is the handler. It is safe for concurrent use.
type Server struct {
	// Answer makes the right answer; nil: Report.
	Answer func(Request) any
	// Pace is between two pieces of a slow answer; 0: 200 ms.
	Pace time.Duration
	// Wrong is called for each request that the protocol does not allow; nil: the server only returns an error.
	Wrong func(problem string)

	mu    sync.Mutex
	next  []Behavior
	got   []Request
	steps []Step // of the script
	used  []int  // how often each was
	owed  map[string]Answer
}

// New makes a server that does the behaviors in turn, one for each request, and then the last for ever. None: Right.
func New(next ...Behavior) *Server {
	if len(next) == 0 {
		next = []Behavior{Right}
	}
	return &Server{next: next}
}

// Start runs a server on this machine until the test ends, which fails with each wrong request and where steps of a
// script are left. URL is its address.
func Start(t TB, next ...Behavior) (s *Server, url string) {
	t.Helper()
	s = newFor(t, next)
	h := httptest.NewServer(s)
	t.Cleanup(func() {
		h.CloseClientConnections()
		h.Close()
	})
	return s, h.URL
}

func newFor(t TB, next []Behavior) *Server {
	s := New(next...)
	s.Wrong = func(p string) { t.Errorf("a request that the real server rejects: %s", p) }
	t.Cleanup(func() {
		if left := s.Left(); len(left) > 0 {
			t.Errorf("nothing came for the steps %d of the script", left)
		}
	})
	return s
}

// Pipe runs a server in memory until the test ends, for tests with a clock of their own (testing/synctest), and
// returns how to connect to it, whatever the address.
func Pipe(t TB, next ...Behavior) (*Server, func(context.Context, string, string) (net.Conn, error)) {
	t.Helper()
	s := newFor(t, next)
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
	refuse := func(err error) {
		if s.Wrong != nil {
			s.Wrong(err.Error())
		}
		a.fail(w, http.StatusBadRequest, "invalid_request_error", "invalid_value", err.Error())
	}
	if err := check(r, &q, a); err != nil {
		refuse(err)
		return
	}
	if s.scripted(q) {
		err := s.paid(q)
		var step Step
		if err == nil {
			step, err = s.take(q)
		}
		if err != nil {
			refuse(err)
			return
		}
		s.keep(q)
		if !s.fails(w, r, a, step.Do) {
			s.play(&stream{w: w, r: r}, a, q, step)
		}
		return
	}
	if err := q.single(); err != nil {
		refuse(err)
		return
	}
	s.mu.Lock()
	b := s.next[0]
	if len(s.next) > 1 {
		s.next = s.next[1:]
	}
	s.mu.Unlock()
	s.keep(q)
	s.behave(w, r, a, q, b)
}

func (s *Server) keep(q Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.got = append(s.got, q)
}

// check holds a request against the protocol.
func check(r *http.Request, q *Request, a api) error {
	if r.Method != http.MethodPost {
		return fmt.Errorf("method %s", r.Method)
	}
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "application/json" {
		return fmt.Errorf("content type %q", kind)
	}
	d := json.NewDecoder(bytes.NewReader(q.Body))
	d.DisallowUnknownFields()
	if err := a.read(d, r.Header, q); err != nil {
		return err
	}
	for _, t := range q.Turns {
		if t.Role == agent.User {
			q.Text = t.Text
		}
	}
	return nil
}

// single says whether a request without a script is one that Deskbell makes for one answer.
func (q *Request) single() error {
	switch {
	case q.Form == "chat":
		return errors.New("tools, and no script that uses them")
	case len(q.Turns) != 1 || q.Turns[0].Role != agent.User:
		return errors.New("messages: one of the user was expected")
	case !q.Stream || !q.usage:
		return errors.New("a request that is not streamed, or without its usage")
	case q.Tokens < 1:
		return errors.New("no limit of tokens")
	}
	return nil
}

// fails does what a behavior does instead of an answer; false where there is an answer.
func (s *Server) fails(w http.ResponseWriter, r *http.Request, a api, b Behavior) bool {
	switch b {
	case RateLimited, RateLimitedLong:
		w.Header().Set("Retry-After", map[Behavior]string{RateLimited: "2", RateLimitedLong: "3600"}[b])
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
		return false
	}
	return true
}

// behave answers one request for one answer. A client whose form of answer is not supported asks again with another.
func (s *Server) behave(w http.ResponseWriter, r *http.Request, a api, q Request, b Behavior) {
	if s.fails(w, r, a, b) {
		return
	}
	if q.Form == "schema" && (b == NoSchema || b == OnlyText) || q.Form == "tool" && (b == NoTools || b == OnlyText) {
		s.again(b)
		a.fail(w, http.StatusBadRequest, "invalid_request_error", "unsupported_parameter", "this model does not take "+q.Form)
		return
	}
	p := part{kind: "text", data: s.text(q, b)}
	if q.Form == "tool" {
		p.kind, p.id, p.name = "call", "call_test", "report"
	}
	var pace time.Duration
	if b == Slow {
		pace = cmp.Or(s.Pace, 200*time.Millisecond)
	}
	s.answer(&stream{w: w, r: r}, a, q, b, []part{p}, usage{len(q.Body) / 4, 321}, pace)
}

// again keeps a behavior for the next request as well.
func (s *Server) again(b Behavior) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next = append([]Behavior{b}, s.next...)
}

// answer writes an answer, in pieces where it is to be streamed.
func (s *Server) answer(out *stream, a api, q Request, b Behavior, parts []part, used usage, pace time.Duration) {
	end := finished
	switch last := len(parts) - 1; {
	case b == Truncated && last >= 0:
		data := []rune(parts[last].data)
		parts[last].data, end = string(data[:len(data)/2]), truncated
	case b == Refusal:
		parts, end = []part{{kind: "text"}}, refused
	}
	if !q.Stream {
		if b == Cut || b == Short || b == Stall || b == OverloadedMidway {
			panic(http.ErrAbortHandler) // there is no middle
		}
		a.whole(out.w, parts, end, used)
		return
	}
	out.w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	out.w.WriteHeader(http.StatusOK)
	size, pieces, called := 24, 0, false
	if q.Form == "chat" {
		size = 6 // arguments are short, and are to come in pieces, too
	}
	a.begin(out, used)
	for at, p := range parts {
		a.open(out, at, p)
		called = called || p.kind == "call"
		for piece := range slices.Chunk([]rune(p.data), size) {
			pieces++
			switch {
			case pieces == 3 && b == Cut:
				panic(http.ErrAbortHandler)
			case pieces == 3 && b == Short:
				return
			case pieces == 3 && b == Stall:
				<-out.r.Context().Done()
				return
			case pieces == 3 && b == OverloadedMidway:
				a.event(out)
				return
			}
			out.wait(pace)
			a.piece(out, at, p, string(piece))
		}
		for b == Huge && out.r.Context().Err() == nil {
			a.piece(out, at, p, strings.Repeat("and so on ", 1000))
		}
		for b == Pings && out.r.Context().Err() == nil {
			a.ping(out)
			out.wait(10 * time.Second)
		}
		a.close(out, at, p)
	}
	a.end(out, q, end, used, called)
}

// text is what the model writes.
func (s *Server) text(q Request, b Behavior) string {
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
	data := must(json.Marshal(made))
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
		data = string(must(json.Marshal(v)))
	}
	fmt.Fprintf(&b, "data: %s\n\n", data)
	_, _ = s.w.Write(b.Bytes())
	if f, ok := s.w.(http.Flusher); ok {
		f.Flush()
	}
}

func (s *stream) wait(d time.Duration) {
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-s.r.Context().Done():
	}
}
