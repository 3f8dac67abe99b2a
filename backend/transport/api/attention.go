package api

import (
	"context"
	"net/http"
	"time"

	"deskbell/backend/gate/service"
	"deskbell/backend/human"
	"deskbell/backend/queue"
)

type attentionInput struct {
	Days int       `query:"days" minimum:"0" maximum:"366" doc:"The last so many days, today included; absent: 30. from and to count before it."`
	From time.Time `query:"from" doc:"At or after this time."`
	To   time.Time `query:"to" doc:"Before this time; absent: the end of today."`
	Zone string    `query:"zone" maxLength:"64" doc:"The operator's time zone, for days: a name like Europe/Berlin, or an offset like +02:00; absent: UTC."`
}

// AttentionReport is what docs/attention.md defines.
type AttentionReport struct {
	queue.Attention
	Questions []service.UnchangedQuestion `json:"questions" doc:"Those that never changed an outcome, the most frequent first; at most 50."`
}

func (s *Server) attention(c catalogue) {
	add(c, route{http.MethodGet, "/api/attention", "getAttention", "Interruptions and minutes of people's time, spent and saved, and questions that never changed an outcome", operators, 0},
		func(ctx context.Context, x *exchange, in *attentionInput) (*answer[*AttentionReport], error) {
			zone, err := zoneOf(in.Zone)
			if err != nil {
				return nil, err
			}
			if in.Days == 0 {
				in.Days = 30
			}
			when := queue.Days(in.Days, s.deps.Now(), zone)
			if !in.From.IsZero() {
				when.From = in.From
			}
			if !in.To.IsZero() {
				when.To = in.To
			}
			r := AttentionReport{Questions: []service.UnchangedQuestion{}}
			var spared []human.Spared
			before := when.From.Add(-when.To.Sub(when.From))
			for _, by := range s.sparing() {
				more, err := by(ctx, x.by, before, when.To)
				if err != nil {
					return nil, err
				}
				spared = append(spared, more...)
			}
			if r.Attention, err = s.deps.Queue.Attention(ctx, x.by, when, spared); err != nil {
				return nil, err
			}
			r.Questions, err = s.deps.Gate.Unchanged(ctx, x.by, when.From, when.To)
			return ok(&r, err)
		})
}

// sparing are the parts that spare people work.
func (s *Server) sparing() []func(context.Context, human.Actor, time.Time, time.Time) ([]human.Spared, error) {
	if s.deps.Procedures == nil {
		return []func(context.Context, human.Actor, time.Time, time.Time) ([]human.Spared, error){s.deps.Gate.Spared}
	}
	return []func(context.Context, human.Actor, time.Time, time.Time) ([]human.Spared, error){s.deps.Gate.Spared, s.deps.Procedures.Unaided}
}
