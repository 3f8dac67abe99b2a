package x11

import (
	"context"
	"os"

	"deskbell/backend/human"
)

// Words for the reason why a source is missing, of human.SourceState.
const (
	codeWayland     = "wayland"
	codeNoDisplay   = "no_display"
	codeUnsupported = "unsupported"
	codeLost        = "lost"
)

// reach connects for a Check. Without a connection the state says why; with one it is complete, or has the
// code wayland and a way out.
func reach(ctx context.Context, source human.SourceName, display string) (human.SourceState, *wire) {
	state := human.SourceState{Source: source, Status: "complete"}
	ours := display == "" || display == os.Getenv("DISPLAY")
	wayland := ours && (os.Getenv("WAYLAND_DISPLAY") != "" || os.Getenv("XDG_SESSION_TYPE") == "wayland")
	w, err := dial(ctx, display)
	if err == nil && !wayland {
		var opcode byte
		opcode, _, err = w.extension(ctx, "XWAYLAND")
		wayland = opcode != 0
		if err != nil {
			w.close()
		}
	}
	if wayland {
		state.Status, state.Code = "partial", codeWayland
		state.Fix = "Log out, choose a session \"on Xorg\" (X11) on the log-in screen, and log in again."
	}
	switch {
	case err == nil:
		return state, w
	case wayland:
		state.Status, state.Detail = "missing", "This is a Wayland session without XWayland."
	case display == "" && os.Getenv("DISPLAY") == "":
		state.Status, state.Code = "missing", codeNoDisplay
		state.Detail, state.Fix = "There is no display: DISPLAY is not set.", "Start Deskbell in a graphical session."
	default:
		state.Status, state.Code = "missing", codeNoDisplay
		state.Detail, state.Fix = human.SafeText(err)+".", "Start Deskbell in a graphical session, as the user who is logged in there."
	}
	return state, nil
}

// unsupported is the state of a source that needs an extension the server has not.
func unsupported(source human.SourceName, extension string) human.SourceState {
	return human.SourceState{
		Source: source, Status: "missing", Code: codeUnsupported, Detail: "The X server has no extension " + extension + ".",
		Fix: "Use an X server that has it; Xorg does, unless its settings switch it off.",
	}
}

func lostState(source human.SourceName, err error) human.SourceState {
	return human.SourceState{
		Source: source, Status: "missing", Code: codeLost, Detail: "The X server stopped answering: " + err.Error() + ".",
		Fix: "Try again; when it stays so, log in anew.",
	}
}

// lost is the error of a run whose connection ended under it.
func lost(err error) error {
	return human.Wrap(human.Unavailable, err, "the connection to the X server was lost")
}
