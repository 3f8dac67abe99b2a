package record

import (
	"context"
	"slices"
	"sync"

	"deskbell/backend/human"
)

// What a capture shows.
const (
	CaptureDisplay = "display"
	CaptureWindow  = "window"
	CaptureAll     = "all"
)

// A CaptureRequest says what a capture shows.
type CaptureRequest struct {
	Kind    string `json:"kind" enum:"display,window,all" doc:"One display, one window, or all that the system shows."`
	Display int    `json:"display,omitempty" minimum:"0" doc:"Of a display: its place in displays, from 0."`
	Window  string `json:"window,omitempty" doc:"Of a window: its id in windows."`
}

// Capturable is what a capture can show now.
type Capturable struct {
	Source   human.SourceState `json:"source" doc:"Whether captures can be taken here, and what to do where they cannot."`
	Asks     bool              `json:"asks,omitempty" doc:"The desktop asks what a capture may show; displays and windows are not known."`
	Displays []human.Screen    `json:"displays"`
	Windows  []CapturedWindow  `json:"windows" doc:"Topmost first, without Deskbell's own."`
}

// A CapturedWindow is a window that a capture can show.
type CapturedWindow struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	App   string `json:"app"`
}

// A Capturer takes single pictures of the desktop for an operator who wants to attach one. Safe for concurrent use; captures are
// taken one after the other.
type Capturer struct {
	Screen  Screen
	Windows Windows // nil: not known
	SelfPID int
	// Asks says that Screen shows something only while its Watch runs, for which the desktop asks the person.
	Asks bool

	mu sync.Mutex
}

// Capturable says what can be shown. It does not ask the person.
func (c *Capturer) Capturable(ctx context.Context) (Capturable, error) {
	is := Capturable{Source: c.Screen.Check(ctx), Asks: c.Asks, Displays: []human.Screen{}, Windows: []CapturedWindow{}}
	if is.Source.Status == "missing" || c.Asks {
		return is, nil
	}
	displays, err := c.Screen.Screens(ctx)
	if err != nil {
		return is, err
	}
	is.Displays = append(is.Displays, displays...)
	for _, w := range c.windows(ctx) {
		is.Windows = append(is.Windows, CapturedWindow{w.Window.ID, human.OneLine(w.Window.Title, 120), human.OneLine(w.App.Name, 60)})
	}
	return is, nil
}

// windows are those on the screen that are not Deskbell's own; none where the system does not tell.
func (c *Capturer) windows(ctx context.Context) []Placed {
	if c.Windows == nil {
		return nil
	}
	all, err := c.Windows.Visible(ctx)
	if err != nil {
		return nil // the displays can be captured without them
	}
	return slices.DeleteFunc(all, func(w Placed) bool {
		return w.App.PID == c.SelfPID || w.Window.Bounds.W < 1 || w.Window.Bounds.H < 1
	})
}

// Capture takes a picture. It blocks while another is taken, and while the desktop asks the person; Denied where they say no.
// Nothing on it is masked.
func (c *Capturer) Capture(ctx context.Context, r CaptureRequest) (*Frame, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if state := c.Screen.Check(ctx); state.Status == "missing" {
		return nil, human.Errorf(human.Unavailable, "%s", state.Detail)
	}
	defer func() { _ = c.Screen.Close() }() // what it keeps is not needed until the next
	if c.Asks {
		return c.asked(ctx)
	}
	part, err := c.part(ctx, r)
	if err != nil {
		return nil, err
	}
	f := &Frame{}
	if err := c.Screen.Grab(ctx, f); err != nil {
		return nil, err
	}
	if part == nil {
		return f, nil
	}
	return f.crop(*part)
}

// part is where on the desktop what is asked for is; nil is all of it.
func (c *Capturer) part(ctx context.Context, r CaptureRequest) (*human.Bounds, error) {
	switch r.Kind {
	case CaptureAll:
		return nil, nil
	case CaptureDisplay:
		all, err := c.Screen.Screens(ctx)
		if err != nil {
			return nil, err
		}
		if r.Display < 0 || r.Display >= len(all) {
			return nil, human.BadField("display", "is %d; there are %d displays", r.Display, len(all))
		}
		s := all[r.Display]
		return &human.Bounds{X: s.X, Y: s.Y, W: s.W, H: s.H}, nil
	case CaptureWindow:
		for _, w := range c.windows(ctx) {
			if w.Window.ID == r.Window {
				return &w.Window.Bounds, nil
			}
		}
		return nil, human.Errorf(human.Conflict, "that window is closed or hidden; choose another")
	}
	return nil, human.BadField("kind", "%q is not one of display, window, all", human.OneLine(r.Kind, 40))
}

// asked is a picture of what the person lets be seen.
func (c *Capturer) asked(ctx context.Context) (*Frame, error) {
	watching, stop := context.WithCancel(ctx)
	defer stop()
	f := &Frame{}
	var err error = human.Errorf(human.Unavailable, "the desktop showed nothing")
	if no := c.Screen.Watch(watching, func() { err = c.Screen.Grab(watching, f); stop() }, func() {}); no != nil {
		return nil, no
	}
	return f, err
}

// crop is a part of the picture; what lies outside of it is left out.
func (f *Frame) crop(b human.Bounds) (*Frame, error) {
	scale := f.Scale
	if scale <= 0 {
		scale = 1
	}
	at := func(v, size int) int { return min(max(int(float64(v)*scale), 0), size) }
	x0, x1, y0, y1 := at(b.X-f.X, f.W), at(b.X+b.W-f.X, f.W), at(b.Y-f.Y, f.H), at(b.Y+b.H-f.Y, f.H)
	if x0 >= x1 || y0 >= y1 {
		return nil, human.Errorf(human.Conflict, "it is not on the screen any more; choose another")
	}
	out := &Frame{X: f.X + int(float64(x0)/scale), Y: f.Y + int(float64(y0)/scale), W: x1 - x0, H: y1 - y0, Scale: f.Scale, At: f.At}
	for y := y0; y < y1; y++ {
		out.Pix = append(out.Pix, f.Pix[4*(y*f.W+x0):4*(y*f.W+x1)]...)
	}
	return out, nil
}
