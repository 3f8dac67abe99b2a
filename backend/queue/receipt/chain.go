package receipt

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"deskbell/backend/human"
)

// A Neighbor is a receipt in its place among all.
type Neighbor struct {
	Number      uint64            `json:"number" doc:"Its place in the log of receipts, from 1."`
	Operation   human.OperationID `json:"operation_id,omitempty" doc:"Absent where its entry is gone from the journal."`
	Description string            `json:"description,omitempty"`
	Hash        string            `json:"hash" doc:"Its leaf_hash: what the next one names."`
	Follows     string            `json:"follows,omitempty" doc:"The hash of the receipt before, as this one names it; absent in the first."`
}

// A Chain is the surroundings of an operation's last receipt, read again, and what the last reading of the whole journal found.
type Chain struct {
	Neighbors []Neighbor     `json:"neighbors" doc:"In order: up to two before it, itself, and the one after; none for an operation without a receipt."`
	Receipts  uint64         `json:"receipts" doc:"How many receipts there are."`
	Found     []AuditFinding `json:"found" doc:"What was changed, removed or added, in order: near this receipt or, where all is well there, anywhere. Empty: the chain is whole."`
	Sound     uint64         `json:"sound" doc:"The receipts with numbers up to this one are as they were written. It counts where something was found."`
	CheckedAt *time.Time     `json:"checked_at,omitempty" doc:"When the whole journal was last read."`
}

// checkEvery is how often a Watch reads the journal.
const checkEvery = time.Hour

// A Watch reads the whole journal again from time to time. Its methods are safe for concurrent use.
type Watch struct {
	Audit func(context.Context) (Audit, error)
	Now   func() time.Time
	Log   *slog.Logger

	mu   sync.Mutex
	last Audit
	at   time.Time
}

// Run reads the journal at once, and then each hour, until ctx ends. It returns nil.
func (w *Watch) Run(ctx context.Context) error {
	tick := time.NewTicker(checkEvery)
	defer tick.Stop()
	for {
		audit, err := w.Audit(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			w.Log.Error("the journal could not be checked", "error", err)
		default:
			if len(audit.Found) > 0 {
				w.Log.Error("the journal was changed outside Deskbell; run `deskbell doctor`", "first", audit.Found[0].Text)
			}
			w.mu.Lock()
			w.last, w.at = audit, w.Now().UTC()
			w.mu.Unlock()
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// Complete adds to a chain what the last reading of the whole journal found.
func (w *Watch) Complete(c *Chain) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.at.IsZero() {
		return
	}
	at := w.at
	c.CheckedAt = &at
	if len(c.Found) == 0 {
		c.Found = append(c.Found, w.last.Found...)
		c.Sound = w.last.Sound
	} else if len(w.last.Found) > 0 {
		c.Sound = min(c.Sound, w.last.Sound)
	}
}
