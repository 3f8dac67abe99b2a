package facts

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"deskbell/backend/human"
)

// AnswerRef points at a part of the answer.
func AnswerRef(part string) human.Ref { return human.Ref{Kind: human.RefAnswer, ID: part} }

// Detail is a text in details, as it was sent.
func (fs *Facts) Detail(name string) string {
	var details map[string]json.RawMessage
	var text string
	if len(fs.In.Operation.Details) == 0 || json.Unmarshal(fs.In.Operation.Details, &details) != nil || json.Unmarshal(details[name], &text) != nil {
		return ""
	}
	return text
}

// A turn is a question in the conversation and its answer; no answer where it is open.
type turn struct {
	Question, Answer int // index of messages; -1
}

// Turns are the messages of the conversation, each question with its reply.
func (fs *Facts) Turns() []turn {
	var out []turn
	open := -1
	for i, m := range fs.In.Operation.Messages {
		if strings.TrimSpace(m.Text) == "" || m.By.Role == human.System {
			continue
		}
		if open >= 0 && m.By.Role != fs.In.Operation.Messages[out[open].Question].By.Role {
			out[open].Answer = i
			open = -1
			if !Questions(m.Text) {
				continue
			}
		}
		if Questions(m.Text) {
			if open >= 0 {
				out = append(out, turn{i, -1}) // one more of the same side: the next answer is to this
			} else {
				out = append(out, turn{i, -1})
			}
			open = len(out) - 1
		} else if open < 0 && m.By.Role == human.Operator {
			out = append(out, turn{-1, i})
		}
	}
	return out
}

// AnyAnswer says whether the operator has answered at all.
func (fs *Facts) AnyAnswer() bool {
	a := fs.In.Answer
	return a.HumanInput != "" || a.ExecutionResult != "" || a.Decision != "" || len(a.Fields) > 0
}

// Areas are what the agent asked to be looked at or has concerns about, with their name in details.
func (fs *Facts) Areas() (areas []string, part string) {
	var details map[string]json.RawMessage
	if len(fs.In.Operation.Details) == 0 || json.Unmarshal(fs.In.Operation.Details, &details) != nil {
		return nil, ""
	}
	for _, part := range []string{"focus_areas", "focus", "concerns", "questions"} {
		var list []any
		var one string
		switch {
		case json.Unmarshal(details[part], &list) == nil:
			for _, x := range list {
				if s, ok := x.(string); ok && strings.TrimSpace(s) != "" {
					areas = append(areas, s)
				}
			}
		case json.Unmarshal(details[part], &one) == nil && strings.TrimSpace(one) != "":
			areas = []string{one}
		}
		if len(areas) > 0 {
			return areas[:min(len(areas), maxWanted)], part
		}
	}
	return nil, ""
}

// Spoken is all that the operator said.
func (fs *Facts) Spoken() string {
	parts := []string{fs.In.Answer.HumanInput, fs.In.Answer.ExecutionResult}
	for _, m := range fs.In.Operation.Messages {
		if m.By.Role == human.Operator {
			parts = append(parts, m.Text)
		}
	}
	for _, a := range fs.Actions {
		if a.Type == human.Note {
			parts = append(parts, a.Text)
		}
	}
	for name, value := range fs.In.Answer.Fields {
		if value != "" {
			parts = append(parts, name, value)
		}
	}
	return strings.Join(parts, "\n")
}

// Wanted are the names of the fields that were asked for, each once: data_to_extract is a list of names or of
// objects that have one, an object by name, or one name.
func (fs *Facts) Wanted() []string {
	var details map[string]json.RawMessage
	if len(fs.In.Operation.Details) == 0 || json.Unmarshal(fs.In.Operation.Details, &details) != nil {
		return nil
	}
	raw := details[Extract]
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

// Extract is the part of details that asks for fields.
const Extract = "data_to_extract"

// maxWanted bounds the fields that are looked at.
const maxWanted = 1000

// A Value is what is known of one field.
type Value struct {
	Field  string
	Text   string
	Pick   *Action  // what it was picked by last; nil where it was only typed
	Picked string   // what was picked, where it was corrected by hand
	Before []Action // picks for the same field that took something else
	Given  bool     // it is in the answer
}

// Values are the fields that have a value, those asked for first, and those asked for that have none.
func (fs *Facts) Values() (have []Value, missing []string) {
	picks := map[string][]Action{}
	var order []string
	for _, a := range fs.Actions {
		if a.Type == human.Extract && a.Pick != nil && strings.TrimSpace(a.Pick.Field) != "" {
			if picks[a.Pick.Field] == nil {
				order = append(order, a.Pick.Field)
			}
			picks[a.Pick.Field] = append(picks[a.Pick.Field], a)
		}
	}
	answer := fs.In.Answer
	asked := fs.Wanted()
	names := slices.Concat(asked, order, slices.Sorted(maps.Keys(answer.Fields)))
	seen := map[string]bool{}
	for _, n := range names {
		if seen[n] {
			continue
		}
		seen[n] = true
		v := Value{Field: n}
		text, given := answer.Fields[n]
		v.Text, v.Given = text, given
		list := picks[n]
		source, sourced := answer.FieldSources[n]
		at := -1
		for i := range list {
			if !sourced || list[i].ID == source.Action && list[i].Rec.ID == source.Recording {
				at = i
			}
		}
		if at < 0 && !given {
			at = len(list) - 1
		}
		if at >= 0 {
			v.Pick = &list[at]
			for _, a := range list[:at] {
				if a.Pick.Text != v.Pick.Pick.Text {
					v.Before = append(v.Before, a)
				}
			}
			if !given {
				v.Text = v.Pick.Pick.Text
			}
		}
		if sourced && (source.Corrected || given && text != source.Picked) {
			v.Picked = source.Picked
		}
		if strings.TrimSpace(v.Text) == "" {
			if slices.Contains(asked, n) {
				missing = append(missing, n)
			}
			continue
		}
		have = append(have, v)
	}
	return have, missing
}
