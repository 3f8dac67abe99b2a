package say

import (
	"slices"
	"strings"
	"time"

	"deskbell/backend/human"
	"deskbell/summarizers/builtin/facts"
)

// joinedLine is the line of what weighs most: the decision, else what was read, else what was done.
func joinedLine(r *report, found []human.Finding) string {
	pages, programs := r.Sides()
	switch have, missing := r.Values(); {
	case r.In.Answer.Decision != "" || !pages && !programs:
		return answerLine(r, found)
	case !programs:
		return browserLine(r, found)
	case pages && len(have)+len(missing) > 0:
		return browserLine(r, found)
	}
	return desktopLine(r, found)
}

// joinedText is one account in the order of time: what was done in each recording, then what came of all.
func joinedText(r *report, found []human.Finding, left map[human.FindingKind]int) string {
	if len(r.In.Recordings) == 0 {
		return answerText(r, found, left)
	}
	parts := []string{r.recordings()}
	if len(r.In.Recordings) == 1 {
		pages, programs := r.Sides()
		if pages {
			parts = append(parts, r.where())
		}
		if programs {
			parts = append(parts, r.account(r.Actions))
		}
		if !pages {
			parts = append(parts, r.tookAltogether())
		}
	}
	return paragraphs(append(parts, r.ran(), r.all(found, left))...)
}

// ordinals are what recordings are called by their order, in words: figures are for what was counted.
var ordinals = []string{"first", "second", "third", "fourth", "fifth"}

// recordings says of each recording, where there are several, what it is of, how long it is and what was done in it.
func (r *report) recordings() string {
	if len(r.In.Recordings) < 2 {
		return ""
	}
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
		of := r.list(what)
		if rec.Elapsed > 0 {
			of += r.say("and-for", r.duration(time.Duration(rec.Elapsed)))
		}
		var acts []facts.Action
		var sites []string
		for _, a := range r.Actions {
			if a.Rec != rec {
				continue
			}
			acts = append(acts, a)
			if a.Page != nil {
				if h := r.Host(a.Page.URL); h != "" && !slices.Contains(sites, h) && len(sites) < maxApps {
					sites = append(sites, h)
				}
			}
		}
		did := r.account(acts)
		if len(sites) > 0 {
			did = strings.TrimSpace(r.say("work-on", r.list(sites)) + r.say("space") + did)
		}
		if did == "" {
			did = r.say("recorded-nothing")
		}
		parts = append(parts, r.say("recording", r.say(ordinals[i]), of, did))
	}
	if took := r.took(); took != "" {
		parts = append(parts, r.say("recordings-together", took))
	}
	return strings.Join(parts, "\n\n")
}
