package platform

import (
	"deskbell/backend/platform/screens"
	"deskbell/backend/platform/windows"
	"deskbell/backend/record"
)

// sources are what a recorder listens to on this system.
func sources(Options) record.Deps {
	return record.Deps{
		System:    "windows",
		Input:     windows.NewInput(Now),
		Windows:   windows.NewWindows(Now),
		Elements:  windows.NewElements(Now),
		Screen:    screens.New(Now),
		Clipboard: func(content bool) record.Source { return windows.NewClipboard(Now, content) },
	}
}
