package x11

import (
	"context"
	"encoding/binary"

	"deskbell/backend/human"
)

// A pixelFormat is how a server lays out the pixels of its screen: little-endian, each in bytes bytes, each
// row a multiple of 4 bytes long.
type pixelFormat struct {
	depth       byte
	bytes       int
	shift, mask [3]uint32 // of blue, green and red
}

// bgrx is what nearly every server has, and what a record.Frame has.
var bgrx = pixelFormat{24, 4, [3]uint32{0, 8, 16}, [3]uint32{0xff, 0xff, 0xff}}

// pixelFormat asks for the root window's, through the Render extension: it tells every visual's bits.
// Unavailable where colors stand in a palette.
func (w *wire) pixelFormat(ctx context.Context) (pixelFormat, error) {
	render, _, err := w.extension(ctx, "RENDER")
	if err != nil {
		return pixelFormat{}, lost(err)
	}
	if render == 0 {
		return pixelFormat{}, human.Errorf(human.Unavailable, "the X server has no extension RENDER, which says what its pixels mean")
	}
	const renderVersion, renderFormats = 0, 1
	replies, err := w.batch(ctx, [][]byte{
		request1(opGetAttributes, 0, w.root), request1(render, renderVersion, 0, 11), request1(render, renderFormats),
	}, nil)
	if err != nil {
		return pixelFormat{}, lost(err)
	}
	if replies[0] != nil && replies[2] != nil {
		if format, ok := formatOf(binary.LittleEndian.Uint32(replies[0][8:]), replies[2]); ok {
			return format, nil
		}
	}
	return pixelFormat{}, human.Errorf(human.Unavailable, "the X server's screen has a palette of colors, which is not supported")
}

// formatOf finds a visual in the reply to RenderQueryPictFormats; ok is false where it has a palette.
func formatOf(visual uint32, f []byte) (format pixelFormat, ok bool) {
	const formatSize = 28
	word := func(at uint64) uint32 {
		if at+4 > uint64(len(f)) {
			return 0
		}
		return binary.LittleEndian.Uint32(f[at:])
	}
	formats, screens := uint64(word(8)), uint64(word(12))
	wanted, at := uint32(0), 32+formatSize*formats
	for ; screens > 0 && at < uint64(len(f)); screens-- {
		depths := uint64(word(at))
		for at += 8; depths > 0 && at < uint64(len(f)); depths-- {
			visuals := uint64(word(at) >> 16)
			for at += 8; visuals > 0; visuals-- {
				if word(at) == visual {
					wanted = word(at + 4)
				}
				at += 8
			}
		}
	}
	for at = 32; formats > 0 && at+formatSize <= uint64(len(f)); formats, at = formats-1, at+formatSize {
		const direct = 1
		if word(at) != wanted || f[at+4] != direct {
			continue
		}
		format.depth, format.bytes = f[at+5], 4
		if format.depth <= 16 {
			format.bytes = 2
		}
		if format.depth <= 8 {
			format.bytes = 1
		}
		for i, c := range []uint64{16, 12, 8} {
			format.shift[i], format.mask[i] = word(at+c)&0xffff, word(at+c)>>16
		}
		return format, wanted != 0 && format.mask[0] != 0 && format.mask[1] != 0 && format.mask[2] != 0
	}
	return format, false
}

// stride is the bytes of a row.
func (p pixelFormat) stride(width int) int { return (p.bytes*width + 3) / 4 * 4 }

// unpack writes rows of width pixels as a record.Frame has them.
func (p pixelFormat) unpack(to, from []byte, width int) {
	same := bgrx
	if same.depth = p.depth; p == same { // 32 has a fourth byte that means something, which is left aside
		copy(to, from)
		return
	}
	for stride := p.stride(width); len(to) >= 4*width && len(from) >= stride; to, from = to[4*width:], from[stride:] {
		for x := range width {
			var v uint32
			switch p.bytes {
			case 1:
				v = uint32(from[x])
			case 2:
				v = uint32(binary.LittleEndian.Uint16(from[2*x:]))
			default:
				v = binary.LittleEndian.Uint32(from[4*x:])
			}
			for i, mask := range p.mask {
				to[4*x+i] = byte(((v>>p.shift[i]&mask)*255 + mask/2) / mask)
			}
			to[4*x+3] = 0xff
		}
	}
}
