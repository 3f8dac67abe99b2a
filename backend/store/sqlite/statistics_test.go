package sqlite

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"deskbell/backend/human"
	"deskbell/backend/kind"
	"deskbell/backend/queue"
)

// counted is what a plain reading of the journal knows of an operation.
type counted struct {
	id                           human.OperationID
	request                      human.Request
	at                           time.Time
	project                      string
	risk                         human.Risk
	end                          queue.End
	see, answer                  time.Duration // below 0: not
	decided, yes, overdue, shown bool
}

// readJournal makes them of events, in the words of the specification.
func readJournal(s *Store) []*counted {
	var all []*counted
	by := map[human.OperationID]*counted{}
	for e, err := range s.Read(context.Background(), 0) {
		if err != nil {
			panic(err)
		}
		c, ev := by[e.ID], e.Event
		if ev.Type == human.Invoked {
			c = &counted{id: e.ID, request: *ev.Request, at: ev.At, risk: ev.Request.Risk(), end: queue.EndOpen, see: -1, answer: -1}
			c.project = human.Operation{Context: ev.Request.Context}.Project()
			by[e.ID] = c
			all = append(all, c)
			continue
		}
		switch ev.Type {
		case human.Shown:
			c.shown = c.shown || ev.Channel == "card" && ev.Text == ""
		case human.Seen:
			if c.see < 0 && c.end == queue.EndOpen {
				c.see = ev.At.Sub(c.at)
			}
		case human.Expired:
			c.overdue = true
		case human.Finished:
			c.end, c.answer = queue.EndCompleted, ev.At.Sub(c.at)
			if ev.Answer.Decision != "" {
				c.decided, c.yes = true, ev.Answer.Decision == human.Approved
				if !c.yes {
					c.end = queue.EndDenied
				}
			}
		case human.TurnedDown:
			c.end, c.answer = queue.EndDeclined, ev.At.Sub(c.at)
		case human.Withdrawn:
			c.end = queue.EndCanceled
			if ev.By.Role == human.System && c.overdue {
				c.end = queue.EndTimedOut
			}
		}
	}
	return all
}

func (c *counted) is(f queue.Filter) bool {
	local := c.at.In(f.When.Zone)
	hour := (int(local.Weekday())+6)%7*24 + local.Hour() + 1
	return (f.Kind == "" || f.Kind == c.request.Kind) && (f.AgentID == "" || f.AgentID == c.request.AgentID) &&
		(f.Project == "" || f.Project == c.project || f.Project == queue.None && c.project == "") &&
		(f.Risk == "" || f.Risk == c.risk || f.Risk == queue.None && c.risk == "") &&
		(f.End == "" || f.End == c.end) && (f.When.Hour == 0 || f.When.Hour == hour)
}

func within(at time.Time, w queue.When) bool { return !at.Before(w.From) && at.Before(w.To) }

func plainFigures(all []*counted) queue.Figures {
	f := queue.Figures{Ends: map[queue.End]int{}}
	var see, answer []int64
	for _, c := range all {
		f.Requests++
		f.Ends[c.end]++
		if c.see >= 0 {
			see = append(see, c.see.Milliseconds())
		}
		if c.answer >= 0 {
			answer = append(answer, c.answer.Milliseconds())
		}
		if c.decided {
			f.Decisions++
		}
		if c.yes {
			f.Approved++
		}
		if c.overdue {
			f.Overdue++
		}
		if c.shown {
			f.Interruptions++
		}
	}
	times := func(ms []int64) queue.Times {
		slices.Sort(ms)
		rank := func(tenths int) int64 {
			if len(ms) == 0 {
				return 0
			}
			return queue.SpanMillis(queue.SpanOf(ms[(len(ms)*tenths+9)/10-1]))
		}
		return queue.Times{Count: len(ms), Tenth: rank(1), Median: rank(5), Ninth: rank(9)}
	}
	f.See, f.Answer = times(see), times(answer)
	if f.Decisions >= 10 {
		rate := float64(f.Approved) / float64(f.Decisions)
		f.ApprovalRate = &rate
	}
	return f
}

// plainStatistics is what Statistics has to say, counted without haste.
func plainStatistics(all []*counted, f queue.Filter, now time.Time) queue.HistoryStatistics {
	st := queue.HistoryStatistics{CountedAt: now.UTC(), Zone: f.When.Zone.String(), From: f.When.From.UTC(), To: f.When.To.UTC(), Hours: make([]int, 168), Days: []queue.DayFigures{}}
	var in []*counted
	before := queue.When{From: f.When.From.Add(-f.When.To.Sub(f.When.From)), To: f.When.From}
	for _, c := range all {
		if c.is(f) && within(c.at, before) {
			st.Before++
		}
		if c.is(f) && within(c.at, f.When) {
			in = append(in, c)
			local := c.at.In(f.When.Zone)
			if c.shown {
				st.Hours[(int(local.Weekday())+6)%7*24+local.Hour()]++
			}
		}
	}
	st.Figures = plainFigures(in)
	last := f.When.To.Add(-time.Millisecond).In(f.When.Zone).Format(time.DateOnly)
	for at := f.When.From.In(f.When.Zone); ; at = at.AddDate(0, 0, 1) {
		d := queue.DayFigures{Date: at.Format(time.DateOnly), Kinds: map[human.Kind]int{}}
		var of []*counted
		for _, c := range in {
			if c.at.In(f.When.Zone).Format(time.DateOnly) == d.Date {
				of = append(of, c)
				d.Kinds[c.request.Kind]++
			}
		}
		d.Figures = plainFigures(of)
		st.Days = append(st.Days, d)
		if d.Date == last {
			break
		}
	}
	group := func(name func(*counted) string) []queue.GroupFigures {
		by := map[string][]*counted{}
		for _, c := range in {
			by[name(c)] = append(by[name(c)], c)
		}
		list := []queue.GroupFigures{}
		for name, of := range by {
			list = append(list, queue.GroupFigures{Name: name, Figures: plainFigures(of)})
		}
		slices.SortFunc(list, func(a, b queue.GroupFigures) int {
			if a.Requests != b.Requests {
				return b.Requests - a.Requests
			}
			if a.Name < b.Name {
				return -1
			}
			return 1
		})
		return list
	}
	st.Kinds = group(func(c *counted) string { return string(c.request.Kind) })
	st.Agents = group(func(c *counted) string { return c.request.AgentID })
	st.Projects = group(func(c *counted) string { return c.project })
	st.Risks = group(func(c *counted) string { return string(c.risk) })
	return st
}

func wantStatistics(t rapid.TB, s *Store, f queue.Filter) {
	t.Helper()
	now := epoch.Add(time.Hour)
	got, err := s.Statistics(context.Background(), f, now)
	if err != nil {
		t.Fatalf("Statistics(%+v): %v", f, err)
	}
	if want := plainStatistics(readJournal(s), f, now); !reflect.DeepEqual(got, want) {
		t.Fatalf("Statistics(%+v)\n got %+v\nwant %+v", f, got, want)
	}
}

var zones = []string{"Europe/Berlin", "UTC", "Asia/Kathmandu", "America/New_York"}

func drawFilter(rt *rapid.T) queue.Filter {
	zone, err := time.LoadLocation(rapid.SampledFrom(zones).Draw(rt, "zone"))
	if err != nil {
		panic(err)
	}
	f := queue.Filter{
		Kind:    rapid.SampledFrom([]human.Kind{"", "", human.Approve, human.Bash, "nothing"}).Draw(rt, "only kind"),
		AgentID: rapid.SampledFrom([]string{"", "", "bot", "crow"}).Draw(rt, "only agent"),
		Project: rapid.SampledFrom([]string{"", "", queue.None, "shop"}).Draw(rt, "only project"),
		Risk:    rapid.SampledFrom([]human.Risk{"", "", queue.None, human.HighRisk}).Draw(rt, "only risk"),
		End:     rapid.SampledFrom([]queue.End{"", "", queue.EndDenied, queue.EndTimedOut, queue.EndOpen}).Draw(rt, "only end"),
	}
	f.When = queue.Days(rapid.IntRange(1, 40).Draw(rt, "days"), epoch.Add(time.Duration(rapid.IntRange(0, 90*24).Draw(rt, "until"))*time.Hour), zone)
	if rapid.IntRange(0, 4).Draw(rt, "one hour") == 0 {
		f.When.Hour = rapid.IntRange(1, 168).Draw(rt, "hour")
	}
	return f
}

// TestStatisticsAreTheJournal compares statistics, and the lists behind their numbers, with a plain reading of the journal, for
// random histories: as they come, after a rebuild, and for a database of an older version.
func TestStatisticsAreTheJournal(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := newHistory(t, Options{narrow: rapid.SampledFrom([]int{3, 1000}).Draw(rt, "narrow")})
		at := epoch.Add(55 * 24 * time.Hour) // the clocks change in these weeks
		step := func() time.Time {
			at = at.Add(time.Duration(rapid.IntRange(0, 40*3600).Draw(rt, "pause")) * time.Second / 4)
			return at
		}
		ids := []human.OperationID{}
		event := func(id human.OperationID, e human.Event) {
			e.At = step()
			_ = h.try(id, e) // what the life cycle does not allow is not in the journal
		}
		for i := range rapid.IntRange(1, 60).Draw(rt, "steps") {
			if len(ids) == 0 || rapid.IntRange(0, 3).Draw(rt, "ring") == 0 {
				id := human.OperationID(fmt.Sprintf("op_%03d", i))
				ids = append(ids, id)
				event(id, ring("Please", func(r *human.Request) {
					r.Kind = rapid.SampledFrom(kind.ForAgents()).Draw(rt, "kind")
					r.AgentID = rapid.SampledFrom([]string{"bot", "crow", "shop"}).Draw(rt, "agent")
					r.Context = []byte(rapid.SampledFrom([]string{``, `{"project":"shop"}`, `{"cwd":"/srv"}`, `[1]`}).Draw(rt, "context"))
					r.Details = []byte(rapid.SampledFrom([]string{``, `{"risk_level":"high"}`, `{"risk_level":"odd"}`, `{"risk":"low"}`}).Draw(rt, "details"))
				}))
				continue
			}
			id := rapid.SampledFrom(ids).Draw(rt, "id")
			event(id, rapid.SampledFrom([]human.Event{
				{Type: human.Shown, Channel: "card"}, {Type: human.Shown, Channel: "card", Text: "no display"}, {Type: human.Shown, Channel: "tray"},
				{Type: human.Seen, Channel: "card", By: ann}, {Type: human.Seen, Channel: "console", By: ann},
				{Type: human.Expired, By: human.Actor{Role: human.System}}, {Type: human.Withdrawn, By: human.Actor{Role: human.System}},
				{Type: human.Withdrawn, By: bot}, done("yes"), declined("no"), {Type: human.Commented, By: ann, Text: "more"},
				{Type: human.Finished, By: ann, Answer: &human.Answer{Decision: human.Approved}},
				{Type: human.Finished, By: ann, Answer: &human.Answer{Decision: human.Refused}},
			}).Draw(rt, "event"))
		}
		check := func() {
			for range 3 {
				f := drawFilter(rt)
				wantStatistics(rt, h.Store, f)
				want := []human.OperationID{}
				all := readJournal(h.Store)
				for _, c := range slices.Backward(all) {
					if c.is(f) && within(c.at, f.When) {
						want = append(want, c.id)
					}
				}
				f.Limit = rapid.IntRange(1, 5).Draw(rt, "limit")
				if got := h.ids(f); !slices.Equal(got, want) {
					rt.Fatalf("List(%+v) = %v, want %v", f, got, want)
				}
				f.Order = rapid.SampledFrom([]queue.Order{queue.Recent, queue.Urgent}).Draw(rt, "order")
				got := h.ids(f)
				slices.Sort(got)
				slices.Sort(want)
				if !slices.Equal(got, want) {
					rt.Fatalf("List(%+v) has %v, want %v", f, got, want)
				}
			}
		}
		check()
		if err := h.Rebuild(context.Background()); err != nil {
			rt.Fatal(err)
		}
		check()
		err := h.do(context.Background(), func(ctx context.Context, w *writer) error {
			w.facts.forget()
			_, err := w.conn.ExecContext(ctx, `DELETE FROM facts; DELETE FROM fact_names; UPDATE projected SET without_facts = (SELECT max(n) FROM operations)`)
			return err
		})
		if err != nil {
			rt.Fatal(err)
		}
		h.reopen(Options{narrow: 3})
		check()
	})
}

// TestSpansAreCountedAlike compares both ways to keep lengths of time, and their sums, with sorting.
func TestSpansAreCountedAlike(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var all []int
		var whole spans
		for range rapid.IntRange(0, 4).Draw(rt, "parts") {
			var part spans
			random := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
			most := rapid.SampledFrom([]int{1, 50, queue.Spans}).Draw(rt, "most")
			for range rapid.SampledFrom([]int{0, 1, 9, sorted - 1, sorted, fewSpans, fewSpans + 1, 9000}).Draw(rt, "n") {
				span := random.IntN(most)
				all = append(all, span)
				part.count(span)
			}
			whole.add(&part)
		}
		slices.Sort(all)
		want := queue.Times{Count: len(all)}
		if len(all) > 0 {
			rank := func(tenths int) int64 { return queue.SpanMillis(all[(len(all)*tenths+9)/10-1]) }
			want.Tenth, want.Median, want.Ninth = rank(1), rank(5), rank(9)
		}
		if got := whole.times(); got != want {
			rt.Fatalf("%+v, want %+v", got, want)
		}
	})
}

// BenchmarkStatistics counts a million operations of a year, by 40 agents in 25 projects:
//
//	go test -run - -bench Statistics ./backend/store/sqlite
func BenchmarkStatistics(b *testing.B) {
	const n, each = 1_000_000, 2 // events of an operation
	s, err := Open(b.Context(), b.TempDir(), Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	random := rand.New(rand.NewPCG(1, 2))
	err = s.do(b.Context(), func(ctx context.Context, w *writer) error {
		for i := range n {
			at := epoch.Add(time.Duration(i) * (365 * 24 * time.Hour / n))
			seen := at.Add(time.Duration(random.IntN(60_000)) * time.Millisecond)
			op := human.Operation{
				Kind: kind.ForAgents()[random.IntN(6)], AgentID: fmt.Sprintf("agent-%d", random.IntN(40)), State: human.Completed, CreatedAt: at,
				Risk: factRisks[random.IntN(5)], Deliveries: []human.Delivery{{Channel: "card", Shown: &at, Seen: &seen}},
				Result: &human.Result{At: seen.Add(time.Duration(random.IntN(600_000)) * time.Millisecond), Answer: human.Answer{Decision: human.Approved}},
			}
			if err := w.addFact(ctx, uint64(i*each), op, fmt.Sprintf("project-%d", random.IntN(25))); err != nil {
				return err
			}
		}
		return w.writeFacts(ctx)
	})
	if err != nil {
		b.Fatal(err)
	}
	end := epoch.Add(365 * 24 * time.Hour)
	for _, tt := range []struct {
		name string
		f    queue.Filter
	}{
		{"a year", queue.Filter{When: queue.Days(366, end, time.UTC)}},
		{"a year of one agent", queue.Filter{AgentID: "agent-1", When: queue.Days(366, end, time.UTC)}},
		{"30 days", queue.Filter{When: queue.Days(30, end, time.UTC)}},
	} {
		b.Run(tt.name, func(b *testing.B) {
			var slowest time.Duration
			var found int
			for b.Loop() {
				start := time.Now()
				st, err := s.Statistics(b.Context(), tt.f, end)
				if err != nil {
					b.Fatal(err)
				}
				found, slowest = st.Requests, max(slowest, time.Since(start))
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(b.N), "ms/op")
			b.ReportMetric(float64(slowest.Microseconds())/1000, "ms/slowest")
			b.ReportMetric(float64(found), "requests")
		})
	}
}

// BenchmarkFilteredLists reads first pages of a million operations, as the inbox and the history filter them:
//
//	go test -run - -bench FilteredLists ./backend/store/sqlite
func BenchmarkFilteredLists(b *testing.B) {
	const n, open = 1_000_000, 500
	s, err := Open(b.Context(), b.TempDir(), Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	random := rand.New(rand.NewPCG(1, 2))
	err = s.do(b.Context(), func(ctx context.Context, w *writer) error {
		insert, err := w.conn.PrepareContext(ctx, insertOperation)
		if err != nil {
			return err
		}
		defer insert.Close()
		for i := uint64(1); i <= n; i++ {
			at := epoch.Add(time.Duration(i) * time.Minute / 2)
			op := human.Operation{
				ID: human.OperationID(fmt.Sprintf("op_%d", i)), Version: 2, Kind: kind.ForAgents()[random.IntN(6)], AgentID: fmt.Sprintf("agent-%d", random.IntN(40)),
				State: human.Completed, Risk: factRisks[random.IntN(5)], Description: strings.Repeat("Roll out the api to production. ", 8), CreatedAt: at, UpdatedAt: at,
			}
			if i > n-open {
				op.State = human.Pending
			}
			op.ProjectName = fmt.Sprintf("project-%d", random.IntN(25))
			if i%(n/20) == 7 {
				op.ProjectName = "rare"
			}
			p, err := (&folded{n: i, op: op}).project()
			if err != nil {
				return err
			}
			if _, err := insert.ExecContext(ctx, p.insertArgs()...); err != nil {
				return err
			}
			if err := w.addFact(ctx, i, op, op.ProjectName); err != nil {
				return err
			}
		}
		return w.writeFacts(ctx)
	})
	if err != nil {
		b.Fatal(err)
	}
	closed := []human.State{human.Completed, human.Declined, human.Cancelled}
	for _, tt := range []struct {
		name string
		f    queue.Filter
	}{
		{"project, recent", queue.Filter{Project: "project-1", States: closed, Order: queue.Recent}},
		{"rare project, recent", queue.Filter{Project: "rare", States: closed, Order: queue.Recent}},
		{"project and risk, recent", queue.Filter{Project: "project-1", Risk: human.HighRisk, States: closed, Order: queue.Recent}},
		{"risk, recent", queue.Filter{Risk: human.HighRisk, States: closed, Order: queue.Recent}},
		{"risk, newest", queue.Filter{Risk: human.HighRisk}},
		{"project, open", queue.Filter{Project: "project-1", Open: true, Order: queue.Urgent}},
		{"kind, agent, project and risk, recent", queue.Filter{Kind: human.Approve, AgentID: "agent-1", Project: "project-1", Risk: human.HighRisk, States: closed, Order: queue.Recent}},
		{"risk of 30 days, newest", queue.Filter{Risk: human.HighRisk, When: queue.Days(30, epoch.Add(n*time.Minute/2), time.UTC)}},
	} {
		b.Run(tt.name, func(b *testing.B) {
			var found int
			for b.Loop() {
				page, err := s.List(b.Context(), tt.f)
				if err != nil {
					b.Fatal(err)
				}
				found = len(page.Operations)
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(b.N), "ms/op")
			b.ReportMetric(float64(found), "found")
		})
	}
}
