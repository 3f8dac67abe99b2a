package mcpproxy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"deskbell/backend/human"
)

// A Face is a Remote as clients see it that speak streamable HTTP: it passes on what they send except for calls that are
// blocked, and what comes back is as the server sent it. It answers on the server's own path, and on /.well-known/. It is
// safe for concurrent use.
type Face struct {
	Remote
	checker *checker
	url     *url.URL
	pass    *httputil.ReverseProxy
	http    *http.Client
	close   func()

	life context.Context // ends with Close
	end  context.CancelFunc
	work sync.WaitGroup // what servers ask

	mu       sync.Mutex
	calls    map[string]context.CancelFunc // being judged, by session and the key of their id
	sessions map[string]*conversation      // that were begun here
	n        uint64                        // requests without a session, to tell them apart
}

// A conversation is a session of the older protocols.
type conversation struct {
	name    string // of its client
	elicits eliciting
}

// Face makes the handler. Close lets go of its connections.
func (r Remote) Face(judge Judge, opts Options) (*Face, error) {
	u, err := url.Parse(r.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, human.Errorf(human.Invalid, "%q is not the address of a server; one is like http://127.0.0.1:3001/mcp", r.URL)
	}
	f := &Face{Remote: r, checker: newChecker(judge, opts), url: u, calls: map[string]context.CancelFunc{}, sessions: map[string]*conversation{}}
	f.life, f.end = context.WithCancel(context.Background())
	f.http, f.close = r.client()
	f.pass = &httputil.ReverseProxy{
		Rewrite:       f.rewrite,
		Transport:     f.http.Transport,
		FlushInterval: -1, // a stream's events continue as they come
		ModifyResponse: func(answer *http.Response) error {
			if answer.StatusCode >= 300 && answer.StatusCode < 400 && answer.StatusCode != http.StatusNotModified {
				text, _ := io.ReadAll(io.LimitReader(answer.Body, maxProblem))
				return problem(answer, text) // a client would follow it past the gate
			}
			if w, ok := answer.Request.Context().Value(watchKey{}).(*watching); ok {
				return w.modify(answer)
			}
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			f.checker.opts.Log.Warn("the server did not answer", "url", r.URL, "err", err)
			http.Error(w, fmt.Sprintf("the server at %s: %v", r.URL, err), http.StatusBadGateway)
		},
	}
	return f, nil
}

// Close releases connections to the server that are not in use, and takes questions back for which no one waits.
func (f *Face) Close() {
	f.end()
	f.work.Wait()
	f.checker.close()
	f.close()
}

func (f *Face) rewrite(r *httputil.ProxyRequest) {
	r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = f.url.Scheme, f.url.Host, ""
	r.Out.Header.Del("Accept-Encoding") // answers are looked at
	if r.In.URL.Path == f.url.Path {
		r.Out.URL.RawPath = f.url.RawPath
		if r.Out.URL.RawQuery == "" {
			r.Out.URL.RawQuery = f.url.RawQuery
		}
	}
	for name, values := range f.Header {
		r.Out.Header[name] = values
	}
}

// ServeHTTP implements http.Handler.
func (f *Face) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !local(r) {
		http.Error(w, "only programs on this machine are let in, and no web pages of others", http.StatusForbidden)
		return
	}
	path := f.url.Path
	if path == "" {
		path = "/"
	}
	switch {
	case r.URL.Path == path && r.Method == http.MethodPost:
		f.post(w, r)
	case r.URL.Path == path && (r.Method == http.MethodGet || r.Method == http.MethodDelete):
		if s := f.session(r); s != nil && r.Method == http.MethodDelete {
			s.elicits.end()
			f.mu.Lock()
			delete(f.sessions, r.Header.Get(sessionHeader))
			f.mu.Unlock()
		} else if s != nil {
			r = r.WithContext(context.WithValue(r.Context(), watchKey{}, &watching{look: f.look(r, message{}, &watches{}, nil)}))
		}
		f.pass.ServeHTTP(w, r)
	case r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, "/.well-known/"):
		f.pass.ServeHTTP(w, r)
	case r.URL.Path == path:
		w.Header().Set("Allow", "GET, POST, DELETE")
		http.Error(w, "MCP is spoken with POST, GET and DELETE", http.StatusMethodNotAllowed)
	default:
		http.Error(w, "the server is at "+path, http.StatusNotFound)
	}
}

// local blocks web pages: a name that was made to lead here, or another origin. What stands behind may trust whoever
// reaches it.
func local(r *http.Request) bool {
	if !loopback(r.Host) {
		return false
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && loopback(u.Host)
}

func loopback(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// readable says whether a body is read by the server as it is read here.
func readable(h http.Header) error {
	kind, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	switch {
	case err != nil || kind != plainJSON:
		return errors.New("the body must be application/json")
	case len(h.Values("Content-Type")) > 1:
		return errors.New("there is more than one Content-Type")
	case params["charset"] != "" && !strings.EqualFold(params["charset"], "utf-8"):
		return errors.New("the body must be UTF-8")
	case h.Get("Content-Encoding") != "" && !strings.EqualFold(h.Get("Content-Encoding"), "identity"):
		return errors.New("the body must not be encoded")
	}
	return nil
}

func (f *Face) post(w http.ResponseWriter, r *http.Request) {
	if err := readable(r.Header); err != nil {
		http.Error(w, err.Error(), http.StatusUnsupportedMediaType)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxMessage))
	if err != nil {
		http.Error(w, errTooLong.Error(), http.StatusRequestEntityTooLarge)
		return
	}
	m := read(body)
	if m.err != nil {
		respond(w, http.StatusBadRequest, failure(m.id, m.err.code, m.err.text))
		return
	}
	if err := agree(r.Header, m); err != nil {
		respond(w, http.StatusBadRequest, failure(m.id, -32001, err.Error()))
		return
	}
	if q := f.checker.resume(m); q != nil {
		s := &stream{ResponseWriter: w}
		f.exchange(s, r, q, f.caller(s, r, m), true)
		return
	}
	session := r.Header.Get(sessionHeader)
	for _, one := range append([]message{m}, m.batch...) {
		id := one.cancels()
		if id == nil || session == "" {
			continue
		}
		if s := f.session(r); s != nil {
			s.elicits.cancel(id)
		}
		if f.cancel(session+key(id)) && m.batch == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
	}
	if !m.gated() {
		s := &stream{ResponseWriter: w}
		f.continues(s, r, m, body, nil, f.caller(s, r, m))
		return
	}
	f.judge(w, r, m, session)
}

// agree returns an error for a request whose headers name another call than its body.
func agree(h http.Header, m message) error {
	method := h.Get("Mcp-Method")
	switch {
	case m.call == nil && method == callMethod:
		return errors.New("header mismatch: Mcp-Method names a call, and the body is none")
	case m.call == nil:
		return nil
	case method != "" && method != callMethod:
		return errors.New("header mismatch: Mcp-Method does not name what the body does")
	}
	if name := h.Get("Mcp-Name"); name != "" && name != m.call.name && name != headerText(m.call.name) {
		return errors.New("header mismatch: Mcp-Name does not name the tool of the body")
	}
	return nil
}

func respond(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", plainJSON)
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that has gone needs no answer
}

func (f *Face) cancel(name string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	stop := f.calls[name]
	if stop != nil {
		stop()
	}
	return stop != nil
}

// judge has the calls of a request judged, and sends on what may.
func (f *Face) judge(w http.ResponseWriter, r *http.Request, m message, session string) {
	ctx, stop := context.WithCancel(r.Context())
	defer stop()
	f.mu.Lock()
	f.n++
	thread := session
	if thread == "" {
		thread = "#" + strconv.FormatUint(f.n, 10) // without sessions each request has ids of its own
	}
	var names []string
	for _, one := range append([]message{m}, m.batch...) {
		if one.call != nil {
			name := thread + key(one.id)
			if f.calls[name] != nil {
				f.mu.Unlock()
				f.release(names)
				respond(w, http.StatusOK, failure(one.id, invalidRequest, "a call with this id is being asked about"))
				return
			}
			f.calls[name] = stop
			names = append(names, name)
		}
	}
	f.mu.Unlock()
	released := sync.OnceFunc(func() { f.release(names) })
	defer released()

	s := &stream{ResponseWriter: w}
	by := f.caller(s, r, m)
	by.thread = thread
	if m.batch != nil {
		b := f.checker.decideAll(ctx, m, by)
		switch released(); {
		case ctx.Err() != nil:
			w.WriteHeader(http.StatusAccepted)
		case b.forward == nil && len(b.replies) == 0:
			w.WriteHeader(http.StatusAccepted)
		case b.forward == nil:
			respond(w, http.StatusOK, b.reply())
		default:
			f.forward(w, r, m, b.forward, b.asked, b.replies)
		}
		return
	}
	o := f.checker.decide(ctx, m, by)
	released() // from here on the server hears of a cancellation
	switch {
	case ctx.Err() != nil || o.forward == nil && o.reply == nil:
		if !s.begun {
			w.WriteHeader(http.StatusAccepted)
		}
	case o.reply != nil:
		s.answer(o.reply)
	default:
		asked := map[string]question{}
		if o.asked != nil {
			asked[key(m.id)] = *o.asked
		}
		if !bytes.Equal(o.forward, m.raw) && r.Header.Get("Mcp-Method") != "" {
			nameInHeaders(r.Header, read(o.forward), f.checker.tools.get)
		}
		f.continues(s, r, m, o.forward, asked, by)
	}
}

// caller is who waits for an answer to m.
func (f *Face) caller(s *stream, r *http.Request, m message) caller {
	by := caller{name: clientName(m)}
	if of := f.session(r); of != nil {
		by.name = of.name
	}
	if token := m.token(); token != nil && strings.Contains(strings.Join(r.Header.Values("Accept"), ","), eventStream) {
		n := 0
		by.tell = func(text string) {
			n++
			s.send(note(token, n, text))
		}
	}
	return by
}

// session is the one that a request belongs to; nil where it belongs to none that is known.
func (f *Face) session(r *http.Request) *conversation {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.sessions[r.Header.Get(sessionHeader)]
}

// continues sends on what may, and brings its answer.
func (f *Face) continues(s *stream, r *http.Request, m message, body []byte, asked map[string]question, by caller) {
	q, body := f.checker.query(m, body, asked)
	switch {
	case q != nil:
		f.exchange(s, r, q, by, false)
	case s.begun:
		f.follow(s, r, m, body, asked)
	default:
		f.forward(s.ResponseWriter, r, m, body, asked, nil)
	}
}

// exchange sends a query, and again as long as operators answer what the server asks; held says that they are being asked.
func (f *Face) exchange(s *stream, r *http.Request, q *query, by caller, held bool) {
	for ; ; held = false {
		inquires := held
		if !held {
			var watch watches
			watch.of(f.checker, q.sent, q.permitted())
			if !bytes.Equal(q.sent.args(), q.client.args()) && r.Header.Get("Mcp-Method") != "" {
				nameInHeaders(r.Header, q.sent, f.checker.tools.get)
			}
			f.fetch(s, r, q.client, q.sent.raw, func(data []byte) []byte {
				result := answerTo(q.sent.id, data)
				if result != nil && f.checker.inquire(q, result) {
					inquires = true
					return nil
				}
				watch.look(data)
				if result != nil && q.rounds > 0 {
					return with(data, q.client.id, "id")
				}
				return data
			})
		}
		if !inquires {
			return
		}
		reply, again := f.checker.hold(r.Context(), q, by)
		if reply != nil {
			s.answer(reply)
		}
		if !again {
			return
		}
	}
}

// look looks at what a server sends in answer to a request. It returns what its client is to get, nil where an operator answers in
// its place.
func (f *Face) look(r *http.Request, m message, watch *watches, gone <-chan struct{}) func([]byte) []byte {
	s := f.session(r)
	if s == nil {
		return watch.see
	}
	of := m.requests()
	header := r.Header.Clone()
	return func(data []byte) []byte {
		watch.look(data)
		if s.elicits.asked(f.life, f.checker, data, of, gone, &f.work, func(reply []byte) { f.answer(header, reply) }) {
			return nil
		}
		return data
	}
}

// answer answers a server's question, with the headers of the request that it came in answer to.
func (f *Face) answer(header http.Header, reply []byte) {
	ctx, cancel := context.WithTimeout(f.life, answerWithin)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, f.URL, bytes.NewReader(reply))
	if err == nil {
		for name, values := range header {
			r.Header[name] = values
		}
		hop(r.Header)
		r.Header.Del(eventHeader)
		r.Header.Set("Content-Type", plainJSON)
		r.Header.Set("Accept", plainJSON+", "+eventStream)
		for name, values := range f.Header {
			r.Header[name] = values
		}
		var answer *http.Response
		if answer, err = f.http.Do(r); err == nil {
			_ = answer.Body.Close()
			if answer.StatusCode >= 300 {
				err = errors.New(answer.Status)
			}
		}
	}
	if err != nil {
		f.checker.opts.Log.Warn("the server did not take an operator's answer", "url", f.URL, "err", err)
	}
}

// answerWithin is how long a server may take to accept an answer.
const answerWithin = 30 * time.Second

// hop removes the headers that are of one connection, or of one body.
func hop(h http.Header) {
	for _, name := range []string{"Connection", "Keep-Alive", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Proxy-Connection", "Content-Length", "Accept-Encoding"} {
		h.Del(name)
	}
}

func (f *Face) release(names []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, name := range names {
		delete(f.calls, name)
	}
}

// A watching is what is done with the answer to a request as it passes.
type watching struct {
	look    func([]byte) []byte // nil where nothing is looked at
	replies [][]byte            // answers of our own that belong to it
	left    func()              // called when its client leaves before its end; may be nil
	begins  func(session string)
}

type watchKey struct{}

// forward passes a request on with a body, and its answer back with the replies.
func (f *Face) forward(w http.ResponseWriter, r *http.Request, m message, body []byte, asked map[string]question, replies [][]byte) {
	var watches watches
	watches.of(f.checker, m, asked)
	gone := make(chan struct{})
	watch := &watching{replies: replies, look: f.look(r, m, &watches, gone), left: sync.OnceFunc(func() { close(gone) })}
	if m.method == "initialize" && m.isRequest() {
		s := &conversation{name: clientName(m)}
		body = s.elicits.declare(f.checker, m, body)
		watch.begins = func(id string) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.sessions[id] = s
		}
	}
	ctx := r.Context()
	if len(watches.all) > 0 || len(replies) > 0 || watch.begins != nil || f.session(r) != nil {
		ctx = context.WithValue(ctx, watchKey{}, watch)
	}
	r = r.WithContext(ctx)
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.ContentLength = int64(len(body))
	r.TransferEncoding = nil
	r.Header.Set("Content-Length", strconv.Itoa(len(body)))
	f.pass.ServeHTTP(w, r)
}

// modify looks at an answer, and adds what we answered ourselves.
func (w *watching) modify(answer *http.Response) error {
	if id := answer.Header.Get(sessionHeader); id != "" && w.begins != nil {
		w.begins(id)
	}
	kind := mediaType(answer.Header)
	if kind == eventStream {
		answer.Body = &lookedAt{body: answer.Body, look: w.look, left: w.left}
		if len(w.replies) > 0 {
			own := asEvent(batched{replies: w.replies}.reply())
			answer.Body = joined{io.MultiReader(bytes.NewReader(own), answer.Body), answer.Body}
			answer.ContentLength = -1
			answer.Header.Del("Content-Length")
		}
		return nil
	}
	if kind != plainJSON && len(w.replies) == 0 {
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxMessage+1))
	_ = answer.Body.Close()
	if err != nil {
		return err
	}
	if len(text) > maxMessage {
		return errTooLong
	}
	if kind == plainJSON {
		w.look(text)
	}
	if len(w.replies) > 0 && answer.StatusCode < 300 {
		text = merge(text, w.replies)
		answer.StatusCode, answer.Status = http.StatusOK, ""
		answer.Header.Set("Content-Type", plainJSON)
	}
	answer.Body = io.NopCloser(bytes.NewReader(text))
	answer.ContentLength = int64(len(text))
	answer.Header.Set("Content-Length", strconv.Itoa(len(text)))
	return nil
}

// merge puts answers of ours to those of a server.
func merge(text []byte, own [][]byte) []byte {
	all := bytes.Join(own, []byte(","))
	text = bytes.TrimSpace(text)
	switch {
	case len(text) > 1 && text[0] == '[' && json.Valid(text):
		if len(elements(text)) == 0 {
			break
		}
		return fmt.Appendf(nil, "[%s,%s", all, text[1:])
	case len(text) > 0 && text[0] == '{':
		return fmt.Appendf(nil, "[%s,%s]", all, text)
	}
	return fmt.Appendf(nil, "[%s]", all)
}

type joined struct {
	io.Reader
	io.Closer
}

// A lookedAt is a stream of events whose messages are looked at before they pass.
type lookedAt struct {
	body  io.ReadCloser
	look  func([]byte) []byte // see Face.look
	left  func()              // called when it is closed before its end; may be nil
	held  []byte              // of an event that has not ended
	skip  bool                // it is too long to be looked at
	ready []byte              // to be read
	err   error
}

func (l *lookedAt) Read(p []byte) (int, error) {
	for len(l.ready) == 0 {
		if l.err != nil {
			return 0, l.err
		}
		var n int
		n, l.err = l.body.Read(p)
		l.take(p[:n])
		if l.err != nil {
			l.ready, l.held = append(l.ready, l.held...), nil
		}
	}
	n := copy(p, l.ready)
	l.ready = l.ready[n:]
	return n, nil
}

func (l *lookedAt) take(part []byte) {
	for _, line := range bytes.SplitAfter(part, []byte("\n")) {
		blank := len(bytes.TrimRight(line, "\r\n")) == 0 && len(line) > 0
		ends := blank && (len(l.held) == 0 || l.held[len(l.held)-1] == '\n')
		l.held = append(l.held, line...)
		if l.skip = l.skip || len(l.held) > maxMessage; !l.skip && !ends {
			continue
		}
		out := l.held
		if !l.skip {
			if e, err := newEvents(bytes.NewReader(l.held)).next(); err == nil && len(e.data) > 0 {
				if seen := l.look(e.data); seen == nil {
					out = nil
				} else if !bytes.Equal(seen, e.data) {
					out = asEvent(seen)
				}
			}
		}
		l.ready = append(l.ready, out...)
		l.held, l.skip = nil, l.skip && !ends
	}
}

func (l *lookedAt) Close() error {
	if !errors.Is(l.err, io.EOF) && l.left != nil {
		l.left()
	}
	return l.body.Close()
}

// A stream is an answer that began as a stream of events, because a client waits for an operator.
type stream struct {
	http.ResponseWriter
	begun bool
}

func (s *stream) begin() {
	if !s.begun {
		s.begun = true
		s.Header().Set("Content-Type", eventStream)
		s.Header().Set("Cache-Control", "no-cache")
		s.WriteHeader(http.StatusOK)
	}
}

func (s *stream) send(message []byte) {
	s.begin()
	_, _ = s.Write(asEvent(message)) // that the client has gone ends its request
	_ = http.NewResponseController(s.ResponseWriter).Flush()
}

// answer is the last message.
func (s *stream) answer(message []byte) {
	if s.begun {
		s.send(message)
	} else {
		respond(s.ResponseWriter, http.StatusOK, message)
	}
}

// follow passes a call on whose client was told to wait, and brings what answers it as events.
func (f *Face) follow(s *stream, r *http.Request, m message, body []byte, asked map[string]question) {
	var watch watches
	watch.of(f.checker, m, asked)
	gone := make(chan struct{})
	defer context.AfterFunc(r.Context(), func() { close(gone) })()
	f.fetch(s, r, m, body, f.look(r, m, &watch, gone))
}

// fetch sends a request and brings its client what look lets of the answer: as events where that has begun, or as the server has it.
func (f *Face) fetch(s *stream, r *http.Request, m message, body []byte, look func([]byte) []byte) {
	fail := func(err error) {
		switch {
		case r.Context().Err() != nil:
		case s.begun:
			s.send(failure(m.id, unreachable, fmt.Sprintf("the server at %s: %v", f.URL, err)))
		default:
			f.checker.opts.Log.Warn("the server did not answer", "url", f.URL, "err", err)
			http.Error(s.ResponseWriter, fmt.Sprintf("the server at %s: %v", f.URL, err), http.StatusBadGateway)
		}
	}
	out := r.Clone(r.Context())
	out.Body, out.ContentLength, out.RequestURI, out.TransferEncoding = io.NopCloser(bytes.NewReader(body)), int64(len(body)), "", nil
	hop(out.Header)
	f.rewrite(&httputil.ProxyRequest{In: r, Out: out})
	answer, err := f.http.Do(out)
	if err != nil {
		fail(short(err))
		return
	}
	defer func() { _ = answer.Body.Close() }()
	kind := mediaType(answer.Header)
	if kind == eventStream && answer.StatusCode == http.StatusOK {
		s.begin()
		if _, err := io.Copy(flushing{s.ResponseWriter}, &lookedAt{body: answer.Body, look: look}); err != nil {
			f.checker.opts.Log.Warn("an answer broke off", "url", f.URL, "err", err)
		}
		return
	}
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxMessage+1))
	if err == nil && len(text) > maxMessage {
		err = errTooLong
	}
	if err != nil {
		fail(err)
		return
	}
	message := kind == plainJSON && json.Valid(text)
	if message {
		if text = look(text); text == nil {
			return
		}
	}
	switch {
	case !s.begun && (answer.StatusCode < 300 || answer.StatusCode >= 400):
		hop(answer.Header)
		for name, values := range answer.Header {
			s.Header()[name] = values
		}
		s.WriteHeader(answer.StatusCode)
		_, _ = s.Write(text) // a client that has gone needs no answer
	case s.begun && message:
		var line bytes.Buffer
		if err := json.Compact(&line, text); err != nil {
			fail(err)
			return
		}
		s.send(line.Bytes())
	default:
		fail(problem(answer, text[:min(len(text), maxProblem)]))
	}
}

// flushing sends on what is written at once.
type flushing struct{ http.ResponseWriter }

func (w flushing) Write(p []byte) (int, error) {
	n, err := w.ResponseWriter.Write(p)
	if err == nil {
		err = http.NewResponseController(w.ResponseWriter).Flush()
	}
	return n, err
}

// Listen serves clients on a loopback address, until ctx ends. ready gets the address at which they reach it.
func (r Remote) Listen(ctx context.Context, judge Judge, addr string, ready func(string), opts Options) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil || !loopback(host) {
		return human.Errorf(human.Invalid, "%q is not an address on this machine; one is 127.0.0.1:8931", addr)
	}
	face, err := r.Face(judge, opts)
	if err != nil {
		return err
	}
	defer face.Close()
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return human.Wrap(human.Unavailable, err, "%s cannot be listened on: %v", addr, err)
	}
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	server := &http.Server{Handler: face, BaseContext: func(net.Listener) context.Context { return life }, ReadHeaderTimeout: 10 * time.Second}
	defer context.AfterFunc(ctx, func() {
		end()
		_ = server.Close()
	})()
	at := *face.url
	at.Scheme, at.Host, at.RawQuery = "http", listener.Addr().String(), ""
	ready(at.String())
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return human.Wrap(human.Internal, err, "clients could not be served: %v", err)
	}
	return nil
}
