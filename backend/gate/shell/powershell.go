package shell

import (
	"deskbell/backend/human"
)

// PowerShell judges commands of PowerShell and of Windows' cmd by the names of what they run.
func (w *walker) PowerShell(text string) {
	w.windows(text)
}

// Windows returns the effects of a PowerShell or cmd command.
func Windows(text string, at Place) []human.Effect {
	w := newWalker(at)
	w.windows(text)
	return w.done()
}

func (w *walker) windows(text string) {
	w.simple(&cmd{name: "powershell", args: []value{known(text)}}, human.LangExec, human.HighRisk, "unread")
}
