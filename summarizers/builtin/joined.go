package builtin

import (
	"deskbell/backend/human"
	"deskbell/summarizers"
)

func joined() summarizers.Summarizer {
	return &base{
		about:   about("joined", "Everything", "综合", summarizers.FromAnswer, summarizers.FromDesktop, summarizers.FromBrowser, summarizers.FromTerminal),
		finders: common,
		line:    func(r *reading, _ []human.Finding) string { return r.asked() },
		text:    func(*reading, []human.Finding, map[human.FindingKind]int) string { return "" },
	}
}
