package queue

import (
	"context"
	"math/bits"
	"time"

	"deskbell/backend/human"
)

// None stands in filters for operations that name no project, or no risk.
const None = "-"

// An End is how an operation ended, as it is counted.
type End string

// The ends.
const (
	EndOpen      End = "open"      // not yet
	EndCompleted End = "completed" // answered, and not with a denial
	EndDenied    End = "denied"
	EndDeclined  End = "declined"
	EndCanceled  End = "cancelled" // by its agent, or with the agent's key
	EndTimedOut  End = "timeout"
)

// Ends lists every end, in the order they are shown.
var Ends = []End{EndCompleted, EndDenied, EndDeclined, EndCanceled, EndTimedOut, EndOpen}

// EndOf is how an operation ended.
func EndOf(op human.Operation) End {
	switch {
	case !op.State.Terminal():
		return EndOpen
	case op.State == human.Declined:
		return EndDeclined
	case op.State == human.Cancelled && op.Overdue && op.Ended != nil && op.Ended.By.Role == human.System:
		return EndTimedOut
	case op.State == human.Cancelled:
		return EndCanceled
	case op.Result != nil && op.Result.Decision == human.Refused:
		return EndDenied
	}
	return EndCompleted
}

// Bounds of what statistics take and give.
const (
	MostDays   = 3700 // from the first day to the last
	MostGroups = 100  // of each list of groups
)

// FewAnswers is how many yes-or-no answers a rate of approvals needs.
const FewAnswers = 10

// Times says how long something took. The values are of operations that there were, rounded down by less than 2 %.
type Times struct {
	Count  int   `json:"count"`
	Tenth  int64 `json:"tenth_ms" doc:"One in ten took at most this long, in milliseconds; 0 for none."`
	Median int64 `json:"median_ms" doc:"Half took at most this long."`
	Ninth  int64 `json:"ninth_ms" doc:"Nine in ten took at most this long."`
}

// Figures are the numbers of some operations.
type Figures struct {
	Requests      int         `json:"requests"`
	See           Times       `json:"see" doc:"From the request until an operator first looked at it, where one did before its end."`
	Answer        Times       `json:"answer" doc:"From the request until an operator answered or declined it."`
	Decisions     int         `json:"decisions" doc:"Answers that were a yes or a no."`
	Approved      int         `json:"approved" doc:"How many of them were a yes."`
	ApprovalRate  *float64    `json:"approval_rate,omitempty" doc:"0 to 1; absent with fewer than 10 decisions."`
	Overdue       int         `json:"overdue" doc:"Those whose time limit passed before they ended."`
	Interruptions int         `json:"interruptions" doc:"Those whose card popped up."`
	Ends          map[End]int `json:"ends" doc:"How they ended; what did not happen is absent."`
}

// DayFigures are those of one day of the calendar.
type DayFigures struct {
	Date  string             `json:"date" doc:"YYYY-MM-DD in the time zone asked for."`
	Kinds map[human.Kind]int `json:"kinds" doc:"Requests by kind."`
	Figures
}

// GroupFigures are those of one kind, agent, project or risk.
type GroupFigures struct {
	Name string `json:"name" doc:"Empty where a request names none."`
	Figures
}

// HistoryStatistics are counted over the operations that a Filter selects.
type HistoryStatistics struct {
	CountedAt time.Time `json:"counted_at"`
	Zone      string    `json:"zone"`
	From      time.Time `json:"from"`
	To        time.Time `json:"to" doc:"The end; not included."`
	Figures
	Before   int            `json:"before" doc:"Requests in the time before from that is as long as from from to to."`
	Days     []DayFigures   `json:"days" doc:"Every day, in order."`
	Kinds    []GroupFigures `json:"kinds" doc:"The most requests first, as in all groups; at most 100 of each."`
	Agents   []GroupFigures `json:"agents"`
	Projects []GroupFigures `json:"projects"`
	Risks    []GroupFigures `json:"risks"`
	Hours    []int          `json:"hours" doc:"168: interruptions by the hour of the week in which the request was made, from Monday 0:00."`
}

// Statistics counts the operations that f selects by When, Kind, AgentID, Project, Risk and End; for operators. It reads no text
// and takes well under a second for a million.
func (q *Queue) Statistics(ctx context.Context, by human.Actor, f Filter) (HistoryStatistics, error) {
	if err := onlyOperators(by); err != nil {
		return HistoryStatistics{}, err
	}
	if err := f.When.check(); err != nil {
		return HistoryStatistics{}, err
	}
	return q.index.Statistics(ctx, f, q.now())
}

// When selects operations by the time of their request. The zero When selects all.
type When struct {
	From, To time.Time      // at or after From, before To; zero for no bound
	Hour     int            // of the week in Zone, 1 for Monday 0:00 to 168; 0 for all
	Zone     *time.Location // nil is UTC
}

// Counts says whether f selects by what only statistics know.
func (f Filter) Counts() bool {
	return f.Project != "" || f.Risk != "" || f.End != "" || f.When.Hour != 0 || !f.When.From.IsZero() || !f.When.To.IsZero()
}

// Days are the last n days of the calendar of a time zone, today included.
func Days(n int, now time.Time, zone *time.Location) When {
	y, m, d := now.In(zone).Date()
	return When{From: time.Date(y, m, d-n+1, 0, 0, 0, 0, zone), To: time.Date(y, m, d+1, 0, 0, 0, 0, zone), Zone: zone}
}

func (w When) check() error {
	switch {
	case w.From.IsZero() || w.To.IsZero() || !w.From.Before(w.To):
		return human.BadField("from", "must be a time before to")
	case w.To.Sub(w.From) > MostDays*24*time.Hour:
		return human.BadField("from", "is more than %d days before to", MostDays)
	}
	return nil
}

// Spans are the numbers that lengths of time are counted by: those that follow one another differ by less than 2 %, and the
// order stays.
const Spans = 64 * 28

// SpanOf is the number of a length of time in milliseconds. A negative one counts as 0; more than 99 days, as that.
func SpanOf(ms int64) int {
	n := uint64(max(ms, 0))
	if n < 128 {
		return int(n)
	}
	shift := bits.Len64(n) - 7 // 64 to 127 are left
	return min(shift*64+int(n>>shift), Spans-1)
}

// SpanMillis is the least length that has this number.
func SpanMillis(span int) int64 {
	if span < 128 {
		return int64(span)
	}
	return int64(64+span%64) << (span/64 - 1)
}
