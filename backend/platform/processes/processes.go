// Package processes says which process of this machine is at the other end of a connection, and what it descends from. What
// it says of a process's own words (its arguments, its program's name) is untrusted text.
package processes

import (
	"errors"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"

	"deskbell/backend/human"
)

// Errors of Peer and Find.
var (
	// ErrUnknown: there is no such process any more, it is another user's, or it is on another machine.
	ErrUnknown = errors.New("processes: not known")
	// ErrHidden: it is this user's, on this machine, and cannot be seen; most programs do nothing to that end.
	ErrHidden = errors.New("processes: hidden")
)

// A Process is one of this machine's, as it was when it was looked at.
type Process = human.Process

// An ID names a process for good.
type ID = human.ProcessID

// Peer is the process at the other end of a connection that this process accepted on loopback, or on a Unix socket. ErrUnknown
// where it is not to be seen from here, ErrHidden where it should be. It does not block; over TCP it looks through this user's
// processes, which takes milliseconds.
func Peer(conn net.Conn) (Process, error) { return peer(conn) }

// Find is the process of a number.
func Find(pid int) (Process, error) { return find(pid) }

// Glance is Find in a fraction of the time: of what there is to know, the number, the start and the parent.
func Glance(pid int) (Process, error) { return glance(pid) }

// PeerID is the number of the process that connected, where the system knows that at once: on a Unix socket, and on Windows on
// loopback. ErrUnknown for others.
func PeerID(conn net.Conn) (int, error) { return peerID(conn) }

// Boot names this run of the machine, where starts are counted from its boot; "" where they are by the calendar.
func Boot() string { return boot() }

// Running lists the processes of this user, but for this one and what it descends from, that run one of the programs (paths). Those that
// hide what they run are left out.
func Running(programs ...string) []Process {
	me, err := find(os.Getpid())
	if err != nil {
		return nil
	}
	line := Lineage(me)
	var found []Process
	for _, pid := range pids() {
		p, err := find(pid)
		if err == nil && own(p) && isOneOf(p.Program, programs) && !slices.ContainsFunc(line, func(a Process) bool { return a.ID() == p.ID() }) {
			found = append(found, p)
		}
	}
	return found
}

func isOneOf(program string, paths []string) bool {
	program = strings.TrimSuffix(program, " (deleted)") // so Linux names one that was replaced
	return slices.ContainsFunc(paths, func(path string) bool {
		return program == path || runtime.GOOS == "windows" && strings.EqualFold(program, path)
	})
}

// deepest bounds how many ancestors are looked at.
const deepest = 64

// Lineage is a process with all that it descends from, itself first. A parent that has ended is not seen any more: what it
// left descends from the system's first process, or from one that took it in.
func Lineage(p Process) []Process {
	line := []Process{p}
	for len(line) < deepest && p.Parent > 0 {
		parent, err := find(p.Parent)
		if err != nil || parent.Started > p.Started { // the number was used again
			break
		}
		line = append(line, parent)
		p = parent
	}
	return line
}
