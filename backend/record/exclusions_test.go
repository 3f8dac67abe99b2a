package record

import (
	"testing"

	"pgregory.net/rapid"

	"deskbell/backend/human"
)

func TestPatterns(t *testing.T) {
	for _, tt := range []struct {
		pattern, text string
		want          bool
	}{
		{"keepass", "keepass", true},
		{"keepass", "keepassxc", false},
		{"keepass*", "keepassxc", true},
		{"*pass", "keepass", true},
		{"*pass", "keepassxc", false},
		{"a*b*c", "abc", true},
		{"a*b*c", "a b b c", true},
		{"a*b*c", "acb", false},
		{"a*a", "a", false},
		{"*", "", true},
		{"**", "x", true},
		{"", "x", false},
	} {
		if got := matches(tt.pattern, tt.text); got != tt.want {
			t.Errorf("%q matches %q: %v", tt.pattern, tt.text, got)
		}
	}
	exclude := newExclusions([]string{" KeePass* ", ""}, 7)
	for _, tt := range []struct {
		p    Placed
		want kind
	}{
		{Placed{App: human.App{Name: "KeePassXC"}}, excluded},
		{Placed{App: human.App{Exe: "KEEPASS.EXE"}}, excluded},
		{Placed{Window: human.Window{Title: "keepass - Main"}}, excluded},
		{Placed{Window: human.Window{Title: "How to keepass"}}, ordinary},
		{Placed{App: human.App{PID: 7}, Window: human.Window{Title: "keepass"}}, own},
		{Placed{}, ordinary},
	} {
		if got := exclude.kind(tt.p); got != tt.want {
			t.Errorf("%+v is %d, want %d", tt.p, got, tt.want)
		}
	}
}

// What is left of a rectangle and the others cover exactly what it covered.
func TestWithout(t *testing.T) {
	bounds := rapid.Custom(func(t *rapid.T) human.Bounds {
		n := func(what string, from int) int { return rapid.IntRange(from, 12).Draw(t, what) }
		return human.Bounds{X: n("x", -3), Y: n("y", -3), W: n("w", 0), H: n("h", 0)}
	})
	rapid.Check(t, func(t *rapid.T) {
		b, others := bounds.Draw(t, "b"), rapid.SliceOfN(bounds, 0, 4).Draw(t, "others")
		left := without(b, others)
		for x := -4; x < 26; x++ {
			for y := -4; y < 26; y++ {
				n, want := 0, b.Contains(x, y)
				for _, l := range left {
					if l.Contains(x, y) {
						n++
					}
				}
				for _, o := range others {
					want = want && !o.Contains(x, y)
				}
				if want != (n == 1) || n > 1 {
					t.Fatalf("%d,%d is covered %d times by %v", x, y, n, left)
				}
			}
		}
	})
}

// Which keys make text depends on the system: AltGr is not the same modifier everywhere.
func TestWhichKeysMakeText(t *testing.T) {
	for _, tt := range []struct {
		system, key, text string
		modifiers         []string
		want              string
		makes             bool
	}{
		{"linux/x11", "a", "a", nil, "a", true},
		{"linux/x11", "A", "A", []string{"shift"}, "A", true},
		{"linux/x11", "a", "", nil, "a", true}, // a source that gives no text for it
		{"linux/x11", " ", " ", nil, " ", true},
		{"linux/x11", "é", "é", nil, "é", true},
		{"linux/x11", "eacute", "", nil, "", true}, // no name of UI Events: better hidden
		{"linux/x11", "Dead", "", nil, "", true},
		{"linux/x11", "Process", "", nil, "", true},
		{"linux/x11", "", "", nil, "", true},
		{"linux/x11", "Enter", "\r", nil, "", false},
		{"linux/x11", "F5", "", nil, "", false},
		{"linux/x11", "c", "\x03", []string{"ctrl"}, "", false},
		{"linux/x11", "f", "f", []string{"alt"}, "", false},
		{"linux/x11", "t", "t", []string{"ctrl", "alt"}, "", false},
		{"windows", "@", "@", []string{"ctrl", "alt"}, "@", true},
		{"windows", "f", "f", []string{"alt"}, "", false},
		{"windows", "6", "6", []string{"alt"}, "", true}, // Alt 6 4 on the number pad makes @
		{"windows", "6", "6", []string{"ctrl"}, "", false},
		{"windows", "l", "", []string{"meta"}, "", false},
		{"macos", "@", "@", []string{"alt"}, "@", true},
		{"macos", "c", "c", []string{"meta"}, "", false},
	} {
		got, makes := textOf(human.RecordedEvent{Key: tt.key, Text: tt.text, Modifiers: tt.modifiers}, tt.system)
		if got != tt.want || makes != tt.makes {
			t.Errorf("%+v: %q, %v", tt, got, makes)
		}
	}
}
