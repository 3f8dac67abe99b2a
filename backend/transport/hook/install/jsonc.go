package install

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"deskbell/backend/human"
)

// A node is a value of a JSON text that may have comments and trailing commas, with where it stands. Numbers are byte
// offsets; the end is the first byte behind it.
type node struct {
	kind       byte // { [ " or v for the rest
	start, end int
	keys       []node // of an object: its members' names
	values     []node // of an object or a list
	comma      int    // of the trailing comma, or -1
}

// parse reads a text. Of members of one name the last counts, as for those who read the file for real.
func parse(text []byte) (node, error) {
	p := parser{text: text}
	if bytes.HasPrefix(text, []byte("\xef\xbb\xbf")) {
		p.at = 3
	}
	p.space()
	n := p.value(0)
	p.space()
	if p.err == nil && p.at < len(text) {
		p.fail("more than one value")
	}
	return n, p.err
}

type parser struct {
	text []byte
	at   int
	err  error
}

func (p *parser) fail(what string) {
	if p.err == nil {
		line := 1 + bytes.Count(p.text[:min(p.at, len(p.text))], []byte("\n"))
		p.err = human.Errorf(human.Invalid, "line %d: %s", line, what)
		p.at = len(p.text)
	}
}

func (p *parser) peek() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

// space goes over white space and comments, and returns the end of the last comment, or where it began.
func (p *parser) space() (comments int) {
	comments = p.at
	for p.at < len(p.text) {
		rest := p.text[p.at:]
		switch {
		case rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\n' || rest[0] == '\r':
			p.at++
			continue
		case bytes.HasPrefix(rest, []byte("//")):
			end := bytes.IndexAny(rest, "\r\n")
			if end < 0 {
				end = len(rest)
			}
			p.at += end
		case bytes.HasPrefix(rest, []byte("/*")):
			end := bytes.Index(rest, []byte("*/"))
			if end < 0 {
				p.fail("a comment that does not end")
				return comments
			}
			p.at += end + 2
		default:
			return comments
		}
		comments = p.at
	}
	return comments
}

const deepest = 200

func (p *parser) value(depth int) node {
	n := node{kind: p.peek(), start: p.at, comma: -1}
	if depth > deepest {
		p.fail("nested too deeply")
	}
	switch n.kind {
	case '{', '[':
		p.at++
		for p.space(); p.err == nil && p.peek() != n.kind+2; p.space() { // } and ] are two behind { and [
			if len(n.values) > 0 && n.comma < 0 {
				p.fail("a comma is missing")
				break
			}
			if n.kind == '{' {
				if p.peek() != '"' {
					p.fail("a member's name is missing")
					break
				}
				n.keys = append(n.keys, p.value(depth+1))
				p.space()
				if p.peek() != ':' {
					p.fail("a colon is missing")
					break
				}
				p.at++
				p.space()
			}
			n.values = append(n.values, p.value(depth+1))
			p.space()
			if n.comma = -1; p.peek() == ',' {
				n.comma = p.at
				p.at++
			}
		}
		p.at++
	case '"':
		for p.at++; p.at < len(p.text) && p.text[p.at] != '"'; p.at++ {
			if p.text[p.at] == '\\' {
				p.at++
			}
		}
		if p.at++; p.at > len(p.text) || !json.Valid(p.text[n.start:p.at]) {
			p.fail("a text that does not end, or has what no text may have")
		}
	default:
		n.kind = 'v'
		for p.at < len(p.text) && (p.text[p.at] == '-' || p.text[p.at] == '+' || p.text[p.at] == '.' || p.text[p.at] >= '0' && p.text[p.at] <= '9' || p.text[p.at] >= 'A' && p.text[p.at] <= 'Z' || p.text[p.at] >= 'a' && p.text[p.at] <= 'z') {
			p.at++
		}
		if !json.Valid(p.text[n.start:p.at]) {
			p.fail("a value that JSON does not know; texts stand in double quotes")
		}
	}
	n.end = min(p.at, len(p.text))
	return n
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
	p := parser{text: text}
	// before is what stands before the child; a comment may go on to the end of its line.
	before := func(begin, comments int) string {
		if inline && comments == begin {
			return " "
		}
		return s.newline + indent
	}
	switch {
	case len(in.values) == 0:
		p.at = in.start + 1
		at := p.space()
		after := ""
		if !bytes.Contains(text[at:in.end], []byte("\n")) {
			outer, _ := lineStart(text, in.start)
			after = s.newline + outer
		}
		return splice(text, at, at, s.newline+indent+child+after)
	case in.comma >= 0:
		p.at = in.comma + 1
		at := p.space()
		return splice(text, at, at, before(in.comma+1, at)+child+",")
	}
	last := in.values[len(in.values)-1].end
	p.at = last
	at := p.space()
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
	end := in.values[i].end
	p := parser{text: text, at: in.start + 1}
	before := -1
	if i > 0 {
		p.at = in.values[i-1].end
		p.space()
		before = p.at // the comma
		p.at++
	}
	from := p.space()
	p.at = end
	p.space()
	if p.peek() == ',' {
		return splice(splice(text, p.at, p.at+1, ""), from, end, "")
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
		return human.Errorf(human.Invalid, "it is no text")
	}
	return nil
}
