package plan

import (
	"encoding/json"
	"testing"

	"deskbell/backend/human"
)

// What a page in a browser sends back of a task that no one touched is what the agent sent, exactly.
func TestArgumentsStayAsTheyWere(t *testing.T) {
	for name, c := range map[string]struct {
		was, now string
		changed  bool
	}{
		"escapes":                   {`{"text":"\u5c06 \u003cb\u003e"}`, `{"text":"将 <b>"}`, false},
		"the order of names":        {`{"b":{"d":2,"c":1},"a":1}`, `{"a":1,"b":{"c":1,"d":2}}`, false},
		"a number without its zero": {`{"a":1.0,"b":[1e3]}`, `{"a":1,"b":[1000]}`, false},
		"a number that is rounded":  {`{"id":12345678901234567891}`, `{"id":12345678901234567000}`, false},
		"another number":            {`{"id":12345678901234567891}`, `{"id":12345678901234567892}`, true},
		"another text":              {`{"a":"1"}`, `{"a":"2"}`, true},
		"a text for a number":       {`{"a":1}`, `{"a":"1"}`, true},
		"one more name":             {`{"a":1}`, `{"a":1,"b":null}`, true},
		"another order of a list":   {`{"a":[1,2]}`, `{"a":[2,1]}`, true},
		"null is something":         {`{"a":null}`, `{"b":null}`, true},
		"true is not false":         {`{"a":true}`, `{"a":false}`, true},
	} {
		was := []human.Task{{ID: "x", Args: json.RawMessage(c.was)}}
		got := asWas(was, []human.Task{{ID: "x", Args: json.RawMessage(c.now)}})[0].Args
		if want := map[bool]string{false: c.was, true: c.now}[c.changed]; string(got) != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	other := asWas([]human.Task{{ID: "x", Args: json.RawMessage(`{"a":1.0}`)}}, []human.Task{{ID: "y", Args: json.RawMessage(`{"a":1}`)}, {ID: "x"}})
	if string(other[0].Args) != `{"a":1}` || other[1].Args != nil {
		t.Errorf("a task took another's arguments, or those that were taken from it: %s, %s", other[0].Args, other[1].Args)
	}
}
