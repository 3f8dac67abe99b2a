//go:build unix

package app_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"deskbell/backend/store/datadir"
)

// A program that ends by a fatal error leaves a report, which the next start makes of it and names.
func TestCrashReport(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := serve(t, dir, nil)
	if err := s.cmd.Process.Signal(syscall.SIGABRT); err != nil {
		t.Fatal(err)
	}
	<-s.ended
	next := serve(t, dir, nil)
	reports := datadir.CrashReports(dir)
	if len(reports) != 1 {
		t.Fatalf("reports: %v", reports)
	}
	text, err := os.ReadFile(reports[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"deskbell 1.0-test", "SIGABRT", "goroutine ", `msg="ready"`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the report does not have %q:\n%.3000s", want, text)
		}
	}
	next.kill()
	<-next.ended
	if said := next.errs.String(); !strings.Contains(said, filepath.Base(reports[0])) {
		t.Errorf("the next start did not name the report: %s", said)
	}
}
