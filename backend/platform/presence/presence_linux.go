package presence

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/godbus/dbus/v5"

	"deskbell/backend/human"
)

// Action is polkit's name of what is asked. Its file, which tells polkit whom to ask for which password, comes with the packages
// (build/linux).
const Action = "dev.deskbell.presence"

const (
	service   = "org.freedesktop.PolicyKit1"
	object    = "/org/freedesktop/PolicyKit1/Authority"
	authority = service + ".Authority"
	interact  = 1 // AllowUserInteraction
	lookTime  = 2 * time.Second
)

var errFailed = human.Errorf(human.Denied, "the system did not confirm that you are there, so nothing was changed; try again")

// A subject is whom polkit asks: the user of a process, in its session or at its terminal.
type subject struct {
	Kind    string
	Details map[string]dbus.Variant
}

// A result is polkit's answer.
type result struct {
	Authorized, Challenge bool
	Details               map[string]string
}

// Checker asks through polkit.
type Checker struct {
	connect func(...dbus.ConnOption) (*dbus.Conn, error)

	mu   sync.Mutex
	conn *dbus.Conn
}

// New makes a Checker. It connects when it is first used.
func New() *Checker { return &Checker{connect: dbus.ConnectSystemBus} }

// Close ends its connection.
func (c *Checker) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn == nil {
		return nil
	}
	return c.conn.Close()
}

func (c *Checker) bus() (dbus.BusObject, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn == nil || !c.conn.Connected() {
		conn, err := c.connect()
		if err != nil {
			return nil, human.Wrap(human.Unavailable, err, "the system's message bus cannot be reached, so polkit cannot ask; install and start dbus and polkitd")
		}
		c.conn = conn
	}
	return c.conn.Object(service, object), nil
}

// check asks polkit about a process; with cancel it may ask the person, and blocks until they answered or ctx ends.
func (c *Checker) check(ctx context.Context, process int, cancel string) (r result, err error) {
	bus, err := c.bus()
	if err != nil {
		return r, err
	}
	s, err := subjectOf(process)
	if err != nil {
		return r, err
	}
	flags := uint32(0)
	if cancel != "" {
		flags = interact
		defer context.AfterFunc(ctx, func() { bus.Go(authority+".CancelCheckAuthorization", dbus.FlagNoReplyExpected, nil, cancel) })()
	}
	err = bus.CallWithContext(ctx, authority+".CheckAuthorization", 0, s, Action, map[string]string{}, flags, cancel).Store(&r)
	if err != nil {
		var said dbus.Error
		if errors.As(err, &said) && said.Name == service+".Error.Failed" { // as polkit says it, not the bus
			return r, human.Wrap(human.Unavailable, err,
				"polkit does not know the action %s: Deskbell's package brings it; from the source install it once, in its folder: sudo install -m 644 build/linux/%s.policy /usr/share/polkit-1/actions/", Action, Action)
		}
		err = human.Wrap(human.Unavailable, err, "polkit cannot ask: it does not answer; install and start it (the package polkitd)")
	}
	return r, err
}

// Check implements stepup.System.
func (*Checker) Check() human.SystemCheck { return human.SystemPassword }

// Available implements stepup.System. Where polkit lets us pass without asking, that proves nothing: it does so for root.
func (c *Checker) Available(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	r, err := c.check(ctx, 0, "")
	switch {
	case err != nil:
		return err
	case r.Authorized:
		return human.Errorf(human.Unavailable, "polkit lets this user pass without asking, which proves nothing")
	case !r.Challenge:
		return human.Errorf(human.Unavailable, "polkit does not let this user pass, whatever they answer")
	}
	return nil
}

// Ask implements stepup.System.
func (c *Checker) Ask(ctx context.Context, process int) error {
	look, cancel := context.WithTimeout(ctx, lookTime)
	r, err := c.check(look, process, "")
	cancel()
	if err != nil {
		return err
	}
	if r.Authorized || !r.Challenge {
		return errFailed // it would not ask
	}
	if r, err = c.check(ctx, process, rand.Text()); err != nil {
		return err
	}
	if !r.Authorized {
		if r.Challenge {
			return human.Errorf(human.Unavailable, "no dialog or terminal could ask for your password: no polkit agent runs in your session; install pkttyagent (the package polkitd) for terminals")
		}
		return errFailed
	}
	return nil
}

// subjectOf names a process of our own user; 0 is our own. Polkit itself checks whose it is.
func subjectOf(process int) (subject, error) {
	if process == 0 {
		process = os.Getpid()
	}
	start, err := startOf(process)
	if err != nil {
		return subject{}, human.Wrap(human.Invalid, err, "process %d does not run", process)
	}
	return subject{"unix-process", map[string]dbus.Variant{
		"pid": dbus.MakeVariant(uint32(process)), "start-time": dbus.MakeVariant(start), "uid": dbus.MakeVariant(int32(os.Getuid())),
	}}, nil
}

// startOf is when a process began, in ticks since the machine did, by which polkit tells it from a later one.
func startOf(process int) (uint64, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", process))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(stat[strings.LastIndexByte(string(stat), ')'):]), " ")
	fields := strings.Fields(rest) // from the third on
	if len(fields) < 20 {
		return 0, fmt.Errorf("/proc/%d/stat has %d fields", process, len(fields))
	}
	return strconv.ParseUint(fields[19], 10, 64)
}
