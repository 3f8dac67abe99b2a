package api

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// Limits of the server.
const (
	headerTime  = 10 * time.Second // to send a request's headers
	idleTime    = 2 * time.Minute  // between two requests of a connection
	headerBytes = 64 << 10
	farewell    = 5 * time.Second  // for requests under way when it ends
	seenEvery   = 30 * time.Second // how often agents' last contact is stored
)

// Serve serves on a listener, which it takes over, until ctx ends; then it ends sockets and waits, lets
// requests under way finish, and returns nil. It can be called once.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	conns := newConnections(listener, s.deps.MaxConns, s.deps.Log)
	server := &http.Server{
		Handler: s, ConnState: conns.changed,
		ReadHeaderTimeout: headerTime, IdleTimeout: idleTime, MaxHeaderBytes: headerBytes,
		ErrorLog: slog.NewLogLogger(s.deps.Log.Handler(), slog.LevelDebug),
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(conns) }()
	tick := time.NewTicker(seenEvery)
	defer tick.Stop()
	var err error
	for serving := true; serving; {
		select {
		case <-tick.C:
			s.storeSeen(ctx)
		case err = <-ended:
			serving = false
		case <-ctx.Done():
			serving = false
		}
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
	defer cancel()
	if s.deps.EndWaits != nil {
		s.deps.EndWaits()
	}
	s.stop()
	if server.Shutdown(last) != nil {
		_ = server.Close() // it has had its time
	}
	s.Close()
	s.storeSeen(last)
	if err == nil {
		err = <-ended
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// connections bounds how many connections are open. Above the bound the one that has been idle longest
// makes room, so that no one starves the API by opening connections and saying nothing; when all are
// busy, the new one gets an error that says so.
type connections struct {
	net.Listener
	most int
	log  *slog.Logger

	mu    sync.Mutex
	count int
	idle  *list.List // of *connection: those that no request is using, the longest first
}

type connection struct {
	net.Conn
	in     *connections
	once   sync.Once
	place  *list.Element // in idle, or nil; guarded by connections.mu
	closed bool          // guarded by connections.mu
}

func newConnections(l net.Listener, most int, log *slog.Logger) *connections {
	return &connections{Listener: l, most: most, log: log, idle: list.New()}
}

// Accept implements net.Listener.
func (c *connections) Accept() (net.Conn, error) {
	for {
		conn, err := c.Listener.Accept()
		if err != nil {
			return nil, err
		}
		n := &connection{Conn: conn, in: c}
		if c.admit(n) {
			return n, nil
		}
		c.log.Warn("a connection was turned away: all are busy", "most", c.most)
		turnAway(conn)
	}
}

func (c *connections) admit(n *connection) bool {
	c.mu.Lock()
	var out *connection
	if c.count >= c.most {
		first := c.idle.Front()
		if first == nil {
			c.mu.Unlock()
			return false
		}
		out = first.Value.(*connection)
	}
	c.count++
	n.place = c.idle.PushBack(n)
	c.mu.Unlock()
	if out != nil {
		_ = out.Close() // no one was using it
	}
	return true
}

// turnAway says why, in the few bytes that always fit into a new connection's buffer.
func turnAway(conn net.Conn) {
	const body = `{"type":"about:blank","title":"Service Unavailable","status":503,"detail":"all connections are busy; try again in a moment","kind":"unavailable"}`
	_ = conn.SetWriteDeadline(time.Now().Add(time.Second))
	_, _ = fmt.Fprintf(conn, "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/problem+json\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	_ = conn.Close() // errors here concern only the one turned away
}

// net/http calls changed with what a connection does.
func (c *connections) changed(conn net.Conn, state http.ConnState) {
	n, ok := conn.(*connection)
	if !ok {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case n.closed:
	case state == http.StateIdle && n.place == nil:
		n.place = c.idle.PushBack(n)
	case (state == http.StateActive || state == http.StateHijacked) && n.place != nil:
		c.idle.Remove(n.place)
		n.place = nil
	}
}

// Close implements net.Conn. Until then a connection counts, whoever has taken it over.
func (n *connection) Close() error {
	n.once.Do(func() {
		n.in.mu.Lock()
		defer n.in.mu.Unlock()
		n.closed = true
		n.in.count--
		if n.place != nil {
			n.in.idle.Remove(n.place)
			n.place = nil
		}
	})
	return n.Conn.Close()
}
