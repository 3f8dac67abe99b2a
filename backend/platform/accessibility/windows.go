package accessibility

import (
	"context"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

// unsure is how long no window may say that it is active before a recording has a gap: between two windows there is a
// moment without one.
const unsure = 500 * time.Millisecond

// Windows implements record.Windows where only applications themselves say which window is active: under Wayland. Places
// of windows are not known. A stretch in which no application says that its window is active is reported as a gap.
type Windows struct{ elements *Elements }

// NewWindows returns windows that are looked up over the connection of elements.
func NewWindows(e *Elements) *Windows { return &Windows{e} }

// Check says what can be had of windows.
func (w *Windows) Check(ctx context.Context) human.SourceState {
	s := w.elements.Check(ctx)
	s.Source = human.WindowSource
	switch s.Status {
	case "missing":
		s.Detail = "This is a Wayland session, in which only accessibility says which window is active, and there is none."
	default:
		s.Detail = "This is a Wayland session: which window is active is known of programs with accessibility, and not where it is on the screen. While another program is active, the recording has a gap."
	}
	return s
}

// A top is a window on the bus.
type top struct {
	frame
	at record.Placed
}

// tops are the windows of all applications, but for GNOME Shell's own stage.
func (l *lookup) tops() (all []top) {
	if l.list() != nil {
		return nil
	}
	for _, a := range l.bus.of(0) {
		of := process(a.pid)
		var children []ref
		if of != nil && of.Exe == "gnome-shell" || l.ask(a.root, accessible+"GetChildren").into(&children) != nil {
			continue
		}
		kit := l.kit(a)
		for _, n := range l.read(kit, children[:min(len(children), 64)], toFind|withName) {
			if !n.gone && n.role != roleWindow && n.role != rolePopupMenu || kit == gtk4 && !n.gone {
				all = append(all, top{frame{app: a, kit: kit, node: n}, l.placed(a, n)})
			}
		}
	}
	return all
}

// placed is a window, without its place.
func (l *lookup) placed(a *app, n node) record.Placed {
	p := record.Placed{Window: human.Window{ID: n.ref.String(), Title: clean(n.name)}}
	if of := process(a.pid); of != nil {
		p.App = *of
	}
	if name := l.property(a.root, accessible, "Name").text(); name != "" {
		p.App.Name = clean(name)
	}
	return p
}

// window is the window that an object is in.
func (e *Elements) window(ctx context.Context, of ref) (record.Placed, bool) {
	l, cancel, err := e.begin(ctx)
	if err != nil {
		return record.Placed{}, false
	}
	defer cancel()
	owner := l.owner(of)
	if owner == nil {
		return record.Placed{}, false
	}
	chain := l.chain(otherT, l.one(otherT, of, withRole|withName|withParent), maxAncestors)
	n := chain[len(chain)-1]
	// Where an application is too slow to say all that the object is in, the way up ends before the window.
	if n.gone || l.one(otherT, n.parent, withRole).role != roleApplication {
		return record.Placed{}, false
	}
	return l.placed(owner, n), true
}

// Visible lists the windows that applications show, without their places and in no order.
func (w *Windows) Visible(ctx context.Context) ([]record.Placed, error) {
	l, cancel, err := w.elements.begin(ctx)
	if err != nil {
		return nil, end(err)
	}
	defer cancel()
	var all []record.Placed
	for _, t := range l.tops() {
		if t.node.shows(t.kit) {
			all = append(all, t.at)
		}
	}
	return all, end(l.ctx.Err())
}

// A follower follows which window is active. It is for one goroutine.
type follower struct {
	*Elements
	ctx   context.Context
	emit  func(human.RecordedEvent)
	seen  uint64
	known map[ref]record.Placed

	active ref   // none while none is known
	focus  ref   // what has the keyboard in it
	since  int64 // when it was last known, while it is not
	doubt  bool  // the active one may be no more
	at     int64 // since when
}

// Run delivers which window is active, and windows that open and close.
func (w *Windows) Run(ctx context.Context, ready func(), emit func(human.RecordedEvent)) (seen uint64, err error) {
	e := w.elements
	defer func() {
		if ctx.Err() != nil {
			err = nil // it was to end
		}
	}()
	b, signals, stop, err := e.listen(ctx, []event{active, activated, deactivated, created, destroyed, focused})
	if err != nil {
		return 0, end(err)
	}
	defer stop()
	e.greet(ctx, b)
	f := &follower{Elements: e, ctx: ctx, emit: emit, known: map[ref]record.Placed{}}
	_, f.since = e.o.Clock()
	if ctx.Err() != nil {
		return 0, nil
	}
	ready()
	f.begin()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			f.gap()
			return f.seen, nil
		case <-timer.C:
			f.check()
		case s, ok := <-signals:
			if !ok {
				f.gap()
				return f.seen, errLost
			}
			of := ref{s.Sender, s.Path}
			_, at := e.o.Clock()
			switch is := func(w event) bool { is, _ := w.of(s); return is }; {
			case is(activated):
				f.activate(of, at)
			case is(created):
				f.opened(of, at)
			case is(destroyed):
				f.closed(of, at)
			case is(deactivated):
				f.doubted(of == f.active, at, timer)
			case is(active):
				if _, on := active.of(s); on == 1 {
					f.activate(of, at)
				} else {
					f.doubted(of == f.active, at, timer)
				}
			default:
				if _, on := focused.of(s); on == 1 {
					f.focusedIn(of, at)
				} else {
					f.doubted(of == f.focus, at, timer)
				}
			}
		}
	}
}

// begin reports the window that is active, or that none is known.
func (f *follower) begin() {
	l, cancel, err := f.Elements.begin(f.ctx)
	if err == nil {
		defer cancel()
		for _, t := range l.tops() {
			f.known[t.node.ref] = t.at
			if f.active.null() && t.node.states.has(stateActive) {
				f.turn(t.node.ref, t.at, f.since)
			}
		}
	}
	if f.active.null() {
		f.send(human.RecordedEvent{At: f.since, Type: human.WindowActive})
	}
}

func (f *follower) send(e human.RecordedEvent) {
	f.seen++
	e.Source = human.WindowSource
	e.Reported = e.Type != human.GapOpened
	f.emit(e)
}

// turn makes a window the active one.
func (f *follower) turn(of ref, p record.Placed, at int64) {
	f.gap()
	f.since, f.doubt = 0, false
	f.known[of] = p
	if f.active != of {
		f.active = of
		f.send(human.RecordedEvent{At: at, Type: human.WindowActive, App: &p.App, Window: &p.Window})
	}
}

// gap ends the stretch in which no window was known to be active.
func (f *follower) gap() {
	_, now := f.o.Clock()
	if from := f.since; from != 0 && now-from >= int64(unsure) {
		f.since = 0
		f.send(human.RecordedEvent{At: from, Type: human.GapOpened, Gap: &human.Gap{From: from, To: now, Source: human.WindowSource, Reason: "unreported"}})
	}
}

// activate takes what a window says of itself. Qt says it when it loses the keyboard, too.
func (f *follower) activate(of ref, at int64) {
	l, cancel, err := f.Elements.begin(f.ctx)
	if err != nil {
		return
	}
	defer cancel()
	n := l.one(otherT, of, withRole|withStates|withName)
	owner := l.owner(of)
	if owner != nil && n.states.has(stateActive) {
		f.turn(of, l.placed(owner, n), at)
	}
}

func (f *follower) focusedIn(of ref, at int64) {
	f.focus = of
	if p, ok := f.window(f.ctx, of); ok && p.App.Exe != "gnome-shell" {
		f.turn(parseRef(p.Window.ID), p, at)
	}
}

func (f *follower) opened(of ref, at int64) {
	if p, ok := f.window(f.ctx, of); ok && p.Window.ID == of.String() {
		f.known[of] = p
		f.send(human.RecordedEvent{At: at, Type: human.WindowOpened, App: &p.App, Window: &p.Window})
	}
}

func (f *follower) closed(of ref, at int64) {
	p, ok := f.known[of]
	if !ok {
		return
	}
	delete(f.known, of)
	f.send(human.RecordedEvent{At: at, Type: human.WindowClosed, App: &p.App, Window: &p.Window})
	if of == f.active {
		f.lose(at)
	}
}

// doubted has the active window looked at in a moment.
func (f *follower) doubted(its bool, at int64, timer *time.Timer) {
	if its && !f.active.null() && !f.doubt {
		f.doubt, f.at = true, at
		timer.Reset(unsure)
	}
}

// check looks whether the active window still is.
func (f *follower) check() {
	if !f.doubt {
		return
	}
	f.doubt = false
	l, cancel, err := f.Elements.begin(f.ctx)
	if err == nil {
		defer cancel()
		if n := l.one(otherT, f.active, withRole|withStates); n.states.has(stateActive) {
			return
		}
		if n := l.one(otherT, f.focus, withRole|withStates); !n.gone && n.states.has(stateFocused) && f.kit(l) == gtk4 {
			return
		}
	}
	f.lose(f.at)
}

func (f *follower) kit(l *lookup) toolkit {
	if a := l.bus.app(f.active.Bus); a != nil {
		return l.kit(a)
	}
	return otherT
}

// lose notes that no window is known to be active since a time.
func (f *follower) lose(at int64) {
	f.active, f.since = ref{}, at
	f.send(human.RecordedEvent{At: at, Type: human.WindowActive})
}

var _ record.Windows = (*Windows)(nil)
