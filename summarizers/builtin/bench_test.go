package builtin

import (
	"fmt"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/summarizers"
	"deskbell/summarizers/builtin/say"
)

// long is work of many actions: pages and windows, forms, values, files, now and then an error, and texts that are
// hardly ever the same twice.
func long(n int) summarizers.Input {
	s := surf("https://a.example/", "Start").asks(`{"data_to_extract":["a","b","c"],"expected_outcome":"The report is saved","action_sequence":["one","two"]}`)
	s.in.Language = say.English
	s.in.Checklist = []summarizers.Step{{Text: "one", Done: true}, {Text: "two"}}
	on := true
	s.rec.Options.Desktop = &on
	for i := 0; len(s.rec.Actions) < n; i++ {
		page := fmt.Sprintf("https://a.example/%d", i%5000)
		switch i % 12 {
		case 0:
			s.click("link", fmt.Sprint("Item ", i)).goes("link", page, fmt.Sprint("Item ", i), 200)
		case 1:
			s.typed("Name", 12).choose("Country", "Germany").click("button", "Save").goes("form", page+"/saved", fmt.Sprint("Saved ", i), 200)
		case 2:
			s.click("link", fmt.Sprint("More ", i)).goes("link", page+"/more", "More", 200).goes("back_forward", page, "Item", 200)
		case 3:
			s.pick(fmt.Sprint("field ", i%50), fmt.Sprint(i))
		case 4:
			s.click("button", "Refresh").click("button", "Refresh")
		case 5:
			s.goes("address", page+"?q="+fmt.Sprint(i), "Results", []int{200, 200, 200, 404}[i/12%4])
		case 6:
			s.file(human.Download, fmt.Sprint("report-", i, ".csv"), "completed", int64(i))
		case 7:
			s.click("button", "Delete").dialog("confirm", "Delete it?", i%2 == 0)
		case 8, 9, 10:
			a := human.Action{
				Type: human.Click, Button: 1, App: &human.App{Name: "Files"}, Window: &human.Window{ID: "1", Title: fmt.Sprint("Window ", i%300)},
				Element: &human.Element{Role: "button", Name: fmt.Sprint("Button ", i%40), Ancestry: []human.Element{{Role: "dialog", Name: "Options"}}}, Words: "Clicked",
			}
			s.add(a)
			s.rec.Actions[len(s.rec.Actions)-1].Page = nil
		default:
			s.add(human.Action{Type: human.FileOperation, File: &human.FileChange{Op: []string{"created", "changed", "renamed", "deleted"}[i/12%4], Path: fmt.Sprintf("/home/mei/f%d.txt", i%4000), To: "/home/mei/to.txt"}})
			s.rec.Actions[len(s.rec.Actions)-1].Page = nil
		}
	}
	s.rec.Actions = s.rec.Actions[:n]
	s.rec.Elapsed, s.rec.Span = s.at, s.at
	return s.in
}

// A day's work is read in a moment. The limits are ten times what a slow machine needs, so that only what grows with
// the square of the work is over them.
func TestLongWorkIsReadInAMoment(t *testing.T) {
	in := long(50_000)
	for _, s := range All() {
		began := time.Now()
		r, err := s.Summarize(t.Context(), in, nil)
		if took := time.Since(began); err != nil || took > 10*time.Second {
			t.Errorf("%s took %s, %v", s.About().Name, took, err)
		}
		if s.About().Name == "browser" && len(r.Findings) != 16 {
			t.Errorf("%d findings", len(r.Findings))
		}
	}
}

func BenchmarkSummarize(b *testing.B) {
	for _, n := range []int{3_000, 30_000, 300_000} {
		in := long(n)
		for _, s := range All() {
			b.Run(fmt.Sprintf("%s/%d", s.About().Name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := s.Summarize(b.Context(), in, nil); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
