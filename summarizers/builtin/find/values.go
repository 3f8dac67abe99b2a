package find

import (
	"encoding/json"

	"deskbell/backend/human"
	"deskbell/summarizers/builtin/facts"
)

// How much of a table or list is shown: the answer itself has all of it.
const (
	maxItems = 6
	MaxField = 60 // of the name of a field
)

// findValues tells what was read: each value by itself, of many the last ones a few together.
func findValues(r *Result) []Claim {
	have, _ := r.Values()
	var out []Claim
	single := len(have)
	if single > maxSingle {
		single = maxSingle - 2
	}
	for i := 0; i < len(have); {
		n := 1
		if i >= single {
			n = min(manyValues, len(have)-i)
		}
		var parts []Phrase
		var evidence []human.Ref
		for _, v := range have[i : i+n] {
			parts = append(parts, r.valueOf(v))
			if v.Given {
				evidence = append(evidence, human.Ref{Kind: human.RefField, ID: v.Field})
			}
			if v.Pick != nil {
				evidence = append(evidence, v.Pick.Ref())
			}
			if len(v.Before) > 0 {
				evidence = append(evidence, v.Before[len(v.Before)-1].Ref())
			}
		}
		i += n
		out = append(out, claim(human.FoundValue, 1, Phrase{Args: []any{Series{"semicolon", parts}}}, evidence...))
		if len(out) == enough {
			break
		}
	}
	return out
}

// Up to maxSingle values are findings by themselves; of more than that manyValues are reported together.
const (
	maxSingle  = 10
	manyValues = 4
)

func (r *Result) valueOf(v facts.Value) Phrase {
	field := facts.Exactly(v.Field, MaxField)
	rows := [][]string(nil)
	if v.Pick != nil && len(v.Pick.Pick.Rows) > 0 && v.Text == v.Pick.Pick.Text {
		rows = v.Pick.Pick.Rows
	}
	items := [][]string(nil)
	var text Phrase
	switch {
	case rows != nil:
		text = say("colon", field, r.rows(v.Pick.Pick))
	case v.Pick != nil && len(v.Pick.Pick.Rows) > 0 && json.Unmarshal([]byte(v.Text), &items) == nil && len(items) > 0:
		p := human.Pick{Take: v.Pick.Pick.Take, Rows: items, Header: v.Pick.Pick.Header}
		text = say("colon", field, r.items(&p)) // how many the evidence does not say
	default:
		text = say("colon", field, facts.Exactly(v.Text, maxValue))
	}
	switch {
	case v.Picked != "" && v.Pick != nil && len(v.Pick.Pick.Rows) > 0:
		text = text.then(say("corrected"))
	case v.Picked != "":
		text = text.then(say("corrected-from", facts.Exactly(v.Picked, maxValue)))
	case v.Pick == nil:
		text = text.then(say("value-by-hand"))
	case len(v.Before) > 0:
		text = text.then(say("picked-anew", facts.Exactly(v.Before[len(v.Before)-1].Pick.Text, maxValue)))
	}
	return text
}

// maxValue is how many characters of a value are said. The answer's field has all of them.
const maxValue = 160

// rows describes a table or list: its size, what its columns are called, what it begins with.
func (r *Result) rows(p *human.Pick) Phrase {
	rows, columns := p.Rows, 0
	for _, row := range rows {
		columns = max(columns, len(row))
	}
	var head []string
	if p.Header {
		for _, cell := range rows[0] {
			if c := facts.Quote(cell); c != "" && len(head) < maxItems {
				head = append(head, c)
			}
		}
		rows = rows[1:]
	}
	var text Phrase
	switch {
	case p.Take == human.TakeList || columns < 2:
		text = say("list-of", Count(len(rows), "one-item", "several-items"))
	default:
		text = say("table-of", Count(len(rows), "one-row", "several-rows"), Count(columns, "one-column", "several-columns"))
	}
	if len(head) > 0 && columns > 1 {
		text = text.then(say("columns", head))
	}
	if items := r.items(p); !items.None() {
		text = text.then(say("namely", items))
	}
	return text
}

// items is what a list or the first column of a table begins with.
func (r *Result) items(p *human.Pick) Phrase {
	rows := p.Rows
	if p.Header && len(rows) > 0 {
		rows = rows[1:]
	}
	var items []string
	for _, row := range rows {
		if len(items) == maxItems {
			return say("and-more", series(items))
		}
		if len(row) > 0 {
			if c := facts.Quote(row[0]); c != "" {
				items = append(items, c)
			}
		}
	}
	if len(items) == 0 {
		return Phrase{}
	}
	return Phrase{Args: []any{series(items)}}
}

// findMissing tells which of the fields that were asked for have no value. That a thing is not there no one can see:
// only that no value was given.
func findMissing(r *Result) []Claim {
	_, missing := r.Values()
	var out []Claim
	request := human.Ref{Kind: human.RefRequest, ID: facts.Extract}
	ref := func(n string) human.Ref {
		if _, ok := r.In.Answer.Fields[n]; ok {
			return human.Ref{Kind: human.RefField, ID: n}
		}
		return request
	}
	few := missing[:min(len(missing), maxMissing)]
	for _, n := range few {
		out = append(out, claim(human.FoundUndone, 1, say("value-not-found", facts.Exactly(n, MaxField)), ref(n)))
	}
	if more := missing[len(few):]; len(more) > 0 {
		var names []string
		for _, n := range more[:min(len(more), 20)] {
			names = append(names, facts.Exactly(n, MaxField))
		}
		out = append(out, claim(human.FoundUndone, 1, say("values-not-found", series(names)), request))
	}
	return out
}

// maxMissing fields are reported each by itself, further ones together.
const maxMissing = 4
