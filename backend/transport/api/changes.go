package api

import (
	"context"
	"net/http"

	"deskbell/backend/human"
	"deskbell/backend/kind"
)

// Changes reads changes from repositories. Errors are of package human.
type Changes interface {
	Change(ctx context.Context, g kind.GitChange) (human.CodeChange, error)
	// Blob is the text of a file of the repository that a folder is in, by its id.
	Blob(ctx context.Context, folder, id string) (string, error)
}

// CodeText is the text of a file.
type CodeText struct {
	Text string `json:"text"`
}

type blobInput struct {
	ID   string `path:"id" doc:"The operation's id."`
	Blob string `path:"blob" doc:"The full id of a file, as the diff has it."`
}

func (s *Server) changes(c catalogue) {
	named := func(ctx context.Context, x *exchange, id string) (kind.GitChange, error) {
		op, err := s.deps.Queue.Get(ctx, x.by, human.OperationID(id))
		if err != nil {
			return kind.GitChange{}, err
		}
		return kind.GitChangeOf(op)
	}
	const path = "/api/human/operations/{id}/change"
	add(c, route{http.MethodGet, path, "getChange", "The change that details.git of a review names, as it is now", operators, 0},
		func(ctx context.Context, x *exchange, in *idInput) (*answer[human.CodeChange], error) {
			g, err := named(ctx, x, in.ID)
			if err != nil {
				return nil, err
			}
			return ok(s.deps.Changes.Change(ctx, g))
		})
	add(c, route{http.MethodGet, path + "/{blob}", "getChangeText", "The text of a file before that change, by its id in the diff", operators, 0},
		func(ctx context.Context, x *exchange, in *blobInput) (*answer[CodeText], error) {
			g, err := named(ctx, x, in.ID)
			if err != nil {
				return nil, err
			}
			text, err := s.deps.Changes.Blob(ctx, g.Folder, in.Blob)
			return ok(CodeText{text}, err)
		})
}
