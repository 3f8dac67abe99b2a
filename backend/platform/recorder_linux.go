package platform

import (
	"deskbell/backend/platform/accessibility"
	"deskbell/backend/platform/terminal"
	"deskbell/backend/platform/x11"
	"deskbell/backend/record"
)

// sources are what a recorder listens to on this system.
func sources() record.Deps {
	terminals := terminal.New()
	return record.Deps{
		System:    "linux/x11",
		Input:     x11.NewInput("", Now),
		Windows:   x11.NewWindows("", Now),
		Screen:    x11.NewScreen("", Now),
		Clipboard: func(content bool) record.Source { return x11.NewClipboard("", Now, content) },
		Elements:  accessibility.New(accessibility.Options{Clock: Now, Terminal: terminals.Terminal}),
		Guards:    []record.Guard{terminals},
	}
}
