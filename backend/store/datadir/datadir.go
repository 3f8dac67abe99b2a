// Package datadir knows the files by which processes find each other in one data folder: the lock that
// one server holds, and server.json, which says where that server listens. Neither holds a secret.
package datadir

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"deskbell/backend/human"
	"deskbell/backend/store/disk"
)

// Files of a data folder.
const (
	Database = "deskbell.db"
	Log      = "deskbell.log"
	Finished = "human.log"     // the finished requests
	Socket   = "deskbell.sock" // on which the server listens, too
	Agents   = "known_agents"  // whose processes the server knows
	Scraper  = "metrics.token" // what a scraper of metrics shows

	lockFile   = "lock"
	serverFile = "server.json"
)

// A Server is a running server.
type Server struct {
	PID       int       `json:"pid"`
	URL       string    `json:"url,omitempty"`    // empty while it starts
	Socket    string    `json:"socket,omitempty"` // its name in the folder; from Find, its path
	Version   string    `json:"version,omitempty"`
	Window    bool      `json:"window,omitempty"` // it has a window, which a second start shows
	StartedAt time.Time `json:"started_at"`
}

// A Claim is a held lock. It ends with Release, or with the process, however that dies.
type Claim struct {
	dir  string
	lock *flock.Flock
	me   Server
}

// Take makes the folder where it is missing, readable by no one else, and locks it for this process. When
// another process holds it, the error is a Conflict that says which, since when and where it listens.
func Take(dir, version string) (*Claim, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, human.Wrap(human.Unavailable, err, "the data folder %s cannot be made: %v", dir, reason(err))
	}
	lock := flock.New(filepath.Join(dir, lockFile), flock.SetPermissions(0o600), flock.SetFlag(os.O_CREATE|os.O_RDWR))
	// Find looks at the lock for a moment too; that must not look like a second server.
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	got, err := lock.TryLockContext(ctx, 10*time.Millisecond)
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return nil, human.Wrap(human.Unavailable, err, "the data folder %s cannot be written: %v; check its permissions, or choose another with --data", dir, reason(err))
	}
	if !got {
		return nil, human.Errorf(human.Conflict, "%s", heldBy(dir))
	}
	c := &Claim{dir: dir, lock: lock, me: Server{PID: os.Getpid(), Version: version, StartedAt: time.Now().UTC().Truncate(time.Second)}}
	text, err := json.Marshal(c.me)
	if err == nil {
		err = writeBehindLock(c.path(lockFile), text)
	}
	if err != nil {
		_ = lock.Unlock() // the first error is the one that counts
		return nil, human.Wrap(human.Unavailable, err, "the data folder %s cannot be written: %v", dir, reason(err))
	}
	return c, nil
}

// Windows keeps others from the first byte of a locked file, so what is to be read begins at the second.
const behindLock = 1

func writeBehindLock(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(append(text, '\n'), behindLock)
	if err == nil {
		err = f.Truncate(int64(behindLock + len(text) + 1))
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}

// heldBy says who holds the folder.
func heldBy(dir string) string {
	s, err := readServer(filepath.Join(dir, serverFile), 0)
	holder, lockErr := readServer(filepath.Join(dir, lockFile), behindLock)
	if lockErr != nil {
		return fmt.Sprintf("another Deskbell holds the data folder %s; stop it, or choose another folder with --data", dir)
	}
	where := "is starting"
	if err == nil && s.PID == holder.PID && s.URL != "" {
		where = "listens on " + s.URL + " (to sign in there, run `deskbell login` in a terminal)"
	}
	return fmt.Sprintf("another Deskbell holds the data folder %s: process %d, since %s, %s; stop it, or choose another folder with --data",
		dir, holder.PID, holder.StartedAt.Local().Format("2006-01-02 15:04:05"), where)
}

func readServer(path string, from int64) (s Server, err error) {
	f, err := os.Open(path)
	if err != nil {
		return s, err
	}
	defer func() { _ = f.Close() }()
	if _, err := f.Seek(from, 0); err != nil {
		return s, err
	}
	return s, json.NewDecoder(f).Decode(&s)
}

// At is the address by which this user's programs call it: unix: and the path of its socket, or the URL where it has none.
func (s Server) At() string {
	if s.Socket != "" {
		return "unix:" + s.Socket
	}
	return s.URL
}

// HasWindow says what Publish is to tell: this process has a window.
func (c *Claim) HasWindow() { c.me.Window = true }

// Publish tells other processes of this user where the server listens; with socket, on Socket in the folder, too.
func (c *Claim) Publish(url string, socket bool) error {
	c.me.URL = url
	if c.me.Socket = ""; socket {
		c.me.Socket = Socket
	}
	text, err := json.Marshal(c.me)
	if err == nil {
		_, err = disk.Replace(c.path(serverFile), bytes.NewReader(append(text, '\n')), 0o600)
	}
	if err != nil {
		return human.Wrap(human.Unavailable, err, "the data folder %s cannot be written: %v", c.dir, reason(err))
	}
	return nil
}

// Server is what Publish tells.
func (c *Claim) Server() Server { return c.me }

// Release takes server.json away and gives the folder to the next.
func (c *Claim) Release() error {
	if err := os.Remove(c.path(serverFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, c.lock.Unlock())
	}
	return c.lock.Unlock()
}

func (c *Claim) path(name string) string { return filepath.Join(c.dir, name) }

// Find returns the server that runs on the folder. Without one, or while it starts and does not listen
// yet, the error is NotFound. A server.json left by a server that died counts for nothing.
func Find(dir string) (Server, error) {
	s, err := readServer(filepath.Join(dir, serverFile), 0)
	if err != nil || !strings.HasPrefix(s.URL, "http") || !Held(dir) {
		return Server{}, human.Errorf(human.NotFound, "no Deskbell runs on the data folder %s", dir)
	}
	if s.Socket != "" {
		s.Socket = filepath.Join(dir, Socket) // whatever else the file names
	}
	return s, nil
}

// Held says whether a server holds the folder, be it only starting.
func Held(dir string) bool {
	path := filepath.Join(dir, lockFile)
	if _, err := os.Stat(path); err != nil {
		return false
	}
	lock := flock.New(path, flock.SetFlag(os.O_RDONLY))
	got, err := lock.TryRLock()
	if err != nil {
		return false
	}
	if got {
		_ = lock.Unlock() // closing the file would do the same
	}
	return !got
}

// reason is an error without the path, which the message has already.
func reason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
