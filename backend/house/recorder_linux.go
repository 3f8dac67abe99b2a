package house

import (
	"deskbell/backend/atspi"
	"deskbell/backend/echo"
	"deskbell/backend/record"
	"deskbell/backend/x11"
)

// senses are what a recorder listens to on this system.
func senses() record.Deps {
	terminals := echo.New()
	return record.Deps{
		System:    "linux/x11",
		Input:     x11.NewInput("", now),
		Windows:   x11.NewWindows("", now),
		Screen:    x11.NewScreen("", now),
		Clipboard: func(content bool) record.Source { return x11.NewClipboard("", now, content) },
		Elements:  atspi.New(atspi.Options{Clock: now, Terminal: terminals.Terminal}),
		Guards:    []record.Guard{terminals},
	}
}
