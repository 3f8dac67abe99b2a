package record

import (
	"context"
	"math"
	"sync"
	"time"

	"deskbell/backend/human"
)

const (
	windowTime = 200 * time.Millisecond // for finding the window at a point: taking large pictures holds the display up
	lookTime   = 800 * time.Millisecond // for one look-up of an element, with that of its window: a program that draws answers late
	lookUps    = 16                     // at a time
)

// never is later than any time.
const never = int64(math.MaxInt64)

// A loop is the goroutine of one running recording, which owns the recording's state. Other goroutines reach that
// state through post and do.
type loop struct {
	id    human.RecordingID
	clock Clock
	began int64 // monotonic
	woke  int64 // when it last had something to do, from began

	calls chan func()
	left  chan struct{} // closed when it takes no calls any more
	over  chan struct{} // closed when all is done

	working context.Context // of everything beside the loop but the sources
	finish  context.CancelFunc
	workers sync.WaitGroup // the same
	slots   chan struct{}  // for look-ups
	lookups int            // that are under way
}

func newLoop(base context.Context, id human.RecordingID, clock Clock, began int64) *loop {
	l := &loop{
		id: id, clock: clock, began: began, calls: make(chan func()), left: make(chan struct{}), over: make(chan struct{}),
		slots: make(chan struct{}, lookUps),
	}
	l.working, l.finish = context.WithCancel(context.WithoutCancel(base))
	return l
}

// now is the monotonic time since the recording began, as it was when the loop last woke: a clock is a system
// call, and what the loop does takes no time to speak of.
func (l *loop) now() int64 { return l.woke }

func (l *loop) wake() { l.woke = l.mono() - l.began }

func (l *loop) mono() int64 {
	_, mono := l.clock()
	return mono
}

// post has f called by the loop. It says whether that will happen.
func (l *loop) post(f func()) bool {
	select {
	case l.calls <- f:
		return true
	case <-l.left:
		return false
	case <-l.working.Done(): // it has not begun
		return false
	}
}

// do has f called by the loop and waits for it.
func (l *loop) do(ctx context.Context, f func() error) error {
	done := make(chan error, 1)
	select {
	case l.calls <- func() { done <- f() }:
	case <-l.left:
		return human.Errorf(human.Conflict, "recording %s has ended", l.id)
	case <-ctx.Done():
		return human.Wrap(human.Unavailable, ctx.Err(), "recording %s did not answer in time", l.id)
	}
	select {
	case err := <-done:
		return err
	case <-l.over: // it may have been the loop's last call
		select {
		case err := <-done:
			return err
		default:
			return human.Errorf(human.Conflict, "recording %s has ended", l.id)
		}
	}
}

// lookUp runs f beside the loop, which then calls what f returns, if anything. It says whether there was room.
func (l *loop) lookUp(f func(context.Context) func()) bool {
	select {
	case l.slots <- struct{}{}:
	default:
		return false
	}
	l.lookups++
	l.workers.Go(func() {
		ctx, cancel := context.WithTimeout(l.working, lookTime)
		then := f(ctx)
		cancel()
		<-l.slots
		l.post(func() {
			l.lookups--
			if then != nil {
				then()
			}
		})
	})
	return true
}

// join ends everything that works beside the loop, and waits for it.
func (l *loop) join() {
	l.finish()
	l.workers.Wait()
	l.wake()
}
