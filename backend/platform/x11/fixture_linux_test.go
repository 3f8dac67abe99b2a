package x11

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"deskbell/backend/human"
	"deskbell/backend/record"
	"deskbell/build/e2e/desktoptest"
)

func TestMain(m *testing.M) {
	for _, name := range []string{"WAYLAND_DISPLAY", "XDG_SESSION_TYPE"} { // not this machine's session
		_ = os.Unsetenv(name)
	}
	goleak.VerifyTestMain(m)
}

// A fixture is an X server of a test's own, by the package's own means.
type fixture struct{ *desktoptest.Desktop }

// newFixture starts an X server, with more arguments of its own.
func newFixture(t testing.TB, args ...string) *fixture {
	t.Helper()
	return &fixture{desktoptest.Start(t, desktoptest.Options{Width: 1280, Height: 800, Bare: true, Server: args})}
}

// monotonic is the clock that X servers of this machine stamp with.
func monotonic() (time.Time, int64) {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts)
	return time.Now(), ts.Nano()
}

// A hand makes input through XTEST.
type hand struct {
	t      testing.TB
	w      *wire
	opcode byte
}

func (d *fixture) hand() *hand {
	d.T.Helper()
	w, err := dial(context.Background(), d.Display)
	if err != nil {
		d.T.Fatal(err)
	}
	d.T.Cleanup(w.close)
	opcode, _, err := w.extension(context.Background(), "XTEST")
	if err != nil || opcode == 0 {
		d.T.Fatalf("XTEST: opcode %d, %v", opcode, err)
	}
	return &hand{d.T, w, opcode}
}

func (h *hand) fake(kind, detail byte, x, y int) {
	h.t.Helper()
	req := make([]byte, 36)
	req[0], req[1], req[4], req[5] = h.opcode, 2, kind, detail
	binary.LittleEndian.PutUint16(req[24:], uint16(x))
	binary.LittleEndian.PutUint16(req[26:], uint16(y))
	if _, err := h.w.send(req); err != nil {
		h.t.Fatal(err)
	}
}

func (h *hand) move(x, y int) { h.fake(motionNotify, 0, x, y) }
func (h *hand) click(button byte) {
	h.fake(buttonPress, button, 0, 0)
	h.fake(buttonRelease, button, 0, 0)
}

// tap presses keys in turn and releases them the other way round.
func (h *hand) tap(codes ...byte) {
	for _, c := range codes {
		h.fake(keyPress, c, 0, 0)
	}
	for i := range codes {
		h.fake(keyRelease, codes[len(codes)-1-i], 0, 0)
	}
}

// sync waits until the server has done all this.
func (h *hand) sync() {
	h.t.Helper()
	if _, err := h.w.call(context.Background(), []byte{opGetInputFocus, 0, 0, 0}, nil); err != nil {
		h.t.Fatal(err)
	}
}

// A recording collects what a source emits, until stop.
type recording struct {
	t      testing.TB
	cancel context.CancelFunc
	done   chan struct{}
	seen   uint64
	err    error

	mu     sync.Mutex
	events []human.RecordedEvent
}

// listen starts a source and waits until it is ready.
func listen(t testing.TB, source record.Source) *recording {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r := &recording{t: t, cancel: cancel, done: make(chan struct{})}
	ready := make(chan struct{})
	go func() {
		defer close(r.done)
		r.seen, r.err = source.Run(ctx, func() { close(ready) }, func(e human.RecordedEvent) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.events = append(r.events, e)
		})
	}()
	t.Cleanup(func() { cancel(); <-r.done })
	select {
	case <-ready:
	case <-r.done:
		t.Fatalf("it ended before it was ready: %v", r.err)
	case <-time.After(desktoptest.Patience):
		t.Fatal("it does not get ready")
	}
	return r
}

func (r *recording) all() []human.RecordedEvent {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]human.RecordedEvent(nil), r.events...)
}

// until waits for an event that is as asked, and returns the first.
func (r *recording) until(what string, is func(human.RecordedEvent) bool) human.RecordedEvent {
	r.t.Helper()
	var found human.RecordedEvent
	deadline := time.After(desktoptest.Patience)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		for _, e := range r.all() {
			if is(e) {
				found = e
				return found
			}
		}
		select {
		case <-tick.C:
		case <-r.done:
			r.t.Fatalf("it ended: %v", r.err)
		case <-deadline:
			r.t.Fatalf("waited in vain for %s; what came:%s", what, shown(r.all()))
		}
	}
}

// stop ends it and returns all there was.
func (r *recording) stop() []human.RecordedEvent {
	r.t.Helper()
	r.cancel()
	<-r.done
	if r.err != nil {
		r.t.Errorf("Run: %v", r.err)
	}
	if events := r.all(); r.seen != uint64(len(events)) {
		r.t.Errorf("it says it saw %d events, and emitted %d", r.seen, len(events))
	}
	return r.all()
}

func shown(events []human.RecordedEvent) string {
	var b strings.Builder
	for _, e := range events {
		line, _ := json.Marshal(e)
		fmt.Fprintf(&b, "\n  %s", line)
	}
	return b.String()
}
