package gate

import (
	"slices"

	"deskbell/backend/human"
)

// Words in the names of tools that no one knows, and what they say.
var (
	changing = wordSet("write edit delete remove create update move rename exec execute run command shell bash system install deploy drop push kill patch insert set put post send apply merge")
	looking  = wordSet("read get list search find show view describe count status fetch query look lookup grep diff")
)

// ByName is the risk of a tool by its name alone, for a task of a plan whose arguments are not known yet: high where it
// writes files, or runs a shell, a program or code; low where it only looks; medium where the name does not say.
func ByName(tool string) human.Risk {
	switch kindOf(tool) {
	case readTool, listTool, fetchTool, talkTool:
		return human.LowRisk
	case httpTool, stopTool, memoryTool:
		return human.MediumRisk
	case unknownTool:
		words := nameWords(toolName(tool))
		has := func(s wordSet) bool { return slices.ContainsFunc(words, s.has) }
		switch {
		case len(tool) > maxName:
			return human.MediumRisk
		case has(changing):
			return human.HighRisk
		case has(looking):
			return human.LowRisk
		}
		return human.MediumRisk
	}
	return human.HighRisk
}
