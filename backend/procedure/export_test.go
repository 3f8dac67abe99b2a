package procedure

import "time"

// Patience is how long checkpoints are waited for, where a procedure says no time.
func (s *Service) Patience(d time.Duration) { s.within = d }
