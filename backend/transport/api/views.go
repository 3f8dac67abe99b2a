package api

import (
	"context"
	"net/http"

	"deskbell/backend/human"
)

// Views keeps filters under names. Errors are of package human; views.Store is one.
type Views interface {
	Views() ([]human.View, error)
	Put(view human.View) (human.View, error)
	Delete(id string) error
}

// ViewList is all of them.
type ViewList struct {
	Views []human.View `json:"views"`
}

type viewInput struct {
	ID string `path:"id" doc:"The view's id."`
}

func (s *Server) savedViews(c catalogue) {
	v := s.deps.Views
	add(c, route{http.MethodGet, "/api/views", "listViews", "Filters of lists that are kept under a name", operators, 0},
		func(context.Context, *exchange, *none) (*answer[*ViewList], error) {
			all, err := v.Views()
			return ok(&ViewList{append([]human.View{}, all...)}, err)
		})
	add(c, route{http.MethodPost, "/api/views", "putView", "Keep a view; with an id that exists, in its place", operators, 0},
		func(_ context.Context, _ *exchange, in *struct{ payload[human.View] }) (*answer[*human.View], error) {
			view, err := v.Put(in.JSON)
			return ok(&view, err)
		})
	add(c, route{http.MethodDelete, "/api/views/{id}", "deleteView", "Delete a view", operators, 0},
		func(_ context.Context, _ *exchange, in *viewInput) (*done, error) {
			return &done{}, v.Delete(in.ID)
		})
}
