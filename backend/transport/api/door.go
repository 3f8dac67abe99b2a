package api

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/boombuler/barcode/qr"

	"deskbell/backend/human"
)

// phoneConns is how many connections phones have at a time.
const phoneConns = 128

// near says whether a device at remote may connect to local.
type near func(local, remote netip.Addr) bool

// nearby lets in what is on a private network and is not this machine. Any program here could otherwise use what it found out of a
// phone's.
func nearby(local, remote netip.Addr) bool {
	local, remote = local.Unmap().WithZone(""), remote.Unmap().WithZone("")
	if !private(local) || !private(remote) {
		return false
	}
	own, err := ownAddresses()
	return err == nil && !slices.ContainsFunc(own, func(a ownAddress) bool { return a.Addr == remote })
}

// carrier is for networks inside a carrier's, and of some overlays.
var carrier = netip.MustParsePrefix("100.64.0.0/10")

func private(a netip.Addr) bool {
	return a.IsPrivate() || a.IsLinkLocalUnicast() || carrier.Contains(a)
}

type ownAddress struct {
	netip.Addr
	on string // the interface
}

// ownAddresses are all of this machine's.
func ownAddresses() ([]ownAddress, error) {
	links, err := net.Interfaces()
	if err != nil {
		return nil, err
	}
	var list []ownAddress
	for _, link := range links {
		addresses, err := link.Addrs()
		if err != nil {
			return nil, err
		}
		for _, a := range addresses {
			if prefix, err := netip.ParsePrefix(a.String()); err == nil {
				list = append(list, ownAddress{prefix.Addr().Unmap(), link.Name})
			}
		}
	}
	return list, nil
}

// door is the listener for phones. Its fields are guarded by phoneDoor.mu.
type door struct {
	life    context.Context // of the server; nil before it serves
	ended   bool
	addr    string // as it was opened
	server  *http.Server
	port    string
	host    string // the only one, or empty
	served  chan struct{}
	problem error // why it is closed though it should be open
}

type doorKey struct{}

// byPhone says whether a request came in by the door for phones.
func byPhone(r *http.Request) bool { return r.Context().Value(doorKey{}) != nil }

// under is a connection without TLS.
func under(conn net.Conn) net.Conn {
	if t, is := conn.(*tls.Conn); is {
		return t.NetConn()
	}
	return conn
}

// begin opens the door where it should be open, until end.
func (p *phoneDoor) begin(ctx context.Context) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.life = ctx
	if err := p.load(); err != nil {
		p.deps.Log.Error("the list of phones cannot be read", "err", err)
	}
	if err := p.follow(); err != nil {
		p.deps.Log.Error("phones cannot come in", "err", err)
	}
}

// changed opens or closes the door as the settings now say.
func (p *phoneDoor) changed() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.follow(); err != nil {
		p.deps.Log.Error("phones cannot come in", "err", err)
	}
	if open, _ := p.Door(); !open {
		p.sessions.dropPhones("")
	}
}

// end closes the door, and returns what waits for its requests.
func (p *phoneDoor) end(ctx context.Context) (wait func()) {
	if p == nil {
		return func() {}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	return p.shut(ctx)
}

// shut closes the door, if it is open. The caller holds mu.
func (p *phoneDoor) shut(ctx context.Context) (wait func()) {
	server, served := p.server, p.served
	if server == nil {
		return func() {}
	}
	p.server, p.served = nil, nil
	return func() {
		if server.Shutdown(ctx) != nil {
			_ = server.Close() // it has had its time
		}
		<-served
	}
}

// follow opens or closes the door as the settings say. The caller holds mu.
func (p *phoneDoor) follow() error {
	open, addr := p.Door()
	if p.life == nil || p.ended || open == (p.server != nil) && (!open || addr == p.addr) {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(p.life), time.Second)
	defer cancel()
	p.shut(ctx)()
	if p.problem = nil; !open {
		return nil
	}
	p.problem = p.opens(addr)
	return p.problem
}

func (p *phoneDoor) opens(addr string) error {
	l, err := (&net.ListenConfig{}).Listen(p.life, "tcp", addr)
	if errors.Is(err, errInUse) {
		return human.Wrap(human.Unavailable, err, "%s is taken by another program; choose another address for phones in the setting phone.addr", addr)
	}
	if err != nil {
		return human.Wrap(human.Unavailable, err, "Deskbell cannot listen on %s for phones; choose another address in the setting phone.addr", addr)
	}
	p.addr = addr
	p.host, _, _ = net.SplitHostPort(addr) // it was listened on
	if ip, err := netip.ParseAddr(p.host); err == nil && ip.IsUnspecified() {
		p.host = ""
	}
	_, p.port, _ = net.SplitHostPort(l.Addr().String())
	conns := newConnections(phoneConns, p.deps.Log)
	server := &http.Server{
		Handler: p.Server, ConnState: conns.changed, Protocols: new(http.Protocols),
		ConnContext: func(ctx context.Context, conn net.Conn) context.Context {
			return context.WithValue(conns.known(ctx, under(conn)), doorKey{}, p)
		},
		ReadHeaderTimeout: headerTime, IdleTimeout: idleTime, MaxHeaderBytes: headerBytes,
		ErrorLog:  slog.NewLogLogger(p.deps.Log.Handler(), slog.LevelDebug),
		TLSConfig: &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: p.certificate},
	}
	server.Protocols.SetHTTP1(true) // WebSockets
	let := p.Near
	if let == nil {
		let = nearby
	}
	served := make(chan struct{})
	p.server, p.served = server, served
	go func() {
		defer close(served)
		if err := server.ServeTLS(counted{inner{l, let, p.deps.Log}, conns}, "", ""); !errors.Is(err, http.ErrServerClosed) {
			p.deps.Log.Error("the door for phones closed by itself", "err", err)
		}
	}()
	p.deps.Log.Info("phones can come in", "addr", l.Addr().String())
	return nil
}

// certificate is that for a new connection. The address it came in on may be new.
func (p *phoneDoor) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	hosts, err := p.hosts()
	if err != nil {
		return nil, err
	}
	if local, is := hello.Conn.LocalAddr().(*net.TCPAddr); is && !slices.Contains(hosts, local.IP.String()) {
		hosts = append(hosts, local.IP.String())
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	c, err := p.Store.Certificate(hosts)
	return &c, err
}

// inner is a listener that takes connections of near devices only.
type inner struct {
	net.Listener
	near near
	log  *slog.Logger
}

// Accept implements net.Listener.
func (l inner) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		local, err := netip.ParseAddrPort(conn.LocalAddr().String())
		remote, err2 := netip.ParseAddrPort(conn.RemoteAddr().String())
		if errors.Join(err, err2) == nil && l.near(local.Addr(), remote.Addr()) {
			return conn, nil
		}
		l.log.Warn("a connection to the address for phones was turned away: it is of this machine, or not of its network", "from", conn.RemoteAddr().String())
		_ = conn.Close() // it concerns only the one turned away
	}
}

// hostNames are the names of this machine that phones may find it by.
func hostNames() []string {
	name, err := os.Hostname()
	if err != nil || name == "" {
		return nil
	}
	name, _, _ = strings.Cut(strings.ToLower(name), ".")
	if _, err := netip.ParseAddr(name); err == nil || strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-'
	}) {
		return nil
	}
	return []string{name, name + ".local"}
}

// hosts are the names and addresses that the certificate is for.
func (p *phoneDoor) hosts() ([]string, error) {
	own, err := ownAddresses()
	if err != nil {
		return nil, human.Wrap(human.Unavailable, err, "the addresses of this machine cannot be found out: %v", err)
	}
	list := hostNames()
	for _, a := range own {
		if private(a.Addr) && !a.IsLinkLocalUnicast() {
			list = append(list, a.String())
		}
	}
	return list, nil
}

// reach is where phones find the door, the best address first, and its certificate. The caller holds mu.
func (p *phoneDoor) reach() ([]string, tls.Certificate, error) {
	if p.server == nil {
		if p.problem != nil {
			return nil, tls.Certificate{}, p.problem
		}
		return nil, tls.Certificate{}, human.Errorf(human.Unavailable, "Deskbell does not listen for phones")
	}
	hosts, err := p.hosts()
	if err != nil {
		return nil, tls.Certificate{}, err
	}
	own, err := ownAddresses()
	if err != nil {
		return nil, tls.Certificate{}, err
	}
	var list []string
	if p.host != "" {
		list = append(list, p.host)
		if !slices.Contains(hosts, p.host) {
			hosts = append(hosts, p.host)
		}
	} else {
		list = reachable(own)
	}
	c, err := p.Store.Certificate(hosts)
	if err != nil {
		return nil, c, err
	}
	if len(list) == 0 {
		return nil, c, human.Errorf(human.Unavailable, "this machine has no address in a private network, so no phone can reach it; connect it to the network of the phone")
	}
	for i, host := range list {
		list[i] = "https://" + net.JoinHostPort(host, p.port)
	}
	return list, c, nil
}

// reachable are the addresses that phones can be expected to reach: no bridges to containers, IPv4 first, and first that by which
// this machine goes elsewhere.
func reachable(own []ownAddress) []string {
	first := ""
	if conn, err := net.Dial("udp4", "192.0.2.1:9"); err == nil { // which sends nothing
		first = conn.LocalAddr().(*net.UDPAddr).IP.String()
		_ = conn.Close()
	}
	var list []ownAddress
	for _, a := range own {
		if private(a.Addr) && !a.IsLinkLocalUnicast() && !slices.ContainsFunc([]string{"docker", "br-", "virbr", "veth", "vnet", "lxc", "cni"}, func(p string) bool { return strings.HasPrefix(a.on, p) }) {
			list = append(list, a)
		}
	}
	rank := func(a ownAddress) int {
		switch {
		case a.String() == first:
			return 0
		case a.Is4():
			return 1
		}
		return 2
	}
	slices.SortStableFunc(list, func(a, b ownAddress) int { return cmp.Compare(rank(a), rank(b)) })
	names := make([]string, 0, len(list))
	for _, a := range list {
		names = append(names, a.String())
	}
	return names
}

// named says whether a request at the door names this machine: the address it came in on, or a name of it, with the door's port.
func (p *phoneDoor) named(r *http.Request, host, port string) bool {
	local, _ := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if local == nil || port != strconv.Itoa(local.Port) && (port != "" || local.Port != 443) {
		return false
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.Equal(local.IP) || slices.Contains(hostNames(), strings.ToLower(strings.TrimSuffix(host, ".")))
}

// phoneCalls are the calls of phones: reading what waits and answering it. Rules, keys, settings and recordings are for the computer.
var phoneCalls = func() map[string]bool {
	calls := map[string]bool{}
	for method, paths := range map[string][]string{
		http.MethodGet: {
			"/healthz", "/api/ws", "/api/attempts", "/api/gate", "/api/gate/questions/{id}", "/api/gate/questions/{id}/difference",
			"/api/human/operations", "/api/human/operations/{id}", "/api/human/operations/{id}/events", "/api/human/operations/{id}/receipts",
			"/api/human/operations/{id}/chain", "/api/human/operations/{id}/evidence", "/api/human/operations/{id}/evidence/{label}",
			"/api/human/operations/{id}/evidence/{label}/picture", "/api/human/operations/{id}/summaries",
			"/api/plans/{session_id}", "/api/plans/{session_id}/history", "/api/plan-confirming", "/api/phone", "/api/stepup",
			"/api/attachments/{id}", "/api/attachments/{id}/info",
		},
		http.MethodPost: {
			"/api/attachments", "/api/phone/pair", "/api/phone/session", "/api/receipts/verify", "/api/stepup", "/api/gate/questions/{id}/answer", "/api/plans/{session_id}/response", "/api/plans/{session_id}/assess",
			"/api/human/claim", "/api/human/comment", "/api/human/complete", "/api/human/decline", "/api/human/input", "/api/human/release", "/api/human/reply",
			"/api/human/seen", "/api/human/shown", "/api/human/snooze", "/api/human/start", "/api/human/undo",
			"/api/operations/{id}/handover",
		},
		http.MethodDelete: {"/api/session", "/api/phone/devices/{id}"}, // its own alone
	} {
		for _, path := range paths {
			calls[method+" "+path] = true
		}
	}
	return calls
}()

// phoneCallList is phoneCalls in a fixed order.
var phoneCallList = slices.Sorted(maps.Keys(phoneCalls))

func errAtComputer() error {
	return human.Errorf(human.Denied, "this cannot be done from a phone; use Deskbell on the computer")
}

// forPhones says whether a request is for a call that phones may make.
func (s *Server) forPhones(r *http.Request) bool {
	_, pattern := s.handler.Handler(r)
	return phoneCalls[pattern]
}

func base64Of(b []byte) string { return base64.StdEncoding.EncodeToString(b) }

// qrSVG is a text as a QR code, dark on light in any theme, with the quiet zone of four modules that scanners need.
func qrSVG(text string) (string, error) {
	code, err := qr.Encode(text, qr.M, qr.Auto)
	if err != nil {
		return "", err
	}
	const quiet = 4
	size := code.Bounds().Dx()
	var path strings.Builder
	for y := range size {
		for x := range size {
			if r, _, _, _ := code.At(x, y).RGBA(); r == 0 {
				fmt.Fprintf(&path, "M%d %dh1v1h-1z", x+quiet, y+quiet)
			}
		}
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %[1]d %[1]d" shape-rendering="crispEdges"><rect width="%[1]d" height="%[1]d" fill="#fff"/><path d="%[2]s" fill="#000"/></svg>`,
		size+2*quiet, path.String()), nil
}
