package human

import "strings"

// OneLine is the first non-empty line of text, cut to at most n runes with an ellipsis.
func OneLine(text string, n int) string {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		r := []rune(line)
		if len(r) > n {
			return string(r[:n-1]) + "…"
		}
		return line
	}
	return ""
}
