package team

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/nats-io/nats.go/jetstream"

	"deskbell/backend/queue/receipt"
)

// exchangeKeys tells the team with which keys this desk signs receipts, and learns those of the others, until ctx ends. Only a desk itself
// can say what its keys are; they count for its member's answers. It returns once it knows the keys that are there now; what it learns
// later, it learns on a goroutine, whose end done waits for.
func (j *Journal) exchangeKeys(ctx context.Context, js jetstream.JetStream) (done func(), err error) {
	if j.o.Keys == nil {
		return func() {}, nil
	}
	bucket, err := js.KeyValue(ctx, Keys)
	if err != nil {
		return nil, err
	}
	mine, err := json.Marshal(j.o.Keys())
	if err != nil {
		return nil, err
	}
	known, err := bucket.Get(ctx, j.o.Desk)
	if j.o.Role != AuditorRole && (err != nil || !bytes.Equal(known.Value(), mine)) {
		if _, err := bucket.Put(ctx, j.o.Desk, mine); err != nil {
			return nil, err
		}
	}
	return follow(ctx, bucket, j.learnKeys)
}

// learnKeys keeps what a desk says its keys are.
func (j *Journal) learnKeys(entry jetstream.KeyValueEntry) {
	if entry.Key() == j.o.Desk {
		return
	}
	var keys []receipt.ServerKey
	member, err := MemberOf(entry.Key())
	if err == nil {
		err = json.Unmarshal(entry.Value(), &keys)
	}
	if err == nil {
		err = j.o.Learn(receipt.KeysOf(member, keys))
	}
	if err != nil {
		j.o.Log.Warn("the keys of another desk are not known; receipts of its answers cannot be checked here", "desk", entry.Key(), "reason", err)
	}
}
