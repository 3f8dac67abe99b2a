package app

import (
	"deskbell/backend/platform/input/hook"
	"deskbell/backend/platform/macos"
	"deskbell/backend/platform/screens"
	"deskbell/backend/record"
)

// senses are what a recorder listens to on this system.
func senses() record.Deps {
	return record.Deps{
		System:    "macos",
		Input:     macos.Input(hook.New(now)),
		Windows:   macos.NewWindows(now),
		Elements:  macos.NewElements(now),
		Guards:    []record.Guard{macos.SecureInput{}},
		Screen:    screens.New(now),
		Clipboard: func(content bool) record.Source { return macos.NewClipboard(now, content) },
	}
}
