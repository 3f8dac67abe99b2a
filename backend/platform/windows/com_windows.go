package windows

import (
	"syscall"
	"unsafe"

	"github.com/go-ole/go-ole"
)

// A com is a COM object: a pointer to a table of methods. What each number of a method means stands in the system's
// uiautomationclient.h.
type com struct{ methods *[128]uintptr }

// call calls a method; its result is an error unless it is a success.
//
//go:uintptrescapes
func (c *com) call(method int, args ...uintptr) error {
	result, _, _ := syscall.SyscallN(c.methods[method], append([]uintptr{uintptr(unsafe.Pointer(c))}, args...)...)
	if int32(result) < 0 {
		return ole.NewError(result)
	}
	return nil
}

// object calls a method whose last argument, after at most two, takes an object; nil when there is none.
//
//go:uintptrescapes
func (c *com) object(method int, args ...uintptr) (out *com, err error) {
	// A pointer must be made a number in the very call it is for, or what it points to may have moved.
	switch len(args) {
	case 0:
		err = c.call(method, uintptr(unsafe.Pointer(&out)))
	case 1:
		err = c.call(method, args[0], uintptr(unsafe.Pointer(&out)))
	default:
		err = c.call(method, args[0], args[1], uintptr(unsafe.Pointer(&out)))
	}
	return out, err
}

// number calls a method whose only argument takes a number or a truth.
func (c *com) number(method int) (int32, error) {
	var out int32
	err := c.call(method, uintptr(unsafe.Pointer(&out)))
	return out, err
}

// text calls a method whose only argument takes a BSTR.
func (c *com) text(method int) (string, error) {
	var out *uint16
	if err := c.call(method, uintptr(unsafe.Pointer(&out))); err != nil || out == nil {
		return "", err
	}
	defer func() { _ = ole.SysFreeString((*int16)(unsafe.Pointer(out))) }()
	return ole.BstrToString(out), nil
}

func (c *com) as(id *ole.GUID) (*com, error) { return c.object(0, uintptr(unsafe.Pointer(id))) }

func (c *com) retain() { _, _, _ = syscall.SyscallN(c.methods[1], uintptr(unsafe.Pointer(c))) }

func (c *com) release() {
	if c != nil {
		_, _, _ = syscall.SyscallN(c.methods[2], uintptr(unsafe.Pointer(c)))
	}
}
