package record

import (
	"strings"
	"sync"

	"deskbell/backend/human"
)

// A kind of window: recorded, left out with a gap, or left out in silence because it is Deskbell's own.
type kind uint8

const (
	ordinary kind = iota
	excluded
	own
)

// A fence tells which windows are not recorded.
type fence struct {
	patterns []string
	self     int
}

func newFence(patterns []string, self int) fence {
	f := fence{self: self}
	for _, p := range patterns {
		if p = strings.ToLower(strings.TrimSpace(p)); p != "" {
			f.patterns = append(f.patterns, p)
		}
	}
	return f
}

func (f fence) kind(p Placed) kind {
	if f.self != 0 && p.App.PID == f.self {
		return own
	}
	for _, s := range []string{p.App.Name, p.App.Exe, p.Window.Title} {
		s = strings.ToLower(s)
		for _, pattern := range f.patterns {
			if s != "" && matches(pattern, s) {
				return excluded
			}
		}
	}
	return ordinary
}

// topmost returns the topmost window that contains the point.
func topmost(visible []Placed, x, y int) (Placed, bool) {
	for _, p := range visible {
		if p.Window.Bounds.Contains(x, y) {
			return p, true
		}
	}
	return Placed{}, false
}

// matches says whether a pattern, in which * stands for anything, matches the whole of s.
func matches(pattern, s string) bool {
	first, rest, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == s
	}
	if !strings.HasPrefix(s, first) {
		return false
	}
	s = s[len(first):]
	for {
		var part string
		part, rest, star = strings.Cut(rest, "*")
		if !star {
			return strings.HasSuffix(s, part)
		}
		i := strings.Index(s, part)
		if i < 0 {
			return false
		}
		s = s[i+len(part):]
	}
}

// A mask hides known secret shapes, and remembers short texts, because the same names and titles come by all
// the time. It is safe for concurrent use.
type mask struct {
	masker Masker
	mu     sync.Mutex
	known  map[string]masked
}

type masked struct {
	text  string
	found bool
}

func (m *mask) text(s string) (string, bool) {
	if s == "" {
		return "", false
	}
	m.mu.Lock()
	is, ok := m.known[s]
	m.mu.Unlock()
	if ok {
		return is.text, is.found
	}
	is.text, is.found = m.masker.Mask(s)
	if len(s) < 256 {
		m.mu.Lock()
		if m.known == nil || len(m.known) > 1000 {
			m.known = map[string]masked{}
		}
		m.known[s] = is
		m.mu.Unlock()
	}
	return is.text, is.found
}

// element returns a copy of e whose name and whose ancestors' names are masked, and how many were.
func (m *mask) element(e human.Element) (human.Element, uint64) {
	var n uint64
	if name, found := m.text(e.Name); found {
		e.Name, e.Hidden = name, "secret"
		n++
	}
	if len(e.Ancestry) > 0 {
		e.Ancestry = append([]human.Element(nil), e.Ancestry...)
		for i, a := range e.Ancestry {
			var k uint64
			e.Ancestry[i], k = m.element(a)
			n += k
		}
	}
	return e, n
}

// closed is the masker of a recorder that was given none: it lets nothing through.
type closed struct{}

func (closed) Mask(text string) (string, bool) { return "•••", text != "" }

// without returns what of a rectangle the others leave.
func without(b human.Bounds, others []human.Bounds) []human.Bounds {
	left := []human.Bounds{b}
	for _, o := range others {
		var next []human.Bounds
		for _, r := range left {
			x1, y1 := max(r.X, o.X), max(r.Y, o.Y)
			x2, y2 := min(r.X+r.W, o.X+o.W), min(r.Y+r.H, o.Y+o.H)
			if x1 >= x2 || y1 >= y2 {
				next = append(next, r)
				continue
			}
			for _, part := range [...]human.Bounds{
				{X: r.X, Y: r.Y, W: r.W, H: y1 - r.Y},
				{X: r.X, Y: y2, W: r.W, H: r.Y + r.H - y2},
				{X: r.X, Y: y1, W: x1 - r.X, H: y2 - y1},
				{X: x2, Y: y1, W: r.X + r.W - x2, H: y2 - y1},
			} {
				if part.W > 0 && part.H > 0 {
					next = append(next, part)
				}
			}
		}
		left = next
	}
	return left
}

// A field is a region of a window that pictures must not show.
type field struct {
	window string
	in     human.Bounds // X and Y from the window's own
}

// places returns where on the desktop the fields are, as far as nothing stands before them.
func places(fields []field, visible []Placed) []human.Bounds {
	var all []human.Bounds
	for _, f := range fields {
		var above []human.Bounds
		for _, p := range visible {
			if p.Window.ID == f.window {
				b := f.in
				b.X += p.Window.Bounds.X
				b.Y += p.Window.Bounds.Y
				all = append(all, without(b, above)...)
				break
			}
			above = append(above, p.Window.Bounds)
		}
	}
	return all
}
