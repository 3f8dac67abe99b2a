package windows

import (
	"context"
	"errors"
	"testing"

	"github.com/go-ole/go-ole"
	"golang.org/x/sys/windows"

	"deskbell/backend/human"
	"deskbell/backend/queue/stepup"
)

var _ stepup.System = Hello{}

// Where Windows has no Windows Hello, as Wine has none, it is not offered, and nothing passes.
func TestHelloWithoutADevice(t *testing.T) {
	err := Hello{}.Available(t.Context())
	if err == nil {
		t.Skip("there is Windows Hello here")
	}
	if human.KindOf(err) != human.Unavailable {
		t.Errorf("available: %v", err)
	}
	if err := (Hello{}).Ask(t.Context(), 0); human.KindOf(err) != human.Unavailable && human.KindOf(err) != human.Denied {
		t.Errorf("asked: %v", err)
	}
	t.Log(err)
}

// An operation's outcome is its result once it is complete, and never the one that lets pass where it is not.
func TestTheOutcomeOfAnOperation(t *testing.T) {
	for name, tt := range map[string]struct {
		statuses []int32
		result   int32
		want     int32
	}{
		"passed":         {[]int32{asyncStarted, asyncStarted, asyncComplete}, helloYes, helloYes},
		"did not pass":   {[]int32{asyncStarted, asyncComplete}, 6, 6},
		"canceled there": {[]int32{asyncStarted, 2}, helloYes, -1},
		"failed":         {[]int32{3}, helloYes, -1},
	} {
		t.Run(name, func(t *testing.T) {
			f := newOperation(tt.statuses, tt.result)
			if got, err := f.com.outcome(t.Context()); err != nil || got != tt.want || f.refs != 0 {
				t.Errorf("%d, %v, %d references; want %d", got, err, f.refs, tt.want)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f := newOperation([]int32{asyncStarted}, helloYes)
	if _, err := f.com.outcome(ctx); !errors.Is(err, context.Canceled) || !f.canceled {
		t.Errorf("left alone: %v, canceled %v", err, f.canceled)
	}
}

// An operation that the test plays: its statuses one after the other, the last again and again.
type operation struct {
	com      *com
	statuses []int32
	refs     int
	canceled bool
}

func newOperation(statuses []int32, result int32) *operation {
	f := &operation{statuses: statuses}
	f.com = &com{methods: &[128]uintptr{
		0: windows.NewCallback(func(self *com, _ *ole.GUID, out **com) uintptr { f.refs++; *out = self; return 0 }),
		2: windows.NewCallback(func(*com) uintptr { f.refs--; return 0 }),
		asyncStatus: windows.NewCallback(func(_ *com, out *int32) uintptr {
			*out = f.statuses[0]
			f.statuses = f.statuses[min(1, len(f.statuses)-1):]
			return 0
		}),
		asyncGetResults: windows.NewCallback(func(_ *com, out *int32) uintptr { *out = result; return 0 }),
		asyncCancel:     windows.NewCallback(func(*com) uintptr { f.canceled = true; return 0 }),
	}}
	return f
}
