package mirror_test

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/store/mirror"
)

func written(t *testing.T) (string, mirror.Content) {
	t.Helper()
	dir := t.TempDir()
	c := mirror.Content{
		Rules: []human.GateRule{{ID: "gr_1", Decision: human.Deny, Command: "git push **"}}, Keys: map[string]string{mirror.Hash("dbk_x"): "claude"},
		Tools: map[string][]string{mirror.ToolName("claude", "mcp__a__b"): {mirror.Hash("{}")}},
	}
	for range 2 {
		if err := mirror.Write(dir, c); err != nil {
			t.Fatal(err)
		}
	}
	return dir, c
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	dir, want := written(t)
	got, used, err := mirror.Read(dir)
	if err != nil || !used {
		t.Fatal(used, err)
	}
	want.Format, want.Folder = got.Format, dir
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, not %+v", got, want)
	}
	for _, name := range []string{mirror.Name, mirror.KeyName} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}

func TestAFolderThatWasNeverUsedHasNothingToKnow(t *testing.T) {
	if _, used, err := mirror.Read(t.TempDir()); used || err != nil {
		t.Error(used, err)
	}
}

// A file that is missing, damaged, another folder's or without its key counts for nothing, and that is an error.
func TestWhatDoesNotCount(t *testing.T) {
	for name, damage := range map[string]func(t *testing.T, dir string){
		"no file": func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, mirror.Name)); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "deskbell.db"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"no key": func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, mirror.KeyName)); err != nil {
				t.Fatal(err)
			}
		},
		"another rule": func(t *testing.T, dir string) { change(t, dir, "git push", "git pull") },
		"half of it":   func(t *testing.T, dir string) { cut(t, dir) },
		"another folder's": func(t *testing.T, dir string) {
			other, _ := written(t)
			for _, name := range []string{mirror.Name, mirror.KeyName} {
				text, err := os.ReadFile(filepath.Join(other, name))
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		},
	} {
		dir, _ := written(t)
		damage(t, dir)
		if c, used, err := mirror.Read(dir); !used || err == nil {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

func change(t *testing.T, dir, old, now string) {
	t.Helper()
	name := filepath.Join(dir, mirror.Name)
	text, err := os.ReadFile(name)
	if err != nil || !bytes.Contains(text, []byte(old)) {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, bytes.ReplaceAll(text, []byte(old), []byte(now)), 0o600); err != nil {
		t.Fatal(err)
	}
}

func cut(t *testing.T, dir string) {
	t.Helper()
	name := filepath.Join(dir, mirror.Name)
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, text[:len(text)/2], 0o600); err != nil {
		t.Fatal(err)
	}
}

// Where the file cannot be written, an old one does not stay behind.
func TestAFileThatCannotBeWrittenIsNoFile(t *testing.T) {
	dir, c := written(t)
	if err := os.Remove(filepath.Join(dir, mirror.KeyName)); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, mirror.KeyName), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := mirror.Write(dir, c); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, mirror.Name)); !os.IsNotExist(err) {
		t.Errorf("there still is one: %v", err)
	}
}
