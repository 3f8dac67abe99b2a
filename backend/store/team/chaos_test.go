//go:build unix

package team_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"deskbell/backend/human"
	"deskbell/backend/queue"
	"deskbell/backend/queue/journaltest"
	"deskbell/backend/store/sqlite"
	"deskbell/backend/store/team"
)

// A seat is a desk with its queue, and proxies of its own to each node.
type seat struct {
	name, member string
	dir          string
	proxies      []*proxy
	direct       string        // the server's URL, where there are no proxies
	skew         time.Duration // of its clock
	log          *slog.Logger
	deletes      func(context.Context, human.Actor, []human.OperationID) error // what leads deleted for the whole team; nil: it stays

	using sync.RWMutex // held to read while a command runs
	q     *queue.Queue
	j     *team.Journal
	store *sqlite.Store
	stop  context.CancelFunc
	ended sync.WaitGroup
}

func newSeat(tb testing.TB, member string, skew time.Duration, ports ...int) *seat {
	tb.Helper()
	s := &seat{name: team.Desk(member, 1), member: member, dir: filepath.Join(tb.TempDir(), "data"), skew: skew}
	for _, port := range ports {
		s.proxies = append(s.proxies, newProxy(tb, port))
	}
	s.open(tb)
	tb.Cleanup(func() { s.close(tb) })
	return s
}

func (c *cluster) seat(tb testing.TB, member string, skew time.Duration) *seat {
	tb.Helper()
	return newSeat(tb, member, skew, c.nodes[0].o.Client, c.nodes[1].o.Client, c.nodes[2].o.Client)
}

func (s *seat) urls() string {
	if s.direct != "" {
		return s.direct
	}
	var all []string
	for _, p := range s.proxies {
		all = append(all, "nats://"+p.address())
	}
	return strings.Join(all, ",")
}

func (s *seat) open(tb testing.TB) {
	tb.Helper()
	store, err := sqlite.Open(context.Background(), s.dir, sqlite.Options{Key: journaltest.Key})
	if err != nil {
		tb.Fatal(err)
	}
	now := func() time.Time { return time.Now().Add(s.skew) }
	j, err := team.New(store, team.Options{
		Desk: s.name, Now: now, Log: s.log, Patience: 2 * time.Second, Delete: s.deletes,
		Connect: func() (*nats.Conn, error) {
			return nats.Connect(s.urls(), append(team.Settings(s.name), nats.Timeout(time.Second))...)
		},
	})
	if err != nil {
		tb.Fatal(err)
	}
	q := queue.New(j, store, queue.Options{Now: now, MaxPending: 1 << 20, Log: slog.New(slog.DiscardHandler)})
	if err := q.Load(context.Background()); err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.q, s.j, s.store, s.stop = q, j, store, cancel
	s.ended.Go(func() { _ = j.Run(ctx) })
	s.ended.Go(func() { _ = q.Run(ctx) })
	s.ended.Go(func() {
		if err := q.Learn(ctx); err != nil {
			tb.Error("Learn:", err)
		}
	})
}

func (s *seat) close(tb testing.TB) {
	tb.Helper()
	s.stop() // in the middle of commands
	s.using.Lock()
	defer s.using.Unlock()
	s.ended.Wait()
	if err := s.store.Close(); err != nil {
		tb.Error(err)
	}
}

func (s *seat) restart(tb testing.TB) {
	tb.Helper()
	s.stop()
	s.using.Lock()
	defer s.using.Unlock()
	s.ended.Wait()
	if err := s.store.Close(); err != nil {
		tb.Error(err)
	}
	s.open(tb)
}

func (s *seat) each(do func(*proxy)) {
	for _, p := range s.proxies {
		do(p)
	}
}

// online waits until the desk is.
func (s *seat) online(tb testing.TB) *seat {
	tb.Helper()
	s.until(tb, true)
	return s
}

func (s *seat) until(tb testing.TB, online bool) {
	tb.Helper()
	eventually(tb, 90*time.Second, "the desk "+s.name, func() error {
		s.using.RLock()
		defer s.using.RUnlock()
		if is, _ := s.j.Status(); is.Online != online {
			return fmt.Errorf("it stays as it is: %+v", is)
		}
		return nil
	})
}

// offline cuts the desk off, and waits until it knows.
func (s *seat) offline(tb testing.TB) {
	tb.Helper()
	s.each((*proxy).cut)
	s.until(tb, false)
}

// An act is one command, and what came back.
type act struct {
	command     string
	id          human.OperationID
	by, text    string
	version     uint64 // of the operation after it
	called, got int64
	err         error
}

// inDoubt says whether the command may have been done all the same.
func (a act) inDoubt() bool {
	return a.err != nil && human.KindOf(a.err) == human.Unavailable && strings.Contains(a.err.Error(), "did not confirm")
}

// A history is what all who gave commands noted.
type history struct {
	start time.Time
	mu    sync.Mutex
	acts  []act
	rung  []human.OperationID
	n     atomic.Int64
}

// do gives a desk a command, and notes it.
func (h *history) do(s *seat, command string, id human.OperationID, agent string) act {
	s.using.RLock()
	defer s.using.RUnlock()
	ctx := context.Background()
	a := act{command: command, id: id, by: s.member, text: fmt.Sprintf("%s %d of %s", command, h.n.Add(1), s.name), called: int64(time.Since(h.start))}
	who := human.Actor{Role: human.Operator, Name: s.member}
	var op human.Operation
	switch command {
	case "ring":
		a.by = agent
		op, _, a.err = s.q.Ring(ctx, human.Request{Kind: human.Feedback, Description: a.text, AgentID: agent, Priority: human.DefaultPriority, Timeout: 86_400, Details: json.RawMessage(`{"b": 1,  "a": "\u00e9<é>"}`)}, false)
		a.id = op.ID
	case "reply":
		a.by = agent
		op, a.err = s.q.Reply(ctx, human.Actor{Role: human.Agent, Name: agent}, id, a.text)
	case "claim":
		op, a.err = s.q.Claim(ctx, who, id)
	case "release":
		op, a.err = s.q.Release(ctx, who, id, a.text)
	case "ask":
		op, a.err = s.q.Reply(ctx, who, id, a.text)
	case "complete":
		op, a.err = s.q.Complete(ctx, who, id, human.Answer{HumanInput: a.text}, "")
	}
	a.version, a.got = op.Version, int64(time.Since(h.start))
	h.mu.Lock()
	defer h.mu.Unlock()
	h.acts = append(h.acts, a)
	if command == "ring" && a.err == nil {
		h.rung = append(h.rung, a.id)
	}
	return a
}

// some is one of the requests that were rung last.
func (h *history) some(r *rand.Rand) human.OperationID {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.rung) == 0 {
		return "op_none"
	}
	last := h.rung[max(0, len(h.rung)-60):]
	return last[r.IntN(len(last))]
}

// canonical is an event without what differs from desk to desk by design.
func canonical(desk string, e human.Entry) string {
	ev := e.Event
	ev.Desk = cmp.Or(ev.Desk, desk)
	member, err := team.MemberOf(ev.Desk)
	if err != nil {
		return err.Error()
	}
	ev.By.Name = strings.TrimSuffix(ev.By.Name, "@"+member)
	if ev.Request != nil {
		request := *ev.Request
		request.AgentID = strings.TrimSuffix(request.AgentID, "@"+member)
		ev.Request = &request
	}
	raw, err := json.Marshal(ev)
	return fmt.Sprint(e.Version, " ", string(raw), err)
}

// entries are all of a desk's, by operation. It checks that versions have no gaps.
func (s *seat) entries(tb testing.TB) map[human.OperationID][]human.Entry {
	tb.Helper()
	s.using.RLock()
	defer s.using.RUnlock()
	all := map[human.OperationID][]human.Entry{}
	for e, err := range s.store.Read(context.Background(), 0) {
		if err != nil {
			tb.Fatal(err)
		}
		all[e.ID] = append(all[e.ID], e)
		if n := uint64(len(all[e.ID])); e.Version != n {
			tb.Errorf("%s has version %d of %s where %d should be", s.name, e.Version, e.ID, n)
		}
	}
	for id, entries := range all {
		if _, err := human.Fold(id, entries); err != nil {
			tb.Errorf("%s: %v", s.name, err)
		}
	}
	return all
}

func (s *seat) canonical(tb testing.TB) map[human.OperationID]string {
	tb.Helper()
	all := map[human.OperationID]string{}
	for id, entries := range s.entries(tb) {
		for _, e := range entries {
			all[id] += canonical(s.name, e) + "\n"
		}
	}
	return all
}

// same waits until all desks have all that the first has, and says what differs then, and of which operations.
func same(tb testing.TB, seats []*seat) (wrong []human.OperationID) {
	tb.Helper()
	var stream, last uint64
	eventually(tb, 60*time.Second, "all desks to have everything", func() error {
		stream, last = 0, 0
		for _, s := range seats {
			place, _, err := s.store.Place(context.Background())
			if err == nil { // the place is on the disk a moment before the entries are to be read; a write comes after both
				err = s.store.Doubt(context.Background(), "op_none", false)
			}
			if err != nil {
				return err
			}
			if waiting, err := s.store.Waiting(context.Background(), 5); err != nil || len(waiting) > 0 {
				return fmt.Errorf("%s: %v wait, %w", s.name, waiting, errors.Join(err, errors.New("not yet")))
			}
			if stream == 0 {
				stream = place
			}
			head, err := s.store.Head(context.Background())
			if err != nil {
				return err
			}
			if last == 0 {
				last = head
			}
			if place != stream && head != last { // what is in a snapshot does not move a desk's place
				return fmt.Errorf("%s is at %d, another at %d", s.name, place, stream)
			}
		}
		return nil
	})
	first := seats[0].canonical(tb)
	for _, s := range seats[1:] {
		has := s.canonical(tb)
		if len(has) != len(first) {
			tb.Errorf("%s has %d operations, %s has %d", s.name, len(has), seats[0].name, len(first))
		}
		for id, want := range first {
			if has[id] != want {
				wrong = append(wrong, id)
				tb.Errorf("%s has of %s\n%s%s has\n%s", s.name, id, has[id], seats[0].name, want)
			}
		}
	}
	return wrong
}

// check holds what the desks have against what was acknowledged.
func (h *history) check(tb testing.TB, seats []*seat) (wrong []human.OperationID) {
	tb.Helper()
	if wrong = same(tb, seats); tb.Failed() {
		return wrong
	}
	entries := seats[0].entries(tb)
	times := map[string]int{} // a text: how often it is there
	for id, all := range entries {
		for _, e := range all {
			switch {
			case e.Event.Request != nil:
				times[e.Event.Request.Description]++
			case e.Event.Answer != nil:
				times[e.Event.Answer.HumanInput]++
			case e.Event.Text != "":
				times[e.Event.Text]++
			}
			if e.Event.Type == human.Expired || e.Event.Type == human.Withdrawn {
				tb.Errorf("%s ended early: %s", id, canonical("", e))
			}
		}
	}
	claims := map[string][2]int{} // by operation and member: acknowledged, in doubt
	var acked, doubted, failed int
	for _, a := range h.acts {
		n := times[a.text]
		switch {
		case a.err == nil:
			acked++
			if all := entries[a.id]; a.version == 0 || uint64(len(all)) < a.version || !a.is(all[a.version-1].Event) {
				tb.Errorf("%q was acknowledged as version %d of %s, which is not there: %d versions", a.text, a.version, a.id, len(all))
			}
			if n != 1 && a.command != "claim" {
				tb.Errorf("%q was acknowledged and is there %d times", a.text, n)
			}
		case a.inDoubt():
			doubted++
			if n > 1 {
				tb.Errorf("%q is there %d times", a.text, n)
			}
		default:
			failed++
			if n > 0 {
				tb.Errorf("%q is there, and failed: %v", a.text, a.err)
			}
			switch human.KindOf(a.err) {
			case human.Conflict, human.NotFound, human.Unavailable:
			default:
				tb.Errorf("%q: %v", a.text, a.err)
			}
		}
		if a.command == "claim" {
			key := string(a.id) + " " + a.by
			c := claims[key]
			if a.err == nil {
				c[0]++
			} else if a.inDoubt() {
				c[1]++
			}
			claims[key] = c
		}
	}
	for _, s := range seats {
		open := map[string]int{}
		for id, all := range s.entries(tb) {
			if op, err := human.Fold(id, all); err == nil && !op.State.Terminal() {
				open[op.AgentID]++
			}
		}
		eventually(tb, 10*time.Second, "the queue of "+s.name, func() error {
			for agent, n := range open {
				if is := s.q.PendingOf(agent); is != n {
					return fmt.Errorf("%d requests of %s are open, it counts %d", n, agent, is)
				}
			}
			if n := s.q.Pending(); n != seats[0].q.Pending() {
				return fmt.Errorf("%d wait, and %d on %s", n, seats[0].q.Pending(), seats[0].name)
			}
			return nil
		})
	}
	for id, all := range entries {
		is := map[string]int{}
		for _, e := range all {
			if e.Event.Type == human.ClaimedBy {
				is[string(id)+" "+e.Event.By.Name]++
			}
		}
		for key, n := range is {
			if c := claims[key]; n < c[0] || n > c[0]+c[1] {
				tb.Errorf("%s: %d claims are there, %d were acknowledged, %d are in doubt", key, n, c[0], c[1])
			}
		}
	}
	tb.Logf("%d operations; %d commands were acknowledged, %d in doubt, %d failed", len(entries), acked, doubted, failed)
	return h.linearizable(tb)
}

// is says whether an event is what the command makes.
func (a act) is(e human.Event) bool {
	switch a.command {
	case "ring":
		return e.Type == human.Invoked && e.Request.Description == a.text
	case "claim":
		return e.Type == human.ClaimedBy && e.By.Name == a.by
	case "complete":
		return e.Type == human.Finished && e.Answer.HumanInput == a.text
	}
	return e.Text == a.text
}

// A claimed is the state of an operation for the model: who has it, and whether it has ended.
type claimed struct {
	by    string
	ended bool
}

// linearizable says whether claims, releases and answers could have happened one after the other, each between its call and its return.
func (h *history) linearizable(tb testing.TB) (wrong []human.OperationID) {
	tb.Helper()
	byOperation := map[human.OperationID][]porcupine.Operation{}
	for i, a := range h.acts {
		if a.err != nil && !a.inDoubt() || a.command == "ring" || a.command == "reply" {
			continue
		}
		got := a.got
		if a.err != nil {
			got = math.MaxInt64
		}
		byOperation[a.id] = append(byOperation[a.id], porcupine.Operation{ClientId: i, Input: a, Call: a.called, Output: a.err == nil, Return: got})
	}
	model := porcupine.NondeterministicModel{
		Init: func() []any { return []any{claimed{}} },
		Step: func(state, input, output any) []any {
			s, a := state.(claimed), input.(act)
			var next []any
			if output == false {
				next = append(next, s) // it may not have happened
			}
			switch free := s.by == "" || s.by == a.by; {
			case s.ended && a.command == "ask": // a comment
				next = append(next, s)
			case s.ended:
			case a.command == "claim" && s.by == "", a.command == "ask" && free:
				next = append(next, claimed{by: a.by})
			case a.command == "release" && s.by != "":
				next = append(next, claimed{})
			case a.command == "complete" && free:
				next = append(next, claimed{s.by, true})
			}
			return next
		},
	}
	m := model.ToModel()
	for id, ops := range byOperation {
		if r := porcupine.CheckOperationsTimeout(m, ops, 10*time.Second); r != porcupine.Ok {
			wrong = append(wrong, id)
			tb.Errorf("what was done with %s is not linearizable (%s): %+v", id, r, ops)
		}
	}
	return wrong
}

// rounds is how many faults a run has.
func rounds() int {
	n, _ := strconv.Atoi(os.Getenv("DESKBELL_TEAM_ROUNDS"))
	return max(n, 2)
}

// work has agents ring and operators claim, release, ask and answer until done is closed.
func (h *history) work(seats []*seat, seed uint64, agents int, done <-chan struct{}) *sync.WaitGroup {
	var working sync.WaitGroup
	loop := func(n uint64, every time.Duration, do func(*rand.Rand)) {
		working.Go(func() {
			r := rand.New(rand.NewPCG(seed, n))
			for {
				next := time.NewTimer(time.Duration(r.Int64N(int64(2 * every))))
				select {
				case <-done:
					next.Stop()
					return
				case <-next.C:
				}
				do(r)
			}
		})
	}
	for i, s := range seats {
		for k := range agents {
			agent := fmt.Sprint("agent-", k)
			var own []human.OperationID
			loop(uint64(i*1000+k), 2500*time.Millisecond, func(r *rand.Rand) {
				if len(own) > 0 && r.IntN(2) == 0 {
					h.do(s, "reply", own[r.IntN(len(own))], agent)
				} else if a := h.do(s, "ring", "", agent); a.err == nil {
					own = append(own, a.id)
				}
			})
		}
		loop(uint64(i*1000+999), 150*time.Millisecond, func(r *rand.Rand) {
			h.do(s, []string{"claim", "claim", "claim", "release", "ask", "complete"}[r.IntN(6)], h.some(r), "")
		})
	}
	return &working
}

// A fault begins, and returns how it ends.
type fault struct {
	name  string
	begin func() (end func())
}

func (c *cluster) faults(tb testing.TB, r *rand.Rand, seats []*seat) (ofNodes, ofDesks []fault) {
	i := r.IntN(3)
	n, others := c.nodes[i], []int{(i + 1) % 3, (i + 2) % 3}
	some := seats[r.IntN(len(seats))]
	apart := func(do func(*proxy)) {
		for _, k := range others {
			do(c.routes[i][k])
			do(c.routes[k][i])
		}
	}
	ofNodes = []fault{
		{"kill " + n.o.Name, func() func() { n.kill(); return func() { n.start(tb) } }},
		{"partition " + n.o.Name, func() func() { apart((*proxy).cut); return func() { apart((*proxy).heal) } }},
		{"one way from " + n.o.Name, func() func() {
			for _, k := range others {
				c.routes[i][k].stall(forth)
				c.routes[k][i].stall(back)
			}
			return func() { apart((*proxy).heal) }
		}},
		{"slow " + n.o.Name, func() func() {
			apart(func(p *proxy) { p.slow(40 * time.Millisecond) })
			return func() { apart((*proxy).heal) }
		}},
		{"stop " + n.o.Name, func() func() {
			_ = n.cmd.Process.Signal(syscall.SIGSTOP)
			return func() { _ = n.cmd.Process.Signal(syscall.SIGCONT) }
		}},
		{"slow disk of " + n.o.Name, func() func() {
			n.kill()
			n.o.SlowSync = 50 * time.Millisecond
			n.start(tb)
			return func() { n.kill(); n.o.SlowSync = 0; n.start(tb) }
		}},
		{"full " + n.o.Name, func() func() {
			n.kill()
			n.o.MaxStore = 32 << 10
			n.start(tb)
			return func() { n.kill(); n.o.MaxStore = 1 << 30; n.start(tb) }
		}},
		{"move the leader", func() func() {
			c.admin(tb, func(ctx context.Context, conn *nats.Conn, _ jetstream.JetStream) error {
				_, err := conn.RequestWithContext(ctx, "$JS.API.STREAM.LEADER.STEPDOWN."+team.Stream, nil)
				return err
			})
			return func() {}
		}},
	}
	ofDesks = []fault{
		{"restart " + some.name, func() func() { some.restart(tb); return func() {} }},
		{"cut " + some.name, func() func() { some.each((*proxy).cut); return func() { some.each((*proxy).heal) } }},
		{"no answers to " + some.name, func() func() {
			some.each(func(p *proxy) { p.stall(back) })
			return func() { some.each((*proxy).cut); some.each((*proxy).heal) }
		}},
	}
	return ofNodes, ofDesks
}

// TestFaultsOfATeam has 20 desks with 200 agents work while nodes and desks fail: what was acknowledged is there once, on every desk, claims
// have one winner, and versions no gaps.
func TestFaultsOfATeam(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	if s, err := strconv.ParseUint(os.Getenv("DESKBELL_TEAM_SEED"), 10, 64); err == nil {
		seed = s
	}
	t.Logf("DESKBELL_TEAM_SEED=%d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	c := newCluster(t)
	seats := make([]*seat, 20)
	for i := range seats {
		seats[i] = c.seat(t, fmt.Sprint("Member ", i), time.Duration(r.IntN(600)-300)*time.Second/2)
	}
	for _, s := range seats {
		s.online(t)
	}
	h := &history{start: time.Now()}
	done := make(chan struct{})
	working := h.work(seats, seed, 10, done)
	for range rounds() {
		ofNodes, ofDesks := c.faults(t, r, seats)
		first, second := ofNodes[r.IntN(len(ofNodes))], ofDesks[r.IntN(len(ofDesks))]
		t.Logf("%v: %s, %s", time.Since(h.start).Round(time.Millisecond), first.name, second.name)
		end := first.begin()
		pause(500 * time.Millisecond)
		endSecond := second.begin()
		folding := make(chan struct{})
		go func() { defer close(folding); c.fold(t) }()
		pause(time.Duration(1500+r.IntN(1000)) * time.Millisecond)
		end()
		endSecond()
		<-folding
		pause(500 * time.Millisecond)
	}
	close(done)
	working.Wait()
	t.Logf("%v: everything is healed", time.Since(h.start).Round(time.Millisecond))
	for _, s := range seats {
		s.online(t)
	}
	t.Logf("%v: all desks are online", time.Since(h.start).Round(time.Millisecond))
	c.fold(t)
	h.ok(t, seats[0], "ring", "", "agent-0") // a message after those that are in snapshots
	c.dump(t, h.check(t, seats))
}

// fold makes snapshots of all operations that have ended, as far as nodes answer.
func (c *cluster) fold(tb testing.TB) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	conn, err := nats.Connect(c.urls())
	if err != nil {
		tb.Log("nothing is folded:", err)
		return
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	n := 0
	if err == nil {
		n, err = team.Fold(ctx, js, time.Now().Add(time.Hour))
	}
	tb.Logf("%d operations are folded (%v)", n, err)
}

// dump logs what the stream has of operations.
func (c *cluster) dump(tb testing.TB, of []human.OperationID) {
	tb.Helper()
	if len(of) == 0 {
		return
	}
	c.admin(tb, func(ctx context.Context, _ *nats.Conn, js jetstream.JetStream) error {
		stream, err := js.Stream(ctx, team.Stream)
		if err != nil {
			return err
		}
		for place := uint64(1); place <= stream.CachedInfo().State.LastSeq; place++ {
			if m, err := stream.GetMsg(ctx, place); err == nil && slices.Contains(of, human.OperationID(strings.Split(m.Subject, ".")[1])) {
				tb.Logf("%d %s %s %v %s", place, m.Time.Format(time.RFC3339Nano), m.Subject, m.Header, m.Data)
			}
		}
		return nil
	})
}
