// Package actions derives what a person did from the raw events of a recording, says it in words, and
// applies what the operator cut and hid. Everything here is a pure function of events and edits: the same
// events give the same actions, whenever and in however many steps they are derived.
package actions

import (
	"iter"
	"slices"
	"time"

	"deskbell/backend/human"
)

// What belongs together. Times are between events as the system stamped them.
const (
	clickPause  = int64(500 * time.Millisecond)  // between the presses of a double click
	clickSlop   = 5                              // pixels a click may move; more is a drag
	scrollPause = int64(400 * time.Millisecond)  // a longer one ends a scroll
	keyPause    = int64(time.Second)             // a longer one ends "Tab 3 times"
	causePause  = int64(1500 * time.Millisecond) // within it a window opens, closes or copies because of what was done
	gapSlop     = int64(50 * time.Millisecond)   // a pause and its gap are noted a moment apart
	filePause   = int64(2 * time.Second)         // changes of one file within it are one operation
	tempPause   = int64(10 * time.Second)        // within it a file renamed or deleted was only a step of saving
)

// From derives the actions of a whole recording, with words in a language ("en", "zh-CN"). It takes time
// and memory in proportion to the events. An error of events ends it.
func From(events iter.Seq2[human.RecordedEvent, error], lang string) ([]human.Action, error) {
	d := NewDeriver(lang)
	for ev, err := range events {
		if err != nil {
			return nil, err
		}
		d.Add(ev)
	}
	return d.actions(), nil
}

// A Deriver derives actions while events arrive. Not for concurrent use.
type Deriver struct {
	lang string
	seq  uint64 // of the last event
	list []*entry
	own  map[uint64]*entry // by event, plain moves left out

	out   []human.Action
	dirty int // list[dirty:] may differ from out

	press   *entry         // pressed last
	held    *entry         // pressed last and not released
	down    map[int]*entry // by button
	click   *entry         // may become a double click
	scroll  *entry
	typing  *entry
	typed   *entry            // typing, or typed last with nothing done since
	key     *entry            // may become "3 times"
	meta    *entry            // the Meta key, alone so far
	keys    map[string]*entry // by named key that is down
	paused  *entry
	copied  *entry // waits for the clipboard
	clip    *human.RecordedEvent
	waiting []*entry // for the nearest picture after them
	ticked  *entry   // the last action before the last tick

	app     *human.App
	win     *human.Window
	before  *human.Window // active before win
	focus   *human.Element
	fresh   bool // the next active window is no switch: recording has just begun, or continues
	input   int64
	windows map[string]*window // by id
	procs   map[string]int     // how many windows of each process are known
	closed  int64              // when the active window was closed
	files   map[string]*entry  // by present path

	web *web // nil until a browser is heard of
}

type entry struct {
	a     human.Action
	idx   int // in list
	pos   int // how many before it are in out
	gone  bool
	shows bool // its picture After was taken for it, and is not only the next one

	presses      int
	lastPress    int64
	moves        []uint64
	drag         bool
	stood        *human.Bounds       // where the window stood that follows the drag
	again        human.RecordedEvent // the press that made it a double or triple click
	againEnd     int64               // its End before that
	againElement *human.Element

	strokes []stroke // the keys that made text
	texts   int      // text events joined
	temp    bool     // a file of that makes sense only under its next name

	into  *entry // it was merged into
	cause *entry // what led to it
	shown bool   // it stands in out
	page  *paged // of an action in a browser
	of    *entry // the action in a browser that this is the desktop's side of
	sides []*entry
}

type stroke struct {
	seq uint64
	at  int64
}

type window struct {
	proc   string
	dialog bool
	entry  *entry // opened it, or made it active last
	opened bool   // since the recording began
	seen   bool   // it was the active one
}

// NewDeriver begins to derive; words are in lang.
func NewDeriver(lang string) *Deriver {
	return &Deriver{
		lang: lang, own: map[uint64]*entry{}, down: map[int]*entry{}, keys: map[string]*entry{}, fresh: true, closed: -causePause,
		input: -causePause, windows: map[string]*window{}, procs: map[string]int{}, files: map[string]*entry{},
	}
}

// Actions are those of the events so far, in the order of their first events. The slice is the caller's;
// what it points at is not to be changed. It costs little when little has changed.
func (d *Deriver) Actions() []human.Action { return slices.Clone(d.actions()) }

// actions are the same, as d keeps them.
func (d *Deriver) actions() []human.Action {
	if d.dirty == len(d.list) {
		return d.out
	}
	n := d.list[d.dirty].pos
	out := make([]human.Action, n, n+len(d.list)-d.dirty)
	copy(out, d.out[:min(n, len(d.out))])
	for _, e := range d.list[d.dirty:] {
		e.pos = len(out)
		if e.shown = e.leads(); !e.shown {
			continue
		}
		a := e.complete()
		a.Words = Words(a, d.lang)
		out = append(out, a)
	}
	d.out, d.dirty = out, len(d.list)
	return out
}

// Add takes the next event. One that is not newer than the last is ignored, so that reading may overlap.
func (d *Deriver) Add(ev human.RecordedEvent) {
	if ev.Seq <= d.seq {
		return
	}
	d.seq = ev.Seq
	if browsers[ev.Type] {
		d.browsed(ev)
		return
	}
	if ev.Source == human.TerminalSource {
		d.commanded(ev)
		return
	}
	switch ev.Type {
	case human.PointerMoved:
		d.moved(ev)
	case human.PointerDown:
		d.pressed(ev)
	case human.PointerUp:
		d.released(ev)
	case human.Scrolled:
		d.scrolled(ev)
	case human.KeyDown:
		d.keyDown(ev)
	case human.KeyUp:
		d.keyUp(ev)
	case human.TextTyped:
		d.text(ev)
	case human.ValueRead:
		d.value(ev)
	case human.FocusMoved:
		d.focus = ev.Element
		if ev.Reported {
			d.programReported(ev, human.Focus)
		}
	case human.ElementChanged:
		d.programReported(ev, human.ValueChange)
	case human.ElementSeen:
		d.element(ev)
	case human.PictureTaken:
		d.picture(ev)
	case human.WindowActive:
		d.active(ev)
	case human.WindowOpened:
		d.opened(ev)
	case human.WindowClosed:
		d.windowClosed(ev)
	case human.WindowRetitled:
		if ev.Window != nil && d.win != nil && d.win.ID == ev.Window.ID {
			was := d.win.Bounds
			d.win = ev.Window
			d.reshaped(was, ev)
		}
	case human.FileChanged:
		d.file(ev)
	case human.ClipboardSet:
		d.clipboard(ev)
	case human.Marked:
		d.marked(ev)
	case human.RecordingHeld, human.RecordingGoesOn, human.GapOpened, human.RecordingEnded:
		d.gap(ev)
	}
	if d.web != nil && ev.Type != human.PointerMoved {
		d.beside(ev)
	}
}

// commanded takes an event of a terminal.
func (d *Deriver) commanded(ev human.RecordedEvent) {
	switch ev.Type {
	case human.CommandBegan:
		d.begin(human.CommandRun, ev).a.Command = ev.Command
	case human.CommandEnded:
		if e := d.own[ev.CausedBy]; e != nil {
			d.take(e, ev)
			e.a.Command = ev.Command
		}
	}
}

// begin makes the action whose first event is ev.
func (d *Deriver) begin(t human.ActionType, ev human.RecordedEvent) *entry {
	e := &entry{a: human.Action{Type: t, App: d.app, Window: d.win}}
	if ev.Window != nil {
		e.a.App, e.a.Window = ev.App, ev.Window
	}
	d.take(e, ev)
	d.insert(e)
	return e
}

// insert puts e where its first event says: at the end, but for one that was split off an earlier one.
func (d *Deriver) insert(e *entry) {
	e.a.ID = "a" + utoa(e.a.Seqs[0])
	at := len(d.list)
	for at > 0 && d.list[at-1].a.Seqs[0] > e.a.Seqs[0] {
		at--
	}
	d.list = slices.Insert(d.list, at, e)
	for i := at; i < len(d.list); i++ {
		d.list[i].idx = i
	}
	if at > 0 { // what it is counted from until it is built
		e.pos = d.list[at-1].pos
		if d.list[at-1].shown {
			e.pos++
		}
	}
	d.dirty = min(d.dirty, at)
	d.await(e)
}

// take makes ev a part of e.
func (d *Deriver) take(e *entry, ev human.RecordedEvent) {
	if len(e.a.Seqs) == 0 {
		e.a.At, e.a.End = ev.At, ev.At
	}
	e.a.Seqs = append(e.a.Seqs, ev.Seq)
	if ev.At > e.a.End {
		e.a.End = ev.At
	}
	if ev.Type != human.PointerMoved {
		d.own[ev.Seq] = e
	}
	d.touch(e)
}

// join makes ev a part of e without making e last longer: something learned about it.
func (d *Deriver) join(e *entry, ev human.RecordedEvent) {
	end := e.a.End
	d.take(e, ev)
	e.a.End = end
}

func (d *Deriver) touch(e *entry) {
	if e.idx < len(d.list) && d.list[e.idx] == e {
		d.dirty = min(d.dirty, e.idx)
	}
	if e.of != nil || len(e.sides) > 0 {
		d.dirty = min(d.dirty, e.first().idx)
	}
}

func (d *Deriver) drop(e *entry) {
	e.gone = true
	d.touch(e)
}

func (d *Deriver) revive(e *entry) {
	e.gone = false
	d.touch(e)
}

// split moves the events after seq out of e into an action of their own.
func (d *Deriver) split(e *entry, seq uint64, like human.Action) *entry {
	at, _ := slices.BinarySearch(e.a.Seqs, seq+1)
	n := &entry{a: like}
	n.a.Seqs = slices.Clone(e.a.Seqs[at:])
	e.a.Seqs = slices.Clone(e.a.Seqs[:at])
	for _, s := range n.a.Seqs {
		if _, owned := d.own[s]; owned {
			d.own[s] = n
		}
	}
	d.insert(n)
	d.touch(e)
	return n
}

// merge makes all of f a part of e, which began before it.
func (d *Deriver) merge(e, f *entry) {
	for _, s := range f.a.Seqs {
		d.own[s] = e
	}
	e.a.Seqs = append(slices.Clone(e.a.Seqs), f.a.Seqs...)
	slices.Sort(e.a.Seqs)
	e.a.End = max(e.a.End, f.a.End)
	if e.a.Step == nil {
		e.a.Step = f.a.Step
	}
	e.strokes = append(e.strokes, f.strokes...)
	e.a.Key = f.a.Key
	if d.typing == f {
		d.typing = e
	}
	if d.typed == f {
		d.typed = e
	}
	f.gone, f.into = true, e // it keeps its first event, by which it has its place in the list
	if e.of == nil && f.of != nil {
		d.pair(f.of, e)
	}
	d.touch(e)
}

// rest ends what only continues while nothing else is done.
func (d *Deriver) rest(keep *entry) {
	for _, p := range []**entry{&d.click, &d.scroll, &d.typing, &d.typed, &d.key, &d.copied, &d.meta} {
		if *p != keep || keep == nil {
			*p = nil
		}
	}
}
