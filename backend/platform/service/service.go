// Package service has Deskbell's server started by what starts a user's programs: systemd, launchd, or on Windows the log-on.
package service

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"deskbell/backend/human"
)

// Name is that of the service, wherever one is needed.
const Name = "deskbell"

// A Service is what starts the server of one user.
type Service struct {
	Manager string // its name, for people
	Where   string // a file, or a place in the registry
	Text    string // what Install writes there

	run     func(ctx context.Context, args ...string) error // a program of the system's
	manager manager
}

// State is how a service stands.
type State struct {
	Written bool     // something is at Where
	Same    bool     // and it is Text
	Enabled bool     // it starts by itself
	Running bool     // as a service, that is
	Away    string   // why the manager cannot be asked; empty where it can
	Hints   []string // what the user may want to do besides
}

// A manager is one system's. Errors are of package human.
type manager interface {
	read(s *Service) (text string, err error) // fs.ErrNotExist where nothing is there
	write(s *Service) error
	remove(s *Service) error
	state(ctx context.Context, s *Service, st *State)
	// enable has the service start by itself, and starts it where start says so.
	enable(ctx context.Context, s *Service, start bool) error
	// disable stops it, too.
	disable(ctx context.Context, s *Service) error
}

// For returns the service of this system that runs a program with arguments. Nothing is written.
func For(program string, args []string) (*Service, error) {
	s := &Service{run: run}
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, human.Wrap(human.Unavailable, err, "your home folder cannot be found: %v", err)
	}
	return s, s.choose(home, program, args)
}

// State says how it stands. It blocks while the manager answers.
func (s *Service) State(ctx context.Context) (State, error) {
	st := State{}
	text, err := s.manager.read(s)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return st, human.Wrap(human.Unavailable, err, "%s cannot be read: %v", s.Where, err)
	default:
		st.Written, st.Same = true, text == s.Text
	}
	s.manager.state(ctx, s, &st)
	return st, nil
}

// Install writes the service and has it start by itself, now as well where start says so. What is there already is replaced.
func (s *Service) Install(ctx context.Context, start bool) error {
	if text, err := s.manager.read(s); err != nil || text != s.Text {
		if err := s.manager.write(s); err != nil {
			return human.Wrap(human.Unavailable, err, "%s cannot be written: %v", s.Where, err)
		}
	}
	return s.manager.enable(ctx, s, start)
}

// Uninstall stops the service and removes it. That none is there is no error.
func (s *Service) Uninstall(ctx context.Context) error {
	if _, err := s.manager.read(s); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := s.manager.disable(ctx, s); err != nil {
		return err
	}
	if err := s.manager.remove(s); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return human.Wrap(human.Unavailable, err, "%s cannot be removed: %v", s.Where, err)
	}
	return nil
}
