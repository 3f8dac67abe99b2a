package install

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"

	"deskbell/backend/human"
)

// A node is a value of a JSON text that may have comments and trailing commas, with where it stands. Numbers are byte
// offsets; the end is the first byte behind it.
type node struct {
	kind       byte // { [ " 0 t f n: a number begins as 0
	start, end int
	keys       []node // of an object: its members' names
	values     []node // of an object or a list
	comma      int    // of the trailing comma, or -1
}

// parse reads a text. Of members of one name the last counts, as for those who read the file for real.
func parse(text []byte) (node, error) {
	const mark = "\xef\xbb\xbf"
	from := len(text) - len(bytes.TrimPrefix(text, []byte(mark)))
	v, err := hujson.Parse(append(bytes.Clone(text[from:]), '\n')) // for a comment in the last line
	if err != nil {
		return node{}, human.Wrap(human.Invalid, err, "%s", strings.TrimPrefix(err.Error(), "hujson: "))
	}
	return nodeOf(v, from), nil
}

// decode reads a value that may have comments.
func decode(text []byte, into any) error {
	plain, err := hujson.Standardize(bytes.Clone(text))
	if err != nil {
		return err
	}
	return json.Unmarshal(plain, into)
}

// nodeOf is a value that was read of what begins at an offset.
func nodeOf(v hujson.Value, from int) node {
	n := node{kind: byte(v.Value.Kind()), start: from + v.StartOffset, end: from + v.EndOffset, comma: -1}
	var values []hujson.Value
	switch v := v.Value.(type) {
	case *hujson.Object:
		for _, m := range v.Members {
			n.keys, values = append(n.keys, nodeOf(m.Name, from)), append(values, m.Value)
		}
	case *hujson.Array:
		values = v.Elements
	}
	for i, child := range values {
		n.values = append(n.values, nodeOf(child, from))
		if i == len(values)-1 && child.AfterExtra != nil { // so the library tells a trailing comma
			n.comma = from + child.EndOffset + len(child.AfterExtra)
		}
	}
	return n
}

// skip goes over white space and comments, and returns where they end, and where the last comment does: at, without one.
func skip(text []byte, at int) (next, comments int) {
	comments = at
	for at < len(text) {
		rest := text[at:]
		switch {
		case bytes.ContainsRune([]byte(" \t\r\n"), rune(rest[0])):
			at++
			continue
		case bytes.HasPrefix(rest, []byte("//")):
			line, _, _ := bytes.Cut(rest, []byte("\n"))
			at += len(bytes.TrimSuffix(line, []byte("\r")))
		case bytes.HasPrefix(rest, []byte("/*")):
			at += bytes.Index(rest, []byte("*/")) + 2
		default:
			return at, comments
		}
		comments = at
	}
	return at, comments
}

// member is where an object's member of a name stands among its members, or -1.
func (n node) member(text []byte, name string) int {
	for i := len(n.keys) - 1; i >= 0; i-- {
		var key string
		if json.Unmarshal(text[n.keys[i].start:n.keys[i].end], &key) == nil && key == name {
			return i
		}
	}
	return -1
}

// A style is how a file is laid out.
type style struct{ newline, unit string }

func styleOf(text []byte, root node) style {
	s := style{"\n", "  "}
	if bytes.Contains(text, []byte("\r\n")) {
		s.newline = "\r\n"
	}
	if len(root.keys) > 0 {
		if in, alone := lineStart(text, root.keys[0].start); alone && in != "" {
			s.unit = in
		}
	}
	return s
}

// lineStart is the white space that the line of an offset begins with, and whether nothing else stands before the offset.
func lineStart(text []byte, at int) (indent string, alone bool) {
	line := text[bytes.LastIndexByte(text[:at], '\n')+1 : at]
	rest := bytes.TrimLeft(line, " \t")
	return string(line[:len(line)-len(rest)]), len(rest) == 0
}

// add puts a member, or an element where name is empty, behind the last child of a container. remove takes it out again
// to the byte, but from a container that was empty.
func (s style) add(text []byte, in node, name string, value json.RawMessage) []byte {
	indent, inline := s.place(text, in)
	key := ""
	if name != "" {
		quoted, _ := json.Marshal(name) // texts always can be
		key = string(quoted) + ": "
	}
	child := key + s.format(value, indent, inline)
	// before is what stands before the child; a comment may continue to the end of its line.
	before := func(begin, comments int) string {
		if inline && comments == begin {
			return " "
		}
		return s.newline + indent
	}
	switch {
	case len(in.values) == 0:
		_, at := skip(text, in.start+1)
		after := ""
		if !bytes.Contains(text[at:in.end], []byte("\n")) {
			outer, _ := lineStart(text, in.start)
			after = s.newline + outer
		}
		return splice(text, at, at, s.newline+indent+child+after)
	case in.comma >= 0:
		_, at := skip(text, in.comma+1)
		return splice(text, at, at, before(in.comma+1, at)+child+",")
	}
	last := in.values[len(in.values)-1].end
	_, at := skip(text, last)
	return splice(splice(text, at, at, before(last, at)+child), last, last, ",")
}

// place is how the children of a container are indented, and whether they stand in one line.
func (s style) place(text []byte, in node) (indent string, inline bool) {
	outer, _ := lineStart(text, in.start)
	if len(in.values) == 0 {
		return outer + s.unit, false
	}
	first := in.values[0]
	if len(in.keys) > 0 {
		first = in.keys[0]
	}
	if !bytes.Contains(text[in.start:in.values[len(in.values)-1].start], []byte("\n")) {
		return outer, true
	}
	if indent, alone := lineStart(text, first.start); alone {
		return indent, false
	}
	return outer + s.unit, false
}

// format lays a value out.
func (s style) format(value json.RawMessage, indent string, inline bool) string {
	var b bytes.Buffer
	if inline {
		return string(value)
	}
	if err := json.Indent(&b, value, indent, s.unit); err != nil {
		panic(err) // we made it ourselves
	}
	return strings.ReplaceAll(b.String(), "\n", s.newline)
}

// remove takes a child out of a container, with the comma and the white space that belong to it.
func remove(text []byte, in node, i int) []byte {
	end, begin, before := in.values[i].end, in.start+1, -1
	if i > 0 {
		before, _ = skip(text, in.values[i-1].end) // the comma
		begin = before + 1
	}
	_, from := skip(text, begin)
	if comma, _ := skip(text, end); text[comma] == ',' {
		return splice(splice(text, comma, comma+1, ""), from, end, "")
	}
	if text = splice(text, from, end, ""); before >= 0 {
		text = splice(text, before, before+1, "")
	}
	return text
}

func splice(text []byte, from, to int, with string) []byte {
	out := make([]byte, 0, len(text)+len(with))
	return append(append(append(out, text[:from]...), with...), text[to:]...)
}

// readable says whether a file can be edited as text.
func readable(text []byte) error {
	if !utf8.Valid(text) {
		return human.Errorf(human.Invalid, "it is not UTF-8")
	}
	if bytes.ContainsRune(text, 0) {
		return human.Errorf(human.Invalid, "it is not text")
	}
	return nil
}
