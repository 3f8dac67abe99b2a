// Package hub is the server of a team: a NATS server with JetStream in this process, the keys of the team, and a web page on which
// desks join and a person sees how the team stands. Several hubs form a cluster, in which every message is on three of them.
//
// What a desk may do is in its credentials, signed by the key of its role, and the NATS server enforces it. What the hub itself
// remembers, such as invitations, is in a bucket that no desk may read.
package hub

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"deskbell/backend/human"
	"deskbell/backend/store/disk"
	"deskbell/backend/store/team"
)

// maxPayload is the largest message, in bytes.
const maxPayload = 8 << 20

// Options are how a hub runs.
type Options struct {
	Dir     string   // its folder; only this user may read it
	Keys    string   // the folder that has its keys, which are there already; empty: Dir, where the first start makes them
	Team    string   // the team's name, needed at the first start
	Addr    string   // where desks connect to NATS, as host:port
	WebAddr string   // where desks join and people look, over HTTPS
	Hosts   []string // names and addresses under which desks reach this hub; the first stands in links. Empty: the hosts of Addr and WebAddr

	// A hub in a cluster has a name of its own, an address for the other hubs, and theirs.
	ServerName, ClusterAddr string
	Routes                  []string
	Replicas                int // on how many hubs each message is; 0: 1, in a cluster 3

	FoldAfter time.Duration // how long the messages of an operation that ended stay in the journal, see team.Fold; 0: for ever
	foldFirst time.Duration // after the start; 0: a minute
	foldEvery time.Duration // after that; 0: 6 hours

	Log *slog.Logger     // nil: none
	Now func() time.Time // nil: time.Now
}

// A Hub is an open hub.
type Hub struct {
	o        Options
	keys     *keys
	lock     *flock.Flock
	server   *server.Server
	resolver *server.MemAccResolver
	web      net.Listener
	desks    net.Listener
	ready    chan struct{}
	office   *Office    // from ready on
	system   *nats.Conn // from ready on: the servers' own account
	revoked  []string   // the keys of removed desks that the server knows; Run's own
	sessions sessions
}

// Open takes the hub's folder, makes its keys at the first start, and starts the server. No desk can connect before Run.
func Open(_ context.Context, o Options) (_ *Hub, err error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, human.Wrap(human.Internal, err, "the hub's folder cannot be made")
	}
	h := &Hub{o: o, ready: make(chan struct{}), sessions: sessions{now: o.Now}}
	if h.lock, err = takeLock(o.Dir); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, h.Close())
		}
	}()
	if h.keys, err = keysOf(o.Dir, o.Keys, o.Team, o.Now()); err != nil {
		return nil, err
	}
	if was, err := readAddress(o.Dir); err == nil && was.Clustered != (o.ClusterAddr != "") {
		return nil, human.Errorf(human.Invalid, "a hub alone and one of a cluster store in other ways; this one cannot become the other")
	}
	cert, err := h.keys.certificate(o.Hosts, o.Now())
	if err != nil {
		return nil, human.Wrap(human.Internal, err, "the hub's certificate cannot be made")
	}
	config := &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS13}
	for _, l := range []struct {
		at   string
		into *net.Listener
	}{{o.WebAddr, &h.web}, {o.Addr, &h.desks}} {
		if *l.into, err = tls.Listen("tcp", l.at, config); err != nil {
			return nil, human.Wrap(human.Unavailable, err, "the hub cannot listen on %s: %v", l.at, err)
		}
	}
	h.server, h.resolver, err = startServer(h.keys, o, config)
	return h, err
}

func takeLock(dir string) (*flock.Flock, error) {
	lock := flock.New(filepath.Join(dir, lockFile), flock.SetPermissions(0o600))
	held, err := lock.TryLock()
	if err == nil && !held {
		err = errors.New("its lock is held")
	}
	if err != nil {
		return nil, human.Wrap(human.Conflict, err, "a hub runs on %s already", dir)
	}
	return lock, nil
}

func (o *Options) complete() error {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	for _, addr := range []string{o.Addr, o.WebAddr} {
		host, _, err := net.SplitHostPort(addr)
		if err != nil {
			return human.Errorf(human.Invalid, "%q is no address with a port", addr)
		}
		if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
			if len(o.Hosts) == 0 {
				return human.Errorf(human.Invalid, "the hub listens on all addresses; say under which name desks reach it")
			}
		} else {
			o.Hosts = append(o.Hosts, host)
		}
	}
	o.foldFirst, o.foldEvery = cmp.Or(o.foldFirst, time.Minute), cmp.Or(o.foldEvery, hours)
	if o.ClusterAddr == "" {
		o.Replicas = max(o.Replicas, 1)
		return nil
	}
	if o.ServerName == "" {
		return human.Errorf(human.Invalid, "a hub in a cluster needs a name of its own")
	}
	if o.Replicas == 0 {
		o.Replicas = 3
	}
	return nil
}

// startServer starts a NATS server that has connections from this process only, and from other hubs.
func startServer(k *keys, o Options, config *tls.Config) (*server.Server, *server.MemAccResolver, error) {
	operator, err := k.operatorClaims()
	if err != nil {
		return nil, nil, human.Wrap(human.Internal, err, "the hub's keys are damaged")
	}
	resolver := &server.MemAccResolver{}
	if err := fill(resolver, k); err != nil {
		return nil, nil, human.Wrap(human.Internal, err, "the hub's keys are damaged")
	}
	opts := &server.Options{
		ServerName: o.ServerName, DontListen: o.ClusterAddr == "", NoSigs: true, MaxPayload: maxPayload, TLSConfig: config, // that it says it has TLS
		JetStream: true, StoreDir: o.Dir, DisableJetStreamBanner: true,
		// One hub alone has an acknowledged message on its disk; in a cluster it is on several hubs.
		SyncAlways:       o.Replicas == 1,
		TrustedOperators: []*jwt.OperatorClaims{operator}, SystemAccount: operator.SystemAccount, AccountResolver: resolver,
	}
	if o.ClusterAddr != "" {
		if err := joinCluster(opts, k, o, config.Certificates); err != nil {
			return nil, nil, err
		}
	}
	s, err := server.NewServer(opts)
	if err != nil {
		return nil, nil, human.Wrap(human.Internal, err, "the hub's server cannot start: %v", err)
	}
	s.SetLoggerV2(logger{o.Log}, false, false, false)
	s.Start()
	if !s.ReadyForConnections(30 * time.Second) {
		s.Shutdown()
		return nil, nil, human.Errorf(human.Unavailable, "the hub's server does not start; the log says why")
	}
	return s, resolver, nil
}

func fill(resolver *server.MemAccResolver, k *keys) error {
	for seed, token := range map[string]func() (string, error){k.System: k.systemToken, k.Account: func() (string, error) { return k.accountToken(nil) }} {
		subject, err := public(seed)
		if err != nil {
			return err
		}
		t, err := token()
		if err != nil {
			return err
		}
		if err := resolver.Store(subject, t); err != nil {
			return err
		}
	}
	return nil
}

// joinCluster lets the server talk to other hubs that have a certificate of the same CA.
func joinCluster(opts *server.Options, k *keys, o Options, certs []tls.Certificate) (err error) {
	trusted, err := pool(k.CA)
	if err != nil {
		return err
	}
	opts.Host, opts.Port = "127.0.0.1", server.RANDOM_PORT // routes wait for a listener; no desk's credentials are good there
	opts.Cluster.Name, opts.Cluster.NoAdvertise = "deskbell", true
	if opts.Cluster.Host, opts.Cluster.Port, err = hostPort(o.ClusterAddr); err != nil {
		return err
	}
	opts.Cluster.TLSConfig = &tls.Config{
		Certificates: certs, RootCAs: trusted, ClientCAs: trusted,
		ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS13,
	}
	opts.Cluster.TLSTimeout = 10
	for _, route := range o.Routes {
		opts.Routes = append(opts.Routes, &url.URL{Scheme: "nats", Host: route})
	}
	return nil
}

// hostPort splits an address. Port 0 is any that is free, for which NATS has -1.
func hostPort(addr string) (host string, port int, err error) {
	host, text, err := net.SplitHostPort(addr)
	if err == nil {
		port, err = strconv.Atoi(text)
	}
	if err != nil {
		return "", 0, human.Errorf(human.Invalid, "%q is no address with a port", addr)
	}
	if port == 0 {
		port = server.RANDOM_PORT
	}
	return host, port, nil
}

// Ready is closed when desks can connect.
func (h *Hub) Ready() <-chan struct{} { return h.ready }

// URL is the address of the web page, without a slash at the end.
func (h *Hub) URL() string { return "https://" + h.reached(h.web.Addr()) }

// reached is a listener's address as desks know it.
func (h *Hub) reached(addr net.Addr) string {
	_, port, _ := net.SplitHostPort(addr.String())
	return net.JoinHostPort(h.o.Hosts[0], port)
}

// Addrs are the addresses for desks and of the web, as host:port.
func (h *Hub) Addrs() (desks, web string) { return h.desks.Addr().String(), h.web.Addr().String() }

// Office is the hub's, once it is ready. It ends with the hub.
func (h *Hub) Office() *Office { return h.office }

// Run serves desks until ctx ends. In a cluster it waits for enough other hubs.
func (h *Hub) Run(ctx context.Context) (err error) {
	web := &http.Server{Handler: h.handler(), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second, WriteTimeout: 30 * time.Second, ErrorLog: slog.NewLogLogger(h.o.Log.Handler(), slog.LevelDebug)}
	var serving sync.WaitGroup
	serving.Go(func() { _ = web.Serve(h.web) })
	defer func() {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		err = errors.Join(err, web.Shutdown(last))
		serving.Wait()
	}()
	office, err := newOffice(ctx, h.server, h.keys, h.o)
	if err != nil {
		return orderly(ctx, err)
	}
	defer office.nc.Close()
	if h.system, err = inProcess(h.server, h.keys.System); err != nil {
		return err
	}
	defer h.system.Close()
	// What is put in the bucket comes here at once, past the bucket and without a consumer, which could be on a hub that stops. What is
	// missed so is read within a minute.
	changes := make(chan *nats.Msg, 1000)
	if _, err := office.nc.ChanSubscribe("$KV."+ownBucket+"."+deskPrefix+">", changes); err != nil {
		return err
	}
	h.office = office
	asks := make(chan *nats.Msg, 64)                                                             // more are lost, and have no answer
	if _, err := office.nc.ChanQueueSubscribe(team.Office("*", "*"), "hubs", asks); err != nil { // one hub answers
		return err
	}
	if err := h.revoke(ctx); err != nil {
		return orderly(ctx, err)
	}
	if err := h.announce(ctx); err != nil {
		return orderly(ctx, err)
	}
	ctx, end := context.WithCancel(ctx)
	var admitting sync.WaitGroup
	defer admitting.Wait()
	defer end()
	admitting.Go(func() { h.admit(ctx) })
	admitting.Go(func() { h.forget(ctx) })
	admitting.Go(func() { h.answer(ctx, asks) })
	if h.o.FoldAfter > 0 {
		admitting.Go(func() { h.fold(ctx) })
	}
	close(h.ready)
	minute := time.NewTicker(time.Minute)
	defer minute.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return nil
		case m := <-changes:
			var d Desk
			if err := json.Unmarshal(m.Data, &d); err != nil {
				h.o.Log.Error("a desk's entry is damaged", "subject", m.Subject, "err", err)
				continue
			}
			if d.Removed != nil {
				err = h.revoke(ctx, d)
			}
		case <-minute.C:
			h.noteSeen(ctx)
			err = h.revoke(ctx)
		}
		if err != nil && ctx.Err() == nil {
			h.o.Log.Error("removed desks could not be revoked; it is tried again within a minute", "err", err)
		}
	}
}

// hours is how often it is looked for what there is to fold and to delete.
const hours = 6 * time.Hour

// fold moves operations that ended long ago into snapshots, until ctx ends. Every hub of a cluster does so; the others find nothing to do.
func (h *Hub) fold(ctx context.Context) {
	due := time.NewTimer(h.o.foldFirst)
	defer due.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-due.C:
		}
		once, cancel := context.WithTimeout(ctx, hours) // another hub may have deleted what it waits for
		n, err := team.Fold(once, h.office.js, h.o.Now().Add(-h.o.FoldAfter))
		cancel()
		switch {
		case err != nil && ctx.Err() == nil:
			h.o.Log.Warn("requests that ended could not be moved into snapshots; it is tried again", "err", err)
		case n > 0:
			h.o.Log.Info("requests that ended long ago are in snapshots now", "operations", n)
		}
		due.Reset(h.o.foldEvery)
	}
}

// forget deletes what leads deleted for the whole team, at once and now and then what came too late, until ctx ends.
func (h *Hub) forget(ctx context.Context) {
	again := time.NewTicker(hours)
	defer again.Stop()
	for {
		bucket, err := h.office.js.KeyValue(ctx, team.Deletions)
		var watch jetstream.KeyWatcher
		if err == nil {
			watch, err = bucket.WatchAll(ctx)
		}
		for err == nil {
			select {
			case <-ctx.Done():
				return
			case <-again.C:
			case _, open := <-watch.Updates():
				if !open {
					err = errors.New("the watch ended")
					continue
				}
				for len(watch.Updates()) > 0 {
					<-watch.Updates()
				}
			}
			var n int
			if n, err = team.Forget(ctx, h.office.js); n > 0 {
				h.o.Log.Info("requests were deleted for the whole team", "operations", n)
			}
		}
		if watch != nil {
			_ = watch.Stop() // it may have ended
		}
		if ctx.Err() != nil {
			return
		}
		h.o.Log.Warn("requests could not be deleted for the whole team; it is tried again", "err", err)
		minute := time.NewTimer(time.Minute)
		select {
		case <-minute.C:
		case <-ctx.Done():
			minute.Stop()
		}
	}
}

// orderly is nil where an error is only that of an end that was asked for.
func orderly(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// revoke has the server end the connections of removed desks, and take no new ones: of those in the bucket, and of more that may not be
// there yet.
func (h *Hub) revoke(ctx context.Context, more ...Desk) error {
	desks, err := h.office.Desks(ctx)
	if err != nil && len(more) == 0 {
		return err
	}
	keys := slices.Clone(h.revoked)
	for _, d := range append(desks, more...) {
		if d.Removed != nil {
			keys = append(keys, d.Key)
		}
	}
	slices.Sort(keys)
	if keys = slices.Compact(keys); slices.Equal(keys, h.revoked) {
		return nil
	}
	token, err := h.keys.accountToken(keys)
	if err != nil {
		return err
	}
	claims, err := jwt.DecodeAccountClaims(token)
	if err != nil {
		return err
	}
	if err := h.resolver.Store(claims.Subject, token); err != nil {
		return err
	}
	account, err := h.server.LookupAccount(claims.Subject)
	if err != nil {
		return err
	}
	h.server.UpdateAccountClaims(account, claims)
	h.revoked = keys
	return nil
}

// announce notes for desks and for the hub's commands where the hub is.
func (h *Hub) announce(ctx context.Context) error {
	node := address{NATS: "tls://" + h.reached(h.desks.Addr()), Web: h.URL(), Local: h.desks.Addr().String(), Keys: h.o.Keys, Clustered: h.o.ClusterAddr != ""}
	raw, err := json.Marshal(node)
	if err == nil {
		_, err = disk.Replace(filepath.Join(h.o.Dir, addressFile), bytes.NewReader(raw), 0o600)
	}
	if err == nil {
		_, err = h.office.kv.Put(ctx, nodePrefix+h.node(), raw)
	}
	h.office.web = node.Web
	return err
}

// node is this server's name among the hubs, the same after a restart.
func (h *Hub) node() string {
	if h.o.ServerName == "" {
		return "hub"
	}
	return team.KeyOf(h.o.ServerName)
}

// Close stops the server. It is called after Run.
func (h *Hub) Close() error {
	var err error
	for _, l := range []net.Listener{h.web, h.desks} {
		if l == nil {
			continue
		}
		if e := l.Close(); !errors.Is(e, net.ErrClosed) {
			err = errors.Join(err, e)
		}
	}
	if h.server != nil {
		h.server.Shutdown()
		h.server.WaitForShutdown()
	}
	return errors.Join(err, h.lock.Unlock())
}

// An address is where a hub is reached: by desks, by browsers, and from this machine.
type address struct {
	NATS, Web, Local string
	Keys             string `json:",omitempty"` // as Options.Keys
	Clustered        bool
}

func readAddress(dir string) (a address, err error) {
	raw, err := os.ReadFile(filepath.Join(dir, addressFile))
	if err == nil {
		err = json.Unmarshal(raw, &a)
	}
	if err != nil {
		return a, human.Wrap(human.Unavailable, err, "the hub has not run yet; start it with `deskbell hub`")
	}
	return a, nil
}

// inProcess connects to an account of the server in this process.
func inProcess(s *server.Server, account string) (*nats.Conn, error) {
	token, seed, err := ownToken(account)
	if err != nil {
		return nil, err
	}
	return nats.Connect("", nats.InProcessServer(s), nats.UserJWTAndSeed(token, seed), nats.MaxReconnects(-1))
}

// makeStreams makes or updates all that a team shares, and the hub's own bucket.
func makeStreams(ctx context.Context, js jetstream.JetStream, replicas int) (jetstream.KeyValue, error) {
	if _, err := js.CreateOrUpdateStream(ctx, team.Config(replicas)); err != nil {
		return nil, err
	}
	for _, bucket := range []jetstream.KeyValueConfig{
		{Bucket: team.Members}, {Bucket: team.Keys}, {Bucket: team.Rules}, {Bucket: team.Changes}, {Bucket: team.Deletions}, {Bucket: team.Snapshots},
		{Bucket: team.Presence, Storage: jetstream.MemoryStorage, TTL: 30 * time.Second},
	} {
		bucket.Replicas = replicas
		if _, err := js.CreateOrUpdateKeyValue(ctx, bucket); err != nil {
			return nil, err
		}
	}
	if _, err := js.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: team.Files, TTL: team.FilesLife, MaxBytes: team.FilesBytes, Replicas: replicas}); err != nil {
		return nil, err
	}
	return js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: ownBucket, Replicas: replicas})
}

// A logger writes what the NATS server says into the hub's log.
type logger struct{ log *slog.Logger }

func (l logger) Noticef(format string, v ...any) { l.debug(format, v) }
func (l logger) Debugf(format string, v ...any)  { l.debug(format, v) }
func (l logger) Tracef(format string, v ...any)  { l.debug(format, v) }
func (l logger) Warnf(format string, v ...any)   { l.log.Warn(said(format, v)) }
func (l logger) Errorf(format string, v ...any)  { l.log.Error(said(format, v)) }
func (l logger) Fatalf(format string, v ...any)  { l.log.Error(said(format, v)) }
func (l logger) debug(format string, v []any)    { l.log.Debug(said(format, v)) }

func said(format string, v []any) string { return "nats: " + fmt.Sprintf(format, v...) }
