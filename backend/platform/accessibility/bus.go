package accessibility

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/godbus/dbus/v5"

	"deskbell/backend/human"
)

// Interfaces and places of AT-SPI (at-spi2-core's xml folder).
const (
	accessible  = "org.a11y.atspi.Accessible."
	application = "org.a11y.atspi.Application."
	component   = "org.a11y.atspi.Component."
	textual     = "org.a11y.atspi.Text."
	valueFace   = "org.a11y.atspi.Value."
	selection   = "org.a11y.atspi.Selection."
	registry    = "org.a11y.atspi.Registry"
	rootPath    = dbus.ObjectPath("/org/a11y/atspi/accessible/root")
)

// A ref names an accessible object: whose it is, and which.
type ref struct {
	Bus  string
	Path dbus.ObjectPath
}

// null refs stand for "none". Calling one makes the bus drop the connection.
func (r ref) null() bool {
	return r.Bus == "" || r.Path == "" || strings.HasSuffix(string(r.Path), "/null")
}

func (r ref) String() string { return r.Bus + string(r.Path) }

func parseRef(s string) ref {
	i := strings.IndexByte(s, '/')
	if i < 0 {
		return ref{}
	}
	return ref{s[:i], dbus.ObjectPath(s[i:])}
}

// A bus is a connection to the bus of accessibility, with what is known of the applications on it.
type bus struct {
	conn *dbus.Conn

	mu   sync.Mutex
	apps map[string]*app // by their unique names on the bus, which are never given twice
}

// An app is an application on the bus.
type app struct {
	root ref
	pid  int
	kit  toolkit // "" until it was asked for

	silent time.Duration // how long it is left alone the next time that it does not answer
	until  time.Time     // until when it is left alone now
}

// How long an application is left alone that did not answer, at first and at most. A look-up that meets
// one has lost its whole deadline, so the second is tried with one look-up only.
const (
	firstSilence = 500 * time.Millisecond
	lastSilence  = 8 * time.Second
	// An application that has answered nothing for so long is taken to be stuck.
	stuck = 100 * time.Millisecond
)

var (
	errNone  = errors.New("no such accessible object")
	errStuck = human.Errorf(human.Unavailable, "the application does not answer; its elements are looked up again in a moment")
)

// A lookup is one look-up, with its deadline. It is for one goroutine.
type lookup struct {
	ctx   context.Context
	bus   *bus
	began time.Time
	focus func(name string) ref // what had the keyboard last in an application

	heard map[string]time.Time // when an application answered last
	path  map[ref]node         // what was gone through on the way down, with name and parent
}

func (b *bus) lookup(ctx context.Context) *lookup {
	return &lookup{ctx: ctx, bus: b, began: time.Now(), heard: map[string]time.Time{}, path: map[ref]node{}}
}

// An answer is one to come. Many are asked for before the first is waited for.
type answer struct {
	l    *lookup
	from string
	call *dbus.Call
	err  error
}

// ask sends a question and does not wait.
func (l *lookup) ask(r ref, method string, args ...any) answer {
	if r.null() {
		return answer{err: errNone}
	}
	if l.bus.silent(r.Bus) {
		return answer{err: errStuck}
	}
	how := dbus.FlagNoAutoStart
	if r.Bus == registry {
		how = 0 // the bus starts it when it is first asked
	}
	call := l.bus.conn.Object(r.Bus, r.Path).GoWithContext(l.ctx, method, how, make(chan *dbus.Call, 1), args...)
	return answer{l: l, from: r.Bus, call: call}
}

// property asks for one property. Never for all of them: that kills Qt applications.
func (l *lookup) property(r ref, iface, name string) answer {
	return l.ask(r, "org.freedesktop.DBus.Properties.Get", strings.TrimSuffix(iface, "."), name)
}

// into waits for the answer, at most until the look-up's deadline.
func (a answer) into(values ...any) error {
	if a.call == nil {
		return cmp.Or(a.err, errNone)
	}
	<-a.call.Done
	switch now := time.Now(); {
	case !errors.Is(a.call.Err, context.DeadlineExceeded):
		a.l.heard[a.from] = now
		a.l.bus.answered(a.from)
	default:
		last := a.l.heard[a.from]
		if last.IsZero() {
			last = a.l.began
		}
		if now.Sub(last) >= stuck {
			a.l.bus.leaveAlone(a.from, now)
		}
	}
	return a.call.Store(values...)
}

// text waits for a property that is a text; "" without.
func (a answer) text() string {
	var v dbus.Variant
	if a.into(&v) != nil {
		return ""
	}
	s, _ := v.Value().(string)
	return s
}

func (b *bus) silent(name string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	a := b.apps[name]
	return a != nil && !a.until.IsZero() && time.Now().Before(a.until)
}

func (b *bus) answered(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if a := b.apps[name]; a != nil {
		a.silent, a.until = 0, time.Time{}
	}
}

func (b *bus) leaveAlone(name string, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	a := b.apps[name]
	if a == nil {
		a = &app{}
		b.apps[name] = a
	}
	if now.Before(a.until) {
		return // another question of the same look-up
	}
	a.silent = min(max(firstSilence, 2*a.silent), lastSilence)
	a.until = now.Add(a.silent)
}

// list reads which applications are there, and asks the bus for the processes of new ones.
func (l *lookup) list() error {
	var roots []ref
	if err := l.ask(ref{registry, rootPath}, accessible+"GetChildren").into(&roots); err != nil {
		return err
	}
	b := l.bus
	asked := map[ref]answer{}
	b.mu.Lock()
	for _, r := range roots {
		if a := b.apps[r.Bus]; !r.null() && (a == nil || a.pid == 0) {
			asked[r] = answer{}
		}
	}
	b.mu.Unlock()
	for r := range asked {
		asked[r] = l.ask(ref{"org.freedesktop.DBus", "/org/freedesktop/DBus"}, "org.freedesktop.DBus.GetConnectionUnixProcessID", r.Bus)
	}
	for r, a := range asked {
		var pid uint32
		if a.into(&pid) != nil {
			continue // it is gone
		}
		b.mu.Lock()
		known := b.apps[r.Bus]
		if known == nil {
			known = &app{}
			b.apps[r.Bus] = known
		}
		known.root, known.pid = r, int(pid)
		b.mu.Unlock()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	there := map[string]bool{}
	for _, r := range roots {
		there[r.Bus] = true
	}
	for name, a := range b.apps {
		if !there[name] && a.pid != 0 {
			delete(b.apps, name)
		}
	}
	return nil
}

// of returns the applications of a process; 0 stands for all.
func (b *bus) of(pid int) (apps []*app) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, a := range b.apps {
		if a.pid != 0 && (pid == 0 || a.pid == pid) {
			apps = append(apps, a)
		}
	}
	return apps
}

// app returns the application with a name on the bus, nil when it is not listed.
func (b *bus) app(name string) *app {
	b.mu.Lock()
	defer b.mu.Unlock()
	if a := b.apps[name]; a != nil && a.pid != 0 {
		return a
	}
	return nil
}

// A toolkit is what an application draws its windows with; each has ways of its own.
type toolkit string

const (
	gtk4   toolkit = "GTK 4" // knows places within its window only
	otherT toolkit = "other" // gives places on the screen
)

func (l *lookup) kit(a *app) toolkit {
	l.bus.mu.Lock()
	kit := a.kit
	l.bus.mu.Unlock()
	if kit != "" {
		return kit
	}
	name, version := l.property(a.root, application, "ToolkitName"), l.property(a.root, application, "Version")
	kit = otherT
	n := name.text()
	if v := version.text(); strings.EqualFold(n, "gtk") && !strings.HasPrefix(v, "2.") && !strings.HasPrefix(v, "3.") {
		kit = gtk4
	}
	if n == "" {
		return kit // it did not say; ask again the next time
	}
	l.bus.mu.Lock()
	a.kit = kit
	l.bus.mu.Unlock()
	return kit
}

// ref waits for a property that names another object.
func (a answer) ref() (r ref) {
	var v dbus.Variant
	if a.into(&v) == nil {
		_ = dbus.Store([]any{v.Value()}, &r) // none when it is something else
	}
	return r
}
