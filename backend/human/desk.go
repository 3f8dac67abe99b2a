package human

import "time"

// A DeskState says how this desk stands with its team.
type DeskState struct {
	Team    string    `json:"team,omitempty" doc:"Absent: this desk is in no team."`
	Member  string    `json:"member,omitempty" doc:"Whose desk it is."`
	Desk    string    `json:"desk,omitempty" doc:"The desk's name in the team."`
	Role    string    `json:"role,omitempty" enum:"agent,operator,lead,auditor"`
	Restart bool      `json:"restart,omitempty" doc:"It was joined since Deskbell started, and counts from the next start."`
	Left    bool      `json:"left,omitempty" doc:"It was left since Deskbell started; Deskbell has to be started again."`
	Online  bool      `json:"online" doc:"Connected to the team, and nothing waits here."`
	Since   time.Time `json:"since,omitzero" doc:"Since when it is online, or is not."`
	Problem string    `json:"problem,omitempty" doc:"Why it is not online."`
	Behind  uint64    `json:"behind,omitempty" doc:"How many changes of the team are not here yet."`
	Waiting int       `json:"waiting,omitempty" doc:"How many requests are stored here only, and are given to the team once it is online; at most 1000 are counted."`
	Later   []Later   `json:"later,omitempty" doc:"What was decided here and waits for the team, or came too late, which is first."`
}

// A TeamCheck compares this desk's copy with the team's journal.
type TeamCheck struct {
	Same      bool          `json:"same" doc:"Both have the same operations with the same events."`
	Here      TeamCopy      `json:"here" doc:"What this desk has."`
	Team      TeamCopy      `json:"team" doc:"What the team's journal has."`
	Missing   []OperationID `json:"missing,omitempty" doc:"The team has them, or events of them, and this desk does not, for instance because they were deleted here. At most 100, as below."`
	Different []OperationID `json:"different,omitempty" doc:"Events of them are not the same."`
	OnlyHere  []OperationID `json:"only_here,omitempty" doc:"They, or the last events of them, are on this desk only."`
}

// A TeamCopy counts what one side of a TeamCheck has.
type TeamCopy struct {
	Operations int    `json:"operations"`
	Events     int    `json:"events"`
	Hash       string `json:"hash" doc:"SHA-256 over the id, version and content of each event, the same on all desks that have the same."`
}

// A Leave says how a desk leaves its team.
type Leave struct {
	Offline bool `json:"offline,omitempty" doc:"Also while it is not connected: then it may lack changes of others, and the team changes of this desk."`
	Cancel  bool `json:"cancel,omitempty" doc:"Cancel the open requests of its agents first. Without it, they are an error."`
}

// A LeftTeam says what a desk has of the team that it left.
type LeftTeam struct {
	State    DeskState `json:"state" doc:"How the desk stands now."`
	Before   TeamCheck `json:"before" doc:"How its copy compared with the team's journal before; offline, only what it had."`
	After    TeamCopy  `json:"after" doc:"What it has now; the same as before, unless offline requests were canceled."`
	Canceled int       `json:"canceled" doc:"How many requests of its agents were canceled."`
}

// TeamRules say who is asked, and where two people approve.
type TeamRules struct {
	Text     string `json:"text" doc:"In TOML, as docs/routing.md describes it; empty: everyone is suited to everything."`
	Revision uint64 `json:"revision" doc:"Which version it is; 0: there was none yet. Rules are replaced only where this is still the latest."`
}
