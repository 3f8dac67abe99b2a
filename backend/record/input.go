package record

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"deskbell/backend/human"
)

const maxClip = 64 << 10 // bytes of the clipboard's text

// late is how long after an excluded window was left something may still come from it.
const late = int64(time.Second)

// take gives an event of a source to whoever it concerns.
func (s *session) take(it item) {
	e := &it.event
	e.At = max(0, e.At-s.began)
	missed := e.Gap
	e.Seq, e.CausedBy, e.Until, e.Gap = 0, 0, 0, nil // the recorder's alone
	web := it.from.name == human.BrowserSource
	if !web { // these, too: it hides and counts, but for what a page has hidden and counted already
		e.Picture, e.Hidden, e.Count, e.Browsing = "", "", 0, human.Browsing{}
	}
	if s.failure != nil || s.discard {
		return
	}
	pausing := s.rec.State == human.RecordingPaused
	switch e.Type {
	case human.GapOpened:
		it.from.leftOut++ // told as the recorder's own
		if missed != nil && !pausing {
			s.gap(human.Gap{From: max(0, missed.From-s.began), To: max(0, missed.To-s.began), Source: missed.Source,
				Reason: missed.Reason, Count: missed.Count})
		}
		return
	}
	if web {
		s.browse(it, pausing)
		return
	}
	switch e.Type {
	case human.WindowActive, human.WindowOpened, human.WindowClosed, human.WindowRetitled:
		s.window(it, pausing)
		return
	case human.PointerMoved, human.PointerDown, human.PointerUp, human.Scrolled:
		s.lookAround()
	case human.FocusMoved:
		s.focusMoved(it, pausing)
		return
	}
	if pausing {
		s.leaveOut(it)
		return
	}
	switch e.Type {
	case human.PointerMoved, human.PointerDown, human.PointerUp, human.Scrolled:
		s.pointer(it)
	case human.KeyDown, human.KeyUp:
		s.key(it)
	case human.FileChanged:
		s.file(it)
	case human.ClipboardSet:
		s.clipboard(it)
	}
}

// leaveOut counts an event that is left out on purpose.
func (s *session) leaveOut(it item) {
	it.from.leftOut++
	if g := s.gaps["paused"]; g != nil {
		g.Count++
	}
}

// fenceOut leaves an event out because of what window it belongs to. The gap, if there is one, counts it.
func (s *session) fenceOut(it item) {
	it.from.leftOut++
	if g := s.gaps["excluded"]; g != nil {
		g.Count++
	}
}

// lookAround has the windows on the screen read again when they may have changed: which of them the pointer is
// over decides what is recorded.
func (s *session) lookAround() {
	if s.looking || !s.moved && s.now()-s.seenAt < looksLive || s.deps.Windows == nil || s.feed(human.WindowSource).state.Status == "missing" {
		return
	}
	s.moved = false
	s.looking = s.work(func(ctx context.Context) func() {
		visible, err := s.deps.Windows.Visible(ctx)
		return func() {
			s.looking, s.seenAt = false, s.now()
			if err == nil {
				s.see(visible)
			}
			if s.moved {
				s.lookAround()
			}
		}
	})
}

// A standing is where a window of a kind stands.
type standing struct {
	in human.Bounds
	is kind
}

// see takes the windows on the screen, topmost first.
func (s *session) see(visible []Placed) {
	s.seenAt = s.now()
	s.visible = s.visible[:0]
	for _, p := range visible {
		s.visible = append(s.visible, standing{p.Window.Bounds, s.fence.kind(p)})
	}
}

func (s *session) pointer(it item) {
	e := it.event
	over := ordinary
	for _, w := range s.visible {
		if w.in.Contains(e.X, e.Y) {
			over = w.is
			break
		}
	}
	if s.activeIs == excluded && over == ordinary {
		over = excluded
	}
	if e.Type == human.PointerUp && over != ordinary && s.activeIs != excluded && s.pressed[e.Button] != 0 {
		over = ordinary // what began outside is told to its end
	}
	if e.Type == human.PointerUp && over == ordinary && s.pressed[e.Button] == 0 && s.pressedOut[e.Button] {
		over = own // what began inside is not
	}
	if e.Type == human.PointerDown {
		s.pressedOut[e.Button] = over != ordinary
		delete(s.pressed, e.Button)
	}
	if over != ordinary {
		if over == excluded {
			s.openGap("excluded", "")
		}
		s.fenceOut(it)
		return
	}
	if s.activeIs != excluded {
		s.closeGap("excluded", "")
	}
	e.Key, e.Text = "", ""
	if e.Type == human.PointerDown {
		s.closeRun(byPerson)
	}
	seq := s.store(e)
	switch e.Type {
	case human.PointerDown:
		s.rec.Counts.Clicks++
		s.pressed[e.Button] = seq
		s.hurry(e.At) // what was to be shown of the click before is about to change
		s.shoot(wish{when: "before", cause: seq, before: e.At + s.began})
		s.look(seq, e.X, e.Y)
	case human.PointerUp:
		if press := s.pressed[e.Button]; press != 0 {
			delete(s.pressed, e.Button)
			s.wish("after", "click", press, afterClick)
		}
	case human.Scrolled:
		s.wish("scroll", "scroll", seq, afterScroll)
	}
}

// look looks up the element that was pressed.
func (s *session) look(press uint64, x, y int) {
	f := s.feed(human.ElementSource)
	if f.state.Status == "missing" {
		return
	}
	active, windows := s.active, s.deps.Windows
	s.work(func(ctx context.Context) func() {
		in := active
		if windows != nil {
			if visible, err := windows.Visible(ctx); err == nil {
				if p, ok := topmost(visible, x, y); ok {
					in = p
				}
			}
		}
		if s.fence.kind(in) != ordinary {
			return nil
		}
		el, err := s.deps.Elements.At(ctx, x, y, in)
		if err != nil {
			return nil // nothing is there, or it could not be told: the press stands by itself
		}
		shown, n := s.mask.element(el)
		return func() {
			if s.secret(el) {
				shown.Secret = true
				s.remember(el, in)
				s.sawFocus(in, true)
			}
			f.made++
			s.rec.Counts.Masked += n
			s.store(human.RecordedEvent{At: s.now(), Source: human.ElementSource, Type: human.ElementSeen, Element: &shown, CausedBy: press})
		}
	})
}

// own says whether a key is pressed or let go for the recorder itself.
func (s *session) own(e human.RecordedEvent) bool {
	name := strings.ToLower(e.Key)
	if e.Type == human.KeyUp {
		held := s.ownDown[name]
		delete(s.ownDown, name)
		return held
	}
	is := slices.ContainsFunc(s.ownKeys, func(c Chord) bool {
		return strings.EqualFold(c.Key, e.Key) && slices.Equal(c.Modifiers, e.Modifiers)
	})
	if is {
		s.ownDown[name] = true
	}
	return is
}

func (s *session) key(it item) {
	e := it.event
	if s.activeIs != ordinary {
		s.fenceOut(it)
		return
	}
	if s.own(e) {
		it.from.leftOut++
		return
	}
	if e.Type == human.KeyUp {
		e.Text = ""
		if name := strings.ToLower(e.Key); s.named[name] {
			delete(s.named, name)
		} else {
			e.Key, e.Modifiers = "", nil
		}
		s.store(e)
		return
	}
	s.rec.Counts.Keys++
	if text, makes := typed(e, s.deps.System); makes {
		e.Key, e.Text, e.Modifiers = "", "", nil
		// A key may come up under another name than it went down with.
		for name := range s.named {
			if utf8.RuneCountInString(name) == 1 {
				delete(s.named, name)
			}
		}
		s.typed(s.store(e), e.At, text)
		return
	}
	if e.Text = ""; e.Key == "" {
		e.Key = "Unidentified" // a shortcut of a key without a name; none at all would say that it made text
	}
	s.named[strings.ToLower(e.Key)] = true
	if modifierKeys[e.Key] {
		s.store(e)
		return
	}
	if e.Key == "Backspace" && !command(e.Modifiers, s.deps.System) {
		s.erased(s.store(e), e.At)
		return
	}
	s.closeRun(byPerson)
	seq := s.store(e)
	if acts(e) && !e.Repeat && s.now()-s.lastPicture >= apart {
		s.shoot(wish{when: "before", cause: seq, before: e.At + s.began})
	}
	s.wish("after", "key", seq, afterTyping)
}

// acts says whether a key is one that makes something happen, and does not only move within a field.
func acts(e human.RecordedEvent) bool {
	if e.Key == "Enter" || e.Key == "Escape" || len(e.Key) > 1 && e.Key[0] == 'F' && e.Key[1] >= '0' && e.Key[1] <= '9' {
		return true
	}
	return slices.ContainsFunc(e.Modifiers, func(m string) bool { return m != "shift" })
}

// modifierKeys neither end typing nor do anything alone.
var modifierKeys = map[string]bool{
	"Shift": true, "Control": true, "Alt": true, "AltGraph": true, "Meta": true, "CapsLock": true, "NumLock": true,
	"ScrollLock": true, "Fn": true, "FnLock": true, "Hyper": true, "Super": true, "Symbol": true, "SymbolLock": true,
}

// command says whether modifiers make a shortcut of a key that else makes text. AltGr, which makes text, is
// Ctrl+Alt on Windows and Alt (Option) on macOS, and none of these elsewhere.
func command(modifiers []string, system string) bool {
	ctrl, alt, meta := slices.Contains(modifiers, "ctrl"), slices.Contains(modifiers, "alt"), slices.Contains(modifiers, "meta")
	switch {
	case strings.HasPrefix(system, "windows"):
		return meta || ctrl != alt
	case strings.HasPrefix(system, "macos"):
		return ctrl || meta
	}
	return ctrl || alt || meta
}

// typed says whether a key that went down makes text, and which, as far as that is known. In doubt it does:
// what makes text is stored without its name.
func typed(e human.RecordedEvent, system string) (text string, makes bool) {
	text = e.Text
	if text == "" && utf8.RuneCountInString(e.Key) == 1 {
		text = e.Key
	}
	if strings.ContainsFunc(text, unicode.IsControl) {
		text = "" // Enter, Tab, Escape, Backspace, and Ctrl with a letter
	}
	if command(e.Modifiers, system) {
		// Alt and digits of the number pad make a character on Windows.
		digits := strings.HasPrefix(system, "windows") && slices.Equal(e.Modifiers, []string{"alt"}) && text != "" && strings.Trim(text, "0123456789") == ""
		return "", digits
	}
	if text != "" {
		return text, true
	}
	return "", composing[e.Key] || !isName(e.Key)
}

// composing keys are on the way to a text, which is not always known.
var composing = map[string]bool{"Dead": true, "Compose": true, "Process": true}

// isName says whether a key has a name of UI Events: Enter, ArrowLeft, F5.
func isName(key string) bool {
	if len(key) < 2 || key[0] < 'A' || key[0] > 'Z' {
		return false
	}
	return !strings.ContainsFunc(key, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	})
}

// window follows the windows, whether they are recorded or not.
func (s *session) window(it item, pausing bool) {
	e := it.event
	var p Placed
	if e.App != nil {
		p.App = *e.App
	}
	if e.Window != nil {
		p.Window = *e.Window
	}
	is := s.fence.kind(p)
	s.moved = true
	s.lookAround()
	active := e.Type == human.WindowActive || e.Type == human.WindowRetitled && s.known && s.active.Window.ID == p.Window.ID
	switched := e.Type == human.WindowActive && (!s.known || s.active.Window.ID != p.Window.ID)
	if active {
		if switched {
			s.switched(is, e.At)
		}
		if s.activeIs == excluded && is != excluded {
			s.fencedTo = e.At
		}
		if s.camera != nil {
			if is != s.activeIs { // a title alone can make it so
				s.camera.touched()
			}
			if is == excluded {
				s.camera.active.Store(&p)
			} else {
				s.camera.active.Store(nil)
			}
		}
		s.active, s.activeIs, s.known = p, is, e.Window != nil
		if !pausing {
			if is == excluded {
				s.openGap("excluded", "")
			} else {
				s.closeGap("excluded", "")
			}
		}
	}
	if pausing {
		s.leaveOut(it)
		return
	}
	if is != ordinary {
		s.fenceOut(it)
		return
	}
	seq := s.storeWindow(e)
	if switched {
		s.wish("window", "window", seq, afterSwitch)
	}
}

// storeWindow stores a window event with its title masked.
func (s *session) storeWindow(e human.RecordedEvent) uint64 {
	if e.App != nil {
		app := *e.App
		e.App = &app
	}
	if e.Window != nil {
		w := *e.Window
		var found bool
		if w.Title, found = s.mask.text(w.Title); found {
			e.Hidden = "secret"
			s.rec.Counts.Masked++
		}
		e.Window = &w
	}
	return s.store(e)
}

func (s *session) focusMoved(it item, pausing bool) {
	e := it.event
	if e.Element == nil {
		s.leaveOut(it)
		return
	}
	in := s.active
	if e.App != nil {
		in.App = *e.App
	}
	if e.Window != nil {
		in.Window = *e.Window
	}
	el := *e.Element
	if s.secret(el) {
		el.Secret = true
		s.remember(el, in)
	}
	if el.Role == "unknown" { // it did not answer, or not in time
		s.suspect("unknown_field")
	} else {
		s.sawFocus(in, el.Secret)
	}
	if !el.Secret {
		s.movedTo(el)
	}
	switch is := s.fence.kind(in); {
	case pausing:
		s.leaveOut(it)
	case is != ordinary || s.activeIs != ordinary:
		s.fenceOut(it)
	default:
		shown, n := s.mask.element(el)
		s.rec.Counts.Masked += n
		e.Element = &shown
		s.store(e)
	}
}

func (s *session) file(it item) {
	e := it.event
	if e.File == nil {
		s.leaveOut(it)
		return
	}
	file := *e.File
	var a, b bool
	file.Path, a = s.mask.text(file.Path)
	file.To, b = s.mask.text(file.To)
	if a || b {
		e.Hidden = "secret"
		s.rec.Counts.Masked++
	}
	e.File, e.Text, e.Key = &file, "", ""
	s.store(e)
}

// clipboard leaves out what was copied in an excluded window, just after it was left, too.
func (s *session) clipboard(it item) {
	e := it.event
	if s.activeIs == excluded || s.fencedTo > 0 && e.At-s.fencedTo < late {
		s.openGap("excluded", "")
		s.fenceOut(it)
		if s.activeIs != excluded {
			s.closeGap("excluded", "")
		}
		return
	}
	e.Key = ""
	if s.rec.Options.Clipboard != "content" {
		e.Text = ""
	}
	if len(e.Text) > maxClip {
		e.Text = strings.ToValidUTF8(e.Text[:maxClip], "")
	}
	var found bool
	if e.Text, found = s.mask.text(e.Text); found {
		e.Hidden = "secret"
		s.rec.Counts.Masked++
	}
	s.store(e)
}
