package gate

import (
	"strings"
	"testing"
)

func TestWordSet(t *testing.T) {
	s := wordSet("run aaa exec-all runs")
	for word, want := range map[string]bool{
		"run": true, "runs": true, "aaa": true, "exec-all": true,
		"": false, " ": false, "ru": false, "un": false, "aa": false, "exec": false, "all": false, "uns": false, "run aaa": false, "aaa ": false, "runss": false,
	} {
		if s.has(word) != want {
			t.Errorf("%q: %v", word, !want)
		}
	}
	if wordSet("").has("a") || wordSet("").has("") {
		t.Error("nothing has a word")
	}
}

// Each name is listed once: the first entry would count, and no reader would see that the other does not.
func TestNamesAreToldOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, list := range tools {
		for _, name := range strings.Split(string(list.names), " ") {
			if seen[name] || name == "" || name != plainName(name) || kindNamed(name) != list.kind {
				t.Errorf("%q of kind %d: twice, or not as it is looked for", name, list.kind)
			}
			seen[name] = true
		}
	}
	clear(seen)
	for _, list := range pages {
		for _, name := range strings.Split(string(list.names), " ") {
			if seen[name] || name == "" || name != plainName(name) {
				t.Errorf("%q of a page's %s: twice, or not as it is looked for", name, list.action)
			}
			seen[name] = true
		}
	}
}
