package attachments

import (
	"bytes"
	"image"
	_ "image/gif"  // to know how large one is
	_ "image/jpeg" // likewise
	_ "image/png"  // likewise
	"net/http"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	_ "golang.org/x/image/webp" // likewise

	"deskbell/backend/human"
)

// Limits in bytes. A megabyte has 1,000,000.
const (
	megabyte  = 1_000_000
	maxPixels = 50_000_000 // of an image, however few bytes it has
	maxName   = 120        // characters
)

const (
	textType  = "text/plain"
	otherType = "application/octet-stream"
)

// types are what files can be, by their bytes alone: never by a name or by what the sender says. Whatever is nothing else is
// kept to be downloaded and never opened. HTML and SVG are text here, since browsers would run what is in them.
var types = []struct {
	media string
	most  int
	is    func(data []byte) bool
}{
	{"image/png", human.LargestAttachment, sniffed("image/png")},
	{"image/jpeg", human.LargestAttachment, sniffed("image/jpeg")},
	{"image/gif", human.LargestAttachment, sniffed("image/gif")},
	{"image/webp", human.LargestAttachment, sniffed("image/webp")},
	{"application/pdf", human.LargestAttachment, sniffed("application/pdf")},
	{textType, 1 * megabyte, isText},
	{otherType, 5 * megabyte, func([]byte) bool { return true }},
}

func sniffed(media string) func([]byte) bool {
	return func(data []byte) bool { return http.DetectContentType(data) == media }
}

// isText says whether data is UTF-8 without what no text has.
func isText(data []byte) bool {
	return utf8.Valid(data) && !bytes.ContainsFunc(data, func(r rune) bool { return r < ' ' && !strings.ContainsRune("\t\n\v\f\r\x1b", r) || r == 0x7f })
}

// mediaOf is a file's type; too large for it is an error. So is an image that is damaged, or that would take more memory than its
// bytes let on.
func mediaOf(name string, data []byte) (a human.Attachment, err error) {
	if len(data) == 0 {
		return a, human.Errorf(human.Invalid, "%s is empty; send the file's bytes", name)
	}
	i := slices.IndexFunc(types, func(t struct {
		media string
		most  int
		is    func(data []byte) bool
	}) bool {
		return t.is(data)
	})
	t := types[i] // the last takes all
	a = human.Attachment{Name: name, Media: t.media, Size: int64(len(data)), Check: human.CheckNotMade}
	if len(data) > t.most {
		return a, human.Errorf(human.Invalid, "%s has %d bytes; the limit for %s is %d: send a part, or say where the file is", name, len(data), t.media, t.most)
	}
	if !a.Picture() {
		return a, nil
	}
	c, format, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil || "image/"+format != a.Media || c.Width < 1 || c.Height < 1 {
		return a, human.Errorf(human.Invalid, "%s begins as %s and cannot be read as that; it may be damaged", name, a.Media)
	}
	if c.Width > maxPixels/c.Height {
		return a, human.Errorf(human.Invalid, "%s has %d by %d pixels; the limit is %d in all: send a smaller one", name, c.Width, c.Height, maxPixels)
	}
	a.Width, a.Height = c.Width, c.Height
	return a, nil
}

// nameOf is a file's name as it can be shown, and saved under, anywhere: without folders, control characters and signs that turn
// the direction of writing, which make an .exe look like a .png.
func nameOf(sent string) string {
	name := path.Base(strings.ReplaceAll(strings.ToValidUTF8(sent, ""), `\`, "/"))
	name = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r):
			return -1
		case strings.ContainsRune(`<>:"|?*/`, r) || unicode.IsSpace(r) && r != ' ':
			return '_'
		}
		return r
	}, name)
	name = strings.TrimLeft(strings.TrimRight(name, " ."), " ")
	if name == "" || name == "_" {
		return "file"
	}
	if runes := []rune(name); len(runes) > maxName {
		ending := []rune(path.Ext(name))
		if len(ending) > 16 {
			ending = nil
		}
		name = string(runes[:maxName-len(ending)-1]) + "…" + string(ending)
	}
	return name
}

// utf8Of is text that Windows' programs write in UTF-16 with its mark, in UTF-8; ok is false for all else.
func utf8Of(data []byte) (text []byte, ok bool) {
	if len(data) < 4 || len(data)%2 != 0 {
		return nil, false
	}
	high, low := 1, 0
	switch {
	case data[0] == 0xff && data[1] == 0xfe:
	case data[0] == 0xfe && data[1] == 0xff:
		high, low = 0, 1
	default:
		return nil, false
	}
	units := make([]uint16, 0, len(data)/2-1)
	for i := 2; i < len(data); i += 2 {
		units = append(units, uint16(data[i+high])<<8|uint16(data[i+low]))
	}
	text = []byte(string(utf16.Decode(units)))
	return text, isText(text)
}
