package service

import (
	"context"
	"time"

	"deskbell/backend/human"
)

const (
	// lookEvery is how often the programs are looked at that asked open questions.
	lookEvery = time.Second
	// brokenFor is how long a connection may be broken before its question is withdrawn.
	brokenFor = 2 * time.Second
)

// An attended question is one that someone must be there for.
type attended struct {
	agent  string
	client *human.ProcessID // the program that must run; nil where it is not known
	broken bool             // the connection over which it was waited for broke
}

// asker is the program that asks, or nil.
func (k *Service) asker(how Asking) *human.ProcessID {
	if how.client != nil || how.Process <= 0 || k.d.Client == nil {
		return how.client
	}
	if id, known := k.d.Client(how.Process, how.Parent); known {
		return &id
	}
	return nil
}

// attend has a question withdrawn when its program ends; without one, its connection broke.
func (k *Service) attend(op human.Operation, client *human.ProcessID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	a := k.attended[op.ID]
	a.agent = op.AgentID
	if client == nil {
		a.broken = true
	} else {
		a.client = client
	}
	k.attended[op.ID] = a
}

// watch withdraws the questions for which no one is there, until ctx ends.
func (k *Service) watch(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		k.mu.Lock()
		list := make(map[human.OperationID]attended, len(k.attended))
		for id, a := range k.attended {
			list[id] = a
		}
		k.mu.Unlock()
		for id, a := range list {
			reason := ""
			switch {
			case a.client != nil && k.d.Alive != nil && !k.d.Alive(*a.client):
				reason = "the program that asked has ended"
			case a.broken && k.d.Queue.Deserted(id, brokenFor):
				reason = "the connection to the program that asked broke"
			default:
				continue
			}
			k.withdraw(ctx, id, a, reason)
		}
	}
}

func (k *Service) withdraw(ctx context.Context, id human.OperationID, a attended, reason string) {
	_, err := k.d.Queue.Cancel(ctx, human.Actor{Role: human.Agent, Name: a.agent}, id, reason)
	if err != nil && human.KindOf(err) != human.Conflict { // it has ended
		k.d.Log.Warn("a question that no one waits for could not be withdrawn", "operation_id", id, "err", err)
		return
	}
	k.mu.Lock()
	delete(k.attended, id)
	k.mu.Unlock()
}
