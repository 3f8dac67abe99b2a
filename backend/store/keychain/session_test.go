package keychain

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"deskbell/backend/human"
)

// printKept in the environment of this test's program makes it print a session that another process kept.
const printKept = "DESKBELL_TEST_KEPT"

func TestASessionIsKept(t *testing.T) {
	if name := os.Getenv(printKept); name != "" {
		token, err := Session{name}.Get(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		os.Stderr.WriteString("kept: " + token + "\n")
		return
	}
	s := Session{t.Name() + " 1"}
	t.Cleanup(func() { _ = s.Remove(t.Context()) })
	if _, err := s.Get(t.Context()); human.KindOf(err) != human.NotFound {
		t.Fatalf("before there is one: %v", err)
	}
	for _, token := range []string{"dbo_first", "dbo_second"} {
		if err := s.Set(t.Context(), token); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Get(t.Context()); err != nil || got != token {
			t.Errorf("%q is kept, %v", got, err)
		}
	}
	again := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$")
	again.Env = append(os.Environ(), printKept+"="+s.Name)
	if out, err := again.CombinedOutput(); err != nil || !strings.Contains(string(out), "kept: dbo_second\n") {
		t.Errorf("another process has %q, %v", out, err)
	}
	if _, err := (Session{s.Name + "2"}).Get(t.Context()); human.KindOf(err) != human.NotFound {
		t.Errorf("another name has one: %v", err)
	}
	for range 2 {
		if err := s.Remove(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if got, err := s.Get(t.Context()); human.KindOf(err) != human.NotFound {
		t.Errorf("removed, there is %q, %v", got, err)
	}
}
