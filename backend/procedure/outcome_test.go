package procedure

import (
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
		if got := enough(e, was, strings.Fields(tt.items)); got != tt.is {
			t.Errorf("%+v: %t", tt, got)
		}
	}
	if !enough(human.ProcedureEffect{Count: new(2)}, human.RunEffect{Before: 5000}, make([]string, 5002)) || enough(human.ProcedureEffect{}, human.RunEffect{Before: 5000}, make([]string, 5000)) {
		t.Error("what is too many to be noted is counted")
	}
}
