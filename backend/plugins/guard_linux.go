package plugins

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// The guard looks at a run so often. Between two looks the limits of each process hold, and those of the group.
const (
	lookAtProcesses = 50 * time.Millisecond
	lookAtFolder    = 500 * time.Millisecond
)

// guard ends a run that takes more than its share, or that has to end, and returns when the run is done.
func (r *running) guard(cmd *exec.Cmd, how separation, group group, leash *os.File, done <-chan struct{}) {
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
			group.kill()
			if how.flags&unix.CLONE_NEWPID != 0 {
				_ = cmd.Process.Kill()
				continue
			}
			_ = leash.Close()
			last = time.After(stuck)
		case <-last:
			_ = cmd.Process.Kill()
		case <-processes.C:
			all, beside := family(cmd.Process.Pid)
			resident, processor := int64(0), beside.processor
			for pid, u := range all {
				if !entering(pid) {
					resident += u.resident
				}
				processor += u.processor
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

// A group is a control group for one run: a folder for each hierarchy that it could be made in, none where we may not.
type group []string

var runs atomic.Uint64

// newGroup makes a control group with limits of memory, of processes and of one processor's time for a process that has
// not begun its work.
func newGroup(pid int, j jail) group {
	var g group
	name := fmt.Sprintf("deskbell-summarizer-%d-%d", os.Getpid(), runs.Add(1))
	for _, parent := range groupParents() {
		sweepGroups(parent.dir)
		dir := path.Join(parent.dir, name)
		if os.Mkdir(dir, 0o755) != nil {
			continue
		}
		set := 0
		memory := strconv.FormatUint(j.Memory+keeperMemory, 10)
		for file, most := range map[string]string{
			"pids.max": strconv.FormatUint(j.Threads+keeperThreads, 10), "memory.max": memory, "memory.limit_in_bytes": memory, "memory.swap.max": "0",
			"cpu.max": "100000 100000", "cpu.cfs_quota_us": "100000", // of 100 ms each
		} {
			if os.WriteFile(path.Join(dir, file), []byte(most), 0) == nil {
				set++
			}
		}
		if set == 0 || os.WriteFile(path.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0) != nil {
			_ = os.Remove(dir)
			continue
		}
		g = append(g, dir)
		if parent.unified {
			break
		}
	}
	return g
}

// sweepGroups removes the groups of a Deskbell that died during a run. One with processes in it stays.
func sweepGroups(parent string) {
	left, _ := filepath.Glob(path.Join(parent, "deskbell-summarizer-*"))
	for _, dir := range left {
		var pid, run int
		if n, _ := fmt.Sscanf(path.Base(dir), "deskbell-summarizer-%d-%d", &pid, &run); n == 2 && errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
			_ = os.Remove(dir)
		}
	}
}

// What the process beside the plug-in may take itself.
const (
	keeperMemory  = 256 << 20
	keeperThreads = 64
)

// kill ends all processes of the group, where the system can do that.
func (g group) kill() {
	for _, dir := range g {
		_ = os.WriteFile(path.Join(dir, "cgroup.kill"), []byte("1"), 0)
	}
}

// remove takes the group away. Processes that are ending hold it for a moment.
func (g group) remove() {
	for _, dir := range g {
		for range 100 {
			if os.Remove(dir) == nil || !exists(dir) {
				break
			}
			<-time.After(10 * time.Millisecond)
		}
	}
}

func exists(path string) bool { _, err := os.Lstat(path); return err == nil }

type groupParent struct {
	dir     string
	unified bool
}

// groupParents are the folders of control groups in which one of ours may be made. Beside our own group, not within
// it: a group with processes has no limits for groups below it. Tests stand for a system in which there is none.
var groupParents = func() []groupParent {
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return nil
	}
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil
	}
	var out []groupParent
	for line := range strings.Lines(string(mounts)) {
		f := strings.Fields(line)
		if len(f) < 4 || (f[2] != "cgroup2" && f[2] != "cgroup") {
			continue
		}
		for mine := range strings.Lines(string(own)) {
			part := strings.SplitN(strings.TrimSpace(mine), ":", 3)
			if len(part) != 3 {
				continue
			}
			switch {
			case f[2] == "cgroup2" && part[0] == "0":
				for _, at := range []string{path.Dir(part[2]), "/"} {
					dir := path.Join(f[1], at)
					if on, err := os.ReadFile(path.Join(dir, "cgroup.subtree_control")); err == nil && strings.Contains(string(on), "pids") {
						out = append(out, groupParent{dir, true})
					}
				}
			case f[2] == "cgroup" && slices.ContainsFunc([]string{"pids", "memory", "cpu"}, func(c string) bool { return has(part[1], c) && has(f[3], c) }):
				out = append(out, groupParent{path.Join(f[1], part[2]), false})
			}
		}
	}
	return out
}

// has says whether a name is in a list with commas.
func has(list, name string) bool { return slices.Contains(strings.Split(list, ","), name) }
