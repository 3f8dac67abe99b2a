//go:build !windows

package sqlite

import (
	"os"
	"slices"
	"sync"
	"syscall"
)

// opened are the database files that this process has read past SQLite. They stay open: closing any descriptor of a file drops all
// the locks that the process has on it, and with them those of a store.
var opened struct {
	mu    sync.Mutex
	files []*os.File
}

// openMain opens a database file to read it past SQLite. done is called when it is read.
func openMain(name string) (f *os.File, done func(), err error) {
	opened.mu.Lock()
	defer opened.mu.Unlock()
	info, err := os.Stat(name)
	if err != nil {
		return nil, nil, err
	}
	opened.files = slices.DeleteFunc(opened.files, func(other *os.File) bool {
		is, err := other.Stat()
		if err == nil && os.SameFile(is, info) {
			f = other
		}
		gone := err == nil && is.Sys().(*syscall.Stat_t).Nlink == 0 // no one else can lock it
		if gone {
			_ = other.Close()
		}
		return gone
	})
	if f == nil {
		if f, err = os.Open(name); err != nil {
			return nil, nil, err
		}
		opened.files = append(opened.files, f)
	}
	return f, func() {}, nil
}
