package window

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"
)

func TestTopRight(t *testing.T) {
	for name, tt := range map[string]struct {
		work         Rect
		w, h, margin int
		want         Rect
	}{
		"beside the edges":             {Rect{0, 0, 1440, 900}, 400, 160, 16, Rect{1024, 16, 400, 160}},
		"under a panel, on the left":   {Rect{-1920, 32, 1920, 1048}, 400, 160, 16, Rect{-416, 48, 400, 160}},
		"a stack too high is cut":      {Rect{0, 0, 1440, 900}, 400, 2000, 16, Rect{1024, 16, 400, 868}},
		"a screen too narrow is kept":  {Rect{0, 0, 320, 240}, 400, 160, 16, Rect{16, 16, 288, 160}},
		"a screen smaller than itself": {Rect{0, 0, 10, 10}, 400, 160, 16, Rect{-7, 16, 1, 1}},
		"nothing to show is one pixel": {Rect{0, 0, 1440, 900}, 400, 0, 16, Rect{1024, 16, 400, 1}},
	} {
		if got := TopRight(tt.work, tt.w, tt.h, tt.margin); got != tt.want {
			t.Errorf("%s: got %+v, want %+v", name, got, tt.want)
		}
	}
	if got, want := (Rect{100, 50, 400, 160}).Grow(24), (Rect{76, 26, 448, 208}); got != want {
		t.Errorf("grown: got %+v, want %+v", got, want)
	}
}

// count gives how many pixels of img are opaque and of color c.
func count(img image.Image, c color.NRGBA) (n int) {
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			if color.NRGBAModel.Convert(img.At(x, y)) == c {
				n++
			}
		}
	}
	return n
}

func TestBrassOnlyWhileItRings(t *testing.T) {
	for _, px := range []int{16, 22, 24, 32, 48, 256} {
		if n := count(Bell(px, false), Brass) + count(TrayBell(px, 0, NotRecording, false), Brass); n != 0 {
			t.Errorf("%d px: a silent bell has %d brass pixels", px, n)
		}
		if count(TrayBell(px, 0, NotRecording, false), Silent) == 0 {
			t.Errorf("%d px: a silent bell cannot be seen", px)
		}
		ringing := TrayBell(px, 1, NotRecording, false)
		if share := float64(count(ringing, Brass)) / float64(px*px); share < 0.2 {
			t.Errorf("%d px: only %.0f %% of a ringing bell is brass", px, share*100)
		}
		if count(ringing, OnBrass) == 0 && px >= 24 {
			t.Errorf("%d px: the count is not there", px)
		}
	}
}

func TestCountsLookDifferent(t *testing.T) {
	const px = 22
	seen := map[string]int{}
	for n := range 11 {
		pixels := string(TrayBell(px, n, NotRecording, false).(*image.NRGBA).Pix)
		if other, again := seen[pixels]; again {
			t.Errorf("%d looks like %d", n, other)
		}
		seen[pixels] = n
	}
	if ten, many := TrayBell(px, 10, NotRecording, false), TrayBell(px, 1000, NotRecording, false); !bytes.Equal(PNG(ten), PNG(many)) {
		t.Error("above nine the bell says 9+, whatever the number")
	}
}

func TestTheTrayShowsThatItRecords(t *testing.T) {
	for _, px := range []int{16, 24, 48} {
		for _, pending := range []int{0, 3} {
			none, runs, paused := TrayBell(px, pending, NotRecording, false), TrayBell(px, pending, Recorded, false), TrayBell(px, pending, RecordingPaused, false)
			if n := count(none, Red); n != 0 {
				t.Errorf("%d px, %d pending: %d red pixels while nothing is recorded", px, pending, n)
			}
			if share := float64(count(runs, Red)) / float64(px*px); share < 0.08 {
				t.Errorf("%d px, %d pending: only %.0f %% is red while it records", px, pending, share*100)
			}
			if count(paused, Red) == 0 || bytes.Equal(PNG(paused), PNG(runs)) {
				t.Errorf("%d px, %d pending: paused cannot be told from recording", px, pending)
			}
		}
	}
}

func TestBellStaysInItsSquare(t *testing.T) {
	// Pixels at the very corners are transparent: panels put icons edge to edge.
	for n := range 11 {
		img := TrayBell(48, n, NotRecording, false)
		for _, p := range []image.Point{{0, 0}, {0, 47}, {47, 47}} {
			if _, _, _, a := img.At(p.X, p.Y).RGBA(); a > 0x2000 {
				t.Errorf("%d pending: the corner %v is painted", n, p)
			}
		}
	}
}

func TestICO(t *testing.T) {
	small, large := TrayBell(16, 3, NotRecording, false), AppIcon(256)
	data := ICO(small, large)
	le := binary.LittleEndian
	if kind, n := le.Uint16(data[2:]), le.Uint16(data[4:]); kind != 1 || n != 2 {
		t.Fatalf("kind %d with %d images", kind, n)
	}
	entry := func(i int) (width byte, body []byte) {
		e := data[6+16*i:]
		size, offset := le.Uint32(e[8:]), le.Uint32(e[12:])
		return e[0], data[offset : offset+size]
	}
	width, body := entry(0)
	if width != 16 || le.Uint32(body) != 40 || le.Uint32(body[8:]) != 32 {
		t.Errorf("the small image: width %d, header %v", width, body[:16])
	}
	// Rows run upwards, pixels are BGRA.
	for y := range 16 {
		for x := range 16 {
			p := body[40+4*((15-y)*16+x):]
			if got, want := (color.NRGBA{p[2], p[1], p[0], p[3]}), small.At(x, y); got != want {
				t.Fatalf("pixel %d,%d is %v, want %v", x, y, got, want)
			}
		}
	}
	width, body = entry(1)
	if width != 0 {
		t.Errorf("256 is written as %d, not 0", width)
	}
	if img, err := png.Decode(bytes.NewReader(body)); err != nil || img.Bounds().Dx() != 256 {
		t.Errorf("the large image is no PNG of 256 pixels: %v", err)
	}
}

func TestWords(t *testing.T) {
	for locale, want := range map[string]string{
		"": "Open", "en": "Open", "en_GB.UTF-8": "Open", "zhx": "Open",
		"zh": "打开", "zh-CN": "打开", "zh_CN.UTF-8": "打开",
	} {
		if got := WordsFor(locale).Open; got != want {
			t.Errorf("%q: got %q, want %q", locale, got, want)
		}
	}
	for n, want := range map[int]string{0: "Nothing is waiting", 1: "1 request is waiting", 12: "12 requests are waiting"} {
		if got := WordsFor("en").Waiting(n); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for n, want := range map[int]string{1: "1 request is still waiting", 2: "2 requests are still waiting"} {
		if got := WordsFor("en").QuitQuestion(n); !strings.HasPrefix(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := WordsFor("zh").QuitQuestion(3); !strings.Contains(got, "3") {
		t.Errorf("the question does not say how many wait: %q", got)
	}
}
