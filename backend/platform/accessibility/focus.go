package accessibility

import (
	"context"
	"os"
	"path/filepath"
	"strconv"

	"github.com/godbus/dbus/v5"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

// errLost is how Run ends when the bus goes away.
var errLost = human.Errorf(human.Unavailable, "the connection to the accessibility bus was lost; elements are not known from here on")

// Run delivers a FocusMoved event each time the keyboard goes to another element, stamped when the bus
// delivers it. An element that could not be looked up in time has the role "unknown". A page of WebKitGTK's
// hears a moment after ready that events are wanted, and may keep a move to itself until it is next asked for
// anything, with a stamp as late; Focused asks, so it is right all the same.
func (e *Elements) Run(ctx context.Context, ready func(), emit func(human.RecordedEvent)) (seen uint64, err error) {
	defer func() {
		if ctx.Err() != nil {
			err = nil // it was to end
		}
	}()
	what := []event{focused}
	if e.o.Reports {
		what = append(what, reports...)
	}
	b, signals, stop, err := e.listen(ctx, what)
	if err != nil {
		return 0, end(err)
	}
	defer stop()
	e.greet(ctx, b)
	defer e.forget()
	if ctx.Err() != nil {
		return 0, nil
	}
	if e.o.Reports {
		return e.report(ctx, b, signals, ready, emit)
	}
	ready()
	for {
		select {
		case <-ctx.Done():
			return seen, nil
		case s, ok := <-signals:
			if !ok {
				return seen, errLost
			}
			if !gained(s) {
				continue
			}
			seen++
			_, at := e.o.Clock()
			emit(e.moved(ctx, ref{s.Sender, s.Path}, at))
		}
	}
}

// forget drops what had the keyboard: without events it is not known any more.
func (e *Elements) forget() {
	e.mu.Lock()
	defer e.mu.Unlock()
	clear(e.focused)
}

// greet asks each application for something. When it has answered, it has heard that events are wanted.
func (e *Elements) greet(ctx context.Context, b *bus) {
	ctx, cancel := context.WithTimeout(ctx, e.o.Deadline)
	defer cancel()
	l := b.lookup(ctx)
	if l.list() != nil {
		return // look-ups will say so
	}
	var asked []answer
	for _, a := range b.of(0) {
		asked = append(asked, l.ask(a.root, accessible+"GetRole"))
	}
	for _, a := range asked {
		var r uint32
		_ = a.into(&r) // one that does not answer is late with events, too
	}
}

// gained says whether a StateChanged signal means that its object got the focus.
func gained(s *dbus.Signal) bool {
	kind, on := focused.of(s)
	return kind && on == 1
}

func (e *Elements) moved(ctx context.Context, r ref, at int64) human.RecordedEvent {
	event := human.RecordedEvent{At: at, Source: human.ElementSource, Type: human.FocusMoved, Element: &human.Element{Role: "unknown", Ref: r.String()}}
	l, cancel, err := e.begin(ctx)
	if err != nil {
		return event
	}
	defer cancel()
	owner := l.owner(r)
	if owner == nil {
		return event
	}
	e.mu.Lock()
	e.focused[owner.root.Bus] = r
	e.mu.Unlock()
	event.App = process(owner.pid)
	kit := l.kit(owner)
	// Where the element is on the desktop follows from its window's place, so only for the active one.
	p := placement{scale: 1}
	known := kit != gtk4
	if active, ok := e.screen.active(); ok && active.App.PID == owner.pid {
		if f, err := l.frame(e.screen.unshadowed(active)); err == nil {
			p, known = f.placement, true
		}
	}
	found := l.describe(kit, p, node{ref: r})
	if l.ctx.Err() != nil {
		return event // half of it could hide that it is secret
	}
	if !known {
		found.Bounds = human.Bounds{}
	}
	event.Element = &found
	return event
}

// owner returns the application in whose window an object is. A page of WebKitGTK's comes from a process
// of its own, which is not listed.
func (l *lookup) owner(r ref) *app {
	bus := r.Bus
	if a := l.bus.app(bus); a != nil {
		return a
	}
	if l.list() != nil {
		return nil
	}
	if l.bus.app(bus) == nil {
		chain := l.chain(otherT, l.one(otherT, r, withRole|withParent), maxAncestors)
		bus = chain[len(chain)-1].ref.Bus
	}
	return l.bus.app(bus)
}

// process says what program a process is.
func process(pid int) *human.App {
	if pid == 0 {
		return nil
	}
	app := &human.App{PID: pid}
	if exe, err := os.Readlink(filepath.Join("/proc", strconv.Itoa(pid), "exe")); err == nil {
		app.Exe = filepath.Base(exe)
		app.Name = app.Exe
	}
	return app
}

var _ record.Source = (*Elements)(nil)
