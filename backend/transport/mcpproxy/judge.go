package mcpproxy

import (
	"context"
	"os"

	"deskbell/backend/gate/service"
	"deskbell/backend/human"
	"deskbell/backend/transport/client"
)

// ForClient is the Judge that asks the Deskbell that a client finds. Where none answers, away judges.
func ForClient(c *client.Client, away func(context.Context, human.ToolCall) (human.Judgement, error)) Judge {
	return remoteJudge{c, away}
}

type remoteJudge struct {
	*client.Client
	away func(context.Context, human.ToolCall) (human.Judgement, error)
}

// Evaluate implements Judge.
func (j remoteJudge) Evaluate(ctx context.Context, call human.ToolCall, how service.Asking) (human.Judgement, error) {
	how.Process = os.Getpid()
	verdict, err := j.Client.Evaluate(ctx, call, how)
	switch {
	case human.KindOf(err) != human.Unavailable:
		return verdict, err
	case ctx.Err() != nil || how.Question != "":
		return human.Judgement{}, human.Wrap(human.Unavailable, err, "Deskbell stopped while an operator was being asked; call again when it runs")
	}
	return j.away(ctx, call)
}

// Withdraw implements Withdrawer.
func (j remoteJudge) Withdraw(ctx context.Context, id human.OperationID, reason string) error {
	_, err := j.Cancel(ctx, id, reason)
	return err
}
