package screens

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"

	"deskbell/backend/human"
	"deskbell/backend/platform/x11"
	"deskbell/backend/record"
	"deskbell/backend/record/recordtest"
)

func TestScreenConforms(t *testing.T) {
	recordtest.Screen(t, func(tb testing.TB) recordtest.ScreenRig {
		enter(tb, "#000000")
		c, err := xgb.NewConn()
		if err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(c.Close)
		root := xproto.Setup(c).DefaultScreen(c).Root
		return recordtest.ScreenRig{Screen: New(clock), Clock: clock, Paint: func(tb testing.TB, blue, green, red byte) {
			colour := uint32(blue) | uint32(green)<<8 | uint32(red)<<16
			xproto.ChangeWindowAttributes(c, root, xproto.CwBackPixel, []uint32{colour})
			if err := xproto.ClearAreaChecked(c, false, root, 0, 0, 0, 0).Check(); err != nil {
				tb.Fatal(err)
			}
		}}
	})
}

// draw fills the screen, each pixel in a color of its own.
func draw(t testing.TB) {
	t.Helper()
	c, err := xgb.NewConn()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	root := xproto.Setup(c).DefaultScreen(c).Root
	gc, err := xproto.NewGcontextId(c)
	if err != nil {
		t.Fatal(err)
	}
	xproto.CreateGC(c, gc, xproto.Drawable(root), 0, nil)
	const high = 60 // rows in one request, whose length is limited
	for top := 0; top < 480; top += high {
		var rows []byte
		for y := top; y < top+high; y++ {
			for x := range 640 {
				rows = append(rows, byte(x>>8<<4|y>>8), byte(y), byte(x), 0)
			}
		}
		if err := xproto.PutImageChecked(c, xproto.ImageFormatZPixmap, xproto.Drawable(root), gc, 640, high, 0, int16(top), 0, 24, rows).Check(); err != nil {
			t.Fatal(err)
		}
	}
}

// The library's pictures and those of package x11 show the same.
func TestSamePicturesAsOnX11(t *testing.T) {
	enter(t, "#123456")
	draw(t)
	ours := x11.NewScreen("", clock)
	defer ours.Close()
	pictures := map[string]*record.Frame{}
	for name, s := range map[string]record.Screen{"the library": New(clock), "package x11": ours} {
		f := new(record.Frame)
		if err := s.Grab(t.Context(), f); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for i := 3; i < len(f.Pix); i += 4 {
			f.Pix[i] = 0
		}
		pictures[name] = f
	}
	a, z := pictures["the library"], pictures["package x11"]
	if a.Bounds() != z.Bounds() || !bytes.Equal(a.Pix, z.Pix) {
		t.Errorf("%v and %v differ", a.Bounds(), z.Bounds())
	}
	if at := 4 * (300*640 + 500); fmt.Sprintf("%x", a.Pix[at:at+3]) != "112cf4" {
		t.Errorf("the pixel at 500, 300 is %x", a.Pix[at:at+3])
	}
}

func TestAnEndedContextTakesNoPicture(t *testing.T) {
	enter(t, "#000000")
	s := New(clock)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Grab(ended, new(record.Frame)); human.KindOf(err) != human.Unavailable {
		t.Errorf("with an ended context: %v", err)
	}
	if err := s.Grab(t.Context(), new(record.Frame)); err != nil {
		t.Errorf("the next one: %v", err)
	}
}
