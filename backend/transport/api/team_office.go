package api

import (
	"context"
	"net/http"

	"deskbell/backend/human"
	"deskbell/backend/queue/stepup"
)

// A TeamOffice says who is in the team; Conflict in no team.
type TeamOffice interface {
	// Invite makes a one-time link: a lead for someone new, an operator for another desk of their own.
	Invite(ctx context.Context, by human.Actor, q human.TeamInvite) (human.TeamInvitation, error)
	// Remove ends the connections of a member's desks for ever; only a lead may.
	Remove(ctx context.Context, by human.Actor, member string) (human.TeamRemoval, error)
	// Members are who is in, as far as this desk may know.
	Members(ctx context.Context) (human.TeamMembers, error)
}

type memberNamed struct {
	Name string `path:"name" doc:"The member's name."`
}

// teamOffice is who is in the team.
func (s *Server) teamOffice(c catalogue) {
	add(c, route{http.MethodGet, "/api/team/members", "getTeamMembers", "Who was invited, joined and was removed; for leads also the desks and the links that still work", operators, 0},
		func(ctx context.Context, _ *exchange, _ *none) (*answer[*human.TeamMembers], error) {
			m, err := s.deps.Team.Members(ctx)
			return ok(&m, err)
		})
	add(c, route{http.MethodPost, "/api/team/invitations", "inviteToTeam", "Make a one-time link by which a desk joins: a lead for someone new, others for another desk of their own", operators, 0},
		func(ctx context.Context, x *exchange, in *payload[human.TeamInvite]) (*answer[*human.TeamInvitation], error) {
			if in.JSON.Member == "" {
				return nil, human.BadField("member", "is missing")
			}
			ctx, err := s.prove(ctx, x, stepup.Act{Kind: stepup.Team, Subject: in.JSON.Member, Says: "team_invite"}, in.JSON)
			if err != nil {
				return nil, err
			}
			made, err := s.deps.Team.Invite(ctx, x.by, in.JSON)
			return ok(&made, err)
		})
	add(c, route{http.MethodDelete, "/api/team/members/{name}", "removeFromTeam", "Remove a member from the team, as a lead: their desks are disconnected for ever", operators, 0},
		func(ctx context.Context, x *exchange, in *memberNamed) (*answer[*human.TeamRemoval], error) {
			ctx, err := s.prove(ctx, x, stepup.Act{Kind: stepup.Team, Subject: in.Name, Says: "team_remove"}, in.Name)
			if err != nil {
				return nil, err
			}
			removed, err := s.deps.Team.Remove(ctx, x.by, in.Name)
			return ok(&removed, err)
		})
}
