package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"

	codes "modernc.org/sqlite/lib"

	"deskbell/backend/human"
	"deskbell/backend/queue/receipt"
)

// Inspect reads all of a folder's database without changing it, also while a Deskbell runs: its pages, every entry, what lists show,
// and every text. Nothing is made where there is no database and none is due; the report's File is then empty. An error means that
// it could not be read, and not that something is damaged.
func Inspect(ctx context.Context, dir string) (Report, error) {
	steps, err := migrations()
	if err != nil {
		return Report{}, err
	}
	r, head, hasHead, err := verifyFiles(dir)
	var bad *Damaged
	if errors.As(err, &bad) {
		return bad.Report, nil
	}
	if err != nil || r.File == "" {
		return r, err
	}
	p, err := probe(r.File)
	if err != nil {
		return r, err
	}
	err = p.inspect(ctx, &r, head, hasHead, len(steps))
	if err = errors.Join(err, p.closeFiles()); damage(err) || code(err) == codes.SQLITE_ERROR { // the latter where a name in its schema is another one
		r.found(human.Sayf("SQLite says: %s", sqliteSays(err)))
		err = nil
	}
	return r, storageError(err, r.File)
}

func (s *Store) inspect(ctx context.Context, r *Report, head Head, hasHead bool, known int) error {
	var format int
	if err := s.reads.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&format); err != nil {
		return err
	}
	if err := s.verify(ctx, r, head, hasHead, known); err != nil {
		return err
	}
	if r.Lost != nil {
		r.elsewhere(ctx, head)
	}
	if err := s.built(ctx, `PRAGMA integrity_check(50)`, nil, r.checked); err != nil {
		return err
	}
	if format != known {
		return nil // the next start brings it to this version; it is inspected then
	}
	var err error
	if r.Unread, err = s.Losses(ctx); err != nil {
		return err
	}
	if err := s.checkChain(ctx, r); err != nil {
		return err
	}
	if err := s.checkTexts(ctx, r); err != nil {
		return err
	}
	return s.checkProjection(ctx, r)
}

// AuditFile is Audit of a folder's database, without changing it. It does not know where the journal has to end: see Inspect.
func AuditFile(ctx context.Context, dir string, trust receipt.Trust) (audit receipt.Audit, err error) {
	p, err := probe(filepath.Join(dir, FileName))
	if err != nil {
		return audit, err
	}
	audit, err = p.Audit(ctx, trust)
	return audit, storageError(errors.Join(err, p.closeFiles()), p.file)
}

// checkTexts reads each row of what does not follow from the journal.
func (s *Store) checkTexts(ctx context.Context, r *Report) error {
	for _, name := range append(slices.Clone(otherTables), "receipts", "operations") {
		rows, err := s.reads.QueryContext(ctx, `SELECT * FROM `+name)
		if err != nil {
			return err
		}
		columns, err := rows.Columns()
		if err != nil {
			return errors.Join(err, rows.Close())
		}
		values, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i], columns[i] = &values[i], `"`+columns[i]+`"`
		}
		n, bad := 0, 0
		err = eachRow(rows, func(rows *sql.Rows) error {
			n++
			err := rows.Scan(into...)
			if err == nil && !soundRow(name, columns, values) {
				bad++
			}
			return err
		})
		if err != nil {
			return err
		}
		if bad > 0 {
			r.found(human.Sayf("%d of %d rows of the table %s cannot be read", bad, n, name))
		}
	}
	return nil
}

// checkProjection compares what lists show with the journal that it follows from.
func (s *Store) checkProjection(ctx context.Context, r *Report) error {
	rows, err := s.reads.QueryContext(ctx, `SELECT o.n, o.data, j.seq, j.operation_id, j.version, j.payload, j.details, j.context, j.type, j.at
		FROM operations AS o JOIN journal AS j ON j.operation_id = o.operation_id ORDER BY o.operation_id, j.version`)
	if err != nil {
		return err
	}
	var f *folded
	var shown string
	compare := func() {
		if f == nil {
			return
		}
		if data, err := json.Marshal(&f.op); err != nil || string(data) != shown {
			r.found(human.Sayf("lists show operation %s other than the journal has it", f.op.ID))
		}
	}
	err = eachRow(rows, func(rows *sql.Rows) error {
		var e row
		var n uint64
		var data string
		if err := rows.Scan(&n, &data, &e.entry.Seq, &e.entry.ID, &e.entry.Version, &e.payload, &e.details, &e.context, &e.kind, &e.at); err != nil {
			return err
		}
		if e.entry.Version == 1 {
			compare()
			f, shown = &folded{n: n, op: human.Operation{ID: e.entry.ID}}, data
		}
		if f == nil || f.op.ID != e.entry.ID || e.decode() != nil {
			f = nil // checkChain says so
			return nil
		}
		next, err := f.apply([]row{e})
		if err != nil {
			f = nil
			return nil
		}
		f = next
		return nil
	})
	if err == nil {
		compare()
	}
	return err
}
