package attachments

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"slices"
	"strings"
)

var errDamaged = errors.New("damaged")

// strips take out of an image what tells more than it shows: where and when it was taken and with what, texts, small pictures of
// what it showed before, and whatever stands behind its end. The pixels stay as they are, and so does which way is up.
var strips = map[string]func([]byte) ([]byte, error){"image/png": stripPNG, "image/jpeg": stripJPEG, "image/webp": stripWebP, "image/gif": stripGIF}

// pngKept are the chunks of a PNG that change how it looks.
var pngKept = strings.Fields("IHDR PLTE IDAT IEND tRNS gAMA cHRM sRGB iCCP cICP sBIT bKGD pHYs acTL fcTL fdAT")

func stripPNG(data []byte) ([]byte, error) {
	const head = 8
	if len(data) < head {
		return nil, errDamaged
	}
	out, rest := slices.Clone(data[:head]), data[head:]
	for len(rest) >= 12 {
		n := int(binary.BigEndian.Uint32(rest))
		if n < 0 || n > len(rest)-12 {
			return nil, errDamaged
		}
		kind, chunk := string(rest[4:8]), rest[:12+n]
		if crc32.ChecksumIEEE(chunk[4:8+n]) != binary.BigEndian.Uint32(chunk[8+n:]) {
			return nil, errDamaged
		}
		if slices.Contains(pngKept, kind) {
			out = append(out, chunk...)
		}
		if kind == "IEND" {
			return out, nil
		}
		rest = rest[12+n:]
	}
	return nil, errDamaged
}

// Markers of a JPEG.
const (
	jpegSOI, jpegEOI, jpegSOS = 0xd8, 0xd9, 0xda
	jpegAPP0, jpegAPP15       = 0xe0, 0xef
	jpegCOM                   = 0xfe
)

func stripJPEG(data []byte) ([]byte, error) {
	if len(data) < 4 || data[0] != 0xff || data[1] != jpegSOI {
		return nil, errDamaged
	}
	out, rest := slices.Clone(data[:2]), data[2:]
	for len(rest) >= 2 {
		if rest[0] != 0xff {
			return nil, errDamaged
		}
		marker := rest[1]
		switch {
		case marker == 0xff: // filling
			rest = rest[1:]
			continue
		case marker == jpegEOI:
			return append(out, 0xff, jpegEOI), nil // what follows belongs to no picture
		case len(rest) < 4:
			return nil, errDamaged
		}
		n := 2 + int(binary.BigEndian.Uint16(rest[2:]))
		if n < 4 || n > len(rest) {
			return nil, errDamaged
		}
		out = append(out, jpegSegment(marker, rest[:n])...)
		rest = rest[n:]
		if marker == jpegSOS { // the pixels, up to a marker that is not one of theirs
			end := 0
			for ; end+1 < len(rest); end++ {
				if next := rest[end+1]; rest[end] == 0xff && next != 0 && (next < 0xd0 || next > 0xd7) && next != 0xff {
					break
				}
			}
			if end+1 >= len(rest) {
				return nil, errDamaged
			}
			out, rest = append(out, rest[:end]...), rest[end:]
		}
	}
	return nil, errDamaged
}

// jpegSegment is what is kept of a segment.
func jpegSegment(marker byte, segment []byte) []byte {
	switch body := segment[4:]; {
	case marker == jpegCOM:
		return nil
	case marker < jpegAPP0 || marker > jpegAPP15:
		return segment
	case marker == jpegAPP0 && bytes.HasPrefix(body, []byte("JFIF\x00")) && len(body) >= 14:
		plain := append([]byte{0xff, jpegAPP0, 0, 16}, body[:12]...)
		return append(plain, 0, 0) // without its small picture
	case marker == jpegAPP0+2 && bytes.HasPrefix(body, []byte("ICC_PROFILE\x00")), marker == jpegAPP0+14 && bytes.HasPrefix(body, []byte("Adobe")):
		return segment // colors
	case marker == jpegAPP0+1 && bytes.HasPrefix(body, []byte("Exif\x00\x00")):
		return orientation(body[6:])
	}
	return nil
}

// orientation is an Exif segment that says which way is up, as the given Exif does, and nothing else; nil where it says nothing.
func orientation(tiff []byte) []byte {
	if len(tiff) < 8 {
		return nil
	}
	var order binary.ByteOrder = binary.LittleEndian
	if tiff[0] == 'M' {
		order = binary.BigEndian
	}
	at := int64(order.Uint32(tiff[4:]))
	if at+2 > int64(len(tiff)) {
		return nil
	}
	entries := tiff[at+2:]
	for range order.Uint16(tiff[at:]) {
		if len(entries) < 12 {
			return nil
		}
		if order.Uint16(entries) == 0x112 {
			up := order.Uint16(entries[8:])
			if up < 2 || up > 8 {
				return nil
			}
			return append([]byte("\xff\xe1\x00\x22Exif\x00\x00MM\x00\x2a\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01"), 0, byte(up), 0, 0, 0, 0, 0, 0)
		}
		entries = entries[12:]
	}
	return nil
}

// webpExtra are the chunks of a WebP that tell more than it shows, and the flags of its first chunk that announce them.
var webpExtra = map[string]byte{"EXIF": 0x08, "XMP ": 0x04}

// webpKept are the others that mean something.
var webpKept = strings.Fields("VP8X VP8L ALPH ANIM ANMF ICCP")

func stripWebP(data []byte) ([]byte, error) {
	const head = 12
	if len(data) < head || string(data[:4]) != "RIFF" || string(data[8:12]) != "WEBP" {
		return nil, errDamaged
	}
	whole := int64(binary.LittleEndian.Uint32(data[4:])) + 8
	if whole < head || whole > int64(len(data)) {
		return nil, errDamaged
	}
	out, rest := slices.Clone(data[:head]), data[head:whole]
	for len(rest) >= 8 {
		n := int64(binary.LittleEndian.Uint32(rest[4:]))
		n += n & 1
		if n > int64(len(rest))-8 {
			return nil, errDamaged
		}
		if kind := string(rest[:4]); kind == "VP8 " || slices.Contains(webpKept, kind) {
			at := len(out)
			out = append(out, rest[:8+n]...)
			if kind == "VP8X" && n > 0 {
				for _, flag := range webpExtra {
					out[at+8] &^= flag
				}
			}
		}
		rest = rest[8+n:]
	}
	binary.LittleEndian.PutUint32(out[4:], uint32(len(out)-8))
	return out, nil
}

// gifKept are the extensions of applications that make a GIF move.
var gifKept = []string{"NETSCAPE2.0", "ANIMEXTS1.0"}

func stripGIF(data []byte) ([]byte, error) {
	const head = 13
	if len(data) < head {
		return nil, errDamaged
	}
	at := head + colors(data[10])
	keep := func(from int) bool { return from >= 0 && from <= len(data) }
	if !keep(at) {
		return nil, errDamaged
	}
	out := slices.Clone(data[:at])
	for at < len(data) {
		begin := at
		switch data[at] {
		case 0x3b: // the end
			return append(out, 0x3b), nil
		case 0x2c: // a picture
			if at+10 > len(data) {
				return nil, errDamaged
			}
			at += 10 + colors(data[at+9]) + 1
		case 0x21: // an extension
			at += 2
		default:
			return nil, errDamaged
		}
		for { // blocks
			if at >= len(data) {
				return nil, errDamaged
			}
			n := int(data[at])
			at += 1 + n
			if n == 0 {
				break
			}
		}
		if !keep(at) {
			return nil, errDamaged
		}
		if block := data[begin:at]; block[0] == 0x2c || block[1] == 0xf9 || block[1] == 0xff && len(block) >= 14 && slices.Contains(gifKept, string(block[3:14])) {
			out = append(out, block...)
		}
	}
	return nil, errDamaged
}

// colors is how many bytes a table of colors has, by the byte that announces it.
func colors(flags byte) int {
	if flags&0x80 == 0 {
		return 0
	}
	return 3 << (flags&7 + 1)
}
