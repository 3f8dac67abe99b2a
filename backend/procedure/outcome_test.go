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
		{"Hill 1", "Hill 1 (rear building)", false}, {"12", "12 pieces", true}, {"Hello", "Hello\nOtherwise we go to court.", false}, {"Ann", "Anna", true},
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

// A row that was changed may differ in what the effect says alone; a new one has what all others have, where these are five or more.
func TestWhatIsOddInANewRow(t *testing.T) {
	rows := func(has string, all ...string) (out []string) {
		for _, row := range all {
			out = append(out, Cells(strings.Split(row, ","), strings.Fields(has)))
		}
		return out
	}
	many := []string{"1,Ann,5,EUR", "2,Bo,6,EUR", "3,Cy,7,EUR", "4,Di,8,EUR", "5,Ed,9,EUR"}
	for _, tt := range []struct {
		had  []string
		has  string
		then []string
		odd  string
	}{
		{many, "Fay 3", append(slices.Clone(many), "6,Fay,3,EUR"), ""},
		{many, "Fay 3", append(slices.Clone(many), "6,Fay,3,USD"), "currency"},
		{many, "Fay 3 USD", append(slices.Clone(many), "6,Fay,3,USD"), ""},
		{many[:4], "Fay 3", append(slices.Clone(many[:4]), "6,Fay,3,USD"), ""},
		{many, "Ann 4", append([]string{"1,Ann,4,EUR"}, many[1:]...), ""},
		{many, "Ann 4", append([]string{"1,Ann,4,USD"}, many[1:]...), "currency"},
		{many, "Ann 4", append([]string{"9,Ann,4,EUR"}, many[1:]...), "id"},
		{many, "Cy", slices.Concat(many[:2], many[3:]), ""},
		{nil, "Fay", []string{"6,Fay,3,USD"}, ""},
	} {
		texts := strings.Fields(tt.has)
		seen := Seen{Columns: []string{"id", "name", "amount", "currency"}, All: rows(tt.has, tt.then...)}
		for i, row := range tt.then {
			if human.HasAll(row, texts) {
				seen.Items = append(seen.Items, seen.All[i])
			}
		}
		if got := odd(human.RunEffect{Had: rows(tt.has, tt.had...)}, seen); got != tt.odd {
			t.Errorf("%q, then %q: odd is %q", tt.had, tt.then, got)
		}
	}
	if got := odd(human.RunEffect{Had: []string{"a", "b", "c", "d", "e"}}, Seen{Items: []string{"f"}, All: []string{"a", "b", "c", "d", "e", "f"}}); got != "" {
		t.Errorf("of what has no columns %q is odd", got)
	}
}
