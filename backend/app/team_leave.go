package app

import (
	"context"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/queue"
	"deskbell/backend/queue/replica"
	"deskbell/backend/store/team"
	"deskbell/backend/store/team/hub"
)

// longestLeave is how long a desk may take to leave: it reads the team's whole journal.
const longestLeave = 30 * time.Minute

// Leave implements api.Team. The one step that counts deletes the credentials: what comes after it, the next start does as well.
func (m *membership) Leave(ctx context.Context, by human.Actor, how human.Leave) (done human.LeftTeam, err error) {
	m.moving.Lock()
	defer m.moving.Unlock()
	now, _ := m.State()
	switch {
	case now.Left:
		return done, errRestart(now.Team)
	case m.journal == nil && now.Team == "":
		return done, errNoTeam()
	case m.journal == nil: // it joined since the start, and the team has nothing of it yet
		if err := hub.Remove(m.app.Dir); err != nil {
			return done, err
		}
		m.changes(human.DeskState{})
		return done, nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), longestLeave) // whoever asked may not wait for it
	defer cancel()
	if now.Online && how.Cancel {
		if done.Canceled, err = m.cancelOwn(ctx, m.journal, false); err != nil {
			return done, err
		}
	}
	err = m.journal.Leave(ctx, how.Offline, func(found human.TeamCheck) error {
		done.Before = found
		if err := m.mayLeave(ctx, how, found.Team.Hash != ""); err != nil {
			return err
		}
		m.mu.Lock() // the rules are not written meanwhile
		defer m.mu.Unlock()
		if err := hub.Remove(m.app.Dir); err != nil {
			return err
		}
		m.leaves()
		return nil
	})
	if err != nil {
		return done, err
	}
	done.State = human.DeskState{Team: now.Team, Member: now.Member, Desk: now.Desk, Role: now.Role, Left: true}
	m.changes(done.State)
	m.app.log.Info("this desk left its team", "team", now.Team, "member", now.Member, "by", by.Name)
	m.running.Wait()
	canceled, err := m.stand(ctx, "", "")
	done.Canceled += canceled
	m.app.queue.Forget(func(id human.OperationID) bool { return m.Frozen(ctx, id) })
	m.changes(done.State) // windows read again what is frozen
	if err == nil {
		done.After, err = team.Copy(ctx, m.app.store)
	}
	return done, err
}

// mayLeave says why this desk cannot leave now.
func (m *membership) mayLeave(ctx context.Context, how human.Leave, online bool) error {
	own, err := m.app.store.OwnInTeam(ctx, false)
	if err != nil {
		return err
	}
	if len(own) > 0 && (online || !how.Cancel) {
		return human.Errorf(human.Conflict, "%d requests of this desk's agents are open in the team, and an answer there would not reach them any more; answer them first, or cancel them (`deskbell team leave --cancel-open`)", len(own))
	}
	held, err := m.app.store.HeldHere(ctx)
	if err == nil && len(held) > 0 && online {
		err = human.Errorf(human.Conflict, "an answer to operation %s is about to be sent; try again in a moment", held[0])
	}
	return err
}

// stand notes in which team this desk is, and cancels the requests of its agents that are open in a team that it left. It returns how many those were.
func (m *membership) stand(ctx context.Context, identity, desk string) (canceled int, err error) {
	left, err := m.app.store.Stand(ctx, identity, desk, time.Now())
	m.left.Store(left)
	if err != nil || !left {
		return 0, err
	}
	return m.cancelOwn(ctx, m.app.store, true)
}

// cancelOwn cancels open requests of this desk's agents: an answer in the team would not reach them, and here might be another one.
func (m *membership) cancelOwn(ctx context.Context, journal queue.Journal, left bool) (n int, err error) {
	own, err := m.app.store.OwnInTeam(ctx, left)
	for _, id := range own {
		if err == nil {
			err = withdraw(ctx, journal, id)
		}
		if err == nil {
			n++
		}
	}
	return n, err
}

func withdraw(ctx context.Context, journal queue.Journal, id human.OperationID) error {
	const tries = 8
	for try := 1; ; try++ {
		entries, err := journal.Operation(ctx, id)
		if err != nil {
			return err
		}
		op, err := human.Fold(id, entries)
		if err != nil || op.State.Terminal() {
			return err
		}
		e := human.Event{
			Type: human.Withdrawn, At: time.Now().UTC().Truncate(time.Microsecond), By: human.Actor{Role: human.System},
			Text: "The desk of this agent left its team before there was an answer. Send the request again to ask here.",
		}
		if _, err = journal.Append(ctx, id, op.Version, e); human.KindOf(err) != human.Conflict || try == tries {
			return err
		}
	}
}

// Frozen implements api.Team.
func (m *membership) Frozen(ctx context.Context, id human.OperationID) bool {
	if !m.left.Load() {
		return false
	}
	at, err := m.app.store.Standing(ctx, id)
	return err == nil && at.Elsewhere
}

// alone is the store as the journal of a desk that is in no team.
func (m *membership) alone() queue.Journal {
	if m.left.Load() {
		return replica.Left{Storage: m.app.store}
	}
	return m.app.store
}
