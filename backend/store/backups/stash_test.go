package backups

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"deskbell/backend/gate/service"
	"deskbell/backend/human"
)

var _ service.Files = (*Store)(nil)

// work is a working tree with changes of every kind.
func work(t testing.TB) string {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(top, "p")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	git(t, dir, "init", "-q", "-b", "main")
	for _, name := range []string{"kept.txt", "changed.txt", "staged.txt", "both.txt", "gone.txt", "run.sh", "sub/deep.txt"} {
		write(t, filepath.Join(dir, name), "first\n")
	}
	write(t, dir+"/.gitignore", "*.log\n")
	write(t, dir+"/.gitattributes", "*.txt text=auto\n")
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "-m", "first")
	write(t, dir+"/changed.txt", "second\r\nwith other ends\n\x00\xff")
	write(t, dir+"/staged.txt", "staged\n")
	write(t, dir+"/both.txt", "staged\n")
	git(t, dir, "add", "staged.txt", "both.txt")
	write(t, dir+"/both.txt", "and changed again\n")
	write(t, dir+"/new.txt", "never committed\r\n")
	write(t, dir+"/odd \"name\"\\ é\t.txt", "odd\n")
	write(t, dir+"/run.log", "ignored\n")
	if err := errors.Join(os.Remove(dir+"/gone.txt"), os.Chmod(dir+"/run.sh", 0o755), os.Symlink("kept.txt", dir+"/link")); err != nil {
		t.Skip(err)
	}
	return dir
}

func tracked(t testing.TB, dir string) string {
	return git(t, dir, "status", "--porcelain=v2", "--untracked-files=all") + git(t, dir, "diff", "--cached") + git(t, dir, "stash", "list")
}

func contents(t testing.TB, dir string) string {
	var b strings.Builder
	for _, name := range []string{"kept.txt", "changed.txt", "staged.txt", "both.txt", "gone.txt", "run.sh", "new.txt", "odd \"name\"\\ é\t.txt", "run.log"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		info, _ := os.Lstat(filepath.Join(dir, name))
		fmt.Fprintf(&b, "%s %q %v", name, data, err == nil)
		if info != nil {
			fmt.Fprintf(&b, " %v", info.Mode()&0o111 != 0)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestStashLeavesTheTreeAndHoldsAllOfIt(t *testing.T) {
	s, dir := store(t), work(t)
	before, was := tracked(t, dir), contents(t, dir)
	call, v := bash(dir, "git reset --hard && git clean -fd")
	b, err := s.Backup(t.Context(), call, v)
	if err != nil {
		t.Fatal(err)
	}
	if !b.Stash || b.Path != git(t, dir, "rev-parse", "stash@{0}") || b.Files != 7 {
		t.Errorf("%+v", b)
	}
	if got := contents(t, dir); got != was {
		t.Errorf("the tree changed:\n%s", got)
	}
	if got := tracked(t, dir); !strings.HasPrefix(got, before) {
		t.Errorf("what is staged changed:\n%s\n%s", before, got)
	}
	git(t, dir, "reset", "-q", "--hard")
	git(t, dir, "clean", "-fdq")
	if contents(t, dir) == was {
		t.Fatal("nothing was lost")
	}
	git(t, dir, "stash", "apply", "-q", "--index", b.Path)
	if got := contents(t, dir); got != was {
		t.Errorf("not what it was:\n%s\n%s", was, got)
	}
	if to, err := os.Readlink(dir + "/link"); err != nil || to != "kept.txt" {
		t.Errorf("%q %v", to, err)
	}
	if got := git(t, dir, "show", ":both.txt"); got != "staged" {
		t.Errorf("staged: %q", got)
	}
}

func TestWhatAStashCannotHoldIsCopied(t *testing.T) {
	s, dir := store(t), work(t)
	was := contents(t, dir)
	call, v := bash(dir, "git clean -fdx; rm -r sub")
	b, err := s.Backup(t.Context(), call, v)
	if err != nil {
		t.Fatal(err)
	}
	m, err := ReadManifest(b.Path)
	if err != nil || b.Stash || m.Index == "" {
		t.Fatalf("%+v %+v %v", b, m, err)
	}
	if got := git(t, dir, "show", m.Index+":both.txt"); got != "staged" {
		t.Errorf("staged: %q", got)
	}
	for _, i := range m.Items {
		if !i.Mode.IsDir() {
			if err := os.Remove(i.Path); err != nil {
				t.Error(err)
			}
		}
	}
	git(t, dir, "clean", "-fdxq")
	if _, err := s.Restore(t.Context(), b.ID); err != nil {
		t.Fatal(err)
	}
	if got := contents(t, dir); got != was {
		t.Errorf("not what it was:\n%s\n%s", was, got)
	}
	if git(t, dir, "stash", "list") != "" {
		t.Error("a stash was made")
	}
}

func TestStashesAreKept(t *testing.T) {
	s, dir := store(t), work(t)
	git(t, dir, "stash", "push", "-q")
	commit := git(t, dir, "rev-parse", "stash@{0}")
	call, v := bash(dir, "git stash clear")
	b, err := s.Backup(t.Context(), call, v)
	if err != nil {
		t.Fatal(err)
	}
	git(t, dir, "stash", "clear")
	if !b.Stash || git(t, dir, "rev-parse", b.Path) != commit {
		t.Errorf("%+v", b)
	}
}

func TestTheWorkingTreeIsTheOneOfTheCommand(t *testing.T) {
	dir := work(t)
	top := filepath.Dir(dir)
	for command, want := range map[string]bool{
		"cd p && git reset --hard": true, "git -C p reset --hard": true, "git -C " + dir + "/sub checkout -- .": true,
		"git reset --hard": false, "cd $X && git reset --hard": false, "GIT_DIR=p/.git git reset --hard": false,
		"git --git-dir=p/.git reset --hard": false, "git -C p worktree remove --force x": false,
	} {
		s := store(t)
		call, v := bash(top, command)
		b, err := s.Backup(t.Context(), call, v)
		if (err == nil) != want || want && !b.Stash {
			t.Errorf("%s: %+v %v", command, b, err)
		}
	}
	git(t, dir, "stash", "clear")
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "-m", "all")
	call, v := bash(dir, "git reset --hard")
	if b, err := store(t).Backup(t.Context(), call, v); err != nil || b.Files != 0 {
		t.Errorf("nothing to lose: %+v %v", b, err)
	}
}

// What the repository's settings name does not run while a stash is made.
func TestAStashRunsNothing(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the program that leaves a mark is a shell script")
	}
	s, dir := store(t), work(t)
	mark, trap := filepath.Join(filepath.Dir(dir), "mark"), filepath.Join(filepath.Dir(dir), "trap")
	write(t, trap, "#!/bin/sh\necho >> '"+mark+"'\ncat\n")
	for _, hook := range []string{"reference-transaction", "post-index-change", "post-commit", "pre-commit"} {
		write(t, filepath.Join(dir, ".git/hooks", hook), "#!/bin/sh\necho >> '"+mark+"'\n")
		if err := os.Chmod(filepath.Join(dir, ".git/hooks", hook), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(trap, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"core.fsmonitor", "filter.evil.clean", "filter.evil.smudge", "diff.external", "diff.evil.textconv", "core.pager", "gpg.program", "core.editor"} {
		git(t, dir, "config", key, trap)
	}
	git(t, dir, "config", "commit.gpgSign", "true")
	write(t, dir+"/.git/info/attributes", "* filter=evil diff=evil\n")
	_ = os.Remove(mark)
	call, v := bash(dir, "git reset --hard")
	b, err := s.Backup(t.Context(), call, v)
	if err != nil || !b.Stash {
		t.Fatalf("%+v %v", b, err)
	}
	if _, err := s.Difference(t.Context(), call, v); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(mark); err == nil {
		t.Error("something ran")
	}
}

func TestAMergeIsSaid(t *testing.T) {
	dir := work(t)
	git(t, dir, "checkout", "-q", "-f", "main")
	git(t, dir, "clean", "-fdxq")
	git(t, dir, "checkout", "-q", "-b", "side")
	write(t, dir+"/kept.txt", "side\n")
	git(t, dir, "commit", "-qam", "side")
	git(t, dir, "checkout", "-q", "main")
	write(t, dir+"/kept.txt", "main\n")
	git(t, dir, "commit", "-qam", "main")
	func() {
		defer func() { _ = recover() }()
		git(&quiet{TB: t}, dir, "merge", "side")
	}()
	call, v := bash(dir, "git reset --hard")
	if b, err := store(t).Backup(t.Context(), call, v); err == nil || !strings.Contains(human.SafeText(err), "merge") {
		t.Errorf("%+v %v", b, err)
	}
}

// quiet is a test whose failing command is what is wanted.
type quiet struct{ testing.TB }

func (*quiet) Helper()               {}
func (*quiet) Fatalf(string, ...any) { panic("failed") }
