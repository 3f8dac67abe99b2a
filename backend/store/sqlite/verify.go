package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"deskbell/backend/human"
	"deskbell/backend/queue/receipt"
)

// A Report is what was found in a database, at a start, in the background or by the doctor.
type Report struct {
	File    string           `json:"file"`
	Entries uint64           `json:"entries"` // the number of the journal's last one
	Until   time.Time        `json:"until,omitzero"`
	Found   []human.Sentence `json:"found,omitempty"` // what is damaged, at most maxFindings
	More    int              `json:"more,omitempty"`  // findings besides
	Lost    *Loss            `json:"lost,omitempty"`
	Unread  []Loss           `json:"unread,omitempty"` // what was lost before and no operator has read
}

// Whole says whether nothing was found.
func (r *Report) Whole() bool { return len(r.Found) == 0 && r.Lost == nil }

// maxFindings bounds a report: more of them say nothing new.
const maxFindings = 50

func (r *Report) found(s human.Sentence) {
	if len(r.Found) == maxFindings {
		r.More++
		return
	}
	r.Found = append(r.Found, s)
}

// Err is what was found, in one line; nil for nothing.
func (r *Report) Err() error {
	if r.Whole() {
		return nil
	}
	if len(r.Found) == 0 { // it can be used
		return &human.Error{Kind: human.Internal, Msg: r.Lost.Text, Said: r.Lost.Sentence}
	}
	return damaged(*r, nil)
}

// text is all of it in one line.
func (r *Report) text() human.Sentence {
	all := r.Found
	if r.Lost != nil {
		all = append(all[:len(all):len(all)], r.Lost.Sentence)
	}
	if len(all) == 1 {
		return all[0]
	}
	var b strings.Builder
	for i, s := range all[:min(len(all), 5)] {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(s.Text)
	}
	return human.Sayf("%d problems: %s", len(all)+r.More, b.String())
}

// A Loss is what was acknowledged and is missing.
type Loss = human.DataLoss

// Damaged is the error for a database that cannot be used as it is. A start that finds it before it writes has changed nothing in its
// files.
type Damaged struct {
	Report Report
	said   *human.Error
}

func (d *Damaged) Error() string { return d.said.Error() }
func (d *Damaged) Unwrap() error { return d.said }

func damaged(r Report, cause error) *Damaged {
	text := r.text()
	return &Damaged{r, human.Wrap(human.Internal, cause, "%s is damaged: %s. Deskbell does not start with it, so that nothing more is lost. "+
		"`deskbell repair` shows what can be saved and saves it; or put a backup in its place", r.File, human.Inner{Err: &human.Error{Msg: text.Text, Said: text}})}
}

// damagedBy is the Damaged of a read that found something that is not as it was written.
func damagedBy(err *human.Error) *Damaged {
	return &Damaged{Report{Found: []human.Sentence{err.Said}}, err}
}

// inner is an error's own sentence, for another one.
func inner(err error) human.Inner { return human.Inner{Err: err} }

// verify looks, before anything writes, at whether the database of a folder is fit to start with. It reads little of a large file: its
// first page, its end, and what is open. The report is of a database that is whole, but may have lost entries; the error is a Damaged.
// Whatever keeps the file from being opened at all is left to whoever opens it.
func verify(ctx context.Context, dir string, known int) (Report, error) {
	r, head, hasHead, err := verifyFiles(dir)
	if err != nil || r.File == "" {
		return r, err
	}
	p, err := probe(r.File)
	if err != nil {
		return r, nil
	}
	err = p.verify(ctx, &r, head, hasHead, known)
	if err == nil && r.Lost != nil && len(r.Found) == 0 {
		if r.elsewhere(ctx, head); len(r.Found) == 0 {
			err = p.afterLoss(ctx, &r)
		}
	}
	err = errors.Join(err, p.closeFiles())
	if damage(err) {
		r.found(human.Sayf("SQLite says: %s", sqliteSays(err)))
	} else if err != nil {
		return r, nil // Open says it better
	}
	if len(r.Found) > 0 {
		return r, damaged(r, err)
	}
	return r, nil
}

func sqliteSays(err error) string { return human.OneLine(err.Error(), 200) }

// verifyFiles looks at the files alone. The report's File is empty where there is no database and none is due.
func verifyFiles(dir string) (r Report, head Head, hasHead bool, err error) {
	file := filepath.Join(dir, FileName)
	if file, err = filepath.Abs(file); err != nil {
		return r, head, false, nil
	}
	head, hasHead, _ = readHead(dir) // one that cannot be read says nothing
	info, err := os.Stat(file)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing || err == nil && !info.Mode().IsRegular() {
		return r, head, hasHead, nil
	}
	if missing || info.Size() == 0 {
		sign := earlierUse(dir, file, head)
		if sign == "" {
			return r, head, hasHead, nil
		}
		r.File = file
		lost := head.lost(position{})
		r.Lost = &lost
		switch rescued, _ := filepath.Glob(file + ".rescued-*Z"); {
		case missing && len(rescued) > 0:
			r.found(human.Sayf("the file is missing. %s was saved when it was deleted or replaced while Deskbell ran; `deskbell repair` puts that in place", rescued[len(rescued)-1]))
		case missing:
			r.found(human.Sayf("the file is missing, although Deskbell has worked in this folder (%s is there)", sign))
		default:
			r.found(human.Sayf("the file is empty, although Deskbell has worked in this folder (%s is there)", sign))
		}
		if head.Seq == 0 {
			r.Lost = nil // how much it was is not known
		}
		return r, head, hasHead, damaged(r, nil)
	}
	r.File = file
	says := checkHeader(file, info.Size())
	if says != nil {
		r.found(*says)
		return r, head, hasHead, damaged(r, nil)
	}
	return r, head, hasHead, nil
}

// earlierUse names a file or folder that only an earlier run of Deskbell makes; "" where there is none.
func earlierUse(dir, file string, head Head) string {
	if head.Seq > 0 {
		return HeadName
	}
	if info, err := os.Stat(file + "-wal"); err == nil && info.Size() > 0 {
		return FileName + "-wal"
	}
	for _, name := range []string{"attachments", "recordings"} {
		if entries, err := os.ReadDir(filepath.Join(dir, name)); err == nil && len(entries) > 0 {
			return name
		}
	}
	for _, pattern := range []string{FileName + ".format-*", FileName + ".rescued-*", FileName + ".broken-*"} {
		if found, err := filepath.Glob(filepath.Join(dir, pattern)); err == nil && len(found) > 0 {
			return filepath.Base(found[0])
		}
	}
	return ""
}

// What a database file begins with.
const (
	headerSize  = 100
	headerMagic = "SQLite format 3\x00"
)

// pageSize is the size of a page by a database's header, in bytes; 0 where it is none.
func pageSize(header []byte) int {
	n := int(binary.BigEndian.Uint16(header[16:]))
	if n == 1 {
		n = 65536
	}
	if n < 512 || n&(n-1) != 0 {
		return 0
	}
	return n
}

// checkHeader compares what a file says of itself with its size; nil where they fit. A file that cannot be read is left to SQLite.
func checkHeader(file string, size int64) *human.Sentence {
	f, done, err := openMain(file)
	if err != nil {
		return nil
	}
	defer done()
	header := make([]byte, headerSize)
	_, err = f.ReadAt(header, 0)
	if short := errors.Is(err, io.EOF); err != nil && !short {
		return nil
	}
	said := human.Sentence{}
	page := pageSize(header)
	switch due := int64(page) * int64(binary.BigEndian.Uint32(header[28:])); {
	case err != nil || string(header[:len(headerMagic)]) != headerMagic || page == 0:
		said = human.Sayf("it does not begin as a database does")
	case size < due && !walCovers(file, page, uint32(size/int64(page)), binary.BigEndian.Uint32(header[28:])):
		said = human.Sayf("it has %d bytes, and %d are due: its end is missing", size, due)
	default:
		return nil
	}
	return &said
}

// lost is what a head has beyond the end of a database.
func (h Head) lost(end position) Loss {
	l := Loss{First: end.seq + 1, Last: h.Seq, From: end.time(), To: time.UnixMicro(h.At).UTC(), FoundAt: time.Now().UTC(), Operations: h.Operations}
	l.Sentence = lossWords(l)
	return l
}

// lossWords say what is missing.
func lossWords(l Loss) human.Sentence {
	to, from := l.To.Local().Format(time.DateTime), l.From.Local().Format(time.DateTime)
	switch {
	case l.First == 0:
		return human.Sayf("this is another database than the one that was here last, which ended with entry %d of %s: it may have lost entries that were acknowledged", l.Last, to)
	case l.From.IsZero():
		return human.Sayf("all %d entries that were acknowledged until %s are missing, of at most %d operations", l.Last, to, l.Operations)
	default:
		return human.Sayf("entries %d to %d were acknowledged and are missing at the end, from %s to %s, of at most %d new operations", l.First, l.Last, from, to, l.Operations)
	}
}

// probe opens a database for nothing but reading: not even its write-ahead log changes. That of an empty one SQLite deletes even then.
func probe(file string) (*Store, error) {
	if info, err := os.Stat(file); err == nil && info.Size() == 0 {
		return nil, human.Errorf(human.Internal, "%s is empty", file)
	}
	s := &Store{file: file, now: time.Now}
	s.live.init()
	s.queue.init()
	var err error
	if s.reads, err = sql.Open("sqlite", address(file, "busy_timeout(5000)", "query_only(ON)", "temp_store(MEMORY)", "cell_size_check(ON)")+"&mode=ro"); err != nil {
		return nil, err
	}
	s.reads.SetMaxOpenConns(2)
	return s, nil
}

// verify looks at the database itself.
func (s *Store) verify(ctx context.Context, r *Report, head Head, hasHead bool, known int) error {
	conn, err := s.reads.Conn(ctx)
	if err != nil {
		return err
	}
	var format int
	err = conn.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&format)
	if err == nil {
		err = checkOwner(ctx, conn, s.file, known)
	}
	if err = errors.Join(err, conn.Close()); err != nil || format > 0 && format < linkedFormat {
		return err // an older one has less to look at
	}
	if format == 0 {
		if sign := earlierUse(filepath.Dir(s.file), s.file, head); sign != "" && head.Seq > 0 {
			r.found(human.Sayf("the file has no tables, although Deskbell has worked in this folder (%s is there)", sign))
			lost := head.lost(position{})
			r.Lost = &lost
		}
		return nil
	}
	end, err := s.end(ctx)
	if err != nil {
		return err
	}
	r.Entries, r.Until = end.seq, end.time()
	if end.link == (receipt.Link{}) || format != known {
		// Giving links to the rows of an older version was interrupted.
	} else if err := s.CheckHead(ctx); human.KindOf(err) == human.Internal && code(err) == 0 && err != nil {
		r.found(human.Sayf("%s", inner(err)))
	} else if err != nil {
		return err
	}
	if hasHead && head.Seq > 0 {
		if r.Lost, err = s.loses(ctx, head, end); err != nil {
			return err
		}
	}
	if format != known {
		return nil
	}
	return s.readsOpen(ctx, r)
}

// linkedFormat is the first format whose journal has links.
const linkedFormat = 9

// end is the journal's last entry.
func (s *Store) end(ctx context.Context) (end position, err error) {
	err = s.rows(ctx, `SELECT seq, link, at FROM journal ORDER BY seq DESC LIMIT 1`, nil, func(rows *sql.Rows) error {
		var raw []byte
		err := rows.Scan(&end.seq, &raw, &end.at)
		copy(end.link[:], raw)
		return err
	})
	return end, err
}

// loses compares the database with a head that was read before it; nil where it has all of it.
func (s *Store) loses(ctx context.Context, head Head, end position) (*Loss, error) {
	if end.seq < head.Seq {
		l := head.lost(end)
		var has uint64
		if err := s.reads.QueryRowContext(ctx, countOperations).Scan(&has); err != nil {
			return nil, err
		}
		l.Operations -= min(has, l.Operations)
		l.Sentence = lossWords(l)
		return &l, nil
	}
	var link []byte
	err := s.reads.QueryRowContext(ctx, `SELECT link FROM journal WHERE seq = ?`, int64(head.Seq)).Scan(&link)
	if errors.Is(err, sql.ErrNoRows) || err == nil && (len(link) == 0 || hex.EncodeToString(link) == head.Link) {
		return nil, nil // the chain says what is missing in the middle
	}
	if err != nil {
		return nil, err
	}
	l := head.lost(end)
	l.First, l.Operations = 0, 0
	l.Sentence = lossWords(l)
	return &l, nil
}

// countOperations counts all operations that the journal has, those whose words were removed too.
const countOperations = `SELECT (SELECT count(*) FROM operations) + (SELECT count(*) FROM journal WHERE type = 'removed')`

// startHead makes the head file ready to be written.
func (w *writer) startHead(ctx context.Context) error {
	end, err := w.end(ctx)
	if err != nil {
		return storageError(err, w.file)
	}
	err = w.head.start(end, func() (n uint64, err error) {
		return n, w.conn.QueryRowContext(ctx, countOperations).Scan(&n)
	})
	return storageError(err, w.file)
}

// checkedOpen is how many open operations are read before a start: enough for everyone, few enough for a start of a second. Of the others a start
// reads what it loads, and the background check reads the rest.
const checkedOpen = 10_000

// readsOpen reads the most urgent of what is open.
func (s *Store) readsOpen(ctx context.Context, r *Report) error {
	return s.rows(ctx, `SELECT operations.operation_id, data, payload, details, context FROM operations JOIN journal ON seq = n
		WHERE open = 1 ORDER BY priority DESC, n LIMIT ?`, []any{checkedOpen}, func(rows *sql.Rows) error {
		var id, data, payload, details, shown sql.RawBytes
		if err := rows.Scan(&id, &data, &payload, &details, &shown); err != nil {
			return err
		}
		for _, text := range [][]byte{data, payload, details, shown} {
			if why := unreadable(text); why != "" {
				r.found(unreadOperation(id, why))
				break
			}
		}
		return nil
	})
}

// unreadable says why a text is not the JSON that was written; "" where it is, or where there is none.
func unreadable(text []byte) string {
	switch {
	case len(text) == 0:
		return ""
	case !utf8.Valid(text):
		return "its text is not UTF-8"
	case !json.Valid(text):
		return notJSON
	}
	return ""
}

const notJSON = "its text is not JSON"

func unreadOperation(id sql.RawBytes, why string) human.Sentence {
	return human.Sayf("operation %s cannot be read: %s", string(id), why)
}

// afterLoss reads all of a database that has lost its end: only one that is whole otherwise can be started.
func (s *Store) afterLoss(ctx context.Context, r *Report) error {
	if err := s.checkPages(ctx, r, quietly); err != nil {
		return err
	}
	if r.Lost.First == 0 {
		return nil
	}
	return s.checkChain(ctx, r)
}

// checkChain reads the whole journal and looks at whether each entry can be read and follows the one before. Who signed what is the
// audit's.
func (s *Store) checkChain(ctx context.Context, r *Report) error {
	gaps, err := s.readGaps(ctx)
	if err != nil {
		return err
	}
	var before position
	for {
		n := 0
		err := s.rows(ctx, selectChain+`WHERE seq > ? ORDER BY seq LIMIT ?`, []any{int64(before.seq), auditedAtOnce}, func(rows *sql.Rows) error {
			var e row
			c, err := e.scanChain(rows)
			if err != nil {
				return err
			}
			n++
			before = gaps.across(before, e.entry.Seq)
			switch why := unreadable([]byte(e.payload)); {
			case e.entry.Seq != before.seq+1:
				r.found(human.Sayf("entries %d to %d of the journal are missing", before.seq+1, e.entry.Seq-1))
			case why != "":
				r.found(human.Sayf("entry %d (version %d of operation %s) cannot be read: %s", e.entry.Seq, e.entry.Version, e.entry.ID, why))
			case !e.emptied() && !bytes.Equal(c.link, sliceOf(e.links(before.link))):
				r.found(human.Sayf("entry %d (version %d of operation %s) is not as it was written", e.entry.Seq, e.entry.Version, e.entry.ID))
			}
			before.seq = e.entry.Seq
			copy(before.link[:], c.link)
			return nil
		})
		if err != nil || n < auditedAtOnce {
			return err
		}
	}
}

func sliceOf(l receipt.Link) []byte { return l[:] }

// elsewhere says so where what is lost can still be read: in the log, or in what was rescued. Entries that a start appended instead would
// keep a repair from bringing it back.
func (r *Report) elsewhere(ctx context.Context, head Head) {
	if n := inLog(r.File, r.Entries, r.Lost.Last); n > 0 {
		r.found(human.Sayf("its write-ahead log is damaged, and SQLite would drop what follows; %d of the missing entries can still be read there", n))
	}
	if file := rescuedWith(ctx, r.File, head); file != "" {
		r.found(human.Sayf("%s, which Deskbell saved while it ran, has the missing entries; `deskbell repair` brings them back", file))
	}
}

// inLog counts the entries after one number up to another that are in a write-ahead log, although SQLite does not read them.
func inLog(file string, after, until uint64) int {
	r, err := openRaw(file)
	if err != nil {
		return 0
	}
	defer r.close()
	seqs := map[uint64]bool{}
	b := make([]byte, r.size)
	for i := range r.frames {
		if !r.whole[i] && r.frame(i, b) {
			r.scan(b, i, func(s salvaged) {
				if s.proof == "" && s.entry.Seq > after && s.entry.Seq <= until {
					seqs[s.entry.Seq] = true
				}
			})
		}
	}
	return len(seqs)
}

// checkPages has SQLite read every page of every table, and reports how many it read.
func (s *Store) checkPages(ctx context.Context, r *Report, read func(done, total int)) error {
	var tables []string
	err := s.built(ctx, `SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0`, nil, func(rows *sql.Rows) error {
		var name string
		err := rows.Scan(&name)
		tables = append(tables, name)
		return err
	})
	if err != nil {
		return err
	}
	for i, name := range tables {
		read(i, len(tables))
		err := s.built(ctx, `PRAGMA quick_check('`+strings.ReplaceAll(name, "'", "''")+`')`, nil, func(rows *sql.Rows) error { return r.checked(rows) })
		if damage(err) {
			r.found(human.Sayf("SQLite says: %s", sqliteSays(err)))
		} else if err != nil {
			return err
		}
	}
	read(len(tables), len(tables))
	return nil
}

// quietly reports to no reader.
func quietly(int, int) {}

// checked reads a line of SQLite's checks.
func (r *Report) checked(rows *sql.Rows) error {
	var line string
	if err := rows.Scan(&line); err != nil {
		return err
	}
	if line != "ok" {
		r.found(human.Sayf("SQLite says: %s", human.OneLine(line, 200)))
	}
	return nil
}
