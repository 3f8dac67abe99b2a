package record

import (
	"sync"

	"deskbell/backend/human"
)

// A mask hides known secret shapes, and remembers short texts, because the same names and titles come by all
// the time. It is safe for concurrent use.
type mask struct {
	masker Masker
	mu     sync.Mutex
	known  map[string]maskedText
}

type maskedText struct {
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
			m.known = map[string]maskedText{}
		}
		m.known[s] = is
		m.mu.Unlock()
	}
	return is.text, is.found
}

// element returns a copy of e whose name, what stands beside it, and whose ancestors' names are masked, and how many were.
func (m *mask) element(e human.Element) (human.Element, uint64) {
	var n uint64
	if name, found := m.text(e.Name); found {
		e.Name, e.Hidden = name, "secret"
		n++
	}
	if beside, found := m.text(e.Beside); found {
		e.Beside = beside
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
