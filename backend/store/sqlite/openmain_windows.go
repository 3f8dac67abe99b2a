package sqlite

import "os"

// openMain opens a database file to read it past SQLite. done closes it: here that keeps the locks of a store.
func openMain(name string) (f *os.File, done func(), err error) {
	if f, err = os.Open(name); err != nil {
		return nil, nil, err
	}
	return f, func() { _ = f.Close() }, nil
}
