package say

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"deskbell/backend/human"
	"deskbell/summarizers/builtin/facts"
	"deskbell/summarizers/builtin/find"
)

// browserLine says the most that fits one line: what was read or done, what is missing, what went wrong.
func browserLine(r *report, found []human.Finding) string {
	have, missing := r.Values()
	at := ""
	if site := r.readAt(have); site != "" {
		at = r.say("at-site", site)
	}
	asked := r.Wanted()
	var parts, read, typed []string
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
	outcomes, done := of(found, human.FoundOutcome), of(found, human.FoundDone)
	if i := slices.IndexFunc(found, func(f human.Finding) bool {
		return f.Kind == human.FoundUndone && f.Evidence[0].Kind == human.RefAction
	}); i >= 0 {
		parts = append(parts, within(bare(found[i].Text), len(parts) > 0))
	}
	switch {
	case len(outcomes) > 0 && (outcomes[0].Confidence >= 0.7 || len(parts) == 0):
		parts = append(parts, within(bare(outcomes[0].Text), len(parts) > 0))
	case len(have) > 0:
	case len(done) > 0:
		parts = append(parts, bare(done[len(done)-1].Text)) // what came last is what it came to
	}
	if errors := of(found, human.FoundError); len(errors) > 0 {
		if short := r.inShort(errors[0]); short != "" {
			if len(errors) > 1 {
				short = r.say("and-more", short)
			}
			parts = append(parts, r.say("on-the-way", short))
		}
	}
	switch site := r.mainSite(); {
	case len(parts) > 0:
	case site == "":
		parts = append(parts, r.say("line-no-pages"))
	default:
		parts = append(parts, r.say("line-looked-at-site", site))
	}
	line := ""
	for _, p := range parts { // as many as there is room for
		next := p
		if line != "" {
			next = line + r.say("semicolon") + p
		}
		if line != "" && utf8.RuneCountInString(next) > maxLine {
			break
		}
		line = next
	}
	return line
}

// readAt is the site that all values were picked from; "" where there are several.
func (r *report) readAt(have []facts.Value) string {
	site := ""
	for _, v := range have {
		if v.Pick == nil || v.Pick.Page == nil {
			continue
		}
		h := r.Host(v.Pick.Page.URL)
		if site != "" && h != site {
			return ""
		}
		site = h
	}
	return site
}

// inShort is what an error was, for the line: a status, a code, a message.
func (r *report) inShort(f human.Finding) string {
	for _, ref := range f.Evidence {
		i := r.Index(ref.Recording, ref.ID)
		if ref.Kind != human.RefAction || i < 0 {
			continue
		}
		a := r.Actions[i]
		switch n := a.Navigation; {
		case n != nil && n.Failed != "":
			return facts.Name(n.Failed)
		case n != nil && n.Status >= 400:
			return r.say("status", n.Status)
		case a.Dialog != nil && a.Dialog.Message == "":
			return r.say("brief-dialog")
		case a.Dialog != nil && a.Dialog.Kind != "alert" && !a.Dialog.Accepted:
			return r.say("answered-with-cancel", r.quoteShort(a.Dialog.Message))
		case a.Dialog != nil:
			return r.quoteShort(a.Dialog.Message)
		case a.Page != nil && r.ErrorTitle(a.Page.Title):
			return r.quoteShort(facts.Title(a.Page))
		case a.Type == human.Download:
			return r.say("brief-download")
		}
	}
	return ""
}

// mainSite is the site that most pages were of.
func (r *report) mainSite() string {
	count, best := map[string]int{}, ""
	for _, v := range r.Pages().Visits {
		h := r.Host(v.Page.URL)
		if h == "" {
			continue
		}
		if count[h]++; best == "" || count[h] > count[best] {
			best = h
		}
	}
	return best
}

// browserText is the longer account: where it was done, what came of it, what went wrong, what is open.
func browserText(r *report, found []human.Finding, left map[human.FindingKind]int) string {
	return paragraphs(
		r.where(),
		r.sentences("", found, human.FoundOutcome, human.FoundDone),
		r.listed(r.say("begin-values"), found, human.FoundValue),
		r.sentences("", found, human.FoundError, human.FoundDetour, human.FoundSlow),
		r.listed(r.say("begin-still-open"), found, human.FoundUndone),
		r.sentences("", found, human.FoundUnseen),
		r.sentences("", found, human.FoundNote),
		r.leftOut(left),
	)
}

// where says on which pages the work was done, and how long it took.
func (r *report) where() string {
	const hosts, titles = 4, 6
	type site struct {
		host   string
		titles []string
		more   bool
	}
	var sites []*site
	known := map[string]*site{}
	more := false
	for _, v := range r.Pages().Visits {
		h := r.Host(v.Page.URL)
		if h == "" {
			continue
		}
		s := known[h]
		if s == nil {
			s = &site{host: h}
			known[h] = s
			if len(sites) == hosts {
				more = true
				continue
			}
			sites = append(sites, s)
		}
		switch t := facts.Quote(facts.Title(&v.Page)); {
		case t == "" || slices.Contains(s.titles, t):
		case len(s.titles) == titles:
			s.more = true
		default:
			s.titles = append(s.titles, t)
		}
	}
	if len(sites) == 0 {
		return ""
	}
	var parts []string
	for _, s := range sites {
		pages := strings.Join(s.titles, r.say("comma"))
		if s.more {
			pages += r.say("and-others")
		}
		if pages == "" {
			parts = append(parts, s.host)
			continue
		}
		parts = append(parts, r.say("with-brackets", s.host, pages))
	}
	took := ""
	var elapsed int64
	for i := range r.In.Recordings {
		elapsed += r.In.Recordings[i].Elapsed
	}
	if elapsed > 0 {
		took = r.duration(time.Duration(elapsed))
	}
	places := r.list(parts)
	if more {
		places += r.say("and-other-sites")
	}
	if took == "" {
		return r.say("worked-on", places)
	}
	return r.say("worked-for-on", places, took)
}
