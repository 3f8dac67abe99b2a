package hub

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"

	"deskbell/backend/human"
	"deskbell/backend/store/team"
)

// ownBucket is what the hub remembers; no role has a permission for it. Its keys begin with one of the prefixes.
const (
	ownBucket    = "hub"
	deskPrefix   = "desk."
	invitePrefix = "invite."
	loginPrefix  = "login."
	nodePrefix   = "node."
	seenPrefix   = "seen."
)

// How long one-time links are good.
const (
	inviteLife = 24 * time.Hour
	loginLife  = 10 * time.Minute
)

// A Desk is one Deskbell that joined.
type Desk struct {
	Name    string    `json:"name"` // as in subjects
	Member  string    `json:"member"`
	Role    team.Role `json:"role"`
	Machine string    `json:"machine,omitempty"` // as its member calls it
	Key     string    `json:"key"`               // the public half of its nkey
	Joined  time.Time `json:"joined"`

	Removed *time.Time `json:"removed,omitempty"`
}

// An invitation is good once. Its key in the bucket has the hash of its token.
type invitation struct {
	Member  string    `json:"member"`
	Role    team.Role `json:"role"`
	Expires time.Time `json:"expires"`
}

// An Office says who is in the team. Its methods are safe for concurrent use, on any hub of a cluster.
type Office struct {
	nc    *nats.Conn
	js    jetstream.JetStream
	kv    jetstream.KeyValue // ownBucket
	keys  *keys
	now   func() time.Time
	web   string // the address of the web page
	close func() error
}

// newOffice connects to the server in this process and makes what a team shares. In a cluster it waits for other hubs.
func newOffice(ctx context.Context, s *server.Server, k *keys, o Options) (*Office, error) {
	nc, err := inProcess(s, k.Account)
	if err != nil {
		return nil, human.Wrap(human.Internal, err, "the hub cannot reach its own server")
	}
	f := &Office{nc: nc, keys: k, now: o.Now, close: func() error { nc.Close(); return nil }}
	if f.js, err = jetstream.New(nc); err != nil {
		nc.Close()
		return nil, err
	}
	patience := 10 * time.Second
	if o.ClusterAddr != "" {
		patience = 2 * time.Second
	}
	again := time.NewTicker(250 * time.Millisecond)
	defer again.Stop()
	for {
		// What is asked while hubs find each other is lost, and has no answer.
		attempt, cancel := context.WithTimeout(ctx, patience)
		f.kv, err = makeStreams(attempt, f.js, o.Replicas)
		cancel()
		if err == nil {
			return f, nil
		}
		if o.ClusterAddr == "" || ctx.Err() != nil {
			nc.Close()
			return nil, human.Wrap(human.Internal, err, "the hub cannot make the team's streams: %v", err)
		}
		o.Log.Info("waiting for the other hubs", "err", err)
		select {
		case <-ctx.Done():
		case <-again.C:
		}
	}
}

// Enter opens the office of a hub's folder, on the server that runs or, where none does, on the files.
func Enter(ctx context.Context, dir string) (*Office, error) {
	at, err := readAddress(dir)
	if err != nil {
		return nil, err
	}
	k, err := keysOf(dir, at.Keys, "", time.Now())
	if err != nil {
		return nil, err
	}
	lock, err := takeLock(dir)
	switch {
	case human.KindOf(err) == human.Conflict:
		return dial(ctx, k, at)
	case err != nil:
		return nil, err
	case at.Clustered:
		return nil, errors.Join(human.Errorf(human.Unavailable, "this hub is one of a cluster and does not run; start it first"), lock.Unlock())
	}
	o := Options{Dir: dir, Addr: "127.0.0.1:0", WebAddr: "127.0.0.1:0"}
	if err := o.complete(); err != nil {
		return nil, err
	}
	s, _, err := startServer(k, o, nil)
	if err != nil {
		return nil, errors.Join(err, lock.Unlock())
	}
	end := func() error {
		s.Shutdown()
		s.WaitForShutdown()
		return lock.Unlock()
	}
	f, err := newOffice(ctx, s, k, o)
	if err != nil {
		return nil, errors.Join(err, end())
	}
	f.web = at.Web
	f.close = func() error { f.nc.Close(); return end() }
	return f, nil
}

// dial reaches the hub that runs on this machine.
func dial(ctx context.Context, k *keys, at address) (*Office, error) {
	token, seed, err := ownToken(k.Account)
	if err != nil {
		return nil, err
	}
	trusted, err := pool(k.CA)
	if err != nil {
		return nil, err
	}
	nc, err := nats.Connect("tls://"+local(at.Local), nats.UserJWTAndSeed(token, seed), nats.Secure(&tls.Config{RootCAs: trusted, ServerName: "localhost", MinVersion: tls.VersionTLS13}), nats.TLSHandshakeFirst())
	if err != nil {
		return nil, human.Wrap(human.Unavailable, err, "the hub runs, but cannot be reached: %v", err)
	}
	f := &Office{nc: nc, keys: k, now: time.Now, web: at.Web, close: func() error { nc.Close(); return nil }}
	if f.js, err = jetstream.New(nc); err == nil {
		f.kv, err = f.js.KeyValue(ctx, ownBucket)
	}
	if err != nil {
		nc.Close()
		return nil, human.Wrap(human.Unavailable, err, "the hub does not answer yet: %v", err)
	}
	return f, nil
}

// local is a listener's address for this machine: what listens on all addresses is reached on loopback.
func local(addr string) string {
	for _, all := range []string{"0.0.0.0:", "[::]:"} {
		if port, ok := strings.CutPrefix(addr, all); ok {
			return "127.0.0.1:" + port
		}
	}
	return addr
}

// Close leaves the office.
func (f *Office) Close() error { return f.close() }

// hashed is the key of what a one-time link opens: only the hash of its token is stored.
func hashed(prefix, token string) string {
	sum := sha256.Sum256([]byte(token))
	return prefix + hex.EncodeToString(sum[:])
}

// Invite makes a one-time link by which a desk of a member joins.
func (f *Office) Invite(ctx context.Context, member string, role team.Role) (link string, err error) {
	if !utf8.ValidString(member) || strings.TrimSpace(member) != member || member == "" || len(member) > 64 || strings.ContainsFunc(member, unicode.IsControl) {
		return "", human.Errorf(human.Invalid, "a member's name has 1 to 64 bytes of visible text")
	}
	if !slices.Contains(team.Roles, role) {
		return "", human.Errorf(human.Invalid, "%q is no role; there are agent, operator, lead and auditor", role)
	}
	desks, err := f.Desks(ctx)
	if err != nil {
		return "", err
	}
	for _, d := range desks {
		if d.Member == member && d.Removed == nil && d.Role != role {
			return "", human.Errorf(human.Conflict, "%s is %s already; remove them first to change the role", member, d.Role)
		}
	}
	token := secret()
	if err := f.create(ctx, hashed(invitePrefix, token), invitation{member, role, f.now().Add(inviteLife)}); err != nil {
		return "", human.Wrap(human.Unavailable, err, "the invitation cannot be stored")
	}
	return f.web + "/join#" + token + "." + fingerprint(f.keys.CA) + "." + f.keys.teamKey, nil
}

func (f *Office) create(ctx context.Context, key string, value any) error {
	raw, err := json.Marshal(value)
	if err == nil {
		_, err = f.kv.Create(ctx, key, raw)
	}
	return err
}

// use takes what a one-time token stands for out of the bucket. Of several who try at the same time, one gets it; the disks
// have that before it returns. check may say that it is not for them, and leave it.
func use[T any](ctx context.Context, f *Office, key string, check func(T) error) (v T, err error) {
	entry, err := f.kv.Get(ctx, key)
	if err == nil {
		err = json.Unmarshal(entry.Value(), &v)
	}
	if err == nil {
		if err = check(v); err == nil {
			err = f.kv.Purge(ctx, key, jetstream.LastRevision(entry.Revision()))
		}
	}
	var wrong *jetstream.APIError
	if errors.Is(err, jetstream.ErrKeyNotFound) || errors.As(err, &wrong) && wrong.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence {
		err = human.Wrap(human.Denied, err, "this link was used, or never was one")
	}
	return v, err
}

// join makes the owner of a token a desk of the member that the token is for.
func (f *Office) join(ctx context.Context, q joinRequest) (joinReply, error) {
	if !nkeys.IsValidPublicUserKey(q.Key) {
		return joinReply{}, human.BadField("key", "is no public key of a user")
	}
	desks, err := f.Desks(ctx)
	if err != nil {
		return joinReply{}, err
	}
	if slices.ContainsFunc(desks, func(d Desk) bool { return d.Key == q.Key }) {
		return joinReply{}, human.Errorf(human.Denied, "this key joined before; a desk joins with a new one")
	}
	invited, err := use(ctx, f, hashed(invitePrefix, q.Token), func(i invitation) error {
		if f.now().After(i.Expires) {
			return human.Errorf(human.Denied, "this link has expired; ask for a new one")
		}
		if q.Member != "" && q.Member != i.Member {
			return human.Errorf(human.Denied, "this link is for %s", i.Member)
		}
		return nil
	})
	if err != nil {
		return joinReply{}, err
	}
	d := Desk{Member: invited.Member, Role: invited.Role, Machine: visible(q.Machine), Key: q.Key, Joined: f.now()}
	for n := 1; ; n++ {
		d.Name = team.Desk(d.Member, n)
		if err := f.create(ctx, deskPrefix+d.Name, d); err == nil {
			break
		} else if !errors.Is(err, jetstream.ErrKeyExists) {
			return joinReply{}, human.Wrap(human.Unavailable, err, "the desk cannot be stored; ask for a new link")
		}
	}
	// Desks read in the team's own bucket who there is. A lead may have written more about a member before.
	members, err := f.js.KeyValue(ctx, team.Members)
	if err == nil {
		var raw []byte
		if raw, err = json.Marshal(map[string]any{"name": d.Member, "role": d.Role}); err == nil {
			_, err = members.Create(ctx, team.KeyOf(d.Member), raw)
		}
	}
	if err != nil && !errors.Is(err, jetstream.ErrKeyExists) {
		return joinReply{}, human.Wrap(human.Unavailable, err, "the member cannot be stored; ask for a new link")
	}
	reply := joinReply{Team: f.keys.Team, Member: d.Member, Desk: d.Name, Role: d.Role}
	if reply.JWT, err = f.keys.userToken(d.Key, d.Name, d.Role); err != nil {
		return joinReply{}, err
	}
	err = each(ctx, f.kv, nodePrefix, func(_ string, a address) { reply.URLs = append(reply.URLs, a.NATS) })
	return reply, err
}

// visible is a short line of a text.
func visible(text string) string {
	runes := []rune(strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) {
			return -1
		}
		return r
	}, text))
	return string(runes[:min(len(runes), 64)])
}

// Desks are all that ever joined, the removed ones too, by name.
func (f *Office) Desks(ctx context.Context) (all []Desk, err error) {
	err = each(ctx, f.kv, deskPrefix, func(_ string, d Desk) { all = append(all, d) })
	slices.SortFunc(all, func(a, b Desk) int { return cmp.Compare(a.Name, b.Name) })
	return all, err
}

// each reads all values whose keys begin with a prefix.
func each[T any](ctx context.Context, kv jetstream.KeyValue, prefix string, do func(key string, v T)) error {
	w, err := kv.Watch(ctx, prefix+">", jetstream.IgnoreDeletes())
	if err != nil {
		return human.Wrap(human.Unavailable, err, "the hub does not answer")
	}
	defer func() { _ = w.Stop() }()
	for {
		select {
		case <-ctx.Done():
			return human.Wrap(human.Unavailable, ctx.Err(), "the hub does not answer")
		case entry, open := <-w.Updates():
			if entry == nil {
				if !open {
					return human.Errorf(human.Unavailable, "the hub does not answer")
				}
				return nil
			}
			var v T
			if err := json.Unmarshal(entry.Value(), &v); err != nil {
				return human.Wrap(human.Internal, err, "what the hub remembers is damaged")
			}
			do(strings.TrimPrefix(entry.Key(), prefix), v)
		}
	}
}

// Remove ends the connections of a member's desks for ever, and makes their unused links useless. It returns how many desks there were.
// Every hub does so by itself; one that does not run, before it lets a desk in.
func (f *Office) Remove(ctx context.Context, member string) (n int, err error) {
	var links []string
	if err := each(ctx, f.kv, invitePrefix, func(key string, i invitation) {
		if i.Member == member {
			links = append(links, invitePrefix+key)
		}
	}); err != nil {
		return 0, err
	}
	for _, key := range links {
		if err := f.kv.Purge(ctx, key); err != nil {
			return 0, human.Wrap(human.Unavailable, err, "a link could not be made useless")
		}
	}
	// After the links, so that none joins meanwhile.
	desks, err := f.Desks(ctx)
	if err != nil {
		return 0, err
	}
	now := f.now()
	for _, d := range desks {
		if d.Member != member || d.Removed != nil {
			continue
		}
		d.Removed = &now
		raw, err := json.Marshal(d)
		if err == nil {
			_, err = f.kv.Put(ctx, deskPrefix+d.Name, raw)
		}
		if err != nil {
			return n, human.Wrap(human.Unavailable, err, "%s could not be removed", d.Name)
		}
		n++
	}
	if n == 0 && len(links) == 0 {
		return 0, human.Errorf(human.NotFound, "no desk of %q is in the team", member)
	}
	members, err := f.js.KeyValue(ctx, team.Members)
	if err == nil {
		err = members.Purge(ctx, team.KeyOf(member))
	}
	if err != nil {
		return n, human.Wrap(human.Unavailable, err, "the member's entry could not be deleted")
	}
	return n, nil
}

// Login makes a one-time link to the web page.
func (f *Office) Login(ctx context.Context) (link string, err error) {
	code := secret()
	if err := f.create(ctx, hashed(loginPrefix, code), f.now().Add(loginLife)); err != nil {
		return "", human.Wrap(human.Unavailable, err, "the link cannot be stored")
	}
	return f.web + "/login?code=" + code, nil
}

// Empty says whether no desk has joined yet and none is invited.
func (f *Office) Empty(ctx context.Context) (bool, error) {
	desks, err := f.Desks(ctx)
	n := len(desks)
	if err == nil {
		err = each(ctx, f.kv, invitePrefix, func(string, invitation) { n++ })
	}
	return n == 0, err
}
