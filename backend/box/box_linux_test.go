package box

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// project is a working tree in a home of its own, where no other test's is.
func project(t *testing.T, files ...string) string {
	t.Helper()
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
