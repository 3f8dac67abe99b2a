package summarizertest_test

import (
	"testing"

	"deskbell/summarizers/builtin"
	"deskbell/summarizers/summarizertest"
)

func TestTheBuiltInOnesPass(t *testing.T) {
	for _, s := range builtin.All() {
		t.Run(s.About().Name, func(t *testing.T) { summarizertest.Run(t, s) })
	}
}
