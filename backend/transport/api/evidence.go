package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sort"

	"deskbell/backend/human"
	"deskbell/backend/record/library"
)

// An Evidencer gives out what the findings of answers rest on: to operators all of it, to an agent that of its
// own operations, as far as the operator shares it. What it may not read is NotFound to it.
type Evidencer interface {
	Evidence(ctx context.Context, by human.Actor, op human.OperationID, label, language string) (library.Evidence, error)
	AllEvidence(ctx context.Context, by human.Actor, op human.OperationID, language string) ([]library.Evidence, error)
	EvidencePicture(ctx context.Context, by human.Actor, op human.OperationID, label, which string, look library.Look) (library.Picture, error)
}

// EvidenceList is all that the findings of an answer rest on.
type EvidenceList struct {
	Evidence []library.Evidence `json:"evidence" doc:"In the order of their labels, without the actions."`
	Next     string             `json:"next,omitempty" doc:"The from of what was left out to keep to max_tokens; absent where nothing was."`
}

type (
	evidenceListInput struct {
		ID        human.OperationID `path:"id" doc:"The operation's id."`
		Language  string            `query:"language" enum:"en,zh-CN" doc:"Of the words; absent: en."`
		From      string            `query:"from" doc:"Begin at this label; absent: e1."`
		MaxTokens int               `query:"max_tokens" minimum:"200" maximum:"100000" doc:"The answer has at most about so many tokens of a language model. Absent: all."`
	}
	evidenceInput struct {
		ID       human.OperationID `path:"id" doc:"The operation's id."`
		Label    string            `path:"label" doc:"e1, e2, ... as in the findings."`
		Language string            `query:"language" enum:"en,zh-CN" doc:"Of the words; absent: en."`
	}
	evidencePictureInput struct {
		ID     human.OperationID `path:"id" doc:"The operation's id."`
		Label  string            `path:"label" doc:"e1, e2, ... as in the findings."`
		Which  string            `query:"which" enum:"before,after,picture" doc:"Absent: after an action, where there is one."`
		Width  int               `query:"width" minimum:"1" maximum:"16384" doc:"Pixels, never more than it has; the height follows. Absent: as taken."`
		Format string            `query:"format" enum:"png,jpeg" doc:"Absent: png."`
		Have   string            `header:"If-None-Match" doc:"The ETag of the bytes you have."`
	}
)

const evidencePath = "/api/human/operations/{id}/evidence"

func (s *Server) evidence(c catalogue) {
	add(c, route{http.MethodGet, evidencePath, "listEvidence", "What the findings of an answer rest on", signedIn, 0},
		func(ctx context.Context, x *exchange, in *evidenceListInput) (*answer[*EvidenceList], error) {
			all, err := s.deps.Library.AllEvidence(ctx, x.by, in.ID, in.Language)
			if err != nil {
				return nil, err
			}
			if in.From != "" {
				i := slices.IndexFunc(all, func(e library.Evidence) bool { return e.Label == in.From })
				if i < 0 {
					return nil, human.BadField("from", "%q is not the label of any evidence of operation %s", human.OneLine(in.From, 40), in.ID)
				}
				all = all[i:]
			}
			return ok(fitted(all, in.MaxTokens), nil)
		})
	add(c, route{http.MethodGet, evidencePath + "/{label}", "getEvidence", "One piece of what the findings of an answer rest on", signedIn, 0},
		func(ctx context.Context, x *exchange, in *evidenceInput) (*answer[*library.Evidence], error) {
			e, err := s.deps.Library.Evidence(ctx, x.by, in.ID, in.Label, in.Language)
			if e.Action != nil {
				e.Action.Seqs = append([]uint64{}, e.Action.Seqs...)
			}
			return ok(&e, err)
		})
	add(c, route{http.MethodGet, evidencePath + "/{label}/picture", "getEvidencePicture", "A picture of a piece of evidence, with its masks; an agent, where its operator shares pictures", signedIn, 0},
		func(ctx context.Context, x *exchange, in *evidencePictureInput) (*pictureAnswer, error) {
			p, err := s.deps.Library.EvidencePicture(ctx, x.by, in.ID, in.Label, in.Which, library.Look{Width: in.Width, Format: in.Format})
			return pictureOf(p, err, in.Have)
		})
}

// fitted is a list of at most so many tokens, or with all evidence (0). Where the first alone is too long, its
// text is shortened.
func fitted(all []library.Evidence, most int) *EvidenceList {
	list := &EvidenceList{Evidence: []library.Evidence{}}
	cost := func(e library.Evidence) int {
		data, _ := json.Marshal(e) // texts and numbers: cannot fail
		return human.Tokens(data) + 1
	}
	const frame = 20 // tokens of what is around the list
	left := most - frame
	for i, e := range all {
		if n := cost(e); most > 0 && n > left {
			if i > 0 {
				list.Next = e.Label
				break
			}
			text := []rune(e.Text)
			short := func(n int) library.Evidence {
				e := e
				e.Text, e.Missing = string(text[:n]), fmt.Sprintf("%d of %d characters of the text are here; read it for itself", n, len(text))
				return e
			}
			e = short(max(0, sort.Search(len(text), func(n int) bool { return cost(short(n)) > left })-1))
		}
		left -= cost(e)
		list.Evidence = append(list.Evidence, e)
	}
	return list
}
