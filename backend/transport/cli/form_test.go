package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"deskbell/backend/human"
)

func TestAFormIsFilledInLineByLine(t *testing.T) {
	op := human.Operation{Kind: human.Feedback, Details: json.RawMessage(`{"options":["a","b","c"],"choose":"rank","response_schema":{"type":"object","properties":{
		"who":{"type":"string","title":"Who?","minLength":2},"sure":{"type":"boolean"},"n":{"type":"integer","maximum":9},"some":{"type":"array","items":{"enum":["x","y"]}}},"required":["who"]}}`)}
	var errs bytes.Buffer
	s := &shell{err: &errs}
	var a human.Answer
	// Each wrong line is asked again: half a ranking, nothing, one letter; what is no number.
	lines := "2,1\n2,3,1\n\nM\nMei\nyes\nmany\n7\ny, 1\n"
	if err := s.fillIn(bufio.NewScanner(strings.NewReader(lines)), op, &a); err != nil {
		t.Fatal(err)
	}
	if want := `{"choice":["b","c","a"],"n":7,"some":["y","x"],"sure":true,"who":"Mei"}`; string(a.Response) != want {
		t.Errorf("%s, want %s", a.Response, want)
	}
	for _, said := range []string{"response.choice: needs all 3", "response.who: is missing", "it needs at least 2", "response.n: must be of type integer", "  2  b"} {
		if !strings.Contains(errs.String(), said) {
			t.Errorf("%q is not said in %s", said, errs.String())
		}
	}
}
