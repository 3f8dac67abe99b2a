package sqlite

import (
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"unicode/utf8"

	"deskbell/backend/human"
	"deskbell/backend/queue/receipt"
)

// Sizes in SQLite's write-ahead log, in bytes: its header, and what each page has before it; and what its first word is, but for the last bit.
const (
	logHeader   = 32
	frameHeader = 24
	walMagic    = 0x377f0682
)

// A rawFile is a database and its write-ahead log as they are on the disk, whatever SQLite says of them. See "Database File Format" and
// "WAL-mode File Format" of SQLite's documentation.
type rawFile struct {
	main, wal *os.File // nil where there is none
	done      func()   // with main
	size      int      // of a page, in bytes
	pages     uint32   // of main
	frames    []uint32 // the page that each frame of wal has
	whole     []bool   // the frame's checksum is right, and so are all before it
	newest    map[uint32][]int
}

// openRaw opens the files of a database. Neither is changed.
func openRaw(file string) (_ *rawFile, err error) {
	r := &rawFile{newest: map[uint32][]int{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.close())
		}
	}()
	if r.main, r.done, err = openMain(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if r.wal, err = os.Open(file + "-wal"); errors.Is(err, fs.ErrNotExist) {
		r.wal, err = nil, nil
	}
	if err != nil {
		return nil, err
	}
	header := make([]byte, headerSize)
	if r.main != nil {
		if _, err := r.main.ReadAt(header, 0); err == nil && string(header[:len(headerMagic)]) == headerMagic {
			r.size = pageSize(header)
		}
	}
	var wal [logHeader]byte
	if r.wal != nil {
		if _, err := r.wal.ReadAt(wal[:], 0); err == nil && r.size == 0 {
			if n := binary.BigEndian.Uint32(wal[8:]); n >= 512 && n <= 65536 && n&(n-1) == 0 {
				r.size = int(n)
			}
		}
	}
	if r.size == 0 {
		r.size = 4096
	}
	if r.main != nil {
		info, err := r.main.Stat()
		if err != nil {
			return nil, err
		}
		r.pages = uint32(info.Size() / int64(r.size))
	}
	if r.wal != nil {
		err = r.readFrames(wal[:])
	}
	return r, err
}

func (r *rawFile) close() error {
	if r.main != nil {
		r.done()
	}
	if r.wal != nil {
		return r.wal.Close()
	}
	return nil
}

// readFrames finds the frames of the log, those of an earlier round of it too.
func (r *rawFile) readFrames(header []byte) error {
	magic := binary.BigEndian.Uint32(header)
	var order binary.ByteOrder = binary.LittleEndian
	if magic&1 == 1 {
		order = binary.BigEndian
	}
	s1, s2 := walSum(order, 0, 0, header[:24])
	sound := magic&^1 == walMagic && s1 == binary.BigEndian.Uint32(header[24:]) && s2 == binary.BigEndian.Uint32(header[28:])
	frame := make([]byte, frameHeader+r.size)
	for at := int64(logHeader); ; at += int64(len(frame)) {
		n, err := r.wal.ReadAt(frame, at)
		if err != nil && err != io.EOF {
			return err
		}
		if n < len(frame) {
			return nil
		}
		if sound {
			s1, s2 = walSum(order, s1, s2, frame[:8])
			s1, s2 = walSum(order, s1, s2, frame[frameHeader:])
			sound = string(frame[8:16]) == string(header[16:24]) && s1 == binary.BigEndian.Uint32(frame[16:]) && s2 == binary.BigEndian.Uint32(frame[20:])
		}
		page := binary.BigEndian.Uint32(frame)
		r.newest[page] = append(r.newest[page], len(r.frames))
		r.frames, r.whole = append(r.frames, page), append(r.whole, sound)
	}
}

// walSum continues a checksum of the log over bytes.
func walSum(order binary.ByteOrder, s1, s2 uint32, b []byte) (uint32, uint32) {
	for ; len(b) >= 8; b = b[8:] {
		s1 += order.Uint32(b) + s2
		s2 += order.Uint32(b[4:]) + s1
	}
	return s1, s2
}

// walCovers says whether the whole frames of a database's log have each page after the first n, up to due.
func walCovers(file string, size int, n, due uint32) bool {
	r, err := openRaw(file)
	if err != nil {
		return false
	}
	defer r.close()
	if r.size != size || due-n > uint32(len(r.frames)) {
		return false
	}
	for page := n + 1; page <= due; page++ {
		if all := r.newest[page]; len(all) == 0 || !r.whole[all[0]] {
			return false
		}
	}
	return true
}

// page reads a page of main into b.
func (r *rawFile) page(n uint32, b []byte) bool {
	if r.main == nil || n == 0 || n > r.pages {
		return false
	}
	_, err := r.main.ReadAt(b, int64(n-1)*int64(r.size))
	return err == nil
}

// frame reads the page of a frame into b.
func (r *rawFile) frame(i int, b []byte) bool {
	_, err := r.wal.ReadAt(b, logHeader+int64(i)*int64(frameHeader+r.size)+frameHeader)
	return err == nil
}

// versions are how many ways there are to choose between the copies of a page that has more than one.
const versions = 3

// overflow reads a page that continues a row of frame i, or of main where i is -1. way is which copy of it counts.
func (r *rawFile) overflow(n uint32, i, way int, b []byte) bool {
	all := r.newest[n]
	switch {
	case len(all) == 0 || way == 1:
		return r.page(n, b)
	case way == 2: // the first that follows, since a transaction's pages stand together
		for _, j := range all {
			if j >= i {
				return r.frame(j, b)
			}
		}
	}
	for k := len(all) - 1; k >= 0; k-- { // the last before
		if all[k] < i || i < 0 || k == 0 {
			return r.frame(all[k], b)
		}
	}
	return false
}

// A salvaged row was read from raw pages; only the chain says whether it is one of the journal.
type salvaged struct {
	row
	link  receipt.Link
	proof string   // of a receipt: this and its number are all that it has
	from  *Rescued // nil: from the database itself
}

// rows gives each the rows of the journal on all pages, in no order, often more than once, and things that only look like one.
func (r *rawFile) rows(each func(salvaged)) {
	b := make([]byte, r.size)
	for n := uint32(1); n <= r.pages; n++ {
		if r.page(n, b) {
			r.scan(b, -1, each)
		}
	}
	for i := range r.frames {
		if r.frame(i, b) {
			r.scan(b, i, each)
		}
	}
}

// scan looks for rows at every byte of a page: its own directory of them may be what was damaged.
func (r *rawFile) scan(b []byte, frame int, each func(salvaged)) {
	for at := range len(b) - 12 {
		if b[at] < 0x80 && b[at] < 60 { // a row has 32 bytes of link and 26 of an id at least
			continue
		}
		for way := range versions {
			s, overflows, ok := r.cell(b, at, frame, way)
			if ok {
				each(s)
			}
			if !overflows {
				break
			}
		}
	}
}

// Serial types of a record's columns.
const (
	serialNull = 0
	serialBlob = 12 // and every even number above
)

// cell reads the cell of a table's leaf at one place of a page, if it is a row of the journal or of receipts: the size of the record, the row's number,
// and the record.
func (r *rawFile) cell(b []byte, at, frame, way int) (s salvaged, overflows, ok bool) {
	size, n := varint(b[at:])
	if n == 0 || size > 1<<30 {
		return s, false, false
	}
	seq, m := varint(b[at+n:])
	if m == 0 || seq == 0 || seq > 1<<53 {
		return s, false, false
	}
	at += n + m
	types, header, ok := columnTypes(b[at:])
	if !ok {
		return s, false, false
	}
	due := uint64(header)
	for _, t := range types {
		due += serialSize(t)
	}
	if due != size {
		return s, false, false
	}
	// How much of a record stays on its page: section 1.6 of the file format.
	usable := uint64(r.size)
	local := size
	if size > usable-35 {
		least := (usable-12)*32/255 - 23
		if local = least + (size-least)%(usable-4); local > usable-35 {
			local = least
		}
	}
	if uint64(len(b)-at) < local {
		return s, false, false
	}
	record := b[at : at+int(local)]
	if local < size {
		overflows = true
		if len(b)-at < int(local)+4 {
			return s, overflows, false
		}
		next := binary.BigEndian.Uint32(b[at+int(local):])
		if record, ok = r.chain(record, size, next, frame, way); !ok {
			return s, overflows, false
		}
	}
	if len(types) == receiptColumns {
		proof := string(record[header:])
		return salvaged{row: row{entry: human.Entry{Seq: seq}}, proof: proof}, overflows, strings.HasPrefix(proof, "{")
	}
	s, ok = journalRow(seq, types, record[header:])
	return s, overflows, ok
}

// chain continues a record over its overflow pages.
func (r *rawFile) chain(local []byte, size uint64, next uint32, frame, way int) ([]byte, bool) {
	record := make([]byte, len(local), size)
	copy(record, local)
	page := make([]byte, r.size)
	for uint64(len(record)) < size {
		if !r.overflow(next, frame, way, page) {
			return nil, false
		}
		next = binary.BigEndian.Uint32(page)
		record = append(record, page[4:4+min(size-uint64(len(record)), uint64(len(page)-4))]...)
	}
	return record, true
}

// receiptColumns is how many columns the table of receipts has: seq and proof.
const receiptColumns = 2

// columnTypes reads a record's header, if it is one of the journal's columns (seq, operation_id, version, type, at, payload, details,
// context, link) or of receipts'.
func columnTypes(b []byte) (types []uint64, header int, ok bool) {
	size, n := varint(b)
	if n != 1 || size < 3 || size > 40 || int(size) > len(b) {
		return nil, 0, false
	}
	var all [9]uint64
	for header = n; header < int(size); {
		t, n := varint(b[header:size])
		if n == 0 || len(types) == len(all) {
			return nil, 0, false
		}
		all[len(types)] = t
		types = all[:len(types)+1]
		header += n
	}
	text := func(t uint64) bool { return t > serialBlob && t%2 == 1 }
	number := func(t uint64) bool { return t >= 1 && t <= 6 || t == 8 || t == 9 }
	blob := func(t uint64) bool { return t == serialNull || t >= serialBlob && t%2 == 0 }
	switch len(types) {
	case receiptColumns:
		return types, header, types[0] == serialNull && text(types[1])
	case len(all):
		return types, header, types[0] == serialNull && text(types[1]) && number(types[2]) && text(types[3]) && number(types[4]) &&
			text(types[5]) && blob(types[6]) && blob(types[7]) && types[8] == serialBlob+2*32
	}
	return nil, 0, false
}

// serialSize is the length of a value of a serial type, in bytes.
func serialSize(t uint64) uint64 {
	switch {
	case t >= serialBlob:
		return (t - serialBlob) / 2
	case t == 5:
		return 6
	case t == 6 || t == 7:
		return 8
	case t < 5:
		return t
	}
	return 0
}

// journalRow reads the columns of a row.
func journalRow(seq uint64, types []uint64, b []byte) (s salvaged, ok bool) {
	var columns [9][]byte
	for i, t := range types {
		n := serialSize(t)
		columns[i], b = b[:n:n], b[n:]
	}
	number := func(i int) int64 {
		if types[i] == 9 {
			return 1
		}
		var n int64
		for k, c := range columns[i] {
			if k == 0 {
				n = int64(int8(c))
			} else {
				n = n<<8 | int64(c)
			}
		}
		return n
	}
	if !utf8.Valid(columns[1]) || !utf8.Valid(columns[3]) || number(2) < 1 {
		return s, false
	}
	s.entry.Seq, s.entry.ID, s.entry.Version = seq, human.OperationID(columns[1]), uint64(number(2))
	s.kind, s.at, s.payload = string(columns[3]), number(4), string(columns[5])
	if types[6] != serialNull {
		s.details = append([]byte{}, columns[6]...)
	}
	if types[7] != serialNull {
		s.context = append([]byte{}, columns[7]...)
	}
	copy(s.link[:], columns[8])
	return s, true
}

// varint reads one of SQLite's numbers of 1 to 9 bytes; n is 0 where its end is missing.
func varint(b []byte) (v uint64, n int) {
	for i := range min(len(b), 9) {
		if i == 8 {
			return v<<8 | uint64(b[i]), 9
		}
		v = v<<7 | uint64(b[i]&0x7f)
		if b[i] < 0x80 {
			return v, i + 1
		}
	}
	return 0, 0
}
