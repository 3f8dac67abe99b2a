package team

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"deskbell/backend/human"
)

// What a desk asks the hub's office for. A lead may ask for all, an operator for a desk of their own.
const (
	OfficeInvite  = "invite"  // a member who is not in the team
	OfficeDesk    = "desk"    // another desk of the one who asks
	OfficeRemove  = "remove"  // another member
	OfficeMembers = "members" // who is in
)

// Office is where a desk asks the hub's office to do something.
func Office(desk, what string) string { return "office." + desk + "." + what }

// officeTime is how long the office may take.
const officeTime = 15 * time.Second

// mostChanges is how many changes of who is in the team are shown.
const mostChanges = 1000

// An OfficeReply is what the office answers.
type OfficeReply struct {
	Problem human.ErrorKind `json:"problem,omitempty"`
	Said    human.Sentence  `json:"said,omitzero"` // of a Problem

	Invitation  human.TeamInvitation   `json:"invitation,omitzero"` // its link lacks the team's key, which the hub sends to no one
	Removed     int                    `json:"removed,omitempty"`   // desks
	Desks       []human.TeamDesk       `json:"desks,omitempty"`
	Invitations []human.TeamInvitation `json:"invitations,omitempty"`
}

// Invite makes a one-time link by which a desk of someone new joins, or another one of this desk's own member.
func (j *Journal) Invite(ctx context.Context, q human.TeamInvite) (human.TeamInvitation, error) {
	what := OfficeInvite
	if q.Member == j.member {
		what = OfficeDesk
	}
	reply, err := j.askOffice(ctx, what, q)
	if err != nil {
		return human.TeamInvitation{}, err
	}
	reply.Invitation.Link += "." + base64.RawURLEncoding.EncodeToString(j.o.Key)
	return reply.Invitation, nil
}

// Remove ends the connections of a member's desks for ever, and returns how many there were.
func (j *Journal) Remove(ctx context.Context, member string) (desks int, err error) {
	reply, err := j.askOffice(ctx, OfficeRemove, human.TeamInvite{Member: member})
	return reply.Removed, err
}

// Members are who is in the team, as far as this desk may know: what changed every desk may.
func (j *Journal) Members(ctx context.Context) (m human.TeamMembers, err error) {
	ctx, cancel := context.WithTimeout(ctx, officeTime)
	defer cancel()
	if m.Changes, err = j.changes(ctx); err != nil || j.o.Role != LeadRole {
		return m, err
	}
	reply, err := j.askOffice(ctx, OfficeMembers, human.TeamInvite{})
	m.Desks, m.Invitations = reply.Desks, reply.Invitations
	return m, err
}

// askOffice has the hub do something. An Unavailable error leaves open whether it did.
func (j *Journal) askOffice(ctx context.Context, what string, q human.TeamInvite) (reply OfficeReply, err error) {
	if j.o.Role != LeadRole && (what != OfficeDesk || j.o.Role != OperatorRole) { // the server answers nothing to what it denies
		return reply, human.Errorf(human.Denied, "only a lead says who is in the team")
	}
	conn, err := j.Connection()
	if err != nil {
		return reply, err
	}
	text, err := json.Marshal(q)
	if err != nil {
		return reply, err
	}
	ctx, cancel := context.WithTimeout(ctx, officeTime)
	defer cancel()
	m, err := conn.RequestWithContext(ctx, Office(j.o.Desk, what), text)
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		return reply, human.Wrap(human.Unavailable, err, "no hub of the team can do that now; try again later, or have whoever runs it look for a newer version")
	case err != nil:
		return reply, human.Wrap(human.Unavailable, err, "the hub did not confirm it; whether it was done shows among the changes of the team")
	}
	if err := json.Unmarshal(m.Data, &reply); err != nil {
		return reply, human.Wrap(human.Unavailable, err, "the hub's answer cannot be read")
	}
	if reply.Problem != 0 {
		return reply, &human.Error{Kind: reply.Problem, Msg: reply.Said.Text, Said: reply.Said}
	}
	return reply, nil
}

// changes are the latest of who is in the team, the latest first.
func (j *Journal) changes(ctx context.Context) ([]human.MembershipChange, error) {
	bucket, err := j.bucket(ctx, Changes)
	if err != nil {
		return nil, err
	}
	watch, err := bucket.WatchAll(ctx, jetstream.IgnoreDeletes())
	if err != nil {
		return nil, notHeard(err)
	}
	defer func() { _ = watch.Stop() }() // its connection may have ended before
	all := []human.MembershipChange{}
	for {
		select {
		case e, open := <-watch.Updates():
			switch {
			case !open:
				return nil, notHeard(nats.ErrConnectionClosed)
			case e == nil:
				slices.Reverse(all)
				return all, nil
			}
			var c human.MembershipChange
			if err := json.Unmarshal(e.Value(), &c); err != nil {
				return nil, err
			}
			all = append(all, c)
			all = all[max(len(all)-mostChanges, 0):]
		case <-ctx.Done():
			return nil, notHeard(ctx.Err())
		}
	}
}
