package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/summary"
)

// H12: a summarizer is tried on a recording from a terminal, and leaves nothing behind.
func TestSummarizingInATerminal(t *testing.T) {
	d := newFixture(t)
	d.made("rec_1")
	_, err := d.queue.RecordingBegan(t.Context(), human.Actor{Role: human.Operator, Name: "ada"}, d.op.ID, "rec_1")
	must(t, err)
	d.says("desktop, in", "summarize", "rec_1")
	d.says("answer", "summarizers")
	d.says("mine cannot be used", "summarizers")
	d.says("/data/summarizers", "summarizers")
	out, _ := d.run(exitYes, "summarize", "rec_1", "--with", "desktop", "--language", "zh-CN", "--json")
	var sum human.Summary
	must(t, json.Unmarshal([]byte(out), &sum))
	if sum.State != human.SummaryDone || sum.Language != "zh-CN" || sum.Report.Line == "" {
		t.Errorf("summary %+v", sum)
	}
	out, _ = d.run(exitYes, "summarizers", "--json")
	var all summary.Summarizers
	must(t, json.Unmarshal([]byte(out), &all))
	if len(all.Summarizers) != 5 || all.Summarizers[0].Score.Drafts != 0 {
		t.Errorf("summarizers %+v", all)
	}
	for want, args := range map[string][]string{
		"there is no summarizer":  {"summarize", "rec_1", "--with", "nobody"},
		"there is no recording":   {"summarize", "rec_none"},
		"not one of once, always": {"summarize", "rec_1", "--consent", "perhaps"},
	} {
		if _, errs := d.run(exitError, args...); !strings.Contains(errs, want) {
			t.Errorf("%v prints %q, which does not say %q", args, errs, want)
		}
	}
}

// Released findings are shown with the labels by which their evidence can be asked for.
func TestFindingsInATerminal(t *testing.T) {
	var out strings.Builder
	s := &shell{out: &out}
	e := []human.Ref{{Kind: human.RefAnswer, ID: "human_input"}, {Kind: human.RefRequest, ID: "description"}}
	s.showAnswer(human.Operation{State: human.Completed, Result: &human.Result{Answer: human.Answer{
		KeyFindings: []string{"Plain", "By\x1b hand"}, Findings: []human.Finding{{Text: "Plain", Evidence: e}, {Text: "By\x1b hand"}},
		Suggestions: []human.Finding{{Text: "Ask again", Evidence: e[1:]}},
	}}})
	for _, want := range []string{"- Plain (e1, e2)", "hand", "Suggestions:\n  - Ask again (e2)"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("it prints %q, which has no %q", out.String(), want)
		}
	}
	if strings.Count(out.String(), "Plain") != 1 || strings.Contains(out.String(), "\x1b") {
		t.Errorf("it prints %q", out.String())
	}
}
