package processes

import (
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

func peer(conn net.Conn) (Process, error) {
	pid, err := peerID(conn)
	if err != nil {
		return Process{}, err
	}
	p, err := find(pid)
	if err != nil { // another user's, or one that keeps itself from being seen, or has ended and left its socket to another
		err = ErrHidden
	}
	return p, err
}

// peerID looks a connection over TCP up in the system's table. A process may answer for another's socket only by having it handed over.
func peerID(conn net.Conn) (int, error) {
	c, is := conn.(*net.TCPConn)
	if !is {
		return 0, ErrUnknown
	}
	near, far := c.LocalAddr().(*net.TCPAddr).AddrPort(), c.RemoteAddr().(*net.TCPAddr).AddrPort()
	for _, six := range []bool{false, true} {
		if pid := owner(far, near, six); pid != 0 {
			return pid, nil
		}
	}
	return 0, ErrUnknown
}

var getExtendedTCPTable = windows.NewLazySystemDLL("iphlpapi.dll").NewProc("GetExtendedTcpTable")

const ownersOfConnections = 4 // TCP_TABLE_OWNER_PID_CONNECTIONS

// owner is the number of the process with the TCP socket of these two ends, of its own and the other; 0 where there is none. The
// layouts are those of MIB_TCPROW_OWNER_PID and MIB_TCP6ROW_OWNER_PID.
func owner(own, other netip.AddrPort, six bool) int {
	family, row, ownAt, otherAt, pidAt, bytes, gap := windows.AF_INET, 24, 4, 12, 20, 4, 0
	if six {
		family, row, ownAt, otherAt, pidAt, bytes, gap = windows.AF_INET6, 56, 0, 24, 52, 16, 4 // the scope's number
	}
	at := func(text []byte) netip.AddrPort {
		ip, _ := netip.AddrFromSlice(text[:bytes])
		return netip.AddrPortFrom(ip.Unmap(), binary.BigEndian.Uint16(text[bytes+gap:]))
	}
	plain := func(a netip.AddrPort) netip.AddrPort {
		return netip.AddrPortFrom(a.Addr().Unmap().WithZone(""), a.Port())
	}
	var size uint32
	for range 8 { // it may grow between the question for its size and the one for itself
		table := make([]byte, max(size, 4))
		size = uint32(len(table))
		failed, _, _ := getExtendedTCPTable.Call(uintptr(unsafe.Pointer(&table[0])), uintptr(unsafe.Pointer(&size)), 0, uintptr(family), ownersOfConnections, 0)
		if windows.Errno(failed) == windows.ERROR_INSUFFICIENT_BUFFER {
			size += uint32(16 * row)
			continue
		}
		if failed != 0 {
			return 0
		}
		for rows := table[4:min(4+row*int(binary.LittleEndian.Uint32(table)), len(table))]; len(rows) >= row; rows = rows[row:] {
			if at(rows[ownAt:]) == plain(own) && at(rows[otherAt:]) == plain(other) {
				return int(binary.LittleEndian.Uint32(rows[pidAt:]))
			}
		}
		return 0
	}
	return 0
}

func glance(pid int) (Process, error) {
	p, handle, err := open(pid)
	if err == nil {
		_ = windows.CloseHandle(handle)
	}
	return p, err
}

// open finds a process that runs: its number, its start (in 100 ns since 1601, as Windows counts) and its parent. The caller closes the handle.
func open(pid int) (p Process, handle windows.Handle, err error) {
	handle, err = windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if errors.Is(err, windows.ERROR_ACCESS_DENIED) {
		return p, 0, err
	}
	if err != nil || pid <= 0 {
		return p, 0, ErrUnknown
	}
	var began, ended, kernel, user windows.Filetime
	var code uint32
	var basic windows.PROCESS_BASIC_INFORMATION
	const stillActive = 259
	err = errors.Join(windows.GetProcessTimes(handle, &began, &ended, &kernel, &user), windows.GetExitCodeProcess(handle, &code),
		windows.NtQueryInformationProcess(handle, windows.ProcessBasicInformation, unsafe.Pointer(&basic), uint32(unsafe.Sizeof(basic)), nil))
	if err != nil || code != stillActive {
		_ = windows.CloseHandle(handle)
		return p, 0, ErrUnknown
	}
	return Process{
		PID: pid, Parent: int(basic.InheritedFromUniqueProcessId), Foreground: true, // what is typed goes to every program of a console
		Started: uint64(began.HighDateTime)<<32 | uint64(began.LowDateTime), Began: time.Unix(0, began.Nanoseconds()),
	}, handle, nil
}

func find(pid int) (Process, error) {
	p, handle, err := open(pid)
	if err != nil {
		return p, err
	}
	defer func() { _ = windows.CloseHandle(handle) }()
	var path [windows.MAX_LONG_PATH]uint16
	size := uint32(len(path))
	if windows.QueryFullProcessImageName(handle, 0, &path[0], &size) == nil {
		p.Program = windows.UTF16ToString(path[:size])
	}
	text := make([]byte, 1<<16) // a command line has at most 32,767 characters
	if windows.NtQueryInformationProcess(handle, windows.ProcessCommandLineInformation, unsafe.Pointer(&text[0]), uint32(len(text)), nil) == nil {
		line := (*windows.NTUnicodeString)(unsafe.Pointer(&text[0])).String()
		if args, err := windows.DecomposeCommandLine(line); err == nil {
			p.Args = args
		}
	}
	return p, nil
}

// pids are the numbers of all processes.
func pids() []int {
	snapshot, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPPROCESS, 0)
	if err != nil {
		return nil
	}
	defer func() { _ = windows.CloseHandle(snapshot) }()
	var all []int
	entry := windows.ProcessEntry32{Size: uint32(unsafe.Sizeof(windows.ProcessEntry32{}))}
	for err = windows.Process32First(snapshot, &entry); err == nil; err = windows.Process32Next(snapshot, &entry) {
		all = append(all, int(entry.ProcessID))
	}
	return all
}

func boot() string { return "" }
