//go:build !windows

package service

import "runtime"

func (s *Service) choose(home, program string, args []string) error {
	if runtime.GOOS == "darwin" {
		s.launchd(home, program, args)
		return nil
	}
	return s.systemd(home, program, args)
}
