package browser

import (
	"slices"
	"testing"
	"time"

	"deskbell/backend/human"
)

func TestEventsAreOnTheMonotonicClock(t *testing.T) {
	const ms = int64(time.Millisecond)
	day := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	// The machine's clock says 1000 s, at noon.
	clock := func() (time.Time, int64) { return day, 1000_000 * ms }
	origin := func(ago time.Duration) float64 { return float64(day.Add(-ago).UnixMilli()) }
	for name, tt := range map[string]struct {
		origin   float64 // of the document
		messages [][2]int64
		want     []int64 // ms
	}{
		"the time of day decides, when it is near": {
			origin(10 * time.Second), [][2]int64{{10_000, 1000_060}, {10_500, 1000_510}}, []int64{1000_000, 1000_500},
		},
		"the quickest message decides, when the time of day was set forward": {
			origin(time.Hour), [][2]int64{{10_000, 1000_060}, {10_500, 1000_510}, {10_900, 1000_950}}, []int64{1000_060, 1000_510, 1000_910},
		},
		"the first message is late": {
			origin(10 * time.Second), [][2]int64{{9_000, 1000_000}, {9_900, 1000_010}}, []int64{999_000, 999_900},
		},
		"nothing happens after it was heard of": {
			origin(-time.Hour), [][2]int64{{10_000, 1000_060}, {20_000, 1000_070}}, []int64{1000_060, 1000_070},
		},
		"nothing happens before what came before it": {
			origin(time.Hour), [][2]int64{{10_000, 1000_100}, {10_010, 1000_020}}, []int64{1000_100, 1000_100},
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := New(Options{Clock: clock}, human.BrowserOptions{}, nil)
			var got []int64
			b.box.open(func(e human.RecordedEvent) { got = append(got, e.At/ms) })
			tab := &tab{b: b, docs: map[document]*counter{}, frames: map[string]*frame{}}
			tab.main = &frame{id: "f", url: "https://a.example/"}
			for i, m := range tt.messages {
				tab.take(tab.main, message{Number: uint64(i + 1), At: float64(m[0]), Origin: tt.origin, Zero: tt.origin, Events: []human.RecordedEvent{{Type: human.PageClick}}}, m[1]*ms)
			}
			if len(got) != len(tt.want) {
				t.Fatalf("%d events came, want %d", len(got), len(tt.want))
			}
			for i := range got {
				if got[i] != tt.want[i] {
					t.Errorf("event %d is at %d ms, want %d", i, got[i], tt.want[i])
				}
			}
		})
	}
}

// What a page says comes late. It keeps the time at which it was seen, also where something was done since.
func TestAPageSaidItBefore(t *testing.T) {
	const ms = int64(time.Millisecond)
	b := New(Options{Clock: func() (time.Time, int64) { return time.UnixMilli(0), 1000_000 * ms }}, human.BrowserOptions{}, nil)
	var got []int64
	b.box.open(func(e human.RecordedEvent) { got = append(got, e.At/ms) })
	tab := &tab{b: b, docs: map[document]*counter{}, frames: map[string]*frame{}}
	tab.main = &frame{id: "f", url: "https://a.example/"}
	for i, m := range []struct {
		kind     human.RecordedType
		page, at int64
	}{{human.PageClick, 10_000, 1000_000}, {human.PageClick, 10_900, 1000_900}, {human.PageMessage, 10_700, 1000_910}, {human.PageMessage, 10_950, 1000_970}, {human.PageClick, 10_800, 1000_980}} {
		tab.take(tab.main, message{Number: uint64(i + 1), At: float64(m.page), Events: []human.RecordedEvent{{Type: m.kind}}}, m.at*ms)
	}
	if want := []int64{1000_000, 1000_900, 1000_700, 1000_950, 1000_950}; !slices.Equal(got, want) {
		t.Errorf("the events are at %v ms, want %v", got, want)
	}
}

func TestWhatIsHeldKeepsItsPlace(t *testing.T) {
	var got []uint64
	var o outbox
	o.open(func(e human.RecordedEvent) { got = append(got, e.Ref) })
	o.put(human.RecordedEvent{})
	held := o.hold(human.RecordedEvent{})
	o.put(human.RecordedEvent{})
	if len(got) != 1 {
		t.Errorf("%d events are out while one is held, want 1", len(got))
	}
	o.finish(held, func(e *human.RecordedEvent) { e.X = 1 })
	o.finish(held, func(e *human.RecordedEvent) { t.Error("it was finished twice") })
	last := o.hold(human.RecordedEvent{})
	if seen := o.close(); seen != 4 || len(got) != 4 {
		t.Errorf("%d of %d events went out, want 4", seen, len(got))
	}
	o.finish(last, func(*human.RecordedEvent) { t.Error("it was finished after the end") })
	if l := o.put(human.RecordedEvent{}); l.ref != 0 || len(got) != 4 {
		t.Error("something went out after the end")
	}
	for i, ref := range got {
		if ref != uint64(i+1) {
			t.Errorf("they went out as %v", got)
			break
		}
	}
}
