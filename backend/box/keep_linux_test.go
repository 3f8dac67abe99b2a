package box

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"deskbell/backend/human"
	"deskbell/backend/store/disk"
)

func TestWhatChangedMeanwhileIsAConflict(t *testing.T) {
	for name, meanwhile := range map[string]func(root string) error{
		"a changed file":      func(root string) error { return os.WriteFile(filepath.Join(root, "a"), []byte("mine"), 0o644) },
		"a deleted one":       func(root string) error { return os.Remove(filepath.Join(root, "a")) },
		"one that it deleted": func(root string) error { return os.WriteFile(filepath.Join(root, "gone/x"), []byte("mine"), 0o644) },
		"one that it added":   func(root string) error { return os.WriteFile(filepath.Join(root, "new"), []byte("mine"), 0o644) },
		"a file in a folder":  func(root string) error { return os.WriteFile(filepath.Join(root, "gone/y"), []byte("mine"), 0o644) },
		"a link in place of one": func(root string) error {
			return errors.Join(os.RemoveAll(filepath.Join(root, "sub")), os.Symlink("/tmp", filepath.Join(root, "sub")))
		},
		"a link in a file's place": func(root string) error {
			return errors.Join(os.Remove(filepath.Join(root, "a")), os.Symlink("/etc/passwd", filepath.Join(root, "a")))
		},
		"permissions": func(root string) error { return os.Chmod(filepath.Join(root, "a"), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			root := project(t, "a", "a", "b", "b", "gone/x", "x", "sub/s", "s")
			b := boxed(t, root, "echo 1 >> a; echo 1 >> b; rm -r gone; echo 1 > new; echo 1 > sub/t; chmod 700 sub/s")
			runs(t, b)
			c := changes(t, b)
			if err := meanwhile(root); err != nil {
				t.Fatal(err)
			}
			before := whole(t, root)
			if err := b.Keep(c); human.KindOf(err) != human.Conflict {
				t.Error(err)
			}
			if after := whole(t, root); after != before {
				t.Errorf("%s\nis now\n%s", before, after)
			}
		})
	}
}

// whole is all of a folder: types, permissions and contents.
func whole(t *testing.T, root string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := ""
		switch {
		case info.Mode().IsRegular():
			text = read(t, path)
		case info.Mode()&os.ModeSymlink != 0:
			text, _ = os.Readlink(path)
		}
		fmt.Fprintf(&all, "%s %s %q\n", info.Mode(), strings.TrimPrefix(path, root), text)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

func TestNoLinkLeadsOut(t *testing.T) {
	root := project(t, "sub/a", "a")
	victim := filepath.Join(os.Getenv("HOME"), "victim")
	write(t, filepath.Join(victim, "a"), "mine")
	b := boxed(t, root, fmt.Sprintf(`rm -r sub; ln -s %s sub; mkdir d; ln -s %s/a d/l; ln -s ../sub d/in`, victim, victim))
	runs(t, b)
	c := changes(t, b)
	if got := lines(c); !strings.Contains(got, "changed sub → "+victim+" !leads_out") || !strings.Contains(got, "added d/l → "+victim+"/a !leads_out") || strings.Contains(got, "d/in → ../sub !") {
		t.Error(got)
	}
	if err := b.Keep(c); err != nil {
		t.Fatal(err)
	}
	if got := read(t, filepath.Join(victim, "a")); got != "mine" {
		t.Error(got)
	}
	nothingStaged(t, root)
}

func TestWhatRunsByItselfIsWarnedOf(t *testing.T) {
	root := project(t, "a", "a")
	b := boxed(t, root, `mkdir .git/hooks .vscode; echo x > .git/hooks/pre-commit; echo x >> .git/config; echo x > .git/index; echo x > .vscode/tasks.json; mkdir bare; echo x > bare/HEAD; echo x > bare/config; echo x > config; cp a b; chmod 4755 b; mkfifo p`)
	runs(t, b)
	c := changes(t, b)
	const want = "changed .git/config !runs_by_itself\nadded .git/hooks !runs_by_itself\nadded .git/hooks/pre-commit !runs_by_itself\nadded .git/index\n" +
		"added .vscode\nadded .vscode/tasks.json !runs_by_itself\nadded b\nadded bare\nadded bare/HEAD\nadded bare/config !runs_by_itself\nadded config\nlost p"
	if got := lines(c); got != want {
		t.Error(got)
	}
	if err := b.Keep(c); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(root, "b")); err != nil || info.Mode() != 0o755 {
		t.Error(info.Mode(), err)
	}
}

func TestNothingWrittenIsNoChange(t *testing.T) {
	root := project(t, "a", "a")
	for _, args := range [][]string{{"init", "-q"}, {"add", "a"}, {"-c", "user.name=x", "-c", "user.email=x@x", "commit", "-qm", "x"}} {
		if out, err := exec.Command("git", append([]string{"-C", root}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	b := boxed(t, root, "git status --short; git log --oneline | wc -l; touch a; cat a > b; rm b; chmod 600 a; chmod 644 a")
	if e, said := runs(t, b); e.Code != 0 || said != "1\n" {
		t.Errorf("%+v %s", e, said)
	}
	if c := changes(t, b); len(c.Files)+len(c.Lost) > 0 {
		t.Error(lines(c))
	}
}

// keepAndDie keeps changes and is killed at a step, or runs until it is killed.
func keepAndDie(root string) {
	script := "touch begun; while :; do sleep 1; done"
	at := -1
	if n, err := fmt.Sscan(os.Getenv("DESKBELL_TEST_STEP"), &at); n == 1 && err == nil {
		script = changing
	}
	b, err := Open(context.Background(), Options{Command: []string{"sh", "-c", script}, Folder: root, Boxes: filepath.Join(os.Getenv("HOME"), ".cache", "deskbell", "boxes")})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	_, err = b.Run(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	done := 0
	between = func() {
		if done++; done > at {
			_ = unix.Kill(os.Getpid(), unix.SIGKILL)
			select {}
		}
	}
	if c, err := b.Changes(); err == nil {
		err = b.Keep(c)
		fmt.Fprintln(os.Stderr, "kept", err)
	}
}

const changing = "echo 1 >> a; echo 1 >> b; rm -r gone; mkdir -p n/m; echo 1 > n/m/x; ln -s a l; chmod 700 a; rm d; mkdir d; echo 1 > d/e; chmod 555 n"

// A kill at any step leaves the project as it was, or as it is kept.
func TestAKillLeavesItWhole(t *testing.T) {
	root := project(t, "a", "a", "b", "b", "gone/x", "x", "d", "d")
	before, after := whole(t, root), ""
	t.Cleanup(func() { _ = disk.RemoveAll(root) }) // with a folder that cannot be written
	for at := 0; after == ""; at++ {
		if at > 40 {
			t.Fatal("it never ends")
		}
		deskbell := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
		deskbell.Env = append(os.Environ(), "DESKBELL_TEST_BOX="+root, fmt.Sprintf("DESKBELL_TEST_STEP=%d", at))
		said, err := deskbell.CombinedOutput()
		if err == nil && strings.Contains(string(said), "kept <nil>") {
			after = whole(t, root)
			if at < 10 || after == before {
				t.Errorf("%d steps", at)
			}
			return
		}
		if s, ok := deskbell.ProcessState.Sys().(syscall.WaitStatus); !ok || s.Signal() != syscall.SIGKILL {
			t.Fatalf("%v %s", err, said)
		}
		b := boxed(t, root, "true")
		if now := whole(t, root); now != before {
			// The last kills are after all was done.
			if !strings.Contains(now, "/n/m/x") || strings.Contains(now, "/gone") || strings.Contains(now, stagePrefix) {
				t.Fatalf("after step %d:\n%s", at, now)
			}
			if at < 10 {
				t.Fatalf("all was done at step %d", at)
			}
			return
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		b.dir = ""
	}
}
