// Package client speaks Deskbell's REST API and WebSocket, as an agent or as an operator. Its errors are
// those of package human, with the kind the server gave: Unavailable, too, where no server answers.
package client

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/queue/receipt"
	"deskbell/backend/queue/routing"
	"deskbell/backend/transport/client/small"
)

// A Client makes calls with one key or token. Its methods are safe for concurrent use.
type Client struct {
	Unread bool // that a plan's end was read is said by MarkDelivered, as with other operations, and not by reading it
	// Prove meets the challenge of a call that needs proof of presence; then the call is made again. Without it, such a call fails.
	Prove func(context.Context, Proof) error
	find  func() (url string, err error)
	met   atomic.Bool // find has found a server
	token string
	http  *http.Client
}

// callTime bounds a call, besides what a wait was given. MaxWait is the longest one wait may take.
const (
	callTime = 30 * time.Second
	teamTime = 30 * time.Minute // for what reads a team's whole journal
	MaxWait  = 60 * time.Second
	maxBytes = 64 << 20 // of an answer or a message
)

// Net/http knows no Unix sockets: a socket's path stands in the URL as a host, in hexadecimal digits before this.
const socketHost = ".socket"

// base is what the URLs of calls to a server at an address begin with, and the Host they name.
func base(at string) (begin, host string) {
	if path, is := small.Socket(at); is {
		return "http://" + hex.EncodeToString([]byte(path)) + socketHost, "localhost"
	}
	return at, ""
}

// socketOf is the path of the socket that a host stands for.
func socketOf(host string) (path string, is bool) {
	name, is := strings.CutSuffix(strings.TrimSuffix(host, ":80"), socketHost)
	if !is {
		return "", false
	}
	text, err := hex.DecodeString(name)
	return string(text), err == nil
}

// New makes a client of the server at a URL, such as http://127.0.0.1:7717 or unix:/home/me/deskbell.sock. It connects when the first call is made.
func New(url, token string) *Client {
	url = strings.TrimRight(url, "/")
	return Finding(func() (string, error) { return url, nil }, token)
}

// Finding makes a client of a server that may stop and start again at another URL: each call asks find where it is now. A
// call that meets no one is made again at once where the server has moved meanwhile, and so is one that may be made twice and
// broke off. Where find says NotFound, a call returns Unavailable.
func Finding(find func() (url string, err error), token string) *Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 64
	dial := transport.DialContext
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		if path, is := socketOf(address); is {
			network, address = "unix", path
		}
		return dial(ctx, network, address)
	}
	proxy := transport.Proxy
	transport.Proxy = func(r *http.Request) (*url.URL, error) {
		if _, is := socketOf(r.URL.Host); is {
			return nil, nil
		}
		return proxy(r)
	}
	return &Client{find: find, token: token, http: &http.Client{Transport: transport}}
}

// Thread makes a name for the work of one process in a folder, as the operator sees it. Two processes in one folder have
// different ones.
func Thread(folder string) string {
	name := filepath.Base(folder)
	if folder == "" || len(name) < 2 || len(name) > 64 {
		name = "stdio"
	}
	return name + "-" + strings.ToLower(rand.Text()[:6])
}

// Close closes connections that no call is using.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Ring is a request as an agent sends it. A nil Timeout is the default from the settings, 0 is never
// overdue; a nil Priority is the default.
type Ring struct {
	Kind           human.Kind           `json:"action_type"`
	Description    string               `json:"description"`
	Details        json.RawMessage      `json:"details,omitempty"` // a JSON object, or nil
	Context        json.RawMessage      `json:"context,omitempty"` // a JSON object, or nil
	SessionID      string               `json:"session_id,omitempty"`
	IdempotencyKey string               `json:"idempotency_key,omitempty"`
	Priority       *int                 `json:"priority,omitempty"`
	Timeout        *float64             `json:"timeout,omitempty"` // seconds
	OnTimeout      human.OnTimeout      `json:"on_timeout,omitempty"`
	Attach         bool                 `json:"attach,omitempty"`      // join an operation of the same words in the same session whose end was not delivered
	Attachments    []human.AttachmentID `json:"attachments,omitempty"` // files that Client.Attach stored
	Traceparent    string               `json:"-"`                     // of the caller's span, in the form of W3C Trace Context; "" for none
}

// Invoke rings. The operation is durable when it returns; created is false when the request joined one that
// existed.
func (c *Client) Invoke(ctx context.Context, r Ring) (op human.Operation, created bool, err error) {
	body, err := r.exact()
	if err != nil {
		return op, false, err
	}
	if r.Traceparent != "" {
		ctx = context.WithValue(ctx, traceKey{}, r.Traceparent)
	}
	status, err := c.call(ctx, http.MethodPost, "/api/human/invoke", body, &op)
	return op, status == http.StatusCreated, err
}

// traceKey is of a call's traceparent in its context.
type traceKey struct{}

// raw is a body that is JSON already.
type raw []byte

// exact is the request as JSON with the very bytes of its details and context, which encoding/json would
// reformat; an answer may be bound to them.
func (r Ring) exact() (raw, error) {
	details, about := r.Details, r.Context
	r.Details, r.Context = nil, nil
	body, err := json.Marshal(r)
	if err != nil {
		return nil, human.Wrap(human.Invalid, err, "the request cannot be written as JSON: %v", err)
	}
	body = body[:len(body)-1]
	for _, part := range []struct {
		name string
		json.RawMessage
	}{{"details", details}, {"context", about}} {
		if len(part.RawMessage) == 0 {
			continue
		}
		if !json.Valid(part.RawMessage) {
			return nil, human.BadField(part.name, "must be a JSON object")
		}
		body = append(append(body, `,"`+part.name+`":`...), part.RawMessage...)
	}
	return append(body, '}'), nil
}

// Operation returns an operation as it stands. Reading its end this way does not count as delivery: see
// MarkDelivered.
func (c *Client) Operation(ctx context.Context, id human.OperationID) (human.Operation, error) {
	var op human.Operation
	_, err := c.call(ctx, http.MethodGet, operationPath(id)+"?ack=explicit", nil, &op)
	return op, err
}

// Wait blocks until the operation's version is greater than after, or it has ended, at the longest for
// most (or MaxWait), and returns it as it then stands. It may return early for no reason.
func (c *Client) Wait(ctx context.Context, id human.OperationID, after uint64, most time.Duration) (human.Operation, error) {
	most = max(0, min(most, MaxWait))
	ctx, cancel := context.WithTimeout(ctx, most+callTime)
	defer cancel()
	var op human.Operation
	_, err := c.call(ctx, http.MethodGet, fmt.Sprintf("%s?ack=explicit&wait=%g&after_version=%d", operationPath(id), most.Seconds(), after), nil, &op)
	return op, err
}

// Receipts returns the receipts of an operation's answers, as JSON: {"receipts":[...]}.
func (c *Client) Receipts(ctx context.Context, id human.OperationID) (found json.RawMessage, err error) {
	_, err = c.call(ctx, http.MethodGet, operationPath(id)+"/receipts", nil, &found)
	return found, err
}

// NewReceiptKey has the server sign receipts with a new key from now on.
func (c *Client) NewReceiptKey(ctx context.Context) (made receipt.ServerKey, err error) {
	_, err = c.call(ctx, http.MethodPost, "/api/receipts/keys", nil, &made)
	return made, err
}

func operationPath(id human.OperationID) string {
	return "/api/human/operations/" + url.PathEscape(string(id))
}

// History returns what happened to an operation, in order.
func (c *Client) History(ctx context.Context, id human.OperationID) ([]human.Entry, error) {
	var answer struct {
		Events []event `json:"events"`
	}
	_, err := c.call(ctx, http.MethodGet, operationPath(id)+"/events", nil, &answer)
	entries := make([]human.Entry, len(answer.Events))
	for i, e := range answer.Events {
		entries[i] = e.entry()
	}
	return entries, err
}

// A Filter selects operations; zero fields select all.
type Filter struct {
	States  []human.State
	Open    bool // only what has not ended
	Kind    human.Kind
	AgentID string // for operators; an agent sees its own
	Text    string // full text
	Order   string // newest, urgent or recent; "" is urgent with Open, else newest
	Limit   int    // 0 is 50, 500 the most
	Cursor  string // Page.Next of the page before
}

// A Page is a part of a list. Its operations come without details and context.
type Page struct {
	Operations []human.Operation `json:"operations"`
	Next       string            `json:"next,omitempty"`
}

// List returns a page of operations.
func (c *Client) List(ctx context.Context, f Filter) (Page, error) {
	var page Page
	_, err := c.call(ctx, http.MethodGet, "/api/human/operations?"+f.query().Encode(), nil, &page)
	return page, err
}

// ExportHistory begins to read the operations that a filter selects, all pages of them, as jsonl or csv; for operators. With days,
// only those of the last so many days of this system's calendar; since and until bound when they were sent, and a zero one does not. A read that ends with an error leaves less than the whole.
func (c *Client) ExportHistory(ctx context.Context, f Filter, days int, since, until time.Time, format string) (Exported, error) {
	query := f.query()
	put(query, "format", format)
	if days != 0 {
		query.Set("days", strconv.Itoa(days))
		query.Set("zone", time.Now().Format("-07:00"))
	}
	for name, at := range map[string]time.Time{"from": since, "to": until} {
		if !at.IsZero() {
			query.Set(name, at.UTC().Format(time.RFC3339))
		}
	}
	return c.exported(ctx, "/api/human/export?"+query.Encode())
}

// ImportHistory adds operations of another Deskbell to the history: lines of an exported one, at most 100. For operators.
func (c *Client) ImportHistory(ctx context.Context, from string, lines []json.RawMessage) (done human.ImportResult, err error) {
	_, err = c.call(ctx, http.MethodPost, "/api/human/import", map[string]any{"from": from, "operations": lines}, &done)
	return done, err
}

func (f Filter) query() url.Values {
	query := url.Values{}
	states := make([]string, len(f.States))
	for i, s := range f.States {
		states[i] = string(s)
	}
	if f.Open {
		states = []string{"open"}
		if f.Order == "" {
			f.Order = "urgent"
		}
	}
	put(query, "state", strings.Join(states, ","))
	put(query, "action_type", string(f.Kind))
	put(query, "agent_id", f.AgentID)
	put(query, "q", f.Text)
	put(query, "order", f.Order)
	put(query, "cursor", f.Cursor)
	if f.Limit != 0 {
		query.Set("limit", strconv.Itoa(f.Limit))
	}
	return query
}

// A Summary is a readable memory of what humans did.
type Summary struct {
	Text       string            `json:"text"` // Markdown
	Operations []human.Operation `json:"operations"`
}

// Summary tells what humans did lately, in at most so many tokens; a limit or tokens of 0 are the usual ones, a zero since is no
// bound.
func (c *Client) Summary(ctx context.Context, limit int, since time.Time, tokens int) (Summary, error) {
	query := url.Values{}
	if tokens != 0 {
		query.Set("max_tokens", strconv.Itoa(tokens))
	}
	if limit != 0 {
		query.Set("limit", strconv.Itoa(limit))
	}
	if !since.IsZero() {
		query.Set("since", since.UTC().Format(time.RFC3339Nano))
	}
	var sum Summary
	_, err := c.call(ctx, http.MethodGet, "/api/human/summary?"+query.Encode(), nil, &sum)
	return sum, err
}

// change posts a call that answers with the operation.
func (c *Client) change(ctx context.Context, name string, body any) (human.Operation, error) {
	var op human.Operation
	_, err := c.call(ctx, http.MethodPost, "/api/human/"+name, body, &op)
	return op, err
}

type target struct {
	ID human.OperationID `json:"operation_id"`
}

type because struct {
	target
	Reason string `json:"reason,omitempty"`
}

// Reply adds a message: an operator's question, an agent's answer, or an operator's word after the end.
func (c *Client) Reply(ctx context.Context, id human.OperationID, text string) (human.Operation, error) {
	return c.change(ctx, "reply", struct {
		target
		Text string `json:"text"`
	}{target{id}, text})
}

// Cancel withdraws an agent's own operation.
func (c *Client) Cancel(ctx context.Context, id human.OperationID, reason string) (human.Operation, error) {
	return c.change(ctx, "cancel", because{target{id}, reason})
}

// MarkDelivered notes that the agent has read the operation's end. Before the end it does nothing.
func (c *Client) MarkDelivered(ctx context.Context, id human.OperationID) error {
	_, err := c.change(ctx, "delivered", target{id})
	return err
}

// Claim makes an operation the operator's own.
func (c *Client) Claim(ctx context.Context, id human.OperationID) (human.Operation, error) {
	return c.change(ctx, "claim", target{id})
}

// Release gives a claimed operation back.
func (c *Client) Release(ctx context.Context, id human.OperationID, reason string) (human.Operation, error) {
	return c.change(ctx, "release", because{target{id}, reason})
}

// HandOver lets another operator claim an operation, which stays with whoever has it until then.
func (c *Client) HandOver(ctx context.Context, id human.OperationID, to, note string) (op human.Operation, err error) {
	_, err = c.call(ctx, http.MethodPost, "/api/operations/"+url.PathEscape(string(id))+"/handover", map[string]string{"to": to, "note": note}, &op)
	return op, err
}

// Start says that the operator works on it.
func (c *Client) Start(ctx context.Context, id human.OperationID) (human.Operation, error) {
	return c.change(ctx, "start", target{id})
}

// Decline ends an operation without an answer. The reason is required.
func (c *Client) Decline(ctx context.Context, id human.OperationID, reason string) (human.Operation, error) {
	return c.change(ctx, "decline", because{target{id}, reason})
}

// Complete answers. digest, where not empty, must be the operation's.
func (c *Client) Complete(ctx context.Context, id human.OperationID, a human.Answer, digest string) (human.Operation, error) {
	return c.change(ctx, "complete", struct {
		target
		human.Answer
		Digest string `json:"digest,omitempty"`
	}{target{id}, a, digest})
}

// A Session is a signed-in operator.
type Session struct {
	Token    string `json:"token"`
	Resume   string `json:"resume"`
	Operator string `json:"operator"`
	Means    string `json:"means"`    // what it was opened with: code or terminal
	Terminal bool   `json:"terminal"` // only programs of this terminal can use it
}

// Login trades a one-time code for a session. It is no secret-keeper: the caller holds the token. Where the server can tell in
// which terminal this process runs, the session is that terminal's.
func Login(ctx context.Context, url, code string) (Session, error) {
	c := New(url, "")
	defer c.Close()
	var s Session
	_, err := c.call(ctx, http.MethodPost, "/api/session", map[string]any{"code": code, "terminal": true}, &s)
	return s, err
}

// ShowCode has the server draw a one-time code on the terminal that this process runs in, with words that ask to type it, on
// one line. Only that terminal's Login takes it.
func ShowCode(ctx context.Context, url string) error {
	c := New(url, "")
	defer c.Close()
	_, err := c.call(ctx, http.MethodPost, "/api/session/terminal", nil, nil)
	return err
}

// Logout ends the session.
func (c *Client) Logout(ctx context.Context) error {
	_, err := c.call(ctx, http.MethodDelete, "/api/session", nil, nil)
	return err
}

// NewCode makes a one-time code for another browser or terminal, and a link to the console with it; with a name it is for another
// operator of that name.
func (c *Client) NewCode(ctx context.Context, operator string) (code, console string, err error) {
	query := url.Values{}
	put(query, "operator", operator)
	var answer struct{ Code, Console string }
	_, err = c.call(ctx, http.MethodPost, "/api/session/codes?"+query.Encode(), nil, &answer)
	return answer.Code, answer.Console, err
}

// JoinTeam makes the server's desk one of the team that a one-time link is for.
func (c *Client) JoinTeam(ctx context.Context, link string) (state human.DeskState, err error) {
	_, err = c.call(ctx, http.MethodPost, "/api/team/join", map[string]string{"link": link}, &state)
	return state, err
}

// DiscardLater discards what was decided about an operation and waits for the team, or came too late.
func (c *Client) DiscardLater(ctx context.Context, id human.OperationID) (now human.DeskState, err error) {
	_, err = c.call(ctx, http.MethodDelete, "/api/team/later/"+url.PathEscape(string(id)), nil, &now)
	return now, err
}

// LeaveTeam ends that. It may take minutes.
func (c *Client) LeaveTeam(ctx context.Context, how human.Leave) (done human.LeftTeam, err error) {
	ctx, cancel := context.WithTimeout(ctx, teamTime)
	defer cancel()
	_, err = c.call(ctx, http.MethodPost, "/api/team/leave", how, &done)
	return done, err
}

// Team is how the server's desk stands with its team.
func (c *Client) Team(ctx context.Context) (state human.DeskState, err error) {
	_, err = c.call(ctx, http.MethodGet, "/api/team", nil, &state)
	return state, err
}

// CheckTeam compares what the server's desk has with its team's journal.
func (c *Client) CheckTeam(ctx context.Context) (found human.TeamCheck, err error) {
	ctx, cancel := context.WithTimeout(ctx, teamTime)
	defer cancel()
	_, err = c.call(ctx, http.MethodGet, "/api/team/check", nil, &found)
	return found, err
}

// TeamRules are the rules of the team of the server's desk.
func (c *Client) TeamRules(ctx context.Context) (rules human.TeamRules, err error) {
	_, err = c.call(ctx, http.MethodGet, "/api/team/rules", nil, &rules)
	return rules, err
}

// SetTeamRules replaces them, where their revision is still the same.
func (c *Client) SetTeamRules(ctx context.Context, rules human.TeamRules) (human.TeamRules, error) {
	_, err := c.call(ctx, http.MethodPut, "/api/team/rules", rules, &rules)
	return rules, err
}

// SetTeamMember changes what the team knows of a member.
func (c *Client) SetTeamMember(ctx context.Context, name string, change routing.MemberChange) (m routing.Member, err error) {
	_, err = c.call(ctx, http.MethodPut, "/api/team/members/"+url.PathEscape(name), change, &m)
	return m, err
}

// InviteToTeam makes a one-time link by which a desk joins the team of the server's desk.
func (c *Client) InviteToTeam(ctx context.Context, q human.TeamInvite) (made human.TeamInvitation, err error) {
	_, err = c.call(ctx, http.MethodPost, "/api/team/invitations", q, &made)
	return made, err
}

// RemoveFromTeam removes a member from it.
func (c *Client) RemoveFromTeam(ctx context.Context, member string) (removed human.TeamRemoval, err error) {
	_, err = c.call(ctx, http.MethodDelete, "/api/team/members/"+url.PathEscape(member), nil, &removed)
	return removed, err
}

// TeamMembers are who is in it.
func (c *Client) TeamMembers(ctx context.Context) (m human.TeamMembers, err error) {
	_, err = c.call(ctx, http.MethodGet, "/api/team/members", nil, &m)
	return m, err
}

// AddAgent makes a key for an agent. Only this call returns it.
func (c *Client) AddAgent(ctx context.Context, name string) (key string, err error) {
	var answer struct{ Key string }
	_, err = c.call(ctx, http.MethodPost, "/api/agents", map[string]string{"name": name}, &answer)
	return answer.Key, err
}

// RevokeAgent makes all keys of an agent useless at once, and ends what it has under way. NotFound where it has none.
func (c *Client) RevokeAgent(ctx context.Context, name string) error {
	_, err := c.call(ctx, http.MethodDelete, "/api/agents/"+url.PathEscape(name), nil, nil)
	return err
}

// SetSettings changes settings, all or none, and says whether Deskbell must be started again.
func (c *Client) SetSettings(ctx context.Context, changes map[string]any) (restart bool, err error) {
	var answer struct {
		Restart bool `json:"restart_required"`
	}
	_, err = c.call(ctx, http.MethodPut, "/api/settings", changes, &answer)
	return answer.Restart, err
}

// call makes a request and reads the answer into into, where that is not nil.
func (c *Client) call(ctx context.Context, method, path string, body, into any) (status int, err error) {
	whole := ctx // a person takes longer than a call may
	if _, bounded := ctx.Deadline(); !bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, callTime)
		defer cancel()
	}
	answer, err := c.send(ctx, method, path, body)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close() //nolint:errcheck // it was read
	data, err := io.ReadAll(io.LimitReader(answer.Body, maxBytes))
	switch {
	case err != nil:
		return 0, away(ctx, origin(answer), err)
	case answer.StatusCode >= 300:
		err = small.Problem(answer.StatusCode, data)
		if answer.StatusCode == http.StatusForbidden {
			return c.prove(whole, method, path, body, into, data, err)
		}
		return answer.StatusCode, err
	case into == nil || len(data) == 0:
		return answer.StatusCode, nil
	}
	if err := json.Unmarshal(data, into); err != nil {
		return 0, human.Wrap(human.Internal, err, "%s does not answer like a Deskbell of this version", origin(answer))
	}
	return answer.StatusCode, nil
}

// send makes a request. The caller reads and closes the answer's body.
func (c *Client) send(ctx context.Context, method, path string, body any) (*http.Response, error) {
	data, err := encode(body)
	if err != nil {
		return nil, err
	}
	twice := method == http.MethodGet || strings.HasPrefix(path, evaluatePath) // a call to judge is known by its id
	for again := true; ; again = false {
		at, err := c.server()
		if err != nil {
			return nil, err
		}
		answer, err := c.sendTo(ctx, at, method, path, data)
		var dial *net.OpError
		unheard := errors.As(err, &dial) && dial.Op == "dial"
		if err == nil || !again || ctx.Err() != nil || !twice && !unheard {
			return answer, err
		}
		if now, lost := c.find(); lost != nil || now == at {
			return nil, err
		}
	}
}

// server is where the server is now.
func (c *Client) server() (string, error) {
	at, err := c.find()
	switch {
	case err == nil:
		c.met.Store(true)
	case c.met.Load():
		return "", human.Wrap(human.Unavailable, err, "Deskbell stopped; start it with `deskbell` or `deskbell serve`, and try again")
	case human.KindOf(err) == human.NotFound:
		return "", human.Wrap(human.Unavailable, err, "%s", human.SafeText(err))
	}
	return at, err
}

// encode is a body as JSON; nil where there is none.
func encode(body any) ([]byte, error) {
	if ready, is := body.(raw); is || body == nil {
		return ready, nil
	}
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	if err := e.Encode(body); err != nil {
		return nil, human.Wrap(human.Invalid, err, "the request cannot be written as JSON: %v", err)
	}
	return buf.Bytes(), nil
}

func (c *Client) sendTo(ctx context.Context, at, method, path string, body []byte) (*http.Response, error) {
	begin, host := base(at)
	r, err := http.NewRequestWithContext(ctx, method, begin+path, bytes.NewReader(body))
	if err != nil {
		return nil, human.Wrap(human.Invalid, err, "%q is not the address of a server", at)
	}
	r.Host = cmp.Or(host, r.Host)
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	if proof, given := ctx.Value(proofKey{}).(string); given {
		r.Header.Set("Deskbell-Proof", proof)
	}
	if trace, given := ctx.Value(traceKey{}).(string); given {
		r.Header.Set("Traceparent", trace)
	}
	answer, err := c.http.Do(r)
	if err != nil {
		return nil, away(ctx, at, err)
	}
	return answer, nil
}

// origin is the address of the server that answered.
func origin(answer *http.Response) string {
	if path, is := socketOf(answer.Request.URL.Host); is {
		return "unix:" + path
	}
	return answer.Request.URL.Scheme + "://" + answer.Request.URL.Host
}

// away is the error for a server that did not answer.
func away(ctx context.Context, url string, err error) error {
	if ctx.Err() != nil {
		return human.Wrap(human.Unavailable, errors.Join(ctx.Err(), err), "Deskbell at %s did not answer in time", url)
	}
	return human.Wrap(human.Unavailable, err, "no Deskbell answers at %s; start it with `deskbell` or `deskbell serve`", url)
}
