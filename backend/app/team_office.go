package app

import (
	"context"

	"deskbell/backend/human"
)

// Invite implements api.TeamOffice.
func (m *membership) Invite(ctx context.Context, by human.Actor, q human.TeamInvite) (human.TeamInvitation, error) {
	if m.journal == nil {
		return human.TeamInvitation{}, errNoTeam()
	}
	made, err := m.journal.Invite(ctx, q)
	if err == nil {
		m.app.log.Info("a desk was invited to the team", "member", made.Member, "role", made.Role, "by", by.Name)
	}
	return made, err
}

// Remove implements api.TeamOffice.
func (m *membership) Remove(ctx context.Context, by human.Actor, member string) (human.TeamRemoval, error) {
	if m.journal == nil {
		return human.TeamRemoval{}, errNoTeam()
	}
	desks, err := m.journal.Remove(ctx, member)
	if err == nil {
		m.app.log.Info("a member was removed from the team", "member", member, "desks", desks, "by", by.Name)
	}
	return human.TeamRemoval{Desks: desks}, err
}

// Members implements api.TeamOffice.
func (m *membership) Members(ctx context.Context) (human.TeamMembers, error) {
	if m.journal == nil {
		return human.TeamMembers{}, errNoTeam()
	}
	return m.journal.Members(ctx)
}
