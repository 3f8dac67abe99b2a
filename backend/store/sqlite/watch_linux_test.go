package sqlite

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
)

// Opening the database a second time in one process, as `deskbell doctor` does in the server's, leaves the server's lock on the file
// alone: without it another process that closes the database takes itself for the last one, and deletes the write-ahead log.
func TestSecondOpenKeepsLock(t *testing.T) {
	h := newHistory(t, Options{})
	h.add("op_1", ring("text"))
	info, err := os.Stat(h.file)
	if err != nil {
		t.Fatal(err)
	}
	held := func() bool {
		locks, err := os.ReadFile("/proc/locks")
		if err != nil {
			t.Fatal(err)
		}
		return strings.Contains(string(locks), fmt.Sprintf(":%d ", info.Sys().(*syscall.Stat_t).Ino))
	}
	if !held() {
		t.Skip("this file system shows no locks")
	}
	if _, err := touch(h.dir); err != nil { // the first step of Open
		t.Fatal(err)
	}
	if !held() {
		t.Error("the lock is gone")
	}
	if r, err := Inspect(t.Context(), h.dir); err != nil || r.File == "" { // the server's doctor
		t.Fatal(r, err)
	}
	if !held() {
		t.Error("the lock is gone after an inspection")
	}
}
