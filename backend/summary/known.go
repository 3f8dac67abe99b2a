package summary

import (
	"context"
	"slices"
	"strings"

	"deskbell/backend/human"
	"deskbell/summarizers"
)

func (s *Service) all() []summarizers.Summarizer {
	registry := s.deps.Registry()
	return slices.Concat(registry.BuiltIn, registry.Others)
}

func (s *Service) find(name string) (summarizers.Summarizer, error) {
	var names []string
	for _, each := range s.all() {
		if each.About().Name == name {
			return each, nil
		}
		names = append(names, each.About().Name)
	}
	for _, p := range s.deps.Registry().Problems {
		if p.Name == name {
			return nil, human.Errorf(human.Unavailable, "%s cannot be used: %s", name, p.Text)
		}
	}
	if near := human.Nearest(name, names); near != "" {
		return nil, human.Errorf(human.NotFound, "there is no summarizer %q; did you mean %s?", human.OneLine(name, 60), near)
	}
	return nil, human.Errorf(human.NotFound, "there is no summarizer %q; there are %s", human.OneLine(name, 60), strings.Join(names, ", "))
}

// Summarizers tells what there is, how each fared, and what was agreed. Operators only.
func (s *Service) Summarizers(ctx context.Context, by human.Actor) (Summarizers, error) {
	if err := onlyOperators(by); err != nil {
		return Summarizers{}, err
	}
	scores, err := s.scores(ctx)
	if err != nil {
		return Summarizers{}, err
	}
	consents, err := s.deps.Store.Consents(ctx)
	if err != nil {
		return Summarizers{}, err
	}
	registry := s.deps.Registry()
	all := Summarizers{
		Summarizers: []Known{}, Problems: append([]Unusable{}, registry.Problems...), Consents: append([]Consent{}, consents...), Folder: s.deps.Folder,
	}
	for i, each := range slices.Concat(registry.BuiltIn, registry.Others) {
		about := each.About()
		about.Kinds = append([]human.Kind{}, about.Kinds...)
		all.Summarizers = append(all.Summarizers, Known{About: about, BuiltIn: i < len(registry.BuiltIn), Score: scores[about.Name]})
	}
	return all, nil
}

func (s *Service) scores(ctx context.Context) (map[string]Score, error) {
	recent, err := s.deps.Store.Recent(ctx, scored)
	if err != nil {
		return nil, err
	}
	scores := map[string]Score{}
	for _, sum := range recent {
		score := scores[sum.Summarizer]
		score.Drafts++
		score.Dropped += len(sum.Dropped)
		if sum.State == human.SummaryFailed {
			score.Failed++
		}
		op, err := s.deps.Operations.Get(ctx, s.deps.Operator, sum.OperationID)
		if err != nil && human.KindOf(err) != human.NotFound {
			return nil, err
		}
		if err == nil && op.Result != nil && op.Result.SummaryID == sum.ID {
			score.Released++
			j := Judge(sum.Report, op.Result.Answer)
			score.Kept += j.Kept
			score.Edited += j.Edited
			score.Cut += j.Cut
			score.Added += j.Added
		}
		scores[sum.Summarizer] = score
	}
	return scores, nil
}

// Judge compares a draft with what was released: findings and suggestions that went out as they were, with
// other words, not at all, and that were added.
func Judge(draft human.Report, released human.Answer) Score {
	var j Score
	out := map[string]human.Finding{}
	for _, f := range slices.Concat(released.Findings, released.Suggestions) {
		if f.ID == "" {
			j.Added++
		} else {
			out[f.ID] = f
		}
	}
	for _, f := range slices.Concat(draft.Findings, draft.Suggestions) {
		switch now, is := out[f.ID]; {
		case !is:
			j.Cut++
		case now.Text != f.Text:
			j.Edited++
		default:
			j.Kept++
		}
	}
	return j
}
