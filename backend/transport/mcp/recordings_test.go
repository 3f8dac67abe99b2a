package mcp_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/record/library"
	"deskbell/backend/transport/mcp"
)

func TestAnAgentReadsWhatWasRecordedForIt(t *testing.T) {
	q, store := openStore(t)
	books := library.New(library.Deps{Store: store.Recordings(), Operations: q})
	c := inMemory(t, mcp.ForQueue(q, books, bot), mcp.Options{}, modern)

	// begun records clicks for an operation that the agent rings with.
	begun := func(id human.RecordingID, clicks int, wide string) human.Operation {
		r := c.use(args{"action": "invoke", "action_type": "desktop", "description": string(id), "wait_seconds": 0})
		_, err := q.Claim(t.Context(), mei, r.OperationID)
		if err == nil {
			_, err = q.RecordingBegan(t.Context(), mei, r.OperationID, id)
		}
		rec := human.Recording{ID: id, OperationID: r.OperationID, By: mei.Name, State: human.RecordingStopped}
		if err == nil {
			err = store.Recordings().Create(t.Context(), rec)
		}
		var events []human.RecordedEvent
		add := func(e human.RecordedEvent) {
			e.Seq, e.At = uint64(len(events)+1), int64(len(events)+1)*int64(time.Second)
			events = append(events, e)
		}
		for i := range clicks {
			press := uint64(len(events) + 1)
			add(human.RecordedEvent{Source: human.InputSource, Type: human.PointerDown, Button: 1, X: 5, Y: 5})
			add(human.RecordedEvent{Source: human.InputSource, Type: human.PointerUp, Button: 1, X: 5, Y: 5})
			add(human.RecordedEvent{Source: human.ElementSource, Type: human.ElementSeen, CausedBy: press,
				Element: &human.Element{Role: "button", Name: fmt.Sprint(wide, "Button ", i)}})
		}
		key := uint64(len(events) + 1)
		add(human.RecordedEvent{Source: human.InputSource, Type: human.KeyDown})
		add(human.RecordedEvent{Source: human.InputSource, Type: human.TextTyped, Text: "quagga", Count: 6, CausedBy: key, Until: key})
		if err == nil {
			err = store.Recordings().Append(t.Context(), rec, events)
		}
		op, getErr := q.Get(t.Context(), mei, r.OperationID)
		if err != nil || getErr != nil {
			t.Fatal(err, getErr)
		}
		return op
	}
	check := func(op human.Operation, more args) result {
		t.Helper()
		return c.use(args{"action": "check_result", "operation_id": op.ID}.with(more))
	}

	kept := begun("rec_kept", 3, "")
	answer(t, q, kept.ID, human.Answer{HumanInput: "done"})
	if r := check(kept, nil); strings.Contains(r.textAndJSON[0], "rec_kept") || strings.Contains(r.textAndJSON[0], "Button") {
		t.Errorf("the agent reads of a recording that it was not given: %s", r.textAndJSON[0])
	}
	if r := check(kept, args{"field": "recordings"}); r.Text != "" {
		t.Errorf("it reads %q", r.Text)
	}

	given := begun("rec_given", 3, "")
	if r := check(given, nil); strings.Contains(r.textAndJSON[0], "rec_given") {
		t.Errorf("the agent reads of a recording before the answer: %s", r.textAndJSON[0])
	}
	answer(t, q, given.ID, human.Answer{
		HumanInput: "done", Attachments: []string{"rec_given"}, Fields: map[string]string{"quota": "8,412,903", "plan": "typed"},
		FieldSources: map[string]human.FieldSource{"quota": {
			Recording: "rec_given", Action: "a1", Picked: "8.4M", Corrected: true, At: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC),
			URL: "https://shop.example/quota", Selector: "aria/Quota",
		}},
	})
	r := check(given, nil)
	want := "e1: picked from https://shop.example/quota at 2026-11-21T09:00:00Z, aria/Quota; corrected by hand; the picked value was: 8.4M"
	if len(r.Sources) != 1 || r.Sources["quota"] != want || r.Fields["plan"] != "typed" {
		t.Errorf("fields %v come from %v", r.Fields, r.Sources)
	}
	if len(r.Recordings) != 1 || r.Recordings[0].ID != "rec_given" || len(r.Recordings[0].Actions) != 4 {
		t.Fatalf("the agent reads %s", r.textAndJSON[0])
	}
	if line := r.Recordings[0].Actions[1]; !strings.HasPrefix(line, "0:04 ") || !strings.Contains(line, "Button 1") {
		t.Errorf("the second action reads %q", line)
	}
	if len(r.Cut) > 0 || !strings.Contains(r.Next, "recordings") {
		t.Errorf("cut %q, next %q", r.Cut, r.Next)
	}
	if strings.Contains(r.textAndJSON[0], "quagga") {
		t.Errorf("what was typed is not shared, and it reads %s", r.textAndJSON[0])
	}

	// A long one is shown in part; the whole is read page by page.
	long := begun("rec_long", 700, strings.Repeat("长", 50))
	answer(t, q, long.ID, human.Answer{HumanInput: "done", Attachments: []string{"rec_long"}})
	r = check(long, nil)
	if n := len(r.Recordings[0].Actions); n != 40 || len(r.Cut) == 0 || r.Cut[len(r.Cut)-1] != "recordings 40 of 701 actions" || !strings.Contains(r.Cut[0], "check_result") {
		t.Errorf("%d actions of a long recording are shown, cut %q", n, r.Cut)
	}
	var all string
	for offset, pages := 0, 0; ; pages++ {
		r = check(long, args{"field": "recordings", "offset": offset})
		all += r.Text
		if len(r.textAndJSON[0]) > 100_000 || pages > 50 {
			t.Fatalf("page %d has %d bytes", pages, len(r.textAndJSON[0]))
		}
		if r.NextOffset == 0 {
			break
		}
		offset = r.NextOffset
	}
	if n := strings.Count(all, "Button "); n != 700 || !strings.HasPrefix(all, "rec_long\n") {
		t.Errorf("its pages name %d buttons of 700", n)
	}
}

// deaf recordings cannot be read.
type deaf struct{ mcp.Recordings }

func (deaf) Actions(context.Context, human.Actor, human.RecordingID, string, string) (library.Actions, error) {
	return library.Actions{}, human.Errorf(human.Unavailable, "the disk is asleep")
}

func TestAnAnswerArrivesWithoutItsRecording(t *testing.T) {
	q := open(t)
	for name, recordings := range map[string]mcp.Recordings{"that cannot be read": deaf{}, "where there are none": nil} {
		t.Run(name, func(t *testing.T) {
			c := inMemory(t, mcp.ForQueue(q, recordings, bot), mcp.Options{}, modern)
			r := c.use(ask(name).with(args{"wait_seconds": 0}))
			if _, err := q.Claim(t.Context(), mei, r.OperationID); err != nil {
				t.Fatal(err)
			}
			if _, err := q.RecordingBegan(t.Context(), mei, r.OperationID, "rec_1"); err != nil {
				t.Fatal(err)
			}
			answer(t, q, r.OperationID, human.Answer{HumanInput: "here it is", Attachments: []string{"rec_1"}})
			r = c.use(args{"action": "check_result", "operation_id": r.OperationID})
			if r.Status != "completed" || r.HumanInput != "here it is" || len(r.Recordings) != 1 || r.Recordings[0].Missing == "" {
				t.Errorf("the agent reads %s", r.textAndJSON[0])
			}
		})
	}
}
