// Command scale simulates teams that are larger than any that were measured, and prints the tables of docs/scale.md. With -write it writes
// them there. Run it from the top of the tree. The same seed makes the same tables.
//
// It is a fluid simulation of one week in steps of a minute: desks come and leave, their agents send requests, the leader of the team's stream
// delivers what it can, and a desk that comes first reads what it missed.
package main

import (
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
)

const (
	document = "docs/scale.md"
	seed     = 20
)

// Limits, and figures that the simulation begins with. docs/scale.md says where each is from, and which of them are assumed.
const (
	agents         = 100    // of a desk
	messages       = 3      // that a request makes: it is sent, claimed, answered
	subjects       = 2      // of an operation, where one desk sends it and another answers
	requestSize    = 10_000 // bytes that a request takes in a desk's database
	takes          = 12_000 // messages a second that a desk stores
	delivers       = 100_000
	stores         = 5_000
	mostCalls      = 10_000     // of JetStream's API, in flight
	mostConsumers  = 1000       // on a stream
	mostSubjects   = 10_000_000 // in a stream
	mostAssets     = 1000       // replicated streams on a server
	mostGroups     = 10_000     // streams and consumers of a cluster
	mostSize       = 20e9       // bytes of a desk's database
	mostMinutes    = 10         // until a desk that comes has read what it missed, and until a new desk works
	workdays       = 250        // in a year
	alwaysOn       = 0.2        // the part of the desks that run day and night
	atNight        = 0.25       // what agents send at night, of what they send at work
	spread         = 0.5        // of how much desks send: sigma of a log-normal distribution
	largest        = 1 << 14    // desks of a team: no larger one is tried
	presenceEvery  = 10         // seconds
	regions, total = 4, 10_000
)

// A design says what a desk reads, and what is kept.
type design struct {
	name        string
	reads       int     // of how many desks a desk reads the messages; 0: all
	perStream   int     // how many desks share a stream; 0: all of the team
	keptDays    float64 // workdays whose messages are in the stream
	foldedDays  float64 // workdays before, whose operations are one value each in a bucket that a new desk reads
	deskDays    float64 // workdays that a desk's database has
	presenceAll bool    // each desk has what each other says of itself
	consumers   int     // of a desk
	assets      int     // replicated streams of a team, without the journal's
	calls       int     // of JetStream's API, by a desk that connects
	inCluster   int     // how many desks share a cluster; 0: all of the team, and no others
}

var designs = []design{
	{name: "whole", keptDays: workdays, deskDays: workdays, presenceAll: true, consumers: 5, assets: 7, calls: 12},
	{name: "folded", keptDays: 21, foldedDays: workdays - 21, deskDays: workdays, presenceAll: true, consumers: 5, assets: 7, calls: 12},
	{name: "plan", reads: 22, perStream: 100, keptDays: 5, deskDays: 63, consumers: 1, assets: 2, calls: 3, inCluster: total / regions},
}

// A week is what came of one team.
type week struct {
	stored    float64 // messages of a stream in its busiest second
	delivered float64 // messages to all desks in the busiest second, from one stream
	waits     float64 // minutes until 99 of 100 desks that came have read what they missed
	perDay    float64 // requests of a stream on a workday
	read      float64 // requests a workday that a desk reads
	presence  float64 // messages a second
	share     float64 // of a processor, at a desk, in the busiest second
}

// A cohort is desks that come in the same minute of the day and leave nine hours later.
type cohort struct {
	comes, desks int
	always       bool
	sends        float64 // requests of a minute at work
	place        float64 // of the journal that it has
	since        int     // the minute when it came and had not read all; -1: it has
}

func (c *cohort) at(minute int) bool {
	day, of := minute/1440, minute%1440
	return c.always || day < 5 && of >= c.comes && of < c.comes+540
}

// simulate runs one stream of a team for a week that begins on Monday at midnight.
func (d design) simulate(desks, perAgent int) week {
	r := rand.New(rand.NewPCG(seed, uint64(desks)))
	n := atMost(desks, d.perStream)
	part := float64(atMost(n, d.reads)) / float64(n) // of the stream that a desk reads
	all := map[int]*cohort{}
	for range n {
		comes := 480 + int(120*min(max(0.5+r.NormFloat64()/4, 0), 1)) // between 8 and 10 o'clock
		if r.Float64() < alwaysOn {
			comes = 0
		}
		if all[comes] == nil {
			all[comes] = &cohort{comes: comes, always: comes == 0, since: -1}
		}
		all[comes].desks++
		all[comes].sends += agents * float64(perAgent) / 540 * math.Exp(spread*r.NormFloat64()-spread*spread/2)
	}
	var cohorts []*cohort
	for _, comes := range slices.Sorted(maps.Keys(all)) {
		cohorts = append(cohorts, all[comes])
	}
	var w week
	var journal float64
	waits := map[int]int{} // minutes: desks
	for minute := range 7 * 1440 {
		requests, there := 0.0, 0
		for _, c := range cohorts {
			if !c.at(minute) {
				continue
			}
			there += c.desks
			rate := c.sends
			if of := minute % 1440; c.always && (of < 480 || of >= 1080 || minute >= 5*1440) {
				rate *= atNight
			}
			requests += rate
		}
		requests = max(0, requests+math.Sqrt(requests)*r.NormFloat64()) // about a Poisson distribution
		if minute < 1440 {
			w.perDay += requests
		}
		now := messages * requests
		journal += now
		w.stored = max(w.stored, now/60)
		w.delivered = max(w.delivered, now/60*part*float64(there))
		w.share = max(w.share, now/60*part/takes)
		deliver(cohorts, minute, journal, now, part, waits)
	}
	w.waits, w.read = percentile(waits, 0.99), w.perDay*part
	if w.presence = float64(desks) / presenceEvery; d.presenceAll {
		w.presence *= float64(desks)
	}
	return w
}

// deliver has desks read for a minute.
func deliver(cohorts []*cohort, minute int, journal, now, part float64, waits map[int]int) {
	wanted := 0.0
	for _, c := range cohorts {
		if c.at(minute) {
			if minute > 0 && !c.at(minute-1) {
				c.since = minute
			}
			wanted += min((journal-c.place)*part, takes*60) * float64(c.desks)
		}
	}
	scale := min(1, delivers*60/max(wanted, 1))
	for _, c := range cohorts {
		if !c.at(minute) {
			if c.since >= 0 { // it left before it had all
				waits[minute-c.since] += c.desks
				c.since = -1
			}
			continue
		}
		c.place += min(journal-c.place, takes*60/part) * scale
		if c.since >= 0 && journal-c.place <= now {
			waits[minute-c.since] += c.desks
			c.since = -1
		}
	}
}

// percentile is the number of minutes that so many of the desks waited at most.
func percentile(waits map[int]int, of float64) float64 {
	all, seen := 0, 0
	for _, n := range waits {
		all += n
	}
	for _, m := range slices.Sorted(maps.Keys(waits)) {
		if seen += waits[m]; float64(seen) >= of*float64(all) {
			return float64(m)
		}
	}
	return 0
}

// A limit says how much of it a team uses: more than 1 is too much.
type limit struct {
	name string
	used func(d design, desks int, w week) float64
}

// atMost is n, or most where that is set and smaller.
func atMost(n, most int) int {
	if most > 0 {
		return min(n, most)
	}
	return n
}

// newDesk is how many minutes a new desk reads.
func (d design) newDesk(w week) float64 {
	return w.read * (messages*min(d.keptDays, d.deskDays) + d.foldedDays) / takes / 60
}

func (d design) subjects(w week) float64 { return w.perDay * max(subjects*d.keptDays, d.foldedDays) }

var limits = []limit{
	{"database of a desk, 20 GB", func(d design, _ int, w week) float64 { return w.read * d.deskDays * requestSize / mostSize }},
	{"subjects of a stream, 10,000,000", func(d design, _ int, w week) float64 { return d.subjects(w) / mostSubjects }},
	{"new desk works, 10 min", func(d design, _ int, w week) float64 { return d.newDesk(w) / mostMinutes }},
	{"desk that comes has read what it missed, 10 min", func(_ design, _ int, w week) float64 { return w.waits / mostMinutes }},
	{"a stream delivers 100,000 a second", func(_ design, _ int, w week) float64 { return w.delivered / delivers }},
	{"a stream stores 5,000 a second", func(_ design, _ int, w week) float64 { return w.stored / stores }},
	{"consumers of a stream, 1,000", func(d design, n int, _ week) float64 { return float64(atMost(n, d.perStream)) / mostConsumers }},
	{"calls in flight when all connect, 10,000", func(d design, n int, _ week) float64 {
		if d.inCluster > 0 {
			n = d.inCluster
		}
		return float64(n*d.calls) / mostCalls
	}},
	{"presence, 100,000 a second", func(_ design, _ int, w week) float64 { return w.presence / delivers }},
}

// most is the largest team that keeps a limit; 0: none does. weeks has what was simulated before.
func (d design) most(l limit, perAgent int, weeks map[int]week) int {
	keeps := func(desks int) bool {
		w, done := weeks[desks]
		if !done {
			w = d.simulate(desks, perAgent)
			weeks[desks] = w
		}
		return l.used(d, desks, w) <= 1
	}
	low, high := 0, 1
	for high <= largest && keeps(high) {
		low, high = high, 2*high
	}
	if high > largest {
		return largest
	}
	for high-low > max(1, low/20) {
		if middle := (low + high) / 2; keeps(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// round writes a number with two digits that count.
func round(x float64) string {
	if x == 0 {
		return "0"
	}
	p := math.Pow(10, math.Floor(math.Log10(math.Abs(x)))-1)
	x = math.Round(x/p) * p
	if x < 10 {
		return fmt.Sprint(math.Round(x*1000) / 1000)
	}
	s := fmt.Sprint(int64(math.Round(x)))
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// bounds is the table of the largest teams.
func bounds() string {
	var b strings.Builder
	b.WriteString("| limit | whole, 2 | whole, 5 | whole, 20 | folded, 2 | plan, 2 | plan, 5 | plan, 20 |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n")
	columns := []struct {
		design, perAgent int
		weeks            map[int]week
	}{{0, 2, nil}, {0, 5, nil}, {0, 20, nil}, {1, 2, nil}, {2, 2, nil}, {2, 5, nil}, {2, 20, nil}}
	for i := range columns {
		columns[i].weeks = map[int]week{}
	}
	for _, l := range limits {
		fmt.Fprintf(&b, "| %s", l.name)
		for _, c := range columns {
			text := "any"
			if n := designs[c.design].most(l, c.perAgent, c.weeks); n < largest {
				text = round(float64(n))
			}
			fmt.Fprintf(&b, " | %s", text)
		}
		b.WriteString(" |\n")
	}
	return b.String()
}

// teams is the table of what teams of each size use, at 2 requests of each agent a day.
func teams() string {
	var b strings.Builder
	b.WriteString("| desks of a team, design | stored a second | delivered a second | presence a second | desk's processor | missed read, min | a desk's database, GB | new desk, min | first limit |\n" +
		"| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n")
	for _, n := range []int{5, 20, 100, 1000, total} {
		for _, d := range designs {
			w := d.simulate(n, 2)
			first, most := "", 0.0
			for _, l := range limits {
				if u := l.used(d, n, w); u > most {
					first, most = fmt.Sprintf("%s × %s", strings.Split(l.name, ",")[0], round(u)), u
				}
			}
			fmt.Fprintf(&b, "| %s, %s | %s | %s | %s | %s %% | %s | %s | %s | %s |\n", round(float64(n)), d.name, round(w.stored), round(w.delivered), round(w.presence),
				round(100*w.share), round(w.waits), round(w.read*d.deskDays*requestSize/1e9), round(d.newDesk(w)), first)
		}
	}
	return b.String()
}

// world is the table of the servers for all desks: clusters of three for each team, and a cluster of each region.
func world() string {
	var b strings.Builder
	b.WriteString("| desks of a team | teams | one cluster of three each | in a region: streams | consumers | groups | stored a second | delivered a second | servers for what limits |\n" +
		"| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n")
	d := designs[2]
	for _, n := range []int{5, 20, 100, 1000} {
		w := d.simulate(n, 2)
		teams := total / n
		perTeam := (n + d.perStream - 1) / d.perStream
		here := float64(teams) / regions
		streams := here * float64(perTeam+d.assets)
		consumers := float64(total/regions) * float64(d.consumers)
		stored, delivered := here*float64(perTeam)*w.stored, here*float64(perTeam)*w.delivered+here*w.presence
		servers, why := 3.0, "three, for replicas"
		for _, l := range []struct {
			name string
			need float64
		}{{"replicated streams", 3 * streams / mostAssets}, {"stored", 3 * stored / stores}, {"delivered", delivered / delivers}} {
			if need := math.Ceil(l.need); need > servers {
				servers, why = need, l.name
			}
		}
		if groups := streams + consumers; groups > mostGroups {
			why += "; too many groups"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s | %s | %s: %s |\n", round(float64(n)), round(float64(teams)), round(3*float64(teams)), round(streams), round(consumers), round(streams+consumers), round(stored), round(delivered), round(servers), why)
	}
	return b.String()
}

// tables are all of them, by name.
func tables() map[string]string {
	return map[string]string{"bounds": bounds(), "teams": teams(), "world": world()}
}

// place puts the tables into the document.
func place(text string, tables map[string]string) (string, error) {
	for name, table := range tables {
		begin, end := fmt.Sprintf("<!-- scale: %s -->\n", name), "<!-- end -->"
		before, rest, found := strings.Cut(text, begin)
		_, after, ends := strings.Cut(rest, end)
		if !found || !ends {
			return "", fmt.Errorf("%s has no place for the table %q", document, name)
		}
		text = before + begin + table + end + after
	}
	return text, nil
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

func run() error {
	write := flag.Bool("write", false, "write the tables into "+document)
	flag.Parse()
	if !*write {
		for _, t := range []string{bounds(), teams(), world()} {
			fmt.Println(t)
		}
		return nil
	}
	was, err := os.ReadFile(document)
	if err != nil {
		return err
	}
	text, err := place(string(was), tables())
	if err != nil {
		return err
	}
	return os.WriteFile(document, []byte(text), 0o644)
}
