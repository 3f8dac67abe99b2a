package kind_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/kind"
)

func TestAnswersOfWorkByHand(t *testing.T) {
	step := func(n int, verdict string) human.StepResult { return human.StepResult{Step: n, Verdict: verdict} }
	two := `{"steps":["Open","Save"]}`
	for name, tt := range map[string]struct {
		kind    human.Kind
		details string
		verdict human.WorkVerdict
		words   string
		steps   []human.StepResult
		field   string // that is wrong; "" where nothing is
	}{
		"done needs no words":                   {human.Bash, `{}`, human.WorkDone, "", nil, ""},
		"a client that knows no verdict":        {human.Bash, `{}`, "", "ran it", nil, ""},
		"partly needs words":                    {human.Desktop, two, human.WorkPartly, " \n", nil, "human_input"},
		"could not needs words":                 {human.Browser, two, human.WorkCouldNot, "", nil, "human_input"},
		"could not, with words":                 {human.Browser, two, human.WorkCouldNot, "no such page", nil, ""},
		"a review's verdict":                    {human.Desktop, two, human.ReviewApprove, "fine", nil, "verdict"},
		"no verdict at all":                     {human.Desktop, two, "perfect", "fine", nil, "verdict"},
		"steps in order":                        {human.Desktop, two, human.WorkDone, "", []human.StepResult{step(1, "done"), step(2, "skipped")}, ""},
		"some steps, under another name":        {human.Desktop, `{"instructions":["a","b"]}`, human.WorkDone, "", []human.StepResult{step(2, "failed")}, ""},
		"one text is one step":                  {human.Browser, `{"action_sequence":"a"}`, human.WorkDone, "", []human.StepResult{step(1, "")}, ""},
		"step 0":                                {human.Desktop, two, human.WorkDone, "", []human.StepResult{step(0, "done")}, "steps"},
		"a step there is not":                   {human.Desktop, two, human.WorkDone, "", []human.StepResult{step(3, "done")}, "steps"},
		"a step twice":                          {human.Desktop, two, human.WorkDone, "", []human.StepResult{step(1, "done"), step(1, "done")}, "steps"},
		"out of order":                          {human.Desktop, two, human.WorkDone, "", []human.StepResult{step(2, "done"), step(1, "done")}, "steps"},
		"steps of a request without any":        {human.Desktop, `{}`, human.WorkDone, "", []human.StepResult{step(1, "done")}, "steps"},
		"another verdict of a step":             {human.Desktop, two, human.WorkDone, "", []human.StepResult{step(1, "partly")}, "steps"},
		"a long note":                           {human.Desktop, two, human.WorkDone, "", []human.StepResult{{Step: 1, Note: strings.Repeat("x", 4001)}}, "steps"},
		"a note that is no UTF-8":               {human.Desktop, two, human.WorkDone, "", []human.StepResult{{Step: 1, Note: "\xff"}}, "steps"},
		"an attachment of the answer":           {human.Desktop, two, human.WorkDone, "", []human.StepResult{{Step: 1, Attachments: []string{"att_1"}}}, ""},
		"more attachments than a step may have": {human.Desktop, two, human.WorkDone, "", []human.StepResult{{Step: 1, Attachments: strings.Split("att_1"+strings.Repeat(",att_1", 8), ",")}}, "steps"},
	} {
		k, _ := kind.Of(tt.kind)
		a := human.Answer{HumanInput: tt.words, WorkAnswer: human.WorkAnswer{Verdict: tt.verdict, Steps: tt.steps}}
		err := k.Check(human.Operation{Kind: tt.kind, Details: json.RawMessage(tt.details)}, &a)
		var e *human.Error
		if errors.As(err, &e); (err == nil) != (tt.field == "") || err != nil && (e == nil || e.Kind != human.Invalid || e.Field != tt.field) {
			t.Errorf("%s: %v, want an error of %q", name, err, tt.field)
		}
	}
}
