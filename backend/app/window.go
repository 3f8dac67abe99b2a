package app

import (
	"context"

	"deskbell/backend/human"
)

// Answer approves or denies an approval as the operator at the window. It refuses to approve a dangerous
// one, whatever was clicked: that takes seeing it.
func (h *House) Answer(ctx context.Context, operationID, decision string) error {
	id := human.OperationID(operationID)
	op, err := h.queue.Get(ctx, h.operator(), id)
	if err != nil {
		return err
	}
	if decision == string(human.Approved) && op.Risk.Dangerous() {
		return human.Errorf(human.Denied, "a request of %s risk is not approved from a notification; open it", op.Risk)
	}
	_, err = h.queue.Complete(ctx, h.operator(), id, human.Answer{Decision: human.Decision(decision)}, op.Digest)
	return err
}

// Pending counts what waits for a human.
func (h *House) Pending() int { return h.queue.Pending() }

// Watch calls changed whenever the number of what waits for a human changed, until ctx ends.
func (h *House) Watch(ctx context.Context, changed func(pending int)) {
	head, err := h.queue.Head(ctx)
	if err != nil {
		h.log.Error("the count of what waits is not kept up to date", "err", err)
		return
	}
	last := h.queue.Pending()
	changed(last)
	for _, err := range h.queue.Follow(ctx, h.operator(), head) {
		if err != nil {
			if ctx.Err() == nil {
				h.log.Error("the count of what waits is not kept up to date", "err", err)
			}
			return
		}
		if now := h.queue.Pending(); now != last {
			last = now
			changed(now)
		}
	}
}

// operator is the person at this machine.
func (h *House) operator() human.Actor {
	return human.Actor{Role: human.Operator, Name: h.settings.Operator.Name}
}
