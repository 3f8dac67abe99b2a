package record

import "strings"

// A kind of window: recorded, left out with a gap, or silently left out because it is Deskbell's own.
type kind uint8

const (
	ordinary kind = iota
	excluded
	own
)

// Exclusions tell which windows are not recorded.
type exclusions struct {
	patterns []string
	self     int
}

func newExclusions(patterns []string, self int) exclusions {
	x := exclusions{self: self}
	for _, p := range patterns {
		if p = strings.ToLower(strings.TrimSpace(p)); p != "" {
			x.patterns = append(x.patterns, p)
		}
	}
	return x
}

func (x exclusions) kind(p Placed) kind {
	if x.self != 0 && p.App.PID == x.self {
		return own
	}
	for _, s := range []string{p.App.Name, p.App.Exe, p.Window.Title} {
		s = strings.ToLower(s)
		for _, pattern := range x.patterns {
			if s != "" && matches(pattern, s) {
				return excluded
			}
		}
	}
	return ordinary
}

// matches says whether a pattern, in which * stands for anything, matches the whole of s.
func matches(pattern, s string) bool {
	first, rest, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == s
	}
	if !strings.HasPrefix(s, first) {
		return false
	}
	s = s[len(first):]
	for {
		var part string
		part, rest, star = strings.Cut(rest, "*")
		if !star {
			return strings.HasSuffix(s, part)
		}
		i := strings.Index(s, part)
		if i < 0 {
			return false
		}
		s = s[i+len(part):]
	}
}
