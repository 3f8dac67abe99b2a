package app

import (
	"errors"

	"deskbell/backend/gate/callers"
	"deskbell/backend/human"
	"deskbell/backend/platform/processes"
)

// clientOf is the program that asks through a process: the process itself, or where it has a parent that it asks for, the
// first one above that is no shell; shells start hooks for clients, and end when the hook does. known is false where the numbers
// are not of this machine's processes, as a container's.
func clientOf(process, parent int) (id human.ProcessID, known bool) {
	p, err := processes.Find(process)
	if err != nil || parent > 0 && p.Parent != parent {
		return id, false
	}
	if parent > 0 {
		for _, p = range processes.Lineage(p)[1:] {
			if !callers.IsShell(p.Program) {
				break
			}
		}
		if p.PID == process || p.PID <= 1 {
			return id, false
		}
	}
	return human.ProcessID{PID: p.PID, Started: p.Started}, true
}

// alive says whether a program still runs; where that cannot be seen, it does.
func alive(id human.ProcessID) bool {
	p, err := processes.Glance(id.PID)
	if err != nil {
		return !errors.Is(err, processes.ErrUnknown)
	}
	return p.Started == id.Started
}
