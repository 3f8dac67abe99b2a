package accessibility

import (
	"slices"

	"deskbell/backend/human"
)

// Bounds of what is asked for in one look-up.
const (
	maxDepth    = 64
	maxChildren = 500
	maxNodes    = 2000
)

// padding is how far GTK 4's bounds may lie within what is drawn: they leave out padding and border.
const padding = 20

var errNowhere = human.Errorf(human.NotFound, "no accessible element is known at this point")

// hit finds the innermost node at a point of the desktop. popup is what the X server knows of one there.
func (l *lookup) hit(f frame, x, y int, popup *human.Bounds) (node, placement, error) {
	lx, ly := f.logical(x, y)
	switch {
	case popup == nil:
		if f.node.box.distance(lx, ly) > 0 {
			break
		}
		// GTK 3 has popovers in the window itself, and when asked tells of what is underneath.
		from := f.node
		if c, ok := l.child(f.kit, from, lx, ly, 0); ok {
			from = c
		}
		return l.inside(f.kit, from, lx, ly), f.placement, nil
	case f.kit == gtk4:
		return l.inPopover(f, x, y, *popup)
	default:
		if n, ok := l.inPopup(f, lx, ly, *popup); ok {
			return n, f.placement, nil
		}
	}
	return node{}, f.placement, errNowhere
}

// whole are roles that are meant as a whole, whatever lies in them.
var whole = []role{rolePushButton, roleToggleButton, roleCheckBox, roleRadioButton, roleCheckMenuItem, roleRadioMenuItem}

// inside goes down from a node to the innermost one at the point.
func (l *lookup) inside(kit toolkit, from node, x, y float64) node {
	next := l.point(kit, from.ref, x, y)
	for range maxDepth {
		if slices.Contains(whole, from.role) {
			break
		}
		below, after, ok := l.under(kit, from, next, x, y)
		if !ok {
			break
		}
		from, next = below, after
		l.path[from.ref] = from
	}
	return from
}

// point asks an application what it has at a point. GTK 4 has nothing there that one can type into.
func (l *lookup) point(kit toolkit, r ref, x, y float64) answer {
	if kit == gtk4 {
		return answer{}
	}
	return l.ask(r, component+"GetAccessibleAtPoint", int32(x), int32(y), uint32(0))
}

// under takes the application's answer, and looks for itself where that is none, the node itself, or not at
// the point. It returns the answer to come for the node below, too.
func (l *lookup) under(kit toolkit, n node, next answer, x, y float64) (below node, after answer, ok bool) {
	var at struct{ Ref ref }
	if next.into(&at.Ref) == nil && !at.Ref.null() && at.Ref != n.ref {
		after = l.point(kit, at.Ref, x, y)
		// Chromium names an entry of a list that is not open, as though it lay on what opens it.
		if below = l.one(kit, at.Ref, toDescribe); below.shows(kit) && below.box.distance(x, y) == 0 {
			return below, after, true
		}
	}
	if below, ok = l.child(kit, n, x, y, 0); !ok {
		return node{}, answer{}, false
	}
	after = l.point(kit, below.ref, x, y)
	return l.one(kit, below.ref, toDescribe), after, true
}

// child finds the topmost child at the point.
func (l *lookup) child(kit toolkit, n node, x, y float64, depth int) (node, bool) {
	slack := 0.0
	if kit == gtk4 {
		slack = padding
	}
	var best node
	nearest := slack + 1
	var through []node // children without a place, or with their own children elsewhere
	for _, c := range l.near(kit, n, x, y, slack) {
		if c.gone || !c.shows(kit) {
			continue
		}
		distance := c.box.distance(x, y)
		switch {
		case c.box.empty() && c.box.X == 0 && c.box.Y == 0, c.role == rolePageTab && distance > 0:
			through = append(through, c)
		case c.box.empty() || distance > slack:
		case distance <= nearest: // of two at the point the later one is drawn over the other
			best, nearest = c, distance
		}
	}
	if nearest <= slack {
		return best, true
	}
	if depth < 3 {
		for _, c := range through {
			if found, ok := l.child(kit, c, x, y, depth+1); ok {
				return found, true
			}
		}
	}
	return node{}, false
}

// near reads those children that may be at a point. Of many it asks for their places first.
func (l *lookup) near(kit toolkit, n node, x, y, slack float64) []node {
	const few = 16
	refs := l.below(n)
	if len(refs) <= few || n.role == rolePageTabList {
		return l.read(kit, refs, toFind)
	}
	var boxes []box
	var at []ref
	for _, c := range l.read(kit, refs, withBox) {
		if c.box.empty() || c.box.distance(x, y) <= slack {
			boxes, at = append(boxes, c.box), append(at, c.ref)
		}
	}
	nodes := l.read(kit, at, withRole|withStates)
	for i := range nodes {
		nodes[i].box = boxes[i]
	}
	return nodes
}

func (l *lookup) children(kit toolkit, n node, what fields) []node {
	return l.read(kit, l.below(n), what)
}

// below names the children of a node whose role and states were read. A table makes an object for each of its
// cells when it is asked for them, be they millions; what is at a point of it, it tells.
func (l *lookup) below(n node) (refs []ref) {
	if n.makesCells() || l.ask(n.ref, accessible+"GetChildren").into(&refs) != nil {
		return nil
	}
	if len(refs) == 0 {
		refs = l.hop(n)
	}
	return refs[:min(len(refs), maxChildren)]
}

// endless roles may have any number of children, where they manage these themselves.
var endless = []role{roleList, roleTable, roleTree, roleTreeTable}

// makesCells says whether a node makes its children only when it is asked for them.
func (n node) makesCells() bool {
	return n.states.has(stateManages) && slices.Contains(endless, n.role)
}

// hop returns the page behind a socket: WebKitGTK keeps pages in processes of their own, and lists them as
// no one's child.
func (l *lookup) hop(n node) []ref {
	var child struct{ Ref ref }
	if n.role != roleFiller || l.ask(n.ref, accessible+"GetChildAtIndex", int32(0)).into(&child.Ref) != nil ||
		child.Ref.null() || child.Ref.Bus == n.ref.Bus {
		return nil
	}
	return []ref{child.Ref}
}

// search goes through what shows of a tree, level by level. visit gets the mark that it gave to the node above,
// and says whether to go on below. what has the role and the states in it. It returns
// false where there was more than is gone through.
func (l *lookup) search(kit toolkit, what fields, from node, mark bool, visit func(n node, mark bool) (below, markBelow bool)) bool {
	type marked struct {
		node
		mark bool
	}
	level, all := []marked{{from, mark}}, true
	for seen := 0; len(level) > 0 && l.ctx.Err() == nil; {
		if seen >= maxNodes {
			return false
		}
		asked := make([]answer, len(level))
		for i, n := range level {
			if !n.makesCells() {
				asked[i] = l.ask(n.ref, accessible+"GetChildren")
			}
		}
		var refs []ref
		var marks []bool
		for i, a := range asked {
			var children []ref
			if a.into(&children) != nil {
				continue
			}
			if len(children) == 0 {
				children = l.hop(level[i].node)
			}
			all = all && len(children) <= maxChildren
			for _, c := range children[:min(len(children), maxChildren)] {
				refs, marks = append(refs, c), append(marks, level[i].mark)
			}
		}
		seen += len(refs)
		level = nil
		for i, n := range l.read(kit, refs, what) {
			if n.gone || !n.shows(kit) {
				continue
			}
			if below, mark := visit(n, marks[i]); below {
				level = append(level, marked{n, mark})
			}
		}
	}
	return all
}

// Popups hang below what opened them; anything else at the point lies underneath the popup.
var openers = []role{roleMenu, roleMenuItem, rolePopupMenu, roleComboBox}

// holders have the entries of a popup as children.
var holders = []role{roleMenu, rolePopupMenu, roleComboBox, roleList, roleListBox}

// bulky roles have many children, and no popups among them.
var bulky = []role{roleTable, roleTree, roleList, roleListBox}

// inPopup finds the popup in an application whose places are those of the screen, and what is under the
// point in it.
func (l *lookup) inPopup(f frame, x, y float64, popup human.Bounds) (found node, ok bool) {
	for _, top := range f.tops {
		if top.ref != f.node.ref && top.shows(f.kit) && alike(f.desktop(top.box), popup) && top.box.distance(x, y) == 0 {
			if n := l.inside(f.kit, top, x, y); n.ref != top.ref {
				return n, true // a window of Chromium's may be empty, and its entries hang in the page
			}
		}
	}
	look := func(n node, opened bool) (bool, bool) {
		if opened && !ok && n.box.distance(x, y) == 0 && within(f.desktop(n.box), popup) {
			found, ok = n, true
		}
		opens := slices.Contains(openers, n.role)
		return !ok && (opened || !slices.Contains(bulky, n.role)), opened || opens
	}
	// In what opens the focus is on an entry: that spares a search of the page around it.
	if last := l.focus(f.app.root.Bus); !last.null() {
		if n := l.one(f.kit, last, toDescribe); !n.gone && n.states.has(stateFocused) {
			for _, above := range l.chain(f.kit, n, 4) {
				if !ok && slices.Contains(holders, above.role) {
					l.search(f.kit, toFind, above, true, look)
				}
			}
		}
	}
	if !ok {
		l.search(f.kit, toFind, f.node, false, look)
	}
	if !ok {
		return node{}, false
	}
	return l.inside(f.kit, found, x, y), true
}

// shadow is how far a popup's window may be larger than the popup.
const shadow = 40

func alike(a, b human.Bounds) bool {
	return near(a.X, b.X, shadow) && near(a.Y, b.Y, shadow) && near(a.X+a.W, b.X+b.W, shadow) && near(a.Y+a.H, b.Y+b.H, shadow)
}

func within(inner, outer human.Bounds) bool {
	return inner.X >= outer.X-shadow && inner.Y >= outer.Y-shadow && inner.X+inner.W <= outer.X+outer.W+shadow && inner.Y+inner.H <= outer.Y+outer.H+shadow
}

// inPopover finds the popup in GTK 4, which gives the places in a popup as though it lay in the top left
// corner of what opened it. Of those that are open the one whose size is the popup's is meant.
func (l *lookup) inPopover(f frame, x, y int, popup human.Bounds) (node, placement, error) {
	var found node
	best := 2*shadow + 1
	l.search(f.kit, toFind|withName, f.node, false, func(n node, _ bool) (bool, bool) {
		if n.role == roleMenu || placeholder(n.name) {
			b := f.desktop(n.box)
			off := abs(b.W-popup.W) + abs(b.H-popup.H)
			if off < best && (n.role == roleMenu || n.role == roleWindow || !n.role.is(interactive)) {
				found, best = n, off
			}
		}
		return !slices.Contains(bulky, n.role), false
	})
	if found.ref.null() {
		return node{}, f.placement, errNowhere
	}
	p := f.placement
	// The popup's shadow is on either side.
	p.x = float64(popup.X) + (float64(popup.W)-float64(found.box.W)*p.scale)/2 - float64(found.box.X)*p.scale
	p.y = float64(popup.Y) + (float64(popup.H)-float64(found.box.H)*p.scale)/2 - float64(found.box.Y)*p.scale
	lx, ly := p.logical(x, y)
	return l.inside(f.kit, found, lx, ly), p, nil
}

func abs(n int) int { return max(n, -n) }
