package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"deskbell/backend/human"
	"deskbell/backend/kind"
	answerform "deskbell/backend/kind/form"
)

// questions are the fields of a request's form, one for each of its properties; none where it has no form.
func (d *inbox) questions(op human.Operation) (fields []field) {
	asked, _, err := kind.Form(op)
	if err != nil {
		return nil // a request from before there were forms: the server takes words
	}
	for _, p := range asked.Properties {
		fields = append(fields, field{label: d.tongue.asks(p), asks: &p, begin: begins(p)})
	}
	return fields
}

// response is what was filled in, nil where nothing was.
func response(fields []field, values []string) json.RawMessage {
	given := map[string]json.RawMessage{}
	for i, f := range fields {
		if values[i] != "" {
			given[f.asks.Name] = typed(*f.asks, values[i])
		}
	}
	if len(given) == 0 {
		return nil
	}
	raw, _ := json.Marshal(given) // of valid JSON
	return raw
}

// fault is what is wrong with what was typed, in words; empty where nothing is. It is the server's own check.
func (l tongue) fault(p answerform.Property, text string) string {
	given := map[string]json.RawMessage{}
	if text != "" {
		given[p.Name] = typed(p, text)
	}
	raw, _ := json.Marshal(given) // of valid JSON
	faults := answerform.Schema{Properties: []answerform.Property{p}}.Faults(raw)
	if len(faults) == 0 {
		return ""
	}
	var e *human.Error
	errors.As(faults[0].Err, &e) // it is one
	return visible(l.said(e.Said.Text, e.Said))
}

// asks is a question in a line: what it is called, how it is answered, and whether it may be left out.
func (l tongue) asks(p answerform.Property) string {
	var how []string
	add := func(is bool, english, chinese string) {
		if is && len(how) == 0 {
			how = append(how, l.t(english, chinese))
		}
	}
	add(p.Ranking(), "all numbers in your order, with commas", "按你的顺序输入全部编号，以逗号分隔")
	add(p.Type == "array", "numbers, with commas", "编号，以逗号分隔")
	add(len(p.Choices) > 0, "a number", "一个编号")
	add(p.Type == "boolean", "yes or no", "是或否")
	add(p.Format == "date", "a date such as 2026-11-26", "日期，如 2026-11-26")
	add(p.Format == "date-time", "a time such as 2026-11-26T14:00:00Z", "时间，如 2026-11-26T14:00:00Z")
	add(p.Format == "email", "an email address", "电子邮件地址")
	add(p.Format == "uri", "an address such as https://example.com", "网址，如 https://example.com")
	add(p.Type == "integer", "a whole number", "整数")
	add(p.Type == "number", "a number", "数字")
	if low, high := p.Minimum, p.Maximum; low != nil && high != nil {
		how = append(how, l.t("%s to %s", "%s 至 %s", plainNumber(*low), plainNumber(*high)))
	}
	if !p.Required {
		how = append(how, l.t("optional", "可不填"))
	}
	label := oneLine(p.Label(), 60)
	if len(how) == 0 {
		return label
	}
	return label + l.t(" (", "（") + strings.Join(how, l.t("; ", "；")) + l.t(")", "）")
}

func plainNumber(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// begins is a property's default as one would type it.
func begins(p answerform.Property) string {
	number := func(value string) string {
		for i, c := range p.Choices {
			if c.Value == value {
				return strconv.Itoa(i + 1)
			}
		}
		return value
	}
	var value any
	if json.Unmarshal(p.Default, &value) != nil {
		return ""
	}
	switch v := value.(type) {
	case string:
		return number(v)
	case bool:
		return map[bool]string{true: "yes", false: "no"}[v]
	case float64:
		return plainNumber(v)
	case []any:
		var all []string
		for _, one := range v {
			all = append(all, number(fmt.Sprint(one)))
		}
		return strings.Join(all, ", ")
	}
	return ""
}

// form is what a request asks to be filled in, to be read before.
func (p *readout) form(s answerform.Schema) {
	p.head("Form", "表单")
	say := func(in int, text string) {
		if text != "" {
			p.prose(in, stylePlain, text)
		}
	}
	say(2, s.Title)
	say(2, s.Description)
	for _, q := range s.Properties {
		p.item(2, 4, styleBold, p.asks(q))
		say(4, q.Description)
		for i, c := range q.Choices {
			text := fmt.Sprintf("%d  %s", i+1, visible(c.Title))
			if c.Description != "" {
				text += " - " + visible(c.Description)
			}
			p.item(4, 7, stylePlain, text)
		}
	}
}

// prompts says whether a form is filled in one field at a time.
func (f *form) prompts() bool {
	for _, one := range f.fields {
		if one.asks != nil {
			return true
		}
	}
	return false
}

// choices are those of the field that is filled in, as many as there is room for; all of them can be read above.
func (d *inbox) choices(f *field) (lines []string) {
	if f.asks == nil {
		return nil
	}
	room := max(2, d.height/2-4)
	for i, c := range f.asks.Choices {
		if i == room-1 && len(f.asks.Choices) > room {
			return append(lines, styleDim.Render("  "+fmt.Sprintf(d.words.more, len(f.asks.Choices)-i)))
		}
		lines = append(lines, fmt.Sprintf("  %d  %s", i+1, oneLine(c.Title, 200)))
	}
	return lines
}

// wrongs checks all fields that are a form's, and returns the first that is wrong; -1 where none is.
func (d *inbox) wrongs(f *form) int {
	first := -1
	for i := range f.fields {
		if one := &f.fields[i]; one.asks != nil {
			if one.wrong = d.tongue.fault(*one.asks, strings.TrimSpace(one.Value())); one.wrong != "" && first < 0 {
				first = i
			}
		}
	}
	return first
}
