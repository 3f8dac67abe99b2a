package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/queue/observe"
	"deskbell/backend/store/disk"
)

// leastFree is how many bytes of the disk have to be free for the Store to be Ready: what a few large requests take.
const leastFree = 16 << 20

// Ready says whether an event could be stored now: it stores a mark, durably, and looks at the space that is left. The error says why not.
func (s *Store) Ready(ctx context.Context) error {
	if err := s.SetSetting(ctx, "ready", time.Now().UTC().Format(time.RFC3339Nano)); err != nil {
		return err
	}
	free, err := disk.Free(filepath.Dir(s.file))
	if err == nil && free < leastFree {
		return human.Errorf(human.Exhausted, "the disk of %s is full (%d MB are free, %d are needed); free some space", filepath.Dir(s.file), free>>20, leastFree>>20)
	}
	return nil // where the space is not known, the mark says enough
}

// Bytes is the size of the database's files.
func (s *Store) Bytes() (sum int64, err error) {
	for _, path := range []string{s.file, s.logFile()} {
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return 0, err
		}
		sum += info.Size()
	}
	return sum, nil
}

// Alike counts the open operations, those that are alike together, in no order.
func (s *Store) Alike(ctx context.Context) (all []observe.Alike, err error) {
	const alike = `SELECT kind, state, coalesce(data ->> 'risk', ''), coalesce(data ->> 'overdue', 0),
			EXISTS (SELECT 1 FROM json_each(data, '$.deliveries') WHERE value ->> 'seen' IS NOT NULL) AS seen,
			count(*), min(unixepoch(data ->> 'created_at', 'subsec'))
		FROM operations INDEXED BY operations_urgent WHERE open = 1 GROUP BY 1, 2, 3, 4, 5`
	err = s.rows(ctx, alike, nil, func(rows *sql.Rows) error {
		var a observe.Alike
		var oldest float64
		if err := rows.Scan(&a.Kind, &a.State, &a.Risk, &a.Overdue, &a.Seen, &a.Count, &oldest); err != nil {
			return err
		}
		a.Oldest = time.UnixMilli(int64(oldest * 1000)).UTC()
		all = append(all, a)
		return nil
	})
	return all, s.fail(ctx, err)
}
