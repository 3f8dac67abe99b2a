package x11

import (
	"context"
	"encoding/binary"
	"slices"
	"sync"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

// settle is how long a window must have rested before its new bounds are reported: while it is dragged, it is
// somewhere else at every moment.
const settle = 100 * time.Millisecond

// Windows is the source of windows: what the window manager says of them (Extended Window Manager Hints),
// as it says it; nothing is polled. Without a window manager it is the windows of the root and the
// keyboard's focus.
type Windows struct {
	display string
	clock   record.Clock

	mu   sync.Mutex
	look *viewer // for Visible, while Run runs
}

// NewWindows makes one for a display; for that of DISPLAY when it is empty.
func NewWindows(display string, clock record.Clock) *Windows {
	return &Windows{display: display, clock: clock}
}

// Check implements record.Source.
func (ws *Windows) Check(ctx context.Context) human.SourceState {
	state, w := reach(ctx, human.WindowSource, ws.display)
	if w == nil {
		return state
	}
	defer w.close()
	if state.Code == codeWayland {
		state.Detail = "This is a Wayland session: only windows of older programs, which use XWayland, can be seen."
		return state
	}
	v, err := newViewer(ctx, w)
	if err != nil {
		return lostState(human.WindowSource, err)
	}
	d, err := v.desktop(ctx)
	if err != nil {
		return lostState(human.WindowSource, err)
	}
	if !d.managed {
		state.Status, state.Code = "partial", codeUnsupported
		state.Detail = "No window manager says which windows there are and which is active: the windows of the screen and the keyboard's focus are taken for it."
		state.Fix = "Start a window manager that keeps to the Extended Window Manager Hints; nearly all do."
	}
	return state
}

// Visible implements record.Windows. It asks over Run's connection while Run runs, and one of its own else.
func (ws *Windows) Visible(ctx context.Context) ([]record.Placed, error) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.look != nil {
		if list, err := ws.look.visible(ctx); err == nil || ctx.Err() != nil {
			if err != nil {
				ws.drop() // answers to what was asked would come for what is asked next
			}
			return list, err
		}
		ws.drop()
	}
	w, err := dial(ctx, ws.display)
	if err != nil {
		return nil, err
	}
	defer w.close()
	v, err := newViewer(ctx, w)
	if err != nil {
		return nil, lost(err)
	}
	list, err := v.visible(ctx)
	if err != nil {
		return nil, lost(err)
	}
	return list, nil
}

// drop closes the connection that Run made for Visible.
func (ws *Windows) drop() {
	if ws.look != nil {
		ws.look.close()
		ws.look = nil
	}
}

// Run implements record.Source.
func (ws *Windows) Run(ctx context.Context, ready func(), emit func(human.RecordedEvent)) (uint64, error) {
	r := &windowsRun{clock: ws.clock, emit: emit, known: map[uint32]record.Placed{}, stale: map[uint32]bool{}}
	err := r.run(ctx, ws, ready)
	if ctx.Err() != nil {
		err = nil // it ended as it was told to, at whatever point
	}
	if err != nil {
		err = lost(err)
	}
	return r.seen, err
}

// A windowsRun is one run.
type windowsRun struct {
	clock record.Clock
	emit  func(human.RecordedEvent)
	seen  uint64
	v     *viewer
	time  timeline

	known   map[uint32]record.Placed // windows that were reported, as they were last
	active  uint32                   // the last that was told
	managed bool
	check   uint32 // the window manager's own window, which goes when it goes

	changed  bool            // the lists may have: which windows there are, which is active
	at       uint32          // server time of that
	timed    bool            // at is set
	stirred  bool            // windows came or went, which counts where nobody manages them
	stale    map[uint32]bool // windows whose title may have changed
	moved    map[uint32]bool // windows whose bounds may have
	settling *time.Timer
}

func (r *windowsRun) run(ctx context.Context, ws *Windows, ready func()) error {
	w, err := dial(ctx, ws.display)
	if err != nil {
		return err
	}
	defer w.close()
	if r.v, err = newViewer(ctx, w); err != nil {
		return err
	}
	if r.time, err = askTime(ctx, w, r.clock, nil); err != nil {
		return err
	}
	if err := ws.prepare(ctx); err != nil {
		return err
	}
	defer func() {
		ws.mu.Lock()
		defer ws.mu.Unlock()
		ws.drop()
	}()
	r.v.event = r.note
	r.moved = map[uint32]bool{}
	r.settling = time.NewTimer(time.Hour)
	defer r.settling.Stop()
	if err := r.begin(ctx); err != nil {
		return err
	}
	ready()
	return r.listen(ctx)
}

// prepare makes the connection for Visible.
func (ws *Windows) prepare(ctx context.Context) error {
	w, err := dial(ctx, ws.display)
	if err != nil {
		return err
	}
	v, err := newViewer(ctx, w)
	if err != nil {
		w.close()
		return err
	}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.drop()
	ws.look = v
	return nil
}

// begin learns which windows there are and tells the active one.
func (r *windowsRun) begin(ctx context.Context) error {
	if err := r.v.selectEvents(r.v.root, maskProperty|maskSubstructure); err != nil {
		return err
	}
	d, err := r.v.desktop(ctx)
	if err != nil {
		return err
	}
	r.managed, r.check = d.managed, d.check
	if _, err := r.meet(ctx, d.clients); err != nil {
		return err
	}
	return r.activate(ctx, d.active)
}

// listen waits for changes until ctx ends or the connection does. What has come together is looked at
// together: a window that opens changes several things at once.
func (r *windowsRun) listen(ctx context.Context) error {
	drifted := time.NewTicker(driftsFor)
	defer drifted.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-drifted.C:
			if err := r.setClock(ctx); err != nil {
				return err
			}
		case f, ok := <-r.v.frames:
			if !ok {
				return r.v.err
			}
			r.note(f)
		case <-r.settling.C:
			for w := range r.moved {
				r.stale[w] = true
			}
			clear(r.moved)
		}
		if len(r.v.frames) > 0 {
			continue
		}
		if err := r.refresh(ctx); err != nil {
			return err
		}
	}
}

// setClock reads the server's clock anew, where it is not ours.
func (r *windowsRun) setClock(ctx context.Context) (err error) {
	if !r.time.shared {
		r.time, err = askTime(ctx, r.v.wire, r.clock, r.note)
	}
	return err
}

// note remembers what an event says has changed.
func (r *windowsRun) note(f []byte) {
	window, second := binary.LittleEndian.Uint32(f[4:]), binary.LittleEndian.Uint32(f[8:])
	switch f[0] & 127 {
	case eventProperty: // window, atom, time
		switch {
		case window == r.v.root && slices.Contains([]uint32{r.v.atom.active, r.v.atom.clients, r.v.atom.supported, r.v.atom.check}, second):
			r.changed = true
			r.at, r.timed = binary.LittleEndian.Uint32(f[12:]), true
		case window != r.v.root && (second == r.v.atom.name || second == atomWMName || second == atomWMClass):
			r.stale[window] = true
		}
	case eventConfigure: // event window, window
		if _, ok := r.known[second]; ok {
			if len(r.moved) == 0 {
				r.settling.Reset(settle)
			}
			r.moved[second] = true
		}
	case eventCreate, eventDestroy, eventMap, eventUnmap, eventReparent, eventFocusIn, eventFocusOut, eventEnterNotify:
		// With a window manager its lists say what comes of it, as long as it is there.
		r.stirred = true
		r.changed = r.changed || !r.managed || second == r.check
	}
}

// refresh asks about what may have changed, and tells what has.
func (r *windowsRun) refresh(ctx context.Context) error {
	for r.changed || len(r.stale) > 0 { // while it asks, more may change
		if !r.changed {
			if err := r.renew(ctx); err != nil {
				return err
			}
			continue
		}
		r.changed, r.stirred = false, false
		d, err := r.v.desktop(ctx)
		if err != nil {
			return err
		}
		r.managed, r.check = d.managed, d.check
		r.changed = r.changed || !r.managed && r.stirred // while it asked, not knowing that no one manages
		opened, err := r.meet(ctx, d.clients)
		if err != nil {
			return err
		}
		at := r.now()
		for _, w := range opened {
			r.tell(human.WindowOpened, at, r.known[w])
		}
		for w, p := range r.known {
			if !slices.Contains(d.clients, w) {
				delete(r.known, w)
				delete(r.stale, w)
				r.tell(human.WindowClosed, at, p)
				if w == r.active {
					r.active = noWindow
				}
			}
		}
		if err := r.activate(ctx, d.active); err != nil {
			return err
		}
		r.timed = false
	}
	return nil
}

// now is when the change happened that is being told: as the server stamped it, where it did.
func (r *windowsRun) now() int64 {
	if r.timed {
		return r.time.at(r.at)
	}
	_, now := r.clock()
	return now
}

// meet asks about windows that are new, and to be told of changes to them first.
func (r *windowsRun) meet(ctx context.Context, clients []uint32) (opened []uint32, err error) {
	for _, w := range clients {
		if _, ok := r.known[w]; !ok && !slices.Contains(opened, w) {
			opened = append(opened, w)
			if err := r.v.selectEvents(w, maskProperty|maskStructure|maskFocusChange|maskEnterWindow); err != nil {
				return nil, err
			}
		}
	}
	found, err := r.v.placed(ctx, opened)
	if err != nil {
		return nil, err
	}
	opened = slices.DeleteFunc(opened, func(w uint32) bool { _, ok := found[w]; return !ok })
	for _, w := range opened {
		r.known[w] = found[w]
	}
	return opened, nil
}

// activate tells that a window became the active one. While focus passes there is none for a moment, and
// that is not told: what people do has a window.
func (r *windowsRun) activate(ctx context.Context, w uint32) error {
	if w == noWindow || w == r.active {
		return nil
	}
	found, err := r.v.placed(ctx, []uint32{w})
	if err != nil {
		return err
	}
	p, ok := found[w]
	if !ok {
		return nil
	}
	r.active = w
	if _, ok := r.known[w]; ok {
		r.known[w] = p
	}
	r.tell(human.WindowActive, r.now(), p)
	return nil
}

// renew looks at windows whose title or bounds may have changed, and tells of the active one.
func (r *windowsRun) renew(ctx context.Context) error {
	var windows []uint32
	for w := range r.stale {
		windows = append(windows, w)
	}
	clear(r.stale)
	found, err := r.v.placed(ctx, windows)
	if err != nil {
		return err
	}
	for w, p := range found {
		old, ok := r.known[w]
		if !ok || old == p {
			continue
		}
		r.known[w] = p
		if w == r.active {
			_, now := r.clock()
			r.tell(human.WindowRetitled, now, p)
		}
	}
	return nil
}

func (r *windowsRun) tell(kind human.RecordedType, at int64, p record.Placed) {
	r.seen++
	r.emit(human.RecordedEvent{At: at, Source: human.WindowSource, Type: kind, App: &p.App, Window: &p.Window})
}
