package accessibility

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/godbus/dbus/v5"

	"deskbell/backend/human"
)

// settling is how long a field, a list or a slider stands still before what it holds is read.
const settling = 600 * time.Millisecond

// A reporter makes events of what applications report. It is for one goroutine.
type reporter struct {
	*Elements
	ctx     context.Context
	emit    func(human.RecordedEvent)
	seen    uint64
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
}

// report delivers what applications report until ctx ends.
func (e *Elements) report(ctx context.Context, signals <-chan *dbus.Signal, ready func(), emit func(human.RecordedEvent)) (uint64, error) {
	r := &reporter{Elements: e, ctx: ctx, emit: emit, held: map[ref]string{}, secret: map[ref]bool{}, moving: map[ref]*moving{}}
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
			r.settle(time.Time{})
			return r.seen, nil
		case <-timer.C:
			r.settle(time.Now())
		case s, ok := <-signals:
			if !ok {
				return r.seen, errLost
			}
			r.take(s)
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
		r.remember(r.focused)
	}
}

// next is when something is to be read.
func (r *reporter) next() (due time.Time, any bool) {
	for _, m := range r.moving {
		if !any || m.due.Before(due) {
			due, any = m.due, true
		}
	}
	return due, any
}

// take takes an event.
func (r *reporter) take(s *dbus.Signal) {
	of := ref{s.Sender, s.Path}
	_, at := r.o.Clock()
	if is, on := focused.of(s); is {
		if on == 1 {
			r.settle(time.Time{}) // what was done elsewhere came first
			r.send(r.looked(of, human.FocusMoved, at))
			r.focused = of
			r.remember(of)
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
	for _, w := range []event{caret, chosen, valued} {
		if is, _ := w.of(s); is {
			r.moving[of] = &moving{due: time.Now().Add(settling), at: at, from: w}
			return
		}
	}
}

func (r *reporter) send(e human.RecordedEvent) {
	r.seen++
	r.emit(e)
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

// remember keeps what an element holds, to tell later whether it has changed.
func (r *reporter) remember(of ref) {
	if r.secret[of] {
		r.held[of] = r.length(of)
		return
	}
	if text, err := r.Value(r.ctx, human.Element{Ref: of.String()}); err == nil {
		r.held[of] = text
	}
}

// settle reports what was changed until a time, or until now, and is still.
func (r *reporter) settle(until time.Time) {
	byTime := func(a, b ref) int { return cmp.Compare(r.moving[a].at, r.moving[b].at) }
	for _, of := range slices.SortedFunc(maps.Keys(r.moving), byTime) {
		m := r.moving[of]
		if !until.IsZero() && m.due.After(until) {
			continue
		}
		delete(r.moving, of)
		e := r.looked(of, human.ElementChanged, m.at)
		if e.Element.Role == "unknown" || m.from == caret && of != r.focused {
			continue // a caret moves in a field without the keyboard when a program writes into it
		}
		text, known := r.now(of, m.from, &e)
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
