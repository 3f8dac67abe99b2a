//go:build window

package e2e

import (
	"archive/zip"
	"bytes"
	"fmt"
	"image"
	"image/color"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/build/e2e/desktoptest"
)

// A twin is a desktop with two monitors, of which the left one stands lower: none is at 0, 0, and parts of the desktop are on none.
// At scale 2 they have twice the pixels.
type twin struct {
	*desktoptest.Desktop
	left, right desktoptest.Monitor
	scale       int
}

// at is a part of the desktop at this scale.
func (d *twin) at(x, y, x2, y2 int) image.Rectangle {
	return image.Rect(d.scale*x, d.scale*y, d.scale*x2, d.scale*y2)
}

// onTwins runs a test at both scales; at first the desktop has so many of the monitors.
func onTwins(t *testing.T, count int, o desktoptest.Options, test func(t *testing.T, d *twin)) {
	t.Parallel()
	for _, scale := range []int{1, 2} {
		t.Run(fmt.Sprintf("scale %d", scale), func(t *testing.T) {
			t.Parallel()
			d := &twin{scale: scale}
			d.left, d.right = d.at(0, 200, 1000, 900), d.at(1000, 0, 2200, 800)
			o.Monitors = []desktoptest.Monitor{d.left, d.right}[:count]
			d.Desktop = desktoptest.Start(t, o)
			d.Env = append(d.Env, "GDK_SCALE="+strconv.Itoa(scale))
			test(t, d)
		})
	}
}

// stands waits until Deskbell's window stands there, without its frame.
func (d *twin) stands(t *testing.T, at image.Rectangle) {
	t.Helper()
	wantAt(t, d.Desktop, desktoptest.Window{X: at.Min.X, Y: at.Min.Y, W: at.Dx(), H: at.Dy()})
}

// A card comes on the monitor that the pointer is on, and stays in sight.
func TestPopupFollowsThePointer(t *testing.T) {
	onTwins(t, 2, desktoptest.Options{}, func(t *testing.T, d *twin) {
		s := startShell(d.Desktop)
		edge := 16 * d.scale
		for _, m := range []desktoptest.Monitor{d.right, d.left, d.right} {
			d.Move(m.Min.X+50, m.Max.Y-50)
			corner := image.Rect(m.Max.X-edge-400*d.scale, m.Min.Y+edge, m.Max.X-edge, m.Min.Y+edge+160*d.scale)
			s.mode("popup", 160)
			d.stands(t, corner)
			s.mode("popup", 5000)
			corner.Max.Y = m.Max.Y - edge
			d.stands(t, corner)
			s.mode("hidden", 0)
			d.WaitNoWindow("Deskbell")
		}

		s.mode("popup", 160)
		d.Arrange(1, d.at(1000, 0, 1600, 800)) // a monitor with fewer pixels
		d.stands(t, d.at(1600-16-400, 16, 1600-16, 16+160))
	})
}

// The console stands where it was put on the same monitors, and in sight on others.
func TestPlaceOnEachArrangement(t *testing.T) {
	onTwins(t, 1, desktoptest.Options{}, func(t *testing.T, d *twin) {
		places := filepath.Join(d.Home, "window.json")
		begin := func() *shell {
			t.Helper()
			s := launchShell(d.Desktop, "SHELL_ARGS=--hidden", "SHELL_PLACES="+places)
			s.hears("page wails://wails secret")
			s.mode("console", 0)
			d.WaitActive("Deskbell")
			return s
		}
		end := func(s *shell) {
			t.Helper()
			if err := s.p.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			if code := d.Ended(s.p); code != 0 {
				t.Fatalf("it ended with status %d", code)
			}
		}
		put := func(at image.Rectangle) image.Rectangle {
			t.Helper()
			w := d.WaitWindow("Deskbell")
			// Right after it comes up, or while the monitors still change, it can be put elsewhere: then a person would do it again.
			var moved time.Time
			d.Wait("its place to be kept", func() bool {
				if time.Since(moved) > 2*time.Second {
					d.Do("xdotool", "windowsize", w.ID, strconv.Itoa(at.Dx()), strconv.Itoa(at.Dy()))
					d.Do("xdotool", "windowmove", w.ID, strconv.Itoa(at.Min.X), strconv.Itoa(at.Min.Y))
					moved = time.Now()
				}
				text, _ := os.ReadFile(places)
				return strings.Contains(string(text), fmt.Sprintf(`"W": %d`, at.Dx()/d.scale))
			})
			w = d.WaitWindow("Deskbell") // it has a frame
			return image.Rect(w.X, w.Y, w.X+w.W, w.Y+w.H)
		}
		s := begin()
		put(d.at(100, 300, 910, 800))
		d.Arrange(1, d.right)
		was := put(d.at(1100, 60, 1920, 670))
		end(s)
		s = begin()
		d.stands(t, was)
		s.mode("hidden", 0)
		d.WaitNoWindow("Deskbell")

		d.Arrange(1, d.at(0, 900, 1200, 1700)) // the place is on neither now
		s.mode("console", 0)
		d.Wait("the console in sight", func() bool {
			w, there := d.FindWindow("Deskbell")
			return there && image.Rect(w.X, w.Y, w.X+w.W, w.Y+w.H).In(d.left.Inset(-30)) // the frame counts
		})
		d.Arrange(1, d.right)
		d.stands(t, was)
		end(s)
	})
}

// Work on the second monitor is recorded where it was done, and guides show it there.
func TestRecordingOnTheSecondMonitor(t *testing.T) {
	onTwins(t, 2, desktoptest.Options{Accessible: true}, func(t *testing.T, d *twin) {
		h := fixtureOn(t, d.Desktop).serve()
		form := d.StartForm("form.gtk3.py", d.Home, nil)
		d.WaitActive("Form GTK 3")
		w, x, y := d.WaitWindow("Form GTK 3"), d.right.Min.X+60*d.scale, d.right.Min.Y+40*d.scale
		d.Do("xdotool", "windowmove", "--sync", w.ID, strconv.Itoa(x), strconv.Itoa(y))
		p := &person{Desktop: d.Desktop, app: "form.gtk3.py", looking: 700 * time.Millisecond}
		d.Wait("the form on the second monitor", func() bool {
			w = d.WaitWindow("Form GTK 3")
			at := d.scaled(p.find("Greet", desktoptest.Button).At)
			return w.X >= x && at.Min.X > w.X && at.Min.Y > w.Y && at.Max.X < w.X+w.W
		})
		op, _ := h.ring("Greet and export", map[string]any{"path": "form"})
		var rec human.Recording
		h.call("POST", "/api/recordings", map[string]any{"operation_id": op.ID}, &rec)
		want := []human.Screen{screenOf(d.left), screenOf(d.right)}
		if !slices.Equal(rec.Screens, want) {
			t.Errorf("the monitors are %+v, want %+v", rec.Screens, want)
		}

		middle := func(r image.Rectangle) (x, y int) { return (r.Min.X + r.Max.X) / 2, (r.Min.Y + r.Max.Y) / 2 }
		p.pause()
		greet := d.scaled(p.find("Greet", desktoptest.Button).At)
		p.click(middle(greet))
		p.click(middle(d.scaled(p.find("File", menu).At)))
		export := d.scaled(p.find("Export", menuItem).At)
		p.click(middle(export))
		form.Await("greetings", 1)
		form.Await("menu", "Export")
		h.call("POST", "/api/recordings/"+string(rec.ID)+"/stop", nil, &rec)

		all := h.actions(rec.ID)
		for _, tt := range []struct {
			role, name string
			at         image.Rectangle
		}{{"button", "Greet", greet}, {"menuitem", "Export", export}} {
			a := has(t, all, tt.name, clickOn(tt.role, tt.name))
			if a.Element == nil {
				continue
			}
			b := a.Element.Bounds
			if got := image.Rect(b.X, b.Y, b.X+b.W, b.Y+b.H); !got.In(tt.at.Inset(-2)) || !tt.at.In(got.Inset(-2)) {
				t.Errorf("%s is at %v, want %v", tt.name, got, tt.at)
			}
			if x, y := middle(tt.at); a.X != x || a.Y != y {
				t.Errorf("the click on %s is at %d, %d, want %d, %d", tt.name, a.X, a.Y, x, y)
			}
			h.picture(rec.ID, tt.name, a.Before, d.right.Max.X, d.left.Max.Y)
			if a.ID != all[0].ID || a.Window == nil {
				continue // one picture is enough
			}
			x, y := middle(tt.at)
			h.ringed(rec.ID, x-(a.Window.Bounds.X-8), y-(a.Window.Bounds.Y-36))
		}
	})
}

// scaled is a part of the desktop that programs at this scale give in their own units.
func (d *twin) scaled(r image.Rectangle) image.Rectangle {
	return image.Rectangle{Min: r.Min.Mul(d.scale), Max: r.Max.Mul(d.scale)}
}

func screenOf(m desktoptest.Monitor) human.Screen {
	return human.Screen{X: m.Min.X, Y: m.Min.Y, W: m.Dx(), H: m.Dy(), Scale: 1}
}

// ringed fails the test unless the first picture of a guide has the mark of a click there.
func (h *serving) ringed(rec human.RecordingID, x, y int) {
	h.T.Helper()
	_, guide := h.ask("GET", "/api/recordings/"+string(rec)+"/export?format=markdown&language=en", nil)
	files, err := zip.NewReader(bytes.NewReader(guide), int64(len(guide)))
	if err != nil {
		h.T.Fatal(err)
	}
	file, err := files.Open("pictures/01.png")
	if err != nil {
		h.T.Fatal(err)
	}
	defer file.Close()
	picture, _, err := image.Decode(file)
	if err != nil {
		h.T.Fatal(err)
	}
	for _, at := range []image.Point{{x - 15, y}, {x + 15, y}, {x, y - 15}, {x, y + 15}} {
		if is := picture.At(at.X, at.Y); !near(is, color.RGBA{0xd0, 0x1f, 0x3c, 0xff}) {
			h.T.Errorf("the ring around %d, %d is %v at %v, in a picture of %v", x, y, is, at, picture.Bounds())
		}
	}
}
