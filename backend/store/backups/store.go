// Package backups makes copies of what a call of a tool would delete or overwrite, before it runs: checked byte for byte, kept
// for 30 days, and put back by Restore. It tells what a call would change, too. See service.Files.
package backups

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"deskbell/backend/gate"
	"deskbell/backend/human"
	"deskbell/backend/store/disk"
)

const (
	// Life is how long a copy is kept.
	Life = 30 * 24 * time.Hour

	maxFiles = 100_000
	maxBytes = 2 << 30
	spare    = 64 << 20 // bytes that stay free on the disk
)

// A Tree is a git working tree, asked about without running anything that its settings name; *evidence.Repo is one.
type Tree interface {
	// Top is the root, without symbolic links.
	Top() string
	// Index is the file that holds what is staged.
	Index() string
	// Head returns the commit that is checked out, and the branch; empty where there is none.
	Head() (commit, branch string)
	// Git runs git and returns what it puts out. The index is the tree's own where empty.
	Git(ctx context.Context, in []byte, index string, args ...string) ([]byte, error)
	// Differing lists files from the root: tracked ones that differ from the commit, and ones in no commit.
	Differing(ctx context.Context, ignored bool) (tracked, loose []string, err error)
	// Stashes returns the commits of the stashes, the newest first.
	Stashes() []string
	// Keep makes a reference stand for a commit.
	Keep(ctx context.Context, ref, commit, message string) error
}

// A Store keeps copies in a folder. It is safe for concurrent use.
type Store struct {
	dir  string
	now  func() time.Time
	mask func(string) string
	tree func(dir string) (Tree, error)

	mu       sync.Mutex
	held     map[string]int // folders that are being filled or restored, and by how many
	maxFiles int
	maxBytes int64
	free     func(dir string) (uint64, error)
}

// New returns the store of the folder backups in dir. mask hides secrets in what Difference shows; nil hides none. tree
// finds the git working tree that a folder is in; nil finds none.
func New(dir string, now func() time.Time, mask func(string) string, tree func(dir string) (Tree, error)) *Store {
	if mask == nil {
		mask = func(s string) string { return s }
	}
	if tree == nil {
		tree = func(string) (Tree, error) { return nil, errors.New("git is not looked at") }
	}
	return &Store{dir: filepath.Join(dir, "backups"), now: now, mask: mask, tree: tree, held: map[string]int{}, maxFiles: maxFiles, maxBytes: maxBytes, free: disk.Free}
}

// A Manifest lists what a copy holds. It is written last: a folder without one is no copy.
type Manifest struct {
	At     time.Time `json:"at"`
	Until  time.Time `json:"until"`
	Tool   string    `json:"tool"`
	Digest string    `json:"digest"`          // of the call
	Index  string    `json:"staged,omitzero"` // the commit that holds what was staged, in the repository
	Items  []Item    `json:"items"`
}

// An Item is one file, folder or link.
type Item struct {
	Path   string      `json:"path"` // where it was; absolute
	Mode   fs.FileMode `json:"mode"` // as Go counts it: kind and permissions
	What   string      `json:"what"` // Mode for people
	Time   time.Time   `json:"mtime"`
	Size   int64       `json:"size,omitempty"`
	SHA256 string      `json:"sha256,omitempty"`
	Copy   string      `json:"copy,omitempty"` // where its contents are, from the manifest's folder on
	Link   string      `json:"link,omitempty"` // what it leads to
	User   int         `json:"user"`
	Group  int         `json:"group"`
}

// about is a folder of copies in short.
func (m Manifest) about(dir string) human.Backup {
	b := human.Backup{ID: filepath.Base(dir), Path: dir, Tool: m.Tool, At: m.At, Until: m.Until}
	for _, i := range m.Items {
		if i.Mode.IsRegular() || i.Mode&fs.ModeSymlink != 0 {
			b.Files++
			b.Bytes += i.Size
		}
	}
	return b
}

const manifestName = "manifest.json"

// Backup copies what the effects of a call would remove, and checks the copies against the originals byte for byte. It
// leaves the originals as they are. What git alone would throw away goes into a stash. An error says that there is no copy,
// why, and what to do. It blocks for as long as copying takes.
func (s *Store) Backup(ctx context.Context, call gate.Call, v human.Verdict) (human.Backup, error) {
	want, err := s.wanted(ctx, call, v)
	if err != nil {
		return human.Backup{}, err
	}
	b, ok, err := s.stash(ctx, call, &want)
	if err != nil {
		return human.Backup{}, err
	}
	if ok && len(want.paths) == 0 {
		return b, nil
	}
	return s.copies(ctx, call, v, want)
}

// wanted is what has to be kept.
type wanted struct {
	paths   map[string]bool // absolute
	tree    Tree            // whose changes are to be kept; nil for none
	ignored bool            // those that git ignores, too
	loose   bool            // what it loses: files that no commit holds
	changes bool            // and changes of files that one holds; both are kept
	drops   Tree            // whose stashes are to be kept; nil for none
	staged  string          // the commit that holds what is staged
}

func unclear(what string) error {
	return human.Errorf(human.Conflict, "no backup can be made: %s is known only when the call runs; deny it, or back up by hand what it may remove", what)
}

func (s *Store) wanted(ctx context.Context, call gate.Call, v human.Verdict) (wanted, error) {
	w := wanted{paths: map[string]bool{}}
	any := false
	for _, e := range v.Effects {
		lost := e.Verb == human.FilesystemDelete || e.Verb == human.FilesystemWrite
		if (lost || e.Verb == human.GitDiscard) && !e.Blast.Near() {
			return w, human.Errorf(human.Conflict, "no backup can be made: %s is on another machine; deny the call, or back it up there by hand", human.OneLine(e.Resource, 80))
		}
		switch e.Verb {
		case human.FilesystemDelete, human.FilesystemWrite, human.PersistenceEffect, human.SecurityWeakening:
			place := filepath.FromSlash(e.Target)
			if !filepath.IsAbs(place) || strings.Contains(place, "…") || e.Certainty == human.Possible {
				if lost {
					return w, unclear("what " + human.OneLine(e.Resource, 80) + " stands for")
				}
				continue
			}
			any = any || lost
			if err := w.add(place, e.Certainty == human.Certain, e.Verb == human.FilesystemDelete); err != nil {
				return w, err
			}
		case human.GitDiscard:
			any = true
		}
	}
	if !any {
		return w, human.Errorf(human.Invalid, "Deskbell knows of nothing that this call would remove, so there is nothing to back up")
	}
	if err := s.discards(call, v, &w); err != nil {
		return w, err
	}
	for place := range w.paths {
		if err := ctx.Err(); err != nil {
			return w, err
		}
		if real, err := filepath.EvalSymlinks(place); err == nil && within(s.dir, real) {
			return w, human.Errorf(human.Conflict, "no backup can be made: the backups themselves are kept in %s", place)
		}
	}
	return w, nil
}

func within(name, dir string) bool {
	if real, err := filepath.EvalSymlinks(name); err == nil {
		name = real
	}
	rel, err := filepath.Rel(dir, name)
	return err == nil && filepath.IsLocal(rel)
}

// add adds what is at a path; exact says that no letter of it is a pattern.
func (w *wanted) add(place string, exact, deleted bool) error {
	found := []string{place}
	if !exact && strings.ContainsAny(place, "*?[{") {
		if strings.Contains(place, "**") || strings.ContainsAny(place, "{}") {
			return unclear("which files " + place + " names")
		}
		more, err := filepath.Glob(strings.ReplaceAll(place, "[!", "[^"))
		if err != nil {
			return unclear("which files " + place + " names")
		}
		found = append(found, more...)
	}
	for _, name := range found {
		info, err := os.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			continue
		}
		if err != nil {
			return unreadable(name, err)
		}
		w.paths[name] = true
		if info.Mode()&fs.ModeSymlink != 0 && !deleted { // writing goes to what it leads to
			real, err := filepath.EvalSymlinks(name)
			if err == nil {
				w.paths[real] = true
			} else if !errors.Is(err, fs.ErrNotExist) {
				return unreadable(name, err)
			}
		}
	}
	return nil
}

func unreadable(name string, err error) error {
	return human.Wrap(human.Conflict, err, "no backup can be made: %s cannot be read; make it readable, or deny the call", name)
}

// copies makes a folder of copies.
func (s *Store) copies(ctx context.Context, call gate.Call, v human.Verdict, want wanted) (human.Backup, error) {
	items, err := s.survey(ctx, want.paths)
	if err != nil {
		return human.Backup{}, err
	}
	at := s.now().UTC().Truncate(time.Second)
	m := Manifest{At: at, Until: at.Add(Life), Tool: call.Tool, Digest: v.Digest, Index: want.staged, Items: items}
	dir, done, err := s.folder(at, gate.Digest(call))
	if err != nil {
		return human.Backup{}, human.Wrap(human.Internal, err, "no backup can be made: the folder %s cannot be written; check its permissions and the space on its disk", s.dir)
	}
	defer done()
	b, err := s.fill(ctx, dir, m)
	if err != nil {
		_ = os.RemoveAll(dir)
		return human.Backup{}, err
	}
	again, err := s.survey(ctx, want.paths)
	if err != nil || !slices.EqualFunc(items, again, sameItem) {
		_ = os.RemoveAll(dir)
		return human.Backup{}, human.Wrap(human.Conflict, err, "no backup can be made: the files changed while they were copied; try again when nothing writes to them")
	}
	return b, nil
}

func sameItem(a, b Item) bool {
	return a.Path == b.Path && a.Mode == b.Mode && a.Time.Equal(b.Time) && a.Size == b.Size && a.Link == b.Link
}

// survey lists everything at and below paths, folders before what is in them.
func (s *Store) survey(ctx context.Context, paths map[string]bool) ([]Item, error) {
	found := map[string]Item{}
	var bytes int64
	for _, place := range slices.Sorted(maps.Keys(paths)) {
		err := filepath.WalkDir(place, func(name string, d fs.DirEntry, err error) error {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return err
			}
			if _, ok := found[name]; ok {
				if d.IsDir() {
					return fs.SkipDir
				}
				return nil
			}
			info, err := os.Lstat(name)
			if err != nil {
				return err
			}
			i := Item{Path: name, Mode: info.Mode(), What: info.Mode().String(), Time: info.ModTime()}
			i.User, i.Group = owner(info)
			switch {
			case info.Mode().IsRegular():
				i.Size = info.Size()
				bytes += i.Size
			case info.Mode()&fs.ModeSymlink != 0:
				if i.Link, err = os.Readlink(name); err != nil {
					return err
				}
			case info.Mode()&fs.ModeDevice != 0:
				return human.Errorf(human.Conflict, "no backup can be made: %s is a device; deny the call", name)
			}
			found[name] = i
			if len(found) > s.maxFiles || bytes > s.maxBytes {
				return human.Errorf(human.Exhausted, "no backup can be made: there are more than %d files or %d MiB; back up by hand what matters, or deny the call", s.maxFiles, s.maxBytes>>20)
			}
			return nil
		})
		var own *human.Error
		switch {
		case errors.As(err, &own) || ctx.Err() != nil:
			return nil, err
		case err != nil:
			return nil, unreadable(place, err)
		}
	}
	items := make([]Item, 0, len(found))
	for _, name := range slices.Sorted(maps.Keys(found)) {
		items = append(items, found[name])
	}
	return items, nil
}

// folder makes a new one, which Prune leaves alone until done is called.
func (s *Store) folder(at time.Time, digest string) (dir string, done func(), err error) {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return "", nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	name := at.Format("20060102T150405Z") + "-" + strings.TrimPrefix(digest, "sha256:")[:8]
	for n := 1; ; n++ {
		dir = filepath.Join(s.dir, name)
		if n > 1 {
			dir += fmt.Sprintf("-%d", n)
		}
		if err = os.Mkdir(dir, 0o700); !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	if err != nil {
		return "", nil, err
	}
	s.held[filepath.Base(dir)]++
	return dir, s.letGo(filepath.Base(dir)), nil
}

// hold keeps Prune from a folder until the returned function is called.
func (s *Store) hold(id string) (done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held[id]++
	return s.letGo(id)
}

func (s *Store) letGo(id string) func() {
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.held[id]--; s.held[id] == 0 {
			delete(s.held, id)
		}
	}
}

// fill makes the copies and their manifest.
func (s *Store) fill(ctx context.Context, dir string, m Manifest) (human.Backup, error) {
	b := m.about(dir)
	if free, err := s.free(dir); err != nil || free < uint64(b.Bytes)+spare {
		return b, human.Wrap(human.Exhausted, err, "no backup can be made: it needs %d MiB, more than is free in %s; free some space, or deny the call", (b.Bytes+spare)>>20, s.dir)
	}
	made := map[string]bool{}
	for n := range m.Items {
		i := &m.Items[n]
		if !i.Mode.IsRegular() {
			continue
		}
		i.Copy = filepath.Join("files", below(i.Path))
		to := filepath.Join(dir, i.Copy)
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return b, human.Wrap(human.Internal, err, "no backup can be made: %s cannot be written", filepath.Dir(to))
		}
		if err := copyFile(ctx, i, to); err != nil {
			return b, err
		}
		made[filepath.Dir(to)] = true
	}
	// What is read again is read from the originals, too: a copy is good when both say the same.
	for _, i := range m.Items {
		if !i.Mode.IsRegular() {
			continue
		}
		for _, name := range []string{filepath.Join(dir, i.Copy), i.Path} {
			sum, n, err := hashOf(ctx, name)
			if err != nil {
				return b, unreadable(name, err)
			}
			if sum != i.SHA256 || n != i.Size {
				return b, human.Errorf(human.Conflict, "no backup can be made: %s changed while it was copied; try again when nothing writes to it", i.Path)
			}
		}
	}
	for d := range made {
		if err := disk.SyncFolder(d); err != nil {
			return b, human.Wrap(human.Internal, err, "no backup can be made: %s cannot be written to the disk", d)
		}
	}
	if err := writeManifest(dir, m); err != nil {
		return b, human.Wrap(human.Internal, err, "no backup can be made: its list in %s cannot be written", dir)
	}
	return b, nil
}

// below is an absolute path as one below a folder.
func below(abs string) string {
	volume := filepath.VolumeName(abs)
	rest := strings.TrimLeft(abs[len(volume):], `/\`)
	return filepath.Join(strings.NewReplacer(":", "", `\`, "_", "/", "_", "?", "_", ".", "_").Replace(volume), rest)
}

// open opens a regular file to read, never blocks, and follows no link.
func open(name string) (*os.File, error) {
	before, err := os.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !before.Mode().IsRegular() {
		return nil, fs.ErrInvalid
	}
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if now, err := f.Stat(); err != nil || !os.SameFile(before, now) {
		_ = f.Close()
		return nil, errors.Join(fs.ErrInvalid, err)
	}
	return f, nil
}

func copyFile(ctx context.Context, i *Item, to string) error {
	from, err := open(i.Path)
	if err != nil {
		return unreadable(i.Path, err)
	}
	defer func() { _ = from.Close() }()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return human.Wrap(human.Internal, err, "no backup can be made: %s cannot be written", to)
	}
	h := sha256.New()
	_, err = io.Copy(out, io.TeeReader(reader{ctx, from}, h))
	if err == nil {
		err = out.Sync()
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return human.Wrap(human.Internal, err, "no backup of %s can be made: it cannot be read to its end, or the disk is full", i.Path)
	}
	i.SHA256 = hex.EncodeToString(h.Sum(nil))
	return nil
}

func hashOf(ctx context.Context, name string) (sum string, n int64, err error) {
	f, err := open(name)
	if err != nil {
		return "", 0, err
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	n, err = copyTo(ctx, h, f)
	return hex.EncodeToString(h.Sum(nil)), n, err
}

func copyTo(ctx context.Context, w io.Writer, r io.Reader) (int64, error) {
	return io.Copy(w, reader{ctx, r})
}

// reader ends with its context.
type reader struct {
	ctx context.Context
	io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

func writeManifest(dir string, m Manifest) error {
	data, err := json.MarshalIndent(m, "", "\t")
	if err != nil {
		return err
	}
	if _, err := disk.Replace(filepath.Join(dir, manifestName), bytes.NewReader(data), 0o600); err != nil {
		return err
	}
	return disk.SyncFolder(filepath.Dir(dir))
}

// ReadManifest reads the list of a folder of copies.
func ReadManifest(dir string) (Manifest, error) {
	var m Manifest
	f, err := open(filepath.Join(dir, manifestName))
	if err != nil {
		return m, human.Wrap(human.NotFound, err, "%s has no complete backup", dir)
	}
	defer func() { _ = f.Close() }()
	if err := json.NewDecoder(f).Decode(&m); err != nil {
		return m, human.Wrap(human.NotFound, err, "the backup's list in %s cannot be read", dir)
	}
	return m, nil
}

var ours = regexp.MustCompile(`^\d{8}T\d{6}Z-[0-9a-f]{8}(-\d+)?$`)

// List returns the copies that there are, the newest first. Stashes are git's own to list.
func (s *Store) List() ([]human.Backup, error) {
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out []human.Backup
	for _, e := range slices.Backward(entries) {
		if !e.IsDir() || !ours.MatchString(e.Name()) {
			continue
		}
		dir := filepath.Join(s.dir, e.Name())
		if m, err := ReadManifest(dir); err == nil {
			out = append(out, m.about(dir))
		}
	}
	return out, err
}

// pruneEvery is between two looks for backups whose time has passed.
const pruneEvery = 24 * time.Hour

// Run deletes backups whose time has passed, at once and every day, until ctx ends.
func (s *Store) Run(ctx context.Context, log *slog.Logger) {
	for {
		if err := s.Prune(ctx); err != nil && ctx.Err() == nil {
			log.Warn("backups whose time is up could not be deleted", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pruneEvery):
		}
	}
}

// Prune deletes the copies whose time is over, and the folders of copies that were not finished. It touches nothing that
// Backup did not make.
func (s *Store) Prune(ctx context.Context) error {
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !e.IsDir() || !ours.MatchString(e.Name()) {
			continue
		}
		s.mu.Lock()
		busy := s.held[e.Name()] > 0
		s.mu.Unlock()
		dir := filepath.Join(s.dir, e.Name())
		if _, gone := os.Lstat(filepath.Join(dir, manifestName)); busy || gone != nil && !errors.Is(gone, fs.ErrNotExist) {
			continue
		} else if gone == nil {
			if m, bad := ReadManifest(dir); bad != nil || m.Until.IsZero() || s.now().Before(m.Until) {
				continue // one that cannot be read is left to people
			}
		}
		err = errors.Join(err, os.RemoveAll(dir))
	}
	return err
}

// Show returns a copy with what is in it; NotFound without one of that id.
func (s *Store) Show(id string) (human.BackupContents, error) {
	dir, m, err := s.find(id)
	if err != nil {
		return human.BackupContents{}, err
	}
	out := human.BackupContents{Backup: m.about(dir), Items: make([]human.BackupItem, len(m.Items))}
	for n, i := range m.Items {
		out.Items[n] = human.BackupItem{Path: i.Path, Mode: i.What, Size: i.Size, Link: i.Link}
	}
	return out, nil
}

func (s *Store) find(id string) (dir string, m Manifest, err error) {
	err = fs.ErrInvalid
	if ours.MatchString(id) {
		dir = filepath.Join(s.dir, id)
		m, err = ReadManifest(dir)
	}
	if err != nil {
		err = human.Wrap(human.NotFound, err, "no backup has the id %q; it may have been deleted when its time was up; `deskbell backups list` shows those there are", human.OneLine(id, 80))
	}
	return dir, m, err
}

// Restore puts what a copy holds back to where it was: contents, permissions, times and links; as root, owners. It checks
// every copy first, and overwrites nothing: where something else is in the way, it is a Conflict that names it, and nothing
// is put back. A folder that is there, and a file or link that is there exactly as in the copy, stays as it is; so Restore
// may be called again after an error. What was staged is not put back: git can have it from Manifest.Index. It blocks while
// it copies.
func (s *Store) Restore(ctx context.Context, id string) (human.Restored, error) {
	var done human.Restored
	dir, m, err := s.find(id)
	if err != nil {
		return done, err
	}
	defer s.hold(id)()
	var missing []Item
	for _, i := range m.Items {
		if !filepath.IsAbs(i.Path) || i.Copy != "" && !filepath.IsLocal(i.Copy) {
			return done, human.Errorf(human.Invalid, "the backup's list in %s has entries that Deskbell did not write", dir)
		}
		if i.Mode.IsRegular() {
			if sum, _, err := hashOf(ctx, filepath.Join(dir, i.Copy)); err != nil || sum != i.SHA256 {
				return done, human.Wrap(human.Internal, err, "the backup of %s has changed since it was made, so nothing was restored", i.Path)
			}
		}
		switch there, same := i.there(ctx); {
		case ctx.Err() != nil:
			return done, ctx.Err()
		case !there:
			missing = append(missing, i)
		case !same:
			return done, human.Errorf(human.Conflict, "something else is at %s, so nothing was restored; move it away, then restore again", i.Path)
		case !i.Mode.IsDir():
			done.Kept++
		}
	}
	for n, i := range missing {
		if err = i.putBack(ctx, dir); err != nil {
			err = human.Wrap(human.Internal, err, "%s cannot be restored; its backup is still in %s", i.Path, dir)
			missing = missing[:n]
			break
		}
		if !i.Mode.IsDir() {
			done.Files++
			done.Bytes += i.Size
		}
	}
	for _, i := range slices.Backward(missing) { // when nothing changes them any more
		if i.Mode.IsDir() {
			if bad := i.dress(); bad != nil && err == nil {
				err = human.Wrap(human.Internal, bad, "%s was restored, but not its permissions and time", i.Path)
			}
		}
	}
	return done, err
}

// there says whether something is at the item's path, and whether it is what the copy holds.
func (i Item) there(ctx context.Context) (there, same bool) {
	info, err := os.Lstat(i.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, false
	case err != nil:
		return true, false
	case info.Mode().Type() != i.Mode.Type():
		return true, false
	case i.Mode.IsRegular():
		sum, _, err := hashOf(ctx, i.Path)
		return true, err == nil && sum == i.SHA256
	case i.Mode&fs.ModeSymlink != 0:
		to, err := os.Readlink(i.Path)
		return true, err == nil && to == i.Link
	}
	return true, true
}

func (i Item) putBack(ctx context.Context, dir string) error {
	if err := os.MkdirAll(filepath.Dir(i.Path), 0o755); err != nil {
		return err
	}
	switch {
	case i.Mode.IsDir():
		return os.Mkdir(i.Path, 0o700)
	case i.Mode&fs.ModeSymlink != 0:
		if err := os.Symlink(i.Link, i.Path); err != nil {
			return err
		}
		return giveTo(i.Path, i.User, i.Group)
	case !i.Mode.IsRegular():
		return nil // a socket or a pipe: what made it makes it again
	}
	from, err := open(filepath.Join(dir, i.Copy))
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }()
	to, err := os.OpenFile(i.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, reader{ctx, from})
	if err == nil {
		err = to.Sync()
	}
	if err = errors.Join(err, to.Close()); err != nil {
		return err
	}
	return i.dress()
}

// dress gives a file or folder its owner, permissions and time.
func (i Item) dress() error {
	return errors.Join(
		giveTo(i.Path, i.User, i.Group),
		os.Chmod(i.Path, i.Mode&(fs.ModePerm|fs.ModeSetuid|fs.ModeSetgid|fs.ModeSticky)),
		os.Chtimes(i.Path, time.Time{}, i.Time),
	)
}
