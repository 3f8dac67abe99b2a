//go:build unix

package team_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"deskbell/backend/human"
	"deskbell/backend/queue"
	"deskbell/backend/store/team"
)

// one starts one server, whose port is the second result.
func one(tb testing.TB, dir string, port int) (*server.Server, int) {
	tb.Helper()
	s := serve(tb, dir, port)
	u, err := url.Parse(s.ClientURL())
	if err != nil {
		tb.Fatal(err)
	}
	_, text, err := net.SplitHostPort(u.Host)
	if err != nil {
		tb.Fatal(err)
	}
	port, _ = strconv.Atoi(text)
	return s, port
}

// pair is two desks of two members with one server.
func pair(tb testing.TB) (a, b *seat, s *server.Server) {
	tb.Helper()
	s, port := one(tb, filepath.Join(tb.TempDir(), "nats"), server.RANDOM_PORT)
	tb.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	return newSeat(tb, "Ann", -3*time.Minute, port).online(tb), newSeat(tb, "Ben", 3*time.Minute, port).online(tb), s
}

// ok gives a command that has to work.
func (h *history) ok(tb testing.TB, s *seat, command string, id human.OperationID, agent string) act {
	tb.Helper()
	a := h.do(s, command, id, agent)
	if a.err != nil {
		tb.Fatalf("%s of %s: %v", command, s.name, a.err)
	}
	return a
}

// fails gives a command that has to fail like this.
func (h *history) fails(tb testing.TB, s *seat, command string, id human.OperationID, kind human.ErrorKind) {
	tb.Helper()
	if a := h.do(s, command, id, "bot"); human.KindOf(a.err) != kind {
		tb.Fatalf("%s of %s: %v, want %v", command, s.name, a.err, kind)
	}
}

// sees waits until a desk has an operation at a version.
func (s *seat) sees(tb testing.TB, id human.OperationID, version uint64) human.Operation {
	tb.Helper()
	var op human.Operation
	eventually(tb, 30*time.Second, s.name+" to see "+string(id), func() (err error) {
		op, err = s.q.Get(context.Background(), human.Actor{Role: human.Operator, Name: s.member}, id)
		if err == nil && op.Version < version {
			err = fmt.Errorf("it is at version %d", op.Version)
		}
		return err
	})
	return op
}

// send publishes a message as it is.
func send(tb testing.TB, s *server.Server, subject, payload string) {
	tb.Helper()
	if err := publish(s, subject, payload); err != nil {
		tb.Fatal(err)
	}
}

func publish(s *server.Server, subject, payload string) error {
	conn, err := nats.Connect(s.ClientURL())
	if err != nil {
		return err
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err == nil {
		_, err = js.Publish(context.Background(), subject, []byte(payload), jetstream.WithRetryAttempts(0))
	}
	return err
}

func TestADeskIsAwayAndBack(t *testing.T) {
	t.Parallel()
	a, b, _ := pair(t)
	h := &history{start: time.Now()}
	shared := h.ok(t, a, "ring", "", "bot").id
	b.sees(t, shared, 1)
	a.offline(t)
	own := h.ok(t, a, "ring", "", "bot").id
	h.ok(t, a, "claim", own, "")
	h.ok(t, a, "ask", own, "")
	h.ok(t, a, "reply", own, "bot")
	h.fails(t, a, "claim", shared, human.Unavailable)
	h.ok(t, b, "claim", shared, "")
	a.restart(t)
	h.ok(t, a, "complete", own, "")
	waits := h.ok(t, a, "ring", "", "bot").id
	h.fails(t, b, "claim", own, human.NotFound)
	a.each((*proxy).heal)
	a.online(t)
	if op := b.sees(t, own, 5); op.State != human.Completed || op.Result.By.Name != "Ann" || op.AgentID != "bot@Ann" {
		t.Errorf("Ben sees %s of %s, answered by %+v", op.State, op.AgentID, op.Result)
	}
	b.sees(t, waits, 1)
	h.ok(t, b, "complete", waits, "")
	if op := a.sees(t, waits, 2); op.State != human.Completed {
		t.Errorf("Ann sees %s", op.State)
	}
	h.check(t, []*seat{a, b})
}

// What the server took, and whose answer was lost, is there once.
func TestTheAnswerIsLost(t *testing.T) {
	t.Parallel()
	a, b, _ := pair(t)
	h := &history{start: time.Now()}
	shared := h.ok(t, b, "ring", "", "bot").id
	a.sees(t, shared, 1)
	a.each(func(p *proxy) { p.stall(back) })
	rung, claimed := make(chan act), make(chan act)
	go func() { rung <- h.do(a, "ring", "", "bot") }()
	go func() { claimed <- h.do(a, "claim", shared, "") }()
	b.sees(t, shared, 2) // so the server has it
	a.each((*proxy).cut)
	ring, claim := <-rung, <-claimed
	if ring.err != nil {
		t.Error(ring.err)
	}
	if !claim.inDoubt() {
		t.Errorf("the claim whose answer was lost: %v", claim.err)
	}
	b.sees(t, ring.id, 1)
	h.fails(t, a, "claim", ring.id, human.Unavailable) // others may have it
	h.ok(t, b, "claim", ring.id, "")
	a.each((*proxy).heal)
	a.online(t)
	h.check(t, []*seat{a, b})
}

// What waited is on its way to the server, and the answer is lost: from then on others may have it.
func TestTheAnswerToWhatWaitedIsLost(t *testing.T) {
	t.Parallel()
	a, b, _ := pair(t)
	h := &history{start: time.Now()}
	a.offline(t)
	id := h.ok(t, a, "ring", "", "bot").id
	h.ok(t, a, "ask", id, "")
	h.ok(t, a, "reply", id, "bot")
	h.ok(t, a, "release", id, "")
	a.each((*proxy).heal)
	a.each(func(p *proxy) {
		p.watch(func(direction int, part []byte) {
			if direction == forth && bytes.Contains(part, []byte("op."+string(id))) {
				p.stall(back)
			}
		})
	})
	b.sees(t, id, 4)
	a.each((*proxy).cut)
	h.fails(t, a, "claim", id, human.Unavailable)
	h.ok(t, b, "claim", id, "")
	a.restart(t)
	h.fails(t, a, "claim", id, human.Unavailable)
	a.each((*proxy).heal)
	a.online(t)
	h.check(t, []*seat{a, b})
}

func TestTwoClaimAtTheSameMoment(t *testing.T) {
	t.Parallel()
	a, b, _ := pair(t)
	h := &history{start: time.Now()}
	for range 200 {
		id := h.ok(t, a, "ring", "", "bot").id
		b.sees(t, id, 1)
		start := make(chan struct{})
		won := make(chan act, 2)
		for _, s := range []*seat{a, b} {
			go func() { <-start; won <- h.do(s, "claim", id, "") }()
		}
		close(start)
		first, second := <-won, <-won
		if (first.err == nil) == (second.err == nil) || human.KindOf(errors.Join(first.err, second.err)) != human.Conflict {
			t.Fatalf("%s: %v; %s: %v", first.by, first.err, second.by, second.err)
		}
	}
	h.check(t, []*seat{a, b})
}

// What waited can be claimed by others as soon as it is sent, and by its own desk until then: there is one winner.
func TestOthersClaimWhatIsBeingSent(t *testing.T) {
	t.Parallel()
	a, b, _ := pair(t)
	h := &history{start: time.Now()}
	for range 3 {
		a.offline(t)
		var ids []human.OperationID
		for range 40 {
			ids = append(ids, h.ok(t, a, "ring", "", "bot").id)
		}
		var claiming sync.WaitGroup
		late := time.Now().Add(20 * time.Second)
		for _, s := range []*seat{a, b} {
			for part := range 4 {
				claiming.Go(func() {
					for _, id := range ids[part*10 : part*10+10] {
						for done := false; !done && time.Now().Before(late); pause(2 * time.Millisecond) {
							err := h.do(s, "claim", id, "").err
							done = err == nil || human.KindOf(err) == human.Conflict
						}
					}
				})
			}
		}
		a.each((*proxy).heal)
		claiming.Wait()
		a.online(t)
	}
	h.check(t, []*seat{a, b})
}

func TestADeskIsFilledAgain(t *testing.T) {
	t.Parallel()
	a, b, _ := pair(t)
	h := &history{start: time.Now()}
	for range 30 {
		id := h.ok(t, a, "ring", "", "bot").id
		b.sees(t, id, 1)
		h.ok(t, b, "claim", id, "")
	}
	a.sees(t, h.rung[29], 2)
	a.empty(t)
	h.check(t, []*seat{b, a})
}

// What a desk brings from before it joined may have another name in it, and no approval that needs a second person.
func TestAFirstApprovalHasTheMembersName(t *testing.T) {
	t.Parallel()
	a, _, s := pair(t)
	cleo := team.Desk("Cleo", 1)
	request := &human.Request{Kind: human.Approve, Description: "Drop the table?", Details: json.RawMessage(`{"action":"drop"}`), AgentID: "bot", Approvals: 2, RequestedBy: "Cleo"}
	at := time.Now().UTC()
	invoked := human.Event{Type: human.Invoked, At: at, By: human.Actor{Role: human.Agent, Name: "bot"}, Request: request}
	for id, name := range map[human.OperationID]string{"op_zoe": "Zoe", "op_none": ""} {
		op, err := human.Operation{}.Apply(invoked)
		op.ID = id
		if err != nil {
			t.Fatal(err)
		}
		events := []human.Event{invoked}
		answer := human.Answer{Decision: human.Approved}
		if name != "" {
			events = append(events, human.Event{Type: human.ApprovedFirst, At: at, By: human.Actor{Role: human.Operator, Name: name}, Answer: &answer, Digest: op.AnswerDigest(answer)})
		}
		raw, err := json.Marshal(map[string]any{"format": 1, "before": 0, "events": events})
		if err != nil {
			t.Fatal(err)
		}
		details := fmt.Sprintf(`,"details":%q}`, base64.StdEncoding.EncodeToString(request.Details)) // of the first event
		send(t, s, team.Subject(id, cleo, team.ByOperator), strings.Replace(string(raw), "}}", "}"+details, 1))
	}
	eventually(t, 10*time.Second, "both messages to arrive", func() error {
		at, err := a.store.Standing(t.Context(), "op_none")
		if err == nil && at.Version != 1 {
			err = errors.New("not yet")
		}
		return err
	})
	eventually(t, 10*time.Second, "both messages to be read", func() error {
		if place, _, err := a.store.Place(t.Context()); err != nil || place < 2 {
			return fmt.Errorf("the desk is at %d, %w", place, cmp.Or(err, errors.New("not yet")))
		}
		return nil
	})
	if at, err := a.store.Standing(t.Context(), "op_zoe"); err != nil || at.Version != 0 {
		t.Errorf("an approval by who is no member is at version %d, %v", at.Version, err)
	}
}

// What no desk would publish changes nothing, and blocks nothing.
func TestJunkInTheStream(t *testing.T) {
	t.Parallel()
	a, b, s := pair(t)
	h := &history{start: time.Now()}
	open, over := h.ok(t, a, "ring", "", "bot").id, h.ok(t, a, "ring", "", "bot").id
	h.ok(t, a, "complete", over, "")
	b.sees(t, over, 2)
	before := a.canonical(t)
	at := time.Now().UTC().Format(time.RFC3339)
	event := func(kind, role, name, more string) string {
		return fmt.Sprintf(`{"type":%q,"at":%q,"by":{"role":%q,"name":%q}%s}`, kind, at, role, name, more)
	}
	message := func(before uint64, events ...string) string {
		return fmt.Sprintf(`{"format":1,"before":%d,"events":[%s]}`, before, strings.Join(events, ","))
	}
	claim := event("claimed", "operator", "Cleo", "")
	cleo := team.Desk("Cleo", 1)
	for _, subject := range []string{"op.x", "op." + string(open) + "." + a.name + ".agent.more"} { // would not be found as the operation's
		if err := publish(s, subject, "{}"); err == nil {
			t.Errorf("the stream takes %q", subject)
		}
	}
	for _, junk := range []struct {
		id      human.OperationID
		class   team.Class
		payload string
	}{
		{open, team.ByOperator, "no JSON"}, {open, team.ByOperator, ""}, {open, team.ByOperator, "null"}, {open, team.ByOperator, "[]"},
		{open, team.ByOperator, `{"format":2,"before":1,"events":[` + claim + `]}`},
		{open, team.ByOperator, `{"format":1,"before":-1,"events":[` + claim + `]}`},
		{open, team.ByOperator, message(1)},
		{open, team.ByAgent, message(1, claim)},
		{open, "other", message(1, event("shown", "system", "", `,"channel":"card"`))},
		{open, team.ByOperator, message(1, event("claimed", "operator", "Ann", ""))},
		{open, team.ByOperator, message(1, event("claimed", "king", "Cleo", ""))},
		{open, team.ByOperator, message(1, event("claimed", "", "Cleo", ""))},
		{open, team.ByOperator, message(0, claim)}, {open, team.ByOperator, message(7, claim)},
		{open, team.ByOperator, message(1<<63+5, claim)}, {open, team.ByOperator, message(1<<64-1, claim)},
		{open, team.ByOperator, message(1, event("completed", "operator", "Cleo", ""))},
		{open, team.ByOperator, message(1, claim, event("asked", "operator", "Ann", `,"text":"x"`))},
		{open, team.ByOperator, message(1, event("unknown", "operator", "Cleo", ""))},
		{open, team.ByAgent, message(1, event("cancelled", "agent", "bot", ""))},
		{open, team.ByAgent, message(1, event("cancelled", "system", "", ""))},
		{open, team.ByAgent, message(1, event("overdue", "system", "", ""))},
		{open, team.ByAgent, message(1, event("replied", "agent", "bot@Ann", `,"text":"x"`))},
		{open, team.ByAgent, message(1, event("completed", "system", "", `,"answer":{"human_input":"yes"}`))},
		{open, team.ByAgent, message(1, event("invoked", "agent", "bot", `,"request":{"description":"again"}`))},
		{over, team.ByOperator, message(2, claim)}, {over, team.ByOperator, message(2, event("removed", "operator", "Cleo", `,"removal":{}`))},
		{over, team.ByAgent, message(2, event("removed", "system", "", `,"removal":{}`))}, {over, team.ByAgent, message(2, event("delivered", "system", "", ""))},
		{over, team.ByOperator, message(2, event("completed", "operator", "Cleo", `,"answer":{"human_input":"another"}`))},
		{"op_new", team.ByOperator, message(0, claim)}, {"op_new", team.ByAgent, message(0)}, {"op_new", team.ByAgent, message(0, event("invoked", "agent", "bot", ""))},
		{" ", team.ByAgent, "{}"},
	} {
		if junk.id == " " {
			send(t, s, "op."+string(open)+".nodesk.agent", message(1, event("replied", "agent", "bot", `,"text":"x"`)))
			continue
		}
		send(t, s, team.Subject(junk.id, cleo, junk.class), junk.payload)
	}
	h.ok(t, b, "claim", open, "") // after all of that
	a.sees(t, open, 2)
	after := a.canonical(t)
	if len(after) != 2 || after[over] != before[over] || !strings.HasPrefix(after[open], before[open]) || strings.Count(after[open], "\n") != 2 {
		t.Errorf("there is now %v, was %v", after, before)
	}
	h.ok(t, a, "release", open, "")
	a.restart(t)
	a.online(t)
	h.ok(t, a, "complete", open, "")
	h.check(t, []*seat{a, b})
}

// Requests that no desk would take stop no desk, and nothing that reads.
func TestStrangeRequests(t *testing.T) {
	t.Parallel()
	a, b, s := pair(t)
	h := &history{start: time.Now()}
	request := func(at, request, more string) string {
		return fmt.Sprintf(`{"format":1,"before":0,"events":[{"type":"invoked","at":%q,"by":{"role":"agent","name":"bot"},"request":{%s}%s}]}`, at, request, more)
	}
	const at, usual = "2026-01-01T00:00:00Z", `"action_type":"feedback","description":"x","agent_id":"bot"`
	for n, payload := range []string{
		request(at, usual, ""),
		request(at, usual+`,"timeout":1e300`, ""), request(at, usual+`,"timeout":-1e300`, ""), request("9999-12-31T23:59:59Z", usual+`,"timeout":86400`, ""),
		request("0000-01-01T00:00:00+23:59", usual, ""), request("9999-12-31T23:59:59-23:59", usual, ""), request("0001-01-01T00:00:00Z", usual, ""),
		request(at, usual+`,"priority":-5000000000`, ""), request(at, usual+`,"priority":9000000000000000000`, ""),
		request(at, `"action_type":"","description":"","agent_id":""`, ""), request(at, `"action_type":"no such","description":"x","agent_id":"bot"`, ""),
		request(at, `"action_type":"feedback","description":"\u0000\ud800","agent_id":"b\u0000t"`, ""),
		request(at, usual, `,"details":"bm8gSlNPTg=="`), request(at, usual, `,"context":"eyJhIjox"`), request(at, usual, `,"details":"AAAA","context":"/w=="`),
		request(at, usual, `,"signed":"AAAA"`), request(at, usual, `,"receipt":"x"`), request(at, usual, `,"receipt":{}`),
		request(at, usual+`,"attachments":[{"id":"../../x"}]`, ""), request(at, usual+`,"idempotency_key":"k"`, ""), request(at, usual+`,"idempotency_key":"k"`, ""),
		request(at, usual, `,"imported":{}`), request(at, usual, `,"imported":{"version":18446744073709551615}`),
		request(at, usual, `,"desk":"Ann~1"`),
	} {
		send(t, s, team.Subject(human.OperationID(fmt.Sprintf("op_strange%02d", n)), team.Desk("Cleo", 1), team.ByAgent), payload)
	}
	h.readable(t, a, b)
}

// Whatever events a desk publishes, the others store the same, and can read it.
func TestStrangeEvents(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("the seed is %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	a, b, s := pair(t)
	h := &history{start: time.Now()}
	types := strings.Fields(`claimed released started input_saved asked replied commented snoozed shown seen overdue held undone completed cancelled
		declined delivered recording_began recording_dropped voted progressed ordered removed claimed completed held asked`)
	parts := []string{
		`"text":"x"`, `"text":"\u0000\ud800"`, `"channel":"card"`, `"channel":"\u0000"`, `"until":"9999-12-31T23:59:59-23:59"`, `"until":"2026-01-01T00:00:00Z"`,
		`"answer":{"human_input":"yes"}`, `"answer":{"decision":"approve","fields":{"\u0000":"x"},"attachments":["../x"],"key_findings":[""]}`, `"answer":{}`,
		`"recording":"rec_1"`, `"recording":"../x"`, `"progress":{}`, `"order":{}`, `"proof":{}`, `"receipt":{}`, `"receipt":"x"`, `"signed":"e30="`, `"seal":"x"`, `"removal":{}`,
		`"imported":{}`, `"desk":"Ann~1"`, `"request":{"action_type":"approve","description":"y"}`, `"details":"e30="`,
	}
	ids := []human.OperationID{h.ok(t, a, "ring", "", "bot").id, h.ok(t, b, "ring", "", "bot").id, "op_ofcleo"}
	send(t, s, team.Subject(ids[2], team.Desk("Cleo", 1), team.ByAgent), `{"format":1,"before":0,"events":[{"type":"invoked","at":"2026-01-01T00:00:00Z","by":{"role":"agent","name":"bot"},
		"request":{"action_type":"feedback","description":"x","agent_id":"bot"}}]}`)
	for _, id := range ids {
		a.sees(t, id, 1)
	}
	for range 400 {
		id := ids[r.IntN(len(ids))]
		op, err := a.q.Get(context.Background(), human.Actor{Role: human.Operator, Name: "Ann"}, id)
		if err != nil {
			t.Fatal(err)
		}
		more := ""
		for range r.IntN(4) {
			more += "," + parts[r.IntN(len(parts))]
		}
		class, by := team.ByOperator, `{"role":"operator","name":"Cleo"}`
		if r.IntN(3) == 0 {
			class, by = team.ByAgent, []string{`{"role":"agent","name":"bot"}`, `{"role":"system"}`}[r.IntN(2)]
		}
		send(t, s, team.Subject(id, team.Desk("Cleo", 1), class),
			fmt.Sprintf(`{"format":1,"before":%d,"events":[{"type":%q,"at":"2026-01-01T00:00:00Z","by":%s%s}]}`, op.Version, types[r.IntN(len(types))], by, more))
	}
	h.readable(t, a, b)
}

// readable says whether two desks still work, start again, have the same, and can show it.
func (h *history) readable(t *testing.T, a, b *seat) {
	t.Helper()
	id := h.ok(t, a, "ring", "", "bot").id
	b.sees(t, id, 1)
	h.ok(t, b, "claim", id, "")
	a.restart(t)
	a.online(t)
	same(t, []*seat{a, b})
	head, err := a.store.Head(context.Background())
	t.Logf("%d operations, %d events, %v", len(a.entries(t)), head, err)
	for _, d := range []*seat{a, b} {
		page, err := d.q.List(context.Background(), human.Actor{Role: human.Operator, Name: d.member}, queue.Filter{})
		if err != nil {
			t.Fatal(err)
		}
		for _, brief := range page.Operations {
			op, err := d.q.Get(context.Background(), human.Actor{Role: human.Operator, Name: d.member}, brief.ID)
			if err == nil {
				_, err = json.Marshal(op)
			}
			if err != nil {
				t.Errorf("%s of %s: %v", brief.ID, d.name, err)
			}
		}
	}
}

// Of messages that a desk publishes without saying after which, the first counts, on every desk.
func TestVersionsDoNotFork(t *testing.T) {
	t.Parallel()
	a, b, s := pair(t)
	h := &history{start: time.Now()}
	for n := range 20 {
		id := h.ok(t, a, "ring", "", "bot").id
		b.sees(t, id, 1)
		var all sync.WaitGroup
		for _, member := range []string{"Cleo", "Dan", "Eve"} {
			all.Go(func() {
				send(t, s, team.Subject(id, team.Desk(member, 1), team.ByOperator),
					fmt.Sprintf(`{"format":1,"before":1,"events":[{"type":"claimed","at":"2026-01-01T00:00:%02dZ","by":{"role":"operator","name":%q}}]}`, n, member))
			})
		}
		all.Go(func() { h.do(a, "claim", id, "") })
		all.Go(func() { h.do(b, "claim", id, "") })
		all.Wait()
		a.sees(t, id, 2)
		h.ok(t, b, "release", id, "")
	}
	same(t, []*seat{a, b})
	for id, entries := range b.entries(t) {
		if len(entries) != 3 || entries[1].Event.Type != human.ClaimedBy {
			t.Errorf("%s has %d versions", id, len(entries))
		}
	}
}

// A stream that was put back to an older state is not the team's journal: the desk stays offline, says why, and keeps all it has.
func TestAnOlderStream(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, port := one(t, filepath.Join(dir, "nats"), server.RANDOM_PORT)
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	a := newSeat(t, "Ann", 0, port).online(t)
	h := &history{start: time.Now()}
	h.ok(t, a, "ring", "", "bot")
	s.Shutdown()
	s.WaitForShutdown()
	if err := os.CopyFS(filepath.Join(dir, "older"), os.DirFS(filepath.Join(dir, "nats"))); err != nil {
		t.Fatal(err)
	}
	s, _ = one(t, filepath.Join(dir, "nats"), port)
	a.online(t)
	later := h.ok(t, a, "ring", "", "bot")
	before := a.canonical(t)
	s.Shutdown()
	s.WaitForShutdown()
	s, _ = one(t, filepath.Join(dir, "older"), port)
	eventually(t, 30*time.Second, "why the desk is offline", func() error {
		if is, _ := a.j.Status(); is.Online || !strings.Contains(is.Problem, "old copy") {
			return fmt.Errorf("%+v", is)
		}
		return nil
	})
	b := newSeat(t, "Ben", 0, port).online(t)
	for range 5 {
		h.ok(t, b, "ring", "", "bot") // so that the journal is longer than before
	}
	eventually(t, 30*time.Second, "why the desk is still offline", func() error {
		if is, _ := a.j.Status(); is.Online || !strings.Contains(is.Problem, "grew from an old copy") {
			return fmt.Errorf("%+v", is)
		}
		return nil
	})
	h.fails(t, a, "claim", later.id, human.Unavailable)
	own := h.ok(t, a, "ring", "", "bot")
	after := a.canonical(t)
	if delete(after, own.id); len(after) != 2 || after[later.id] != before[later.id] {
		t.Errorf("there is now %v, was %v", after, before)
	}
}

// A desk ends in the middle of commands, many times: what was acknowledged is there once.
func TestADeskEndsWhileItPublishes(t *testing.T) {
	t.Parallel()
	a, b, _ := pair(t)
	h := &history{start: time.Now()}
	done := make(chan struct{})
	working := h.work([]*seat{a, a, a, a}, 1, 20, done)
	for range 3 {
		a.each(func(p *proxy) { p.stall(back) }) // so that commands are on their way
		pause(150 * time.Millisecond)
		a.stop()
		pause(20 * time.Millisecond)
		a.each((*proxy).cut)
		a.each((*proxy).heal)
		a.restart(t)
		a.online(t)
	}
	close(done)
	working.Wait()
	a.online(t)
	h.check(t, []*seat{a, b})
}

const deskVariable = "DESKBELL_TEAM_DESK"

// deskOptions are what a desk in a process of its own is started with.
type deskOptions struct{ Member, Dir, URL string }

// beDesk rings and claims for as long as it can, and prints what was acknowledged.
func beDesk(options string) error {
	var o deskOptions
	if err := json.Unmarshal([]byte(options), &o); err != nil {
		return err
	}
	tb := &processTB{}
	s := &seat{name: team.Desk(o.Member, 1), member: o.Member, dir: o.Dir, direct: o.URL, log: slog.New(slog.DiscardHandler)}
	s.open(tb)
	h := &history{start: time.Now()}
	for k := range 8 {
		s.ended.Go(func() {
			for {
				ring := h.do(s, "ring", "", fmt.Sprint("agent-", k))
				if ring.err != nil {
					continue
				}
				fmt.Println("rung", ring.id, ring.version, ring.text)
				if claim := h.do(s, "claim", ring.id, ""); claim.err == nil {
					fmt.Println("claimed", ring.id, claim.version)
				}
			}
		})
	}
	s.ended.Wait()
	return nil
}

// processTB is what a desk that is no test has to report to.
type processTB struct{ testing.TB }

func (processTB) Helper() {}

func (processTB) Fatal(args ...any) { panic(fmt.Sprint(args...)) }

func (processTB) Error(args ...any) { panic(fmt.Sprint(args...)) }

// A desk is killed in the middle of requests and claims, many times: what it acknowledged is there once.
func TestADeskIsKilled(t *testing.T) {
	t.Parallel()
	s, port := one(t, filepath.Join(t.TempDir(), "nats"), server.RANDOM_PORT)
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	b := newSeat(t, "Ben", 0, port).online(t)
	dir := filepath.Join(t.TempDir(), "data")
	var acknowledged []string
	for range 4 {
		options, err := json.Marshal(deskOptions{"Ann", dir, s.ClientURL()})
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(os.Args[0], "-test.run=^$")
		cmd.Env = append(os.Environ(), deskVariable+"="+string(options))
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for n := 0; n < 150 && lines.Scan(); n++ {
			acknowledged = append(acknowledged, lines.Text())
		}
		_ = cmd.Process.Kill()
		for lines.Scan() {
			acknowledged = append(acknowledged, lines.Text())
		}
		_ = cmd.Wait()
	}
	a := &seat{name: team.Desk("Ann", 1), member: "Ann", dir: dir, direct: s.ClientURL()}
	a.open(t)
	t.Cleanup(func() { a.close(t) })
	a.online(t)
	same(t, []*seat{a, b})
	has := b.entries(t)
	texts := map[string]int{}
	for _, entries := range has {
		texts[entries[0].Event.Request.Description]++
	}
	if len(acknowledged) < 400 {
		t.Errorf("only %d commands were acknowledged", len(acknowledged))
	}
	for _, line := range acknowledged {
		parts := strings.SplitN(line, " ", 4)
		if len(parts) < 3 {
			continue // cut short by the kill
		}
		id := human.OperationID(parts[1])
		want := human.Invoked
		if parts[0] == "claimed" {
			want = human.ClaimedBy
		}
		version, _ := strconv.Atoi(parts[2])
		if version == 0 || len(has[id]) < version || has[id][version-1].Event.Type != want {
			t.Errorf("%q was acknowledged, and Ben has %d versions", line, len(has[id]))
		}
	}
}
