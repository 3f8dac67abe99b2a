// Package find looks through the facts of an input for what a colleague would put into a hand-over: what came of the work,
// what went wrong, what took long, what is open. It says so in phrases of no language; package say writes them.
package find

import (
	"context"
	"fmt"
	"slices"
	"time"

	"deskbell/backend/human"
	"deskbell/summarizers/builtin/facts"
)

// A Result is what was found in the facts of an input.
type Result struct {
	*facts.Facts
	Claims      []Claim                   // in the order of their weight
	Left        map[human.FindingKind]int // how many more there were
	Suggestions []Claim
	Outcomes    []facts.Verdict // of what was expected

	stopped func() bool // no one waits for the result any more
}

// A Search is what one summarizer looks for: findings, and suggestions that rest on them.
type Search struct {
	finders  []finder
	suggests []finder
}

// The searches of the built-in summarizers. All but the one in answers report a finding once, whichever of their parts
// found it.
var (
	Answer   = Search{answerFinders, []finder{suggestNext}}
	Browser  = Search{[]finder{united(slices.Concat([]finder{findResult}, browserFinders, common))}, []finder{suggestPages, suggestNext}}
	Desktop  = Search{[]finder{united(slices.Concat([]finder{findValues, findMissing}, desktopFinders, common))}, []finder{suggestNext}}
	Terminal = Search{[]finder{united(slices.Concat(terminalFinders, common))}, []finder{suggestNext}}
	Joined   = Search{[]finder{united(everything)}, []finder{suggestPages, suggestNext}}
)

// In looks through facts. It reports how far it is to progress, which may be nil, and returns ctx's error where that ends
// before.
func (s Search) In(ctx context.Context, fs *facts.Facts, progress func(human.Progress)) (*Result, error) {
	r := &Result{Facts: fs, stopped: func() bool { return ctx.Err() != nil }}
	steps, done := len(s.finders)+len(s.suggests)+1, 0
	run := func(finders []finder) (found []Claim, err error) {
		for _, f := range finders {
			if progress != nil {
				progress(human.Progress{Share: float64(done) / float64(steps)})
			}
			done++
			found = append(found, f(r)...)
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		return found, nil
	}
	found, err := run(s.finders)
	if err != nil {
		return nil, err
	}
	r.Claims, r.Left = weigh(append(found, r.minor(found)...))
	r.nothingSeen()
	suggested, err := run(s.suggests)
	if err != nil {
		return nil, err
	}
	r.Suggestions = suggested[:min(len(suggested), maxSuggestions)]
	return r, nil
}

// answerFinders are what is looked for in an answer and the conversation.
var answerFinders = []finder{findDecision, findResult, findOutcome, findValues, findMissing, findUndone, findWords, findTalk, findUnspoken}

// browserFinders are what is looked for in actions of pages.
var browserFinders = []finder{findValues, findErrors, findMissing, findDone, findDetours}

// How much a report holds. An operator reads a dozen findings; what is left out is in the recording.
const (
	maxFindings    = 16
	usualFindings  = 12
	maxSuggestions = 5
	maxRefs        = 24  // of one finding
	enough         = 200 // findings of one sort are looked for
)

// A finder looks for one sort of finding. It reads the whole input in one pass or two, in the order of time, and
// returns what it found in that order.
type finder func(*Result) []Claim

// common is what every one of them looks for, whatever was recorded.
var common = []finder{findResult, findOutcome, findCommands, findUndone, findNotSent, findSlow, findUnseen, findNotes}

// Weight is the order of findings: what the agent asked for first, what went wrong next, what it may want to know
// last.
var Weight = []human.FindingKind{
	human.FoundOutcome, human.FoundValue, human.FoundError, human.FoundUndone, human.FoundDone, human.FoundDetour,
	human.FoundSlow, human.FoundUnseen, human.FoundNote,
}

// keeps is how many findings of a kind are kept before any of another is left out, in the order in which they are
// kept: what the agent asked for and what the operator said never gives way to what happened on the way.
var keeps = []struct {
	kind human.FindingKind
	most int
}{
	{human.FoundOutcome, 4}, {human.FoundValue, 12}, {human.FoundUndone, 5}, {human.FoundNote, 2}, {human.FoundError, 5},
	{human.FoundDetour, 3}, {human.FoundDone, 2}, {human.FoundSlow, 1}, {human.FoundUnseen, 1},
}

// weigh puts findings in the order of their weight, keeps a dozen and, of work that had much to it, a few more, and
// counts the rest.
func weigh(found []Claim) (kept []Claim, left map[human.FindingKind]int) {
	slices.SortStableFunc(found, func(a, b Claim) int { return a.weight() - b.weight() })
	keep := make([]bool, len(found))
	n := 0
	for _, k := range keeps {
		of := 0
		for i, f := range found {
			if f.Kind == k.kind && of < k.most && n < maxFindings {
				keep[i] = true
				n++
				of++
			}
		}
	}
	left = map[human.FindingKind]int{}
	kept = make([]Claim, 0, n)
	for i, f := range found {
		if !keep[i] && n < usualFindings {
			keep[i] = true
			n++
		}
		if keep[i] {
			kept = append(kept, f)
		} else {
			left[f.Kind]++
		}
	}
	return kept, left
}

// weight is where a claim stands: what is not certain comes after the values that were asked for.
func (c Claim) weight() int {
	if c.Doubt {
		return 2*slices.Index(Weight, human.FoundValue) + 1
	}
	return 2 * slices.Index(Weight, c.Kind)
}

// nothingSeen says of what weighs most, of all that nothing was seen to come of, that what it led to is not recorded.
func (r *Result) nothingSeen() {
	most := -1
	for i, c := range r.Claims {
		if c.unknown && (most < 0 || c.Effect >= r.Claims[most].Effect) {
			most = i
		}
	}
	if most >= 0 {
		c := &r.Claims[most]
		c.Brief = or(c.Brief, c.Text)
		c.Text = c.Text.then(say("result-unknown"))
	}
}

// Described says in the words of the action what was done, for the middle of a sentence.
func (r *Result) Described(a facts.Action) Phrase {
	if a.Type == human.Typing && a.Text != "" && a.Count > 0 { // it may be shared, and is of no use here
		if n := facts.ElementName(a.Element); n != "" {
			return say("typed-characters-into", a.Count, facts.Quote(n))
		}
		return say("typed-characters", a.Count)
	}
	words := facts.Exactly(a.Words, 2*facts.MaxName)
	if words == "" {
		return Phrase{}
	}
	return Phrase{Args: []any{Words(words)}}
}

// desktopFinders are what is looked for in actions on the desktop.
var desktopFinders = []finder{findTroubles, findFiles, findClicks, findFilled, findReported, findSettings, findDesktopDetours, findFilesGone, findLeftOpen}

// everything is what all of them look for.
var everything = slices.Concat([]finder{findDecision}, browserFinders, desktopFinders, terminalFinders, common, []finder{findTalk, findUnspoken})

// terminalFinders are what is looked for in commands, besides what failed or took long.
var terminalFinders = []finder{findLastCommand, findSuggested}

// united runs finders, and makes one finding of what two of them tell.
func united(finders []finder) finder {
	return func(r *Result) []Claim {
		var all []Claim
		for _, f := range finders {
			if r.stopped() {
				return all
			}
			all = append(all, f(r)...)
		}
		return r.unite(all)
	}
}

// unite makes one finding of those that tell the same: in the same words, or the same file, as a download and as a
// file that came to be.
func (r *Result) unite(all []Claim) []Claim {
	landed := r.landed()
	files := map[human.Ref]int{} // findings about one file, by its action
	for i, f := range all {
		if f.Kind == human.FoundDone && len(f.Evidence) == 1 {
			files[f.Evidence[0]] = i
		}
	}
	texts := map[string]int{}
	var out []Claim
	gone := map[int]bool{}

	for i := range all {
		if all[i].Kind != human.FoundDone || len(all[i].Evidence) != 1 {
			continue
		}
		if ref, ok := landed[all[i].Evidence[0]]; ok {
			if j, ok := files[ref]; ok && j != i {
				all[i].Evidence = append(all[i].Evidence, ref)
				gone[j] = true
			}
		}
	}
	for i, f := range all {
		if gone[i] {
			continue
		}
		key := fmt.Sprintf("%s\x00%#v", f.Kind, f.Text)
		if j, ok := texts[key]; ok {
			for _, ref := range f.Evidence {
				if !slices.Contains(out[j].Evidence, ref) && len(out[j].Evidence) < maxRefs {
					out[j].Evidence = append(out[j].Evidence, ref)
				}
			}
			continue
		}
		texts[key] = len(out)
		out = append(out, f)
	}
	return out
}

// landed are the actions of files that came to be as downloads, by the actions of the downloads: one that lands in a watched folder is
// seen twice.
func (r *Result) landed() map[human.Ref]human.Ref {
	landed := map[human.Ref]human.Ref{}
	last := map[string]facts.Action{}
	for _, a := range r.Actions {
		switch {
		case a.Type == human.Download && len(a.Transfers) == 1 && a.Transfers[0].State == "completed":
			if f, ok := last[a.Transfers[0].Name]; ok && f.Type == human.FileOperation && apart(a, f) < landsWithin {
				landed[a.Ref()] = f.Ref()
			}
			last[a.Transfers[0].Name] = a
		case a.Type == human.FileOperation && a.File != nil && (a.File.Op == "created" || a.File.Op == "changed"):
			n := facts.BaseName(a.File.Path)
			if d, ok := last[n]; ok && d.Type == human.Download && apart(a, d) < landsWithin {
				landed[d.Ref()] = a.Ref()
			}
			last[n] = a
		}
	}
	return landed
}

// landsWithin is how long a download and its file may be apart.
const landsWithin = time.Minute

func apart(a, b facts.Action) time.Duration {
	return max(a.Began().Sub(b.Began()), b.Began().Sub(a.Began()))
}
