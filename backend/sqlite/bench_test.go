package sqlite

import (
	"fmt"
	"path/filepath"

	"testing"

	"deskbell/backend/human"
	"deskbell/backend/queue/journaltest"
)

// BenchmarkRings compares what group commit is for: rings by 1, 16 and 64 callers against the same journal
// row stored alone, one durable transaction each on one connection. Run both in one go; the disk's pace changes.
func BenchmarkRings(b *testing.B) {
	b.Run("single commits", func(b *testing.B) {
		db, err := connect(filepath.Join(b.TempDir(), "single.db"), 1, "journal_mode(WAL)", "synchronous(FULL)")
		if err != nil {
			b.Fatal(err)
		}
		defer db.Close()
		if _, err := db.Exec(`CREATE TABLE journal (seq INTEGER PRIMARY KEY, id TEXT, payload TEXT)`); err != nil {
			b.Fatal(err)
		}
		insert, err := db.Prepare(`INSERT INTO journal VALUES (?, ?, ?)`)
		if err != nil {
			b.Fatal(err)
		}
		defer insert.Close()
		e := ring("Please look at the failing deployment of the billing service")
		r, err := encode(human.Entry{ID: "op_1", Version: 1, Event: e})
		if err != nil {
			b.Fatal(err)
		}
		b.ResetTimer()
		for i := range b.N {
			if _, err := insert.Exec(i, fmt.Sprintf("op_%026d", i), r.payload); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rings/s")
	})
	for _, callers := range []int{1, 16, 64} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			s := openJournal(b, b.TempDir())
			defer s.Close()
			b.ResetTimer()
			journaltest.Rings(b, s, callers)
		})
	}
}
