package datadir

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deskbell/backend/human"
)

func TestOneServerAtATime(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	if _, err := Find(dir); human.KindOf(err) != human.NotFound {
		t.Fatalf("a folder that is not there: %v", err)
	}
	first, err := Take(dir, "1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Find(dir); human.KindOf(err) != human.NotFound || !Held(dir) {
		t.Errorf("a server that does not listen yet: %v", err)
	}
	_, err = Take(dir, "1.2.3")
	if human.KindOf(err) != human.Conflict || err == nil || !strings.Contains(err.Error(), fmt.Sprintf("process %d, since ", os.Getpid())) {
		t.Errorf("a second server: %v", err)
	}
	if err := first.Publish("http://127.0.0.1:1", false); err != nil {
		t.Fatal(err)
	}
	s, err := Find(dir)
	if err != nil || s != first.Server() || s.URL != "http://127.0.0.1:1" || s.PID != os.Getpid() || s.Version != "1.2.3" {
		t.Errorf("found %+v, %v", s, err)
	}
	if _, err := Take(dir, ""); err == nil || !strings.Contains(err.Error(), s.URL) {
		t.Errorf("a second server is not told where the first listens: %v", err)
	}
	if err := first.Release(); err != nil {
		t.Fatal(err)
	}
	if _, err := Find(dir); human.KindOf(err) != human.NotFound || Held(dir) {
		t.Errorf("after the end: %v", err)
	}
	second, err := Take(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Release(); err != nil {
		t.Error(err)
	}
}

func TestWhatADeadServerLeftCountsForNothing(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{serverFile: `{"pid":1,"url":"http://127.0.0.1:1"}`, lockFile: " {\"pid\":1}\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if s, err := Find(dir); err == nil {
		t.Errorf("found %+v", s)
	}
	c, err := Take(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Release(); err != nil {
		t.Error(err)
	}
}

func TestAFolderThatCannotBeWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Take(filepath.Join(file, "data"), "")
	if human.KindOf(err) != human.Unavailable || err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("got %v", err)
	}
}

func TestTheDataFolder(t *testing.T) {
	t.Setenv("DESKBELL_DATA", "")
	t.Setenv("XDG_DATA_HOME", "/x/share")
	t.Setenv("LOCALAPPDATA", `C:\x`)
	dir, err := Choose("")
	if err != nil || strings.ToLower(filepath.Base(dir)) != "deskbell" {
		t.Errorf("usual: %q, %v", dir, err)
	}
	t.Setenv("DESKBELL_DATA", t.TempDir())
	if dir, _ := Choose(""); dir != os.Getenv("DESKBELL_DATA") {
		t.Errorf("DESKBELL_DATA: %q", dir)
	}
	flag := t.TempDir()
	if dir, _ := Choose(flag); dir != flag {
		t.Errorf("--data: %q", dir)
	}
}
