package agent

import "slices"

// leads lists where each state may lead. A run that is resumed begins at idle again, so reasoning leads to wherever it was.
var leads = map[State][]State{
	Idle:                 {Reasoning},
	Reasoning:            {Planning, Executing, Evaluating, Replanning, Completed, Failed},
	Planning:             {AwaitingConfirmation, Executing, Replanning, Failed}, // executing: decided with no one asked
	AwaitingConfirmation: {Executing, Replanning, Failed},
	Executing:            {Evaluating, Replanning, Failed},
	Evaluating:           {Executing, Planning, Replanning, Completed, Failed},
	Replanning:           {Executing, Evaluating, Planning, Completed, Failed},
}

// Leads says whether a run may come from this state to another one. Completed and failed lead nowhere.
func (s State) Leads(to State) bool { return slices.Contains(leads[s], to) }

// Over says whether this is the state of a run at its end.
func (s State) Over() bool { return s == Completed || s == Failed }
