package builtin

import (
	"deskbell/backend/human"
	"deskbell/summarizers"
)

func desktop() summarizers.Summarizer {
	return &base{
		about:   about("desktop", "Desktop", "桌面", summarizers.FromDesktop),
		finders: common,
		line:    func(r *reading, _ []human.Finding) string { return r.asked() },
		text:    func(*reading, []human.Finding, map[human.FindingKind]int) string { return "" },
	}
}
