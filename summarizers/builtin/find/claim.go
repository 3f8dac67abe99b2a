package find

import (
	"deskbell/backend/human"
	"deskbell/summarizers"
	"deskbell/summarizers/builtin/facts"
)

// A Claim is what a report says, in no language yet, with what it rests on. The line, the account and the findings of a report are
// written from the same claims.
type Claim struct {
	Kind       human.FindingKind
	Text       Phrase
	Brief      Phrase // for the line; none: Text
	Evidence   []human.Ref
	Confidence float64
	Effect     facts.Effect  // of what was done
	Verdict    facts.Verdict // of an outcome that was expected
	OfFile     bool          // of an outcome: it rests on what became of files
	Doubt      bool          // it says what is not certain, and nothing that is
	Failed     bool          // of an error: its brief says what came to nothing because of it
	unknown    bool          // nothing was seen to come of it
}

// claim makes one. Confidence is 1 for what stands in the evidence exactly, less for what follows from it.
func claim(kind human.FindingKind, confidence float64, text Phrase, evidence ...human.Ref) Claim {
	return Claim{Kind: kind, Text: text, Evidence: evidence[:min(len(evidence), maxRefs)], Confidence: confidence}
}

// with is a claim of an effect, with what the line says of it.
func (c Claim) with(effect facts.Effect, brief Phrase) Claim {
	c.Effect, c.Brief = effect, brief
	return c
}

// A search is what a claim that something did not happen rests on: where it was looked for.
type search struct {
	rec      *summarizers.Recorded
	sources  []human.SourceName // that would have it
	from, to int                // in Actions, to is not in it
}

// none says whether a search was complete and found nothing: the sources were there all the time, nothing is missing in that
// stretch, and no action is what was looked for.
func (r *Result) none(s search, is func(i int) bool) bool {
	for _, source := range s.sources {
		if !facts.Complete(s.rec, source) {
			return false
		}
	}
	if s.to == len(r.Actions) && !facts.Ended(s.rec) {
		return false
	}
	for i := s.from; i < s.to; i++ {
		if a := r.Actions[i]; a.Rec == s.rec && (a.Type == human.Missing || is(i)) {
			return false
		}
	}
	return true
}

// Untouched says whether certainly nothing was changed in the recordings of pages, or of programs.
func (r *Result) Untouched(pages bool) bool {
	found := false
	for i := range r.In.Recordings {
		rec := &r.In.Recordings[i]
		s := search{rec, []human.SourceName{human.BrowserSource}, 0, len(r.Actions)}
		if !pages {
			s.sources = []human.SourceName{human.InputSource, human.WindowSource}
		}
		if rec.Options.RecordsDesktop() && pages || rec.Options.Browser != nil && !pages {
			return false // the other half is not looked at here
		}
		if !r.none(s, func(i int) bool { return !r.Inert(i) }) {
			return false
		}
		found = true
	}
	return found
}

// Inert says whether an action certainly changed nothing: it shows, moves or reads. A click does where it is on a text, sets the
// caret, or follows a link to another page.
func (r *Result) Inert(i int) bool {
	if len(r.Actions[i].Answers) > 0 {
		return false
	}
	switch a := r.Actions[i]; a.Type {
	case human.OpenPage, human.ClosePage, human.SwitchPage, human.SwitchWindow, human.OpenApp, human.CloseWindow, human.Scroll, human.Hover, human.Copy,
		human.Note, human.Focus, human.Extract, human.PageSaid:
		return true
	case human.Navigate:
		return a.Navigation == nil || a.Navigation.Kind != "form"
	case human.Shortcut:
		return facts.Moves(a)
	case human.Click:
		e := facts.OrNone(a.Element)
		switch e.Role {
		case "heading", "paragraph", "text", "textbox", "searchbox":
			return true
		case "link":
			return r.followed(i)
		}
	}
	return false
}

// followed says whether a click led to another page as links do.
func (r *Result) followed(i int) bool {
	led := r.Pages().Effects[i]
	for _, j := range led {
		if n := r.Actions[j].Navigation; n == nil || n.Kind != "link" && n.Kind != "fragment" {
			return false
		}
	}
	return len(led) > 0
}
