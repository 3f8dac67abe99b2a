package mcpproxy

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func TestWhatTwoServersMightReadDifferentlyIsRefused(t *testing.T) {
	for name, raw := range map[string]string{
		"two names":                   `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","name":"b"}}`,
		"a name in another case":      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","Name":"b"}}`,
		"only in another case":        `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"NAME":"b"}}`,
		"a name written otherwise":    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","n\u0061me":"b"}}`,
		"two arguments":               `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{},"arguments":{"x":1}}}`,
		"one argument twice":          `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"p":"x","p":"y"}}}`,
		"an argument in two cases":    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"p":"x","P":"y"}}}`,
		"one twice, deeper":           `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"p":[{"q":{"r":1,"\u0072":2}}]}}}`,
		"two methods, the last":       `{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call","params":{"name":"a"}}`,
		"two methods, the first":      `{"jsonrpc":"2.0","id":1,"method":"tools/call","method":"ping","params":{"name":"a"}}`,
		"a method in another case":    `{"jsonrpc":"2.0","id":1,"Method":"tools/call","params":{"name":"a"}}`,
		"a method beside the other":   `{"jsonrpc":"2.0","id":1,"method":"ping","METHOD":"tools/call","params":{"name":"a"}}`,
		"two params":                  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"},"params":{"name":"b"}}`,
		"params of an old s":          `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"},"paramſ":{"name":"b"}}`,
		"two ids":                     `{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/call","params":{"name":"a"}}`,
		"no id":                       `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"a"}}`,
		"an id that is null":          `{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":"a"}}`,
		"no params":                   `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`,
		"params that are a list":      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":["a"]}`,
		"no name":                     `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}`,
		"a name that is a number":     `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}`,
		"arguments that are a text":   `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":"{}"}}`,
		"a method written otherwise":  `{"jsonrpc":"2.0","method":"\u0074ools\/call","params":{"name":"a"}}`,
		"no JSON":                     `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a",}}`,
		"JSON of other languages":     `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"n":NaN}}}`,
		"two values":                  `{"jsonrpc":"2.0","method":"ping"}{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}`,
		"not UTF-8":                   "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"a\xff\"}}",
		"a mark before it":            "\ufeff" + `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}`,
		"half of a message":           `{"jsonrpc":"2.0","id":1,"method":"tools/call",`,
		"a batch within a batch":      `[[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}]]`,
		"a malformed one in a batch":  `[{"jsonrpc":"2.0","id":2,"method":"ping"},{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","name":"b"}}]`,
		"deeper than JSON is read":    `{"id":1,"method":"tools/call","params":{"name":"a","arguments":{"x":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}}}`,
		"a text that is half a pair?": `{"jsonrpc":"2.0","id":{"a":1},"method":"tools/call","params":{"name":"a"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			m := read([]byte(raw))
			refused := m.err != nil
			for _, one := range m.batch {
				refused = refused || one.err != nil
			}
			if !refused || m.call != nil {
				t.Errorf("it passes: %+v", m)
			}
		})
	}
}

func TestWhatIsNoCallIsLeftAlone(t *testing.T) {
	for _, raw := range []string{
		"", "  ", "null", "7", `"tools/call"`, "[]", "{}",
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":1,"method":"ping","method":"pong"}`,
		`{"jsonrpc":"2.0","id":1,"result":{"method":"tools/call"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"Tools/Call","params":{"name":"a"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"x","params":{"method":"tools/call","name":"a"}}`,
		`{"jsonrpc":"2.0","method":"notifications/x","params":{"a":"\ud800","b":1e999}}`,
		`[{"jsonrpc":"2.0","id":1,"method":"ping"}, 7, {"id":2,"result":{}}]`,
	} {
		if m := read([]byte(raw)); m.gated() {
			t.Errorf("%s is stopped: %+v", raw, m)
		}
	}
}

func TestACallIsReadExactly(t *testing.T) {
	m := read([]byte(` { "params" : {"_meta":{"progressToken":"t","io.modelcontextprotocol/protocolVersion":"2026-07-28"} , "arguments" : {"a": [1, {"b":"}\""}] } ,"name":"x\u0079"}, "id" : "7", "method":"tools/call"} `))
	c := m.call
	if c == nil || c.name != "xy" || string(c.args) != `{"a": [1, {"b":"}\""}] }` || string(m.token()) != `"t"` || !c.modern || string(m.id) != `"7"` {
		t.Fatalf("%+v %+v", m, c)
	}
	if got := string(m.withArgs(json.RawMessage(`{}`))); got != ` { "params" : {"_meta":{"progressToken":"t","io.modelcontextprotocol/protocolVersion":"2026-07-28"} , "arguments" : {} ,"name":"x\u0079"}, "id" : "7", "method":"tools/call"} ` {
		t.Error(got)
	}
}

func TestArgumentsCanBePutWhereThereAreNone(t *testing.T) {
	for raw, want := range map[string]string{
		`{"id":1,"method":"tools/call","params":{"name":"a"}}`:                    `{"id":1,"method":"tools/call","params":{"arguments":{"x":1},"name":"a"}}`,
		`{"id":1,"method":"tools/call","params": { "name":"a","arguments":null}}`: `{"id":1,"method":"tools/call","params": { "name":"a","arguments":{"x":1}}}`,
	} {
		if got := string(read([]byte(raw)).withArgs(json.RawMessage(`{"x":1}`))); got != want {
			t.Error(got)
		}
	}
}

func TestIdsAreTheSameWhenTheyMeanTheSame(t *testing.T) {
	for _, same := range [][2]string{{`"a"`, `"\u0061"`}, {"1", "1.0"}, {"1", "10e-1"}} {
		if key(json.RawMessage(same[0])) != key(json.RawMessage(same[1])) {
			t.Errorf("%s and %s", same[0], same[1])
		}
	}
	for _, other := range [][2]string{{`"1"`, "1"}, {"9007199254740993", "9007199254740992"}} {
		if key(json.RawMessage(other[0])) == key(json.RawMessage(other[1])) {
			t.Errorf("%s and %s", other[0], other[1])
		}
	}
}

// seen is what a server written in Go reads, which takes keys in any case, and of two the last.
type seen struct {
	Method string
	Params struct {
		Name      string
		Arguments json.RawMessage
	}
}

// FuzzRead holds that no server sees a call that is not judged, nor another one than is judged.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"p":"x"}}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"ping","METHOD":"tools/call","params":{"name":"a","Name":"b"}}`))
	f.Add([]byte(`{"id":"a","params":{"name":"a","_meta":{"progressToken":1}},"method":"tools\/call"}`))
	f.Add([]byte(`[{"id":"a","params":{"name":"a","arguments":null},"method":"tools/call"},[],"x",{}]`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		kept := bytes.Clone(raw)
		m := read(raw)
		if !bytes.Equal(raw, kept) {
			t.Fatal("the bytes were changed")
		}
		parts, texts := []message{m}, []json.RawMessage{raw}
		if m.batch != nil {
			texts = nil
			if json.Unmarshal(raw, &texts) != nil || len(texts) != len(m.batch) {
				t.Fatalf("%d parts of %q", len(m.batch), raw)
			}
			parts = m.batch
		}
		for i, one := range parts {
			var s seen
			err := json.Unmarshal(texts[i], &s)
			if err == nil && s.Method == callMethod && one.call == nil && one.err == nil && m.err == nil {
				t.Fatalf("a call passes: %q", texts[i])
			}
			if one.call == nil {
				continue
			}
			if err != nil || s.Method != callMethod || s.Params.Name != one.call.name {
				t.Fatalf("%q is read as %q, and as %+v by a server", texts[i], one.call.name, s)
			}
			if theirs := string(s.Params.Arguments); theirs != string(one.call.args) && theirs != "null" {
				t.Fatalf("%q has arguments %q, and %q for a server", texts[i], one.call.args, theirs)
			}
			var changed seen
			if json.Unmarshal(one.withArgs(json.RawMessage(`{"new":[1]}`)), &changed) != nil || string(changed.Params.Arguments) != `{"new":[1]}` || changed.Params.Name != s.Params.Name {
				t.Fatalf("%q becomes %q", texts[i], one.withArgs(json.RawMessage(`{"new":[1]}`)))
			}
		}
	})
}
