package hub

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"

	"deskbell/backend/human"
	"deskbell/backend/store/team"
)

// stored are the subjects of which there is a message in a stream.
func stored(t *testing.T, h *Hub, stream string) (subjects []string) {
	t.Helper()
	s, err := h.Office().js.Stream(t.Context(), stream)
	if err != nil {
		t.Fatal(err)
	}
	info, err := s.Info(t.Context(), jetstream.WithSubjectFilter(">"))
	if err != nil {
		t.Fatal(err)
	}
	for subject := range info.State.Subjects {
		subjects = append(subjects, subject)
	}
	slices.Sort(subjects)
	return subjects
}

// What a member of the team who means harm tries with NATS' own client. The server denies each.
func TestAttacksOfAMember(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	h, _ := start(t, Options{})
	victor := connect(t, join(t, h, "Victor", team.OperatorRole))
	victim, err := jetstream.New(victor.Conn)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := victim.Publish(ctx, "op.op_1.Victor=1.operator", []byte("approved")); err != nil {
		t.Fatal(err)
	}
	p := connect(t, join(t, h, "Mallory", team.AgentRole))
	inbox := p.NewInbox()
	for name, m := range map[string]*nats.Msg{
		"publishes in another's name":           {Subject: "op.op_1.Victor=1.agent"},
		"answers with the agent role":           {Subject: "op.op_1.Mallory=1.operator"},
		"says that another is there":            {Subject: "$KV.presence.Victor=1"},
		"makes itself a lead":                   {Subject: "$KV.members.Mallory", Data: []byte(`{"role":"lead"}`)},
		"says who is asked first":               {Subject: "$KV.rules.first"},
		"makes itself a desk of the hub's":      {Subject: "$KV.hub.desk.Mallory=1"},
		"deletes a message":                     {Subject: "$JS.API.STREAM.MSG.DELETE.OPERATIONS", Reply: inbox, Data: []byte(`{"seq":1}`)},
		"purges the journal":                    {Subject: "$JS.API.STREAM.PURGE.OPERATIONS", Reply: inbox},
		"deletes the journal":                   {Subject: "$JS.API.STREAM.DELETE.OPERATIONS", Reply: inbox},
		"lets the journal forget":               {Subject: "$JS.API.STREAM.UPDATE.OPERATIONS", Reply: inbox, Data: []byte(`{"name":"OPERATIONS","max_msgs":1}`)},
		"deletes another's place in it":         {Subject: "$JS.API.CONSUMER.DELETE.OPERATIONS.Victor=1", Reply: inbox},
		"says that another has read":            {Subject: "$JS.ACK.OPERATIONS.Victor=1.1.1.1.1.0"},
		"reads the hub's invitations":           {Subject: "$JS.API.DIRECT.GET.KV_hub.$KV.hub.>", Reply: inbox},
		"asks the servers":                      {Subject: "$SYS.REQ.SERVER.PING", Reply: inbox},
		"changes the account":                   {Subject: "$SYS.REQ.CLAIMS.UPDATE", Reply: inbox},
		"writes where a name has a wildcard":    {Subject: "op.op_1.*.agent"},
		"puts its name where the class belongs": {Subject: "op.op_1.Victor=1.Mallory=1"},
	} {
		if !p.denies(func() error { return p.PublishMsg(m) }) {
			t.Error("a desk", name)
		}
	}
	for name, subject := range map[string]string{
		"another's answers": "_INBOX.Victor=1.>", "everybody's answers": "_INBOX.>", "everything": ">", "the journal past its consumer": "op.>",
	} {
		if p.hears(subject) {
			t.Error("a desk hears", name)
		}
	}
	if got := stored(t, h, team.Stream); !slices.Equal(got, []string{"op.op_1.Victor=1.operator"}) {
		t.Errorf("stored is %q", got)
	}
	if got := stored(t, h, "KV_members"); !slices.Equal(got, []string{"$KV.members.Mallory", "$KV.members.Victor"}) {
		t.Errorf("members are %q", got)
	}
}

// What permissions do not cover: a desk has the server publish for it, in that it names another's subject, or a key that only leads
// change, as the place for an answer; and it deletes by a header. Its connection ends, and nothing is stored or deleted.
func TestAttacksPastThePermissions(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	h, _ := start(t, Options{})
	c := join(t, h, "Mallory", team.AgentRole)
	p := connect(t, c)
	js, err := jetstream.New(p.Conn)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.Publish(ctx, "op.op_1.Mallory=1.agent", []byte("bad events")); err != nil {
		t.Fatal(err)
	}
	if _, err := js.Publish(ctx, "$KV.presence.Mallory=1", []byte("bad events")); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Office().js.Publish(ctx, "$KV.presence.Victor=1", []byte("here")); err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateConsumer(ctx, team.Stream, jetstream.ConsumerConfig{Durable: "Mallory=1", AckPolicy: jetstream.AckExplicitPolicy}); err != nil {
		t.Fatal(err)
	}
	pushTo := func(subject string) string {
		return `{"stream_name":"KV_presence","config":{"name":"x","deliver_policy":"all","ack_policy":"none","deliver_subject":"` + subject + `"}}`
	}
	const create = "$JS.API.CONSUMER.CREATE.KV_presence.x.$KV.presence.>"
	for name, m := range map[string]*nats.Msg{
		"an answer to a read":               {Subject: "$JS.API.DIRECT.GET.KV_presence.$KV.presence.Mallory=1", Reply: "op.op_2.Victor=1.operator"},
		"an answer to a read, to members":   {Subject: "$JS.API.DIRECT.GET.KV_presence.$KV.presence.Mallory=1", Reply: "$KV.members.Mallory"},
		"the next message":                  {Subject: "$JS.API.CONSUMER.MSG.NEXT.OPERATIONS.Mallory=1", Reply: "op.op_2.Mallory=1.operator"},
		"the next message, by headers":      {Subject: "$JS.API.CONSUMER.MSG.NEXT.OPERATIONS.Mallory=1", Reply: "op.op_2.Mallory=1.operator", Header: nats.Header{"A": {"b"}}},
		"what follows an acknowledgement":   {Subject: "$JS.ACK.OPERATIONS.Mallory=1.1.1.1.1.0", Reply: "op.op_2.Victor=1.operator", Data: []byte("+NXT")},
		"an acknowledgement of publishing":  {Subject: "op.op_1.Mallory=1.agent", Reply: "op.op_2.Victor=1.operator"},
		"what a consumer pushes":            {Subject: create, Reply: p.NewInbox(), Data: []byte(pushTo("op.op_2.Victor=1.operator"))},
		"what a consumer pushes, second":    {Subject: create, Reply: p.NewInbox(), Data: []byte(pushTo("_INBOX.x") + pushTo("op.op_2.Victor=1.operator"))},
		"what a consumer pushes, by letter": {Subject: create, Reply: p.NewInbox(), Data: []byte(strings.Replace(pushTo("op.op_2.Victor=1.operator"), "deliver_subject", "Deliver_Subject", 1))},
		"what a consumer pushes, by header": {Subject: create, Reply: p.NewInbox(), Data: []byte(pushTo("op.op_2.Victor=1.operator")), Header: nats.Header{"A": {"b"}}},
		"all that is in a bucket, deleted":  {Subject: "$KV.presence.Mallory=1", Header: nats.Header{"Nats-Rollup": {"all"}}},
		"all that is there, second":         {Subject: "$KV.presence.Mallory=1", Header: nats.Header{"Nats-Rollup": {"sub", "all"}}},
		"all files":                         {Subject: "$O.files.M.x", Header: nats.Header{"nats-rollup": {"ALL"}}},
	} {
		p := connect(t, c)
		ended := make(chan struct{})
		p.SetDisconnectErrHandler(func(*nats.Conn, error) { close(ended) })
		if err := p.PublishMsg(m); err != nil {
			t.Fatal(name, err)
		}
		select {
		case <-ended:
		case <-time.After(10 * time.Second):
			t.Errorf("%s goes to another's subject", name)
		}
		p.Close()
	}
	if got := stored(t, h, team.Stream); !slices.Equal(got, []string{"op.op_1.Mallory=1.agent"}) {
		t.Errorf("stored is %q", got)
	}
	if got := stored(t, h, "KV_presence"); !slices.Equal(got, []string{"$KV.presence.Mallory=1", "$KV.presence.Victor=1"}) {
		t.Errorf("present are %q", got)
	}
}

// Bytes that one reader takes for one message and another for two do not come through.
func TestWhatTheServerReadsIsWhatWasChecked(t *testing.T) {
	t.Parallel()
	const forged = "PUB op.x.Victor=1.operator 2\r\nhi\r\n"
	for name, tt := range map[string]struct{ sent, passed string }{
		"as it is":              {"CONNECT {}\r\nPING\r\nSUB _INBOX.a.* 1\r\nPUB a 2\r\nhi\r\nPUB a _INBOX.b 0\r\n\r\nHPUB a 12 14\r\nNATS/1.0\r\n\r\nhi\r\n", "CONNECT {}\r\nPING\r\nSUB _INBOX.a.* 1\r\nPUB a 2\r\nhi\r\nPUB a _INBOX.b 0\r\n\r\nHPUB a 12 14\r\nNATS/1.0\r\n\r\nhi\r\n"},
		"tabs and bare ends":    {"PUB\ta 2\nhi\r\n", ""},
		"more spaces":           {"PUB  a \t _INBOX.b  2\nhi\r\n", "PUB a _INBOX.b 2\r\nhi\r\n"},
		"in small letters":      {"pub a 2\r\nhi\r\n", ""},
		"an end inside":         {"PUB a 2\rPUB b 2\r\nhi\r\n", ""},
		"a size that is less":   {"PUB a 1\r\nhi\r\n" + forged, "PUB a 1\r\nh"},
		"a size with a sign":    {"PUB a +2\r\nhi\r\n", ""},
		"a size that overflows": {"PUB a 18446744073709551617\r\n", ""},
		"too many headers":      {"HPUB a 20 2\r\nhi\r\n", ""},
		"an operation of hubs":  {"RMSG $G a 2\r\nhi\r\n", ""},
		"an empty one":          {"\r\n" + forged, ""},
		"no subject":            {"PUB 2\r\nhi\r\n", ""},
		"a reply too many":      {"PUB a _INBOX.b _INBOX.c 2\r\nhi\r\n", ""},
		"a long line":           {"SUB " + strings.Repeat("a", maxLine) + " 1\r\n", ""},
	} {
		var out bytes.Buffer
		if err := pass(&out, bufio.NewReaderSize(strings.NewReader(tt.sent), maxLine)); err == nil {
			t.Error(name, "does not end")
		}
		if !strings.HasPrefix(tt.passed, out.String()) || tt.sent == tt.passed && out.String() != tt.passed {
			t.Errorf("%s: passed is %q", name, out.String())
		}
	}
}

// Links and keys: each that is not good is denied.
func TestAttacksWithLinksAndKeys(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	now := time.Now()
	h, _ := start(t, Options{Now: func() time.Time { return now }})
	denied := func(name, link, member string) {
		t.Helper()
		if c, err := Join(ctx, link, member); human.KindOf(err) != human.Denied {
			t.Errorf("%s: %+v, %v", name, c.Desk, err)
		}
	}
	used := invite(t, h, "Ann", team.OperatorRole)
	ann, err := Join(ctx, used, "Ann")
	if err != nil {
		t.Fatal(err)
	}
	denied("a used link", used, "Ann")
	bobs := invite(t, h, "Bob", team.LeadRole)
	denied("another member's link", bobs, "Ann")
	token, rest, _ := strings.Cut(strings.TrimPrefix(bobs, h.URL()+"/join#"), ".")
	denied("a token that never was", h.URL()+"/join#"+secret()+"."+rest, "Bob")

	// In the middle stands a server that has another CA's certificate for the same address.
	// It would let the desk in, to have its messages.
	middle, _ := start(t, Options{})
	if err := middle.Office().create(ctx, hashed(invitePrefix, token), invitation{Member: "Bob", Role: team.LeadRole, Expires: now.Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	denied("a link with a wrong fingerprint", middle.URL()+"/join#"+token+"."+rest, "Bob")
	if c, err := tls.Dial("tcp", h.desks.Addr().String(), &tls.Config{}); err == nil {
		t.Error(c, "the hub's certificate is trusted by all")
	}
	if c, err := ann.Connect(func(o *nats.Options) error {
		o.Url = middle.URL()
		o.Servers = []string{"tls://" + middle.desks.Addr().String()}
		return nil
	}); err == nil {
		t.Error(c, "connects to another team's hub")
	}

	if _, err := Join(ctx, bobs, ""); err != nil {
		t.Errorf("a link whose attacks were denied is used up: %v", err)
	}
	// A person who is invited gives another desk's key as theirs, to have that desk removed with them.
	again := invite(t, h, "Cal", team.OperatorRole)
	token, _, _ = strings.Cut(strings.TrimPrefix(again, h.URL()+"/join#"), ".")
	pair, err := nkeys.FromSeed([]byte(ann.Seed))
	if err != nil {
		t.Fatal(err)
	}
	key, err := pair.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Office().join(ctx, joinRequest{Token: token, Key: key}); human.KindOf(err) != human.Denied {
		t.Error("joins with another's key:", err)
	}
	now = now.Add(inviteLife + time.Second)
	denied("an old link", again, "Cal")

	// A desk that is removed is out at once, and stays out. So does the link that its member has left.
	spare := invite(t, h, "Ann", team.OperatorRole)
	p := connect(t, ann)
	if n, err := h.Office().Remove(ctx, "Ann"); n != 1 || err != nil {
		t.Error(n, err)
	}
	select {
	case what := <-p.denied:
		if !strings.Contains(strings.ToLower(what), "revoked") {
			t.Errorf("a removed desk hears %q", what)
		}
	case <-time.After(10 * time.Second):
		t.Error("a removed desk stays connected")
	}
	p.Close()
	if _, err := ann.Connect(); human.KindOf(err) != human.Denied {
		t.Error("a revoked key:", err)
	}
	denied("a removed member's link", spare, "Ann")
	other := ann
	other.Seed = mustSeed(t)
	if _, err := other.Connect(); human.KindOf(err) != human.Denied {
		t.Error("another's credentials without their key:", err)
	}
}

func mustSeed(t *testing.T) string {
	t.Helper()
	pair, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	seed, err := pair.Seed()
	if err != nil {
		t.Fatal(err)
	}
	return string(seed)
}
