package builtin

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"deskbell/backend/human"
)

// How much of a table or list is shown: the answer itself has all of it.
const (
	maxItems = 6
	maxField = 60 // of the name of a field
)

// wanted are the names of the fields that were asked for, each once: data_to_extract is a list of names or of
// objects that have one, an object by name, or one name.
func (r *reading) wanted() []string {
	var details map[string]json.RawMessage
	if len(r.in.Operation.Details) == 0 || json.Unmarshal(r.in.Operation.Details, &details) != nil {
		return nil
	}
	raw := details[extract]
	var out []string
	add := func(name string) {
		if strings.TrimSpace(name) != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	var list []json.RawMessage
	var one string
	switch {
	case json.Unmarshal(raw, &list) == nil:
		for _, item := range list {
			var object struct{ Name, Field string }
			if json.Unmarshal(item, &one) == nil {
				add(one)
			} else if json.Unmarshal(item, &object) == nil {
				add(cmp.Or(object.Name, object.Field))
			}
			if len(out) == maxWanted {
				break
			}
		}
	case json.Unmarshal(raw, &one) == nil:
		add(one)
	default:
		// In the order they were written, which a map does not keep.
		d := json.NewDecoder(strings.NewReader(string(raw)))
		if t, err := d.Token(); err != nil || t != json.Delim('{') {
			return nil
		}
		for d.More() && len(out) < maxWanted {
			name, err := d.Token()
			var value json.RawMessage
			if err != nil || d.Decode(&value) != nil {
				break
			}
			if s, ok := name.(string); ok {
				add(s)
			}
		}
	}
	return out
}

// extract is the part of details that asks for fields.
const extract = "data_to_extract"

// maxWanted bounds the fields that are looked at.
const maxWanted = 1000

// A value is what is known of one field.
type value struct {
	field  string
	text   string
	pick   *act   // what it was picked by last; nil where it was only typed
	picked string // what was picked, where it was corrected by hand
	before []act  // picks for the same field that took something else
	given  bool   // it is in the answer
}

// values are the fields that have a value, those asked for first, and those asked for that have none.
func (r *reading) values() (have []value, missing []string) {
	picks := map[string][]act{}
	var order []string
	for _, a := range r.acts {
		if a.Type == human.Extract && a.Pick != nil && strings.TrimSpace(a.Pick.Field) != "" {
			if picks[a.Pick.Field] == nil {
				order = append(order, a.Pick.Field)
			}
			picks[a.Pick.Field] = append(picks[a.Pick.Field], a)
		}
	}
	answer := r.in.Answer
	asked := r.wanted()
	names := slices.Concat(asked, order, slices.Sorted(maps.Keys(answer.Fields)))
	seen := map[string]bool{}
	for _, n := range names {
		if seen[n] {
			continue
		}
		seen[n] = true
		v := value{field: n}
		text, given := answer.Fields[n]
		v.text, v.given = text, given
		list := picks[n]
		source, sourced := answer.FieldSources[n]
		at := -1
		for i := range list {
			if !sourced || list[i].ID == source.Action && list[i].rec.ID == source.Recording {
				at = i
			}
		}
		if at < 0 && !given {
			at = len(list) - 1
		}
		if at >= 0 {
			v.pick = &list[at]
			for _, a := range list[:at] {
				if a.Pick.Text != v.pick.Pick.Text {
					v.before = append(v.before, a)
				}
			}
			if !given {
				v.text = v.pick.Pick.Text
			}
		}
		if sourced && (source.Corrected || given && text != source.Picked) {
			v.picked = source.Picked
		}
		if strings.TrimSpace(v.text) == "" {
			if slices.Contains(asked, n) {
				missing = append(missing, n)
			}
			continue
		}
		have = append(have, v)
	}
	return have, missing
}

// findValues tells what was read: each value by itself, of many the last ones a few together.
func findValues(r *reading) []human.Finding {
	have, _ := r.values()
	var out []human.Finding
	single := len(have)
	if single > maxSingle {
		single = maxSingle - 2
	}
	for i := 0; i < len(have); {
		n := 1
		if i >= single {
			n = min(manyValues, len(have)-i)
		}
		var parts []string
		var evidence []human.Ref
		for _, v := range have[i : i+n] {
			text, _ := r.valueOf(v)
			parts = append(parts, text)
			if v.given {
				evidence = append(evidence, human.Ref{Kind: human.RefField, ID: v.field})
			}
			if v.pick != nil {
				evidence = append(evidence, v.pick.ref())
			}
			if len(v.before) > 0 {
				evidence = append(evidence, v.before[len(v.before)-1].ref())
			}
		}
		i += n
		out = append(out, finding(human.FoundValue, 1, strings.Join(parts, r.say("; ", "；")), evidence...))
		if len(out) == enough {
			break
		}
	}
	return out
}

// Up to maxSingle values are findings by themselves; of more than that manyValues are told together.
const (
	maxSingle  = 10
	manyValues = 4
)

func (r *reading) valueOf(v value) (text string, sure float64) {
	field := r.exactly(v.field, maxField)
	rows := [][]string(nil)
	if v.pick != nil && len(v.pick.Pick.Rows) > 0 && v.text == v.pick.Pick.Text {
		rows = v.pick.Pick.Rows
	}
	items := [][]string(nil)
	switch {
	case rows != nil:
		text = r.say("%s: %s", "%s：%s", field, r.rows(v.pick.Pick))
	case v.pick != nil && len(v.pick.Pick.Rows) > 0 && json.Unmarshal([]byte(v.text), &items) == nil && len(items) > 0:
		p := human.Pick{Take: v.pick.Pick.Take, Rows: items, Header: v.pick.Pick.Header}
		text = r.say("%s: %s", "%s：%s", field, r.items(&p)) // how many the evidence does not say
	default:
		text = r.say("%s: %s", "%s：%s", field, r.exactly(v.text, maxValue))
	}
	switch {
	case v.picked != "" && v.pick != nil && len(v.pick.Pick.Rows) > 0:
		text += r.say(" (corrected by hand)", "（经手工更正）")
	case v.picked != "":
		text += r.say(" (corrected by hand; the page had %s)", "（经手工更正，页面上是 %s）", r.exactly(v.picked, maxValue))
	case v.pick == nil:
		text += r.say(" (filled in by hand)", "（手工填写）")
	case len(v.before) > 0:
		text += r.say(" (picked anew; before that %s)", "（重新选取过，之前是 %s）", r.exactly(v.before[len(v.before)-1].Pick.Text, maxValue))
	}
	return text, 1
}

// maxValue is how many characters of a value are said. The answer's field has all of them.
const maxValue = 160

// rows describes a table or list: its size, what its columns are called, what it begins with.
func (r *reading) rows(p *human.Pick) string {
	rows, columns := p.Rows, 0
	for _, row := range rows {
		columns = max(columns, len(row))
	}
	var head []string
	if p.Header {
		for _, cell := range rows[0] {
			if c := r.quote(cell); c != "" && len(head) < maxItems {
				head = append(head, c)
			}
		}
		rows = rows[1:]
	}
	text := ""
	switch {
	case p.Take == human.TakeList || columns < 2:
		text = r.say("a list of %s", "列表，共%s", r.count(len(rows), "item", "items", "项"))
	default:
		text = r.say("a table of %s and %s", "表格，%s%s", r.count(len(rows), "row", "rows", "行"), r.count(columns, "column", "columns", "列"))
	}
	if len(head) > 0 && columns > 1 {
		text += r.say(" (columns %s)", "（列为%s）", r.list(head))
	}
	if items := r.items(p); items != "" {
		text += r.say(": %s", "：%s", items)
	}
	return text
}

// items is what a list or the first column of a table begins with.
func (r *reading) items(p *human.Pick) string {
	rows := p.Rows
	if p.Header && len(rows) > 0 {
		rows = rows[1:]
	}
	var items []string
	for _, row := range rows {
		if len(items) == maxItems {
			return r.say("%s and more", "%s等", strings.Join(items, r.say(", ", "、")))
		}
		if len(row) > 0 {
			if c := r.quote(row[0]); c != "" {
				items = append(items, c)
			}
		}
	}
	return strings.Join(items, r.say(", ", "、"))
}

// findMissing tells which of the fields that were asked for have no value. That a thing is not there nobody can see:
// only that no value was given.
func findMissing(r *reading) []human.Finding {
	_, missing := r.values()
	var out []human.Finding
	request := human.Ref{Kind: human.RefRequest, ID: extract}
	ref := func(n string) human.Ref {
		if _, ok := r.in.Answer.Fields[n]; ok {
			return human.Ref{Kind: human.RefField, ID: n}
		}
		return request
	}
	few := missing[:min(len(missing), maxMissing)]
	for _, n := range few {
		out = append(out, finding(human.FoundUndone, 1, r.say("%s: not found; it was asked for and no value was given", "%s：未找到，要求提取但没有填写", r.exactly(n, maxField)), ref(n)))
	}
	if more := missing[len(few):]; len(more) > 0 {
		var names []string
		for _, n := range more[:min(len(more), 20)] {
			names = append(names, r.exactly(n, maxField))
		}
		out = append(out, finding(human.FoundUndone, 1, r.say("Not found either: %s", "同样未找到：%s", strings.Join(names, r.say(", ", "、"))), request))
	}
	return out
}

// maxMissing fields are told each by itself, further ones together.
const maxMissing = 4

// unsent is what was typed into a page, and chosen beside it, with no button clicked afterwards that may have sent it;
// pages can save by themselves, too.
func (r *reading) unsent(v *visit) []int {
	if len(v.unsent) == 0 {
		return nil
	}
	typed := false
	for _, i := range v.unsent {
		a := r.acts[i]
		if a.Element == nil || a.Element.Role == "searchbox" || searches(a.Element.Name) {
			continue
		}
		typed = typed || a.Type == human.Typing || a.Type == human.Paste
	}
	if !typed {
		return nil
	}
	for _, i := range v.acts {
		if a := r.acts[i]; i > v.unsent[0] && (a.Type == human.Click && isButton(a.Element) || a.Type == human.Shortcut && a.Key == "Enter") {
			return nil
		}
	}
	return v.unsent
}
