package sealed

import (
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) {
	if os.Getenv("DESKBELL_TEST_SEALED") != "" {
		var core unix.Rlimit
		if Seal() != nil || unix.Getrlimit(unix.RLIMIT_CORE, &core) != nil || core.Max != 0 {
			os.Exit(1)
		}
		if dumpable, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0); err != nil || dumpable != 0 {
			os.Exit(2)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// A limit that is lowered stays so: it is looked at in a process of its own.
func TestSeal(t *testing.T) {
	for display, want := range map[string]bool{"": !guarded(), "wayland-0": false} {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = []string{"DESKBELL_TEST_SEALED=yes", "WAYLAND_DISPLAY=" + display}
		err := cmd.Run()
		if code := cmd.ProcessState.ExitCode(); want && err != nil || !want && code != 2 {
			t.Errorf("with the display %q: %d %v", display, code, err)
		}
	}
}
