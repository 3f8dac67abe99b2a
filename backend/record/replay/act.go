package replay

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

// ready waits for the window of an action and for each place that it needs.
func (r *run) ready(ctx context.Context, a human.Action, places func(w record.Placed) (*mismatch, error)) (*mismatch, error) {
	w, not, err := r.active(ctx, a, r.o.Patience)
	if not != nil || err != nil {
		return not, err
	}
	return r.until(ctx, r.o.Patience, func() (*mismatch, error) {
		if a.Window != nil { // it may have moved since
			now, not, err := r.find(ctx, a)
			if not != nil || err != nil {
				return not, err
			}
			w = now
		}
		return places(w)
	})
}

func (r *run) pointer(ctx context.Context, a human.Action) (*mismatch, error) {
	var from, to spot
	not, err := r.ready(ctx, a, func(w record.Placed) (not *mismatch, err error) {
		if from, not, err = r.place(ctx, a, w, a.X, a.Y, a.Element); not != nil || err != nil {
			return not, err
		}
		if drags(a.Type) {
			to, not, err = r.place(ctx, a, w, a.ToX, a.ToY, a.Target)
			if not != nil && a.Target == nil {
				// Within a window that was resized the way stays the same.
				to, not = spot{from.x + a.ToX - a.X, from.y + a.ToY - a.Y}, nil
			}
		}
		return not, err
	})
	if not != nil || err != nil {
		return not, err
	}
	if err := r.move(ctx, from); err != nil {
		return nil, err
	}
	return nil, r.holding(ctx, a.Modifiers, func() error {
		switch a.Type {
		case human.Scroll:
			return r.scroll(ctx, a)
		case human.Drag, human.MoveWindow, human.ResizeWindow:
			return r.drag(ctx, a.Button, from, to)
		}
		clicks := map[human.ActionType]int{human.Click: 1, human.DoubleClick: 2, human.TripleClick: 3}[a.Type]
		for range clicks {
			if err := r.click(ctx, a.Button); err != nil {
				return err
			}
		}
		return nil
	})
}

// drags says whether the pointer goes somewhere with its button down. A window is moved as it was: by its edge.
func drags(t human.ActionType) bool {
	return t == human.Drag || t == human.MoveWindow || t == human.ResizeWindow
}

func (r *run) move(ctx context.Context, s spot) error {
	if err := r.stopped(ctx); err != nil {
		return err
	}
	if err := r.p.Move(s.x, s.y); err != nil {
		return err
	}
	return r.wait(ctx, settle) // what the pointer enters may want to know
}

func (r *run) click(ctx context.Context, button int) error {
	if err := r.p.Press(button); err != nil {
		return err
	}
	err := r.wait(ctx, settle/2)
	return errors.Join(err, r.p.Release(button), r.wait(ctx, settle))
}

// drag goes the way in steps: programs take a jump for no movement at all.
func (r *run) drag(ctx context.Context, button int, from, to spot) (err error) {
	if err := r.p.Press(button); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.p.Release(button)) }()
	for i := 1; i <= dragSteps; i++ {
		if err := r.wait(ctx, slice); err != nil {
			return err
		}
		if err := r.p.Move(from.x+(to.x-from.x)*i/dragSteps, from.y+(to.y-from.y)*i/dragSteps); err != nil {
			return err
		}
	}
	return r.wait(ctx, settle)
}

// scroll turns one notch after the other, as a wheel does.
func (r *run) scroll(ctx context.Context, a human.Action) error {
	dx, dy := int(math.Round(a.DeltaX)), int(math.Round(a.DeltaY))
	for dx != 0 || dy != 0 {
		x, y := sign(dx), sign(dy)
		if err := r.p.Scroll(x, y); err != nil {
			return err
		}
		if err := r.wait(ctx, slice); err != nil {
			return err
		}
		dx, dy = dx-x, dy-y
	}
	return r.wait(ctx, settle)
}

func sign(n int) int {
	switch {
	case n > 0:
		return 1
	case n < 0:
		return -1
	}
	return 0
}

// holding does something while modifiers are held, and lets them go again.
func (r *run) holding(ctx context.Context, modifiers []string, do func() error) (err error) {
	for _, m := range modifiers {
		if err := r.stopped(ctx); err != nil {
			return err
		}
		if err := r.p.Hold(m); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, r.p.LetGo(m)) }()
	}
	if len(modifiers) > 0 {
		if err := r.wait(ctx, slice); err != nil {
			return err
		}
	}
	return do()
}

func (r *run) keyboard(ctx context.Context, a human.Action) (*mismatch, string, error) {
	not, err := r.ready(ctx, a, func(w record.Placed) (*mismatch, error) { return r.focused(ctx, a, w) })
	if not != nil || err != nil {
		return not, "", err
	}
	if a.Type == human.Typing {
		detail, err := r.text(ctx, a)
		return nil, detail, err
	}
	err = r.holding(ctx, a.Modifiers, func() error {
		for range max(a.Count, 1) {
			if a.Type != human.Shortcut { // its count is of characters
				return r.key(ctx, a.Key)
			}
			if err := r.key(ctx, a.Key); err != nil {
				return err
			}
		}
		return nil
	})
	return nil, "", err
}

func (r *run) key(ctx context.Context, key string) error {
	if err := r.stopped(ctx); err != nil {
		return err
	}
	if err := r.p.Key(key); err != nil {
		return err
	}
	return r.wait(ctx, settle)
}

// focused says whether the field has the keyboard that had it, as far as both are known.
func (r *run) focused(ctx context.Context, a human.Action, w record.Placed) (*mismatch, error) {
	if a.Type == human.Shortcut || a.Element == nil || a.Element.Role == "" {
		return nil, nil
	}
	now, err := r.p.Focused(ctx, w)
	switch {
	case err != nil && (human.KindOf(err) == human.NotFound || human.KindOf(err) == human.Unavailable):
		return nil, nil
	case err != nil:
		return nil, err
	case sameElement(a.Element, now):
		return nil, nil
	}
	return &mismatch{element(a.Element) + " to have the keyboard", element(&now)}, nil
}

// text types what was typed. A text that was hidden, masked or not kept is asked for.
func (r *run) text(ctx context.Context, a human.Action) (string, error) {
	text := a.Text
	if a.Hidden != "" || a.Masked || text == "" && a.Count > 0 || strings.Contains(text, "•••") {
		answer := Answer{}
		if r.o.Ask != nil {
			field := "the window"
			if a.Element != nil {
				field = element(a.Element)
			}
			answer = r.o.Ask(ctx, Question{Action: a, Text: true, Expected: fmt.Sprintf("the text for %s", field), Found: "a text that was not recorded"})
		}
		switch answer.Do {
		case "text":
			text = answer.Text
		case "skip":
			return "its text was not recorded", nil
		default:
			if err := ctx.Err(); err != nil {
				return "", err
			}
			return "", human.Errorf(human.Conflict, "%s: its text was not recorded, so it cannot be typed again; type it by hand, then play the rest", a.Words)
		}
	}
	// In parts, so that a stop in the midst of a long one comes soon.
	for runes := []rune(text); len(runes) > 0; {
		if err := r.stopped(ctx); err != nil {
			return "", err
		}
		n := min(len(runes), 16)
		if err := r.p.Text(string(runes[:n])); err != nil {
			return "", err
		}
		runes = runes[n:]
	}
	if a.Key == "Tab" {
		return "", r.key(ctx, a.Key)
	}
	return "", r.wait(ctx, settle)
}
