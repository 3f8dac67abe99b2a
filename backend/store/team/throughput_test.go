//go:build unix

package team_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"deskbell/backend/human"
	"deskbell/backend/queue"
	"deskbell/backend/queue/journaltest"
	"deskbell/backend/store/sqlite"
	"deskbell/backend/store/team"
)

// benchSeconds skips a test where DESKBELL_TEAM_BENCH does not say for how many seconds to measure.
func benchSeconds(t *testing.T) int {
	t.Helper()
	seconds, _ := strconv.Atoi(os.Getenv("DESKBELL_TEAM_BENCH"))
	if seconds == 0 {
		t.Skip("DESKBELL_TEAM_BENCH says for how many seconds")
	}
	return seconds
}

// TestSizesOfATeam logs what docs/scale.md begins with: how large messages are, how many are stored a second, and how fast a new desk reads
// them.
func TestSizesOfATeam(t *testing.T) {
	seconds := benchSeconds(t)
	c := newCluster(t)
	s := c.seat(t, "Mei", 0).online(t)
	h := &history{start: time.Now()}
	var working sync.WaitGroup
	for range 64 {
		working.Go(func() {
			for time.Since(h.start) < time.Duration(seconds)*time.Second {
				id := h.do(s, "ring", "", "agent").id
				h.do(s, "claim", id, "")
				h.do(s, "complete", id, "")
			}
		})
	}
	working.Wait()
	took := time.Since(h.start)
	for _, a := range h.acts {
		if a.err != nil {
			t.Fatal(a.err)
		}
	}
	c.admin(t, func(ctx context.Context, _ *nats.Conn, js jetstream.JetStream) error {
		stream, err := js.Stream(ctx, team.Stream)
		if err != nil {
			return err
		}
		is := stream.CachedInfo().State
		t.Logf("%d messages of %d bytes, %.0f stored a second", is.Msgs, is.Bytes/is.Msgs, float64(is.Msgs)/took.Seconds())
		began := time.Now()
		c.seat(t, "Ann", 0).online(t)
		t.Logf("%.0f read a second by a new desk", float64(is.Msgs)/time.Since(began).Seconds())
		return nil
	})
	file, err := os.Stat(filepath.Join(s.dir, "deskbell.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%.0f bytes of a request in the database", float64(file.Size())/float64(len(h.rung)))
}

// TestThroughputOfATeam logs how long requests take with three nodes and 20 desks, 10,000 requests a minute, for so many seconds as
// DESKBELL_TEAM_BENCH says: until a request is acknowledged, and until each other desk shows it. It gives one desk without a team the same.
func TestThroughputOfATeam(t *testing.T) {
	seconds := benchSeconds(t)
	const desks, perMinute = 20, 10_000
	n := seconds * perMinute / 60
	store, err := sqlite.Open(t.Context(), t.TempDir(), sqlite.Options{Key: journaltest.Key})
	if err != nil {
		t.Fatal(err)
	}
	alone := queue.New(store, store, queue.Options{Now: time.Now, MaxPending: 1 << 20, Log: slog.New(slog.DiscardHandler)})
	rings(t, "one desk without a team", []*queue.Queue{alone}, n, time.Minute/perMinute, func(string) {})

	if err := store.Close(); err != nil {
		t.Fatal(err)
	}

	c := newCluster(t)
	var mu sync.Mutex
	var visible []time.Duration
	var rung sync.Map // when, by description
	ctx, cancel := context.WithCancel(context.Background())
	var following sync.WaitGroup
	queues := make([]*queue.Queue, desks)
	for i := range queues {
		s := c.seat(t, fmt.Sprint("Member ", i), 0)
		queues[i] = s.q
		s.online(t)
		following.Go(func() {
			for e, err := range s.q.Follow(ctx, human.Actor{Role: human.Operator, Name: s.member}, 0) {
				if err == nil && e.Event.Type == human.Invoked && e.Event.Desk != "" {
					began, _ := rung.Load(e.Event.Request.Description)
					mu.Lock()
					visible = append(visible, time.Since(began.(time.Time)))
					mu.Unlock()
				}
			}
		})
	}
	rings(t, "20 desks", queues, n, time.Minute/perMinute, func(text string) { rung.Store(text, time.Now()) })
	eventually(t, time.Minute, "all desks to show all requests", func() error {
		mu.Lock()
		defer mu.Unlock()
		if len(visible) < n*(desks-1) {
			return fmt.Errorf("%d of %d are shown", len(visible), n*(desks-1))
		}
		return nil
	})
	cancel()
	following.Wait()
	logTimes(t, "20 desks: until visible on another desk", visible)
}

// rings has agents of all queues send n requests in turn, one after every so long, and logs how long they took.
func rings(tb testing.TB, name string, queues []*queue.Queue, n int, every time.Duration, begins func(text string)) {
	tb.Helper()
	acknowledged := make([]time.Duration, n)
	start := time.Now()
	var ringing sync.WaitGroup
	tick := time.NewTicker(every)
	defer tick.Stop()
	for i := range n {
		<-tick.C
		ringing.Go(func() {
			text := fmt.Sprint("request ", i)
			began := time.Now()
			begins(text)
			_, _, err := queues[i%len(queues)].Ring(context.Background(), human.Request{Kind: human.Feedback, Description: text, AgentID: fmt.Sprint("agent-", i%10), Priority: human.DefaultPriority, Timeout: 240}, false)
			if err != nil {
				tb.Error(err)
			}
			acknowledged[i] = time.Since(began)
		})
	}
	ringing.Wait()
	tb.Logf("%s: %.0f requests a second were acknowledged", name, float64(n)/time.Since(start).Seconds())
	logTimes(tb, name+": until acknowledged", acknowledged)
}

func logTimes(tb testing.TB, name string, all []time.Duration) {
	tb.Helper()
	slices.Sort(all)
	at := func(part float64) time.Duration {
		return all[int(part*float64(len(all)-1))].Round(100 * time.Microsecond)
	}
	tb.Logf("%s: p50 %v, p99 %v, longest %v", name, at(.5), at(.99), at(1))
}

// TestCatchingUp logs how long a desk with nothing takes for so many events as DESKBELL_TEAM_CATCHUP says, and the memory of this process: from the
// stream, then from snapshots.
func TestCatchingUp(t *testing.T) {
	events, _ := strconv.Atoi(os.Getenv("DESKBELL_TEAM_CATCHUP"))
	if events == 0 {
		t.Skip("DESKBELL_TEAM_CATCHUP says how many events")
	}
	c := newCluster(t)
	a := c.seat(t, "Ann", 0).online(t)
	h := &history{start: time.Now()}
	id := h.ok(t, a, "ring", "", "bot").id
	for _, command := range []string{"claim", "ask", "reply", "complete"} {
		h.ok(t, a, command, id, "bot")
	}
	a.stop()
	a.ended.Wait() // it is not to catch up, too
	ctx := t.Context()
	conn, err := nats.Connect(c.urls())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn, jetstream.WithPublishAsyncMaxPending(4096))
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.Stream(ctx, team.Stream)
	if err != nil {
		t.Fatal(err)
	}
	last := stream.CachedInfo().State.LastSeq
	var messages []*jetstream.RawStreamMsg
	for place := uint64(1); place <= last; place++ {
		m, err := stream.GetMsg(ctx, place)
		if err != nil {
			t.Fatal(err)
		}
		messages = append(messages, m)
	}
	var bytes int
	for n := range events/int(last) - 1 { // the same with other ids
		for _, m := range messages {
			bytes += len(m.Data)
			if _, err := js.PublishAsync(strings.Replace(m.Subject, string(id), fmt.Sprintf("op_%026d", n), 1), m.Data); err != nil {
				t.Fatal(err)
			}
		}
	}
	select {
	case <-js.PublishAsyncComplete():
	case <-time.After(10 * time.Minute):
		t.Fatal("the events are not all stored")
	}
	t.Logf("the stream has %d events, %d bytes each", events, bytes/events)
	for _, from := range []string{"the stream", "snapshots"} {
		began := time.Now()
		b := c.seat(t, "Ben", 0)
		for s, changed := b.j.Status(); !s.Online; s, changed = b.j.Status() {
			<-changed
		}
		head, err := b.store.Head(ctx)
		if err != nil || head < uint64(events)-last {
			t.Fatalf("the desk has %d events, %v", head, err)
		}
		peak, _ := os.ReadFile("/proc/self/status")
		t.Logf("from %s: %d events after %v, %.0f a second; %s", from, head, time.Since(began).Round(time.Millisecond), float64(head)/time.Since(began).Seconds(), regexp.MustCompile(`VmHWM:.*`).Find(peak))
		if from == "the stream" {
			began = time.Now()
			n, err := team.Fold(ctx, js, time.Now().Add(time.Hour))
			t.Logf("%d operations were folded after %v, %v", n, time.Since(began).Round(time.Millisecond), err)
		}
	}
}
