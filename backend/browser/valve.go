package browser

import (
	"sync"

	"deskbell/backend/human"
)

// A valve lets so much through at a time, and counts the rest: what pages produce has no bound of its own. It is
// safe for concurrent use.
type valve struct {
	what  string  // passes, in the plural, for people
	rate  float64 // of it, each second
	burst float64 // of it, at once

	mu      sync.Mutex
	used    float64 // of the burst
	last    int64   // when used was right, monotonic ns
	from    int64   // since when something is missing
	until   int64   // when the last missing one came
	missing uint64
}

// pass says whether something of that size may come through at a time, in monotonic ns.
func (v *valve) pass(now int64, size float64) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.used = max(0, v.used-v.rate*float64(now-v.last)/1e9)
	v.last = now
	if v.used+size <= v.burst {
		v.used += size
		return true
	}
	v.drop(now)
	return false
}

// lose counts one that cannot come through for another reason than its size.
func (v *valve) lose(now int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.drop(now)
}

func (v *valve) drop(now int64) {
	if v.missing == 0 {
		v.from = now
	}
	v.missing++
	v.until = now
}

// gap reports once what was missing since it was last asked, where that is over: nothing was held back for a second,
// or it is the end. It returns false when there is nothing to report.
func (v *valve) gap(now int64, end bool) (human.RecordedEvent, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.missing == 0 || !end && now-v.until < 1e9 {
		return human.RecordedEvent{}, false
	}
	g := human.Gap{From: v.from, To: v.until, Source: human.BrowserSource, Reason: "limit", Count: v.missing}
	v.missing = 0
	return human.RecordedEvent{At: g.To, Source: human.BrowserSource, Type: human.GapOpened, Text: v.what, Gap: &g}, true
}
