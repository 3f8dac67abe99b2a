// Package accessibility looks up accessible elements on Linux, and tells where the keyboard focus is: it speaks
// AT-SPI, the protocol of screen readers, over D-Bus. What toolkits get wrong stands where it is put right.
package accessibility

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/godbus/dbus/v5"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

// Options of Elements. Clock is needed; the zero value of the rest is the default.
type Options struct {
	Clock record.Clock
	// Session is the address of the session bus; by default the environment's.
	Session string
	// Deadline bounds a whole look-up; by default 200 ms, or 2 s with Reports, when no input waits for it. What was
	// pressed has three times as long: nothing waits for that, and an application that draws is slow to answer.
	Deadline time.Duration
	// Reports has Run deliver what applications report of what is done in them, too. It is for sessions in which no
	// input is seen.
	Reports bool
	// Terminal says whether a window is a terminal's, of which something else knows when typing is secret. In
	// any other application that is not on the bus Focused cannot tell a password from a name, and says so.
	Terminal func(ctx context.Context, in record.Placed) bool
}

// Elements implements record.Elements. All methods are safe for concurrent use.
type Elements struct {
	o      Options
	screen screen

	mu       sync.Mutex
	bus      *bus
	enabled  bool           // by us: what was open before may not be on the bus
	focused  map[string]ref // by application, what had the keyboard last
	patience chan struct{}  // one connects at a time, and others wait no longer than they may
}

// New returns elements that connect when they are first asked. Close releases the connection.
func New(o Options) *Elements {
	usual := 200 * time.Millisecond
	if o.Reports {
		usual = 2 * time.Second
	}
	o.Deadline = cmp.Or(o.Deadline, usual)
	return &Elements{o: o, focused: map[string]ref{}, patience: make(chan struct{}, 1)}
}

// Close closes the connections. A later look-up opens them anew.
func (e *Elements) Close() error {
	e.mu.Lock()
	b := e.bus
	e.bus = nil
	e.mu.Unlock()
	e.screen.close()
	if b != nil {
		return b.conn.Close()
	}
	return nil
}

// Reasons why there is no bus of accessibility.
var (
	errNoSession = human.Errorf(human.Unavailable, "there is no D-Bus session bus, so elements cannot be read")
	errNoBus     = human.Errorf(human.Unavailable, "there is no accessibility bus in this session")
	errNotOn     = human.Errorf(human.Unavailable, "accessibility cannot be switched on in this session")
)

// connect returns the connection. It switches accessibility on where it is off: applications tell of
// their elements only then.
func (e *Elements) connect(ctx context.Context) (*bus, error) {
	select {
	case e.patience <- struct{}{}:
		defer func() { <-e.patience }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	e.mu.Lock()
	b := e.bus
	e.mu.Unlock()
	if b != nil && b.conn.Connected() {
		return b, nil
	}
	address, enabled, err := e.address(ctx)
	if err != nil {
		return nil, err
	}
	conn, err := dbus.Connect(address)
	if err != nil {
		return nil, human.Wrap(human.Unavailable, err, "%s", errNoBus.Msg)
	}
	b = &bus{conn: conn, apps: map[string]*app{}}
	e.mu.Lock()
	e.bus = b
	e.enabled = e.enabled || enabled
	e.mu.Unlock()
	return b, nil
}

// address asks the session bus where that of accessibility is, and switches it on.
func (e *Elements) address(ctx context.Context) (address string, enabled bool, err error) {
	session, err := e.session()
	if err != nil {
		return "", false, human.Wrap(human.Unavailable, err, "%s", errNoSession.Msg)
	}
	defer session.Close()
	status := session.Object("org.a11y.Bus", "/org/a11y/bus")
	if err := status.CallWithContext(ctx, "org.a11y.Bus.GetAddress", 0).Store(&address); err != nil {
		return "", false, human.Wrap(human.Unavailable, err, "%s", errNoBus.Msg)
	}
	const iface, isEnabled = "org.a11y.Status", "IsEnabled"
	const get, set = "org.freedesktop.DBus.Properties.Get", "org.freedesktop.DBus.Properties.Set"
	var on dbus.Variant
	if err := status.CallWithContext(ctx, get, 0, iface, isEnabled).Store(&on); err != nil {
		return "", false, human.Wrap(human.Unavailable, err, "%s", errNotOn.Msg)
	}
	if on.Value() == true {
		return address, false, nil
	}
	if err := status.CallWithContext(ctx, set, 0, iface, isEnabled, dbus.MakeVariant(true)).Err; err != nil {
		return "", false, human.Wrap(human.Unavailable, err, "%s", errNotOn.Msg)
	}
	return address, true, nil
}

func (e *Elements) session() (*dbus.Conn, error) {
	if e.o.Session != "" {
		return dbus.Connect(e.o.Session)
	}
	// Without a bus none is started: no one else would be on it.
	conn, err := dbus.SessionBusPrivateNoAutoStartup()
	if err != nil {
		return nil, err
	}
	if err := errors.Join(conn.Auth(nil), conn.Hello()); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// Check connects, which switches accessibility on, and says what can be had.
func (e *Elements) Check(ctx context.Context) human.SourceState {
	s := human.SourceState{Source: human.ElementSource, Status: "complete"}
	b, err := e.connect(ctx)
	if err == nil {
		err = b.lookup(ctx).list()
	}
	if err != nil {
		s.Status, s.Code = "missing", "no_accessibility_bus"
		s.Detail = "Clicks are recorded with their places only, and fields for passwords cannot be told from others: " + human.SafeText(end(err)) + "."
		s.Fix = "Install at-spi2-core, log in to the desktop anew, and start Deskbell in that session."
		return s
	}
	if e.o.Reports {
		s.Status, s.Code = "partial", codeWayland
		s.Detail = "This is a Wayland session: programs report over accessibility which of their buttons, fields and choices change and where the keyboard is, but not who did it and how. A program that reports nothing leaves a gap."
		s.Fix = "Open the programs again that were open before accessibility was on. Chromium, Chrome and Electron report with --force-renderer-accessibility."
		return s
	}
	s.Programs = e.silent(b.lookup(ctx))
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.enabled:
		s.Status = "partial"
		s.Detail = "Accessibility was off until now; Qt 6 and Chromium applications that were open already do not tell of their elements."
		s.Fix = "Close and open them again. Chromium, Chrome and Electron tell of a page's elements with --force-renderer-accessibility."
	case len(s.Programs) > 0:
		var names []string
		for _, p := range s.Programs {
			names = append(names, p.Name)
		}
		s.Detail = "0 elements seen in " + strings.Join(names, ", ") + ": clicks there are recorded by their places alone."
		s.Fix = "Some programs give elements when they are opened again; others never do."
	}
	return s
}

// silent are the programs with windows of which none is on the bus.
func (e *Elements) silent(l *lookup) (silent []human.ProgramElements) {
	known := map[int]bool{os.Getpid(): true}
	for _, app := range e.screen.programs() {
		if known[app.PID] {
			continue
		}
		if known[app.PID] = true; len(l.bus.of(app.PID)) == 0 {
			silent = append(silent, human.ProgramElements{Name: clean(human.SafeText(errors.New(app.Name)))})
		}
	}
	return silent
}

// begin starts a look-up with the usual deadline.
func (e *Elements) begin(ctx context.Context) (*lookup, context.CancelFunc, error) {
	return e.within(ctx, e.o.Deadline)
}

// within starts a look-up that ends after a time.
func (e *Elements) within(ctx context.Context, deadline time.Duration) (*lookup, context.CancelFunc, error) {
	ctx, cancel := context.WithTimeout(ctx, deadline)
	b, err := e.connect(ctx)
	if err != nil {
		cancel()
		return nil, nil, err
	}
	l := b.lookup(ctx)
	l.focus = e.last
	return l, cancel, nil
}

// last is what had the keyboard last in an application, while Run runs.
func (e *Elements) last(name string) ref {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.focused[name]
}

// end makes the error of a look-up one that may be shown.
func end(err error) error {
	var known *human.Error
	switch {
	case err == nil || errors.As(err, &known):
		return err
	case errors.Is(err, context.DeadlineExceeded):
		return human.Wrap(human.Unavailable, err, "the application did not describe its elements in time")
	case errors.Is(err, context.Canceled):
		return err
	}
	return human.Wrap(human.NotFound, err, "the application does not describe this element")
}

// At looks up the element at a point: what a person would say they pressed. It takes some milliseconds,
// and ends with ctx or its deadline. Unavailable when the application does not answer or there is no bus.
func (e *Elements) At(ctx context.Context, x, y int, at record.Placed) (human.Element, error) {
	l, cancel, err := e.within(ctx, 3*e.o.Deadline)
	if err != nil {
		return human.Element{}, end(err)
	}
	defer cancel()
	var popup *human.Bounds
	if b, ok := e.screen.popup(x, y); ok {
		popup = &b
		// Only the window that opened it tells the application's scale by its size.
		if opener, ok := e.screen.active(); ok && b == at.Window.Bounds && opener.App.PID == at.App.PID {
			at = opener
		}
	}
	f, err := l.frame(e.screen.unshadowed(at))
	if err != nil {
		return human.Element{}, end(err)
	}
	n, p, err := l.hit(f, x, y, popup)
	if err != nil {
		return human.Element{}, end(err)
	}
	if err := l.ctx.Err(); err != nil {
		return human.Element{}, end(err) // half a way down is not the element
	}
	found := l.describe(f.kit, p, n)
	if err := l.ctx.Err(); err != nil {
		return human.Element{}, end(err)
	}
	if !found.Bounds.Contains(x, y) {
		if f.kit != gtk4 {
			return human.Element{}, errNowhere
		}
		found.Bounds = around(found.Bounds, x, y) // its bounds leave padding out
	}
	return found, nil
}

// around grows bounds to contain a point.
func around(b human.Bounds, x, y int) human.Bounds {
	left, top := min(b.X, x), min(b.Y, y)
	right, bottom := max(b.X+b.W, x+1), max(b.Y+b.H, y+1)
	return human.Bounds{X: left, Y: top, W: right - left, H: bottom - top}
}

// Focused looks up the element that has the keyboard: the one whose event came last while Run runs, else
// by searching the window. NotFound only for terminals that are not on the bus; Unavailable where an
// application does not say into which of its fields is typed, for it may be one for passwords.
func (e *Elements) Focused(ctx context.Context, in record.Placed) (human.Element, error) {
	l, cancel, err := e.begin(ctx)
	if err != nil {
		return human.Element{}, end(err)
	}
	defer cancel()
	f, err := l.frame(e.screen.unshadowed(in))
	if err != nil {
		if human.KindOf(end(err)) == human.NotFound && (e.o.Terminal == nil || !e.o.Terminal(ctx, in)) {
			return human.Element{}, untold(in)
		}
		return human.Element{}, end(err)
	}
	var found node
	if last := e.last(f.app.root.Bus); !last.null() {
		if n := l.one(f.kit, last, toDescribe); !n.gone && n.states.has(stateFocused) && l.top(f.kit, n) == f.node.ref {
			found = n
		}
	}
	if found.ref.null() {
		l.search(f.kit, withRole|withStates, f.node, false, func(n node, _ bool) (bool, bool) {
			if n.states.has(stateFocused) {
				found = n // the deepest one, as it goes level by level
			}
			return true, false
		})
	}
	if err := l.ctx.Err(); err != nil {
		return human.Element{}, end(err)
	}
	if found.ref.null() {
		return human.Element{}, untold(in)
	}
	el := l.describe(f.kit, f.placement, found)
	if err := l.ctx.Err(); err != nil {
		return human.Element{}, end(err)
	}
	// Chromium tells of a page, and not of its fields, unless it was started for it.
	if el.Role == roleDocument.word() || el.Role == roleWindow.word() {
		return human.Element{}, untold(in)
	}
	return el, nil
}

func untold(in record.Placed) error {
	return human.Errorf(human.Unavailable, "%s does not say which of its fields has the keyboard focus", name(in.App))
}

// top returns the window that a node is in.
func (l *lookup) top(kit toolkit, n node) ref {
	chain := l.chain(kit, n, maxAncestors)
	return chain[len(chain)-1].ref
}

// Value reads the text of a field for ordinary text, as it stands there now. Denied for a secret one; NotFound
// when it is gone or nothing can be typed into it; Exhausted when it has more than 10,000 characters.
func (e *Elements) Value(ctx context.Context, of human.Element) (string, error) {
	if of.Secret {
		return "", errSecret
	}
	l, cancel, err := e.begin(ctx)
	if err != nil {
		return "", end(err)
	}
	defer cancel()
	n := l.one(otherT, parseRef(of.Ref), withRole|withStates|withName)
	if n.gone {
		return "", human.Errorf(human.NotFound, "%s %q no longer exists", of.Role, of.Name)
	}
	name, hint := l.called(otherT, n)
	if err := l.ctx.Err(); err != nil {
		return "", end(err)
	}
	if n.role == rolePassword || secret([]node{n}, name, hint) { // a field can become one
		return "", errSecret
	}
	if !n.role.is(typed) || !n.states.has(stateEditable) {
		return "", human.Errorf(human.NotFound, "%s %q is not a text field", of.Role, of.Name)
	}
	text, err := l.text(n)
	return text, end(err)
}

// Shown implements record.Displayer. What has the keyboard may be a display, too, and its name what it shows.
func (e *Elements) Shown(ctx context.Context, in record.Placed) ([]human.Element, error) {
	l, cancel, err := e.begin(ctx)
	if err != nil {
		return nil, end(err)
	}
	defer cancel()
	f, err := l.frame(e.screen.unshadowed(in))
	if err != nil {
		return nil, end(err)
	}
	const most = 100
	var found []node
	l.search(f.kit, toFind|withName, f.node, false, func(n node, _ bool) (bool, bool) {
		shows := n.role == roleLabel || n.role == roleStatic || n.states.has(stateFocused) || n.role.is(typed)
		if shows && n.role != rolePassword && !n.states.has(stateEditable) && len(found) < most {
			found = append(found, n)
		}
		return !slices.Contains(bulky, n.role) && !slices.Contains(documents, n.role), false
	})
	var shown []human.Element
	for _, n := range found {
		el := human.Element{Role: n.role.word(), Name: clean(n.name), Bounds: f.desktop(n.box), Ref: n.ref.String()}
		if n.role.is(typed) {
			if name, hint := l.called(f.kit, n); secret([]node{n}, name, hint) {
				continue
			}
			text, err := l.text(n)
			if err != nil {
				continue
			}
			el.Name = clean(text)
		}
		shown = append(shown, el)
	}
	return shown, end(l.ctx.Err())
}

// documents are what is read, and long.
var documents = []role{roleDocument, roleDocumentText, roleDocumentWeb}

var errSecret = human.Errorf(human.Denied, "the text of a password field is never read")

var (
	_ record.Elements  = (*Elements)(nil)
	_ record.Displayer = (*Elements)(nil)
)
