package workspace

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"deskbell/backend/gate"
)

// tryGit is git without a failure where it has none.
func tryGit(dir string, args ...string) {
	cmd := exec.Command("git", append([]string{"-c", "protocol.file.allow=always", "-c", "gc.auto=0"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+filepath.Dir(dir), "GIT_CONFIG_NOSYSTEM=1", "XDG_CONFIG_HOME="+dir+"-none", "GIT_EDITOR=true",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	_ = cmd.Run()
}

// A scene changes a repository in ways that its seed gives.
type scene struct {
	t    *testing.T
	dir  string
	rand *rand.Rand
	log  []string
	kept indexes
}

func (s *scene) pick(list ...string) string { return list[s.rand.IntN(len(list))] }

func (s *scene) folder() string {
	return s.pick("", "", "a/", "a/", "a/b/", "dist/", "a/dist/", "n s/", "a-b/", "a/b/c/d/")
}

func (s *scene) name() string {
	return s.folder() + s.pick("x.go", "y.log", "z", "é.txt", "keep.log", ".env", "a", "b.o", "dist")
}

func (s *scene) pattern() string {
	return s.pick("", "!", "", "/", "!/") + s.pick("*.log", "keep.log", "dist", "dist/", "a/b", "**/b", "a/**", "z", "*", "?", "a/*/d", "**/dist/**", "[xy].*", "n s", "*.[!o]*", "a-b/", ".env", "c/", "# no", "é.txt", "b.o  ", "\\#x", "x**y")
}

func (s *scene) put(name, text string) {
	file := filepath.Join(s.dir, name)
	_ = os.MkdirAll(filepath.Dir(file), 0o755)
	_ = os.WriteFile(file, []byte(text), 0o644) // it may be a folder
}

func (s *scene) step() {
	name, other := s.name(), s.name()
	file := filepath.Join(s.dir, name)
	text := s.pick("one\n", "two\n", "", "three three\n", "one\r\n", "$Id$\n")
	ops := []struct {
		name string
		do   func()
	}{
		{"write", func() { s.put(name, text) }},
		{"write", func() { s.put(name, text) }},
		{"write and add", func() { s.put(name, text); tryGit(s.dir, "add", "-f", "--", name) }},
		{"write after add", func() { s.put(name, "one\n"); tryGit(s.dir, "add", "-f", "--", name); s.put(name, "two\n") }},
		{"same time", func() {
			if info, err := os.Lstat(file); err == nil && info.Mode().IsRegular() {
				s.put(name, text)
				_ = os.Chtimes(file, info.ModTime(), info.ModTime())
			}
		}},
		{"touch", func() { _ = os.Chtimes(file, time.Unix(1, 0), time.Unix(1_500_000_000, 0)) }},
		{"chmod", func() {
			if info, err := os.Lstat(file); err == nil && info.Mode().IsRegular() {
				_ = os.Chmod(file, info.Mode().Perm()^0o111)
			}
		}},
		{"remove", func() { _ = os.Remove(file) }},
		{"remove folder", func() { _ = os.RemoveAll(filepath.Join(s.dir, cmp.Or(s.folder(), "none"))) }},
		{"empty folder", func() { _ = os.MkdirAll(file+"-empty", 0o755) }},
		{"link", func() { _ = os.Remove(file); _ = os.Symlink(s.pick("z", "a", "none"), file) }},
		{"folder for file", func() { _ = os.Remove(file); s.put(name+"/in", text) }},
		{"rename", func() { _ = os.Rename(file, filepath.Join(s.dir, other)) }},
		{"git mv", func() { tryGit(s.dir, "mv", "-f", name, other) }},
		{"unstage", func() { tryGit(s.dir, "rm", "-q", "--cached", "-r", "--", name) }},
		{"ignore", func() {
			s.put(s.folder()+".gitignore", s.pattern()+"\n"+s.pattern()+s.pick("\n", "\r\n", "")+s.pattern())
		}},
		{"ignore", func() { s.put(s.folder()+".gitignore", s.pattern()+"\n") }},
		{"exclude", func() { s.put(".git/info/exclude", s.pattern()+"\n") }},
		{"attributes", func() {
			s.put(s.pick("", "a/")+".gitattributes", s.pick("* text=auto\n", "*.go ident\n", "* eol=crlf\n", "z binary\n"))
		}},
		{"add all", func() { tryGit(s.dir, "add", "-A") }},
		{"commit", func() { tryGit(s.dir, "add", "-A"); tryGit(s.dir, "commit", "-qm", "x") }},
		{"commit", func() { tryGit(s.dir, "add", "-A"); tryGit(s.dir, "commit", "-qm", "x") }},
		{"commit staged", func() { tryGit(s.dir, "commit", "-qm", "x") }},
		{"reset", func() { tryGit(s.dir, "reset", "-q", "--hard") }},
		{"reset", func() { tryGit(s.dir, "reset", "-q", "--hard") }},
		{"clean", func() { tryGit(s.dir, "clean", "-qfd") }},
		{"stash", func() { tryGit(s.dir, "stash", "-q") }},
		{"pack", func() { tryGit(s.dir, "gc", "-q") }},
		{"intent", func() { tryGit(s.dir, "add", "-N", "--", name) }},
		{"hidden", func() { tryGit(s.dir, "update-index", s.pick("--assume-unchanged", "--skip-worktree"), name) }},
		{"shown", func() { tryGit(s.dir, "update-index", "--no-assume-unchanged", "--no-skip-worktree", name) }},
		{"index", func() { tryGit(s.dir, "update-index", "--index-version", s.pick("2", "3", "4")) }},
		{"split", func() { tryGit(s.dir, "update-index", s.pick("--split-index", "--no-split-index")) }},
		{"cache", func() { tryGit(s.dir, "update-index", s.pick("--force-untracked-cache", "--no-untracked-cache")) }},
		{"sparse", func() {
			tryGit(s.dir, "sparse-checkout", "set", "--cone", s.pick("--sparse-index", "--no-sparse-index"), "a")
		}},
		{"dense", func() { tryGit(s.dir, "sparse-checkout", "disable") }},
		{"dense", func() { tryGit(s.dir, "sparse-checkout", "disable") }},
		{"whole", func() { tryGit(s.dir, "update-index", "--no-split-index") }},
		{"conflict", func() {
			tryGit(s.dir, "checkout", "-qb", "side")
			s.put(name, "side\n")
			tryGit(s.dir, "commit", "-qam", "side")
			tryGit(s.dir, "checkout", "-q", "main")
			s.put(name, "main\n")
			tryGit(s.dir, "commit", "-qam", "main")
			tryGit(s.dir, "merge", "-q", "side")
		}},
		{"aborted", func() { tryGit(s.dir, "merge", "--abort"); tryGit(s.dir, "branch", "-D", "side") }},
		{"submodule", func() {
			tryGit(s.dir, "submodule", "add", "-q", "-f", filepath.Join(filepath.Dir(s.dir), "inner"), "sub")
		}},
		{"nested", func() { tryGit(s.dir, "init", "-q", "a/nested") }},
		{"nested gone", func() { _ = os.RemoveAll(filepath.Join(s.dir, "a/nested")) }},
		{"lines", func() { tryGit(s.dir, "config", "core.autocrlf", s.pick("true", "input", "false")) }},
		{"modes", func() { tryGit(s.dir, "config", "core.filemode", s.pick("true", "false")) }},
	}
	op := ops[s.rand.IntN(len(ops))]
	s.log = append(s.log, fmt.Sprintf("%s %q %q %q", op.name, name, other, text))
	op.do()
}

func sorted(changes []Change) []Change {
	slices.SortFunc(changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Kind, b.Kind))
	})
	return slices.Compact(changes)
}

// holds says whether a file that git calls changed holds what the commit does, but for the ends of lines. Git converts the ends of lines of a file
// that was written in the same second as the index, and not of others: with settings that were changed since it calls only those
// changed.
func (s *scene) holds(v *gitView, c Change) bool {
	at, after := v.index.at(0, len(v.index.entries), c.Path)
	info, err := os.Lstat(filepath.Join(s.dir, c.Path))
	if c.Kind != Changed || after-at != 1 || err != nil || !info.Mode().IsRegular() {
		return false
	}
	same, _, ok := v.staged(c.Path, at, after, true)
	text, err := os.ReadFile(filepath.Join(s.dir, c.Path))
	e := &v.index.entries[at]
	return ok && same && err == nil && strings.Contains(string(text), "\r") && (hashOf("blob", string(text)) == v.index.hash(e) || hashOf("blob", strings.ReplaceAll(string(text), "\r\n", "\n")) == v.index.hash(e)) && (!v.program || (info.Mode()&0o100 != 0) == (v.index.number(e, atMode) == modeProgram))
}

// compareWithGit has git and the reader answer about every path there is, and returns how many of them the reader left to git.
func (s *scene) compareWithGit() (all, left int) {
	s.t.Helper()
	ctx := s.t.Context()
	repo, err := Open(s.dir)
	if err != nil {
		s.t.Fatal(err)
	}
	names := map[string]bool{}
	_ = filepath.WalkDir(s.dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.Name() == ".git" || d.Name() == "sub" || d.Name() == "nested" {
			if d != nil && d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		if rel, _ := filepath.Rel(s.dir, name); rel != "." {
			names[filepath.ToSlash(rel)] = true
		}
		return nil
	})
	git := &Facts{asked: map[*Repo]int{repo: 5}, all: map[*Repo]everything{}, views: map[*Repo]*gitView{repo: nil}}
	v := repo.view(ctx, &s.kept)
	for rel := range names {
		all++
		if v == nil {
			left++
			continue
		}
		got, ok := v.known(ctx, rel)
		if !ok {
			left++
			continue
		}
		held, changes, err := git.known(ctx, repo, rel)
		if err != nil {
			s.t.Fatalf("%q: git: %v\n%s", rel, err, strings.Join(s.log, "\n"))
		}
		changes = slices.DeleteFunc(slices.Clone(changes), func(c Change) bool { return !slices.Contains(got.changes, c) && s.holds(v, c) })
		if !slices.Equal(held, got.held) || sound(held) && !slices.Equal(sorted(changes), sorted(got.changes)) {
			s.t.Fatalf("%q in %s:\n%v %v; git says\n%v %v\n%s", rel, s.dir, got.held, got.changes, held, changes, strings.Join(s.log, "\n"))
		}
	}
	if v == nil {
		return all, left
	}
	if is, ok := v.clean(ctx); ok {
		e := repo.everything(ctx, false)
		e.changes = slices.DeleteFunc(e.changes, func(c Change) bool { return is && s.holds(v, c) })
		if want := e.err == nil && len(e.changes) == 0 && sound(e.held); want != is {
			s.t.Fatalf("clean in %s is %v; git says %v %v\n%s", s.dir, is, e.changes, e.err, strings.Join(s.log, "\n"))
		}
	}
	return all, left
}

// Whatever becomes of a repository, what is read of it is what git says.
func TestReadAsGitReads(t *testing.T) {
	if !statsKnown {
		t.Skip("git is asked here")
	}
	seeds, steps := uint64(6), 50
	if testing.Short() {
		seeds, steps = 2, 30
	}
	if s := os.Getenv("DESKBELL_GIT_SEEDS"); s != "" {
		_, _ = fmt.Sscan(s, &seeds)
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			dir := tree(t)
			tryGit(filepath.Dir(dir), "clone", "-q", dir, filepath.Join(filepath.Dir(dir), "inner"))
			s := &scene{t: t, dir: dir, rand: rand.New(rand.NewPCG(seed, 18))}
			if seed%4 == 3 {
				tryGit(dir, "worktree", "add", "-q", "-b", "linked", dir+"-linked")
				s.dir = dir + "-linked"
			}
			all, left := 0, 0
			for range steps {
				s.step()
				if s.rand.IntN(3) > 0 {
					continue
				}
				a, l := s.compareWithGit()
				all, left = all+a, left+l
			}
			t.Logf("%d of %d answers were left to git", left, all)
		})
	}
}

// An index in the middle of the same second, or of a clock that only counts seconds, is not trusted.
func TestRacyEntriesAreCompared(t *testing.T) {
	if !statsKnown {
		t.Skip("git is asked here")
	}
	dir := tree(t)
	at := time.Unix(1_700_000_000, 0)
	file := dir + "/kept.txt"
	for _, nano := range []int64{0, 5} {
		at = at.Add(time.Duration(nano))
		write(t, file, "one\n")
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
		git(t, dir, "add", "-A")
		if err := os.Chtimes(dir+"/.git/index", at, at); err != nil {
			t.Fatal(err)
		}
		repo, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		v := repo.view(t.Context(), nil)
		at, _ := v.index.at(0, len(v.index.entries), "kept.txt")
		now, err := fileStat(nil, file)
		if err != nil || v.likeness(&v.index.entries[at], &now) != unsure {
			t.Errorf("it is trusted: %v", err)
		}
		now.numbers[3]++
		if v.likeness(&v.index.entries[at], &now) != unsure {
			t.Error("a nanosecond is trusted")
		}
	}
}

// An index is kept as long as it is as it was, and was not written just now.
func TestIndexesAreKept(t *testing.T) {
	if !statsKnown {
		t.Skip("git is asked here")
	}
	dir := tree(t)
	name := dir + "/.git/index"
	var k indexes
	now := time.Now()
	if young := k.read(name, now); k.read(name, now) == young {
		t.Error("one that was just written is kept")
	}
	later := now.Add(time.Minute)
	first := k.read(name, later)
	if first == nil || k.read(name, later) != first {
		t.Error("it is not kept")
	}
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	before, err := fileStat(nil, name)
	if err != nil {
		t.Fatal(err)
	}
	// In its place, with its size and time, until the clock has moved.
	for now := before; now == before; {
		if err := errors.Join(os.WriteFile(name, data, 0o644), os.Chtimes(name, info.ModTime(), info.ModTime())); err != nil {
			t.Fatal(err)
		}
		if now, err = fileStat(nil, name); err != nil {
			t.Fatal(err)
		}
	}
	if k.read(name, later) == first {
		t.Error("what was written again is not read again")
	}
	for i := range 2 * mostIndexes {
		copied := fmt.Sprintf("%s/index%d", dir, i)
		write(t, copied, string(data))
		if k.read(copied, later) == nil {
			t.Error("a copy is not read")
		}
	}
	if len(k.list) != mostIndexes {
		t.Errorf("%d are kept", len(k.list))
	}
	if k.read(dir+"/none", later) != nil {
		t.Error("read from nowhere")
	}
}

// The same patterns leave out the same paths.
func TestIgnoredAsGitIgnores(t *testing.T) {
	dir := tree(t)
	var paths []string
	for _, folder := range []string{"", "a/", "a/b/", "a/b/c/", "dist/", "a/dist/", "n s/", "foo.d/", "x/a/b/"} {
		for _, name := range []string{"x.go", "y.log", "z", "keep.log", "bb", "abc", "a-c", "]"} {
			if _, err := os.Lstat(filepath.Join(dir, folder+name)); err != nil {
				write(t, filepath.Join(dir, folder+name), "")
				paths = append(paths, folder+name)
			}
		}
	}
	_ = filepath.WalkDir(dir, func(name string, d os.DirEntry, _ error) error {
		if d.Name() == ".git" {
			return filepath.SkipDir
		}
		if rel, _ := filepath.Rel(dir, name); d.IsDir() && rel != "." {
			paths = append(paths, filepath.ToSlash(rel))
		}
		return nil
	})
	r := rand.New(rand.NewPCG(18, 9))
	parts := []string{"a", "b", "c", "*", "?", "**", "*.log", "*.go", "k*p*", "[a-c]", "[!a]", "[^xyz]*", "a[-]c", "[]]", "dist", "n s", "*.d", "a*c", "abc", "x", "**b", "a**", "[a-c][a-c]*", "[z-a]", "*b*", "***"}
	left := 0
	line := func() string {
		for ; ; left++ {
			var n []string
			for range 1 + r.IntN(3) {
				n = append(n, parts[r.IntN(len(parts))])
			}
			line := []string{"", "", "!", "/", "!/"}[r.IntN(5)] + strings.Join(n, "/") + []string{"", "", "/", " ", "\r"}[r.IntN(5)]
			if _, ok := parseIgnore(line); ok {
				return line
			}
		}
	}
	rounds := 100
	if s := os.Getenv("DESKBELL_GIT_SEEDS"); s != "" {
		_, _ = fmt.Sscan(s, &rounds)
	}
	for i := range rounds {
		texts := map[string]string{"": line() + "\n" + line() + "\n" + line(), "a/": line() + "\n" + line() + "\n"}
		var rules, inA *patterns
		for _, folder := range []string{"", "a/"} {
			write(t, dir+"/"+folder+".gitignore", texts[folder])
			list, ok := parseIgnore(texts[folder])
			if !ok {
				t.Fatalf("%q", texts)
			}
			if folder == "" {
				rules = &patterns{list: list}
				continue
			}
			inA = &patterns{base: folder, list: list, up: rules}
		}
		cmd := exec.Command("git", "check-ignore", "--no-index", "-z", "--stdin")
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(strings.Join(paths, "\x00"))
		out, _ := cmd.Output() // 1 where it names none
		said := strings.Split(string(out), "\x00")
		for _, p := range paths {
			is := false
			for at := 0; !is && at < len(p); at++ {
				if next := strings.IndexByte(p[at:], '/'); next >= 0 {
					at += next
				} else {
					at = len(p)
				}
				info, err := os.Lstat(filepath.Join(dir, p[:at]))
				if err != nil {
					t.Fatal(err)
				}
				use := rules
				if strings.HasPrefix(p[:at], "a/") {
					use = inA
				}
				is = use.ignored(p[:at], info.IsDir())
			}
			if is != slices.Contains(said, p) {
				t.Errorf("%d: %q is ignored: %v, by %q", i, p, is, texts)
			}
		}
	}
	t.Logf("%d lines are left to git", left)
}

func FuzzIndex(f *testing.F) {
	if _, err := exec.LookPath("git"); err != nil {
		f.Skip("git is not installed")
	}
	dir := tree(f)
	for _, args := range [][]string{{"update-index", "--index-version", "2"}, {"update-index", "--index-version", "4"}, {"update-index", "--skip-worktree", "kept.txt"}, {"update-index", "--split-index"}} {
		git(f, dir, args...)
		data, err := os.ReadFile(dir + "/.git/index")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte("DIRC\x00\x00\x00\x04\xff\xff\xff\xff" + strings.Repeat("\x00", 20)))
	f.Fuzz(func(t *testing.T, data []byte) {
		x, ok := parseIndex(string(data))
		if !ok {
			return
		}
		for i := range x.entries {
			e := &x.entries[i]
			if i > 0 && x.entries[i-1].name > e.name || e.name == "" || len(e.name) > maxName {
				t.Fatalf("%q", e.name)
			}
			_ = x.hash(e)
			if at, after := x.at(0, len(x.entries), e.name); at > i || after <= i {
				t.Fatalf("%q is not found", e.name)
			}
		}
		_ = x.tree(0, len(x.entries), 0)
		x.below(0, len(x.entries), "a/")
	})
}

func FuzzPack(f *testing.F) {
	f.Add([]byte("\x90\x05"), []byte("hello world"), []byte("\x0b\x05\x90\x05"))
	f.Add([]byte("\xfftOc\x00\x00\x00\x02"), []byte("a"), []byte("\x01\x01\x01b"))
	f.Fuzz(func(t *testing.T, pack, base, delta []byte) {
		if text, ok := patch(string(base), string(delta)); ok && len(text) > maxObject {
			t.Fatal("too long")
		}
		dir := t.TempDir()
		for name, data := range map[string][]byte{"p.idx": pack, "p.pack": delta} {
			if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		offset(filepath.Join(dir, "p.idx"), strings.Repeat("\x01", 20))
		file, _, err := regular(filepath.Join(dir, "p.pack"))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = file.Close() }()
		o := objects{dir: dir}
		o.read(file, 0, 0)
		_, _, _ = inTree(string(pack), "a")
	})
}

// Settings that are read are as git lists them.
func FuzzSettings(f *testing.F) {
	for _, text := range []string{
		"[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n", "[remote \"origin\"]\n\turl = https://a.b/c.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n",
		"[a]b=c\n", "[a]\nb\n", "[a \"B c\"]\nD = e  f\n", "[a]\nb = c ; d\n", "[a]\nb = \"c\"\n", "[A]\n B=\n", "[a\n]b=c", "[a \"\"]\nb = c\n", "x = y\n", "[a]\n# b = c\n;d=e\n-e = f\n", "\xef\xbb\xbf[a]\nb=c\n", "[a]\nb = c\x0b\n", "[a]\r\nb = c\r\n", "[a.b]\nc=d\n", "[core]\nautocrlf = input \n",
		"[a \"b]\nc = d\"]\nb = c\n", "[0]\na = b\n", "[a]\nb=\xff\n", "[a]\nb = c\n[a]\nb = d\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		set, ok := parseConfig(text)
		if !ok || len(text) > 1000 {
			return
		}
		name := filepath.Join(t.TempDir(), "config")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command("git", "config", "--file", name, "--no-includes", "-z", "--list").CombinedOutput()
		if err != nil {
			t.Fatalf("%q is read, git says: %v %s", text, err, out)
		}
		want := map[string]string{}
		for entry := range bytes.SplitSeq(out, []byte{0}) {
			if key, value, _ := bytes.Cut(entry, []byte{'\n'}); len(key) > 0 {
				want[string(key)] = string(value)
			}
		}
		if fmt.Sprint(set) != fmt.Sprint(want) {
			t.Fatalf("%q: %q, git says %q", text, set, want)
		}
	})
}

// What git reads is not asked of git again.
func TestGitIsNotStarted(t *testing.T) {
	if !statsKnown || runtime.GOOS == "darwin" {
		t.Skip("git is asked here")
	}
	dir := tree(t)
	write(t, dir+"/dist/x.js", "x\n")
	write(t, dir+"/new.txt", "x\n")
	write(t, dir+"/lib/c.go", "package other\n")
	g := patient(t, gate.Call{Cwd: dir}, nil)
	v := g.view(t.Context(), g.repo(dir))
	if v == nil {
		t.Fatal("the repository is not read")
	}
	for _, rel := range []string{"kept.txt", "src", "dist", "dist/x.js", "new.txt", "lib", "lib/c.go", ".gitignore"} {
		if _, ok := v.known(t.Context(), rel); !ok {
			t.Errorf("git is asked about %s", rel)
		}
	}
	if is, ok := v.clean(t.Context()); is || !ok {
		t.Errorf("git is asked whether it is clean: %v", is)
	}
}

// What git is asked, and what is read in place of it, in turns: by a process of its own, which is the hook's while Deskbell is away, and
// by a server, which keeps the index.
func BenchmarkLook(b *testing.B) {
	for _, size := range []int{200, 10_000} {
		dir := filepath.Join(home(b), "p")
		if err := os.Mkdir(dir, 0o755); err != nil {
			b.Fatal(err)
		}
		git(b, dir, "init", "-q")
		git(b, dir, "config", "gc.auto", "0")
		for i := range size {
			write(b, fmt.Sprintf("%s/d%d/f%d.txt", dir, i/100, i), fmt.Sprint(i))
		}
		write(b, dir+"/.gitignore", "node_modules/\n*.log\n/dist/\n")
		git(b, dir, "add", "-A")
		git(b, dir, "commit", "-q", "-m", "all")
		git(b, dir, "gc", "-q")
		for i := range 50 {
			write(b, fmt.Sprintf("%s/dist/%d.js", dir, i), "x")
		}
		for _, name := range []string{dir + "/.git/index", dir + "/.gitignore"} {
			if err := os.Chtimes(name, time.Time{}, time.Now().Add(time.Second)); err != nil {
				b.Fatal(err)
			}
		}
		for _, question := range []struct {
			name string
			ask  func(g *Facts) bool
		}{
			{"file", func(g *Facts) bool { return g.File(dir+"/d1/f105.txt") == gate.Committed }},
			{"folder", func(g *Facts) bool { return g.File(dir+"/d1") == gate.Committed }},
			{"ignored", func(g *Facts) bool { return g.File(dir+"/dist") == gate.Ignored }},
			{"clean", func(g *Facts) bool { return g.Clean() }},
		} {
			b.Run(fmt.Sprintf("%s of %d", question.name, size), func(b *testing.B) {
				var server Sessions
				ways := []struct {
					name string
					open func() *Facts
					took []time.Duration
				}{
					{name: "git", open: func() *Facts {
						g := patient(b, gate.Call{Cwd: dir}, nil)
						repo := g.repo(dir)
						repo.once.Do(func() { repo.settings = repo.listed(b.Context()) })
						g.views[repo] = nil
						return g
					}},
					{name: "read", open: func() *Facts { return patient(b, gate.Call{Cwd: dir}, nil) }},
					{name: "kept", open: func() *Facts { return patient(b, gate.Call{Cwd: dir}, nil).In(&server) }},
				}
				for b.Loop() {
					for i := range ways {
						began := time.Now()
						if !question.ask(ways[i].open()) {
							b.Fatal("not known")
						}
						ways[i].took = append(ways[i].took, time.Since(began))
					}
				}
				for _, w := range ways {
					slices.Sort(w.took)
					b.ReportMetric(float64(w.took[len(w.took)/2].Microseconds()), w.name+"-p50-us")
					b.ReportMetric(float64(w.took[len(w.took)*99/100].Microseconds()), w.name+"-p99-us")
				}
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// What a repository holds decides how long it is looked at only up to a limit.
func TestDeepIndexesAreLeftToGit(t *testing.T) {
	for folders, want := range map[int]bool{maxDeep / 1000: true, maxDeep/1000 + 2: false} {
		data := binary.BigEndian.AppendUint32([]byte("DIRC\x00\x00\x00\x02"), 1000)
		for i := range 1000 {
			name := fmt.Sprintf("%04d", i) + strings.Repeat("/a", folders)
			entry := make([]byte, 62, 62+len(name)+8)
			binary.BigEndian.PutUint32(entry[atMode:], modeFile)
			binary.BigEndian.PutUint16(entry[atFlags:], uint16(len(name)))
			data = append(data, append(append(entry, name...), make([]byte, 8-(62+len(name))%8)...)...)
		}
		x, ok := parseIndex(string(append(data, make([]byte, 20)...)))
		if ok != want {
			t.Errorf("%d folders are read: %v", 1000*folders, ok)
		}
		if ok {
			x.tree(0, len(x.entries), 0)
		}
	}
}
