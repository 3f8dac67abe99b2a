// Package x11 listens to an X server and takes pictures of its screen: without cgo, and without a window
// manager's help where there is none. Nothing here delays what the operator does.
package x11

import (
	"context"
	"encoding/binary"
	"errors"
	"sync/atomic"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

// How often at most the server is asked to hand over what RECORD has put aside: for a key or a button, by
// which pictures and elements are taken, and for moves alone, which nothing waits for. The pointer rests when
// nothing came for so long.
const (
	flushEvery      = 5 * time.Millisecond
	flushMovesEvery = 100 * time.Millisecond
	restsAfter      = 500 * time.Millisecond
)

// Input is the source of pointer and keys, through the RECORD extension: whatever reaches the server,
// from devices and from XTEST, with the server's own times.
type Input struct {
	display string
	clock   record.Clock
}

// NewInput makes one for a display; for that of DISPLAY when it is empty. clock may be any, but its
// monotonic part ought to be CLOCK_MONOTONIC, which X servers use.
func NewInput(display string, clock record.Clock) *Input {
	return &Input{display: display, clock: clock}
}

// Check implements record.Source.
func (in *Input) Check(ctx context.Context) human.SourceState {
	state, w := reach(ctx, human.InputSource, in.display)
	if w == nil {
		return state
	}
	defer w.close()
	if state.Code == codeWayland {
		state.Status = "missing"
		state.Detail = "This is a Wayland session: pointer and keys reach only the window they are for. Through XWayland the few older programs that use it could be seen, and no others."
		return state
	}
	for _, name := range []string{"RECORD", "XKEYBOARD"} {
		opcode, _, err := w.extension(ctx, name)
		switch {
		case err != nil:
			return lostState(human.InputSource, err)
		case opcode == 0 && name == "RECORD":
			return unsupported(human.InputSource, "RECORD")
		case opcode == 0:
			state.Status, state.Code = "partial", "unsupported"
			state.Detail = "The X server has no extension XKEYBOARD: keys are recorded, but not what they type."
		}
	}
	return state
}

// Run implements record.Source. Moves, presses and releases come in the server's order. A wheel's notch is
// one Scrolled event; auto repeat is key_down events with Repeat and no key_up between them.
func (in *Input) Run(ctx context.Context, ready func(), emit func(human.RecordedEvent)) (uint64, error) {
	s := &inputRun{clock: in.clock, emit: emit, keys: &keymap{}}
	err := s.run(ctx, in.display, ready)
	if ctx.Err() != nil && !errors.Is(err, errUnfinished) {
		err = nil // it ended as it was told to, at whatever point
	}
	if err != nil {
		err = lost(err)
	}
	return s.seen, err
}

// An inputRun is one run. control asks and is woken; data is RECORD's, which carries nothing else.
type inputRun struct {
	clock         record.Clock
	emit          func(human.RecordedEvent)
	control, data *wire
	record        byte // opcodes and event numbers of the extensions; 0 without
	xkb, xkbEvent byte
	xinput        byte
	context       uint32
	time          timeline
	seen          uint64

	keys     *keymap
	before   *keymap // the map that keys before changed had
	changed  uint32  // server time
	reread   bool    // the map has changed again
	typing   typist
	released struct { // the last event, when it was a key's release
		code byte
		time uint32
		ok   bool
	}

	wake    chan struct{} // aside has changed
	aside   atomic.Int32  // what RECORD has put aside since the last flush was asked for
	flush   *time.Timer   // when a flush is due
	moving  *time.Ticker  // flushes while the pointer moves; stopped while it rests
	moves   bool
	movedAt time.Time // when data came last
	asked   bool      // a flush is under way
	askSeq  uint16
	askedAt time.Time
}

func (s *inputRun) run(ctx context.Context, display string, ready func()) error {
	var err error
	s.wake = make(chan struct{}, 1)
	if s.control, err = dialAs(ctx, display, false, s.woken); err != nil {
		return err
	}
	defer s.control.close()
	if s.data, err = dialAs(ctx, display, true, nil); err != nil {
		return err
	}
	defer s.data.close()
	s.flush = time.NewTimer(time.Hour)
	defer s.flush.Stop()
	if err := s.prepare(ctx); err != nil {
		return err
	}
	if err := s.enable(ctx); err != nil {
		return err
	}
	ready()
	s.moving = time.NewTicker(time.Hour)
	defer s.moving.Stop()
	return s.listen(ctx)
}

// prepare asks for all that must stand before the first event comes.
func (s *inputRun) prepare(ctx context.Context) error {
	var err error
	if s.time, err = askTime(ctx, s.control, s.clock, nil); err != nil {
		return err
	}
	if s.record, _, err = s.control.extension(ctx, "RECORD"); err != nil {
		return err
	}
	if s.record == 0 {
		return errors.New("the X server has no extension RECORD")
	}
	if s.xkb, s.xkbEvent, err = s.control.extension(ctx, "XKEYBOARD"); err != nil {
		return err
	}
	if s.xkb != 0 {
		if err := s.selectMap(ctx); err != nil {
			return err
		}
	}
	if s.xinput, _, err = s.control.extension(ctx, "XInputExtension"); err != nil {
		return err
	}
	if s.xinput != 0 {
		return s.selectRaw(ctx)
	}
	return nil
}

// selectMap reads the keyboard's map and asks to be told of changes.
func (s *inputRun) selectMap(ctx context.Context) error {
	if _, err := s.control.call(ctx, []byte{s.xkb, 0, 0, 0, 1, 0, 0, 0}, s.event); err != nil { // UseExtension 1.0
		return err
	}
	// SelectEvents: all of NewKeyboardNotify and MapNotify, of the core keyboard.
	if _, err := s.control.send([]byte{s.xkb, 1, 0, 0, 0, 1, 3, 0, 0, 0, 3, 0, 0xff, 0, 0xff, 0}); err != nil {
		return err
	}
	return s.readMap(ctx)
}

func (s *inputRun) readMap(ctx context.Context) error {
	for {
		s.reread = false
		req := make([]byte, 28) // GetMap of the core keyboard, in full: types, symbols, modifiers
		req[0], req[1], req[5], req[6] = s.xkb, 8, 1, 7
		f, err := s.control.call(ctx, req, s.event)
		if err != nil {
			return err
		}
		if s.keys, err = parseKeymap(f); err != nil {
			return err
		}
		if !s.reread {
			return nil
		}
	}
}

// selectRaw asks for XInput's raw events, which are the wake-up: RECORD keeps its data back until the
// server has something else to tell somebody.
func (s *inputRun) selectRaw(ctx context.Context) error {
	if _, err := s.control.call(ctx, []byte{s.xinput, 47, 0, 0, 2, 0, 2, 0}, s.event); err != nil { // XIQueryVersion 2.2
		return nil // an old server: late data is better than none
	}
	return s.wakeBy(rawPresses | rawMotion)
}

// XInput's raw events, as bits of a mask.
const (
	rawPresses = 15 << 13 // and releases, of keys and buttons
	rawMotion  = 1 << 17
)

// wakeBy says which raw events are to wake. Each of them makes the server write, and hand over what RECORD
// has one by one: while the pointer moves it is asked now and then instead, which costs both sides less, and
// leaves more room in a socket that no one reads for a while.
func (s *inputRun) wakeBy(mask uint32) error {
	req := make([]byte, 20) // XISelectEvents on the root window, all master devices
	req[0], req[1], req[8], req[12], req[14] = s.xinput, 46, 1, 1, 1
	binary.LittleEndian.PutUint32(req[4:], s.control.root)
	binary.LittleEndian.PutUint32(req[16:], mask)
	_, err := s.control.send(req)
	return err
}

// enable creates RECORD's context on the control connection and starts it on the other, as RECORD wants.
func (s *inputRun) enable(ctx context.Context) error {
	s.context = s.control.newID()
	req := make([]byte, 20+4+24) // CreateContext: no header for each element, all clients, one range
	req[0], req[1], req[12], req[16], req[20] = s.record, 1, 1, 1, 3
	binary.LittleEndian.PutUint32(req[4:], s.context)
	req[24+18], req[24+19] = 2, 6 // device events from KeyPress to MotionNotify
	if _, err := s.control.send(req); err != nil {
		return err
	}
	// A round trip: the context exists before the other connection names it.
	if _, err := s.control.call(ctx, []byte{opGetInputFocus, 0, 0, 0}, s.event); err != nil {
		return err
	}
	start := make([]byte, 8)
	start[0], start[1] = s.record, 5 // EnableContext
	binary.LittleEndian.PutUint32(start[4:], s.context)
	if _, err := s.data.send(start); err != nil {
		return err
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case _, ok := <-s.data.more:
			if !ok {
				return s.data.err
			}
		}
		frames := s.data.piled()
		for i, f := range frames {
			switch {
			case f[0] == frameError, f[0] == frameReply && f[1] != startOfData:
				return errors.New("the X server does not record")
			case f[0] == frameReply:
				s.takeAll(frames[i+1:])
				return nil
			} // else an event that every connection gets
		}
	}
}

// listen takes what comes until ctx ends, or a connection does. Of the two connections the control one goes
// first: what it tells of the keyboard's map came before the keys that RECORD has kept back.
func (s *inputRun) listen(ctx context.Context) error {
	drifted := time.NewTicker(driftsFor)
	defer drifted.Stop()
	for {
		select {
		case f, ok := <-s.control.frames:
			if err := s.controlled(ctx, f, ok); err != nil {
				return err
			}
			continue
		default:
		}
		select {
		case <-ctx.Done():
			return s.finish()
		case f, ok := <-s.control.frames:
			if err := s.controlled(ctx, f, ok); err != nil {
				return err
			}
		case _, ok := <-s.data.more:
			if !s.takeAll(s.data.piled()) {
				return errors.New("the X server stopped recording")
			}
			if !ok {
				return s.data.err
			}
		case <-drifted.C:
			if err := s.setClock(ctx); err != nil {
				return err
			}
		case <-s.wake:
			if err := s.woke(); err != nil {
				return err
			}
		case <-s.moving.C:
			if err := s.moved(); err != nil {
				return err
			}
		case <-s.flush.C:
			if err := s.ask(); err != nil {
				return err
			}
		}
	}
}

// setClock reads the server's clock anew, where it is not ours.
func (s *inputRun) setClock(ctx context.Context) (err error) {
	if s.time.shared {
		return nil
	}
	if s.time, err = askTime(ctx, s.control, s.clock, s.event); err == nil && s.reread {
		err = s.readMap(ctx)
	}
	return err
}

// lastWords is how long the server may be silent at the end, while it still owes events.
const lastWords = time.Second

// errUnfinished says that the server did not come to the end of what it had.
var errUnfinished = errors.New("the X server did not hand over its last events")

// finish takes what the server still has. On a busy machine that is more than a moment's worth.
func (s *inputRun) finish() error {
	req := make([]byte, 8)
	req[0], req[1] = s.record, 6 // DisableContext
	binary.LittleEndian.PutUint32(req[4:], s.context)
	if _, err := s.control.send(req); err != nil {
		return errUnfinished
	}
	patience := time.NewTimer(lastWords)
	defer patience.Stop()
	control := s.control.frames
	for {
		select {
		case <-patience.C:
			return errUnfinished
		case f, ok := <-control:
			if !ok {
				control = nil
				continue
			}
			s.event(f)
		case _, ok := <-s.data.more:
			if !s.takeAll(s.data.piled()) {
				return nil
			}
			if !ok {
				return errUnfinished
			}
			patience.Reset(lastWords)
		}
	}
}

// controlled handles a frame of the control connection.
func (s *inputRun) controlled(ctx context.Context, f []byte, ok bool) error {
	if !ok {
		return s.control.err
	}
	s.event(f)
	if s.reread {
		return s.readMap(ctx)
	}
	return nil
}

// event notes what a frame of the control connection says.
func (s *inputRun) event(f []byte) {
	switch kind := f[0] & 127; {
	case f[0] == frameReply && s.asked && binary.LittleEndian.Uint16(f[2:]) == s.askSeq:
		s.asked = false
	case s.xkb != 0 && kind == s.xkbEvent && f[1] <= 1: // NewKeyboardNotify, MapNotify
		if !s.reread {
			s.before, s.changed = s.keys, binary.LittleEndian.Uint32(f[4:])
		}
		s.reread = true
	}
}

// What RECORD may have put aside.
const (
	nothingAside = iota
	movesAside
	pressesAside
)

// woken receives a raw event, which RECORD may have put aside. All that comes until the flush is part of
// that flush: of many events between two, one wakes, or two.
func (s *inputRun) woken(f []byte) {
	what := int32(pressesAside)
	if uint32(1)<<(f[8]&31) == rawMotion {
		what = movesAside
	}
	if s.aside.Load() >= what {
		return
	}
	s.aside.Store(what) // only a flush sets it back, and then this wakes for nothing at worst
	select {
	case s.wake <- struct{}{}:
	default: // it will be looked at anyway
	}
}

// woke sees to it that what woke us is flushed.
func (s *inputRun) woke() error {
	if s.aside.Load() == pressesAside {
		s.flush.Reset(max(0, flushEvery-time.Since(s.askedAt)))
		return nil
	}
	s.flush.Reset(0)
	if s.moves {
		return nil
	}
	s.moves, s.movedAt = true, time.Now()
	s.moving.Reset(flushMovesEvery)
	return s.wakeBy(rawPresses)
}

// moved flushes while the pointer moves. When it has come to rest its next move is to wake us again; what came
// before that stands is part of the flush that follows.
func (s *inputRun) moved() error {
	if time.Since(s.movedAt) > restsAfter {
		s.moves = false
		s.moving.Stop()
		if err := s.wakeBy(rawPresses | rawMotion); err != nil {
			return err
		}
	}
	return s.ask()
}

// ask sends a request whose answer makes the server flush. One at a time is enough: a server that is slow
// to answer is not asked more.
func (s *inputRun) ask() error {
	s.askedAt = time.Now()
	if s.asked {
		s.flush.Reset(flushEvery)
		return nil
	}
	s.aside.Store(nothingAside)
	var err error
	s.askSeq, err = s.control.send([]byte{opGetInputFocus, 0, 0, 0})
	s.asked = true
	return err
}

// takeAll emits what frames of RECORD's hold; false when one was the last.
func (s *inputRun) takeAll(frames [][]byte) bool {
	for _, f := range frames {
		raws, more := parseRecord(f)
		if len(raws) > 0 {
			s.movedAt = time.Now()
		}
		for _, r := range raws {
			s.deliver(r)
		}
		if !more {
			return false
		}
	}
	return true
}

// deliver emits what an event of the server means, where it means something by itself.
func (s *inputRun) deliver(r rawInput) {
	keys := s.keys
	if s.before != nil {
		if int32(r.time-s.changed) < 0 {
			keys = s.before
		} else {
			s.before = nil
		}
	}
	e := human.RecordedEvent{At: s.time.at(r.time), Source: human.InputSource, X: r.x, Y: r.y, Modifiers: keys.modifiers(r.state)}
	was := s.released
	s.released.ok = false
	switch r.kind {
	case motionNotify:
		e.Type, e.Modifiers = human.PointerMoved, nil
	case buttonPress:
		e.Type, e.Button = human.PointerDown, int(r.code)
		if dx, dy, ok := notch(r.code); ok {
			e.Type, e.Button, e.DeltaX, e.DeltaY = human.Scrolled, 0, dx, dy
		}
	case buttonRelease:
		if _, _, ok := notch(r.code); ok {
			return // a wheel is not held
		}
		e.Type, e.Button = human.PointerUp, int(r.code)
	case keyPress:
		e.Type = human.KeyDown
		_, held := s.typing.down[r.code]
		e.Repeat = held || r.repeats || was.ok && was.code == r.code && was.time == r.time // its release came in the frame before
		stroke := s.typing.press(keys, r.code, r.state)
		e.Key, e.Text = stroke.key, stroke.text
	case keyRelease:
		e.Type = human.KeyUp
		stroke := s.typing.release(keys, r.code, r.state)
		e.Key, e.Text = stroke.key, stroke.text
		s.released.code, s.released.time, s.released.ok = r.code, r.time, true
	}
	s.seen++
	s.emit(e)
}

// notch is how far a wheel's button scrolls.
func notch(button byte) (dx, dy float64, ok bool) {
	switch button {
	case 4:
		return 0, -1, true
	case 5:
		return 0, 1, true
	case 6:
		return -1, 0, true
	case 7:
		return 1, 0, true
	}
	return 0, 0, false
}
