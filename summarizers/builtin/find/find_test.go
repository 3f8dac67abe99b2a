package find

import (
	"fmt"
	"slices"
	"testing"

	"deskbell/backend/human"
)

// The weightiest findings come first, and no kind crowds out the others.
func TestFindingsAreOrderedAndLimited(t *testing.T) {
	var found []Claim
	for i := range 20 {
		found = append(found, Claim{Kind: human.FoundNote, Text: literal(fmt.Sprint("note ", i))}, Claim{Kind: human.FoundValue, Text: literal(fmt.Sprint("value ", i))})
	}
	found = append(found, Claim{Kind: human.FoundError, Text: literal("error")}, Claim{Kind: human.FoundOutcome, Text: literal("outcome")})
	kept, left := weigh(found)
	var got []string
	for _, f := range kept {
		got = append(got, fmt.Sprint(f.Text.Args...))
	}
	want := []string{"outcome"}
	for i := range 12 {
		want = append(want, fmt.Sprint("value ", i))
	}
	want = append(want, "error", "note 0", "note 1")
	if !slices.Equal(got, want) || left[human.FoundValue] != 8 || left[human.FoundNote] != 18 {
		t.Errorf("kept %q, left %v", got, left)
	}
}
