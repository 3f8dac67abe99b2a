package board_test

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/queue"
	"deskbell/backend/queue/board"
	"deskbell/backend/queue/journaltest"
	"deskbell/backend/queue/receipt"
	"deskbell/backend/queue/routing"
	"deskbell/backend/store/sqlite"
)

// A desk is a queue on a real database, with a clock that the test moves.
type desk struct {
	testing.TB
	*queue.Queue
	store *sqlite.Store
	now   time.Time
}

func newDesk(t testing.TB) *desk {
	store, err := sqlite.Open(t.Context(), t.TempDir(), sqlite.Options{Key: journaltest.Key})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	d := &desk{TB: t, store: store}
	d.Queue = queue.New(store, store, queue.Options{
		Now: func() time.Time { return d.now }, Member: func() string { return "Zed" }, MaxPending: 100_000,
		SecondApproval: func() human.Risk { return human.HighRisk }, Receipts: &receipt.Maker{Key: journaltest.Key},
	})
	return d
}

func person(name string) human.Actor { return human.Actor{Role: human.Operator, Name: name} }

// ring sends a request at a time.
func (d *desk) ring(at time.Time, r human.Request) human.Operation {
	d.Helper()
	d.now, r.AgentID = at, "bot"
	op, _, err := d.Ring(d.Context(), r, false)
	return d.good(op, err)
}

func (d *desk) good(op human.Operation, err error) human.Operation {
	d.Helper()
	if err != nil {
		d.Fatal(err)
	}
	return op
}

// answer answers a request so long after it was made.
func (d *desk) answer(op human.Operation, by string, after time.Duration) {
	d.Helper()
	d.now = op.CreatedAt.Add(after)
	d.good(d.Complete(d.Context(), person(by), op.ID, human.Answer{HumanInput: "done"}, op.Digest))
}

func question(text string) human.Request {
	return human.Request{Kind: human.Feedback, Description: text, Context: json.RawMessage(`{"project":"billing"}`)}
}

func approval(risk string) human.Request {
	return human.Request{Kind: human.Approve, Description: "drop a table", Details: json.RawMessage(`{"action":"DROP TABLE a","risk_level":"` + risk + `"}`)}
}

// midnight begins Monday 30 November 2026 in Berlin.
var midnight = time.Date(2026, 11, 29, 23, 0, 0, 0, time.UTC)

func TestTheBoardOfATeam(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}

	// Last week, and what was asked in it and answered in this one.
	seen := d.ring(midnight.AddDate(0, 0, -4), question("seen"))
	d.now = d.now.Add(40 * time.Second)
	d.good(d.Seen(t.Context(), person("Ann"), seen.ID, "card"))
	d.answer(seen, "Bo", 2*time.Minute)
	d.answer(d.ring(midnight.Add(-10*time.Minute), question("late")), "Bo", 20*time.Minute)
	// This week.
	d.answer(d.ring(midnight.Add(10*time.Minute), question("short")), "Bo", 3*time.Minute)
	no := d.ring(midnight.Add(10*time.Minute), human.Request{Kind: human.Feedback, Description: "no project"})
	d.now = d.now.Add(time.Minute)
	d.good(d.Decline(t.Context(), person("Ann"), no.ID, "not mine"))

	// What changes later was not answered then.
	d.good(d.Seen(t.Context(), person("Ann"), seen.ID, "console"))

	// What is open.
	first := d.ring(midnight.Add(15*time.Minute), approval("high"))
	d.good(d.Claim(t.Context(), person("Bo"), first.ID))
	d.good(d.Complete(t.Context(), person("Bo"), first.ID, human.Answer{Decision: human.Approved}, first.Digest))
	plain := d.ring(midnight.Add(16*time.Minute), approval("low"))
	handed := d.ring(midnight.Add(17*time.Minute), question("handed over"))
	d.good(d.HandOver(t.Context(), person("Bo"), handed.ID, "Ann", "have a look"))
	late := question("overdue")
	late.Timeout = 60
	overdue := d.ring(midnight.Add(18*time.Minute), late)
	d.good(d.Claim(t.Context(), person("Bo"), overdue.ID))
	for i := range 20 {
		op := d.ring(midnight.Add(20*time.Minute), question(fmt.Sprintf("claimed %d", i)))
		d.good(d.Claim(t.Context(), person("Cy"), op.ID))
	}
	d.now = midnight.Add(30 * time.Minute)
	_, err := d.store.Append(t.Context(), overdue.ID, 2, human.Event{Type: human.Expired, At: d.now, By: human.Actor{Role: human.System}})
	must(err)

	berlin, err := time.LoadLocation("Europe/Berlin")
	must(err)
	source := board.Source{
		Queue: d.Queue, By: person("Ann"), Now: d.now.In(berlin),
		Rules: routing.Rules{Rules: []routing.Rule{{Kinds: []human.Kind{human.Approve}, Skill: "databases"}, {Kinds: []human.Kind{human.Bash}, Skill: "security"}}},
		Team: routing.Team{
			Members: []routing.Member{
				{Name: "Ann", Role: routing.Lead, Skills: []string{"databases"}},
				{Name: "Bo", Role: routing.Operator, Skills: []string{"databases"}, Zone: "Europe/Berlin", Hours: []routing.Hours{{From: "09:00", To: "17:00"}}},
				{Name: "Cy", Role: routing.Operator, Skills: []string{"security"}},
				{Name: "Di", Role: routing.Auditor, Skills: []string{"law"}},
				{Name: "Ed", Role: routing.Operator, Skills: []string{"databases"}},
			},
			Presence: map[string]routing.Presence{
				"Ann": {Connected: true, LastSeen: d.now}, "Bo": {Connected: true, LastSeen: d.now}, "Cy": {LastSeen: midnight, AwayUntil: d.now.Add(time.Hour)},
			},
		},
	}
	got, err := source.Board(t.Context())
	must(err)

	type counts struct{ claimed, waiting, overdue, approvals, mine, all, shown int }
	if n, want := (counts{got.Claimed, got.Waiting, got.Overdue, got.Approvals, got.ApprovalsMine, got.ClaimsAll, len(got.Claims)}), (counts{22, 2, 1, 1, 1, 23, 20}); n != want {
		t.Errorf("counted %+v\nwant %+v", n, want)
	}
	if !got.OverdueSince.Equal(*overdue.ExpiresAt) || got.Partial {
		t.Errorf("overdue since %v, partial %v", got.OverdueSince, got.Partial)
	}

	var people []string
	for _, p := range got.People {
		people = append(people, fmt.Sprint(p.Name, " ", p.State, " ", p.Connected, " ", p.LastSeen != nil, " ", p.Claims, " ", p.Answered, " ", p.MedianMS))
	}
	// Of Bo's two answers today the median is the shorter one: never a value between two.
	wantLines(t, "people", people, "Ann on true true 0 1 60000", "Bo off true true 2 2 180000", "Cy away false true 20 0 0", "Di  false false 0 0 0", "Ed on false false 0 0 0")

	var skills []string
	for _, s := range got.Skills {
		skills = append(skills, fmt.Sprint(s.Name, " ", s.Waiting, " ", s.On, " ", s.Oldest != nil && s.Oldest.Equal(first.CreatedAt)))
	}
	wantLines(t, "skills", skills, "databases 2 1 true", "security 0 0 false", " 0 1 false")

	var weeks []string
	for _, w := range got.Weeks {
		weeks = append(weeks, fmt.Sprint(w.From.In(berlin).Format(time.DateOnly), " ", w.Requests, " ", w.Overdue, " ", w.See.Count, " ", about(w.Answer.Median)))
	}
	wantLines(t, "weeks", weeks[6:], "2026-11-23 2 0 1 2m0s", "2026-11-30 26 1 0 1m0s")
	if len(weeks) != 8 || got.Weeks[0].Requests != 0 || about(got.Weeks[6].See.Median) != 40*time.Second || about(got.Weeks[6].Answer.Ninth) != 20*time.Minute {
		t.Errorf("the weeks are %v", got.Weeks)
	}
	var projects []string
	for _, p := range got.Projects {
		projects = append(projects, fmt.Sprint(p.Name, " ", len(p.Weeks), " ", p.Weeks[5].Requests, " ", p.Weeks[6].Requests, " ", p.Weeks[7].Requests, " ", p.Weeks[5].From.Equal(got.Weeks[5].From)))
	}
	wantLines(t, "projects", projects, "billing 8 0 2 23 true", " 8 0 0 3 true")

	c := got.Claims
	if c[0].ID != overdue.ID || c[0].ClaimedBy != "Bo" || c[1].ID != first.ID || c[1].ApprovedBy != "Bo" || !c[1].Mine || c[2].ID != handed.ID || !c[2].Mine || c[2].HandOver.Note != "have a look" || c[3].Mine {
		t.Errorf("claims are %+v", c)
	}
	for _, c := range c {
		if c.ID == plain.ID {
			t.Error("a request that no one has is among the claims")
		}
	}
	for _, name := range []string{"Bo", "Zed"} { // who approved, and whose agent asked
		source.By = person(name)
		if got, err := source.Board(t.Context()); err != nil || got.Approvals != 1 || got.ApprovalsMine != 0 {
			t.Errorf("%s can approve %d, %v", name, got.ApprovalsMine, err)
		}
	}
}

// about is a length of time as statistics round it down, by less than 2 %, rounded to seconds.
func about(ms int64) time.Duration {
	exact := time.Duration(ms) * time.Millisecond
	for _, near := range []time.Duration{40 * time.Second, time.Minute, 2 * time.Minute, 20 * time.Minute} {
		if exact <= near && exact > near*98/100 {
			return near
		}
	}
	return exact
}

func wantLines(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
		t.Errorf("the %s are %q\nwant %q", what, got, want)
	}
}

// The board of a team with 100,000 requests, of which 1000 are open and 2000 were answered today.
func BenchmarkBoard(b *testing.B) {
	d := newDesk(b)
	const all, open, today = 100_000, 1000, 2000
	by := person("Ann")
	var loading sync.WaitGroup
	for part := range 64 { // side by side, or each waits for the disk alone
		loading.Go(func() {
			for i := part; i < all; i += 64 {
				at := midnight.Add(-time.Duration(all-today-i) * time.Minute / 2)
				if i >= all-today {
					at = midnight.Add(time.Duration(i-all+today) * time.Second)
				}
				r := question(fmt.Sprint("question ", i))
				r.AgentID = "bot"
				events := []human.Event{{Type: human.Invoked, At: at, By: human.Actor{Role: human.Agent, Name: "bot"}, Request: &r}, {Type: human.ClaimedBy, At: at, By: by}}
				if i%(all/open) != 0 {
					events = append(events, human.Event{Type: human.Finished, At: at.Add(time.Minute), By: by, Answer: &human.Answer{HumanInput: "done"}})
				}
				if _, err := d.store.Append(b.Context(), human.OperationID(fmt.Sprintf("op_%d", i)), 0, events...); err != nil {
					b.Error(err)
				}
			}
		})
	}
	loading.Wait()
	s := board.Source{Queue: d.Queue, By: by, Now: midnight.Add(time.Hour).In(time.FixedZone("", 3600)), Team: routing.Team{Members: []routing.Member{{Name: "Ann", Role: routing.Lead}}}}
	for b.Loop() {
		got, err := s.Board(b.Context())
		if err != nil || got.Claimed != open || got.People[0].Answered < today*9/10 {
			b.Fatalf("%+v, %v", got.People, err)
		}
	}
}
