package app

import (
	"context"

	"deskbell/backend/platform/service"
	"deskbell/backend/transport/cli"
)

// userService is the system's service, as the command line knows it.
type userService struct{ *service.Service }

func newService(program string, args []string) (cli.Service, error) {
	s, err := service.For(program, args)
	if err != nil {
		return nil, err // not a userService without one
	}
	return userService{s}, nil
}

// About implements cli.Service.
func (u userService) About() (manager, where, text string) {
	return u.Manager, u.Where, u.Text
}

// State implements cli.Service.
func (u userService) State(ctx context.Context) (cli.ServiceState, error) {
	st, err := u.Service.State(ctx)
	return cli.ServiceState{
		Manager: u.Manager, Where: u.Where, Written: st.Written, Same: st.Same, Enabled: st.Enabled, Running: st.Running, Away: st.Away, Hints: st.Hints,
	}, err
}
