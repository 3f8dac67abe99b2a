package say

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"deskbell/backend/human"
	"deskbell/summarizers"
	"deskbell/summarizers/builtin/facts"
	"deskbell/summarizers/builtin/find"
)

// workLine is the line of work that was recorded: what weighs most of what was done, what was read, how that compares with what was
// expected, and what is open or went wrong.
func workLine(r *report, found []told) string {
	if r.In.Answer.Decision != "" || len(r.In.Recordings) == 0 {
		return answerLine(r, found)
	}
	found = unfolded(found)
	top := weightiest(found)
	expected := of(found, human.FoundOutcome)
	read := r.readParts()
	var parts []string
	placed := false // the programs are named
	tell := func(atLeast, most facts.Effect) {
		for _, t := range top {
			if t.claim.Effect < atLeast || t.claim.Effect > most {
				continue
			}
			part := bare(r.brief(t))
			if !placed && !r.inPage(t) {
				part, placed = r.inPrograms(part), true
			}
			if j := slices.IndexFunc(expected, func(x told) bool { return r.tells(t, x) }); j >= 0 {
				key := "line-otherwise"
				if expected[j].claim.Verdict == facts.Agrees {
					key = "line-as-expected"
				}
				part = r.say(key, r.lower(part))
				expected = slices.Delete(slices.Clone(expected), j, j+1)
			}
			parts = append(parts, part)
		}
	}
	tell(facts.Changed, facts.Paid)
	parts = append(parts, read...)
	tell(facts.SignedIn, facts.SignedIn)
	for _, t := range expected {
		if !t.claim.Doubt {
			parts = append(parts, bare(r.brief(t)))
		}
	}
	if len(parts) == 0 {
		tell(facts.Looked, facts.Used)
	}
	for _, t := range of(found, human.FoundUndone) {
		if t.Evidence[0].Kind == human.RefAction || len(read) == 0 && t.Evidence[0].ID != facts.Extract {
			parts = append(parts, bare(r.brief(t)))
		}
	}
	parts = append(parts, r.wentWrong(found)...)
	doubts := r.doubts(of(found, human.FoundOutcome), top)
	parts = append(parts, doubts...)
	if said := facts.Split(r.In.Answer.HumanInput); len(said) > 0 && !slices.ContainsFunc(parts, func(p string) bool { return !slices.Contains(doubts, p) }) {
		return facts.Exactly(said[0], maxAnswer)
	}
	if len(parts) == 0 {
		return r.looked()
	}
	begin := ""
	if len(top) == 0 {
		begin = r.list(r.apps()[:min(len(r.apps()), maxApps)])
	}
	for i := range parts {
		if parts[i] = r.lower(parts[i]); i == 0 && begin == "" {
			parts[i] = r.upper(parts[i])
		}
	}
	return r.fit(begin, parts)
}

// tells says whether what was done tells all of an outcome that was expected: that it came about, or that a file came to be otherwise.
func (r *report) tells(done, outcome told) bool {
	switch outcome.claim.Verdict {
	case facts.Agrees:
		return shares(outcome, done) || r.sameWords(outcome, done)
	case facts.Differs:
		return shares(outcome, done) && outcome.claim.OfFile
	}
	return false
}

// doubts says what is not certain of what was expected: all of it or, where some of it came about or stands in what was done, the rest.
func (r *report) doubts(outcomes, done []told) (parts []string) {
	for _, t := range outcomes {
		if !t.claim.Doubt {
			continue
		}
		part := bare(r.brief(t))
		if slices.ContainsFunc(done, func(d told) bool { return shares(t, d) }) || slices.ContainsFunc(outcomes, func(o told) bool { return o.claim.Verdict == facts.Agrees }) {
			part = r.say("line-rest-not-confirmed")
		}
		if !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	return parts
}

// unfolded leaves out errors and detours that what came of them tells: at the second try, after the first failed; otherwise than
// expected.
func unfolded(found []told) []told {
	done := slices.Concat(of(found, human.FoundDone), of(found, human.FoundOutcome))
	return slices.DeleteFunc(slices.Clone(found), func(t told) bool {
		return (t.Kind == human.FoundError || t.Kind == human.FoundDetour) && slices.ContainsFunc(done, func(d told) bool {
			return !slices.ContainsFunc(t.Evidence, func(ref human.Ref) bool { return !slices.Contains(d.Evidence, ref) })
		})
	})
}

// weightiest are the two things done of which most follows, the first of them first; of equals the last.
func weightiest(found []told) []told {
	done := of(found, human.FoundDone)
	slices.Reverse(done)
	slices.SortStableFunc(done, func(a, b told) int { return cmp.Compare(b.claim.Effect, a.claim.Effect) })
	if len(done) > 2 {
		done = done[:2]
	}
	if len(done) == 2 && done[1].claim.Effect < facts.Changed {
		done = done[:1]
	}
	return done
}

// shares says whether two claims rest on one action.
func shares(a, b told) bool {
	return slices.ContainsFunc(a.Evidence, func(ref human.Ref) bool { return ref.Recorded() && slices.Contains(b.Evidence, ref) })
}

// sameWords says whether what was done ends with what an outcome that was expected quotes.
func (r *report) sameWords(outcome, done told) bool {
	_, quoted, found := strings.Cut(r.brief(outcome), "“")
	quoted, _, ended := strings.Cut(quoted, "”")
	return found && ended && strings.Contains(done.Text, "“"+quoted+"”")
}

// brief is a claim for the line.
func (r *report) brief(t told) string {
	if t.claim.Brief.None() {
		return t.Text
	}
	return r.phrase(t.claim.Brief)
}

// inPage says whether what was done was done in a page.
func (r *report) inPage(t told) bool {
	i := r.Index(t.Evidence[0].Recording, t.Evidence[0].ID)
	return i >= 0 && r.Actions[i].Page != nil
}

// inPrograms says in which programs something was done, where there are any.
func (r *report) inPrograms(part string) string {
	apps := r.apps()
	where := r.list(apps)
	if len(apps) > maxApps {
		where = strings.Join(apps[:maxApps], r.say("comma")) + r.say("and-others")
	}
	if where == "" || slices.ContainsFunc(apps, func(app string) bool { return strings.Contains(part, app) }) {
		return part
	}
	return r.say("in-programs", part, where)
}

// readParts says which values were read, which were given by hand and which are missing.
func (r *report) readParts() (parts []string) {
	have, missing := r.Values()
	at := ""
	if site := r.readAt(have); site != "" {
		at = r.say("at-site", site)
	}
	asked := r.Wanted()
	var read, typed []string
	for _, v := range have {
		if v.Pick == nil {
			typed = append(typed, v.Field)
		} else {
			read = append(read, v.Field)
		}
	}
	switch n := len(read); {
	case n > 0 && len(typed) == 0 && len(missing) > 0 && len(asked) > max(2, len(missing)):
		parts = append(parts, r.say("read-some", len(asked)-len(missing), len(asked), at))
	case n > find.MaxNamed && len(typed) == 0:
		parts = append(parts, r.say("read-count", find.Count(n, "one-value", "several-values"), at))
	case n > 0:
		parts = append(parts, r.say("read-fields", r.FieldNames(read), at))
	}
	if len(typed) > 0 { // what was not read from a page
		parts = append(parts, r.say("fields-by-hand", r.FieldNames(typed)))
	}
	if len(missing) > 0 {
		parts = append(parts, r.say("fields-not-found", r.FieldNames(missing)))
	}
	return parts
}

// wentWrong says shortly what went wrong.
func (r *report) wentWrong(found []told) (parts []string) {
	outcomes := of(found, human.FoundOutcome)
	errors := slices.DeleteFunc(of(found, human.FoundError), func(t told) bool {
		return slices.ContainsFunc(outcomes, func(x told) bool { return x.claim.Verdict == facts.Differs && shares(x, t) })
	})
	slices.SortStableFunc(errors, func(a, b told) int { return failedFirst(a) - failedFirst(b) })
	for i, t := range errors {
		short := r.inShort(t)
		switch {
		case i == 2:
			return parts
		case short == "" || t.claim.Failed:
			parts = append(parts, bare(r.brief(t)))
		case i == 0:
			if len(errors) > 1 {
				short = r.say("and-more", short)
			}
			return []string{r.say("on-the-way", short)}
		}
	}
	return parts
}

// failedFirst puts what came to nothing before what else went wrong.
func failedFirst(t told) int {
	if t.claim.Failed {
		return 0
	}
	return 1
}

// looked is the line of work of which nothing can be said but where it was. That nothing was changed is said only where that is
// certain.
func (r *report) looked() string {
	pages, _ := r.Sides()
	apps := r.apps()
	switch site := r.mainSite(); {
	case pages && site != "" && len(apps) == 0 && r.Untouched(true):
		return r.say("line-looked-at-site", site)
	case pages && site != "" && len(apps) == 0:
		return r.say("line-worked-on", site)
	case len(apps) > 0 && r.Untouched(false):
		return r.say("line-looked-at-programs", r.list(apps[:min(len(apps), maxApps)]))
	case len(apps) > 0:
		return r.say("line-worked-on", r.list(apps[:min(len(apps), maxApps)]))
	}
	key := "line-no-work"
	if len(r.Actions) > 0 {
		key = "line-nothing-certain"
	}
	if slices.ContainsFunc(r.In.Recordings, func(rec summarizers.Recorded) bool { return unseen(&rec) }) {
		key = "line-not-seen"
	}
	return r.say(key, facts.Exactly(cmp.Or(r.In.Operation.Description, string(r.In.Operation.Kind)), maxAnswer))
}

// workText is a hand-over: where it was done, what came of it, what was read, what went wrong, what is open.
func workText(r *report, found []told) string {
	if len(r.In.Recordings) == 0 {
		return answerText(r, found)
	}
	left := r.leftOut()
	found = unfolded(found)
	certain := slices.DeleteFunc(slices.Clone(found), func(t told) bool { return t.claim.Doubt })
	doubts := slices.DeleteFunc(slices.Clone(found), func(t told) bool { return !t.claim.Doubt })
	done := certain
	where := paragraphs(r.where(), r.inWhichPrograms())
	if len(r.In.Recordings) > 1 {
		where, done = r.recordings(certain)
	}
	return paragraphs(
		where,
		r.ran(),
		r.paragraph("", slices.Concat(of(certain, human.FoundOutcome), r.besides(done))),
		r.paragraph(r.say("begin-values"), certain, human.FoundValue),
		r.paragraph("", doubts),
		r.paragraph(r.say("begin-errors"), found, human.FoundError),
		r.paragraph(r.say("begin-detours"), found, human.FoundDetour),
		r.paragraph(r.say("begin-slow"), found, human.FoundSlow),
		r.paragraph(r.say("begin-open"), found, human.FoundUndone),
		r.paragraph(r.say("begin-unseen"), found, human.FoundUnseen),
		r.paragraph("", found, human.FoundNote),
		left,
	)
}

// besides is what was done, without what an outcome tells of.
func (r *report) besides(found []told) []told {
	known := map[human.Ref]bool{}
	for _, x := range of(found, human.FoundOutcome) {
		for _, ref := range x.Evidence {
			known[ref] = known[ref] || x.claim.Verdict != facts.Unsaid && ref.Recorded()
		}
	}
	return slices.DeleteFunc(of(found, human.FoundDone), func(f told) bool {
		return !slices.ContainsFunc(f.Evidence, func(ref human.Ref) bool { return !known[ref] })
	})
}

// inWhichPrograms says in which programs the work was done and, where no page was, how long it took.
func (r *report) inWhichPrograms() string {
	apps := r.apps()
	if len(apps) == 0 {
		return ""
	}
	where := r.list(apps)
	if len(apps) > maxSections {
		where = strings.Join(apps[:maxSections], r.say("comma")) + r.say("and-others")
	}
	if took := r.took(); took != "" && r.mainSite() == "" {
		return r.say("worked-for-in", where, took)
	}
	return r.say("worked-in", where)
}

// maxSections programs are named in the account.
const maxSections = 8

// upper is a sentence for the beginning of a line.
func (r *report) upper(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	next, _ := utf8.DecodeRuneInString(s[size:])
	if r.lang == Chinese || !unicode.IsLower(first) || first > unicode.MaxASCII || next == '.' || unicode.IsDigit(next) {
		return s
	}
	return string(unicode.ToUpper(first)) + s[size:]
}

// ordinals are what recordings are called by their order, in words: figures are for what was counted.
var ordinals = []string{"first", "second", "third", "fourth", "fifth"}

// recordings says of each recording, where there are several, what it is of, how long it is and what was done in it, and returns the
// claims that it has not told.
func (r *report) recordings(found []told) (text string, rest []told) {
	rest = found
	var parts []string
	for i := range r.In.Recordings {
		if i == len(ordinals) {
			parts = append(parts, r.say("more-recordings"))
			break
		}
		rec := &r.In.Recordings[i]
		var what []string
		if rec.Options.RecordsDesktop() {
			what = append(what, r.say("recorded-desktop"))
		}
		if rec.Options.Browser != nil {
			what = append(what, r.say("recorded-browser"))
		}
		if len(rec.Commands) > 0 {
			what = append(what, r.say("recorded-terminal"))
		}
		kind := r.list(what)
		if rec.Elapsed > 0 {
			kind += r.say("and-for", r.duration(time.Duration(rec.Elapsed)))
		}
		here := func(t told) bool { return t.Kind == human.FoundDone && t.Evidence[0].Recording == rec.ID }
		did := r.paragraph("", slices.DeleteFunc(slices.Clone(rest), func(t told) bool { return !here(t) }))
		rest = slices.DeleteFunc(slices.Clone(rest), here)
		if places := r.placesIn(rec); len(places) > 0 {
			did = strings.TrimSpace(r.say("work-on", r.list(places)) + r.say("space") + did)
		}
		parts = append(parts, r.say("recording", r.say(ordinals[i]), kind, cmp.Or(did, r.say("recorded-nothing"))))
	}
	if took := r.took(); took != "" {
		parts = append(parts, r.say("recordings-together", took))
	}
	return strings.Join(parts, "\n\n"), rest
}

// placesIn are the sites and programs of a recording, the first few.
func (r *report) placesIn(rec *summarizers.Recorded) (places []string) {
	for _, a := range r.Actions {
		if a.Rec != rec || len(places) == maxApps {
			continue
		}
		place := ""
		switch {
		case a.Page != nil:
			place = r.Host(a.Page.URL)
		case worksIn(a):
			place = facts.ProgramName(a)
		}
		if place != "" && !slices.Contains(places, place) {
			places = append(places, place)
		}
	}
	return places
}
