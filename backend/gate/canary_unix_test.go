//go:build unix

package gate_test

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"deskbell/backend/gate"
	"deskbell/backend/human"
)

// within puts a command into a wrapper, escaped as its place there demands.
func (x wrapper) within(command string, simple bool) string {
	if !simple && x.Quote == "raw" {
		command = "sh -c " + quote(command)
	}
	switch x.Quote {
	case "single":
		command = strings.ReplaceAll(command, "'", `'\''`)
	case "double":
		command = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(command)
	case "python", "json":
		command = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "'", `'\''`).Replace(command)
	}
	return strings.ReplaceAll(x.Template, "@CMD@", command)
}

// harmless are the programs that a canary may find beside its stand-in: none that changes the machine, or reaches another.
const harmless = "bash sh dash zsh ksh busybox env nice ionice timeout stdbuf setsid nohup xargs find sed awk gawk mawk python3 perl ruby node php lua git tar make sort split script flock time tee cat echo printf " +
	"rm mkdir touch true false test ls head tail wc tr cut seq sleep chmod ln cp mv mktemp date expr uname id whoami base64 xxd zip unzip gzip cmake ninja m4 ed ex vim jq sqlite3 gdb strace taskset chrt prlimit setpriv unshare " +
	"expect tclsh watch parallel entr socat less more man diff cmp patch openssl dd od rev tac nl paste join comm uniq fold fmt pr bc dc"

// A nest runs commands for real: in a folder of its own, without a terminal, with harmless programs and a stand-in for mkfs.
type nest struct{ dir, bin string }

func newNest(t *testing.T) nest {
	n := nest{dir: t.TempDir(), bin: t.TempDir()}
	for name := range strings.FieldsSeq(harmless) {
		if file, err := exec.LookPath(name); err == nil {
			if err := os.Symlink(file, filepath.Join(n.bin, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return n
}

// runs says whether a command truly runs the stand-in, which leaves a mark. Each run has a stand-in of its own: what an earlier
// one left in the background marks nothing here.
func (n nest) runs(t *rapid.T, command string) bool {
	own, err := os.MkdirTemp(n.dir, "own")
	if err != nil {
		t.Fatal(err)
	}
	mark := filepath.Join(own, "mark")
	if err := os.WriteFile(filepath.Join(own, "mkfs"), []byte("#!/bin/sh\n: >>'"+mark+"'\n"), 0o700); err != nil { //nolint:gosec // a program has to be executable
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", command) //nolint:gosec // a wrapper around a stand-in
	cmd.Dir = own
	cmd.Env = []string{"PATH=" + own + ":" + n.bin, "HOME=" + own, "TMPDIR=" + own, "TERM=dumb"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // without the terminal of the test
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	_ = cmd.Run() // how it ends says nothing
	_, err = os.Stat(mark)
	return err == nil
}

// What truly runs a dangerous command is asked about (G1): wrappers written by others, up to three deep, are run among
// stand-ins. What a composition does is not reckoned but seen, so that a wrong quote in it proves nothing and does no harm.
func TestWhatTrulyRunsIsAskedAbout(t *testing.T) {
	if f := flag.Lookup("rapid.seed"); f.Value.String() == "0" { // the same each time; make soak has others
		if err := f.Value.Set("18"); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Value.Set("0") })
	}
	n, all := newNest(t), rows[wrapper](t, "blind_wrappers.jsonl")
	tried, ran := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		command := "mkfs x"
		for depth := range rapid.IntRange(1, 3).Draw(t, "depth") {
			command = rapid.SampledFrom(all).Draw(t, "wrapper").within(command, depth == 0)
		}
		tried++
		if !n.runs(t, command) {
			return
		}
		ran++
		if gate.Judge(bash(command), gate.Balanced, nil).Decision == human.Allow {
			t.Fatalf("runs the stand-in and is not asked about:\n%s", command)
		}
	})
	t.Logf("%d compositions, %d of which truly ran", tried, ran)
	if ran == 0 {
		t.Error("none ran: it proves nothing")
	}
}
