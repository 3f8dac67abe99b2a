package sqlite

import (
	"context"
	"database/sql"
	"time"

	"deskbell/backend/queue/receipt"
)

// gaps are what a repair could not bring back of the journal, in order.
type gaps []receipt.AuditGap

// across is where the journal continues before an entry: behind the gap that ends there, else where it was.
func (all gaps) across(before position, next uint64) position {
	for _, g := range all {
		if g.First == before.seq+1 && g.Last+1 == next {
			return position{seq: g.Last, link: g.Link}
		}
	}
	return before
}

func (s *Store) readGaps(ctx context.Context) (all gaps, err error) {
	err = s.rows(ctx, `SELECT first, last, link, at FROM gaps ORDER BY first`, nil, func(rows *sql.Rows) error {
		var g receipt.AuditGap
		var link []byte
		var at int64
		err := rows.Scan(&g.First, &g.Last, &link, &at)
		copy(g.Link[:], link)
		g.At = time.UnixMicro(at).UTC()
		all = append(all, g)
		return err
	})
	return all, err
}

// missing is how many entries are in gaps.
func (s *Store) missing(ctx context.Context) (n uint64, err error) {
	err = s.reads.QueryRowContext(ctx, `SELECT coalesce(sum(last - first + 1), 0) FROM gaps`).Scan(&n)
	return n, err
}
