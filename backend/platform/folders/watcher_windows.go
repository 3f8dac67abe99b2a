package folders

import (
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"unsafe"

	"github.com/fsnotify/fsnotify"
	"golang.org/x/sys/windows"
)

// A watcher tells of a folder and all below it through one handle on it. fsnotify has one on each folder, and a
// folder below which there are open handles cannot be renamed or moved: the recording would get into the operator's
// way. It is otherwise used as fsnotify's.
type watcher struct {
	Events chan fsnotify.Event
	Errors chan error

	mu      sync.Mutex
	roots   []string
	stop    windows.Handle // an event that is set to end
	stopped chan struct{}
	readers sync.WaitGroup
}

func newWatcher() (*watcher, error) {
	stop, err := windows.CreateEvent(nil, 1, 0, nil)
	if err != nil {
		return nil, err
	}
	return &watcher{Events: make(chan fsnotify.Event, 8192), Errors: make(chan error, 8), stop: stop, stopped: make(chan struct{})}, nil
}

// Add watches a folder; one below another that is watched is watched already.
func (w *watcher) Add(dir string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, root := range w.roots {
		if dir == root || strings.HasPrefix(dir, root+`\`) {
			return nil
		}
	}
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return err
	}
	const share = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	handle, err := windows.CreateFile(name, windows.FILE_LIST_DIRECTORY, share, nil, windows.OPEN_EXISTING,
		windows.FILE_FLAG_BACKUP_SEMANTICS|windows.FILE_FLAG_OVERLAPPED, 0)
	if err != nil {
		return err
	}
	heard, err := windows.CreateEvent(nil, 0, 0, nil)
	if err != nil {
		_ = windows.CloseHandle(handle)
		return err
	}
	r := &reader{w: w, root: dir, handle: handle, heard: heard}
	if err := r.listen(); err != nil { // here, so that nothing is missed once Add has returned
		r.close()
		return err
	}
	w.roots = append(w.roots, dir)
	w.readers.Go(r.run)
	return nil
}

// Remove does nothing: what is below a root is watched for as long as the root.
func (w *watcher) Remove(string) error { return nil }

// Close ends it and waits until it sends nothing any more.
func (w *watcher) Close() error {
	close(w.stopped)
	_ = windows.SetEvent(w.stop)
	w.readers.Wait()
	return windows.CloseHandle(w.stop)
}

// A reader reads the changes below one root.
type reader struct {
	w             *watcher
	root          string
	handle, heard windows.Handle
	buffer        [64 << 10]byte // the most that folders of other machines allow
	pending       windows.Overlapped
}

func (r *reader) close() {
	_ = windows.CloseHandle(r.handle)
	_ = windows.CloseHandle(r.heard)
}

func (r *reader) listen() error {
	const what = windows.FILE_NOTIFY_CHANGE_FILE_NAME | windows.FILE_NOTIFY_CHANGE_DIR_NAME |
		windows.FILE_NOTIFY_CHANGE_SIZE | windows.FILE_NOTIFY_CHANGE_LAST_WRITE
	r.pending = windows.Overlapped{HEvent: r.heard}
	return windows.ReadDirectoryChanges(r.handle, &r.buffer[0], uint32(len(r.buffer)), true, what, nil, &r.pending, 0)
}

func (r *reader) run() {
	defer r.close()
	for {
		which, err := windows.WaitForMultipleObjects([]windows.Handle{r.heard, r.w.stop}, false, windows.INFINITE)
		var n uint32
		if err != nil || which != windows.WAIT_OBJECT_0 {
			// The buffer is the system's until the request has ended.
			_ = windows.CancelIoEx(r.handle, &r.pending)
			_ = windows.GetOverlappedResult(r.handle, &r.pending, &n, true)
			return
		}
		err = windows.GetOverlappedResult(r.handle, &r.pending, &n, true)
		switch {
		case errors.Is(err, windows.ERROR_NOTIFY_ENUM_DIR), err == nil && n == 0:
			r.fail(fsnotify.ErrEventOverflow)
		case err != nil: // the root is gone
			r.tell(fsnotify.Event{Name: r.root, Op: fsnotify.Remove})
			return
		}
		r.parse(n)
		if err := r.listen(); err != nil {
			r.tell(fsnotify.Event{Name: r.root, Op: fsnotify.Remove})
			return
		}
	}
}

// parse reads FILE_NOTIFY_INFORMATION: where the next begins, what happened, and the name with its length in bytes.
func (r *reader) parse(n uint32) {
	operations := map[uint32]fsnotify.Op{
		windows.FILE_ACTION_ADDED: fsnotify.Create, windows.FILE_ACTION_RENAMED_NEW_NAME: fsnotify.Create,
		windows.FILE_ACTION_REMOVED: fsnotify.Remove, windows.FILE_ACTION_RENAMED_OLD_NAME: fsnotify.Rename,
		windows.FILE_ACTION_MODIFIED: fsnotify.Write,
	}
	const header = 12
	for at := uint32(0); at+header <= n; {
		field := func(i uint32) uint32 { return *(*uint32)(unsafe.Pointer(&r.buffer[at+4*i])) }
		next, action, length := field(0), field(1), field(2)
		if length > 0 && at+header+length <= n {
			name := windows.UTF16ToString(unsafe.Slice((*uint16)(unsafe.Pointer(&r.buffer[at+header])), length/2))
			r.tell(fsnotify.Event{Name: filepath.Join(r.root, name), Op: operations[action]})
		}
		if next == 0 {
			return
		}
		at += next
	}
}

func (r *reader) tell(e fsnotify.Event) {
	select {
	case r.w.Events <- e:
	case <-r.w.stopped:
	}
}

func (r *reader) fail(err error) {
	select {
	case r.w.Errors <- err:
	case <-r.w.stopped:
	}
}
