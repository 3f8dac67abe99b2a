//go:build unix

package team_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"deskbell/backend/human"
)

// TestThroughputOfATeam logs how long requests take with three nodes and 20 desks, 10,000 requests a minute, for so many seconds as
// DESKBELL_TEAM_BENCH says: until a request is acknowledged, and until each other desk shows it.
func TestThroughputOfATeam(t *testing.T) {
	seconds, _ := strconv.Atoi(os.Getenv("DESKBELL_TEAM_BENCH"))
	if seconds == 0 {
		t.Skip("DESKBELL_TEAM_BENCH says for how many seconds")
	}
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
