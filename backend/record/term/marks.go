package term

import (
	"crypto/subtle"
	"strconv"
	"strings"
)

// A mark is one that the shell's integration printed: OSC 133 with the session's nonce after the letter, so that nothing that
// does not know the nonce can make one. Marks without it are a program's and tell nothing.
type mark struct {
	letter string // A prompt, B input, C command, D its end; P folder
	kept   bool   // of C: the shell added the line to its history just now
	text   string // of C the command line, of P the folder
	exit   int    // of D
}

// readMark reads the body of an OSC; false where it is none of ours.
func readMark(nonce string, body []byte) (m mark, ours bool) {
	parts := strings.SplitN(string(body), ";", 4)
	if len(parts) < 3 || parts[0] != "133" || subtle.ConstantTimeCompare([]byte(parts[2]), []byte(nonce)) != 1 {
		return mark{}, false
	}
	m.letter = parts[1]
	rest := ""
	if len(parts) == 4 {
		rest = parts[3]
	}
	switch m.letter {
	case "A", "B":
	case "C":
		flag, text, _ := strings.Cut(rest, ";")
		m.kept, m.text = flag == "1", unescape(text)
	case "D":
		exit, err := strconv.Atoi(rest)
		if err != nil {
			return mark{}, false
		}
		m.exit = exit
	case "P":
		m.text = unescape(rest)
	default:
		return mark{}, false
	}
	return m, true
}

// unescape reads what a shell wrote as \\ and \xHH.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return strings.ToValidUTF8(s, "�")
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && s[i+1] == '\\':
			b.WriteByte('\\')
			i++
		case s[i] == '\\' && i+3 < len(s) && s[i+1] == 'x':
			if n, err := strconv.ParseUint(s[i+2:i+4], 16, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
			fallthrough
		default:
			b.WriteByte(s[i])
		}
	}
	return strings.ToValidUTF8(b.String(), "�")
}

// foreign says whether a control string of a program goes to no one: marks that are not ours, and the clipboard (OSC 52), by
// which what is printed could put commands where the operator pastes from.
func foreign(kind byte, body []byte) bool {
	if kind != ']' {
		return false
	}
	number, _, _ := strings.Cut(string(body[:min(len(body), 8)]), ";")
	switch number {
	case "52", "133", "633", "1337":
		return true
	}
	return false
}
