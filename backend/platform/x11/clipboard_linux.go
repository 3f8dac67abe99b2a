package x11

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

const (
	// maxClipboard is how many bytes of the clipboard's text are read.
	maxClipboard = 64 << 10
	// ownerPatience is how long the program that owns the clipboard may take to say what it has, and again
	// to hand it over.
	ownerPatience = time.Second
	// secretHint is offered by password managers for what they put there (KeePassXC, Bitwarden, KDE).
	secretHint = "x-kde-passwordManagerHint"
)

// Clipboard is the source of changes of the clipboard, the one of copy and paste. Nothing is polled.
type Clipboard struct {
	display string
	clock   record.Clock
	content bool
}

// NewClipboard makes one for a display; for that of DISPLAY when it is empty. Text is read where content is
// true, at most 64 KiB of it, and never when its owner calls it secret.
func NewClipboard(display string, clock record.Clock, content bool) *Clipboard {
	return &Clipboard{display: display, clock: clock, content: content}
}

// Check implements record.Source.
func (c *Clipboard) Check(ctx context.Context) human.SourceState {
	state, w := reach(ctx, human.ClipboardSource, c.display)
	if w == nil {
		return state
	}
	defer w.close()
	if state.Code == codeWayland {
		state.Detail = "This is a Wayland session: changes of the clipboard are seen only while the window of an older program, which uses XWayland, has the keyboard."
		return state
	}
	opcode, _, err := w.extension(ctx, "XFIXES")
	switch {
	case err != nil:
		return lostState(human.ClipboardSource, err)
	case opcode == 0:
		return unsupported(human.ClipboardSource, "XFIXES")
	}
	return state
}

// Run implements record.Source. An event tells what kind of thing is there (ContentKind), once its owner has
// said so; "other" when it does not say, or when the next change came before it could.
func (c *Clipboard) Run(ctx context.Context, ready func(), emit func(human.RecordedEvent)) (uint64, error) {
	r := &clipboardRun{clock: c.clock, content: c.content, emit: emit, names: map[uint32]string{}}
	err := r.run(ctx, c.display, ready)
	if ctx.Err() != nil {
		err = nil // it ended as it was told to, at whatever point
	}
	if err != nil {
		err = lost(err)
	}
	return r.seen, err
}

// A clipboardRun is one run.
type clipboardRun struct {
	clock   record.Clock
	content bool
	emit    func(human.RecordedEvent)
	seen    uint64

	w      *wire
	time   timeline
	fixes  byte // number of XFIXES' SelectionNotify
	atom   clipboardAtoms
	names  map[uint32]string // of other atoms
	queue  []clipboardChange
	answer []byte // the SelectionNotify that is waited for
	chunk  bool   // a part of a long answer is there
	asking uint32 // the window that asks
}

type clipboardAtoms struct{ clipboard, targets, utf8, incr, answer uint32 }

// A clipboardChange is one change, as the server tells it.
type clipboardChange struct {
	at    int64
	since uint32 // server time
	owner uint32
}

// errOwner says that the clipboard's owner did not do its part.
var errOwner = errors.New("the owner of the clipboard does not answer")

func (r *clipboardRun) run(ctx context.Context, display string, ready func()) error {
	w, err := dial(ctx, display)
	if err != nil {
		return err
	}
	defer w.close()
	r.w = w
	if r.time, err = askTime(ctx, w, r.clock, nil); err != nil {
		return err
	}
	a, err := w.atoms(ctx, "CLIPBOARD", "TARGETS", "UTF8_STRING", "INCR", "DESKBELL_CLIPBOARD")
	if err != nil {
		return err
	}
	r.atom = clipboardAtoms{a[0], a[1], a[2], a[3], a[4]}
	opcode, event, err := w.extension(ctx, "XFIXES")
	if err != nil {
		return err
	}
	if opcode == 0 {
		return errors.New("the X server has no extension XFIXES")
	}
	r.fixes = event
	if _, err := w.call(ctx, request1(opcode, 0, 5, 0), r.note); err != nil { // QueryVersion
		return err
	}
	const owned, destroyed, closed = 1, 2, 4
	if _, err := w.send(request1(opcode, 2, w.root, r.atom.clipboard, owned|destroyed|closed)); err != nil { // SelectSelectionInput
		return err
	}
	if _, err := w.call(ctx, request1(opGetInputFocus, 0), r.note); err != nil { // until it stands
		return err
	}
	ready()
	return r.listen(ctx)
}

func (r *clipboardRun) listen(ctx context.Context) error {
	drifted := time.NewTicker(driftsFor)
	defer drifted.Stop()
	defer func() { // of these no more can be known
		for _, c := range r.queue {
			r.tell(c, "other", "", "")
		}
	}()
	for {
		for len(r.queue) > 0 {
			c := r.queue[0]
			if err := r.look(ctx, c); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-drifted.C:
			if err := r.setClock(ctx); err != nil {
				return err
			}
		case f, ok := <-r.w.frames:
			if !ok {
				return r.w.err
			}
			r.note(f)
		}
	}
}

// setClock reads the server's clock anew, where it is not ours.
func (r *clipboardRun) setClock(ctx context.Context) (err error) {
	if !r.time.shared {
		r.time, err = askTime(ctx, r.w, r.clock, r.note)
	}
	return err
}

// note remembers what an event says.
func (r *clipboardRun) note(f []byte) {
	switch kind := f[0] & 127; {
	case kind == r.fixes && r.fixes != 0:
		c := clipboardChange{at: r.time.at(binary.LittleEndian.Uint32(f[16:])), since: binary.LittleEndian.Uint32(f[20:])}
		if f[1] == 0 { // not that the owner went away
			c.owner = binary.LittleEndian.Uint32(f[8:])
		}
		r.queue = append(r.queue, c)
	case kind == eventSelectionNotify && binary.LittleEndian.Uint32(f[8:]) == r.asking:
		r.answer = f
	case kind == eventProperty && binary.LittleEndian.Uint32(f[4:]) == r.asking && f[16] == 0:
		r.chunk = true
	}
}

func (r *clipboardRun) tell(c clipboardChange, kind, text, hidden string) {
	r.queue = r.queue[1:]
	r.seen++
	r.emit(human.RecordedEvent{At: c.at, Source: human.ClipboardSource, Type: human.ClipboardSet, ContentKind: kind, Text: text, Hidden: hidden})
}

// look asks what the first change in the queue brought, and tells it.
func (r *clipboardRun) look(ctx context.Context, c clipboardChange) error {
	switch {
	case c.owner == noWindow:
		r.tell(c, "empty", "", "")
		return nil
	case len(r.queue) > 1: // what there is by now is the next one's
		r.tell(c, "other", "", "")
		return nil
	}
	p, err := r.ask(ctx, c, r.atom.targets, maxClipboard)
	if errors.Is(err, errOwner) {
		r.tell(c, "other", "", "")
		return nil
	}
	if err != nil {
		return err
	}
	names, err := r.named(ctx, p.words())
	if err != nil {
		return err
	}
	kind, hidden := kindOf(names), ""
	if slices.Contains(names, secretHint) {
		hidden = "secret"
	}
	if !r.content || hidden != "" || kind != "text" || !slices.Contains(names, "UTF8_STRING") || len(r.queue) > 1 {
		r.tell(c, kind, "", hidden)
		return nil
	}
	p, err = r.ask(ctx, c, r.atom.utf8, maxClipboard)
	if err != nil && !errors.Is(err, errOwner) {
		return err
	}
	if len(r.queue) > 1 {
		p = property{} // it may be the next one's
	}
	r.tell(c, kind, p.text(), "")
	return nil
}

// kindOf says what the clipboard holds by the targets its owner offers. File managers offer their files'
// names as text as well, and office programs a picture of their text.
func kindOf(targets []string) string {
	has := func(is func(string) bool) bool { return slices.ContainsFunc(targets, is) }
	switch {
	case len(targets) == 0:
		return "other"
	case has(func(t string) bool {
		return t == "text/uri-list" || strings.HasPrefix(t, "x-special/") && strings.HasSuffix(t, "-copied-files")
	}):
		return "files"
	case has(func(t string) bool {
		return t == "UTF8_STRING" || t == "STRING" || t == "TEXT" || t == "COMPOUND_TEXT" || strings.HasPrefix(t, "text/plain")
	}):
		return "text"
	case has(func(t string) bool { return strings.HasPrefix(t, "image/") }):
		return "image"
	}
	return "other"
}

// named returns the names of atoms.
func (r *clipboardRun) named(ctx context.Context, atoms []uint32) ([]string, error) {
	var unknown []uint32
	var reqs [][]byte
	for _, a := range atoms {
		if _, ok := r.names[a]; !ok {
			unknown = append(unknown, a)
			reqs = append(reqs, request1(17, 0, a)) // GetAtomName
		}
	}
	f, err := r.w.batch(ctx, reqs, r.note)
	if err != nil {
		return nil, err
	}
	for i, a := range unknown {
		if f[i] != nil {
			n := int(binary.LittleEndian.Uint16(f[i][8:]))
			r.names[a] = string(f[i][32:min(32+n, len(f[i]))])
		}
	}
	names := make([]string, 0, len(atoms))
	for _, a := range atoms {
		names = append(names, r.names[a])
	}
	return names, nil
}

// ask has the owner convert the clipboard (ICCCM 2.4) and returns at most size bytes. The window that asks
// lives as long: when it is gone, the owner knows that no one wants the rest, and an answer that comes late
// has no one to go to.
func (r *clipboardRun) ask(ctx context.Context, c clipboardChange, target uint32, size int) (property, error) {
	window := r.w.newID()
	r.asking, r.answer, r.chunk = window, nil, false
	create := request1(opCreateWindow, 0, window, r.w.root, 0, 1|1<<16, classInput<<16, 0, 1<<11, maskProperty)
	convert := request1(opConvertSelection, 0, window, r.atom.clipboard, target, r.atom.answer, c.since)
	defer func() {
		r.asking = 0
		_, _ = r.w.send(request1(opDestroyWindow, 0, window)) // what fails here fails in the next request, too
	}()
	for _, req := range [][]byte{create, convert} {
		if _, err := r.w.send(req); err != nil {
			return property{}, err
		}
	}
	if err := r.await(ctx, func() bool { return r.answer != nil }); err != nil {
		return property{}, err
	}
	if binary.LittleEndian.Uint32(r.answer[20:]) == noWindow { // it has nothing of the kind
		return property{}, errOwner
	}
	r.chunk = false
	p, err := r.fetch(ctx, window, size)
	if err != nil || p.kind != r.atom.incr {
		return p, err
	}
	return r.increments(ctx, window, size)
}

// increments reads an answer that comes in parts (ICCCM 2.7.2), until there is enough of it.
func (r *clipboardRun) increments(ctx context.Context, window uint32, size int) (property, error) {
	whole := property{format: 8}
	for len(whole.data) < size {
		if err := r.await(ctx, func() bool { return r.chunk }); err != nil {
			return whole, err
		}
		r.chunk = false
		p, err := r.fetch(ctx, window, size)
		if err != nil {
			return whole, err
		}
		if len(p.data) == 0 {
			return whole, nil
		}
		whole.kind, whole.format = p.kind, p.format
		whole.data = append(whole.data, p.data...)
	}
	whole.data, whole.more = whole.data[:size], true
	return whole, nil
}

// fetch takes the answer from the window that asked.
func (r *clipboardRun) fetch(ctx context.Context, window uint32, size int) (property, error) {
	f, err := r.w.batch(ctx, [][]byte{getProperty(window, r.atom.answer, uint32(size))}, r.note)
	if err != nil {
		return property{}, err
	}
	// Deleting asks the owner for the next part; it must not be left to a read that was too short to delete.
	_, err = r.w.send(request1(opDeleteProperty, 0, window, r.atom.answer))
	return propertyOf(f[0]), err
}

// await takes what comes until something is so.
func (r *clipboardRun) await(ctx context.Context, is func() bool) error {
	patience := time.NewTimer(ownerPatience)
	defer patience.Stop()
	for !is() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-patience.C:
			return errOwner
		case f, ok := <-r.w.frames:
			if !ok {
				return r.w.err
			}
			r.note(f)
		}
	}
	return nil
}
