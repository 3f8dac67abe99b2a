package human_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"deskbell/backend/human"
)

var ann = human.Actor{Role: human.Operator, Name: "Ann"}

// over hands an operation over.
func (s story) over(by human.Actor, to string) story {
	return append(s, human.Event{Type: human.HandedOver, By: by, To: to, Text: "the backup is checked"})
}

func TestHandOver(t *testing.T) {
	for name, tt := range map[string]struct {
		story   story
		claimed string // in the end
		to      string // whom it is still handed over to
		want    human.ErrorKind
	}{
		"it stays with who had it":            {rung().then(human.ClaimedBy, mei).over(mei, "Tom"), "Mei", "Tom", 0},
		"the other claims it":                 {rung().then(human.ClaimedBy, mei).over(mei, "Tom").then(human.ClaimedBy, tom), "Tom", "", 0},
		"no third person claims it":           {rung().then(human.ClaimedBy, mei).over(mei, "Tom").then(human.ClaimedBy, ann), "Mei", "Tom", human.Conflict},
		"who has it does not claim it":        {rung().then(human.ClaimedBy, mei).over(mei, "Tom").then(human.ClaimedBy, mei), "Mei", "Tom", human.Conflict},
		"the other claims before working":     {rung().then(human.ClaimedBy, mei).over(mei, "Tom").then(human.Finished, tom), "Mei", "Tom", human.Conflict},
		"after the claim it is theirs":        {rung().then(human.ClaimedBy, mei).over(mei, "Tom").then(human.ClaimedBy, tom).then(human.Finished, mei), "Tom", "", human.Conflict},
		"a later one replaces it":             {rung().then(human.ClaimedBy, mei).over(mei, "Tom").over(mei, "Ann"), "Mei", "Ann", 0},
		"the one before does not count":       {rung().then(human.ClaimedBy, mei).over(mei, "Tom").over(mei, "Ann").then(human.ClaimedBy, tom), "Mei", "Ann", human.Conflict},
		"a release clears it":                 {rung().then(human.ClaimedBy, mei).over(mei, "Tom").then(human.Released, mei), "", "", 0},
		"work does not":                       {rung().then(human.ClaimedBy, mei).over(mei, "Tom").then(human.Started, mei), "Mei", "Tom", 0},
		"an answer clears it":                 {rung().then(human.ClaimedBy, mei).over(mei, "Tom").then(human.Finished, mei), "Mei", "", 0},
		"so does its agent's cancellation":    {rung().then(human.ClaimedBy, mei).over(mei, "Tom").then(human.Withdrawn, agent), "Mei", "", 0},
		"another than who has it does it":     {rung().then(human.ClaimedBy, mei).over(tom, "Ann").then(human.ClaimedBy, ann), "Ann", "", 0},
		"one that is not claimed becomes own": {rung().over(mei, "Tom"), "Mei", "Tom", 0},
		"not to oneself":                      {rung().then(human.ClaimedBy, mei).over(mei, "Mei"), "Mei", "", human.Invalid},
		"not to who has it":                   {rung().then(human.ClaimedBy, mei).over(tom, "Mei"), "Mei", "", human.Conflict},
		"not to no one":                       {rung().then(human.ClaimedBy, mei).over(mei, ""), "Mei", "", human.Invalid},
		"not after the end":                   {rung().then(human.Finished, mei).over(mei, "Tom"), "Mei", "", human.Conflict},
		"not while an answer is held":         {rung().then(human.Held, mei).over(mei, "Tom"), "Mei", "", human.Conflict},
	} {
		t.Run(name, func(t *testing.T) {
			op, err := tt.story.tell()
			to := ""
			if op.HandOver != nil {
				to = op.HandOver.To
			}
			if err != nil && human.KindOf(err) != tt.want || err == nil && tt.want != 0 {
				t.Fatalf("the error is %v, want kind %v", err, tt.want)
			}
			if op.ClaimedBy != tt.claimed || to != tt.to {
				t.Errorf("claimed by %q and handed over to %q; want %q and %q", op.ClaimedBy, to, tt.claimed, tt.to)
			}
		})
	}
	op, err := rung().then(human.ClaimedBy, mei).over(tom, "Ann").tell()
	if err != nil || op.HandOver == nil || op.HandOver.From != "Mei" || op.HandOver.By != "Tom" || op.HandOver.Note != "the backup is checked" {
		t.Errorf("%+v, %v", op.HandOver, err)
	}
	if seen := op.ForAgent(); seen.HandOver != nil || human.HandedOver.ForAgents() {
		t.Errorf("its agent sees %+v", seen.HandOver)
	}
	op, err = rung().then(human.ClaimedBy, mei).then(human.Asked, mei).over(mei, "Tom").then(human.ClaimedBy, tom).tell()
	if err != nil || op.State != human.WaitingInput {
		t.Errorf("its agent has a question to answer: the state is %s, %v", op.State, err)
	}
}

// asked is a request that two people have to approve; Ann's agent sent it.
func asked() human.Operation {
	op, err := human.Operation{ID: "op_1"}.Apply(human.Event{Type: human.Invoked, At: noon, By: agent, Request: &human.Request{
		Kind: human.Approve, Description: "Drop a table", AgentID: agent.Name, Approvals: 2, RequestedBy: ann.Name,
		Details: json.RawMessage(`{"action":"drop","arguments":{"table":"a"},"risk_level":"critical"}`),
	}})
	if err != nil {
		panic(err)
	}
	return op
}

// first and second are approvals that many seconds after noon.
func first(op human.Operation, by human.Actor, seconds int, a human.Answer) human.Event {
	a.Decision = human.Approved
	return human.Event{Type: human.ApprovedFirst, By: by, At: noon.Add(time.Duration(seconds) * time.Second), Answer: &a, Digest: op.AnswerDigest(a)}
}

func second(by human.Actor, seconds int, a human.Answer) human.Event {
	a.Decision = human.Approved
	return human.Event{Type: human.Finished, By: by, At: noon.Add(time.Duration(seconds) * time.Second), Answer: &a}
}

func TestTwoApprove(t *testing.T) {
	op := asked()
	edited := human.Answer{PermissionAnswer: human.PermissionAnswer{Args: json.RawMessage(`{"table":"b"}`)}}
	deny := func(by human.Actor) human.Event {
		return human.Event{Type: human.Finished, By: by, At: noon, Answer: &human.Answer{Decision: human.Refused}}
	}
	claim := func(by human.Actor) human.Event { return human.Event{Type: human.ClaimedBy, By: by, At: noon} }
	held := second(tom, 0, human.Answer{})
	wrong := first(op, mei, 0, human.Answer{})
	wrong.Digest = op.AnswerDigest(edited)
	for name, tt := range map[string]struct {
		events []human.Event
		want   human.State
		fails  human.ErrorKind // of the last
	}{
		"one is not enough":                      {[]human.Event{second(mei, 0, human.Answer{})}, human.Pending, human.Conflict},
		"the first releases it":                  {[]human.Event{claim(mei), first(op, mei, 0, human.Answer{})}, human.Pending, 0},
		"two are":                                {[]human.Event{first(op, mei, 0, human.Answer{}), second(tom, 900, human.Answer{})}, human.Completed, 0},
		"not twice the same person":              {[]human.Event{first(op, mei, 0, human.Answer{}), second(mei, 1, human.Answer{})}, human.Pending, human.Conflict},
		"not who asked, as second":               {[]human.Event{first(op, mei, 0, human.Answer{}), second(ann, 1, human.Answer{})}, human.Pending, human.Denied},
		"not who asked, as first":                {[]human.Event{first(op, ann, 0, human.Answer{})}, human.Pending, human.Denied},
		"not the system":                         {[]human.Event{first(op, mei, 0, human.Answer{}), second(bell, 1, human.Answer{})}, human.Pending, human.Denied},
		"not for other bytes":                    {[]human.Event{first(op, mei, 0, human.Answer{}), second(tom, 1, edited)}, human.Pending, human.Conflict},
		"for the same edited bytes":              {[]human.Event{first(op, mei, 0, edited), second(tom, 1, edited)}, human.Completed, 0},
		"other bytes begin again":                {[]human.Event{first(op, mei, 0, human.Answer{}), first(op, tom, 1, edited), second(mei, 2, edited)}, human.Completed, 0},
		"what was replaced does not count":       {[]human.Event{first(op, mei, 0, human.Answer{}), first(op, mei, 1, edited), second(tom, 2, human.Answer{})}, human.Pending, human.Conflict},
		"the first lapses":                       {[]human.Event{first(op, mei, 0, human.Answer{}), second(tom, 901, human.Answer{})}, human.Pending, human.Conflict},
		"and is given again":                     {[]human.Event{first(op, mei, 0, human.Answer{}), first(op, tom, 901, human.Answer{}), second(mei, 902, human.Answer{})}, human.Completed, 0},
		"a first is given once":                  {[]human.Event{first(op, mei, 0, human.Answer{}), first(op, tom, 1, human.Answer{})}, human.Pending, human.Conflict},
		"not for bytes nobody was shown":         {[]human.Event{wrong}, human.Pending, human.Conflict},
		"one denies":                             {[]human.Event{deny(mei)}, human.Completed, 0},
		"also after a first approval":            {[]human.Event{first(op, mei, 0, human.Answer{}), deny(mei)}, human.Completed, 0},
		"also who asked, and claimed by another": {[]human.Event{first(op, mei, 0, human.Answer{}), claim(tom), deny(ann)}, human.Completed, 0},
		"an approval needs the claim":            {[]human.Event{claim(tom), first(op, mei, 0, human.Answer{})}, human.Claimed, human.Conflict},
		"not after the end":                      {[]human.Event{deny(mei), first(op, tom, 0, human.Answer{})}, human.Completed, human.Conflict},
		"clocks differ":                          {[]human.Event{first(op, mei, 60, human.Answer{}), held}, human.Completed, 0},
	} {
		t.Run(name, func(t *testing.T) {
			op := asked()
			for i, e := range tt.events {
				var err error
				last := i == len(tt.events)-1
				if op, err = op.Apply(e); err != nil && (!last || human.KindOf(err) != tt.fails) || err == nil && last && tt.fails != 0 {
					t.Fatalf("event %d: %v", i, err)
				}
			}
			if op.State != tt.want {
				t.Errorf("it is %s", op.State)
			}
		})
	}
	one, err := rung().then(human.Finished, mei).tell()
	if err != nil || one.State != human.Completed || one.Approvals != nil {
		t.Errorf("of one person: %v", err)
	}
	if _, err := rung()[:1].tell(); err != nil {
		t.Fatal(err)
	}
	plain, _ := rung().tell()
	if _, err := plain.Apply(first(plain, mei, 1, human.Answer{})); human.KindOf(err) != human.Invalid {
		t.Errorf("a first of one: %v", err)
	}
	op, err = op.Apply(first(op, mei, 0, human.Answer{}))
	if err != nil || op.ForAgent().Approvals != nil || human.ApprovedFirst.ForAgents() {
		t.Errorf("its agent sees the first: %v", err)
	}
}

// However events are mixed, such an operation is approved by two people alone, who both approved the same bytes, and neither is who asked.
func TestTwoApproveWhateverHappens(t *testing.T) {
	people := []human.Actor{mei, tom, mei, tom, ann, bell, agent, {Role: human.Operator}}
	types := []human.EventType{
		human.ApprovedFirst, human.ApprovedFirst, human.ApprovedFirst, human.Finished, human.Finished, human.Finished, human.ClaimedBy, human.Released, human.Released,
		human.HandedOver, human.Held, human.Undone, human.InputSaved, human.Started, human.Asked, human.Replied, human.Expired, human.Routed,
	}
	yes := human.Answer{Decision: human.Approved}
	answers := slices.Repeat([]human.Answer{yes}, 20)
	for _, args := range []string{`{"table":"b"}`, `{"table":"c"}`} {
		edited := yes
		edited.Args = json.RawMessage(args)
		answers = append(answers, edited, edited, edited)
	}
	answers = append(answers, human.Answer{Decision: human.Refused}, human.Answer{})
	var completed int
	rapid.Check(t, func(t *rapid.T) {
		op := asked()
		var taken []human.Event
		for range rapid.IntRange(30, 80).Draw(t, "events") {
			by := rapid.SampledFrom(people).Draw(t, "by")
			a := rapid.SampledFrom(answers).Draw(t, "answer")
			at := noon.Add(time.Duration(rapid.SampledFrom([]int{0, 0, 1, 300, 900, 901, 1500}).Draw(t, "seconds")) * time.Second)
			until := at.Add(time.Second)
			e := human.Event{
				Type: rapid.SampledFrom(types).Draw(t, "type"), By: by, At: at, Answer: &a, Until: &until, Text: "because", To: rapid.SampledFrom(people).Draw(t, "to").Name,
				Routing: &human.Routing{Step: len(op.Routing) + 1, Names: []string{"Mei"}},
			}
			if e.Type == human.Held && rapid.SampledFrom([]bool{true, false, false, false, false, false}).Draw(t, "answers") {
				e.Text = ""
			}
			e.Digest = op.AnswerDigest(a)
			if rapid.SampledFrom([]bool{true, false, false, false}).Draw(t, "digest") {
				e.Digest = op.Digest
			}
			next, err := op.Apply(e)
			if err != nil {
				continue
			}
			op, taken = next, append(taken, e)
			if op.State != human.Completed {
				continue
			}
			if a.Decision != human.Approved {
				return
			}
			completed++
			var before *human.Event
			for i := range taken[:len(taken)-1] {
				if taken[i].Type == human.ApprovedFirst {
					before = &taken[i]
				}
			}
			switch {
			case before == nil:
				t.Fatalf("approved by %s alone", by.Name)
			case before.By == by || before.By.Role != human.Operator || by.Role != human.Operator || before.By == ann || by == ann || by.Name == "":
				t.Fatalf("approved by %v and %v", before.By, by)
			case before.Digest != op.Result.Digest || op.AnswerDigest(*before.Answer) != op.Result.Digest:
				t.Fatalf("approved for %s and %s", before.Digest, op.Result.Digest)
			case at.Sub(before.At).Abs() > 15*time.Minute:
				t.Fatalf("approved %s later", at.Sub(before.At))
			}
			return
		}
	})
	if completed == 0 {
		t.Error("nothing was approved, so nothing was tested")
	}
}

func TestRouted(t *testing.T) {
	step := func(n int, by human.Actor, names ...string) human.Event {
		return human.Event{Type: human.Routed, By: by, At: noon, Routing: &human.Routing{Step: n, Names: names, Reason: human.Sentence{Text: "Routed to you."}}}
	}
	op, _ := rung().tell()
	op, err := op.Apply(step(1, bell, "Mei"))
	if err != nil || len(op.Routing) != 1 || op.Routing[0].At != noon || op.State != human.Pending || op.ForAgent().Routing != nil {
		t.Fatalf("%+v, %v", op.Routing, err)
	}
	for name, e := range map[string]human.Event{
		"twice": step(1, bell, "Tom"), "one left out": step(3, bell, "Tom"), "by a person": step(2, mei, "Tom"), "to no one": step(2, bell),
	} {
		if _, err := op.Apply(e); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if op, err = op.Apply(step(2, bell, "Tom", "Mei")); err != nil || len(op.Routing) != 2 {
		t.Errorf("%+v, %v", op.Routing, err)
	}
}

// Whoever was the first of two approves no more while that counts, and is asked again once it has lapsed.
func TestWhoIsAsked(t *testing.T) {
	op := human.Operation{State: human.Pending, TeamState: human.TeamState{Routing: []human.Routing{{Step: 1, Names: []string{"Mei"}}}, Approvals: []human.Approval{{By: mei, At: noon}}}}
	for _, c := range []struct {
		name  string
		after time.Duration
		want  bool
	}{{"Mei", time.Minute, true}, {"Mei", human.ApprovalTime + time.Minute, false}, {"Tom", time.Minute, true}} {
		if got := op.AsksOthers(c.name, noon.Add(c.after)); got != c.want {
			t.Errorf("after %v others than %s are asked: %t", c.after, c.name, got)
		}
	}
	if op.Approvals = nil; op.AsksOthers("Mei", noon) || !op.AsksOthers("Tom", noon) {
		t.Error("before any approval")
	}
	op.State, op.ClaimedBy = human.Claimed, "Mei"
	if op.AsksOthers("Mei", noon) || !op.AsksOthers("Tom", noon) {
		t.Error("claimed by Mei")
	}
	op.HandOver = &human.HandOver{From: "Mei", To: "Tom"}
	if op.AsksOthers("Tom", noon) {
		t.Error("handed over to Tom")
	}
	if (human.Operation{State: human.Claimed, ClaimedBy: "Mei"}).AsksOthers("Tom", noon) {
		t.Error("in no team")
	}
}
