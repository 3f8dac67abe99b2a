package service

import (
	"bytes"
	"context"

	"deskbell/backend/gate"
	"deskbell/backend/human"
)

// Foresee says what would be decided about a call that may be made later, as a task of a plan (P4). Nothing is run, logged
// or asked. Where its arguments are not known yet, only the tool's name speaks.
func (k *Service) Foresee(ctx context.Context, call human.ToolCall) (human.Verdict, error) {
	if args := bytes.TrimSpace(call.Args); len(args) == 0 || bytes.Equal(args, []byte("{}")) {
		v := human.Verdict{Risk: gate.ByName(call.Tool), Decision: human.Allow}
		if v.Risk.Level() > human.LowRisk.Level() {
			v.Decision = human.Ask
		}
		return v, nil
	}
	if err := check(call); err != nil {
		return human.Verdict{}, err
	}
	j, err := k.judge(ctx, call.Client, call, k.d.Project)
	return j.verdict, err
}
