package sqlite

import (
	"context"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/queue"
)

// A fact is what statistics know of one operation, in little-endian order: the last byte of operations.n, the risk, the end, the
// flags, the numbers of its kind, agent and project (4 bytes each), the time of its request in Unix milliseconds (8), and how long
// it took to be seen and to be answered, in milliseconds (4 each).
type fact []byte

const (
	factSize  = 32
	factChunk = 256 // numbers of operations in a chunk

	factProject = 12
)

// Flags of a fact.
const (
	factDecided = 1 << iota
	factApproved
	factOverdue
	factInterrupted
	factSeen
	factAnswered

	factFlags = 6 // how many there are
)

var factRisks = []human.Risk{"", human.LowRisk, human.MediumRisk, human.HighRisk, human.CriticalRisk}

func (f fact) n() uint8         { return f[0] }
func (f fact) risk() uint8      { return f[1] }
func (f fact) end() uint8       { return f[2] }
func (f fact) kind() uint32     { return binary.LittleEndian.Uint32(f[4:]) }
func (f fact) agent() uint32    { return binary.LittleEndian.Uint32(f[8:]) }
func (f fact) project() uint32  { return binary.LittleEndian.Uint32(f[factProject:]) }
func (f fact) requested() int64 { return int64(binary.LittleEndian.Uint64(f[16:])) }
func (f fact) seenAfter() int   { return queue.SpanOf(int64(binary.LittleEndian.Uint32(f[24:]))) }
func (f fact) answeredIn() int  { return queue.SpanOf(int64(binary.LittleEndian.Uint32(f[28:]))) }
func (f fact) after(at int) time.Duration {
	return time.Duration(binary.LittleEndian.Uint32(f[at:])) * time.Millisecond
}
func (f fact) has(flag byte) int { return int(f[3]&flag) / int(flag) }

// makeFact is the fact of an operation; kind, agent and project are the numbers of their names.
func makeFact(n uint64, op human.Operation, kind, agent, project uint32) fact {
	f := make(fact, factSize)
	f[0] = uint8(n % factChunk)
	f[1] = uint8(max(slices.Index(factRisks, op.Risk), 0))
	f[2] = uint8(slices.Index(queue.Ends, queue.EndOf(op)))
	binary.LittleEndian.PutUint32(f[4:], kind)
	binary.LittleEndian.PutUint32(f[8:], agent)
	binary.LittleEndian.PutUint32(f[factProject:], project)
	binary.LittleEndian.PutUint64(f[16:], uint64(op.CreatedAt.UnixMilli()))
	took := func(at time.Time) uint32 {
		return uint32(min(max(at.Sub(op.CreatedAt).Milliseconds(), 0), math.MaxUint32))
	}
	var seen *time.Time
	for _, d := range op.Deliveries {
		if d.Channel == "card" && d.Shown != nil {
			f[3] |= factInterrupted
		}
		if d.Seen != nil && (seen == nil || d.Seen.Before(*seen)) {
			seen = d.Seen
		}
	}
	if end := op.EndedAt(); seen != nil && (end.IsZero() || !seen.After(end)) {
		f[3] |= factSeen
		binary.LittleEndian.PutUint32(f[24:], took(*seen))
	}
	if op.State == human.Completed || op.State == human.Declined {
		f[3] |= factAnswered
		binary.LittleEndian.PutUint32(f[28:], took(op.EndedAt()))
	}
	if op.Result != nil && op.Result.Decision != "" {
		f[3] |= factDecided
		if op.Result.Decision == human.Approved {
			f[3] |= factApproved
		}
	}
	if op.Overdue {
		f[3] |= factOverdue
	}
	return f
}

// projectOf is the project of a request's context, as it is counted.
func projectOf(context json.RawMessage) string {
	return human.Operation{Context: context}.Named().ProjectName
}

// facts is the writer's side of them: chunks that changed in this transaction, and numbers of names. What it remembers is of one
// connection and its last commit; forget starts over.
type facts struct {
	names  map[string]uint32
	chunks map[uint64][]byte // changed, and not written yet
}

func (f *facts) forget() { *f = facts{} }

// chunksAtOnce bounds the memory of a rebuild.
const chunksAtOnce = 64

func (w *writer) factName(ctx context.Context, name string) (uint32, error) {
	if name == "" {
		return 0, nil
	}
	if id := w.facts.names[name]; id != 0 {
		return id, nil
	}
	var id uint32
	err := w.stmts.name.QueryRowContext(ctx, name).Scan(&id)
	if err == nil {
		if w.facts.names == nil || len(w.facts.names) > 4096 {
			w.facts.names = map[string]uint32{}
		}
		w.facts.names[name] = id
	}
	return id, err
}

// addFact notes a new operation.
func (w *writer) addFact(ctx context.Context, n uint64, op human.Operation, project string) error {
	var ids [3]uint32
	for i, name := range []string{string(op.Kind), op.AgentID, project} {
		var err error
		if ids[i], err = w.factName(ctx, name); err != nil {
			return err
		}
	}
	chunk, err := w.factChunk(ctx, n/factChunk)
	if err != nil {
		return err
	}
	f := makeFact(n, op, ids[0], ids[1], ids[2])
	at, _ := findFact(chunk, f.n())
	w.facts.chunks[n/factChunk] = slices.Insert(chunk, at, f...)
	return nil
}

// changeFact notes an operation that changed. One without a fact gets it once its turn comes (see factsOfOld).
func (w *writer) changeFact(ctx context.Context, n uint64, op human.Operation) error {
	chunk, err := w.factChunk(ctx, n/factChunk)
	if err != nil {
		return err
	}
	if at, found := findFact(chunk, uint8(n%factChunk)); found {
		old := fact(chunk[at:])
		copy(chunk[at:], makeFact(n, op, old.kind(), old.agent(), old.project()))
	}
	return nil
}

// forgetProject takes the project out of an operation's fact, and its name out of the table where no other fact has it.
func (w *writer) forgetProject(ctx context.Context, n uint64) error {
	chunk, err := w.factChunk(ctx, n/factChunk)
	if err != nil {
		return err
	}
	at, found := findFact(chunk, uint8(n%factChunk))
	if !found || fact(chunk[at:]).project() == 0 {
		return nil
	}
	id := fact(chunk[at:]).project()
	binary.LittleEndian.PutUint32(chunk[at+factProject:], 0)
	if err := w.writeFacts(ctx); err != nil {
		return err
	}
	rows, err := w.conn.QueryContext(ctx, `SELECT facts FROM facts`)
	if err != nil {
		return err
	}
	used := false
	err = eachRow(rows, func(rows *sql.Rows) error {
		var all sql.RawBytes
		err := rows.Scan(&all)
		for f := range slices.Chunk(all, factSize) {
			used = used || slices.Contains([]uint32{fact(f).kind(), fact(f).agent(), fact(f).project()}, id)
		}
		return err
	})
	if err != nil || used {
		return err
	}
	w.facts.names = nil
	_, err = w.conn.ExecContext(ctx, `DELETE FROM fact_names WHERE id = ?`, int64(id))
	return err
}

// findFact is where in a chunk the fact with this n stands, or has to.
func findFact(chunk []byte, n uint8) (at int, found bool) {
	for at = len(chunk); at > 0 && chunk[at-factSize] >= n; at -= factSize {
		found = chunk[at-factSize] == n
	}
	return at, found
}

func (w *writer) factChunk(ctx context.Context, number uint64) ([]byte, error) {
	if chunk, ok := w.facts.chunks[number]; ok {
		return chunk, nil
	}
	if len(w.facts.chunks) >= chunksAtOnce {
		if err := w.writeFacts(ctx); err != nil {
			return nil, err
		}
	}
	var chunk []byte
	if err := w.stmts.chunk.QueryRowContext(ctx, int64(number)).Scan(&chunk); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, err
	}
	if w.facts.chunks == nil {
		w.facts.chunks = map[uint64][]byte{}
	}
	w.facts.chunks[number] = chunk
	return chunk, nil
}

// writeFacts writes the chunks that changed. It comes before the end of every transaction that changes facts.
func (w *writer) writeFacts(ctx context.Context) error {
	for number, chunk := range w.facts.chunks {
		first, last := int64(math.MaxInt64), int64(math.MinInt64)
		for at := 0; at < len(chunk); at += factSize {
			requested := fact(chunk[at:]).requested()
			first, last = min(first, requested), max(last, requested)
		}
		if len(chunk) == 0 {
			continue
		}
		if _, err := w.stmts.putChunk.ExecContext(ctx, int64(number), first, last, chunk); err != nil {
			return err
		}
	}
	clear(w.facts.chunks)
	return nil
}

// factsAtOnce is how many operations of an older version get their facts in one transaction.
const factsAtOnce = 5000

// factsOfOld gives the operations of an older version their facts, the newest first. What it did stays done when it is stopped.
func (w *writer) factsOfOld(ctx context.Context) error {
	for {
		var rest uint64
		err := w.transact(ctx, func() error {
			if err := w.conn.QueryRowContext(ctx, `SELECT without_facts FROM projected`).Scan(&rest); err != nil || rest == 0 {
				return err
			}
			type old struct {
				n       uint64
				op      human.Operation
				project string
			}
			var all []old
			rows, err := w.conn.QueryContext(ctx, `SELECT o.n, o.data, j.context FROM operations AS o CROSS JOIN journal AS j ON j.seq = o.n
				WHERE o.n <= ? ORDER BY o.n DESC LIMIT ?`, int64(rest), factsAtOnce)
			if err != nil {
				return err
			}
			err = eachRow(rows, func(rows *sql.Rows) error {
				var o old
				var data, context sql.RawBytes
				if err := rows.Scan(&o.n, &data, &context); err != nil {
					return err
				}
				o.project = projectOf(json.RawMessage(context))
				all = append(all, o)
				return json.Unmarshal(data, &all[len(all)-1].op)
			})
			if err != nil {
				return err
			}
			for _, o := range all {
				if err := w.addFact(ctx, o.n, o.op, o.project); err != nil {
					return err
				}
			}
			if rest = 0; len(all) == factsAtOnce {
				rest = all[len(all)-1].n - 1
			}
			if err := w.writeFacts(ctx); err != nil {
				return err
			}
			_, err = w.conn.ExecContext(ctx, `UPDATE projected SET without_facts = ?`, int64(rest))
			return err
		})
		if err != nil || rest == 0 {
			return err
		}
	}
}
