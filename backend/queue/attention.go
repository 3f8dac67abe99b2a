package queue

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"deskbell/backend/human"
)

// AtLeastByHand is how many measured answers the usual time of a kind needs.
const AtLeastByHand = 5

func mostSpent(kind human.Kind) time.Duration {
	switch kind {
	case human.Bash, human.Browser, human.Desktop, human.Review, human.ProcedureRun:
		return human.MostWork
	}
	return human.MostReading
}

// Asked is what is counted of one request.
type Asked struct {
	Kind     human.Kind
	Agent    string
	At       time.Time
	Popped   bool          // its card popped up
	Seen     time.Duration // until an operator first looked at it; below 0: they did not, or not before its end
	Answered time.Duration // until it was answered or declined; below 0: not
}

// decided says whether no person was asked: it was answered at the instant of its request.
func (a Asked) decided() bool { return a.Answered == 0 }

// spent is how long a person had it, at most what its kind counts for; ok is false where that was not measured.
func (a Asked) spent() (took time.Duration, capped, ok bool) {
	if a.Answered <= 0 || a.Seen < 0 || a.Seen > a.Answered {
		return 0, false, false
	}
	most := mostSpent(a.Kind)
	took = a.Answered - a.Seen
	return min(took, most), took > most, true
}

// AttentionFigures are the numbers of some requests.
type AttentionFigures struct {
	Interruptions int   `json:"interruptions" doc:"Requests that a person was asked: all but those decided at the instant they were made."`
	Popped        int   `json:"popped" doc:"Of them, those whose card popped up."`
	Answered      int   `json:"answered" doc:"Of them, those that a person answered or declined."`
	Measured      int   `json:"measured" doc:"Of those, how many were seen to be opened before, so that their time is known."`
	Capped        int   `json:"capped" doc:"Of those, how many took longer than one request counts for."`
	Spent         int64 `json:"spent_ms" doc:"From the first look to the answer, over those measured; each at most 5 minutes, work with one's hands at most 30."`
	RuleHits      int   `json:"rule_hits" doc:"Calls that a rule let through and the policy would have asked about."`
	Runs          int   `json:"runs" doc:"Runs of procedures for agents that ended well and stopped for no one."`
	Saved         int64 `json:"saved_ms" doc:"An estimate: rule hits and runs, each at the median time that its kind took by hand."`
	Unpriced      int   `json:"unpriced" doc:"Rule hits and runs that saved_ms leaves out: their kind was measured fewer than 5 times."`
}

// AttentionDay are the numbers of one day.
type AttentionDay struct {
	Date string `json:"date" doc:"YYYY-MM-DD in the time zone asked for."`
	AttentionFigures
}

// AttentionGroup are the numbers of one kind or agent.
type AttentionGroup struct {
	Name string `json:"name"`
	AttentionFigures
}

// ByHand is how long a kind usually takes a person.
type ByHand struct {
	Kind     human.Kind `json:"kind"`
	Measured int        `json:"measured" doc:"In the whole history up to the end of the time asked for."`
	Median   int64      `json:"median_ms,omitempty" doc:"Absent with fewer than 5."`
}

// Attention is how often people were interrupted, how long that took them, and what was spared them. A request counts for the day on
// which it was made.
type Attention struct {
	CountedAt time.Time  `json:"counted_at"`
	Zone      string     `json:"zone"`
	From      time.Time  `json:"from"`
	To        time.Time  `json:"to" doc:"The end; not included."`
	Since     *time.Time `json:"since,omitempty" doc:"The first request of the history; absent: there is none."`
	AttentionFigures
	Before *AttentionFigures `json:"before,omitempty" doc:"Of the time before that is as long; absent where the history does not reach over all of it."`
	Days   []AttentionDay    `json:"days" doc:"Every day, in order."`
	Kinds  []AttentionGroup  `json:"kinds" doc:"The most interruptions first."`
	Agents []AttentionGroup  `json:"agents" doc:"The most interruptions first; at most 100."`
	ByHand []ByHand          `json:"by_hand"`
}

// Attention counts it over a time; for operators. spared are of that time and of the one before, which is as long. It reads no text.
func (q *Queue) Attention(ctx context.Context, by human.Actor, when When, spared []human.Spared) (Attention, error) {
	if err := onlyOperators(by); err != nil {
		return Attention{}, err
	}
	if err := when.check(); err != nil {
		return Attention{}, err
	}
	c := newAttending(when)
	if err := q.index.Asked(ctx, when.To, c.ask); err != nil {
		return Attention{}, err
	}
	a := c.result(spared)
	a.CountedAt = q.now().UTC()
	return a, nil
}

// attending counts.
type attending struct {
	when          When
	zone          *time.Location
	from          time.Time // of the time before
	first         time.Time
	all, before   AttentionFigures
	days          map[string]*AttentionFigures
	kinds, agents map[string]*AttentionFigures
	hand          map[human.Kind][]time.Duration
}

func newAttending(when When) *attending {
	return &attending{
		when: when, zone: cmp.Or(when.Zone, time.UTC), from: when.From.Add(-when.To.Sub(when.From)), days: map[string]*AttentionFigures{},
		kinds: map[string]*AttentionFigures{}, agents: map[string]*AttentionFigures{}, hand: map[human.Kind][]time.Duration{},
	}
}

// of are the figures that something at a time counts in.
func (c *attending) of(at time.Time, kind human.Kind, agent string) []*AttentionFigures {
	get := func(all map[string]*AttentionFigures, name string) *AttentionFigures {
		if all[name] == nil {
			all[name] = &AttentionFigures{}
		}
		return all[name]
	}
	switch {
	case at.Before(c.from) || !at.Before(c.when.To):
		return nil
	case at.Before(c.when.From):
		return []*AttentionFigures{&c.before}
	}
	return []*AttentionFigures{&c.all, get(c.days, at.In(c.zone).Format(time.DateOnly)), get(c.kinds, string(kind)), get(c.agents, agent)}
}

func (c *attending) ask(a Asked) {
	if c.first.IsZero() || a.At.Before(c.first) {
		c.first = a.At
	}
	if a.decided() || strings.HasPrefix(a.Agent, human.PersonID("")) { // a person asked themselves
		return
	}
	took, capped, measured := a.spent()
	if measured {
		c.hand[a.Kind] = append(c.hand[a.Kind], took)
	}
	one := func(is bool) int {
		if is {
			return 1
		}
		return 0
	}
	for _, f := range c.of(a.At, a.Kind, a.Agent) {
		f.Interruptions++
		f.Popped += one(a.Popped)
		f.Answered += one(a.Answered > 0)
		f.Measured += one(measured)
		f.Capped += one(capped)
		f.Spent += took.Milliseconds()
	}
}

func (c *attending) result(spared []human.Spared) Attention {
	a := Attention{
		Zone: c.zone.String(), From: c.when.From.UTC(), To: c.when.To.UTC(), Days: []AttentionDay{}, ByHand: []ByHand{},
	}
	usual := map[human.Kind]int64{}
	for kind, took := range c.hand {
		h := ByHand{Kind: kind, Measured: len(took)}
		if len(took) >= AtLeastByHand {
			slices.Sort(took)
			h.Median = took[(len(took)-1)/2].Milliseconds()
			usual[kind] = h.Median
		}
		a.ByHand = append(a.ByHand, h)
	}
	slices.SortFunc(a.ByHand, func(x, y ByHand) int { return cmp.Or(y.Measured-x.Measured, cmp.Compare(x.Kind, y.Kind)) })
	for _, s := range spared {
		took, known := usual[s.Kind]
		for _, f := range c.of(s.At, s.Kind, s.Agent) {
			if s.Run {
				f.Runs++
			} else {
				f.RuleHits++
			}
			if f.Saved += took; !known {
				f.Unpriced++
			}
		}
	}
	if a.AttentionFigures = c.all; !c.first.IsZero() {
		a.Since = &c.first
		if !c.first.After(c.from) {
			a.Before = &c.before
		}
	}
	y, m, d := c.when.From.In(c.zone).Date()
	for i := 0; ; i++ {
		day := time.Date(y, m, d+i, 0, 0, 0, 0, c.zone)
		if !day.Before(c.when.To) {
			break
		}
		line := AttentionDay{Date: day.Format(time.DateOnly)}
		if f := c.days[line.Date]; f != nil {
			line.AttentionFigures = *f
		}
		a.Days = append(a.Days, line)
	}
	a.Kinds, a.Agents = grouped(c.kinds), grouped(c.agents)
	return a
}

func grouped(all map[string]*AttentionFigures) []AttentionGroup {
	out := []AttentionGroup{}
	for name, f := range all {
		out = append(out, AttentionGroup{name, *f})
	}
	slices.SortFunc(out, func(x, y AttentionGroup) int {
		return cmp.Or(y.Interruptions-x.Interruptions, cmp.Compare(y.Saved, x.Saved), cmp.Compare(x.Name, y.Name))
	})
	return out[:min(len(out), MostGroups)]
}
