//go:build unix

package team_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// nodeVariable has a node's options: with it, the test's program is that node, and no test.
const nodeVariable = "DESKBELL_TEAM_NODE"

func TestMain(m *testing.M) {
	if options := os.Getenv(nodeVariable); options != "" {
		if err := beNode(options); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if options := os.Getenv(deskVariable); options != "" {
		if err := beDesk(options); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// nodeOptions are what a node is started with.
type nodeOptions struct {
	Name          string
	Client, Route int // its ports
	Routes        []string
	Dir           string
	MaxStore      int64
	SlowSync      time.Duration // how much longer each fsync takes; there is one for each message then
}

// beNode serves until its parent is gone.
func beNode(options string) error {
	var o nodeOptions
	if err := json.Unmarshal([]byte(options), &o); err != nil {
		return err
	}
	if o.SlowSync > 0 {
		if err := slowSync(o.Dir, o.SlowSync); err != nil {
			fmt.Fprintf(os.Stderr, "%s syncs each message, but its disk is no slower than it is: %v\n", o.Name, err)
		}
	}
	s, err := server.NewServer(&server.Options{
		SyncAlways: o.SlowSync > 0,
		ServerName: o.Name, Host: "127.0.0.1", Port: o.Client, JetStream: true, StoreDir: o.Dir, JetStreamMaxStore: o.MaxStore, NoSigs: true,
		NoLog: true, MaxPayload: 8 << 20, PingInterval: 2 * time.Second, MaxPingsOut: 2,
		Cluster: server.ClusterOpts{Name: "team", Host: "127.0.0.1", Port: o.Route, NoAdvertise: true, PoolSize: -1},
		Routes:  server.RoutesFromStr(join(o.Routes)),
	})
	if err != nil {
		return err
	}
	s.Start()
	if !s.ReadyForConnections(20 * time.Second) {
		return errors.New("the node does not start")
	}
	fmt.Println("ready")
	_, err = io.Copy(io.Discard, os.Stdin)
	s.Shutdown()
	return err
}

func join(routes []string) (all string) {
	for i, r := range routes {
		if i > 0 {
			all += ","
		}
		all += r
	}
	return all
}

// The directions in which a proxy forwards.
const (
	forth = iota // to the server
	back
)

// A proxy forwards connections to a port, and can stop doing so.
type proxy struct {
	listener net.Listener
	target   string
	working  sync.WaitGroup

	mu      sync.Mutex
	conns   map[net.Conn]bool
	down    bool             // takes no connections
	stalled [2]chan struct{} // not nil: nothing gets through until it is closed
	delay   time.Duration
	passed  func(direction int, part []byte) // after each part that was forwarded
}

func newProxy(tb testing.TB, port int) *proxy {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	p := &proxy{listener: l, target: fmt.Sprint("127.0.0.1:", port), conns: map[net.Conn]bool{}}
	p.working.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			p.working.Go(func() { p.serve(c) })
		}
	})
	tb.Cleanup(func() {
		_ = l.Close()
		p.cut()
		p.unstall()
		p.working.Wait()
	})
	return p
}

func (p *proxy) address() string { return p.listener.Addr().String() }

// track notes a connection; it says whether the proxy takes one.
func (p *proxy) track(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.down {
		return false
	}
	p.conns[c] = true
	return true
}

func (p *proxy) untrack(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
	_ = c.Close()
}

func (p *proxy) serve(client net.Conn) {
	defer p.untrack(client)
	if !p.track(client) {
		return
	}
	upstream, err := net.DialTimeout("tcp", p.target, time.Second)
	if err != nil {
		return
	}
	defer p.untrack(upstream)
	if !p.track(upstream) {
		return
	}
	var both sync.WaitGroup
	both.Go(func() { p.forward(forth, upstream, client) })
	both.Go(func() { p.forward(back, client, upstream) })
	both.Wait()
}

func (p *proxy) forward(direction int, to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		for n > 0 {
			p.mu.Lock()
			stalled, delay := p.stalled[direction], p.delay
			p.mu.Unlock()
			if stalled != nil {
				<-stalled
				continue
			}
			if delay > 0 {
				<-time.After(delay)
			}
			break
		}
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
			p.mu.Lock()
			passed := p.passed
			p.mu.Unlock()
			if passed != nil {
				passed(direction, buffer[:n])
			}
		}
		if err != nil {
			return
		}
	}
}

// stall keeps everything back that goes in a direction.
func (p *proxy) stall(direction int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stalled[direction] == nil {
		p.stalled[direction] = make(chan struct{})
	}
}

// unstall lets through what was kept back.
func (p *proxy) unstall() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, c := range p.stalled {
		if c != nil {
			close(c)
		}
		p.stalled[i] = nil
	}
}

// watch has do called after each part that was forwarded.
func (p *proxy) watch(do func(direction int, part []byte)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.passed = do
}

// cut ends all connections, loses what was kept back, and takes no new ones.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = true
	for c := range p.conns {
		_ = c.Close()
	}
}

// heal has everything work as at first.
func (p *proxy) heal() {
	p.unstall()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down, p.delay, p.passed = false, 0, nil
}

func (p *proxy) slow(by time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay = by
}

// A node is a server of the team in a process of its own.
type node struct {
	o     nodeOptions
	cmd   *exec.Cmd
	stdin io.Closer
	ended chan struct{}
}

func (n *node) start(tb testing.TB) {
	tb.Helper()
	options, err := json.Marshal(n.o)
	if err != nil {
		tb.Fatal(err)
	}
	n.cmd = exec.Command(os.Args[0], "-test.run=^$")
	n.cmd.Env = append(os.Environ(), nodeVariable+"="+string(options))
	n.cmd.Stderr = os.Stderr
	in, err := n.cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	out, err := n.cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := n.cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	n.stdin, n.ended = in, make(chan struct{})
	line, err := bufio.NewReader(out).ReadString('\n')
	go func() { _ = n.cmd.Wait(); close(n.ended) }()
	if err != nil {
		tb.Fatalf("%s does not start: %q, %v", n.o.Name, line, err)
	}
}

// kill ends the node as a loss of power does.
func (n *node) kill() {
	_ = n.cmd.Process.Kill()
	<-n.ended
	_ = n.stdin.Close()
}

// A cluster is three nodes, whose connections to each other go through proxies.
type cluster struct {
	nodes  [3]*node
	routes [3][3]*proxy // from, to
}

// freePort is one that no system gives away by itself, as a node that was killed needs it again.
func freePort(tb testing.TB) int {
	tb.Helper()
	for range 1000 {
		port := 20000 + rand.IntN(12000)
		if l, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", port)); err == nil {
			_ = l.Close()
			return port
		}
	}
	tb.Fatal("there is no free port")
	return 0
}

func newCluster(tb testing.TB) *cluster {
	tb.Helper()
	c := &cluster{}
	dir := tb.TempDir()
	for i := range c.nodes {
		name := fmt.Sprint("node", i+1)
		c.nodes[i] = &node{o: nodeOptions{Name: name, Client: freePort(tb), Route: freePort(tb), Dir: filepath.Join(dir, name), MaxStore: 1 << 30}}
	}
	for i, from := range c.nodes {
		for k, to := range c.nodes {
			if i != k {
				c.routes[i][k] = newProxy(tb, to.o.Route)
				from.o.Routes = append(from.o.Routes, "nats://"+c.routes[i][k].address())
			}
		}
	}
	var starting sync.WaitGroup
	for _, n := range c.nodes {
		starting.Go(func() { n.start(tb) })
	}
	starting.Wait()
	tb.Cleanup(func() {
		for _, n := range c.nodes {
			n.kill()
		}
	})
	c.admin(tb, func(ctx context.Context, _ *nats.Conn, js jetstream.JetStream) error {
		return streams(ctx, js, 3)
	})
	return c
}

// urls are the nodes' own, past all proxies.
func (c *cluster) urls() string {
	all := make([]string, len(c.nodes))
	for i, n := range c.nodes {
		all[i] = fmt.Sprint("nats://127.0.0.1:", n.o.Client)
	}
	return join(all)
}

// admin has do done, which is tried until it works.
func (c *cluster) admin(tb testing.TB, do func(context.Context, *nats.Conn, jetstream.JetStream) error) {
	tb.Helper()
	eventually(tb, 60*time.Second, "a request to the nodes", func() error {
		conn, err := nats.Connect(c.urls())
		if err != nil {
			return err
		}
		defer conn.Close()
		js, err := jetstream.New(conn)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		return do(ctx, conn, js)
	})
}

// eventually tries until there is no error.
func eventually(tb testing.TB, within time.Duration, what string, do func() error) {
	tb.Helper()
	late := time.NewTimer(within)
	defer late.Stop()
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for {
		err := do()
		if err == nil {
			return
		}
		select {
		case <-again.C:
		case <-late.C:
			tb.Fatalf("%s: %v", what, err)
		}
	}
}

// pause waits for so long, which is the length of a fault and no condition of a test.
func pause(d time.Duration) { <-time.After(d) }
