//go:build !linux && !windows

package window

import "log/slog"

// A TrayIcon is not there on macOS: the library and Wails both want to be the application's delegate. The
// program is reached through the Dock.
type TrayIcon struct{}

// StartTray does nothing.
func StartTray(Tray, *slog.Logger) *TrayIcon { return &TrayIcon{} }

// Shown is false.
func (*TrayIcon) Shown() bool { return false }

// Update does nothing.
func (*TrayIcon) Update(func(*TrayState)) {}

// Stop does nothing.
func (*TrayIcon) Stop() {}
