package human

import (
	"fmt"
	"strings"
)

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

// OneLine tells an answer in one line, from the parts it has: the decision, the operator's own words
// or the result, and how much else there is.
func (a Answer) OneLine() string {
	const longest = 160
	var parts []string
	switch a.Decision {
	case Approved:
		parts = append(parts, "Approved")
	case Refused:
		parts = append(parts, "Denied")
	}
	for _, text := range []string{a.HumanInput, a.ExecutionResult} {
		if line := OneLine(text, longest); line != "" {
			parts = append(parts, line)
			break
		}
	}
	if n := len(a.Fields); n > 0 {
		parts = append(parts, count(n, "field filled in", "fields filled in"))
	}
	if n := len(a.KeyFindings); n > 0 {
		parts = append(parts, count(n, "key finding", "key findings"))
	}
	return strings.Join(parts, ": ")
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
