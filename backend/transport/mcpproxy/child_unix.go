//go:build unix

package mcpproxy

import (
	"os"
	"syscall"
)

// ends says whether a signal asks a process to end.
func ends(s os.Signal) bool {
	return s == syscall.SIGINT || s == syscall.SIGTERM || s == syscall.SIGHUP || s == syscall.SIGQUIT
}

// passes says whether a signal is meant for the server.
func passes(s os.Signal) bool { return s != syscall.SIGPIPE }

// Signals are those that a proxy should be told of: those to pass on, and that of a client that has gone, which would
// otherwise end the process before it has ended the server.
func Signals() []os.Signal {
	return []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGPIPE}
}
