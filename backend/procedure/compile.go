package procedure

import (
	"cmp"
	"slices"

	"deskbell/backend/human"
	"deskbell/backend/record/flow"
)

// Compile makes a procedure of one recording, of what was done in its browser or, without one, on the desktop: its texts stand in it as
// they were recorded. A Conflict error where nothing was done there.
func Compile(title string, rec human.Recording, list []human.Action) (human.Procedure, error) {
	var p human.Procedure
	if rec.Options.Browser == nil && rec.Options.RecordsDesktop() {
		p = desktop(title, rec.ID, list)
	} else {
		p = flow.Procedure(flow.Input{Title: title, Actions: list}, rec.ID)
	}
	if len(p.Steps) == 0 {
		return p, human.Errorf(human.Conflict, "recording %s has nothing that was done in a browser or a program, as far as that was seen; a procedure is taught there", rec.ID)
	}
	p.Name = cmp.Or(Called(p.Title), "procedure")
	return p, nil
}

// checkpointed gives each step without a checkpoint that of the next one: that its element is there.
func checkpointed(p *human.Procedure) {
	for i := range p.Steps {
		s := &p.Steps[i]
		if len(s.Then) > 0 {
			continue
		}
		next := slices.IndexFunc(p.Steps[i+1:], func(n human.ProcedureStep) bool { return !n.Optional })
		if next < 0 {
			continue
		}
		n := p.Steps[i+1+next]
		if n.Target != nil && n.Page == s.Page {
			s.Then = []human.ProcedureCheckpoint{{Is: "element", Target: n.Target, Page: n.Page, Frame: n.Frame, Window: n.Window}}
		}
	}
}
