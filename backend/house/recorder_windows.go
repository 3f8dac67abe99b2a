package house

import (
	"deskbell/backend/record"
	"deskbell/backend/screens"
	"deskbell/backend/win"
)

// senses are what a recorder listens to on this system.
func senses() record.Deps {
	return record.Deps{
		System:    "windows",
		Input:     win.NewInput(now),
		Windows:   win.NewWindows(now),
		Elements:  win.NewElements(now),
		Screen:    screens.New(now),
		Clipboard: func(content bool) record.Source { return win.NewClipboard(now, content) },
	}
}
