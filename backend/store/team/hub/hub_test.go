package hub

import (
	"context"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"

	"deskbell/backend/human"
	"deskbell/backend/store/team"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		fmt.Fprintln(os.Stderr, runChild(dir))
		os.Exit(1)
	}
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("github.com/nats-io/nats-server/v2/server.init.0.func1"),
		goleak.IgnoreAnyFunction("github.com/nats-io/nats-server/v2/server.init.1.func1"),
		goleak.IgnoreAnyFunction("github.com/nats-io/nats-server/v2/server.(*ipQueue[...]).reset"))
}

// start runs a hub on loopback until the test ends or stop is called.
func start(t *testing.T, o Options) (h *Hub, stop func()) {
	t.Helper()
	h, stop = open(t, o)
	select {
	case <-h.Ready():
	case <-time.After(30 * time.Second):
		t.Fatal("the hub is not ready")
	}
	return h, stop
}

// open starts a hub that may have to wait for others.
func open(t *testing.T, o Options) (h *Hub, stop func()) {
	t.Helper()
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	o.Team, o.Addr, o.WebAddr = "Blue", "127.0.0.1:0", "127.0.0.1:0"
	h, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := h.Run(ctx); err != nil {
			t.Error(err)
		}
	}()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		<-done
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(stop)
	return h, stop
}

func invite(t *testing.T, h *Hub, member string, role team.Role) string {
	t.Helper()
	link, err := h.Office().Invite(t.Context(), member, role)
	if err != nil {
		t.Fatal(err)
	}
	return link
}

func join(t *testing.T, h *Hub, member string, role team.Role) Credentials {
	t.Helper()
	c, err := Join(t.Context(), invite(t, h, member, role), member)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A peer is a desk's connection, and what the server said that it may not do.
type peer struct {
	*nats.Conn
	t      *testing.T
	denied chan string
	closed chan struct{}
}

func connect(t *testing.T, c Credentials) *peer {
	t.Helper()
	p := &peer{t: t, denied: make(chan string, 1000), closed: make(chan struct{})}
	nc, err := c.Connect(nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { p.denied <- err.Error() }),
		nats.ClosedHandler(func(*nats.Conn) { close(p.closed) }))
	if err != nil {
		t.Fatal(err)
	}
	p.Conn = nc
	t.Cleanup(nc.Close)
	return p
}

func (p *peer) streams() jetstream.JetStream {
	p.t.Helper()
	js, err := jetstream.New(p.Conn)
	if err != nil {
		p.t.Fatal(err)
	}
	return js
}

const probe = "probe.that.none.may"

// denies says whether the server denied what do did.
func (p *peer) denies(do func() error) bool {
	p.t.Helper()
	if err := do(); err != nil {
		p.t.Fatal(err)
	}
	if err := p.Publish(probe, nil); err != nil {
		p.t.Fatal(err)
	}
	denied := false
	for {
		select {
		case what := <-p.denied:
			if strings.Contains(what, probe) {
				return denied
			}
			denied = true
		case <-time.After(10 * time.Second):
			p.t.Fatal("the server does not answer")
		}
	}
}

func (p *peer) publishes(subject string) bool {
	p.t.Helper()
	return !p.denies(func() error { return p.Publish(subject, []byte("{}")) })
}

func (p *peer) hears(subject string) bool {
	p.t.Helper()
	return !p.denies(func() error {
		_, err := p.SubscribeSync(subject)
		return err
	})
}

// Each role may do in each subject what the contract says, and nothing else.
func TestEveryRoleBySubject(t *testing.T) {
	t.Parallel()
	h, _ := start(t, Options{})
	all, writers, deciders, leads := team.Roles, []team.Role{team.AgentRole, team.OperatorRole, team.LeadRole}, []team.Role{team.OperatorRole, team.LeadRole}, []team.Role{team.LeadRole}
	var none []team.Role
	const api = "$JS.API."
	publish := []struct {
		subject string // @me is the desk's own name
		may     []team.Role
	}{
		{"op.op_1.@me.agent", writers},
		{"op.op_1.@me.operator", deciders},
		{"op.op_1.@me.other", none},
		{"op.op_1.@me", none},
		{"op.op_1.Victor=1.agent", none},
		{"op.op_1.Victor=1.operator", none},
		{"op.op_1.@me.operator.more", none},
		{"file.Victor=1.@me.any", []team.Role{team.OperatorRole, team.LeadRole, team.AuditorRole}},
		{"file.Victor=1.@me.answer", []team.Role{team.AgentRole}},
		{"file.Victor=1.Wanda=1.any", none},
		{"file.Victor=1.Wanda=1.answer", none},
		{"given.Victor=1.@me.ONCE", writers},
		{"given.Victor=1.Wanda=1.ONCE", none},
		{"given.@me.Victor=1.ONCE", none},
		{"$O.files.C.x", writers},
		{"$O.files.M.x", writers},
		{api + "STREAM.PURGE.OBJ_files", none},
		{"$KV.presence.@me", writers},
		{"$KV.presence.Victor=1", none},
		{"$KV.members.Victor", leads},
		{"$KV.members.@me", deciders},
		{"$KV.rules.rules", leads},
		{"$KV.rules.first", leads},
		{"$KV.hub.desk.@me", none},
		{"$KV.changes.x", none},
		{"office.@me.invite", leads},
		{"office.@me.remove", leads},
		{"office.@me.members", leads},
		{"office.@me.other", none},
		{"office.@me.desk", deciders},
		{"office.Victor=1.invite", none},
		{"office.Victor=1.desk", none},
		{api + "INFO", all},
		{api + "STREAM.INFO.OPERATIONS", all},
		{api + "STREAM.INFO.KV_members", all},
		{api + "STREAM.INFO.KV_hub", none},
		{api + "STREAM.NAMES", none},
		{api + "STREAM.LIST", none},
		{api + "STREAM.CREATE.X", none},
		{api + "STREAM.UPDATE.OPERATIONS", none},
		{api + "STREAM.DELETE.OPERATIONS", none},
		{api + "STREAM.PURGE.OPERATIONS", none},
		{api + "STREAM.PURGE.KV_members", none},
		{api + "STREAM.MSG.DELETE.OPERATIONS", none},
		{api + "STREAM.MSG.GET.KV_hub", none},
		{api + "STREAM.MSG.GET.KV_snapshots", all},
		{api + "STREAM.PURGE.KV_snapshots", none},
		{"$KV.snapshots.op_1", none},
		{"$KV.deletions.@me.op_1", leads},
		{"$KV.deletions.Victor=1.op_1", none},
		{"$KV.deletions.@me", none},
		{api + "STREAM.PURGE.KV_deletions", none},
		{api + "DIRECT.GET.KV_deletions.$KV.deletions.Victor=1.op_1", all},
		{api + "STREAM.SNAPSHOT.OPERATIONS", none},
		{api + "STREAM.RESTORE.OPERATIONS", none},
		{api + "DIRECT.GET.OPERATIONS", all},
		{api + "DIRECT.GET.OPERATIONS.op.op_1.Victor=1.agent", all},
		{api + "DIRECT.GET.KV_rules.$KV.rules.first", all},
		{api + "DIRECT.GET.KV_changes.$KV.changes.x", all},
		{api + "DIRECT.GET.KV_hub.$KV.hub.desk.@me", none},
		{api + "CONSUMER.CREATE.OPERATIONS.@me", all},
		{api + "CONSUMER.CREATE.OPERATIONS.@me.op.>", all},
		{api + "CONSUMER.CREATE.OPERATIONS.Victor=1", none},
		{api + "CONSUMER.CREATE.KV_hub.x", none},
		{api + "CONSUMER.INFO.OPERATIONS.@me", all},
		{api + "CONSUMER.MSG.NEXT.OPERATIONS.@me", all},
		{api + "CONSUMER.MSG.NEXT.OPERATIONS.Victor=1", none},
		{api + "CONSUMER.DELETE.OPERATIONS.Victor=1", none},
		{"$JS.ACK.OPERATIONS.@me.1.1.1.1.1", all},
		{"$JS.ACK.OPERATIONS.Victor=1.1.1.1.1.1", none},
		{"$SYS.REQ.SERVER.PING", none},
		{"_INBOX.Victor=1.x", none},
	}
	hear := []struct {
		subject string
		may     []team.Role
	}{
		{"_INBOX.@me.x.y", all},
		{"file.@me.*.*", writers},
		{"file.Victor=1.*.*", none},
		{"file.*.*.*", none},
		{"given.@me.*.*", all},
		{"given.Victor=1.*.*", none},
		{"given.>", none},
		{"$O.files.>", none},
		{"_INBOX.Victor=1.>", none},
		{"_INBOX.*.>", none},
		{">", none},
		{"office.*.*", none},
		{"office.>", none},
		{"op.>", none},
		{"$KV.>", none},
		{"$JS.>", none},
		{"$SYS.>", none},
	}
	for _, role := range all {
		member := "A " + string(role)
		p := connect(t, join(t, h, member, role))
		me := team.Desk(member, 1)
		for _, s := range publish {
			if got := p.publishes(strings.ReplaceAll(s.subject, "@me", me)); got != slices.Contains(s.may, role) {
				t.Errorf("%s publishes to %s: %t", role, s.subject, got)
			}
		}
		for _, s := range hear {
			if got := p.hears(strings.ReplaceAll(s.subject, "@me", me)); got != slices.Contains(s.may, role) {
				t.Errorf("%s subscribes to %s: %t", role, s.subject, got)
			}
		}
	}
}

// A desk works with what the hub made, by NATS' own client: it publishes under a version, reads with a durable consumer, and keeps and
// watches values.
func TestADeskWorksWithWhatTheHubMade(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	h, _ := start(t, Options{})
	c := join(t, h, "Ann Müller", team.LeadRole)
	if c.Desk != "Ann_20M_c3_bcller=1" || c.Role != team.LeadRole || c.Team != "Blue" || len(c.TeamKey) != 32 {
		t.Errorf("%+v", c)
	}
	if second := join(t, h, "Ann Müller", team.LeadRole); second.Desk != "Ann_20M_c3_bcller=2" {
		t.Errorf("the second desk is %s", second.Desk)
	}
	dir := t.TempDir()
	if _, err := Load(dir); human.KindOf(err) != human.NotFound {
		t.Error(err)
	}
	if err := c.Save(dir); err != nil {
		t.Fatal(err)
	}
	c, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	p := connect(t, c)
	js, err := jetstream.New(p.Conn)
	if err != nil {
		t.Fatal(err)
	}
	subject := team.Subject("op_1", c.Desk, team.ByAgent)
	first, err := js.Publish(ctx, subject, []byte("one"), jetstream.WithExpectLastSequenceForSubject(0, team.AllOf("op_1")), jetstream.WithMsgID("m1"))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := js.Publish(ctx, subject, []byte("one"), jetstream.WithMsgID("m1")); err != nil || !again.Duplicate {
		t.Errorf("a message that is there: %+v, %v", again, err)
	}
	if _, err := js.Publish(ctx, subject, []byte("two"), jetstream.WithExpectLastSequenceForSubject(0, team.AllOf("op_1"))); err == nil {
		t.Error("a version that is past is taken")
	}
	reader, err := js.CreateOrUpdateConsumer(ctx, team.Stream, jetstream.ConsumerConfig{Durable: c.Desk, AckPolicy: jetstream.AckExplicitPolicy})
	if err != nil {
		t.Fatal(err)
	}
	got, err := reader.Next()
	if err != nil {
		t.Fatal(err)
	}
	if meta, err := got.Metadata(); err != nil || meta.Sequence.Stream != first.Sequence || string(got.Data()) != "one" {
		t.Errorf("%q, %+v, %v", got.Data(), meta, err)
	}
	if err := got.DoubleAck(ctx); err != nil {
		t.Error(err)
	}
	for _, bucket := range []struct{ name, key string }{{team.Presence, c.Desk}, {team.Members, "Bob"}, {team.Rules, "first"}} {
		kv, err := js.KeyValue(ctx, bucket.name)
		if err != nil {
			t.Fatal(bucket.name, err)
		}
		if _, err := kv.Put(ctx, bucket.key, []byte("v")); err != nil {
			t.Error(bucket.name, err)
		}
		if v, err := kv.Get(ctx, bucket.key); err != nil || string(v.Value()) != "v" {
			t.Error(bucket.name, v, err)
		}
		w, err := kv.WatchAll(ctx)
		if err != nil {
			t.Fatal(bucket.name, err)
		}
		if e := <-w.Updates(); e == nil {
			t.Error(bucket.name, "is watched without a value")
		}
		if err := w.Stop(); err != nil {
			t.Error(bucket.name, err)
		}
	}
	files, err := js.ObjectStore(ctx, team.Files)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := files.PutBytes(ctx, "a", []byte("bytes")); err != nil {
		t.Error(err)
	}
	if b, err := files.GetBytes(ctx, "a"); err != nil || string(b) != "bytes" {
		t.Errorf("%q, %v", b, err)
	}
	select {
	case what := <-p.denied:
		t.Error(what)
	default:
	}
}

// Of many who use one link, and all read that it is good before any of them uses it, one joins.
func TestALinkWorksOnce(t *testing.T) {
	t.Parallel()
	const many = 10
	h, _ := start(t, Options{})
	link := invite(t, h, "Ann", team.OperatorRole)
	token, _, _ := strings.Cut(strings.TrimPrefix(link, h.URL()+"/join#"), ".")
	results := make(chan error)
	var read sync.WaitGroup
	read.Add(many)
	for range many {
		go func() {
			_, err := use(context.Background(), h.Office(), hashed(invitePrefix, token), func(invitation) error {
				read.Done()
				read.Wait()
				return nil
			})
			results <- err
		}()
	}
	joined := 0
	for range many {
		switch err := <-results; {
		case err == nil:
			joined++
		case human.KindOf(err) != human.Denied:
			t.Error(err)
		}
	}
	if _, err := Join(t.Context(), link, "Ann"); human.KindOf(err) != human.Denied || joined != 1 {
		t.Errorf("%d joined, and later %v", joined, err)
	}
}

// What the hub's commands do goes to the hub that runs, or into its files, and is there after a restart.
func TestTheOfficeOfAHubThatRunsAndOfOneThatDoesNot(t *testing.T) {
	t.Parallel()
	ctx, dir := t.Context(), t.TempDir()
	if _, err := Enter(ctx, dir); human.KindOf(err) != human.Unavailable {
		t.Error(err)
	}
	h, stop := start(t, Options{Dir: dir})
	if _, err := Open(ctx, Options{Dir: dir, Addr: "127.0.0.1:0", WebAddr: "127.0.0.1:0"}); human.KindOf(err) != human.Conflict {
		t.Errorf("a second hub on a folder: %v", err)
	}
	ann, bob := join(t, h, "Ann", team.LeadRole), join(t, h, "Bob", team.OperatorRole)
	p := connect(t, ann)
	in, err := Enter(ctx, dir)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := in.Remove(ctx, "Ann"); n != 1 || err != nil {
		t.Error(n, err)
	}
	if err := in.Close(); err != nil {
		t.Error(err)
	}
	<-p.denied // that it is revoked
	p.Close()
	stop()

	in, err = Enter(ctx, dir)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := in.Remove(ctx, "Bob"); n != 1 || err != nil {
		t.Error(n, err)
	}
	if _, err := in.Remove(ctx, "Bob"); human.KindOf(err) != human.NotFound {
		t.Error(err)
	}
	if err := in.Close(); err != nil {
		t.Error(err)
	}
	h, _ = start(t, Options{Dir: dir})
	for _, c := range []Credentials{ann, bob} {
		_, port, err := net.SplitHostPort(h.desks.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		c.URLs = []string{"tls://127.0.0.1:" + port}
		if nc, err := c.Connect(); human.KindOf(err) != human.Denied {
			t.Errorf("%s, who was removed: %v, %v", c.Member, nc, err)
		}
	}
	if cal := join(t, h, "Cal", team.AuditorRole); connect(t, cal).ConnectedUrl() == "" {
		t.Error("not connected")
	}
}
