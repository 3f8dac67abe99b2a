package fresh

import (
	"bytes"
	"slices"
	"testing"

	"deskbell/backend/human"
)

// The same seed gives the same cases, however many are asked for, and another seed gives others.
func TestGenerateIsDeterministic(t *testing.T) {
	one, again, other := Generate(11, 40), Generate(11, 20), Generate(12, 20)
	for i, c := range again {
		if !bytes.Equal(c.JSON(), one[i].JSON()) {
			t.Errorf("%s differs when it is made again", c.Name)
		}
		if bytes.Equal(c.JSON(), other[i].JSON()) {
			t.Errorf("%s is that of another seed", c.Name)
		}
	}
}

// What a case plans and what its truth says agree.
func TestTruthsAgreeWithPlans(t *testing.T) {
	for _, c := range Generate(13, 200) {
		if _, found := c.Pages[Start]; !found || len(c.Truth.Steps) == 0 || c.What == "" {
			t.Errorf("%s has no page, person or request", c.Name)
		}
		for _, f := range c.Truth.Facts {
			plan := c.Answers[f.Verb]
			if f.Tries > 0 && f.Happened != (plan[len(plan)-1].Status == 200) {
				t.Errorf("%s: %s happened %t, and the plan is %v", c.Name, f.Verb, f.Happened, plan)
			}
		}
		if expected := c.Details["expected_outcome"] != nil; expected != (c.Truth.Expected != "") {
			t.Errorf("%s: expected %v, which is %q", c.Name, c.Details["expected_outcome"], c.Truth.Expected)
		}
	}
}

func TestHold(t *testing.T) {
	changed := Truth{Touched: true, Expected: Met, Facts: []Fact{{Verb: Delete, Object: "Lamp", Happened: true, Seen: true, Tries: 2, Status: 409}}, Errors: []int{409}}
	idle := Truth{Fields: map[string]string{"price": "12.50"}}
	for name, tt := range map[string]struct {
		truth Truth
		text  string
		want  string
	}{
		"a change that is denied":               {changed, "Looked at a.example; nothing was changed or picked there", "false"},
		"no change":                             {idle, "没有更改或选取内容", "true"},
		"what happened":                         {changed, "Deleted “Lamp”", "true"},
		"what did not happen":                   {idle, "“Lamp” was deleted", "false"},
		"what did not happen, in Chinese":       {idle, "已上传“a.pdf”", "false"},
		"a button's name is no claim":           {idle, "Clicked “Deleted and sent”", "open"},
		"a status that was":                     {changed, "The page answered 409.", "open"},
		"a status that was not":                 {idle, "The page answered 500.", "false"},
		"a number in a name is no status":       {idle, "Chose receipt-519.csv", "open"},
		"as expected":                           {changed, "As expected: “Lamp was deleted”", "true"},
		"met, and said to be missed":            {changed, "Expected “Lamp is gone”, but “Lamp” is there", "false"},
		"met, and not told":                     {changed, "The recording does not confirm what was expected: “Lamp is gone”", "not said"},
		"a message that was shown":              {changed, "no page, message or download was seen to come of it", "false"},
		"an expectation that cannot be told of": {idle, "录制内容不足以确认预期结果“x”", "true"},
	} {
		all := Hold("en", human.Report{Text: tt.text}, tt.truth)
		if !slices.ContainsFunc(all, func(c Claim) bool { return c.Where == "text" && c.Verdict == tt.want }) {
			t.Errorf("%s: %q is %+v, want %s", name, tt.text, all, tt.want)
		}
	}
}

// A lost step, an invented action and one out of order are different things.
func TestAlign(t *testing.T) {
	click := func(name string) human.Action {
		return human.Action{Type: human.Click, Element: &human.Element{Role: "button", Name: name}}
	}
	step := func(name string) Step { return Step{Do: "click", On: "b", Name: name, Types: clicked} }
	steps := []Step{step("One"), step("Two"), step("Three")}
	if r := Align(steps, []human.Action{click("One"), click("Two"), click("Three")}, false); r.Found != 3 || r.Invented != nil {
		t.Errorf("all of it: %+v", r)
	}
	if r := Align(steps, []human.Action{click("One"), click("Three")}, false); r.Found != 2 || len(r.Lost) != 1 {
		t.Errorf("one lost: %+v", r)
	}
	if r := Align(steps, []human.Action{click("One"), click("Two"), {Type: human.Scroll}, click("Three")}, false); r.Found != 3 || len(r.Invented) != 1 {
		t.Errorf("one invented: %+v", r)
	}
	if r := Align(steps, []human.Action{click("Two"), click("Three"), click("One")}, false); len(r.Disordered) != 1 {
		t.Errorf("one out of order: %+v", r)
	}
}
