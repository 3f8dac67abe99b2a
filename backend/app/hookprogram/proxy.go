package hookprogram

import (
	"context"

	"deskbell/backend/human"
)

// Away judges a call while no Deskbell answers, as hooks do then: it allows what is harmless and blocks all else, because
// there is no one to ask. dir is the data folder, key the agent's.
func Away(ctx context.Context, dir, client, key string, call human.ToolCall) (human.Judgement, error) {
	j, err := away{dir: dir, client: client, key: func() (string, error) { return key, nil }}.judge(ctx, call)
	if err == nil && j.Decision == human.Ask {
		j.Decision = human.Deny // a proxy cannot leave it to the client's own prompt
	}
	return j, err
}
