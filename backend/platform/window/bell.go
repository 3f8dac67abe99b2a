package window

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/png"
	"math"
)

// Colors of the design's tokens: brass, what stands on it, the red of a recording, and a grey that holds 3:1 against light and
// dark panels alike (text-3 of the light theme and line-control lie on either side of it).
var (
	Brass   = color.NRGBA{0xd9, 0xa9, 0x3f, 0xff}
	OnBrass = color.NRGBA{0x15, 0x12, 0x06, 0xff}
	Silent  = color.NRGBA{0x8a, 0x8a, 0x82, 0xff}
	Red     = color.NRGBA{0xe0, 0x3e, 0x36, 0xff} // of a recording: 4:1 against white and near-black
)

// A shape gives the signed distance of a point to its edge, negative inside, in the bell's own units: a
// square of 32.
type shape func(x, y float64) float64

func roundRect(x, y, w, h, r float64) shape {
	cx, cy := x+w/2, y+h/2
	return func(px, py float64) float64 {
		dx, dy := math.Abs(px-cx)-w/2+r, math.Abs(py-cy)-h/2+r
		return math.Hypot(max(dx, 0), max(dy, 0)) + min(max(dx, dy), 0) - r
	}
}

func circle(cx, cy, r float64) shape {
	return func(x, y float64) float64 { return math.Hypot(x-cx, y-cy) - r }
}

func stroke(x0, y0, x1, y1, width float64) shape {
	dx, dy := x1-x0, y1-y0
	length := dx*dx + dy*dy
	return func(x, y float64) float64 {
		t := 0.0
		if length > 0 {
			t = min(1, max(0, ((x-x0)*dx+(y-y0)*dy)/length))
		}
		return math.Hypot(x-x0-t*dx, y-y0-t*dy) - width/2
	}
}

func union(shapes ...shape) shape {
	return func(x, y float64) float64 {
		d := math.Inf(1)
		for _, s := range shapes {
			d = min(d, s(x, y))
		}
		return d
	}
}

func outline(s shape, width float64) shape {
	return func(x, y float64) float64 { return math.Abs(s(x, y)) - width/2 }
}

func offset(s shape, x, y, scale float64) shape {
	return func(px, py float64) float64 { return s((px-x)/scale, (py-y)/scale) * scale }
}

// The bell: dome, base, stem and button.
func bellParts() []shape {
	dome := func(x, y float64) float64 { return max(math.Hypot(x-16, y-22)-12, y-22) }
	return []shape{dome, roundRect(2, 24.5, 28, 3, 1.5), roundRect(15, 6.5, 2, 4, 0), roundRect(11.5, 4, 9, 3, 1.5)}
}

// A canvas is drawn on in the bell's units, whatever its size in pixels.
type canvas struct {
	*image.NRGBA
}

func newCanvas(px int) canvas { return canvas{image.NewNRGBA(image.Rect(0, 0, px, px))} }

// fill paints a shape over what is there, with edges one pixel soft; erase makes it transparent instead.
func (c canvas) fill(s shape, col color.NRGBA) { c.each(s, col, false) }
func (c canvas) erase(s shape)                 { c.each(s, color.NRGBA{}, true) }

func (c canvas) each(s shape, col color.NRGBA, erase bool) {
	px := c.Bounds().Dx()
	unit := 32 / float64(px)
	for y := range px {
		for x := range px {
			cover := min(1, max(0, 0.5-s((float64(x)+0.5)*unit, (float64(y)+0.5)*unit)/unit))
			if cover == 0 {
				continue
			}
			old := c.NRGBAAt(x, y)
			under := float64(old.A) / 255 * (1 - cover)
			if erase {
				old.A = uint8(math.Round(under * 255))
				c.SetNRGBA(x, y, old)
				continue
			}
			over := cover * float64(col.A) / 255
			alpha := over + under
			mix := func(a, b uint8) uint8 {
				return uint8(math.Round((float64(a)*over + float64(b)*under) / alpha))
			}
			c.SetNRGBA(x, y, color.NRGBA{mix(col.R, old.R), mix(col.G, old.G), mix(col.B, old.B), uint8(math.Round(alpha * 255))})
		}
	}
}

// Bell draws the desk bell, px pixels square: filled brass when it rings, a grey outline when it does not.
func Bell(px int, ringing bool) image.Image {
	c := newCanvas(px)
	drawBell(c, ringing)
	return c.NRGBA
}

func drawBell(c canvas, ringing bool) {
	if ringing {
		c.fill(union(bellParts()...), Brass)
		return
	}
	// A line of 1.25 units vanishes in a panel, where the bell is 16 to 24 pixels high.
	width := max(1.25, 1.4*32/float64(c.Bounds().Dx()))
	parts := bellParts()
	for i := range parts {
		parts[i] = outline(parts[i], width)
	}
	c.fill(union(parts...), Silent)
}

// TrayBell is the bell for a panel: silent with nothing pending, and with the count on a badge otherwise
// ('9+' above nine: more digits could not be read). While the desktop is recorded a red disc stands at its
// lower right, two bars while that is paused; two grey bars while the operator is not to be disturbed.
func TrayBell(px, pending int, recording Recording, quiet bool) image.Image {
	c := newCanvas(px)
	drawBell(c, pending > 0)
	if pending > 0 {
		badge := circle(22.5, 9.5, 9.5)
		text := digit(min(pending, 9), 22.5, 9.5, 11.5)
		if pending > 9 {
			badge = roundRect(8, 0, 24, 19, 9.5)
			text = union(digit(9, 16.2, 9.5, 11.5), stroke(21.5, 9.5, 28.5, 9.5, 2.1), stroke(25, 6, 25, 13, 2.1))
		}
		c.erase(func(x, y float64) float64 { return badge(x, y) - 1.5 })
		c.fill(badge, Brass)
		c.fill(text, OnBrass)
	}
	sign, ink := circle(24.5, 24.5, 7), Red
	if recording == NotRecording {
		ink = Silent
	}
	if recording != Recorded {
		sign = union(roundRect(18, 18, 4.5, 13, 1.5), roundRect(26, 18, 4.5, 13, 1.5))
	}
	if recording != NotRecording || quiet {
		c.erase(func(x, y float64) float64 { return sign(x, y) - 1.5 })
		c.fill(sign, ink)
	}
	return c.NRGBA
}

// digit draws one digit, height units high, around a center. On a badge of 14 pixels no font of the
// system can be relied on, and the standard library has none.
func digit(n int, cx, cy, height float64) shape {
	// In a cell 6 wide and 10 high.
	const w = 1.9
	line := func(points ...float64) shape {
		var s []shape
		for i := 0; i+3 < len(points); i += 2 {
			s = append(s, stroke(points[i], points[i+1], points[i+2], points[i+3], w))
		}
		return union(s...)
	}
	ring := func(x, y, r float64) shape { return outline(circle(x, y, r), w) }
	// arc is the part of a request where keep holds.
	arc := func(x, y, r float64, keep func(x, y float64) bool) shape {
		full := ring(x, y, r)
		return func(px, py float64) float64 {
			if keep(px, py) {
				return full(px, py)
			}
			return math.Inf(1)
		}
	}
	var s shape
	switch n {
	case 1:
		s = line(1.4, 2.6, 3.6, 0.9, 3.6, 9.1)
	case 2:
		s = union(arc(3, 3.2, 2.3, func(x, y float64) bool { return y < 3.2 || (x > 3 && y < 5) }), line(4.9, 4.6, 0.9, 9.1, 5.5, 9.1))
	case 3:
		s = union(line(0.9, 0.9, 5, 0.9, 2.9, 4), arc(2.9, 6.6, 2.5, func(x, y float64) bool { return y > 7.6 || x > 2.9 }))
	case 4:
		s = union(line(3.9, 9.1, 3.9, 0.9, 0.7, 6.7, 5.6, 6.7))
	case 5:
		s = union(line(5, 0.9, 1.4, 0.9, 1.2, 4.6), arc(2.8, 6.5, 2.6, func(x, y float64) bool { return x > 1.2 || y > 7.6 }))
	case 6:
		s = union(ring(3, 6.5, 2.6), line(4, 0.9, 0.9, 5.1))
	case 7:
		s = line(0.8, 0.9, 5.2, 0.9, 2.2, 9.1)
	case 8:
		s = union(ring(3, 2.9, 2), ring(3, 7, 2.2))
	case 9:
		s = union(ring(3, 3.5, 2.6), line(5.1, 4.9, 2, 9.1))
	default:
		s = union(arc(3, 3.3, 2.4, func(_, y float64) bool { return y < 3.3 }), arc(3, 6.7, 2.4, func(_, y float64) bool { return y > 6.7 }), line(0.6, 3.3, 0.6, 6.7), line(5.4, 3.3, 5.4, 6.7))
	}
	scale := height / 10
	return offset(s, cx-3*scale, cy-5*scale, scale)
}

// AppIcon is the program's icon: the brass bell on a dark tile.
func AppIcon(px int) image.Image {
	c := newCanvas(px)
	c.fill(roundRect(1, 1, 30, 30, 6.75), color.NRGBA{0x1c, 0x1c, 0x1a, 0xff})
	bell := union(bellParts()...)
	c.fill(offset(bell, 4, 4.1, 24.0/32), Brass)
	return c.NRGBA
}

// PNG encodes an image.
func PNG(img image.Image) []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(err) // writing to memory does not fail, and these images are never empty
	}
	return b.Bytes()
}

// ICO packs square images of at most 256 pixels into a Windows icon, uncompressed below 256 because not
// every reader of small icons knows PNG.
func ICO(images ...image.Image) []byte {
	var head, data bytes.Buffer
	le := binary.LittleEndian
	write := func(b *bytes.Buffer, values ...any) {
		for _, v := range values {
			_ = binary.Write(b, le, v) // a bytes.Buffer takes everything
		}
	}
	write(&head, uint16(0), uint16(1), uint16(len(images)))
	for _, img := range images {
		px := img.Bounds().Dx()
		var one bytes.Buffer
		if px >= 256 {
			one.Write(PNG(img))
		} else {
			row := (px + 31) / 32 * 4 // the mask: one bit a pixel, rows of whole 32 bits
			write(&one, uint32(40), int32(px), int32(2*px), uint16(1), uint16(32), uint32(0), uint32(px*px*4+row*px), int32(0), int32(0), uint32(0), uint32(0))
			for y := px - 1; y >= 0; y-- {
				for x := range px {
					p := color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA)
					one.Write([]byte{p.B, p.G, p.R, p.A})
				}
			}
			one.Write(make([]byte, row*px))
		}
		write(&head, uint8(px), uint8(px), uint8(0), uint8(0), uint16(1), uint16(32), uint32(one.Len()), uint32(6+16*len(images)+data.Len()))
		data.Write(one.Bytes())
	}
	return append(head.Bytes(), data.Bytes()...)
}
