// Package tools has the tools of the reference agent: the shell, files, HTTP, and those of any MCP server. They have the
// names and arguments by which the gatekeeper understands a call. None of them asks anybody: that is done before they run.
package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"

	"deskbell/backend/agent"
	"deskbell/backend/human"
)

// maxText is how much of what a tool puts out a model is shown, in bytes; of more, the beginning and the end.
const maxText = 32 << 10

// Judged is a tool of which the gatekeeper can be told more than its name and arguments.
type Judged interface {
	// Tell fills in what is known of the tool: its server's description, schema and annotations, and the name that rules
	// call it by.
	Tell(call *human.ToolCall)
}

// Told returns what fills in a call of one of the tools, by the name that the model knows, where the gatekeeper can be told more
// about it; it says whether that is so.
func Told(all []agent.Tool) func(call *human.ToolCall) bool {
	judged := map[string]Judged{}
	for _, t := range all {
		if j, is := t.(Judged); is {
			judged[t.Spec().Name] = j
		}
	}
	return func(call *human.ToolCall) bool {
		j := judged[call.Tool]
		if j != nil {
			j.Tell(call)
		}
		return j != nil
	}
}

// failed is the output of a call that did not do what it was to do.
func failed(format string, args ...any) agent.Output {
	return agent.Output{Text: fmt.Sprintf(format, args...), Failed: true}
}

// read reads the arguments of a call into the fields of a struct. It takes the very names of its fields and no others, each
// once: what the gatekeeper read is what the tool does.
func read(raw json.RawMessage, into any) error {
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = json.RawMessage("{}")
	}
	known := map[string]bool{}
	var names []string
	t := reflect.TypeOf(into).Elem()
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		known[name], names = true, append(names, name)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	if start, err := d.Token(); err != nil || start != json.Delim('{') {
		return errors.New("the arguments must be a JSON object")
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return fmt.Errorf("the arguments are no JSON: %w", err)
		}
		name, _ := key.(string)
		free, ok := known[name]
		if !ok {
			return fmt.Errorf("there is no argument %q; there are %s", human.OneLine(name, 60), strings.Join(names, ", "))
		}
		if !free {
			return fmt.Errorf("the argument %s stands there twice", name)
		}
		known[name] = false
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return fmt.Errorf("the arguments are no JSON: %w", err)
		}
	}
	if _, err := d.Token(); err != nil {
		return fmt.Errorf("the arguments are no JSON: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is something after the arguments")
	}
	if err := json.Unmarshal(raw, into); err != nil {
		var kind *json.UnmarshalTypeError
		if errors.As(err, &kind) {
			return fmt.Errorf("the argument %s must not be a %s", kind.Field, kind.Value)
		}
		return err
	}
	return nil
}

// A property is an argument of a tool.
type property struct {
	name, kind, about string
	needed            bool
}

// schema is the JSON Schema of a tool's arguments.
func schema(list ...property) json.RawMessage {
	properties, needed := map[string]any{}, []string{}
	for _, p := range list {
		one := map[string]any{"type": p.kind, "description": p.about}
		if p.kind == "object" {
			one["additionalProperties"] = map[string]any{"type": "string"}
		}
		properties[p.name] = one
		if p.needed {
			needed = append(needed, p.name)
		}
	}
	text, err := json.Marshal(map[string]any{"type": "object", "properties": properties, "required": needed, "additionalProperties": false})
	if err != nil {
		panic(err) // it is made of texts
	}
	return text
}

// An ends keeps the beginning and the end of what is written to it. It is not safe for concurrent use.
type ends struct {
	head, tail []byte // tail is a ring once it is full
	at         int
	most       int // bytes of each
	total      int64
}

// Write takes it all and never fails.
func (e *ends) Write(p []byte) (int, error) {
	n := len(p)
	e.total += int64(n)
	if room := e.most - len(e.head); room > 0 {
		take := min(room, len(p))
		e.head, p = append(e.head, p[:take]...), p[take:]
	}
	if len(p) > e.most {
		p = p[len(p)-e.most:]
	}
	for len(p) > 0 {
		if len(e.tail) < e.most {
			take := min(e.most-len(e.tail), len(p))
			e.tail, p = append(e.tail, p[:take]...), p[take:]
			continue
		}
		take := copy(e.tail[e.at:], p)
		e.at, p = (e.at+take)%e.most, p[take:]
	}
	return n, nil
}

// text is what was written, with what was left out said in its place.
func (e *ends) text() string {
	tail := append(append([]byte{}, e.tail[e.at:]...), e.tail[:e.at]...)
	left := e.total - int64(len(e.head)) - int64(len(tail))
	if left == 0 {
		return plain(string(e.head) + string(tail))
	}
	return plain(string(e.head)) + fmt.Sprintf("\n[... %d bytes left out ...]\n", left) + plain(string(tail))
}

// bounded is a text cut to its beginning and its end where it is long.
func bounded(text string) string {
	e := ends{most: maxText / 2}
	_, _ = io.WriteString(&e, text) // it never fails
	return e.text()
}

// plain is text that is surely UTF-8 and has no NUL, which neither protocol of a model takes.
func plain(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

// environment is this process's without what is Deskbell's own: the agent's key and the model's must not come into the
// hands of what the agent runs.
func environment(more ...string) []string {
	var out []string
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); !strings.HasPrefix(strings.ToUpper(name), "DESKBELL_") {
			out = append(out, v)
		}
	}
	return append(out, more...)
}
