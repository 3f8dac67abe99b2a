package queue

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf8"
)

// doubled finds a doubled name the slow way: with the standard library, one token at a time.
func doubled(raw []byte) bool {
	d := json.NewDecoder(bytes.NewReader(raw))
	type level struct {
		names map[string]bool // nil: an array
		value bool            // the next token is a value
	}
	var open []level
	for {
		token, err := d.Token()
		if err != nil {
			return false
		}
		if n := len(open); n > 0 && open[n-1].names != nil {
			if name, is := token.(string); is && !open[n-1].value {
				if open[n-1].names[name] {
					return true
				}
				open[n-1].names[name], open[n-1].value = true, true
				continue
			}
			open[n-1].value = false
		}
		switch token {
		case json.Delim('{'):
			open = append(open, level{names: map[string]bool{}})
		case json.Delim('['):
			open = append(open, level{})
		case json.Delim('}'), json.Delim(']'):
			open = open[:len(open)-1]
		}
	}
}

func FuzzRepeated(f *testing.F) {
	for _, seed := range []string{
		`{"a":1,"a":2}`, `{"a":{"b":[1,{"c":1,"c":2}]}}`, `{"a":1,"\u0061":2}`, `{"a":1,"A":2}`, `{"é":1,"e\u0301":2}`, `{"a":"a","b":"a"}`, `[{"a":1},{"a":1}]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !json.Valid(raw) {
			return
		}
		at, twice := repeated(raw)
		if twice != doubled(raw) && !bytes.Contains(raw, []byte(`\u`)) && !bytes.ContainsRune(raw, '\uFFFD') && utf8.Valid(raw) {
			t.Errorf("%q: %t at %q", raw, twice, at)
		}
	})
}
