package processes

import (
	"errors"
	"net"

	"deskbell/backend/gate/callers"
)

// System are the processes of this machine, as callers.Service asks for them.
type System struct{}

var _ callers.Processes = System{}

// Peer implements callers.Processes.
func (System) Peer(conn net.Conn) (Process, error) {
	p, err := Peer(conn)
	if errors.Is(err, ErrHidden) {
		err = callers.ErrHidden
	}
	return p, err
}

// PeerID implements callers.Processes.
func (System) PeerID(conn net.Conn) (int, error) { return PeerID(conn) }

// Find implements callers.Processes.
func (System) Find(pid int) (Process, error) { return Find(pid) }

// Glance implements callers.Processes.
func (System) Glance(pid int) (Process, error) { return Glance(pid) }

// Lineage implements callers.Processes.
func (System) Lineage(p Process) []Process { return Lineage(p) }

// Boot implements callers.Processes.
func (System) Boot() string { return Boot() }
