package trust

import (
	"math"
	"math/rand/v2"
	"reflect"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"deskbell/backend/human"
)

var (
	usual = Options{Initial: 0.5, Increment: 0.01, Decrement: 0.05, HalfLife: 30 * 24 * time.Hour}
	start = time.Date(2026, 10, 1, 9, 0, 0, 0, time.UTC)
)

const day = 24 * time.Hour

// answer is one that was read.
func answer(at time.Time, allowed bool) Answer {
	return Answer{At: at, Operator: "ada", Project: "/src/app", Verbs: []human.EffectVerb{human.FilesystemWrite}, Allowed: allowed, Read: 5 * time.Second, Words: 10}
}

func value(l *Ledger, at time.Time) float64 {
	return l.Value("ada", "/src/app", human.FilesystemWrite, at)
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

// G5: it begins at 0.5, an allowed call adds 0.01, a denied one subtracts 0.05.
func TestAnswersMoveTrust(t *testing.T) {
	l := New(Options{Initial: 0.5, Increment: 0.01, Decrement: 0.05})
	if v := value(l, start); v != 0.5 {
		t.Errorf("without answers it is %g", v)
	}
	l.Add(answer(start, true))
	l.Add(answer(start.Add(time.Minute), true))
	l.Add(answer(start.Add(2*time.Minute), false))
	for at, want := range map[time.Duration]float64{-1: 0.5, 0: 0.51, time.Minute: 0.52, 2 * time.Minute: 0.47, 400 * day: 0.47} {
		if v := value(l, start.Add(at)); !near(v, want) {
			t.Errorf("after %v it is %g, not %g", at, v, want)
		}
	}
	// It is of one operator, project and kind of effect.
	for _, v := range []float64{
		l.Value("bob", "/src/app", human.FilesystemWrite, start.Add(day)), l.Value("ada", "/src/other", human.FilesystemWrite, start.Add(day)),
		l.Value("ada", "/src/app", human.FilesystemDelete, start.Add(day)),
	} {
		if v != 0.5 {
			t.Errorf("another's is %g", v)
		}
	}
}

func TestTrustStaysBetween0And1(t *testing.T) {
	l := New(Options{Initial: 0.9, Increment: 0.08, Decrement: 0.5})
	for i := range 5 {
		l.Add(answer(start.Add(time.Duration(i)*time.Minute), true))
	}
	if v := value(l, start.Add(time.Hour)); v != 1 {
		t.Errorf("it is %g", v)
	}
	for i := range 5 {
		l.Add(answer(start.Add(2*time.Hour+time.Duration(i)*time.Minute), false))
	}
	if v := value(l, start.Add(day)); v != 0 {
		t.Errorf("it is %g", v)
	}
	for _, o := range []Options{{Initial: math.NaN()}, {Initial: -1, Increment: -1}, {Initial: 7, Increment: math.Inf(1), HalfLife: -1}} {
		l := New(o)
		l.Add(answer(start, true))
		if v := value(l, start.Add(day)); !(v >= 0 && v <= 1) {
			t.Errorf("%+v: %g", o, v)
		}
	}
}

// Half of the way back is gone in a half life, from above and from below.
func TestTrustDecays(t *testing.T) {
	for _, allowed := range []bool{true, false} {
		l := New(usual)
		l.Add(answer(start, allowed))
		moved := value(l, start) - 0.5
		for after, left := range map[time.Duration]float64{0: 1, 30 * day: 0.5, 60 * day: 0.25, 15 * day: math.Sqrt2 / 2} {
			if v := value(l, start.Add(after)); !near(v, 0.5+moved*left) {
				t.Errorf("after %v it is %g", after, v)
			}
		}
	}
}

// Answers that no one can have read, that came together, or that are about a hard limit do not raise it. A denial counts.
func TestWhatDoesNotCount(t *testing.T) {
	for name, x := range map[string]struct {
		change func(*Answer)
		want   Why
		value  float64
	}{
		"read":                  {func(*Answer) {}, Allowed, 0.51},
		"just read":             {func(a *Answer) { a.Words, a.Read = 10, 3500*time.Millisecond }, Allowed, 0.51},
		"too fast":              {func(a *Answer) { a.Words, a.Read = 10, 3499*time.Millisecond }, TooFast, 0.5},
		"too fast for one word": {func(a *Answer) { a.Words, a.Read = 0, time.Second }, TooFast, 0.5},
		"not known how fast":    {func(a *Answer) { a.Read = 0 }, TooFast, 0.5},
		"a long text":           {func(a *Answer) { a.Words, a.Read = 5000, 10*time.Second }, Allowed, 0.51},
		"words beyond counting": {func(a *Answer) { a.Words, a.Read = math.MaxInt, 9*time.Second }, TooFast, 0.5},
		"several at once":       {func(a *Answer) { a.Bulk = true }, Bulk, 0.5},
		"the floor":             {func(a *Answer) { a.HardLimit = true }, Floor, 0.5},
		"the floor, refused":    {func(a *Answer) { a.HardLimit, a.Allowed = true, false }, Floor, 0.5},
		"refused fast":          {func(a *Answer) { a.Allowed, a.Read = false, 0 }, Refused, 0.45},
		"refused at once":       {func(a *Answer) { a.Allowed, a.Bulk = false, true }, Refused, 0.45},
	} {
		l := New(usual)
		a := answer(start, true)
		x.change(&a)
		l.Add(a)
		points := l.Series("ada", "/src/app", start.Add(-time.Minute), start.Add(time.Minute))[0].Points
		if v := value(l, start); !near(v, x.value) || points[1].Why != x.want {
			t.Errorf("%s: %g, %q", name, v, points[1].Why)
		}
	}
}

// Answers less than two seconds from each other count for none of them, whatever they are about.
func TestAnswersInBulk(t *testing.T) {
	l := New(usual)
	for _, ms := range []int{0, 1000, 2500, 4500, 6500} {
		a := answer(start.Add(time.Duration(ms)*time.Millisecond), true)
		if ms == 1000 {
			a.Project = "/src/other"
		}
		l.Add(a)
	}
	other := answer(start.Add(5*time.Second), true)
	other.Operator = "bob"
	l.Add(other)
	var why []Why
	for _, p := range l.Series("ada", "/src/app", start.Add(-1), start.Add(time.Hour))[0].Points {
		why = append(why, p.Why)
	}
	if want := []Why{"", Bulk, Bulk, Allowed, Allowed, ""}; !reflect.DeepEqual(why, want) {
		t.Errorf("they count as %q, not %q", why, want)
	}
}

func TestSeries(t *testing.T) {
	l := New(usual)
	from, to := start, start.Add(30*day)
	l.Add(answer(start.Add(-10*day), false))
	l.Add(answer(start.Add(10*day), true))
	deletes := answer(start.Add(20*day), false)
	deletes.Verbs = []human.EffectVerb{human.FilesystemDelete, human.FilesystemWrite, human.FilesystemDelete}
	l.Add(deletes)
	later := answer(to.Add(day), false)
	later.Verbs = []human.EffectVerb{human.CostEffect}
	l.Add(later)
	lines := l.Series("ada", "/src/app", from, to)
	if len(lines) != 2 || lines[0].Verb != human.FilesystemWrite || lines[1].Verb != human.FilesystemDelete {
		t.Fatalf("lines %+v", lines)
	}
	var why []Why
	for i, p := range lines[0].Points {
		why = append(why, p.Why)
		if !near(p.Value, value(l, p.At)) || i > 0 && !p.At.After(lines[0].Points[i-1].At) {
			t.Errorf("point %d is %+v", i, p)
		}
	}
	if want := []Why{"", Allowed, Refused, ""}; !reflect.DeepEqual(why, want) || !lines[0].Points[0].At.Equal(from) || !lines[0].Points[3].At.Equal(to) {
		t.Errorf("points %+v", lines[0].Points)
	}
	if points := lines[1].Points; len(points) != 3 || points[0].Value != 0.5 || !near(points[1].Value, 0.45) {
		t.Errorf("points %+v", points)
	}
	if lines := l.Series("bob", "/src/app", from, to); len(lines) != 0 || lines == nil {
		t.Errorf("another's lines %+v", lines)
	}
	if lines := l.Series("ada", "/src/app", to, from); len(lines) != 0 {
		t.Errorf("backwards: %+v", lines)
	}
}

// In whichever order answers come in, and whatever they are, the same answers make the same trust, between 0 and 1.
func TestOrderChangesNothing(t *testing.T) {
	some := rapid.Custom(func(t *rapid.T) Answer {
		return Answer{
			At:       start.Add(time.Duration(rapid.IntRange(0, 100_000).Draw(t, "at")) * 100 * time.Millisecond),
			Operator: rapid.SampledFrom([]string{"ada", "bob"}).Draw(t, "operator"), Project: rapid.SampledFrom([]string{"/a", "/b"}).Draw(t, "project"),
			Verbs:   rapid.SliceOfN(rapid.SampledFrom([]human.EffectVerb{human.FilesystemWrite, human.LangExec}), 0, 3).Draw(t, "verbs"),
			Allowed: rapid.Bool().Draw(t, "allowed"), Read: time.Duration(rapid.IntRange(0, 20_000).Draw(t, "read")) * time.Millisecond,
			Words: rapid.IntRange(-1, 100).Draw(t, "words"), Bulk: rapid.IntRange(0, 5).Draw(t, "bulk") == 0, HardLimit: rapid.IntRange(0, 5).Draw(t, "floor") == 0,
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		answers := rapid.SliceOfNDistinct(some, 0, 40, func(a Answer) time.Time { return a.At }).Draw(t, "answers")
		o := usual
		o.Increment = rapid.Float64Range(0, 1).Draw(t, "increment")
		l, other := New(o), New(o)
		for _, a := range answers {
			l.Add(a)
		}
		r := rand.New(rand.NewPCG(1, rapid.Uint64().Draw(t, "seed")))
		for _, i := range r.Perm(len(answers)) {
			other.Add(answers[i])
		}
		for _, operator := range []string{"ada", "bob"} {
			for _, project := range []string{"/a", "/b"} {
				lines := l.Series(operator, project, start.Add(-day), start.Add(day))
				if again := other.Series(operator, project, start.Add(-day), start.Add(day)); !reflect.DeepEqual(lines, again) {
					t.Fatalf("in another order: %+v, not %+v", again, lines)
				}
				for _, line := range lines {
					last := line.Points[0].Value
					for _, p := range line.Points {
						if !(p.Value >= 0 && p.Value <= 1) {
							t.Fatalf("trust is %g", p.Value)
						}
						// Only an answer that was read raises it by more than what time does.
						if p.Why != Allowed && p.Value > math.Max(last, o.Initial)+1e-9 {
							t.Fatalf("%s raises it from %g to %g", p.Why, last, p.Value)
						}
						last = p.Value
					}
				}
			}
		}
	})
}

func TestLedgerIsSafeForConcurrentUse(t *testing.T) {
	l := New(usual)
	var group sync.WaitGroup
	for i := range 4 {
		group.Go(func() {
			for k := range 50 {
				l.Add(answer(start.Add(time.Duration(i*1000+k)*time.Minute), true))
				value(l, start.Add(day))
				l.Series("ada", "/src/app", start, start.Add(day))
			}
		})
	}
	group.Wait()
	if points := l.Series("ada", "/src/app", start.Add(-day), start.Add(10*day))[0].Points; len(points) != 202 {
		t.Errorf("%d points", len(points))
	}
}

func BenchmarkValue(b *testing.B) {
	l := New(usual)
	for i := range 100_000 {
		l.Add(answer(start.Add(time.Duration(i)*time.Minute), i%7 > 0))
	}
	for b.Loop() {
		value(l, start.Add(50_000*time.Minute))
	}
}
