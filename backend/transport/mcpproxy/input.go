package mcpproxy

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"deskbell/backend/human"
)

// maxRounds bounds how often a server may ask before it answers a request. The official SDKs have the same bound.
const maxRounds = 10

// A query is a request whose result may be questions to the user of a client that cannot be asked (protocol 2026-07-28: multi
// round-trip requests). An operator is asked instead, and the request is sent again with the answers.
type query struct {
	client message // as it came: its id and its clock are the client's
	sent   message // as it was sent last
	digest string
	asked  *question // where an operator has permitted it
	began  time.Time
	rounds int
	gone   bool // its client gave it up

	*inquiry             // the last round; nil before the first
	expire   *time.Timer // of one that is parked
}

// An inquiry is what one result asks.
type inquiry struct {
	state json.RawMessage
	stop  context.CancelFunc
	done  chan struct{} // closed when the rest is there
	given map[string]Elicited
	err   error // why it cannot be asked

	mu  sync.Mutex
	ops []string // the operations that ask
}

func (in *inquiry) rung(id human.OperationID) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.ops = append(in.ops, string(id))
}

// operations name those that ask, in brackets.
func (in *inquiry) operations() string {
	in.mu.Lock()
	defer in.mu.Unlock()
	if len(in.ops) == 0 {
		return ""
	}
	return " (" + strings.Join(in.ops, ", ") + ")"
}

func (q *query) permitted() map[string]question {
	if q.asked == nil {
		return nil
	}
	return map[string]question{key(q.sent.id): *q.asked}
}

// query makes a query of a request that is about to be sent with these bytes; nil where it is none. What it returns is to be sent
// in any case: a client of the newer protocol says in each request what it can do.
func (d *checker) query(m message, raw []byte, asked map[string]question) (*query, []byte) {
	if d.elicitor == nil || !m.isRequest() || versionOf(m.params) < modernVersion {
		return nil, raw
	}
	raw, can := declared(raw, "params", "_meta", "io.modelcontextprotocol/clientCapabilities")
	if !can || m.method != callMethod && m.method != "prompts/get" && m.method != "resources/read" {
		return nil, raw
	}
	q := &query{client: m, sent: read(raw), digest: d.digest(m), began: time.Now()}
	if p, ok := asked[key(m.id)]; ok {
		q.asked = &p
	}
	return q, raw
}

// inquire begins to have operators answer what a result asks, and says whether it does: it does not where the result is another
// one, or asks what no operator can answer.
func (d *checker) inquire(q *query, result []byte) bool {
	var r struct {
		Type     string `json:"resultType"`
		Requests map[string]struct {
			Method string          `json:"method"`
			Params json.RawMessage `json:"params"`
		} `json:"inputRequests"`
		State json.RawMessage `json:"requestState"`
	}
	if !bytes.Contains(result, []byte("input_required")) || json.Unmarshal(result, &r) != nil || r.Type != "input_required" || len(r.Requests) == 0 {
		return false
	}
	for _, one := range r.Requests {
		if one.Method != "elicitation/create" {
			return false
		}
	}
	ctx, stop := context.WithCancel(d.life)
	in := &inquiry{state: r.State, stop: stop, done: make(chan struct{}), given: map[string]Elicited{}}
	q.inquiry = in
	if q.rounds >= maxRounds {
		in.err = human.Errorf(human.Invalid, "it asked %d times without an end", maxRounds)
		stop()
		close(in.done)
		return true
	}
	run, n := rand.Text(), 0
	var all sync.WaitGroup
	for name, one := range r.Requests {
		id := run + "-" + strconv.Itoa(n)
		n++
		all.Go(func() {
			given, err := d.elicit(ctx, one.Params, id, in.rung)
			in.mu.Lock()
			defer in.mu.Unlock()
			in.given[name] = given
			if err != nil {
				in.err = err
				stop() // without one answer the others are of no use
			}
		})
	}
	d.asking.Go(func() {
		all.Wait()
		stop()
		close(in.done)
	})
	return true
}

// hold waits for the answers to a query's inquiry. Then the query is to be sent again, which it is made ready for; otherwise reply
// is for its client, nil where that has given up.
func (d *checker) hold(ctx context.Context, q *query, by caller) (reply []byte, again bool) {
	_, over, _, end := d.wait(ctx, by, q.began, func() string {
		return fmt.Sprintf("an operator is being asked what the server wants to know%s, %d s", q.operations(), int(time.Since(q.began).Seconds()))
	})
	defer end()
	select {
	case <-ctx.Done():
		q.stop()
		return nil, false
	case <-by.closing:
		q.stop()
		return unfinished(q.client, "The request did not finish: the client ended the connection while an operator was being asked."), false
	case <-over:
		d.park(q)
		return unfinished(q.client, fmt.Sprintf("The request has not finished: the server wants to know something first, and an operator is being asked%s. "+
			"Nothing is wrong. Send the same request with the same arguments again to continue waiting; no operator is asked twice.", q.operations())), false
	case <-q.done:
	}
	if q.err != nil {
		return unfinished(q.client, "The request did not finish: the server asks its user for something, and an operator cannot be asked it: "+human.SafeText(q.err)), false
	}
	q.next()
	return nil, true
}

// unfinished answers a request that does not come to an end.
func unfinished(m message, text string) []byte {
	if m.call != nil {
		return blockedReply(m, text)
	}
	return failure(m.id, unreachable, text)
}

// next makes the request that has the answers. It is one of its own, with another id.
func (q *query) next() {
	var params bytes.Buffer
	params.WriteByte('{')
	for _, f := range members(q.sent.params) {
		if f.key != "inputResponses" && f.key != "requestState" {
			_, _ = fmt.Fprintf(&params, "%s:%s,", plain(f.key), q.sent.params[f.from:f.to])
		}
	}
	if q.state != nil {
		_, _ = fmt.Fprintf(&params, `"requestState":%s,`, q.state)
	}
	_, _ = fmt.Fprintf(&params, `"inputResponses":%s}`, plain(q.given))
	raw := with(q.sent.raw, params.Bytes(), "params")
	q.sent = read(with(raw, plain("deskbell-"+rand.Text()), "id"))
	q.rounds++
}

// park keeps a query for a client that asks again; for a while.
func (d *checker) park(q *query) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if old := d.parked[q.digest]; old != nil {
		old.expire.Stop()
		old.stop()
	}
	d.parked[q.digest] = q
	q.expire = time.AfterFunc(freshFor, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.parked[q.digest] == q {
			delete(d.parked, q.digest)
			q.stop()
		}
	})
}

// resume is the query that a request continues; nil where it continues none. It is not judged again: the server has it.
func (d *checker) resume(m message) *query {
	if d.elicitor == nil || m.batch != nil || m.err != nil || !m.isRequest() || versionOf(m.params) < modernVersion || m.call != nil && m.call.state != nil {
		return nil
	}
	d.mu.Lock()
	idle := len(d.parked) == 0
	d.mu.Unlock()
	if idle {
		return nil
	}
	raw, can := declared(m.raw, "params", "_meta", "io.modelcontextprotocol/clientCapabilities")
	digest := d.digest(m)
	d.mu.Lock()
	defer d.mu.Unlock()
	q := d.parked[digest]
	if q == nil || !can {
		return nil
	}
	delete(d.parked, digest)
	q.expire.Stop()
	from, to, _ := within(raw, "params", "_meta")
	q.client, q.began = m, time.Now()
	q.sent = read(with(q.sent.raw, raw[from:to], "params", "_meta")) // its progress, for example
	return q
}

// queries are those of one client. It is safe for concurrent use, and holds no lock while anything is sent; the zero value is empty.
type queries struct {
	mu   sync.Mutex
	sent map[string]*query             // by the key of the id that the server knows them by
	held map[string]context.CancelFunc // an operator is being asked; by the key of the client's id
}

func (s *queries) add(q *query) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sent == nil {
		s.sent = map[string]*query{}
	}
	s.sent[key(q.sent.id)] = q
}

// take is the query that a server's message answers; nil where it is no answer to one. Where inquire takes the result, held ends
// when the client gives the request up.
func (s *queries) take(ctx context.Context, line []byte, inquire func(*query, []byte) bool) (q *query, held context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := bytes.TrimSpace(line)
	if len(s.sent) == 0 || !json.Valid(text) || text[0] != '{' {
		return nil, nil
	}
	for id, result := range answers(text) {
		if q = s.sent[id]; q != nil {
			delete(s.sent, id)
			if !q.gone && inquire(q, result) {
				held = s.begin(ctx, q)
			}
		}
	}
	return q, held
}

// hold is take's for a query that is resumed.
func (s *queries) hold(ctx context.Context, q *query) context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.begin(ctx, q)
}

func (s *queries) begin(ctx context.Context, q *query) context.Context {
	ctx, stop := context.WithCancel(ctx)
	if s.held == nil {
		s.held = map[string]context.CancelFunc{}
	}
	s.held[key(q.client.id)] = stop
	return ctx
}

// release ends what hold and take began.
func (s *queries) release(q *query) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if stop := s.held[key(q.client.id)]; stop != nil {
		stop()
		delete(s.held, key(q.client.id))
	}
}

// cancel notes that a client has given up a request, and says whether the server does not have it. Otherwise now is the id that the
// server knows it by; nil where it is the client's.
func (s *queries) cancel(id json.RawMessage) (now json.RawMessage, done bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if stop := s.held[key(id)]; stop != nil {
		stop()
		return nil, true
	}
	for _, q := range s.sent {
		if key(q.client.id) == key(id) {
			q.gone = true
			if q.rounds > 0 {
				now = q.sent.id
			}
		}
	}
	return now, false
}
