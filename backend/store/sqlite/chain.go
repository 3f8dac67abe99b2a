package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"deskbell/backend/human"
	"deskbell/backend/queue/receipt"
)

// A tip is where the journal's chain and the log of receipts end. log is nil until a receipt needs it.
type tip struct {
	link receipt.Link
	log  *receipt.Log
}

// links is the chain one row further.
func (r *row) links(after receipt.Link) receipt.Link {
	e := &r.entry
	return after.Next(e.Seq, e.Version, []byte(e.ID), []byte(r.kind), strconv.AppendInt(nil, r.at, 10), []byte(r.payload), r.details, r.context)
}

// hashReceipt sets the hash of the receipt of an event that is to be appended.
func (s *Store) hashReceipt(r *row) (err error) {
	given := r.entry.Event.Receipt
	if given == nil {
		return nil
	}
	if s.key == nil {
		return human.Errorf(human.Internal, "there is no key to sign receipts with")
	}
	if r.leaf, err = receipt.Leaf(*given); err != nil {
		return human.Wrap(human.Invalid, err, "the receipt of operation %s cannot be read: %v", r.entry.ID, err)
	}
	return nil
}

// seal gives the receipt of a row that was just written its place in the log.
func (w *writer) seal(ctx context.Context, r *row) error {
	if w.tip.log == nil {
		var text string
		switch err := w.stmts.lastReceipt.QueryRowContext(ctx).Scan(&text); {
		case errors.Is(err, sql.ErrNoRows):
			w.tip.log = &receipt.Log{}
		case err != nil:
			return err
		default:
			var last receipt.LogProof
			if err := json.Unmarshal([]byte(text), &last); err != nil {
				return err
			}
			log := receipt.ResumeLog(last)
			w.tip.log = &log
		}
	}
	log, proof, err := w.tip.log.Append(r.leaf, w.key(), r.entry.Seq, w.tip.link)
	if err != nil {
		return fmt.Errorf("the receipt has no place in the log: %v", err) // whoever asked is not to blame: the row was written
	}
	text, err := json.Marshal(proof)
	if err != nil {
		return err
	}
	if _, err := w.stmts.receipt.ExecContext(ctx, int64(r.entry.Seq), string(text)); err != nil {
		return err
	}
	w.tip.log = &log
	return nil
}

// linksAtOnce is how many rows of an older version get their links in one transaction.
const linksAtOnce = 5000

// linkOld gives the rows of an older version their links, the oldest first. So there are none once the last row has its own.
func (w *writer) linkOld(ctx context.Context) error {
	var old bool
	err := w.conn.QueryRowContext(ctx, `SELECT link IS NULL FROM journal ORDER BY seq DESC LIMIT 1`).Scan(&old)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	for err == nil && old {
		err = w.transact(ctx, func() error {
			var after receipt.Link
			if _, err := w.readTip(ctx, `SELECT seq, link FROM journal WHERE link IS NOT NULL ORDER BY seq DESC LIMIT 1`, &after); err != nil {
				return err
			}
			rows, err := w.conn.QueryContext(ctx, selectChain+`WHERE link IS NULL ORDER BY seq LIMIT ?`, linksAtOnce)
			if err != nil {
				return err
			}
			links := make(map[uint64][]byte, linksAtOnce)
			err = eachRow(rows, func(rows *sql.Rows) error {
				var r row
				if _, err := r.scanChain(rows); err != nil {
					return err
				}
				after = r.links(after)
				link := after
				links[r.entry.Seq] = link[:]
				return nil
			})
			if err != nil {
				return err
			}
			update, err := w.conn.PrepareContext(ctx, `UPDATE journal SET link = ? WHERE seq = ?`)
			if err != nil {
				return err
			}
			defer update.Close()
			for seq, link := range links {
				if _, err := update.ExecContext(ctx, link, int64(seq)); err != nil {
					return err
				}
			}
			old = len(links) == linksAtOnce
			return nil
		})
	}
	return err
}

// readTip reads where a query's last row stands in the chain; 0 for none.
func (w *writer) readTip(ctx context.Context, query string, link *receipt.Link) (seq uint64, err error) {
	return scanTip(w.conn.QueryRowContext(ctx, query), link)
}

func scanTip(row *sql.Row, link *receipt.Link) (seq uint64, err error) {
	var raw []byte
	err = row.Scan(&seq, &raw)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	copy(link[:], raw)
	return seq, err
}

const selectChain = `SELECT seq, operation_id, version, payload, details, context, type, at, link,
	(SELECT proof FROM receipts WHERE receipts.seq = journal.seq),
	CASE payload WHEN '' THEN (SELECT payload FROM journal AS removed WHERE removed.operation_id = journal.operation_id AND removed.type = 'removed') END FROM journal `

// A chained is how a row stands in the chain.
type chained struct {
	link    []byte
	proof   sql.NullString // the place of its receipt
	removal sql.NullString // of a row that was emptied: the event that says so
}

// scanChain reads a row and how it stands in the chain; it does not read the event.
func (r *row) scanChain(rows *sql.Rows) (c chained, err error) {
	*r = row{}
	err = rows.Scan(&r.entry.Seq, &r.entry.ID, &r.entry.Version, &r.payload, &r.details, &r.context, &r.kind, &r.at, &c.link, &c.proof, &c.removal)
	return c, err
}

// Receipts implements queue.Journal.
func (s *Store) Receipts(ctx context.Context, id human.OperationID) ([]human.Receipt, error) {
	all := []human.Receipt{}
	err := s.rows(ctx, `SELECT payload, proof FROM journal JOIN receipts USING (seq) WHERE operation_id = ? ORDER BY version`, []any{id}, func(rows *sql.Rows) error {
		var payload, proof string
		if err := rows.Scan(&payload, &proof); err != nil {
			return err
		}
		var event human.Event
		if err := json.Unmarshal([]byte(payload), &event); err != nil {
			return err
		}
		whole, err := receipt.Place(event.Receipt, json.RawMessage(proof))
		all = append(all, whole)
		return err
	})
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	return all, nil
}

// auditedAtOnce is how many entries an audit reads at once: a long one keeps no transaction open.
const auditedAtOnce = 1000

// audit shows an auditor the entries after one number up to another, as the disk has them.
func (s *Store) audit(ctx context.Context, audit *receipt.Auditor, after, until uint64) error {
	gaps, err := s.readGaps(ctx)
	if err != nil {
		return err
	}
	for {
		n := 0
		err := s.rows(ctx, selectChain+`WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?`, []any{int64(after), int64(until), auditedAtOnce}, func(rows *sql.Rows) error {
			var r row
			c, err := r.scanChain(rows)
			if err != nil {
				return err
			}
			for len(gaps) > 0 && gaps[0].Last < r.entry.Seq {
				audit.Gap(gaps[0])
				gaps = gaps[1:]
			}
			n, after = n+1, r.entry.Seq
			bad := r.decode()
			audit.Entry(receipt.Stored{
				Entry: r.entry, Damaged: bad, Link: c.link, Next: r.links, Proof: []byte(c.proof.String), Emptied: r.emptied(), Removal: []byte(c.removal.String),
			})
			return nil
		})
		if err != nil || n < auditedAtOnce {
			return err
		}
	}
}

// Audit implements queue.Journal. It reads what the disk has.
func (s *Store) Audit(ctx context.Context, trust receipt.Trust) (receipt.Audit, error) {
	audit, head := receipt.NewAuditor(trust), s.live.seq()
	if err := s.audit(ctx, audit, 0, math.MaxInt64); err != nil {
		return receipt.Audit{}, s.fail(ctx, err)
	}
	strays, err := s.strays(ctx)
	if err != nil {
		return receipt.Audit{}, s.fail(ctx, err)
	}
	return audit.Done(head, strays), nil
}

// strays counts the receipts whose entries are missing, without those in gaps.
func (s *Store) strays(ctx context.Context) (n int, err error) {
	err = s.reads.QueryRowContext(ctx, `SELECT count(*) FROM receipts WHERE seq NOT IN (SELECT seq FROM journal) AND NOT EXISTS (SELECT 1 FROM gaps WHERE seq BETWEEN first AND last)`).Scan(&n)
	return n, err
}

// Receipts of a Chain before and after its own, and how many entries are read for it at most.
const (
	chainBefore, chainAfter = 2, 1
	chainEntries            = 5000
)

// Chain implements queue.Journal.
func (s *Store) Chain(ctx context.Context, id human.OperationID, trust receipt.Trust) (receipt.Chain, error) {
	c, err := s.chain(ctx, id, trust)
	if err != nil {
		return c, s.fail(ctx, err)
	}
	return c, nil
}

func (s *Store) chain(ctx context.Context, id human.OperationID, trust receipt.Trust) (receipt.Chain, error) {
	c := receipt.Chain{Neighbors: []receipt.Neighbor{}, Found: []receipt.AuditFinding{}}
	var all []receipt.LogProof // of the neighbors
	var seqs []uint64
	read := func(which string, args ...any) error {
		return s.rows(ctx, `SELECT seq, coalesce(operation_id, ''), proof FROM receipts LEFT JOIN journal USING (seq) `+which, args, func(rows *sql.Rows) error {
			var seq uint64
			var n receipt.Neighbor
			var text string
			var proof receipt.LogProof
			if err := rows.Scan(&seq, &n.Operation, &text); err != nil {
				return err
			}
			if json.Unmarshal([]byte(text), &proof) != nil {
				return nil // what is missing shows, and the audit of the whole journal says where
			}
			n.Number, n.Hash, n.Follows = proof.LeafIndex+1, proof.LeafHash, proof.Checkpoint.PrevReceiptHash
			c.Neighbors, all, seqs = append(c.Neighbors, n), append(all, proof), append(seqs, seq)
			return nil
		})
	}
	if err := read(`ORDER BY seq DESC LIMIT 1`); err != nil || len(all) == 0 {
		return c, err
	}
	c.Receipts = c.Neighbors[0].Number
	c.Neighbors, all, seqs = c.Neighbors[:0], nil, nil
	var here sql.NullInt64
	err := s.reads.QueryRowContext(ctx, `SELECT max(seq) FROM journal JOIN receipts USING (seq) WHERE operation_id = ?`, id).Scan(&here)
	if err != nil || !here.Valid {
		return c, err
	}
	if err := read(`WHERE seq <= ? ORDER BY seq DESC LIMIT ?`, here.Int64, chainBefore+2); err != nil {
		return c, err
	}
	base := len(all) == chainBefore+2 // the one before the neighbors: what they follow
	slices.Reverse(all)
	slices.Reverse(seqs)
	slices.Reverse(c.Neighbors)
	if err := read(`WHERE seq > ? ORDER BY seq LIMIT ?`, here.Int64, chainAfter); err != nil || len(all) == 0 {
		return c, err
	}
	audit, after, until := receipt.NewAuditor(trust), uint64(0), seqs[len(seqs)-1]
	if base {
		audit, after = receipt.NewAuditorAfter(trust, all[0]), seqs[0]
		c.Neighbors = c.Neighbors[1:]
	}
	if until-after > chainEntries { // the watch reads them
		return c, nil
	}
	if err := s.audit(ctx, audit, after, until); err != nil {
		return c, err
	}
	found := audit.Done(until, 0)
	c.Found, c.Sound = found.Found, found.Sound
	return c, nil
}

// CheckHead looks, without reading the journal, at whether its last entry and its last receipt fit what is before them. An
// Internal error says which does not.
func (s *Store) CheckHead(ctx context.Context) error {
	var before, stored receipt.Link
	var last row
	at := 0
	err := s.rows(ctx, `SELECT * FROM (`+selectChain+`ORDER BY seq DESC LIMIT 2) ORDER BY seq`, nil, func(rows *sql.Rows) error {
		before = stored
		c, err := last.scanChain(rows)
		copy(stored[:], c.link)
		at++
		return err
	})
	if err != nil {
		return s.fail(ctx, err)
	}
	gaps, err := s.readGaps(ctx)
	if err != nil {
		return s.fail(ctx, err)
	}
	if at == 2 && len(gaps) > 0 && gaps[len(gaps)-1].Last+1 == last.entry.Seq {
		before = gaps[len(gaps)-1].Link
	}
	if at > 0 && (at == 2 || last.entry.Seq == 1) && last.links(before) != stored {
		return human.Errorf(human.Internal, "the last entry of the journal (seq %d, operation %s) was changed; run `deskbell doctor`", last.entry.Seq, last.entry.ID)
	}
	return s.rows(ctx, `SELECT proof, link FROM receipts LEFT JOIN journal USING (seq) ORDER BY seq DESC LIMIT 1`, nil, func(rows *sql.Rows) error {
		var text string
		var link []byte
		var proof receipt.LogProof
		if err := rows.Scan(&text, &link); err != nil {
			return err
		}
		if json.Unmarshal([]byte(text), &proof) != nil || !proof.Checkpoint.Covers(link) {
			return human.Errorf(human.Internal, "the journal was changed before its last receipt (seq %d); run `deskbell doctor`", proof.Checkpoint.JournalSeq)
		}
		return nil
	})
}
