package platform

import (
	"bufio"
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
)

func waitFor(t *testing.T, is func() bool, or func() string) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.After(60 * time.Second); !is(); {
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("it never came: %s", or())
		}
	}
}

// startBus starts a bus of the test's own and makes it the system's.
func startBus(t *testing.T) (address string) {
	t.Helper()
	daemon := exec.Command("dbus-daemon", "--session", "--nofork", "--print-address")
	out, err := daemon.StdoutPipe()
	if err == nil {
		err = daemon.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = daemon.Process.Kill(); _ = daemon.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("DBUS_SYSTEM_BUS_ADDRESS", strings.TrimSpace(line))
	return strings.TrimSpace(line)
}

// A service with logind's name says that the machine sleeps and wakes; another program that says so counts for nothing.
func TestWatchSleep(t *testing.T) {
	address := startBus(t)
	logind, err := dbus.Connect(address)
	if err != nil {
		t.Fatal(err)
	}
	defer logind.Close()
	if reply, err := logind.RequestName("org.freedesktop.login1", dbus.NameFlagDoNotQueue); err != nil || reply != dbus.RequestNameReplyPrimaryOwner {
		t.Fatal(reply, err)
	}
	other, err := dbus.Connect(address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }() // the test is over
	ctx, cancel := context.WithCancel(t.Context())
	woke, ended := make(chan struct{}, 100), make(chan error, 1)
	go func() { ended <- WatchSleep(ctx, func() { woke <- struct{}{} }) }()
	say := func(by *dbus.Conn, sleeps bool) {
		t.Helper()
		if err := by.Emit("/org/freedesktop/login1", "org.freedesktop.login1.Manager.PrepareForSleep", sleeps); err != nil {
			t.Fatal(err)
		}
	}
	// It listens from some moment on.
	waitFor(t, func() bool { say(logind, true); say(logind, false); return len(woke) > 0 }, func() string { return "no wake" })
	say(other, false)
	n := 0
	for drained := false; !drained; {
		select {
		case <-woke:
			n++
		default:
			drained = true
		}
	}
	if n == 0 {
		t.Error("it woke, and nobody heard")
	}
	cancel()
	select {
	case err := <-ended:
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	case <-time.After(60 * time.Second):
		t.Error("it did not end")
	}
}
