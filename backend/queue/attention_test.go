package queue

import (
	"testing"
	"time"

	"deskbell/backend/human"
)

// The figures of requests that were made by hand, on the days of a place where they begin at another time than in UTC.
func TestAttention(t *testing.T) {
	zone := time.FixedZone("+05:45", 5*3600+45*60)
	day := func(d, hour int) time.Time { return time.Date(2026, 11, d, hour, 0, 0, 0, zone) }
	c := newAttending(When{From: day(10, 0), To: day(12, 0), Zone: zone})
	ask := func(at time.Time, kind human.Kind, agent string, seen, answered time.Duration) {
		c.ask(Asked{Kind: kind, Agent: agent, At: at, Popped: seen >= 0, Seen: seen, Answered: answered})
	}
	ask(day(1, 9), human.Permission, "bot", time.Second, 11*time.Second) // before the time before
	for i := range 5 {
		ask(day(10, 1+i), human.Permission, "bot", time.Second, time.Duration(i+2)*time.Second) // 1 to 5 s
	}
	ask(day(11, 1), human.Permission, "other", 0, time.Hour)              // counts for 5 minutes
	ask(day(11, 1), human.Browser, "other", time.Minute, 2*time.Hour)     // counts for 30
	ask(day(11, 2), human.Feedback, "other", -1, time.Minute)             // answered, and no one was seen to open it
	ask(day(11, 3), human.Feedback, "other", time.Second, -1)             // not answered
	ask(day(11, 4), human.Permission, "bot", -1, 0)                       // decided when it came
	ask(day(11, 5), human.Approve, human.PersonID("Mei"), 0, time.Second) // a person asked
	ask(day(12, 0), human.Permission, "bot", time.Second, 11*time.Second) // after
	ask(day(9, 23), human.Permission, "bot", time.Second, 11*time.Second) // before
	spare := func(at time.Time, kind human.Kind, run bool) human.Spared {
		return human.Spared{Kind: kind, Agent: "bot", At: at, Run: run}
	}
	a := c.result([]human.Spared{
		spare(day(10, 1), human.Permission, false), spare(day(10, 23), human.Permission, false), spare(day(11, 1), human.Browser, true), spare(day(9, 1), human.Permission, false), spare(day(12, 1), human.Permission, false),
	})
	want := AttentionFigures{Interruptions: 9, Popped: 8, Answered: 8, Measured: 7, Capped: 2, Spent: 15_000 + 300_000 + 1_800_000, RuleHits: 2, Runs: 1, Saved: 2 * 5_000, Unpriced: 1}
	if a.AttentionFigures != want {
		t.Errorf("%+v, want %+v", a.AttentionFigures, want)
	}
	if a.Before == nil || a.Before.Interruptions != 1 || a.Before.Spent != 10_000 || a.Before.RuleHits != 1 {
		t.Errorf("before: %+v", a.Before)
	}
	if len(a.Days) != 2 || a.Days[0].Date != "2026-11-10" || a.Days[0].Interruptions != 5 || a.Days[0].RuleHits != 2 || a.Days[1].Interruptions != 4 {
		t.Errorf("days: %+v", a.Days)
	}
	if len(a.Kinds) != 3 || a.Kinds[0].Name != string(human.Permission) || a.Kinds[0].Interruptions != 6 || len(a.Agents) != 2 {
		t.Errorf("kinds %+v, agents %+v", a.Kinds, a.Agents)
	}
	if len(a.ByHand) != 2 || a.ByHand[0] != (ByHand{human.Permission, 9, 5_000}) || a.ByHand[1] != (ByHand{human.Browser, 1, 0}) {
		t.Errorf("by hand: %+v", a.ByHand)
	}
	c = newAttending(When{From: day(10, 0), To: day(12, 0), Zone: zone})
	ask(day(9, 23), human.Permission, "bot", time.Second, 11*time.Second)
	if a := c.result(nil); a.Before != nil {
		t.Errorf("the history is shorter than the time before, and that is compared: %+v", a.Before)
	}
}
