package term

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"deskbell/backend/record/masking"
)

// However reads part the output, and wherever sequences stand in it, no part of a secret of some length is written.
func TestRandomSplits(t *testing.T) {
	const secret = "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"
	masker := masking.New()
	rapid.Check(t, func(t *rapid.T) {
		colored := ""
		for _, c := range secret {
			if rapid.IntRange(0, 9).Draw(t, "color") == 0 {
				colored += "\x1b[3" + string(rune('0'+rapid.IntRange(0, 7).Draw(t, "which"))) + "m"
			}
			colored += string(c)
		}
		rest := "before\r\nx " + colored + " y\r\nafter\r\n"
		var out strings.Builder
		p := &tape{space: maxOutput, write: func(b []byte) error { out.Write(b); return nil }, known: func() []string { return nil }}
		p.begin(masker.Within(""))
		for at := int64(1); rest != ""; at++ {
			n := rapid.IntRange(1, min(len(rest), 30)).Draw(t, "n")
			p.output(at, rest[:n])
			rest = rest[n:]
			if rapid.Bool().Draw(t, "flush") {
				p.flush(true)
			}
		}
		p.end()
		printed := strings.ReplaceAll(out.String(), "\"]\n[0.000000, \"o\", \"", "")
		for i := 0; i+8 <= len(secret); i += 4 {
			if strings.Contains(printed, secret[i:i+8]) {
				t.Fatalf("%q is in %s", secret[i:i+8], out.String())
			}
		}
		if !strings.Contains(printed, "before") || !strings.Contains(printed, "after") {
			t.Fatalf("the rest is not in %s", out.String())
		}
	})
}
