package pty

import "golang.org/x/sys/unix"

const getTermios = unix.TIOCGETA

// session are the processes of a session.
func session(id int) (all []int) {
	list, err := unix.SysctlKinfoProcSlice("kern.proc.uid", unix.Getuid())
	if err != nil {
		return nil
	}
	for i := range list {
		pid := int(list[i].Proc.P_pid)
		if sid, err := unix.Getsid(pid); err == nil && sid == id {
			all = append(all, pid)
		}
	}
	return all
}
