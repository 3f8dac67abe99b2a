package hub

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"deskbell/backend/human"
	"deskbell/backend/store/team"
)

// mostAsk is how many bytes an ask may have.
const mostAsk = 4 << 10

// answer does what desks ask the office for, one after the other, until ctx ends.
func (h *Hub) answer(ctx context.Context, asks <-chan *nats.Msg) {
	for {
		select {
		case m := <-asks:
			parts := strings.Split(m.Subject, ".") // as subscribed; the server saw to it that the desk is the one that asks
			desk, what := parts[1], parts[2]
			log := h.o.Log.With("desk", desk, "what", what)
			if !strings.HasPrefix(m.Reply, team.Inbox(desk)+".") {
				log.Warn("an answer is to go to another desk, or to none; nothing is done")
				continue
			}
			once, cancel := context.WithTimeout(ctx, 10*time.Second)
			reply, err := h.ask(once, log, desk, what, m.Data)
			cancel()
			if err != nil {
				log.Warn("what a desk asked for was not done", "err", err)
				reply = team.OfficeReply{Problem: human.KindOf(err), Said: saidOf(err)}
			}
			raw, err := json.Marshal(reply)
			if err == nil {
				err = m.Respond(raw)
			}
			if err != nil {
				log.Warn("a desk gets no answer", "err", err)
			}
		case <-ctx.Done():
			return
		}
	}
}

// saidOf is what may be shown of an error.
func saidOf(err error) human.Sentence {
	var e *human.Error
	if errors.As(err, &e) {
		return e.Said
	}
	return human.Sayf("the hub failed; its log says why")
}

// ask does what a desk asks for. That its role may ask for it the server enforces; here it is looked at once more.
func (h *Hub) ask(ctx context.Context, log *slog.Logger, desk, what string, data []byte) (r team.OfficeReply, err error) {
	by, err := h.office.desk(ctx, desk)
	if err != nil {
		return r, err
	}
	if by.Removed != nil || by.Role != team.LeadRole && (by.Role != team.OperatorRole || what != team.OfficeDesk) {
		return r, human.Errorf(human.Denied, "only a lead says who is in the team")
	}
	var q human.TeamInvite
	if len(data) > mostAsk {
		return r, human.Errorf(human.Invalid, "the request cannot be read")
	}
	if err := json.Unmarshal(data, &q); err != nil {
		return r, human.Wrap(human.Invalid, err, "the request cannot be read")
	}
	i := invitation{Member: q.Member, Role: team.Role(q.Role), Maker: by.Name, First: true}
	switch what {
	case team.OfficeDesk:
		i.Member, i.Role, i.First = by.Member, by.Role, false
		fallthrough
	case team.OfficeInvite:
		r.Invitation = i.shown()
		r.Invitation.Link, r.Invitation.Expires, err = h.office.invite(ctx, i)
	case team.OfficeRemove:
		if q.Member == by.Member {
			return r, human.Errorf(human.Denied, "a lead cannot remove themself; another lead does, or whoever runs the hub by `deskbell hub remove`")
		}
		r.Removed, err = h.office.remove(ctx, q.Member, by.Member)
	case team.OfficeMembers:
		return h.members(ctx)
	default:
		err = human.Errorf(human.Invalid, "the hub does not know what that is; it may be older than this desk")
	}
	if err == nil {
		log.Info("a desk changed who is in the team", "by", by.Member, "member", i.Member)
	}
	return r, err
}

// members are all desks, and the links that still work.
func (h *Hub) members(ctx context.Context) (r team.OfficeReply, err error) {
	desks, err := h.office.Desks(ctx)
	if err != nil {
		return r, err
	}
	connected, err := h.connected()
	if err != nil {
		return r, err
	}
	for _, d := range desks {
		shown := d.Shown()
		shown.Connected = connected[d.Key] && d.Removed == nil
		r.Desks = append(r.Desks, shown)
	}
	open, err := h.office.invitations(ctx)
	for _, i := range open {
		r.Invitations = append(r.Invitations, i.shown())
	}
	return r, err
}

func (i invitation) shown() human.TeamInvitation {
	return human.TeamInvitation{Member: i.Member, Role: string(i.Role), By: i.by(), Expires: i.Expires}
}

// Shown is the desk as people see it.
func (d Desk) Shown() human.TeamDesk {
	return human.TeamDesk{Desk: d.Name, Member: d.Member, Role: string(d.Role), Machine: d.Machine, Joined: d.Joined, Removed: d.Removed}
}
