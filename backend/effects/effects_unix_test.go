//go:build unix

package effects

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"deskbell/backend/human"
)

// What is no file, or leads nowhere, does not hold up a look.
func TestLinksAndPipes(t *testing.T) {
	dir := t.TempDir()
	link := func(to, name string) {
		t.Helper()
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	link(dir, "around")
	link("self", "self")
	link("gone", "broken")
	write(t, filepath.Join(dir, "real"), "Acme")
	link("real", "linked")
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	counts(t, human.ProcedureEffect{Is: "file", Path: filepath.Join(dir, "*"), Has: []string{"Acme"}}, 2)
	counts(t, human.ProcedureEffect{Is: "file", Path: filepath.Join(dir, "self"), Has: []string{"Acme"}}, 0)
	counts(t, human.ProcedureEffect{Is: "file", Path: filepath.Join(dir, "around", "around", "*", "real")}, 1)
	if err := syscall.Mkfifo(filepath.Join(dir, "mail.eml"), 0o600); err != nil {
		t.Fatal(err)
	}
	counts(t, human.ProcedureEffect{Is: "mail", Path: dir, Has: []string{"Acme"}}, 0)
}
