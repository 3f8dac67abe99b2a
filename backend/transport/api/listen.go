package api

import (
	"context"
	"errors"
	"net"
	"os"

	"deskbell/backend/human"
)

// Listen opens the address, or says who is in the way and what to do.
func Listen(ctx context.Context, addr string) (net.Listener, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err == nil {
		return l, nil
	}
	if errors.Is(err, errInUse) {
		return nil, human.Wrap(human.Unavailable, err,
			"%s is taken by another program; stop that program, or choose another address with --addr, DESKBELL_ADDR or server.addr (port 0 takes any free one)", addr)
	}
	return nil, human.Wrap(human.Unavailable, err,
		"Deskbell cannot listen on %s; choose another address with --addr, DESKBELL_ADDR or server.addr", addr)
}

// ListenSocket opens a Unix socket at a path, in place of one that a server left there. Only this user can connect.
func ListenSocket(path string) (net.Listener, error) {
	if info, err := os.Lstat(path); err == nil && info.Mode().Type() == os.ModeSocket {
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	l, err := net.Listen("unix", path)
	if err == nil {
		if err = os.Chmod(path, 0o600); err != nil {
			err = errors.Join(err, l.Close())
		}
	}
	if err != nil {
		return nil, err
	}
	return l, nil
}

// URL is where programs on this machine reach a server on a listener, without a slash at the end.
func URL(l net.Listener) string {
	host, port, _ := net.SplitHostPort(l.Addr().String()) // a TCP address always splits
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}
