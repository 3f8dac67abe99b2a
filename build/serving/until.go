package serving

import (
	"fmt"
	"time"
)

// Until blocks until a condition of the world outside this process is true. After patience that is an error, which says what was
// waited for.
func Until(patience time.Duration, what string, condition func() bool) error {
	deadline := time.After(patience)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-tick.C:
		case <-deadline:
			return fmt.Errorf("waited %v in vain for %s", patience, what)
		}
	}
	return nil
}
