package human

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
)

// table are the sentences by their codes.
func table(t *testing.T) map[Code]string {
	t.Helper()
	all := map[Code]string{}
	for line := range strings.Lines(sentences) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		code, sentence, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if !ok || !regexp.MustCompile(`^[a-z][a-z0-9_]*$`).MatchString(code) || strings.TrimSpace(sentence) != sentence {
			t.Errorf("%q is no sentence", line)
		}
		if _, twice := all[Code(code)]; twice {
			t.Errorf("%s stands there twice", code)
		}
		all[Code(code)] = sentence
	}
	return all
}

var place = regexp.MustCompile(`\{(\w+)\}`)

func TestSay(t *testing.T) {
	s := Say("same_of_more", "n", 3)
	if s.Text != "The same of 3 more." || s.Code != "same_of_more" || s.Params["n"] != "3" {
		t.Errorf("%+v", s)
	}
	if s := Say("trust_low", "least", "{n}"); !strings.HasPrefix(s.Text, "Under {n}, so") {
		t.Errorf("a value is read for places: %q", s.Text)
	}
	if text := TextOf([]Sentence{Say("only_looks"), Say("never_done")}); text != "It only looks. That is never done." {
		t.Error(text)
	}
	masked := Masked([]Sentence{Say("model_says", "model", "m", "reason", "key k")}, func(s string) string { return strings.ReplaceAll(s, "key k", "***") })
	if said, err := json.Marshal(masked); err != nil || strings.Contains(string(said), "key k") || !strings.Contains(string(said), "***") {
		t.Errorf("%s %v", said, err)
	}
}

// Every sentence can be said in Chinese, and nothing else can: the console's table is of the same codes and places.
func TestSentencesInChinese(t *testing.T) {
	raw, err := os.ReadFile("../../frontend/messages/server/zh-CN.json")
	if err != nil {
		t.Fatal(err)
	}
	var chinese map[Code]string
	if err := json.Unmarshal(raw, &chinese); err != nil {
		t.Fatal(err)
	}
	english := table(t)
	for code, sentence := range english {
		said, ok := chinese[code]
		if !ok || strings.TrimSpace(said) == "" {
			t.Errorf("%s (%q) has no message in Chinese", code, sentence)
		}
		for _, p := range place.FindAllStringSubmatch(said, -1) {
			// match is what a rule says without words of a language.
			if !strings.Contains(sentence, p[0]) && p[1] != "match" {
				t.Errorf("%s: %q has no place %s", code, sentence, p[0])
			}
		}
		for _, p := range place.FindAllString(sentence, -1) {
			if !strings.Contains(said, p) && !strings.Contains(said, "{match}") {
				t.Errorf("%s: %q does not say %s", code, said, p)
			}
		}
	}
	for code := range chinese {
		if _, ok := english[code]; !ok {
			t.Errorf("%s is said in Chinese only", code)
		}
	}
}
