package sqlite

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/queue/receipt"
	"deskbell/backend/store/disk"
)

// A Repair is what became, or would become, of a database.
type Repair struct {
	File       string             `json:"file"`
	Entries    uint64             `json:"entries"`    // carried over
	Due        uint64             `json:"due"`        // how many there were, as far as that is known
	Raw        uint64             `json:"raw"`        // of those carried over, found outside of SQLite's reach
	Operations uint64             `json:"operations"` // carried over
	LeftOut    []LeftOut          `json:"left_out,omitempty"`
	Gaps       []receipt.AuditGap `json:"gaps,omitempty"`
	Unproven   uint64             `json:"unproven"` // entries that can be read and that the chain does not prove; they are left out
	Rescues    []Rescued          `json:"rescues,omitempty"`
	Tables     map[string]Copied  `json:"tables"`
	Broken     string             `json:"broken,omitempty"` // where the old file is kept; empty before it was replaced
	Report     string             `json:"report,omitempty"` // the file with this report

	last     position
	noTables bool // SQLite opens nothing of it
}

// Lines say it in words.
func (r Repair) Lines() []human.Sentence {
	lines := []human.Sentence{human.Sayf("%d of %d entries of the journal can be read and are proven, %d of them only outside of SQLite's reach; that is %d operations.", r.Entries, r.Due, r.Raw, r.Operations)}
	for _, f := range r.Rescues {
		switch {
		case f.Problem != "":
			lines = append(lines, human.Sayf("%s cannot be read (%s); the rest does without it.", f.File, f.Problem))
		case f.Whole:
			lines = append(lines, human.Sayf("%s goes further than the database, so all of it comes from there.", f.File))
		case f.Entries > 0:
			lines = append(lines, human.Sayf("%d entries come from %s.", f.Entries, f.File))
		}
	}
	for _, g := range r.Gaps {
		lines = append(lines, human.Sayf("Entries %d to %d are missing.", g.First, g.Last))
	}
	if r.last.seq < r.Due {
		lines = append(lines, human.Sayf("Entries %d to %d are missing at the end.", r.last.seq+1, r.Due))
	}
	for i, o := range r.LeftOut {
		if i == 20 {
			lines = append(lines, human.Sayf("%d more operations are left out.", len(r.LeftOut)-i))
			break
		}
		lines = append(lines, human.Sayf("Operation %s (entry %d, %s) is left out, because an entry of it is missing or changed.", o.ID, o.First, o.At.Local().Format(time.DateTime)))
	}
	if r.noTables {
		lines = append(lines, human.Sayf("The other tables (keys, settings, the gatekeeper's log, recordings) cannot be read."))
	}
	for _, name := range slices.Sorted(maps.Keys(r.Tables)) {
		if c := r.Tables[name]; !r.noTables && c.Missing || c.Damaged > 0 {
			lines = append(lines, human.Sayf("Of the table %s, %d rows can be read, %d are damaged, and there may have been more.", name, c.Rows, c.Damaged))
		}
	}
	if r.Report != "" && r.Broken == "" {
		lines = append(lines, human.Sayf("A new database is in place. The report is %s.", r.Report))
	} else if r.Report != "" {
		lines = append(lines, human.Sayf("The repaired database is in place. The old one is kept as %s, the report as %s.", r.Broken, r.Report))
	}
	return lines
}

// A LeftOut is an operation of which an entry is missing or changed, so that none of it is carried over.
type LeftOut struct {
	ID    human.OperationID `json:"operation_id"`
	First uint64            `json:"first"` // its first entry that is known
	At    time.Time         `json:"at"`
}

// Copied is how many rows of another table were carried over, and how many could be seen to be damaged. Missing says that there may be
// more that could not be seen.
type Copied struct {
	Rows    int  `json:"rows"`
	Damaged int  `json:"damaged,omitempty"`
	Missing bool `json:"missing,omitempty"`
}

// otherTables are those that do not follow from the journal, each after those that it refers to.
var otherTables = []string{
	"keys", "meta", "consents", "recordings", "recorded", "summaries", "summarized", "decisions", "made", "gate_rules", "gate_rule_uses",
	"dismissed", "plan_presets", "attempts", "gate_tools", "outbox", "outbox_read", "later", "procedures", "procedure_runs",
}

// RepairDatabase makes a new database of all that can be read in a folder's and in what was rescued of it (the files beside it, and those
// that are named), and puts it in its place if replace is set; the old files are kept beside it. It blocks for as long as that takes, and needs as much space as the database twice. No other process may use the folder.
func RepairDatabase(ctx context.Context, dir string, now time.Time, replace bool, rescued ...string) (_ Repair, err error) {
	file, err := filepath.Abs(filepath.Join(dir, FileName))
	if err != nil {
		return Repair{}, err
	}
	err = DropStages(dir)
	stage := ""
	if err == nil {
		stage, err = os.MkdirTemp(dir, stagePrefix)
	}
	if err != nil {
		return Repair{}, human.Wrap(human.Unavailable, err, "%s cannot be repaired, because its folder cannot be written (%s); check the permissions and the space there", file, reason(err))
	}
	defer func() { err = errors.Join(err, os.RemoveAll(stage)) }()
	r := repairer{file: file, stage: stage, now: now, Repair: Repair{File: file, Tables: map[string]Copied{}}}
	if err := r.findRescues(rescued); err != nil {
		return Repair{}, err
	}
	if err := r.run(ctx); err != nil {
		return r.Repair, storageError(err, file)
	}
	if replace {
		err = r.replace()
	}
	return r.Repair, err
}

// stagePrefix begins the name of the folder in which a repair works.
const stagePrefix = ".deskbell-repair-"

// DropStages removes what repairs left that were killed: copies of the whole database. None may run.
func DropStages(dir string) error {
	all, err := filepath.Glob(filepath.Join(dir, stagePrefix+"*")) // the pattern is right, unless the folder's name has one
	for _, stage := range all {
		err = errors.Join(err, os.RemoveAll(stage))
	}
	return err
}

// A repairer is one repair.
type repairer struct {
	Repair
	file, stage string
	now         time.Time
	head        Head
	raw         *rawFile
	image       *sql.DB // the database with its log in it; nil where SQLite opens none
	top         uint64  // the highest number of an entry
	fromSQLite  uint64  // the same, of those that SQLite finds
	cells       map[uint64][]salvaged
	proofs      map[uint64]map[string]bool // of receipts, from raw pages
	removals    map[human.OperationID]map[uint64]human.RemovedEntry
	oldGaps     gaps

	ops     map[human.OperationID]*kept
	counted map[uint64]*uint64      // of entries that SQLite does not have: where each is counted
	holes   map[uint64]receipt.Link // numbers that are missing, with their links as far as they are known
	linked  map[uint64]bool         // whose link the chain proves
	unclear map[human.OperationID]LeftOut
}

// kept is what is known of an operation.
type kept struct {
	first, entries, version uint64
	at                      int64
	emptied, removed        bool
}

func (r *repairer) run(ctx context.Context) (err error) {
	r.head, _, _ = readHead(filepath.Dir(r.file))
	r.proofs = map[uint64]map[string]bool{}
	r.cells, r.removals, r.ops = map[uint64][]salvaged{}, map[human.OperationID]map[uint64]human.RemovedEntry{}, map[human.OperationID]*kept{}
	r.counted = map[uint64]*uint64{}
	r.holes, r.linked, r.unclear = map[uint64]receipt.Link{}, map[uint64]bool{}, map[human.OperationID]LeftOut{}
	defer func() { err = errors.Join(err, r.closeSource()) }()
	if err := r.openSource(ctx, source(r.file)); err != nil {
		return err
	}
	if err := r.preferRescue(ctx); err != nil {
		return err
	}
	if err := r.survey(ctx); err != nil {
		return err
	}
	steps, err := migrations()
	if err != nil {
		return err
	}
	s, err := open(ctx, r.stage, Options{unchecked: true}, steps)
	if err != nil {
		return err
	}
	err = s.bare(ctx, func(ctx context.Context, w *writer) error {
		return w.transact(ctx, func() error { return r.fill(ctx, w) })
	})
	if err = errors.Join(err, s.Close()); err != nil {
		return err
	}
	return r.check(ctx, steps)
}

// source is the database to repair: where it is missing, that which a repair has moved away without reaching its end.
func source(file string) string {
	if _, err := os.Stat(file); err == nil {
		return file
	}
	if _, err := os.Stat(file + "-wal"); err == nil {
		return file
	}
	found, _ := filepath.Glob(file + ".broken-*Z") // the pattern is right
	if len(found) == 0 {
		return file
	}
	return found[len(found)-1] // their names are in the order of time
}

// openSource opens the database that all is read from but what it lacks.
func (r *repairer) openSource(ctx context.Context, name string) (err error) {
	if r.raw, err = openRaw(name); err != nil {
		return err
	}
	return r.openImage(ctx)
}

func (r *repairer) closeSource() (err error) {
	if r.image != nil {
		err, r.image = r.image.Close(), nil
	}
	if r.raw != nil {
		err = errors.Join(err, r.raw.close())
	}
	return err
}

// check opens the new database, which makes the projection, and reads all of it.
func (r *repairer) check(ctx context.Context, steps []string) error {
	s, err := open(ctx, r.stage, Options{}, steps)
	if err != nil {
		return err
	}
	found := Report{File: s.file}
	err = cmp.Or(s.checkPages(ctx, &found, quietly), s.checkChain(ctx, &found))
	if err == nil {
		r.last, err = s.end(ctx)
	}
	if err = errors.Join(err, s.Close()); err != nil {
		return err
	}
	if len(found.Found) > 0 {
		return human.Errorf(human.Internal, "the repaired database is not whole (%s), so the old one stays in its place", found.text().Text)
	}
	return nil
}

// openImage copies the database and what its log has committed into one file, which SQLite may read as it likes.
func (r *repairer) openImage(ctx context.Context) (err error) {
	name := filepath.Join(r.stage, "image.db")
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	size, err := r.writeImage(f)
	if err = errors.Join(err, f.Close()); err != nil || size == 0 {
		return err
	}
	if r.image, err = sql.Open("sqlite", address(name, "query_only(ON)", "cell_size_check(ON)", "temp_store(MEMORY)")); err != nil {
		return err
	}
	var journal int
	err = r.image.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_schema WHERE name = 'journal'`).Scan(&journal)
	if err != nil || journal == 0 {
		err, r.image = r.image.Close(), nil // its tables cannot be found
	}
	return err
}

func (r *repairer) writeImage(f *os.File) (pages uint32, err error) {
	if r.raw.main != nil {
		if _, err := io.Copy(f, io.NewSectionReader(r.raw.main, 0, int64(r.raw.pages)*int64(r.raw.size))); err != nil {
			return 0, err
		}
	}
	pages = r.raw.pages
	page, header := make([]byte, r.raw.size), make([]byte, frameHeader)
	last := -1
	for i := range r.raw.frames {
		at := logHeader + int64(i)*int64(frameHeader+r.raw.size)
		if _, err := r.raw.wal.ReadAt(header, at); err != nil || !r.raw.whole[i] {
			break
		}
		if n := binary.BigEndian.Uint32(header[4:]); n > 0 {
			last, pages = i, n
		}
	}
	for i := range last + 1 {
		if !r.raw.frame(i, page) {
			continue
		}
		if _, err := f.WriteAt(page, int64(r.raw.frames[i]-1)*int64(r.raw.size)); err != nil {
			return 0, err
		}
	}
	if pages == 0 {
		return 0, nil
	}
	head := make([]byte, headerSize)
	if _, err := f.ReadAt(head, 0); err != nil && err != io.EOF {
		return 0, err
	}
	if string(head[:len(headerMagic)]) != headerMagic || pageSize(head) != r.raw.size {
		copy(head, headerMagic)
		binary.BigEndian.PutUint16(head[16:], uint16(r.raw.size%65536|r.raw.size/65536))
		copy(head[20:], []byte{0, 64, 32, 32})
		binary.BigEndian.PutUint32(head[44:], 4)
		binary.BigEndian.PutUint32(head[56:], 1)
	}
	head[18], head[19] = 1, 1 // no log
	binary.BigEndian.PutUint32(head[28:], pages)
	copy(head[92:96], head[24:28])
	if _, err := f.WriteAt(head, 0); err != nil {
		return 0, err
	}
	return pages, f.Truncate(int64(pages) * int64(r.raw.size))
}

// journalRows gives each the rows of the journal in a range that SQLite can read, in order; it halves what it cannot.
func journalRows(ctx context.Context, image *sql.DB, from, to uint64, each func(salvaged) error) error {
	if image == nil || from > to {
		return ctx.Err()
	}
	rows, err := image.QueryContext(ctx, `SELECT seq, operation_id, version, payload, details, context, type, at, link FROM journal WHERE seq BETWEEN ? AND ? ORDER BY seq`, int64(from), int64(to))
	var stop error
	next := from
	if err == nil {
		err = eachRow(rows, func(rows *sql.Rows) error {
			var s salvaged
			var link []byte
			if err := rows.Scan(&s.entry.Seq, &s.entry.ID, &s.entry.Version, &s.payload, &s.details, &s.context, &s.kind, &s.at, &link); err != nil {
				return err
			}
			copy(s.link[:], link)
			if s.entry.Seq < next || s.entry.Seq > to {
				return nil // a damaged tree may give rows twice, and in any order
			}
			next = s.entry.Seq + 1
			stop = each(s)
			return stop
		})
	}
	if stop != nil || err == nil || ctx.Err() != nil {
		return cmp.Or(stop, ctx.Err())
	}
	if next >= to { // one that cannot be read
		return nil
	}
	half := next + (to-next)/2
	if err := journalRows(ctx, image, next, half, each); err != nil {
		return err
	}
	return journalRows(ctx, image, half+1, to, each)
}

// survey finds what SQLite cannot read, or what the chain does not prove of it, and looks for that in the raw pages.
func (r *repairer) survey(ctx context.Context) error {
	if r.image != nil {
		var top sql.NullInt64
		if r.image.QueryRowContext(ctx, `SELECT max(seq) FROM journal`).Scan(&top) == nil {
			r.fromSQLite = uint64(top.Int64)
		}
		_ = r.readOldGaps(ctx) // without them those entries count as missing once more
	}
	r.fromSQLite = max(r.fromSQLite, r.head.Seq)
	var before position
	var wanted []hole
	want := func(from, to uint64) {
		if n := len(wanted); n > 0 && wanted[n-1].last+1 == from {
			wanted[n-1].last = max(to, wanted[n-1].last)
		} else if from <= to {
			wanted = append(wanted, hole{from, to})
		}
	}
	err := journalRows(ctx, r.image, 1, r.fromSQLite, func(s salvaged) error {
		before = r.oldGaps.across(before, s.entry.Seq)
		want(before.seq+1, s.entry.Seq-1)
		r.notesRemoval(s)
		if unreadable([]byte(s.payload)) != "" || !s.emptied() && s.links(before.link) != s.link {
			want(s.entry.Seq, s.entry.Seq)
		}
		before = position{seq: s.entry.Seq, link: s.link}
		return nil
	})
	if err != nil {
		return err
	}
	r.top = before.seq
	want(before.seq+1, 1<<53)
	seen := map[[64]byte]bool{}
	offer := func(s salvaged) {
		if s.proof != "" {
			if r.proofs[s.entry.Seq] == nil {
				r.proofs[s.entry.Seq] = map[string]bool{}
			}
			r.proofs[s.entry.Seq][s.proof] = true
			return
		}
		i, _ := slices.BinarySearchFunc(wanted, s.entry.Seq, func(w hole, seq uint64) int { return cmp.Compare(w.last, seq) })
		if i == len(wanted) || wanted[i].first > s.entry.Seq || unreadable([]byte(s.payload)) != "" {
			return
		}
		content := s.links(receipt.Link{})
		if id := [64]byte(append(s.link[:], content[:]...)); !seen[id] {
			seen[id] = true
			r.notesRemoval(s)
			s.details, s.context, s.payload = bytes.Clone(s.details), bytes.Clone(s.context), strings.Clone(s.payload)
			r.cells[s.entry.Seq] = append(r.cells[s.entry.Seq], s)
		}
	}
	if len(wanted) > 1 || len(r.raw.frames) > 0 || r.top < r.head.Seq || r.image == nil {
		r.raw.rows(offer)
	}
	if err := r.askRescues(ctx, wanted, offer); err != nil {
		return err
	}
	for _, seq := range slices.Sorted(maps.Keys(r.cells)) {
		if seq > r.top && (seq <= r.head.Seq || seq-r.top < 100_000) { // else it is no number of an entry
			r.top = seq
		}
	}
	r.top = max(r.top, r.head.Seq)
	return nil
}

func (r *repairer) readOldGaps(ctx context.Context) error {
	rows, err := r.image.QueryContext(ctx, `SELECT first, last, link, at FROM gaps ORDER BY first`)
	if err != nil {
		return err
	}
	return eachRow(rows, func(rows *sql.Rows) error {
		var g receipt.AuditGap
		var link []byte
		var at int64
		err := rows.Scan(&g.First, &g.Last, &link, &at)
		copy(g.Link[:], link)
		g.At = time.UnixMicro(at).UTC()
		r.oldGaps = append(r.oldGaps, g)
		return err
	})
}

// notesRemoval remembers whose words were removed: they must not come back.
func (r *repairer) notesRemoval(s salvaged) {
	if s.kind != string(human.Erased) || s.decode() != nil || s.entry.Event.Removal == nil {
		return
	}
	entries := map[uint64]human.RemovedEntry{}
	for _, e := range s.entry.Event.Removal.Entries {
		entries[e.Seq] = e
	}
	r.removals[s.entry.ID] = entries
}

// fill writes the new database.
func (r *repairer) fill(ctx context.Context, w *writer) error {
	if err := r.fillJournal(ctx, w); err != nil {
		return err
	}
	if err := r.leaveOut(ctx, w); err != nil {
		return err
	}
	names := append(otherTables[:len(otherTables):len(otherTables)], "receipts")
	if r.image != nil {
		if _, err := r.image.ExecContext(ctx, `SELECT left_at FROM team LIMIT 0`); err == nil { // else it is older
			names = append(names, "team", "team_operations")
		}
	}
	for _, name := range names {
		if r.noTables = r.image == nil; r.noTables {
			r.Tables[name] = Copied{Missing: true}
		} else if err := r.copyTable(ctx, w, name); err != nil {
			return err
		}
	}
	if err := r.dropReceipts(ctx, w); err != nil {
		return err
	}
	if err := r.fillReceipts(ctx, w); err != nil {
		return err
	}
	for _, statement := range []string{
		`DELETE FROM outbox WHERE operation_id NOT IN (SELECT operation_id FROM journal)`,
		`DELETE FROM team_operations WHERE team IN (SELECT id FROM team WHERE left_at = 0)`, // the journal of the team that it is in is read again
		`DELETE FROM team WHERE left_at = 0`,
		`UPDATE outbox_read SET seq = min(seq, (SELECT coalesce(max(seq), 0) FROM journal))`,
	} {
		if _, err := w.conn.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return r.note(ctx, w)
}

// fillJournal writes each entry that the chain proves.
func (r *repairer) fillJournal(ctx context.Context, w *writer) error {
	before := []receipt.Link{{}} // what may be the link of the entry before
	next, gapAt := uint64(1), 0
	take := func(seq uint64, found []salvaged) error {
		for _, s := range found {
			proven, after, ok := r.proves(s, before)
			if !ok {
				continue
			}
			if seq > 1 {
				if _, missing := r.holes[seq-1]; missing {
					r.holes[seq-1], r.linked[seq-1] = after, true
				}
			}
			before = []receipt.Link{proven.link}
			return r.keep(ctx, w, proven)
		}
		r.holes[seq] = receipt.Link{}
		before = r.mayLink(ctx, seq, found)
		for _, s := range found {
			r.Unproven++
			if _, known := r.unclear[s.entry.ID]; !known {
				r.unclear[s.entry.ID] = LeftOut{s.entry.ID, seq, when(s.at)}
			}
		}
		return nil
	}
	until := func(end uint64) error { // those that SQLite does not give, before end
		for next < end {
			if gapAt < len(r.oldGaps) && r.oldGaps[gapAt].First == next {
				g := r.oldGaps[gapAt]
				for ; next <= g.Last; next++ {
					r.holes[next] = g.Link
				}
				before, gapAt = []receipt.Link{g.Link}, gapAt+1
				continue
			}
			if err := take(next, r.cells[next]); err != nil {
				return err
			}
			next++
		}
		return nil
	}
	err := journalRows(ctx, r.image, 1, min(r.top, r.fromSQLite), func(s salvaged) error {
		if err := until(s.entry.Seq); err != nil {
			return err
		}
		next = s.entry.Seq + 1
		return take(s.entry.Seq, append([]salvaged{s}, r.cells[s.entry.Seq]...))
	})
	if err != nil {
		return err
	}
	r.Due = r.top
	return until(r.top + 1)
}

// proves returns a row as it is to be kept if one of the links before it shows that it is as it was written.
func (r *repairer) proves(s salvaged, before []receipt.Link) (_ salvaged, after receipt.Link, ok bool) {
	if unreadable([]byte(s.payload)) != "" {
		return s, after, false
	}
	named, gone := r.removals[s.entry.ID][s.entry.Seq]
	for _, after := range before {
		if !s.emptied() && s.links(after) != s.link {
			continue
		}
		if !gone && s.emptied() || gone && named.Link != receipt.RemovedLink(s.link) {
			continue
		}
		if gone {
			s.payload, s.details, s.context = "", nil, nil
			if named.Left != receipt.RemovedLink(s.links(after)) {
				continue
			}
		}
		return s, after, true
	}
	return s, after, false
}

// mayLink is what the link of an entry may be that is not kept.
func (r *repairer) mayLink(ctx context.Context, seq uint64, found []salvaged) []receipt.Link {
	var all []receipt.Link
	for _, s := range found {
		all = append(all, s.link)
	}
	if raw, err := hex.DecodeString(r.head.Link); err == nil && seq == r.head.Seq && len(raw) == len(receipt.Link{}) {
		all = append(all, receipt.Link(raw))
	}
	if r.image == nil {
		return all
	}
	var text string
	var proof receipt.LogProof
	if r.image.QueryRowContext(ctx, `SELECT proof FROM receipts WHERE seq = ?`, int64(seq)).Scan(&text) == nil && json.Unmarshal([]byte(text), &proof) == nil {
		_, digits, _ := strings.Cut(proof.Checkpoint.JournalHash, ":")
		if raw, err := hex.DecodeString(digits); err == nil && len(raw) == len(receipt.Link{}) {
			all = append(all, receipt.Link(raw))
		}
	}
	return all
}

// keep writes an entry.
func (r *repairer) keep(ctx context.Context, w *writer, s salvaged) error {
	_, err := w.conn.ExecContext(ctx, `INSERT INTO journal (seq, operation_id, version, type, at, payload, details, context, link) VALUES (?,?,?,?,?,?,?,?,?)`,
		int64(s.entry.Seq), string(s.entry.ID), int64(s.entry.Version), s.kind, s.at, s.payload, s.details, s.context, s.link[:])
	if err != nil {
		return err
	}
	op := r.ops[s.entry.ID]
	if op == nil {
		op = &kept{first: s.entry.Seq, at: s.at}
		r.ops[s.entry.ID] = op
	}
	op.entries++
	op.version = max(op.version, s.entry.Version)
	op.emptied = op.emptied || s.emptied()
	op.removed = op.removed || s.kind == string(human.Erased)
	r.Entries++
	if s.from != nil {
		r.counted[s.entry.Seq] = &s.from.Entries
	} else if _, raw := r.cells[s.entry.Seq]; raw {
		r.counted[s.entry.Seq] = &r.Raw
	}
	if n := r.counted[s.entry.Seq]; n != nil {
		*n++
	}
	return nil
}

// when is a time of the journal; the zero time where it is damaged.
func when(micro int64) time.Time {
	if t := time.UnixMicro(micro).UTC(); t.Year() > 0 && t.Year() < 10_000 {
		return t
	}
	return time.Time{}
}

// leaveOut removes the operations that are not whole, and notes what is missing.
func (r *repairer) leaveOut(ctx context.Context, w *writer) error {
	out := maps.Clone(r.unclear)
	add := func(id human.OperationID, op *kept) { out[id] = LeftOut{id, op.first, when(op.at)} }
	for id, op := range r.ops {
		if op.entries != op.version || op.emptied && !op.removed {
			add(id, op)
		}
	}
	if len(r.holes) > 0 && r.image != nil { // a last version may be what is missing
		rows, err := r.image.QueryContext(ctx, `SELECT operation_id, version FROM operations`)
		if err == nil {
			_ = eachRow(rows, func(rows *sql.Rows) error { // as far as it can be read
				var id human.OperationID
				var version uint64
				if err := rows.Scan(&id, &version); err != nil {
					return err
				}
				if op := r.ops[id]; op != nil && version > op.version && !op.removed {
					add(id, op)
				}
				return nil
			})
		}
	}
	for _, id := range slices.Sorted(maps.Keys(out)) {
		r.LeftOut = append(r.LeftOut, out[id])
		op := r.ops[id]
		if op == nil {
			continue
		}
		rows, err := w.conn.QueryContext(ctx, `DELETE FROM journal WHERE operation_id = ? RETURNING seq, link`, string(id))
		if err != nil {
			return err
		}
		err = eachRow(rows, func(rows *sql.Rows) error {
			var seq uint64
			var raw []byte
			err := rows.Scan(&seq, &raw)
			var link receipt.Link
			copy(link[:], raw)
			r.holes[seq] = link
			r.Entries--
			if n := r.counted[seq]; n != nil {
				*n--
			}
			return err
		})
		if err != nil {
			return err
		}
		delete(r.ops, id)
	}
	r.Operations = uint64(len(r.ops))
	return r.writeGaps(ctx, w)
}

// writeGaps notes what is missing before the last entry that is kept.
func (r *repairer) writeGaps(ctx context.Context, w *writer) error {
	var last uint64
	if err := w.conn.QueryRowContext(ctx, `SELECT coalesce(max(seq), 0) FROM journal`).Scan(&last); err != nil {
		return err
	}
	for _, seq := range slices.Sorted(maps.Keys(r.holes)) {
		if seq > last {
			break
		}
		if n := len(r.Gaps); n > 0 && r.Gaps[n-1].Last+1 == seq {
			r.Gaps[n-1].Last, r.Gaps[n-1].Link = seq, r.holes[seq]
		} else {
			r.Gaps = append(r.Gaps, receipt.AuditGap{First: seq, Last: seq, Link: r.holes[seq], At: r.now.UTC().Truncate(time.Microsecond)})
		}
	}
	for _, g := range r.Gaps {
		at := g.At
		if i := slices.IndexFunc(r.oldGaps, func(o receipt.AuditGap) bool { return o.First == g.First && o.Last == g.Last }); i >= 0 {
			at = r.oldGaps[i].At
		}
		if _, err := w.conn.ExecContext(ctx, `INSERT INTO gaps (first, last, link, at) VALUES (?,?,?,?)`, int64(g.First), int64(g.Last), g.Link[:], micro(at)); err != nil {
			return err
		}
	}
	return nil
}

// dropReceipts removes those that are not of the entry with their number, or whose entry is missing.
func (r *repairer) dropReceipts(ctx context.Context, w *writer) error {
	rows, err := w.conn.QueryContext(ctx, `SELECT seq, proof, link FROM receipts LEFT JOIN journal USING (seq)`)
	if err != nil {
		return err
	}
	var bad []int64
	err = eachRow(rows, func(rows *sql.Rows) error {
		var seq int64
		var text string
		var link []byte
		var proof receipt.LogProof
		err := rows.Scan(&seq, &text, &link)
		if json.Unmarshal([]byte(text), &proof) != nil || proof.Checkpoint.JournalSeq != uint64(seq) || !proof.Checkpoint.Covers(link) {
			bad = append(bad, seq)
		}
		return err
	})
	for _, seq := range bad {
		if err == nil {
			_, err = w.conn.ExecContext(ctx, `DELETE FROM receipts WHERE seq = ?`, seq)
		}
	}
	c := r.Tables["receipts"]
	c.Rows -= len(bad)
	c.Damaged += len(bad)
	r.Tables["receipts"] = c
	return err
}

// fillReceipts adds the receipts that only raw pages have: those that signed the entry that was kept.
func (r *repairer) fillReceipts(ctx context.Context, w *writer) error {
	for seq, texts := range r.proofs {
		var link []byte
		err := w.conn.QueryRowContext(ctx, `SELECT link FROM journal WHERE seq = ?1 AND ?1 NOT IN (SELECT seq FROM receipts)`, int64(seq)).Scan(&link)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err != nil {
			return err
		}
		for text := range texts {
			var proof receipt.LogProof
			if unreadable([]byte(text)) != "" || json.Unmarshal([]byte(text), &proof) != nil || proof.Checkpoint.JournalSeq != seq || !proof.Checkpoint.Covers(link) {
				continue
			}
			if _, err := w.conn.ExecContext(ctx, `INSERT INTO receipts (seq, proof) VALUES (?,?)`, int64(seq), text); err != nil {
				return err
			}
			c := r.Tables["receipts"]
			c.Rows++
			r.Tables["receipts"] = c
			break
		}
	}
	return nil
}

// note keeps what is missing until an operator has read it.
func (r *repairer) note(ctx context.Context, w *writer) error {
	missing := r.Due - r.Entries
	for _, g := range r.oldGaps {
		missing -= min(missing, g.Last-g.First+1)
	}
	var says human.Sentence
	switch at := r.now.Local().Format(time.DateTime); {
	case missing > 0:
		says = human.Sayf("the database was repaired on %s: %d of %d entries are back, %d are missing, and %d operations were left out because an entry of them is missing; the old files are kept beside it",
			at, r.Entries, r.Due, missing, len(r.LeftOut))
	case r.noTables: // how many were due is not known then
		says = human.Sayf("the database was repaired on %s: %d of at least %d entries are back; keys, settings, the gatekeeper's log and what is known of recordings could not be read; the old files are kept beside it",
			at, r.Entries, r.Due)
	default:
		return nil
	}
	return w.addLoss(ctx, Loss{Last: r.Due, To: r.now.UTC(), FoundAt: r.now.UTC(), Operations: uint64(len(r.LeftOut)), Sentence: says})
}

// copyTable carries over what can be read of a table.
func (r *repairer) copyTable(ctx context.Context, w *writer, name string) error {
	var c Copied
	columns, err := tableColumns(ctx, w, name)
	if err != nil {
		return err
	}
	if name == "outbox_read" {
		if _, err := w.conn.ExecContext(ctx, `DELETE FROM outbox_read`); err != nil {
			return err
		}
	}
	names := strings.Join(columns, ", ")
	insert, err := w.conn.PrepareContext(ctx, fmt.Sprintf(`INSERT OR IGNORE INTO %s (%s) VALUES (?%s)`, name, names, strings.Repeat(",?", len(columns)-1)))
	if err != nil {
		return err
	}
	defer insert.Close()
	read := func(query string, args ...any) error {
		rows, err := r.image.QueryContext(ctx, query, args...)
		if err != nil {
			return err
		}
		values, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		return eachRow(rows, func(rows *sql.Rows) error {
			if err := rows.Scan(into...); err != nil {
				return err
			}
			if !soundRow(name, columns, values) {
				c.Damaged++
				return nil
			}
			done, err := insert.ExecContext(ctx, values...)
			if err != nil {
				c.Damaged++ // it refers to a row that is missing, or has no value where one is due
				return nil
			}
			n, err := done.RowsAffected()
			c.Rows += int(n)
			return err
		})
	}
	all := `SELECT ` + names + ` FROM ` + name
	if read(all) != nil {
		c.Missing = true
		var top sql.NullInt64
		if err := r.image.QueryRowContext(ctx, `SELECT max(rowid) FROM `+name).Scan(&top); err == nil && top.Valid {
			halve(1, top.Int64, func(from, to int64) error { return read(all+` WHERE rowid BETWEEN ? AND ?`, from, to) })
		} else {
			_ = read(all + ` ORDER BY 1 DESC`) // from the other end
		}
	}
	r.Tables[name] = c
	return ctx.Err()
}

// halve reads a range, and its halves where that fails.
func halve(from, to int64, read func(from, to int64) error) {
	if from > to || read(from, to) == nil || from == to {
		return
	}
	half := from + (to-from)/2
	halve(from, half, read)
	halve(half+1, to, read)
}

func tableColumns(ctx context.Context, w *writer, name string) (columns []string, err error) {
	rows, err := w.conn.QueryContext(ctx, `SELECT name FROM pragma_table_info(?)`, name)
	if err != nil {
		return nil, err
	}
	return columns, eachRow(rows, func(rows *sql.Rows) error {
		var column string
		err := rows.Scan(&column)
		columns = append(columns, `"`+column+`"`)
		return err
	})
}

// soundRow says whether the texts of a row are UTF-8, what is JSON is JSON, and a chunk of a recording has its checksum.
func soundRow(table string, columns []string, values []any) bool {
	for i, v := range values {
		var text []byte
		switch v := v.(type) {
		case string:
			text = []byte(v)
		case []byte:
			if table == "recorded" {
				if _, err := unpacker.DecodeAll(v, nil); err != nil {
					return false
				}
			}
			continue
		}
		isJSON := slices.Contains([]string{`"data"`, `"proof"`, `"edits"`, `"counts"`}, columns[i])
		if isJSON && unreadable(text) != "" || !bytes.Equal(bytes.ToValidUTF8(text, nil), text) {
			return false
		}
	}
	return true
}

// replace puts the new database in the place of the old one, whose files are kept.
func (r *repairer) replace() error {
	dir := filepath.Dir(r.file)
	broken := r.file + ".broken-" + r.now.UTC().Format("20060102T150405Z")
	fail := func(err error) error {
		return human.Wrap(human.Unavailable, err, "the repaired database could not be put in place (%s); what was not moved yet is where it was, and %s has the rest", reason(err), broken)
	}
	r.Report = broken + ".json"
	for _, suffix := range []string{"", "-wal"} {
		if _, err := os.Stat(r.file + suffix); err == nil {
			r.Broken = broken
		}
	}
	report, err := json.MarshalIndent(r.Repair, "", "  ")
	if err == nil {
		_, err = disk.Replace(r.Report, bytes.NewReader(append(report, '\n')), 0o600)
	}
	if err != nil {
		return fail(err)
	}
	// The log first: a database never stands beside the log of another one.
	for _, suffix := range []string{"-wal", "-shm", ""} {
		if err := os.Rename(r.file+suffix, broken+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fail(err)
		}
	}
	if err := os.Rename(filepath.Join(r.stage, FileName), r.file); err != nil {
		return fail(err)
	}
	head := headFile{dir: dir, now: Head{Turn: r.head.Turn + 1, Seq: r.last.seq, Link: hex.EncodeToString(r.last.link[:]), At: r.last.at, Operations: r.Operations}}
	if err := ForgetHead(dir); err != nil {
		return err
	}
	if err := head.open(); err != nil {
		return fail(err)
	}
	_, err = head.file.WriteAt(head.now.line(), int64(head.now.Turn%2)*slotSize)
	if err := errors.Join(err, head.file.Sync(), head.file.Close(), disk.SyncFolder(dir)); err != nil {
		return fail(err)
	}
	return nil
}
