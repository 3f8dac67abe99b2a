package window

import "context"

// waitForPanel returns at once: the notification area is always there, and the library adds its icon again
// when Explorer restarts.
func waitForPanel(context.Context, func()) error { return nil }
