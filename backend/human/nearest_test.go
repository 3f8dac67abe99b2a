package human_test

import (
	"testing"

	"deskbell/backend/human"
)

func TestDistance(t *testing.T) {
	t.Parallel()
	for pair, want := range map[[2]string]int{{"", ""}: 0, {"", "ab"}: 2, {"policy", "policy"}: 0, {"polcy", "policy"}: 1, {"timeout", "trust"}: 5} {
		if got, back := human.Distance(pair[0], pair[1]), human.Distance(pair[1], pair[0]); got != want || back != want {
			t.Errorf("%q: %d, %d, want %d", pair, got, back, want)
		}
	}
}

func TestNearest(t *testing.T) {
	known := []string{"claude-code", "codex", "gemini", "claude-desktop", "zed"}
	for word, want := range map[string]string{
		"claud": "claude-code", "Claude": "claude-code", "codx": "codex", "gemnii": "gemini", "claude-destop": "claude-desktop", "zd": "zed",
		"emacs": "", "": "", "x": "", "vim": "",
	} {
		if got := human.Nearest(word, known); got != want {
			t.Errorf("%q is taken for %q, not %q", word, got, want)
		}
	}
}
