package platform

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestAutostart(t *testing.T) {
	config := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", config)
	dir := `/home/ada/My "data" 100%/$x\数据`
	var a Autostart
	if on, _, err := a.On(dir); on || err != nil {
		t.Fatalf("on before it was set: %v %v", on, err)
	}
	path, err := a.Set(true, dir)
	if err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if on, where, err := a.On(dir); !on || where != path || err != nil {
		t.Errorf("after setting it: %v %s %v", on, where, err)
	}
	if _, err := a.Set(true, dir); err != nil {
		t.Error(err)
	}
	if after, err := os.Stat(path); err != nil || !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("setting it again wrote it again: %v", err)
	}
	if out, err := exec.Command("desktop-file-validate", path).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	// Another program's path is put right.
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	if err != nil || !strings.Contains(string(text), self) || !strings.Contains(string(text), "--hidden") {
		t.Errorf("the entry does not start this program, hidden: %s", text)
	}
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(text), self, "/gone/deskbell")), 0o600); err != nil {
		t.Fatal(err)
	}
	if on, _, err := a.On(dir); on || err != nil {
		t.Errorf("on for a program that is elsewhere: %v", err)
	}
	if _, err := a.Set(true, dir); err != nil {
		t.Error(err)
	}
	if on, _, _ := a.On(dir); !on {
		t.Error("it was not put right")
	}
	for range 2 {
		if _, err := a.Set(false, dir); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("it is there still: %v", err)
	}
}

// A desktop starts exactly the words that it was given: GLib reads the line here.
func TestAutostartWordsSurvive(t *testing.T) {
	said := filepath.Join(t.TempDir(), "said")
	words := []string{`a b`, `"q"`, `$HOME`, "`id`", `\back\\slash`, `100%`, `数据`, `;&|`}
	line := "/bin/sh -c " + execWord(`for word; do printf "%s\n" "$word"; done >`+said) + " sh"
	for _, word := range words {
		line += " " + execWord(word)
	}
	path := filepath.Join(t.TempDir(), "words.desktop")
	if err := os.WriteFile(path, []byte("[Desktop Entry]\nType=Application\nName=x\nExec="+line+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gio", "launch", path).CombinedOutput(); err != nil {
		t.Skipf("no gio here: %v %s", err, out)
	}
	waitFor(t, func() bool {
		text, _ := os.ReadFile(said)
		return string(text) == strings.Join(words, "\n")+"\n"
	}, func() string { text, _ := os.ReadFile(said); return string(text) })
}
