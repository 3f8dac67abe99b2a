package api

import (
	"context"
	"net/http"

	"deskbell/backend/human"
)

// data is how Deskbell's data stands.
func (s *Server) data(c catalogue) {
	add(c, route{http.MethodGet, "/api/data", "getData", "How Deskbell's data stands: is it stored, is something missing or damaged?", operators, 0},
		func(context.Context, *exchange, *none) (*answer[*human.DataState], error) {
			now, _ := s.deps.Data.State()
			return ok(&now, nil)
		})
	add(c, route{http.MethodPost, "/api/data/noted", "noteLosses", "Note that you read what is missing: it is no longer said", operators, 0},
		func(ctx context.Context, x *exchange, _ *payload[none]) (*answer[*human.DataState], error) {
			before, _ := s.deps.Data.State()
			if err := s.deps.Data.ReadLosses(ctx); err != nil {
				return nil, err
			}
			for _, l := range before.Losses {
				s.deps.Log.Info("an operator noted what is missing in the database", "by", x.by.Name, "what", l.Text)
			}
			now, _ := s.deps.Data.State()
			return ok(&now, nil)
		})
}
