package x11

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

// Screen takes pictures of an X display: MIT-SHM where the server shares our memory, which costs a copy, and
// over the connection else. It implements record.Screen.
type Screen struct {
	display string
	clock   record.Clock

	// Of Grab.
	w       *wire
	format  pixelFormat
	shm     byte // opcode of MIT-SHM; 0 without
	segment uint32
	memory  []byte // shared with the server
	width   int
	height  int
}

var _ record.Screen = (*Screen)(nil)

// NewScreen makes one for a display; for that of DISPLAY when it is empty.
func NewScreen(display string, clock record.Clock) *Screen {
	return &Screen{display: display, clock: clock}
}

const (
	opGetImage = 73
	allPlanes  = 0xffffffff
	zPixmap    = 2
	maxBand    = 8 << 20 // bytes of one answer over the connection

	shmAttach   = 1
	shmDetach   = 2
	shmGetImage = 4

	damageVersion  = 0
	damageCreate   = 1
	damageSubtract = 3
	damageNonEmpty = 3

	randrVersion  = 0
	randrMonitors = 42

	// rearm is how long the server is left alone after it said that something has changed. An animation
	// would have it say so with every stroke.
	rearm = 50 * time.Millisecond
)

// A seal is written into shared memory for the server to write over. A server in another container may take
// the number of our memory for that of its own: it would write there, and our pictures stay black.
const seal = "not yet a picture"

// Check implements record.Screen.
func (s *Screen) Check(ctx context.Context) human.SourceState {
	state, w := reach(ctx, human.ScreenSource, s.display)
	if w == nil {
		return state
	}
	defer w.close()
	if state.Code == codeWayland {
		state.Status = "missing"
		state.Detail = "This is a Wayland session: no program may take pictures of the screen by itself."
		return state
	}
	damage, _, err := w.extension(ctx, "DAMAGE")
	if err != nil {
		return lostState(human.ScreenSource, err)
	}
	if _, err := w.pixelFormat(ctx); err != nil {
		state.Status, state.Code, state.Detail = "missing", codeUnsupported, human.SafeText(err)+"."
		state.Fix = "Let the display show true colors, 24 bits of them."
		return state
	}
	if damage == 0 {
		state.Detail = "The X server has no extension DAMAGE: pictures are taken without knowing whether anything changed, which costs more."
	}
	return state
}

// Screens implements record.Screen: the monitors, or the whole where the server does not tell them.
func (s *Screen) Screens(ctx context.Context) ([]human.Screen, error) {
	w, err := dial(ctx, s.display)
	if err != nil {
		return nil, err
	}
	defer w.close()
	width, height, err := w.size(ctx)
	if err != nil {
		return nil, lost(err)
	}
	whole := []human.Screen{{W: width, H: height, Scale: 1}}
	randr, _, err := w.extension(ctx, "RANDR")
	if err != nil {
		return nil, lost(err)
	}
	if randr == 0 {
		return whole, nil
	}
	replies, err := w.batch(ctx, [][]byte{request1(randr, randrVersion, 1, 5), request1(randr, randrMonitors, w.root, 1)}, nil)
	if err != nil {
		return nil, lost(err)
	}
	if monitors := monitorsOf(replies[1]); len(monitors) > 0 {
		return monitors, nil
	}
	return whole, nil
}

// monitorsOf reads RRGetMonitors' reply (RandR 1.5); none where there is none.
func monitorsOf(f []byte) (monitors []human.Screen) {
	if len(f) < 32 {
		return nil
	}
	rest := f[32:]
	short := func(at int) int { return int(int16(binary.LittleEndian.Uint16(rest[at:]))) }
	for n := binary.LittleEndian.Uint32(f[12:]); n > 0 && len(rest) >= 24; n-- {
		m := human.Screen{X: short(8), Y: short(10), W: short(12), H: short(14), Scale: 1}
		if !slices.Contains(monitors, m) { // another that shows the same
			monitors = append(monitors, m)
		}
		size := 24 + 4*int(binary.LittleEndian.Uint16(rest[6:]))
		rest = rest[min(size, len(rest)):]
	}
	return monitors
}

// size is the root window's.
func (w *wire) size(ctx context.Context) (width, height int, err error) {
	f, err := w.call(ctx, request1(opGetGeometry, 0, w.root), nil)
	if err != nil {
		return 0, 0, err
	}
	return int(binary.LittleEndian.Uint16(f[16:])), int(binary.LittleEndian.Uint16(f[18:])), nil
}

// Watch implements record.Screen through the DAMAGE extension.
func (s *Screen) Watch(ctx context.Context, ready func(), changed func()) error {
	w, err := dial(ctx, s.display)
	if err != nil {
		return ended(ctx, err)
	}
	defer w.close()
	opcode, event, err := w.extension(ctx, "DAMAGE")
	if err != nil {
		return ended(ctx, lost(err))
	}
	if opcode == 0 {
		return human.Errorf(human.Unavailable, "the X server has no extension DAMAGE")
	}
	if _, err := w.call(ctx, request1(opcode, damageVersion, 1, 1), nil); err != nil {
		return ended(ctx, lost(err))
	}
	damage := w.newID()
	if _, err := w.send(request1(opcode, damageCreate, damage, w.root, damageNonEmpty)); err != nil {
		return ended(ctx, lost(err))
	}
	// forget has the server speak again at the next change, and returns once it has understood: what changes
	// later it will tell, and what changed before is in the next picture.
	said := false
	forget := func() error {
		since, err := w.send(request1(opcode, damageSubtract, damage, 0, 0))
		if err != nil {
			return err
		}
		said = false
		_, err = w.call(ctx, request1(opGetInputFocus, 0), func(f []byte) {
			later := int16(binary.LittleEndian.Uint16(f[2:])-since) >= 0 // an event names the last request before it
			said = said || f[0]&127 == event && later
		})
		return err
	}
	if err := forget(); err != nil {
		return ended(ctx, lost(err))
	}
	ready()
	for {
		if !said {
			select {
			case <-ctx.Done():
				return nil
			case f, ok := <-w.frames:
				if !ok {
					return ended(ctx, lost(w.err))
				}
				if f[0] == frameError {
					return lost(fmt.Errorf("the X server does not report changes: error %d", f[1]))
				}
				if f[0]&127 != event {
					continue
				}
			}
		}
		if err := forget(); err != nil {
			return ended(ctx, lost(err))
		}
		changed()
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(rearm):
		}
	}
}

// ended is err, unless ctx has ended, which is no error.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// Grab implements record.Screen.
func (s *Screen) Grab(ctx context.Context, f *record.Frame) error {
	err := s.grab(ctx, f)
	if err != nil {
		// Whatever it was: the next one begins anew, and reads no answer to this one.
		err = errors.Join(err, s.Close())
	}
	return err
}

func (s *Screen) grab(ctx context.Context, f *record.Frame) error {
	if s.w == nil {
		if err := s.open(ctx); err != nil {
			return err
		}
	}
	for range 3 { // the desktop may change its size between two questions
		width, height, err := s.w.size(ctx)
		if err != nil {
			return lost(err)
		}
		if width != s.width || height != s.height {
			if err := s.share(ctx, width, height); err != nil {
				return err
			}
		}
		size := 4 * width * height
		if cap(f.Pix) < size {
			f.Pix = make([]byte, size)
		}
		f.Pix = f.Pix[:size]
		f.X, f.Y, f.W, f.H, f.Scale = 0, 0, width, height, 1
		done, err := s.copy(ctx, f)
		if err != nil {
			return err
		}
		if done {
			_, f.At = s.clock()
			return nil
		}
	}
	return human.Errorf(human.Unavailable, "the X server gives no picture of its screen")
}

func (s *Screen) open(ctx context.Context) (err error) {
	if s.w, err = dial(ctx, s.display); err != nil {
		return err
	}
	if s.format, err = s.w.pixelFormat(ctx); err != nil {
		return err
	}
	if s.shm, _, err = s.w.extension(ctx, "MIT-SHM"); err != nil {
		return lost(err)
	}
	return nil
}

// share makes memory for pictures of this size that the server can write to. Where it cannot, because it
// runs elsewhere, pictures come over the connection.
func (s *Screen) share(ctx context.Context, width, height int) error {
	if err := s.unshare(); err != nil {
		return err
	}
	s.width, s.height = width, height
	if s.shm == 0 {
		return nil
	}
	id, err := unix.SysvShmGet(unix.IPC_PRIVATE, 4*width*height, unix.IPC_CREAT|0o600)
	if err != nil {
		s.shm = 0 // the system has no more of it
		return nil
	}
	s.memory, err = unix.SysvShmAttach(id, 0, 0)
	s.segment = s.w.newID()
	refused := err != nil
	if err == nil {
		if _, err := s.w.send(request1(s.shm, shmAttach, s.segment, uint32(id), 0)); err != nil {
			return lost(err)
		}
		shared, err := s.shared(ctx)
		if err != nil {
			return lost(err)
		}
		refused = !shared
	}
	// Both sides hold it now; it goes when they do, even when one is killed.
	if _, err := unix.SysvShmCtl(id, unix.IPC_RMID, nil); err != nil {
		return human.Wrap(human.Internal, err, "shared memory cannot be freed")
	}
	if refused {
		s.shm = 0
		return s.unshare()
	}
	return nil
}

// shared says whether what the server writes is in our memory.
func (s *Screen) shared(ctx context.Context) (bool, error) {
	copy(s.memory, seal)
	row := request1(s.shm, shmGetImage, s.w.root, 0, uint32(s.width)|1<<16, allPlanes, zPixmap, s.segment, 0)
	replies, err := s.w.batch(ctx, [][]byte{row}, nil)
	return err == nil && replies[0] != nil && !bytes.HasPrefix(s.memory, []byte(seal)), err
}

func (s *Screen) unshare() error {
	if s.memory == nil {
		return nil
	}
	memory := s.memory
	s.memory = nil
	if s.w != nil && s.shm != 0 {
		_, _ = s.w.send(request1(s.shm, shmDetach, s.segment)) // a lost connection has detached it already
	}
	return unix.SysvShmDetach(memory)
}

// copy has the server write its picture; done is false where it is of another size by now.
func (s *Screen) copy(ctx context.Context, f *record.Frame) (done bool, err error) {
	stride := s.format.stride(f.W)
	if s.memory != nil {
		size := uint32(f.W) | uint32(f.H)<<16
		replies, err := s.w.batch(ctx, [][]byte{request1(s.shm, shmGetImage, s.w.root, 0, size, allPlanes, zPixmap, s.segment, 0)}, nil)
		if err != nil {
			return false, lost(err)
		}
		r := replies[0]
		if r == nil || r[1] != s.format.depth || uint64(binary.LittleEndian.Uint32(r[12:])) != uint64(stride)*uint64(f.H) {
			return false, nil
		}
		s.format.unpack(f.Pix, s.memory, f.W)
		return true, nil
	}
	rows := max(1, maxBand/stride)
	for y := 0; y < f.H; y += rows {
		band := f.Pix[4*f.W*y : 4*f.W*min(y+rows, f.H)]
		high := len(band) / (4 * f.W)
		replies, err := s.w.batch(ctx, [][]byte{request1(opGetImage, zPixmap, s.w.root, uint32(y)<<16, uint32(f.W)|uint32(high)<<16, allPlanes)}, nil)
		if err != nil {
			return false, lost(err)
		}
		r := replies[0]
		if r == nil || r[1] != s.format.depth || len(r)-32 < stride*high {
			return false, nil
		}
		s.format.unpack(band, r[32:], f.W)
	}
	return true, nil
}

// Close implements record.Screen.
func (s *Screen) Close() error {
	err := s.unshare()
	if s.w != nil {
		s.w.close()
		s.w = nil
	}
	s.width, s.height = 0, 0
	return err
}
