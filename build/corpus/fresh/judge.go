package fresh

import (
	"context"
	"fmt"

	"deskbell/backend/human"
	"deskbell/build/corpus"
	"deskbell/summarizers"
	"deskbell/summarizers/builtin"
)

// A Claim is one thing that a summary says, or fails to say, and whether that is so.
type Claim struct {
	Lang    string
	Where   string // line, text, finding KIND, suggestion
	Text    string
	Verdict string // true, false, not said, open: nothing in it can be held against the truth
	Why     string
}

// Judge has a case summarized in both languages and holds what is said against the truth.
func Judge(c corpus.Case, t Truth) (all []Claim, err error) {
	choose := corpus.ByName(builtin.All())
	s, err := choose(c)
	if err != nil {
		return nil, err
	}
	for _, lang := range corpus.Languages {
		in, err := c.Input(lang)
		if err != nil {
			return nil, fmt.Errorf("case %s: %w", c.Name, err)
		}
		raw, err := s.Summarize(context.Background(), in, func(human.Progress) {})
		if err != nil {
			return nil, fmt.Errorf("case %s: %w", c.Name, err)
		}
		r, _ := summarizers.Check(in, raw)
		all = append(all, Hold(lang, r, t)...)
	}
	return all, nil
}
