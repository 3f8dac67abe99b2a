package actions

import (
	"path"
	"strings"

	"deskbell/backend/human"
)

// --- windows

func process(app *human.App) string {
	if app == nil {
		return ""
	}
	if app.PID != 0 {
		return utoa(uint64(app.PID))
	}
	return app.Exe + "\x00" + app.Name
}

func (d *Deriver) opened(ev human.RecordedEvent) {
	if ev.Window == nil || d.windows[ev.Window.ID] != nil && d.windows[ev.Window.ID].opened {
		return
	}
	proc := process(ev.App)
	w := d.windows[ev.Window.ID]
	if w == nil {
		w = &window{proc: proc}
		d.windows[ev.Window.ID] = w
		d.procs[proc]++
		w.entry = d.begin(human.SwitchWindow, ev)
		d.drop(w.entry) // until it becomes the active one
		d.name(w, ev, d.procs[proc] == 1)
		return
	}
	// It became active before the system said that it is new.
	w.opened = true
	if w.entry == nil || d.win == nil || d.win.ID != ev.Window.ID || ev.At-w.entry.a.End > causePause {
		return
	}
	d.join(w.entry, ev)
	d.name(w, ev, d.procs[proc] == 1)
}

// name says what a new window is: an application's first, or one more of it.
func (d *Deriver) name(w *window, ev human.RecordedEvent, first bool) {
	w.opened = true
	e := w.entry
	if first {
		e.a.Type = human.OpenApp
	} else {
		// Its place separates a dialog from a window beside the others: it stands over the one it belongs to.
		role, under := "window", d.win
		if under != nil && under.ID == ev.Window.ID {
			under = d.before
		}
		if under != nil && within(ev.Window.Bounds, under.Bounds) {
			role = "dialog"
		}
		w.dialog = role == "dialog"
		e.a.Element = &human.Element{Role: role, Name: ev.Window.Title, Bounds: ev.Window.Bounds}
	}
	d.touch(e)
}

func within(b, in human.Bounds) bool {
	return b.W > 0 && in.Contains(b.X+b.W/2, b.Y+b.H/2) && b.W*b.H < in.W*in.H
}

func (d *Deriver) active(ev human.RecordedEvent) {
	if ev.Window == nil {
		return
	}
	before, fresh := d.win, d.fresh
	d.app, d.win, d.fresh = ev.App, ev.Window, false
	if before != nil && before.ID == ev.Window.ID {
		return
	}
	d.focus = nil
	if e := d.click; e != nil && before != nil && ev.At-e.a.At <= clickPause && ev.Window.Bounds.Contains(e.a.X, e.a.Y) {
		d.rest(e) // a click that brings a window to the front may be the first of a double click
	} else {
		d.rest(nil)
	}
	d.browserLeft()
	if before != nil {
		d.before = before
	}
	w := d.windows[ev.Window.ID]
	known := w != nil
	if !known {
		w = &window{proc: process(ev.App)}
		d.windows[ev.Window.ID] = w
		d.procs[w.proc]++
	}
	switch {
	case known && w.opened && w.entry != nil && w.entry.gone && !w.seen:
		d.take(w.entry, ev)
		w.entry.a.App, w.entry.a.Window = ev.App, ev.Window
		if el := w.entry.a.Element; el != nil {
			w.entry.a.Element = &human.Element{Role: el.Role, Name: ev.Window.Title, Bounds: ev.Window.Bounds}
		}
		d.revive(w.entry)
		d.await(w.entry)
	case fresh:
		if w.entry != nil && w.entry.gone {
			w.entry = nil
		}
	case ev.At-d.closed <= causePause:
		// The one that was active is gone: the system chose another, not the person.
		w.entry = nil
	default:
		w.entry = d.begin(human.SwitchWindow, ev)
		// A press on a window behind the active one was in it already.
		if e := d.press; e != nil && before != nil && ev.At-e.a.At <= causePause && e.a.Window == before &&
			!before.Bounds.Contains(e.a.X, e.a.Y) && ev.Window.Bounds.Contains(e.a.X, e.a.Y) {
			e.a.App, e.a.Window = ev.App, ev.Window
			d.touch(e)
		}
	}
	w.seen = true
}

func (d *Deriver) windowClosed(ev human.RecordedEvent) {
	if ev.Window == nil {
		return
	}
	w := d.windows[ev.Window.ID]
	delete(d.windows, ev.Window.ID)
	if w == nil {
		w = &window{proc: process(ev.App)}
	} else if d.procs[w.proc]--; d.procs[w.proc] <= 0 {
		delete(d.procs, w.proc)
	}
	now := d.win != nil && d.win.ID == ev.Window.ID
	// Systems may name the next active window before they say that this one is closed.
	lately := false
	if !now && d.before != nil && d.before.ID == ev.Window.ID && d.win != nil {
		if next := d.windows[d.win.ID]; next != nil && next.entry != nil && next.entry.a.Type == human.SwitchWindow &&
			next.entry.a.Element == nil && ev.At-next.entry.a.At <= causePause {
			lately = true
			d.drop(next.entry)
			next.entry = nil
		} else {
			lately = next != nil && next.entry == nil
		}
	}
	if !now && !lately {
		return // it was in the background, and nobody's doing that was seen
	}
	if now {
		d.closed = ev.At
		d.before, d.win, d.app = d.win, nil, nil
		d.focus = nil
	}
	if w.dialog && ev.At-d.input <= causePause {
		return // what was clicked or pressed in it says enough
	}
	e := d.begin(human.CloseWindow, ev)
	if w.dialog {
		e.a.Element = &human.Element{Role: "dialog", Name: ev.Window.Title}
	}
}

// --- files

func (d *Deriver) file(ev human.RecordedEvent) {
	if ev.File == nil {
		return
	}
	f := *ev.File
	e := d.files[f.Path]
	if e != nil && ev.At-e.a.End > tempPause {
		e = nil
	}
	switch f.Op {
	case "created":
		e = d.fileAction(ev, f)
		e.temp = temporary(f.Path)
		if e.temp {
			d.drop(e)
		}
	case "changed":
		if e == nil || ev.At-e.a.End > filePause {
			e = d.fileAction(ev, f)
			if temporary(f.Path) {
				e.temp = true
				d.drop(e)
			}
			break
		}
		d.take(e, ev)
		e.a.File.Size = f.Size
	case "renamed":
		delete(d.files, f.Path)
		switch {
		case e == nil || e.a.File.Op == "deleted" || e.a.File.Op == "renamed":
			e = d.fileAction(ev, f)
			if temporary(f.To) {
				d.drop(e) // the old version steps aside
			}
		case e.temp || e.a.File.Op == "created" && ev.At-e.a.End <= filePause:
			// Saving writes another file first and then gives it its name. A person who renames takes longer.
			d.take(e, ev)
			op := e.a.File.Op
			if e.temp {
				op = "changed"
			}
			e.a.File = &human.FileChange{Op: op, Path: f.To, Dir: f.Dir, Size: max(f.Size, e.a.File.Size)}
			if e.temp = temporary(f.To); !e.temp {
				d.revive(e)
			}
		default:
			e = d.fileAction(ev, f)
		}
		d.files[f.To] = e
		return
	case "deleted":
		delete(d.files, f.Path)
		if e != nil && (e.temp || e.a.File.Op == "created") {
			d.take(e, ev)
			d.drop(e) // it came and went
			return
		}
		e = d.fileAction(ev, f)
		if temporary(f.Path) {
			d.drop(e)
		}
		return
	default:
		return
	}
	d.files[f.Path] = e
}

func (d *Deriver) fileAction(ev human.RecordedEvent, f human.FileChange) *entry {
	e := d.begin(human.FileOperation, ev)
	e.a.File = &f
	return e
}

// temporary names are those programs give to files on the way to their own, to locks and to old versions.
func temporary(p string) bool {
	name := strings.ToLower(base(p))
	for _, start := range []string{".~", "~$", ".goutputstream-", ".#", ".com.google.chrome.", ".org.chromium."} {
		if strings.HasPrefix(name, start) {
			return true
		}
	}
	switch ext := path.Ext(name); ext {
	case ".tmp", ".temp", ".part", ".partial", ".crdownload", ".swp", ".swx", ".swpx", ".lock", ".lck":
		return true
	}
	return strings.HasSuffix(name, "~")
}

// base is the last part of a path of any system.
func base(p string) string {
	p = strings.TrimRight(p, `/\`)
	return p[strings.LastIndexAny(p, `/\`)+1:]
}

// folder is the path without its last part, with the home folder as ~.
func folder(p string) string {
	p = strings.TrimRight(p, `/\`)
	i := strings.LastIndexAny(p, `/\`)
	if i < 0 {
		return ""
	}
	return home(p[:max(i, 1)])
}

// home writes ~ for the folder of a person: shorter, and it does not show their name.
func home(p string) string {
	parts := strings.FieldsFunc(p, func(r rune) bool { return r == '/' || r == '\\' })
	n := 0
	switch {
	case len(parts) >= 2 && strings.HasPrefix(p, "/") && (parts[0] == "home" || parts[0] == "Users"):
		n = 2
	case len(parts) >= 1 && strings.HasPrefix(p, "/root"):
		n = 1
	case len(parts) >= 3 && strings.HasSuffix(parts[0], ":") && strings.EqualFold(parts[1], "Users"):
		n = 3
	default:
		return p
	}
	if n == 1 && parts[0] != "root" {
		return p
	}
	return strings.Join(append([]string{"~"}, parts[n:]...), "/")
}

// --- clipboard, marks, gaps

func (d *Deriver) clipboard(ev human.RecordedEvent) {
	if ev.ContentKind == "empty" {
		return
	}
	d.clip = &ev
	e := d.copied
	if owner := d.own[ev.CausedBy]; owner != nil && owner.a.Type == human.Copy {
		e = owner
	}
	switch {
	case e != nil && ev.At-e.a.At <= causePause:
		d.join(e, ev)
		d.copied = nil
	case ev.At-d.input <= causePause:
		e = d.begin(human.Copy, ev) // by a menu or a button
	default:
		return // a program did it by itself
	}
	e.a.Text, e.a.Count, e.a.Hidden = ev.Text, ev.Count, ev.Hidden
	if e.a.Count == 0 {
		e.a.Count = len([]rune(ev.Text))
	}
	hush(&e.a)
}

func (d *Deriver) marked(ev human.RecordedEvent) {
	if ev.Step == nil {
		if ev.Text != "" {
			d.rest(d.typing)
			d.begin(human.Note, ev).a.Text = ev.Text
		}
		return
	}
	step := *ev.Step
	if !ev.Done {
		for _, e := range d.list {
			if e.a.Step != nil && *e.a.Step == step {
				e.a.Step = nil
				d.touch(e)
			}
		}
		return
	}
	// What was done since the last tick was done in this step.
	from := 0
	if d.ticked != nil {
		from = d.ticked.idx + 1
	}
	for _, e := range d.list[from:] {
		if e.a.Step == nil {
			e.a.Step = &step
			d.touch(e)
		}
	}
	if n := len(d.list); n > 0 {
		d.ticked = d.list[n-1]
	}
}

func (d *Deriver) gap(ev human.RecordedEvent) {
	d.rest(nil)
	d.browserStops()
	d.held = nil
	clear(d.down)
	clear(d.keys)
	switch ev.Type {
	case human.RecordingHeld:
		d.paused = d.begin(human.Missing, ev)
		d.paused.a.Gap = &human.Gap{From: ev.At, To: ev.At, Reason: "paused"}
	case human.RecordingGoesOn:
		d.fresh, d.closed, d.clip = true, -causePause, nil
		if e := d.paused; e != nil {
			d.take(e, ev)
			e.a.Gap = &human.Gap{From: e.a.Gap.From, To: max(ev.At, e.a.Gap.To), Reason: "paused", Count: e.a.Gap.Count}
			d.paused = nil
		}
	case human.GapOpened:
		if ev.Gap == nil {
			return
		}
		g := *ev.Gap
		e := d.missing(g)
		if e == nil {
			e = d.begin(human.Missing, ev)
			e.a.At = min(e.a.At, g.From)
		} else {
			d.take(e, ev)
		}
		e.a.Gap, e.a.End = &g, max(e.a.End, g.To)
	}
}

// missing is the last gap, where g is more of the same.
func (d *Deriver) missing(g human.Gap) *entry {
	for i := len(d.list) - 1; i >= max(0, len(d.list)-5); i-- {
		e := d.list[i]
		if was := e.a.Gap; was != nil && was.Reason == g.Reason && was.Source == g.Source && g.From <= was.To+gapSlop && g.From >= was.From-gapSlop {
			return e
		}
	}
	return nil
}
