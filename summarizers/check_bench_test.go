package summarizers_test

import (
	"testing"

	"deskbell/backend/human"
	"deskbell/summarizers"
)

// many is a recording of n actions like those of worked.
func many(n int) summarizers.Input {
	in := worked()
	r := &in.Recordings[0]
	some := r.Actions
	r.Actions = make([]human.Action, n)
	for i := range r.Actions {
		a := some[i%7]
		a.ID = "a" + itoa(i)
		a.At, a.End = int64(i)*1e9, int64(i)*1e9+5e8
		r.Actions[i] = a
	}
	return in
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + string(rune('0'+n%10))
}

// BenchmarkCheck is of a report of 20 findings, and of a text with a number that is nowhere, for which all of the
// recording is read.
func BenchmarkCheck(b *testing.B) {
	for name, n := range map[string]int{"10,000 actions": 10_000, "1,000,000 actions": 1_000_000} {
		in := many(n)
		var r human.Report
		for i := range 20 {
			a := &in.Recordings[0].Actions[i*n/20]
			r.Findings = append(r.Findings, human.Finding{Kind: human.FoundNote, Text: "Clicked “Retry” 1 time", Evidence: []human.Ref{{Kind: human.RefAction, Recording: rec, ID: a.ID}}})
		}
		r.Line = "12,000,000 seats, read in " + itoa(n) + " actions"
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				summarizers.Check(in, r)
			}
		})
		r.Text = "There are 987,654,321 of them"
		b.Run(name+", an invented number", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				summarizers.Check(in, r)
			}
		})
	}
}
