package find

import (
	"cmp"
	"slices"

	"deskbell/backend/human"
	"deskbell/summarizers/builtin/facts"
)

// findDone tells what was done in pages: sign-ins, forms sent, buttons that change something, choices, uploads,
// downloads. It says what was seen to come of it, and where nothing was seen, not that it came about.
func findDone(r *Result) []Finding {
	w := r.Pages()
	var out []doneAt
	used := map[int]bool{} // actions that are reported as a part of something
	for _, f := range r.Forms() {
		if sent := r.sent(f, used); len(out) < enough {
			out = append(out, sent...)
		}
	}
	for _, v := range w.Visits {
		for _, i := range r.Unsent(v) {
			used[i] = true
		}
		for _, c := range v.Cleared {
			for _, i := range c.Fields {
				used[i] = true
			}
		}
	}
	for _, s := range w.Sends {
		if s.Search {
			used[s.At] = true
			for _, i := range s.Fields {
				used[i] = true
			}
		}
	}
	out = append(out, r.transfers()...)
	out = append(out, r.choices(used)...)
	out = append(out, r.changes(used)...)
	slices.SortStableFunc(out, func(a, b doneAt) int { return a.at - b.at })
	found := make([]Finding, len(out))
	for i, d := range out {
		found[i] = d.Finding
	}
	return found
}

// A doneAt is a finding with where in the acts it belongs.
type doneAt struct {
	Finding
	at int
}

// good are the sends of a form that came to something. What they are made of is used.
func (r *Result) good(f *facts.Form, used map[int]bool) (good []*facts.Send) {
	for _, s := range f.Sends {
		used[s.At] = true
		for _, i := range slices.Concat(s.Fields, s.Said) {
			used[i] = true
		}
		if _, bad := r.answered(s); !bad && !r.declined(s) {
			good = append(good, s)
		}
	}
	return good
}

// sent tells what came of sending a form. What came to nothing is an error or a detour, and not done.
func (r *Result) sent(f *facts.Form, used map[int]bool) []doneAt {
	good := r.good(f, used)
	if len(good) == 0 {
		return nil
	}
	s := good[len(good)-1]
	evidence := []human.Ref{r.Actions[s.At].Ref()}
	if s.Then != nil && s.Then.Came >= 0 && s.Then.Came != s.At {
		evidence = append(evidence, r.Actions[s.Then.Came].Ref())
	}
	evidence = append(evidence, r.RefsAt(s.Said...)...)
	filled := r.filled(s, &evidence)
	from := s.At
	if s.Then != nil && from == s.Then.Came && len(s.Fields) > 0 { // what sent it was not seen
		from = s.Fields[0]
	}
	page, site := r.PageName(r.Page(from, &evidence)), r.Host(s.On.Page.URL)
	seen, sure := s.Known || s.Then != nil, 0.8
	if seen {
		sure = 0.95
	}
	where := textOr(cmp.Or(page, site), "a-page")
	var text Phrase
	switch n := min(len(good), maxRefs); {
	case f.Secret:
		text = say("signed-in", textOr(cmp.Or(site, page), "a-page"))
	case n > 1: // for one thing after the other
		evidence = evidence[:0]
		if named := r.PageName(r.Page(from, &evidence)); named != "" {
			where = literal(named)
		}
		for _, s := range good[:n] {
			if ref := r.Actions[s.At].Ref(); !slices.Contains(evidence, ref) {
				evidence = append(evidence, ref)
			}
		}
		text = say("sent-the-form-often", where, times(n))
		s, seen = &facts.Send{On: s.On}, true
	default:
		text = r.sentOnce(s, where, filled, seen)
	}
	came := r.cameOf(s, &evidence)
	if len(came) == 0 && !seen {
		came = []Phrase{say("result-unknown")}
	}
	return []doneAt{{finding(human.FoundDone, sure, text.then(came...), evidence...), s.At}}
}

// sentOnce says that a form was sent, where that was seen, or else what was done to it.
func (r *Result) sentOnce(s *facts.Send, where Phrase, filled []Phrase, seen bool) Phrase {
	by := ""
	if e := r.Actions[s.At].Element; facts.IsButton(e) {
		by = facts.Quote(facts.ElementName(e))
	}
	if seen {
		text := say("sent-the-form", where)
		if by != "" {
			text = text.then(say("with-button", by))
		}
		if len(filled) > 0 {
			text = text.then(say("filled-in", filled))
		}
		return text
	}
	text := say("form-filled-in", where, say("a-form"))
	if len(filled) > 0 {
		text = say("form-filled-in", where, filled)
	}
	switch {
	case by != "":
		text = text.then(say("and-clicked", by))
	case r.Actions[s.At].Key == "Enter":
		text = text.then(say("and-pressed-enter"))
	}
	return text
}

// declined says whether a person did not confirm what they were asked.
func (r *Result) declined(s *facts.Send) bool {
	for _, i := range s.Said {
		if d := r.Actions[i].Dialog; d != nil && !d.Accepted {
			return true
		}
	}
	return false
}

// cameOf says what was seen of a form that was sent or of a button that was clicked.
func (r *Result) cameOf(s *facts.Send, evidence *[]human.Ref) []Phrase {
	var out []Phrase
	for _, i := range s.Said {
		d := r.Actions[i].Dialog
		if d == nil || d.Message == "" {
			continue
		}
		switch {
		case d.Kind == "alert":
			out = append(out, say("then-page-said", facts.Quote(d.Message)))
		case d.Accepted:
			out = append(out, say("then-asked-and-ok", facts.Quote(d.Message)))
		}
	}
	if s.Then != nil {
		to := r.PageName(&s.Then.Page)
		if s.Then.Came >= 0 {
			to = r.PageName(r.Page(s.Then.Came, evidence))
		}
		if to != "" {
			out = append(out, say("then-was-shown", to))
		}
	}
	return out
}

// filled names the fields of a form with what may be said of how each was left: what was chosen, how much was typed.
// Their actions join the evidence.
func (r *Result) filled(s *facts.Send, evidence *[]human.Ref) []Phrase {
	last := map[string]int{}
	var order []string
	for _, i := range s.Fields {
		n := facts.Quote(facts.ElementName(r.Actions[i].Element))
		if n == "" {
			continue
		}
		if _, ok := last[n]; !ok {
			order = append(order, n)
		}
		last[n] = i
	}
	var names []Phrase
	for _, n := range order {
		if len(*evidence) >= maxRefs {
			break
		}
		a := r.Actions[last[n]]
		var more Phrase
		switch {
		case facts.IsPassword(a) || a.Hidden != "":
			more = say("hidden")
		case a.Type == human.Typing || a.Type == human.Paste:
			if a.Count > 0 {
				more = Count(a.Count, "one-character", "several-characters")
			}
		case a.Type == human.Choose && len(a.Values) > 0 && facts.Offered(a.Element):
			more = list(r.chosen(a))
		case a.Type == human.Check && facts.Unchecked(a):
			more = say("unchecked")
		case a.Type == human.Check && (a.Element.Role == "radio" || a.Element.Tag == "input/radio"):
			more = say("chosen")
		case a.Type == human.Check && len(a.Values) > 0:
			more = say("checked")
		case a.Type == human.Upload && len(a.Transfers) > 0:
			more = literal(facts.Exactly(a.Transfers[0].Name, facts.MaxName))
		}
		if more.None() {
			names = append(names, literal(n))
		} else {
			names = append(names, say("with-brackets", n, more))
		}
		*evidence = append(*evidence, a.Ref())
	}
	return names
}

func (r *Result) chosen(a facts.Action) []string {
	values := make([]string, 0, len(a.Values))
	for _, v := range a.Values[:min(len(a.Values), 5)] {
		values = append(values, facts.Exactly(v, facts.MaxName))
	}
	return values
}

// transfers tells of files that came or went.
func (r *Result) transfers() []doneAt {
	var out []doneAt
	for i, a := range r.Actions {
		if len(out) >= enough {
			break
		}
		for _, f := range a.Transfers {
			what := textOr(facts.Quote(f.Name), "a-file")
			var size Phrase
			if f.Size > 0 {
				size = say("bytes", f.Size)
			}
			switch {
			case a.Type == human.Upload:
				text := say("chose-for-upload", what)
				if to := facts.ElementName(a.Element); to != "" {
					text = text.then(say("to-a-field", facts.Quote(to)))
				}
				if !size.None() {
					text = text.then(say("in-brackets", size))
				}
				out = append(out, doneAt{finding(human.FoundDone, 1, text, a.Ref()), i})
			case a.Type == human.Download && f.State != "canceled":
				var known []Phrase
				if !size.None() {
					known = append(known, size)
				}
				if len(f.Hash) >= shortHash {
					known = append(known, say("hash", f.Hash[:shortHash]))
				}
				text := say("downloaded", what)
				if len(known) > 0 {
					text = text.then(say("in-brackets", Series{"clause", known}))
				}
				evidence := []human.Ref{a.Ref()}
				if a.Page != nil {
					if from := r.PageName(r.Page(i, &evidence)); from != "" {
						text = text.then(say("from", from))
					}
				}
				out = append(out, doneAt{finding(human.FoundDone, 1, text, evidence...), i})
			}
		}
	}
	return out
}

// shortHash is how much of a hash is said; the evidence has all of it.
const shortHash = 12

// choices tells of settings: what was chosen, switched on and off without a form that sends it. Those of one page are
// reported together, each as it was left.
func (r *Result) choices(used map[int]bool) []doneAt {
	w := r.Pages()
	var out []doneAt
	for _, v := range w.Visits {
		var names []Phrase
		var evidence []human.Ref
		last := map[string]int{} // how each was left
		var order []string
		at := -1
		for _, i := range v.Actions {
			a := r.Actions[i]
			n := facts.ElementName(a.Element)
			if used[i] || a.Type != human.Choose && a.Type != human.Check || n == "" || a.Hidden != "" {
				continue
			}
			if _, ok := last[n]; !ok {
				order = append(order, n)
			}
			last[n], at = i, i
		}
		for _, n := range order {
			a := r.Actions[last[n]]
			if len(evidence) == maxRefs {
				break
			}
			evidence = append(evidence, a.Ref())
			switch {
			case a.Type == human.Choose && len(a.Values) > 0 && facts.Offered(a.Element):
				names = append(names, say("setting-to", facts.Quote(n), r.chosen(a)))
			case a.Type == human.Choose:
				names = append(names, say("setting-changed", facts.Quote(n)))
			case a.Element.Role == "radio" || a.Element.Tag == "input/radio":
				names = append(names, say("setting-chosen", facts.Quote(n)))
			case facts.Unchecked(a):
				names = append(names, say("setting-unchecked", facts.Quote(n)))
			default:
				names = append(names, say("setting-checked", facts.Quote(n)))
			}
		}
		if len(names) > 0 && len(out) < enough {
			page := textOr(r.PageName(r.Page(at, &evidence)), "a-page")
			out = append(out, doneAt{finding(human.FoundDone, 0.95, say("set-on", page, names), evidence...), at})
		}
	}
	return out
}

// changes tells of buttons that change something by themselves, and of things that were moved.
func (r *Result) changes(used map[int]bool) []doneAt {
	w := r.Pages()
	var out []doneAt
	for i, a := range r.Actions {
		v := w.In[i]
		if v == nil || used[i] {
			continue
		}
		if len(out) == enough {
			break
		}
		evidence := []human.Ref{a.Ref()}
		here := func() Phrase { return textOr(r.PageName(r.Page(i, &evidence)), "a-page") }
		switch a.Type {
		case human.Click, human.DoubleClick:
			if (!facts.IsButton(a.Element) && (a.Element == nil || a.Element.Role != "menuitem")) || !facts.ChangeWords.Begins(facts.ElementName(a.Element)) {
				continue
			}
			to, said, _ := r.LedTo(w, i)
			s := &facts.Send{At: i, On: v, Then: to, Said: said}
			if _, bad := r.answered(s); bad || r.declined(s) {
				continue
			}
			for _, j := range said {
				used[j] = true
				evidence = append(evidence, r.Actions[j].Ref())
			}
			if to != nil && to.Came >= 0 {
				evidence = append(evidence, r.Actions[to.Came].Ref())
			}
			text := say("clicked-on", facts.Quote(facts.ElementName(a.Element)), here()).then(r.cameOf(s, &evidence)...)
			out = append(out, doneAt{finding(human.FoundDone, 0.8, text, evidence...), i})
		case human.Drag:
			from, to := facts.Quote(facts.ElementName(a.Element)), facts.Quote(facts.ElementName(a.Target))
			if from != "" && to != "" && from != to {
				out = append(out, doneAt{finding(human.FoundDone, 0.9, say("dragged-to-on", from, to, here()), evidence...), i})
			}
		case human.DialogEnded:
			d := a.Dialog
			if d == nil || d.Message == "" || !d.Accepted || d.Kind == "beforeunload" || facts.SpeaksOfError(d.Message, d.Kind != "alert") {
				continue
			}
			text := say("page-said", facts.Quote(d.Message))
			if d.Kind != "alert" {
				text = say("asked-and-ok", facts.Quote(d.Message))
			}
			out = append(out, doneAt{finding(human.FoundDone, 0.95, text, a.Ref()), i})
		}
	}
	return out
}
