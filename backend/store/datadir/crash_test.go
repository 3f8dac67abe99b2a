package datadir

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const (
	crashesIn = "DESKBELL_TEST_CRASHES_IN"
	crashKey  = "sk-ant-api03-" + "q7Zk2Lw9Xv4Rt8Yp3Nm6Bc1Vd5Fg0Hj"
)

// TestMain lets the test's own binary be a program that crashes.
func TestMain(m *testing.M) {
	dir := os.Getenv(crashesIn)
	if dir == "" {
		os.Exit(m.Run())
	}
	if _, err := WatchCrashes(dir, "deskbell 1.0-test\nlinux"); err != nil {
		panic(err)
	}
	if len(os.Args) > 1 && os.Args[1] == "killed" {
		self, _ := os.FindProcess(os.Getpid())
		_ = self.Kill()
	}
	go panic(errors.New("the key is " + crashKey))
	select {}
}

func crash(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), crashesIn+"="+dir)
	if out, err := cmd.CombinedOutput(); err == nil {
		t.Fatalf("it did not crash: %s", out)
	}
}

// holdsNoKey looks for the key in every file of a data folder but the test's own log.
func holdsNoKey(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() || e.Name() == Log {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), crashKey) {
			t.Errorf("%s has the key", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A file in the data folder names no other file than one of a crash.
func TestACrashNamesNoOtherFile(t *testing.T) {
	dir, other := t.TempDir(), filepath.Join(t.TempDir(), "deskbell-crash-x")
	if err := os.MkdirAll(filepath.Join(dir, Crashes), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(other, []byte("a\n\nmine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, Crashes, ".1.at"), []byte(other), 0o600); err != nil {
		t.Fatal(err)
	}
	if fresh, killed, err := Reports(dir, strings.ToUpper); len(fresh) > 0 || !killed || err != nil {
		t.Error(fresh, killed, err)
	}
	if _, err := os.Stat(other); err != nil {
		t.Error(err)
	}
}

func TestCrashReports(t *testing.T) {
	dir, volatileDir := t.TempDir(), t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", volatileDir)
	log := `{"time":"t","level":"INFO","msg":"ready","description":"what an agent wrote","err":"with ` + crashKey + `"}` + "\n"
	if err := os.WriteFile(filepath.Join(dir, Log), []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	mask := func(text string) string { return strings.ReplaceAll(text, crashKey, "***") }
	if fresh, killed, err := Reports(dir, mask); len(fresh) > 0 || killed || err != nil {
		t.Fatal(fresh, killed, err)
	}
	crash(t, dir)
	holdsNoKey(t, dir) // not before the next start, either
	fresh, killed, err := Reports(dir, mask)
	if err != nil || killed || len(fresh) != 1 {
		t.Fatal(fresh, killed, err)
	}
	text, err := os.ReadFile(fresh[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"deskbell 1.0-test", "panic: ", "the key is ***", "goroutine ", "crash_test.go", `msg="ready"`, `err="with ***"`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the report does not have %q:\n%s", want, text)
		}
	}
	for _, no := range []string{crashKey, "what an agent wrote"} {
		if strings.Contains(string(text), no) {
			t.Errorf("the report has %q", no)
		}
	}
	// The log here is the test's own, with the key.
	if err := os.Remove(filepath.Join(dir, Log)); err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{filepath.Join(dir, Crashes) + "/.", filepath.Join(volatileDir, "deskbell-")} {
		if left, _ := filepath.Glob(folder + "*"); len(left) > 0 {
			t.Errorf("what is not masked is left: %v", left)
		}
	}
	holdsNoKey(t, dir)
	crash(t, dir, "killed")
	if fresh, killed, err := Reports(dir, mask); len(fresh) > 0 || !killed || err != nil {
		t.Error("one that was killed: ", fresh, killed, err)
	}
	for range keptCrashes + 2 {
		crash(t, dir)
		if _, _, err := Reports(dir, mask); err != nil {
			t.Fatal(err)
		}
	}
	if kept := CrashReports(dir); len(kept) != keptCrashes {
		t.Errorf("%d reports are kept", len(kept))
	}
}

func TestWatchCrashesLeavesNothing(t *testing.T) {
	dir, volatileDir := t.TempDir(), t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", volatileDir)
	stop, err := WatchCrashes(dir, "about")
	if err != nil {
		t.Fatal(err)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	for _, folder := range []string{filepath.Join(dir, Crashes), volatileDir} {
		if left, _ := os.ReadDir(folder); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	}
}
