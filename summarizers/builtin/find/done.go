package find

import (
	"cmp"
	"slices"

	"deskbell/backend/human"
	"deskbell/summarizers/builtin/facts"
)

// findDone tells what was done in pages: sign-ins, forms sent, buttons that change something, choices, uploads,
// downloads. It says what was seen to come of it, and where nothing was seen, not that it came about.
func findDone(r *Result) []Claim {
	w := r.Pages()
	var out []doneAt
	used := map[int]bool{} // actions that are reported as a part of something
	for _, f := range r.Forms() {
		if sent := r.sent(f, used); len(out) < enough {
			out = append(out, sent...)
		}
	}
	for _, v := range w.Visits {
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
	out = append(out, r.transfers(used)...)
	out = append(out, r.filledOnly(used)...)
	out = append(out, r.choices(used)...)
	out = append(out, r.changes(used)...)
	slices.SortStableFunc(out, func(a, b doneAt) int { return a.at - b.at })
	found := make([]Claim, len(out))
	for i, d := range out {
		found[i] = d.Claim
	}
	return found
}

// A doneAt is a claim with where in the acts it belongs.
type doneAt struct {
	Claim
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

// sent tells what came of sending a form. What came to nothing is an error or a detour, and not done. That it was sent is said where
// the browser or the page said so; that a person was signed in, where the site then showed something else.
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
	filled := r.filled(s.Fields, &evidence)
	from := s.At
	if s.Then != nil && from == s.Then.Came && len(s.Fields) > 0 { // what sent it was not seen
		from = s.Fields[0]
	}
	page, site := r.PageName(r.Page(from, &evidence)), r.Host(s.On.Page.URL)
	where := textOr(cmp.Or(page, site), "a-page")
	confirmed := r.confirmed(s) || f.Secret && (r.greeted(s) >= 0 || r.letIn(s))
	effect := facts.Changed
	if e := r.Actions[s.At].Element; facts.IsButton(e) {
		effect = max(effect, facts.EffectOf(e.Name))
	}
	sure := 0.8
	if confirmed {
		sure = 0.95
	}
	var text, brief, again Phrase
	if confirmed {
		again = r.failedBefore(f, s, &evidence)
	}
	switch sends := slices.DeleteFunc(slices.Clone(good), func(s *facts.Send) bool { return !r.confirmed(s) }); {
	case f.Secret:
		effect, text = facts.SignedIn, say("password-given", textOr(cmp.Or(site, page), "a-page")).then(r.by(s)...)
		if confirmed && (r.signedIn(s) || r.greeted(s) >= 0) {
			text = say("signed-in", textOr(cmp.Or(site, page), "a-page")).then(again)
		}
	case len(sends) > 1: // for one thing after the other
		evidence = evidence[:0]
		if named := r.PageName(r.Page(from, &evidence)); named != "" {
			where = literal(named)
		}
		sends = sends[:min(len(sends), maxRefs-2)]
		for _, s := range sends {
			if ref := r.Actions[s.At].Ref(); !slices.Contains(evidence, ref) {
				evidence = append(evidence, ref)
			}
		}
		text = say("sent-the-form-often", where, times(len(sends)))
		return []doneAt{{claim(human.FoundDone, sure, text, evidence...).with(effect, Phrase{}), s.At}}
	default:
		text, brief = r.sentOnce(s, where, again, filled, confirmed), r.sentOnce(s, where, again, nil, confirmed)
	}
	came := r.cameOf(s, &evidence)
	c := claim(human.FoundDone, sure, text.then(came...), evidence...).with(effect, brief)
	if c.Brief = brief; !brief.None() && len(r.Wanted()) == 0 { // what was read tells it
		c.Brief = brief.then(came...)
	}
	c.unknown = len(came) == 0 && !confirmed
	return []doneAt{{c, s.At}}
}

// confirmed says whether a form was sent for certain: the browser said so, or a message of the page did.
func (r *Result) confirmed(s *facts.Send) bool {
	return s.Known && r.taken(s) || slices.ContainsFunc(s.Said, func(i int) bool {
		return facts.Happened(facts.Spoken(r.Actions[i]))
	})
}

// taken says whether nothing that a form was answered with was an error.
func (r *Result) taken(s *facts.Send) bool {
	if s.At < len(r.Actions) && r.failedAt(s.At) {
		return false
	}
	return !slices.ContainsFunc(r.Pages().Effects[s.At], r.failedAt)
}

// failedAt says whether an action is a navigation that came to an error, or one that the site answered with an error.
func (r *Result) failedAt(i int) bool {
	n := r.Actions[i].Navigation
	return n != nil && (n.Failed != "" || n.Status >= 400) || facts.Refused(r.Actions[i]) != 0
}

// signedIn says whether what came after a password is neither where it is asked for nor a second question.
func (r *Result) signedIn(s *facts.Send) bool {
	to := s.Then
	if to == nil || r.SameForm(s.On, to) || facts.SignsIn(to.Page.Title) {
		return false
	}
	return !slices.ContainsFunc(to.Actions, func(i int) bool {
		a := r.Actions[i]
		return a.Hidden != "" && (a.Type == human.Typing || a.Type == human.Paste)
	})
}

// letIn says whether a script showed another page once the button to sign in was pressed, without an objection.
func (r *Result) letIn(s *facts.Send) bool {
	if s.Then == nil || s.Then.Came < 0 || !facts.IsButton(r.Actions[s.At].Element) || !facts.SignsIn(r.Actions[s.At].Element.Name) && !facts.Accepted(r.Actions[s.At]) && !r.sentBefore(s) {
		return false
	}
	n := r.Actions[s.Then.Came].Navigation
	_, bad := r.answered(s)
	return n != nil && (n.Kind == "script" || n.Kind == "history" || n.Kind == "redirect") && !bad && r.signedIn(s)
}

// sentBefore says whether a form had been sent by the same button, so that this is known to send it.
func (r *Result) sentBefore(s *facts.Send) bool {
	return slices.ContainsFunc(r.Pages().Sends, func(o *facts.Send) bool {
		return o.At < s.At && o.On == s.On && facts.SameElement(r.Actions[o.At].Element, r.Actions[s.At].Element)
	})
}

// greeted is the message that greets a person after a password; -1 where none came.
func (r *Result) greeted(s *facts.Send) int {
	for _, i := range s.Said {
		if text := facts.Spoken(r.Actions[i]); facts.Greets(text) && !facts.Objects(r.Actions[i]) {
			return i
		}
	}
	return -1
}

// failedBefore says at which try a form was taken, and what the first one came to. Those tries join the evidence.
func (r *Result) failedBefore(f *facts.Form, s *facts.Send, evidence *[]human.Ref) Phrase {
	at := slices.Index(f.Sends, s)
	from := at
	for ; from > 0; from-- {
		if _, bad := r.answered(f.Sends[from-1]); !bad {
			break
		}
	}
	tries := f.Sends[from : at+1]
	if len(tries) < 2 {
		return Phrase{}
	}
	why, _ := r.answered(tries[0])
	for _, t := range tries[:len(tries)-1] {
		for _, ref := range r.triedAt(t) {
			if !slices.Contains(*evidence, ref) && len(*evidence) < maxRefs {
				*evidence = append(*evidence, ref)
			}
		}
	}
	nth := []string{"try-second", "try-third", "try-fourth", "try-fifth"}
	if n := len(tries) - 2; n < len(nth) {
		return say("at-the-try", say(nth[n])).then(r.cameAtFirst(tries[0], why))
	}
	return say("after-several-tries").then(r.cameAtFirst(tries[0], why))
}

// cameAtFirst says what the first try came to: the status, or what else came back.
func (r *Result) cameAtFirst(s *facts.Send, why Phrase) Phrase {
	if s.Then != nil && s.Then.Came >= 0 {
		if n := r.Actions[s.Then.Came].Navigation; n != nil && n.Status >= 400 {
			return say("first-failed", n.Status)
		}
	}
	return say("at-first", why)
}

// sentOnce says that a form was sent, where that is certain, or else what was done to it.
func (r *Result) sentOnce(s *facts.Send, where, again Phrase, filled []Phrase, sent bool) Phrase {
	by := ""
	if e := r.Actions[s.At].Element; facts.IsButton(e) {
		by = facts.Quote(facts.ElementName(e))
	}
	var text Phrase
	files := r.files(s)
	switch {
	case sent && len(files) > 0 && len(files) == len(s.Fields):
		text, filled = say("uploaded-on", files, where), nil
	case sent:
		text = say("sent-the-form", where)
	case len(filled) > 0:
		text = say("form-filled-in", where, filled)
	case by != "":
		return say("clicked-on", by, where)
	default:
		text = say("form-filled-in", where, say("a-form"))
	}
	if sent && by != "" {
		text = text.then(say("with-button", by), again)
	} else if sent {
		text = text.then(again)
	} else {
		text = text.then(r.by(s)...)
	}
	if sent && len(filled) > 0 {
		text = text.then(say("filled-in", filled))
	}
	return text
}

// by says by what a form was to be sent.
func (r *Result) by(s *facts.Send) []Phrase {
	a := r.Actions[s.At]
	switch {
	case facts.IsButton(a.Element) && facts.ElementName(a.Element) != "":
		return []Phrase{say("and-clicked", facts.Quote(facts.ElementName(a.Element)))}
	case a.Key == "Enter":
		return []Phrase{say("and-pressed-enter")}
	}
	return nil
}

// files are those that were chosen in a form.
func (r *Result) files(s *facts.Send) (names []string) {
	for _, i := range s.Fields {
		for _, t := range r.Actions[i].Transfers {
			if n := facts.Quote(t.Name); n != "" {
				names = append(names, n)
			}
		}
	}
	return names
}

// declined says whether a person did not confirm what they were asked.
func (r *Result) declined(s *facts.Send) bool {
	for _, i := range s.Said {
		if a := r.Actions[i]; a.Dialog != nil && a.Type == human.DialogEnded && !a.Dialog.Accepted {
			return true
		}
	}
	return false
}

// asks says whether the page itself asks before it does anything: what answers it is an action of its own.
func (r *Result) asks(i int) bool {
	return r.Actions[i].Type == human.PageSaid && facts.Questions(facts.Spoken(r.Actions[i]))
}

// tells says whether the page itself says what came of something, in whatever language.
func (r *Result) tells(i int) bool {
	return r.Actions[i].Type == human.PageSaid && !r.asks(i) && facts.Spoken(r.Actions[i]) != ""
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
		case facts.Spoken(r.Actions[i]) != "":
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

// filled names the fields of a form with what may be said of how each was left: what was chosen, what was typed or, where that is not
// shared, how much. Their actions join the evidence.
func (r *Result) filled(fields []int, evidence *[]human.Ref) []Phrase {
	last := map[string]int{}
	var order []string
	for _, i := range fields {
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
		case (a.Type == human.Typing || a.Type == human.Paste) && cmp.Or(a.Value, a.Text) != "": // it is shared
			more = literal(facts.Exactly(cmp.Or(a.Value, a.Text), facts.MaxName))
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
		*evidence = append(*evidence, a.Refs()...)
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
func (r *Result) transfers(used map[int]bool) []doneAt {
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
			case a.Type == human.Upload && used[i]: // the form tells it
			case a.Type == human.Upload:
				text := say("chose-for-upload", what)
				if to := facts.ElementName(a.Element); to != "" {
					text = text.then(say("to-a-field", facts.Quote(to)))
				}
				if !size.None() {
					text = text.then(say("in-brackets", size))
				}
				out = append(out, doneAt{claim(human.FoundDone, 1, text, a.Ref()).with(facts.Used, Phrase{}), i})
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
				out = append(out, doneAt{claim(human.FoundDone, 1, text, evidence...).with(facts.Created, say("downloaded", what)), i})
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
		var set []int
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
			last[n], at, set = i, i, append(set, i)
		}
		for _, n := range order {
			a := r.Actions[last[n]]
			if len(evidence) >= maxRefs-2 {
				break
			}
			evidence = append(evidence, a.Refs()...)
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
			text := say("set-on", page, names)
			for _, i := range set { // the page says of each that it took it: once is enough
				for _, j := range w.Effects[i] {
					if !r.tells(j) || facts.Objects(r.Actions[j]) {
						continue
					}
					if used[j] = true; i == at {
						text = text.then(say("then-page-said", facts.Quote(facts.Spoken(r.Actions[j]))))
						evidence = append(evidence, r.Actions[j].Ref())
					}
				}
			}
			out = append(out, doneAt{claim(human.FoundDone, 0.95, text, evidence...).with(facts.Changed, Phrase{}), at})
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
			if c, ok := r.clicked(i, v, used); ok {
				out = append(out, doneAt{c, i})
			}
		case human.Drag:
			from, to := facts.Quote(facts.ElementName(a.Element)), facts.Quote(facts.ElementName(a.Target))
			text := say("dragged-on", textOr(from, "something"), here())
			if to != "" && from != to {
				text = say("moved-to-on", textOr(from, "something"), where(a.Target), here())
			}
			out = append(out, doneAt{claim(human.FoundDone, 0.9, text, evidence...).with(facts.Changed, Phrase{}), i})
		case human.PlayMedia:
			out = append(out, doneAt{claim(human.FoundDone, 0.9, r.Described(a), a.Ref()).with(facts.Used, Phrase{}), i})
		case human.PageSaid:
			if text := facts.Spoken(a); facts.Happened(text) {
				out = append(out, doneAt{claim(human.FoundDone, 0.9, say("page-said", facts.Quote(text)), evidence...).with(facts.EffectOf(text), Phrase{}), i})
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
			out = append(out, doneAt{claim(human.FoundDone, 0.95, text, a.Ref()).with(facts.EffectOf(d.Message), Phrase{}), i})
		}
	}
	return out
}

// clicked is what came of a click on something whose name says that it changes something, or after which the page said something.
func (r *Result) clicked(i int, v *facts.Visit, used map[int]bool) (c Claim, ok bool) {
	a := r.Actions[i]
	name := facts.ElementName(a.Element)
	to, said, _ := r.LedTo(r.Pages(), i)
	button := facts.IsButton(a.Element) || a.Element != nil && a.Element.Role == "menuitem"
	if changes := button && facts.ChangeWords.Begins(name); name == "" || !changes && !slices.ContainsFunc(said, r.tells) {
		return c, false
	}
	s := &facts.Send{At: i, On: v, Then: to, Said: said}
	if _, bad := r.answered(s); bad || r.declined(s) || slices.ContainsFunc(said, r.asks) {
		return c, false
	}
	evidence := []human.Ref{a.Ref()}
	effect := facts.EffectOf(a.Element.Name)
	for _, j := range said {
		used[j] = true
		evidence = append(evidence, r.Actions[j].Ref())
		effect = max(effect, facts.EffectOf(facts.Spoken(r.Actions[j])))
	}
	if to != nil && to.Came >= 0 {
		evidence = append(evidence, r.Actions[to.Came].Ref())
	}
	here := textOr(r.PageName(r.Page(i, &evidence)), "a-page")
	came := r.cameOf(s, &evidence)
	c = claim(human.FoundDone, 0.8, say("clicked-on", where(a.Element), here).then(came...), evidence...)
	c.Effect, c.unknown = effect, len(came) == 0
	return c, true
}

// where is a thing with what stands beside it: often the heading of the list that it is in, or what its row is called.
func where(e *human.Element) Phrase {
	name, beside := facts.ElementName(e), facts.Beside(e)
	if beside == "" || beside == name {
		return literal(facts.Quote(name))
	}
	return say("thing-beside", facts.Quote(name), facts.Quote(beside))
}

// filledOnly tells of fields that were filled in where it is neither certain that they were sent nor that they were not.
func (r *Result) filledOnly(used map[int]bool) []doneAt {
	var out []doneAt
	for _, v := range r.Pages().Visits {
		if _, unsent := r.notSentIn(v); unsent || len(out) == enough {
			for _, i := range v.Actions {
				used[i] = used[i] || fillsIn(r.Actions[i])
			}
			continue
		}
		var fields []int
		typed := false
		for _, i := range v.Actions {
			a := r.Actions[i]
			if !fillsIn(a) || used[i] || facts.IsSearch(a.Element) {
				continue
			}
			fields = append(fields, i)
			typed = typed || a.Type == human.Typing || a.Type == human.Paste || a.Type == human.Upload
		}
		if !typed { // choices alone are settings
			continue
		}
		last := fields[len(fields)-1]
		var evidence []human.Ref
		where := textOr(r.PageName(r.Page(last, &evidence)), "a-page")
		names := r.filled(fields, &evidence)
		for _, i := range fields {
			used[i] = true
		}
		if len(names) > 0 {
			out = append(out, doneAt{claim(human.FoundDone, 0.9, say("form-filled-in", where, names), evidence...).with(facts.Used, Phrase{}), last})
		}
	}
	return out
}

// fillsIn says whether an action fills in a field.
func fillsIn(a facts.Action) bool {
	switch a.Type {
	case human.Typing, human.Paste, human.Choose, human.Check, human.Upload:
		return true
	}
	return false
}
