package find

import (
	"strconv"

	"deskbell/backend/human"
	"deskbell/summarizers/builtin/facts"
)

// MaxNamed values are named in the line, more are counted.
const MaxNamed = 3

// suggestPages are what the agent could do next about what was seen in pages.
func suggestPages(r *Result) []Claim {
	w := r.Pages()
	var out []Claim
	have, missing := r.Values()
	suggest := func(sure float64, text Phrase, evidence ...human.Ref) {
		out = append(out, Claim{Kind: human.FoundNote, Text: text, Evidence: evidence, Confidence: sure})
	}
	denied, gone, failed := -1, -1, -1
	for _, v := range w.Visits {
		if v.Came < 0 || r.Actions[v.Came].Navigation == nil {
			continue
		}
		switch n := r.Actions[v.Came].Navigation; {
		case n.Failed != "" && facts.NetworkError(n.Failed) != "ERR_ABORTED", n.Status >= 500:
			failed = v.Came
		case n.Status == 403 && denied < 0:
			denied = v.Came
		case (n.Status == 404 || n.Status == 410) && gone < 0:
			gone = v.Came
		}
	}
	request := human.Ref{Kind: human.RefRequest, ID: facts.Extract}
	// behind is what led to a page, as a person would name it: the link, else the site.
	behind := func(i int, evidence *[]human.Ref) Phrase {
		if c, ok := r.Cause(r.Actions[i]); ok && facts.ElementName(c.Element) != "" {
			*evidence = append(*evidence, c.Ref())
			return literal(facts.Quote(facts.ElementName(c.Element)))
		}
		return textOr(r.Host(r.Actions[i].Page.URL), "a-certain-page")
	}
	switch {
	case len(missing) > 0 && denied >= 0:
		evidence := []human.Ref{request, r.Actions[denied].Ref()}
		what := behind(denied, &evidence)
		suggest(0.6, say("fields-behind-page", r.FieldNames(missing), what), evidence...)
	case denied >= 0:
		evidence := []human.Ref{r.Actions[denied].Ref()}
		what := behind(denied, &evidence)
		suggest(0.6, say("ask-for-access", what), evidence...)
	case len(missing) > 0:
		suggest(0.6, say("ask-where-fields-are", r.FieldNames(missing)), request)
	}
	if gone >= 0 {
		evidence := []human.Ref{r.Actions[gone].Ref()}
		what := behind(gone, &evidence)
		suggest(0.5, say("do-not-rely-on", what, r.Actions[gone].Navigation.Status), evidence...)
	}
	if failed >= 0 {
		v := w.In[failed]
		later := false // it was there afterwards
		for n := v.Next; n != nil && !later; n = n.Next {
			_, bad := r.errorPage(n)
			later = !bad && r.Host(n.Page.URL) == r.Host(v.Page.URL) && facts.KindOf(r.Actions[max(n.Came, 0)]) != "back_forward"
		}
		if !later {
			suggest(0.6, say("check-site", textOr(r.Host(v.Page.URL), "the-page")), r.Actions[failed].Ref())
		}
	}
	for _, v := range have {
		if v.Picked != "" && v.Given {
			suggest(0.7, say("use-corrected-value", facts.Exactly(v.Field, MaxField)), human.Ref{Kind: human.RefField, ID: v.Field})
			break
		}
	}
	return out
}

// FieldNames names a few fields.
func (r *Result) FieldNames(names []string) Phrase {
	short := make([]string, 0, MaxNamed)
	for _, n := range names[:min(len(names), MaxNamed)] {
		short = append(short, facts.Exactly(n, MaxField))
	}
	if len(names) > len(short) {
		return say("names-and-others", series(short))
	}
	return list(short)
}

// suggestNext is what the agent could do next, whatever was recorded; each rests on what was found. Pages have
// suggestions of their own.
func suggestNext(r *Result) []Claim {
	var out []Claim
	suggest := func(sure float64, text Phrase, evidence ...human.Ref) {
		out = append(out, Claim{Kind: human.FoundNote, Text: text, Evidence: evidence, Confidence: sure})
	}
	if r.In.Answer.Decision == human.Refused {
		evidence := []human.Ref{facts.AnswerRef("decision")}
		text := say("do-not-continue")
		if r.In.Answer.HumanInput != "" {
			text = say("change-the-plan")
			evidence = append(evidence, facts.AnswerRef("human_input"))
		}
		suggest(0.8, text, evidence...)
	}
	for _, t := range r.Turns() {
		if t.Answer < 0 && t.Question >= 0 && r.In.Operation.Messages[t.Question].By.Role == human.Operator {
			suggest(0.8, say("answer-the-operator", facts.Exactly(facts.Question(r.In.Operation.Messages[t.Question].Text), facts.MaxSaid/2)),
				human.Ref{Kind: human.RefMessage, ID: strconv.Itoa(t.Question)})
			break
		}
	}
	// What was saved can be looked at, where that is on a machine the agent reaches.
	var made []*facts.File
	for _, f := range r.Files() {
		if f.Now != "" && !f.Dir && f.Last().File.Op != "deleted" {
			made = append(made, f)
		}
	}
	switch n := len(made); {
	case n > 0 && n <= fewFiles:
		for _, f := range made {
			suggest(0.6, say("check-file", facts.Exactly(f.Now, facts.MaxSaid)), f.Last().Ref())
		}
	case n > 0:
		suggest(0.6, say("check-folder", facts.Exactly(facts.Folder(made[n-1].Now), facts.MaxSaid)), made[n-1].Last().Ref())
	}
	told := map[human.FindingKind]bool{}
	for _, f := range r.Claims {
		if told[f.Kind] {
			continue
		}
		told[f.Kind] = true
		switch {
		case f.Kind == human.FoundError && !r.met() && f.Evidence[0].Kind != human.RefAnswer && !r.onPage(f.Evidence[0]):
			suggest(0.5, say("look-into-error", Exact{f.Text, facts.MaxSaid}), f.Evidence...)
		case f.Kind == human.FoundUndone && f.Evidence[0].Kind == human.RefStep:
			suggest(0.6, say("ask-about-steps"), f.Evidence...)
		case f.Kind == human.FoundUndone && f.Evidence[0].Kind == human.RefRequest && f.Evidence[0].ID != facts.Extract:
			suggest(0.5, say("ask-about-the-rest"), f.Evidence...)
		case f.Kind == human.FoundOutcome && len(f.Evidence) == 1 && f.Evidence[0].Kind == human.RefRequest:
			suggest(0.6, say("check-outcome"), f.Evidence...)
		}
	}
	return out
}

// onPage says whether a reference is to an action in a page.
func (r *Result) onPage(ref human.Ref) bool {
	i := r.Index(ref.Recording, ref.ID)
	return ref.Kind == human.RefAction && i >= 0 && r.Actions[i].Page != nil
}
