package macos

import (
	"runtime"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

// A ref is an object of Core Foundation. Functions named Copy or Create give one that is to be released.
type ref uintptr

type cgPoint struct{ x, y float64 }

type cgSize struct{ w, h float64 }

type cgRect struct {
	at   cgPoint
	size cgSize
}

// What is called of the frameworks, by the names they have there.
var system struct {
	CFRelease            func(ref)
	CFRetain             func(ref) ref
	CFGetTypeID          func(ref) uint
	CFStringGetTypeID    func() uint
	CFStringCreate       func(allocator uintptr, text string, encoding uint32) ref
	CFStringGetLength    func(ref) int
	CFStringGetCString   func(text ref, into *byte, size int, encoding uint32) bool
	CFArrayGetCount      func(ref) int
	CFArrayGetValue      func(array ref, index int) ref
	CFDictionaryGetValue func(dictionary, key ref) ref
	CFNumberGetValue     func(number ref, kind int, into *int64) bool
	CFBooleanGetValue    func(ref) bool
	CFBooleanGetTypeID   func() uint

	AXIsProcessTrusted  func() bool
	AXCreateSystemWide  func() ref
	AXSetTimeout        func(element ref, seconds float32) int32
	AXElementAtPosition func(application ref, x, y float32, into *ref) int32
	AXCopyAttribute     func(element, name ref, into *ref) int32
	AXGetPid            func(element ref, into *int32) int32
	AXValueGetValue     func(value ref, kind uint32, into unsafe.Pointer) bool

	CGWindowListCopyInfo     func(options, relativeTo uint32) ref
	CGRectFromDictionary     func(dictionary ref, into *cgRect) bool
	CGPreflightScreenCapture func() bool
	CGPreflightListenEvent   func() bool

	IsSecureEventInputEnabled func() bool

	PidPath func(pid int32, into *byte, size uint32) int32

	AutoreleasePoolPush func() uintptr
	AutoreleasePoolPop  func(uintptr)
}

// load finds all of them, once. An error says what this macOS lacks.
var load = sync.OnceValue(func() (err error) {
	const frameworks = "/System/Library/Frameworks/"
	for library, functions := range map[string]map[string]any{
		frameworks + "CoreFoundation.framework/CoreFoundation": {
			"CFRelease": &system.CFRelease, "CFRetain": &system.CFRetain, "CFGetTypeID": &system.CFGetTypeID,
			"CFStringGetTypeID": &system.CFStringGetTypeID, "CFStringCreateWithCString": &system.CFStringCreate,
			"CFStringGetLength": &system.CFStringGetLength, "CFStringGetCString": &system.CFStringGetCString,
			"CFArrayGetCount": &system.CFArrayGetCount, "CFArrayGetValueAtIndex": &system.CFArrayGetValue,
			"CFDictionaryGetValue": &system.CFDictionaryGetValue, "CFNumberGetValue": &system.CFNumberGetValue,
			"CFBooleanGetValue": &system.CFBooleanGetValue, "CFBooleanGetTypeID": &system.CFBooleanGetTypeID,
		},
		frameworks + "ApplicationServices.framework/ApplicationServices": {
			"AXIsProcessTrusted": &system.AXIsProcessTrusted, "AXUIElementCreateSystemWide": &system.AXCreateSystemWide,
			"AXUIElementSetMessagingTimeout": &system.AXSetTimeout, "AXUIElementCopyElementAtPosition": &system.AXElementAtPosition,
			"AXUIElementCopyAttributeValue": &system.AXCopyAttribute, "AXUIElementGetPid": &system.AXGetPid,
			"AXValueGetValue": &system.AXValueGetValue,
		},
		frameworks + "CoreGraphics.framework/CoreGraphics": {
			"CGWindowListCopyWindowInfo": &system.CGWindowListCopyInfo, "CGRectMakeWithDictionaryRepresentation": &system.CGRectFromDictionary,
			"CGPreflightScreenCaptureAccess": &system.CGPreflightScreenCapture, "CGPreflightListenEventAccess": &system.CGPreflightListenEvent,
		},
		frameworks + "Carbon.framework/Carbon": {"IsSecureEventInputEnabled": &system.IsSecureEventInputEnabled},
		"/usr/lib/libproc.dylib":               {"proc_pidpath": &system.PidPath},
		"/usr/lib/libobjc.A.dylib": {"objc_autoreleasePoolPush": &system.AutoreleasePoolPush,
			"objc_autoreleasePoolPop": &system.AutoreleasePoolPop},
		// NSPasteboard is there only once its framework is.
		frameworks + "AppKit.framework/AppKit": {},
	} {
		handle, err := purego.Dlopen(library, purego.RTLD_NOW|purego.RTLD_GLOBAL)
		if err != nil {
			return human.Wrap(human.Unavailable, err, "This macOS lacks %s.", library)
		}
		for name, function := range functions {
			symbol, err := purego.Dlsym(handle, name)
			if err != nil {
				return human.Wrap(human.Unavailable, err, "This macOS lacks %s.", name)
			}
			purego.RegisterFunc(function, symbol)
		}
	}
	return nil
})

// pooled runs f on one thread with a pool, without which objects that the system hands out would pile up.
func pooled(f func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	pool := system.AutoreleasePoolPush()
	defer system.AutoreleasePoolPop(pool)
	f()
}

const utf8Encoding = 0x08000100

// names are Core Foundation's strings of those asked for, made once and kept: there are some thirty.
var names sync.Map

func name(s string) ref {
	if n, ok := names.Load(s); ok {
		return n.(ref)
	}
	made := system.CFStringCreate(0, s, utf8Encoding)
	n, raced := names.LoadOrStore(s, made)
	if raced {
		system.CFRelease(made)
	}
	return n.(ref)
}

// text is what a string says; nothing for what is none.
func text(s ref) string {
	if s == 0 || system.CFGetTypeID(s) != system.CFStringGetTypeID() {
		return ""
	}
	const mostBytes = 3 // of UTF-8 for one unit of UTF-16
	buffer := make([]byte, min(system.CFStringGetLength(s), maxText)*mostBytes+1)
	if !system.CFStringGetCString(s, &buffer[0], len(buffer), utf8Encoding) {
		return ""
	}
	for i, b := range buffer {
		if b == 0 {
			return string(buffer[:i])
		}
	}
	return ""
}

// maxText is how long a string may be, in units of UTF-16, to be read at all.
const maxText = 1 << 20

func number(n ref) int64 {
	const longLong = 11 // kCFNumberLongLongType
	var value int64
	if n != 0 {
		_ = system.CFNumberGetValue(n, longLong, &value)
	}
	return value
}

func monotonic(clock record.Clock) func() int64 {
	return func() int64 { _, mono := clock(); return mono }
}
