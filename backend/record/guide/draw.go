package guide

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

// How pictures are cut, in units of the desktop and in pixels.
const (
	beside  = 8    // around the window
	above   = 36   // its title bar is not part of its bounds
	around  = 60   // around what is marked, where that is outside the window
	widest  = 1440 // pixels
	jpegish = 82
)

// A view is the part of a picture that is shown: it turns places of the desktop into pixels.
type view struct {
	cut   human.Bounds // of the desktop
	scale float64      // pixels for a unit
}

func (v view) point(x, y int) (float64, float64) {
	return (float64(x-v.cut.X) + 0.5) * v.scale, (float64(y-v.cut.Y) + 0.5) * v.scale
}

// A mark is drawn over a picture, never into the file of a recording.
type mark struct {
	Kind           string // ring, box, arrow
	X, Y, X2, Y2   float64
	Width, Height  float64
	Second, Double bool
}

// marks are what is to be shown of an action in its picture, in pixels of it.
func marks(a human.Action, v view) []mark {
	if v.scale == 0 {
		v.scale = 1
	}
	box := func(e *human.Element) (mark, bool) {
		if e == nil || e.Bounds.W < 4 || e.Bounds.H < 4 {
			return mark{}, false
		}
		x, y := v.point(e.Bounds.X, e.Bounds.Y)
		return mark{Kind: "box", X: x - 2, Y: y - 2, Width: float64(e.Bounds.W)*v.scale + 4, Height: float64(e.Bounds.H)*v.scale + 4}, true
	}
	var out []mark
	switch a.Type {
	case human.Click, human.DoubleClick, human.TripleClick:
		x, y := v.point(a.X, a.Y)
		if m, ok := box(a.Element); ok && a.Element.Bounds.W*a.Element.Bounds.H < 640*240 {
			out = append(out, m)
		}
		out = append(out, mark{Kind: "ring", X: x, Y: y, Double: a.Type != human.Click, Second: a.Button == 3})
	case human.Drag, human.MoveWindow, human.ResizeWindow:
		x, y := v.point(a.X, a.Y)
		x2, y2 := v.point(a.ToX, a.ToY)
		out = append(out, mark{Kind: "arrow", X: x, Y: y, X2: x2, Y2: y2}, mark{Kind: "ring", X: x, Y: y})
	case human.Typing, human.Paste, human.Choose, human.Check, human.Upload:
		if m, ok := box(a.Element); ok {
			out = append(out, m)
		}
	case human.Hover:
		x, y := v.point(a.X, a.Y)
		if m, ok := box(a.Element); ok {
			out = append(out, m)
		} else if a.X != 0 || a.Y != 0 {
			out = append(out, mark{Kind: "ring", X: x, Y: y})
		}
	case human.Extract:
		if a.Pick != nil {
			if m, ok := box(&human.Element{Bounds: a.Pick.Bounds}); ok { // of the crop
				out = append(out, m)
			}
		}
	}
	return out
}

// A shot is a part of a picture, encoded.
type shot struct {
	W, H  int
	Media string
	Ext   string
	Alt   string // what it shows, for those who do not see it
	Data  []byte
	Marks []mark
}

// take cuts out of the picture what the action was about and encodes it; draw draws the marks into it.
func take(f *record.Frame, a human.Action, draw bool) (*shot, error) {
	if f == nil || f.W <= 0 || f.H <= 0 || len(f.Pix) < 4*f.W*f.H {
		return nil, nil
	}
	scale := f.Scale
	if scale <= 0 {
		scale = 1
	}
	switch p := a.Page; {
	case a.Type == human.Extract: // a crop, of which the places are in its own pixels
		f, scale = &record.Frame{W: f.W, H: f.H, Pix: f.Pix}, 1
	case p != nil && p.W > 0 && p.H > 0: // the whole page that is seen, and nothing else
		f, scale = &record.Frame{W: f.W, H: f.H, Pix: f.Pix}, float64(f.W)/float64(p.W)
	}
	whole := human.Bounds{X: f.X, Y: f.Y, W: int(float64(f.W) / scale), H: int(float64(f.H) / scale)}
	cut := cutout(a, whole)
	if cut.W <= 0 || cut.H <= 0 {
		return nil, nil
	}
	src := image.Rect(int(float64(cut.X-f.X)*scale), int(float64(cut.Y-f.Y)*scale), int(float64(cut.X-f.X+cut.W)*scale), int(float64(cut.Y-f.Y+cut.H)*scale)).
		Intersect(image.Rect(0, 0, f.W, f.H))
	if src.Empty() {
		return nil, nil
	}
	img := shrink(f, src, widest)
	v := view{cut: cut, scale: scale * float64(img.Rect.Dx()) / float64(src.Dx())}
	s := &shot{W: img.Rect.Dx(), H: img.Rect.Dy(), Marks: marks(a, v)}
	if draw {
		for _, m := range s.Marks {
			m.draw(img)
		}
	}
	return s, s.encode(img)
}

// encode takes PNG where it is small, as for plain windows, and JPEG for the rest.
func (s *shot) encode(img *image.RGBA) error {
	var p bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&p, img); err != nil {
		return err
	}
	s.Media, s.Ext, s.Data = "image/png", "png", p.Bytes()
	if p.Len() < 96<<10 {
		return nil
	}
	var j bytes.Buffer
	if err := jpeg.Encode(&j, img, &jpeg.Options{Quality: jpegish}); err != nil {
		return err
	}
	if j.Len() < p.Len() {
		s.Media, s.Ext, s.Data = "image/jpeg", "jpg", j.Bytes()
	}
	return nil
}

// cutout is the window with what is marked; the whole desktop where no window is known.
func cutout(a human.Action, whole human.Bounds) human.Bounds {
	w := a.Window
	if w == nil || a.Page != nil || w.Bounds.W < 40 || w.Bounds.H < 40 {
		return whole
	}
	r := image.Rect(w.Bounds.X-beside, w.Bounds.Y-above, w.Bounds.X+w.Bounds.W+beside, w.Bounds.Y+w.Bounds.H+beside)
	add := func(x, y int) {
		if !image.Pt(x, y).In(r) {
			r = r.Union(image.Rect(x-around, y-around, x+around, y+around))
		}
	}
	switch a.Type {
	case human.Click, human.DoubleClick, human.TripleClick, human.Scroll:
		add(a.X, a.Y)
	case human.Drag, human.MoveWindow, human.ResizeWindow:
		add(a.X, a.Y)
		add(a.ToX, a.ToY)
	}
	all := image.Rect(whole.X, whole.Y, whole.X+whole.W, whole.Y+whole.H)
	if r = r.Intersect(all); r.Empty() {
		return whole
	}
	return human.Bounds{X: r.Min.X, Y: r.Min.Y, W: r.Dx(), H: r.Dy()}
}

// shrink copies a part of a frame, made smaller by a whole number where it is wider than wide: each pixel is
// the mean of those it stands for.
func shrink(f *record.Frame, src image.Rectangle, wide int) *image.RGBA {
	n := (src.Dx() + wide - 1) / wide
	w, h := max(src.Dx()/n, 1), max(src.Dy()/n, 1)
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			var r, g, b, k int
			for dy := 0; dy < n && src.Min.Y+y*n+dy < f.H; dy++ {
				row := 4 * ((src.Min.Y+y*n+dy)*f.W + src.Min.X + x*n)
				for dx := 0; dx < n && src.Min.X+x*n+dx < f.W; dx++ {
					p := f.Pix[row+4*dx:]
					b, g, r, k = b+int(p[0]), g+int(p[1]), r+int(p[2]), k+1
				}
			}
			o := img.Pix[img.PixOffset(x, y):]
			o[0], o[1], o[2], o[3] = byte(r/k), byte(g/k), byte(b/k), 255
		}
	}
	return img
}

var (
	red   = color.RGBA{0xd0, 0x1f, 0x3c, 0xff}
	white = color.RGBA{0xff, 0xff, 0xff, 0xff}
)

// Sizes of marks, in pixels; the page's drawing has the same.
const (
	ring  = 15.0
	inner = 9.0
	thick = 2.5
	halo  = 5.0
	faint = 0.55 // of the edge: what is under it can still be read
	tip   = 14.0
)

// draw draws a mark with a white edge, so that it is seen on any ground.
func (m mark) draw(img *image.RGBA) {
	lines := m.lines()
	for _, pass := range []struct {
		c     color.RGBA
		width float64
		full  float64
	}{{white, halo, faint}, {red, thick, 1}} {
		for _, d := range lines {
			stroke(img, d, pass.c, pass.width, pass.full)
		}
	}
}

// A distance says how far a place is from a line.
type distance struct {
	of     func(x, y float64) float64
	bounds image.Rectangle
}

func (m mark) lines() []distance {
	circle := func(r float64) distance {
		return distance{
			func(x, y float64) float64 { return math.Abs(math.Hypot(x-m.X, y-m.Y) - r) },
			image.Rect(int(m.X-r), int(m.Y-r), int(m.X+r), int(m.Y+r)),
		}
	}
	switch m.Kind {
	case "ring":
		if m.Double {
			return []distance{circle(ring), circle(inner)}
		}
		return []distance{circle(ring)}
	case "box":
		x2, y2 := m.X+m.Width, m.Y+m.Height
		return []distance{segment(m.X, m.Y, x2, m.Y), segment(x2, m.Y, x2, y2), segment(x2, y2, m.X, y2), segment(m.X, y2, m.X, m.Y)}
	case "arrow":
		w := m.wings()
		return []distance{segment(m.X, m.Y, m.X2, m.Y2), segment(m.X2, m.Y2, w[0], w[1]), segment(m.X2, m.Y2, w[2], w[3])}
	}
	return nil
}

// wings are the ends of the two short lines at an arrow's tip.
func (m mark) wings() [4]float64 {
	at := math.Atan2(m.Y2-m.Y, m.X2-m.X)
	end := func(turn float64) (float64, float64) {
		return m.X2 - tip*math.Cos(at+turn), m.Y2 - tip*math.Sin(at+turn)
	}
	x1, y1 := end(0.5)
	x2, y2 := end(-0.5)
	return [4]float64{x1, y1, x2, y2}
}

func segment(x1, y1, x2, y2 float64) distance {
	dx, dy := x2-x1, y2-y1
	long := dx*dx + dy*dy
	return distance{
		func(x, y float64) float64 {
			t := 0.0
			if long > 0 {
				t = min(max(((x-x1)*dx+(y-y1)*dy)/long, 0), 1)
			}
			return math.Hypot(x-x1-t*dx, y-y1-t*dy)
		},
		image.Rect(int(min(x1, x2)), int(min(y1, y2)), int(max(x1, x2)), int(max(y1, y2))),
	}
}

func stroke(img *image.RGBA, d distance, c color.RGBA, width, full float64) {
	r := image.Rect(d.bounds.Min.X-8, d.bounds.Min.Y-8, d.bounds.Max.X+9, d.bounds.Max.Y+9).Intersect(img.Rect)
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			cover := full * min(max(width/2+0.5-d.of(float64(x)+0.5, float64(y)+0.5), 0), 1)
			if cover == 0 {
				continue
			}
			o := img.Pix[img.PixOffset(x, y):]
			for i, to := range []byte{c.R, c.G, c.B} {
				o[i] = byte(float64(o[i])*(1-cover) + float64(to)*cover + 0.5)
			}
		}
	}
}
