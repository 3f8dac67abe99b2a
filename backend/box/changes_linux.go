package box

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"

	"deskbell/backend/gate/shell/paths"
	"deskbell/backend/human"
)

// maxCompared is how much text is compared line by line.
const maxCompared = 512 << 10

// Changes are what the run wrote, by paths. They are computed after the end of Run.
func (b *Box) Changes() (Changes, error) {
	w := &comparing{Box: b, seen: map[string]bool{}}
	var err error
	if w.from, err = os.OpenRoot(b.Root); err == nil {
		defer func() { _ = w.from.Close() }()
		if w.to, err = os.OpenRoot(b.tree()); err == nil {
			defer func() { _ = w.to.Close() }()
			err = w.folder(".")
		}
	}
	if err != nil {
		return Changes{}, human.Wrap(human.Internal, err, "what it wrote cannot be read: %s", reason(err))
	}
	holds := map[string]bool{} // folders with secrets in them, which stay
	for _, path := range b.Masked {
		for at := filepath.Dir(path); at != "."; at = filepath.Dir(at) {
			holds[at] = true
		}
	}
	for path, f := range b.files {
		if !w.seen[path] && !f.masked && !holds[path] && !w.belowMasked(path) {
			w.out.Files = append(w.out.Files, Change{Path: path, How: Deleted, Before: f.origin.mode, Sizes: [2]int64{sizeOf(f.origin), 0}})
		}
	}
	for i := range w.out.Files {
		w.out.Files[i].Warning = w.warning(w.out.Files[i])
	}
	slices.SortFunc(w.out.Files, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	slices.Sort(w.out.Lost)
	return w.out, nil
}

// comparing finds changes.
type comparing struct {
	*Box
	from, to *os.Root
	seen     map[string]bool
	out      Changes
}

func (w *comparing) belowMasked(path string) bool {
	for at := filepath.Dir(path); at != "."; at = filepath.Dir(at) {
		if w.files[at].masked {
			return true
		}
	}
	return false
}

func sizeOf(s stamp) int64 {
	if s.mode.IsRegular() {
		return s.size
	}
	return 0
}

func (w *comparing) folder(path string) error {
	dir, err := w.to.Open(path)
	if errors.Is(err, fs.ErrPermission) { // which the command gave up itself
		if err = w.to.Chmod(path, 0o700); err == nil {
			dir, err = w.to.Open(path)
		}
	}
	if err != nil {
		return err
	}
	entries, err := dir.ReadDir(-1)
	_ = dir.Close()
	for _, e := range entries {
		if err == nil {
			err = w.entry(filepath.Join(path, e.Name()))
		}
	}
	return err
}

func (w *comparing) entry(path string) error {
	now, err := stampOf(w.to, path)
	if err != nil {
		return err
	}
	w.seen[path] = true
	was, known := w.files[path]
	switch {
	case was.masked:
		if !now.mode.IsDir() && (now.mode.Type() != was.copied.mode.Type() || now.size > 0) {
			w.out.Lost = append(w.out.Lost, path)
		}
		if !now.mode.IsDir() {
			return nil
		}
		return w.lose(path)
	case now.mode.Type()&^(fs.ModeDir|fs.ModeSymlink) != 0:
		w.out.Lost = append(w.out.Lost, path)
		return nil
	case !known:
		w.out.Files = append(w.out.Files, Change{Path: path, How: Added, After: now.mode, Sizes: [2]int64{0, sizeOf(now)}, Link: now.link})
	default:
		how, err := w.compare(path, was, now)
		if err != nil {
			return err
		}
		if how != "" {
			w.out.Files = append(w.out.Files, Change{Path: path, How: how, Before: was.origin.mode, After: now.mode, Sizes: [2]int64{sizeOf(was.origin), sizeOf(now)}, Link: now.link})
		}
	}
	if now.mode.IsDir() {
		return w.folder(path)
	}
	return nil
}

// lose notes what is in a folder of secrets, of which nothing can be kept.
func (w *comparing) lose(path string) error {
	return fs.WalkDir(w.to.FS(), filepath.ToSlash(path), func(at string, d fs.DirEntry, _ error) error {
		if w.seen[at] = true; at != path && len(w.out.Lost) < 1000 {
			w.out.Lost = append(w.out.Lost, at)
		}
		return nil
	})
}

// compare says what became of what was there before; nothing where it is the same.
func (w *comparing) compare(path string, was file, now stamp) (How, error) {
	switch {
	case now.mode.Type() != was.copied.mode.Type():
		return Changed, nil
	case now.mode&fs.ModeSymlink != 0:
		if now.link != was.copied.link {
			return Changed, nil
		}
		return "", nil
	case now.mode.IsRegular() && (now.inode != was.copied.inode || now.size != was.copied.size || now.written != was.copied.written || now.change != was.copied.change):
		if same, err := w.same(path, was, now); err != nil || !same {
			return Changed, err
		}
	}
	if now.mode.Perm() != was.copied.mode.Perm() {
		return Mode, nil
	}
	return "", nil
}

// same says whether a file that was touched has what the project's has.
func (w *comparing) same(path string, was file, now stamp) (bool, error) {
	if now.size != was.origin.size {
		return false, nil
	}
	if s, err := stampOf(w.from, path); err != nil || s != was.origin {
		return false, nil //nolint:nilerr // it cannot be known any more, and keeping it will say so
	}
	in, err := w.from.Open(path)
	if err != nil {
		return false, nil //nolint:nilerr // see above
	}
	defer func() { _ = in.Close() }()
	out, err := readable(w.to, path)
	if err != nil {
		return false, err
	}
	defer func() { _ = out.Close() }()
	a, b := make([]byte, 64<<10), make([]byte, 64<<10)
	for {
		n, errA := io.ReadFull(in, a)
		m, errB := io.ReadFull(out, b)
		if !bytes.Equal(a[:n], b[:m]) {
			return false, nil
		}
		if errA != nil || errB != nil {
			return errors.Is(errA, io.EOF) || errors.Is(errA, io.ErrUnexpectedEOF), nil
		}
	}
}

// readable opens a file of the copy, also one whose permissions the command took away.
func readable(in *os.Root, path string) (*os.File, error) {
	f, err := in.OpenFile(path, os.O_RDONLY|nonBlock, 0)
	if !errors.Is(err, fs.ErrPermission) {
		return f, err
	}
	if err := in.Chmod(path, 0o600); err != nil {
		return nil, err
	}
	return in.OpenFile(path, os.O_RDONLY|nonBlock, 0)
}

// warning says why a change needs a consent of its own.
func (w *comparing) warning(c Change) Warning {
	abs := filepath.Join(w.Root, c.Path)
	if paths.RunsByItself(abs) || w.ofGit(c.Path) {
		return Runs
	}
	if c.After&fs.ModeSymlink != 0 {
		to := c.Link
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(abs), to)
		}
		if !within(filepath.Clean(to), w.Root) {
			return LeadsTo
		}
	}
	return ""
}

// ofGit says whether a path is a repository's settings or hooks, or says where they are.
func (w *comparing) ofGit(path string) bool {
	parts := strings.Split(path, "/")
	at := slices.Index(parts, ".git")
	base := parts[len(parts)-1]
	if at < 0 { // a repository by another name
		if base != "config" && base != "commondir" {
			return false
		}
		_, err := w.to.Lstat(filepath.Join(filepath.Dir(path), "HEAD"))
		return err == nil
	}
	if at == len(parts)-1 {
		return true // the folder, or a file that leads to it
	}
	switch base {
	case "config", "config.worktree", "commondir", "gitdir", "alternates":
		return true
	}
	return slices.Contains(parts[at:], "hooks") || at+2 == len(parts)-1 && parts[at+1] == "info" && base == "attributes"
}

// Diff is a change of a text file as a unified diff; empty for what is no text, or too long. It is what the command wrote,
// and must be escaped before it is shown.
func (b *Box) Diff(c Change) string {
	if (c.How != Added && c.How != Changed && c.How != Deleted) || (c.Before|c.After)&fs.ModeSymlink != 0 {
		return ""
	}
	before, ok := text(b.Root, c.Path, c.How != Added, c.Before, false)
	if !ok {
		return ""
	}
	after, ok := text(b.tree(), c.Path, c.How != Deleted, c.After, true)
	if !ok {
		return ""
	}
	if c.How != Deleted {
		b.sees(c.Path, sha256.Sum256([]byte(after)))
	}
	from, to := "a/"+c.Path, "b/"+c.Path
	if c.How == Added {
		from = "/dev/null"
	}
	if c.How == Deleted {
		to = "/dev/null"
	}
	return udiff.Unified(from, to, before, after)
}

// Seal notes what the files of some changes have, as far as Diff did not. Keep then keeps exactly that: the copy is in a folder of
// yours, where other programs can write while you read.
func (b *Box) Seal(c Changes) error {
	in, err := os.OpenRoot(b.tree())
	if err != nil {
		return human.Wrap(human.Internal, err, "%s cannot be read: %s", b.tree(), reason(err))
	}
	defer func() { _ = in.Close() }()
	for _, f := range c.Files {
		if _, known := b.seen[f.Path]; known || f.How == Deleted || !f.After.IsRegular() {
			continue
		}
		sum, err := sumOf(in, f.Path)
		if err != nil {
			return human.Wrap(human.Internal, err, "what it wrote cannot be read: %s", reason(err))
		}
		b.sees(f.Path, sum)
	}
	return nil
}

func (b *Box) sees(path string, sum [sha256.Size]byte) {
	if b.seen == nil {
		b.seen = map[string][sha256.Size]byte{}
	}
	b.seen[path] = sum
}

// sumOf is the SHA-256 of a file.
func sumOf(in *os.Root, path string) (sum [sha256.Size]byte, err error) {
	f, err := readable(in, path)
	if err != nil {
		return sum, err
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return [sha256.Size]byte(h.Sum(nil)), err
}

func text(dir, path string, there bool, mode fs.FileMode, copied bool) (string, bool) {
	if !there || mode.IsDir() {
		return "", true
	}
	if !mode.IsRegular() {
		return "", false
	}
	in, err := os.OpenRoot(dir)
	if err != nil {
		return "", false
	}
	defer func() { _ = in.Close() }()
	open := readable
	if !copied { // the project's own permissions stay
		open = func(in *os.Root, path string) (*os.File, error) { return in.OpenFile(path, os.O_RDONLY|nonBlock, 0) }
	}
	f, err := open(in, path)
	if err != nil {
		return "", false
	}
	defer func() { _ = f.Close() }()
	all, err := io.ReadAll(io.LimitReader(f, maxCompared+1))
	if err != nil || len(all) > maxCompared || !utf8.Valid(all) || bytes.IndexByte(all, 0) >= 0 {
		return "", false
	}
	return string(all), true
}

// String is a change in a line, as its path has it.
func (c Change) String() string {
	s := fmt.Sprintf("%s %s", c.How, c.Path)
	if c.Link != "" {
		s += " → " + c.Link
	}
	return s
}
