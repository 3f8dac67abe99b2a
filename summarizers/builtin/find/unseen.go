package find

import (
	"slices"
	"time"

	"deskbell/backend/human"
	"deskbell/summarizers/builtin/facts"
)

// findUnseen tells what cannot be known from the recordings: a sentence for each sort of thing.
func findUnseen(r *Result) []Claim {
	return slices.Concat(r.gaps(), r.sources(), r.hidden(), r.ended())
}

// gaps tells of stretches that were not recorded, by why.
func (r *Result) gaps() []Claim {
	type sort struct {
		reason string
		source human.SourceName
	}
	type hole struct {
		acts []facts.Action
		long time.Duration
	}
	holes := map[sort]*hole{}
	var order []sort
	for _, a := range r.Actions {
		if a.Type != human.Missing || a.Gap == nil {
			continue
		}
		key := sort{a.Gap.Reason, a.Gap.Source}
		if key.reason == "overflow" {
			key.reason = "lost"
		}
		if key.reason != "lost" {
			key.source = ""
		}
		if holes[key] == nil {
			holes[key] = &hole{}
			order = append(order, key)
		}
		h := holes[key]
		h.acts = append(h.acts, a)
		h.long += time.Duration(max(a.Gap.To-a.Gap.From, 0))
	}
	var out []Claim
	for _, key := range order {
		h := holes[key]
		n := len(h.acts)
		var often, long Phrase
		if n > 1 && n <= maxRefs {
			often = say("that-often", n)
		}
		if n == 1 && h.long >= time.Second { // of several, the sum stands in none of them
			long = say("for-so-long", h.long)
		}
		var text Phrase
		switch key.reason {
		case "paused":
			text = say("gap-paused", often, long)
		case "excluded":
			if rec := h.acts[0].Rec; !rec.Options.RecordsDesktop() {
				text = say("gap-excluded-page", often, long)
				break
			}
			text = say("gap-excluded-program", often, long)
		case "unreported":
			text = say("gap-unreported", often, long)
		case "crash":
			text = say("gap-crash", often, Phrase{})
		case "limit":
			text = say("gap-limit", often, Phrase{})
		case "lost":
			text = say("gap-lost", often, source(key.source))
		default:
			text = say("gap-other", often, long)
		}
		out = append(out, claim(human.FoundUnseen, 1, text, facts.Refs(h.acts...)...))
	}
	return out
}

// source is what a source records, for people.
func source(s human.SourceName) Phrase {
	switch s {
	case human.InputSource:
		return say("source-input")
	case human.WindowSource:
		return say("source-windows")
	case human.ElementSource:
		return say("source-elements")
	case human.ScreenSource:
		return say("source-pictures")
	case human.FileSource:
		return say("source-files")
	case human.ClipboardSource:
		return say("source-clipboard")
	case human.BrowserSource:
		return say("source-pages")
	}
	return say("source-events")
}

// sources tells which of them a recording was made without. It rests on the first action: a recording has no
// evidence of what it lacks.
func (r *Result) sources() []Claim {
	var out []Claim
	for i := range r.In.Recordings {
		rec := &r.In.Recordings[i]
		var missing, partial []Phrase
		for _, s := range rec.Sources {
			switch {
			case s.Status == "missing":
				missing = append(missing, source(s.Source))
			case s.Status == "partial" && s.Code != "" || s.Lost > 0:
				partial = append(partial, source(s.Source))
			}
		}
		first := r.First(rec.ID)
		if first == nil {
			continue
		}
		if len(missing) > 0 {
			out = append(out, claim(human.FoundUnseen, 0.9, say("sources-missing", missing), first.Ref()))
		}
		if len(partial) > 0 {
			out = append(out, claim(human.FoundUnseen, 0.9, say("sources-partial", partial), first.Ref()))
		}
		if black := rec.Counts.Black; black > 0 {
			out = append(out, claim(human.FoundUnseen, 0.9, say("pictures-black", int(black), int(rec.Counts.Pictures)), first.Ref()))
		}
	}
	return out
}

// hidden tells of texts that no one may read, and of actions whose words the operator hid. That passwords are not to
// be read needs no saying.
func (r *Result) hidden() []Claim {
	var secret, masked []facts.Action
	var fields []string
	for _, a := range r.Actions {
		switch {
		case a.Masked || a.Hidden == "operator":
			masked = append(masked, a)
		case a.Hidden != "" && a.Hidden != "secret" && a.Hidden != "password" && (a.Type == human.Typing || a.Type == human.Paste):
			secret = append(secret, a)
			if n := facts.ElementName(&human.Element{Name: facts.OrNone(a.Element).Name, Hidden: facts.OrNone(a.Element).Hidden}); n != "" && !slices.Contains(fields, facts.Quote(n)) && len(fields) < 4 {
				fields = append(fields, facts.Quote(n))
			}
		}
	}
	var out []Claim
	if len(secret) > 0 {
		text := say("hidden-typing")
		if len(fields) > 0 {
			text = say("hidden-fields", fields)
		}
		out = append(out, claim(human.FoundUnseen, 1, text, facts.Refs(secret...)...))
	}
	if len(masked) > 0 {
		n := Count(min(len(masked), maxRefs), "one-action", "several-actions")
		if len(masked) > maxRefs {
			n = say("many-actions")
		}
		out = append(out, claim(human.FoundUnseen, 1, say("operator-hid", n), facts.Refs(masked...)...))
	}
	return out
}
