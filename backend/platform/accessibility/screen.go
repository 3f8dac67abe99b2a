package accessibility

import (
	"strconv"
	"strings"
	"sync"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

// A screen asks the X server what accessible objects do not tell: whether a menu or another popup lies
// under a point, and where the active window is. Without an X server it knows nothing.
type screen struct {
	mu     sync.Mutex
	conn   *xgb.Conn
	atoms  map[string]xproto.Atom
	failed bool
}

func (s *screen) x() (*xgb.Conn, xproto.Window) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed {
		return nil, 0
	}
	if s.conn == nil {
		conn, err := xgb.NewConn()
		if err != nil {
			s.failed = true
			return nil, 0
		}
		s.conn, s.atoms = conn, map[string]xproto.Atom{}
		for _, name := range []string{"WM_STATE", "_NET_ACTIVE_WINDOW", "_NET_WM_PID", "_NET_WM_NAME", "_GTK_FRAME_EXTENTS", "_NET_CLIENT_LIST", "WM_CLASS"} {
			if r, err := xproto.InternAtom(conn, false, uint16(len(name)), name).Reply(); err == nil {
				s.atoms[name] = r.Atom
			}
		}
	}
	return s.conn, xproto.Setup(s.conn).DefaultScreen(s.conn).Root
}

func (s *screen) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn != nil {
		s.conn.Close()
		s.conn = nil
	}
}

// popup returns the bounds of the popup under a point: a window on top that no window manager manages.
func (s *screen) popup(x, y int) (human.Bounds, bool) {
	conn, root := s.x()
	if conn == nil {
		return human.Bounds{}, false
	}
	at, err := xproto.TranslateCoordinates(conn, root, root, int16(x), int16(y)).Reply()
	if err != nil || at.Child == 0 {
		return human.Bounds{}, false
	}
	attributes, place, tree := xproto.GetWindowAttributes(conn, at.Child), xproto.GetGeometry(conn, xproto.Drawable(at.Child)), xproto.QueryTree(conn, at.Child)
	a, err := attributes.Reply()
	g, err2 := place.Reply()
	t, err3 := tree.Reply()
	if err != nil || err2 != nil || err3 != nil || !a.OverrideRedirect {
		return human.Bounds{}, false
	}
	// Some window managers' own frames are such windows as well; there the managed window is inside.
	for _, w := range append(t.Children, at.Child) {
		if len(s.property(conn, w, "WM_STATE")) > 0 {
			return human.Bounds{}, false
		}
	}
	return human.Bounds{X: int(g.X), Y: int(g.Y), W: int(g.Width), H: int(g.Height)}, true
}

// active returns the active window.
func (s *screen) active() (record.Placed, bool) {
	conn, root := s.x()
	if conn == nil {
		return record.Placed{}, false
	}
	id := s.property(conn, root, "_NET_ACTIVE_WINDOW")
	if len(id) < 4 || xgb.Get32(id) == 0 {
		return record.Placed{}, false
	}
	w := xproto.Window(xgb.Get32(id))
	place, origin := xproto.GetGeometry(conn, xproto.Drawable(w)), xproto.TranslateCoordinates(conn, w, root, 0, 0)
	g, err := place.Reply()
	o, err2 := origin.Reply()
	if err != nil || err2 != nil {
		return record.Placed{}, false
	}
	p := record.Placed{Window: human.Window{
		ID:     strconv.Itoa(int(w)),
		Title:  string(s.property(conn, w, "_NET_WM_NAME")),
		Bounds: human.Bounds{X: int(o.DstX), Y: int(o.DstY), W: int(g.Width), H: int(g.Height)},
	}}
	if pid := s.property(conn, w, "_NET_WM_PID"); len(pid) >= 4 {
		p.App.PID = int(xgb.Get32(pid))
	}
	return p, true
}

// programs are those with windows that a window manager lists. One may be listed more than once.
func (s *screen) programs() (all []human.App) {
	conn, root := s.x()
	if conn == nil {
		return nil
	}
	windows := s.property(conn, root, "_NET_CLIENT_LIST")
	for ; len(windows) >= 4; windows = windows[4:] {
		w := xproto.Window(xgb.Get32(windows))
		pid := s.property(conn, w, "_NET_WM_PID")
		_, class, _ := strings.Cut(string(s.property(conn, w, "WM_CLASS")), "\x00")
		if class = strings.Trim(class, "\x00"); len(pid) >= 4 && class != "" {
			all = append(all, human.App{Name: class, PID: int(xgb.Get32(pid))})
		}
	}
	return all
}

// unshadowed returns a window without the shadow that GTK draws as a part of it, and does not count in.
func (s *screen) unshadowed(p record.Placed) record.Placed {
	conn, _ := s.x()
	id, err := strconv.ParseUint(p.Window.ID, 10, 32)
	if conn == nil || err != nil {
		return p
	}
	// Left, right, top, bottom, in pixels.
	if v := s.property(conn, xproto.Window(id), "_GTK_FRAME_EXTENTS"); len(v) >= 16 {
		left, right, top, bottom := int(xgb.Get32(v)), int(xgb.Get32(v[4:])), int(xgb.Get32(v[8:])), int(xgb.Get32(v[12:]))
		b := &p.Window.Bounds
		b.X, b.Y, b.W, b.H = b.X+left, b.Y+top, b.W-left-right, b.H-top-bottom
	}
	return p
}

func (s *screen) property(conn *xgb.Conn, w xproto.Window, name string) []byte {
	s.mu.Lock()
	atom := s.atoms[name]
	s.mu.Unlock()
	if atom == 0 {
		return nil
	}
	r, err := xproto.GetProperty(conn, false, w, atom, xproto.GetPropertyTypeAny, 0, 256).Reply()
	if err != nil {
		return nil
	}
	return r.Value
}
