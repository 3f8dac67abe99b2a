package box

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// instead is what this program does where a test runs it for something else than tests; it says whether it did.
var instead = func() bool { return false }

func TestMain(m *testing.M) {
	Child()
	if instead() {
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}
