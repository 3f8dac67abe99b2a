package settings

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"deskbell/backend/store/settings/tomltext"
)

// A place is where a key of the file stands.
type place struct {
	key        string // dotted, whichever way the file spells it
	line       int
	start, end int // of the value, as byte offsets; 0, 0 for the head of a table
	table      bool
}

// decode reads a settings file: its values by key. The error names the line.
func decode(data []byte) (map[string]any, []place, error) {
	var tree map[string]any
	if err := tomltext.Unmarshal(data, &tree); err != nil {
		return nil, nil, err
	}
	places := locate(data)
	values := map[string]any{}
	for _, p := range places {
		if p.table {
			if !slices.ContainsFunc(Table, func(s Setting) bool { return strings.HasPrefix(s.Key, p.key+".") }) {
				return nil, nil, &tomltext.LineError{Line: p.line, Msg: fmt.Sprintf("there is no section [%s]; the sections are %s", p.key, strings.Join(sections(), ", "))}
			}
			continue
		}
		s := find(p.key)
		if s == nil {
			return nil, nil, &tomltext.LineError{Line: p.line, Msg: unknown(p.key).Error()}
		}
		v, err := s.coerce(dig(tree, p.key))
		if err != nil {
			return nil, nil, &tomltext.LineError{Line: p.line, Msg: p.key + ": " + err.Error()}
		}
		values[p.key] = v
	}
	return values, places, nil
}

func sections() []string {
	var all []string
	for _, s := range Table {
		if section, _, _ := strings.Cut(s.Key, "."); !slices.Contains(all, section) {
			all = append(all, section)
		}
	}
	return all
}

func dig(tree map[string]any, key string) any {
	var v any = tree
	for part := range strings.SplitSeq(key, ".") {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[part]
	}
	return v
}

// locate finds every key of a valid document, in order. An inline table counts as its keys, where it is no setting.
func locate(data []byte) []place {
	var places []place
	for _, at := range tomltext.Locate(data) {
		p := place{key: at.Dotted(), line: at.Line, start: at.Start, end: at.End}
		switch at.Kind {
		case tomltext.Element:
			continue
		case tomltext.Head:
			p.table = true
		case tomltext.Next:
			p.key, p.table = strings.Join(at.Path[:len(at.Path)-1], ".")+"[]", true // never the name of a section
		case tomltext.Inline:
			p.table = find(p.key) == nil
		}
		places = append(places, p)
	}
	return places
}

// edit returns the document with one setting changed. Everything else, comments included, keeps its bytes.
func edit(data []byte, key string, v any) []byte {
	value := literal(v)
	places := locate(data)
	for _, p := range places {
		if !p.table && p.key == key {
			return slices.Concat(data[:p.start], []byte(value), data[p.end:])
		}
	}
	section, name, _ := strings.Cut(key, ".")
	line := name + " = " + value + "\n"
	// A new key goes below the last one of its section, or below the section's head.
	at := -1
	inTable := false
	for _, p := range places {
		switch {
		case p.table:
			if inTable = p.key == section && isHeader(data, p.line); inTable {
				at = p.line
			}
		case inTable:
			at = tomltext.LineAt(data, p.end)
		}
	}
	if at >= 0 {
		i := endOfLine(data, at)
		return slices.Concat(withNewline(data[:i]), []byte(line), data[i:])
	}
	out := withNewline(data)
	if slices.ContainsFunc(places, func(p place) bool { return p.key == section || strings.HasPrefix(p.key, section+".") }) {
		// The section is spelled with dotted keys or inline: TOML forbids a second definition as a table,
		// so dotted keys go to the top, where no table is open yet.
		return slices.Concat([]byte(section+"."+line), out)
	}
	if len(out) > 0 {
		out = append(out, '\n')
	}
	return slices.Concat(out, []byte("["+section+"]\n"+line))
}

// isHeader says whether the n-th line is the head of a table rather than an inline one.
func isHeader(data []byte, n int) bool {
	lines := bytes.SplitN(data, []byte("\n"), n+1)
	return bytes.HasPrefix(bytes.TrimSpace(lines[n-1]), []byte("["))
}

// endOfLine is the offset behind the n-th line, counted from 1.
func endOfLine(data []byte, n int) int {
	i := 0
	for range n {
		j := bytes.IndexByte(data[i:], '\n')
		if j < 0 {
			return len(data)
		}
		i += j + 1
	}
	return i
}

func withNewline(data []byte) []byte {
	if len(data) == 0 || data[len(data)-1] == '\n' {
		return slices.Clone(data)
	}
	return append(slices.Clone(data), '\n')
}

// literal spells a value in TOML.
func literal(v any) string {
	switch v := v.(type) {
	case bool:
		return strconv.FormatBool(v)
	case int:
		return strconv.Itoa(v)
	case []string:
		items := make([]string, len(v))
		for i, s := range v {
			items[i] = quote(s)
		}
		return "[" + strings.Join(items, ", ") + "]"
	case string:
		return quote(v)
	}
	return ""
}

// quote spells a text as a TOML basic string.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < 0x20 || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
