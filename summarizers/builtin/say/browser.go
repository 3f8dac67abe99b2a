package say

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"deskbell/backend/human"
	"deskbell/summarizers/builtin/facts"
)

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
func (r *report) inShort(f told) string {
	for _, ref := range f.Evidence {
		i := r.Index(ref.Recording, ref.ID)
		if ref.Kind != human.RefAction || i < 0 {
			continue
		}
		a := r.Actions[i]
		switch n := a.Navigation; {
		case n != nil && n.Failed != "":
			return cmp.Or(r.say("network "+facts.NetworkError(n.Failed)), facts.Name(n.Failed))
		case n != nil && n.Status >= 400:
			return r.say("status", n.Status)
		case a.Dialog != nil && a.Dialog.Kind == "beforeunload":
			return "" // what it asks is always the same, and not known
		case a.Dialog != nil && a.Dialog.Message == "":
			return r.say("brief-dialog")
		case a.Type == human.DialogEnded && a.Dialog != nil && a.Dialog.Kind != "alert" && !a.Dialog.Accepted:
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
