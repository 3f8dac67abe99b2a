package queue_test

import (
	"testing"
	"testing/synctest"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/queue"
)

func TestWhatWasSnoozedIsShownAndSeenAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, _ := open(t, t.TempDir(), queue.Options{})
		r := request(bot, "later")
		r.Timeout = 0
		op := ring(t, q, r)
		note := func() human.Delivery {
			t.Helper()
			if _, err := q.Shown(t.Context(), op.ID, "card", ""); err != nil {
				t.Fatal(err)
			}
			now, err := q.Seen(t.Context(), mei, op.ID, "card")
			if err != nil {
				t.Fatal(err)
			}
			op = now
			return now.Deliveries[0]
		}
		start := time.Now()
		first := note()
		until := start.Add(72 * time.Hour)
		if _, err := q.Snooze(t.Context(), mei, op.ID, &until); err != nil {
			t.Fatal(err)
		}
		<-time.After(24 * time.Hour)
		if asleep := note(); !asleep.Shown.Equal(start) || !asleep.Seen.Equal(start) || asleep.Again != nil {
			t.Errorf("while it is snoozed: %+v, before %+v", asleep, first)
		}
		<-time.After(48 * time.Hour)
		back := note()
		if !back.Shown.Equal(until) || !back.Seen.Equal(start) || back.Again == nil || !back.Again.Equal(until) {
			t.Errorf("once it is back: %+v", back)
		}
		before := op.Version
		<-time.After(time.Hour)
		if note(); op.Version != before {
			t.Errorf("it is noted again and again: version %d, then %d", before, op.Version)
		}
		if agents, err := q.History(t.Context(), bot, op.ID); err != nil || len(agents) != 1 {
			t.Errorf("the agent was told %v, %v", agents, err)
		}
	})
}
