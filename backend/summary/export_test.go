package summary

// Watched is how many wait for drafts to change.
func (s *Service) Watched() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.watchers)
}
