package install

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"deskbell/backend/human"
	"deskbell/backend/store/settings/tomltext"
)

// A setting is a member or an element that connecting puts into a client's settings.
type setting struct {
	what string // server or permission
	file func(Place) string
	at   []string // the containers, from the outermost
	name string   // of the member; empty: it is an element of a list
	// value is what is written, for the program and the arguments that the client is to start.
	value func(program []string) any
	// soft: it is left out where the client's settings have something else in its place, such as one word for all tools.
	soft bool
}

// find is where the setting is in a text; -1 without.
func (s *setting) find(text []byte, in node) (container node, i int) {
	for _, step := range s.at {
		j := in.member(text, step)
		if j < 0 {
			return in, -1
		}
		in = in.values[j]
	}
	if s.name != "" {
		return in, in.member(text, s.name)
	}
	want := compact(s.value(nil))
	return in, slices.IndexFunc(in.values, func(n node) bool { return bytes.Equal(compacted(text, n), want) })
}

// fits says whether the setting can be where it belongs in a text.
func (s *setting) fits(text []byte) bool {
	if len(bytes.TrimSpace(text)) == 0 {
		return true
	}
	root, err := parse(text)
	if err != nil {
		return false
	}
	_, err = place(text, root, s.at, s.name, json.RawMessage("null"))
	return err == nil
}

// Tables in TOML are put behind everything else, between two comments, and are taken out with them.
const (
	tableBegin = "# Written by `deskbell connect`, which also takes it out: deskbell connect CLIENT --undo"
	tableEnd   = "# The end of what `deskbell connect` wrote"
)

// table is a setting as a table in TOML.
func (s *setting) table(program []string) []byte {
	var b strings.Builder
	b.WriteString(tableBegin + "\n[" + strings.Join(append(slices.Clone(s.at), s.name), ".") + "]\n")
	values, _ := s.value(program).(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(values)) {
		line, err := toml.Marshal(map[string]any{key: values[key]})
		if err != nil {
			panic(err) // texts and numbers always can be
		}
		b.Write(line)
	}
	b.WriteString(tableEnd + "\n")
	return []byte(b.String())
}

// appendTable puts a table behind a text in TOML.
func appendTable(text, table []byte) ([]byte, error) {
	newline := "\n"
	if bytes.Contains(text, []byte("\r\n")) {
		newline = "\r\n"
		table = bytes.ReplaceAll(table, []byte("\n"), []byte("\r\n"))
	}
	out := slices.Clone(text)
	if len(out) > 0 {
		if out[len(out)-1] != '\n' {
			out = append(out, newline...)
		}
		out = append(out, newline...)
	}
	out = append(out, table...)
	if err := tomltext.Unmarshal(out, &map[string]any{}); err != nil {
		return nil, human.Wrap(human.Invalid, err, "%s", tomltext.Reason(err))
	}
	return out, nil
}

// withoutTable takes a setting's table out of a text in TOML, with those below it; it returns what the table held, nil where there
// was none.
func (s *setting) withoutTable(text []byte) (rest []byte, held map[string]any, err error) {
	var all map[string]any
	if err := tomltext.Unmarshal(text, &all); err != nil {
		return nil, nil, human.Wrap(human.Invalid, err, "%s", tomltext.Reason(err))
	}
	path := append(slices.Clone(s.at), s.name)
	at := any(all)
	for _, name := range path {
		m, _ := at.(map[string]any)
		inner, there := m[name]
		if !there {
			return text, nil, nil
		}
		at = inner
	}
	held, _ = at.(map[string]any)
	lines := bytes.SplitAfter(text, []byte("\n"))
	ours, found := tableLines(lines, tableHeads(text, path))
	if !found {
		return nil, nil, human.Errorf(human.Conflict, "it sets %s in a way that Deskbell does not change; take that out first", strings.Join(path, "."))
	}
	rest = []byte{}
	for i, line := range lines {
		if !ours[i] {
			rest = append(rest, line...)
		}
	}
	return rest, held, nil
}

// tableHeads are the lines on which tables of a text begin, counted from 0, and whether they are that at path or one below it.
func tableHeads(text []byte, path []string) map[int]bool {
	heads := map[int]bool{}
	for _, p := range tomltext.Locate(text) {
		if p.Kind == tomltext.Head || p.Kind == tomltext.Next {
			heads[p.Line-1] = len(p.Path) >= len(path) && slices.Equal(p.Path[:len(path)], path)
		}
	}
	return heads
}

// tableLines are the lines of the tables that are ours, with the marks and the empty line that were put around them; found is false
// where none is.
func tableLines(lines [][]byte, heads map[int]bool) (ours []bool, found bool) {
	ours = make([]bool, len(lines))
	inside := false
	// What is loose before line end belongs to what follows.
	leave := func(end int) {
		for j := end - 1; inside && j >= 0 && ours[j] && loose(lines[j]); j-- {
			ours[j] = false
		}
	}
	for i, line := range lines {
		if own, head := heads[i]; head {
			if !own {
				leave(i)
			} else if found = true; !inside && i > 0 && strings.TrimSpace(string(lines[i-1])) == tableBegin {
				ours[i-1] = true
			}
			inside = own
		}
		if inside {
			ours[i] = true
			inside = strings.TrimSpace(string(line)) != tableEnd
		}
	}
	end := len(lines)
	if len(lines[end-1]) == 0 {
		end-- // after the last line's end
	}
	leave(end)
	for i := 1; i < len(lines); i++ {
		if ours[i] && !ours[i-1] && len(bytes.TrimSpace(lines[i-1])) == 0 && (i < 2 || !ours[i-2]) {
			ours[i-1] = true // the empty line that was put before it
		}
	}
	return ours, found
}

// loose says that a line is empty or a comment, but not the one that ends a table of ours.
func loose(line []byte) bool {
	line = bytes.TrimSpace(line)
	return len(line) == 0 || line[0] == '#' && string(line) != tableEnd
}
