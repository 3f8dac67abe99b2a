package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
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

// eachFact calls each for every fact of requests between two times, and of some others, chunk by chunk; more is the end of the
// query, and descending says that it is in that order.
func (s *Store) eachFact(ctx context.Context, from, to int64, more string, descending bool, each func(n int64, f fact) error) error {
	return s.facts(ctx, `SELECT chunk, facts FROM facts WHERE last >= ? AND first < ? `+more, []any{from, to}, descending, each)
}

// facts calls each for every fact of the chunks that a query finds; descending says that the query is in that order.
func (s *Store) facts(ctx context.Context, query string, args []any, descending bool, each func(n int64, f fact) error) error {
	return s.built(ctx, query, args, func(rows *sql.Rows) error {
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
			if descending {
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

// A reading of a fact is what tallies count of it, made once for all of them.
type reading struct {
	end, flags uint8
	see, ans   int // queue.SpanOf; below 0 where there is none
}

func read(f fact) reading {
	r := reading{end: f.end() & 7, flags: f[3] & (1<<factFlags - 1), see: -1, ans: -1}
	if f.has(factSeen) > 0 {
		r.see = f.seenAfter()
	}
	if f.has(factAnswered) > 0 {
		r.ans = f.answeredIn()
	}
	return r
}

// A tally counts some operations.
type tally struct {
	ends     [8]uint32 // by queue.Ends
	flags    [1 << factFlags]uint32
	see, ans spans
}

func (t *tally) count(r reading) {
	t.ends[r.end]++
	t.flags[r.flags]++
	if r.see >= 0 {
		t.see.count(r.see)
	}
	if r.ans >= 0 {
		t.ans.count(r.ans)
	}
}

func (t *tally) add(other *tally) {
	for i, n := range other.ends {
		t.ends[i] += n
	}
	for i, n := range other.flags {
		t.flags[i] += n
	}
	t.see.add(&other.see)
	t.ans.add(&other.ans)
}

// requests is how many operations were counted.
func (t *tally) requests() (n int) {
	for _, of := range t.ends {
		n += int(of)
	}
	return n
}

func (t *tally) figures() queue.Figures {
	f := queue.Figures{Requests: t.requests(), Ends: map[queue.End]int{}, See: t.see.times(), Answer: t.ans.times()}
	for i, end := range queue.Ends {
		if n := int(t.ends[i]); n > 0 {
			f.Ends[end] = n
		}
	}
	for flags, counted := range t.flags {
		for _, of := range []struct {
			flag int
			into *int
		}{{factDecided, &f.Decisions}, {factApproved, &f.Approved}, {factOverdue, &f.Overdue}, {factInterrupted, &f.Interruptions}} {
			if flags&of.flag != 0 {
				*of.into += int(counted)
			}
		}
	}
	if f.Decisions >= queue.FewAnswers {
		rate := float64(f.Approved) / float64(f.Decisions)
		f.ApprovalRate = &rate
	}
	return f
}

// spans count lengths of time: a few one by one, many by their number.
type spans struct {
	few []uint16
	by  *[queue.Spans]uint32
}

const (
	fewSpans = 2 * queue.Spans // as many as take the memory of the other way
	sorted   = 100             // fewer are sorted sooner than all numbers are gone through
)

func (s *spans) count(span int) {
	if s.by != nil {
		s.by[span]++
		return
	}
	if s.few = append(s.few, uint16(span)); len(s.few) > fewSpans {
		s.spread()
	}
}

// spread goes over to counting by number.
func (s *spans) spread() {
	if s.by == nil {
		s.by = new([queue.Spans]uint32)
	}
	for _, span := range s.few {
		s.by[span]++
	}
	s.few = nil
}

func (s *spans) add(other *spans) {
	for _, span := range other.few {
		s.count(int(span))
	}
	if other.by != nil {
		s.spread()
		for span, n := range other.by {
			s.by[span] += n
		}
	}
}

// times finds the nearest ranks: never a value between two.
func (s *spans) times() queue.Times {
	var t queue.Times
	if len(s.few) < sorted && s.by == nil {
		slices.Sort(s.few)
		t.Count = len(s.few)
		for tenths, value := range map[int]*int64{1: &t.Tenth, 5: &t.Median, 9: &t.Ninth} {
			if t.Count > 0 {
				*value = queue.SpanMillis(int(s.few[(t.Count*tenths+9)/10-1]))
			}
		}
		return t
	}
	var by [queue.Spans]uint32
	if s.by != nil {
		by = *s.by
	}
	for _, span := range s.few {
		by[span]++
	}
	for _, n := range by {
		t.Count += int(n)
	}
	below := 0
	for span, n := range by {
		if n == 0 {
			continue
		}
		before := below
		below += int(n)
		for _, want := range []struct {
			tenths int
			value  *int64
		}{{1, &t.Tenth}, {5, &t.Median}, {9, &t.Ninth}} {
			if rank := (t.Count*want.tenths + 9) / 10; before < rank && rank <= below {
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
	for i := range c.days {
		d := &c.days[i]
		kinds := make(map[human.Kind]int, len(d.kinds))
		for id, n := range d.kinds {
			if n > 0 {
				kinds[human.Kind(c.names[uint32(id)])] = n
			}
		}
		date := time.Unix(int64(c.firstDay+i)*86400, 0).UTC().Format(time.DateOnly)
		st.Days = append(st.Days, queue.DayFigures{Date: date, Kinds: kinds, Figures: d.figures()})
	}
	var all tally // each operation has one kind
	for _, t := range c.kinds {
		if t != nil {
			all.add(t)
		}
	}
	st.Figures = all.figures()
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

func (c *counts) add(id uint32, n int) {
	if int(id) >= len(*c) {
		*c = append(*c, make(counts, int(id)+1-len(*c))...)
	}
	(*c)[id] += n
}

// groups are tallies by the numbers of names.
type groups []*tally

func (g *groups) of(id int) *tally {
	if id >= len(*g) {
		*g = append(*g, make(groups, id+1-len(*g))...)
	}
	if (*g)[id] == nil {
		(*g)[id] = &tally{}
	}
	return (*g)[id]
}

func (g *groups) add(other groups) {
	for id, t := range other {
		if t != nil {
			g.of(id).add(t)
		}
	}
}

// list puts the most requests first.
func (g groups) list(name func(uint32) string) []queue.GroupFigures {
	var ids []uint32
	requests := map[uint32]int{}
	for id, t := range g {
		if t != nil {
			ids = append(ids, uint32(id))
			requests[uint32(id)] = t.requests()
		}
	}
	slices.SortFunc(ids, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(requests[b], requests[a]), cmp.Compare(name(a), name(b)))
	})
	all := []queue.GroupFigures{}
	for _, id := range ids[:min(len(ids), queue.MostGroups)] {
		all = append(all, queue.GroupFigures{Name: name(id), Figures: g[id].figures()})
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

// counters are how many count side by side at most.
const counters = 4

func (s *Store) count(ctx context.Context, f queue.Filter) (*counting, error) {
	v, err := s.newSieve(ctx, f)
	if err != nil {
		return nil, err
	}
	parts := make([]counting, min(runtime.GOMAXPROCS(0), counters))
	first, _ := v.clock.read(v.from)
	last, _ := v.clock.read(v.to - 1)
	for i := range parts {
		parts[i] = counting{firstDay: first, days: make([]dayTally, last-first+1)}
	}
	all := &parts[0]
	all.names = map[uint32]string{0: ""}
	if v.none {
		return all, nil
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	errs := make([]error, len(parts))
	var counting sync.WaitGroup
	for i := range parts {
		counting.Go(func() {
			if errs[i] = s.countPart(ctx, v, &parts[i], i, len(parts)); errs[i] != nil {
				stop()
			}
		})
	}
	counting.Wait()
	for i := range parts[1:] {
		all.add(&parts[1+i])
	}
	return all, errors.Join(errs...)
}

// countPart counts every so manieth chunk, from one on.
func (s *Store) countPart(ctx context.Context, v sieve, c *counting, from, step int) error {
	before := v.from - (v.to - v.from)
	return s.eachFact(ctx, before, v.to, fmt.Sprintf("AND chunk %% %d = %d ORDER BY chunk", step, from), false, func(_ int64, f fact) error {
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
		r := read(f)
		d := &c.days[min(max(day-c.firstDay, 0), len(c.days)-1)]
		d.count(r)
		d.kinds.add(f.kind(), 1)
		c.hours[hour] += f.has(factInterrupted)
		c.kinds.of(int(f.kind())).count(r)
		c.agents.of(int(f.agent())).count(r)
		c.projects.of(int(f.project())).count(r)
		c.risks.of(int(f.risk())).count(r)
		return nil
	})
}

// add counts what another counted of other facts.
func (c *counting) add(other *counting) {
	for i := range other.days {
		d := &other.days[i]
		c.days[i].add(&d.tally)
		for kind, n := range d.kinds {
			if n > 0 {
				c.days[i].kinds.add(uint32(kind), n)
			}
		}
	}
	c.kinds.add(other.kinds)
	c.agents.add(other.agents)
	c.projects.add(other.projects)
	c.risks.add(other.risks)
	for hour, n := range other.hours {
		c.hours[hour] += n
	}
	c.before += other.before
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
