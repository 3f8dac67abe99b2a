package faulty

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// A Kind is what SQLite did.
type Kind int

// The kinds.
const (
	Write Kind = iota
	Truncate
	Sync
	Delete
)

// An Op is one operation on a file. Offset is where a write begins, or the size after a truncation.
type Op struct {
	Kind   Kind
	File   string
	Offset int64
	Data   []byte

	lost bool // a sync that failed after it dropped it, or a write that failed
}

// A Disk is the log of what was done to the files of a folder.
type Disk struct {
	dir    string
	ops    []Op
	choose Choose
}

// take writes an operation down. With the layer locked.
func (d *Disk) take(op Op) (result int32, short bool) {
	if d.choose != nil {
		result, short = d.choose(op)
	}
	switch {
	case result == OK:
		d.ops = append(d.ops, op)
	case short:
		op.Data = op.Data[:len(op.Data)/2]
		d.ops = append(d.ops, op)
	case op.Kind == Sync: // Linux forgets what it could not write, and the next sync succeeds
		for i := range d.ops {
			d.ops[i].lost = d.ops[i].lost || d.ops[i].File == op.File && d.unsynced(i, len(d.ops))
		}
	}
	return result, short
}

// Fail has operations fail from now on as choose says; nil for none.
func (d *Disk) Fail(choose Choose) {
	layer.mu.Lock()
	defer layer.mu.Unlock()
	d.choose = choose
}

// Position is how many operations there were so far: what is acknowledged now must be there after a power loss at this or any later position.
func (d *Disk) Position() int {
	layer.mu.Lock()
	defer layer.mu.Unlock()
	return len(d.ops)
}

// unsynced says whether no sync of its file follows the operation i before the end.
func (d *Disk) unsynced(i, end int) bool {
	for _, later := range d.ops[i+1 : end] {
		if later.Kind == Sync && later.File == d.ops[i].File {
			return false
		}
	}
	return true
}

// A Rule says what becomes of writes that no sync has followed when the power fails.
type Rule struct {
	Name string
	keep func(n int, op Op) []Op // the n-th operation without a sync
}

func all(_ int, op Op) []Op { return []Op{op} }
func none(int, Op) []Op     { return nil }
func of(file string) func(int, Op) []Op {
	return func(_ int, op Op) []Op {
		if op.File == file {
			return []Op{op}
		}
		return nil
	}
}

func every(odd int) func(int, Op) []Op {
	return func(n int, op Op) []Op {
		if n%2 == odd {
			return []Op{op}
		}
		return nil
	}
}

// sector is the least that a disk writes as a whole.
const sector = 512

// torn keeps every second sector of each write.
func torn(odd int64) func(int, Op) []Op {
	return func(_ int, op Op) (parts []Op) {
		if op.Kind != Write {
			return []Op{op}
		}
		for from := 0; from < len(op.Data); {
			where := op.Offset + int64(from)
			to := min(len(op.Data), from+int(sector-where%sector))
			if where/sector%2 == odd {
				parts = append(parts, Op{Kind: Write, File: op.File, Offset: where, Data: op.Data[from:to]})
			}
			from = to
		}
		return parts
	}
}

// Rules are those that are tried, for a main file and the log beside it.
func Rules(main, wal string) []Rule {
	return []Rule{
		{"all that was written is there, as after a kill", all},
		{"nothing without a sync is there", none},
		{"every second write without a sync is there", every(0)},
		{"every other second write without a sync is there", every(1)},
		{"even sectors of writes without a sync are there", torn(0)},
		{"odd sectors of writes without a sync are there", torn(1)},
		{"the main file is ahead of the log", of(main)},
		{"the log is ahead of the main file", of(wal)},
	}
}

// Restore makes the files in another folder as a power loss at a position may have left them.
func (d *Disk) Restore(dir string, position int, rule Rule) error {
	files, kept := map[string][]byte{}, 0
	synced, any := map[string]int{}, 0 // the last sync of each file, and of any
	for i, op := range d.ops[:position] {
		if op.Kind == Sync {
			synced[op.File], any = i, i
		}
	}
	for i, op := range d.ops[:position] {
		ops := []Op{op}
		last, ever := synced[op.File]
		switch {
		case op.Kind == Sync:
			continue
		case op.lost:
			ops = nil
		case op.Kind == Delete && i < any:
			// File systems with a journal of their own write the changes of folders in order, before what is synced later.
		case !ever || i > last:
			ops = rule.keep(kept, op)
			kept++
		}
		for _, op := range ops {
			files[op.File] = op.apply(files[op.File])
		}
	}
	for name, content := range files {
		if content == nil {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// apply returns a file after an operation; nil is a file that is not there.
func (op Op) apply(content []byte) []byte {
	switch op.Kind {
	case Write:
		end := int(op.Offset) + len(op.Data)
		if len(content) < end {
			content = append(content, make([]byte, end-len(content))...)
		}
		copy(content[op.Offset:], op.Data)
	case Truncate:
		if n := int(op.Offset); n < len(content) {
			content = content[:n]
		} else {
			content = append(content, make([]byte, n-len(content))...)
		}
	case Delete:
		return nil
	case Sync:
	}
	return content
}

// String is for the messages of tests.
func (op Op) String() string {
	return fmt.Sprintf("%s %s at %d, %d bytes", [...]string{"write", "truncate", "sync", "delete"}[op.Kind], op.File, op.Offset, len(op.Data))
}

// At is the operation before a position.
func (d *Disk) At(position int) string {
	if position == 0 {
		return "the beginning"
	}
	return d.ops[position-1].String()
}

// Moments are the positions around syncs, truncations and deletions, where what a power loss leaves is decided.
func (d *Disk) Moments() (positions []int) {
	for i, op := range d.ops {
		if op.Kind != Write {
			positions = append(positions, i, i+1)
		}
	}
	return slices.Compact(positions)
}
