//go:build examples

package examples

import (
	"strings"
	"syscall"
	"testing"

	"deskbell/backend/human"
)

func TestCall(t *testing.T) {
	inEach(t, "call", func(t *testing.T, d *fixture, call []string) {
		// An answer with findings, and what they rest on.
		p := d.run(call, "Which of the two logos?")
		op := d.asked(p)
		if op.Kind != human.Feedback || op.Description != "Which of the two logos?" || op.AgentID != agent {
			t.Errorf("it asked with %s %q as %s", op.Kind, op.Description, op.AgentID)
		}
		d.complete(op, human.Answer{
			HumanInput: "The round one.", Summary: "Looked at both on paper", Fields: map[string]string{"logo": "round"},
			Findings: []human.Finding{{Kind: human.FoundValue, Text: "The round one reads better in print", Evidence: []human.Ref{{Kind: human.RefField, ID: "logo"}}}},
		})
		says(t, d.ends(p, 0), "rang: "+string(op.ID), " says: The round one.", "summary: Looked at both on paper", "field: logo = round",
			"finding: The round one reads better in print", "evidence: e1, field: round")
		if d.get(op.ID).DeliveredAt == nil {
			t.Error("the answer was not delivered")
		}

		// A yes, a no, and neither, to a command.
		for _, tt := range []struct {
			answer func(human.Operation)
			code   int
			says   string
		}{
			{func(op human.Operation) { d.approve(op, "") }, 0, "decision: approve"},
			{func(op human.Operation) { d.deny(op, "not today") }, 1, "says: not today"},
			{func(op human.Operation) { d.decline(op, "not mine") }, 1, "declined: not mine"},
		} {
			p := d.run(call, "--approve", "make deploy", "--risk", "high", "Deploy?")
			op := d.asked(p)
			if q := details(t, op); op.Kind != human.Approve || q.Action != "make deploy" || q.Risk != "high" {
				t.Errorf("it asked with %s %+v", op.Kind, q)
			}
			tt.answer(op)
			says(t, d.ends(p, tt.code), tt.says)
		}

		// No one answers in time.
		says(t, d.ends(d.run(call, "--approve", "make deploy", "--timeout", "0.3", "Deploy?"), 2), "cancelled: ")

		// The agent gives up waiting; the answer is the first thing it hears the next time, and only then.
		p = d.run(call, "--patience", "0.5", "Is anybody there?")
		says(t, d.ends(p, 4), "no answer yet")
		op = d.asked(p)
		d.complete(op, human.Answer{HumanInput: "Only now."})
		for _, again := range []bool{true, false} {
			p = d.run(call, "And what else?")
			d.complete(d.asked(p), human.Answer{HumanInput: "Nothing."})
			out := d.ends(p, 0)
			says(t, out, "rang: ", "says: Nothing.")
			if again {
				says(t, out, "meanwhile: Is anybody there?", "says: Only now.", "rang: ")
			} else {
				saysNot(t, out, "meanwhile")
			}
		}

		// The server is killed while the agent waits, and comes back.
		p = d.run(call, "Still there?")
		op = d.asked(p)
		d.restart()
		d.complete(op, human.Answer{HumanInput: "Yes."})
		says(t, d.ends(p, 0), "says: Yes.")

		// A key that is none.
		d.key = "dk_no-such-key"
		p = d.run(call, "Anybody?")
		d.ends(p, 3)
		if said := p.errs.String(); !strings.HasPrefix(said, "call: ") || !strings.Contains(said, "key") {
			t.Errorf("of a wrong key it says %q", said)
		}
	})
}

func TestAsk(t *testing.T) {
	inEach(t, "ask", func(t *testing.T, d *fixture, ask []string) {
		for _, tt := range []struct {
			answer func(human.Operation)
			code   int
			says   string
		}{
			{func(op human.Operation) { d.approve(op, "go on") }, 0, "approved: go on"},
			{func(op human.Operation) { d.deny(op, "keep it") }, 1, "denied: keep it"},
			{func(op human.Operation) { d.decline(op, "ask Mei") }, 1, "declined: ask Mei"},
		} {
			p := d.run(ask)
			op := d.asked(p)
			if q := details(t, op); op.Kind != human.Approve || q.Action != "DROP TABLE visits_old" || q.Risk != "high" {
				t.Errorf("it asked with %s %+v", op.Kind, q)
			}
			if got := d.asks(op, "How many rows are there?"); got != "48,210 rows, the oldest of 2019." {
				t.Errorf("the agent replied %q", got)
			}
			if got := d.asks(op, "Whose is it?"); !strings.HasPrefix(got, "I do not know that.") {
				t.Errorf("the agent replied %q", got)
			}
			tt.answer(d.get(op.ID))
			says(t, d.ends(p, tt.code), "asked: How many rows", "replied: 48,210", "asked: Whose is it?", "replied: I do not know", tt.says)
		}

		// Stopped with Ctrl+C while a person thinks: no one needs to any more.
		p := d.run(ask)
		op := d.waited(p)
		p.signal(t, syscall.SIGINT)
		d.ends(p, 2)
		if op = d.state(op.ID, human.Cancelled); op.Ended.By.Role != human.Agent {
			t.Errorf("it was cancelled by %v", op.Ended.By)
		}
	})
}
