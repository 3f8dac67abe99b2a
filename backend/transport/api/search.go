package api

import (
	"context"
	"net/http"

	"deskbell/backend/human"
)

type searchInput struct {
	Text  string         `query:"q" required:"true" maxLength:"500" doc:"All words, the last also as the beginning of a longer one. Chinese, Japanese and Korean by character."`
	Group human.HitGroup `query:"group" enum:"operations,recordings,findings,decisions" doc:"Only this one; absent: all."`
	Limit int            `query:"limit" minimum:"0" maximum:"100" doc:"Of each group; 0: 5."`
}

// SearchResult is what was found, by group.
type SearchResult struct {
	Groups []human.HitList `json:"groups" doc:"Those that have something, in the order of the parameter group."`
}

func (s *Server) search(c catalogue) {
	add(c, route{http.MethodGet, "/api/search", "search", "Search operations, recordings, findings and decisions of the gatekeeper", operators, 0},
		func(ctx context.Context, _ *exchange, in *searchInput) (*answer[*SearchResult], error) {
			q := human.SearchQuery{Text: in.Text, Group: in.Group, Limit: in.Limit}
			if q.Limit == 0 {
				q.Limit = 5
			}
			groups, err := s.deps.Search.Search(ctx, q)
			return ok(&SearchResult{append([]human.HitList{}, groups...)}, err)
		})
}
