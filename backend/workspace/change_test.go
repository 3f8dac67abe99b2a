package workspace

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/kind"
)

func change(t *testing.T, g kind.GitChange) human.CodeChange {
	t.Helper()
	c, err := Changes{}.Change(context.Background(), g)
	if err != nil {
		t.Fatalf("%+v: %v", g, err)
	}
	return c
}

// changed is a repository with a commit on main, one on the branch work, something staged and something not.
func changed(t *testing.T) string {
	t.Helper()
	top := filepath.Join(home(t), "re po")
	write(t, filepath.Join(top, "a.txt"), "one\ntwo\nthree\n")
	write(t, filepath.Join(top, ".gitignore"), "*.log\n")
	git(t, top, "init", "-q", "-b", "main")
	git(t, top, "add", ".")
	git(t, top, "commit", "-qm", "first")
	git(t, top, "tag", "v1")
	git(t, top, "checkout", "-qb", "work")
	write(t, filepath.Join(top, "a.txt"), "one\n2\nthree\n")
	git(t, top, "commit", "-qam", "second")
	git(t, top, "checkout", "-q", "main")
	write(t, filepath.Join(top, "b.txt"), "on main\n")
	git(t, top, "add", "b.txt")
	git(t, top, "commit", "-qm", "third")
	git(t, top, "checkout", "-q", "work")
	write(t, filepath.Join(top, "staged.txt"), "staged\n")
	git(t, top, "add", "staged.txt")
	write(t, filepath.Join(top, "a.txt"), "one\n2\n3\n")
	write(t, filepath.Join(top, "sub", "né w.txt"), "new\n")
	write(t, filepath.Join(top, "x.log"), "ignored\n")
	return top
}

func TestChangesAreReadInEveryWay(t *testing.T) {
	top := changed(t)
	for name, tt := range map[string]struct {
		g        kind.GitChange
		has, not []string
	}{
		"two names":            {kind.GitChange{Base: "main", Head: "work"}, []string{"-two", "+2", "deleted file"}, []string{"+3", "staged"}},
		"since they parted":    {kind.GitChange{Base: "main", Head: ".work"}, []string{"-two", "+2"}, []string{"b.txt"}},
		"a tag and a way back": {kind.GitChange{Base: "v1", Head: "HEAD~1^0"}, nil, []string{"diff"}},
		"up to the files":      {kind.GitChange{Base: "HEAD"}, []string{"+3", "b/staged.txt", `b/sub/né w.txt`, "+new"}, []string{"x.log"}},
		"staged":               {kind.GitChange{Staged: true}, []string{"+staged"}, []string{"a.txt"}},
		"working tree":         {kind.GitChange{Worktree: true}, []string{"+3", "+staged", "+new"}, []string{"x.log", "-two"}},
	} {
		t.Run(name, func(t *testing.T) {
			tt.g.Folder = filepath.Join(top, "sub")
			before := git(t, top, "status", "--porcelain")
			got := change(t, tt.g)
			for _, text := range tt.has {
				if !strings.Contains(got.Diff, text) {
					t.Errorf("lacks %q:\n%s", text, got.Diff)
				}
			}
			for _, text := range tt.not {
				if strings.Contains(got.Diff, text) {
					t.Errorf("has %q:\n%s", text, got.Diff)
				}
			}
			if after := git(t, top, "status", "--porcelain"); after != before {
				t.Errorf("the index was changed: %q, was %q", after, before)
			}
		})
	}
}

func TestARepositoryWithoutACommitIsAllNew(t *testing.T) {
	top := filepath.Join(home(t), "empty")
	write(t, filepath.Join(top, "a.txt"), "one\n")
	git(t, top, "init", "-q")
	if got := change(t, kind.GitChange{Folder: top, Worktree: true}); got.Base != "" || !strings.Contains(got.Diff, "+one") {
		t.Errorf("got %+v", got)
	}
}

func TestTheTextBeforeIsReadByItsID(t *testing.T) {
	top := changed(t)
	id := git(t, top, "rev-parse", "main:a.txt")
	if text, err := (Changes{}).Blob(context.Background(), top, id); err != nil || text != "one\ntwo\nthree\n" {
		t.Errorf("got %q, %v", text, err)
	}
	for _, id := range []string{"", "HEAD", "--batch", id[:12], git(t, top, "rev-parse", "main")} {
		if text, err := (Changes{}).Blob(context.Background(), top, id); err == nil {
			t.Errorf("%q gives %q", id, text)
		}
	}
}

func TestWhatIsNoCommitIsRefused(t *testing.T) {
	top := changed(t)
	for _, name := range []string{"-p", "--output=/tmp/x", "--ext-diff", "nope", "HEAD:a.txt", "a b", "main..work", "../../etc/passwd", "refs/../config", "HEAD@{1}", ":/first", "^main", "HEAD^{tree}", "deadbeef", "x\x00y"} {
		for _, g := range []kind.GitChange{{Folder: top, Base: name}, {Folder: top, Base: "main", Head: name}} {
			_, err := Changes{}.Change(context.Background(), g)
			if e := new(human.Error); !errors.As(err, &e) || e.Kind != human.Invalid || !strings.HasPrefix(e.Field, "details.git.") {
				t.Errorf("%q: %v", name, err)
			}
		}
	}
	if _, err := (Changes{}).Change(context.Background(), kind.GitChange{Folder: t.TempDir(), Worktree: true}); human.KindOf(err) != human.Invalid {
		t.Errorf("a folder without a repository: %v", err)
	}
}

// A repository whose every setting that names a program names one that leaves a trace.
func TestAHostileRepositoryRunsNothing(t *testing.T) {
	top := changed(t)
	trace := filepath.Join(filepath.Dir(top), "ran")
	program := filepath.Join(filepath.Dir(top), "evil")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho \"$0 $*\" >>'"+trace+"'\ncat\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	sub := filepath.Join(filepath.Dir(top), "other")
	write(t, filepath.Join(sub, "in.txt"), "in\n")
	git(t, sub, "init", "-q")
	git(t, sub, "add", ".")
	git(t, sub, "commit", "-qm", "sub")
	git(t, top, "-c", "protocol.file.allow=always", "submodule", "add", "-q", sub, "module")
	write(t, filepath.Join(top, ".gitattributes"), "* diff=evil filter=evil merge=evil\n")
	settings := `
[core]
	fsmonitor = ` + program + `
	pager = ` + program + `
	editor = ` + program + `
	sshCommand = ` + program + `
	hooksPath = ` + filepath.Dir(program) + `
	attributesFile = ` + filepath.Join(top, ".gitattributes") + `
	alternateRefsCommand = ` + program + `
[pager]
	diff = ` + program + `
[diff]
	external = ` + program + `
[diff "evil"]
	textconv = ` + program + `
	command = ` + program + `
	trustExitCode = true
[filter "evil"]
	clean = ` + program + `
	smudge = ` + program + `
	process = ` + program + `
	required = true
[alias]
	diff = !` + program + `
[include]
	path = ` + filepath.Join(filepath.Dir(top), "more") + `
[remote "origin"]
	url = ext::` + program + `
	promisor = true
[extensions]
	partialClone = origin
`
	write(t, filepath.Join(filepath.Dir(top), "more"), "[diff]\n\texternal = "+program+"\n")
	for _, config := range []string{filepath.Join(top, ".git", "config"), filepath.Join(top, ".git", "modules", "module", "config")} {
		f, err := os.OpenFile(config, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(settings); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for _, hook := range []string{"post-index-change", "pre-commit", "reference-transaction"} {
		write(t, filepath.Join(top, ".git", "hooks", hook), "#!/bin/sh\necho hook >>'"+trace+"'\n")
		if err := os.Chmod(filepath.Join(top, ".git", "hooks", hook), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, value := range map[string]string{"GIT_EXTERNAL_DIFF": program, "GIT_PAGER": program, "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "diff.external", "GIT_CONFIG_VALUE_0": program, "GIT_DIR": "/nowhere"} {
		t.Setenv(name, value)
	}
	write(t, filepath.Join(top, "module", "in.txt"), "changed\n")
	for _, g := range []kind.GitChange{{Worktree: true}, {Staged: true}, {Base: "main"}, {Base: "main", Head: "work"}, {Base: "main", Head: ".work"}} {
		g.Folder = top
		if got := change(t, g); got.Diff == "" {
			t.Errorf("%+v: nothing was read", g)
		}
	}
	if ran, err := os.ReadFile(trace); err == nil {
		t.Fatalf("it ran:\n%s", ran)
	}
	// The trap works: git by itself falls into it.
	cmd := exec.Command("git", "-C", top, "diff", "HEAD")
	cmd.Env = append(os.Environ(), "GIT_DIR="+filepath.Join(top, ".git"), "GIT_WORK_TREE="+top)
	out, _ := cmd.CombinedOutput() // it fails, or not: what counts is what it ran
	if _, err := os.Stat(trace); err != nil {
		t.Errorf("not even git by itself runs what the repository names: %s", out)
	}
}

// What is read can be applied to the text before, and gives the files.
func TestRandomChangesCanBeApplied(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	names := []string{"plain.txt", "with space.txt", "ünï.txt", "tab\t.txt", `quo"te.txt`, "-dash.txt", "dir/deep.txt"}
	body := func() string {
		var b strings.Builder
		end := []string{"\n", "\r\n"}[rnd.IntN(2)]
		for i := range rnd.IntN(40) {
			fmt.Fprintf(&b, "%s%d%s", []string{"line ", "-- ", "++ ", "@@ -1 +1 @@ ", "diff --git a/x b/x ", "\\ No newline ", ""}[rnd.IntN(7)], i%9, end)
		}
		return strings.TrimSuffix(b.String(), []string{"", "\n"}[rnd.IntN(2)])
	}
	for range 12 {
		top := filepath.Join(home(t), "r")
		for _, name := range names[:4] {
			write(t, filepath.Join(top, name), body())
		}
		git(t, top, "init", "-q")
		git(t, top, "add", ".")
		git(t, top, "commit", "-qm", "before")
		for _, name := range names {
			switch rnd.IntN(4) {
			case 0:
				if err := os.Remove(filepath.Join(top, name)); err != nil && !os.IsNotExist(err) {
					t.Fatal(err)
				}
			default:
				write(t, filepath.Join(top, name), body())
			}
		}
		got := change(t, kind.GitChange{Folder: top, Worktree: true})
		patch := filepath.Join(t.TempDir(), "patch")
		write(t, patch, got.Diff)
		clone := filepath.Join(t.TempDir(), "clone")
		git(t, filepath.Dir(top), "clone", "-q", top, clone)
		if got.Diff != "" {
			git(t, clone, "apply", "--whitespace=nowarn", patch)
		}
		out, err := exec.Command("diff", "-r", "--exclude=.git", top, clone).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s\n%s", err, out, got.Diff)
		}
	}
}
