package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deskbell/backend/human"
)

// The tokens of one copy of a result. Text and structured content together stay under the 25,000 at which clients
// cut; an agent may ask for less.
const (
	maxBudget = 12000
	minBudget = 200
)

// result is the reading as a tool result of at most so many tokens.
func (r reading) result(budget int) (*mcp.CallToolResult, error) {
	data, err := plainJSON(r.fit(budget))
	if err != nil {
		return nil, err
	}
	content := []mcp.Content{&mcp.TextContent{Text: string(data)}}
	for _, jpeg := range r.images {
		content = append(content, &mcp.ImageContent{Data: jpeg, MIMEType: "image/jpeg"})
	}
	for _, resource := range r.resources {
		content = append(content, &mcp.EmbeddedResource{Resource: resource})
	}
	return &mcp.CallToolResult{Content: content, StructuredContent: json.RawMessage(data)}, nil
}

// plainJSON is JSON as a model reads it best: without escapes for HTML.
func plainJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}

// cost is about how many tokens a reading has.
func (r reading) cost() int {
	data, err := plainJSON(r)
	if err != nil {
		return maxBudget + 1
	}
	return human.Tokens(data)
}

// fit is the reading within a budget of tokens: what it is and what to do stay; the rest is shown in the order of
// parts. Each takes at most two thirds of what is left, so that no long text takes the place of all that follows,
// and then, in the same order, of what remains. It names what it leaves out, with how to read it.
func (r reading) fit(budget int) reading {
	if r.fitted {
		return r
	}
	r.fitted = true
	n, sizes := make([]int, len(parts)), make([]int, len(parts))
	r.filled = r.fields()
	for i, p := range parts {
		sizes[i] = p.size(&r)
	}
	if all := r.with(sizes); all.cost() <= budget {
		return all
	}
	fits := func(i, chars, limit int) bool {
		was := n[i]
		n[i] = chars
		is := r.with(n).cost() <= limit
		n[i] = was
		return is
	}
	for _, generous := range []bool{false, true} {
		for i, size := range sizes {
			if n[i] == size {
				continue
			}
			limit := budget
			if used := r.with(n).cost(); !generous {
				limit = used + (budget-used)*2/3
			}
			most := budget * 3 // a token is no more than three characters
			if size <= most && fits(i, size, limit) {
				n[i] = size
				continue
			}
			n[i] += sort.Search(min(size, most)-n[i], func(more int) bool { return !fits(i, n[i]+more+1, limit) })
		}
	}
	return r.with(n)
}

// with is the reading with so many characters of each part.
func (r reading) with(n []int) reading {
	r.Cut = nil
	how := false
	for i, p := range parts {
		note := p.show(&r, n[i])
		if note == "" || slices.Contains(r.Cut, note) {
			continue
		}
		how = how || slices.Contains(textFields, p.name)
		r.Cut = append(r.Cut, note)
	}
	if how {
		r.Cut = slices.Insert(r.Cut, 0, "read more with action=check_result and one of these as field:")
	}
	return r
}

// worth is the least number of characters of a shortened text that is worth reading.
const worth = 20

// A part of a reading can be left out or shown as far as there is room.
type part struct {
	name string // the field that reads it
	size func(r *reading) int
	// show leaves so many characters of it, of at most size, and returns what is to be said where that is not all.
	show func(r *reading, n int) string
}

// parts are in the order of their weight.
var parts = []part{
	textPart("message", "message", func(r *reading) *string { return &r.Message }),
	textPart("question", "question: read it with action=check_result and field=messages", func(r *reading) *string { return &r.Question }),
	textPart("reason", "", func(r *reading) *string { return &r.Reason }),
	textPart("text", "text: ask for less with limit or since", func(r *reading) *string { return &r.Text }),
	{"evidence", func(r *reading) int { return sizeOf(r.Evidence, evidence.said) }, showEvidence},
	wholePart("edited", func(r *reading) int { return jsonSize(r.Edited != nil, r.Edited) }, func(r *reading) { r.Edited = nil }),
	wholePart("response", func(r *reading) int { return jsonSize(r.Response != nil, r.Response) }, func(r *reading) { r.Response = nil }),
	textPart("summary", "", func(r *reading) *string { return &r.Summary }),
	findingPart("findings", func(r *reading) *[]finding { return &r.Findings }),
	{"key_findings", func(r *reading) int { return sizeOf(r.KeyFindings, itself) }, showKeyFindings},
	{"fields", func(r *reading) int { return sizeOf(r.filled, field.said) }, showFields},
	eachPart("comments", func(r *reading) *[]human.CodeComment { return &r.Comments }),
	eachPart("focus", func(r *reading) *[]human.FocusResult { return &r.Focus }),
	findingPart("suggestions", func(r *reading) *[]finding { return &r.Suggestions }),
	textPart("human_input", "", func(r *reading) *string { return &r.HumanInput }),
	{"steps", func(r *reading) int { return sizeOf(r.Steps, stepLine) }, showSteps},
	textPart("execution_result", "", func(r *reading) *string { return &r.ExecutionResult }),
	{"messages", func(r *reading) int { return sizeOf(r.Messages, message.said) }, showMessages},
	{"recordings", func(r *reading) int { return sizeOf(r.Recordings, recording.said) }, showRecordings},
	eachPart("attachments", func(r *reading) *[]file { return &r.Files }),
	{"attachments", func(r *reading) int { return sizeOf(r.Attachments, itself) }, showAttachments},
	linePart("pending", func(r *reading) *[]line { return &r.Pending }),
	linePart("unread", func(r *reading) *[]line { return &r.Unread }),
	textPart("by", "by", func(r *reading) *string { return &r.By }),
}

// jsonSize is how many characters a value has as JSON; 0 where there is none.
func jsonSize(is bool, v any) int {
	if !is {
		return 0
	}
	text, _ := plainJSON(v) // of what was JSON
	return utf8.RuneCount(text)
}

// wholePart is of no use shortened: it is shown whole, or not at all.
func wholePart(name string, size func(*reading) int, drop func(*reading)) part {
	return part{name, size, func(r *reading, n int) string {
		if n >= size(r) {
			return ""
		}
		drop(r)
		return name
	}}
}

func textPart(name, note string, of func(*reading) *string) part {
	return part{name, func(r *reading) int { return utf8.RuneCountInString(*of(r)) }, func(r *reading, n int) string {
		text, cut := clip(*of(r), n)
		if cut && n < worth {
			text, n = "", 0
		}
		*of(r) = text
		switch {
		case !cut:
			return ""
		case note != "":
			return note
		case n > 0:
			return fmt.Sprintf("%s from offset %d", name, n)
		}
		return name
	}}
}

// sizeOf is how many characters the elements of a list have, and one for each.
func sizeOf[T any](list []T, text func(T) string) int {
	size := 0
	for _, one := range list {
		size += utf8.RuneCountInString(text(one)) + 1
	}
	return size
}

// take are the first elements of a list that have at most so many characters, by the count of sizeOf. The last
// is shortened where something worth reading is left of it; whole counts the others.
func take[T any](list []T, n int, text func(T) string, cut func(T, string) T) (taken []T, whole int) {
	for _, one := range list {
		t := text(one)
		if len(t) < utf8.UTFMax*n && utf8.RuneCountInString(t) < n {
			taken = append(taken, one)
			n -= utf8.RuneCountInString(t) + 1
			continue
		}
		if n > worth {
			short, _ := clip(t, n-1)
			return append(taken, cut(one, short+"…")), len(taken)
		}
		break
	}
	return taken, len(taken)
}

// someOf says how much of a list is there, "" where it is all.
func someOf(name string, whole, all int) string {
	if whole == all {
		return ""
	}
	return fmt.Sprintf("%s %d of %d", name, whole, all)
}

func findingPart(name string, of func(*reading) *[]finding) part {
	text := func(f finding) string { return f.Text }
	return part{name, func(r *reading) int { return sizeOf(*of(r), text) }, func(r *reading, n int) string {
		all := len(*of(r))
		some, whole := take(*of(r), n, text, func(f finding, text string) finding { f.Text = text; return f })
		*of(r) = some
		return someOf(name, whole, all)
	}}
}

// eachPart is a list of which one is shown whole or not at all.
func eachPart[T any](name string, of func(*reading) *[]T) part {
	text := func(one T) string {
		data, _ := plainJSON(one) // strings and numbers: cannot fail
		return string(data)
	}
	return part{name, func(r *reading) int { return sizeOf(*of(r), text) }, func(r *reading, n int) string {
		all := len(*of(r))
		_, whole := take(*of(r), n, text, func(one T, _ string) T { return one })
		*of(r) = (*of(r))[:whole]
		return someOf(name, whole, all)
	}}
}

func linePart(name string, of func(*reading) *[]line) part {
	text := func(l line) string { return l.Description }
	return part{name, func(r *reading) int { return sizeOf(*of(r), text) }, func(r *reading, n int) string {
		if *of(r) == nil {
			return ""
		}
		all := len(*of(r))
		some, whole := take(*of(r), n, text, func(l line, text string) line { l.Description = text; return l })
		*of(r) = append([]line{}, some...)
		return someOf(name, whole, all)
	}}
}

func itself(text string) string     { return text }
func cutText(_, text string) string { return text }

func showKeyFindings(r *reading, n int) string {
	all := len(r.KeyFindings)
	some, whole := take(r.KeyFindings, n, itself, cutText)
	r.KeyFindings = some
	return someOf("key_findings", whole, all)
}

func showAttachments(r *reading, n int) string {
	all := len(r.Attachments)
	some, whole := take(r.Attachments, n, itself, cutText)
	r.Attachments = some
	return someOf("attachments", whole, all)
}

func showSteps(r *reading, n int) string {
	all := len(r.Steps)
	some, whole := take(r.Steps, n, stepLine, func(s human.StepResult, text string) human.StepResult {
		note := strings.TrimPrefix(text, s.Verdict+": ")
		if len(note) > len(s.Note) { // only names of its files are left out
			note = s.Note
		}
		return human.StepResult{Step: s.Step, Verdict: s.Verdict, Note: note, At: s.At}
	})
	r.Steps = some
	return someOf("steps", whole, all)
}

func (m message) said() string { return m.Text }

// showMessages leaves the last ones.
func showMessages(r *reading, n int) string {
	all := slices.Clone(r.Messages)
	slices.Reverse(all)
	some, whole := take(all, n, message.said, func(m message, text string) message { m.Text = text; return m })
	r.Messages = slices.Clone(some)
	slices.Reverse(r.Messages)
	return someOf("messages", whole, len(all))
}

// said is what a recording shows: its actions, and that it is there.
func (r recording) said() string { return r.Missing + strings.Join(r.Actions, "\n") }

func showRecordings(r *reading, n int) string {
	if r.Recordings == nil {
		return ""
	}
	some, _ := take(r.Recordings, n, recording.said, func(rec recording, text string) recording {
		if rec.Missing != "" {
			return recording{ID: rec.ID, Actions: []string{}, Missing: text}
		}
		rec.Actions = rec.Actions[:strings.Count(text, "\n")] // the whole ones
		return rec
	})
	all := len(r.Recordings)
	r.Recordings = some
	if shown := r.lines(); shown < r.did {
		return fmt.Sprintf("recordings %d of %d actions", shown, r.did)
	}
	return someOf("recordings", len(some), all)
}

// lines counts the actions of recordings that are shown.
func (r reading) lines() (n int) {
	for _, rec := range r.Recordings {
		n += len(rec.Actions)
	}
	return n
}

// A field is a value that the human filled in, and where it is from.
type field struct{ name, value, from string }

func (f field) said() string { return f.name + f.value + f.from }

func (r *reading) fields() (all []field) {
	for _, name := range slices.Sorted(maps.Keys(r.Fields)) {
		all = append(all, field{name, r.Fields[name], r.FieldSources[name]})
	}
	return all
}

func showFields(r *reading, n int) string {
	some, whole := take(r.filled, n, field.said, func(f field, text string) field {
		name, _ := clip(text, utf8.RuneCountInString(f.name))
		value, _ := clip(text[len(name):], utf8.RuneCountInString(f.value))
		return field{name: name, value: value}
	})
	r.Fields, r.FieldSources = nil, nil
	for _, f := range some {
		if r.Fields == nil {
			r.Fields, r.FieldSources = map[string]string{}, map[string]string{}
		}
		r.Fields[f.name] = f.value
		if f.from != "" {
			r.FieldSources[f.name] = f.from
		}
	}
	return someOf("fields", whole, len(r.filled))
}

// clip is the first n characters of text.
func clip(text string, n int) (string, bool) {
	for i := range text {
		if n == 0 {
			return text[:i], true
		}
		n--
	}
	return text, false
}
