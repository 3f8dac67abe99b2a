package human

import (
	"encoding/json"
	"reflect"
	"testing"
)

// Members are those that encoding/json finds, however the object is written.
func FuzzMembers(f *testing.F) {
	for _, text := range []string{
		`{}`, ` { } `, `{"a":1}`, "\t{ \"a\" : [1, {\"b\":\"}\"}] ,\n\"action\":\"x,:{[\\\"\" } ", `{"a":1,"a":{"a":2,"b":[]}}`, `{"\u0061ction":"ls","\\":null}`, `{"":""}`,
		`[{"a":1}]`, `null`, `"{}"`, `{"a":}`, `{"a":1`, ``, `{"a":"\\"}`, `{"a":{}, "b":[[]]}`, `{"é":"\ud83d"}`, "\u0085{\"a\":1}",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		want := map[string]json.RawMessage{}
		if json.Unmarshal(raw, &want) != nil || want == nil {
			want = map[string]json.RawMessage{}
		}
		got := map[string]json.RawMessage{}
		Members(raw, func(name []byte, value json.RawMessage) {
			var whole string // only encoding/json replaces invalid UTF-8
			quoted, _ := json.Marshal(string(name))
			if json.Unmarshal(quoted, &whole) == nil {
				got[whole] = value
			}
		})
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%q has the members %q, want %q", raw, got, want)
		}
	})
}

func TestJSONString(t *testing.T) {
	for _, raw := range []string{
		`"word"`, `""`, `"a \"quoted\" word"`, `"a\n\u00e9"`, `"é"`, "\"\xff\"", "\"\t\"", `"a"b"`, `"`, `"\"`, ` "spaced" `, `null`, `1`, `{}`, ``, "\"\x7f\"",
	} {
		var want string
		is := json.Unmarshal([]byte(raw), &want) == nil
		if got, ok := JSONString([]byte(raw)); got != want || ok != is {
			t.Errorf("%q is %q, %v; want %q, %v", raw, got, ok, want, is)
		}
	}
}
