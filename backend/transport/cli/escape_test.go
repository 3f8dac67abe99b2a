package cli

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestWhatATerminalWouldObeyIsShown(t *testing.T) {
	for in, want := range map[string]string{
		"plain, 中文, é, 👍🏽":  "plain, 中文, é, 👍🏽",
		"line\n\tnext":      "line\n\tnext",
		"\x1b[2Jgone":       "⟨U+001B⟩[2Jgone",
		"\u009b31m":         "⟨U+009B⟩31m",
		"back\b\rover":      "back⟨U+0008⟩⟨U+000D⟩over",
		"\u202egpj.exe":     "⟨U+202E⟩gpj.exe",
		"zero\u200bwidth":   "zero⟨U+200B⟩width",
		"tag\U000E0041":     "tag⟨U+E0041⟩",
		"bad\xffutf8":       "bad⟨FF⟩utf8",
		"filler\u3164":      "filler⟨U+3164⟩",
		"nbsp\u00a0":        "nbsp⟨U+00A0⟩",
		"line\u2028break":   "line⟨U+2028⟩break",
		"heart\u2764\ufe0f": "heart\u2764\ufe0f",
		"real \ufffd":       "real \ufffd",
	} {
		if got := visible(in); got != want {
			t.Errorf("visible(%q) is %q, want %q", in, got, want)
		}
	}
}

func FuzzVisible(f *testing.F) {
	f.Add("\x1b]0;title\x07\u202e\xff")
	f.Fuzz(func(t *testing.T, in string) {
		out := visible(in)
		if !utf8.ValidString(out) || strings.ContainsFunc(out, func(r rune) bool {
			return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r))
		}) {
			t.Fatalf("%q becomes %q", in, out)
		}
		line, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		var a, b string
		escaped := escapeJSON(line)
		if json.Unmarshal(line, &a) != nil || json.Unmarshal(escaped, &b) != nil || a != b {
			t.Fatalf("%s means another thing than %s", escaped, line)
		}
	})
}

func TestNamesOfAgentsAreFitForKeys(t *testing.T) {
	for in, want := range map[string]string{
		"claude": "claude", "Claude Code": "Claude-Code", "node.exe": "node", "--x": "x", "中文": "", strings.Repeat("a", 80): strings.Repeat("a", 64),
	} {
		if got := plainName(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
	t.Setenv("DESKBELL_AGENT", "from-env")
	if got := agentName(""); got != "from-env" {
		t.Errorf("DESKBELL_AGENT: %q", got)
	}
	if got := agentName("flag"); got != "flag" {
		t.Errorf("--agent: %q", got)
	}
}
