package queue_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/queue"
)

// worked is a claimed operation of bot's with a recording, a question and two steps.
func worked(t *testing.T, q *queue.Queue) human.Operation {
	t.Helper()
	r := request(bot, "read the quota")
	r.Kind, r.Details = human.Desktop, json.RawMessage(`{"action_sequence":["Open it","Read it"],"expected_outcome":"known"}`)
	op := ring(t, q, r)
	_, err := q.Claim(t.Context(), mei, op.ID)
	if err == nil {
		_, err = q.RecordingBegan(t.Context(), mei, op.ID, "rec_1")
	}
	if err == nil {
		_, err = q.Reply(t.Context(), mei, op.ID, "Which one?")
	}
	if err != nil {
		t.Fatal(err)
	}
	return op
}

func finding(text string, evidence ...human.Ref) human.Finding {
	return human.Finding{Kind: human.FoundValue, Text: text, Evidence: evidence}
}

func cutFinding(text string, evidence ...human.Ref) human.Finding {
	f := finding(text, evidence...)
	f.Cut = true
	return f
}

func answered(all ...human.Finding) human.Answer {
	return human.Answer{HumanInput: "done", Findings: all}
}

func TestFindingsMustRestOnWhatIsThere(t *testing.T) {
	q, _ := open(t, t.TempDir(), queue.Options{})
	op := worked(t, q)
	ref := func(kind human.RefKind, id string) human.Ref { return human.Ref{Kind: kind, ID: id} }
	of := func(recording human.RecordingID) human.Ref {
		return human.Ref{Kind: human.RefAction, Recording: recording, ID: "a1"}
	}
	many := func(n int) (all []human.Finding) {
		for range n {
			all = append(all, finding("x"))
		}
		return all
	}
	unsure := finding("x")
	unsure.Confidence = math.NaN()
	for truth, tt := range map[string]struct {
		answer human.Answer
		says   string
		draft  bool // an error in a draft, too
	}{
		"another operation's recording": {answered(finding("x", of("rec_2"))), "number 1 rests on recording rec_2", false},
		"a recording without a name":    {answered(finding("x", of(""))), "number 1 rests on recording", false},
		"a field that is not filled in": {answered(finding("y"), finding("x", ref(human.RefField, "quota"))), `number 2 rests on the field "quota", which the answer does not have`, false},
		"a step past the last":          {answered(finding("x", ref(human.RefStep, "2"))), `step "2"`, false},
		"a step that is no number":      {answered(finding("x", ref(human.RefStep, "+1"))), `step "+1"`, false},
		"a message that is not there":   {answered(finding("x", ref(human.RefMessage, "1"))), `message "1"`, false},
		"an answer that is empty":       {answered(finding("x", ref(human.RefAnswer, "execution_result"))), `answer "execution_result"`, false},
		"no such part of the answer":    {answered(finding("x", ref(human.RefAnswer, "summary_id"))), "answer", false},
		"no such part of the request":   {answered(finding("x", ref(human.RefRequest, "risk_level"))), `request "risk_level"`, false},
		"no text":                       {answered(finding(" \n")), "number 1 has no text", false},
		"an unknown kind":               {answered(human.Finding{Kind: "rumour", Text: "x"}), `"rumour", which is not one of value, outcome`, true},
		"an unknown kind of evidence":   {answered(finding("x", ref("dream", "1"))), `"dream", which is not one of action, picture`, true},
		"evidence without an id":        {answered(finding("x", ref(human.RefStep, ""))), "without an id", true},
		"too many":                      {answered(many(101)...), "there are 101; the limit is 100", true},
		"too long":                      {answered(finding(strings.Repeat("x", 4001))), "4001 bytes of text; the limit is 4000", true},
		"no text at all":                {answered(finding("\xff")), "not valid UTF-8", true},
		"an id that is no text":         {answered(finding("x", ref(human.RefField, "\xff"))), "not valid UTF-8", true},
		"no confidence":                 {answered(unsure), "confidence", true},
		"too much evidence":             {answered(finding("x", make([]human.Ref, 51)...)), "51 references", true},
	} {
		t.Run(truth, func(t *testing.T) {
			for name, a := range map[string]human.Answer{"findings": tt.answer, "suggestions": {HumanInput: "done", Suggestions: tt.answer.Findings}} {
				_, err := q.Complete(t.Context(), mei, op.ID, a, "")
				var known *human.Error
				if !errors.As(err, &known) || known.Kind != human.Invalid || known.Field != name || !strings.Contains(known.Msg, tt.says) {
					t.Errorf("%s: %v", name, err)
				}
				if _, err := q.SaveInput(t.Context(), mei, op.ID, &a); (err != nil) != tt.draft {
					t.Errorf("%s: as a draft: %v", name, err)
				}
			}
		})
	}
	big := answered()
	for range 100 {
		f := finding(strings.Repeat("x", 4000))
		for range 50 {
			f.Evidence = append(f.Evidence, ref(human.RefField, strings.Repeat("y", 200)))
		}
		big.Findings = append(big.Findings, f)
	}
	if _, err := q.Complete(t.Context(), mei, op.ID, big, ""); err == nil || !strings.Contains(err.Error(), "the limit is 1048576") {
		t.Errorf("more than fits: %v", err)
	}
	if _, err := q.SaveInput(t.Context(), mei, op.ID, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := q.Complete(t.Context(), mei, op.ID, human.Answer{Findings: []human.Finding{cutFinding("x")}}, ""); err == nil || !strings.Contains(err.Error(), "human_input: is missing") {
		t.Errorf("an answer of which all was cut: %v", err)
	}
	// A finding is an answer without any other word, and a removed one may rest on nothing.
	only := human.Answer{Fields: map[string]string{"quota": "7"}, Findings: []human.Finding{
		finding("all there is", of("rec_1"), ref(human.RefField, "quota"), ref(human.RefStep, "1"), ref(human.RefMessage, "0"), ref(human.RefRequest, "description"), ref(human.RefRequest, "expected_outcome")),
		cutFinding("nothing", of("rec_2")), finding("by hand"),
	}}
	done, err := q.Complete(t.Context(), mei, op.ID, only, "")
	if err != nil || len(done.Result.Findings) != 2 || done.Result.Findings[1].Evidence == nil || done.Result.Summary != "1 field filled in: 2 key findings" {
		t.Errorf("completed with %+v, %v", done.Result, err)
	}
	next := ring(t, q, request(bot, "and this?"))
	if _, err := q.Complete(t.Context(), mei, next.ID, human.Answer{Suggestions: []human.Finding{finding("ask again tomorrow")}}, ""); err != nil {
		t.Errorf("a suggestion alone: %v", err)
	}
}

func TestNothingThatWasCutOrDraftedReachesTheAgent(t *testing.T) {
	q, store := open(t, t.TempDir(), queue.Options{})
	op := worked(t, q)
	a := human.Answer{
		HumanInput: "done", SummaryID: "sum_1", KeyFindings: []string{"the zebra is striped", "quagga in a cut one"},
		Findings:    []human.Finding{finding("the zebra is striped", human.Ref{Kind: human.RefStep, ID: "0"}), cutFinding("quagga in a cut one")},
		Suggestions: []human.Finding{finding("feed the okapi", human.Ref{Kind: human.RefStep, ID: "1"}), cutFinding("quagga in a cut suggestion")},
	}
	draft := a
	draft.Summary = "quagga in a draft"
	if _, err := q.SaveInput(t.Context(), mei, op.ID, &draft); err != nil {
		t.Fatal(err)
	}
	search := func(by human.Actor, text string) int {
		t.Helper()
		page, err := q.List(t.Context(), by, queue.Filter{Text: text})
		if err != nil {
			t.Fatal(err)
		}
		return len(page.Operations)
	}
	seen := func() string {
		t.Helper()
		got, err := q.Get(t.Context(), bot, op.ID)
		page, listErr := q.List(t.Context(), bot, queue.Filter{})
		history, historyErr := q.History(t.Context(), bot, op.ID)
		summary, summaryErr := q.Summary(t.Context(), bot, queue.SummaryQuery{})
		var followed []human.Entry
		for e, followErr := range q.Follow(t.Context(), bot, 0) {
			err = errors.Join(err, followErr)
			if followed = append(followed, e); len(followed) == len(history) {
				break
			}
		}
		data, jsonErr := json.Marshal([]any{got, page, history, summary, followed})
		if err := errors.Join(err, listErr, historyErr, summaryErr, jsonErr); err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	if text := seen(); search(mei, "quagga")+search(bot, "zebra") > 0 || strings.Contains(text, "zebra") || strings.Contains(text, "quagga") {
		t.Errorf("a draft is found, or told to its agent: %s", text)
	}
	if _, err := q.Reply(t.Context(), bot, op.ID, "the first"); err != nil {
		t.Fatal(err)
	}
	if _, err := q.Complete(t.Context(), mei, op.ID, a, ""); err != nil {
		t.Fatal(err)
	}
	all := seen()
	for _, secret := range []string{"quagga", "sum_1"} {
		if strings.Contains(all, secret) {
			t.Errorf("the agent is told of %q: %s", secret, all)
		}
	}
	for _, by := range []human.Actor{bot, mei} {
		if search(by, "zebra") != 1 || search(by, "okapi") != 1 || search(by, "quagga") > 0 {
			t.Errorf("%s finds %d, %d and %d", by.Name, search(by, "zebra"), search(by, "okapi"), search(by, "quagga"))
		}
	}
	entries, err := store.Operation(t.Context(), op.ID)
	if err != nil {
		t.Fatal(err)
	}
	last := entries[len(entries)-1].Event
	if text := fmt.Sprint(*last.Answer); last.Type != human.Finished || strings.Contains(text, "quagga") || last.Answer.SummaryID != "sum_1" {
		t.Errorf("the journal's last event is %s: %s", last.Type, text)
	}
	summary, err := q.Summary(t.Context(), bot, queue.SummaryQuery{})
	if err != nil || strings.Count(summary.Text, "zebra") != 1 || !strings.Contains(summary.Text, "  - Finding (e1): the zebra is striped\n\n## Advice\n- Of "+string(op.ID)+", e2: feed the okapi\n") {
		t.Errorf("get_summary tells: %s, %v", summary.Text, err)
	}
}
