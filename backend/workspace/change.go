package workspace

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/kind"
)

// Limits of a change that is read for a review.
const (
	changeTime   = 20 * time.Second
	maxChange    = 12 << 20 // bytes of its diff
	maxBlob      = 4 << 20  // bytes of one file
	maxUntracked = 2000     // new files that git does not know yet
)

// Changes reads changes of repositories for who reviews them. It writes nothing to a repository, and runs nothing that one
// names. It is safe for concurrent use.
type Changes struct{}

// Change is the change that g names, with the working tree as it is now. Errors are of package human. It blocks for at most 20
// seconds.
func (Changes) Change(ctx context.Context, g kind.GitChange) (human.CodeChange, error) {
	ctx, cancel := context.WithTimeout(ctx, changeTime)
	defer cancel()
	r, err := repoOf(g.Folder)
	if err != nil {
		return human.CodeChange{}, err
	}
	c := human.CodeChange{Folder: r.Top()}
	base := g.Base
	if g.Staged || g.Worktree {
		base = "HEAD"
	}
	if c.Base, err = r.commit(ctx, "base", base); err != nil && (base != "HEAD" || g.Base != "") {
		return c, err // a repository without a commit has everything new
	}
	args := []string{c.Base}
	if c.Base == "" {
		if args[0], err = r.emptyTree(ctx); err != nil {
			return c, unread(ctx, err)
		}
	}
	index := ""
	switch {
	case g.Staged:
		args = append([]string{"--cached"}, args...)
	case g.Head != "":
		head, since := strings.CutPrefix(g.Head, ".")
		if c.Head, err = r.commit(ctx, "head", head); err != nil {
			return c, err
		}
		if since {
			shared, err := r.Git(ctx, nil, "", "merge-base", c.Base, c.Head)
			if err != nil {
				return c, human.Wrap(human.Invalid, err, "the two ends of details.git have no commit in common")
			}
			c.Base = strings.TrimSpace(string(shared))
		}
		args = []string{c.Base, c.Head}
	default:
		var drop func()
		if index, drop, err = r.withNew(ctx); err != nil {
			return c, unread(ctx, err)
		}
		defer drop()
	}
	out, err := r.diff(ctx, index, args)
	if err != nil {
		return c, unread(ctx, err)
	}
	if len(out) > maxChange {
		return c, human.Errorf(human.Exhausted, "the change has %d MiB; at most %d MiB are shown: look at it in an editor, or ask the agent for a part of it", len(out)>>20, maxChange>>20)
	}
	c.Diff = string(bytes.ToValidUTF8(out, []byte("�")))
	return c, nil
}

// Blob is the text of a file as the repository has it, by its full id. Errors are of package human.
func (Changes) Blob(ctx context.Context, folder, id string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, changeTime)
	defer cancel()
	if !isHash(id) {
		return "", human.BadField("blob", "is no full id of a file in git")
	}
	r, err := repoOf(folder)
	if err != nil {
		return "", err
	}
	out, err := r.Git(ctx, nil, "", "cat-file", "blob", id)
	if err != nil {
		return "", unread(ctx, err)
	}
	if len(out) > maxBlob {
		return "", human.Errorf(human.Exhausted, "the file has %d MiB; at most %d MiB are shown", len(out)>>20, maxBlob>>20)
	}
	return string(bytes.ToValidUTF8(out, []byte("�"))), nil
}

func repoOf(folder string) (*Repo, error) {
	r, err := Open(folder)
	switch {
	case errors.Is(err, ErrNoRepo):
		return nil, human.BadField("details.git.folder", "%s is in no repository of git", folder)
	case err != nil:
		return nil, human.Wrap(human.Invalid, err, "%s is no folder that can be read", folder)
	}
	return r, nil
}

func unread(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return human.Wrap(human.Unavailable, err, "git took longer than %d s; ask the agent for a smaller change", int(changeTime.Seconds()))
	}
	return human.Wrap(human.Unavailable, err, "git could not read the change; see whether it is installed and the repository is sound")
}

func (r *Repo) diff(ctx context.Context, index string, what []string) ([]byte, error) {
	// Paths and commits are never taken for options: commits are full hashes. A submodule is its commit, so that git never runs in it.
	args := []string{"-c", "core.safecrlf=false", "-c", "diff.renameLimit=2000", "diff", "--no-color", "--no-ext-diff", "--no-textconv", "--full-index",
		"--find-renames", "--src-prefix=a/", "--dst-prefix=b/", "--ignore-submodules=dirty", "--submodule=short", "--diff-algorithm=histogram"}
	out, err := r.Git(ctx, nil, index, append(args, what...)...)
	if err != nil && strings.Contains(err.Error(), "rename detection") {
		return r.Git(ctx, nil, index, append(append(args, "--no-renames"), what...)...)
	}
	return out, err
}

// withNew is a copy of the index that has the files git does not know yet, as empty ones. drop removes it.
func (r *Repo) withNew(ctx context.Context) (index string, drop func(), err error) {
	out, err := r.Git(ctx, nil, "", "ls-files", "-z", "--others", "--exclude-standard")
	if err != nil {
		return "", nil, err
	}
	empty, err := r.Git(ctx, []byte{}, "", "hash-object", "-t", "blob", "--stdin")
	if err != nil {
		return "", nil, err
	}
	var add bytes.Buffer
	n := 0
	for name := range strings.SplitSeq(string(out), "\x00") {
		if name == "" || strings.HasSuffix(name, "/") || n == maxUntracked { // a repository of its own
			continue
		}
		n++
		add.WriteString("100644 " + strings.TrimSpace(string(empty)) + " 0\t" + name + "\x00")
	}
	if n == 0 {
		return "", func() {}, nil
	}
	dir, err := os.MkdirTemp("", "deskbell-index-")
	if err != nil {
		return "", nil, err
	}
	drop = func() { _ = os.RemoveAll(dir) }
	index = filepath.Join(dir, "index")
	data, err := small(r.Index(), maxSmall)
	if err == nil {
		err = os.WriteFile(index, []byte(data), 0o600)
	} else if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err == nil {
		_, err = r.Git(ctx, add.Bytes(), index, "update-index", "-z", "--index-info")
	}
	if err != nil {
		drop()
		return "", nil, err
	}
	return index, drop, nil
}

func (r *Repo) emptyTree(ctx context.Context) (string, error) {
	out, err := r.Git(ctx, []byte{}, "", "hash-object", "-t", "tree", "--stdin")
	return strings.TrimSpace(string(out)), err
}

// A name of a commit, and the way back from it; the beginning of a hash.
// They are made ready at their first use: the hook's program links them and needs none.
var revision = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([A-Za-z0-9_@][^\s~^:?*\[\\{}]*)((?:[~^][0-9]{0,5}){0,20})$`)
})

var abbreviated = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{4,63}$`) })

// commit is the full hash of the commit that a name stands for, such as main, origin/main, v1.2, HEAD~2 or the start of a hash.
// git is asked by hash alone.
func (r *Repo) commit(ctx context.Context, field, name string) (string, error) {
	field = "details.git." + field
	parts := revision().FindStringSubmatch(name)
	if parts == nil || strings.Contains(name, "..") {
		return "", human.BadField(field, "%q is no name of a commit", human.OneLine(name, 200))
	}
	hash := r.named(parts[1])
	if hash == "" && !abbreviated().MatchString(parts[1]) {
		return "", human.BadField(field, "%q is not known in the repository", human.OneLine(name, 200))
	}
	if hash == "" {
		hash = parts[1]
	}
	out, err := r.Git(ctx, nil, "", "rev-parse", "--verify", "--quiet", hash+parts[2]+"^{commit}")
	if commit := strings.TrimSpace(string(out)); err == nil && isHash(commit) {
		return commit, nil
	}
	return "", human.BadField(field, "%q is not known in the repository", human.OneLine(name, 200))
}

// named is the hash that the first of the names that git would try stands for.
func (r *Repo) named(name string) string {
	switch {
	case name == "HEAD" || name == "@":
		commit, _ := r.Head()
		return commit
	case isHash(name):
		return name
	}
	for _, full := range []string{name, "refs/" + name, "refs/tags/" + name, "refs/heads/" + name, "refs/remotes/" + name, "refs/remotes/" + name + "/HEAD"} {
		if hash := r.Ref(full); hash != "" {
			return hash
		}
	}
	return ""
}
