package record

import (
	"strings"
	"unicode/utf8"

	"deskbell/backend/human"
)

const maxClip = 64 << 10 // bytes of the clipboard's text

// An intake takes the events of the sources: it leaves out what is not to be recorded, and hands on the rest. Only the loop
// uses it.
type intake struct {
	loop        *loop
	status      *status
	writer      *writer
	windows     *openWindows
	privacy     *privacy
	typing      *typing
	screenshots *screenshots
	unplaced    *unplaced
	pointer     *pointer
	keyboard    *keyboard
	browser     *browserEvents
	takeover    *takeover
}

// take gives an event of a source to whoever it concerns.
func (in *intake) take(it item) {
	e := &it.event
	e.At = max(0, e.At-in.loop.began)
	missed := e.Gap
	e.Seq, e.CausedBy, e.Until, e.Gap = 0, 0, 0, nil // the recorder's alone
	browsing := it.from.name == human.BrowserSource
	if !browsing { // these, too: it hides and counts, but for what a page has hidden and counted already
		e.Picture, e.Hidden, e.Count, e.Browsing = "", "", 0, human.Browsing{}
	}
	switch {
	case in.writer.useless():
	case e.Type == human.GapOpened:
		in.missed(it.from, missed)
	case !browsing:
		in.desktop(it)
	case in.status.paused():
		in.status.countLeftOut(it.from, "paused")
	default:
		in.browser.take(*e)
	}
}

// missed takes a gap that a source knows of, which is stored as the recorder's own.
func (in *intake) missed(from *feed, g *human.Gap) {
	from.leftOut++
	if g != nil && !in.status.paused() {
		began := in.loop.began
		in.writer.gap(human.Gap{From: max(0, g.From-began), To: max(0, g.To-began), Source: g.Source, Reason: g.Reason, Count: g.Count})
	}
}

// desktop takes an event of any source but the browser.
func (in *intake) desktop(it item) {
	switch it.event.Type {
	case FieldFocused, FieldChanging, FieldRead, FieldStill:
		in.field(it)
		return
	case human.WindowActive, human.WindowOpened, human.WindowClosed, human.WindowRetitled:
		in.window(it)
		return
	case human.FocusMoved:
		in.focusMoved(it)
		return
	case human.PointerMoved, human.PointerDown, human.PointerUp, human.Scrolled:
		in.windows.refresh()
	}
	if in.status.paused() {
		in.status.countLeftOut(it.from, "paused")
		return
	}
	switch it.event.Type {
	case human.PointerMoved, human.PointerDown, human.PointerUp, human.Scrolled:
		if !in.pointer.take(it.event) {
			in.status.countLeftOut(it.from, "excluded")
		} else {
			in.takeover.hears(it.event)
		}
	case human.KeyDown, human.KeyUp:
		in.key(it)
	case human.ElementChanged:
		in.reported(it)
	case human.FileChanged:
		in.file(it)
	case human.ClipboardSet:
		in.clipboard(it)
	}
}

func (in *intake) key(it item) {
	switch e := it.event; {
	case in.windows.activeIs != ordinary:
		in.status.countLeftOut(it.from, "excluded")
	case in.keyboard.isOwn(e):
		it.from.leftOut++
	case e.Type == human.KeyUp:
		in.keyboard.up(e)
	default:
		in.keyboard.down(e)
		in.takeover.hears(e)
	}
}

// window follows the windows, whether they are recorded or not.
func (in *intake) window(it item) {
	e := it.event
	var p Placed
	if e.App != nil {
		p.App = *e.App
	}
	if e.Window != nil {
		p.Window = *e.Window
	}
	in.unplaced.window(e)
	is := in.windows.exclusions.kind(p)
	in.windows.moved = true
	in.windows.refresh()
	same := in.windows.isActive(p)
	switched := e.Type == human.WindowActive && !same
	if e.Type == human.WindowActive || e.Type == human.WindowRetitled && same {
		if switched {
			in.typing.switched(is, e.At)
		}
		in.screenshots.activated(p, is, is != in.windows.activeIs) // a title alone can change it
		in.windows.activate(p, is, e.Window != nil, e.At)
		if !in.status.paused() {
			in.markExcluded()
		}
	}
	switch {
	case in.status.paused():
		in.status.countLeftOut(it.from, "paused")
	case is != ordinary:
		in.status.countLeftOut(it.from, "excluded")
	default:
		if seq := in.storeWindow(e); switched {
			in.screenshots.wish("window", "window", seq, afterSwitch)
		}
	}
}

// markExcluded keeps the gap open that lasts while an excluded window is active.
func (in *intake) markExcluded() {
	if in.windows.activeIs == excluded {
		in.writer.openGap("excluded", "")
	} else {
		in.writer.closeGap("excluded", "")
	}
}

// storeWindow stores a window event with its title masked.
func (in *intake) storeWindow(e human.RecordedEvent) uint64 {
	if e.App != nil {
		app := *e.App
		e.App = &app
	}
	if e.Window != nil {
		w := *e.Window
		in.privacy.hide(&e, &w.Title)
		e.Window = &w
	}
	return in.writer.add(e)
}

// resumed stores which window is active after a pause: it may be another than before.
func (in *intake) resumed() {
	if active := &in.windows.active; in.windows.known && in.windows.activeIs == ordinary {
		in.status.feeds.named(human.WindowSource).made++
		in.storeWindow(human.RecordedEvent{
			At: in.loop.now(), Source: human.WindowSource, Type: human.WindowActive, App: &active.App, Window: &active.Window,
		})
	}
	in.markExcluded()
}

func (in *intake) focusMoved(it item) {
	e := it.event
	if e.Element == nil {
		in.status.countLeftOut(it.from, "paused")
		return
	}
	on := in.windows.active
	if e.App != nil {
		on.App = *e.App
	}
	if e.Window != nil {
		on.Window = *e.Window
	}
	el := *e.Element
	if in.privacy.secret(el) {
		el.Secret = true
		in.privacy.remember(el, on)
	}
	in.unplaced.focus(el, e.Window, e.At)
	in.pointer.focused(el)
	if el.Role == "unknown" { // it did not answer, or not in time
		in.typing.suspect("unknown_field")
	} else {
		in.typing.sawFocus(on, el.Secret)
	}
	if !el.Secret {
		in.typing.movedTo(el)
	}
	switch {
	case in.status.paused():
		in.status.countLeftOut(it.from, "paused")
	case in.windows.exclusions.kind(on) != ordinary || in.windows.activeIs != ordinary:
		in.status.countLeftOut(it.from, "excluded")
	default:
		shown, n := in.privacy.mask.element(el)
		in.status.rec.Counts.Masked += n
		e.Element = &shown
		in.storeWindow(e)
	}
}

// field takes what is said of a field for pictures alone.
func (in *intake) field(it item) {
	it.from.leftOut++
	e := it.event
	switch {
	case e.Type != FieldFocused:
		in.unplaced.field(e)
	case e.Element != nil:
		in.unplaced.focus(*e.Element, e.Window, e.At)
	}
}

// reported takes what an application says was done in it. Which window has it the event says itself: the sources are not
// in step.
func (in *intake) reported(it item) {
	e := it.event
	if e.Element == nil || e.App == nil || e.Window == nil {
		it.from.leftOut++
		return
	}
	on := Placed{App: *e.App, Window: *e.Window}
	el := *e.Element
	if in.privacy.secret(el) {
		el.Secret = true
		in.privacy.remember(el, on)
	}
	if in.windows.exclusions.kind(on) != ordinary || in.windows.activeIs == excluded {
		in.status.countLeftOut(it.from, "excluded")
		return
	}
	e.Count = utf8.RuneCountInString(e.Text)
	if el.Secret {
		e.Text, e.Count, e.Hidden = "", 0, "password"
		in.status.rec.Counts.Masked++
	}
	in.privacy.hide(&e, &e.Text)
	shown, n := in.privacy.mask.element(el)
	in.status.rec.Counts.Masked += n
	e.Element = &shown
	in.screenshots.wish("after", "report", in.storeWindow(e), afterClick)
}

func (in *intake) file(it item) {
	e := it.event
	if e.File == nil {
		it.from.leftOut++
		return
	}
	file := *e.File
	in.privacy.hide(&e, &file.Path, &file.To)
	e.File, e.Text, e.Key = &file, "", ""
	in.writer.add(e)
}

// clipboard leaves out what was copied in an excluded window, just after it was left, too.
func (in *intake) clipboard(it item) {
	e := it.event
	if in.windows.mayBeExcluded(e.At) {
		in.writer.openGap("excluded", "")
		in.status.countLeftOut(it.from, "excluded")
		in.markExcluded()
		return
	}
	e.Key = ""
	if in.status.rec.Options.Clipboard != "content" {
		e.Text = ""
	}
	if len(e.Text) > maxClip {
		e.Text = strings.ToValidUTF8(e.Text[:maxClip], "")
	}
	in.privacy.hide(&e, &e.Text)
	in.writer.add(e)
}
