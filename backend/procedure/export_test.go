package procedure

import (
	"time"

	"deskbell/backend/human"
)

// Patience is how long checkpoints are waited for, where a procedure says no time.
func (s *Service) Patience(d time.Duration) { s.within = d }

// ReadValues are the parameters that a request says.
func ReadValues(p human.Procedure, op human.Operation) map[string]string {
	all := map[string]string{}
	for name, v := range readValues(p, op) {
		all[name] = v.Value
	}
	return all
}

// Alike says whether the same work was done twice.
func Alike(a, b human.Procedure) bool { return alike(a, b) }
