package x11

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long something may take on a busy machine.
const patience = 20 * time.Second

// A desk is an X server of a test's own.
type desk struct {
	t       testing.TB
	display string
	env     []string
	server  *exec.Cmd
}

// newDesk starts an X server, with more arguments of its own.
func newDesk(t testing.TB, args ...string) *desk {
	t.Helper()
	for _, name := range []string{"WAYLAND_DISPLAY", "XDG_SESSION_TYPE"} { // not this machine's session
		if old, ok := os.LookupEnv(name); ok {
			_ = os.Unsetenv(name)
			t.Cleanup(func() { _ = os.Setenv(name, old) })
		}
	}
	d := &desk{t: t}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	d.server = exec.Command("Xvfb", append([]string{"-displayfd", "3", "-screen", "0", "1280x800x24", "-nolisten", "tcp", "-noreset"}, args...)...)
	d.server.ExtraFiles = []*os.File{write}
	d.begin(d.server)
	write.Close()
	number, err := bufio.NewReader(read).ReadString('\n')
	if err != nil {
		t.Fatalf("Xvfb did not start: %v", err)
	}
	d.display = ":" + strings.TrimSpace(number)
	d.env = append(os.Environ(), "DISPLAY="+d.display, "HOME="+t.TempDir())
	return d
}

// manage starts a window manager.
func (d *desk) manage() *desk {
	d.t.Helper()
	// It says in its properties that it is there before it takes windows; this it runs afterwards.
	started := filepath.Join(d.t.TempDir(), "started")
	d.start("openbox", "--startup", "touch "+started)
	d.wait("the window manager", func() bool { _, err := os.Stat(started); return err == nil })
	return d
}

// start runs a program until the test ends.
func (d *desk) start(name string, args ...string) *exec.Cmd {
	d.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = d.env
	d.begin(cmd)
	return cmd
}

func (d *desk) begin(cmd *exec.Cmd) {
	d.t.Helper()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
	})
}

// run runs a program to its end.
func (d *desk) run(name string, args ...string) string {
	d.t.Helper()
	out, err := d.try(name, args...)
	if err != nil {
		d.t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return out
}

func (d *desk) try(name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Env = d.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (d *desk) wait(what string, is func() bool) {
	d.t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-tick.C:
		case <-deadline:
			d.t.Fatalf("waited in vain for %s", what)
		}
	}
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

func (d *desk) hand() *hand {
	d.t.Helper()
	w, err := dial(context.Background(), d.display)
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(w.close)
	opcode, _, err := w.extension(context.Background(), "XTEST")
	if err != nil || opcode == 0 {
		d.t.Fatalf("XTEST: opcode %d, %v", opcode, err)
	}
	return &hand{d.t, w, opcode}
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
	case <-time.After(patience):
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
	deadline := time.After(patience)
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
