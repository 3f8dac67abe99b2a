package api

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/danielgtaylor/huma/v2"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

// Clocks of a WebSocket.
const (
	pingEvery = 25 * time.Second
	pongTime  = 20 * time.Second
	closeTime = 2 * time.Second
	writeTime = 30 * time.Second // a reader this slow is disconnected; it comes back with its last seq
)

// serveSocket sends events: those after ?after, then those to come, in order and without loss.
func (s *Server) serveSocket(w http.ResponseWriter, r *http.Request) {
	x := exchangeOf(r.Context())
	err := upgrades(r)
	var head, after uint64
	if err == nil {
		head, err = s.deps.Queue.Head(r.Context())
	}
	if err == nil {
		after, err = afterOf(r, head)
	}
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	s.accept(w, r, x, func(ctx context.Context, cancel context.CancelFunc, conn *websocket.Conn) {
		s.tell(ctx, cancel, conn, x, head, after)
	})
}

// upgrades returns an error for a request that is not for a WebSocket.
func upgrades(r *http.Request) error {
	if strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		return nil
	}
	p := newProblem(http.StatusUpgradeRequired, "this is a WebSocket; connect with a WebSocket client")
	p.header = http.Header{"Upgrade": {"websocket"}, "Connection": {"Upgrade"}}
	return p
}

// accept makes a WebSocket of a request and closes it after use, whose ctx ends with the server, with the caller's session or key,
// and by cancel.
func (s *Server) accept(w http.ResponseWriter, r *http.Request, x *exchange, use func(ctx context.Context, cancel context.CancelFunc, conn *websocket.Conn)) {
	if !s.begin() {
		s.refuse(w, r, human.Errorf(human.Unavailable, "Deskbell is shutting down"))
		return
	}
	defer s.work.Done()
	ctx, cancel := context.WithCancel(s.ctx) // the request's own ends when its connection is taken over
	defer cancel()
	defer s.holds(x, cancel)()
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		Subprotocols:       []string{subprotocol},
		InsecureSkipVerify: true, // the origin was checked before, by rules of our own
	})
	if err != nil {
		s.deps.Log.Debug("no WebSocket came about", "path", r.URL.Path, "err", err)
		return
	}
	defer conn.CloseNow() //nolint:errcheck // it may be closed already
	use(ctx, cancel, conn)
}

// tell sends events to a WebSocket until it ends, and says farewell.
func (s *Server) tell(ctx context.Context, cancel context.CancelFunc, conn *websocket.Conn, x *exchange, head, after uint64) {
	// Reading and writing are not under ctx: its end would tear the connection down in the middle of a
	// message, before the farewell. They get a moment more.
	wire, hangUp := context.WithCancel(context.Background())
	defer hangUp()
	defer context.AfterFunc(ctx, func() {
		late := time.AfterFunc(closeTime, hangUp)
		context.AfterFunc(wire, func() { late.Stop() })
	})()
	s.work.Go(func() { // what the peer says is nothing, or goodbye; the connection's Close waits for this
		defer cancel()
		if _, _, err := conn.Reader(wire); err == nil {
			_ = conn.Close(websocket.StatusPolicyViolation, "this socket only tells; send nothing")
		}
	})
	k := &socket{Server: s, conn: conn, wire: wire, x: x, cancel: cancel}
	k.serve(ctx, head, after)
	status, reason := websocket.StatusNormalClosure, "the session is over"
	if x.life != nil && x.life.Err() != nil {
		status, reason = websocket.StatusPolicyViolation, "the key was revoked"
	}
	if s.ctx.Err() != nil {
		status, reason = websocket.StatusGoingAway, "Deskbell is shutting down"
	}
	cancel()
	_ = conn.Close(status, reason) // a peer that has gone needs no farewell
}

// afterOf reads ?after; absent, it is head: only what is to come.
func afterOf(r *http.Request, head uint64) (uint64, error) {
	query := r.URL.Query()
	for name := range query {
		if name != "after" {
			return 0, human.BadField(name, "no such parameter; the only one is after")
		}
	}
	text := query.Get("after")
	if text == "" {
		return head, nil
	}
	after, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, human.BadField("after", "%q is not the seq of an event", text)
	}
	if after > head {
		return 0, human.BadField("after", "is %d, but the last event here is %d; this is not the Deskbell it came from, so start again with after=0", after, head)
	}
	return after, nil
}

// holds notes that the caller has a WebSocket, until the returned function is called. The socket ends
// with its session, or when its agent's keys are revoked.
func (s *Server) holds(x *exchange, cancel context.CancelFunc) (done func()) {
	if x.session != nil {
		closed := s.sessions.connect(x.session)
		stop := context.AfterFunc(x.session.ctx, cancel)
		return func() { stop(); closed() }
	}
	stop := context.AfterFunc(x.life, cancel)
	offline := s.deps.Queue.AgentOnline(x.by.Name)
	return func() { stop(); offline() }
}

// A socket is one WebSocket.
type socket struct {
	*Server
	conn   *websocket.Conn
	wire   context.Context // of reading and writing
	x      *exchange
	cancel context.CancelFunc
}

// serve sends until ctx ends or the reader is gone.
func (k *socket) serve(ctx context.Context, head, after uint64) {
	hello := Hello{Type: "hello", Seq: head}
	if k.x.by.Role == human.Operator {
		hello.Operator = k.x.by.Name
	} else {
		hello.AgentID = k.x.by.Name
	}
	if k.send(hello) != nil {
		return
	}
	var others sync.WaitGroup
	defer others.Wait()
	defer k.cancel()
	others.Go(func() { k.keepAlive(ctx) })
	if k.x.by.Role == human.Operator {
		others.Go(func() { k.sendPresence(ctx) })
		others.Go(func() { k.sendSessions(ctx) })
		if k.deps.Summaries != nil {
			others.Go(func() { k.sendSummaries(ctx) })
		}
		if k.deps.Recorder != nil {
			others.Go(func() { k.sendRecordings(ctx) })
		}
		if k.deps.Callers != nil {
			others.Go(func() { k.sendAttempts(ctx) })
		}
		if k.deps.Procedures != nil {
			others.Go(func() {
				told := false
				k.sendStates(ctx, func() (any, <-chan struct{}) {
					runs, changed := k.deps.Procedures.Stopped(k.x.by)
					if told = told || len(runs) > 0; !told {
						return nil, changed
					}
					return StoppedRuns{"stopped_runs", runs}, changed
				})
			})
		}
		if k.deps.Data != nil {
			others.Go(func() {
				k.sendStates(ctx, func() (any, <-chan struct{}) {
					now, changed := k.deps.Data.State()
					return DataChange{"data", now}, changed
				})
			})
		}
		if k.deps.Team != nil {
			others.Go(func() {
				k.sendStates(ctx, func() (any, <-chan struct{}) {
					now, changed := k.deps.Team.State()
					return TeamChange{"team", now}, changed
				})
			})
		}
	}
	k.sendEvents(ctx, after)
}

func (k *socket) sendEvents(ctx context.Context, after uint64) {
	for entry, err := range k.deps.Queue.Follow(ctx, k.x.by, after) {
		if err != nil {
			if ctx.Err() == nil {
				k.deps.Log.Error("events could not be read for a WebSocket; its reader will come back", "err", err)
			}
			return
		}
		event := eventOf(entry)
		if k.send(event) != nil {
			return
		}
		if event.Type == human.Invoked && entry.Event.Imported == nil && k.send(invocationOf(event)) != nil {
			return
		}
		if event.Type == human.Unrecorded && k.send(RecordingGone{"recording_gone", event.Data.Recording}) != nil {
			return
		}
	}
}

func (k *socket) sendPresence(ctx context.Context) {
	defer k.cancel()
	for p := range k.deps.Queue.FollowPresence(ctx) {
		if k.send(PresenceChange{"presence", p}) != nil {
			return
		}
	}
}

// sendStates sends how something stands, now and whenever that changes.
func (k *socket) sendStates(ctx context.Context, state func() (message any, changed <-chan struct{})) {
	defer k.cancel()
	for {
		now, changed := state()
		if now != nil && k.send(now) != nil {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// sendSessions sends who signs in, but for this socket's own.
func (k *socket) sendSessions(ctx context.Context) {
	defer k.cancel()
	for n := range k.notices.follow(ctx) {
		if n.session != k.x.session && k.send(n.SessionNotice) != nil {
			return
		}
	}
}

// sendRecordings sends the recording that runs, whenever it changes.
func (k *socket) sendRecordings(ctx context.Context) {
	defer k.cancel()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	changed := func(r human.Recording) {
		var message any = RecordingChange{"recording", *recordingOf(r)}
		if r.State == record.Discarded {
			message = RecordingGone{"recording_gone", r.ID}
		}
		if k.send(message) != nil {
			cancel()
		}
	}
	if r, runs := k.deps.Recorder.Current(); runs {
		changed(r)
	}
	k.deps.Recorder.Watch(ctx, changed)
}

// sendSummaries sends the drafts that are being made, whenever they change.
func (k *socket) sendSummaries(ctx context.Context) {
	defer k.cancel()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	k.deps.Summaries.Watch(ctx, func(s human.Summary) {
		if k.send(SummaryChange{"summary", *draftOf(s)}) != nil {
			cancel()
		}
	})
}

// keepAlive finds out about peers that are gone.
func (k *socket) keepAlive(ctx context.Context) {
	defer k.cancel()
	tick := time.NewTicker(pingEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		pong, cancel := context.WithTimeout(k.wire, pongTime)
		err := k.conn.Ping(pong)
		cancel()
		if err != nil {
			return
		}
	}
}

func (k *socket) send(message any) error {
	buf := buffers.Get().(*bytes.Buffer)
	defer recycle(buf)
	if err := appendJSON(buf, message); err != nil {
		k.deps.Log.Error("a message could not be written as JSON", "err", err)
		return err
	}
	ctx, cancel := context.WithTimeout(k.wire, writeTime)
	defer cancel()
	err := k.conn.Write(ctx, websocket.MessageText, buf.Bytes())
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		k.deps.Log.Warn("a reader of events was too slow and was disconnected; it gets what it missed when it comes back", "since start", k.slow.Add(1))
	}
	return err
}

// describeSocket puts the WebSocket and its messages into the description.
func (s *Server) describeSocket(c catalogue) {
	o := c.api.OpenAPI()
	var messages []*huma.Schema
	for _, t := range []reflect.Type{reflect.TypeFor[Hello](), reflect.TypeFor[Event](), reflect.TypeFor[Invocation](), reflect.TypeFor[PresenceChange](),
		reflect.TypeFor[SessionNotice](), reflect.TypeFor[RecordingChange](), reflect.TypeFor[RecordingGone](), reflect.TypeFor[SummaryChange](), reflect.TypeFor[AttemptChange](), reflect.TypeFor[StoppedRuns](), reflect.TypeFor[DataChange](), reflect.TypeFor[TeamChange]()} {
		messages = append(messages, o.Components.Schemas.Schema(t, true, ""))
	}
	o.Components.Schemas.Map()["SocketMessage"] = &huma.Schema{OneOf: messages, Description: "What arrives on the WebSocket, one JSON object per text message."}
	minimum := 0.0
	o.AddOperation(&huma.Operation{
		OperationID: "follow", Method: http.MethodGet, Path: "/api/ws", Summary: "Follow events over a WebSocket", Tags: []string{"ws"},
		Description: "For: agent or operator. A page in a browser offers the subprotocols deskbell and deskbell.bearer.TOKEN in place of the header. " +
			"Messages are SocketMessage; send none.",
		Parameters: []*huma.Param{{
			Name: "after", In: "query", Description: "The seq of the last event you have; absent: only what is to come.",
			Schema: &huma.Schema{Type: huma.TypeInteger, Format: "int64", Minimum: &minimum},
		}},
		Responses: map[string]*huma.Response{"101": {Description: "A WebSocket."}, "default": c.problem},
	})
}
