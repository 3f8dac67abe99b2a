// Package builtin has the summarizers that come with Deskbell: no model, no network, the same report for the
// same input. They read the actions of recordings and the operator's answer, look for what a colleague would
// put into a hand-over, and say it in English or Chinese, each written for itself.
package builtin

import "deskbell/summarizers"

// All are the built-in summarizers: answer, browser, desktop, joined.
func All() []summarizers.Summarizer { return nil }
