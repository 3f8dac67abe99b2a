package keychain

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"deskbell/backend/human"
)

// fillKeyring in the environment of this test's program makes it fill its user's keyring with sessions and keep one more.
const fillKeyring = "DESKBELL_TEST_FILL"

// A user's keyring that is full of the sessions of terminals makes room. The test has a user of its own for that, whom only root can be.
func TestAFullKeyringMakesRoom(t *testing.T) {
	if os.Getenv(fillKeyring) != "" {
		forgetSessions() // of a run before
		t.Cleanup(forgetSessions)
		old := Session{"old"}
		if err := old.Set(t.Context(), "dbo_old"); err != nil {
			t.Fatal(err)
		}
		const most = 5000 // more than any ordinary user may have
		for i := range most {
			if _, err := unix.AddKey(keyType, service+" "+Session{strconv.Itoa(i)}.user(), []byte("dbo_old"), unix.KEY_SPEC_USER_KEYRING); errors.Is(err, unix.EDQUOT) {
				break
			} else if err != nil || i == most-1 {
				t.Fatalf("key %d: %v", i, err)
			}
		}
		s := Session{"new"}
		if err := s.Set(t.Context(), "dbo_new"); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Get(t.Context()); err != nil || got != "dbo_new" {
			t.Errorf("%q is kept, %v", got, err)
		}
		if got, err := old.Get(t.Context()); human.KindOf(err) != human.NotFound {
			t.Errorf("an old one is there: %q, %v", got, err)
		}
		return
	}
	if os.Getuid() != 0 {
		t.Skip("only root can be another user, whose sessions no one misses")
	}
	dir, err := os.MkdirTemp("/tmp", "keyring") // the folder for temporary files may be closed to others
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	program, err := os.ReadFile(os.Args[0])
	if err == nil {
		err = os.WriteFile(dir+"/test", program, 0o755) //nolint:gosec // another user runs it
	}
	if err == nil {
		err = os.Chmod(dir, 0o755) //nolint:gosec // the same
	}
	if err != nil {
		t.Fatal(err)
	}
	other := exec.Command(dir+"/test", "-test.run", "^"+t.Name()+"$")
	other.Env, other.Dir = []string{fillKeyring + "=1"}, "/"
	other.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65533, Gid: 65533}}
	if out, err := other.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
