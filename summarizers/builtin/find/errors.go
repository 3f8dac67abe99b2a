package find

import (
	"deskbell/backend/human"
	"deskbell/summarizers/builtin/facts"
)

// findErrors tells what went wrong in pages on the way: pages that could not be opened or told of an error, dialogs
// that did, dialogs that were dismissed, downloads that did not end well. What comes again is reported once.
func findErrors(r *Result) []Finding {
	w := r.Pages()
	var out []Finding
	told := map[string]int{} // where in out something was told already
	var often []int          // how often
	tell := func(what string, confidence float64, text Phrase, evidence ...human.Ref) {
		if i, ok := told[what]; ok {
			often[i]++
			if len(out[i].Evidence)+len(evidence) <= maxRefs {
				out[i].Evidence = append(out[i].Evidence, evidence...)
			}
			return
		}
		if len(out) == enough {
			return
		}
		told[what] = len(out)
		often = append(often, 1)
		out = append(out, finding(human.FoundError, confidence, text, evidence...))
	}
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
		v := w.In[i]
		if v == nil {
			continue
		}
		if n := a.Navigation; n != nil && (a.Type == human.Navigate || a.Type == human.OpenPage) {
			evidence := []human.Ref{a.Ref()}
			page := r.Page(i, &evidence)
			if len(a.Page.Frame) > 0 && a.Page.FrameURL != "" {
				page = &human.WebPage{URL: a.Page.FrameURL}
			}
			switch {
			case n.Failed != "":
				spoke[v] = true
				tell("failed "+facts.Place(page.URL)+n.Failed, 1, say("page-not-opened",
					textOr(r.Host(page.URL), "some-page"), facts.Name(n.Failed), NetworkError(facts.NetworkError(n.Failed))), a.Ref())
				continue
			case n.Status >= 400:
				spoke[v] = true
				tell("status "+facts.Place(page.URL)+string(rune(n.Status)), 1, say("page-status",
					or(r.pageAt(page), say("some-page")), n.Status), evidence...)
				continue
			}
		}
		if len(a.Page.Frame) == 0 && a.Page.Title != "" && !spoke[v] && r.ErrorTitle(a.Page.Title) {
			spoke[v] = true
			t := facts.Title(a.Page)
			tell("title "+facts.Place(a.Page.URL)+t, 0.9, say("page-titled",
				facts.Quote(t), textOr(r.Host(a.Page.URL), "address-unknown")), a.Ref())
		}
		switch a.Type {
		case human.DialogEnded:
			if d := a.Dialog; d != nil {
				r.dialogError(d, i, tell)
			}
		case human.Download:
			for _, f := range a.Transfers {
				if f.State == "canceled" {
					what := textOr(facts.Quote(f.Name), "a-file")
					if j := came[f.Name]; j > i {
						tell("download "+f.Name, 1, say("download-completed-later", what), a.Ref(), r.Actions[j].Ref())
						continue
					}
					tell("download "+f.Name, 1, say("download-not-completed", what), a.Ref())
				}
			}
		case human.Click, human.DoubleClick:
			if text := facts.Alerted(a.Element); text != "" {
				tell("alert "+text, 0.7, say("page-showed", facts.Quote(text)), a.Ref())
			}
		}
	}
	for i := range out {
		if n := min(often[i], maxRefs); n > 1 {
			out[i].Text = out[i].Text.then(say("so-often", times(n)))
		}
	}
	return out
}

func (r *Result) dialogError(d *human.Dialog, i int, tell func(string, float64, Phrase, ...human.Ref)) {
	a, message := r.Actions[i], facts.Quote(d.Message)
	evidence := []human.Ref{a.Ref()}
	switch {
	case d.Kind == "beforeunload" && d.Accepted:
		tell("left "+facts.Place(a.Page.URL), 0.9, say("page-left-unsaved",
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
		tell("dialog "+d.Message, 0.95, text, a.Ref())
	case d.Kind != "alert" && !d.Accepted:
		text := say("dialog-dismissed")
		if message != "" {
			text = say("page-asked-and-cancel", message)
		}
		tell("dismissed "+d.Message, 1, text, a.Ref())
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
