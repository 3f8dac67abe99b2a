// Package replay plays recorded actions back. Before each one it checks that the window and the element are
// there that the person had before them, and waits for them a while; places are taken relative to where the
// window and the element are now. What does not fit stops it: it never acts on something else instead.
package replay

import (
	"context"
	"fmt"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

// A Player acts in a person's place. It is used by one goroutine. Places are those of human.Screen.
type Player interface {
	// Move puts the pointer at a place.
	Move(x, y int) error
	// Press holds a button (1 left, 2 middle, 3 right, 8 back, 9 forward) and Release lets it go.
	Press(button int) error
	Release(button int) error
	// Scroll turns the wheel by notches, positive is right and down.
	Scroll(dx, dy int) error
	// Text types a text, whatever the keyboard's layout.
	Text(text string) error
	// Hold presses a modifier (ctrl, alt, shift, meta) and LetGo releases it.
	Hold(modifier string) error
	LetGo(modifier string) error
	// Key presses and releases a key by its W3C UI Events value.
	Key(key string) error

	// Active is the window that has the keyboard; NotFound when none has.
	Active(ctx context.Context) (record.Placed, error)
	// Windows are those on the screen, topmost first.
	Windows(ctx context.Context) ([]record.Placed, error)
	// Activate asks for a window to have the keyboard; it may take a while until it has.
	Activate(ctx context.Context, w record.Placed) error
	// At is the innermost element at a place; NotFound without, Unavailable where elements are not known at all.
	At(ctx context.Context, x, y int, in record.Placed) (human.Element, error)
	// Focused is the element that has the keyboard; errors as At.
	Focused(ctx context.Context, in record.Placed) (human.Element, error)

	// Interrupted says that the person wants the desktop back, and how they said so; "" when not. It is asked
	// every few hundredths of a second.
	Interrupted() string
	// ReleaseAll releases every button and key that is held.
	ReleaseAll() error
}

// Options of a replay.
type Options struct {
	// Wait blocks for a time or until ctx ends, and returns ctx's error then. It is the only clock; needed.
	Wait func(ctx context.Context, d time.Duration) error
	// Speed 2 is twice as fast; 0 is 1.
	Speed float64
	// Patience is how long a window or an element may take to appear; 0 is 5 s. A program that is opened gets
	// three times as long.
	Patience time.Duration
	// LongestPause is the most that is waited between two actions; 0 is 2 s.
	LongestPause time.Duration
	// Ask is asked when something does not fit, or for a text that was not recorded. nil: it stops then.
	Ask func(ctx context.Context, q Question) Answer
	// Progress is called for each action before it is played (State playing) and after.
	Progress func(Played)
}

// A Question is what a replay cannot decide.
type Question struct {
	Action   human.Action
	Text     bool // the text of this action was hidden or not kept; else something is not as expected
	Expected string
	Found    string
}

// An Answer to a Question; the zero Answer stops.
type Answer struct {
	Do   string // "retry" looks again, "skip" leaves the action out, "text" types Text, anything else stops
	Text string
}

// Played says what became of one action.
type Played struct {
	ActionID string `json:"action_id"`
	State    string `json:"state" enum:"playing,done,skipped,failed"`
	Detail   string `json:"detail,omitempty"`
	Index    int    `json:"index"`
	Total    int    `json:"total"`
}

// A Report says what became of all of them, in order. Those after a stop are not in it.
type Report struct {
	Played []Played `json:"played"`
	Done   int      `json:"done"`
}

// How a replay moves, waits and looks.
const (
	slice     = 20 * time.Millisecond  // between two looks whether to stop
	look      = 100 * time.Millisecond // between two looks for a window or an element
	settle    = 60 * time.Millisecond  // between what a person cannot do faster
	dragSteps = 12
)

// Run plays actions in order until the last, a mismatch, the end of ctx, or the person's interruption. It
// blocks. Whatever happens, no button and no key is held when it returns. What stopped it is the error: a
// Conflict for a mismatch and for an interruption, ctx's error, or the player's. Cut actions are left out.
func Run(ctx context.Context, p Player, list []human.Action, o Options) (report Report, err error) {
	if o.Wait == nil {
		return Report{}, human.Errorf(human.Internal, "a replay needs a way to wait")
	}
	if o.Speed <= 0 {
		o.Speed = 1
	}
	if o.Patience <= 0 {
		o.Patience = 5 * time.Second
	}
	if o.LongestPause <= 0 {
		o.LongestPause = 2 * time.Second
	}
	r := &run{p: p, o: o}
	defer func() {
		if e := p.ReleaseAll(); e != nil && err == nil {
			err = human.Wrap(human.Internal, e, "buttons or keys may still be held after the replay; press and release them by hand")
		}
	}()
	last := int64(0)
	for i, a := range list {
		if a.Cut {
			continue
		}
		if err := r.pause(ctx, time.Duration(float64(max(a.At-last, 0))/o.Speed)); err != nil {
			return report, err
		}
		last = a.End
		played := Played{ActionID: a.ID, State: "playing", Index: i, Total: len(list)}
		r.report(played)
		detail, err := r.play(ctx, a)
		switch {
		case ctx.Err() != nil:
			played.State, played.Detail = "failed", "stopped"
		case err != nil:
			played.State, played.Detail = "failed", human.SafeText(err)
		case detail != "":
			played.State, played.Detail = "skipped", detail
		default:
			played.State = "done"
			report.Done++
		}
		if err == nil {
			err = ctx.Err()
		}
		report.Played = append(report.Played, played)
		r.report(played)
		if err != nil {
			return report, err
		}
	}
	return report, nil
}

type run struct {
	p Player
	o Options
}

func (r *run) report(p Played) {
	if r.o.Progress != nil {
		r.o.Progress(p)
	}
}

// wait waits in slices, so that a stop comes at once.
func (r *run) wait(ctx context.Context, d time.Duration) error {
	for {
		if err := r.stopped(ctx); err != nil {
			return err
		}
		if d <= 0 {
			return nil
		}
		part := min(d, slice)
		if err := r.o.Wait(ctx, part); err != nil {
			return err
		}
		d -= part
	}
}

func (r *run) pause(ctx context.Context, d time.Duration) error {
	return r.wait(ctx, min(max(d, settle), r.o.LongestPause))
}

func (r *run) stopped(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if why := r.p.Interrupted(); why != "" {
		return human.Errorf(human.Conflict, "stopped: %s", why)
	}
	return nil
}

// A mismatch is what is not as it was.
type mismatch struct{ expected, found string }

// until looks until what is looked for is there, for as long as patience lasts.
func (r *run) until(ctx context.Context, patience time.Duration, find func() (*mismatch, error)) (*mismatch, error) {
	for {
		not, err := find()
		if not == nil || err != nil {
			return nil, err
		}
		if patience <= 0 {
			return not, nil
		}
		if err := r.wait(ctx, look); err != nil {
			return nil, err
		}
		patience -= look
	}
}

// play plays one action; detail says why it was left out.
func (r *run) play(ctx context.Context, a human.Action) (detail string, err error) {
	if a.Page != nil { // its places are the page's, not the desktop's
		return "", human.Errorf(human.Conflict, "%q was done in a browser; export the recording as a user flow or Playwright test to play it", a.Words)
	}
	for {
		not, detail, err := r.try(ctx, a)
		if err != nil || not == nil {
			return detail, err
		}
		answer := Answer{}
		if r.o.Ask != nil {
			answer = r.o.Ask(ctx, Question{Action: a, Expected: not.expected, Found: not.found})
		}
		switch answer.Do {
		case "retry":
		case "skip":
			return fmt.Sprintf("expected %s, found %s", not.expected, not.found), nil
		default:
			if err := ctx.Err(); err != nil {
				return "", err
			}
			return "", human.Errorf(human.Conflict, "%s: expected %s, found %s", a.Words, not.expected, not.found)
		}
	}
}

func (r *run) try(ctx context.Context, a human.Action) (not *mismatch, detail string, err error) {
	switch a.Type {
	case human.Click, human.DoubleClick, human.TripleClick, human.Scroll, human.Drag, human.MoveWindow, human.ResizeWindow:
		not, err = r.pointer(ctx, a)
	case human.Typing, human.Shortcut, human.Paste:
		not, detail, err = r.keyboard(ctx, a)
	case human.Copy:
		if a.Key == "" {
			return nil, "the click before it copied", nil
		}
		not, detail, err = r.keyboard(ctx, a)
	case human.SwitchWindow, human.OpenApp:
		not, err = r.window(ctx, a)
	case human.CloseWindow:
		not, err = r.gone(ctx, a)
	case human.Missing:
		return nil, "this was not recorded", nil
	default:
		return nil, "nothing to play", nil
	}
	return not, detail, err
}
