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

	revokedEvery = time.Second // how often keys that another process revoked are looked for
)

// Serve serves on listeners, which it takes over, until ctx ends; then it ends sockets and waits, lets
// requests under way finish, and returns nil. It can be called once.
func (s *Server) Serve(ctx context.Context, listeners ...net.Listener) error {
	conns := newConnections(s.deps.MaxConns, s.deps.Log)
	server := &http.Server{
		Handler: s, ConnState: conns.changed, ConnContext: func(ctx context.Context, conn net.Conn) context.Context {
			return s.withCaller(conns.known(ctx, conn), conn)
		},
		ReadHeaderTimeout: headerTime, IdleTimeout: idleTime, MaxHeaderBytes: headerBytes,
		ErrorLog: slog.NewLogLogger(s.deps.Log.Handler(), slog.LevelDebug),
	}
	running, ended := len(listeners), make(chan error, len(listeners))
	for _, l := range listeners {
		if _, is := l.Addr().(*net.TCPAddr); is && s.url == "" {
			s.url = URL(l)
		}
	}
	s.phones.begin(ctx)
	for _, l := range listeners {
		go func() { ended <- server.Serve(counted{l, conns}) }()
	}
	tick, look := time.NewTicker(seenEvery), time.NewTicker(revokedEvery)
	defer tick.Stop()
	defer look.Stop()
	var err error
	for serving := true; serving; {
		select {
		case <-tick.C:
			s.storeSeen(ctx)
		case <-look.C:
			s.findRevoked(ctx)
		case err = <-ended:
			serving, running = false, running-1
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
	defer s.phones.end(last)()
	if server.Shutdown(last) != nil {
		_ = server.Close() // it has had its time
	}
	s.Close()
	s.storeSeen(last)
	for ; running > 0; running-- {
		if last := <-ended; !errors.Is(last, http.ErrServerClosed) {
			err = errors.Join(err, last)
		}
	}
	return err
}

// connections bounds how many connections are open. Those that no request with a key holds (see claim) are unclaimed:
// new, idle, not let in, or half a request. Above the bound the oldest of the caller's that has the most of them makes
// room, so that no one starves the API by opening connections and saying little; no caller has more than half of the
// bound. When all are claimed, the new one gets an error that says so.
type connections struct {
	most int
	log  *slog.Logger

	mu        sync.Mutex
	count     int
	unclaimed map[string]*list.List // by the caller's address, of *connection, the oldest first
}

type connection struct {
	net.Conn
	in     *connections
	caller string
	once   sync.Once
	place  *list.Element // among the unclaimed, or nil; guarded by connections.mu
	closed bool          // guarded by connections.mu
}

func newConnections(most int, log *slog.Logger) *connections {
	return &connections{most: most, log: log, unclaimed: map[string]*list.List{}}
}

// counted is a listener whose connections count.
type counted struct {
	net.Listener
	in *connections
}

// Accept implements net.Listener.
func (l counted) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		caller, _, _ := net.SplitHostPort(conn.RemoteAddr().String()) // none, for what is no TCP
		n := &connection{Conn: conn, in: l.in, caller: caller}
		if l.in.admit(n) {
			return n, nil
		}
		l.in.log.Warn("a connection was turned away: all are busy", "most", l.in.most)
		turnAway(conn)
	}
}

func (c *connections) admit(n *connection) bool {
	c.mu.Lock()
	from := c.unclaimed[n.caller]
	if from == nil || from.Len() < max(c.most/2, 1) {
		if from = nil; c.count >= c.most {
			for _, some := range c.unclaimed {
				if from == nil || some.Len() > from.Len() {
					from = some
				}
			}
			if from == nil {
				c.mu.Unlock()
				return false
			}
		}
	}
	var out *connection
	if from != nil {
		out = from.Front().Value.(*connection)
		c.forget(out)
	}
	c.count++
	c.wait(n)
	c.mu.Unlock()
	if out != nil {
		_ = out.Close() // whoever it was has had its time
	}
	return true
}

// wait puts a connection behind the unclaimed ones of its caller. The caller holds mu.
func (c *connections) wait(n *connection) {
	of := c.unclaimed[n.caller]
	if of == nil {
		of = list.New()
		c.unclaimed[n.caller] = of
	}
	n.place = of.PushBack(n)
}

// forget takes a connection out of the unclaimed ones. The caller holds mu.
func (c *connections) forget(n *connection) {
	if n.place == nil {
		return
	}
	of := c.unclaimed[n.caller]
	of.Remove(n.place)
	n.place = nil
	if of.Len() == 0 {
		delete(c.unclaimed, n.caller)
	}
}

type connectionKey struct{}

// known puts a connection, and who is at its other end, into the context of its requests.
func (c *connections) known(ctx context.Context, conn net.Conn) context.Context {
	return withPeer(context.WithValue(ctx, connectionKey{}, conn), conn)
}

// claim notes that a request with a key holds the connection of a request, until its answer.
func claim(r *http.Request) {
	n, ok := r.Context().Value(connectionKey{}).(*connection)
	if !ok {
		return
	}
	n.in.mu.Lock()
	defer n.in.mu.Unlock()
	n.in.forget(n)
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
	n, ok := under(conn).(*connection)
	if !ok {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if state == http.StateIdle && !n.closed && n.place == nil {
		c.wait(n)
	}
}

// Close implements net.Conn. Until then a connection counts, whoever has taken it over.
func (n *connection) Close() error {
	n.once.Do(func() {
		n.in.mu.Lock()
		defer n.in.mu.Unlock()
		n.closed = true
		n.in.count--
		n.in.forget(n)
	})
	return n.Conn.Close()
}
