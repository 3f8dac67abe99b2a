package replay

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

func describe(app *human.App, w *human.Window) string {
	name := "a window"
	if w != nil && w.Title != "" {
		name = fmt.Sprintf("window %q", w.Title)
	}
	if app != nil && app.Name != "" {
		name += " of " + app.Name
	}
	return name
}

func element(e *human.Element) string {
	if e.Name == "" || e.Hidden != "" {
		return "a " + e.Role
	}
	return fmt.Sprintf("%s %q", e.Role, e.Name)
}

// sameApp compares programs by what stays the same between two runs of them.
func sameApp(want *human.App, have human.App) bool {
	if want == nil || want.Exe == "" && want.Name == "" {
		return true
	}
	if want.Exe != "" && have.Exe != "" {
		return strings.EqualFold(want.Exe, have.Exe)
	}
	return strings.EqualFold(want.Name, have.Name)
}

// sameTitle compares titles but for marks of unsaved changes and for numbers, which count.
func sameTitle(want, have string) bool {
	return want == "" || plain(want) == plain(have)
}

func plain(title string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, title)
}

// find returns the window that an action was done in: the active one where that fits, else the topmost.
func (r *run) find(ctx context.Context, a human.Action) (record.Placed, *mismatch, error) {
	fits := func(p record.Placed) bool {
		// A program's first window gets its title while it opens.
		return sameApp(a.App, p.App) && (a.Type == human.OpenApp || sameTitle(a.Window.Title, p.Window.Title))
	}
	active, err := r.p.Active(ctx)
	if err != nil && human.KindOf(err) != human.NotFound {
		return record.Placed{}, nil, err
	}
	if err == nil && fits(active) {
		return active, nil, nil
	}
	found := "no window that has the keyboard"
	if err == nil {
		found = describe(&active.App, &active.Window)
	}
	all, err := r.p.Windows(ctx)
	if err != nil {
		return record.Placed{}, nil, err
	}
	for _, p := range all {
		if fits(p) {
			return p, nil, nil
		}
	}
	return record.Placed{}, &mismatch{describe(a.App, a.Window), found}, nil
}

// window waits until a window is there, and gives it the keyboard.
func (r *run) window(ctx context.Context, a human.Action) (*mismatch, error) {
	if a.Window == nil {
		return nil, nil
	}
	patience := r.o.Patience
	if a.Type == human.OpenApp {
		patience *= 3
	}
	_, not, err := r.active(ctx, a, patience)
	return not, err
}

// active waits until the window of an action is there and has the keyboard. One that is there and does not
// have it is asked to take it once.
func (r *run) active(ctx context.Context, a human.Action, patience time.Duration) (w record.Placed, not *mismatch, err error) {
	if a.Window == nil {
		w, err = r.p.Active(ctx)
		if err != nil && human.KindOf(err) == human.NotFound {
			err = nil
		}
		return w, nil, err
	}
	asked := false
	not, err = r.until(ctx, patience, func() (*mismatch, error) {
		found, not, err := r.find(ctx, a)
		if not != nil || err != nil {
			return not, err
		}
		w = found
		now, err := r.p.Active(ctx)
		if err == nil && now.Window.ID == found.Window.ID {
			return nil, nil
		}
		if err != nil && human.KindOf(err) != human.NotFound {
			return nil, err
		}
		if !asked {
			asked = true
			if err := r.p.Activate(ctx, found); err != nil {
				return nil, err
			}
		}
		return &mismatch{describe(a.App, a.Window) + " to have the keyboard", describe(&now.App, &now.Window)}, nil
	})
	return w, not, err
}

// gone waits until a window that the actions before closed is no more.
func (r *run) gone(ctx context.Context, a human.Action) (*mismatch, error) {
	if a.Window == nil {
		return nil, nil
	}
	return r.until(ctx, r.o.Patience, func() (*mismatch, error) {
		all, err := r.p.Windows(ctx)
		if err != nil {
			return nil, err
		}
		for _, p := range all {
			if sameApp(a.App, p.App) && sameTitle(a.Window.Title, p.Window.Title) {
				return &mismatch{describe(a.App, a.Window) + " to be closed", "it is still open"}, nil
			}
		}
		return nil, nil
	})
}

// A spot is a place of the desktop as it is now.
type spot struct{ x, y int }

// place finds where a recorded place is now. The window's own move is followed; where the element is known,
// it must be there, and the place is the same part of it. In a window of another size the element is looked
// for where windows put what they hold: at each corner's distance, and in proportion.
func (r *run) place(ctx context.Context, a human.Action, w record.Placed, x, y int, e *human.Element) (spot, *mismatch, error) {
	if a.Window == nil {
		return spot{x, y}, nil, nil
	}
	was, is := a.Window.Bounds, w.Window.Bounds
	dx, dy := x-was.X, y-was.Y
	here := spot{is.X + dx, is.Y + dy}
	resized := was.W != is.W || was.H != is.H
	if e == nil || e.Role == "" {
		if resized {
			return spot{}, &mismatch{
				fmt.Sprintf("%s, %d by %d large (nothing else tells where to click)", describe(a.App, a.Window), was.W, was.H),
				fmt.Sprintf("it %d by %d large", is.W, is.H),
			}, nil
		}
		return here, nil, nil
	}
	candidates := []spot{here}
	if resized {
		right, bottom := is.X+is.W-(was.W-dx), is.Y+is.H-(was.H-dy)
		candidates = append(candidates, spot{right, here.y}, spot{here.x, bottom}, spot{right, bottom},
			spot{is.X + scaled(dx, was.W, is.W), is.Y + scaled(dy, was.H, is.H)},
			spot{is.X + scaled(dx, was.W, is.W), here.y}, spot{is.X + scaled(dx, was.W, is.W), bottom})
	}
	found := "nothing"
	for _, c := range candidates {
		now, err := r.p.At(ctx, c.x, c.y, w)
		switch {
		case err != nil && human.KindOf(err) == human.Unavailable && !resized:
			return here, nil, nil // it is not known; the window is the right one
		case err != nil && human.KindOf(err) != human.NotFound && human.KindOf(err) != human.Unavailable:
			return spot{}, nil, err
		case err != nil:
			continue
		case sameElement(e, now):
			return within(e, now, x, y, c), nil, nil
		}
		if found == "nothing" {
			found = element(&now)
		}
	}
	return spot{}, &mismatch{element(e) + " in " + describe(a.App, a.Window), found}, nil
}

func scaled(d, was, is int) int {
	if was <= 0 {
		return d
	}
	return int(math.Round(float64(d) * float64(is) / float64(was)))
}

func sameElement(want *human.Element, have human.Element) bool {
	if want.Role != have.Role {
		return false
	}
	if want.Hidden != "" || have.Hidden != "" {
		return true // the role is all that was kept
	}
	return strings.TrimSpace(want.Name) == strings.TrimSpace(have.Name)
}

// within is the same part of the element as it is now: its middle stays its middle.
func within(was *human.Element, is human.Element, x, y int, at spot) spot {
	b, n := was.Bounds, is.Bounds
	if b.W <= 0 || b.H <= 0 || n.W <= 0 || n.H <= 0 || !b.Contains(x, y) {
		return at
	}
	// Of the same size it is the same pixel, of another the same share.
	s := spot{n.X + scaled(x-b.X, b.W, n.W), n.Y + scaled(y-b.Y, b.H, n.H)}
	// Not on its very edge, which may be its neighbour's by the next pixel's rounding.
	return spot{inside(s.x, n.X, n.W), inside(s.y, n.Y, n.H)}
}

func inside(at, from, long int) int {
	edge := 0
	if long >= 8 {
		edge = 2
	}
	return min(max(at, from+edge), from+long-1-edge)
}
