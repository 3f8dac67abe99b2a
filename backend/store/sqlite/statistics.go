package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/queue"
)

// A sieve selects facts as a filter does; none holds what no fact can satisfy.
type sieve struct {
	from, to             int64 // Unix milliseconds
	kind, agent, project uint32
	checks               uint8 // which of the three count
	risk, end, hour      int   // below 0: all
	clock                clock
	none                 bool
}

const (
	checkKind = 1 << iota
	checkAgent
	checkProject
)

const farAway = 1 << 60

func (s *Store) newSieve(ctx context.Context, f queue.Filter) (sieve, error) {
	v := sieve{from: -farAway, to: farAway, risk: -1, end: -1, hour: f.When.Hour - 1, clock: newClock(f.When.Zone)}
	if !f.When.From.IsZero() {
		v.from = f.When.From.UnixMilli()
	}
	if !f.When.To.IsZero() {
		v.to = f.When.To.UnixMilli()
	}
	for _, c := range []struct {
		name  string
		check uint8
		id    *uint32
	}{{string(f.Kind), checkKind, &v.kind}, {f.AgentID, checkAgent, &v.agent}, {f.Project, checkProject, &v.project}} {
		if c.name == "" {
			continue
		}
		v.checks |= c.check
		if c.name == queue.None && c.check == checkProject {
			continue
		}
		err := s.rows(ctx, `SELECT id FROM fact_names WHERE name = ?`, []any{c.name}, func(rows *sql.Rows) error { return rows.Scan(c.id) })
		if err != nil {
			return v, err
		}
		v.none = v.none || *c.id == 0
	}
	if f.Risk == queue.None {
		v.risk = 0
	} else if f.Risk != "" {
		v.risk = slices.Index(factRisks, f.Risk)
		v.none = v.none || v.risk < 0
	}
	if f.End != "" {
		v.end = slices.Index(queue.Ends, f.End)
		v.none = v.none || v.end < 0
	}
	return v, nil
}

// takes says whether a fact is selected, its time aside; inTime looks at that.
func (v *sieve) takes(f fact) bool {
	return (v.checks&checkKind == 0 || f.kind() == v.kind) && (v.checks&checkAgent == 0 || f.agent() == v.agent) &&
		(v.checks&checkProject == 0 || f.project() == v.project) && (v.risk < 0 || int(f.risk()) == v.risk) && (v.end < 0 || int(f.end()) == v.end)
}

func (v *sieve) inTime(at int64) bool {
	if at < v.from || at >= v.to {
		return false
	}
	if v.hour < 0 {
		return true
	}
	_, hour := v.clock.read(at)
	return hour == v.hour
}

// A clock says which day and hour of the week a time is in a time zone. It remembers a quarter of an hour, which is in one of each
// everywhere.
type clock struct {
	zone      *time.Location
	slot      int64
	day, hour int // days since 1970 of the zone's calendar; hours since Monday 0:00
}

func newClock(zone *time.Location) clock { return clock{zone: cmp.Or(zone, time.UTC), slot: farAway} }

func (c *clock) read(at int64) (day, hour int) {
	const quarter = 15 * 60 * 1000
	slot := at / quarter
	if slot != c.slot {
		t := time.UnixMilli(slot * quarter).In(c.zone)
		c.slot, c.day, c.hour = slot, dayNumber(t), (int(t.Weekday())+6)%7*24+t.Hour()
	}
	return c.day, c.hour
}

func dayNumber(t time.Time) int {
	y, m, d := t.Date()
	return int(time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Unix() / 86400)
}

// eachFact calls each for every fact of requests between two times, and of some others, chunk by chunk.
func (s *Store) eachFact(ctx context.Context, from, to int64, order string, each func(n int64, f fact) error) error {
	return s.built(ctx, `SELECT chunk, facts FROM facts WHERE last >= ? AND first < ? ORDER BY chunk `+order, []any{from, to}, func(rows *sql.Rows) error {
		var number int64
		var chunk sql.RawBytes
		if err := rows.Scan(&number, &chunk); err != nil {
			return err
		}
		if len(chunk)%factSize != 0 {
			return s.damaged(fmt.Errorf("chunk %d of facts has %d bytes", number, len(chunk)))
		}
		for i := range len(chunk) / factSize {
			at := i * factSize
			if order == "DESC" {
				at = len(chunk) - factSize - at
			}
			f := fact(chunk[at : at+factSize])
			if err := each(number*factChunk+int64(f.n()), f); err != nil {
				return err
			}
		}
		return nil
	})
}

// A tally counts some operations.
type tally struct {
	sums     sums
	see, ans []uint16 // queue.SpanOf
}

type sums struct {
	requests, decisions, approved, overdue, interruptions int
	ends                                                  [8]int // by queue.Ends
}

func (t *tally) count(f fact) {
	t.sums.requests++
	t.sums.decisions += f.has(factDecided)
	t.sums.approved += f.has(factApproved)
	t.sums.overdue += f.has(factOverdue)
	t.sums.interruptions += f.has(factInterrupted)
	t.sums.ends[f.end()&7]++
	if f.has(factSeen) > 0 {
		t.see = append(t.see, uint16(f.seenAfter()))
	}
	if f.has(factAnswered) > 0 {
		t.ans = append(t.ans, uint16(f.answeredIn()))
	}
}

// figures are those of all tallies together.
func figures(tallies []*tally) queue.Figures {
	f := queue.Figures{Ends: map[queue.End]int{}}
	var see, ans spans
	for _, t := range tallies {
		f.Requests += t.sums.requests
		f.Decisions += t.sums.decisions
		f.Approved += t.sums.approved
		f.Overdue += t.sums.overdue
		f.Interruptions += t.sums.interruptions
		for i, end := range queue.Ends {
			if n := t.sums.ends[i]; n > 0 {
				f.Ends[end] += n
			}
		}
		see.add(t.see)
		ans.add(t.ans)
	}
	f.See, f.Answer = see.times(), ans.times()
	if f.Decisions >= queue.FewAnswers {
		rate := float64(f.Approved) / float64(f.Decisions)
		f.ApprovalRate = &rate
	}
	return f
}

// spans counts lengths of time.
type spans struct {
	all int
	by  [queue.Spans]uint32
}

func (s *spans) add(all []uint16) {
	s.all += len(all)
	for _, span := range all {
		s.by[span]++
	}
}

// times finds the nearest ranks: never a value between two.
func (s *spans) times() queue.Times {
	t := queue.Times{Count: s.all}
	below := 0
	for span, n := range s.by {
		if n == 0 {
			continue
		}
		before := below
		below += int(n)
		for _, want := range []struct {
			tenths int
			value  *int64
		}{{1, &t.Tenth}, {5, &t.Median}, {9, &t.Ninth}} {
			if rank := (s.all*want.tenths + 9) / 10; before < rank && rank <= below {
				*want.value = queue.SpanMillis(span)
			}
		}
	}
	return t
}

// Statistics implements queue.Index.
func (s *Store) Statistics(ctx context.Context, f queue.Filter, now time.Time) (queue.HistoryStatistics, error) {
	c, err := s.count(ctx, f)
	if err == nil {
		err = c.name(ctx, s)
	}
	if err != nil {
		return queue.HistoryStatistics{}, s.fail(ctx, err)
	}
	zone := cmp.Or(f.When.Zone, time.UTC)
	st := queue.HistoryStatistics{
		CountedAt: now.UTC(), Zone: zone.String(), From: f.When.From.UTC(), To: f.When.To.UTC(),
		Before: c.before, Hours: c.hours[:], Days: []queue.DayFigures{},
	}
	all := make([]*tally, 0, len(c.days))
	for i := range c.days {
		d := &c.days[i]
		kinds := make(map[human.Kind]int, len(d.kinds))
		for id, n := range d.kinds {
			if n > 0 {
				kinds[human.Kind(c.names[uint32(id)])] = n
			}
		}
		date := time.Unix(int64(c.firstDay+i)*86400, 0).UTC().Format(time.DateOnly)
		st.Days = append(st.Days, queue.DayFigures{Date: date, Kinds: kinds, Figures: figures([]*tally{&d.tally})})
		all = append(all, &d.tally)
	}
	st.Figures = figures(all)
	name := func(id uint32) string { return c.names[id] }
	st.Kinds, st.Agents, st.Projects = c.kinds.list(name), c.agents.list(name), c.projects.list(name)
	st.Risks = c.risks.list(func(id uint32) string { return string(factRisks[id]) })
	return st, nil
}

type dayTally struct {
	tally
	kinds counts
}

// counts are by the numbers of names, which are few and dense.
type counts []int

func (c *counts) add(id uint32) {
	if int(id) >= len(*c) {
		*c = append(*c, make(counts, int(id)+1-len(*c))...)
	}
	(*c)[id]++
}

// groups are tallies by the numbers of names.
type groups []*tally

func (g *groups) count(id uint32, f fact) {
	if int(id) >= len(*g) {
		*g = append(*g, make(groups, int(id)+1-len(*g))...)
	}
	if (*g)[id] == nil {
		(*g)[id] = &tally{}
	}
	(*g)[id].count(f)
}

// list puts the most requests first.
func (g groups) list(name func(uint32) string) []queue.GroupFigures {
	var ids []uint32
	for id, t := range g {
		if t != nil {
			ids = append(ids, uint32(id))
		}
	}
	slices.SortFunc(ids, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(g[b].sums.requests, g[a].sums.requests), cmp.Compare(name(a), name(b)))
	})
	all := []queue.GroupFigures{}
	for _, id := range ids[:min(len(ids), queue.MostGroups)] {
		all = append(all, queue.GroupFigures{Name: name(id), Figures: figures([]*tally{g[id]})})
	}
	return all
}

// A counting is the facts that a filter selects, by what they are shown by.
type counting struct {
	firstDay int
	days     []dayTally
	kinds    groups
	agents   groups
	projects groups
	risks    groups
	hours    [7 * 24]int
	before   int
	names    map[uint32]string
}

func (s *Store) count(ctx context.Context, f queue.Filter) (*counting, error) {
	v, err := s.newSieve(ctx, f)
	if err != nil {
		return nil, err
	}
	c := &counting{names: map[uint32]string{0: ""}}
	c.firstDay, _ = v.clock.read(v.from)
	lastDay, _ := v.clock.read(v.to - 1)
	c.days = make([]dayTally, lastDay-c.firstDay+1)
	if v.none {
		return c, nil
	}
	before := v.from - (v.to - v.from)
	err = s.eachFact(ctx, before, v.to, "", func(_ int64, f fact) error {
		at := f.requested()
		if at < before || at >= v.to || !v.takes(f) {
			return nil
		}
		day, hour := v.clock.read(at)
		if v.hour >= 0 && hour != v.hour {
			return nil
		}
		if at < v.from {
			c.before++
			return nil
		}
		d := &c.days[min(max(day-c.firstDay, 0), len(c.days)-1)]
		d.count(f)
		d.kinds.add(f.kind())
		c.hours[hour] += f.has(factInterrupted)
		c.kinds.count(f.kind(), f)
		c.agents.count(f.agent(), f)
		c.projects.count(f.project(), f)
		c.risks.count(uint32(f.risk()), f)
		return nil
	})
	return c, err
}

// name looks up the names of all that was counted.
func (c *counting) name(ctx context.Context, s *Store) error {
	for _, g := range []groups{c.kinds, c.agents, c.projects} {
		for id, t := range g {
			if t == nil || id == 0 {
				continue
			}
			err := s.rows(ctx, `SELECT name FROM fact_names WHERE id = ?`, []any{int64(id)}, func(rows *sql.Rows) error {
				var name string
				err := rows.Scan(&name)
				c.names[uint32(id)] = name
				return err
			})
			if err != nil {
				return err
			}
			if c.names[uint32(id)] == "" {
				return s.damaged(errors.New("a name of facts is missing"))
			}
		}
	}
	return nil
}
