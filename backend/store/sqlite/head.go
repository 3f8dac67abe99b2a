package sqlite

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/queue/receipt"
)

// HeadName is the name of the file beside the database that says where the journal ends.
const HeadName = "deskbell.head"

// slotSize is the length of one line of the head file, in bytes. It has two, written in turn, so that one is whole at any time.
const slotSize = 256

// A Head is where the journal ended when its writer last acknowledged something. The file is written after SQLite has synced and is
// not synced itself, so it is never ahead of a database that is whole: one that ends before it has lost entries.
type Head struct {
	Turn       uint64 `json:"turn"` // the higher of the two lines counts
	Seq        uint64 `json:"seq"`
	Link       string `json:"link"` // of that entry, in hexadecimal digits
	At         int64  `json:"at"`   // of that entry, Unix time in microseconds
	Operations uint64 `json:"operations"`
}

// line is a head as its slot has it: JSON, a checksum of it, and spaces up to the length.
func (h Head) line() []byte {
	text, err := json.Marshal(h)
	if err != nil {
		panic(err) // numbers and a text of digits
	}
	line := fmt.Appendf(nil, "%s %08x", text, crc32.ChecksumIEEE(text))
	line = append(line, bytes.Repeat([]byte{' '}, slotSize-1-len(line))...)
	return append(line, '\n')
}

// parseHead reads one line; false where it is torn or of something else.
func parseHead(line []byte) (h Head, ok bool) {
	text, sum, found := bytes.Cut(bytes.TrimSpace(line), []byte("} "))
	if !found {
		return h, false
	}
	text = append(bytes.Clone(text), '}')
	if string(sum) != fmt.Sprintf("%08x", crc32.ChecksumIEEE(text)) {
		return h, false
	}
	return h, json.Unmarshal(text, &h) == nil
}

// readHead reads the head file of a folder; false where there is none that can be read.
func readHead(dir string) (newest Head, ok bool, err error) {
	text, err := os.ReadFile(filepath.Join(dir, HeadName))
	if errors.Is(err, fs.ErrNotExist) {
		return newest, false, nil
	}
	for len(text) > 0 {
		n := min(slotSize, len(text))
		if h, is := parseHead(text[:n]); is && (!ok || h.Turn > newest.Turn) {
			newest, ok = h, true
		}
		text = text[n:]
	}
	return newest, ok, err
}

// ForgetHead removes the head file of a folder, for whoever puts an older database in place on purpose. No Deskbell may run there.
func ForgetHead(dir string) error {
	if err := os.Remove(filepath.Join(dir, HeadName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return human.Wrap(human.Unavailable, err, "%s cannot be removed (%s); check the permissions of its folder", filepath.Join(dir, HeadName), reason(err))
	}
	return nil
}

// A headFile writes the head. Only the writer uses it, but for failed.
type headFile struct {
	dir    string
	log    *slog.Logger
	file   *os.File // nil before the first write
	now    Head
	failed atomic.Bool // an error was logged
}

// wrote puts down where the journal ends after rows were committed. An error is logged once and hinders nothing.
func (f *headFile) wrote(rows []*row) {
	if len(rows) == 0 {
		return
	}
	for _, r := range rows {
		if r.entry.Version == 1 {
			f.now.Operations++
		}
	}
	last := rows[len(rows)-1]
	f.now.Turn++
	f.now.Seq, f.now.Link, f.now.At = last.entry.Seq, hex.EncodeToString(last.link[:]), last.at
	f.put()
}

func (f *headFile) put() {
	err := f.open()
	if err == nil {
		_, err = f.file.WriteAt(f.now.line(), int64(f.now.Turn%2)*slotSize)
	}
	f.say(err)
}

func (f *headFile) open() (err error) {
	if f.file == nil {
		f.file, err = os.OpenFile(filepath.Join(f.dir, HeadName), os.O_RDWR|os.O_CREATE, 0o600)
	}
	return err
}

func (f *headFile) say(err error) {
	if err != nil && !f.failed.Swap(true) {
		f.log.Warn("the file that says where the journal ends cannot be written; a loss could go unnoticed at the next start", "file", filepath.Join(f.dir, HeadName), "err", err)
	}
}

// close syncs what was written last.
func (f *headFile) close() {
	if f.file == nil {
		return
	}
	f.say(errors.Join(f.file.Sync(), f.file.Close()))
	f.file = nil
}

// start takes over from what the folder has. seq is where the journal ends, operations counts those in it where the head does not.
func (f *headFile) start(last position, operations func() (uint64, error)) error {
	h, ok, err := readHead(f.dir)
	if err != nil {
		f.say(err)
	}
	f.now = h
	if ok && h.Seq == last.seq && h.Link == hex.EncodeToString(last.link[:]) {
		return nil
	}
	f.now.Seq, f.now.Link, f.now.At = last.seq, hex.EncodeToString(last.link[:]), last.at
	f.now.Operations, err = operations()
	return err
}

// A position is an entry of the journal and its place in the chain.
type position struct {
	seq  uint64
	link receipt.Link
	at   int64 // Unix time in microseconds
}

// time is when its event happened; the zero time where there is none.
func (p position) time() time.Time {
	if p.seq == 0 {
		return time.Time{}
	}
	return time.UnixMicro(p.at).UTC()
}
