package sqlite

import (
	"context"
	"sync"

	"deskbell/backend/human"
)

// Bounds of what live keeps in memory.
const (
	recentEntries = 4096
	recentBytes   = 16 << 20
)

// live is what readers see of the journal without the disk: how far it goes, and its last entries.
type live struct {
	mu     sync.RWMutex
	closed bool
	head   uint64
	grown  chan struct{} // closed and replaced whenever head grows
	recent []*row        // seqs head-len(recent)+1 to head
	bytes  int
}

func (l *live) init() { l.grown = make(chan struct{}) }

// publish makes entries visible and wakes who waits for them. Entries that do not follow the head (another
// process wrote to the file) start the memory anew.
func (l *live) publish(rows []*row) {
	if len(rows) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if rows[0].entry.Seq != l.head+1 {
		l.recent, l.bytes = nil, 0
	}
	l.recent = append(l.recent, rows...)
	for _, r := range rows {
		l.bytes += r.bytes()
	}
	drop := 0
	for ; len(l.recent)-drop > recentEntries || l.bytes > recentBytes && drop < len(l.recent); drop++ {
		l.bytes -= l.recent[drop].bytes()
		l.recent[drop] = nil
	}
	l.recent = l.recent[drop:]
	l.head = rows[len(rows)-1].entry.Seq
	close(l.grown)
	l.grown = make(chan struct{})
}

// forget drops what is in memory: the disk has less than that.
func (l *live) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.recent, l.bytes = nil, 0
}

func (l *live) seq() uint64 {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.head
}

// page returns up to n entries that follow after, when memory has them.
func (l *live) page(after uint64, n int) ([]human.Entry, bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	first := l.head - uint64(len(l.recent)) + 1
	if after+1 < first || after >= l.head {
		return nil, false
	}
	rest := l.recent[after+1-first:]
	page := make([]human.Entry, min(n, len(rest)))
	for i := range page {
		page[i] = rest[i].entry
	}
	return page, true
}

func (l *live) wait(ctx context.Context, after uint64) error {
	for {
		l.mu.RLock()
		head, grown, closed := l.head, l.grown, l.closed
		l.mu.RUnlock()
		switch {
		case head > after:
			return nil
		case closed:
			return closedError()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-grown:
		}
	}
}

func (l *live) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.closed = true
		close(l.grown)
	}
}
