package presence

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/godbus/dbus/v5"

	"deskbell/backend/human"
	"deskbell/backend/queue/stepup"
)

var _ stepup.System = (*Checker)(nil)

// An agent is polkit's Authority and the person before its dialog: it speaks polkit's interface on a bus of the test's own.
type agent struct {
	t  *testing.T
	mu sync.Mutex

	known    bool // the action is installed
	free     bool // the user passes without being asked
	nobody   bool // there is no dialog to ask in
	answer   bool // the person gives the right password
	waits    chan struct{}
	canceled chan string
	asked    []subject
}

func (a *agent) CheckAuthorization(s subject, action string, details map[string]string, flags uint32, cancel string) (result, *dbus.Error) {
	a.mu.Lock()
	known, free, nobody, answer, waits := a.known, a.free, a.nobody, a.answer, a.waits
	if flags&interact != 0 {
		a.asked = append(a.asked, s)
	}
	a.mu.Unlock()
	switch {
	case action != Action || len(details) > 0: // polkit takes details from root only
		a.t.Errorf("asked about %s, %v", action, details)
	case !known:
		return result{}, dbus.NewError(service+".Error.Failed", []any{"Action " + action + " is not registered"})
	case free:
		return result{Authorized: true, Details: map[string]string{}}, nil
	case flags&interact == 0 || nobody:
		return result{Challenge: true, Details: map[string]string{}}, nil
	}
	if waits != nil {
		<-waits
		<-waits
		return result{}, dbus.NewError(service+".Error.Cancelled", []any{"canceled"})
	}
	return result{Authorized: answer, Details: map[string]string{}}, nil
}

func (a *agent) CancelCheckAuthorization(id string) *dbus.Error {
	a.canceled <- id
	return nil
}

// becomes changes it.
func (a *agent) becomes(change func(*agent)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	change(a)
}

// questions are those that a person was asked.
func (a *agent) questions() []subject {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.asked)
}

// start starts a message bus with the agent on it, and a Checker that asks there. All end with the test.
func start(t *testing.T) (*agent, *Checker) {
	t.Helper()
	config := filepath.Join(t.TempDir(), "bus.conf")
	must(t, os.WriteFile(config, []byte(`<busconfig><type>session</type><listen>unix:dir=`+t.TempDir()+`</listen><policy context="default">
		<allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>`), 0o600))
	daemon := exec.Command("dbus-daemon", "--config-file", config, "--nofork", "--print-address")
	out, err := daemon.StdoutPipe()
	must(t, err)
	must(t, daemon.Start())
	t.Cleanup(func() { _ = daemon.Process.Kill(); _ = daemon.Wait() })
	address, err := bufio.NewReader(out).ReadString('\n')
	must(t, err)
	address = strings.TrimSpace(address)
	conn, err := dbus.Connect(address)
	must(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	a := &agent{t: t, known: true, answer: true, canceled: make(chan string, 1)}
	must(t, conn.Export(a, object, authority))
	_, err = conn.RequestName(service, dbus.NameFlagDoNotQueue)
	must(t, err)
	c := &Checker{connect: func(o ...dbus.ConnOption) (*dbus.Conn, error) { return dbus.Connect(address, o...) }}
	t.Cleanup(func() { _ = c.Close() })
	return a, c
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestPolkitAsks(t *testing.T) {
	a, c := start(t)
	must(t, c.Available(t.Context()))
	if asked := a.questions(); len(asked) > 0 {
		t.Errorf("to find out whether it can ask, it asked: %v", asked)
	}
	must(t, c.Ask(t.Context(), 0))
	begun, err := startOf(os.Getpid())
	must(t, err)
	if s := a.questions()[0]; s.Kind != "unix-process" || s.Details["pid"].Value() != uint32(os.Getpid()) || s.Details["start-time"].Value() != begun || s.Details["uid"].Value() != int32(os.Getuid()) {
		t.Errorf("asked about %+v", s)
	}
	must(t, c.Ask(t.Context(), os.Getppid()))
	if s := a.questions()[1]; s.Details["pid"].Value() != uint32(os.Getppid()) {
		t.Errorf("asked about %+v", s)
	}
	if err := c.Ask(t.Context(), 1<<30); human.KindOf(err) != human.Invalid {
		t.Errorf("of a process that does not run: %v", err)
	}
}

func TestWhatProvesNothing(t *testing.T) {
	for name, tt := range map[string]struct {
		agent     func(*agent)
		available bool
		kind      human.ErrorKind
		says      string
	}{
		"a wrong password":            {func(a *agent) { a.answer = false }, true, human.Denied, "try again"},
		"no agent that could ask":     {func(a *agent) { a.nobody = true }, true, human.Unavailable, "install pkttyagent"},
		"a user who passes unasked":   {func(a *agent) { a.free = true }, false, human.Denied, "did not confirm"},
		"an action that is not there": {func(a *agent) { a.known = false }, false, human.Unavailable, "sudo install"},
	} {
		t.Run(name, func(t *testing.T) {
			a, c := start(t)
			a.becomes(tt.agent)
			if err := c.Available(t.Context()); (err == nil) != tt.available {
				t.Errorf("available: %v", err)
			}
			if err := c.Ask(t.Context(), 0); human.KindOf(err) != tt.kind || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("asked: %v", err)
			}
		})
	}
	c := &Checker{connect: func(...dbus.ConnOption) (*dbus.Conn, error) { return nil, os.ErrNotExist }}
	if err := c.Available(t.Context()); human.KindOf(err) != human.Unavailable || !strings.Contains(err.Error(), "install and start dbus") {
		t.Errorf("without a bus: %v", err)
	}
}

// Who leaves the question takes polkit's dialog away.
func TestAQuestionIsTakenAway(t *testing.T) {
	a, c := start(t)
	waits := make(chan struct{})
	a.becomes(func(a *agent) { a.waits = waits })
	t.Cleanup(func() { close(waits) })
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.Ask(ctx, 0) }()
	waits <- struct{}{} // it was asked
	cancel()
	if id := <-a.canceled; id == "" {
		t.Error("canceled nothing")
	}
	if err := <-ended; err == nil {
		t.Error("it passed")
	}
}
