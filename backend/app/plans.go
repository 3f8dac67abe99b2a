package app

import (
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"deskbell/backend/plan"
)

// openPlans puts the confirming of plans together. Its settings count at once when they are changed.
func (h *House) openPlans() {
	h.plans = plan.New(plan.Deps{
		Queue: h.queue, Store: h.store.Plans(), Judge: h.gate.Foresee, Now: time.Now, Log: h.log,
		NewID: func(prefix string) string { return prefix + strings.ToLower(ulid.Make().String()) },
		Options: func() plan.Options {
			s := h.config.Config.Settings().Plan
			return plan.Options{
				Confirm: s.ConfirmByHuman, Timeout: time.Duration(s.ConfirmationTimeout) * time.Second, Modify: s.AllowTaskModification,
				AutoSafe: s.AutoConfirmSafeTasks, Confirmations: s.Confirmations, Operators: s.Operators,
			}
		},
	})
}
