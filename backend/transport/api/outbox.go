package api

import (
	"context"
	"net/http"

	"deskbell/backend/queue/outbox"
)

// An Outbox takes finished requests to where the settings say. Errors are of package human; outbox.Service is one.
type Outbox interface {
	States(ctx context.Context) ([]outbox.SinkState, error)
	// Try delivers a sample, at once.
	Try(ctx context.Context, name string) error
}

// Sinks are where finished requests go besides the journal.
type Sinks struct {
	Sinks []outbox.SinkState `json:"sinks"`
}

type tryCall struct {
	Name string `path:"name" enum:"log,folder,webhook"`
	payload[none]
}

func (s *Server) outbox(c catalogue) {
	add(c, route{http.MethodGet, "/api/sinks", "listSinks", "Where finished requests go besides the journal, and what was not delivered yet", operators, 0},
		func(ctx context.Context, _ *exchange, _ *none) (*answer[*Sinks], error) {
			all, err := s.deps.Outbox.States(ctx)
			return ok(&Sinks{all}, err)
		})
	add(c, route{http.MethodPost, "/api/sinks/{name}/test", "testSink", "Deliver a sample now", operators, 0},
		func(ctx context.Context, _ *exchange, in *tryCall) (*done, error) {
			return &done{}, s.deps.Outbox.Try(ctx, in.Name)
		})
}
