package sqlite

import (
	"os"
	"sync"
)

// inUse are the database files of this process's stores. Where a process closes any descriptor of a file, POSIX drops all the locks that
// it has on it: a file that a store has open must not be closed before the store is.
var inUse struct {
	mu    sync.Mutex
	files map[*Store]*openFile
}

// An openFile is a store's database file.
type openFile struct {
	info os.FileInfo
	past *os.File // by which it is read past SQLite; nil as long as it is not
}

// opened notes a store's file.
func (s *Store) opened() error {
	info, err := os.Stat(s.file)
	if err != nil {
		return err
	}
	inUse.mu.Lock()
	defer inUse.mu.Unlock()
	if inUse.files == nil {
		inUse.files = map[*Store]*openFile{}
	}
	inUse.files[s] = &openFile{info: info}
	return nil
}

// closed forgets the file of a store that has no connection any more.
func (s *Store) closed() error {
	inUse.mu.Lock()
	defer inUse.mu.Unlock()
	f := inUse.files[s]
	delete(inUse.files, s)
	if f == nil || f.past == nil {
		return nil
	}
	return f.past.Close()
}

// openMain opens a database file to read it past SQLite. done is called when it is read.
func openMain(name string) (f *os.File, done func(), err error) {
	inUse.mu.Lock()
	defer inUse.mu.Unlock()
	info, err := os.Stat(name)
	if err != nil {
		return nil, nil, err
	}
	for _, has := range inUse.files {
		if !os.SameFile(has.info, info) {
			continue
		}
		if has.past == nil {
			has.past, err = os.Open(name)
		}
		return has.past, func() {}, err
	}
	if f, err = os.Open(name); err != nil {
		return nil, nil, err
	}
	return f, func() { _ = f.Close() }, nil
}
