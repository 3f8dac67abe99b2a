package window

import "time"

// Quiet is whether the operator is not to be disturbed: no cards and no notifications.
type Quiet struct {
	On       bool      // now
	Until    time.Time // by the operator's own wish; the zero time without
	System   System    // the operating system's own do-not-disturb
	Follow   bool      // the operating system's counts
	Critical bool      // requests of critical risk are shown anyway
}

// System is the state of the operating system's own do-not-disturb.
type System string

// The states.
const (
	SystemUnknown System = "unknown" // it cannot be read here
	SystemQuiet   System = "on"
	SystemLoud    System = "off"
)

// At is q as it is at a time.
func (q Quiet) At(now time.Time) Quiet {
	q.On = q.Until.After(now) || (q.Follow && q.System == SystemQuiet)
	return q
}

// QuietTimes are how long the tray offers not to disturb; QuietEnd knows them.
var QuietTimes = []string{"30m", "2h", "tomorrow"}

// QuietEnd is when a time without disturbance ends that begins now: after a span such as "90m", or tomorrow at eight in the morning.
// It is false for what is neither, and for a span that is not between a minute and a week.
func QuietEnd(span string, now time.Time) (until time.Time, ok bool) {
	if span == "tomorrow" {
		y, m, d := now.Date()
		return time.Date(y, m, d+1, 8, 0, 0, 0, now.Location()), true
	}
	length, err := time.ParseDuration(span)
	if err != nil || length < time.Minute || length > 7*24*time.Hour {
		return time.Time{}, false
	}
	return now.Add(length).Truncate(time.Second), true
}
