// Package faulty stands between SQLite and its files, for tests: it writes down every write, sync and truncation of the files in one folder, fails
// those that a test chooses, and says what a disk may hold after a power loss at any moment of them.
package faulty

import (
	"fmt"
	"path/filepath"
	"sync"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// What SQLite's functions return; a Choose returns one of them.
const (
	OK          int32 = sqlite3.SQLITE_OK
	Full        int32 = sqlite3.SQLITE_FULL
	WriteFailed int32 = sqlite3.SQLITE_IOERR_WRITE
	SyncFailed  int32 = sqlite3.SQLITE_IOERR_FSYNC
)

// Choose decides about an operation before it is done: any result but OK is what SQLite gets instead. short has half of the bytes of a write
// reach the file all the same. It is called with the disk locked.
type Choose func(op Op) (result int32, short bool)

// layer is the one of this process: SQLite knows its file systems by process.
var layer struct {
	once sync.Once
	vfs  uintptr // the one that does the work
	err  error

	mu      sync.Mutex
	disk    *Disk
	files   map[uintptr]string  // open files, by SQLite's handle
	methods map[uintptr]uintptr // the functions of files, by ours
	ours    map[uintptr]uintptr // the other way round
}

// Watch begins to watch the files in a folder that are opened from then on, until stop is called. One folder can be watched at a time. The layer
// stays the default file system of SQLite in this process; it changes nothing for files elsewhere.
func Watch(dir string) (d *Disk, stop func(), err error) {
	layer.once.Do(install)
	if layer.err != nil {
		return nil, nil, layer.err
	}
	// SQLite names files by where they are once links are followed.
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, nil, err
	}
	layer.mu.Lock()
	defer layer.mu.Unlock()
	if layer.disk != nil {
		return nil, nil, fmt.Errorf("faulty: %s is watched already", layer.disk.dir)
	}
	d = &Disk{dir: dir}
	layer.disk = d
	return d, func() {
		layer.mu.Lock()
		defer layer.mu.Unlock()
		layer.disk = nil
	}, nil
}

// at is the object at an address outside of Go's memory.
func at[T any](p uintptr) *T { return *(**T)(unsafe.Pointer(&p)) }

// function is what SQLite has as an address, as Go calls it.
func function[F any](p uintptr) F { return *(*F)(unsafe.Pointer(&struct{ uintptr }{p})) }

// address is a function of this package as SQLite calls it.
func address[F any](f F) uintptr { return **(**uintptr)(unsafe.Pointer(&struct{ f *F }{&f})) }

type (
	opens     = func(tls *libc.TLS, vfs, name, file uintptr, flags int32, out uintptr) int32
	deletes   = func(tls *libc.TLS, vfs, name uintptr, sync int32) int32
	writes    = func(tls *libc.TLS, file, from uintptr, n int32, offset int64) int32
	truncates = func(tls *libc.TLS, file uintptr, size int64) int32
	syncs     = func(tls *libc.TLS, file uintptr, flags int32) int32
	closes    = func(tls *libc.TLS, file uintptr) int32
)

func install() {
	tls := libc.NewTLS()
	layer.files, layer.methods, layer.ours = map[uintptr]string{}, map[uintptr]uintptr{}, map[uintptr]uintptr{}
	layer.vfs = sqlite3.Xsqlite3_vfs_find(tls, 0)
	mine := libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(sqlite3.Tsqlite3_vfs{})))
	name, err := libc.CString("faulty")
	if layer.vfs == 0 || mine == 0 || err != nil {
		layer.err = fmt.Errorf("faulty: SQLite has no file system to stand on, or there is no memory: %w", err)
		return
	}
	*at[sqlite3.Tsqlite3_vfs](mine) = *at[sqlite3.Tsqlite3_vfs](layer.vfs)
	v := at[sqlite3.Tsqlite3_vfs](mine)
	v.FzName, v.FpNext = name, 0
	v.FxOpen, v.FxDelete = address[opens](open), address[deletes](remove)
	if rc := sqlite3.Xsqlite3_vfs_register(tls, mine, 1); rc != OK {
		layer.err = fmt.Errorf("faulty: SQLite does not take the file system: %d", rc)
	}
}

func open(tls *libc.TLS, _, name, file uintptr, flags int32, out uintptr) int32 {
	rc := function[opens](at[sqlite3.Tsqlite3_vfs](layer.vfs).FxOpen)(tls, layer.vfs, name, file, flags, out)
	f := at[sqlite3.Tsqlite3_file](file)
	if rc != OK || name == 0 || f.FpMethods == 0 {
		return rc
	}
	layer.mu.Lock()
	defer layer.mu.Unlock()
	path := libc.GoString(name)
	if layer.disk == nil || filepath.Dir(path) != layer.disk.dir {
		return rc
	}
	layer.files[file] = filepath.Base(path)
	theirs := f.FpMethods
	if layer.ours[theirs] == 0 {
		mine := libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(sqlite3.Tsqlite3_io_methods{})))
		if mine == 0 {
			return sqlite3.SQLITE_NOMEM
		}
		m := at[sqlite3.Tsqlite3_io_methods](mine)
		*m = *at[sqlite3.Tsqlite3_io_methods](theirs)
		m.FxWrite, m.FxTruncate, m.FxSync, m.FxClose = address[writes](write), address[truncates](truncate), address[syncs](syncFile), address[closes](closeFile)
		layer.ours[theirs], layer.methods[mine] = mine, theirs
	}
	f.FpMethods = layer.ours[theirs]
	return rc
}

// theirs are the functions that do the work for a file. With the layer locked.
func theirs(file uintptr) *sqlite3.Tsqlite3_io_methods {
	return at[sqlite3.Tsqlite3_io_methods](layer.methods[at[sqlite3.Tsqlite3_file](file).FpMethods])
}

// do writes an operation down, unless a test has it fail, and says what is to become of it.
func do(file uintptr, op Op) (methods *sqlite3.Tsqlite3_io_methods, result int32, short bool) {
	layer.mu.Lock()
	defer layer.mu.Unlock()
	op.File = layer.files[file]
	if layer.disk != nil {
		result, short = layer.disk.take(op)
	}
	return theirs(file), result, short
}

func write(tls *libc.TLS, file, from uintptr, n int32, offset int64) int32 {
	m, result, short := do(file, Op{Kind: Write, Offset: offset, Data: append([]byte{}, unsafe.Slice(at[byte](from), n)...)})
	if short {
		n /= 2
	}
	if result == OK || short {
		if rc := function[writes](m.FxWrite)(tls, file, from, n, offset); rc != OK {
			return rc
		}
	}
	return result
}

func truncate(tls *libc.TLS, file uintptr, size int64) int32 {
	m, result, _ := do(file, Op{Kind: Truncate, Offset: size})
	if result != OK {
		return result
	}
	return function[truncates](m.FxTruncate)(tls, file, size)
}

func syncFile(tls *libc.TLS, file uintptr, flags int32) int32 {
	m, result, _ := do(file, Op{Kind: Sync})
	if result != OK {
		return result
	}
	return function[syncs](m.FxSync)(tls, file, flags)
}

func closeFile(tls *libc.TLS, file uintptr) int32 {
	layer.mu.Lock()
	m := theirs(file)
	delete(layer.files, file)
	layer.mu.Unlock()
	return function[closes](m.FxClose)(tls, file)
}

// remove deletes a file. Its entry in the folder may come back after a power loss, and then has what was in it.
func remove(tls *libc.TLS, _, name uintptr, sync int32) int32 {
	path := libc.GoString(name)
	layer.mu.Lock()
	if layer.disk != nil && filepath.Dir(path) == layer.disk.dir {
		layer.disk.take(Op{Kind: Delete, File: filepath.Base(path)})
	}
	layer.mu.Unlock()
	return function[deletes](at[sqlite3.Tsqlite3_vfs](layer.vfs).FxDelete)(tls, layer.vfs, name, sync)
}
