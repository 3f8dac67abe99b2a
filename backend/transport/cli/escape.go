package cli

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"deskbell/backend/human"
)

// visible makes text from elsewhere safe to print: whatever a terminal would obey or a reader would not
// see (controls, bidirectional overrides, zero-width characters, bytes that are no UTF-8) is shown as a code
// point in brackets. Line breaks and tabs stay.
func visible(text string) string {
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, "⟨%02X⟩", text[0])
		case r == '\n' || r == '\t' || printable(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		}
		text = text[size:]
	}
	return b.String()
}

func printable(r rune) bool { return unicode.IsPrint(r) && !invisible(r) }

// escapeJSON spells the runes of valid JSON that visible would bracket as escapes. They stand in strings
// only.
func escapeJSON(line []byte) []byte {
	out := make([]byte, 0, len(line))
	for _, r := range string(line) {
		switch {
		case printable(r):
			out = utf8.AppendRune(out, r)
		case r > 0xFFFF:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return out
}

// invisible finds the letters and marks that print as nothing: Hangul fillers, the grapheme joiner,
// variation selectors, the empty Braille cell.
func invisible(r rune) bool {
	switch {
	case r == 0x034F, r == 0x115F, r == 0x1160, r == 0x3164, r == 0xFFA0, r == 0x2800, r == 0x17B4, r == 0x17B5:
		return true
	case r >= 0x180B && r <= 0x180F, r >= 0xFE00 && r <= 0xFE0E, r >= 0xE0000 && r <= 0xE0FFF:
		return true // U+FE0F only asks for the picture of a sign, and is everywhere
	}
	return false
}

// oneLine is visible text without line breaks, cut to at most n runes.
func oneLine(text string, n int) string {
	return human.Shorten(visible(strings.Join(strings.Fields(text), " ")), n)
}

// indent puts a margin before every line of visible text.
func indent(text, margin string) string {
	return margin + strings.ReplaceAll(strings.TrimRight(visible(text), "\n"), "\n", "\n"+margin)
}
