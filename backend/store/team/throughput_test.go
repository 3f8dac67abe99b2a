//go:build unix

package team_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"deskbell/backend/human"
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
// DESKBELL_TEAM_BENCH says: until a request is acknowledged, and until each other desk shows it.
func TestThroughputOfATeam(t *testing.T) {
	seconds := benchSeconds(t)
	const desks, perMinute = 20, 10_000
	c := newCluster(t)
	seats := make([]*seat, desks)
	for i := range seats {
		seats[i] = c.seat(t, fmt.Sprint("Member ", i), 0)
	}
	var rung sync.Map // when, by description
	var mu sync.Mutex
	var acknowledged, visible []time.Duration
	note := func(to *[]time.Duration, d time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		*to = append(*to, d)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var following sync.WaitGroup
	for _, s := range seats {
		s.online(t)
		following.Go(func() {
			for e, err := range s.q.Follow(ctx, human.Actor{Role: human.Operator, Name: s.member}, 0) {
				if err == nil && e.Event.Type == human.Invoked && e.Event.Desk != "" {
					began, _ := rung.Load(e.Event.Request.Description)
					note(&visible, time.Since(began.(time.Time)))
				}
			}
		})
	}
	start := time.Now()
	var ringing sync.WaitGroup
	every := time.Minute / perMinute
	tick := time.NewTicker(every)
	defer tick.Stop()
	n := seconds * perMinute / 60
	for i := range n {
		<-tick.C
		ringing.Go(func() {
			s, text := seats[i%desks], fmt.Sprint("request ", i)
			began := time.Now()
			rung.Store(text, began)
			_, _, err := s.q.Ring(context.Background(), human.Request{Kind: human.Feedback, Description: text, AgentID: fmt.Sprint("agent-", i%10), Priority: human.DefaultPriority, Timeout: 240}, false)
			if err != nil {
				t.Error(err)
			}
			note(&acknowledged, time.Since(began))
		})
	}
	ringing.Wait()
	took := time.Since(start)
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
	t.Logf("%.0f requests a second were acknowledged", float64(n)/took.Seconds())
	for _, of := range []struct {
		name string
		all  []time.Duration
	}{{"acknowledged", acknowledged}, {"visible on another desk", visible}} {
		slices.Sort(of.all)
		at := func(part float64) time.Duration {
			return of.all[int(part*float64(len(of.all)-1))].Round(100 * time.Microsecond)
		}
		t.Logf("until %s: p50 %v, p99 %v, longest %v", of.name, at(.5), at(.99), at(1))
	}
}
