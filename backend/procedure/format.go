package procedure

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"gopkg.in/yaml.v3"

	"deskbell/backend/human"
)

// longest is the size of a file, in bytes.
const longest = 1 << 20

// Write is a procedure as a file for people: YAML, with its fields in the order of human.Procedure, and nothing left out.
func Write(p human.Procedure) (string, error) {
	raw, err := json.Marshal(p)
	if err != nil {
		return "", human.Wrap(human.Invalid, err, "the procedure cannot be written")
	}
	var node yaml.Node
	if err := yaml.Unmarshal(raw, &node); err != nil { // JSON is YAML
		return "", human.Wrap(human.Invalid, err, "the procedure cannot be written")
	}
	plain(&node)
	var out bytes.Buffer
	e := yaml.NewEncoder(&out)
	e.SetIndent(2)
	if err := e.Encode(&node); err != nil {
		return "", human.Wrap(human.Invalid, err, "the procedure cannot be written")
	}
	return out.String(), nil
}

// plain takes the style of JSON off a node: short lists of plain values stay on a line.
func plain(n *yaml.Node) {
	n.Style = 0
	short, size := true, 0
	for _, c := range n.Content {
		plain(c)
		size += len(c.Value)
		short = short && c.Kind == yaml.ScalarNode
	}
	if n.Kind == yaml.SequenceNode && short && size < 80 {
		n.Style = yaml.FlowStyle
	}
}

// Read is the procedure of a file. An Invalid error names the line and the field; it says nothing of what Lint finds.
func Read(file string) (human.Procedure, error) {
	var p human.Procedure
	if len(file) > longest {
		return p, human.BadField("file", "is %d bytes, the limit is %d", len(file), longest)
	}
	var node yaml.Node
	d := yaml.NewDecoder(strings.NewReader(file))
	if err := d.Decode(&node); err != nil {
		return p, human.BadField("file", "is no YAML: %s", human.OneLine(strings.TrimPrefix(err.Error(), "yaml: "), 200))
	}
	if err := d.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return p, human.BadField("file", "holds more than one document; a procedure is one")
	}
	if err := unaliased(&node); err != nil {
		return p, err
	}
	var any any
	if err := node.Decode(&any); err != nil {
		return p, human.BadField("file", "is no YAML: %s", human.OneLine(err.Error(), 200))
	}
	raw, err := json.Marshal(any)
	if err != nil {
		return p, human.BadField("file", "has a key that is no text: %s", human.OneLine(err.Error(), 200))
	}
	j := json.NewDecoder(bytes.NewReader(raw))
	j.DisallowUnknownFields()
	if err := j.Decode(&p); err != nil {
		return p, mistake(&node, err)
	}
	if p.Format != 1 {
		return p, human.BadField("file", "line 1: deskbell_procedure is %d; this Deskbell reads 1", p.Format)
	}
	return p, nil
}

// unaliased says no to anchors: a small file could be a large procedure by them.
func unaliased(n *yaml.Node) error {
	if n.Kind == yaml.AliasNode || n.Anchor != "" {
		return human.BadField("file", "line %d: anchors and aliases are not read; write the value again", n.Line)
	}
	for _, c := range n.Content {
		if err := unaliased(c); err != nil {
			return err
		}
	}
	return nil
}

// mistake says where in the file a value is that does not fit.
func mistake(n *yaml.Node, err error) error {
	var typed *json.UnmarshalTypeError
	if errors.As(err, &typed) {
		path := strings.Split(typed.Field, ".")
		return human.BadField("file", "line %d: %s is no %s", lineOf(n, path[len(path)-1]), human.OneLine(typed.Field, 80), kindOf(typed.Type.Kind().String()))
	}
	field := strings.Trim(strings.TrimPrefix(err.Error(), "json: unknown field "), `"`)
	return human.BadField("file", "line %d: there is no field %q in a procedure", lineOf(n, field), human.OneLine(field, 80))
}

func kindOf(kind string) string {
	switch kind {
	case "slice":
		return "list"
	case "string":
		return "text"
	case "struct", "map":
		return "object"
	case "bool":
		return "true or false"
	}
	return "number"
}

// lineOf is the first line that has a key.
func lineOf(n *yaml.Node, key string) int {
	for i, c := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 && c.Value == key {
			return c.Line
		}
		if line := lineOf(c, key); line > 0 {
			return line
		}
	}
	return 0
}

// Digest is the SHA-256 of a file, in hex.
func Digest(file string) string {
	sum := sha256.Sum256([]byte(file))
	return hex.EncodeToString(sum[:])
}

// Called is a text as the name of a procedure or parameter; "" where nothing of it can stand in one.
func Called(text string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(text) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9' && b.Len() > 0:
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "_"):
			b.WriteByte('_')
		}
		if b.Len() >= 40 {
			break
		}
	}
	return strings.Trim(b.String(), "_")
}
