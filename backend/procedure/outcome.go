package procedure

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

const (
	reloads = 2 * time.Second // a page is looked at for the row of an effect before it is opened once more
	settles = 2 * time.Second // between the two looks at effects
	usual   = 5               // rows that all have the same in a column make that usual
)

// effects waits until what must be true outside of the page is. What is missing stops the run. Where the run sent something, it looks once
// more a while later: a site may undo what it has done, or do it again.
func (one *run) effects(ctx context.Context) error {
	if err := one.confirmed(ctx); err != nil || !slices.ContainsFunc(one.p.Steps, func(s human.ProcedureStep) bool { return s.Writes }) || len(one.p.Effects) == 0 {
		return err
	}
	if err := one.s.d.Wait(ctx, settles); err != nil {
		return err
	}
	return one.confirmed(ctx)
}

func (one *run) confirmed(ctx context.Context) error {
	for i, e := range one.p.Effects {
		e = withOutputs(e, one.r.Outputs)
		for {
			time := one.s.within
			if e.Within > 0 {
				time = seconds(e.Within)
			}
			var said human.Sentence
			look := one.looks(e)
			not, err := one.until(ctx, &time, func() (*record.Mismatch, error) {
				seen, err := look(ctx)
				if ctx.Err() != nil {
					return nil, ctx.Err()
				}
				switch {
				case err != nil:
					seen.Said = human.Sayf("%s", human.SafeText(err))
				case e.Only && odd(one.r.Effects[i], seen) != "":
					seen.Said = human.Sayf("in %s, what is new has another value than before, or than all others", odd(one.r.Effects[i], seen))
				case e.Only:
					fresh, others, gone := compared(one.r.Effects[i], seen)
					seen.Said = human.Sayf("%d new as expected, %d new or changed otherwise, and %d gone", fresh, others, gone)
				}
				said = seen.Said
				if err == nil && enough(one.p.Effects[i], one.r.Effects[i], seen) {
					return nil, nil
				}
				return &record.Mismatch{Expected: human.Sayf("%s", effectWords(e)), Found: seen.Said}, nil
			})
			if err != nil {
				return err
			}
			state := "confirmed"
			if not != nil {
				state = "missing"
			}
			if err := one.change(ctx, func(r *human.RunOfProcedure) { r.Effects[i].State, r.Effects[i].Said = state, &said }); err != nil {
				return err
			}
			if not == nil {
				break
			}
			if err := one.halt(ctx, human.RunStop{Expected: not.Expected, Found: not.Found}); err != nil {
				return err
			}
		}
	}
	return nil
}

// looks gives what looks at an effect: a row of a page in the run's own browser, once its steps are done, and all others outside of it.
func (one *run) looks(e human.ProcedureEffect) func(context.Context) (Seen, error) {
	if e.Is != "row" {
		return func(ctx context.Context) (Seen, error) { return one.s.d.Effects.Look(ctx, e, one.sends(e)) }
	}
	var opened time.Time
	return func(ctx context.Context) (Seen, error) {
		if now := one.s.d.Now(); now.Sub(opened) > reloads {
			opened = now
			_, err := one.hands.Do(ctx, human.ProcedureStep{Do: "navigate", URL: e.URL, Title: effectWords(e)}, nil, patience)
			if not := (*record.Mismatch)(nil); errors.As(err, &not) {
				return Seen{Said: not.Found}, nil
			} else if err != nil {
				return Seen{}, err
			}
		}
		// A page that asks to log in may have tables, too.
		if not, err := one.hands.Holds(ctx, human.ProcedureCheckpoint{Is: "address", Text: strings.ReplaceAll(e.URL, "*", "%2A")}, one.since); err != nil || not != nil {
			if not != nil {
				return Seen{Said: not.Found}, nil
			}
			return Seen{}, err
		}
		rows, err := one.hands.Rows(ctx)
		var items []string
		for _, row := range rows {
			whole := func(text string) bool { return slices.Contains(row, strings.Join(strings.Fields(text), " ")) }
			if !slices.ContainsFunc(e.Has, func(text string) bool { return !whole(text) }) {
				items = append(items, human.Digested(row))
			}
		}
		return Seen{Items: items, Said: human.Sayf("%d of %d rows at %s are as expected", len(items), len(rows), e.URL)}, err
	}
}

// without are the items that there were not before.
func without(items, before []string) (left []string) {
	bare := func(item string) string { return strings.ReplaceAll(item, expected, "") }
	were := map[string]int{}
	for _, item := range before {
		were[bare(item)]++
	}
	for _, item := range items {
		if were[bare(item)]--; were[bare(item)] < 0 {
			left = append(left, item)
		}
	}
	return left
}

func newOnes(items, before []string) int { return len(without(items, before)) }

// compared are how many are new that are as an effect says, how many others are new, and how many are gone of all that there was. One that was
// changed is gone and new.
func compared(was human.RunEffect, seen Seen) (fresh, others, gone int) {
	fresh = newOnes(seen.Items, was.Had)
	return fresh, newOnes(seen.All, was.Had) - fresh, newOnes(was.Had, seen.All)
}

// Cells are digests of the cells of a row, by which it is known again, and each cell by itself. Those with one of the texts are marked.
func Cells(row, texts []string) string {
	out := make([]string, len(row))
	for i, cell := range row {
		out[i] = human.Digested(cell)[:8]
		if slices.ContainsFunc(texts, func(text string) bool { return human.HasAll(cell, []string{text}) }) {
			out[i] += expected
		}
	}
	return strings.Join(out, between)
}

// What Cells writes beside the letters and digits of digests.
const (
	expected = "="
	between  = " "
)

// odd is the first column in which a new row has what it should not have, besides what the effect says: a row that was changed has another
// value than before, and one that is new another than all rows, where these are enough and all have the same.
func odd(was human.RunEffect, seen Seen) string {
	isNew, gone := without(seen.Items, was.Had), without(was.Had, seen.All)
	if len(seen.Columns) == 0 || len(gone) > 0 && (len(gone) != 1 || len(isNew) != 1) || len(gone) == 0 && len(was.Had) < usual {
		return ""
	}
	before := gone
	if len(gone) == 0 {
		before = was.Had
	}
	for i, column := range seen.Columns {
		cell := func(row string) string {
			if all := strings.Split(row, between); len(all) == len(seen.Columns) {
				return all[i]
			}
			return ""
		}
		common := strings.TrimSuffix(cell(before[0]), expected)
		if slices.ContainsFunc(before, func(row string) bool { return strings.TrimSuffix(cell(row), expected) != common }) {
			continue
		}
		for _, row := range isNew {
			if c := cell(row); c != common && !strings.HasSuffix(c, expected) {
				return column
			}
		}
	}
	return ""
}

// enough says whether what is seen is what an effect asks for. Where it is known which there were before, one that is another now is not the
// same: of so many that are new, all others have to be there still, and of so many that are gone, no other may be new.
func enough(e human.ProcedureEffect, was human.RunEffect, seen Seen) bool {
	items := seen.Items
	if e.Only {
		fresh, others, gone := compared(was, seen)
		switch {
		case others > 0 || odd(was, seen) != "":
			return false
		case e.Count == nil:
			return fresh > 0 && gone <= fresh
		case *e.Count < 0: // what is gone was as the effect says
			return fresh == 0 && gone == -*e.Count && len(items)-was.Before == *e.Count
		}
		return fresh == *e.Count && gone == 0
	}
	n, gone := len(items)-was.Before, 0
	if was.Had != nil {
		n, gone = newOnes(items, was.Had), newOnes(was.Had, items)
	}
	_, outputs := beforeOutputs(e) // what there was does not all have them: it is not gone
	switch {
	case e.Count == nil:
		return n > 0 && (outputs || len(items) > was.Before) // one that was changed is not new
	case was.Had == nil || outputs:
		return n == *e.Count
	}
	return n == max(*e.Count, 0) && gone == max(-*e.Count, 0)
}

// does does a step. What it picks is picked once more, for a while, where it is not of the pattern of its output: a page may show something
// else until it has the value.
func (one *run) does(ctx context.Context, s human.ProcedureStep, secret *record.Secret, wait time.Duration) (record.Did, error) {
	did, err := one.hands.Do(ctx, s, secret, wait)
	i := slices.IndexFunc(one.p.Outputs, func(o human.ProcedureOutput) bool { return s.Do == "pick" && o.Name == s.Output && o.Pattern != "" })
	if err != nil || i < 0 {
		return did, err
	}
	pattern, err := wholly(one.p.Outputs[i].Pattern)
	if err != nil {
		return did, human.Errorf(human.Invalid, "the pattern of the output %s is no regular expression: change the procedure", s.Output)
	}
	not, err := one.until(ctx, &wait, func() (*record.Mismatch, error) {
		if pattern.MatchString(strings.TrimSpace(did.Text)) {
			return nil, nil
		}
		if did, err = one.hands.Do(ctx, s, nil, wait); err != nil || pattern.MatchString(strings.TrimSpace(did.Text)) {
			return nil, err
		}
		return &record.Mismatch{Expected: human.Sayf("the output %s is of its pattern %s", s.Output, one.p.Outputs[i].Pattern), Found: human.Sayf("It reads %q", human.OneLine(did.Text, 100))}, nil
	})
	if not != nil {
		return did, not
	}
	return did, err
}

// wholly is a regular expression that has to match all of a text.
func wholly(pattern string) (*regexp.Regexp, error) { return regexp.Compile(`^(?:` + pattern + `)$`) }

// keeps says whether a field still has what was typed into it: its letters and digits, in their order, among what a page may make of them. A page
// adds a unit to a number, and completes a word, but words to words are another text.
func keeps(typed, now string) bool {
	if strings.ContainsFunc(typed, unicode.IsLetter) && len(strings.Fields(now)) > len(strings.Fields(typed)) {
		return false
	}
	counts := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	rest := []rune(strings.ToLower(now))
	for _, r := range strings.ToLower(typed) {
		if !counts(r) {
			continue
		}
		at := slices.Index(rest, r)
		if at < 0 {
			return false
		}
		rest = rest[at+1:]
	}
	return true
}
