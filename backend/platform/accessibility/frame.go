package accessibility

import (
	"math"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

// A box is a place as the application tells it: logical units, of the screen or (GTK 4) of its window.
type box struct{ X, Y, W, H int32 }

func (b box) touches(o box) bool {
	return b.X < o.X+o.W && o.X < b.X+b.W && b.Y < o.Y+o.H && o.Y < b.Y+b.H
}

func (b box) empty() bool { return b.W <= 0 || b.H <= 0 }

// distance is 0 within the box, else how far outside a point is.
func (b box) distance(x, y float64) float64 {
	dx := max(float64(b.X)-x, x-float64(b.X+b.W)+1, 0)
	dy := max(float64(b.Y)-y, y-float64(b.Y+b.H)+1, 0)
	return max(dx, dy)
}

// A node is an accessible object with what was read of it.
type node struct {
	ref    ref
	role   role
	states states
	box    box
	name   string
	parent ref
	gone   bool // it answered nothing
}

// shows says whether it can be seen. GTK 4 tells of its windows only that they show. What holds a page of
// WebKitGTK's together does not say it at all.
func (n node) shows(kit toolkit) bool {
	switch {
	case kit == gtk4:
		return n.states.has(stateVisible)
	case n.states == states{}, n.role == roleScrollPane:
		return !n.gone
	}
	return n.states.has(stateShowing)
}

// What is read of a node. Of an application no box may be asked: GTK 3 complains of it on its standard error.
type fields uint8

const (
	withRole fields = 1 << iota
	withStates
	withBox
	withName
	withParent

	toFind     = withRole | withStates | withBox
	toDescribe = toFind | withName | withParent
)

// read asks for all nodes at once.
func (l *lookup) read(kit toolkit, refs []ref, what fields) []node {
	coordinates := uint32(0) // of the screen
	if kit == gtk4 {
		coordinates = 1 // of the window: those of the screen are the same, and wrong
	}
	type asked struct{ role, states, box, name, parent answer }
	all := make([]asked, len(refs))
	for i, r := range refs {
		if what&withRole != 0 {
			all[i].role = l.ask(r, accessible+"GetRole")
		}
		if what&withStates != 0 {
			all[i].states = l.ask(r, accessible+"GetState")
		}
		if what&withBox != 0 {
			all[i].box = l.ask(r, component+"GetExtents", coordinates)
		}
		if what&withName != 0 {
			all[i].name = l.property(r, accessible, "Name")
		}
		if what&withParent != 0 {
			all[i].parent = l.property(r, accessible, "Parent")
		}
	}
	nodes := make([]node, len(refs))
	for i, a := range all {
		n := node{ref: refs[i]}
		if what&withRole != 0 {
			var number uint32
			n.gone = a.role.into(&number) != nil
			n.role = role(number)
		}
		if what&withStates != 0 {
			var bits []uint32
			if n.gone = a.states.into(&bits) != nil || len(bits) != 2 || n.gone; !n.gone {
				n.states = states{bits[0], bits[1]}
			}
		}
		if what&withBox != 0 {
			_ = a.box.into(&n.box) // without: an empty one
		}
		if what&withName != 0 {
			n.name = a.name.text()
		}
		if what&withParent != 0 {
			n.parent = a.parent.ref()
		}
		nodes[i] = n
	}
	return nodes
}

// one reads one node.
func (l *lookup) one(kit toolkit, r ref, what fields) node { return l.read(kit, []ref{r}, what)[0] }

// A frame is the accessible object of a window, and how its places lie on the desktop.
type frame struct {
	app  *app
	kit  toolkit
	node node
	tops []node // of the same application
	placement
}

// A placement turns logical units into the desktop's: each is scale of them, counted from X, Y.
type placement struct {
	x, y  float64
	scale float64
}

func (p placement) logical(x, y int) (float64, float64) {
	return (float64(x) - p.x) / p.scale, (float64(y) - p.y) / p.scale
}

func (p placement) desktop(b box) human.Bounds {
	return human.Bounds{
		X: int(math.Round(p.x + float64(b.X)*p.scale)),
		Y: int(math.Round(p.y + float64(b.Y)*p.scale)),
		W: int(math.Round(float64(b.W) * p.scale)),
		H: int(math.Round(float64(b.H) * p.scale)),
	}
}

// How far a frame's size may be from that of its window: the window manager's decoration, which GTK 3
// counts in, or a shadow, which it counts out.
const (
	decorationX = 80
	decorationY = 120
)

// place derives the scale from the sizes of a window and its frame. fits says that they belong together.
func place(kit toolkit, window human.Bounds, b box) (p placement, fits bool) {
	p.scale = 1
	best := math.MaxFloat64
	scales := []float64{1, 1.25, 1.5, 1.75, 2, 2.25, 2.5, 3, 4}
	if kit == gtk4 {
		scales = []float64{1, 2, 3, 4}
	}
	for _, s := range scales {
		dx, dy := math.Abs(float64(window.W)-float64(b.W)*s), math.Abs(float64(window.H)-float64(b.H)*s)
		if dx <= decorationX && dy <= decorationY && dx+dy < best {
			p.scale, best, fits = s, dx+dy, true
		}
	}
	if kit == gtk4 {
		p.x, p.y = float64(window.X)-float64(b.X)*p.scale, float64(window.Y)-float64(b.Y)*p.scale
	}
	return p, fits
}

// frame finds the window's frame: by its process, then by place, by being the active one, and by name.
func (l *lookup) frame(at record.Placed) (frame, error) {
	apps := l.bus.of(at.App.PID)
	if len(apps) == 0 {
		if err := l.list(); err != nil {
			return frame{}, err
		}
		if apps = l.bus.of(at.App.PID); len(apps) == 0 {
			return frame{}, human.Errorf(human.NotFound, "%s is not on the accessibility bus, so its elements are not known", name(at.App))
		}
	}
	var best frame
	score := 0
	var trouble error
	for _, a := range apps {
		var children []ref
		if err := l.ask(a.root, accessible+"GetChildren").into(&children); err != nil {
			trouble = err
			continue
		}
		kit := l.kit(a)
		tops := l.read(kit, children[:min(len(children), 64)], toFind|withName)
		for _, n := range tops {
			p, s := rate(kit, at, n)
			if s > score {
				best, score = frame{app: a, kit: kit, node: n, tops: tops, placement: p}, s
			}
		}
	}
	switch {
	case l.ctx.Err() != nil:
		return frame{}, l.ctx.Err()
	case score == 0 && trouble != nil:
		return frame{}, trouble
	case score == 0 || at.App.PID == 0 && score < 12:
		return frame{}, human.Errorf(human.NotFound, "%s has no window like %q on the accessibility bus", name(at.App), at.Window.Title)
	}
	return best, nil
}

func rate(kit toolkit, at record.Placed, n node) (placement, int) {
	p, fits := place(kit, at.Window.Bounds, n.box)
	if n.gone || !n.shows(kit) || n.box.W <= 1 || n.role == roleWindow || n.role == rolePopupMenu {
		return p, 0
	}
	score := 1
	if fits {
		score += 4
	}
	if n.states.has(stateActive) {
		score += 2
	}
	if n.name != "" && n.name == at.Window.Title {
		score += 5
	}
	if got := p.desktop(n.box); kit != gtk4 && near(got.X, at.Window.Bounds.X, 60) && near(got.Y, at.Window.Bounds.Y, 60) {
		score += 4
	}
	return p, score
}

func near(a, b, by int) bool { return a-b <= by && b-a <= by }

func name(a human.App) string {
	if a.Name != "" {
		return a.Name
	}
	return "the application"
}
