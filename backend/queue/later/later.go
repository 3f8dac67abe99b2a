// Package later keeps what an operator decided while their desk was not connected to its team, and does it once it is (H6). What comes too
// late is kept to be shown, and not done.
package later

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"sync"

	"deskbell/backend/human"
)

// Store is the desk's own storage.
type Store interface {
	// Laters are all decisions, the oldest first.
	Laters(ctx context.Context) ([]human.Later, error)
	// KeepLater stores a decision, in place of one about the same operation. It blocks until that is on the disk.
	KeepLater(ctx context.Context, l human.Later) error
	// DropLater deletes the decision about an operation.
	DropLater(ctx context.Context, id human.OperationID) error
}

// Deps are what a List works with.
type Deps struct {
	Store Store
	// Seal signs a text, and Check returns an error where a seal is not one of Seal's: another program could write a decision into the storage.
	Seal    func(text []byte) string
	Check   func(text []byte, seal string) error
	Changed func() // is called after each change
	Log     *slog.Logger
}

// most is how many decisions are kept at once.
const most = 1000

// A List keeps decisions. It is safe for concurrent use.
type List struct {
	Deps
	working sync.Mutex // held while decisions are done, kept or discarded
}

// New makes a List.
func New(d Deps) *List { return &List{Deps: d} }

// text is what is signed.
func text(l human.Later) []byte {
	l.Seal = ""
	raw, err := json.Marshal(l)
	if err != nil {
		return nil // it has no value that JSON lacks
	}
	return raw
}

// All are the decisions that wait or came too late, the oldest first. Of one that this Deskbell did not write only the operation counts, and it is not done.
func (k *List) All(ctx context.Context) ([]human.Later, error) {
	all, err := k.Store.Laters(ctx)
	for i, l := range all {
		var why *human.Error
		if errors.As(k.Check(text(l), l.Seal), &why) {
			all[i] = human.Later{Operation: l.Operation, Does: human.Declines, Late: &why.Said}
		}
	}
	return all, err
}

// Of is the decision about an operation; nil where there is none.
func (k *List) Of(ctx context.Context, id human.OperationID) (*human.Later, error) {
	all, err := k.All(ctx)
	if i := slices.IndexFunc(all, func(l human.Later) bool { return l.Operation == id }); i >= 0 {
		return &all[i], err
	}
	return nil, err
}

// Keep stores a decision until Send, in place of an earlier one about the same operation. An Exhausted error where there are too many. It blocks until the
// decision is on the disk.
func (k *List) Keep(ctx context.Context, l human.Later) error {
	k.working.Lock()
	defer k.working.Unlock()
	all, err := k.All(ctx)
	if err == nil && len(all) >= most {
		err = human.Errorf(human.Exhausted, "%d decisions wait for the team already; connect this desk, or discard some", most)
	}
	if err != nil {
		return err
	}
	return k.put(ctx, l)
}

func (k *List) put(ctx context.Context, l human.Later) error {
	l.Seal = k.Seal(text(l))
	err := k.Store.KeepLater(context.WithoutCancel(ctx), l)
	k.Changed()
	return err
}

// Discard deletes the decision about an operation, so that it is not done; NotFound where there is none, or none any more.
func (k *List) Discard(ctx context.Context, id human.OperationID) error {
	k.working.Lock()
	defer k.working.Unlock()
	l, err := k.Of(ctx, id)
	if err == nil && l == nil {
		err = human.Errorf(human.NotFound, "nothing waits on this desk for operation %s; it may have been sent meanwhile", id)
	}
	if err != nil {
		return err
	}
	return k.drop(ctx, id)
}

func (k *List) drop(ctx context.Context, id human.OperationID) error {
	err := k.Store.DropLater(context.WithoutCancel(ctx), id)
	k.Changed()
	return err
}

// Queue is what decisions are done in; *queue.Queue is one.
type Queue interface {
	Get(ctx context.Context, by human.Actor, id human.OperationID) (human.Operation, error)
	Do(ctx context.Context, l human.Later) (human.Operation, error)
}

// Send does all decisions that wait, the oldest first. After an error, such as an Unavailable one while the team cannot be reached, those that
// are left still wait. It blocks until they are done.
func (k *List) Send(ctx context.Context, q Queue) error {
	k.working.Lock()
	defer k.working.Unlock()
	all, err := k.All(ctx)
	if err != nil {
		return err
	}
	for _, l := range all {
		if l.Late != nil {
			continue
		}
		op, err := q.Get(ctx, l.By, l.Operation)
		if err == nil && !l.Done(op) {
			_, err = q.Do(ctx, l)
		}
		var reason *human.Error
		switch kind := human.KindOf(err); {
		case err == nil, kind == human.NotFound: // done, or the request was deleted
			err = k.drop(ctx, l.Operation)
		case !errors.As(err, &reason), kind == human.Unavailable, kind == human.Internal:
		default:
			said := late(ctx, q, l, reason)
			l.Late = &said
			k.Log.Warn("a decision came too late, and is not sent", "operation_id", l.Operation, "err", err)
			err = k.put(ctx, l)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// late says why a decision came too late: who was first, or else what the error says.
func late(ctx context.Context, q Queue, l human.Later, reason *human.Error) human.Sentence {
	op, err := q.Get(ctx, l.By, l.Operation)
	switch {
	case err != nil:
	case op.Result != nil && op.Result.By.Name != "":
		return human.Sayf("%s answered it first", op.Result.By.Name)
	case op.Ended != nil && op.Ended.By.Name != "":
		return human.Sayf("%s ended it first", op.Ended.By.Name)
	case op.ClaimedBy != "" && op.ClaimedBy != l.By.Name:
		return human.Sayf("%s has claimed it", op.ClaimedBy)
	}
	return reason.Said
}
