package find

import (
	"cmp"
	"slices"
	"time"

	"deskbell/backend/human"
	"deskbell/summarizers/builtin/facts"
)

// findDetours tells of ways that were tried and given up, and of what was tried again.
func findDetours(r *Result) []Claim {
	return slices.Concat(r.sentAgain(), r.searchedAgain(), r.clearedForms(), r.thereAndBack(), r.clickedAgain(), r.openedAgain())
}

// sentAgain finds forms that were sent again because they came to nothing the first time. Sending a form for one thing
// after the other is work; after an error it is a retry.
func (r *Result) sentAgain() []Claim {
	var out []Claim
	for _, g := range r.Forms() {
		var tries []*facts.Send
		var why Phrase
		for _, s := range g.Sends {
			said, bad := r.answered(s)
			if tries = append(tries, s); why.None() {
				why = said
			}
			if bad {
				continue
			}
			if len(tries) > 1 && len(out) < enough {
				out = append(out, r.retried(g, tries, why))
			}
			tries, why = nil, Phrase{}
		}
		if len(tries) > 1 && len(out) < enough { // and never was answered with anything else
			out = append(out, r.retried(g, tries, why))
		}
	}
	return out
}

func (r *Result) retried(g *facts.Form, tries []*facts.Send, why Phrase) Claim {
	tries = tries[:min(len(tries), maxRefs)]
	n := len(tries)
	var evidence []human.Ref
	for _, s := range tries {
		evidence = append(evidence, r.Actions[s.At].Ref())
	}
	alike := !slices.ContainsFunc(tries, func(s *facts.Send) bool { return r.Actions[s.At].Type != r.Actions[tries[0].At].Type })
	for _, s := range tries[:n-1] { // what it came to, where that does not blur how often it was
		if !alike {
			break
		}
		evidence = append(evidence, r.triedAt(s)[1:]...)
	}
	from := tries[0].At
	if s := tries[0]; s.Then != nil && from == s.Then.Came && len(s.Fields) > 0 {
		from = s.Fields[0]
	}
	form := r.PageName(r.Page(from, &evidence))
	// A page may object before anything is sent: it is still an attempt.
	attempts := say("attempts", n)
	if n == 2 {
		attempts = say("two-attempts")
	}
	text := say("attempts-to-send", textOr(form, "a-page"), attempts)
	if g.Secret {
		text = say("attempts-to-sign-in", textOr(cmp.Or(r.Host(tries[0].On.Page.URL), form), "a-page"), attempts)
	}
	if !why.None() {
		text = text.then(say("at-first", why))
	}
	return claim(human.FoundDetour, 0.9, text, evidence...)
}

// triedAt is what a try rests on: what sent it, and what it came to.
func (r *Result) triedAt(s *facts.Send) []human.Ref {
	out := r.RefsAt(append([]int{s.At}, s.Said...)...)
	if j := r.pickedError(s); j >= 0 {
		out = append(out, r.Actions[j].Ref())
	}
	if s.Then != nil && s.Then.Came >= 0 && s.Then.Came != s.At {
		out = append(out, r.Actions[s.Then.Came].Ref())
	}
	return out
}

// clearedForms finds what was filled in and emptied again by a button for that.
func (r *Result) clearedForms() []Claim {
	var out []Claim
	for _, v := range r.Pages().Visits {
		for _, c := range v.Cleared {
			if len(out) == enough {
				return out
			}
			evidence := facts.Refs(r.Actions[c.At])
			var names []string
			for _, i := range c.Fields[:min(len(c.Fields), maxRefs-2)] {
				evidence = append(evidence, r.Actions[i].Ref())
				if n := facts.Quote(facts.ElementName(r.Actions[i].Element)); n != "" && !slices.Contains(names, n) && len(names) < maxItems {
					names = append(names, n)
				}
			}
			page := textOr(r.PageName(r.Page(c.At, &evidence)), "a-page")
			fields := say("the-form")
			if len(names) > 0 {
				fields = list(names)
			}
			out = append(out, claim(human.FoundDetour, 0.8, say("form-cleared",
				page, fields, facts.Quote(facts.ElementName(r.Actions[c.At].Element))), evidence...))
		}
	}
	return out
}

// answered says what came back for a form, as a part of a sentence, where that was an error or the form once more.
func (r *Result) answered(s *facts.Send) (Phrase, bool) {
	for _, j := range s.Said {
		if facts.Objects(r.Actions[j]) {
			return say("answer-was-message", facts.Quote(facts.Spoken(r.Actions[j]))), true
		}
	}
	if said, bad := r.errorPage(s.Then); bad {
		return say("came-back", said), true
	}
	if status := facts.Refused(r.Actions[s.At]); status != 0 {
		return r.turnedDown(status, s.Said), true
	}
	if i := r.pickedError(s); i >= 0 {
		return say("answer-was-message", facts.Quote(r.Actions[i].Pick.Text)), true
	}
	if s.Secret && s.Then != nil && r.SameForm(s.On, s.Then) {
		return say("returned-to", textOr(r.PageName(&s.Then.Page), "the-same-page")), true
	}
	return Phrase{}, false
}

// turnedDown says how a site did not do what a page sent: in the page's words where it has any, else by the status.
func (r *Result) turnedDown(status int, said []int) Phrase {
	if i := slices.IndexFunc(said, r.tells); i >= 0 {
		return say("answer-was-message", facts.Quote(facts.Spoken(r.Actions[said[i]])))
	}
	return say("answer-was", status)
}

// answeredAt is the action that has what came back for a form: an objection of the page, another page, else what sent it.
func (r *Result) answeredAt(s *facts.Send) int {
	refused := facts.Refused(r.Actions[s.At]) != 0
	for _, j := range s.Said {
		if facts.Objects(r.Actions[j]) || refused && r.tells(j) {
			return j
		}
	}
	if s.Then != nil && s.Then.Came >= 0 {
		return s.Then.Came
	}
	return s.At
}

// pickedError is the action that picked from the page, right after a form was sent, words that tell of an error; -1.
func (r *Result) pickedError(s *facts.Send) int {
	at, ok := slices.BinarySearch(s.On.Actions, s.At)
	if s.Then != nil || !ok {
		return -1
	}
	for _, i := range s.On.Actions[at+1:] {
		switch a := r.Actions[i]; a.Type {
		case human.Extract:
			if a.Pick != nil && len(a.Pick.Rows) == 0 && facts.SpeaksOfError(a.Pick.Text, false) {
				return i
			}
		case human.Scroll, human.Hover, human.Note, human.Copy:
		default:
			return -1
		}
	}
	return -1
}

// searchedAgain finds searches that were made anew with nothing done to what the one before had found.
func (r *Result) searchedAgain() []Claim {
	w := r.Pages()
	var out []Claim
	var run []*facts.Send
	end := func() {
		if n := min(len(run), maxRefs/2); n > 1 && len(out) < enough {
			var evidence []human.Ref
			for _, s := range run[:n] {
				evidence = append(evidence, r.Actions[s.At].Ref())
			}
			text := say("searched", times(n))
			if to := run[0].Then; to != nil && to.Came >= 0 {
				evidence = append(evidence, r.Actions[to.Came].Ref())
				if t := r.PageName(r.Page(to.Came, &evidence)); t != "" {
					text = text.then(say("at-first-shown", t))
				}
			}
			out = append(out, claim(human.FoundDetour, 0.8, text, evidence...))
		}
		run = nil
	}
	for _, s := range w.Sends {
		if !s.Search {
			continue
		}
		if len(run) > 0 {
			last := run[len(run)-1]
			if r.Host(last.On.Page.URL) != r.Host(s.On.Page.URL) || r.Actions[last.At].Type != r.Actions[s.At].Type || r.usedBetween(last.At, s) {
				end()
			}
		}
		run = append(run, s)
	}
	end()
	return out
}

// usedBetween says whether anything was done after a search but to search again.
func (r *Result) usedBetween(from int, s *facts.Send) bool {
	w := r.Pages()
	for i := from + 1; i < s.At; i++ {
		switch a := r.Actions[i]; a.Type {
		case human.Navigate, human.Scroll, human.Hover, human.Shortcut, human.Note:
		case human.Click, human.DoubleClick, human.TripleClick:
			if len(w.Effects[i]) > 0 {
				return true
			}
		default:
			if !slices.Contains(s.Fields, i) {
				return true
			}
		}
	}
	return false
}

// thereAndBack finds pages that were gone to and left the same way, with nothing done in them.
func (r *Result) thereAndBack() []Claim {
	var out []Claim
	type trip struct {
		names []string
		refs  []human.Ref
	}
	var trips inOrder[pageKey, trip] // trips from one page are reported together
	for _, v := range r.Pages().Visits {
		there := v.Last
		if there == nil {
			out = append(out, r.closedAgain(v)...)
			continue
		}
		if !r.returned(v) {
			continue
		}
		what := r.PageName(&there.Page)
		if what == "" {
			continue
		}
		if facts.KindOf(r.Actions[there.Came]) == "form" {
			evidence := facts.Refs(r.Actions[there.Came], r.Actions[v.Came])
			a, b := r.PageName(r.Page(there.Came, &evidence)), r.PageName(r.Page(v.Came, &evidence))
			if a != "" && b != "" && len(out) < enough {
				out = append(out, claim(human.FoundDetour, 0.8, say("went-back", a, b), evidence...))
			}
			continue
		}
		t := trips.of(pageKey{r.Actions[v.Came].Rec.ID, facts.Place(v.Page.URL)})
		if len(t.refs)+3 <= maxRefs {
			t.refs = append(t.refs, r.Actions[there.Came].Ref(), r.Actions[v.Came].Ref(), r.Actions[there.Named].Ref())
			if !slices.Contains(t.names, what) && len(t.names) < 4 {
				t.names = append(t.names, what)
			}
		}
	}
	for _, t := range trips.all[:min(len(trips.all), enough)] {
		out = append(out, claim(human.FoundDetour, 0.7, say("there-and-back", t.names), t.refs...))
	}
	return out
}

// closedAgain tells of a popup or tab of its own that was opened and closed again.
func (r *Result) closedAgain(v *facts.Visit) []Claim {
	if v.Ended < 0 || v.Came < 0 || r.did(v) || facts.BlankPage(v.Page.URL) || r.Actions[v.Came].Type != human.OpenPage || r.GapBetween(v.Came, v.Ended) || !facts.Complete(r.Actions[v.Came].Rec, human.BrowserSource) {
		return nil
	}
	what := r.PageName(&v.Page)
	if _, bad := r.errorPage(v); bad || what == "" {
		return nil
	}
	evidence := append(facts.Refs(r.Actions[v.Came], r.Actions[v.Ended]), r.Actions[v.Named].Ref())
	return []Claim{claim(human.FoundDetour, 0.7, say("tab-closed-again", what), evidence...)}
}

// returned says whether a page was come back to, from one in which nothing was done or read.
func (r *Result) returned(v *facts.Visit) bool {
	there := v.Last
	if there.Last == nil || there.Came < 0 || v.Came < 0 || v.Page.URL == "" {
		return false
	}
	at := facts.Place(v.Page.URL)
	if facts.Place(there.Last.Page.URL) != at || facts.Place(there.Page.URL) == at || r.did(there) || r.GapBetween(there.Came, v.Came) || !facts.Complete(r.Actions[v.Came].Rec, human.BrowserSource) || r.readIn(there, v) {
		return false
	}
	if _, bad := r.errorPage(there); bad {
		return false // reported as an error already
	}
	if facts.KindOf(r.Actions[there.Came]) == "form" {
		return r.wentBack(v)
	}
	return r.went(there) && r.went(v)
}

// wentBack says whether a page was gone back to, and not on.
func (r *Result) wentBack(v *facts.Visit) bool {
	if facts.KindOf(r.Actions[v.Came]) == "back_forward" {
		return true
	}
	return v.By >= 0 && r.Actions[v.By].Element != nil && facts.BackWords.Begins(r.Actions[v.By].Element.Name)
}

// lookedAt is how long a person stays on a page that they read, and not only see that it is the wrong one.
const lookedAt = 15 * time.Second

// readIn says whether a page was read before the next one was gone to, as far as that can be told.
func (r *Result) readIn(v, next *facts.Visit) bool {
	if r.Actions[next.Came].Began().Sub(r.Actions[v.Came].Ended()) >= lookedAt {
		return true
	}
	return slices.ContainsFunc(v.Actions, func(i int) bool { return r.Actions[i].Type == human.Scroll })
}

// did says whether anything was done in a page but looking and leaving it.
func (r *Result) did(v *facts.Visit) bool {
	w := r.Pages()
	for _, i := range v.Actions {
		switch a := r.Actions[i]; a.Type {
		case human.Scroll, human.Hover, human.SwitchPage, human.SwitchWindow, human.Missing, human.Note, human.ClosePage:
		case human.Click, human.Shortcut:
			if a.Button == 8 || a.Button == 9 {
				continue
			}
			leaves := false
			for _, j := range w.Effects[i] {
				b := r.Actions[j]
				leaves = leaves || (b.Type == human.Navigate || b.Type == human.ClosePage) && b.Page != nil && b.Page.Target == a.Page.Target
			}
			if !leaves {
				return true
			}
		default:
			return true
		}
	}
	return false
}

// went says whether a person brought a page, and not a server or script.
func (r *Result) went(v *facts.Visit) bool {
	a := r.Actions[v.Came]
	if a.Navigation == nil {
		return a.Type == human.OpenPage
	}
	switch a.Navigation.Kind {
	case "link", "address", "back_forward":
		return true
	case "history", "fragment", "script":
		return v.By >= 0
	}
	return false
}

// clickedAgain finds clicks on one thing, one after the other, that nothing came of.
func (r *Result) clickedAgain() []Claim {
	w := r.Pages()
	var out []Claim
	var run []int
	end := func() {
		if len(run) > 1 && len(out) < enough {
			first := r.Actions[run[0]]
			n := min(len(run), maxRefs)
			var evidence []human.Ref
			for _, i := range run[:n] {
				evidence = append(evidence, r.Actions[i].Ref())
			}
			often := times(n)
			if n < len(run) {
				often = say("more-than", often)
			}
			sure := 0.7
			if first.Before != "" && first.Before == first.After {
				sure = 0.9 // the page looked the same
			}
			out = append(out, claim(human.FoundDetour, sure, say("clicked-in-a-row",
				facts.Quote(facts.ElementName(first.Element)), often), evidence...))
		}
		run = run[:0]
	}
	for i, a := range r.Actions {
		switch {
		case a.Type == human.Missing: // what was done then is not known
			end()
			continue
		case w.In[i] == nil, !facts.Complete(a.Rec, human.BrowserSource), a.Type == human.Hover, a.Type == human.Scroll:
			continue
		case a.Type != human.Click && a.Type != human.DoubleClick || a.Button > 1 || !r.answers(a):
			end()
			continue
		}
		if len(run) > 0 {
			last := r.Actions[run[len(run)-1]]
			if w.In[i] != w.In[run[0]] || !facts.SameElement(last.Element, a.Element) || len(w.Effects[run[len(run)-1]]) > 0 || len(last.Answers) > 0 {
				end()
			}
		}
		run = append(run, i)
	}
	end()
	return out
}

// answers says whether something is to be expected of a click at once, and once is enough.
func (r *Result) answers(a facts.Action) bool {
	e := a.Element
	if e == nil || facts.ElementName(e) == "" || facts.StepWords.Begins(e.Name) {
		return false
	}
	return e.Role == "link" || facts.IsButton(e) || e.Role == "menuitem"
}

// openedAgain finds pages that were loaded again and again.
func (r *Result) openedAgain() []Claim {
	w := r.Pages()
	type page struct{ opened, reloaded []int }
	var pages inOrder[pageKey, page]
	for _, v := range w.Visits {
		if v.Came < 0 || facts.BlankPage(v.Page.URL) {
			continue
		}
		if _, bad := r.errorPage(v); bad {
			continue // told as an error
		}
		a := r.Actions[v.Came]
		p := pages.of(pageKey{a.Rec.ID, v.Page.URL})
		switch facts.KindOf(a) {
		case "reload":
			p.reloaded = append(p.reloaded, v.Came)
		case "address":
			p.opened = append(p.opened, v.Came)
		}
	}
	var out []Claim
	add := func(at []int, sure float64, key string) {
		var evidence []human.Ref
		for _, i := range at[:min(len(at), maxRefs)] {
			evidence = append(evidence, r.Actions[i].Ref())
		}
		// By its title where one of these has it: with another piece of evidence it would be told how often wrongly.
		page := r.Actions[at[max(0, slices.IndexFunc(at[:len(evidence)], func(i int) bool { return facts.Title(r.Actions[i].Page) != "" }))]].Page
		out = append(out, claim(human.FoundDetour, sure, say(key, textOr(r.PageName(page), "one-page"), times(len(evidence))), evidence...))
	}
	for _, p := range pages.all {
		switch {
		case len(out) >= enough:
			return out
		case len(p.reloaded) == 1:
			evidence := facts.Refs(r.Actions[p.reloaded[0]])
			what := textOr(r.PageName(r.Page(p.reloaded[0], &evidence)), "one-page")
			out = append(out, claim(human.FoundDetour, 1, say("reloaded", what), evidence...))
		case len(p.reloaded) > 1:
			add(p.reloaded, 1, "reloaded-often")
		}
		if len(p.opened) > 1 {
			add(p.opened, 0.9, "opened-by-address")
		}
	}
	return out
}

// A pageKey is a page of a recording.
type pageKey struct {
	rec     human.RecordingID
	address string
}
