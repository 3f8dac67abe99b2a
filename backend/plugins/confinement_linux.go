package plugins

import (
	"fmt"
	"os"
	"path"
	"sync"

	"golang.org/x/sys/unix"

	"deskbell/backend/platform/confine"
)

// Confinement says what is kept from plug-ins on this machine. It is found out once, by trying, which takes a moment.
func Confinement() Confined { return confinement() }

var confinement = sync.OnceValue(func() Confined {
	c := Confined{Enforced: []string{
		"time on the clock and of the processor, memory, size of output and files, open files",
		"no new privileges, no capabilities, nothing of Deskbell's environment",
	}}
	have := func(said string) { c.Enforced = append(c.Enforced, said) }
	miss := func(said string) { c.Missing = append(c.Missing, said) }
	abi := landlockABI()
	if c.Files = abi > 0; c.Files {
		have(fmt.Sprintf("files: only its own folder, its working folder and the system's programs (Landlock %d)", abi))
	} else {
		miss("this kernel has no Landlock (Linux 5.13 and later can have it): plug-ins can read all that you can read")
	}
	var best separation
	for _, s := range separations() {
		if s.flags == 0 || s.allowed() {
			best = s
			break
		}
	}
	spaces := best.flags&unix.CLONE_NEWPID != 0
	filter := confine.FiltersCalls()
	switch c.Network = spaces || filter; {
	case spaces && filter:
		have("network: no interface (namespaces), and no sockets (seccomp)")
	case filter:
		have("network: no sockets (seccomp)")
	case spaces:
		have("network: no interface (namespaces)")
		miss("this kernel does not filter calls: sockets in the file system, such as those of the desktop, can be reached")
	default:
		miss("this kernel lets no program make namespaces and does not filter calls: plug-ins have your network")
	}
	if filter {
		have("modes, owners, times and attributes of files: it changes none (seccomp)")
	} else {
		miss("this kernel does not filter calls: plug-ins can change modes and times of your files")
	}
	switch c.Apart = spaces || abi >= 6 || filter; {
	case spaces:
		have("processes: it sees none but its own, and all of them end with it (namespaces)")
	case c.Apart:
		have("processes: it can signal none but its own, which are looked for and ended with it")
		miss("namespaces cannot be made here (a container, or the system's settings): what a plug-in leaves behind is found and ended one by one")
	default:
		miss("namespaces cannot be made here: plug-ins can end processes of yours")
	}
	switch group := inGroup(); {
	case group:
		c.Processes = true
		have("number of processes, memory and processor time of all of them (control group)")
	case best.flags&unix.CLONE_NEWUSER != 0 && os.Getuid() != 0:
		c.Processes = true
		have("number of processes (a user namespace's own count)")
		miss("no control group can be made here: the memory of all processes together is looked at 20 times a second")
	default:
		miss("no control group can be made here: processes and their memory are looked at 20 times a second")
	}
	if filter && asksBeforeForks() {
		c.Processes = true
		have("number of processes (each is asked for before it begins; seccomp)")
	} else {
		miss("this kernel does not ask before a process begins (Linux 5.5 and later do): one that forks fast may run on for a while")
	}
	return c
})

// inGroup says whether control groups can be made here that count processes.
func inGroup() bool {
	for _, parent := range groupParents() {
		dir := path.Join(parent.Dir, fmt.Sprintf("deskbell-summarizer-%d-try", os.Getpid()))
		if os.Mkdir(dir, 0o755) != nil {
			continue
		}
		counts := exists(path.Join(dir, "pids.max"))
		_ = os.Remove(dir)
		if counts {
			return true
		}
	}
	return false
}
