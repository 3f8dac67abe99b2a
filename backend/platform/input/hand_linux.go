package input

import (
	"os"
	"strconv"
	"strings"

	"github.com/go-vgo/robotgo/x11"
	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
	"github.com/jezek/xgb/xtest"

	"deskbell/backend/human"
)

// xhand acts through robotgo's X11 backend in pure Go. What that cannot do goes over a connection of its own:
// buttons beyond the third, the active window, and text that is right whatever the layout.
type xhand struct {
	conn   *xgb.Conn
	root   xproto.Window
	esc    xproto.Keycode
	typist *typist
}

func newHand() (hand, error) {
	if os.Getenv("WAYLAND_DISPLAY") != "" && os.Getenv("XDG_SESSION_TYPE") == "wayland" {
		return nil, human.Errorf(human.Unavailable, "recordings cannot be played back under Wayland, which lets no program use mouse and keyboard; log in to an X11 session")
	}
	conn, err := xgb.NewConn()
	if err != nil {
		return nil, human.Wrap(human.Unavailable, err, "recordings cannot be played back: there is no X11 display")
	}
	if err := xtest.Init(conn); err != nil {
		conn.Close()
		return nil, human.Wrap(human.Unavailable, err, "recordings cannot be played back: the display has no XTEST extension")
	}
	h := &xhand{conn: conn, root: xproto.Setup(conn).DefaultScreen(conn).Root}
	h.typist = newTypist(conn, h.root)
	if keys, err := h.typist.keymap(); err == nil {
		h.esc, _, _ = keys.find(escapeSym)
	}
	x11.Close() // it keeps the layout it saw first
	return h, nil
}

func (h *xhand) close() error {
	err := h.typist.restore()
	x11.Close()
	h.conn.Close()
	return err
}

func (h *xhand) move(x, y int) error {
	x11.Move(x, y)
	return nil
}

func (h *xhand) location() (int, int, error) {
	at, err := xproto.QueryPointer(h.conn, h.root).Reply()
	if err != nil {
		return 0, 0, err
	}
	return int(at.RootX), int(at.RootY), nil
}

func (h *xhand) button(n int, down bool) error {
	kind := byte(xproto.ButtonPress)
	if !down {
		kind = xproto.ButtonRelease
	}
	// robotgo takes a button it does not know for the left one.
	return xtest.FakeInputChecked(h.conn, kind, byte(n), 0, h.root, 0, 0, 0).Check()
}

func (h *xhand) wheel(dx, dy int) error {
	x11.Scroll(-dx, -dy, 0) // robotgo's positive is left and up
	return nil
}

func (h *xhand) toggle(key string, down bool) error {
	if down {
		return x11.KeyToggle(key, "down")
	}
	return x11.KeyToggle(key, "up")
}

func (h *xhand) tap(key string, _ []string) error {
	if r := []rune(key); len(r) == 1 {
		return h.typist.press(r[0])
	}
	return x11.KeyTap(key)
}

func (h *xhand) text(text string) error { return h.typist.text(text) }

func (h *xhand) atom(name string) (xproto.Atom, error) {
	reply, err := xproto.InternAtom(h.conn, false, uint16(len(name)), name).Reply()
	if err != nil {
		return 0, err
	}
	return reply.Atom, nil
}

func (h *xhand) active() (string, error) {
	atom, err := h.atom("_NET_ACTIVE_WINDOW")
	if err != nil {
		return "", err
	}
	reply, err := xproto.GetProperty(h.conn, false, h.root, atom, xproto.GetPropertyTypeAny, 0, 1).Reply()
	if err != nil {
		return "", err
	}
	if len(reply.Value) < 4 || xgb.Get32(reply.Value) == 0 {
		return "none", nil
	}
	return strconv.FormatUint(uint64(xgb.Get32(reply.Value)), 10), nil
}

// activate asks the window manager. Source 2: on behalf of a person, so that it does not take it for importunity.
func (h *xhand) activate(id, _ string) error { return h.manage(id, "_NET_ACTIVE_WINDOW", 2, 0) }

func (h *xhand) closeWindow(id string) error { return h.manage(id, "_NET_CLOSE_WINDOW", 0, 2) }

// popup says whether a window is none of the window manager's, as menus and lists that open are.
func (h *xhand) popup(id string) bool {
	n, err := strconv.ParseUint(strings.TrimSpace(id), 0, 32)
	if err != nil {
		return false
	}
	is, err := xproto.GetWindowAttributes(h.conn, xproto.Window(n)).Reply()
	return err == nil && is.OverrideRedirect
}

// manage asks the window manager to do something with a window.
func (h *xhand) manage(id, what string, data ...uint32) error {
	n, err := strconv.ParseUint(strings.TrimSpace(id), 0, 32)
	if err != nil {
		return err
	}
	atom, err := h.atom(what)
	if err != nil {
		return err
	}
	ev := xproto.ClientMessageEvent{
		Format: 32, Window: xproto.Window(n), Type: atom,
		Data: xproto.ClientMessageDataUnionData32New(append(data, 0, 0, 0)),
	}
	mask := uint32(xproto.EventMaskSubstructureRedirect | xproto.EventMaskSubstructureNotify)
	return xproto.SendEventChecked(h.conn, false, h.root, mask, string(ev.Bytes())).Check()
}

func (h *xhand) escape() bool {
	if h.esc == 0 {
		return false
	}
	down, err := xproto.QueryKeymap(h.conn).Reply()
	return err == nil && down.Keys[h.esc/8]&(1<<(h.esc%8)) != 0
}
