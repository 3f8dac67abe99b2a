// Package summarizertest is the conformance suite of summarizers, ours and others'.
package summarizertest

import (
	"testing"

	"deskbell/summarizers"
)

// Run holds a summarizer against its contract.
func Run(t *testing.T, s summarizers.Summarizer) { t.Helper() }
