package tools_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"deskbell/backend/agent"
	"deskbell/backend/agent/tools"
)

// files are the tools for files of a folder, by name.
func files(t *testing.T, dir string) map[string]agent.Tool {
	t.Helper()
	list, err := tools.Files(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]agent.Tool{}
	for _, each := range list {
		out[each.Spec().Name] = each
	}
	return out
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	tool := files(t, dir)
	put(t, filepath.Join(dir, "a.txt"), "one\ntwo\nthree\n")
	put(t, filepath.Join(dir, "deep", "er", "b.go"), "package b\n\nfunc B() {}\n")
	put(t, filepath.Join(dir, ".git", "HEAD"), "ref: two\n")
	put(t, filepath.Join(dir, "picture"), "\x89PNG\r\n\x1a\n\x00\x00")
	put(t, filepath.Join(dir, "windows.txt"), "one\r\ntwo\r\n")
	put(t, filepath.Join(dir, "empty"), "")
	put(t, filepath.Join(dir, "long"), strings.Repeat("x", 100<<10)+"\nend\n")
	put(t, filepath.Join(dir, "many"), strings.Repeat("line\n", 5000))
	for _, tt := range []struct {
		name   string
		tool   string
		args   any
		says   []string
		not    string
		failed bool
	}{
		{"a file", "read_file", with{"path": "a.txt"}, []string{"one\ntwo\nthree\n"}, "[lines", false},
		{"by its whole path", "read_file", with{"path": filepath.Join(dir, "a.txt")}, []string{"one\ntwo"}, "", false},
		{"some lines", "read_file", with{"path": "a.txt", "from_line": 2, "lines": 1}, []string{"two\n[lines 2 to 2 of 3]"}, "one", false},
		{"many lines", "read_file", with{"path": "many"}, []string{"[lines 1 to 2000 of 5000]"}, "", false},
		{"a long line", "read_file", with{"path": "long"}, []string{"left out", "[line 1 of 2]"}, "", false},
		{"after the end", "read_file", with{"path": "a.txt", "from_line": 9}, []string{"has 3 lines"}, "", true},
		{"nothing", "read_file", with{"path": "empty"}, []string{"empty"}, "", false},
		{"no text", "read_file", with{"path": "picture"}, []string{"no text", "image/png"}, "", true},
		{"a folder", "read_file", with{"path": "deep"}, []string{"is a folder"}, "", true},
		{"what is not there", "read_file", with{"path": "none"}, []string{"cannot be read"}, "", true},
		{"by ..", "read_file", with{"path": "../x"}, []string{"not in the working folder"}, "", true},
		{"by .. in the middle", "read_file", with{"path": "deep/../../x"}, []string{"not in the working folder"}, "", true},
		{"elsewhere", "read_file", with{"path": filepath.Dir(dir)}, []string{"not in the working folder"}, "", true},
		{"at home", "read_file", with{"path": "~/.ssh/id"}, []string{"no path"}, "", true},
		{"as an address", "read_file", with{"path": "file:///etc/passwd"}, []string{"no path"}, "", true},

		{"a list", "list_files", with{}, []string{"a.txt (14 bytes)", "deep/\n", "deep/er/\n"}, "b.go", false},
		{"a deeper list", "list_files", with{"depth": 3}, []string{"deep/er/b.go"}, "HEAD", false},
		{"of a folder", "list_files", with{"path": "deep"}, []string{"deep/er/", "deep/er/b.go"}, "a.txt", false},
		{"of a file", "list_files", with{"path": "a.txt"}, []string{"no folder"}, "", true},
		{"of nothing", "list_files", with{"path": "none"}, []string{"cannot be read"}, "", true},

		{"a search", "search_files", with{"pattern": "t[wh]"}, []string{"a.txt:2:two", "a.txt:3:three", "windows.txt:2:two"}, ".git", false},
		{"of some files", "search_files", with{"pattern": "func", "glob": "*.go"}, []string{"deep/er/b.go:3:func B() {}"}, "", false},
		{"of nothing", "search_files", with{"pattern": "nowhere at all"}, []string{"no line fits"}, "", false},
		{"with too much", "search_files", with{"pattern": "line"}, []string{"there may be more"}, "", false},
		{"by no pattern", "search_files", with{"pattern": "("}, []string{"no regular expression"}, "", true},
		{"outside", "search_files", with{"pattern": "x", "path": ".."}, []string{"not in the working folder"}, "", true},

		{"an edit", "edit_file", with{"path": "a.txt", "old_text": "two\n", "new_text": "2\n"}, []string{"changed at line 2"}, "", false},
		{"of what is not there", "edit_file", with{"path": "a.txt", "old_text": "two\n", "new_text": "2"}, []string{"is not in a.txt"}, "", true},
		{"of what is there often", "edit_file", with{"path": "a.txt", "old_text": "e", "new_text": "E"}, []string{"3 times"}, "", true},
		{"of all", "edit_file", with{"path": "a.txt", "old_text": "e", "new_text": "E", "replace_all": true}, []string{"3 of 3"}, "", false},
		{"with the lines of Windows", "edit_file", with{"path": "windows.txt", "old_text": "one\ntwo", "new_text": "1\n2"}, []string{"changed"}, "", false},
		{"a new file", "write_file", with{"path": "new/er/c.txt", "content": "c"}, []string{"written, 1 bytes"}, "", false},
		{"in the place of one", "write_file", with{"path": "empty", "content": "full"}, []string{"written over"}, "", false},
		{"in the place of a folder", "write_file", with{"path": "deep", "content": "x"}, []string{"no ordinary file"}, "", true},
		{"without content", "write_file", with{"path": "d.txt"}, []string{"missing"}, "", true},
		{"the folder itself", "write_file", with{"path": ".", "content": "x"}, []string{"no ordinary file"}, "", true},
		{"too much", "write_file", with{"path": "d.txt", "content": strings.Repeat("x", 5<<20)}, []string{"at the most"}, "", true},
	} {
		t.Run(tt.tool+" "+tt.name, func(t *testing.T) {
			out := call(t, tool[tt.tool], tt.args)
			if out.Failed != tt.failed {
				t.Errorf("failed is %v: %s", out.Failed, out.Text)
			}
			for _, part := range tt.says {
				if !strings.Contains(out.Text, part) {
					t.Errorf("it does not say %q: %q", part, out.Text)
				}
			}
			if tt.not != "" && strings.Contains(out.Text, tt.not) {
				t.Errorf("it says %q: %q", tt.not, out.Text)
			}
			if len(out.Text) > 34<<10 {
				t.Errorf("%d bytes", len(out.Text))
			}
		})
	}
	for path, want := range map[string]string{"a.txt": "onE\n2\nthrEE\n", "windows.txt": "1\r\n2\r\n", "new/er/c.txt": "c", "empty": "full"} {
		if got := get(t, filepath.Join(dir, path)); got != want {
			t.Errorf("%s has %q", path, got)
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, ".deskbell-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left over: %v, %v", left, err)
	}
}

func TestFilesKeepTheirModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes are not of Windows")
	}
	dir := t.TempDir()
	put(t, filepath.Join(dir, "run.sh"), "echo one\n")
	if err := os.Chmod(filepath.Join(dir, "run.sh"), 0o775); err != nil {
		t.Fatal(err)
	}
	tool := files(t, dir)
	call(t, tool["edit_file"], with{"path": "run.sh", "old_text": "one", "new_text": "two"})
	call(t, tool["write_file"], with{"path": "run.sh", "content": "echo three\n"})
	if info, err := os.Stat(filepath.Join(dir, "run.sh")); err != nil || info.Mode().Perm() != 0o775 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func TestLinksThatLeaveTheFolder(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	put(t, filepath.Join(outside, "secret"), "secret\n")
	put(t, filepath.Join(dir, "inside", "a.txt"), "inside\n")
	for link, target := range map[string]string{
		"folder": outside, "file": filepath.Join(outside, "secret"), "none": filepath.Join(outside, "new"), "up": "..",
		"within": "inside", "whole": filepath.Join(dir, "inside", "a.txt"),
	} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
	}
	tool := files(t, dir)
	up := filepath.Join("up", filepath.Base(outside), "secret")
	for _, path := range []string{"folder/secret", "file", "none", up, "folder/new", "folder"} {
		for name, args := range map[string]with{
			"read_file":    {"path": path},
			"write_file":   {"path": path, "content": "changed"},
			"edit_file":    {"path": path, "old_text": "secret", "new_text": "changed"},
			"list_files":   {"path": path},
			"search_files": {"path": path, "pattern": "secret"},
		} {
			if out := call(t, tool[name], args); !out.Failed || strings.Contains(out.Text, "secret\n") {
				t.Errorf("%s %s: %+v", name, path, out)
			}
		}
	}
	if out := call(t, tool["search_files"], with{"pattern": "secret"}); !strings.Contains(out.Text, "no line fits") {
		t.Errorf("a search found %q", out.Text)
	}
	if got := get(t, filepath.Join(outside, "secret")); got != "secret\n" {
		t.Errorf("the file outside has %q", got)
	}
	if _, err := os.Lstat(filepath.Join(outside, "new")); err == nil {
		t.Error("a file was made outside")
	}
	// Those that stay inside are as good as the files themselves, and stay links.
	if out := call(t, tool["read_file"], with{"path": "within/a.txt"}); out.Text != "inside\n" {
		t.Errorf("%+v", out)
	}
	if out := call(t, tool["edit_file"], with{"path": "whole", "old_text": "inside", "new_text": "changed"}); out.Failed {
		t.Errorf("%+v", out)
	}
	if info, err := os.Lstat(filepath.Join(dir, "whole")); err != nil || info.Mode()&os.ModeSymlink == 0 || get(t, filepath.Join(dir, "inside", "a.txt")) != "changed\n" {
		t.Errorf("%v, %v", info, err)
	}
}

// A write of a file is whole or not at all, for whoever reads it meanwhile.
func TestAWriteIsWhole(t *testing.T) {
	dir := t.TempDir()
	tool := files(t, dir)
	a, b := strings.Repeat("a", 1<<20), strings.Repeat("b", 1<<20)
	put(t, filepath.Join(dir, "f"), a)
	ctx, stop := context.WithCancel(t.Context())
	read := make(chan error, 1)
	go func() {
		for ctx.Err() == nil {
			text, err := os.ReadFile(filepath.Join(dir, "f"))
			if err == nil && string(text) != a && string(text) != b {
				err = fmt.Errorf("%d bytes, %.10q", len(text), text)
			}
			if err != nil && runtime.GOOS != "windows" {
				read <- err
				return
			}
		}
		read <- nil
	}()
	for i := range 40 {
		if out := call(t, tool["write_file"], with{"path": "f", "content": []string{b, a}[i%2]}); out.Failed {
			t.Fatal(out.Text)
		}
	}
	stop()
	if err := <-read; err != nil {
		t.Error(err)
	}
}

func TestASearchIsGivenUp(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "a"), "x\n")
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := files(t, dir)["search_files"].Run(ctx, object(t, with{"pattern": "x"})); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
