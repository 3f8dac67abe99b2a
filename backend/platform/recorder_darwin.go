package platform

import (
	"deskbell/backend/platform/input/hook"
	"deskbell/backend/platform/macos"
	"deskbell/backend/platform/screens"
	"deskbell/backend/record"
)

// sources are what a recorder listens to on this system.
func sources(Options) record.Deps {
	return record.Deps{
		System:    "macos",
		Input:     macos.Input(hook.New(Now)),
		Windows:   macos.NewWindows(Now),
		Elements:  macos.NewElements(Now),
		Guards:    []record.Guard{macos.SecureInput{}},
		Screen:    screens.New(Now),
		Clipboard: func(content bool) record.Source { return macos.NewClipboard(Now, content) },
	}
}
