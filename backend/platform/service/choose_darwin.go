package service

func (s *Service) choose(home, program string, args []string) error {
	s.launchd(home, program, args)
	return nil
}
