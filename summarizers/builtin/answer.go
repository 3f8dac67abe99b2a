package builtin

import (
	"deskbell/backend/human"
	"deskbell/summarizers"
)

func answer() summarizers.Summarizer {
	return &base{
		about:   about("answer", "Answer", "答复", summarizers.FromAnswer),
		finders: common,
		line:    func(r *reading, _ []human.Finding) string { return r.asked() },
		text:    func(*reading, []human.Finding, map[human.FindingKind]int) string { return "" },
	}
}
