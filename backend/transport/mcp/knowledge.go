package mcp

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deskbell/backend/human"
	finished "deskbell/backend/queue/outbox" // the package has an outbox of its own
)

// What came of an agent's requests, as resources (H15): each ended one, and what full-text search finds among them.
const (
	knowledge     = "deskbell://" + finished.Category
	knowledgeType = "application/json"
	mostKnowledge = 100 // of a list
)

// ended are the states of what an agent can know.
var ended = slices.DeleteFunc(slices.Clone(human.States), func(s human.State) bool { return !s.Terminal() })

// addKnowledge has a server offer resources, for agents over x, or over the exchange in their context.
func (t *tool) addKnowledge(s *mcp.Server, x *exchange) {
	for _, template := range []*mcp.ResourceTemplate{
		{URITemplate: knowledge + "/{id}", Name: "human_operation", Description: "What came of one of your requests.", MIMEType: knowledgeType},
		{URITemplate: knowledge + "/{id}/{attachment_id}", Name: "attachment", Description: "A file that came with the answer."},
		{URITemplate: knowledge + "{?q}", Name: "search", Description: "Your finished requests with all these words, the newest first.", MIMEType: knowledgeType},
	} {
		s.AddResourceTemplate(template, func(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			found, err := known(ctx, x.of(ctx).ringer, req.Params.URI)
			if err != nil {
				if human.KindOf(err) == human.NotFound {
					err = mcp.ResourceNotFoundError(req.Params.URI)
				}
				return nil, err
			}
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{found}}, nil
		})
	}
	s.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			result, err := next(ctx, method, req)
			if list, is := result.(*mcp.ListResourcesResult); is && err == nil {
				ops, err := x.of(ctx).ringer.List(ctx, ended, "", mostKnowledge)
				if err != nil {
					return nil, err
				}
				list.Resources = resources(ops)
			}
			return result, err
		}
	})
}

func resources(ops []human.Operation) []*mcp.Resource {
	all := make([]*mcp.Resource, len(ops))
	for i, op := range ops {
		all[i] = &mcp.Resource{
			URI: knowledge + "/" + finished.ID(op.ID), Name: finished.ID(op.ID), Title: human.OneLine(op.Description, 80), MIMEType: knowledgeType,
			Description: finished.DocumentOf(op).Text,
		}
	}
	return all
}

// known reads a resource: a document, a file that came with it, or a list of documents as lines of a search.
func known(ctx context.Context, ringer Ringer, uri string) (*mcp.ResourceContents, error) {
	gone := human.Errorf(human.NotFound, "there is no resource %s", human.OneLine(uri, 200))
	u, err := url.Parse(uri)
	if err != nil {
		return nil, gone
	}
	if u.Path == "" {
		ops, err := ringer.List(ctx, ended, u.Query().Get("q"), mostKnowledge)
		if err != nil {
			return nil, err
		}
		type found struct {
			URI  string `json:"uri"`
			Text string `json:"text"`
		}
		all := make([]found, len(ops))
		for i, r := range resources(ops) {
			all[i] = found{r.URI, r.Description}
		}
		return asJSON(uri, map[string][]found{"found": all})
	}
	name, file, isFile := strings.Cut(strings.TrimPrefix(u.Path, "/"), "/")
	id, is := strings.CutPrefix(name, finished.ID(""))
	if !is {
		return nil, gone
	}
	op, err := ringer.Get(ctx, human.OperationID(id))
	if err == nil && !op.State.Terminal() {
		err = gone
	}
	if err != nil {
		return nil, err
	}
	if !isFile {
		return asJSON(uri, finished.DocumentOf(op))
	}
	a, err := givenFile(op, human.AttachmentID(file))
	if err != nil {
		return nil, err
	}
	data, err := ringer.Attachment(ctx, a.ID, 0)
	if err != nil {
		return nil, err
	}
	return resourceOf(uri, a.Media, data), nil
}

func asJSON(uri string, v any) (*mcp.ResourceContents, error) {
	text, err := json.Marshal(v)
	return &mcp.ResourceContents{URI: uri, MIMEType: knowledgeType, Text: string(text)}, err
}
