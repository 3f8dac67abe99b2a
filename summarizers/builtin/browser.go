package builtin

import (
	"slices"

	"deskbell/backend/human"
	"deskbell/summarizers"
)

// browser tells what was done in pages (H11).
func browser() summarizers.Summarizer {
	return &base{
		about:   about("browser", "Browser", "浏览器", summarizers.FromBrowser),
		finders: slices.Concat(common, browserFinders),
		line:    func(r *reading, _ []human.Finding) string { return r.asked() },
		text:    func(*reading, []human.Finding, map[human.FindingKind]int) string { return "" },
	}
}

// browserFinders are what is looked for in actions of pages.
var browserFinders []finder
