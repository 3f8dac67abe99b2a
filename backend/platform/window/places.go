package window

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"

	"deskbell/backend/store/disk"
)

// A Place is where the console stands, without its frame. A maximized one keeps the place that it goes back to.
type Place struct {
	Rect
	Maximized bool
}

// Places are where the console stood on each arrangement of monitors, kept in a file. The zero value keeps nothing. Safe for
// concurrent use.
type Places struct {
	File string

	mu    sync.Mutex
	known map[string]Place // by arrangement; nil until the file was read
}

// mostPlaces is how many arrangements are kept.
const mostPlaces = 32

// Find is where the console stood on these monitors, moved and made smaller as far as it must be to stand on one of them.
func (p *Places) Find(monitors []Rect) (Place, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.read()
	place, ok := p.known[arrangement(monitors)]
	if !ok || len(monitors) == 0 || place.W < 1 || place.H < 1 {
		return Place{}, false
	}
	place.Rect = Inside(place.Rect, monitors)
	return place, true
}

// Keep remembers where the console stands on these monitors. A place that is known already is not written again.
func (p *Places) Keep(monitors []Rect, place Place) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.read()
	key := arrangement(monitors)
	if was, ok := p.known[key]; p.File == "" || len(monitors) == 0 || ok && was == place {
		return nil
	}
	if _, ok := p.known[key]; !ok && len(p.known) >= mostPlaces {
		clear(p.known)
	}
	p.known[key] = place
	text, err := json.MarshalIndent(p.known, "", "  ")
	if err == nil {
		_, err = disk.Replace(p.File, bytes.NewReader(text), 0o600)
	}
	return err
}

// read reads the file, once. What cannot be read counts for nothing: the console then stands in the middle.
func (p *Places) read() {
	if p.known != nil {
		return
	}
	text, err := os.ReadFile(p.File)
	if errors.Is(err, fs.ErrNotExist) || json.Unmarshal(text, &p.known) != nil || p.known == nil {
		p.known = map[string]Place{}
	}
}

// arrangement names monitors by their places and sizes.
func arrangement(monitors []Rect) string {
	var all []string
	for _, m := range monitors {
		all = append(all, fmt.Sprintf("%dx%d+%d+%d", m.W, m.H, m.X, m.Y))
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// Inside is r, moved and made smaller as far as it must be to stand whole on the monitor that it covers most of; the first where it
// stands on none.
func Inside(r Rect, monitors []Rect) Rect {
	best, most := monitors[0], 0
	for _, m := range monitors {
		w := min(r.X+r.W, m.X+m.W) - max(r.X, m.X)
		h := min(r.Y+r.H, m.Y+m.H) - max(r.Y, m.Y)
		if w > 0 && h > 0 && w*h > most {
			best, most = m, w*h
		}
	}
	r.W, r.H = min(r.W, best.W), min(r.H, best.H)
	r.X = min(max(r.X, best.X), best.X+best.W-r.W)
	r.Y = min(max(r.Y, best.Y), best.Y+best.H-r.H)
	return r
}
