package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"deskbell/backend/human"
	"deskbell/backend/kind"
	answerform "deskbell/backend/kind/form"
)

// jsonText is a flag whose value is JSON.
type jsonText json.RawMessage

func (j *jsonText) String() string { return string(*j) }
func (j *jsonText) Type() string   { return "JSON" }

func (j *jsonText) Set(text string) error {
	if !json.Valid([]byte(text)) {
		return fmt.Errorf("it is not JSON")
	}
	*j = jsonText(text)
	return nil
}

// fillIn asks the questions of an operation's form, one line each, until each answer is valid. Enter leaves an optional one out.
func (s *shell) fillIn(lines *bufio.Scanner, op human.Operation, a *human.Answer) error {
	asked, is, err := kind.Form(op)
	if err != nil || !is {
		return nil //nolint:nilerr // a request from before there were forms: the server takes words
	}
	values := map[string]json.RawMessage{}
	for _, p := range asked.Properties {
		one := answerform.Schema{Properties: []answerform.Property{p}}
		for {
			var text string
			if err := s.more(lines, prompt(p), &text); err != nil {
				return err
			}
			if text != "" {
				values[p.Name] = typed(p, text)
			}
			given, _ := json.Marshal(only(values, p.Name)) // of valid JSON
			wrong := one.Check(given)
			if wrong == nil {
				break
			}
			delete(values, p.Name)
			s.note("%s", visible(human.SafeText(wrong)))
		}
	}
	if len(values) == 0 {
		return nil
	}
	a.Response, err = json.Marshal(values)
	return err
}

func only(values map[string]json.RawMessage, name string) map[string]json.RawMessage {
	if v, is := values[name]; is {
		return map[string]json.RawMessage{name: v}
	}
	return map[string]json.RawMessage{}
}

// prompt asks a question: what it is called, what can be chosen, and whether it may be left out.
func prompt(p answerform.Property) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s", visible(p.Label()))
	for i, c := range p.Choices {
		fmt.Fprintf(&b, "\n  %d  %s", i+1, visible(c.Title))
	}
	how := map[bool]string{true: "", false: "optional"}[p.Required]
	switch {
	case p.Ranking():
		how = "all numbers in your order, with commas; " + how
	case p.Type == "array":
		how = "numbers, with commas; " + how
	case len(p.Choices) > 0:
		how = "a number; " + how
	case p.Type == "boolean":
		how = "yes or no; " + how
	case p.Format != "":
		how = p.Format + "; " + how
	}
	if how = strings.TrimSuffix(strings.TrimSpace(how), ";"); how != "" {
		fmt.Fprintf(&b, " (%s)", how)
	}
	return b.String() + "> "
}

// typed is what was typed, as a value of the property's type; where it is none, a text, about which the check says what is wrong.
func typed(p answerform.Property, text string) json.RawMessage {
	chosen := func(word string) string {
		word = strings.TrimSpace(word)
		if n, err := strconv.Atoi(word); err == nil && n >= 1 && n <= len(p.Choices) {
			return p.Choices[n-1].Value
		}
		return word
	}
	var value any = text
	switch {
	case p.Type == "array":
		var all []string
		for word := range strings.SplitSeq(strings.NewReplacer("，", ",", "、", ",").Replace(text), ",") {
			all = append(all, chosen(word))
		}
		value = all
	case len(p.Choices) > 0:
		value = chosen(text)
	case p.Type == "boolean" && slices.Contains([]string{"y", "yes", "true", "是"}, strings.ToLower(text)):
		value = true
	case p.Type == "boolean" && slices.Contains([]string{"n", "no", "false", "否"}, strings.ToLower(text)):
		value = false
	case p.Type == "number" || p.Type == "integer":
		if n, err := strconv.ParseFloat(text, 64); err == nil {
			value = n
		}
	}
	raw, err := json.Marshal(value)
	if err != nil { // a number that is none in JSON
		raw, _ = json.Marshal(text)
	}
	return raw
}
