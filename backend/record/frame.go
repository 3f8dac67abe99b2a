package record

import (
	"math"

	"deskbell/backend/human"
)

// Fill paints a part of the desktop in one color. What lies outside of the picture is left out. A unit that
// a pixel's edge divides takes the whole pixel with it.
func (f *Frame) Fill(b human.Bounds, blue, green, red byte) {
	scale := f.Scale
	if scale <= 0 {
		scale = 1
	}
	at := func(v float64, size int) int { return min(max(int(v), 0), size) }
	x0, x1 := at(math.Floor(float64(b.X-f.X)*scale), f.W), at(math.Ceil(float64(b.X+b.W-f.X)*scale), f.W)
	y0, y1 := at(math.Floor(float64(b.Y-f.Y)*scale), f.H), at(math.Ceil(float64(b.Y+b.H-f.Y)*scale), f.H)
	if x0 >= x1 || y0 >= y1 {
		return
	}
	first := f.Pix[4*(y0*f.W+x0) : 4*(y0*f.W+x1)]
	for i := 0; i < len(first); i += 4 {
		first[i], first[i+1], first[i+2], first[i+3] = blue, green, red, 0xff
	}
	for y := y0 + 1; y < y1; y++ {
		copy(f.Pix[4*(y*f.W+x0):], first)
	}
}

// Black paints a part of the desktop black.
func (f *Frame) Black(b human.Bounds) { f.Fill(b, 0, 0, 0) }

// blackLike is a black picture of the size and place of another.
func blackLike(f *Frame) *Frame {
	b := *f
	b.Pix = make([]byte, len(f.Pix))
	b.Black(b.Bounds())
	return &b
}

// Bounds are what the picture shows of the desktop.
func (f *Frame) Bounds() human.Bounds {
	scale := f.Scale
	if scale <= 0 {
		scale = 1
	}
	return human.Bounds{X: f.X, Y: f.Y, W: int(math.Ceil(float64(f.W) / scale)), H: int(math.Ceil(float64(f.H) / scale))}
}
