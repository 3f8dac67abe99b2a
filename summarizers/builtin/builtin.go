// Package builtin has the summarizers that come with Deskbell: no model, no network, the same report for the
// same input. They read the actions of recordings and the operator's answer, look for what a colleague would
// put into a hand-over, and say it in English or Chinese, each written for itself.
package builtin

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"deskbell/backend/human"
	"deskbell/summarizers"
)

// All are the built-in summarizers: answer, browser, desktop, joined.
func All() []summarizers.Summarizer {
	return []summarizers.Summarizer{answer(), browser(), desktop(), joined()}
}

// The languages that all of them write.
const (
	english = "en"
	chinese = "zh-CN"
)

// How much a report holds. An operator reads a dozen findings; what is left out is in the recording.
const (
	maxFindings    = 16
	usualFindings  = 12
	maxSuggestions = 5
	maxOfKind      = 3   // of each kind so many are kept before more of a weightier one
	maxRefs        = 24  // of one finding
	enough         = 200 // findings of one sort are looked for
	timeLimit      = 10 * time.Second
)

// A finder looks for one sort of finding. It reads the whole input in one pass or two, in the order of time, and
// returns what it found in that order.
type finder func(*reading) []human.Finding

// common is what every one of them looks for, whatever was recorded.
var common = []finder{findResult, findOutcome, findCommands, findUndone, findNotSent, findSlow, findUnseen, findNotes}

// base is a summarizer made of finders. Its line and text are written once the findings are known; left says how
// many more there were, by kind.
type base struct {
	about    summarizers.About
	finders  []finder
	suggests []finder
	line     func(r *reading, found []human.Finding) string
	text     func(r *reading, found []human.Finding, left map[human.FindingKind]int) string
}

func about(name, en, zh string, sources ...summarizers.Source) summarizers.About {
	return summarizers.About{
		Name: name, Title: map[string]string{english: en, chinese: zh}, Kinds: []human.Kind{}, Sources: sources,
		Languages: []string{english, chinese}, Limit: timeLimit, Deterministic: true,
	}
}

// About says what it is.
func (b *base) About() summarizers.About {
	a := b.about // a copy, so that nobody changes ours
	a.Title = map[string]string{english: a.Title[english], chinese: a.Title[chinese]}
	a.Kinds, a.Sources, a.Languages = slices.Clone(a.Kinds), slices.Clone(a.Sources), slices.Clone(a.Languages)
	return a
}

// Summarize reports what its finders find.
func (b *base) Summarize(ctx context.Context, in summarizers.Input, tell func(human.Progress)) (human.Report, error) {
	r, err := read(ctx, in)
	if err != nil {
		return human.Report{}, err
	}
	steps := len(b.finders) + len(b.suggests) + 1
	run := func(i int, f finder) ([]human.Finding, error) {
		if tell != nil {
			tell(human.Progress{Share: float64(i) / float64(steps)})
		}
		found := f(r)
		return found, ctx.Err()
	}
	var found, suggested []human.Finding
	for i, f := range b.finders {
		more, err := run(i, f)
		if err != nil {
			return human.Report{}, err
		}
		found = append(found, more...)
	}
	found, left := weigh(found)
	r.found = found
	for i, f := range b.suggests {
		more, err := run(len(b.finders)+i, f)
		if err != nil {
			return human.Report{}, err
		}
		suggested = append(suggested, more...)
	}
	out := human.Report{
		Line:     cmp.Or(human.OneLine(b.line(r, found), maxLine), r.say("Nothing was seen that could be told", "没有看到可以说明的内容")),
		Text:     strings.TrimSpace(b.text(r, found, left)),
		Findings: found, Suggestions: suggested[:min(len(suggested), maxSuggestions)],
	}
	if out.Suggestions == nil {
		out.Suggestions = []human.Finding{}
	}
	return out, ctx.Err()
}

// weight is the order of findings: what the agent asked for first, what went wrong next, what it may want to know
// last.
var weight = []human.FindingKind{
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
func weigh(found []human.Finding) (kept []human.Finding, left map[human.FindingKind]int) {
	slices.SortStableFunc(found, func(a, b human.Finding) int {
		return slices.Index(weight, a.Kind) - slices.Index(weight, b.Kind)
	})
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
	kept = make([]human.Finding, 0, n)
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
