package sqlite

import (
	"testing"

	"go.uber.org/goleak"

	"deskbell/backend/queue/journaltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func openJournal(tb testing.TB, dir string) journaltest.Journal {
	tb.Helper()
	s, err := Open(tb.Context(), dir, Options{})
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func TestJournal(t *testing.T) { journaltest.Run(t, openJournal) }

func BenchmarkJournal(b *testing.B) { journaltest.Bench(b, openJournal) }
