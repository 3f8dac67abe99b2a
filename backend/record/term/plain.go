package term

import (
	"strings"
	"unicode/utf8"
)

// plain is what raw output says as text: without control sequences, so that none within a word parts it, with what backspaces
// deleted gone, and lines joined where a line editor broke them at the right margin (a space and a carriage return).
func plain(raw string) string {
	var b []byte
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case c == esc:
			i = skip(raw, i)
		case c == '\r' && i+1 < len(raw) && raw[i+1] == '\n', c == '\r' && i+2 < len(raw) && raw[i+1] == '\r' && raw[i+2] == '\n':
		case c == '\r':
			if n := len(b); n > 0 && b[n-1] == ' ' {
				b = b[:n-1]
			} else {
				b = append(b, ' ')
			}
		case c == '\b':
			if n := len(b); n > 0 && b[n-1] != '\n' {
				_, size := utf8.DecodeLastRune(b)
				b = b[:n-size]
			}
		case c == '\n' || c == '\t' || c >= 0x20 && c != 0x7f:
			b = append(b, c)
		}
	}
	return strings.ToValidUTF8(string(b), "�")
}

// skip is the index of the last byte of the control sequence that begins at i.
func skip(raw string, i int) int {
	if i+1 >= len(raw) {
		return i
	}
	switch c := raw[i+1]; {
	case c == '[':
		for j := i + 2; j < len(raw); j++ {
			if raw[j] >= 0x40 && raw[j] <= 0x7e {
				return j
			}
			if raw[j] < 0x20 { // no CSI after all
				return j - 1
			}
		}
		return len(raw) - 1
	case strings.IndexByte("]P_^X", c) >= 0:
		for j := i + 2; j < len(raw); j++ {
			if raw[j] == bel && c == ']' {
				return j
			}
			if raw[j] == esc {
				if j+1 < len(raw) && raw[j+1] == '\\' {
					return j + 1
				}
				return j - 1
			}
		}
		return len(raw) - 1
	case c >= 0x20 && c <= 0x2f: // such as the choice of a character set
		for j := i + 2; j < len(raw); j++ {
			if raw[j] >= 0x30 {
				return j
			}
		}
		return len(raw) - 1
	}
	return i + 1
}
