package plugins

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/store/disk"
)

// Of a command that is tried.
const (
	tryTime   = 10 * time.Second
	tryOutput = 64 << 10 // bytes
	tryMemory = 1 << 30  // bytes
)

// Try runs a command of a shell in a folder, confined as a plug-in is: it may read all that this user may read, and changes nothing,
// reaches no network and signals no process. It has none of Deskbell's environment but where programs are and the home folder. It
// ends after ten seconds or 64 KB. Errors are of package human: Unavailable where this system cannot confine it; nothing ran then.
func Try(ctx context.Context, command, folder string) (human.Tried, error) {
	if c := Confinement(); !c.Files || !c.Network {
		return human.Tried{}, human.Errorf(human.Unavailable, "this system cannot keep a command from changing anything (that takes Linux with Landlock and seccomp), so it was not run")
	}
	working, err := os.MkdirTemp("", "deskbell-try-")
	if err != nil {
		return human.Tried{}, human.Wrap(human.Unavailable, err, "no temporary folder can be made: %s", reason(err))
	}
	defer func() { _ = disk.RemoveAll(working) }() // it is the system's to clean up
	if working, err = filepath.EvalSymlinks(working); err != nil {
		return human.Tried{}, human.Wrap(human.Unavailable, err, "no temporary folder can be made: %s", reason(err))
	}
	shell, err := exec.LookPath("bash")
	if err != nil {
		shell = "/bin/sh"
	}
	run := &running{stopped: make(chan struct{}), jail: jail{
		Command: []string{shell, "-c", command}, Folder: "/", Start: folder, Working: working, Env: tryEnvironment(working),
		Seconds: uint64(tryTime.Seconds()) + 1, Memory: tryMemory, File: maxFile, Files: maxFiles, Threads: 2 * maxProcesses,
	}}
	began := time.Now()
	out := &head{full: func() { run.kill("full") }}
	late := time.AfterFunc(tryTime, func() { run.kill("late") })
	defer late.Stop()
	defer context.AfterFunc(ctx, func() { run.kill("gone") })()
	end, err := run.do(strings.NewReader(""), out, out)
	switch {
	case ctx.Err() != nil:
		return human.Tried{}, ctx.Err()
	case err != nil:
		return human.Tried{}, human.Wrap(human.Unavailable, err, "the command could not be started: %s", reason(err))
	case end.Problem != "":
		return human.Tried{}, human.Errorf(human.Unavailable, "the command could not be started: %s", end.Problem)
	}
	tried := human.Tried{Output: strings.ToValidUTF8(string(out.kept), "\uFFFD"), Code: end.Code, Seconds: time.Since(began).Seconds()}
	why := human.Sentence{}
	switch v := run.violation(); {
	case v == "full":
		why = human.Sayf("It was ended after %d KB of output.", tryOutput>>10)
	case v == "late":
		why = human.Sayf("It was ended after %d s.", int(tryTime.Seconds()))
	case v != "":
		why = human.Sentence{Text: v}
	case end.Signal != "":
		why = human.Sayf("It was ended by %s.", end.Signal)
	default:
		return tried, nil
	}
	tried.Said = &why
	return tried, nil
}

func tryEnvironment(working string) []string {
	home, err := os.UserHomeDir()
	if err != nil {
		home = working
	}
	// Programs that would lock, page or ask do none of it.
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + working, "LANG=C.UTF-8", "GIT_OPTIONAL_LOCKS=0", "GIT_PAGER=cat", "PAGER=cat", "TERM=dumb"}
}

// head keeps the beginning of what is written.
type head struct {
	kept []byte
	full func()
}

func (h *head) Write(b []byte) (int, error) {
	room := tryOutput - len(h.kept)
	if len(b) > room {
		h.full()
	}
	h.kept = append(h.kept, b[:min(len(b), room)]...)
	return len(b), nil // read on, so that it does not hang before it is killed
}
