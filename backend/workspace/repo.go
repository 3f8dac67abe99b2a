package workspace

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// How much is read of git's own small files, and of what the git program says.
const (
	maxSmall  = 16 << 20
	maxOutput = 64 << 20
	maxLevels = 100 // folders above one that are looked through for a repository
)

// A Repo is a git repository with its working tree. What a gitView does not read of it the git program says, which never gets to see
// the repository's own settings: they name programs that git would run (filters, monitors, pagers, hooks). It is given a
// folder of its own instead, with settings from here, the repository's objects, and its index. It asks no network. The
// methods may be called from several goroutines.
type Repo struct {
	top    string // the root of the working tree, without symbolic links
	dir    string // its git folder
	common string // the git folder that it shares with other working trees; else dir

	once     sync.Once
	settings map[string]string
}

// ErrNoRepo is for a folder that is in no working tree of git.
var ErrNoRepo = errors.New("not in a working tree of git")

// Open finds the repository that a folder is in; the folder has to be there. It starts no process.
func Open(folder string) (*Repo, error) {
	real, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return nil, err
	}
	top := above(real)
	if top == "" {
		return nil, ErrNoRepo
	}
	r := &Repo{top: top, dir: filepath.Join(top, ".git")}
	info, err := os.Lstat(r.dir)
	if err != nil {
		return nil, err
	}
	if info.Mode().IsRegular() { // of a linked working tree, or of a submodule
		text, err := small(r.dir, 8<<10)
		if err != nil {
			return nil, err
		}
		line, ok := strings.CutPrefix(strings.TrimSpace(text), "gitdir: ")
		if !ok {
			return nil, ErrNoRepo
		}
		r.dir = against(top, line)
	}
	r.common = r.dir
	if text, err := small(filepath.Join(r.dir, "commondir"), 8<<10); err == nil {
		r.common = against(r.dir, strings.TrimSpace(text))
	}
	return r, nil
}

// Root is the root of the working tree that a folder is in, or empty. Where the folder is reached by a symbolic link, the
// root is told as it is reached by that, so that the folder's path still begins with it. It starts no process.
func Root(folder string) string {
	real, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return ""
	}
	top := above(real)
	if top == "" {
		return ""
	}
	for dir, n := filepath.Clean(folder), 0; n < maxLevels; n++ {
		if same, err := filepath.EvalSymlinks(dir); err == nil && same == top {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			break
		}
		dir = up
	}
	return top
}

func above(dir string) string {
	for range maxLevels {
		if info, err := os.Lstat(filepath.Join(dir, ".git")); err == nil && (info.IsDir() || info.Mode().IsRegular()) {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
	return ""
}

func against(dir, name string) string {
	name = filepath.FromSlash(name)
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(dir, name)
}

// Top is the root of the working tree, without symbolic links.
func (r *Repo) Top() string { return r.top }

// Index is the file that holds what is tracked and staged.
func (r *Repo) Index() string { return filepath.Join(r.dir, "index") }

// Head returns the commit that is checked out, empty where there is none yet, and the branch, empty where there is none.
func (r *Repo) Head() (commit, branch string) {
	text, err := small(filepath.Join(r.dir, "HEAD"), 8<<10)
	if err != nil {
		return "", ""
	}
	text = strings.TrimSpace(text)
	name, ok := strings.CutPrefix(text, "ref: ")
	if !ok {
		if isHash(text) {
			return text, ""
		}
		return "", ""
	}
	branch, _ = strings.CutPrefix(name, "refs/heads/")
	return r.Ref(name), branch
}

// Ref returns the commit or object that a full name, such as refs/heads/main, stands for; empty where there is none.
func (r *Repo) Ref(name string) string {
	for range 5 { // names that stand for names
		if !strings.HasPrefix(name, "refs/") || !filepath.IsLocal(filepath.FromSlash(name)) {
			return ""
		}
		text, err := small(filepath.Join(r.common, filepath.FromSlash(name)), 8<<10)
		if err != nil {
			return r.packed(name)
		}
		text = strings.TrimSpace(text)
		next, ok := strings.CutPrefix(text, "ref: ")
		if !ok {
			if isHash(text) {
				return text
			}
			return ""
		}
		name = next
	}
	return ""
}

func (r *Repo) packed(name string) string {
	text, err := small(filepath.Join(r.common, "packed-refs"), maxSmall)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(text) {
		if hash, ref, ok := strings.Cut(strings.TrimSpace(line), " "); ok && ref == name && isHash(hash) {
			return hash
		}
	}
	return ""
}

// Stashes returns the commits of the stashes, the newest first.
func (r *Repo) Stashes() []string {
	text, err := small(filepath.Join(r.common, "logs", "refs", "stash"), maxSmall)
	if err != nil {
		return nil
	}
	var out []string
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) > 1 && isHash(f[1]) {
			out = append([]string{f[1]}, out...)
		}
	}
	return out
}

func isHash(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

// Upstream returns the commit of the branch's remote-tracking branch as it was last seen; empty where there is none.
func (r *Repo) Upstream(ctx context.Context, branch string) string {
	if branch == "" {
		return ""
	}
	set := r.config(ctx)
	remote, merge := set["branch."+branch+".remote"], set["branch."+branch+".merge"]
	if remote == "" {
		remote = "origin"
	}
	if merge == "" {
		merge = "refs/heads/" + branch
	}
	name, ok := strings.CutPrefix(merge, "refs/heads/")
	if !ok || remote == "." || strings.ContainsAny(remote, "/:") {
		return ""
	}
	if fetch := set["remote."+remote+".fetch"]; strings.TrimPrefix(fetch, "+") != "refs/heads/*:refs/remotes/"+remote+"/*" {
		return "" // tracked in a way of its own
	}
	return r.Ref("refs/remotes/" + remote + "/" + name)
}

// config is what the repository's settings say. Reading the file runs nothing of it, and what it includes is not read.
func (r *Repo) config(ctx context.Context) map[string]string {
	r.once.Do(func() {
		if text, err := small(filepath.Join(r.common, "config"), maxIgnored); err == nil {
			if set, ok := parseConfig(text); ok {
				r.settings = set
				return
			}
		}
		r.settings = r.listed(ctx)
	})
	return r.settings
}

// listed are the settings as git lists them.
func (r *Repo) listed(ctx context.Context) map[string]string {
	set, file := map[string]string{}, filepath.Join(r.common, "config")
	if info, err := os.Lstat(file); err != nil || !info.Mode().IsRegular() {
		return set
	}
	out, err := r.git(ctx, nil, "", nil, "config", "--file", file, "--no-includes", "-z", "--list")
	if err != nil {
		return set
	}
	for entry := range strings.SplitSeq(string(out), "\x00") {
		key, value, _ := strings.Cut(entry, "\n")
		set[key] = value
	}
	return set
}

// Settings of the repository that say how files are compared, and run nothing.
var kept = []string{"core.autocrlf", "core.eol", "core.filemode", "core.ignorecase", "core.symlinks", "core.precomposeunicode"}

// Git runs git with arguments in the working tree and returns what it puts out; in is given to it. The index is the
// repository's own where index is empty, else that file. Paths in arguments stand for themselves, from the root of the
// working tree. An error, also of a git that is not there, or anything on its standard error, means that the answer does
// not count. It blocks until ctx ends.
func (r *Repo) Git(ctx context.Context, in []byte, index string, args ...string) ([]byte, error) {
	var own []string
	set := r.config(ctx)
	for _, key := range kept {
		if value, ok := set[key]; ok {
			own = append(own, "-c", key+"="+value)
		}
	}
	return r.git(ctx, in, index, own, args...)
}

func (r *Repo) git(ctx context.Context, in []byte, index string, own []string, args ...string) ([]byte, error) {
	dir, err := r.private()
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if index == "" {
		index = r.Index()
	}
	env := []string{"GIT_DIR=" + dir, "GIT_WORK_TREE=" + r.top, "GIT_INDEX_FILE=" + index, "GIT_OBJECT_DIRECTORY=" + filepath.Join(r.common, "objects")}
	if info, err := os.Lstat(filepath.Join(r.common, "shallow")); err == nil && info.Mode().IsRegular() {
		env = append(env, "GIT_SHALLOW_FILE="+filepath.Join(r.common, "shallow"))
	}
	return run(ctx, dir, r.top, env, in, append(append(own, "-c", "core.excludesFile="+filepath.Join(r.common, "info", "exclude")), args...)...)
}

// private makes a git folder with nothing in it but the commit that is checked out.
func (r *Repo) private() (string, error) {
	dir, err := os.MkdirTemp("", "deskbell-git-")
	if err != nil {
		return "", err
	}
	head, _ := r.Head()
	settings := "[core]\n\trepositoryformatversion = 0\n"
	switch len(head) {
	case 0:
		head = "ref: refs/heads/none"
	case 64:
		settings = "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n"
	}
	err = errors.Join(
		os.Mkdir(filepath.Join(dir, "refs"), 0o700),
		os.WriteFile(filepath.Join(dir, "HEAD"), []byte(head+"\n"), 0o600),
		os.WriteFile(filepath.Join(dir, "config"), []byte(settings), 0o600),
	)
	if err != nil {
		_ = os.RemoveAll(dir)
		return "", err
	}
	return dir, nil
}

// Keep makes a full name, such as refs/stash, stand for a commit, in the repository itself, with a line in its log. No
// hook of the repository runs. It blocks until ctx ends.
func (r *Repo) Keep(ctx context.Context, ref, commit, message string) error {
	dir, err := os.MkdirTemp("", "deskbell-git-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	_, err = run(ctx, dir, r.top, []string{"GIT_DIR=" + r.dir, "GIT_WORK_TREE=" + r.top}, nil, "update-ref", "--create-reflog", "-m", message, ref, commit)
	return err
}

var program = sync.OnceValues(func() (string, error) { return exec.LookPath("git") })

// run starts git with an environment that holds nothing but what is said here. home is an empty folder.
func run(ctx context.Context, home, top string, env []string, in []byte, args ...string) ([]byte, error) {
	git, err := program()
	if err != nil {
		return nil, err
	}
	none := filepath.Join(home, "none")
	fixed := []string{"--no-pager", "--literal-pathspecs", "-c", "core.hooksPath=" + none, "-c", "core.attributesFile=" + none, "-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false",
		"-c", "core.fsync=all", "-c", "core.quotePath=false", "-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "protocol.allow=never", "-c", "submodule.recurse=false"}
	cmd := exec.CommandContext(ctx, git, append(fixed, args...)...)
	cmd.Dir = top
	cmd.Env = append([]string{
		"HOME=" + home, "XDG_CONFIG_HOME=" + home, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + none, "GIT_ATTR_NOSYSTEM=1",
		"GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_NO_REPLACE_OBJECTS=1", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none", "GIT_PAGER=cat", "GIT_EDITOR=true", "GIT_SSH_COMMAND=false", "LC_ALL=C",
		"GIT_AUTHOR_NAME=Deskbell", "GIT_AUTHOR_EMAIL=deskbell@localhost", "GIT_COMMITTER_NAME=Deskbell", "GIT_COMMITTER_EMAIL=deskbell@localhost",
		"PATH=" + os.Getenv("PATH"), "TMPDIR=" + home,
	}, env...)
	if runtime.GOOS == "windows" {
		cmd.Env = append(cmd.Env, "SystemRoot="+os.Getenv("SystemRoot"), "TEMP="+home, "TMP="+home)
	}
	if in != nil {
		cmd.Stdin = bytes.NewReader(in)
	}
	var out, complaint limited
	cmd.Stdout, cmd.Stderr = &out, &complaint
	cmd.WaitDelay = 100 * time.Millisecond
	if err := cmd.Run(); err != nil {
		if s := strings.TrimSpace(complaint.String()); s != "" {
			return nil, errors.Join(err, errors.New(s))
		}
		return nil, err
	}
	if out.over || complaint.Len() > 0 {
		return nil, errors.New("git: " + strings.TrimSpace(complaint.String()))
	}
	return out.Bytes(), nil
}

// limited keeps what is written up to a limit, and says whether there was more.
type limited struct {
	bytes.Buffer
	over bool
}

func (l *limited) Write(p []byte) (int, error) {
	if l.Len()+len(p) > maxOutput {
		l.over = true
		return len(p), nil
	}
	return l.Buffer.Write(p)
}

// small reads a regular file of at most limit bytes. It never blocks on what is no file.
func small(name string, limit int64) (string, error) {
	text, _, err := smallAt(name, limit)
	return text, err
}

// smallAt is small, with what the file was when it was read.
func smallAt(name string, limit int64) (string, os.FileInfo, error) {
	f, info, err := regular(name)
	if err != nil {
		return "", nil, err
	}
	defer func() { _ = f.Close() }()
	if info.Size() > limit {
		return "", nil, fs.ErrInvalid
	}
	// What says another length than it has (files of the kernel) is not read to an end that may never come.
	var text strings.Builder
	text.Grow(int(info.Size()))
	if _, err := io.CopyN(&text, f, info.Size()); err != nil {
		return "", nil, err
	}
	return text.String(), info, nil
}

// regular opens a regular file. It never blocks on what is no file.
func regular(name string) (*os.File, os.FileInfo, error) {
	before, err := os.Lstat(name)
	if err != nil {
		return nil, nil, err
	}
	if !before.Mode().IsRegular() {
		return nil, nil, fs.ErrInvalid
	}
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	now, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	if !now.Mode().IsRegular() || !os.SameFile(before, now) {
		_ = f.Close()
		return nil, nil, fs.ErrInvalid
	}
	return f, now, nil
}
