// Package models is a server that speaks as the providers of coding agents' models do: Anthropic's Messages, OpenAI's
// Responses and chat completions, and Gemini's generateContent. Its model is a script of calls of tools.
package models

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// A Call is a call of a tool that the model asks its client for.
type Call struct {
	Tool string
	Args map[string]any
	// Space is the namespace of a tool of OpenAI's, and Text is given to one that takes a text in place of arguments.
	Space, Text string
	// After, where it is not nil, has to be closed before the model asks for this call.
	After <-chan struct{}
}

// Goodbye is what the model says when it has no more calls to ask for.
const Goodbye = "That is all there was to do."

// A Server is the models of one agent's session. It goes by what a request tells: after n results of tools it asks for the
// script's call n, so a request that is sent again is answered as before.
type Server struct {
	URL string

	http   *httptest.Server
	task   string
	script []Call
	sub    []Call
	mu     sync.Mutex
	told   []string // results of tools, in the order of their calls
	odd    []string
}

// Serve starts a server. Conversations about the user's task go by script, those of sub-agents, which do not hold its
// words, by sub. It is a proxy, too, that lets nothing through: a client whose settings name it for all but loopback
// reaches no one.
func Serve(task string, script, sub []Call) *Server {
	s := &Server{task: task, script: script, sub: sub}
	s.http = httptest.NewServer(s)
	s.URL = s.http.URL
	return s
}

// Close ends it, and every request with it.
func (s *Server) Close() {
	s.http.CloseClientConnections()
	s.http.Close()
}

// Told returns the results of tools that the client has sent so far, in the order of the script.
func (s *Server) Told() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.told)
}

// Odd returns the requests that were no question to the model, each once: what the client looks for elsewhere.
func (s *Server) Odd() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.odd)
}

func (s *Server) note(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.odd, what) {
		s.odd = append(s.odd, what)
	}
}

// An api is one protocol.
type api interface {
	// read takes a request apart: the results of tools in it, and whether the model may call tools at all.
	read(body []byte) (results []string, tools bool, err error)
	// call and say write the answer, as a stream.
	call(w *stream, n int, c Call)
	say(w *stream, text string)
}

// protocol is the one that a path belongs to.
func protocol(path string) api {
	switch {
	case path == "/v1/messages":
		return messages{}
	case path == "/v1/responses":
		return responses{}
	case path == "/v1/chat/completions":
		return chat{}
	case strings.HasPrefix(path, "/v1beta/models/") && strings.HasSuffix(path, ":streamGenerateContent"):
		return gemini{}
	}
	return nil
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var p api
	if r.Method == http.MethodPost && !r.URL.IsAbs() {
		p = protocol(r.URL.Path)
	}
	if p == nil {
		s.note(r.Method + " " + where(r.URL, r.Host))
		http.Error(w, `{"error":{"message":"this is all that there is","type":"not_found_error","code":404,"status":"NOT_FOUND"}}`, http.StatusNotFound)
		return
	}
	body, err := io.ReadAll(r.Body)
	var results []string
	var tools bool
	if err == nil {
		results, tools, err = p.read(body)
	}
	if err != nil {
		s.note(fmt.Sprintf("%s: %v", r.URL.Path, err))
		http.Error(w, `{"error":{"message":"not understood","type":"invalid_request_error","code":400,"status":"INVALID_ARGUMENT"}}`, http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	out := &stream{w}
	if !tools { // a title for the session, and the like
		p.say(out, "A session")
		return
	}
	script, n := s.sub, len(results)
	if bytes.Contains(body, []byte(s.task)) {
		script = s.script
		s.mu.Lock()
		if n > len(s.told) {
			s.told = results
		}
		s.mu.Unlock()
	}
	if n >= len(script) {
		p.say(out, Goodbye)
		return
	}
	if after := script[n].After; after != nil {
		select {
		case <-after:
		case <-r.Context().Done():
			return
		}
	}
	p.call(out, n, script[n])
}

func where(u *url.URL, host string) string {
	if u.IsAbs() {
		return u.Scheme + "://" + u.Host + u.Path
	}
	if u.Path == "" {
		return host // of CONNECT
	}
	return u.Path
}

// A stream is an answer in server-sent events.
type stream struct{ w http.ResponseWriter }

// send writes one event; an empty name is left out.
func (s *stream) send(name string, data any) {
	var b bytes.Buffer
	if name != "" {
		fmt.Fprintf(&b, "event: %s\n", name)
	}
	text, ok := data.(string)
	if !ok {
		raw, err := json.Marshal(data)
		if err != nil {
			panic(err) // objects of texts and numbers always can be
		}
		text = string(raw)
	}
	fmt.Fprintf(&b, "data: %s\n\n", text)
	_, _ = s.w.Write(b.Bytes()) // the client may have gone
	_ = http.NewResponseController(s.w).Flush()
}

type object = map[string]any

// text joins the texts of a value that is a text, a list of parts that have one, or an object of any shape.
func text(raw json.RawMessage) string {
	var plain string
	if json.Unmarshal(raw, &plain) == nil {
		return plain
	}
	var parts []struct{ Text string }
	if json.Unmarshal(raw, &parts) == nil {
		var all []string
		for _, p := range parts {
			all = append(all, p.Text)
		}
		return strings.Join(all, "\n")
	}
	return string(raw)
}

func arguments(c Call) string {
	raw, err := json.Marshal(c.Args)
	if err != nil {
		panic(err) // texts and numbers always can be
	}
	return string(raw)
}

func id(n int) string { return fmt.Sprintf("call_%d", n) }

var errNoModel = errors.New("it names no model")
