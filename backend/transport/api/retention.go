package api

import (
	"context"
	"net/http"

	"deskbell/backend/human"
	"deskbell/backend/record/retention"
)

// A Retention removes what was recorded and attached once it is old or too much. Errors are of package human; retention.Service is
// one.
type Retention interface {
	Preview(ctx context.Context) (retention.Removal, error)
	Remove(ctx context.Context) (retention.Removal, error)
	Delete(ctx context.Context, by human.Actor, ids []human.OperationID, everywhere bool) (retention.Deletion, error)
}

// DeletionRequest names operations.
type DeletionRequest struct {
	Operations []human.OperationID `json:"operations" minItems:"1" maxItems:"100"`
	Everywhere bool                `json:"everywhere,omitempty" doc:"On all desks of the team: those that are not connected delete them when they connect. Only a lead may."`
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
	add(c, toHuman("delete", "deleteOperations", "Delete operations that ended, with all that belongs to them, for good: all, or none with an error that names one", operators),
		func(ctx context.Context, x *exchange, in *payload[DeletionRequest]) (*answer[*retention.Deletion], error) {
			if n := len(in.JSON.Operations); n < 1 || n > 100 {
				return nil, human.BadField("operations", "there are %d; it must be 1 to 100", n)
			}
			d, err := s.deps.Retention.Delete(context.WithoutCancel(ctx), x.by, in.JSON.Operations, in.JSON.Everywhere) // half deleted is of no use
			return ok(&d, err)
		})
}
