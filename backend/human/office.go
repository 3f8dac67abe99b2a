package human

import "time"

// TeamMembers are who may act in the team, and how that came.
type TeamMembers struct {
	Desks       []TeamDesk         `json:"desks,omitempty" doc:"All that ever joined, the removed ones too, by name. For leads only, as the invitations."`
	Invitations []TeamInvitation   `json:"invitations,omitempty" doc:"Those whose link still works."`
	Changes     []MembershipChange `json:"changes" doc:"Who was invited, joined and was removed, the latest first; at most 1000."`
}

// A TeamDesk is one Deskbell that joined a team.
type TeamDesk struct {
	Desk      string     `json:"desk"`
	Member    string     `json:"member"`
	Role      string     `json:"role" enum:"agent,operator,lead,auditor"`
	Machine   string     `json:"machine,omitempty" doc:"As the machine calls itself."`
	Joined    time.Time  `json:"joined"`
	Removed   *time.Time `json:"removed,omitempty"`
	Connected bool       `json:"connected,omitempty"`
}

// A TeamInvitation is a link by which one desk of a member joins, once.
type TeamInvitation struct {
	Member  string    `json:"member"`
	Role    string    `json:"role" enum:"agent,operator,lead,auditor"`
	By      string    `json:"by,omitempty" doc:"Who made it. Absent: it was made on the hub's machine."`
	Expires time.Time `json:"expires"`
	Link    string    `json:"link,omitempty" doc:"Only in the answer of the call that makes it: it has the team's key in it."`
}

// A MembershipChange is one of who is in the team.
type MembershipChange struct {
	At     time.Time `json:"at"`
	By     string    `json:"by,omitempty" doc:"Who did it. Absent: it was done on the hub's machine."`
	What   string    `json:"what" enum:"invited,joined,removed"`
	Member string    `json:"member"`
	Role   string    `json:"role,omitempty" enum:",agent,operator,lead,auditor"`
	Desk   string    `json:"desk,omitempty" doc:"Of what joined."`
}

// TeamInvite says whom to invite.
type TeamInvite struct {
	Member string `json:"member"`
	Role   string `json:"role,omitempty" enum:",agent,operator,lead,auditor" doc:"What their desks may do. It has no meaning where you invite another desk of your own, which has your role."`
}

// TeamRemoval says how many desks were removed.
type TeamRemoval struct {
	Desks int `json:"desks"`
}
