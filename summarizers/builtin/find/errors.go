package find

import (
	"cmp"
	"slices"
	"strconv"

	"deskbell/backend/human"
	"deskbell/summarizers/builtin/facts"
)

// errorsFound are findings of errors by what they tell; an error that comes again is reported once, with how often.
type errorsFound struct {
	told  map[string]int // where in out
	often []int
	out   []Claim
	of    map[int]int // by the action that came to nothing: which of out says so
}

func (es *errorsFound) tell(what string, confidence float64, text Phrase, evidence ...human.Ref) {
	if i, ok := es.told[what]; ok {
		es.often[i]++
		if f := &es.out[i]; len(f.Evidence)+len(evidence) <= maxRefs {
			f.Evidence = append(f.Evidence, evidence...)
		}
		return
	}
	if len(es.out) < enough {
		es.told[what] = len(es.out)
		es.often = append(es.often, 1)
		es.out = append(es.out, claim(human.FoundError, confidence, text, evidence...))
	}
}

// failed has the line say what came to nothing because of an error that was told. Of several about one action it is the last:
// what a page says comes after its status.
func (es *errorsFound) failed(by int, what string, brief Phrase) {
	i, ok := es.told[what]
	if !ok || brief.None() {
		return
	}
	if before, ok := es.of[by]; ok {
		es.out[before].Brief, es.out[before].Failed = Phrase{}, false
	}
	es.of[by] = i
	es.out[i].Brief, es.out[i].Failed = brief, true
}

// causeOf is the action that another is an effect of: what it says, or what brought the page; -1 where none is known.
func (r *Result) causeOf(i int) int {
	if by := r.Index(r.Actions[i].Rec.ID, r.Actions[i].CausedBy); by >= 0 {
		return by
	}
	if v := r.Pages().In[i]; v != nil && (v.Came == i || slices.Contains(r.Actions[i].Values, "loaded")) {
		return v.By
	}
	return -1
}

// failure says what came to nothing, and why; nothing where that is no form and no button, or the site took what was sent.
func (r *Result) failure(i int, why Phrase) Phrase {
	a := r.Actions[i]
	if by := r.Index(a.Rec.ID, a.CausedBy); a.Type == human.DialogEnded && by >= 0 { // what it asked about
		i, a = by, r.Actions[by]
	}
	if a.Page == nil || facts.Accepted(a) {
		return Phrase{}
	}
	here := textOr(cmp.Or(r.PageName(a.Page), r.Host(a.Page.URL)), "a-page")
	for _, s := range r.Pages().Sends {
		switch {
		case s.At != i || s.Search:
		case s.Secret && r.IsSignIn(s):
			return say("sign-in-failed", here, why)
		case len(s.Fields) > 0:
			return say("form-not-taken", here, why)
		}
	}
	if name := facts.Quote(facts.ElementName(a.Element)); name != "" && facts.IsButton(a.Element) {
		return say("button-failed", where(a.Element), here, why)
	}
	return Phrase{}
}

// findErrors tells what went wrong in pages on the way: pages that could not be opened or told of an error, dialogs
// that did, dialogs that were dismissed, downloads that did not end well. What comes again is reported once.
func findErrors(r *Result) []Claim {
	es := errorsFound{told: map[string]int{}, of: map[int]int{}}
	came := map[string]int{} // files that were downloaded
	for i, a := range r.Actions {
		for _, f := range a.Transfers {
			if a.Type == human.Download && f.State == "completed" {
				came[f.Name] = i
			}
		}
	}
	spoke := map[*facts.Visit]bool{} // of an error
	for i, a := range r.Actions {
		v := r.Pages().In[i]
		if v == nil {
			continue
		}
		if r.notOpened(i, &es) {
			spoke[v] = true
			continue
		}
		if len(a.Page.Frame) == 0 && a.Page.Title != "" && !spoke[v] && r.ErrorTitle(a.Page.Title) {
			spoke[v] = true
			t := facts.Title(a.Page)
			es.tell("title "+facts.Place(a.Page.URL)+t, 0.9, say("page-titled",
				facts.Quote(t), textOr(r.Host(a.Page.URL), "address-unknown")), a.Ref())
		}
		if status := facts.Refused(a); status != 0 && !slices.ContainsFunc(r.Pages().Effects[i], func(j int) bool { return facts.Objects(r.Actions[j]) }) {
			evidence := []human.Ref{a.Ref()}
			what := "answer " + strconv.Itoa(status)
			es.tell(what, 0.9, say("site-answered", status, textOr(r.PageName(r.Page(i, &evidence)), "a-page")), evidence...)
			if facts.TurnedDown(a) {
				es.failed(i, what, r.failure(i, say("answer-was", status)))
			}
		}
		switch a.Type {
		case human.PageSaid:
			if text := facts.Spoken(a); facts.Objects(a) {
				what, evidence := "alert "+text, []human.Ref{a.Ref()}
				by := r.causeOf(i)
				if by >= 0 {
					evidence = append(evidence, r.Actions[by].Ref())
				}
				es.tell(what, 0.9, say("page-showed", facts.Quote(text)), evidence...)
				if by >= 0 {
					es.failed(by, what, r.failure(by, say("answer-was-message", "“"+facts.Clean(text, maxBrief)+"”")))
				}
			}
		case human.DialogEnded:
			if d := a.Dialog; d != nil {
				r.dialogError(d, i, &es)
			}
		case human.Download:
			for _, f := range a.Transfers {
				if f.State != "canceled" {
					continue
				}
				key, evidence := "download-not-completed", facts.Refs(a)
				if j := came[f.Name]; j > i {
					key, evidence = "download-completed-later", append(evidence, r.Actions[j].Ref())
				}
				es.tell("download "+f.Name, 1, say(key, textOr(facts.Quote(f.Name), "a-file")), evidence...)
			}
		case human.Click, human.DoubleClick:
			if text := facts.Alerted(a.Element); text != "" {
				es.tell("alert "+text, 0.7, say("page-showed", facts.Quote(text)), a.Ref())
			}
		}
	}
	for i := range es.out {
		if n := min(es.often[i], maxRefs); n > 1 {
			es.out[i].Text = es.out[i].Text.then(say("so-often", times(n)))
		}
	}
	return es.out
}

// notOpened says whether an action went to a page that did not open, and tells it.
func (r *Result) notOpened(i int, es *errorsFound) bool {
	a := r.Actions[i]
	n := a.Navigation
	if n == nil || a.Type != human.Navigate && a.Type != human.OpenPage {
		return false
	}
	evidence := []human.Ref{a.Ref()}
	page := r.Page(i, &evidence)
	if len(a.Page.Frame) > 0 && a.Page.FrameURL != "" {
		page = &human.WebPage{URL: a.Page.FrameURL}
	}
	switch {
	case n.Failed != "":
		es.tell("failed "+facts.Place(page.URL)+n.Failed, 1, say("page-not-opened",
			textOr(r.Host(page.URL), "some-page"), facts.Name(n.Failed), NetworkError(facts.NetworkError(n.Failed))), a.Ref())
	case n.Status >= 400:
		what := "status " + facts.Place(page.URL) + string(rune(n.Status))
		es.tell(what, 1, say("page-status",
			or(r.pageAt(page), say("some-page")), n.Status), evidence...)
		if by := r.causeOf(i); by >= 0 {
			es.failed(by, what, r.failure(by, say("answer-was", n.Status)))
		}
	default:
		return false
	}
	return true
}

func (r *Result) dialogError(d *human.Dialog, i int, es *errorsFound) {
	a, message := r.Actions[i], facts.Quote(d.Message)
	evidence := []human.Ref{a.Ref()}
	switch {
	case d.Kind == "beforeunload" && d.Accepted:
		es.tell("left "+facts.Place(a.Page.URL), 0.9, say("page-left-unsaved",
			textOr(r.PageName(r.Page(i, &evidence)), "page-itself")), evidence...)
	case d.Kind == "beforeunload":
	case d.Message != "" && facts.SpeaksOfError(d.Message, d.Kind != "alert"):
		text := say("page-alerted", message)
		if d.Kind != "alert" {
			text = say("page-asked-and-ok", message)
			if !d.Accepted {
				text = say("page-asked-and-cancel", message)
			}
		}
		es.tell("dialog "+d.Message, 0.95, text, a.Ref())
	case d.Kind != "alert" && !d.Accepted:
		text := say("dialog-dismissed")
		if message != "" {
			text = say("page-asked-and-cancel", message)
		}
		es.tell("dismissed "+d.Message, 1, text, a.Ref())
	}
}

// errorPage says whether a page is no answer but an error, and what it calls the error: its title, its status.
func (r *Result) errorPage(v *facts.Visit) (Phrase, bool) {
	if v == nil || v.Came < 0 {
		return Phrase{}, false
	}
	if n := r.Actions[v.Came].Navigation; n != nil {
		switch {
		case n.Failed != "":
			return literal(facts.Name(n.Failed)), true
		case n.Status >= 400:
			if t := facts.Title(&v.Page); t != "" {
				return say("title-and-status", facts.Quote(t), n.Status), true
			}
			return say("status", n.Status), true
		}
	}
	if t := facts.Title(&v.Page); r.ErrorTitle(v.Page.Title) {
		return literal(facts.Quote(t)), true
	}
	return Phrase{}, false
}

// pageAt names a page with where it comes from.
func (r *Result) pageAt(p *human.WebPage) Phrase {
	t, h := facts.Title(p), r.Host(p.URL)
	switch {
	case t == "":
		return literal(h)
	case h == "":
		return literal(facts.Quote(t))
	}
	return say("with-brackets", facts.Quote(t), h)
}
