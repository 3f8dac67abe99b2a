package prompt

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"deskbell/backend/human"
	"deskbell/backend/kind"
	"deskbell/summarizers"
)

// The languages that a template can be run in: there are rules of the prompt in each.
var languages = []string{"en", "zh-CN"}

const maxTemplate = 64 << 10 // bytes

// A Template says what to ask a model. Parse reads one; docs/summarizers/prompts.md says how to write one.
type Template struct {
	Name      string
	Title     map[string]string // by language
	Kinds     []human.Kind      // none: all
	Sources   []summarizers.Source
	Languages []string
	Pictures  bool   // send some, to a model that takes them
	Model     string // to ask instead of the one in the settings; empty: that one
	Tokens    int    // of the answer, at most; 0: as many as the model may

	body map[string]string // what to do, by language; the first of Languages has one
}

//go:embed default.md
var defaultText []byte

// Default is the template that comes with Deskbell.
func Default() Template {
	t, err := Parse("model", defaultText)
	if err != nil {
		panic(err) // it is built in, and tested
	}
	return t
}

var (
	nameShape = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$`)
	nextShape = regexp.MustCompile(`^<!--\s*language:\s*(\S+)\s*-->$`)
)

// Parse reads a template: a header of "key: value" lines between two lines of ---, then the instructions in
// Markdown. A line <!-- language: zh-CN --> begins the instructions in another language. name is the file's,
// without .md; the template is called that where its header has no name. Errors are Invalid and name the line.
func Parse(name string, markdown []byte) (Template, error) {
	bad := func(line int, format string, args ...any) (Template, error) {
		return Template{}, human.Errorf(human.Invalid, "%s.md, line %d: %s", name, line, fmt.Sprintf(format, args...))
	}
	switch {
	case len(markdown) > maxTemplate:
		return bad(1, "the file is longer than %d KB", maxTemplate>>10)
	case !utf8.Valid(markdown):
		return bad(1, "the file is not UTF-8")
	}
	text := strings.ReplaceAll(strings.TrimPrefix(string(markdown), "\ufeff"), "\r\n", "\n")
	lines := strings.Split(text, "\n")
	if strings.TrimSpace(lines[0]) != "---" {
		return bad(1, "a template begins with a line of --- and a header")
	}
	end := 1 + slices.IndexFunc(lines[1:], func(l string) bool { return strings.TrimSpace(l) == "---" })
	if end == 0 {
		return bad(len(lines), "the header does not end: a line of --- is missing")
	}
	t := Template{Name: name, Title: map[string]string{}, body: map[string]string{}}
	seen := map[string]bool{}
	for i, line := range lines[1:end] {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, value, ok := strings.Cut(line, ":")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		switch {
		case !ok:
			return bad(i+2, "%q is not key: value", line)
		case seen[key]:
			return bad(i+2, "%s is there twice", key)
		case value == "":
			return bad(i+2, "%s has no value; leave the line out", key)
		}
		seen[key] = true
		if err := t.set(key, value); err != nil {
			return bad(i+2, "%s", err)
		}
	}
	if !nameShape.MatchString(t.Name) {
		return bad(1, "the name %q: letters, digits, - and _, 40 at most", t.Name)
	}
	if t.Title["en"] == "" {
		t.Title["en"] = t.Name
	}
	if t.Title["zh-CN"] == "" {
		t.Title["zh-CN"] = t.Title["en"]
	}
	if len(t.Languages) == 0 {
		t.Languages = languages
	}
	if len(t.Sources) == 0 {
		t.Sources = []summarizers.Source{summarizers.FromAnswer, summarizers.FromDesktop, summarizers.FromBrowser, summarizers.FromTerminal}
	}
	in := t.Languages[0]
	for i, line := range lines[end+1:] {
		if next := nextShape.FindStringSubmatch(strings.TrimSpace(line)); next != nil {
			if in = next[1]; !slices.Contains(t.Languages, in) {
				return bad(end+i+2, "%s is not among the languages of the header (%s)", in, strings.Join(t.Languages, ", "))
			}
			continue
		}
		t.body[in] += line + "\n"
	}
	for l, body := range t.body {
		if t.body[l] = strings.TrimSpace(body); t.body[l] == "" {
			delete(t.body, l)
		}
	}
	if t.body[t.Languages[0]] == "" {
		return bad(len(lines), "after the header there is nothing to ask")
	}
	return t, nil
}

// set takes one line of the header.
func (t *Template) set(key, value string) error {
	list := func() (out []string) {
		for one := range strings.SplitSeq(value, ",") {
			if one = strings.TrimSpace(one); one != "" && !slices.Contains(out, one) {
				out = append(out, one)
			}
		}
		return out
	}
	switch key {
	case "name":
		t.Name = value
	case "title":
		t.Title["en"] = value
	case "title.zh-CN":
		t.Title["zh-CN"] = value
	case "kinds":
		for _, k := range list() {
			if !slices.Contains(kind.ForAgents(), human.Kind(k)) {
				return fmt.Errorf("there is no kind %q; there are %v", k, kind.ForAgents())
			}
			t.Kinds = append(t.Kinds, human.Kind(k))
		}
	case "sources":
		all := []summarizers.Source{summarizers.FromAnswer, summarizers.FromDesktop, summarizers.FromBrowser, summarizers.FromTerminal}
		for _, s := range list() {
			if !slices.Contains(all, summarizers.Source(s)) {
				return fmt.Errorf("there is no source %q; there are %v", s, all)
			}
			t.Sources = append(t.Sources, summarizers.Source(s))
		}
	case "languages":
		for _, l := range list() {
			if !slices.Contains(languages, l) {
				return fmt.Errorf("there is no language %q; there are %v", l, languages)
			}
			t.Languages = append(t.Languages, l)
		}
	case "pictures":
		if value != "true" && value != "false" {
			return fmt.Errorf("pictures is true or false, not %q", value)
		}
		t.Pictures = value == "true"
	case "model":
		t.Model = value
	case "max_tokens":
		n, err := strconv.Atoi(value)
		if err != nil || n < 200 || n > 100_000 {
			return fmt.Errorf("max_tokens is a number from 200 to 100000, not %q", value)
		}
		t.Tokens = n
	default:
		return fmt.Errorf("there is no key %q; there are name, title, title.zh-CN, kinds, sources, languages, pictures, model, max_tokens", key)
	}
	return nil
}

// instructions are the template's own, in a language or else in its first.
func (t Template) instructions(language string) string {
	if b := t.body[language]; b != "" {
		return b
	}
	return t.body[t.Languages[0]]
}
