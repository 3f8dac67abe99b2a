//go:build !windows

package service

import (
	"os"
	"path/filepath"
)

// file is a manager's file.
type file struct{}

func (file) read(s *Service) (string, error) {
	text, err := os.ReadFile(s.Where)
	return string(text), err
}

func (file) write(s *Service) error {
	if err := os.MkdirAll(filepath.Dir(s.Where), 0o700); err != nil {
		return err
	}
	return os.WriteFile(s.Where, []byte(s.Text), 0o600)
}

func (file) remove(s *Service) error { return os.Remove(s.Where) }
