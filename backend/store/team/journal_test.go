package team_test

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"deskbell/backend/human"
	"deskbell/backend/queue/journaltest"
	"deskbell/backend/queue/receipt"
	"deskbell/backend/store/sqlite"
	"deskbell/backend/store/team"
)

// serve starts a server of NATS that keeps its files in dir, with the team's stream.
func serve(tb testing.TB, dir string, port int) *server.Server {
	tb.Helper()
	s, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: port, JetStream: true, StoreDir: dir, NoSigs: true, NoLog: true, SyncAlways: true, MaxPayload: 8 << 20,
	})
	if err != nil {
		tb.Fatal(err)
	}
	s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		tb.Fatal("the server of NATS does not start")
	}
	conn, err := nats.Connect(s.ClientURL())
	if err != nil {
		tb.Fatal(err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err == nil {
		err = streams(tb.Context(), js, 1)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// streams makes what a journal needs of its server.
func streams(ctx context.Context, js jetstream.JetStream, replicas int) error {
	if _, err := js.CreateOrUpdateStream(ctx, team.Config(replicas)); err != nil {
		return err
	}
	for _, name := range []string{team.Snapshots, team.Deletions} {
		if _, err := js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: name, Replicas: replicas}); err != nil {
			return err
		}
	}
	return nil
}

// A desk is a journal that runs.
type desk struct {
	*team.Journal
	store *sqlite.Store
	close []func() error
}

// Close ends the desk, and gives its folder free.
func (d *desk) Close() error {
	var errs []error
	for _, c := range d.close {
		errs = append(errs, c())
	}
	return errors.Join(errs...)
}

// open opens a desk whose storage is in dir. It is not online yet.
func open(tb testing.TB, dir, name, url string, log *slog.Logger) *desk {
	tb.Helper()
	store, err := sqlite.Open(tb.Context(), dir, sqlite.Options{Key: journaltest.Key})
	if err != nil {
		tb.Fatal(err)
	}
	j, err := team.New(store, team.Options{Desk: name, Log: log, Connect: func() (*nats.Conn, error) { return nats.Connect(url, team.Settings(name)...) }})
	if err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(tb.Context()))
	ended := make(chan error, 1)
	go func() { ended <- j.Run(ctx) }()
	return &desk{j, store, []func() error{func() error { cancel(); return <-ended }, store.Close}}
}

// online waits until the desk is.
func (d *desk) online(tb testing.TB) *desk {
	tb.Helper()
	d.until(tb, func(s team.Status) bool { return s.Online })
	return d
}

// until waits for a status.
func (d *desk) until(tb testing.TB, is func(team.Status) bool) {
	tb.Helper()
	late := time.NewTimer(30 * time.Second)
	defer late.Stop()
	for {
		s, changed := d.Status()
		if is(s) {
			return
		}
		select {
		case <-changed:
		case <-late.C:
			tb.Fatalf("the desk stays as it is: %+v", s)
		}
	}
}

// TestJournal puts the team's journal through the conformance suite: with a connection, and without one.
func TestJournal(t *testing.T) {
	t.Run("online", func(t *testing.T) {
		journaltest.Run(t, func(tb testing.TB, dir string) journaltest.Journal {
			s := serve(tb, filepath.Join(dir, "nats"), server.RANDOM_PORT)
			d := open(tb, filepath.Join(dir, "data"), team.Desk("Ann", 1), s.ClientURL(), nil).online(tb)
			d.close = append(d.close, func() error { s.Shutdown(); s.WaitForShutdown(); return nil })
			return d
		})
	})
	t.Run("offline", func(t *testing.T) {
		journaltest.Run(t, func(tb testing.TB, dir string) journaltest.Journal {
			return open(tb, dir, team.Desk("Ann", 1), "nats://127.0.0.1:1", nil)
		})
	})
}

func TestNames(t *testing.T) {
	for _, member := range []string{"Ann", "Ann Lee", "王芳", "a.b*c>d", "x_y=1", "-"} {
		for n := range 3 {
			name := team.Desk(member, n+1)
			if got, err := team.MemberOf(name); err != nil || got != member {
				t.Errorf("MemberOf(%q) = %q, %v, want %q", name, got, err, member)
			}
		}
	}
	for _, bad := range []string{"", "Ann", "=1", "Ann=", "Ann=x", "Ann_=1", "Ann_4=1", "Ann_zz=1"} {
		if got, err := team.MemberOf(bad); err == nil {
			t.Errorf("MemberOf(%q) = %q", bad, got)
		}
	}
}

var _ = human.Agent
var _ = receipt.Verify
