package accessibility

import (
	"bytes"
	"errors"
	"image"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/jezek/xgb"

	"deskbell/backend/human"
	"deskbell/backend/record"
	"deskbell/build/e2e/desktoptest"
)

// xgb opens the display that the environment names, so the tests set it, one desktop after the other.
func TestMain(m *testing.M) {
	xgb.Logger.SetOutput(bytes.NewBuffer(nil)) // it reports the end of each test's server
	os.Exit(m.Run())
}

// A session is a desktop on which elements are looked for.
type session struct{ *desktoptest.Desktop }

func start(t testing.TB) session {
	t.Helper()
	d := session{desktoptest.Start(t, desktoptest.Options{})}
	d.Enter()
	return d
}

// startAccessible starts one with the bus of accessibility.
func startAccessible(t testing.TB) session {
	t.Helper()
	d := start(t)
	d.StartAccessibility()
	return d
}

// elements connects to the desktop. They are patient, because so many programs start here.
func (d session) elements() *Elements { d.T.Helper(); return d.elementsIn(5 * time.Second) }

func (d session) elementsIn(deadline time.Duration) *Elements {
	d.T.Helper()
	began := time.Now()
	e := New(Options{
		Clock:   func() (time.Time, int64) { return time.Now(), int64(time.Since(began)) },
		Session: d.Session, Deadline: deadline,
	})
	d.T.Cleanup(func() { e.Close() })
	if s := e.Check(d.T.Context()); s.Status == "missing" {
		d.T.Fatalf("no elements: %+v", s)
	}
	return e
}

// A shown form is on the bus with what it draws.
type shown struct {
	*desktoptest.Form
	form
	d     session
	at    record.Placed
	scale float64 // pixels to a unit of its toolkit
}

func (d session) show(e *Elements, f form) shown { d.T.Helper(); return d.showAt(e, f, 1) }

// showAt shows a form with so many pixels to a unit.
func (d session) showAt(e *Elements, f form, scale float64, env ...string) shown {
	d.T.Helper()
	s := shown{Form: d.StartForm(f.script, d.Home, append(env, f.env...), "--force-renderer-accessibility"), form: f, d: d, scale: scale}
	s.ready(e)
	return s
}

// ready waits until the form's first part is on the bus and its window, which may grow once it is shown, keeps its place.
func (s *shown) ready(e *Elements) {
	s.d.T.Helper()
	s.d.Wait(s.title+" on the bus", func() bool {
		before := s.at.Window.Bounds
		s.at = s.d.window(s.title, s.PID())
		x, y := s.point(s.spots[0])
		got, err := e.At(s.d.T.Context(), x, y, s.at)
		return err == nil && got.Role == s.spots[0].role && s.at.Window.Bounds == before
	})
}

// point is where a part of the form is on the screen: its middle, or in its corner at the bottom left.
func (s shown) point(part spot) (x, y int) {
	s.d.T.Helper()
	box := s.Place(part.place)
	p := box.Min.Add(box.Max).Div(2)
	if part.corner {
		p = image.Pt(box.Min.X+3, box.Max.Y-4)
	}
	return s.at.Window.Bounds.X + int(s.scale*float64(p.X)), s.at.Window.Bounds.Y + int(s.scale*float64(p.Y))
}

// press clicks a part of the form.
func (s shown) press(part spot) {
	s.d.T.Helper()
	x, y := s.point(part)
	s.d.press(x, y)
}

func (d session) press(x, y int) {
	d.T.Helper()
	d.Do("xdotool", "mousemove", strconv.Itoa(x), strconv.Itoa(y), "click", "1")
}

// window waits for a window whose title begins so.
func (d session) window(title string, pid int) record.Placed {
	d.T.Helper()
	p := record.Placed{App: human.App{Name: title, PID: pid}}
	d.Wait("the window "+title, func() bool {
		w, there := d.FindWindow(title + ".*")
		p.Window = human.Window{ID: w.ID, Title: d.Try("xdotool", "getwindowname", w.ID), Bounds: human.Bounds{X: w.X, Y: w.Y, W: w.W, H: w.H}}
		return there && w.W > 20 && w.H > 20
	})
	return p
}

// kind is the kind of an error, 0 without one.
func kind(err error) human.ErrorKind {
	if err == nil {
		return 0
	}
	var known *human.Error
	if !errors.As(err, &known) {
		return human.Internal
	}
	return known.Kind
}

// within says whether a condition comes true.
func (d session) within(condition func() bool) bool {
	deadline := time.After(desktoptest.Patience)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-tick.C:
		case <-deadline:
			return false
		}
	}
	return true
}
