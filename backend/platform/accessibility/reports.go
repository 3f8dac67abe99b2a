package accessibility

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/godbus/dbus/v5"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

const (
	settling = 600 * time.Millisecond // a field, a list or a slider stands still for so long before what it holds is reported
	rereads  = 50 * time.Millisecond  // between two readings of a field that changes
	tries    = 4                      // to read a field that stands still: a busy program does not answer in time
)

// A reporter makes events of what applications report. It is for one goroutine.
type reporter struct {
	*Elements
	ctx     context.Context
	inbox   *inbox
	held    map[ref]string  // what fields and lists held when they were last read, but for secrets
	secret  map[ref]bool    // fields that were secret once: many can be switched to show what they hold
	moving  map[ref]*moving // what changed and is not still yet
	focused ref
}

// A moving is a field, a list or a slider that changes.
type moving struct {
	due  time.Time
	at   int64 // of the last change
	from event
	look time.Time // when a field is to be read on the way, zero: not
	read time.Time // when it last was
	miss int       // how often it could not be read when it stood still
	in   *human.Window
}

// An inbox has the signals that are not looked into yet. It says at once which fields change: what is looked up for each
// signal takes its time. It is safe for concurrent use.
type inbox struct {
	clock record.Clock
	wake  chan struct{}

	mu      sync.Mutex
	emit    func(human.RecordedEvent)
	seen    uint64
	waiting []arrival
	using   string // the program that has the keyboard, on the bus; "" where it is not known
	lost    bool   // the bus went away
}

// An arrival is a signal with the time at which it came.
type arrival struct {
	*dbus.Signal
	at     int64
	writes bool // the program that has the keyboard changes what a field holds
}

// fill takes signals until the bus goes away.
func (b *inbox) fill(signals <-chan *dbus.Signal) {
	for s := range signals {
		b.add(s)
	}
	b.mu.Lock()
	b.lost = true
	b.mu.Unlock()
	b.notify()
}

func (b *inbox) add(s *dbus.Signal) {
	b.mu.Lock()
	defer b.mu.Unlock()
	a := arrival{Signal: s}
	_, a.at = b.clock()
	if gained(s) {
		b.using = s.Sender
	}
	if is, _ := caret.of(s); is && (b.using == "" || b.using == s.Sender) {
		a.writes = true
		b.send(human.RecordedEvent{At: a.at, Type: record.FieldChanging, Element: &human.Element{Ref: ref{s.Sender, s.Path}.String()}})
	}
	b.waiting = append(b.waiting, a)
	b.notify()
}

func (b *inbox) notify() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// take empties it.
func (b *inbox) take() (all []arrival, lost bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	all, b.waiting = b.waiting, nil
	return all, b.lost
}

// send emits an event; the caller has the lock.
func (b *inbox) send(e human.RecordedEvent) {
	if b.emit != nil {
		b.seen++
		b.emit(e)
	}
}

// close has nothing emitted any more, and returns how many events were.
func (b *inbox) close() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.emit = nil
	return b.seen
}

// report delivers what applications report until ctx ends.
func (e *Elements) report(ctx context.Context, b *bus, signals <-chan *dbus.Signal, ready func(), emit func(human.RecordedEvent)) (uint64, error) {
	box := &inbox{clock: e.o.Clock, wake: make(chan struct{}, 1), emit: emit}
	go box.fill(signals) // until the connection is closed
	r := &reporter{Elements: e, ctx: ctx, inbox: box, held: map[ref]string{}, secret: map[ref]bool{}, moving: map[ref]*moving{}}
	r.begin()
	ready()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		if due, any := r.next(); any {
			timer.Reset(max(0, time.Until(due)))
		}
		select {
		case <-ctx.Done():
			// What was changed just before is a part of the recording.
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), e.o.Deadline)
			defer cancel()
			r.ctx = last
			e.greet(last, b) // an application answers after what it reported before
			r.takeAll()
			r.settle(time.Time{})
			return box.close(), nil
		case <-timer.C:
			r.settle(time.Now())
		case <-box.wake:
			if r.takeAll() {
				return box.close(), errLost
			}
		}
	}
}

// begin reads what the field holds that has the keyboard.
func (r *reporter) begin() {
	l, cancel, err := r.Elements.begin(r.ctx)
	if err != nil {
		return
	}
	defer cancel()
	for _, top := range l.tops() {
		if !top.node.states.has(stateActive) {
			continue
		}
		l.search(top.kit, withRole|withStates, top.node, false, func(n node, _ bool) (bool, bool) {
			if n.states.has(stateFocused) {
				r.focused = n.ref
			}
			return true, false
		})
	}
	if !r.focused.null() {
		_, at := r.o.Clock()
		e := r.looked(r.focused, record.FieldFocused, at)
		r.send(e)
		r.remember(r.focused, e.Window, r.holding(r.focused))
	}
}

// next is when something is to be read.
func (r *reporter) next() (due time.Time, any bool) {
	for _, m := range r.moving {
		for _, at := range []time.Time{m.due, m.look} {
			if !at.IsZero() && (!any || at.Before(due)) {
				due, any = at, true
			}
		}
	}
	return due, any
}

// takeAll takes what has come, and says whether nothing comes any more.
func (r *reporter) takeAll() (lost bool) {
	all, lost := r.inbox.take()
	for _, a := range all {
		r.take(a.Signal, a.at, a.writes)
	}
	return lost
}

// take takes an event.
func (r *reporter) take(s *dbus.Signal, at int64, writes bool) {
	of := ref{s.Sender, s.Path}
	if is, on := focused.of(s); is {
		if on == 1 {
			r.settle(time.Time{}) // what was done elsewhere came first
			held := r.holding(of) // first: what is typed meanwhile has changed it
			e := r.looked(of, human.FocusMoved, at)
			r.send(e)
			if _, known := r.held[of]; !known || of != r.focused { // some say it again, when the first keys have arrived already
				r.remember(of, e.Window, held)
			}
			r.focused = of
		}
		return
	}
	if is, _ := caret.of(s); is {
		if writes {
			r.changes(of, at)
		}
		return
	}
	for _, toggled := range []event{checked, pressed} {
		if is, _ := toggled.of(s); is {
			r.settle(time.Time{})
			r.send(r.looked(of, human.ElementChanged, at))
			return
		}
	}
	for _, w := range []event{chosen, valued} {
		if is, _ := w.of(s); is {
			r.moving[of] = &moving{due: time.Now().Add(settling), at: at, from: w}
			return
		}
	}
}

func (r *reporter) send(e human.RecordedEvent) {
	r.inbox.mu.Lock()
	defer r.inbox.mu.Unlock()
	r.inbox.send(e)
}

// changes takes that a field changes. It is read on the way, too: a secret may be there for a moment only.
func (r *reporter) changes(of ref, at int64) {
	now := time.Now()
	m := r.moving[of]
	if m == nil {
		m = &moving{}
		r.moving[of] = m
	}
	m.due, m.at, m.from, m.miss = now.Add(settling), at, caret, 0
	if now.Sub(m.read) >= rereads {
		r.read(of, m)
	} else {
		m.look = m.read.Add(rereads)
	}
}

// read reads what a field holds that changes.
func (r *reporter) read(of ref, m *moving) {
	m.read, m.look = time.Now(), time.Time{}
	if m.in == nil {
		if p, ok := r.window(r.ctx, of); ok {
			m.in = &p.Window
		}
	}
	_, at := r.o.Clock()
	if r.secret[of] {
		return
	}
	if text, err := r.Value(r.ctx, human.Element{Ref: of.String()}); err == nil {
		r.wasRead(of, at, text, m.in)
	}
}

// wasRead says what a field held some time after a time.
func (r *reporter) wasRead(of ref, at int64, text string, in *human.Window) {
	r.send(human.RecordedEvent{At: at, Type: record.FieldRead, Element: &human.Element{Ref: of.String()}, Text: text, Window: in})
}

// looked is an event of an element, with its application and window.
func (r *reporter) looked(of ref, kind human.RecordedType, at int64) human.RecordedEvent {
	e := r.moved(r.ctx, of, at)
	e.Type, e.Reported = kind, true
	if e.Element.Secret {
		r.secret[of] = true
	}
	e.Element.Bounds = human.Bounds{} // where its window is on the screen is not known
	if p, ok := r.window(r.ctx, of); ok {
		e.App, e.Window = &p.App, &p.Window
	}
	return e
}

// A holding is what a field held some time after a time, where that could be read.
type holding struct {
	at    int64
	text  string
	known bool
}

func (r *reporter) holding(of ref) (h holding) {
	_, h.at = r.o.Clock()
	if !r.secret[of] {
		var err error
		h.text, err = r.Value(r.ctx, human.Element{Ref: of.String()})
		h.known = err == nil
	}
	return h
}

// remember keeps what an element holds, to tell later whether it has changed.
func (r *reporter) remember(of ref, in *human.Window, h holding) {
	switch {
	case r.secret[of]:
		r.held[of] = r.length(of)
	case h.known:
		r.held[of] = h.text
		r.wasRead(of, h.at, h.text, in)
	}
}

// settle reports what was changed until a time, or until now, and is still.
func (r *reporter) settle(until time.Time) {
	byTime := func(a, b ref) int { return cmp.Compare(r.moving[a].at, r.moving[b].at) }
	for _, of := range slices.SortedFunc(maps.Keys(r.moving), byTime) {
		m := r.moving[of]
		if !until.IsZero() && m.due.After(until) {
			if !m.look.IsZero() && !m.look.After(until) {
				r.read(of, m)
			}
			continue
		}
		e := r.looked(of, human.ElementChanged, m.at)
		_, at := r.o.Clock()
		text, known := r.now(of, m.from, &e)
		if m.miss++; !known && m.from == caret && !until.IsZero() && m.miss < tries {
			m.due = time.Now().Add(settling)
			continue
		}
		delete(r.moving, of)
		if m.from == caret {
			if known && !e.Element.Secret {
				r.wasRead(of, at, text, e.Window)
			}
			r.send(human.RecordedEvent{At: at, Type: record.FieldStill, Element: &human.Element{Ref: of.String()}, Window: cmp.Or(e.Window, m.in)})
		}
		if e.Element.Role == "unknown" || m.from == caret && of != r.focused {
			continue // a caret moves in a field without the keyboard when a program writes into it
		}
		before, was := r.held[of]
		if !known || was && before == text || !was && m.from == caret {
			if known {
				r.held[of] = text
			}
			continue
		}
		r.held[of] = text
		if !e.Element.Secret {
			e.Text = text
		}
		r.send(e)
	}
}

// now is what an element holds, of a secret field only how many characters. It marks secret ones.
func (r *reporter) now(of ref, from event, e *human.RecordedEvent) (text string, known bool) {
	if r.secret[of] = r.secret[of] || e.Element.Secret; !r.secret[of] && from != caret {
		return r.holds(of, from)
	}
	if !r.secret[of] {
		text, err := r.Value(r.ctx, *e.Element)
		if human.KindOf(err) != human.Denied || err == nil {
			return text, err == nil
		}
		r.secret[of] = true
	}
	e.Element.Secret = true
	text = r.length(of)
	return text, text != ""
}

// length is how many characters a field has, "" where that is not known.
func (r *reporter) length(of ref) string {
	l, cancel, err := r.Elements.begin(r.ctx)
	if err != nil {
		return ""
	}
	defer cancel()
	var v dbus.Variant
	if l.property(of, textual, "CharacterCount").into(&v) != nil {
		return ""
	}
	n, _ := v.Value().(int32)
	return strconv.Itoa(int(n))
}

// holds is what is chosen in a list, or the number a slider is at.
func (r *reporter) holds(of ref, from event) (text string, known bool) {
	l, cancel, err := r.Elements.begin(r.ctx)
	if err != nil {
		return "", false
	}
	defer cancel()
	n := l.one(otherT, of, withRole|withStates)
	if from == valued {
		var v dbus.Variant
		if n.role != roleSlider && n.role != roleSpinButton || l.property(of, valueFace, "CurrentValue").into(&v) != nil {
			return "", false // progress bars move by themselves
		}
		number, ok := v.Value().(float64)
		return strconv.FormatFloat(number, 'g', 6, 64), ok
	}
	var count dbus.Variant
	if l.property(of, selection, "NSelectedChildren").into(&count) != nil {
		return "", false
	}
	most, _ := count.Value().(int32)
	var names []string
	for i := range min(most, 8) {
		var child ref
		if l.ask(of, selection+"GetSelectedChild", i).into(&child) != nil || child.null() {
			continue
		}
		c := l.one(otherT, child, toFind|withName)
		if name, _ := l.called(otherT, c); name != "" {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", "), len(names) > 0
}
