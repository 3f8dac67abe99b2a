package service

func (s *Service) choose(home, program string, args []string) error {
	s.systemd(home, program, args)
	return nil
}
