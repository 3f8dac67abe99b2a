package house

import (
	"deskbell/backend/hookinput"
	"deskbell/backend/mac"
	"deskbell/backend/record"
	"deskbell/backend/screens"
)

// senses are what a recorder listens to on this system.
func senses() record.Deps {
	return record.Deps{
		System:    "macos",
		Input:     mac.Input(hookinput.New(now)),
		Windows:   mac.NewWindows(now),
		Elements:  mac.NewElements(now),
		Guards:    []record.Guard{mac.SecureInput{}},
		Screen:    screens.New(now),
		Clipboard: func(content bool) record.Source { return mac.NewClipboard(now, content) },
	}
}
