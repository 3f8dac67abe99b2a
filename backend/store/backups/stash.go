package backups

import (
	"bytes"
	"context"
	"crypto/sha1" // git's own names of objects
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"deskbell/backend/gate"
	"deskbell/backend/human"
)

// What a stash may hold; more goes into a folder of copies.
const (
	maxStashFiles = 5000
	maxStashBytes = 48 << 20
)

// discards finds what commands of git would throw away, in the working tree that they would run in.
func (s *Store) discards(call gate.Call, v human.Verdict, w *wanted) error {
	open := map[string]bool{} // rules of effects that no command was found for yet
	for _, e := range v.Effects {
		if e.Verb == human.GitDiscard {
			open[e.Rule] = true
		}
	}
	if len(open) == 0 {
		return nil
	}
	if strings.Contains(string(call.Args), "GIT_") {
		return unclear("which working tree it is about")
	}
	parts, _ := gate.Parts(call, nil)
	for _, part := range parts {
		discards := false
		for _, e := range part.Effects {
			if e.Verb == human.GitDiscard {
				discards = true
				delete(open, e.Rule)
			}
		}
		if !discards {
			continue
		}
		if len(part.Dirs) != 1 || !filepath.IsAbs(part.Dirs[0]) || strings.Contains(part.Dirs[0], "…") {
			return unclear("which working tree it is about")
		}
		found := false
		for _, run := range part.Runs {
			if len(run) == 0 || path.Base(run[0]) != "git" {
				continue
			}
			found = true
			if err := s.discard(run[1:], part.Dirs[0], w); err != nil {
				return err
			}
		}
		if !found {
			return unclear("what it throws away")
		}
	}
	if len(open) > 0 {
		return unclear("what it throws away")
	}
	return nil
}

// discard adds what one command of git would throw away.
func (s *Store) discard(args []string, dir string, w *wanted) error {
	for len(args) > 1 && strings.HasPrefix(args[0], "-") {
		switch {
		case args[0] == "-C" && !strings.Contains(args[1], "…") && !strings.ContainsAny(args[1], "~*?["):
			if !filepath.IsAbs(args[1]) {
				args[1] = filepath.Join(dir, args[1])
			}
			dir, args = args[1], args[2:]
		case args[0] == "-c":
			args = args[2:]
		case slices.Contains([]string{"--no-pager", "-P", "-p", "--paginate", "--no-optional-locks", "--literal-pathspecs"}, args[0]):
			args = args[1:]
		default:
			return unclear("which working tree git " + args[0] + " is about")
		}
	}
	if len(args) == 0 {
		return unclear("what git throws away")
	}
	tree, err := s.tree(dir)
	if err != nil {
		return human.Wrap(human.Conflict, err, "no backup can be made: %s is not in a git working tree that can be read", dir)
	}
	switch args[0] {
	case "reset", "checkout", "switch", "restore", "rm", "read-tree", "clean":
		if w.tree != nil && w.tree.Top() != tree.Top() {
			return human.Errorf(human.Conflict, "no backup can be made: the call changes two working trees; make it two calls")
		}
		w.tree = tree
		w.loose, w.changes = w.loose || args[0] == "clean", w.changes || args[0] != "clean"
		for _, a := range args[1:] {
			w.ignored = w.ignored || args[0] == "clean" && strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.ContainsAny(a, "xX…")
		}
	case "stash":
		w.drops = tree
	case "log", "status", "diff", "show", "add", "fetch", "pull", "commit", "push", "branch", "rev-parse":
	default:
		return unclear("what git " + human.OneLine(args[0], 30) + " throws away")
	}
	return nil
}

// stash keeps what git would throw away: as a stash where nothing else has to be copied, else it adds the files to what is
// copied, and keeps what is staged as a commit. ok says that it made a stash.
func (s *Store) stash(ctx context.Context, call gate.Call, w *wanted) (b human.Backup, ok bool, err error) {
	at := s.now().UTC().Truncate(time.Second)
	name := "refs/deskbell/" + at.Format("20060102T150405Z") + "-" + strings.TrimPrefix(gate.Digest(call), "sha256:")[:8]
	b = human.Backup{Stash: true, At: at}
	if w.drops != nil {
		for n, commit := range w.drops.Stashes() {
			ref := fmt.Sprintf("%s/%d", name, n)
			if err := w.drops.Keep(ctx, ref, commit, "Deskbell: before "+call.Tool); err != nil {
				return b, false, noStash(err)
			}
			b.Files++
			if n == 0 {
				b.Path = ref
			}
		}
		ok = b.Files > 0
	}
	if w.tree == nil {
		return b, ok, nil
	}
	tracked, loose, err := w.tree.Differing(ctx, w.ignored)
	if err != nil {
		return b, false, noStash(err)
	}
	if len(tracked)+len(loose) == 0 {
		return b, ok, nil
	}
	var size int64
	whole := true
	for _, rel := range append(slices.Clone(tracked), loose...) {
		if info, err := os.Lstat(filepath.Join(w.tree.Top(), filepath.FromSlash(rel))); err == nil {
			size += info.Size()
			whole = whole && (info.Mode().IsRegular() || info.Mode()&fs.ModeSymlink != 0)
		}
	}
	k := &keeping{Tree: w.tree}
	if k.dir, err = os.MkdirTemp("", "deskbell-stash-"); err != nil {
		return b, false, noStash(err)
	}
	defer func() { _ = os.RemoveAll(k.dir) }()
	if err := k.staged(ctx); err != nil {
		return b, false, noStash(err)
	}
	if commit, _ := w.tree.Head(); commit == "" || len(w.paths) > 0 || !whole || ok || len(tracked)+len(loose) > maxStashFiles || size > maxStashBytes {
		for _, rel := range append(tracked, loose...) {
			if err := w.add(filepath.Join(w.tree.Top(), filepath.FromSlash(rel)), true, true); err != nil {
				return b, false, err
			}
		}
		w.staged = k.index
		if err := w.tree.Keep(ctx, name+"/staged", k.index, "Deskbell: before "+call.Tool); err != nil {
			return b, false, noStash(err)
		}
		return b, false, nil
	}
	if err := k.work(ctx, tracked, loose); err != nil {
		return b, false, noStash(err)
	}
	again, more, err := w.tree.Differing(ctx, w.ignored)
	if err != nil || !slices.Equal(tracked, again) || !slices.Equal(loose, more) {
		return b, false, human.Wrap(human.Conflict, err, "no backup can be made: the files changed meanwhile; try again when nothing writes to them")
	}
	if err := w.tree.Keep(ctx, "refs/stash", k.commit, "Deskbell: before "+call.Tool); err != nil {
		return b, false, noStash(err)
	}
	if list := w.tree.Stashes(); len(list) == 0 || list[0] != k.commit {
		return b, false, noStash(nil)
	}
	return human.Backup{Path: k.commit, Stash: true, Files: k.files, Bytes: k.bytes, At: at}, true, nil
}

func noStash(err error) error {
	var own *human.Error
	if errors.As(err, &own) {
		return err
	}
	why := "git cannot tell or keep what would be lost"
	if err != nil && strings.Contains(err.Error(), "in the middle of a merge") {
		why = "the working tree is in the middle of a merge; end or abort it first"
	}
	return human.Wrap(human.Conflict, err, "no backup can be made: %s", why)
}

// keeping makes the commits of a stash, as git stash would, but with every file as it is on the disk, byte for byte: no
// filter of the repository runs, and no end of a line changes. The tree and its index stay as they are.
type keeping struct {
	Tree
	dir    string // for indexes of our own
	index  string // the commit of what is staged
	commit string // the stash
	files  int
	bytes  int64
}

// staged makes the commit of what is staged.
func (k *keeping) staged(ctx context.Context) error {
	name := filepath.Join(k.dir, "staged")
	data, err := os.ReadFile(k.Index())
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	if err == nil {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			return err
		}
	}
	tree, err := k.line(ctx, nil, name, "write-tree")
	if err != nil {
		return err
	}
	k.index, err = k.commitTree(ctx, tree, "index on "+k.about(), k.parents()...)
	return err
}

func (k *keeping) parents() []string {
	if commit, _ := k.Head(); commit != "" {
		return []string{commit}
	}
	return nil
}

func (k *keeping) about() string {
	commit, branch := k.Head()
	return branch + ": " + commit[:min(7, len(commit))]
}

// work makes the stash out of tracked files that differ and files that no commit holds.
func (k *keeping) work(ctx context.Context, tracked, loose []string) error {
	parents := append(k.parents(), k.index)
	index := filepath.Join(k.dir, "staged")
	tree, err := k.add(ctx, index, tracked)
	if err != nil {
		return err
	}
	if len(loose) > 0 {
		rest, err := k.add(ctx, filepath.Join(k.dir, "loose"), loose)
		if err != nil {
			return err
		}
		commit, err := k.commitTree(ctx, rest, "untracked files on "+k.about())
		if err != nil {
			return err
		}
		parents = append(parents, commit)
	}
	k.commit, err = k.commitTree(ctx, tree, "On "+k.about()+": Deskbell", parents...)
	return err
}

// add puts files, as they are on the disk, into an index, and returns the tree of it. What is not there any more it takes
// out.
func (k *keeping) add(ctx context.Context, index string, rels []string) (string, error) {
	var info, plain, ids bytes.Buffer
	var want []string
	for _, rel := range rels {
		name := filepath.Join(k.Top(), filepath.FromSlash(rel))
		st, err := os.Lstat(name)
		switch {
		case err != nil || st.IsDir():
			fmt.Fprintf(&info, "0 %s\t%s\x00", strings.Repeat("0", len(k.index)), rel)
			continue
		case st.Mode()&fs.ModeSymlink != 0:
			to, err := os.Readlink(name)
			if err != nil {
				return "", err
			}
			id, err := k.line(ctx, []byte(to), "", "hash-object", "-w", "--no-filters", "--stdin")
			if err != nil {
				return "", err
			}
			fmt.Fprintf(&info, "120000 %s\t%s\x00", id, rel)
			k.files++
			continue
		}
		id, n, err := k.id(ctx, name)
		if err != nil {
			return "", unreadable(name, err)
		}
		mode := "100644"
		if st.Mode()&0o111 != 0 {
			mode = "100755"
		}
		fmt.Fprintf(&info, "%s %s\t%s\x00", mode, id, rel)
		plain.WriteString(quoted(rel) + "\n")
		ids.WriteString(id + "\n")
		want = append(want, id)
		k.files++
		k.bytes += n
	}
	if len(want) > 0 {
		out, err := k.Git(ctx, plain.Bytes(), "", "hash-object", "-w", "--no-filters", "--stdin-paths")
		if err != nil {
			return "", err
		}
		if !bytes.Equal(out, ids.Bytes()) {
			return "", human.Errorf(human.Conflict, "files changed while they were copied")
		}
		if err := k.verify(ctx, ids.Bytes(), want); err != nil {
			return "", err
		}
	}
	if _, err := k.Git(ctx, info.Bytes(), index, "update-index", "-z", "--index-info"); err != nil {
		return "", err
	}
	return k.line(ctx, nil, index, "write-tree")
}

// verify reads back what git keeps, and names it anew.
func (k *keeping) verify(ctx context.Context, ids []byte, want []string) error {
	out, err := k.Git(ctx, ids, "", "cat-file", "--batch")
	if err != nil {
		return err
	}
	for _, id := range want {
		head, rest, _ := bytes.Cut(out, []byte("\n"))
		f := strings.Fields(string(head))
		if len(f) != 3 || f[0] != id || f[1] != "blob" {
			return fmt.Errorf("git does not have %s", id)
		}
		n, err := strconv.Atoi(f[2])
		if err != nil || n < 0 || n+1 > len(rest) {
			return fmt.Errorf("git does not have all of %s", id)
		}
		h := k.hash(int64(n))
		h.Write(rest[:n])
		if hex.EncodeToString(h.Sum(nil)) != id {
			return fmt.Errorf("git has %s with other contents", id)
		}
		out = rest[n+1:]
	}
	return nil
}

// hash begins the name of a file's contents in git.
func (k *keeping) hash(size int64) hash.Hash {
	h := sha1.New() // git's own names of objects
	if len(k.index) == 64 {
		h = sha256.New()
	}
	fmt.Fprintf(h, "blob %d\x00", size)
	return h
}

func (k *keeping) id(ctx context.Context, name string) (string, int64, error) {
	f, err := open(name)
	if err != nil {
		return "", 0, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return "", 0, err
	}
	h := k.hash(info.Size())
	n, err := copyTo(ctx, h, f)
	if err == nil && n != info.Size() {
		err = human.Errorf(human.Conflict, "%s changed while it was copied", name)
	}
	return hex.EncodeToString(h.Sum(nil)), n, err
}

func (k *keeping) commitTree(ctx context.Context, tree, message string, parents ...string) (string, error) {
	args := []string{"commit-tree", tree, "-m", message}
	for _, p := range parents {
		args = append(args, "-p", p)
	}
	return k.line(ctx, nil, "", args...)
}

func (k *keeping) line(ctx context.Context, in []byte, index string, args ...string) (string, error) {
	out, err := k.Git(ctx, in, index, args...)
	return strings.TrimSpace(string(out)), err
}

// quoted is a path as git reads it from a line.
func quoted(rel string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range []byte(rel) {
		if c < ' ' || c == '"' || c == '\\' || c >= 0x7f {
			fmt.Fprintf(&b, `\%03o`, c)
		} else {
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
