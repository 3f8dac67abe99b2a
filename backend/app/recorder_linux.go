package app

import (
	"deskbell/backend/platform/accessibility"
	"deskbell/backend/platform/terminal"
	"deskbell/backend/platform/x11"
	"deskbell/backend/record"
)

// senses are what a recorder listens to on this system.
func senses() record.Deps {
	terminals := terminal.New()
	return record.Deps{
		System:    "linux/x11",
		Input:     x11.NewInput("", now),
		Windows:   x11.NewWindows("", now),
		Screen:    x11.NewScreen("", now),
		Clipboard: func(content bool) record.Source { return x11.NewClipboard("", now, content) },
		Elements:  accessibility.New(accessibility.Options{Clock: now, Terminal: terminals.Terminal}),
		Guards:    []record.Guard{terminals},
	}
}
