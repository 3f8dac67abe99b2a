package kind_test

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/kind"
)

func TestABoxIsAnsweredWithWhatIsKept(t *testing.T) {
	op := human.Operation{Kind: human.Box, Details: json.RawMessage(`{"files":[{"path":"a"},{"path":".git/hooks/x","warning":"runs_by_itself"},{"path":".git/"}]}`)}
	keep := func(d human.Decision, paths ...string) *human.Answer {
		return &human.Answer{Decision: d, BoxAnswer: human.BoxAnswer{Keep: paths}}
	}
	for name, tt := range map[string]struct {
		answer *human.Answer
		field  string // at fault; "" is right
	}{
		"one":                      {keep(human.Approved, "a"), ""},
		"all":                      {keep(human.Approved, "a", ".git/hooks/x", ".git/"), ""},
		"none":                     {keep(human.Approved), "keep"},
		"one that is not there":    {keep(human.Approved, "a", "b"), "keep"},
		"a part of a path":         {keep(human.Approved, ".git"), "keep"},
		"one twice":                {keep(human.Approved, "a", "a"), "keep"},
		"nothing said":             {keep("", "a"), "decision"},
		"discarded":                {keep(human.Refused), ""},
		"discarded, but for a few": {keep(human.Refused, "a"), ""},
	} {
		err := kind.Box.Check(op, tt.answer)
		e := new(human.Error)
		if errors.As(err, &e); e.Field != tt.field {
			t.Errorf("%s: %v", name, err)
		}
		if tt.answer.Decision == human.Refused && tt.answer.Keep != nil {
			t.Errorf("%s: it keeps %q", name, tt.answer.Keep)
		}
	}
	if err := kind.Box.Check(human.Operation{Kind: human.Box, Details: json.RawMessage(`{"files":"a"}`)}, keep(human.Approved, "a")); err == nil {
		t.Error("what lists no files is kept")
	}
	if got := kind.Harmless(kind.BoxFiles(op)); !slices.Equal(got, []string{"a", ".git/"}) {
		t.Errorf("harmless are %q", got)
	}
}
