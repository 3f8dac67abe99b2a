package hub

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"deskbell/backend/human"
	"deskbell/backend/store/team"
)

// childDir names the folder of the hub that this program is to be, instead of the tests.
const childDir = "DESKBELL_TEST_HUB"

// runChild runs a hub until it is killed, and prints a link.
func runChild(dir string) error {
	ctx := context.Background()
	h, err := Open(ctx, Options{Dir: dir, Team: "Blue", Addr: "127.0.0.1:0", WebAddr: "127.0.0.1:0"})
	if err != nil {
		return err
	}
	ended := make(chan error)
	go func() { ended <- h.Run(ctx) }()
	select {
	case err := <-ended:
		return err
	case <-h.Ready():
	}
	link, err := h.Office().Invite(ctx, "Ann", team.LeadRole)
	if err != nil {
		return err
	}
	fmt.Println(link)
	return <-ended
}

// A hub that is killed while desks publish has all that it acknowledged.
func TestAKilledHubHasAllThatItAcknowledged(t *testing.T) {
	t.Parallel()
	ctx, dir := t.Context(), t.TempDir()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childDir+"="+dir)
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	link, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	c, err := Join(ctx, strings.TrimSpace(link), "Ann")
	if err != nil {
		t.Fatal(err)
	}
	p := connect(t, c)
	js, err := jetstream.New(p.Conn)
	if err != nil {
		t.Fatal(err)
	}
	acknowledged := map[uint64]string{}
	var pending []jetstream.PubAckFuture
	for i := range 2000 {
		f, err := js.PublishAsync(team.Subject("op_1", c.Desk, team.ByAgent), fmt.Appendf(nil, "message %d", i))
		if err != nil {
			t.Fatal(err)
		}
		pending = append(pending, f)
	}
	note := func(f jetstream.PubAckFuture, a *jetstream.PubAck) { acknowledged[a.Sequence] = string(f.Msg().Data) }
	for _, f := range pending[:200] {
		select {
		case a := <-f.Ok():
			note(f, a)
		case err := <-f.Err():
			t.Fatal(err)
		}
	}
	invited, _ := p.asks(c.Desk, team.OfficeInvite, `{"member":"Bob","role":"operator"}`)
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait() // that it was killed
	for _, f := range pending[200:] {
		select {
		case a := <-f.Ok():
			note(f, a)
		default:
		}
	}
	p.Close()
	h, _ := start(t, Options{Dir: dir})
	s, err := h.Office().js.Stream(ctx, team.Stream)
	if err != nil {
		t.Fatal(err)
	}
	for seq, text := range acknowledged {
		if m, err := s.GetMsg(ctx, seq); err != nil || string(m.Data) != text {
			t.Fatalf("message %d: %v", seq, err)
		}
	}
	t.Logf("killed with %d of %d messages acknowledged", len(acknowledged), len(pending))
	if desks, err := h.Office().Desks(ctx); err != nil || len(desks) != 1 {
		t.Errorf("%v, %v", desks, err)
	}
	_, secrets, _ := strings.Cut(whole(invited, c), "#") // the hub is at another address now
	if bob, err := Join(ctx, h.URL()+"/join#"+secrets, "Bob"); err != nil || bob.Role != team.OperatorRole {
		t.Errorf("a link that the hub made before it was killed: %v", err)
	}
}

// Three hubs are one: what one acknowledges the others have, and any one may stop.
func TestThreeHubs(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	var dirs, routes []string
	for range 3 {
		dirs = append(dirs, t.TempDir())
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		routes = append(routes, l.Addr().String())
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	keys := filepath.Join(t.TempDir(), "keys")
	if _, err := Open(ctx, Options{Dir: dirs[0], Keys: keys, Team: "Blue", Addr: "127.0.0.1:0", WebAddr: "127.0.0.1:0"}); human.KindOf(err) != human.Invalid {
		t.Errorf("a hub makes the keys that others should share: %v", err)
	}
	for range 2 { // the second time, they stay
		if err := MakeKeys(keys, "Blue"); err != nil {
			t.Fatal(err)
		}
	}
	hubs, stops := make([]*Hub, 3), make([]func(), 3)
	for i := range hubs {
		hubs[i], stops[i] = open(t, Options{Dir: dirs[i], Keys: keys, ServerName: fmt.Sprint("n", i), ClusterAddr: routes[i], Routes: routes})
	}
	for _, h := range hubs {
		select {
		case <-h.Ready():
		case <-time.After(30 * time.Second):
			t.Fatal("the hubs do not find each other")
		}
	}
	in, err := Enter(ctx, dirs[1])
	if err != nil {
		t.Fatal(err)
	}
	if err := in.Close(); err != nil {
		t.Error(err)
	}
	c := join(t, hubs[0], "Ann", team.AgentRole)
	if len(c.URLs) != 3 {
		t.Fatalf("a desk connects to %v", c.URLs)
	}
	removed := join(t, hubs[1], "Rob", team.OperatorRole)
	p := connect(t, c)
	js, err := jetstream.New(p.Conn)
	if err != nil {
		t.Fatal(err)
	}
	// Of three hubs one does what a lead asks.
	lea := join(t, hubs[2], "Lea", team.LeadRole)
	lead := connect(t, lea)
	for i := range 9 {
		if r, _ := lead.asks(lea.Desk, team.OfficeInvite, fmt.Sprintf(`{"member":"Mei %d","role":"operator"}`, i)); r.Problem != 0 {
			t.Errorf("%+v", r)
		}
	}
	if noted := stored(t, hubs[1], "KV_"+team.Changes); len(noted) != 3*2+9 { // three were invited and joined
		t.Errorf("9 asks made %d changes", len(noted)-3*2)
	}
	sent := map[uint64]string{}
	publish := func(text string) {
		t.Helper()
		for {
			ack, err := js.Publish(ctx, team.Subject("op_1", c.Desk, team.ByAgent), []byte(text), jetstream.WithMsgID(text))
			if err == nil {
				sent[ack.Sequence] = text
				return
			}
			if ctx.Err() != nil {
				t.Fatal(err)
			}
		}
	}
	for i := range 100 {
		publish(fmt.Sprint("before ", i))
	}
	info, err := js.Stream(ctx, team.Stream)
	if err != nil {
		t.Fatal(err)
	}
	cluster := info.CachedInfo().Cluster
	if info.CachedInfo().Config.Replicas != 3 || len(cluster.Replicas) != 2 {
		t.Fatalf("%+v", info.CachedInfo())
	}
	leader := int(cluster.Leader[1] - '0')
	stops[leader]()
	for i := range 100 {
		publish(fmt.Sprint("after ", i))
	}
	if _, err := Open(ctx, Options{Dir: dirs[leader], Keys: keys, Addr: "127.0.0.1:0", WebAddr: "127.0.0.1:0"}); human.KindOf(err) != human.Invalid {
		t.Errorf("a hub of a cluster starts alone: %v", err)
	}
	left := hubs[(leader+1)%3]
	s, err := left.Office().js.Stream(ctx, team.Stream)
	if err != nil {
		t.Fatal(err)
	}
	for seq, text := range sent {
		if m, err := s.GetMsg(ctx, seq); err != nil || string(m.Data) != text {
			t.Fatalf("message %d: %v", seq, err)
		}
	}
	if len(sent) != 200 {
		t.Errorf("%d messages are stored for 200", len(sent))
	}
	// Who is removed on one hub is out on the others, too.
	removed.URLs = []string{"tls://" + hubs[(leader+2)%3].desks.Addr().String()}
	r := connect(t, removed)
	past := removed // the server's own listener, where answers are not checked
	past.URLs = []string{"tls://" + hubs[(leader+2)%3].server.Addr().String()}
	if nc, err := past.Connect(func(o *nats.Options) error { o.TLSHandshakeFirst = false; return nil }); human.KindOf(err) != human.Denied {
		t.Errorf("a desk goes past the hub's check: %v, %v", nc, err)
	}
	if _, err := left.Office().Remove(ctx, "Rob"); err != nil {
		t.Fatal(err)
	}
	select {
	case <-r.denied:
	case <-time.After(10 * time.Second):
		t.Error("who was removed on one hub stays connected to another")
	}
}
