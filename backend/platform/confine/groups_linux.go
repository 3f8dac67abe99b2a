package confine

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// A Group is a control group for one run: a folder for each hierarchy that it could be made in, none where we may not.
type Group []string

var runs atomic.Uint64

// GroupLimits are those of all processes of a group together, which may use one processor's time or, with Processors, all.
type GroupLimits struct {
	Memory     uint64 // bytes
	Threads    uint64
	Processors bool
}

// NewGroup makes a control group with limits for a process that has not begun its work. Its name begins with kind. The
// parents are GroupParents.
func NewGroup(kind string, pid int, l GroupLimits, parents []GroupParent) Group {
	var g Group
	name := fmt.Sprintf("%s-%d-%d", kind, os.Getpid(), runs.Add(1))
	memory := strconv.FormatUint(l.Memory, 10)
	limits := map[string]string{"pids.max": strconv.FormatUint(l.Threads, 10), "memory.max": memory, "memory.limit_in_bytes": memory, "memory.swap.max": "0"}
	if !l.Processors {
		limits["cpu.max"], limits["cpu.cfs_quota_us"] = "100000 100000", "100000" // of 100 ms each
	}
	for _, parent := range parents {
		sweepGroups(parent.Dir, kind)
		dir := path.Join(parent.Dir, name)
		if os.Mkdir(dir, 0o755) != nil {
			continue
		}
		set := 0
		for file, most := range limits {
			if os.WriteFile(path.Join(dir, file), []byte(most), 0) == nil {
				set++
			}
		}
		if set == 0 || os.WriteFile(path.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0) != nil {
			_ = os.Remove(dir)
			continue
		}
		g = append(g, dir)
		if parent.Unified {
			break
		}
	}
	return g
}

// sweepGroups removes the groups of a Deskbell that died during a run. One with processes in it stays.
func sweepGroups(parent, kind string) {
	left, _ := filepath.Glob(path.Join(parent, kind+"-*"))
	for _, dir := range left {
		var pid, run int
		if n, _ := fmt.Sscanf(path.Base(dir), kind+"-%d-%d", &pid, &run); n == 2 && errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
			_ = os.Remove(dir)
		}
	}
}

// Add has another process counted. One that is gone is not.
func (g Group) Add(pid int) {
	for _, dir := range g {
		_ = os.WriteFile(path.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0)
	}
}

// Kill ends all processes of the group, where the system can do that.
func (g Group) Kill() {
	for _, dir := range g {
		_ = os.WriteFile(path.Join(dir, "cgroup.kill"), []byte("1"), 0)
	}
}

// Remove takes the group away. Processes that are ending hold it for a moment.
func (g Group) Remove() {
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

// A GroupParent is a folder in which a control group can be made; Unified: of version 2.
type GroupParent struct {
	Dir     string
	Unified bool
}

// GroupParents are the folders of control groups in which one of ours may be made. Beside our own group, not within
// it: a group with processes has no limits for groups below it.
func GroupParents() []GroupParent {
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return nil
	}
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil
	}
	var out []GroupParent
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
						out = append(out, GroupParent{dir, true})
					}
				}
			case f[2] == "cgroup" && slices.ContainsFunc([]string{"pids", "memory", "cpu"}, func(c string) bool { return has(part[1], c) && has(f[3], c) }):
				out = append(out, GroupParent{path.Join(f[1], part[2]), false})
			}
		}
	}
	return out
}

// has says whether a name is in a list with commas.
func has(list, name string) bool { return slices.Contains(strings.Split(list, ","), name) }
