package datadir

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Crashes is the folder of a data folder with the reports of crashes.
const Crashes = "crashes"

const (
	keptCrashes = 5                 // reports are kept, the newest
	maxCrash    = 1 << 20           // bytes of what the runtime wrote are kept of one
	crashLog    = 100               // lines of the log stand in one
	rawSuffix   = ".at"             // of the file in the folder that names the one with what the runtime writes
	rawPrefix   = "deskbell-crash-" // of that one's name
)

// volatile are the folders for what is not masked, the best first: such that what is in them is gone when the user logs out or the machine
// stops. Elsewhere than on Linux it is the system's folder for temporary files.
func volatile() []string {
	var all []string
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		all = append(all, dir)
	}
	if runtime.GOOS == "linux" {
		all = append(all, "/run/user/"+strconv.Itoa(os.Getuid()), "/dev/shm")
	}
	return append(all, os.TempDir())
}

// createVolatile makes a file that only this user may read, in the first folder that takes it.
func createVolatile() (f *os.File, err error) {
	for _, dir := range volatile() {
		if f, err = os.CreateTemp(dir, rawPrefix); err == nil {
			return f, nil
		}
	}
	return nil, err
}

// rawFile is the path of what the runtime wrote, by the file that names it; empty where it is gone.
func rawFile(named string) string {
	text, err := os.ReadFile(named)
	name := strings.TrimSpace(string(text))
	if err != nil || filepath.Base(name) != name || !strings.HasPrefix(name, rawPrefix) { // whoever may write to the data folder names no other file
		return ""
	}
	for _, dir := range volatile() {
		if info, err := os.Lstat(filepath.Join(dir, name)); err == nil && info.Mode().IsRegular() {
			return filepath.Join(dir, name)
		}
	}
	return ""
}

// WatchCrashes has Go's runtime write what it says of a panic or another fatal error of this process, in whatever goroutine, to a file
// below about: a few lines on the program and the system. Nothing is masked there, so that file is not in the data folder, but where it does
// not outlive the session or the machine's run, and the folder has only its name. Reports makes a report of it, after the process has
// ended. Stop ends it and removes both files; a process that is killed leaves them behind.
func WatchCrashes(dir, about string) (stop func() error, err error) {
	folder := filepath.Join(dir, Crashes)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	f, err := createVolatile()
	if err != nil {
		return nil, err
	}
	named := filepath.Join(folder, "."+strconv.Itoa(os.Getpid())+rawSuffix)
	remove := func() error { return errors.Join(os.Remove(f.Name()), os.Remove(named)) }
	_, err = fmt.Fprintf(f, "%s\nstarted %s\n\n", strings.TrimSpace(about), time.Now().UTC().Format(time.RFC3339))
	if err == nil {
		err = os.WriteFile(named, []byte(filepath.Base(f.Name())+"\n"), 0o600)
	}
	if err == nil {
		err = debug.SetCrashOutput(f, debug.CrashOptions{}) // it keeps a descriptor of its own
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, errors.Join(err, remove())
	}
	return func() error { return errors.Join(debug.SetCrashOutput(nil, debug.CrashOptions{}), remove()) }, nil
}

// Reports makes reports of what processes that have ended left behind, masked by mask and with the last lines of the log, and removes
// what they left. Fresh are the new reports; killed says that a process ended silently, as one that is killed does. Only the
// newest few are kept. The server that holds the folder, if any, is left alone.
func Reports(dir string, mask func(string) string) (fresh []string, killed bool, err error) {
	folder := filepath.Join(dir, Crashes)
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	running := 0
	if holder, err := readServer(filepath.Join(dir, lockFile), behindLock); err == nil && (holder.PID == os.Getpid() || Held(dir)) {
		running = holder.PID
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(e.Name(), "."), rawSuffix))
		if err != nil || !strings.HasSuffix(e.Name(), rawSuffix) || pid == running && pid != os.Getpid() {
			continue
		}
		path, err := report(dir, e.Name(), mask)
		if err != nil {
			return fresh, killed, err
		}
		if path == "" {
			killed = true
		} else {
			fresh = append(fresh, path)
		}
	}
	return fresh, killed, keepNewest(folder)
}

// report makes one; its path is empty where the process said nothing.
func report(dir, name string, mask func(string) string) (path string, err error) {
	named := filepath.Join(dir, Crashes, name)
	raw := rawFile(named)
	if raw == "" {
		return "", os.Remove(named) // the machine stopped since
	}
	info, err := os.Stat(raw)
	if err != nil {
		return "", err
	}
	f, err := os.Open(raw)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(io.LimitReader(f, maxCrash))
	if err := errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	_, said, _ := strings.Cut(string(text), "\n\n")
	if strings.TrimSpace(said) != "" {
		log, err := TailLog(filepath.Join(dir, Log), crashLog)
		if err != nil {
			return "", err
		}
		path = filepath.Join(dir, Crashes, "crash-"+info.ModTime().UTC().Format("20060102T150405.000Z")+".txt")
		whole := mask(string(text) + "\n\nThe last lines of the log:\n" + log)
		if err := os.WriteFile(path, []byte(whole), 0o600); err != nil {
			return "", err
		}
	}
	return path, errors.Join(os.Remove(raw), os.Remove(named))
}

// keepNewest removes the oldest reports.
func keepNewest(folder string) error {
	all, err := filepath.Glob(filepath.Join(folder, "crash-*.txt"))
	if err != nil {
		return err
	}
	slices.Sort(all) // by time: it is in their names
	var failed error
	for _, path := range all[:max(0, len(all)-keptCrashes)] {
		failed = errors.Join(failed, os.Remove(path))
	}
	return failed
}

// CrashReports are the paths of the reports that are kept, the newest last.
func CrashReports(dir string) []string {
	all, _ := filepath.Glob(filepath.Join(dir, Crashes, "crash-*.txt")) // the pattern is right
	slices.Sort(all)
	return all
}

// loggedKeys are what of a log's lines may be shown to others: nothing that agents or operators wrote.
var loggedKeys = []string{"time", "level", "msg", "err", "error", "reason", "part", "url", "version", "pid", "operation", "code", "status", "method", "source", "took"}

// TailLog returns the last lines of a log, at most as many as said, with what may be shown to others; it is to be masked still. A log
// that is not there has none.
func TailLog(path string, lines int) (string, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	const most = 2 << 20 // bytes from the end
	if info, err := f.Stat(); err == nil && info.Size() > most {
		if _, err := f.Seek(-most, io.SeekEnd); err != nil {
			return "", err
		}
	}
	var kept []string
	all := bufio.NewReader(f)
	for {
		line, err := all.ReadString('\n')
		var fields map[string]json.RawMessage
		if json.Unmarshal([]byte(line), &fields) == nil { // the first may be a part of one
			var b strings.Builder
			for _, key := range loggedKeys {
				if value, ok := fields[key]; ok {
					fmt.Fprintf(&b, " %s=%s", key, value)
				}
			}
			kept = append(kept, strings.TrimSpace(b.String()))
			kept = kept[max(0, len(kept)-lines):]
		}
		if err != nil {
			return strings.Join(kept, "\n") + "\n", nil
		}
	}
}
