package plugins

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"deskbell/backend/platform/confine"
)

// The guard looks at a run so often. Between two looks the limits of each process hold, and those of the group.
const (
	lookAtProcesses = 50 * time.Millisecond
	lookAtFolder    = 500 * time.Millisecond
)

// guard ends a run that takes more than its share, or that has to end, and returns when the run is done.
func (r *running) guard(cmd *exec.Cmd, how separation, group confine.Group, leash *os.File, done <-chan struct{}) {
	processes, folder := time.NewTicker(lookAtProcesses), time.NewTicker(lookAtFolder)
	defer processes.Stop()
	defer folder.Stop()
	stopped := r.stopped
	var last <-chan time.Time
	for {
		select {
		case <-done:
			return
		case <-stopped:
			// The end of a process namespace's first process is the end of all of it. Else the parent process ends what there
			// is, for which it has a while, and is then ended itself.
			stopped = nil
			group.Kill()
			if how.flags&unix.CLONE_NEWPID != 0 {
				_ = cmd.Process.Kill()
				continue
			}
			_ = leash.Close()
			last = time.After(stuck)
		case <-last:
			_ = cmd.Process.Kill()
		case <-processes.C:
			all, beside := confine.Family(cmd.Process.Pid)
			resident, processor := int64(0), beside.Processor
			for pid, u := range all {
				if !entering(pid) {
					resident += u.Resident
				}
				processor += u.Processor
			}
			if len(all) > maxProcesses {
				r.kill(fmt.Sprintf("it began more than %d processes", maxProcesses))
			} else if resident > int64(r.jail.Memory) {
				r.kill(fmt.Sprintf("it used more memory than its limit of %d MB (memory_mb)", r.jail.Memory>>20))
			} else if processor > time.Duration(r.jail.Seconds)*time.Second {
				r.kill("its processes together used more time of the processor than limit_s")
			}
		case <-folder.C:
			if size(r.jail.Working) > maxFolder {
				r.kill(fmt.Sprintf("it wrote more than %d MB into its working folder", maxFolder>>20))
			}
		}
	}
}

// entering says whether a process is still this program, on its way to become the plug-in.
func entering(pid int) bool {
	args, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return err == nil && strings.HasPrefix(string(args), entrant+"\x00")
}

// size is about what a folder takes, and more than is allowed where it has too many files to count.
func size(dir string) int64 {
	var n int64
	files := 0
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if files++; files > 20_000 {
			n = maxFolder + 1
			return fs.SkipAll
		}
		if err != nil {
			return nil //nolint:nilerr // what is gone again takes nothing
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			n += info.Size()
		}
		return nil
	})
	return n
}

// newGroup makes a control group for a process that has not begun its work.
func newGroup(pid int, j jail) confine.Group {
	return confine.NewGroup("deskbell-summarizer", pid, confine.GroupLimits{Memory: j.Memory + keeperMemory, Threads: j.Threads + keeperThreads}, groupParents())
}

// Tests stand for a system in which there is none.
var groupParents = confine.GroupParents

// What the process beside the plug-in may take itself.
const (
	keeperMemory  = 256 << 20
	keeperThreads = 64
)

func exists(path string) bool { _, err := os.Lstat(path); return err == nil }
