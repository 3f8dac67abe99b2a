package tomltext_test

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"deskbell/backend/store/settings/tomltext"
)

func TestLocate(t *testing.T) {
	t.Parallel()
	text := "a = 1 # one\nb.c = \"x\"\n\n[d]\ne = { f = 2 }\n[[g]]\nh = [\n  3,\n  4,\n]\n[[g]]\n[g.i]\nj = true\n"
	var got []string
	for _, p := range tomltext.Locate([]byte(text)) {
		got = append(got, fmt.Sprintf("%d %d %s %s", p.Line, p.Kind, p.Dotted(), text[p.Start:p.End]))
	}
	want := []string{
		"1 0 a 1", "2 0 b.c \"x\"", "4 3 d ", "5 1 d.e { f = 2 }", "5 0 d.e.f 2", "6 4 g.0 ", "7 0 g.0.h [\n  3,\n  4,\n]", "8 2 g.0.h.0 ", "9 2 g.0.h.1 ", "11 4 g.1 ",
		"12 3 g.1.i ", "13 0 g.1.i.j true",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestUnmarshalNamesTheLine(t *testing.T) {
	t.Parallel()
	var v struct{ A int }
	for text, want := range map[string]int{"\na = = 1": 2, "\n\na = 'x'": 3} {
		var bad *tomltext.LineError
		if err := tomltext.Unmarshal([]byte(text), &v); !errors.As(err, &bad) || bad.Line != want {
			t.Errorf("%q: %v, want line %d", text, err, want)
		}
	}
}
