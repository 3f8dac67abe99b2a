package agent

import "time"

// A RunView is a run of the reference agent.
type RunView struct {
	RunInfo
	State   State     `json:"state" enum:"idle,reasoning,planning,awaiting_confirmation,executing,evaluating,replanning,completed,failed"`
	Alive   bool      `json:"alive" doc:"Its process is there."`
	Ending  Ending    `json:"ending,omitempty" enum:"done,failed,needs_input,denied,interrupted" doc:"Absent while it runs, and where it was killed."`
	Over    bool      `json:"over" doc:"It is done, or an operator ended it. A run that is neither alive nor over can be resumed."`
	Last    time.Time `json:"last_at" doc:"Of its last update."`
	Content string    `json:"content" doc:"Of its last update."`
	Spent   Spent     `json:"spent"`
}

// RunUpdates are what a run told about itself.
type RunUpdates struct {
	Run     RunView  `json:"run"`
	Updates []Update `json:"updates"`
	Next    int      `json:"next" doc:"What to ask for after, to continue."`
}
