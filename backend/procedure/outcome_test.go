package procedure

import (
	"slices"
	"strings"
	"testing"

	"deskbell/backend/human"
)

// A field has what was typed in it, also as its page shows it, and not what the page has put in its place.
func TestWhatAFieldKeeps(t *testing.T) {
	for _, tt := range []struct {
		typed, now string
		want       bool
	}{
		{"124.24", "124.24 €", true}, {"124.24", "1,124.24", true}, {"124.24", "1.24", false}, {"124.2", "124.20", true}, {"2026-12-24", "2026-12-31", false},
		{"mixed Case", "MIXED CASE", true}, {"lo", "London", true}, {"Halde & Co", "Adler Optik", false}, {"Scan 64", "scan-2.txt", false}, {"7", "", false}, {"", "x", true}, {"--", "", true},
		{"张三", "张三丰", true}, {"张三", "李四", false},
	} {
		if got := keeps(tt.typed, tt.now); got != tt.want {
			t.Errorf("%q, now %q: %t", tt.typed, tt.now, got)
		}
	}
}

// How many are new and gone is known by what they are, not by how many there are.
func TestEnough(t *testing.T) {
	has := []string{"no " + toCome("number")}
	for _, tt := range []struct {
		count       *int
		had, items  string
		outputs, is bool
	}{
		{nil, "a", "a b", false, true}, {nil, "a", "a", false, false}, {nil, "a", "b", false, false}, {nil, "a b", "a c d", false, true},
		{new(1), "a", "a b", false, true}, {new(1), "a", "b c", false, false}, {new(1), "a", "a b c", false, false}, {new(1), "", "b", false, true},
		{new(0), "a b", "a b", false, true}, {new(0), "a b", "a c", false, false}, {new(-1), "a b", "a", false, true}, {new(-1), "a b", "c", false, false}, {new(-2), "a b", "a", false, false},
		{new(1), "a b", "c", true, true}, {new(1), "a b", "a", true, false}, {nil, "a b", "c", true, true}, {nil, "a b", "b", true, false},
	} {
		e := human.ProcedureEffect{Fresh: true, Count: tt.count}
		if tt.outputs {
			e.Has = has
		}
		was := human.RunEffect{Had: strings.Fields(tt.had), Before: len(strings.Fields(tt.had))}
		if got := enough(e, was, Seen{Items: strings.Fields(tt.items)}); got != tt.is {
			t.Errorf("%+v: %t", tt, got)
		}
	}
	if !enough(human.ProcedureEffect{Count: new(2)}, human.RunEffect{Before: 5000}, Seen{Items: make([]string, 5002)}) || enough(human.ProcedureEffect{}, human.RunEffect{Before: 5000}, Seen{Items: make([]string, 5000)}) {
		t.Error("what is too many to be noted is counted")
	}
}

// Where nothing else may have changed, all that there was counts, and not only what is as the effect says. Those in capital letters are.
func TestNothingElseHasChanged(t *testing.T) {
	matching := func(all []string) []string {
		return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return s != strings.ToUpper(s) })
	}
	for _, tt := range []struct {
		count    *int
		had, all string
		is       bool
	}{
		{new(1), "a b", "a b N", true}, {new(1), "a b", "a c N", false}, {new(1), "a b", "a N", false}, {new(1), "a b", "a b n", false}, {new(1), "a b", "a b n N", false}, {new(1), "a", "a N N", false},
		{new(1), "a N", "a N N", true}, {new(1), "N", "N", false}, {nil, "a b", "a N", true}, {nil, "a b", "a b N", true}, {nil, "a b c", "a N", false}, {nil, "a b", "a b", false}, {nil, "a b", "c N", false},
		{new(0), "a b", "a b", true}, {new(0), "a b", "a", false}, {new(0), "a b", "a b c", false}, {new(-1), "a N", "a", true}, {new(-1), "a N", "N", false}, {new(-1), "a N M", "M", false}, {new(-1), "a b N", "a c", false},
	} {
		had, all := strings.Fields(tt.had), strings.Fields(tt.all)
		e := human.ProcedureEffect{Is: "sql", Fresh: true, Only: true, Count: tt.count}
		if got := enough(e, human.RunEffect{Had: had, Before: len(matching(had))}, Seen{Items: matching(all), All: all}); got != tt.is {
			t.Errorf("%+v: %t", tt, got)
		}
	}
}
