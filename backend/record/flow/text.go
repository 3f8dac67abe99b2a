package flow

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"unicode/utf8"
)

// dots stand where something was masked.
const dots = "•••"

// js is a text as a string of JavaScript, in single quotes. It can end neither the string nor a script element,
// and is plain ASCII but for letters.
func js(text string) string { return "'" + quoted(text, '\'') + "'" }

func quoted(text string, quote rune) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == quote || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '<':
			b.WriteString(`\x3c`)
		case r == utf8.RuneError || r < 0x20 || r == 0x7f || !printable(r):
			if r > 0xffff {
				fmt.Fprintf(&b, `\u{%x}`, r)
			} else {
				fmt.Fprintf(&b, `\u%04x`, r)
			}
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// pattern is a text as what a regular expression of JavaScript takes for it, between slashes.
func pattern(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r < utf8.RuneSelf && strings.ContainsRune(`\^$.*+?()[]{}|/`, r):
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '-' || r == '_' || r < utf8.RuneSelf && printable(r) && r != '<':
			b.WriteRune(r)
		case r > 0xffff:
			for _, c := range string(r) {
				fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+(c-0x10000)>>10, 0xdc00+(c-0x10000)&0x3ff)
			}
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// masked says whether something in a URL was hidden.
func masked(address string) bool {
	return strings.Contains(address, dots) || strings.Contains(strings.ToUpper(address), dotsInURL)
}

const dotsInURL = "%E2%80%A2%E2%80%A2%E2%80%A2"

var (
	hidden   = regexp.MustCompile(`(?i)•••|` + dotsInURL)
	volatile = regexp.MustCompile(`^(?:[0-9]{10,}|[0-9a-fA-F]{16,}|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|[A-Za-z0-9_-]{24,})$`)
	digits   = regexp.MustCompile(`[0-9]`)
	part     = regexp.MustCompile(`[^/?&=#;]+|[/?&=#;]`)
)

// place is a URL as a regular expression of JavaScript. What was masked in it, and what is different each time
// (times, random ids), matches anything; same is true where there is no such part.
func place(address string) (expression string, same bool) {
	same = true
	var b strings.Builder
	for _, p := range part.FindAllString(address, -1) {
		switch {
		case hidden.MatchString(p):
			same = false
			parts := hidden.Split(p, -1)
			for i, plain := range parts {
				if i > 0 {
					b.WriteString("[^/&#]*")
				}
				b.WriteString(pattern(plain))
			}
		case volatile.MatchString(p) && digits.MatchString(p):
			same = false
			b.WriteString("[^/?&#]+")
		default:
			b.WriteString(pattern(p))
		}
	}
	return "/^" + b.String() + "$/", same
}

// site is a URL without what follows its path.
func site(address string) string {
	before, _, _ := strings.Cut(address, "?")
	before, _, _ = strings.Cut(before, "#")
	return before
}

// goable says whether a runner can open a URL.
func goable(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https")
}

// printable leaves out what would not be seen, or turns lines around.
func printable(r rune) bool {
	switch {
	case r >= 0x80 && r <= 0xa0, r == 0xad, r >= 0x200b && r <= 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x206f, r == 0xfeff, r >= 0xd800 && r <= 0xf8ff, r >= 0xfff0 && r <= 0xffff, r >= 0xe0000:
		return false
	}
	return r >= 0x20 && r != 0x7f
}
