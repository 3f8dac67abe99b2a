package processes

import (
	"bytes"
	"context"
	"encoding/binary"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// lsofTime is how long the system's lsof may take to find who has a connection over TCP. It is asked at sign-in only, and for an agent's first call.
const lsofTime = 2 * time.Second

func peer(conn net.Conn) (Process, error) {
	pid, err := peerID(conn)
	if c, is := conn.(*net.TCPConn); is {
		pid, err = owner(c.RemoteAddr().(*net.TCPAddr), c.LocalAddr().(*net.TCPAddr))
	}
	if err != nil {
		return Process{}, err
	}
	return find(pid)
}

// peerID asks the kernel who connected: unix(4), LOCAL_PEERPID.
func peerID(conn net.Conn) (int, error) {
	c, is := conn.(*net.UnixConn)
	if !is {
		return 0, ErrUnknown
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	var pid int
	var failed error
	if err := raw.Control(func(fd uintptr) { pid, failed = unix.GetsockoptInt(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERPID) }); err != nil || failed != nil || pid == 0 {
		return 0, ErrUnknown
	}
	return pid, nil
}

// owner is the process that has the socket of these two ends, its own and the other.
func owner(own, other *net.TCPAddr) (int, error) {
	ctx, cancel := context.WithTimeout(context.Background(), lsofTime)
	defer cancel()
	out, err := exec.CommandContext(ctx, "/usr/sbin/lsof", "-nP", "-a", "-iTCP:"+strconv.Itoa(own.Port), "-sTCP:ESTABLISHED", "-Fpn").Output()
	if err != nil && len(out) == 0 {
		return 0, ErrUnknown
	}
	want, pid := own.String()+"->"+other.String(), 0
	for line := range strings.Lines(string(out)) {
		switch line = strings.TrimSpace(line); {
		case strings.HasPrefix(line, "p"):
			pid, _ = strconv.Atoi(line[1:])
		case strings.HasPrefix(line, "n") && line[1:] == want:
			return pid, nil
		}
	}
	return 0, ErrUnknown
}

func kernelInfo(pid int) (*unix.KinfoProc, error) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	const zombie = 5 // SZOMB
	if err != nil || int(k.Proc.P_pid) != pid || k.Proc.P_stat == zombie {
		return nil, ErrUnknown
	}
	return k, nil
}

func glance(pid int) (Process, error) {
	k, err := kernelInfo(pid)
	if err != nil {
		return Process{}, err
	}
	return processOf(k), nil
}

func processOf(k *unix.KinfoProc) Process {
	began := k.Proc.P_starttime
	return Process{
		PID: int(k.Proc.P_pid), Parent: int(k.Eproc.Ppid), Program: unix.ByteSliceToString(k.Proc.P_comm[:]),
		Started: uint64(began.Sec)*1e6 + uint64(began.Usec), Began: time.Unix(began.Unix()),
	}
}

// find reads the terminal, and the arguments: kern.procargs2 is their number, the program's path and then each of them, with
// zeros between.
func find(pid int) (Process, error) {
	k, err := kernelInfo(pid)
	if err != nil {
		return Process{}, err
	}
	p := processOf(k)
	const noTerminal = -1 // NODEV
	if session, err := unix.Getsid(pid); err == nil && k.Eproc.Tdev != noTerminal {
		p.Terminal, p.Session, p.Foreground = device(k.Eproc.Tdev), session, k.Eproc.Pgid == k.Eproc.Tpgid
	}
	text, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil || len(text) < 4 {
		return p, nil
	}
	count := int(binary.NativeEndian.Uint32(text))
	program, rest, _ := bytes.Cut(text[4:], []byte{0})
	p.Program = string(program)
	rest = bytes.TrimLeft(rest, "\x00")
	for range count {
		arg, after, more := bytes.Cut(rest, []byte{0})
		if !more {
			break
		}
		p.Args, rest = append(p.Args, string(arg)), after
	}
	return p, nil
}

// pids are the numbers of this user's processes.
func pids() []int {
	all, err := unix.SysctlKinfoProcSlice("kern.proc.uid", os.Getuid())
	if err != nil {
		return nil
	}
	found := make([]int, len(all))
	for i, k := range all {
		found[i] = int(k.Proc.P_pid)
	}
	return found
}

func boot() string { return "" }
