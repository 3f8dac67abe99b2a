package api

import (
	"context"
	"net/http"

	"deskbell/backend/record/retention"
)

// A Retention removes what was recorded and attached once it is old or too much. Errors are of package human; retention.Service is
// one.
type Retention interface {
	Preview(ctx context.Context) (retention.Removal, error)
	Remove(ctx context.Context) (retention.Removal, error)
}

func (s *Server) retention(c catalogue) {
	add(c, route{http.MethodGet, "/api/retention/preview", "previewRetention", "What retention would remove now, by the settings", operators, 0},
		func(ctx context.Context, _ *exchange, _ *none) (*answer[*retention.Removal], error) {
			p, err := s.deps.Retention.Preview(ctx)
			return ok(&p, err)
		})
	add(c, route{http.MethodPost, "/api/retention/run", "runRetention", "Remove now what retention removes, by the settings; what it removed", operators, 0},
		func(ctx context.Context, _ *exchange, _ *payload[none]) (*answer[*retention.Removal], error) {
			p, err := s.deps.Retention.Remove(context.WithoutCancel(ctx)) // a part is of no use to anybody
			return ok(&p, err)
		})
}
