package browser

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"deskbell/backend/human"
)

func TestFindTakesWhatIsInstalled(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("browsers stand in fixed folders here")
	}
	folder := t.TempDir()
	install := func(name, version string) string {
		file := filepath.Join(folder, name)
		if err := os.WriteFile(file, []byte("#!/bin/sh\necho '"+version+"'\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		return file
	}
	t.Setenv("PATH", folder)
	brave := install("brave-browser", "Brave Browser 140.1.2.3 unknown")
	if name, version, file, err := Find(""); err != nil || name != "Brave" || version != "140.1.2.3" || file != brave {
		t.Errorf("Find = %s, %s, %s, %v", name, version, file, err)
	}
	edge := install("microsoft-edge", "Microsoft Edge 150.0")
	if name, version, file, err := Find(""); err != nil || name != "Microsoft Edge" || version != "150.0" || file != edge {
		t.Errorf("Find = %s, %s, %s, %v", name, version, file, err)
	}
	mine := install("my-chrome", "says nothing of itself")
	if name, version, file, err := Find(mine); err != nil || name != "Google Chrome" || version != "" || file != mine {
		t.Errorf("Find(%s) = %s, %s, %s, %v", mine, name, version, file, err)
	}
	if _, _, _, err := Find(filepath.Join(folder, "none")); human.KindOf(err) != human.NotFound {
		t.Errorf("Find of what is not there: %v", err)
	}
}

func TestABrowserIsReadyBeforeItSaysItsVersion(t *testing.T) {
	file := filepath.Join(t.TempDir(), "chromium")
	if err := os.WriteFile(file, []byte("#!/bin/sh\necho asked > \"$0.asked\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	state := New(Options{Path: file, headless: true}, human.BrowserOptions{}, nil).Check(t.Context())
	if state.Status != "complete" || state.Detail != "Chromium" {
		t.Errorf("Check = %+v", state)
	}
	if _, err := os.Stat(file + ".asked"); err == nil {
		t.Error("Check started the browser")
	}
}
