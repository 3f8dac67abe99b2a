package pictures

import (
	"image"
	"image/jpeg"
	"image/png"
	"io"

	"golang.org/x/image/draw"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

// Encode writes a picture as "png" or "jpeg", made smaller to width pixels where it is wider; 0 leaves it as
// it is. The frame stays as it is.
func Encode(w io.Writer, f *record.Frame, format string, width int) error {
	var img draw.Image = Image(f)
	if width > 0 && width < f.W {
		small := image.NewRGBA(image.Rect(0, 0, width, max(1, (f.H*width+f.W/2)/f.W)))
		// A kernel, so that thin lines and letters are averaged and not skipped.
		draw.BiLinear.Scale(small, small.Bounds(), img, img.Bounds(), draw.Src, nil)
		img = small
	}
	switch format {
	case "png":
		return (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(w, img)
	case "jpeg":
		return jpeg.Encode(w, img, &jpeg.Options{Quality: 85})
	}
	return human.BadField("format", "%q is not one of png, jpeg", format)
}

// Image is the picture with red first, opaque.
func Image(f *record.Frame) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, f.W, f.H))
	to := img.Pix
	for from := f.Pix; len(from) >= 4 && len(to) >= 4; from, to = from[4:], to[4:] {
		to[0], to[1], to[2], to[3] = from[2], from[1], from[0], 0xff
	}
	return img
}
