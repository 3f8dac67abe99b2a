package api

import (
	"context"
	"net/http"
	"time"

	reference "deskbell/backend/agent"
)

// Runs are the runs of the reference agent on this machine, as their journals tell them. Errors are of package human.
type Runs interface {
	// List returns the newest runs, newest first.
	List(ctx context.Context, most int) ([]reference.RunView, error)
	// Read returns a run and its updates after the first so many; where there are none it waits for one, for the time given.
	Read(ctx context.Context, id string, after int, wait time.Duration) (reference.RunUpdates, error)
}

type (
	runsInput struct {
		Limit int `query:"limit" minimum:"1" maximum:"200" doc:"Absent: 50."`
	}
	runInput struct {
		ID    string  `path:"id" doc:"The run's id."`
		After int     `query:"after" minimum:"0" doc:"How many updates you have."`
		Wait  float64 `query:"wait" minimum:"0" maximum:"60" doc:"Seconds to wait for one more, at most."`
	}
	// RunList are runs of the reference agent.
	RunList struct {
		Runs []reference.RunView `json:"runs"`
	}
)

func (s *Server) runs(c catalogue) {
	add(c, route{http.MethodGet, "/api/agent/runs", "listRuns", "Runs of the reference agent", operators, 0},
		func(ctx context.Context, _ *exchange, in *runsInput) (*answer[*RunList], error) {
			if in.Limit == 0 {
				in.Limit = 50
			}
			list, err := s.deps.Runs.List(ctx, in.Limit)
			return ok(&RunList{append([]reference.RunView{}, list...)}, err)
		})
	add(c, route{http.MethodGet, "/api/agent/runs/{id}", "getRun", "What a run told about itself; or wait for more", operators, 0},
		func(ctx context.Context, _ *exchange, in *runInput) (*answer[*reference.RunUpdates], error) {
			ctx, done := s.held(ctx)
			defer done()
			run, err := s.deps.Runs.Read(ctx, in.ID, in.After, seconds(in.Wait))
			return ok(&run, err)
		})
}
