package main

import (
	"runtime"
	"syscall"
	"unsafe"

	"github.com/go-ole/go-ole"
	"golang.org/x/sys/windows"
)

var (
	shellLink     = ole.NewGUID("{00021401-0000-0000-C000-000000000046}")
	persistFile   = ole.NewGUID("{0000010B-0000-0000-C000-000000000046}")
	propertyStore = ole.NewGUID("{886D8EEB-8CF2-4446-8D02-CDBA1DBDCF99}")
)

// A propertyKey is the system's PROPERTYKEY.
type propertyKey struct {
	set ole.GUID
	id  uint32
}

// A propVariant is the system's PROPVARIANT, with a text.
type propVariant struct {
	kind uint16
	_    [3]uint16
	text *uint16
	_    uintptr
}

// An object is a COM object: a pointer to a table of methods, whose numbers stand in the system's shobjidl.h and propsys.h.
type object struct{ methods *[16]uintptr }

//go:uintptrescapes
func (o *object) call(method int, args ...uintptr) error {
	result, _, _ := syscall.SyscallN(o.methods[method], append([]uintptr{uintptr(unsafe.Pointer(o))}, args...)...)
	if int32(result) < 0 {
		return ole.NewError(result)
	}
	return nil
}

func (o *object) as(id *ole.GUID) (out *object, err error) {
	err = o.call(0, uintptr(unsafe.Pointer(id)), uintptr(unsafe.Pointer(&out)))
	return out, err
}

// identify gives the shortcut an application's id: by it the taskbar knows that the program's windows belong to the shortcut.
func identify(file, id string) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := ole.CoInitializeEx(0, ole.COINIT_APARTMENTTHREADED); err != nil {
		return err
	}
	defer ole.CoUninitialize()
	unknown, err := ole.CreateInstance(shellLink, ole.IID_IUnknown)
	if err != nil {
		return err
	}
	defer unknown.Release()
	link := (*object)(unsafe.Pointer(unknown))
	disk, err := link.as(persistFile)
	if err != nil {
		return err
	}
	name, err := windows.UTF16PtrFromString(file)
	if err != nil {
		return err
	}
	const readWrite = 2
	if err := disk.call(5, uintptr(unsafe.Pointer(name)), readWrite); err != nil { // Load
		return err
	}
	store, err := link.as(propertyStore)
	if err != nil {
		return err
	}
	text, err := windows.UTF16PtrFromString(id)
	if err != nil {
		return err
	}
	const wideText = 31 // VT_LPWSTR
	key := propertyKey{*ole.NewGUID("{9F4C2855-9F79-4B39-A8D0-E1D42DE1D5F3}"), 5}
	value := propVariant{kind: wideText, text: text}
	if err := store.call(6, uintptr(unsafe.Pointer(&key)), uintptr(unsafe.Pointer(&value))); err != nil { // SetValue
		return err
	}
	if err := store.call(7); err != nil { // Commit
		return err
	}
	return disk.call(6, uintptr(unsafe.Pointer(name)), 1) // Save
}
