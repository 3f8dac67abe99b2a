package x11

import (
	"context"
	"encoding/binary"
	"errors"
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

// driftsFor is how long a clock that is not ours may drift from ours until it is read again: a bad quartz
// makes 6 ms of it.
const driftsFor = time.Minute

// askTime makes a timeline of several readings of a server's clock: every change of a property tells its
// time (ICCCM 2.1). What else comes meanwhile is given to event.
func askTime(ctx context.Context, w *wire, clock record.Clock, event func([]byte)) (timeline, error) {
	readings, err := readClock(ctx, w, clock, event)
	if err != nil {
		return timeline{}, err
	}
	if len(readings) == 0 {
		return timeline{}, errors.New("the X server does not tell its time")
	}
	return newTimeline(clock, readings), nil
}

func readClock(ctx context.Context, w *wire, clock record.Clock, event func([]byte)) ([]reading, error) {
	const n = 5
	window := w.newID()
	create := request1(opCreateWindow, 0, window, w.root, 0, 1|1<<16, classInput<<16, 0, 1<<11, maskProperty)
	if _, err := w.send(create); err != nil {
		return nil, err
	}
	readings := make([]reading, 0, n)
	for range n {
		r := reading{before: math.MaxInt64}
		const appending, bytewise, nothing = 2, 8, 0
		change := request1(opChangeProperty, appending, window, atomWMName, atomString, bytewise, nothing)
		_, before := clock()
		if _, err := w.send(change); err != nil {
			return nil, err
		}
		_, err := w.call(ctx, []byte{opGetInputFocus, 0, 0, 0}, func(f []byte) {
			if f[0] != eventProperty || binary.LittleEndian.Uint32(f[4:]) != window {
				if event != nil {
					event(f)
				}
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
	_, err := w.send(request1(opDestroyWindow, 0, window))
	return readings, err
}
