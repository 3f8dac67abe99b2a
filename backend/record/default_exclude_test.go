package record_test

import (
	"slices"
	"strings"
	"testing"

	"deskbell/backend/record"
)

// Matching is without regard to case by lowering what is matched, so the patterns must be in lower case; and
// a pattern of little but stars would leave out everything.
func TestDefaultExclude(t *testing.T) {
	for i, p := range record.DefaultExclude {
		if p != strings.ToLower(p) || p != strings.TrimSpace(p) {
			t.Errorf("%q is not as it is matched", p)
		}
		if len(strings.ReplaceAll(p, "*", "")) < 4 {
			t.Errorf("%q matches too much", p)
		}
		if slices.Contains(record.DefaultExclude[:i], p) {
			t.Errorf("%q is there twice", p)
		}
	}
}
