package plugins

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"deskbell/backend/human"
	"deskbell/backend/kind"
	"deskbell/summarizers"
)

// A schema is the JSON Schema of one type and of what that is made of.
type schema struct {
	registry huma.Registry
	root     *huma.Schema
	title    string
}

const definitions = "#/$defs/"

// schemas are made once, from the Go types, whose tags the API's description is made from as well.
var schemas = sync.OnceValue(func() map[string]schema {
	of := func(t reflect.Type, title string, open bool) schema {
		r := huma.NewMapRegistry(definitions, huma.DefaultSchemaNamer)
		root := r.Schema(t, true, "")
		for _, s := range r.Map() {
			if open && s.AdditionalProperties == false {
				s.AdditionalProperties = nil // later versions may tell more
			}
			if p := s.Properties["action_type"]; p != nil {
				p.Enum = named(kind.Names())
			}
			if p := s.Properties["kinds"]; p != nil {
				p.Items.Enum = named(kind.ForAgents())
			}
			for _, p := range s.Properties {
				if !open && p.Type == huma.TypeArray {
					p.Nullable = false
				}
			}
			s.PrecomputeMessages()
		}
		return schema{r, root, title}
	}
	return map[string]schema{
		"input":    of(reflect.TypeFor[summarizers.Input](), "What a summarizer of Deskbell reads", true),
		"report":   of(reflect.TypeFor[human.Report](), "What a summarizer of Deskbell writes", false),
		"manifest": of(reflect.TypeFor[Manifest](), "The summarizer.json of a plug-in", false),
	}
})

func named(kinds []human.Kind) []any {
	all := make([]any, len(kinds))
	for i, k := range kinds {
		all[i] = string(k)
	}
	return all
}

// Schema returns the JSON Schema (2020-12) of what a plug-in reads and writes: input, report or manifest; nil for
// any other name.
func Schema(name string) []byte {
	s, ok := schemas()[name]
	if !ok {
		return nil
	}
	text, err := json.MarshalIndent(struct {
		Draft string                  `json:"$schema"`
		Title string                  `json:"title"`
		Ref   string                  `json:"$ref"`
		Defs  map[string]*huma.Schema `json:"$defs"`
	}{"https://json-schema.org/draft/2020-12/schema", s.title, s.root.Ref, s.registry.Map()}, "", "  ")
	if err != nil {
		panic(err) // it is made of constants
	}
	return append(text, '\n')
}

// valid holds a JSON text against a schema. The error says where it differs, in one line.
func valid(name string, text []byte) error {
	if !utf8.Valid(text) {
		return errors.New("it is not UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	var v any
	if err := dec.Decode(&v); err != nil {
		at := dec.InputOffset()
		var syntax *json.SyntaxError
		switch {
		case errors.As(err, &syntax):
			at = syntax.Offset - 1
		case errors.Is(err, io.EOF) && len(bytes.TrimSpace(text)) == 0:
			return errors.New("it is empty")
		case errors.Is(err, io.ErrUnexpectedEOF):
			at = int64(len(text))
			err = errors.New("it ends too early")
		}
		return fmt.Errorf("it is no JSON at %s: %w", place(text, at), err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("after the JSON something follows at %s", place(text, dec.InputOffset()))
	}
	s := schemas()[name]
	path, result := huma.NewPathBuffer(nil, 0), &huma.ValidateResult{}
	huma.Validate(s.registry, s.root, path, huma.ModeWriteToServer, v, result)
	if len(result.Errors) == 0 {
		return nil
	}
	var said []string
	for _, err := range result.Errors {
		words := err.Error()
		var d *huma.ErrorDetail
		if errors.As(err, &d) {
			words = d.Message
			if d.Location != "" {
				words = d.Location + ": " + d.Message
			}
		}
		said = append(said, words)
	}
	slices.Sort(said) // objects have no order
	more := ""
	if n := len(said) - 3; n > 0 {
		said, more = said[:3], fmt.Sprintf("; and %d more", n)
	}
	return errors.New(strings.Join(said, "; ") + more)
}
