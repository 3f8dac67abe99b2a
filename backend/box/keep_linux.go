package box

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"deskbell/backend/human"
	"deskbell/backend/store/disk"
)

// nonBlock keeps a pipe in a file's place from stopping us.
const nonBlock = unix.O_NONBLOCK | unix.O_NOFOLLOW

// stagePrefix begins the name of the folder in the project in which its new files wait, and its old ones.
const stagePrefix = ".deskbell-box-"

// A journal is what Keep is about to do, on disk before anything is done, so that another process can undo it.
type journal struct {
	Root  string `json:"root"`
	Stage string `json:"stage"` // within it
	Steps []step `json:"steps"`
	Done  bool   `json:"done"` // everything was kept, and the old files are of no use
}

// A step is a change, in the order of their numbers the last of which is undone first.
type step struct {
	Path   string      `json:"path"`
	Do     action      `json:"do"`
	Before fs.FileMode `json:"before"`
	After  fs.FileMode `json:"after"`
	Link   string      `json:"-"`   // where a link leads
	Old    string      `json:"old"` // the names in the stage
	New    string      `json:"new"`
	Placed placed      `json:"placed"` // what the new one is
}

type action string

const (
	remove  action = "remove" // to the stage
	replace action = "replace"
	add     action = "add"
	mkdir   action = "mkdir"
	chmod   action = "chmod"
)

// placed tells a file of ours from one that another program put in its place.
type placed struct {
	Inode   uint64           `json:"inode"`
	Size    int64            `json:"size"`
	Written syscall.Timespec `json:"written"`
}

func placedAt(in *os.Root, path string) (placed, error) {
	s, err := stampOf(in, path)
	return placed{s.inode, s.size, s.written}, err
}

// between is called between two steps of keeping. Tests end there.
var between = func() {}

// keeping puts changes into the project.
type keeping struct {
	*Box
	from, to *os.Root // the copy and the project
	journal  journal
}

// Keep puts all the changes into the project, or none: where anything of it changed since it was copied, the error is a
// Conflict. A file is its old self or its new one at any time, and what a kill interrupts is undone by the next Open.
// Permissions are kept but for those that give a program its owner's rights.
func (b *Box) Keep(c Changes) (err error) {
	k := &keeping{Box: b, journal: journal{Root: b.Root, Stage: stagePrefix + filepath.Base(b.dir)}}
	if k.to, err = os.OpenRoot(b.Root); err != nil {
		return human.Wrap(human.Internal, err, "%s cannot be read: %s", b.Root, reason(err))
	}
	defer func() { _ = k.to.Close() }()
	if k.from, err = os.OpenRoot(b.tree()); err != nil {
		return human.Wrap(human.Internal, err, "%s cannot be read: %s", b.tree(), reason(err))
	}
	defer func() { _ = k.from.Close() }()
	if err := k.unchanged(c); err != nil {
		return err
	}
	k.journal.Steps = steps(c)
	if err := k.to.Mkdir(k.journal.Stage, 0o700); err != nil {
		return human.Wrap(human.Internal, err, "nothing was kept: %s", reason(err))
	}
	name := filepath.Join(b.dir, journalName)
	err = k.save(name)
	between()
	if err == nil {
		err = k.stage()
	}
	if err == nil {
		err = k.save(name)
	}
	for i := 0; err == nil && i < len(k.journal.Steps); i++ {
		between()
		err = k.apply(k.journal.Steps[i])
	}
	between()
	if err == nil {
		k.sync()
		k.journal.Done = true
		err = k.save(name)
		between()
	}
	if undone := undo(name); err == nil {
		return undone
	}
	var known *human.Error
	if errors.As(err, &known) {
		return known
	}
	return human.Wrap(human.Internal, err, "nothing was kept: %s", reason(err))
}

func conflict(path string) error {
	return human.Errorf(human.Conflict, "%s changed in the project meanwhile; nothing was kept", path)
}

func conflictInCopy(path string) error {
	return human.Errorf(human.Conflict, "%s is not what was shown any more: another program changed the copy; nothing was kept", path)
}

// unchanged says what of the project is not as it was copied.
func (k *keeping) unchanged(c Changes) error {
	made := map[string]bool{}
	for _, f := range c.Files {
		if f.After.IsDir() {
			made[f.Path] = true
		}
	}
	for _, f := range c.Files {
		if err := k.same(f); err != nil {
			return err
		}
		for at := filepath.Dir(f.Path); at != "."; at = filepath.Dir(at) {
			info, err := k.to.Lstat(at)
			if (err != nil || !info.IsDir()) && !made[at] {
				return conflict(at)
			}
		}
	}
	return nil
}

// same says whether what a change is about is as it was copied.
func (k *keeping) same(f Change) error {
	now, err := stampOf(k.to, f.Path)
	was, known := k.files[f.Path]
	switch {
	case errors.Is(err, fs.ErrNotExist) && !known, errors.Is(err, syscall.ENOTDIR) && !known:
		return nil
	case err != nil || !known:
		return conflict(f.Path)
	case now.mode.IsDir() && was.origin.mode.IsDir():
		if now.mode != was.origin.mode {
			return conflict(f.Path)
		}
	case now != was.origin:
		return conflict(f.Path)
	}
	return nil
}

// steps are what has to be done, in order: what is in the way is removed first, the deepest first.
func steps(c Changes) []step {
	var removes, makes, places, modes []step
	for _, f := range c.Files {
		s := step{Path: f.Path, Before: f.Before, After: f.After, Link: f.Link}
		retyped := f.How == Changed && f.Before.Type() != f.After.Type()
		if f.How == Deleted || retyped {
			r := s
			r.Do = remove
			removes = append(removes, r)
		}
		switch {
		case f.How == Deleted:
		case f.How == Mode:
			s.Do = chmod
			modes = append(modes, s)
		case f.After.IsDir():
			m := s
			if m.Do = mkdir; f.How == Added || retyped {
				makes = append(makes, m)
			}
			m.Do = chmod
			modes = append(modes, m)
		case f.How == Added || retyped:
			s.Do = add
			places = append(places, s)
		default:
			s.Do = replace
			places = append(places, s)
		}
	}
	deepest := func(a, b step) int { return strings.Count(b.Path, "/") - strings.Count(a.Path, "/") }
	slices.SortStableFunc(removes, deepest)
	slices.SortStableFunc(modes, deepest)
	slices.SortStableFunc(makes, func(a, b step) int { return -deepest(a, b) })
	all := slices.Concat(removes, makes, places, modes)
	for i := range all {
		all[i].Old, all[i].New = fmt.Sprintf("old-%d", i), fmt.Sprintf("new-%d", i)
	}
	return all
}

func (k *keeping) save(name string) error {
	text, err := json.Marshal(k.journal)
	if err == nil {
		_, err = disk.Replace(name, strings.NewReader(string(text)), 0o600)
	}
	return err
}

func (k *keeping) sync() {
	if f, err := k.to.Open("."); err == nil {
		_ = unix.Syncfs(int(f.Fd())) // what cannot be waited for is not lost for that
		_ = f.Close()
	}
}

func (k *keeping) staged(name string) string { return filepath.Join(k.journal.Stage, name) }

// stage puts the new files into the stage, which is on the disk of the project.
func (k *keeping) stage() error {
	for i := range k.journal.Steps {
		s := &k.journal.Steps[i]
		if s.Do != add && s.Do != replace {
			continue
		}
		var err error
		if s.After&fs.ModeSymlink != 0 {
			var link string
			if link, err = k.from.Readlink(s.Path); err == nil && link != s.Link {
				err = conflictInCopy(s.Path)
			}
			if err == nil {
				err = k.to.Symlink(link, k.staged(s.New))
			}
		} else {
			err = k.stageFile(*s)
		}
		if err == nil {
			s.Placed, err = placedAt(k.to, k.staged(s.New))
		}
		if err != nil {
			return err
		}
	}
	k.sync()
	return nil
}

func (k *keeping) stageFile(s step) error {
	in, err := readable(k.from, s.Path)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := k.to.OpenFile(k.staged(s.New), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if unix.IoctlFileClone(int(out.Fd()), int(in.Fd())) != nil {
		_, err = io.Copy(out, in)
	}
	if err == nil {
		err = out.Chmod(s.After.Perm()) // without what makes a program its owner's
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	if want, is := k.seen[s.Path]; is {
		if got, err := sumOf(k.to, k.staged(s.New)); err != nil || got != want {
			return errors.Join(err, conflictInCopy(s.Path))
		}
	}
	return k.to.Chtimes(k.staged(s.New), info.ModTime(), info.ModTime())
}

func (k *keeping) apply(s step) error {
	switch s.Do {
	case remove:
		if s.Before.IsDir() {
			if f, err := k.to.Open(s.Path); err == nil {
				names, _ := f.Readdirnames(1)
				_ = f.Close()
				if len(names) > 0 {
					return conflict(s.Path)
				}
			}
		} else if now, err := stampOf(k.to, s.Path); err != nil || now != k.files[s.Path].origin {
			return conflict(s.Path)
		}
		return k.to.Rename(s.Path, k.staged(s.Old))
	case mkdir:
		return k.to.Mkdir(s.Path, 0o700)
	case add:
		err := k.to.Link(k.staged(s.New), s.Path) // which replaces nothing
		if errors.Is(err, fs.ErrExist) {
			return conflict(s.Path)
		}
		if err == nil {
			return nil
		}
		return k.to.Rename(k.staged(s.New), s.Path) // a disk without hard links
	case replace:
		if now, err := stampOf(k.to, s.Path); err != nil || now != k.files[s.Path].origin {
			return conflict(s.Path)
		}
		if k.to.Link(s.Path, k.staged(s.Old)) != nil {
			if err := k.to.Rename(s.Path, k.staged(s.Old)); err != nil {
				return err
			}
		}
		return k.to.Rename(k.staged(s.New), s.Path)
	}
	return k.to.Chmod(s.Path, s.After.Perm())
}

// undo undoes what a journal says, if it was not completed, and removes the stage. Without a journal there is nothing to do.
func undo(name string) error {
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var j journal
	if err == nil {
		err = json.Unmarshal(text, &j)
	}
	if err != nil {
		return err
	}
	if !strings.HasPrefix(j.Stage, stagePrefix) || strings.Contains(j.Stage, "/") {
		return errors.New("the journal is of no box")
	}
	root, err := os.OpenRoot(j.Root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the project is gone
	}
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	for i := len(j.Steps) - 1; i >= 0 && !j.Done; i-- {
		if err := j.undo(root, j.Steps[i]); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			return err
		}
	}
	if err := root.RemoveAll(j.Stage); err != nil {
		return err
	}
	return os.Remove(name)
}

// undo undoes a step, whether it was done or not. What another program has changed since stays.
func (j journal) undo(root *os.Root, s step) error {
	old := filepath.Join(j.Stage, s.Old)
	switch s.Do {
	case remove:
		if _, err := root.Lstat(s.Path); err == nil {
			return nil
		}
		return root.Rename(old, s.Path)
	case mkdir:
		if f, err := root.Open(s.Path); err == nil {
			names, _ := f.Readdirnames(1)
			_ = f.Close()
			if len(names) > 0 {
				return nil
			}
		}
		if info, err := root.Lstat(s.Path); err != nil || !info.IsDir() {
			return err
		}
		return root.Remove(s.Path)
	case add:
		if at, err := placedAt(root, s.Path); err != nil || at != s.Placed {
			return err
		}
		return root.Remove(s.Path)
	case replace:
		at, err := placedAt(root, s.Path)
		if err == nil && at != s.Placed {
			return nil
		}
		return root.Rename(old, s.Path)
	}
	if info, err := root.Lstat(s.Path); err != nil || info.Mode().Perm() != s.After.Perm() {
		return err
	}
	if s.Before.Type() != s.After.Type() {
		return root.Chmod(s.Path, 0o700) // a folder of ours, which is removed with what is in it
	}
	return root.Chmod(s.Path, s.Before.Perm())
}
