//go:build window

package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"deskbell/build/e2e/desktoptest"
)

// A window whose database is damaged says so, also at login. Closed, it ends; repaired or with a backup restored by keys, it is the console.
func TestADamagedDatabaseIsRepairedInTheWindow(t *testing.T) {
	t.Parallel()
	d := newFixture(t, desktoptest.Options{})
	server := d.Start(d.bin, "serve", "--json")
	d.Wait("the server", func() bool { return strings.Contains(server.Out(), "url") })
	if pid, ok := d.server(); !ok || syscall.Kill(pid, syscall.SIGTERM) != nil || d.Ended(server) != 0 {
		t.Fatal("the server did not end")
	}
	if backup := d.Start(d.bin, "backup"); d.Ended(backup) != 0 {
		t.Fatalf("no backup: %s", backup.Err())
	}
	file := filepath.Join(d.data, "deskbell.db")
	damage := func() {
		b, err := os.ReadFile(file)
		if err == nil {
			copy(b, "no database here")
			err = os.WriteFile(file, b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	damage()
	p := d.Start(d.bin, "--hidden")
	d.WaitActive("Deskbell")
	const title = "The database cannot be opened"
	d.see(desktoptest.Title, title)
	d.see(desktoptest.Button, "Repair")
	for _, end := range [][]string{{"alt+F4"}, {"Tab", "Tab", "Tab", "Tab", "Tab", "Return"}} { // closes the window, or presses Quit
		d.Key(end...)
		if code := d.Ended(p); code != 3 {
			t.Errorf("after %v it ended with status %d", end, code)
		}
		p = d.Start(d.bin)
		d.WaitActive("Deskbell")
		d.see(desktoptest.Button, "Repair")
	}
	opens := func() {
		d.tray.WaitItem()
		d.look("the console", func(all []desktoptest.Element) bool {
			return len(all) > 0 && !slices.ContainsFunc(all, func(e desktoptest.Element) bool { return e.Name == "Repair" || e.Name == title })
		})
	}
	d.Key("Tab", "Tab", "Tab", "Return")
	opens()
	if kept, err := filepath.Glob(file + ".broken-*"); err != nil || len(kept) == 0 || !p.Running() {
		t.Errorf("the old files are %v, %v", kept, err)
	}
	if !strings.Contains(p.Err(), "does not begin as a database does") {
		t.Errorf("the terminal says %q", p.Err())
	}

	if pid, ok := d.server(); !ok || syscall.Kill(pid, syscall.SIGTERM) != nil || d.Ended(p) != 0 {
		t.Fatal("the window did not end")
	}
	damage()
	p = d.Start(d.bin)
	d.WaitActive("Deskbell")
	d.see(desktoptest.Button, "Repair")
	d.Key("Tab", "Tab", "Return")
	d.see(desktoptest.Button, "Cancel")
	d.Key("Tab", "Return")
	opens()
	if kept, err := filepath.Glob(filepath.Join(d.data, "before-restore-*", "deskbell.db")); err != nil || len(kept) != 1 || !p.Running() {
		t.Errorf("what was there is in %v, %v", kept, err)
	}
}
