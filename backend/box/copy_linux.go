package box

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"deskbell/backend/gate/shell/paths"
	"deskbell/backend/human"
	"deskbell/backend/store/disk"
)

// A Box is a copy of a project, and what ran on it. It is used by one goroutine at a time.
type Box struct {
	Root   string // the project
	Folder string // in which the command runs, in the project
	// Masked are the paths of secrets that the copy does not have.
	Masked []string

	options Options
	home    string // as the environment has it
	account string // as the system has it, whatever the environment says
	dir     string // of this box
	lock    *os.File
	files   map[string]file              // of the project, by paths within it
	free    int64                        // bytes of the copy's disk before the run
	size    int64                        // of the copy before the run
	seen    map[string][sha256.Size]byte // what files of the copy had when they were shown
}

// A stamp tells whether a file was touched. A program can set all of it but the inode's time of change.
type stamp struct {
	mode            fs.FileMode
	inode           uint64
	size            int64
	written, change syscall.Timespec
	link            string
}

// A file is one of the project when it was copied.
type file struct {
	origin, copied stamp
	masked         bool // the copy has an empty one
}

const (
	treeName    = "tree"
	lockName    = "lock"
	journalName = "journal"
)

// Open copies the project. What was left by boxes that were killed is removed, and what they were about to keep is undone.
// Close removes the copy.
func Open(ctx context.Context, o Options) (*Box, error) {
	if err := Available(); err != nil {
		return nil, err
	}
	o.Limits = o.Limits.filled()
	b := &Box{options: o, files: map[string]file{}}
	var err error
	if b.home, err = os.UserHomeDir(); err == nil {
		b.home, err = filepath.EvalSymlinks(b.home)
	}
	if err == nil {
		b.Folder, err = filepath.EvalSymlinks(o.Folder)
	}
	b.account = b.home
	if u, unknown := user.Current(); unknown == nil && filepath.IsAbs(u.HomeDir) {
		if real, unknown := filepath.EvalSymlinks(u.HomeDir); unknown == nil && real != "/" {
			b.account = real
		}
	}
	if err != nil {
		return nil, human.Wrap(human.Invalid, err, "the folder cannot be found: %s", reason(err))
	}
	b.Root = root(b.Folder)
	if err := b.fits(); err != nil {
		return nil, err
	}
	if err := b.reserve(); err != nil {
		return nil, human.Wrap(human.Internal, err, "no folder for the copy can be made: %s", reason(err))
	}
	if err := b.copyTree(ctx); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// root is the working tree around a folder; the folder itself without one.
func root(folder string) string {
	for at := folder; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return folder
		}
	}
}

// fits says why a project cannot be copied.
func (b *Box) fits() error {
	for _, p := range []string{b.home, b.options.Boxes, "/tmp", "/var/tmp", "/usr", "/etc", "/dev", "/proc", "/sys", "/run"} {
		if within(p, b.Root) {
			return human.Errorf(human.Invalid, "%s is no project: run this in the folder of one", b.Root)
		}
	}
	for _, p := range append([]string{"/usr", "/etc", "/dev", "/proc", "/sys", "/run"}, b.options.Hidden...) {
		if within(b.Root, p) && !within(b.Root, "/dev/shm") {
			return human.Errorf(human.Invalid, "%s is no project: run this in the folder of one", b.Root)
		}
	}
	return nil
}

// within says whether a path is another, or below it.
func within(path, of string) bool {
	return path == of || strings.HasPrefix(path, strings.TrimSuffix(of, "/")+"/")
}

// reserve makes the folder of this box, which is this process's as long as it lives, and removes those of processes that
// are gone.
func (b *Box) reserve() error {
	boxes := b.options.Boxes
	if err := os.MkdirAll(boxes, 0o700); err != nil {
		return err
	}
	if err := os.Chmod(boxes, 0o700); err != nil {
		return err
	}
	all, err := locked(filepath.Join(boxes, lockName), true)
	if err != nil {
		return err
	}
	defer func() { _ = all.Close() }()
	sweep(boxes)
	if b.dir, err = os.MkdirTemp(boxes, "box-"); err != nil {
		return err
	}
	if b.lock, err = locked(filepath.Join(b.dir, lockName), false); err != nil {
		return err
	}
	return os.Mkdir(b.tree(), 0o700)
}

func (b *Box) tree() string { return filepath.Join(b.dir, treeName) }

// locked opens a file that no other process has locked.
func locked(name string, wait bool) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	how := unix.LOCK_EX
	if !wait {
		how |= unix.LOCK_NB
	}
	for {
		if err = unix.Flock(int(f.Fd()), how); !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// sweep removes what killed boxes left, and undoes what they had begun to keep.
func sweep(boxes string) {
	left, _ := filepath.Glob(filepath.Join(boxes, "box-*"))
	for _, dir := range left {
		lock, err := locked(filepath.Join(dir, lockName), false)
		if err != nil {
			continue
		}
		if undo(filepath.Join(dir, journalName)) == nil {
			_ = disk.RemoveAll(dir) // what cannot be removed now is tried again by the next
		}
		_ = lock.Close()
	}
}

// Close removes the copy.
func (b *Box) Close() error {
	if b.dir == "" {
		return nil
	}
	err := disk.RemoveAll(b.dir)
	if b.lock != nil {
		err = errors.Join(err, b.lock.Close())
	}
	return err
}

// stampOf is the stamp of what is at a path below a folder, whose last part is not followed if it is a link.
func stampOf(in *os.Root, path string) (stamp, error) {
	info, err := in.Lstat(path)
	if err != nil {
		return stamp{}, err
	}
	sys := info.Sys().(*syscall.Stat_t)
	s := stamp{mode: info.Mode(), inode: sys.Ino, size: info.Size(), written: sys.Mtim, change: sys.Ctim}
	if s.mode&fs.ModeSymlink != 0 {
		s.link, err = in.Readlink(path)
	}
	return s, err
}

// copying is a copy that is made.
type copying struct {
	*Box
	ctx      context.Context
	from, to *os.Root
	clone    bool // the disk makes copies that share their blocks
}

func (b *Box) copyTree(ctx context.Context) (err error) {
	c := &copying{Box: b, ctx: ctx, clone: true}
	if c.from, err = os.OpenRoot(b.Root); err != nil {
		return human.Wrap(human.Invalid, err, "%s cannot be read: %s", b.Root, reason(err))
	}
	defer func() { _ = c.from.Close() }()
	if c.to, err = os.OpenRoot(b.tree()); err != nil {
		return err
	}
	defer func() { _ = c.to.Close() }()
	if err := c.folder("."); err != nil {
		var known *human.Error
		if errors.As(err, &known) || ctx.Err() != nil {
			return err
		}
		return human.Wrap(human.Internal, err, "the project cannot be copied: %s", reason(err))
	}
	slices.Sort(b.Masked)
	var stat unix.Statfs_t
	if err := unix.Statfs(b.tree(), &stat); err == nil {
		b.free = int64(stat.Bavail) * stat.Bsize
	}
	return nil
}

// folder copies what is in a folder that the copy already has.
func (c *copying) folder(path string) error {
	dir, err := c.from.Open(path)
	if errors.Is(err, fs.ErrPermission) {
		c.mask(path)
		return nil
	}
	if err != nil {
		return err
	}
	entries, err := dir.ReadDir(-1)
	_ = dir.Close()
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := c.ctx.Err(); err != nil {
			return err
		}
		if err := c.entry(filepath.Join(path, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

func (c *copying) mask(path string) {
	f := c.files[path]
	f.masked = true
	c.files[path] = f
	c.Masked = append(c.Masked, path)
}

// secret says whether a path of the project is not for the box.
func (c *copying) secret(path string) bool {
	abs := filepath.Join(c.Root, path)
	return paths.HoldsSecrets(abs) && !slices.ContainsFunc(c.options.Shown, func(s string) bool { return within(abs, s) })
}

func (c *copying) entry(path string) error {
	s, err := stampOf(c.from, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it went meanwhile
	}
	if err != nil {
		return err
	}
	c.files[path] = file{origin: s}
	secret := c.secret(path)
	if secret {
		c.mask(path)
	}
	switch s.mode.Type() {
	case fs.ModeDir:
		if err = c.to.Mkdir(path, 0o700); err == nil && !secret {
			err = c.folder(path)
		}
		if err == nil {
			err = c.to.Chmod(path, s.mode.Perm()|0o700)
		}
	case fs.ModeSymlink:
		if !secret {
			err = c.to.Symlink(s.link, path)
		}
	case 0:
		err = c.regular(path, s, secret)
	default:
		if !secret {
			c.mask(path) // sockets, pipes and devices are not copied
		}
	}
	if err != nil {
		return err
	}
	if s.mode.Type() != fs.ModeSymlink && s.mode.Type() != 0 && s.mode.Type() != fs.ModeDir {
		return nil
	}
	if s.mode.Type() != fs.ModeSymlink {
		_ = c.to.Chtimes(path, unixTime(s.written), unixTime(s.written)) // for make; a disk may not keep it
	}
	f := c.files[path]
	if f.copied, err = stampOf(c.to, path); errors.Is(err, fs.ErrNotExist) && f.masked {
		err = nil
	}
	c.files[path] = f
	return err
}

func (c *copying) regular(path string, s stamp, secret bool) error {
	if c.size += s.size; c.size > c.options.Limits.Copy {
		return human.Errorf(human.Exhausted, "the project has more than %s: run this in a smaller one, or give --copy", bytesOf(c.options.Limits.Copy))
	}
	out, err := c.to.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = out.Close() }()
	if secret {
		return nil
	}
	in, err := c.from.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrPermission) {
		c.mask(path)
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	if c.clone = c.clone && unix.IoctlFileClone(int(out.Fd()), int(in.Fd())) == nil; !c.clone {
		// It may grow meanwhile; what was agreed on is copied.
		if _, err := io.Copy(out, io.LimitReader(in, s.size)); err != nil {
			return err
		}
	}
	return out.Chmod(s.mode.Perm())
}

// commonGit is the folder of the repository that a working tree beside it belongs to, which names the tree in turn; empty
// where the tree has its own. It is read here and not by git, which obeys the project's settings.
func commonGit(root string) string {
	link, err := os.ReadFile(filepath.Join(root, ".git"))
	own, ok := strings.CutPrefix(strings.TrimSpace(string(link)), "gitdir: ")
	if err != nil || !ok {
		return ""
	}
	back, err := os.ReadFile(filepath.Join(own, "gitdir"))
	if err != nil || strings.TrimSpace(string(back)) != filepath.Join(root, ".git") {
		return ""
	}
	common, err := os.ReadFile(filepath.Join(own, "commondir"))
	if err != nil {
		return ""
	}
	dir := filepath.Join(own, strings.TrimSpace(string(common)))
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return ""
	}
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
			return ""
		}
	}
	return dir
}

// reason is the last cause of an error, without the paths and calls around it.
func reason(err error) string {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno.Error()
	}
	return err.Error()
}

// bytesOf says a number of bytes.
func bytesOf(n int64) string {
	switch {
	case n >= 1<<30 && n%(1<<30) == 0:
		return fmt.Sprintf("%d GB", n>>30)
	case n >= 1<<20:
		return fmt.Sprintf("%d MB", n>>20)
	}
	return fmt.Sprintf("%d bytes", n)
}

func unixTime(t syscall.Timespec) time.Time { return time.Unix(t.Unix()) }
