package windows

import (
	"context"
	"errors"
	"runtime"
	"time"
	"unsafe"

	"github.com/go-ole/go-ole"
	"golang.org/x/sys/windows"

	"deskbell/backend/human"
)

const verifier = "Windows.Security.Credentials.UI.UserConsentVerifier"

// The interfaces of the verifier, which desktop programs ask through IUserConsentVerifierInterop. The identifier of an operation
// is computed from its type's name ("pinterface", UUID version 5).
var (
	verifierStatics = ole.NewGUID("{AF4F3F91-564C-4DDC-B8B5-973447627C65}")
	verifierInterop = ole.NewGUID("{39E050C3-4E74-441A-8DC0-B81104DF949C}")
	asyncInfo       = ole.NewGUID("{00000036-0000-0000-C000-000000000046}")
	asyncResult     = ole.NewGUID("{FD596FFD-2318-558F-9DBE-D21DF43764A5}") // IAsyncOperation<UserConsentVerificationResult>
)

// The places of methods in these interfaces, after the six of IInspectable.
const (
	checkAvailabilityAsync            = 6
	requestVerificationForWindowAsync = 6
	asyncStatus                       = 7
	asyncGetResults                   = 8
	asyncCancel                       = 9
)

const (
	asyncStarted  = 0
	asyncComplete = 1
	helloYes      = 0 // of both enumerations: available, and verified
	helloPoll     = 50 * time.Millisecond
	helloLook     = 2 * time.Second

	manyThreads = 1 // RO_INIT_MULTITHREADED
)

// Hello asks the person at this machine, through Windows Hello, for their face, finger or this machine's PIN.
type Hello struct{}

// Close does nothing.
func (Hello) Close() error { return nil }

// Check implements stepup.System.
func (Hello) Check() human.SystemCheck { return human.WindowsHello }

// Available implements stepup.System.
func (Hello) Available(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, helloLook)
	defer cancel()
	return askHello(ctx, human.Errorf(human.Unavailable, "Windows Hello is not set up for this user"), verifierStatics, func(f *com) (*com, error) {
		return f.object(checkAvailabilityAsync)
	})
}

// Ask implements stepup.System. The dialog belongs to the window that has the keyboard, as the program that asks may run in a terminal.
func (Hello) Ask(ctx context.Context, _ int) error {
	return askHello(ctx, human.Errorf(human.Denied, "the system did not confirm that you are there, so nothing was changed; try again"), verifierInterop, func(f *com) (out *com, err error) {
		message, err := ole.NewHString("Deskbell asks whether it is you who allows what an AI agent wants to do.")
		if err != nil {
			return nil, err
		}
		defer ole.DeleteHString(message) //nolint:errcheck // it never fails
		err = f.call(requestVerificationForWindowAsync, uintptr(windows.GetForegroundWindow()), uintptr(message),
			uintptr(unsafe.Pointer(asyncResult)), uintptr(unsafe.Pointer(&out)))
		return out, err
	})
}

// askHello begins an operation of one of the verifier's interfaces and waits for its end. It is no's error where that says anything but yes.
func askHello(ctx context.Context, no error, id *ole.GUID, begin func(*com) (*com, error)) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if ole.RoInitialize(manyThreads) == nil { // else the thread was initialized before, which serves as well
		defer ole.CoUninitialize()
	}
	factory, err := ole.RoGetActivationFactory(verifier, id)
	if err != nil {
		return human.Wrap(human.Unavailable, err, "this Windows cannot ask through Windows Hello")
	}
	defer factory.Release()
	operation, err := begin((*com)(unsafe.Pointer(factory)))
	if err != nil {
		return human.Wrap(human.Unavailable, err, "Windows Hello cannot ask here")
	}
	defer operation.release()
	said, err := operation.outcome(ctx)
	if err != nil {
		return human.Wrap(human.Unavailable, err, "Windows Hello did not answer")
	}
	if said != helloYes {
		return no
	}
	return nil
}

// outcome is what an operation of the Windows Runtime ends with, -1 where it fails. It is canceled when ctx ends.
func (c *com) outcome(ctx context.Context) (int32, error) {
	info, err := c.as(asyncInfo)
	if err != nil {
		return 0, err
	}
	defer info.release()
	tick := time.NewTicker(helloPoll)
	defer tick.Stop()
	for {
		status, err := info.number(asyncStatus)
		switch {
		case err != nil:
			return 0, err
		case status == asyncComplete:
			return c.number(asyncGetResults)
		case status != asyncStarted:
			return -1, nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return 0, errors.Join(ctx.Err(), info.call(asyncCancel))
		}
	}
}
