package app

import (
	"context"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/queue/board"
)

// Board implements api.Team.
func (m *membership) Board(ctx context.Context, by human.Actor, at time.Time) (board.TeamBoard, error) {
	if m.journal == nil {
		return board.TeamBoard{}, human.Errorf(human.NotFound, "this desk is in no team")
	}
	rules, team, _ := m.journal.Directory().Team()
	return board.Source{Queue: m.app.queue, Rules: rules, Team: team, By: by, Now: at}.Board(ctx)
}
