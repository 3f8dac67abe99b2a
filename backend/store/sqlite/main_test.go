package sqlite

import (
	"context"
	"slices"
	"testing"

	"go.uber.org/goleak"

	"deskbell/backend/queue/journaltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func openJournal(tb testing.TB, dir string) journaltest.Journal {
	tb.Helper()
	s, err := Open(tb.Context(), dir, Options{Key: journaltest.Key})
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func TestJournal(t *testing.T) {
	journaltest.Run(t, func(tb testing.TB, dir string) journaltest.Journal {
		tb.Helper()
		h := &history{TB: tb, dir: dir}
		h.open(Options{lateTexts: 7, Key: journaltest.Key})
		// Whatever way the process before it ended, the search index continues where it was.
		grown := h.dump()
		if err := h.Rebuild(context.Background()); err != nil {
			tb.Fatal(err)
		}
		if made := h.dump(); !slices.Equal(grown, made) {
			tb.Errorf("the projection made anew has %d lines, the grown one has %d", len(made), len(grown))
		}
		return h.Store
	})
}

func BenchmarkJournal(b *testing.B) { journaltest.Bench(b, openJournal) }
