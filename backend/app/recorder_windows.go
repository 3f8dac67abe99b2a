package app

import (
	"deskbell/backend/platform/screens"
	"deskbell/backend/platform/windows"
	"deskbell/backend/record"
)

// senses are what a recorder listens to on this system.
func senses() record.Deps {
	return record.Deps{
		System:    "windows",
		Input:     windows.NewInput(now),
		Windows:   windows.NewWindows(now),
		Elements:  windows.NewElements(now),
		Screen:    screens.New(now),
		Clipboard: func(content bool) record.Source { return windows.NewClipboard(now, content) },
	}
}
