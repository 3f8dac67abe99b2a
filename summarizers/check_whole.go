package summarizers

import (
	"strings"
	"unicode/utf8"
)

// whole holds the line or text of a report against all of the input. What the findings that stand rest on is
// looked at first; the whole of a long recording only for what is not found there.
func (c *checker) whole(text string, most int) string {
	if text == "" {
		return ""
	}
	w := &everything{c: c}
	text, _ = c.stands(text, most, w.has, w.quotes)
	return text
}

// everything is all of an input, as evidence.
type everything struct {
	c      *checker
	near   *basis
	counts *basis
}

func (w *everything) ready() {
	if w.near == nil {
		w.near = together(w.c.kept)
		w.counts = w.c.counts()
	}
}

func (w *everything) has(t token) bool {
	if w.ready(); w.near.has(t) || w.counts.has(t) {
		return true
	}
	return w.each(figuresOf(t), func(b *basis) bool { return b.has(t) })
}

func (w *everything) quotes(said string) bool {
	if w.ready(); w.near.quotes(said) || w.counts.quotes(said) {
		return true
	}
	return w.each("", func(b *basis) bool { return b.quotes(said) })
}

// figuresOf are digits that every piece of evidence must have in this order, whatever stands between them, to have a
// number; "" where that is not sure, as with times, which are written in many ways.
func figuresOf(t token) string {
	most := ""
	for _, way := range t.ways {
		for _, n := range way {
			digits, _, _ := strings.Cut(strings.TrimPrefix(n.key, "-"), "e")
			if (n.dim != plain && n.dim != percent) || len(digits) < 4 {
				return ""
			}
			if most == "" || len(digits) < len(most) {
				most = digits
			}
		}
	}
	return most
}

// inOrder says whether a text may have the digits. A text with other digits than these ten always may.
func inOrder(text, digits string) bool {
	if digits == "" {
		return true
	}
	at := 0
	for _, r := range text {
		switch {
		case r < utf8.RuneSelf:
			if at < len(digits) && byte(r) == digits[at] {
				at++
			}
		case r >= '０' && r <= '９', hanPowers[r] > 0:
			return true
		default:
			if _, ok := hanDigits[r]; ok {
				return true
			}
		}
	}
	return at == len(digits)
}

// each asks about one action and command after the other, until one has it. Nothing of it is kept: an input may
// be of a million actions.
func (w *everything) each(figures string, has func(*basis) bool) bool {
	var s sheet
	asks := func() bool {
		return inOrder(s.String(), figures) && has(&basis{pieces: []*piece{{facts: newFacts(s.String())}}})
	}
	for i := range w.c.in.Recordings {
		r := &w.c.in.Recordings[i]
		for j := range r.Actions {
			if a := &r.Actions[j]; !a.Cut {
				s = sheet{}
				s.action(a)
				if asks() {
					return true
				}
			}
		}
		for j := range r.Commands {
			s = sheet{}
			s.command(&r.Commands[j])
			if asks() {
				return true
			}
		}
	}
	return false
}

// counts are what is said beside the recordings, and how many there are of everything.
func (c *checker) counts() *basis {
	in := c.in
	var s sheet
	s.add(in.Operation.Description, in.Operation.AgentID, in.Answer.HumanInput, in.Answer.ExecutionResult, string(in.Answer.Decision))
	s.json(in.Operation.Details)
	s.json(in.Operation.Context)
	for _, m := range in.Operation.Messages {
		s.add(m.Text, m.By.Name)
	}
	filled, valued := 0, map[string]bool{} // fields with a value, from the answer or only picked yet
	for name, value := range in.Answer.Fields {
		s.field(in.Answer, name)
		if value != "" {
			filled++
		}
		if strings.TrimSpace(value) != "" {
			valued[name] = true
		}
	}
	s.request(in, "data_to_extract")
	s.steps(in)
	for _, step := range in.Checklist {
		s.add(step.Text)
	}
	var elapsed, span int64
	b := &basis{counts: map[string]bool{}, most: len(in.Checklist)}
	all := map[string]int{"messages": len(in.Operation.Messages), "fields": len(in.Answer.Fields), "filled": filled, "recordings": len(in.Recordings)}
	var k kindsOf
	for i := range in.Recordings {
		r := &in.Recordings[i]
		s.add(r.By, r.System, r.StartedAt.Format("2006-01-02 15:04:05"), seconds(r.Elapsed), seconds(r.Span))
		if r.EndedAt != nil {
			s.add(r.EndedAt.Format("2006-01-02 15:04:05"), seconds(int64(r.EndedAt.Sub(r.StartedAt))))
		}
		elapsed, span = elapsed+r.Elapsed, span+r.Span
		for _, g := range r.Gaps {
			s.add(seconds(g.To - g.From))
			b.count(int(g.Count))
		}
		for _, n := range []uint64{r.Counts.Events, r.Counts.Clicks, r.Counts.Keys, r.Counts.Pictures, r.Counts.Masked, r.Counts.Black, r.Counts.Lost} {
			b.count(int(n))
		}
		b.count(len(r.Actions))
		b.count(len(r.Actions) + r.More)
		b.count(r.More)
		all["actions"] += len(r.Actions)
		all["commands"] += len(r.Commands)
		all["gaps"] += len(r.Gaps)
		for j := range r.Actions {
			k.action(&r.Actions[j])
			if p := r.Actions[j].Pick; p != nil && !r.Actions[j].Cut && strings.TrimSpace(p.Text) != "" {
				if _, given := in.Answer.Fields[p.Field]; !given {
					valued[p.Field] = true
				}
			}
		}
		for j := range r.Commands {
			if e := r.Commands[j].Exit; e != nil && *e != 0 {
				all["failed commands"]++
			}
		}
	}
	s.add(seconds(elapsed), seconds(span))
	all["values"] = len(valued)
	for _, n := range all {
		b.count(n)
	}
	k.count(b)
	for _, n := range c.sizes {
		b.count(n) // what a finding that stands could count, the text can
	}
	b.pieces = []*piece{{ok: true, facts: newFacts(s.String())}}
	return b
}
