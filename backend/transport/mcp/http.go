package mcp

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deskbell/backend/human"
)

// HTTP serves the tool over streamable HTTP to many agents, each known by the key of its every request.
// It keeps no sessions: those that clients of older protocol versions are given are proofs bound to their
// key, so that they outlive a restart of Deskbell, and another key cannot use them.
type HTTP struct {
	tool   *tool
	actor  func(*http.Request) (human.Actor, error)
	ringer func(human.Actor) Ringer
	next   http.Handler

	mu      sync.Mutex
	calls   map[callID]context.CancelFunc // calls under way that a later request may cancel
	servers map[string]*mcp.Server        // by agents' names: each has the procedures of its agent
}

// A callID names a JSON-RPC call within a session.
type callID struct{ session, id string }

const sessionHeader = "Mcp-Session-Id"

// HTTPHandler makes the handler for the path /mcp. actor tells whose request it is, from its key, with
// an error of package human; only agents are let in. ringer gives an agent's side of the queue.
func HTTPHandler(actor func(*http.Request) (human.Actor, error), ringer func(human.Actor) Ringer, opts Options) *HTTP {
	h := &HTTP{tool: newTool(opts), actor: actor, ringer: ringer, calls: map[callID]context.CancelFunc{}, servers: map[string]*mcp.Server{}}
	h.next = mcp.NewStreamableHTTPHandler(h.server, &mcp.StreamableHTTPOptions{
		Stateless:                    true, // the SDK serves 2026-07-28 in no other way
		PropagateRequestCancellation: true,
		MaxRequestBodyBytes:          maxMessage,
	})
	return h
}

// EndWaits answers every waiting call with pending, and later ones at once: for http.Server.RegisterOnShutdown.
func (h *HTTP) EndWaits() { h.tool.close() }

// ServeHTTP implements http.Handler.
func (h *HTTP) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	actor, err := h.actor(r)
	if err == nil && actor.Role != human.Agent {
		err = human.Errorf(human.Denied, "MCP is for agents; use an agent's key (deskbell keys add NAME)")
	}
	if err != nil {
		fail(w, err)
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	session := r.Header.Get(sessionHeader)
	if session != "" && !proven(session, r) {
		fail(w, human.Errorf(human.NotFound, "this session was not started with this key; start a new one with initialize"))
		return
	}
	if r.Method == http.MethodPost {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxMessage))
		if err != nil {
			fail(w, err)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		for _, m := range messages(body) {
			switch {
			case m.Method == "initialize":
				w.Header().Set(sessionHeader, newSession(r))
			case m.Method == "notifications/cancelled" && session != "":
				h.cancel(callID{session, string(m.Params.RequestID)})
			case m.Method == "tools/call" && session != "":
				defer h.cancellable(callID{session, string(m.ID)}, cancel)()
			}
		}
	}
	box := newOutbox(h.tool.onTheirWay)
	defer box.close()
	thread, _, _ := strings.Cut(session, ".")
	x := &exchange{ringer: h.ringer(actor), session: thread, box: box, gone: ctx, by: actor, permission: r.URL.Query().Has("permission")}
	h.next.ServeHTTP(&watchedResponse{w, ctx, box}, r.WithContext(context.WithValue(ctx, exchangeKey{}, x)))
}

// server is that of the agent whose request it is, which brings its exchange.
func (h *HTTP) server(r *http.Request) *mcp.Server {
	by := (*exchange)(nil).of(r.Context()).by
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.servers[by.Name] == nil {
		h.servers[by.Name] = h.tool.server(nil, by)
	}
	return h.servers[by.Name]
}

// cancellable lets a later request of the same session cancel this one, until the returned function is called.
func (h *HTTP) cancellable(id callID, stop context.CancelFunc) (done func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls[id] = stop
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.calls, id)
	}
}

func (h *HTTP) cancel(id callID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if stop := h.calls[id]; stop != nil {
		stop()
	}
}

// envelope is what is looked at of a message before the SDK reads it.
type envelope struct {
	Method string          `json:"method"`
	ID     json.RawMessage `json:"id"`
	Params struct {
		RequestID json.RawMessage `json:"requestId"`
	} `json:"params"`
}

// messages are those of a body, one or a batch; none where it is damaged, which the SDK then tells.
func messages(body []byte) []envelope {
	var all []envelope
	if json.Unmarshal(body, &all) == nil {
		return all
	}
	var one envelope
	if json.Unmarshal(body, &one) != nil {
		return nil
	}
	return []envelope{one}
}

// newSession makes a session's name: a random word, a dot, and the proof that it was given to this key.
func newSession(r *http.Request) string {
	word := "mcp-" + strings.ToLower(rand.Text())
	return word + "." + proof(word, r)
}

func proven(session string, r *http.Request) bool {
	word, given, _ := strings.Cut(session, ".")
	return hmac.Equal([]byte(given), []byte(proof(word, r)))
}

func proof(word string, r *http.Request) string {
	mac := hmac.New(sha256.New, []byte(r.Header.Get("Authorization")))
	mac.Write([]byte("deskbell mcp session " + word))
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(mac.Sum(nil)))
}

// fail answers a request that does not reach the protocol, with a problem document (RFC 9457).
func fail(w http.ResponseWriter, err error) {
	status := http.StatusInternalServerError
	var large *http.MaxBytesError
	switch kind := human.KindOf(err); {
	case errors.As(err, &large):
		status, err = http.StatusRequestEntityTooLarge, human.Errorf(human.Invalid, "a message may have %d bytes at most; send a part, and a large file to POST /api/attachments", maxMessage)
	case kind == human.Unauthorized:
		status = http.StatusUnauthorized
		w.Header().Set("WWW-Authenticate", `Bearer realm="deskbell"`)
	case kind == human.Exhausted:
		status = http.StatusTooManyRequests
	case kind == human.Denied:
		status = http.StatusForbidden
	case kind == human.NotFound:
		status = http.StatusNotFound
	case kind == human.Unavailable:
		status = http.StatusServiceUnavailable
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(struct { // the client may be gone; there is no one else to tell
		Title  string `json:"title"`
		Status int    `json:"status"`
		Detail string `json:"detail"`
	}{http.StatusText(status), status, human.SafeText(err)})
}

// A watchedResponse tells an outbox what went out to a client that is still there.
type watchedResponse struct {
	http.ResponseWriter
	ctx context.Context
	box *outbox
}

func (w *watchedResponse) Write(p []byte) (int, error) {
	n, err := w.ResponseWriter.Write(p)
	if err == nil {
		w.box.write(p)
	}
	return n, err
}

// FlushError implements what http.ResponseController asks for. Bytes count as sent once flushed.
func (w *watchedResponse) FlushError() error {
	err := http.NewResponseController(w.ResponseWriter).Flush()
	if err == nil && w.ctx.Err() == nil {
		w.box.sent()
	}
	return err
}
