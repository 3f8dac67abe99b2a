package input

import "testing"

func TestTitlesFitPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern, title string
		fits           bool
	}{
		{"Open", "Open", true}, {"Open", "Open file", false}, {"Open", "", false},
		{"* - Editor", "bill.txt - Editor", true}, {"* - Editor", "bill.txt - Editors", false},
		{"Bill *", "Bill 7", true}, {"Bill *", "A Bill 7", false},
		{"a*b*c", "a1b2c", true}, {"a*b*c", "a1c2b", false}, {"a*b*c", "abc", true}, {"ab*b", "ab", false}, {"*", "anything", true},
	} {
		if got := fits(c.pattern, c.title); got != c.fits {
			t.Errorf("%q fits %q: %t", c.title, c.pattern, got)
		}
	}
}
