package record

import (
	"log/slog"
	"slices"
	"strings"
	"time"

	"deskbell/backend/human"
)

const (
	unplacedBuffer = 6                             // different pictures held back in memory while it is not known what they show
	finishing      = int64(30 * time.Second)       // a field that did not change for so long is finished
	transition     = int64(500 * time.Millisecond) // within it a window is redrawn that lost the keyboard,
	activation     = int64(50 * time.Millisecond)  // and so long before a window says so it may be drawn as the active one
	embedded       = "\ufffc"                      // in a text: something else stands here, whose text is not in it
)

// unplaced decides on pictures on which no place is known (Frame.Unplaced): nothing on them can be masked alone, so that one
// which may show what has to be masked is all black. A picture is shown only if it is known, of the moment it was taken, which
// window is active and which element has the keyboard, that no field was changing, and that all that changed by then was read
// and has no secret. What is learned later counts for pictures that are still held back. Only the loop uses it.
type unplaced struct {
	loop    *loop
	log     *slog.Logger
	sources *sources
	mask    *mask
	feeds   [2]*feed // windows and elements
	camera  *camera  // nil: no pictures are taken

	active string // the window, "" where it is not known
	since  int64  // when it was last known, while it is not
	silent bool   // it was not known for a while: windows of programs that report nothing may show anything
	ref    string // the element that has the keyboard,
	in     string // its window,
	plain  bool   // and what is typed into it is no text, or is read

	fields  map[string]*field   // that changed, by their refs
	secrets map[string]struct{} // windows in which something is that pictures must not show, until they are closed

	dark    []span // stretches of which pictures are black,
	isDark  bool   // the last of them lasts
	heard   bool   // the sources were up
	forever bool   // every picture from now on is black
	ended   int64  // when the sources were stopped, never while they are not
}

// A field is an element that holds text.
type field struct {
	in      string // its window, "" where it is not known
	first   int64  // when it began to change,
	changed int64  // and when it last did
	read    int64  // when the last reading began
	still   bool
}

// A span is a stretch of time.
type span struct{ from, to int64 }

func newUnplaced(l *loop, log *slog.Logger, s *sources, m *mask) *unplaced {
	return &unplaced{
		loop: l, log: log, sources: s, mask: m, fields: map[string]*field{}, secrets: map[string]struct{}{}, ended: never,
		dark: []span{{0, never}}, isDark: true,
	}
}

// window takes an event of a window: which is active, that it was closed.
func (u *unplaced) window(e human.RecordedEvent) {
	id := idOf(e.Window)
	switch e.Type {
	case human.WindowActive:
		u.activate(id, e.At)
	case human.WindowClosed:
		if _, secret := u.secrets[id]; secret {
			delete(u.secrets, id)
			u.dark = slices.Insert(u.dark, 0, span{0, u.loop.now() + evidence})
		}
	}
	u.update(e.At)
}

func idOf(w *human.Window) string {
	if w == nil {
		return ""
	}
	return w.ID
}

// activate takes which window is active. What is typed while none is known is not known either: a picture of many windows may
// show it from then on, and one of a single window if that changed meanwhile.
func (u *unplaced) activate(id string, at int64) {
	switch {
	case u.camera == nil:
	case id == "" && u.active != "":
		u.since = at
		u.camera.noteChange(at + u.loop.began + transition)
	case id != "" && u.active == "":
		u.silent = u.silent || at-u.since >= transition
		if changed := u.camera.noted(); changed != 0 && changed < at+u.loop.began-activation {
			u.end("what is seen changed while no active window was known")
		}
	}
	u.active = id
}

// focus takes which element has the keyboard.
func (u *unplaced) focus(el human.Element, in *human.Window, at int64) {
	u.ref, u.in, u.plain = el.Ref, idOf(in), wordless[el.Role] && !el.Secret
	if el.Secret {
		u.hide(u.in, "a password field has the keyboard")
	}
	u.update(at)
}

// wordless are the roles of elements in which no text stands that is typed. What others hold has to be read.
var wordless = map[string]bool{
	"button": true, "checkbox": true, "radio": true, "switch": true, "link": true, "slider": true, "tab": true, "tablist": true,
	"menu": true, "menubar": true, "menuitem": true, "menuitemcheckbox": true, "menuitemradio": true, "scrollbar": true,
	"toolbar": true, "listbox": true, "listitem": true, "list": true, "separator": true,
}

// field takes what the source of elements says of a field.
func (u *unplaced) field(e human.RecordedEvent) {
	if e.Element == nil {
		return
	}
	ref := e.Element.Ref
	f := u.fields[ref]
	if f == nil {
		f = &field{still: true}
		u.fields[ref] = f
	}
	if in := idOf(e.Window); in != "" {
		f.in = in
	}
	switch e.Type {
	case FieldChanging:
		if u.finished(ref, f) {
			f.first = e.At
		}
		f.changed, f.still = e.At, false
	case FieldRead:
		u.read(ref, f, e)
	case FieldStill:
		if e.At < f.changed {
			break // it has changed since
		}
		if f.still = true; f.read < f.changed {
			u.hide(f.in, "a field changed and could not be read")
		}
	}
	u.update(e.At)
}

func (u *unplaced) read(ref string, f *field, e human.RecordedEvent) {
	if _, found := u.mask.text(e.Text); found {
		u.hide(f.in, "a secret stands in a field")
	}
	if strings.Contains(e.Text, embedded) {
		return
	}
	f.read = e.At
	if ref == u.ref && !e.Element.Secret {
		u.plain = true
	}
}

// hide has pictures black until a window is closed; where it is not known which, for good.
func (u *unplaced) hide(window, why string) {
	if window == "" {
		u.end(why)
		return
	}
	if _, hidden := u.secrets[window]; !hidden {
		u.log.Info("pictures are black until a window is closed", "recording", u.loop.id, "window", window, "why", why)
	}
	u.secrets[window] = struct{}{}
}

// end has every picture black from now on.
func (u *unplaced) end(why string) {
	if !u.forever {
		u.log.Info("pictures are black from now on", "recording", u.loop.id, "why", why)
	}
	u.forever = true
}

// finished says whether what a field holds is no part of something that is still being written.
func (u *unplaced) finished(ref string, f *field) bool {
	return f.changed == 0 || f.still && (ref != u.ref || u.loop.now()-f.changed >= finishing)
}

// update begins or ends a stretch of which pictures are black. Of what begins one is learned late.
func (u *unplaced) update(at int64) {
	is := u.active == "" || u.in != u.active || !u.plain
	for ref, f := range u.fields {
		is = is || !f.still
		if ref != u.ref && u.finished(ref, f) {
			delete(u.fields, ref)
		}
	}
	last := &u.dark[len(u.dark)-1]
	switch {
	case is && !u.isDark:
		u.dark = append(u.dark, span{at - evidence, never})
	case is && at-evidence < last.from: // it began earlier than was thought
		last.from = at - evidence
	case !is && u.isDark:
		last.to = u.loop.now()
	}
	u.isDark = is
}

// open begins to decide on the pictures of a camera.
func (u *unplaced) open(c *camera) {
	u.camera = c
	c.noteChange(u.loop.began + transition)
}

// watch notes when sources are lost, or some of what they say, and forgets what is older than every picture held back.
func (u *unplaced) watch(oldest int64) {
	if u.camera == nil {
		return
	}
	for len(u.dark) > 1 && u.dark[0].to < oldest-u.loop.began {
		u.dark = u.dark[1:]
	}
	up := u.feeds[0].up && u.feeds[1].up
	if u.heard && !up || u.feeds[0].dropped.Load()+u.feeds[1].dropped.Load() > 0 {
		u.end("events of windows or elements were lost")
	}
	u.heard = u.heard || up
	if u.sources.stopping && u.ended == never {
		u.ended = u.loop.now()
	}
}

// judge says whether a picture that was taken at a time is black, and whether that is not known yet. many says that it may
// show more than one window.
func (u *unplaced) judge(taken int64, many bool) (black, wait bool) {
	t := taken - u.loop.began
	black = u.forever || many && u.silent || len(u.secrets) > 0 || !u.heard || t-u.ended > evidence
	for _, d := range u.dark {
		black = black || d.from <= t && t <= d.to
	}
	if black || u.sources.drained() {
		return black, false
	}
	if u.loop.now()-t < late {
		return false, true
	}
	for ref, f := range u.fields {
		if f.first <= t+late && !u.finished(ref, f) {
			return false, true
		}
	}
	return false, false
}
