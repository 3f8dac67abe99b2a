package x11

import (
	"context"
	"encoding/binary"
	"math"
	"time"

	"golang.org/x/sys/unix"

	"deskbell/backend/record"
)

// A timeline turns an X server's time (uint32 milliseconds, which start again from 0 every 49.7 days) into
// nanoseconds of the recorder's monotonic clock.
type timeline struct {
	clock  record.Clock
	base   int64 // the recorder's clock when the server's was 0, or would have been
	shared bool  // the server runs on our machine's clock, so base does not drift
}

// sharedWithin is how close a server's time must be to our CLOCK_MONOTONIC to be the same clock. Servers
// stamp whole milliseconds, some from a clock that ticks every 4.
const sharedWithin = 6 * time.Millisecond

// A reading is one look at a server's clock: it read server at some moment between before and after, on
// the recorder's clock; system is our CLOCK_MONOTONIC at after.
type reading struct {
	server        uint32
	before, after int64
	system        int64
}

// newTimeline takes the best of several readings: that with the shortest way there and back.
func newTimeline(clock record.Clock, readings []reading) timeline {
	best := readings[0]
	for _, r := range readings[1:] {
		if r.after-r.before < best.after-best.before {
			best = r
		}
	}
	// Where it runs on our clock, its time is exact, and the way there and back need not be guessed at.
	apart := time.Duration(int32(uint32(best.system/1e6)-best.server)) * time.Millisecond
	if apart >= -sharedWithin && apart <= sharedWithin+time.Duration(best.after-best.before) {
		base := best.after - best.system
		if time.Duration(base).Abs() < time.Millisecond {
			base = 0 // the recorder's clock is that very clock, read a moment apart
		}
		return timeline{clock: clock, base: base, shared: true}
	}
	middle := best.before + (best.after-best.before)/2
	return timeline{clock: clock, base: middle - int64(best.server)*1e6}
}

// at is when the server's clock read ms, the last time it did. It is never in the future.
func (t timeline) at(ms uint32) int64 {
	_, now := t.clock()
	nowMS := (now - t.base) / 1e6
	at := (nowMS+int64(int32(ms-uint32(nowMS))))*1e6 + t.base
	return min(at, now)
}

// readClock asks a server for its time, n times: every change of a property tells it (ICCCM 2.1).
func readClock(ctx context.Context, w *wire, clock record.Clock, n int) ([]reading, error) {
	window := w.newID()
	create := make([]byte, 36)
	create[0] = opCreateWindow
	for at, v := range map[int]uint32{4: window, 8: w.root, 28: 1 << 11 /* event mask */, 32: 1 << 22 /* PropertyChange */} {
		binary.LittleEndian.PutUint32(create[at:], v)
	}
	binary.LittleEndian.PutUint16(create[16:], 1) // width
	binary.LittleEndian.PutUint16(create[18:], 1) // height
	binary.LittleEndian.PutUint16(create[22:], 2) // InputOnly
	if _, err := w.send(create); err != nil {
		return nil, err
	}
	readings := make([]reading, 0, n)
	for range n {
		r := reading{before: math.MaxInt64}
		change := make([]byte, 24)
		change[0], change[1], change[16] = opChangeProperty, 2, 8 // append nothing, in bytes
		binary.LittleEndian.PutUint32(change[4:], window)
		binary.LittleEndian.PutUint32(change[8:], 39)  // WM_NAME
		binary.LittleEndian.PutUint32(change[12:], 31) // STRING
		_, before := clock()
		if _, err := w.send(change); err != nil {
			return nil, err
		}
		_, err := w.call(ctx, []byte{opGetInputFocus, 0, 0, 0}, func(f []byte) {
			if f[0] != 28 || binary.LittleEndian.Uint32(f[4:]) != window { // PropertyNotify
				return
			}
			var ts unix.Timespec
			_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) // fails for unknown clocks only
			_, after := clock()
			r = reading{server: binary.LittleEndian.Uint32(f[12:]), before: before, after: after, system: ts.Nano()}
		})
		if err != nil {
			return nil, err
		}
		if r.before != math.MaxInt64 {
			readings = append(readings, r)
		}
	}
	destroy := make([]byte, 8)
	destroy[0] = opDestroyWindow
	binary.LittleEndian.PutUint32(destroy[4:], window)
	_, err := w.send(destroy)
	return readings, err
}
