package hub

import (
	"cmp"
	"context"
	"crypto/rand"
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

	Maker string `json:"maker,omitempty"` // the desk that asked for it, without which it is good for nothing; empty: it was made on the hub's machine
	First bool   `json:"first,omitempty"` // it is for a member who has no desk
}

// by is the member who asked for it.
func (i invitation) by() string {
	member, _ := team.MemberOf(i.Maker) // empty where there is no maker
	return member
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
	link, _, err = f.invite(ctx, invitation{Member: member, Role: role})
	return link + "." + f.keys.teamKey, err
}

// invite makes the link of an invitation, without the team's key, and says until when it is good.
func (f *Office) invite(ctx context.Context, i invitation) (link string, expires time.Time, err error) {
	if !utf8.ValidString(i.Member) || strings.TrimSpace(i.Member) != i.Member || i.Member == "" || len(i.Member) > 64 || strings.ContainsFunc(i.Member, unicode.IsControl) {
		return "", expires, human.Errorf(human.Invalid, "a member's name has 1 to 64 bytes of visible text")
	}
	if !slices.Contains(team.Roles, i.Role) {
		return "", expires, human.Errorf(human.Invalid, "%q is no role; there are agent, operator, lead and auditor", i.Role)
	}
	desks, err := f.Desks(ctx)
	if err != nil {
		return "", expires, err
	}
	known := false
	for _, d := range desks {
		switch {
		case d.Member != i.Member || d.Removed != nil:
			continue
		case i.First:
			return "", expires, human.Errorf(human.Conflict, "%s is in the team already, and whoever has a link in their name answers as them; they make one for another desk themselves, or whoever runs the hub does", i.Member)
		case d.Role != i.Role:
			return "", expires, human.Errorf(human.Conflict, "%s is %s already; remove them first to change the role", i.Member, d.Role)
		}
		known = true
	}
	if !known {
		if err := f.distinct(ctx, i.Member, desks); err != nil {
			return "", expires, err
		}
	}
	i.Expires = f.now().UTC().Add(inviteLife)
	if err := f.note(ctx, human.MembershipChange{By: i.by(), What: "invited", Member: i.Member, Role: string(i.Role)}); err != nil {
		return "", expires, err
	}
	token := secret()
	if err := f.create(ctx, hashed(invitePrefix, token), i); err != nil {
		return "", expires, human.Wrap(human.Unavailable, err, "the invitation cannot be stored")
	}
	return f.web + "/join#" + token + "." + fingerprint(f.keys.CA), i.Expires, nil
}

// note writes a change where all desks read it.
func (f *Office) note(ctx context.Context, c human.MembershipChange) error {
	c.At = f.now().UTC()
	raw, err := json.Marshal(c)
	var kv jetstream.KeyValue
	if err == nil {
		kv, err = f.js.KeyValue(ctx, team.Changes)
	}
	if err == nil {
		_, err = kv.Create(ctx, rand.Text(), raw)
	}
	if err != nil {
		return human.Wrap(human.Unavailable, err, "the change cannot be noted")
	}
	return nil
}

// invitations are those whose links still work.
func (f *Office) invitations(ctx context.Context) (all []invitation, err error) {
	err = each(ctx, f.kv, invitePrefix, func(_ string, i invitation) {
		if f.now().Before(i.Expires) {
			all = append(all, i)
		}
	})
	slices.SortFunc(all, func(a, b invitation) int { return a.Expires.Compare(b.Expires) })
	return all, err
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
	n := 1
	if invited.First { // the one after those that were removed: of several who join at the same time, one gets it
		n += len(slices.DeleteFunc(desks, func(other Desk) bool { return other.Member != d.Member || other.Removed == nil }))
	}
	for ; ; n++ {
		d.Name = team.Desk(d.Member, n)
		err := f.create(ctx, deskPrefix+d.Name, d)
		switch {
		case err == nil:
		case !errors.Is(err, jetstream.ErrKeyExists):
			return joinReply{}, human.Wrap(human.Unavailable, err, "the desk cannot be stored; ask for a new link")
		case invited.First:
			return joinReply{}, human.Errorf(human.Denied, "%s has joined already; they make a link for another desk themselves", d.Member)
		default:
			continue
		}
		break
	}
	if err := f.stands(ctx, invited); err != nil {
		return joinReply{}, errors.Join(err, f.mark(ctx, d))
	}
	if err := f.note(ctx, human.MembershipChange{By: d.Member, What: "joined", Member: d.Member, Role: string(d.Role), Desk: d.Name}); err != nil {
		return joinReply{}, err
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

// stands says why an invitation is good for nothing any more, once its desk is stored: its maker was removed. Remove looks for desks until it finds none, so
// that one of both sees the other.
func (f *Office) stands(ctx context.Context, i invitation) error {
	if i.Maker == "" {
		return nil
	}
	if maker, err := f.desk(ctx, i.Maker); err != nil {
		return err
	} else if maker.Removed != nil {
		return human.Errorf(human.Denied, "whoever made this link is not in the team any more; ask another lead for a new one")
	}
	return nil
}

// desk is the one of a name.
func (f *Office) desk(ctx context.Context, name string) (d Desk, err error) {
	entry, err := f.kv.Get(ctx, deskPrefix+name)
	if err == nil {
		err = json.Unmarshal(entry.Value(), &d)
	}
	if err != nil {
		return d, human.Wrap(human.Unavailable, err, "the hub does not find the desk %s", name)
	}
	return d, nil
}

// mark makes a desk a removed one.
func (f *Office) mark(ctx context.Context, d Desk) error {
	d.Removed = new(f.now())
	raw, err := json.Marshal(d)
	if err == nil {
		_, err = f.kv.Put(ctx, deskPrefix+d.Name, raw)
	}
	if err != nil {
		return human.Wrap(human.Unavailable, err, "%s could not be removed", d.Name)
	}
	return nil
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

// Remove ends the connections of a member's desks for ever, and makes the unused links useless that are for them or that they made. It
// returns how many desks there were. Every hub does so by itself; one that does not run, before it lets a desk in.
func (f *Office) Remove(ctx context.Context, member string) (int, error) {
	return f.remove(ctx, member, "")
}

// remove is Remove by a member, or, without one, on the hub's machine.
func (f *Office) remove(ctx context.Context, member, by string) (int, error) {
	var links []string
	if err := each(ctx, f.kv, invitePrefix, func(key string, i invitation) {
		if i.Member == member || i.Maker != "" && i.by() == member {
			links = append(links, invitePrefix+key)
		}
	}); err != nil {
		return 0, err
	}
	desks, err := f.active(ctx, member)
	if err != nil {
		return 0, err
	}
	if len(desks) == 0 && len(links) == 0 {
		return 0, human.Errorf(human.NotFound, "no desk of %q is in the team", member)
	}
	if err := f.note(ctx, human.MembershipChange{By: by, What: "removed", Member: member}); err != nil {
		return 0, err
	}
	for _, key := range links {
		if err := f.kv.Purge(ctx, key); err != nil {
			return 0, human.Wrap(human.Unavailable, err, "a link could not be made useless")
		}
	}
	marked := map[string]bool{}
	for more := true; more; { // until none has joined meanwhile
		desks, err := f.active(ctx, member)
		if err != nil {
			return len(marked), err
		}
		more = false
		for _, d := range desks {
			if marked[d.Name] { // what is read may be a little older than what was written
				continue
			}
			if err := f.mark(ctx, d); err != nil {
				return len(marked), err
			}
			marked[d.Name], more = true, true
		}
	}
	members, err := f.js.KeyValue(ctx, team.Members)
	if err == nil {
		err = members.Purge(ctx, team.KeyOf(member))
	}
	if err != nil {
		return len(marked), human.Wrap(human.Unavailable, err, "the member's entry could not be deleted")
	}
	return len(marked), nil
}

// active are a member's desks that are in the team.
func (f *Office) active(ctx context.Context, member string) ([]Desk, error) {
	desks, err := f.Desks(ctx)
	return slices.DeleteFunc(desks, func(d Desk) bool { return d.Member != member || d.Removed != nil }), err
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
