// Package actions derives what a person did from the raw events of a recording, says it in words, and
// applies what the operator cut and hid. Everything here is a pure function of events and edits: the same
// events give the same actions, whenever and in however many steps they are derived.
package actions

import (
	"iter"
	"slices"
	"strings"
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
	return d.Actions(), nil
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
	fresh   bool // the next active window is no switch: recording has just begun, or goes on
	input   int64
	windows map[string]*window // by id
	procs   map[string]int     // how many windows of each process are known
	closed  int64              // when the active window was closed
	files   map[string]*entry  // by present path
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
	again        human.RecordedEvent // the press that made it a double or triple click
	againEnd     int64               // its End before that
	againElement *human.Element

	strokes []stroke // the keys that made text
	texts   int      // text events joined
	temp    bool     // a file of that makes sense only under its next name
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
func (d *Deriver) Actions() []human.Action {
	if d.dirty == len(d.list) {
		return slices.Clone(d.out)
	}
	n := d.list[d.dirty].pos
	out := make([]human.Action, n, n+len(d.list)-d.dirty)
	copy(out, d.out[:min(n, len(d.out))])
	for _, e := range d.list[d.dirty:] {
		e.pos = len(out)
		if e.gone {
			continue
		}
		a := e.a
		a.Seqs = slices.Clip(a.Seqs)
		a.Words = Words(a, d.lang)
		out = append(out, a)
	}
	d.out, d.dirty = out, len(d.list)
	return slices.Clone(out)
}

// Add takes the next event. One that is not newer than the last is ignored, so that reading may overlap.
func (d *Deriver) Add(ev human.RecordedEvent) {
	if ev.Seq <= d.seq {
		return
	}
	d.seq = ev.Seq
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
			d.win = ev.Window
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
		if !d.list[at-1].gone {
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

// join makes ev a part of e without making e last longer: something learnt about it.
func (d *Deriver) join(e *entry, ev human.RecordedEvent) {
	end := e.a.End
	d.take(e, ev)
	e.a.End = end
}

func (d *Deriver) touch(e *entry) {
	if e.idx < len(d.list) && d.list[e.idx] == e {
		d.dirty = min(d.dirty, e.idx)
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
	f.gone = true // it keeps its first event, by which it has its place in the list
	d.touch(e)
}

// rest ends what only goes on while nothing else is done.
func (d *Deriver) rest(keep *entry) {
	for _, p := range []**entry{&d.click, &d.scroll, &d.typing, &d.typed, &d.key, &d.copied, &d.meta} {
		if *p != keep || keep == nil {
			*p = nil
		}
	}
}

// --- pointer

func (d *Deriver) pressed(ev human.RecordedEvent) {
	d.input = ev.At
	e := d.click
	d.rest(e)
	if e != nil && d.held == nil && e.a.Button == ev.Button && e.presses < 3 && ev.At-e.lastPress <= clickPause &&
		near(e.a.X, e.a.Y, ev) && slices.Equal(e.a.Modifiers, ev.Modifiers) {
		e.again, e.againEnd, e.againElement = ev, e.a.End, nil
		d.take(e, ev)
		e.presses++
		e.a.Type = clicks(e.presses)
	} else {
		e = d.begin(human.Click, ev)
		e.presses = 1
		e.a.Button, e.a.X, e.a.Y, e.a.Modifiers = ev.Button, ev.X, ev.Y, ev.Modifiers
	}
	e.lastPress = ev.At
	e.moves = nil
	d.press, d.held, d.click = e, e, nil
	d.down[ev.Button] = e
}

func clicks(n int) human.ActionType {
	return [...]human.ActionType{human.Click, human.Click, human.DoubleClick, human.TripleClick}[n]
}

func near(x, y int, ev human.RecordedEvent) bool {
	dx, dy := ev.X-x, ev.Y-y
	return dx*dx+dy*dy <= clickSlop*clickSlop
}

func (d *Deriver) moved(ev human.RecordedEvent) {
	e := d.held
	if e == nil {
		return
	}
	if !e.drag && near(e.a.X, e.a.Y, ev) {
		e.moves = append(e.moves, ev.Seq)
		return
	}
	e = d.dragging(e)
	d.take(e, ev)
	e.a.ToX, e.a.ToY = ev.X, ev.Y
}

// dragging makes a press that moved a drag: of its own where it was the second of a double click.
func (d *Deriver) dragging(e *entry) *entry {
	if e.drag {
		return e
	}
	button := e.a.Button
	if e.presses > 1 {
		again := e.again
		like := human.Action{
			Type: human.Drag, At: again.At, End: again.At, Button: button, X: again.X, Y: again.Y, Modifiers: again.Modifiers,
			Element: e.againElement, App: e.a.App, Window: e.a.Window,
		}
		n := d.split(e, again.Seq-1, like)
		n.moves = e.moves
		e.presses--
		e.a.Type, e.a.End, e.moves = clicks(e.presses), e.againEnd, nil
		d.down[button] = n
		if d.held == e {
			d.held = n
		}
		e = n
	}
	e.drag = true
	e.a.Type, e.a.ToX, e.a.ToY = human.Drag, e.a.X, e.a.Y
	e.a.Seqs = append(e.a.Seqs, e.moves...)
	slices.Sort(e.a.Seqs)
	e.moves = nil
	d.touch(e)
	return e
}

func (d *Deriver) released(ev human.RecordedEvent) {
	e := d.down[ev.Button]
	if e == nil {
		return // pressed before the recording began
	}
	if e.drag || !near(e.a.X, e.a.Y, ev) {
		e = d.dragging(e)
		e.a.ToX, e.a.ToY = ev.X, ev.Y
	} else {
		d.click = e
	}
	d.take(e, ev)
	e.moves = nil
	delete(d.down, ev.Button)
	if d.held == e {
		d.held = nil
	}
	d.await(e)
}

func (d *Deriver) scrolled(ev human.RecordedEvent) {
	d.input = ev.At
	e := d.scroll
	d.rest(e)
	if e == nil || ev.At-e.a.End > scrollPause || !slices.Equal(e.a.Modifiers, ev.Modifiers) ||
		e.a.DeltaX*ev.DeltaX < 0 || e.a.DeltaY*ev.DeltaY < 0 || !over(e, ev) {
		e = d.begin(human.Scroll, ev)
		e.a.X, e.a.Y, e.a.Modifiers = ev.X, ev.Y, ev.Modifiers
		d.scroll = e
	} else {
		d.take(e, ev)
		d.await(e)
	}
	e.a.DeltaX += ev.DeltaX
	e.a.DeltaY += ev.DeltaY
	e.a.Count = int(max(e.a.DeltaX, -e.a.DeltaX) + max(e.a.DeltaY, -e.a.DeltaY) + 0.5)
}

// over says whether the pointer is still over what e scrolls, as far as that is known.
func over(e *entry, ev human.RecordedEvent) bool {
	if el := e.a.Element; el != nil && el.Bounds.W > 0 {
		return el.Bounds.Contains(ev.X, ev.Y)
	}
	if w := e.a.Window; w != nil && w.Bounds.W > 0 {
		return w.Bounds.Contains(ev.X, ev.Y) == w.Bounds.Contains(e.a.X, e.a.Y)
	}
	return true
}

// --- keys

func (d *Deriver) keyDown(ev human.RecordedEvent) {
	d.input = ev.At
	switch {
	case ev.Key == "Meta" && len(others(ev.Modifiers)) == 0:
		if d.meta == nil {
			d.rest(d.typing)
			d.meta = d.begin(human.Shortcut, ev)
			d.meta.a.Key, d.meta.a.Count = ev.Key, 1
			d.drop(d.meta) // until it is released with nothing in between
		}
		return
	case modifierKeys[ev.Key]:
		return
	case ev.Key == "" || composing[ev.Key]:
		e := d.typing
		d.rest(e)
		if e == nil {
			e = d.begin(human.Typing, ev)
			e.a.Element = d.focus
			hush(&e.a)
			d.typing, d.typed = e, e
		} else {
			d.take(e, ev)
			d.await(e)
		}
		e.strokes = append(e.strokes, stroke{ev.Seq, ev.At})
		if ev.Key == "" {
			e.a.Count++ // until its text says how many characters they made
		}
		return
	case len(ev.Modifiers) == 0 && (ev.Key == "Backspace" && d.typing != nil || ev.Key == "Tab" && d.typed != nil && d.typed.a.Key == ""):
		e := d.typing
		if e == nil {
			e = d.typed
		}
		d.rest(e)
		d.take(e, ev)
		d.await(e)
		d.keys[ev.Key] = e
		if ev.Key == "Tab" { // it leaves the field, and so belongs to what was done in it
			e.a.Key = "Tab"
			d.typing, d.typed = nil, nil
		}
		return
	}
	t := d.shortcut(ev)
	if e := d.key; e != nil && t == human.Shortcut && e.a.Key == ev.Key && slices.Equal(e.a.Modifiers, ev.Modifiers) && ev.At-e.a.End <= keyPause {
		d.rest(e)
		d.take(e, ev)
		d.await(e)
		e.a.Count++
		d.keys[ev.Key] = e
		return
	}
	d.rest(nil)
	e := d.begin(t, ev)
	e.a.Key, e.a.Modifiers, e.a.Element = ev.Key, ev.Modifiers, d.focus
	d.keys[ev.Key] = e
	switch t {
	case human.Shortcut:
		e.a.Count = 1
		d.key = e
	case human.Copy:
		d.copied = e
	case human.Paste:
		if d.clip != nil && d.clip.ContentKind == "text" {
			e.a.Count, e.a.Hidden = d.clip.Count, d.clip.Hidden
			if e.a.Count == 0 {
				e.a.Count = len([]rune(d.clip.Text))
			}
		}
	}
}

// modifierKeys do nothing by themselves.
var modifierKeys = map[string]bool{
	"Control": true, "Shift": true, "Alt": true, "AltGraph": true, "Meta": true, "CapsLock": true, "NumLock": true,
	"ScrollLock": true, "Fn": true, "FnLock": true, "Hyper": true, "Super": true, "Symbol": true, "SymbolLock": true,
}

// composing keys make no text by themselves, but are on the way to one.
var composing = map[string]bool{"Dead": true, "Compose": true, "Process": true}

func others(modifiers []string) []string {
	return slices.DeleteFunc(slices.Clone(modifiers), func(m string) bool { return m == "meta" })
}

// shortcut tells copying and pasting from other shortcuts. In a terminal Ctrl+C stops a program.
func (d *Deriver) shortcut(ev human.RecordedEvent) human.ActionType {
	has := func(m string) bool { return slices.Contains(ev.Modifiers, m) }
	command := (has("ctrl") || has("meta")) && !has("alt")
	terminal := d.focus != nil && d.focus.Role == "terminal"
	if d.app != nil && !terminal {
		name := strings.ToLower(d.app.Name + " " + d.app.Exe)
		terminal = strings.Contains(name, "term") || strings.Contains(name, "konsole")
	}
	if terminal && has("ctrl") && !has("shift") {
		command = false
	}
	switch key := strings.ToLower(ev.Key); {
	case command && (key == "c" || key == "x" || key == "insert"):
		return human.Copy
	case command && key == "v", key == "insert" && slices.Equal(ev.Modifiers, []string{"shift"}):
		return human.Paste
	}
	return human.Shortcut
}

func (d *Deriver) keyUp(ev human.RecordedEvent) {
	if e := d.meta; e != nil && ev.Key == "Meta" {
		d.take(e, ev)
		d.revive(e)
		d.meta, d.key = nil, e
		return
	}
	if ev.Key == "" {
		if e := d.typing; e != nil {
			d.join(e, ev)
		}
		return
	}
	if e := d.keys[ev.Key]; e != nil {
		d.join(e, ev)
		delete(d.keys, ev.Key)
	}
}

// text joins what was typed to the keys that made it. What the recorder saw as one run is one action.
func (d *Deriver) text(ev human.RecordedEvent) {
	until := max(ev.Until, ev.CausedBy)
	var e *entry
	for i := len(d.list) - 1; i >= 0 && ev.CausedBy > 0; i-- {
		f := d.list[i]
		first := f.a.Seqs[0]
		if f.a.Type == human.Typing && !f.gone && f.texts == 0 && first <= until && f.typedSince(ev.CausedBy) {
			if e != nil {
				d.merge(f, e)
			}
			e = f
		}
		if first <= ev.CausedBy {
			break
		}
	}
	if e == nil {
		e = d.begin(human.Typing, ev)
		e.a.Element = d.focus
	} else {
		d.later(e, until)
		d.join(e, ev)
	}
	if d.typing == e {
		d.typing = nil
	}
	e.texts++
	e.a.Count, e.a.Text, e.a.Hidden = ev.Count, ev.Text, ev.Hidden
	if ev.Element != nil {
		e.a.Element = ev.Element
	}
	hush(&e.a)
}

func (e *entry) typedSince(seq uint64) bool {
	return len(e.strokes) > 0 && e.strokes[len(e.strokes)-1].seq >= seq
}

// later splits off the keys that came after those of a text: another text will tell of them.
func (d *Deriver) later(e *entry, until uint64) {
	at := 0
	for at < len(e.strokes) && e.strokes[at].seq <= until {
		at++
	}
	if at == 0 || at == len(e.strokes) {
		return
	}
	strokes := e.strokes[at:]
	n := d.split(e, strokes[0].seq-1, human.Action{
		Type: human.Typing, At: strokes[0].at, End: e.a.End, Count: len(strokes), Key: e.a.Key, Element: d.focus, App: e.a.App, Window: e.a.Window,
	})
	n.strokes, e.strokes = strokes, e.strokes[:at:at]
	e.a.End, e.a.Key = e.strokes[at-1].at, ""
	if d.typing == e {
		d.typing = n
	}
	if d.typed == e {
		d.typed = n
	}
}

// hush takes out what a secret field's action must not say, whatever the recorder let through. A text in
// which secrets were masked stays.
func hush(a *human.Action) {
	if a.Hidden == "" && a.Element != nil && a.Element.Secret {
		a.Hidden = "password"
	}
	if a.Hidden != "" && a.Hidden != "secret" {
		a.Text, a.Value = "", ""
	}
}

// value joins what stood in a field to what was last typed or pasted into it.
func (d *Deriver) value(ev human.RecordedEvent) {
	e := d.own[ev.CausedBy]
	for i := len(d.list) - 1; e == nil && i >= max(0, len(d.list)-20); i-- {
		if f := d.list[i]; !f.gone && (f.a.Type == human.Typing || f.a.Type == human.Paste) {
			e = f
		}
	}
	if e == nil || e.a.Type != human.Typing && e.a.Type != human.Paste {
		return
	}
	d.join(e, ev)
	if e.a.Element == nil {
		e.a.Element = ev.Element
	}
	e.a.Value = ev.Text
	if ev.Hidden != "" && ev.Hidden != "secret" || ev.Element != nil && ev.Element.Secret {
		e.a.Value = ""
	}
	hush(&e.a)
}

// --- what is learnt later

func (d *Deriver) element(ev human.RecordedEvent) {
	e := d.own[ev.CausedBy]
	if e == nil || ev.Element == nil {
		return
	}
	d.join(e, ev)
	if ev.Window != nil {
		e.a.App, e.a.Window = ev.App, ev.Window
	}
	switch {
	case e.a.Type == human.Drag && ev.CausedBy != e.a.Seqs[0]:
		e.a.Target = ev.Element
	case e.presses > 1 && ev.CausedBy >= e.again.Seq:
		e.againElement = ev.Element
	default:
		e.a.Element = d.inMenu(e, ev.Element)
	}
	hush(&e.a)
}

// inMenu completes the path of a menu item whose toolkit does not tell where its menu belongs, from the
// click before it.
func (d *Deriver) inMenu(e *entry, el *human.Element) *human.Element {
	if !strings.HasPrefix(el.Role, "menuitem") || e.idx == 0 {
		return el
	}
	for _, a := range el.Ancestry {
		if isMenu(a.Role) && a.Name != "" {
			return el
		}
	}
	before := d.list[e.idx-1]
	if up := before.a.Element; up != nil && before.a.Type == human.Click && e.a.At-before.a.End <= 5*tempPause && isMenu(up.Role) {
		full := *el
		full.Ancestry = []human.Element{{Role: up.Role, Name: up.Name, Hidden: up.Hidden}}
		for _, a := range up.Ancestry {
			if isMenu(a.Role) {
				full.Ancestry = append(full.Ancestry, a)
			}
		}
		full.Ancestry = append(full.Ancestry, el.Ancestry...)
		return &full
	}
	return el
}

func isMenu(role string) bool { return role == "menu" || strings.HasPrefix(role, "menuitem") }

// await has e get the nearest picture after it, until one comes that was taken for it.
func (d *Deriver) await(e *entry) {
	if !e.shows && (len(d.waiting) == 0 || d.waiting[len(d.waiting)-1] != e) {
		e.a.After = ""
		d.waiting = append(d.waiting, e)
	}
}

func (d *Deriver) picture(ev human.RecordedEvent) {
	if e := d.own[ev.CausedBy]; e != nil && ev.Picture != "" {
		if ev.When == "before" {
			if e.a.Before == "" {
				e.a.Before = ev.Picture
			}
		} else {
			e.a.After, e.shows = ev.Picture, true
		}
		d.touch(e)
	}
	rest := d.waiting[:0]
	for _, e := range d.waiting {
		switch {
		case e.shows || e.gone:
		case ev.At < e.a.End || ev.Picture == "" || ev.When == "before" && d.own[ev.CausedBy] == e:
			rest = append(rest, e)
		default:
			e.a.After = ev.Picture
			d.touch(e)
		}
	}
	d.waiting = rest
}
