package presence

import (
	"context"
	"sync"

	"github.com/ebitengine/purego"
	"github.com/ebitengine/purego/objc"

	"deskbell/backend/human"
)

const (
	framework   = "/System/Library/Frameworks/LocalAuthentication.framework/LocalAuthentication"
	deviceOwner = 2 // LAPolicyDeviceOwnerAuthentication: Touch ID, a watch, or the user's password
)

var (
	errNone   = human.Errorf(human.Unavailable, "this Mac cannot ask who is there; it has no Touch ID, and its user no password")
	errFailed = human.Errorf(human.Denied, "the system did not confirm that you are there, so nothing was changed; try again")
)

// load loads the framework, once.
var load = sync.OnceValue(func() error {
	_, err := purego.Dlopen(framework, purego.RTLD_LAZY|purego.RTLD_GLOBAL)
	return err
})

// Checker asks through LocalAuthentication.
type Checker struct{}

// New makes a Checker.
func New() *Checker { return &Checker{} }

// Close does nothing.
func (*Checker) Close() error { return nil }

// begin makes an LAContext, which is good for one question; end gives it back.
func begin() (question objc.ID, end func(), err error) {
	if err := load(); err != nil {
		return 0, nil, human.Wrap(human.Unavailable, err, "this macOS cannot ask who is there")
	}
	question = objc.ID(objc.GetClass("LAContext")).Send(objc.RegisterName("new"))
	end = func() { question.Send(objc.RegisterName("release")) }
	if !objc.Send[bool](question, objc.RegisterName("canEvaluatePolicy:error:"), deviceOwner, uintptr(0)) {
		end()
		return 0, nil, errNone
	}
	return question, end, nil
}

// Check implements stepup.System.
func (*Checker) Check() human.SystemCheck { return human.TouchID }

// Available implements stepup.System.
func (*Checker) Available(context.Context) error {
	_, end, err := begin()
	if err == nil {
		end()
	}
	return err
}

// Ask implements stepup.System.
func (*Checker) Ask(ctx context.Context, _ int) error {
	question, end, err := begin()
	if err != nil {
		return err
	}
	defer end()
	said := make(chan bool, 1)
	reply := objc.NewBlock(func(_ objc.Block, yes bool, _ objc.ID) { said <- yes })
	defer reply.Release()
	// macOS begins the sentence with the program's name: "Deskbell is trying to ...".
	reason := objc.ID(objc.GetClass("NSString")).Send(objc.RegisterName("alloc")).Send(
		objc.RegisterName("initWithUTF8String:"), "check that it is you who allows what an AI agent wants to do")
	defer reason.Send(objc.RegisterName("release"))
	question.Send(objc.RegisterName("evaluatePolicy:localizedReason:reply:"), deviceOwner, reason, reply)
	stop := context.AfterFunc(ctx, func() { question.Send(objc.RegisterName("invalidate")) }) // it says no then
	defer stop()
	if !<-said {
		return errFailed
	}
	return nil
}
