package app

import (
	"context"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/queue/asking"
)

// Answers of so long ago count for who answered before. They are counted again after a minute, or a thousand times as long as it took.
const (
	answersOf  = 90 * 24 * time.Hour
	countEvery = time.Minute
	countShare = 1000
)

// countAnswers counts who answered before, from this desk's own database, until ctx ends.
func (m *membership) countAnswers(ctx context.Context) error {
	for {
		began := time.Now()
		before, err := m.app.store.Answered(ctx, began.Add(-answersOf))
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			m.app.log.Warn("who answered before cannot be counted", "err", err)
		default:
			m.mu.Lock()
			m.before = before
			m.mu.Unlock()
		}
		timer := time.NewTimer(max(countEvery, countShare*time.Since(began)))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil
		}
	}
}

// Asking implements api.Team.
func (m *membership) Asking(op human.Operation, at time.Time) *asking.Asking {
	if m.journal == nil || op.State != human.Pending || len(op.Routing) == 0 {
		return nil
	}
	rules, team, _ := m.members()
	if len(team.Members) == 0 {
		return nil
	}
	return asking.Of(op, rules, team, at)
}
