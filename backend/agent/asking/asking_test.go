package asking

import (
	"os"
	"strings"
	"testing"
)

// written reads the texts that the weights were learned from.
func written(t testing.TB) (texts []string, asks, worked []bool) {
	t.Helper()
	data, err := os.ReadFile("../../../build/scripts/asking/texts.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		kind, text, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok || kind[0] == '#' {
			continue
		}
		texts = append(texts, strings.ReplaceAll(text, `\n`, "\n"))
		asks, worked = append(asks, kind[0] == '+'), append(worked, strings.Contains(kind, "w"))
	}
	return texts, asks, worked
}

func TestWhatWasLearnedIsKnown(t *testing.T) {
	texts, asks, worked := written(t)
	var wrong []string
	for i, text := range texts {
		if Asks(text, worked[i]) != asks[i] {
			wrong = append(wrong, text)
		}
	}
	if len(wrong)*50 > len(texts) {
		t.Errorf("%d of %d are wrong:\n%s", len(wrong), len(texts), strings.Join(wrong, "\n"))
	}
}

// What is not said to the reader asks nothing.
func TestStructure(t *testing.T) {
	for text, want := range map[string]bool{
		"```\nWhich one?\n```":                                false,
		"> Which one do you want?\n\nSent.":                   false,
		"| Which one? | Yours |\n|---|---|\n| a | b |":        false,
		"Q: Which one do you want?\nA: The first.":            false,
		"Draft:\n\nHi Tom,\nWhich day suits you?\nBest,\nAna": false,
		"Interview questions:\n1. Who are you?\n2. Why us?":   false,
		"A few questions first:\n1. What is your budget?":     true,
		"Which one?\n\n```\na\nb\n```":                        true,
		"Playing *What's Up?* now.":                           false,
		"哪一个？\n- 甲\n- 乙":                                      true,
		"请提供訂單編號":                                             true,
	} {
		if Asks(text, false) != want {
			t.Errorf("%q: not %v", text, want)
		}
	}
}

// A pattern's needs leave nothing out that it matches.
func TestNeeds(t *testing.T) {
	texts, _, _ := written(t)
	for i := 0; i < len(texts); i += 4 {
		for _, s := range readReply(texts[i]).sentences {
			has := gramsOf(s.text)
			for i := range theCues().patterns {
				if p := &theCues().patterns[i]; p.match != nil && p.matches(s.text) && !p.mayMatch(has) {
					t.Fatalf("%q matches %s, which was not looked for", s.text, p.match())
				}
			}
		}
	}
}

func BenchmarkAsks(b *testing.B) {
	texts, _, _ := written(b)
	text := strings.Join(texts[100:], "\n\n")[:2048]
	for b.Loop() {
		Asks(text, true)
	}
}
