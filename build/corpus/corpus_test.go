package corpus_test

import (
	"cmp"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/build/corpus"
	"deskbell/summarizers/builtin"
)

// What the built-in summarizers are held to. Precision is what was reached, so that it does not get worse.
const (
	leastCases     = 150
	leastRecall    = 0.95
	leastPrecision = 0.97
)

func TestTheBuiltInSummarizersFindWhatHappened(t *testing.T) {
	cases, err := corpus.Load("testdata")
	if err != nil {
		t.Fatal(err)
	}
	if len(cases) < leastCases {
		t.Errorf("there are %d cases, want %d", len(cases), leastCases)
	}
	var all []corpus.Judged
	for _, lang := range corpus.Languages {
		judged, err := corpus.Measure(t.Context(), cases, corpus.ByName(builtin.All()), lang)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, judged...)
		f := corpus.Sum(judged)
		if f.Recall() < leastRecall {
			t.Errorf("%s: recall is %.3f, want %.2f", lang, f.Recall(), leastRecall)
		}
		if f.Precision() < leastPrecision {
			t.Errorf("%s: precision is %.3f, want %.2f", lang, f.Precision(), leastPrecision)
		}
	}
	t.Log("\n" + corpus.Table(all))
	for _, j := range all {
		if wrong := j.String(); wrong != "" {
			t.Log(wrong)
		}
		if n := len(j.Said) + len(j.Line) + len(j.Unresolved) + len(j.Dropped); n > 0 {
			t.Errorf("%s in %s has %d things that must not be", j.Case.Name, j.Language, n)
		}
	}
}

// A case that is saved is the one that is loaded.
func TestACaseIsKeptAsItIs(t *testing.T) {
	dir := t.TempDir()
	step := 1
	want := corpus.Case{
		Name: "kept", Source: corpus.Desktop,
		Operation: human.Operation{
			ID: "op_1", Kind: human.Desktop, Description: "Save it", Details: []byte(`{"action_sequence":["one","two"]}`),
			Draft: &human.Draft{}, Deliveries: []human.Delivery{{Channel: "card"}},
		},
		Answer:     human.Answer{HumanInput: "done"},
		Recordings: []human.Recording{{ID: "rec_1", OperationID: "op_1", StartedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}},
		Events: [][]human.RecordedEvent{{
			{Seq: 1, Type: human.RecordingBegan, Source: human.RecorderSource},
			{Seq: 2, At: 5, Source: human.FileSource, Type: human.FileChanged, File: &human.FileChange{Op: "created", Path: "/w/文件.txt"}},
			{Seq: 3, At: 9, Source: human.RecorderSource, Type: human.Marked, Step: &step, Done: true},
		}},
	}
	if err := corpus.Save(dir, want); err != nil {
		t.Fatal(err)
	}
	if _, err := corpus.Load(dir); err == nil || !strings.Contains(err.Error(), "no expectations") {
		t.Errorf("a case without expectations: %v", err)
	}
	expect := filepath.Join(dir, "kept.expect.json")
	if err := os.WriteFile(expect, []byte(`{"must":[{"kind":"done","en":["saved"],"evidense":"file"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := corpus.Load(dir); err == nil {
		t.Error("a slip of the pen was passed over")
	}
	if err := os.WriteFile(expect, []byte(`{"must":[{"kind":"done","en":["saved"],"evidence":"file"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := corpus.Load(dir)
	if err != nil || len(got) != 1 {
		t.Fatal(got, err)
	}
	want.Operation.Draft, want.Operation.Deliveries = nil, nil
	want.Expect = corpus.Expect{Must: []corpus.Point{{Kind: "done", Texts: corpus.Texts{En: []string{"saved"}}, Evidence: "file"}}}
	if !reflect.DeepEqual(got[0].Events, want.Events) || !reflect.DeepEqual(got[0].Expect, want.Expect) ||
		got[0].Operation.Draft != nil || got[0].Answer.HumanInput != "done" {
		t.Errorf("loaded %+v", got[0])
	}
	in, err := got[0].Input("zh-CN")
	if err != nil || len(in.Checklist) != 2 || in.Checklist[0].Done || !in.Checklist[1].Done {
		t.Errorf("the checklist is %+v, %v", in.Checklist, err)
	}
	if a := in.Recordings[0].Actions; len(a) != 1 || !strings.Contains(a[0].Words, "文件.txt") {
		t.Errorf("the actions are %+v", a)
	}
}

// A report is judged by what it says, not by how.
func TestAReportIsJudged(t *testing.T) {
	c := corpus.Case{
		Name: "judged", Source: corpus.Desktop, Operation: human.Operation{Details: []byte(`{"action_sequence":["Save it"]}`)},
		Recordings: []human.Recording{{ID: "rec_1"}},
		Events: [][]human.RecordedEvent{{
			{Seq: 1, Source: human.FileSource, Type: human.FileChanged, File: &human.FileChange{Op: "created", Path: "/w/report.pdf"}},
		}},
		Expect: corpus.Expect{
			Must:  []corpus.Point{{Kind: "done|outcome", Texts: corpus.Texts{En: []string{"Report.pdf", "saved|created"}}, Evidence: "step 0|file report"}},
			May:   []corpus.Point{{Kind: "undone", Texts: corpus.Texts{En: []string{"save it"}}, Evidence: "step 0"}},
			Never: corpus.Texts{En: []string{"failed"}},
			Line:  corpus.Texts{En: []string{"report"}},
		},
	}
	in, err := c.Input("en")
	if err != nil {
		t.Fatal(err)
	}
	file := human.Ref{Kind: human.RefAction, Recording: "rec_1", ID: "a1"}
	step := human.Ref{Kind: human.RefStep, ID: "0"}
	find := func(kind human.FindingKind, text string, refs ...human.Ref) human.Finding {
		return human.Finding{Kind: kind, Text: text, Evidence: refs}
	}
	for name, tt := range map[string]struct {
		report                                   human.Report
		missed, unlisted, said, line, unresolved int
	}{
		"all of it": {human.Report{Line: "Wrote a report", Findings: []human.Finding{
			find(human.FoundDone, "Created report.pdf", file), find(human.FoundUndone, "Not ticked: Save it", step),
		}}, 0, 0, 0, 0, 0},
		"nothing":             {human.Report{}, 1, 0, 0, 1, 0},
		"the wrong kind":      {human.Report{Line: "report", Findings: []human.Finding{find(human.FoundError, "Created report.pdf", file)}}, 1, 1, 0, 0, 0},
		"the wrong evidence":  {human.Report{Line: "report", Findings: []human.Finding{find(human.FoundUndone, "save it", file)}}, 1, 1, 0, 0, 0},
		"what is not to be":   {human.Report{Line: "The report FAILED"}, 1, 0, 1, 0, 0},
		"evidence of nothing": {human.Report{Line: "report", Suggestions: []human.Finding{find(human.FoundDone, "x", human.Ref{Kind: human.RefAction, Recording: "rec_1", ID: "a9"})}}, 1, 0, 0, 0, 1},
		"no evidence":         {human.Report{Line: "report", Suggestions: []human.Finding{find(human.FoundDone, "x")}}, 1, 0, 0, 0, 1},
	} {
		j := c.Judge(in, tt.report)
		got := []int{len(j.Missed), len(j.Unlisted), len(j.Said), len(j.Line), len(j.Unresolved)}
		if want := []int{tt.missed, tt.unlisted, tt.said, tt.line, tt.unresolved}; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: missed, unlisted, said, line and unresolved are %v, want %v\n%s", name, got, want, cmp.Or(j.String(), "nothing"))
		}
	}
}
