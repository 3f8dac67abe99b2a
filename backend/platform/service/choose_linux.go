package service

func (s *Service) choose(home, program string, args []string) error {
	return s.systemd(home, program, args)
}
