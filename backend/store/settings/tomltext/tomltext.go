// Package tomltext is what the readers of Deskbell's own TOML files share: where things stand in such a text, mistakes with
// their line, and writing the file back with all else in it as it was.
package tomltext

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// A Place is where something stands in a text.
type Place struct {
	Path       []string // keys, and the numbers of the elements of lists, from 0
	Line       int      // from 1
	Start, End int      // of the value, as byte offsets; 0, 0 where it has none of its own
	Kind       Kind
}

// Kind is what stands at a Place.
type Kind uint8

// The kinds.
const (
	Value   Kind = iota // of a key
	Inline              // a table that is the value of a key; its own keys follow
	Element             // of an array
	Head                // of a table
	Next                // the head of one more table of a list
)

// Dotted is the path as a setting's key.
func (p Place) Dotted() string { return strings.Join(p.Path, ".") }

// A LineError is a mistake in a text, with its line; 0 where it is not known.
type LineError struct {
	Line int
	Msg  string
}

// Error begins with the line.
func (e *LineError) Error() string {
	if e.Line == 0 {
		return e.Msg
	}
	return fmt.Sprintf("line %d: %s", e.Line, e.Msg)
}

// Unmarshal is toml.Unmarshal whose errors are LineErrors, where they are the text's.
func Unmarshal(data []byte, v any) error {
	err := toml.Unmarshal(data, v)
	var bad *toml.DecodeError
	if errors.As(err, &bad) {
		row, _ := bad.Position()
		msg := strings.TrimPrefix(bad.Error(), "toml: ")
		if key := bad.Key(); len(key) > 0 {
			msg = strings.Join(key, ".") + ": " + msg
		}
		return &LineError{row, msg}
	}
	return err
}

// Reason is an error of a file without the path, for a message that has it already.
func Reason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// Locate finds everything that has a name in a valid text, in order.
func Locate(data []byte) []Place {
	l := locator{data: data, count: map[string]int{}}
	l.parser.Reset(data)
	var table []string
	for l.parser.NextExpression() {
		e := l.parser.Expression()
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			path, at, _ := keyOf(e)
			kind := Head
			if e.Kind == unstable.ArrayTable {
				kind = Next
			}
			table = l.numbered(path, kind == Next)
			l.places = append(l.places, Place{Path: table, Line: LineAt(data, at), Kind: kind})
		case unstable.KeyValue:
			l.keyValue(table, e)
		}
	}
	return l.places
}

type locator struct {
	data   []byte
	parser unstable.Parser
	places []Place
	count  map[string]int // of the elements of each list of tables, by its path
}

// numbered is a path with the numbers of the elements that it goes through; a new one begins where next.
func (l *locator) numbered(path []string, next bool) []string {
	var out []string
	for i, key := range path {
		out = append(out, key)
		id := strings.Join(out, "\x00")
		last := i == len(path)-1
		if last && next {
			l.count[id]++
		}
		if n := l.count[id]; n > 0 {
			out = append(out, strconv.Itoa(n-1))
		}
	}
	return out
}

func (l *locator) keyValue(table []string, e *unstable.Node) {
	key, at, after := keyOf(e)
	p := Place{Path: slices.Concat(table, key), Line: LineAt(l.data, at)}
	if end := int(e.Raw.Offset + e.Raw.Length); e.Raw.Length > 0 && after < end {
		p.Start = after + bytes.IndexByte(l.data[after:], '=') + 1
		p.Start += len(l.data[p.Start:end]) - len(bytes.TrimLeft(l.data[p.Start:end], " \t"))
		p.End = end - (len(l.data[p.Start:end]) - len(bytes.TrimRight(l.data[p.Start:end], " \t\r\n")))
	}
	if e.Value().Kind == unstable.InlineTable {
		p.Kind = Inline
	}
	l.places = append(l.places, p)
	l.value(p.Path, p.Line, e.Value())
}

func (l *locator) value(path []string, line int, v *unstable.Node) {
	switch v.Kind {
	case unstable.InlineTable:
		for it := v.Children(); it.Next(); {
			if it.Node().Kind == unstable.KeyValue {
				l.keyValue(path, it.Node())
			}
		}
	case unstable.Array:
		n := 0
		for it := v.Children(); it.Next(); n++ {
			element := slices.Concat(path, []string{strconv.Itoa(n)})
			if raw := it.Node().Raw; raw.Length > 0 {
				line = LineAt(l.data, int(raw.Offset))
			}
			l.places = append(l.places, Place{Path: element, Line: line, Kind: Element})
			l.value(element, line, it.Node())
		}
	}
}

// keyOf is the key of an expression, where it begins, and where it ends.
func keyOf(e *unstable.Node) (path []string, at, after int) {
	at = -1
	for it := e.Key(); it.Next(); {
		n := it.Node()
		path = append(path, string(n.Data))
		if at < 0 {
			at = int(n.Raw.Offset)
		}
		after = int(n.Raw.Offset + n.Raw.Length)
	}
	return path, at, after
}

// LineAt is the line that a byte is in, from 1.
func LineAt(data []byte, offset int) int {
	return 1 + bytes.Count(data[:min(offset, len(data))], []byte("\n"))
}
