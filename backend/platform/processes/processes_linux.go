package processes

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// looks is how often a process of our own user is looked for before it counts as hidden: processes begin, end and hand sockets over
// while all of them are looked at.
const looks = 3

func peer(conn net.Conn) (Process, error) {
	if c, is := conn.(*net.TCPConn); is {
		near, far := c.LocalAddr().(*net.TCPAddr).AddrPort(), c.RemoteAddr().(*net.TCPAddr).AddrPort()
		for range looks {
			s, err := socketOf(far, near)
			if err != nil {
				return Process{}, err
			}
			if p, err := holding(s.inode); err == nil || s.user != os.Getuid() {
				return p, err
			}
		}
		return Process{}, ErrHidden
	}
	pid, err := peerID(conn)
	if err != nil {
		return Process{}, err
	}
	p, err := find(pid)
	if err != nil { // it connected, and has ended
		err = ErrHidden
	}
	return p, err
}

// peerID asks the kernel who connected: unix(7), SO_PEERCRED.
func peerID(conn net.Conn) (int, error) {
	c, is := conn.(*net.UnixConn)
	if !is {
		return 0, ErrUnknown
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	var cred *unix.Ucred
	var failed error
	if err := raw.Control(func(fd uintptr) {
		cred, failed = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil || failed != nil || cred.Pid == 0 { // 0: of another container
		return 0, ErrUnknown
	}
	return int(cred.Pid), nil
}

// A socket is one in the kernel's table.
type socket struct {
	inode uint64
	user  int
}

// socketOf is the TCP socket of these two ends, of its own and the other (proc_net_tcp in the kernel's documents).
func socketOf(own, other netip.AddrPort) (socket, error) {
	want := [][2]string{{kernelAddr(own, false), kernelAddr(other, false)}, {kernelAddr(own, true), kernelAddr(other, true)}}
	for i, name := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		if want[i][0] == "" {
			continue
		}
		table, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		for line := range bytes.Lines(table) {
			f := bytes.Fields(line)
			if len(f) > 9 && string(f[1]) == want[i][0] && string(f[2]) == want[i][1] {
				inode, err := strconv.ParseUint(string(f[9]), 10, 64)
				if err == nil && inode > 0 {
					return socket{inode, number(string(f[7]))}, nil
				}
			}
		}
	}
	return socket{}, ErrUnknown
}

// kernelAddr is an address as the kernel's tables write it, of IPv4 or, with six, of IPv6; "" where it has none such.
func kernelAddr(a netip.AddrPort, six bool) string {
	ip := a.Addr().Unmap()
	if six {
		b := ip.As16() // of IPv4: mapped
		var words [16]byte
		for i := 0; i < 16; i += 4 { // each word in the order of this machine
			binary.NativeEndian.PutUint32(words[i:], binary.BigEndian.Uint32(b[i:]))
		}
		return fmt.Sprintf("%s:%04X", strings.ToUpper(hex.EncodeToString(words[:])), a.Port())
	}
	if !ip.Is4() {
		return ""
	}
	b := ip.As4()
	return fmt.Sprintf("%08X:%04X", binary.NativeEndian.Uint32(b[:]), a.Port())
}

// holding is the process that has the socket of an inode open. The newest are looked at first: who calls has mostly just begun. Until its
// program begins, a child has all that its parent has: the parent is who calls.
func holding(inode uint64) (Process, error) {
	want := "socket:[" + strconv.FormatUint(inode, 10) + "]"
	for _, pid := range slices.Backward(pids()) {
		if !has(pid, want) {
			continue
		}
		p, err := find(pid)
		for err == nil && has(p.Parent, want) {
			p, err = find(p.Parent)
		}
		if err == nil { // else it has ended meanwhile, and who has it still comes later
			return p, nil
		}
	}
	return Process{}, ErrUnknown
}

// pids are the numbers of all processes, in order.
func pids() []int {
	names, _ := os.ReadDir("/proc") // what was read before an error counts
	var all []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name.Name()); err == nil {
			all = append(all, pid)
		}
	}
	slices.Sort(all)
	return all
}

// has says whether a process has a file open. Another user's, and one that has ended, has none.
func has(pid int, want string) bool {
	dir := "/proc/" + strconv.Itoa(pid) + "/fd"
	open, err := os.ReadDir(dir)
	return err == nil && slices.ContainsFunc(open, func(fd os.DirEntry) bool {
		to, err := os.Readlink(dir + "/" + fd.Name())
		return err == nil && to == want
	})
}

// glance reads proc_pid_stat(5).
func glance(pid int) (Process, error) {
	p, _, err := stat(pid)
	return p, err
}

// stat returns the number of its terminal, too.
func stat(pid int) (p Process, tty int, err error) {
	text, err := readStat(pid)
	if err != nil {
		return p, 0, ErrUnknown
	}
	// The name stands in brackets and may have any.
	open, end := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
	if open < 0 || end < open {
		return p, 0, ErrUnknown
	}
	f := strings.Fields(string(text[end+1:]))
	if len(f) < 20 || f[0] == "Z" || f[0] == "X" { // it has ended, and its parent has not asked how
		return p, 0, ErrUnknown
	}
	p = Process{PID: pid, Parent: number(f[1]), Program: string(text[open+1 : end])}
	p.Started, _ = strconv.ParseUint(f[19], 10, 64)
	if tty = number(f[4]); tty != 0 {
		p.Session, p.Foreground = number(f[3]), number(f[2]) == number(f[5])
	}
	return p, tty, nil
}

// readStat reads the one line in half the system calls of os.ReadFile: each call of an agent waits for a few of them.
func readStat(pid int) ([]byte, error) {
	fd, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/stat", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	text := make([]byte, 2048) // some 50 numbers, and a name of at most 64 bytes
	n, err := unix.Read(fd, text)
	return text[:max(n, 0)], err
}

func find(pid int) (Process, error) {
	p, tty, err := stat(pid)
	if err != nil {
		return p, err
	}
	if tty != 0 {
		p.Terminal = device(tty)
	}
	p.Began = booted().Add(time.Duration(p.Started) * tick)
	dir := "/proc/" + strconv.Itoa(pid)
	if program, err := os.Readlink(dir + "/exe"); err == nil {
		p.Program = program
	}
	if args, err := os.ReadFile(dir + "/cmdline"); err == nil && len(args) > 0 {
		p.Args = strings.Split(strings.TrimSuffix(string(args), "\x00"), "\x00")
	}
	return p, nil
}

// tick is the unit of starts that the kernel tells programs in (USER_HZ, which is 100 everywhere).
const tick = 10 * time.Millisecond

// booted is when this machine began to run, by the clock as it is now.
func booted() time.Time {
	var up unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &up) != nil {
		return time.Time{}
	}
	return time.Now().Add(-time.Duration(up.Nano()))
}

func boot() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
}

func number(s string) int { n, _ := strconv.Atoi(s); return n }

// device is the path of a terminal of this number, which has to be that terminal now.
func device(tty int) string {
	major, minor := unix.Major(uint64(uint32(tty))), unix.Minor(uint64(uint32(tty)))
	path := fmt.Sprintf("/dev/pts/%d", minor)
	switch {
	case major == 4 && minor < 64:
		path = fmt.Sprintf("/dev/tty%d", minor)
	case major == 4:
		path = fmt.Sprintf("/dev/ttyS%d", minor-64)
	case major < 136 || major > 143:
		return ""
	}
	var s syscall.Stat_t
	if syscall.Stat(path, &s) != nil || unix.Major(s.Rdev) != major || unix.Minor(s.Rdev) != minor {
		return ""
	}
	return path
}
