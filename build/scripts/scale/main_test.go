package main

import (
	"os"
	"testing"
)

func TestTheDocumentHasTheTables(t *testing.T) {
	was, err := os.ReadFile("../../../" + document)
	if err != nil {
		t.Fatal(err)
	}
	want, err := place(string(was), tables())
	if err != nil {
		t.Fatal(err)
	}
	if want != string(was) {
		t.Error("the tables of docs/scale.md are not those of the simulation: go run ./build/scripts/scale -write")
	}
	if _, err := place("no table", tables()); err == nil {
		t.Error("a document without places for the tables has no error")
	}
}

// A leader that delivers too little leaves desks behind; one desk's messages are all that it reads where it reads one desk of many.
func TestSimulate(t *testing.T) {
	whole, one := designs[0], design{reads: 1, keptDays: 1, deskDays: 1}
	small, large := whole.simulate(20, 2), whole.simulate(total, 20)
	if small.waits > 1 {
		t.Errorf("20 desks wait %v minutes for what they missed", small.waits)
	}
	if large.delivered < delivers || large.waits < mostMinutes {
		t.Errorf("%v messages a second are more than %v, and desks wait %v minutes only", large.delivered, delivers, large.waits)
	}
	all, part := whole.simulate(100, 20), one.simulate(100, 20)
	if all.stored != part.stored || all.perDay != part.perDay {
		t.Errorf("what desks read changes what they send: %v, %v", all, part)
	}
	if got, want := part.read, all.read/100; got != want {
		t.Errorf("a desk reads %v requests a day of one desk of 100, not %v", got, want)
	}
	if mean := all.perDay / 100; mean < 1500 || mean > 3000 {
		t.Errorf("100 agents with 20 requests a day each make %v", mean)
	}
}

// What docs/scale.md says in words.
func TestWhatTheDocumentSays(t *testing.T) {
	for _, d := range designs {
		for _, n := range []int{5, 20, 100, 1000, total} {
			w := d.simulate(n, 2)
			for _, l := range limits {
				over := l.used(d, n, w) > 1
				if d.name == "plan" && over {
					t.Errorf("the plan with %d desks breaks at %q", n, l.name)
				}
				if d.name != "plan" && n <= 20 && over {
					t.Errorf("%s with %d desks breaks at %q", d.name, n, l.name)
				}
			}
		}
		if w := d.simulate(100, 2); d.name != "plan" && limits[0].used(d, 100, w) <= 1 {
			t.Errorf("%s holds 100 desks in a desk's database", d.name)
		}
	}
}
