package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"deskbell/backend/human"
	"deskbell/backend/queue/receipt"
)

// A Rescued file is one that Deskbell saved when its database was deleted, replaced or shortened while it ran, as a repair finds it.
type Rescued struct {
	File    string `json:"file"`
	Entries uint64 `json:"entries"`         // taken from it, which the database lacks
	Whole   bool   `json:"whole,omitempty"` // all is taken from it: it goes further than the database
	Problem string `json:"problem,omitempty"`
}

// savedEntry is a line of a rescued file of entries. The texts are those that the entry's hash covers, byte by byte.
type savedEntry struct {
	Seq       uint64            `json:"seq"`
	Operation human.OperationID `json:"operation_id"`
	Version   uint64            `json:"version"`
	Type      string            `json:"type"`
	At        int64             `json:"at"` // microseconds since 1970
	Event     string            `json:"event"`
	Details   string            `json:"details,omitempty"`
	Context   string            `json:"context,omitempty"`
	Link      []byte            `json:"link"` // SHA-256, base64
}

// A hole is entries that a database lacks or does not prove.
type hole struct{ first, last uint64 }

const savedEntries = ".jsonl"

// rescuesOf lists the rescued files beside a database, the oldest first.
func rescuesOf(file string) (all []string) {
	for _, pattern := range []string{".rescued-*Z", ".rescued-*Z" + savedEntries} {
		found, _ := filepath.Glob(file + pattern) // the pattern is right
		all = append(all, found...)
	}
	return all
}

// rescuedWith names the rescued file beside a database that has the entry of a head; "" where none has.
func rescuedWith(ctx context.Context, file string, head Head) (with string) {
	for _, name := range rescuesOf(file) {
		f := Rescued{File: name}
		if strings.HasSuffix(name, savedEntries) {
			if slices.ContainsFunc(f.lines(), func(s salvaged) bool { return s.entry.Seq == head.Seq && head.is(s.link) }) {
				with = name
			}
			continue
		}
		_ = f.open(func(db *sql.DB) error { // one that cannot be read has nothing
			if head.is(linkAt(ctx, db, head.Seq)) {
				with = name
			}
			return nil
		})
	}
	return with
}

// findRescues lists the rescued files beside the database, and those that are named.
func (r *repairer) findRescues(named []string) error {
	all := rescuesOf(r.file)
	for _, name := range named {
		path, err := filepath.Abs(name)
		if err == nil {
			_, err = os.Stat(path)
		}
		if err != nil {
			return human.Wrap(human.Invalid, err, "the rescued file %s cannot be read (%s); give the path that Deskbell said when it saved it", name, reason(err))
		}
		if !slices.Contains(all, path) {
			all = append(all, path)
		}
	}
	for _, name := range all {
		r.Rescues = append(r.Rescues, Rescued{File: name})
	}
	return nil
}

// preferRescue has all read from a rescued file if that has the last entry that deskbell.head names, and the database does not: it was
// emptied, or another copy was put in its place. Of a database of which SQLite reads nothing, what goes furthest is better than nothing.
func (r *repairer) preferRescue(ctx context.Context) error {
	if r.image != nil && r.head.is(linkAt(ctx, r.image, r.head.Seq)) {
		return nil
	}
	var best *Rescued
	furthest := uint64(0)
	for i := range r.Rescues {
		f := &r.Rescues[i]
		if strings.HasSuffix(f.File, savedEntries) {
			continue
		}
		err := f.open(func(db *sql.DB) error {
			end := lastEntry(ctx, db)
			same := r.head.is(linkAt(ctx, db, r.head.Seq))
			if end > furthest && (same || r.image == nil && (r.head.Seq == 0 || end < r.head.Seq)) {
				furthest, best = end, f
			}
			return ctx.Err()
		})
		if err != nil {
			return err
		}
	}
	if best == nil {
		return nil
	}
	best.Whole = true
	if err := r.closeSource(); err != nil {
		return err
	}
	return r.openSource(ctx, best.File)
}

// lastEntry is the number of the last entry of a journal; 0 where it has none that can be read.
func lastEntry(ctx context.Context, db *sql.DB) (seq uint64) {
	if db.QueryRowContext(ctx, `SELECT coalesce(max(seq), 0) FROM journal`).Scan(&seq) != nil {
		return 0
	}
	return seq
}

// linkAt is the link of an entry; zero where it cannot be read.
func linkAt(ctx context.Context, db *sql.DB, seq uint64) (link receipt.Link) {
	var raw []byte
	if db.QueryRowContext(ctx, `SELECT link FROM journal WHERE seq = ?`, int64(seq)).Scan(&raw) == nil {
		copy(link[:], raw)
	}
	return link
}

// is says whether a link is that of the entry that a head names.
func (h Head) is(link receipt.Link) bool { return h.Seq > 0 && hex.EncodeToString(link[:]) == h.Link }

// open opens a rescued database, and notes a problem where it cannot be read.
func (f *Rescued) open(with func(*sql.DB) error) (err error) {
	db, err := sql.Open("sqlite", address(f.File, "query_only(ON)")+"&mode=ro&immutable=1")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := db.Ping(); err != nil {
		f.Problem = reason(err)
		return nil
	}
	return with(db)
}

// askRescues offers what rescued files have of the entries that are missing, as far as they are of the same history.
func (r *repairer) askRescues(ctx context.Context, wanted []hole, offer func(salvaged)) error {
	for i := range r.Rescues {
		f := &r.Rescues[i]
		take := func(s salvaged) error {
			s.from = f
			offer(s)
			return ctx.Err()
		}
		if f.Whole {
			continue
		}
		if strings.HasSuffix(f.File, savedEntries) {
			all := f.lines()
			until := uint64(0)
			for _, s := range all {
				if end, same := r.agrees(ctx, s.entry.Seq, s.link); same {
					until = end
				}
			}
			for _, s := range all {
				if s.entry.Seq <= until {
					_ = take(s) // all that there is is in memory
				}
			}
			continue
		}
		err := f.open(func(db *sql.DB) error {
			until := r.sameUntil(ctx, db)
			for _, h := range wanted {
				if h.last = min(h.last, until); h.first > h.last {
					break
				}
				if err := journalRows(ctx, db, h.first, h.last, take); err != nil {
					return err
				}
				receiptsOf(ctx, db, h, take)
			}
			return ctx.Err()
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// agrees says whether an entry of another file is in the history that is repaired. Its link stands for all that came before it, so those
// are as well; and what follows up to until, because the database ends there and it is not known how far it went.
func (r *repairer) agrees(ctx context.Context, seq uint64, link receipt.Link) (until uint64, same bool) {
	same = seq == r.head.Seq && r.head.is(link) || r.image != nil && linkAt(ctx, r.image, seq) == link || r.image == nil && r.head.Seq == 0
	if until = seq; same && r.head.Seq == 0 && seq >= r.top {
		until = math.MaxInt64
	}
	return until, same
}

// sameUntil is the last entry up to which a rescued database is of the history that is repaired; 0 where none is.
func (r *repairer) sameUntil(ctx context.Context, db *sql.DB) (until uint64) {
	rows, err := db.QueryContext(ctx, `SELECT seq, link FROM journal ORDER BY seq DESC`)
	if err != nil {
		return 0
	}
	found := errors.New("found")
	_ = eachRow(rows, func(rows *sql.Rows) error { // as far as it can be read
		var seq uint64
		var raw []byte
		if err := rows.Scan(&seq, &raw); err != nil {
			return err
		}
		var link receipt.Link
		copy(link[:], raw)
		end, same := r.agrees(ctx, seq, link)
		if same {
			until = end
			return found
		}
		return ctx.Err()
	})
	return until
}

// receiptsOf gives the receipts of entries that are missing, as far as they can be read; only that of the entry that is kept counts.
func receiptsOf(ctx context.Context, db *sql.DB, h hole, each func(salvaged) error) {
	rows, err := db.QueryContext(ctx, `SELECT seq, proof FROM receipts WHERE seq BETWEEN ? AND ?`, int64(h.first), int64(h.last))
	if err != nil {
		return
	}
	_ = eachRow(rows, func(rows *sql.Rows) error {
		var s salvaged
		if err := rows.Scan(&s.entry.Seq, &s.proof); err != nil {
			return err
		}
		return each(s)
	})
}

// lines reads a rescued file of entries, as far as it can be read.
func (f *Rescued) lines() (all []salvaged) {
	text, err := os.ReadFile(f.File) // 16 MiB at most, and what JSON adds
	for lines := json.NewDecoder(bytes.NewReader(text)); err == nil; {
		var e savedEntry
		if err = lines.Decode(&e); err != nil {
			break
		}
		s := salvaged{row: row{entry: human.Entry{Seq: e.Seq, ID: e.Operation, Version: e.Version}, payload: e.Event, kind: e.Type, at: e.At}}
		if e.Details != "" {
			s.details = []byte(e.Details)
		}
		if e.Context != "" {
			s.context = []byte(e.Context)
		}
		copy(s.link[:], e.Link)
		all = append(all, s)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		f.Problem = reason(err)
	}
	return all
}
