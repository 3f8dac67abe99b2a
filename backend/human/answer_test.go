package human_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"deskbell/backend/human"
)

// found is an answer with findings of which the second was removed, as old data may still have them.
func found() human.Answer {
	one, two, three := human.Ref{Kind: human.RefAction, Recording: "rec_1", ID: "a1"}, human.Ref{Kind: human.RefAction, Recording: "rec_1", ID: "action-two"}, human.Ref{Kind: human.RefField, ID: "quota"}
	return human.Answer{
		SummaryID: "sum_1", KeyFindings: []string{"the quota is 7", "a secret", "it was slow"},
		Findings: []human.Finding{
			{ID: "f1", Kind: human.FoundValue, Text: "the quota is 7", Evidence: []human.Ref{three, one}},
			{ID: "f2", Kind: human.FoundError, Text: "a secret", Evidence: []human.Ref{two}, Cut: true},
			{ID: "f3", Kind: human.FoundSlow, Text: "it was slow", Evidence: []human.Ref{one}, ByHand: true},
		},
		Suggestions: []human.Finding{{ID: "s1", Kind: human.FoundNote, Text: "another secret", Evidence: []human.Ref{two}, Cut: true}},
	}
}

func TestWhatWasCutStaysWithTheOperator(t *testing.T) {
	a := found()
	before := fmt.Sprint(a)
	kept := a.Kept()
	if len(kept.Findings) != 2 || len(kept.Suggestions) != 0 || !slices.Equal(kept.KeyFindings, []string{"the quota is 7", "it was slow"}) || kept.SummaryID != "sum_1" {
		t.Errorf("kept: %+v", kept)
	}
	var labels []string
	for _, r := range a.Evidence() {
		labels = append(labels, a.Labels()[r]+"="+kept.Labels()[r]+"="+r.ID)
	}
	if got := strings.Join(labels, " "); got != "e1=e1=quota e2=e2=a1" {
		t.Errorf("the evidence is called %s", got)
	}
	for i := range a.Findings {
		a.Findings[i].Cut = true
	}
	if none := a.Kept(); len(none.Findings)+len(none.KeyFindings) > 0 {
		t.Errorf("with all of them cut there is still %+v", none)
	}
	a.KeyFindings = append(a.KeyFindings, "said by hand")
	if own := a.Kept().KeyFindings; !slices.Equal(own, []string{"said by hand"}) {
		t.Errorf("of the operator's own %v is left", own)
	}
	if after := fmt.Sprint(found()); after != before {
		t.Errorf("the answer itself was changed")
	}
}

func TestAnAgentSeesNoFindingThatWasCut(t *testing.T) {
	answer := found()
	op, err := append(rung(), human.Event{Type: human.Finished, By: mei, Answer: &answer}).tell()
	if err != nil {
		t.Fatal(err)
	}
	event := human.Event{Type: human.Finished, Answer: &answer}
	for name, seen := range map[string]any{"the operation": op.ForAgent(), "the event": event.ForAgent()} {
		data, err := json.Marshal(seen)
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range []string{"secret", "sum_1", "f1", "f3", "action-two", `"cut"`} {
			if strings.Contains(string(data), word) {
				t.Errorf("%s tells the agent of %q: %s", name, word, data)
			}
		}
		if !strings.Contains(string(data), "the quota is 7") {
			t.Errorf("%s has lost a finding: %s", name, data)
		}
	}
	if len(op.Result.Findings) != 3 || op.Result.SummaryID != "sum_1" || op.Result.Findings[0].ID != "f1" || len(answer.Findings) != 3 {
		t.Errorf("looking changed the operation: %+v", op.Result)
	}
}
