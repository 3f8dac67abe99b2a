package workspace

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"deskbell/backend/gate"
	"deskbell/backend/gate/service"
	"deskbell/backend/human"
)

var _ service.Facts = (*Facts)(nil)

// git runs git as a user would, in a home of its own.
func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+filepath.Dir(dir), "GIT_CONFIG_NOSYSTEM=1", "XDG_CONFIG_HOME="+dir+"-none",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func write(t testing.TB, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// home is a folder without symbolic links in its path.
func home(t testing.TB) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func tree(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(home(t), "p")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	git(t, dir, "init", "-q", "-b", "main")
	write(t, dir+"/kept.txt", "one\n")
	write(t, dir+"/changed.txt", "one\n")
	write(t, dir+"/hidden.txt", "one\n")
	write(t, dir+"/src/a.go", "package a\n")
	write(t, dir+"/src/b.go", "package a\n")
	write(t, dir+"/lib/c.go", "package c\n")
	write(t, dir+"/.gitignore", "dist/\n.env\n*.log\nnotes/\n")
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "-m", "first")
	return dir
}

// patient is evidence that a slow machine has the time for.
func patient(t testing.TB, call gate.Call, made func(string) bool) *Facts {
	return Within(t.Context(), call, made, time.Minute)
}

func TestFile(t *testing.T) {
	dir := tree(t)
	write(t, dir+"/changed.txt", "two\n")
	write(t, dir+"/new.txt", "mine\n")
	write(t, dir+"/agents.txt", "its\n")
	write(t, dir+"/dist/x.js", "x\n")
	write(t, dir+"/.env", "KEY=1\n")
	write(t, dir+"/run.log", "x\n")
	write(t, dir+"/notes/today.md", "x\n")
	write(t, dir+"/lib/loose.go", "x\n")
	write(t, dir+"/made/one", "x")
	write(t, dir+"/made/two", "x")
	write(t, dir+"/half/one", "x")
	write(t, dir+"/half/mine", "x")
	write(t, dir+"/staged.txt", "x")
	git(t, dir, "add", "staged.txt")
	git(t, dir, "update-index", "--assume-unchanged", "hidden.txt")
	write(t, dir+"/hidden.txt", "work\n")
	write(t, dir+"/src/copy/.gitkeep", "")
	git(t, dir, "add", "src/copy/.gitkeep")
	git(t, dir, "commit", "-q", "-m", "keep", "src/copy/.gitkeep")
	write(t, dir+"/dist2/x", "x")
	git(t, dir, "init", "-q", dir+"/dist/other")
	if err := os.Mkdir(dir+"/empty", 0o755); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"to_new": "new.txt", "to_kept": "kept.txt", "to_nothing": "nothing", "to_folder": "src"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Skip("no symbolic links here")
		}
	}
	git(t, dir, "add", "to_new", "to_kept", "to_nothing", "to_folder")
	git(t, dir, "commit", "-q", "-m", "links", "to_new", "to_kept", "to_nothing", "to_folder")
	its := []string{"agents.txt", "made/one", "made/two", "half/one", "kept.txt", "changed.txt"}
	g := patient(t, gate.Call{Cwd: dir}, func(abs string) bool {
		rel, _ := filepath.Rel(dir, abs)
		return slices.Contains(its, filepath.ToSlash(rel))
	})
	for name, want := range map[string]gate.FileState{
		"kept.txt": gate.Committed, "changed.txt": gate.MadeHere, "new.txt": gate.Precious, "agents.txt": gate.MadeHere,
		"nothing": gate.Absent, "nothing/at/all": gate.Absent, "kept.txt/under": gate.Absent, "empty": gate.Absent,
		"run.log": gate.Ignored, ".env": gate.Precious, "notes": gate.Precious, "dist/x.js": gate.Ignored, "dist": gate.Precious,
		"src": gate.Committed, "lib": gate.Precious, "made": gate.MadeHere, "half": gate.Precious, "hidden.txt": gate.Precious,
		"staged.txt": gate.Precious, ".git": gate.Precious, ".git/config": gate.Precious, ".": gate.Precious,
		"to_new": gate.Precious, "to_kept": gate.Committed, "to_nothing": gate.Committed, "to_folder": gate.Committed,
		"to_folder/a.go": gate.Committed, "dist/other": gate.Precious,
	} {
		if got := g.File(filepath.Join(dir, name)); got != want {
			t.Errorf("%s is %d, want %d", name, got, want)
		}
		// The same, asked as the first.
		if got := patient(t, gate.Call{Cwd: dir}, g.made).File(filepath.Join(dir, name)); got != want {
			t.Errorf("%s alone is %d, want %d", name, got, want)
		}
	}
	if g.File("relative") != gate.NotKnown {
		t.Error("a relative path is known")
	}
	if c := g.FileCounts(dir + "/made"); c != (human.FileCounts{Files: 2, Bytes: 2, Kept: human.KeptMadeHere}) {
		t.Errorf("census: %+v", c)
	}
	if c := g.FileCounts(dir + "/nothing"); c != (human.FileCounts{Kept: human.KeptAbsent}) {
		t.Errorf("census of nothing: %+v", c)
	}
	if g.Clean() {
		t.Error("the tree is clean")
	}
}

func TestFileOutsideOfGit(t *testing.T) {
	dir := home(t)
	write(t, dir+"/mine", "x")
	write(t, dir+"/its", "x")
	g := patient(t, gate.Call{Cwd: dir}, func(abs string) bool { return abs == filepath.Join(dir, "its") })
	for name, want := range map[string]gate.FileState{"mine": gate.Precious, "its": gate.MadeHere, "no": gate.Absent} {
		if got := g.File(filepath.Join(dir, name)); got != want {
			t.Errorf("%s is %d, want %d", name, got, want)
		}
	}
	if g.Clean() || g.Pushed() {
		t.Error("clean or pushed without git")
	}
	if p := g.Project(); p.Git || p.Files != 0 || p.Name != "" {
		t.Errorf("%+v", p)
	}
	g = patient(t, gate.Call{Cwd: dir, Root: dir}, nil)
	if p := g.Project(); p.Git || p.Files != 2 || p.Root != dir {
		t.Errorf("%+v", p)
	}
}

func TestProject(t *testing.T) {
	dir := tree(t)
	far := filepath.Join(filepath.Dir(dir), "far.git")
	git(t, filepath.Dir(dir), "init", "-q", "--bare", far)
	ask := func(cwd string) human.ProjectInfo { return patient(t, gate.Call{Cwd: cwd}, nil).Project() }
	want := human.ProjectInfo{Name: "p", Root: dir, Git: true, Branch: "main", Files: 7, Clean: true}
	if got := ask(dir + "/src"); got != want {
		t.Errorf("%+v", got)
	}
	git(t, dir, "remote", "add", "origin", far)
	git(t, dir, "push", "-q", "-u", "origin", "main")
	want.Pushed = true
	if got := ask(dir); got != want {
		t.Errorf("pushed: %+v", got)
	}
	git(t, dir, "pack-refs", "--all")
	if got := ask(dir); got != want {
		t.Errorf("packed: %+v", got)
	}
	write(t, dir+"/more.txt", "x")
	git(t, dir, "add", "more.txt")
	git(t, dir, "commit", "-q", "-m", "more")
	want.Files, want.Pushed = 8, false
	if got := ask(dir); got != want {
		t.Errorf("ahead: %+v", got)
	}
	git(t, dir, "push", "-q")
	git(t, dir, "reset", "-q", "--hard", "HEAD~1")
	want.Files, want.Pushed = 7, true
	if got := ask(dir); got != want {
		t.Errorf("behind: %+v", got)
	}
	other := filepath.Join(filepath.Dir(dir), "linked")
	git(t, dir, "worktree", "add", "-q", "-b", "side", other)
	if got := ask(other); got != (human.ProjectInfo{Name: "linked", Root: other, Git: true, Branch: "side", Files: 7, Clean: true}) {
		t.Errorf("linked: %+v", got)
	}
	git(t, dir, "checkout", "-q", "--detach")
	if got := ask(dir); got.Branch != "" || got.Pushed || !got.Clean {
		t.Errorf("detached: %+v", got)
	}
	write(t, dir+"/.git/HEAD", "ref: refs/heads/../../../../etc/passwd\n")
	if got := ask(dir); got.Clean || got.Pushed {
		t.Errorf("a head that leads elsewhere: %+v", got)
	}
}

func TestSubmodulesAreNotClean(t *testing.T) {
	dir := tree(t)
	inner := filepath.Join(filepath.Dir(dir), "inner")
	git(t, filepath.Dir(dir), "clone", "-q", dir, inner)
	git(t, dir, "-c", "protocol.file.allow=always", "submodule", "add", "-q", inner, "sub")
	git(t, dir, "commit", "-q", "-m", "sub")
	g := patient(t, gate.Call{Cwd: dir}, nil)
	if g.Clean() {
		t.Error("a tree with a submodule is clean")
	}
	if got := g.File(dir + "/sub"); got != gate.Precious {
		t.Errorf("the submodule is %d", got)
	}
	if got := g.File(dir + "/sub/kept.txt"); got != gate.Committed {
		t.Errorf("a file of it is %d", got)
	}
}

func TestRootAsItIsReached(t *testing.T) {
	dir := tree(t)
	link := filepath.Join(filepath.Dir(dir), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Skip("no symbolic links here")
	}
	for cwd, want := range map[string]string{dir: dir, dir + "/src": dir, link + "/src": link, filepath.Dir(dir): "", dir + "/none": ""} {
		if got := Root(cwd); got != want {
			t.Errorf("%s: %q, want %q", cwd, got, want)
		}
	}
}

func TestText(t *testing.T) {
	dir := home(t)
	write(t, dir+"/a.sh", "echo hi\n")
	write(t, dir+"/long.sh", strings.Repeat("x", maxText+1))
	write(t, dir+"/most.sh", strings.Repeat("x", maxText))
	write(t, dir+"/bytes", "\xff\xfe")
	write(t, dir+"/empty", "")
	g := patient(t, gate.Call{Cwd: dir}, nil)
	if text, ok := g.Text(dir + "/a.sh"); !ok || text != "echo hi\n" {
		t.Errorf("%q %v", text, ok)
	}
	if _, ok := g.Text(dir + "/most.sh"); !ok {
		t.Error("the longest is not read")
	}
	refused := []string{dir + "/long.sh", dir + "/bytes", dir + "/empty", dir, dir + "/none", "a.sh"}
	if runtime.GOOS != "windows" {
		if out, err := exec.Command("mkfifo", dir+"/pipe").CombinedOutput(); err != nil {
			t.Fatalf("mkfifo: %v %s", err, out)
		}
		if err := os.Symlink("a.sh", dir+"/link.sh"); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("pipe", dir+"/link"); err != nil {
			t.Fatal(err)
		}
		if text, ok := g.Text(dir + "/link.sh"); !ok || text != "echo hi\n" {
			t.Errorf("by a link: %q %v", text, ok)
		}
		refused = append(refused, dir+"/pipe", dir+"/link", "/dev/zero", "/dev/tty", "/proc/self/environ", "/proc/kmsg")
		if got := g.File(dir + "/pipe"); got != gate.Precious {
			t.Errorf("the pipe is %d", got)
		}
	}
	for _, name := range refused {
		if text, ok := g.Text(name); ok {
			t.Errorf("%s: %q", name, text)
		}
	}
}

func TestWithoutTimeTheAnswersAreCautious(t *testing.T) {
	dir := tree(t)
	done, cancel := context.WithCancel(t.Context())
	cancel()
	for name, g := range map[string]*Facts{
		"no time": Within(t.Context(), gate.Call{Cwd: dir}, nil, 0),
		"ended":   Within(done, gate.Call{Cwd: dir}, nil, time.Minute),
	} {
		if g.File(dir+"/kept.txt") != gate.Unseen || g.File(dir+"/nothing") != gate.Absent || g.Clean() || g.Pushed() {
			t.Error(name)
		}
	}
	// The clock says that each look takes long: the first uses the time up.
	g := Within(t.Context(), gate.Call{Cwd: dir}, nil, time.Minute)
	at := time.Unix(0, 0)
	g.now = func() time.Time { at = at.Add(time.Hour); return at }
	if g.File(dir+"/kept.txt") != gate.Committed || g.File(dir+"/src") != gate.Unseen || g.File(dir+"/kept.txt") != gate.Committed {
		t.Error("the time is not counted")
	}
}

// Whatever the settings of a repository name does not run, and nothing is written to it by looking.
func TestNothingOfTheRepositoryRuns(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the program that leaves a mark is a shell script")
	}
	dir := tree(t)
	top := filepath.Dir(dir)
	marks := filepath.Join(top, "marks")
	if err := os.Mkdir(marks, 0o777); err != nil {
		t.Fatal(err)
	}
	trap := func(name string) string {
		file := filepath.Join(top, "trap-"+name)
		last := "cat" // what a filter lets through
		if name == "transport" {
			last = "exit 1" // git would wait for an answer
		}
		write(t, file, "#!/bin/sh\necho > '"+marks+"/"+name+"'\n"+last+"\n")
		if err := os.Chmod(file, 0o755); err != nil {
			t.Fatal(err)
		}
		return file
	}
	inner := filepath.Join(top, "inner")
	git(t, top, "clone", "-q", dir, inner)
	git(t, dir, "-c", "protocol.file.allow=always", "submodule", "add", "-q", inner, "sub")
	write(t, dir+"/.gitattributes", "* filter=evil diff=evil merge=evil\n")
	write(t, dir+"/sub/.gitattributes", "* filter=evil diff=evil\n")
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "-m", "attributes")
	hooks := filepath.Join(top, "hooks")
	for _, hook := range []string{"post-index-change", "reference-transaction", "pre-commit", "post-checkout", "fsmonitor-watchman", "post-rewrite", "pre-auto-gc"} {
		write(t, filepath.Join(hooks, hook), "#!/bin/sh\necho > '"+marks+"/hook-"+hook+"'\n")
		write(t, filepath.Join(dir, ".git/hooks", hook), "#!/bin/sh\necho > '"+marks+"/hook2-"+hook+"'\n")
		for _, f := range []string{filepath.Join(hooks, hook), filepath.Join(dir, ".git/hooks", hook)} {
			if err := os.Chmod(f, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	settings := fmt.Sprintf("[include]\n\tpath = %s\n", filepath.Join(top, "included"))
	write(t, filepath.Join(top, "included"), fmt.Sprintf("[core]\n\tfsmonitor = %s\n", trap("included")))
	for key, name := range map[string]string{
		"core]\n\tfsmonitor": "fsmonitor", "core]\n\tpager": "pager", "core]\n\teditor": "editor", "core]\n\tsshCommand": "ssh",
		"core]\n\taskPass": "askpass", "core]\n\tgitProxy": "proxy", "core]\n\talternateRefsCommand": "alternates",
		"diff]\n\texternal": "diff", "diff \"evil\"]\n\ttextconv": "textconv", "diff \"evil\"]\n\tcommand": "diffcommand",
		"merge \"evil\"]\n\tdriver": "merge", "filter \"evil\"]\n\tclean": "clean", "filter \"evil\"]\n\tsmudge": "smudge",
		"filter \"evil\"]\n\tprocess": "process", "pager]\n\tstatus": "pagerstatus", "credential]\n\thelper": "credential",
		"gpg]\n\tprogram": "gpg", "sequence]\n\teditor": "sequence", "uploadpack]\n\tpackObjectsHook": "pack",
		"remote \"origin\"]\n\tuploadpack": "uploadpack", "interactive]\n\tdiffFilter": "difffilter", "trailer \"x\"]\n\tcommand": "trailer",
		"submodule \"sub\"]\n\tupdate": "!submodule",
	} {
		bang := ""
		if strings.HasPrefix(name, "!") {
			bang, name = "!", name[1:]
		}
		settings += fmt.Sprintf("[%s = %s%s\n", key, bang, trap(name))
	}
	settings += fmt.Sprintf("[core]\n\thooksPath = %s\n", hooks)
	for _, command := range []string{"status", "ls-files", "config", "merge-base", "update-ref", "diff", "cat-file"} {
		settings += fmt.Sprintf("[alias]\n\t%s = !%s\n", command, trap("alias"))
	}
	settings += fmt.Sprintf("[log]\n\tshowSignature = true\n[remote \"far\"]\n\turl = ext::%s\n\tpromisor = true\n[extensions]\n\tpartialClone = far\n[core]\n\trepositoryFormatVersion = 1\n\tworktree = %s\n", trap("transport"), top)
	add := func(file, text string) {
		f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Close() }()
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	add(dir+"/.git/config", settings)
	add(dir+"/.git/modules/sub/config", settings)
	// As many reasons to compare contents as there can be: times that do not match, and a missing object.
	long := time.Unix(1, 0)
	for _, name := range []string{"kept.txt", "changed.txt", "src/a.go", "sub/kept.txt"} {
		if err := os.Chtimes(filepath.Join(dir, name), long, long); err != nil {
			t.Fatal(err)
		}
	}
	write(t, dir+"/changed.txt", "2\n")
	write(t, dir+"/sub/changed.txt", "2\n")
	write(t, dir+"/new.txt", "2\n")
	t.Setenv("GIT_EXTERNAL_DIFF", trap("env-diff"))
	t.Setenv("GIT_SSH_COMMAND", trap("env-ssh"))
	t.Setenv("GIT_PAGER", trap("env-pager"))
	t.Setenv("GIT_ASKPASS", trap("env-askpass"))
	t.Setenv("GIT_CONFIG_COUNT", "1")
	t.Setenv("GIT_CONFIG_KEY_0", "core.fsmonitor")
	t.Setenv("GIT_CONFIG_VALUE_0", trap("env-fsmonitor"))
	before := snapshot(t, filepath.Join(dir, ".git"))

	look := func() {
		g := patient(t, gate.Call{Cwd: dir}, nil)
		for name, want := range map[string]gate.FileState{"kept.txt": gate.Committed, "changed.txt": gate.Precious, "new.txt": gate.Precious, "src": gate.Committed, "sub": gate.Precious, "sub/kept.txt": gate.Committed, "sub/changed.txt": gate.Precious} {
			if got := g.File(filepath.Join(dir, name)); got != want {
				t.Errorf("%s is %d, want %d", name, got, want)
			}
		}
		if p := g.Project(); p.Clean || p.Pushed || !p.Git {
			t.Errorf("%+v", p)
		}
		g.Text(dir + "/kept.txt")
		g.FileCounts(dir)
	}
	look()
	if after := snapshot(t, filepath.Join(dir, ".git")); after != before {
		t.Error("looking wrote to the repository")
	}
	repo, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	commit, _ := repo.Head()
	if err := repo.Keep(t.Context(), "refs/stash", commit, "a test"); err != nil {
		t.Error(err)
	}
	if got := repo.Stashes(); !slices.Equal(got, []string{commit}) || repo.Ref("refs/stash") != commit {
		t.Errorf("stashes: %v", got)
	}
	if _, err := repo.Git(t.Context(), nil, "", "diff", "HEAD"); err != nil {
		t.Error(err)
	}
	// An object that only the remote has: no one is asked for it.
	if err := os.RemoveAll(dir + "/.git/objects/" + commit[:2]); err != nil {
		t.Fatal(err)
	}
	if g := patient(t, gate.Call{Cwd: dir}, nil); g.Clean() || g.File(dir+"/kept.txt") == gate.Committed {
		t.Error("known without the commit")
	}
	missing := strings.Repeat("1", 40)
	add(dir+"/.git/config", "[protocol]\n\tallow = always\n[protocol \"ext\"]\n\tallow = always\n")
	if err := repo.Keep(t.Context(), "refs/deskbell/x", missing, "a test"); err == nil {
		t.Error("a commit that is not there is kept")
	}
	left, err := os.ReadDir(marks)
	if err != nil || len(left) > 0 {
		t.Errorf("ran: %v %v", left, err)
	}
	// The traps are set right: plain git springs them.
	cmd := exec.Command("git", "-C", dir, "-c", "core.worktree="+dir, "diff")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + top}
	_ = cmd.Run()
	if left, _ := os.ReadDir(marks); len(left) == 0 {
		t.Error("no trap works, so this test shows nothing")
	}
}

func TestNewerHashesAndOtherOwners(t *testing.T) {
	dir := filepath.Join(home(t), "p")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	git(t, dir, "init", "-q", "-b", "main", "--object-format=sha256")
	g := patient(t, gate.Call{Cwd: dir}, nil)
	if p := g.Project(); p.Clean || p.Pushed || !p.Git || p.Branch != "main" {
		t.Errorf("without a commit: %+v", p)
	}
	write(t, dir+"/a", "a")
	git(t, dir, "add", "a")
	if got := patient(t, gate.Call{Cwd: dir}, nil).File(dir + "/a"); got != gate.Precious {
		t.Errorf("without a commit a file is %d", got)
	}
	git(t, dir, "commit", "-q", "-m", "a")
	if os.Geteuid() == 0 && runtime.GOOS != "windows" {
		if out, err := exec.Command("chown", "-R", "65534:65534", dir).CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, out)
		}
	}
	g = patient(t, gate.Call{Cwd: dir}, nil)
	if got := g.File(dir + "/a"); got != gate.Committed || !g.Clean() {
		t.Errorf("a is %d", got)
	}
}

// snapshot tells every file below a folder by its name, size and time.
func snapshot(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.Walk(dir, func(name string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		fmt.Fprintln(&b, name, info.Size(), info.ModTime().UnixNano())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func BenchmarkTenThousandFiles(b *testing.B) {
	dir := filepath.Join(home(b), "p")
	if err := os.Mkdir(dir, 0o755); err != nil {
		b.Fatal(err)
	}
	git(b, dir, "init", "-q")
	for i := range 10_000 {
		write(b, fmt.Sprintf("%s/d%d/f%d.txt", dir, i/100, i), fmt.Sprint(i))
	}
	git(b, dir, "add", "-A")
	git(b, dir, "commit", "-q", "-m", "all")
	for name, f := range map[string]func(g *Facts) bool{
		"File":   func(g *Facts) bool { return g.File(dir+"/d50/f5050.txt") == gate.Committed },
		"Folder": func(g *Facts) bool { return g.File(dir+"/d50") == gate.Committed },
		"Twenty": func(g *Facts) bool {
			for i := range 20 {
				if g.File(fmt.Sprintf("%s/d%d/f%d.txt", dir, i, i*100)) != gate.Committed {
					return false
				}
			}
			return true
		},
		"Clean":      func(g *Facts) bool { return g.Clean() },
		"Text":       func(g *Facts) bool { _, ok := g.Text(dir + "/d50/f5050.txt"); return ok },
		"FileCounts": func(g *Facts) bool { return g.FileCounts(dir).Files >= 10_000 },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if !f(Within(b.Context(), gate.Call{Cwd: dir}, nil, time.Minute)) {
					b.Fatal("not known")
				}
			}
		})
	}
}

// Time for looking is not time for reading the files that a verdict rests on: they would look changed the next time.
func TestFilesAreReadWhereLookingTookAllTheTime(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "deploy.sh"), []byte("make it\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	g := Within(t.Context(), gate.Call{Cwd: dir}, nil, time.Minute)
	at := time.Now()
	g.now = func() time.Time { at = at.Add(time.Hour); return at }
	g.File(filepath.Join(dir, "deploy.sh"))
	g.now = time.Now
	g.Rests(filepath.Join(dir, "deploy.sh"))
	g.Rests(filepath.Join(dir, "none.sh"))
	if list := g.Judged(); list[0].State != human.FileRead || list[0].Text != "make it\n" || list[1].State != human.FileAbsent {
		t.Errorf("%+v", list)
	}
}
