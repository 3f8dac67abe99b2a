package app_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"deskbell/backend/human"
	"deskbell/backend/store/team"
	"deskbell/backend/store/team/hub"
)

// A slowLine hands bytes on to a server, what comes back a few at a time until fast is called.
func slowLine(t *testing.T, from, to string) (fast func()) {
	t.Helper()
	l, err := net.Listen("tcp", from)
	if err != nil {
		t.Fatal(err)
	}
	var handing sync.WaitGroup
	quick := make(chan struct{})
	hand := func(c net.Conn) {
		defer c.Close()
		server, err := net.Dial("tcp", to)
		if err != nil {
			return
		}
		defer server.Close()
		handing.Go(func() { _, _ = io.Copy(server, c); _ = server.Close() })
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for err == nil {
			select {
			case <-quick:
				_, err = io.Copy(c, server)
				if err == nil {
					return
				}
			case <-tick.C:
				_, err = io.CopyN(c, server, 4<<10)
			}
		}
	}
	handing.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			handing.Go(func() { hand(c) })
		}
	})
	fast = sync.OnceFunc(func() { close(quick) })
	t.Cleanup(func() {
		fast()
		_ = l.Close()
		handing.Wait()
	})
	return fast
}

// A desk that was away says in its metrics how much it has yet to read.
func TestHowFarADeskIsBehind(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	h, stopHub := startHub(t, folder, "127.0.0.1:0", "127.0.0.1:0")
	addr, web := h.Addrs()
	d := newFixture(t)
	link, err := h.Office().Invite(t.Context(), "Ann", team.OperatorRole)
	if err != nil {
		t.Fatal(err)
	}
	run(t, d.dir, nil, "join", link, "--code", d.invite(t)).want(t, 0, "Platform")
	d.stop(t)

	c, err := hub.Load(d.dir)
	if err != nil {
		t.Fatal(err)
	}
	nc, err := c.Connect()
	if err != nil {
		t.Fatal(err)
	}
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	const messages = 400
	for i := range messages { // none counts for anything, and each has to be read
		if _, err := js.Publish(t.Context(), team.Subject(human.OperationID(fmt.Sprint("op_", i)), c.Desk, team.ByAgent), bytes.Repeat([]byte{'x'}, 8<<10)); err != nil {
			t.Fatal(err)
		}
	}
	nc.Close()
	stopHub()
	h, stopHub = startHub(t, folder, "127.0.0.1:0", web)
	defer func() { stopHub() }()
	now, _ := h.Addrs()
	fast := slowLine(t, addr, now)

	d.server = serve(t, d.dir, []string{"DESKBELL_METRICS_ENABLED=true"})
	behind := func() float64 { return value(scrape(t, d.url, d.dir), "deskbell_behind_team_entries") }
	waitFor(t, "a desk that is behind", func() bool { n := behind(); return n > 0 && n < messages })
	fast()
	waitFor(t, "a desk that has read everything", func() bool { return behind() == 0 })
	d.boss = operator(t, d.url, d.code)
	d.team(t, online)
}
