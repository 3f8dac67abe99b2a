package x11

import (
	"context"
	"encoding/binary"
	"slices"
	"strconv"
	"strings"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

// A viewer asks about windows, over a connection of its own.
type viewer struct {
	*wire
	atom  windowAtoms
	res   byte         // opcode of X-Resource; 0 without
	event func([]byte) // for what comes while it waits for answers
}

// windowAtoms are the names of the Extended Window Manager Hints.
type windowAtoms struct {
	supported, check, active, clients, name, pid uint32
}

// newViewer learns the server's numbers for names.
func newViewer(ctx context.Context, w *wire) (*viewer, error) {
	a, err := w.atoms(ctx, "_NET_SUPPORTED", "_NET_SUPPORTING_WM_CHECK", "_NET_ACTIVE_WINDOW", "_NET_CLIENT_LIST", "_NET_WM_NAME", "_NET_WM_PID")
	if err != nil {
		return nil, err
	}
	v := &viewer{wire: w, atom: windowAtoms{a[0], a[1], a[2], a[3], a[4], a[5]}}
	v.res, _, err = w.extension(ctx, "X-Resource")
	return v, err
}

// A desktop is which windows there are, at one moment.
type desktop struct {
	managed bool // by a window manager that keeps these lists
	clients []uint32
	active  uint32 // noWindow while it passes from one to another
	check   uint32 // the window manager's own window, there as long as it runs
}

// desktop asks the window manager, where there is one.
func (v *viewer) desktop(ctx context.Context) (desktop, error) {
	f, err := v.batch(ctx, [][]byte{
		getProperty(v.root, v.atom.supported, 4*maxWindowIDs), getProperty(v.root, v.atom.check, 4),
		getProperty(v.root, v.atom.clients, 4*maxWindowIDs), getProperty(v.root, v.atom.active, 4),
	}, v.event)
	if err != nil {
		return desktop{}, err
	}
	var d desktop
	if check := propertyOf(f[1]).word(); check != noWindow && slices.Contains(propertyOf(f[0]).words(), v.atom.active) {
		// The properties outlive the window manager; the window that it names in them does not.
		alive, err := v.batch(ctx, [][]byte{getProperty(check, v.atom.check, 4)}, v.event)
		if err != nil {
			return desktop{}, err
		}
		d.managed = alive[0] != nil && propertyOf(alive[0]).word() == check
	}
	if !d.managed {
		return v.unmanaged(ctx)
	}
	d.clients, d.active, d.check = propertyOf(f[2]).words(), propertyOf(f[3]).word(), propertyOf(f[1]).word()
	return d, nil
}

// unmanaged is the desktop without a window manager: the root's windows, and who has the keyboard.
func (v *viewer) unmanaged(ctx context.Context) (desktop, error) {
	f, err := v.batch(ctx, [][]byte{
		request1(opQueryTree, 0, v.root), request1(opGetInputFocus, 0), request1(opQueryPointer, 0, v.root),
	}, v.event)
	if err != nil {
		return desktop{}, err
	}
	var d desktop
	children := childrenOf(f[0])
	reqs := make([][]byte, len(children))
	for i, c := range children {
		reqs[i] = request1(opGetAttributes, 0, c)
	}
	attributes, err := v.batch(ctx, reqs, v.event)
	if err != nil {
		return desktop{}, err
	}
	for i, c := range children {
		if a := attributesOf(attributes[i]); a.viewable && !a.override && !a.inputOnly {
			d.clients = append(d.clients, c)
		}
	}
	if f[1] == nil || f[2] == nil {
		return d, nil
	}
	focus := binary.LittleEndian.Uint32(f[1][8:])
	if focus == pointerRoot || focus == v.root { // the keyboard follows the pointer
		focus = binary.LittleEndian.Uint32(f[2][12:])
	}
	tops, err := v.tops(ctx, []uint32{focus}, children)
	if slices.Contains(d.clients, tops[focus]) {
		d.active = tops[focus]
	}
	return d, err
}

// tops finds, for each window, the child of the root that it is in, or is.
func (v *viewer) tops(ctx context.Context, windows, children []uint32) (map[uint32]uint32, error) {
	tops, at := map[uint32]uint32{}, map[uint32]uint32{}
	for _, w := range windows {
		at[w] = w
	}
	for range 16 { // deeper than window managers nest
		var open []uint32
		var reqs [][]byte
		for w, a := range at {
			switch {
			case slices.Contains(children, a):
				tops[w] = a
			case a > pointerRoot && a != v.root:
				open = append(open, w)
				reqs = append(reqs, request1(opQueryTree, 0, a))
				continue
			}
			delete(at, w)
		}
		if len(open) == 0 {
			break
		}
		f, err := v.batch(ctx, reqs, v.event)
		if err != nil {
			return nil, err
		}
		for i, w := range open {
			at[w] = noWindow
			if f[i] != nil {
				at[w] = binary.LittleEndian.Uint32(f[i][12:])
			}
		}
	}
	return tops, nil
}

func childrenOf(f []byte) []uint32 {
	if f == nil {
		return nil
	}
	return wordsOf(f[32:])[:min((len(f)-32)/4, int(binary.LittleEndian.Uint16(f[16:])))]
}

type attributes struct{ viewable, override, inputOnly bool }

func attributesOf(f []byte) attributes {
	if len(f) < 32 {
		return attributes{}
	}
	return attributes{viewable: f[26] == mapViewable, override: f[27] != 0, inputOnly: binary.LittleEndian.Uint16(f[12:]) == classInput}
}

// placed asks for all about windows at once. Those that are gone are missing from the result.
func (v *viewer) placed(ctx context.Context, windows []uint32) (map[uint32]record.Placed, error) {
	const each = 7
	var reqs [][]byte
	for _, w := range windows {
		reqs = append(reqs,
			request1(opGetGeometry, 0, w), request1(opTranslate, 0, w, v.root, 0),
			getProperty(w, v.atom.name, maxTitle), getProperty(w, atomWMName, maxTitle), getProperty(w, atomWMClass, maxTitle),
			getProperty(w, v.atom.pid, 4), v.clientID(w))
	}
	f, err := v.batch(ctx, reqs, v.event)
	if err != nil {
		return nil, err
	}
	found := map[uint32]record.Placed{}
	for i, w := range windows {
		f := f[each*i : each*i+each]
		if f[0] == nil || f[1] == nil {
			continue
		}
		p := record.Placed{Window: human.Window{ID: strconv.FormatUint(uint64(w), 10), Title: propertyOf(f[2]).text()}}
		if p.Window.Title == "" {
			p.Window.Title = propertyOf(f[3]).text()
		}
		p.Window.Bounds = human.Bounds{
			X: int(int16(binary.LittleEndian.Uint16(f[1][12:]))), Y: int(int16(binary.LittleEndian.Uint16(f[1][14:]))),
			W: int(binary.LittleEndian.Uint16(f[0][16:])), H: int(binary.LittleEndian.Uint16(f[0][18:])),
		}
		instance, class, _ := strings.Cut(propertyOf(f[4]).text(), "\x00")
		// What the server knows of the connection goes before what the window says: in a sandbox a
		// process has another number.
		pid := clientPID(f[6])
		if pid == 0 {
			pid = int(propertyOf(f[5]).word())
		}
		p.App = appOf(strings.Trim(class, "\x00"), instance, pid)
		found[w] = p
	}
	return found, nil
}

// clientID asks for the process behind a window (X-Resource 1.2, QueryClientIds). Without the extension it
// asks for anything that has an answer.
func (v *viewer) clientID(window uint32) []byte {
	if v.res == 0 {
		return request1(opGetInputFocus, 0)
	}
	return request1(v.res, 4, 1, window, 2)
}

func clientPID(f []byte) int {
	// One value: client, mask, length in bytes, the number.
	if len(f) < 48 || f[8] != 1 || binary.LittleEndian.Uint32(f[36:]) != 2 || binary.LittleEndian.Uint32(f[40:]) != 4 {
		return 0
	}
	return int(binary.LittleEndian.Uint32(f[44:]))
}

// visible lists the windows on the screen, topmost first.
func (v *viewer) visible(ctx context.Context) ([]record.Placed, error) {
	f, err := v.batch(ctx, [][]byte{request1(opQueryTree, 0, v.root), getProperty(v.root, v.atom.clients, 4*maxWindowIDs)}, v.event)
	if err != nil {
		return nil, err
	}
	children, clients := childrenOf(f[0]), propertyOf(f[1]).words()
	reqs := make([][]byte, 0, len(children)+len(clients))
	for _, w := range append(slices.Clone(children), clients...) {
		reqs = append(reqs, request1(opGetAttributes, 0, w))
	}
	attributes, err := v.batch(ctx, reqs, v.event)
	if err != nil {
		return nil, err
	}
	// A window manager puts its clients into frames. Those, not the clients, are stacked on the root.
	tops, err := v.tops(ctx, clients, children)
	if err != nil {
		return nil, err
	}
	inside := map[uint32]uint32{}
	framed := map[uint32]bool{} // also by those that are not shown
	for i, c := range clients {
		framed[tops[c]] = true
		if attributesOf(attributes[len(children)+i]).viewable {
			inside[tops[c]] = c
		}
	}
	var shown []uint32
	for i, c := range slices.Backward(children) {
		a := attributesOf(attributes[i])
		switch {
		case inside[c] != noWindow:
			shown = append(shown, inside[c])
		case a.viewable && !a.inputOnly && !framed[c]: // a menu, or a window that no one manages
			shown = append(shown, c)
		}
	}
	found, err := v.placed(ctx, shown)
	if err != nil {
		return nil, err
	}
	list := make([]record.Placed, 0, len(shown))
	for _, w := range shown {
		// Window managers and toolkits keep windows of a pixel, or off the screen, for talking to each other.
		if p, ok := found[w]; ok && p.Window.Bounds.W > 1 && p.Window.Bounds.H > 1 && p.Window.Bounds.X+p.Window.Bounds.W > 0 && p.Window.Bounds.Y+p.Window.Bounds.H > 0 {
			list = append(list, p)
		}
	}
	return list, nil
}
