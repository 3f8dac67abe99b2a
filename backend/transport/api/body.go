package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"deskbell/backend/human"
)

// A payload is the JSON body of a request. huma would parse it twice and echo it in its errors, so it is
// read here: once, strictly, with errors that say what to do.
type payload[T any] struct{ JSON T }

// operation implements names, where T does.
func (p *payload[T]) operation() human.OperationID {
	if n, is := any(p.JSON).(names); is {
		return n.operation()
	}
	return ""
}

func (payload[T]) bodyType() reflect.Type { return reflect.TypeFor[T]() }

// Resolve implements huma.Resolver.
func (p *payload[T]) Resolve(ctx huma.Context) []error {
	r, _ := humago.Unwrap(ctx)
	if err := decode(r, &p.JSON); err != nil {
		return []error{problemOf(err, r.Method)}
	}
	return nil
}

func decode(r *http.Request, into any) error {
	if text := r.Header.Get("Content-Type"); text != "" {
		media, _, err := mime.ParseMediaType(text)
		if err != nil || media != "application/json" {
			return newProblem(http.StatusUnsupportedMediaType, fmt.Sprintf("the body is %q; send JSON, with Content-Type: application/json", text))
		}
	}
	buf := buffers.Get().(*bytes.Buffer)
	defer recycle(buf)
	if _, err := buf.ReadFrom(r.Body); err != nil {
		return unread(err)
	}
	body := buf.Bytes()
	if !utf8.Valid(body) {
		return newProblem(http.StatusBadRequest, "the body is not valid UTF-8")
	}
	if len(bytes.TrimSpace(body)) == 0 {
		if _, empty := into.(*none); empty {
			return nil
		}
		return newProblem(http.StatusBadRequest, "the body is missing; send a JSON object")
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return undecoded(err, body, into)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return newProblem(http.StatusBadRequest, fmt.Sprintf("something follows the JSON object, at byte %d", d.InputOffset()))
	}
	return nil
}

func unread(err error) error {
	var tooLarge *http.MaxBytesError
	var timeout interface{ Timeout() bool }
	var ours *human.Error
	switch {
	case errors.As(err, &tooLarge):
		return newProblem(http.StatusRequestEntityTooLarge, fmt.Sprintf("the body is larger than %d bytes; send a part, or a path to a file", tooLarge.Limit))
	case errors.As(err, &ours):
		return err
	case errors.As(err, &timeout) && timeout.Timeout():
		return newProblem(http.StatusRequestTimeout, fmt.Sprintf("the body did not arrive within %s", bodyTime))
	}
	return newProblem(http.StatusBadRequest, "the body ended before its announced length")
}

// undecoded says what is wrong with a body that JSON could not be read from.
func undecoded(err error, body []byte, into any) error {
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return newProblem(http.StatusBadRequest, fmt.Sprintf("the body is half a JSON object: it ends at byte %d", len(body)))
	case errors.As(err, &syntax):
		return newProblem(http.StatusBadRequest, fmt.Sprintf("the body is not JSON: %v, at byte %d", syntax, syntax.Offset))
	}
	if misfit := misfit(reflect.TypeOf(into).Elem(), body, ""); misfit != nil {
		return misfit
	}
	return human.Wrap(human.Invalid, err, "the body does not fit this call") // such as a member that is there twice
}

// misfit is the error for the first place at which data, which is JSON, does not fit t; nil where it fits.
// path is where data stands in the body.
func misfit(t reflect.Type, data []byte, path string) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	err := d.Decode(reflect.New(t).Interface())
	if err == nil {
		return nil
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Struct:
		if found := misfitting(t, data, path); found != nil {
			return found
		}
	case reflect.Slice:
		var items []json.RawMessage
		if json.Unmarshal(data, &items) != nil {
			break
		}
		for i, item := range items {
			if found := misfit(t.Elem(), item, fmt.Sprintf("%s[%d]", path, i)); found != nil {
				return found
			}
		}
	}
	var kind *json.UnmarshalTypeError
	var when *time.ParseError
	switch {
	case errors.As(err, &kind) && path == "":
		return newProblem(http.StatusUnprocessableEntity, "the body must be a JSON object, not "+article(kind.Value))
	case errors.As(err, &kind):
		return human.BadField(path, "must be %s, not %s", jsonName(kind.Type), article(kind.Value))
	case errors.As(err, &when):
		return human.BadField(path, "%q is not a time; send one like 2026-11-21T10:00:00Z", strings.Trim(when.Value, `"`))
	case path == "":
		return nil
	}
	return human.BadField(path, "does not fit: %v", err)
}

// misfitting is misfit for the members of an object.
func misfitting(t reflect.Type, object []byte, path string) error {
	var sent map[string]json.RawMessage
	if json.Unmarshal(object, &sent) != nil {
		return nil
	}
	known := map[string]reflect.Type{} // by name in lower case, as encoding/json goes by it
	var names []string
	for _, f := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); !f.Anonymous && f.IsExported() && name != "-" {
			known[strings.ToLower(name)], names = f.Type, append(names, name)
		}
	}
	if path != "" {
		path += "."
	}
	for _, name := range slices.Sorted(maps.Keys(sent)) {
		field, ok := known[strings.ToLower(name)]
		if !ok {
			return human.BadField(path+name, "no such field; there are %s", strings.Join(names, ", "))
		}
		if found := misfit(field, sent[name], path+name); found != nil {
			return found
		}
	}
	return nil
}

// jsonName is a Go type in words of JSON.
func jsonName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.Slice:
		return "an array"
	}
	return "an object"
}

// article puts a or an before what encoding/json calls a value. Numbers may follow theirs ("number 1.5").
func article(value string) string {
	switch {
	case value == "bool":
		return "true or false"
	case strings.HasPrefix(value, "array"), strings.HasPrefix(value, "object"):
		return "an " + value
	}
	return "a " + value
}

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// recycle keeps a buffer for the next request, unless it has grown large.
func recycle(b *bytes.Buffer) {
	if b.Cap() <= 1<<16 {
		b.Reset()
		buffers.Put(b)
	}
}

// exact is a value with parts whose bytes must go out as they came in, where encoding/json would
// reformat them.
type exact interface{ appendTo(*bytes.Buffer) error }

// write writes v as JSON, in one piece. Only v can be at fault: a caller who has gone is no error.
func write(w io.Writer, v any) error {
	buf := buffers.Get().(*bytes.Buffer)
	defer recycle(buf)
	if err := appendJSON(buf, v); err != nil {
		return err
	}
	_, _ = w.Write(buf.Bytes())
	return nil
}

func appendJSON(buf *bytes.Buffer, v any) error {
	if e, ok := v.(exact); ok {
		return e.appendTo(buf)
	}
	return plain(buf, v)
}

// plain appends v as encoding/json writes it, HTML characters as they are, without a line feed.
func plain(buf *bytes.Buffer, v any) error {
	e := json.NewEncoder(buf)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	buf.Truncate(buf.Len() - 1)
	return nil
}

// reopen puts raw members into an object that ends, with depth braces, at the end of buf.
func reopen(buf *bytes.Buffer, depth int, members ...member) {
	buf.Truncate(buf.Len() - depth)
	for _, m := range members {
		if len(m.raw) > 0 {
			buf.WriteString(`,"` + m.name + `":`)
			buf.Write(m.raw)
		}
	}
	for range depth {
		buf.WriteByte('}')
	}
}

type member struct {
	name string
	raw  json.RawMessage
}
