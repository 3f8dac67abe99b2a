//go:build !linux

package window

import "context"

// WatchShortcuts returns ErrUnsupported: the window has the hot keys itself.
func WatchShortcuts(context.Context, Words, func(Hotkey)) error { return ErrUnsupported }
