package platform

import (
	"cmp"
	"context"
	"os"
	"strings"

	"deskbell/backend/human"
	"deskbell/backend/platform/accessibility"
	"deskbell/backend/platform/screencast"
	"deskbell/backend/platform/terminal"
	"deskbell/backend/platform/x11"
	"deskbell/backend/record"
)

// sources are what a recorder listens to on this system.
func sources(o Options) record.Deps {
	terminals := terminal.New()
	wayland := onWayland()
	elements := accessibility.New(accessibility.Options{Clock: Now, Terminal: terminals.Terminal, Reports: wayland})
	deps := record.Deps{
		System:    "linux/x11",
		Input:     x11.NewInput("", Now),
		Windows:   x11.NewWindows("", Now),
		Screen:    x11.NewScreen("", Now),
		Clipboard: func(content bool) record.Source { return x11.NewClipboard("", Now, content) },
		Elements:  elements,
		Guards:    []record.Guard{terminals},
	}
	if wayland {
		deps.System = "linux/wayland"
		if name := compositor(); name != "" {
			deps.System += "/" + name
		}
		deps.Input, deps.Windows = noInput{}, accessibility.NewWindows(elements)
		deps.Screen = screencast.New(screencast.Options{Dir: o.Dir, OneWindow: o.Excluding})
	}
	return deps
}

// onWayland says whether this is a Wayland session: there XWayland's server sees only the older programs that use it.
func onWayland() bool {
	return os.Getenv("WAYLAND_DISPLAY") != "" || os.Getenv("XDG_SESSION_TYPE") == "wayland"
}

// compositor is the desktop's name, in lower case: the last of several is the one that the others are made of.
func compositor() string {
	all := strings.Split(cmp.Or(os.Getenv("XDG_CURRENT_DESKTOP"), os.Getenv("XDG_SESSION_DESKTOP")), ":")
	return strings.ToLower(strings.TrimSpace(all[len(all)-1]))
}

// noInput stands for pointer and keys where no program may see those of another. What XWayland would show is left out: some
// clicks among others that are not there would look like all of them.
type noInput struct{}

func (noInput) Check(context.Context) human.SourceState {
	return human.SourceState{
		Source: human.InputSource, Status: "missing", Code: "wayland",
		Detail: "This is a Wayland session, in which no program sees the pointer and the keys of another: clicks and keys are not recorded.",
		Fix:    "What programs report over accessibility is recorded instead. To record clicks and keys, log out, choose a session \"on Xorg\" (X11) on the log-in screen, and log in again.",
	}
}

func (n noInput) Run(context.Context, func(), func(human.RecordedEvent)) (uint64, error) {
	return 0, human.Errorf(human.Unavailable, "%s", n.Check(context.Background()).Detail)
}
