package record_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

// wide is a desktop of 4 by 2 pixels, the left display at -2, 0; each pixel's blue is its place.
type wide struct {
	state  string
	watch  func(ctx context.Context, ready func()) error
	closed int
}

func (d *wide) Check(context.Context) human.SourceState {
	return human.SourceState{Source: human.ScreenSource, Status: d.state, Detail: "There is no display that pictures can be taken of."}
}
func (d *wide) Screens(context.Context) ([]human.Screen, error) {
	return []human.Screen{{X: -2, W: 2, H: 2, Scale: 1}, {W: 2, H: 2, Scale: 1}}, nil
}
func (d *wide) Watch(ctx context.Context, ready, _ func()) error { return d.watch(ctx, ready) }
func (d *wide) Grab(_ context.Context, f *record.Frame) error {
	f.X, f.W, f.H, f.Scale = -2, 4, 2, 1
	for i := range 8 {
		f.Pix = append(f.Pix, byte(i), 0, 0, 0)
	}
	return nil
}
func (d *wide) Close() error { d.closed++; return nil }

type shown []record.Placed

func (shown) Check(context.Context) human.SourceState { return human.SourceState{} }
func (shown) Run(context.Context, func(), func(human.RecordedEvent)) (uint64, error) {
	return 0, nil
}
func (s shown) Visible(context.Context) ([]record.Placed, error) { return slices.Clone(s), nil }

func TestACaptureShowsWhatWasAskedFor(t *testing.T) {
	window := func(id string, pid, x, w int) record.Placed {
		return record.Placed{App: human.App{Name: "Signer", PID: pid}, Window: human.Window{ID: id, Title: "Contract", Bounds: human.Bounds{X: x, W: w, H: 2}}}
	}
	d := &wide{state: "complete"}
	c := &record.Capturer{Screen: d, Windows: shown{window("own", 7, 0, 2), window("w", 8, -1, 2), window("out", 9, 40, 2)}, SelfPID: 7}
	for name, tt := range map[string]struct {
		ask  record.CaptureRequest
		want []byte // the blue of its pixels
		kind human.ErrorKind
	}{
		"all":                      {record.CaptureRequest{Kind: "all"}, []byte{0, 1, 2, 3, 4, 5, 6, 7}, 0},
		"the left display":         {record.CaptureRequest{Kind: "display"}, []byte{0, 1, 4, 5}, 0},
		"the right display":        {record.CaptureRequest{Kind: "display", Display: 1}, []byte{2, 3, 6, 7}, 0},
		"a window over both":       {record.CaptureRequest{Kind: "window", Window: "w"}, []byte{1, 2, 5, 6}, 0},
		"a display there is not":   {record.CaptureRequest{Kind: "display", Display: 2}, nil, human.Invalid},
		"its own window":           {record.CaptureRequest{Kind: "window", Window: "own"}, nil, human.Conflict},
		"a window that was closed": {record.CaptureRequest{Kind: "window", Window: "x"}, nil, human.Conflict},
		"a window off the screen":  {record.CaptureRequest{Kind: "window", Window: "out"}, nil, human.Conflict},
		"something else":           {record.CaptureRequest{Kind: "camera"}, nil, human.Invalid},
	} {
		f, err := c.Capture(t.Context(), tt.ask)
		if tt.want == nil {
			if human.KindOf(err) != tt.kind {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		var blue []byte
		for i := 0; err == nil && i < len(f.Pix); i += 4 {
			blue = append(blue, f.Pix[i])
		}
		if err != nil || !slices.Equal(blue, tt.want) || f.W*f.H != len(tt.want) {
			t.Errorf("%s: %v, %v", name, blue, err)
		}
	}
	is, err := c.Capturable(t.Context())
	if err != nil || len(is.Displays) != 2 || len(is.Windows) != 2 || is.Windows[0].ID != "w" || d.closed == 0 {
		t.Errorf("%+v, %v", is, err)
	}
	d.state = "missing"
	if _, err := c.Capture(t.Context(), record.CaptureRequest{Kind: "all"}); human.KindOf(err) != human.Unavailable {
		t.Errorf("without a display: %v", err)
	}
}

func TestADesktopThatAsksShowsOnePictureAndThenNoMore(t *testing.T) {
	d := &wide{state: "partial"}
	ended := false
	d.watch = func(ctx context.Context, ready func()) error {
		ready()
		<-ctx.Done()
		ended = true
		return nil
	}
	c := &record.Capturer{Screen: d, Asks: true}
	if f, err := c.Capture(t.Context(), record.CaptureRequest{Kind: "display"}); err != nil || f.W != 4 || !ended {
		t.Errorf("%+v, %v, ended: %t", f, err, ended)
	}
	no := human.Errorf(human.Denied, "You did not allow pictures when the desktop asked; start a new recording to be asked again")
	d.watch = func(context.Context, func()) error { return no }
	if _, err := c.Capture(t.Context(), record.CaptureRequest{Kind: "display"}); !errors.Is(err, no) {
		t.Errorf("denied: %v", err)
	}
}
