package human_test

import (
	"encoding/json"
	"testing"
	"time"

	"deskbell/backend/human"
)

func TestARequestToOneMember(t *testing.T) {
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	wen, mei, bot := human.Actor{Role: human.Operator, Name: "Wen"}, human.Actor{Role: human.Operator, Name: "Mei"}, human.Actor{Role: human.Agent, Name: "@Wen"}
	const exact = `{"operation_id":"op_1","recording_id":"rec_1","risk_level":"medium"}`
	request := func(change func(*human.Request)) human.Event {
		r := human.Request{Kind: human.Approve, Description: "Wen asks", Details: json.RawMessage(exact), AgentID: "@Wen", RequestedBy: "Wen", To: "Mei"}
		change(&r)
		return human.Event{Type: human.Invoked, At: at, By: wen, Request: &r}
	}
	plain := func(*human.Request) {}
	for name, tt := range map[string]struct {
		event human.Event
		want  bool
	}{
		"by a member":             {request(plain), true},
		"by an agent":             {human.Event{Type: human.Invoked, At: at, By: bot, Request: request(plain).Request}, false},
		"in the name of an agent": {request(func(r *human.Request) { r.AgentID = "bot" }), false},
		"in another's name":       {request(func(r *human.Request) { r.RequestedBy = "Ann" }), false},
		"to oneself":              {request(func(r *human.Request) { r.To = "Wen" }), false},
		"of another kind":         {request(func(r *human.Request) { r.Kind = human.Feedback }), false},
		"for nothing":             {request(func(r *human.Request) { r.Details = nil }), false},
		"for what reads two ways": {request(func(r *human.Request) { r.Details = json.RawMessage(`{"recording_id":"rec_2",` + exact[1:]) }), false},
		"for what is in any order": {request(func(r *human.Request) {
			r.Details = json.RawMessage(`{"recording_id":"rec_1","operation_id":"op_1","risk_level":""}`)
		}), false},
	} {
		if _, err := (human.Operation{ID: "op_2"}).Apply(tt.event); (err == nil) != tt.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	op, err := human.Operation{ID: "op_2"}.Apply(request(plain))
	if err != nil {
		t.Fatal(err)
	}
	if ask, is := op.Asks(); !is || ask.Recording != "rec_1" || !op.AsksOthers("Wen", at) || op.AsksOthers("Mei", at) {
		t.Errorf("the request is %+v", op)
	}
	for _, e := range []human.Event{
		{Type: human.ClaimedBy, By: wen}, {Type: human.Finished, By: wen, Answer: &human.Answer{Decision: human.Approved}}, {Type: human.TurnedDown, By: wen, Text: "no"},
		{Type: human.Asked, By: mei, Text: "why?"}, {Type: human.HandedOver, By: mei, To: "Ann"},
	} {
		if _, err := op.Apply(e); human.KindOf(err) != human.Denied {
			t.Errorf("%s by %s: %v", e.Type, e.By.Name, err)
		}
	}
	answered := func(d human.Decision) human.Operation {
		op, err := op.Apply(human.Event{Type: human.Finished, At: at, By: mei, Answer: &human.Answer{Decision: d}})
		if err != nil {
			t.Fatal(err)
		}
		return op
	}
	imported := answered(human.Approved)
	imported.Import = &human.Import{By: wen}
	week := 7 * 24 * time.Hour
	for name, tt := range map[string]struct {
		op    human.Operation
		after time.Duration
		want  bool
	}{
		"before the answer":        {op, 0, false},
		"approved":                 {answered(human.Approved), 0, true},
		"nearly a week later":      {answered(human.Approved), week - time.Second, true},
		"a week later":             {answered(human.Approved), week, false},
		"by a clock a week behind": {answered(human.Approved), -week, false},
		"denied":                   {answered(human.Refused), 0, false},
		"imported":                 {imported, 0, false},
	} {
		if until, is := tt.op.Grants(at.Add(tt.after)); is != tt.want || is && !until.Equal(at.Add(week)) {
			t.Errorf("%s: %t until %s", name, is, until)
		}
	}
}
