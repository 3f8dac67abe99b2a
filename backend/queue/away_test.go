package queue_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/queue"
	"deskbell/backend/queue/journaltest"
	"deskbell/backend/store/sqlite"
)

// An awayJournal takes nothing while its team cannot be reached, but for one operation that no other desk knows.
type awayJournal struct {
	queue.Journal
	away *atomic.Bool
	own  *atomic.Value // human.OperationID
}

func (j awayJournal) Append(ctx context.Context, id human.OperationID, expected uint64, events ...human.Event) (uint64, error) {
	if j.away.Load() && j.own.Load() != id {
		return 0, human.Errorf(human.Unavailable, "this desk has no connection")
	}
	return j.Journal.Append(ctx, id, expected, events...)
}

func TestWhatIsDueWhileAwayIsSaidOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, err := sqlite.Open(t.Context(), t.TempDir(), sqlite.Options{Key: journaltest.Key})
		if err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer // read while the queue waits only
		away, own := &atomic.Bool{}, &atomic.Value{}
		q := queue.New(awayJournal{store, away, own}, store, queue.Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
		if err := q.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- q.Run(ctx) }()
		due := func(text string, after float64) human.OperationID {
			r := request(bot, text)
			r.Timeout = after
			return ring(t, q, r).ID
		}
		after := func(d time.Duration, said int, overdue ...human.OperationID) {
			t.Helper()
			<-time.After(d) // of the bubble's clock
			synctest.Wait()
			if n := strings.Count(log.String(), "could not be marked overdue"); n != said {
				t.Errorf("it was said %d times, not %d: %s", n, said, &log)
			}
			for _, id := range overdue {
				if op, err := q.Get(t.Context(), mei, id); err != nil || !op.Overdue {
					t.Errorf("%s is not overdue: %v", op.Description, err)
				}
			}
		}
		first, second, third, alone := due("first", 10), due("second", 20), due("third", 200), due("alone", 30)
		own.Store(alone)
		away.Store(true)
		after(60*time.Second, 1, alone)
		away.Store(false)
		after(2*time.Second, 1, first, second)
		away.Store(true)
		after(180*time.Second, 2)
		away.Store(false)
		after(2*time.Second, 2, third)
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
}
