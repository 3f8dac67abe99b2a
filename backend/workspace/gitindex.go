package workspace

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	maxName  = 4096     // bytes of a tracked file's path
	maxNames = 64 << 20 // bytes of all of them
	maxDeep  = 100_000  // folders that they are in
	maxIndex = 32 << 20 // bytes of an index that is read here

	mostIndexes = 4       // that are kept
	maxKept     = 4 << 20 // bytes of the largest
	settled     = 2       // seconds after which a file that is written again has another time
)

// A gitIndex is what a repository tracks, as gitformat-index(5) describes it.
type gitIndex struct {
	data    string // of the file
	entries []gitEntry
	skips   bool // some entries are not in the working tree: of a sparse checkout

	sec, nano int64 // when it was written, seconds and nanoseconds
}

// A gitEntry is a tracked file.
type gitEntry struct {
	name  string
	at    int // where its numbers begin
	stage uint8
	plain bool // git tells its changes: see sound
	added bool // it is yet to be staged: git add --intent-to-add
}

// The numbers of an entry, four bytes each, from where it begins.
const (
	atCtime, atCtimeNano, atMtime, atMtimeNano, atInode, atMode, atUID, atGID, atSize = 0, 4, 8, 12, 20, 24, 28, 32, 36

	atHash, atFlags, atName = 40, 60, 62
)

// Modes of entries and of a tree's.
const (
	modeFile, modeProgram, modeLink, modeModule = 0o100644, 0o100755, 0o120000, 0o160000
)

func (x *gitIndex) number(e *gitEntry, at int) uint32 { return be32(x.data[e.at+at:]) }

func (x *gitIndex) hash(e *gitEntry) string { return x.data[e.at+atHash : e.at+atFlags] }

func be16(s string) uint16 { return uint16(s[0])<<8 | uint16(s[1]) }

func be32(s string) uint32 {
	return uint32(s[0])<<24 | uint32(s[1])<<16 | uint32(s[2])<<8 | uint32(s[3])
}

// parseIndex reads an index of SHA-1 names, of version 2, 3 or 4. ok is false for one that is damaged, split or sparse, or has
// anything that is not known here.
func parseIndex(data string) (x *gitIndex, ok bool) {
	end := len(data) - 20 // its own hash
	if end < 12 || data[:4] != "DIRC" {
		return nil, false
	}
	version, count := be32(data[4:]), int(be32(data[8:]))
	if version < 2 || version > 4 || count < 0 || count > end/atName {
		return nil, false
	}
	x = &gitIndex{data: data, entries: make([]gitEntry, 0, count)}
	at, before, names, deep := 12, gitEntry{}, 0, 0
	for range count {
		var e gitEntry
		if e, at, ok = x.entry(at, end, version, before.name); !ok {
			return nil, false
		}
		if c := cmp.Compare(before.name, e.name); c > 0 || c == 0 && before.stage >= e.stage || e.name == "" || len(e.name) > maxName {
			return nil, false
		}
		shared := 0
		for shared < min(len(before.name), len(e.name)) && before.name[shared] == e.name[shared] {
			shared++
		}
		names, deep = names+len(e.name), deep+strings.Count(e.name[shared:], "/")
		if names > maxNames || deep > maxDeep {
			return nil, false
		}
		x.entries, before = append(x.entries, e), e
	}
	for at != end {
		// An extension whose name begins with a small letter has to be understood: a split or a sparse index.
		if at+8 > end || data[at] < 'A' || data[at] > 'Z' {
			return nil, false
		}
		size := int(be32(data[at+4:]))
		if at += 8; size < 0 || size > end-at {
			return nil, false
		}
		at += size
	}
	return x, true
}

// entry reads the entry at a place, and returns the place after it.
func (x *gitIndex) entry(at, end int, version uint32, before string) (e gitEntry, next int, ok bool) {
	data := x.data[:end]
	if at+atName > end {
		return e, 0, false
	}
	e.at = at
	flags := be16(data[at+atFlags:])
	e.stage = uint8(flags >> 12 & 3)
	name := at + atName
	skip := false
	if flags&0x4000 != 0 {
		if version < 3 || name+2 > end {
			return e, 0, false
		}
		more := be16(data[name:])
		if more&^0x6000 != 0 {
			return e, 0, false
		}
		skip, e.added = more&0x4000 != 0, more&0x2000 != 0
		name += 2
	}
	mode := x.number(&e, atMode)
	switch mode {
	case modeFile, modeProgram, modeLink, modeModule:
	default:
		return e, 0, false
	}
	e.plain = flags&0x8000 == 0 && !skip && e.stage == 0 && mode != modeModule
	x.skips = x.skips || skip
	prefix := ""
	if version == 4 {
		drop, n := varint(data[name:])
		if n == 0 || drop > len(before) {
			return e, 0, false
		}
		prefix, name = before[:len(before)-drop], name+n
	}
	length := strings.IndexByte(data[name:], 0)
	if length < 0 || length > maxName {
		return e, 0, false
	}
	e.name = data[name : name+length]
	if prefix != "" {
		e.name = prefix + e.name
	}
	if said := int(flags & 0xfff); said != min(len(e.name), 0xfff) {
		return e, 0, false
	}
	next = name + length + 1
	if version < 4 {
		next = at + (name-at+length+8)&^7
	}
	return e, next, next <= end
}

// varint reads a number as packs and indexes have it, and how long it is; 0 for none.
func varint(s string) (value, n int) {
	for n < len(s) && n < 5 {
		c := s[n]
		if n++; n > 1 {
			value++
		}
		value = value<<7 | int(c&0x7f)
		if c&0x80 == 0 {
			return value, n
		}
	}
	return 0, 0
}

// search is the first entry whose name is not before name, from lo on.
func (x *gitIndex) search(lo, hi int, name string) int {
	i, _ := slices.BinarySearchFunc(x.entries[lo:hi], name, func(e gitEntry, name string) int { return cmp.Compare(e.name, name) })
	return lo + i
}

// below are the entries in a folder, by its name with a slash at its end; empty for all.
func (x *gitIndex) below(lo, hi int, folder string) (from, to int) {
	if folder == "" {
		return 0, len(x.entries)
	}
	return x.search(lo, hi, folder), x.search(lo, hi, folder[:len(folder)-1]+"0") // what follows the slash
}

// at are the entries of a path itself: none, one, or some of a merge.
func (x *gitIndex) at(lo, hi int, name string) (from, to int) {
	from = x.search(lo, hi, name)
	for to = from; to < hi && x.entries[to].name == name; to++ {
	}
	return from, to
}

// readIndex reads an index; nil where git has to.
func readIndex(name string) *gitIndex {
	data, info, err := smallAt(name, maxIndex)
	if err != nil {
		return nil
	}
	x, ok := parseIndex(data)
	if !ok {
		return nil
	}
	x.sec, x.nano = info.ModTime().Unix(), int64(info.ModTime().Nanosecond())
	return x
}

// indexes keep what was read, by the numbers that the system has of the files: size, inode and the times of change, of which no
// program can set one.
type indexes struct {
	mu   sync.Mutex
	list []keptIndex // the last one was read last
}

type keptIndex struct {
	name  string
	was   stat
	index *gitIndex
}

// read is readIndex, without reading what is as it was.
func (k *indexes) read(name string, now time.Time) *gitIndex {
	was, err := fileStat(nil, name)
	if err != nil {
		return nil
	}
	k.mu.Lock()
	at := slices.IndexFunc(k.list, func(i keptIndex) bool { return i.name == name })
	if at >= 0 && k.list[at].was == was {
		x := k.list[at].index
		k.mu.Unlock()
		return x
	}
	k.mu.Unlock()
	x := readIndex(name)
	after, err := fileStat(nil, name)
	if x == nil || err != nil || after != was || was.size > maxKept || now.Unix() < int64(was.numbers[0])+settled {
		return x
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.list = slices.DeleteFunc(k.list, func(i keptIndex) bool { return i.name == name })
	if len(k.list) == mostIndexes {
		k.list = slices.Delete(k.list, 0, 1)
	}
	k.list = append(k.list, keptIndex{name, was, x})
	return x
}
