package box

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/platform/confine"
)

// project is a working tree in a home of its own, where no other test's is.
func project(t *testing.T, files ...string) string {
	t.Helper()
	if err := confine.UserNamespaces(); err != nil {
		t.Skip("nothing can be boxed on this machine:", err)
	}
	if err := Available(); err != nil {
		t.Fatalf("%v: build/scripts/setup test", err)
	}
	home := t.TempDir()
	t.Setenv("HOME", home)
	root := filepath.Join(home, "work", "project")
	write(t, filepath.Join(root, ".git", "HEAD"), "ref: refs/heads/main\n")
	write(t, filepath.Join(root, ".git", "config"), "[core]\n")
	for i := 0; i < len(files); i += 2 {
		write(t, filepath.Join(root, files[i]), files[i+1])
	}
	return root
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Error(err)
	}
	return string(text)
}

// boxed opens a box for a command of a shell, which is closed at the end.
func boxed(t *testing.T, root, script string, set ...func(*Options)) *Box {
	t.Helper()
	o := Options{Command: []string{"sh", "-c", script}, Folder: root, Boxes: filepath.Join(os.Getenv("HOME"), ".cache", "deskbell", "boxes")}
	for _, s := range set {
		s(&o)
	}
	b, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// runs runs a box, and returns all that the command said.
func runs(t *testing.T, b *Box) (Ending, string) {
	t.Helper()
	var said bytes.Buffer
	b.options.Out, b.options.Errs = &said, &said
	e, err := b.Run(t.Context())
	if err != nil {
		t.Fatalf("%v\n%s", err, said.String())
	}
	return e, said.String()
}

func changes(t *testing.T, b *Box) Changes {
	t.Helper()
	c, err := b.Changes()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// lines are the changes, each in a line.
func lines(c Changes) string {
	var all []string
	for _, f := range c.Files {
		line := f.String()
		if f.Warning != "" {
			line += " !" + string(f.Warning)
		}
		all = append(all, line)
	}
	for _, l := range c.Lost {
		all = append(all, "lost "+l)
	}
	return strings.Join(all, "\n")
}

func TestACommandRunsOnACopy(t *testing.T) {
	root := project(t, "a.txt", "one\n", "b/c.txt", "two\n", "gone.txt", "x", "run.sh", "#!/bin/sh\n", "old/deep/x", "y", "same.txt", "same")
	b := boxed(t, root, `set -e; pwd; echo more >> a.txt; rm gone.txt; rm -r old; chmod 755 run.sh; mkdir new; echo three > new/d.txt; ln -s d.txt new/link; touch same.txt; echo out; exit 7`)
	e, said := runs(t, b)
	if e.Code != 7 || said != root+"\nout\n" {
		t.Errorf("%+v %q", e, said)
	}
	c := changes(t, b)
	const want = "changed a.txt\ndeleted gone.txt\nadded new\nadded new/d.txt\nadded new/link → d.txt\ndeleted old\ndeleted old/deep\ndeleted old/deep/x\nmode run.sh"
	if got := lines(c); got != want {
		t.Errorf("%s\nnot\n%s", got, want)
	}
	if d := b.Diff(c.Files[0]); !strings.Contains(d, "--- a/a.txt\n+++ b/a.txt\n") || !strings.Contains(d, "\n+more\n") {
		t.Error(d)
	}
	if got := read(t, filepath.Join(root, "a.txt")); got != "one\n" {
		t.Errorf("before it was kept: %q", got)
	}
	if err := b.Keep(c); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{"a.txt": "one\nmore\n", "b/c.txt": "two\n", "new/d.txt": "three\n", "new/link": "three\n", "same.txt": "same"} {
		if got := read(t, filepath.Join(root, path)); got != text {
			t.Errorf("%s: %q", path, got)
		}
	}
	for _, path := range []string{"gone.txt", "old"} {
		if _, err := os.Lstat(filepath.Join(root, path)); err == nil {
			t.Errorf("%s is there", path)
		}
	}
	if info, err := os.Stat(filepath.Join(root, "run.sh")); err != nil || info.Mode().Perm() != 0o755 {
		t.Error(info, err)
	}
	nothingStaged(t, root)
}

func nothingStaged(t *testing.T, root string) {
	t.Helper()
	if left, _ := filepath.Glob(filepath.Join(root, stagePrefix+"*")); len(left) > 0 {
		t.Error(left)
	}
}

func TestWithoutABoxNothingRuns(t *testing.T) {
	root := project(t)
	before := program
	t.Cleanup(func() { program = before })
	broken := filepath.Join(t.TempDir(), "bwrap")
	if err := os.WriteFile(broken, []byte("#!/bin/sh\necho no namespaces here >&2; exit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for path, says := range map[string]string{"": "install it", broken: "no namespaces here"} {
		program = func() string { return path }
		_, err := Open(t.Context(), Options{Command: []string{"touch", filepath.Join(root, "ran")}, Folder: root, Boxes: t.TempDir()})
		if human.KindOf(err) != human.Unavailable || !strings.Contains(human.SafeText(err), says) || strings.Contains(human.SafeText(err), "\n") {
			t.Errorf("%q: %v", path, err)
		}
	}
	// It breaks between the look and the run.
	program = before
	b := boxed(t, root, "touch ran")
	program = func() string { return broken }
	if e, err := b.Run(t.Context()); err == nil {
		t.Errorf("%+v", e)
	}
	if _, err := os.Lstat(filepath.Join(b.tree(), "ran")); err == nil {
		t.Error("it ran")
	}
}

func TestWhatIsNoProjectIsNotCopied(t *testing.T) {
	root := project(t, "big", strings.Repeat("x", 2000))
	home := os.Getenv("HOME")
	for _, folder := range []string{"/", "/etc", "/tmp", "/usr/bin", home, filepath.Dir(home)} {
		if _, err := Open(t.Context(), Options{Command: []string{"true"}, Folder: folder, Boxes: filepath.Join(home, ".cache", "boxes")}); human.KindOf(err) != human.Invalid {
			t.Errorf("%s: %v", folder, err)
		}
	}
	if _, err := Open(t.Context(), Options{Command: []string{"true"}, Folder: root, Boxes: filepath.Join(root, "boxes")}); human.KindOf(err) != human.Invalid {
		t.Error(err)
	}
	boxes := filepath.Join(home, ".cache", "boxes")
	if _, err := Open(t.Context(), Options{Command: []string{"true"}, Folder: root, Boxes: boxes, Limits: Limits{Copy: 1000}}); human.KindOf(err) != human.Exhausted {
		t.Error(err)
	}
	if left, _ := filepath.Glob(filepath.Join(boxes, "box-*")); len(left) > 0 {
		t.Error(left)
	}
	if info, err := os.Stat(boxes); err != nil || info.Mode().Perm() != 0o700 {
		t.Error(info, err)
	}
}

func TestAStoppedRunEnds(t *testing.T) {
	root := project(t)
	b := boxed(t, root, "trap '' TERM INT HUP; touch begun; while :; do sleep 1; done")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Lstat(filepath.Join(b.tree(), "begun")); err == nil {
				stop()
			}
			runtime.Gosched()
		}
	}()
	if e, err := b.Run(ctx); err != nil || e.Code != interrupt || e.Reason == "" {
		t.Errorf("%+v %v", e, err)
	}
	nothingLeft(t, b)
}

// A working tree beside its repository has the repository, which cannot be written.
func TestAWorktreeHasItsRepository(t *testing.T) {
	root := project(t, "a", "a")
	beside := filepath.Join(filepath.Dir(root), "beside")
	for _, args := range [][]string{{"init", "-q"}, {"add", "a"}, {"-c", "user.name=x", "-c", "user.email=x@x", "commit", "-qm", "first"}, {"worktree", "add", "-q", beside}} {
		if out, err := exec.Command("git", append([]string{"-C", root}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	b := boxed(t, beside, "git log --format=%s; git branch new 2> /dev/null || echo kept; ls "+root)
	if e, said := runs(t, b); e.Code != 0 || said != "first\nkept\n" {
		t.Errorf("%+v %q", e, said)
	}
	// A file that names the repository of others shows nothing of it.
	other := filepath.Join(filepath.Dir(root), "other")
	write(t, filepath.Join(other, ".git"), "gitdir: "+filepath.Join(root, ".git", "worktrees", "beside")+"\n")
	b = boxed(t, other, "git log --format=%s 2> /dev/null || echo kept")
	if _, said := runs(t, b); said != "kept\n" {
		t.Errorf("%q", said)
	}
}

func TestWhatTakesItsPermissionsAwayIsRead(t *testing.T) {
	root := project(t, "a", "a", "d/x", "x")
	b := boxed(t, root, "echo 1 >> a; chmod 0 a; echo 1 > d/y; chmod 0 d")
	runs(t, b)
	c := changes(t, b)
	if got := lines(c); got != "changed a\nmode d\nadded d/y" {
		t.Error(got)
	}
	if d := b.Diff(c.Files[0]); !strings.Contains(d, "+1") && !strings.Contains(d, "a1") {
		t.Error(d)
	}
	if err := b.Keep(c); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(root, "d")); err != nil || info.Mode().Perm() != 0 {
		t.Error(info, err)
	}
	if err := os.Chmod(filepath.Join(root, "d"), 0o700); err != nil {
		t.Error(err)
	}
}
