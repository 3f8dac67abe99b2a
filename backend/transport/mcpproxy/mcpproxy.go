// Package mcpproxy stands between an MCP client and an MCP server and has each call of a tool judged before the server
// sees it. It works on messages as they came: what is no call continues byte for byte, both ways, whatever it is, and does
// not wait for calls that are being asked about. It knows the transports stdio and streamable HTTP, and the protocol of
// 2026-07-28 as well as the older ones.
//
// What a client sends is read as strictly as any server might read it. What two servers might understand differently (a key
// that is there twice, text that is not UTF-8) never continues: what is judged must be what the server will see.
package mcpproxy

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"deskbell/backend/gate"
	"deskbell/backend/gate/service"
	"deskbell/backend/human"
	"deskbell/backend/transport/client"
)

// A Judge decides about calls. It is safe for concurrent use. Ask means that an operator is being asked: the same call with
// service.Asking.Question continues waiting. An error blocks the call.
type Judge interface {
	Evaluate(ctx context.Context, call human.ToolCall, how service.Asking) (human.Judgement, error)
}

// A Withdrawer is a Judge that can take a question back for which no one waits any more.
type Withdrawer interface {
	Withdraw(ctx context.Context, id human.OperationID, reason string) error
}

// Options say how to stand in front of a server. The zero value of each is its default.
type Options struct {
	Server  string // the server's name; tools are judged as mcp__SERVER__TOOL. Default: "server"
	Cwd     string // where the server runs, absolute; empty where that is not known
	Session string // the thread of the agent, at most 90 bytes

	Wait     time.Duration // of one question to the judge; 0 is 25 s
	Beat     time.Duration // between two notes of progress; 0 is 15 s
	Patience time.Duration // how long a call may take while an operator is asked; 0 is as long as its client waits, see client.CallPatience
	Orderly  time.Duration // how long what comes after a call waits for its first judgement; 0 is 100 ms
	Grace    time.Duration // for a server to end after its input has; 0 is 10 s

	NoElicitation bool // what a server asks its user stays with the client

	Log *slog.Logger
}

func (o Options) withDefaults() Options {
	o.Server = cmp.Or(o.Server, "server")
	o.Wait = cmp.Or(o.Wait, 25*time.Second)
	o.Beat = cmp.Or(o.Beat, 15*time.Second)
	o.Orderly = cmp.Or(o.Orderly, 100*time.Millisecond)
	o.Grace = cmp.Or(o.Grace, 10*time.Second)
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return o
}

// freshFor is how long a question whose call was given up is joined by the same call.
const freshFor = 10 * time.Minute

// A checker is where calls are judged, for one server.
type checker struct {
	judge Judge
	opts  Options
	tools book

	mu   sync.Mutex
	left map[string]question // by digest: asked about, and given up by its client before the answer
	next map[string]question // by digest and state: allowed after asking, and the server wants more before it goes on

	elicitor Elicitor          // nil where no operator is asked what a server wants to know
	parked   map[string]*query // by digest: given up by its client before the operators' answers
	asking   sync.WaitGroup
	life     context.Context // ends with what operators are asked for servers
	end      context.CancelFunc
}

// A question is one that an operator was asked.
type question struct {
	operation human.OperationID
	call      string // ToolCall.CallID
	at        time.Time
}

func newChecker(judge Judge, opts Options) *checker {
	d := &checker{judge: judge, opts: opts.withDefaults(), left: map[string]question{}, next: map[string]question{}, parked: map[string]*query{}}
	d.life, d.end = context.WithCancel(context.Background())
	if !opts.NoElicitation {
		d.elicitor, _ = judge.(Elicitor)
	}
	return d
}

// An outcome is what becomes of a call: it continues, it is answered, or neither, where its client gave it up.
type outcome struct {
	forward []byte
	reply   []byte
	asked   *question // where it continues because an operator said so
}

// A caller is who waits for an outcome. All its parts may be left out.
type caller struct {
	thread  string          // tells connections apart, whose ids may be the same
	name    string          // of the client, as it says itself
	asking  func()          // called when an operator begins to be asked
	tell    func(string)    // called then with what to say to a client that waits: at once and every Beat, until decide returns
	closing <-chan struct{} // when closed, ends the asking: the call is answered as blocked
}

// decide has a call judged. It blocks while an operator is asked. The end of ctx gives the call up.
func (d *checker) decide(ctx context.Context, m message, by caller) outcome {
	began := time.Now()
	info := d.tools.get(m.call.name)
	call := human.ToolCall{
		Tool: "mcp__" + d.opts.Server + "__" + m.call.name, Args: m.call.args, Cwd: d.opts.Cwd,
		Schema: info.schema, About: info.about, Annotations: info.annotations, Was: info.was,
		Client: "mcp-proxy", SessionID: d.opts.Session, CallID: d.callID(by.thread, m.id),
	}
	digest := d.digest(m)
	how := service.Asking{}
	if q, ok := d.take(d.next, digest+string(m.call.state)); ok && m.call.state != nil {
		call.CallID = q.call
	} else if q, ok := d.take(d.left, digest); ok {
		how.Question, call.CallID = q.operation, q.call
	}
	j, err := d.judge.Evaluate(ctx, call, how)
	if err != nil && how.Question != "" && ctx.Err() == nil {
		how.Question = ""
		j, err = d.judge.Evaluate(ctx, call, how) // the question is no more
	}
	if err == nil && j.Decision == human.Ask && j.OperationID != "" {
		return d.ask(ctx, m, call, digest, j, began, by)
	}
	return d.settle(ctx, m, call, digest, j, err)
}

// callID is a call's own id: the same again asks no one twice.
func (d *checker) callID(thread string, id json.RawMessage) string {
	name := d.opts.Session + thread + "-" + key(id)
	if len(name) > 128 {
		name = gate.Digest(gate.Call{Tool: name})
	}
	return name
}

// ask waits for the answer to a question.
func (d *checker) ask(ctx context.Context, m message, call human.ToolCall, digest string, j human.Judgement, began time.Time, by caller) outcome {
	if by.asking != nil {
		by.asking()
	}
	q := question{operation: j.OperationID, call: call.CallID}
	var asked atomic.Value // the question's id, for the notes of progress
	asked.Store(q.operation)
	waiting, over, beats, end := d.wait(ctx, by, began, func() string {
		return fmt.Sprintf("an operator is being asked whether this may run (%s), %d s", asked.Load(), int(time.Since(began).Seconds()))
	})
	defer end()
	type verdict struct {
		human.Judgement
		err error
	}
	for {
		since := time.Now()
		answered := make(chan verdict, 1)
		beats.Go(func() {
			j, err := d.judge.Evaluate(waiting, call, service.Asking{Question: q.operation, Wait: d.opts.Wait})
			answered <- verdict{j, err}
		})
		select {
		case <-ctx.Done():
			d.leave(d.left, digest, q)
			return outcome{}
		case <-by.closing:
			d.withdraw(q)
			return outcome{reply: blockedReply(m, "The call did not run: the client ended the connection while an operator was being asked.")}
		case <-over:
			d.leave(d.left, digest, q)
			return outcome{reply: blockedReply(m, fmt.Sprintf("The call has not run yet: an operator is still being asked whether it may (%s). "+
				"Nothing is wrong and no operator has denied it. Call the same tool with the same arguments again to continue waiting; no operator is asked twice.", q.operation))}
		case v := <-answered:
			if ctx.Err() != nil {
				d.leave(d.left, digest, q)
				return outcome{}
			}
			if v.err != nil || v.Decision != human.Ask {
				out := d.settle(ctx, m, call, digest, v.Judgement, v.err)
				if out.forward != nil {
					out.asked = &q
				}
				return out
			}
			if v.OperationID != "" {
				q.operation = v.OperationID
				asked.Store(q.operation)
			}
			// A judge that does not wait is not asked without a pause.
			select {
			case <-time.After(min(time.Second, d.opts.Wait) - time.Since(since)):
			case <-ctx.Done():
			case <-by.closing:
			case <-over:
				over = closed
			}
		}
	}
}

// wait begins the wait for an operator: tell is called with how it stands until end is called, which also waits for what runs in
// beats. over comes when the client's patience ends; waiting ends with ctx or with end.
func (d *checker) wait(ctx context.Context, by caller, began time.Time, said func() string) (waiting context.Context, over <-chan time.Time, beats *sync.WaitGroup, end func()) {
	waiting, cancel := context.WithCancel(ctx)
	beats = &sync.WaitGroup{}
	if by.tell != nil {
		beats.Go(func() { d.beat(waiting, by.tell, said) })
	}
	patience := cmp.Or(d.opts.Patience, client.CallPatience(by.name, by.tell != nil))
	stop := func() bool { return true }
	if patience >= 0 {
		t := time.NewTimer(patience - time.Since(began))
		over, stop = t.C, t.Stop
	}
	return waiting, over, beats, func() {
		cancel()
		stop()
		beats.Wait()
	}
}

// beat tells a client at times how its call stands, until ctx ends.
func (d *checker) beat(ctx context.Context, tell func(string), said func() string) {
	beat := time.NewTicker(d.opts.Beat)
	defer beat.Stop()
	for {
		tell(said())
		select {
		case <-beat.C:
		case <-ctx.Done():
			return
		}
	}
}

// closed is a moment that has come.
var closed = func() <-chan time.Time {
	c := make(chan time.Time)
	close(c)
	return c
}()

// settle makes an outcome of a judgement that is no question.
func (d *checker) settle(ctx context.Context, m message, call human.ToolCall, digest string, j human.Judgement, err error) outcome {
	if ctx.Err() != nil {
		return outcome{}
	}
	no := func(text string) outcome {
		d.opts.Log.Info("a call was blocked", "tool", call.Tool, "decision_id", j.DecisionID, "operation_id", j.OperationID, "why", text)
		return outcome{reply: blockedReply(m, text)}
	}
	switch {
	case err != nil:
		return no("The call did not run, because it could not be judged: " + human.SafeText(err))
	case j.Decision == human.Ask:
		return no(cmp.Or(j.Message, "The call did not run: an operator has to be asked, and none can be now."))
	case j.Decision != human.Allow:
		return no(cmp.Or(j.Message, "The call was blocked."))
	case j.Args == nil:
		if j.Verdict.Digest != "" && j.Verdict.Digest != digest {
			return no("The call did not run: what was allowed is not what was called.")
		}
		return outcome{forward: m.raw}
	}
	if len(j.Args) == 0 || j.Args[0] != '{' || !json.Valid(j.Args) {
		return no("The call did not run: the arguments that it was allowed with are no JSON object.")
	}
	args, err := json.Marshal(j.Args) // in one line
	if err != nil {
		return no("The call did not run: the arguments that it was allowed with cannot be written.")
	}
	return outcome{forward: m.withArgs(args)}
}

func (d *checker) take(from map[string]question, name string) (question, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	q, ok := from[name]
	delete(from, name)
	return q, ok && time.Since(q.at) < freshFor
}

func (d *checker) leave(in map[string]question, name string, q question) {
	d.mu.Lock()
	defer d.mu.Unlock()
	q.at = time.Now()
	for name, old := range in {
		if time.Since(old.at) > freshFor {
			delete(in, name)
		}
	}
	in[name] = q
}

// withdraw takes a question back, where that can be done.
func (d *checker) withdraw(q question) {
	w, ok := d.judge.(Withdrawer)
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if err := w.Withdraw(ctx, q.operation, "the agent's client gave the call up"); err != nil {
		d.opts.Log.Info("a question could not be withdrawn", "operation_id", q.operation, "err", err)
	}
}

// close takes the questions back for which no one waits.
func (d *checker) close() {
	d.end()
	defer d.asking.Wait()
	d.mu.Lock()
	left := d.left
	d.left = map[string]question{}
	d.mu.Unlock()
	var all sync.WaitGroup
	for _, q := range left {
		all.Go(func() { d.withdraw(q) })
	}
	all.Wait()
}

// goesOn notes what a server answered to a call that an operator had allowed: where it wants input first, the client will
// make the same call again, and that belongs to the same answer.
func (d *checker) goesOn(m message, q question, result []byte) {
	var r struct {
		Type  string          `json:"resultType"`
		State json.RawMessage `json:"requestState"`
	}
	if json.Unmarshal(result, &r) != nil || r.Type != "input_required" || r.State == nil {
		return
	}
	d.leave(d.next, d.digest(m)+string(r.State), q)
}

// digest is that of a call as the gatekeeper has it, and one like it of another request.
func (d *checker) digest(m message) string {
	if m.call != nil {
		return gate.Digest(gate.Call{Tool: "mcp__" + d.opts.Server + "__" + m.call.name, Args: m.call.args, Cwd: d.opts.Cwd})
	}
	var params map[string]json.RawMessage
	_ = json.Unmarshal(m.params, &params) // what has none has nothing to tell it from others
	return gate.Digest(gate.Call{Tool: m.method, Args: plain(map[string]json.RawMessage{"name": params["name"], "uri": params["uri"], "arguments": params["arguments"]})})
}
