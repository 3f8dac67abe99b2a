package human

import "time"

// A DeskState says how this desk stands with its team.
type DeskState struct {
	Team    string    `json:"team,omitempty" doc:"Absent: this desk is in no team."`
	Member  string    `json:"member,omitempty" doc:"Whose desk it is."`
	Desk    string    `json:"desk,omitempty" doc:"The desk's name in the team."`
	Role    string    `json:"role,omitempty" enum:"agent,operator,lead,auditor"`
	Restart bool      `json:"restart,omitempty" doc:"It was joined since Deskbell started, and counts from the next start."`
	Online  bool      `json:"online" doc:"Connected to the team, and nothing waits here."`
	Since   time.Time `json:"since,omitzero" doc:"Since when it is online, or is not."`
	Problem string    `json:"problem,omitempty" doc:"Why it is not online."`
	Behind  uint64    `json:"behind,omitempty" doc:"How many changes of the team are not here yet."`
	Waiting int       `json:"waiting,omitempty" doc:"How many requests are stored here only, and are given to the team once it is online; at most 1000 are counted."`
}
