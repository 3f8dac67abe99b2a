//go:build cgo

package screens

/*
#cgo LDFLAGS: -framework CoreGraphics
#include <CoreGraphics/CoreGraphics.h>
*/
import "C"

import "deskbell/backend/human"

// hindered says what stands in the way of pictures. Without the permission macOS gives pictures that show the
// wallpaper and no windows, so it must be known before.
func hindered(state *human.SourceState) {
	if bool(C.CGPreflightScreenCaptureAccess()) {
		return
	}
	state.Status, state.Code = "missing", "no_permission"
	state.Detail = "macOS does not allow Deskbell to record the screen."
	state.Fix = "Allow it in System Settings, Privacy & Security, Screen Recording, and start Deskbell again."
}
