package app

import (
	"os"

	"deskbell/backend/app/hookprogram"
	"deskbell/backend/transport/cli"
	"deskbell/backend/transport/hook"
	"deskbell/backend/transport/hook/install"
)

// hooks are those of coding agents.
func hooks() cli.Hooks {
	place := func(at cli.HookPlace) install.Place { return install.Place{Home: at.Home, Dir: at.Dir, Env: os.Getenv} }
	change := func(p install.Plan, err error) (cli.HookChange, error) {
		return cli.HookChange{Path: p.Path, Backup: p.Backup, Changes: p.Changes(), Diff: p.Diff(), Note: p.Note, Apply: p.Apply}, err
	}
	return cli.Hooks{
		Clients: hook.Names(),
		Answer:  hookprogram.Hook,
		Install: func(client string, at cli.HookPlace, c cli.HookCommand) (cli.HookChange, error) {
			return change(install.Install(client, place(at), install.Command(c)))
		},
		Uninstall: func(client string, at cli.HookPlace) (cli.HookChange, error) {
			return change(install.Uninstall(client, place(at)))
		},
		Look: func(client string, at cli.HookPlace, c cli.HookCommand) (cli.HookState, error) {
			state, err := install.Look(client, place(at), install.Command(c))
			return cli.HookState{Client: state.Client, Path: state.Path, Installed: state.Installed, Command: state.Command, Problem: state.Problem}, err
		},
		KeyFile: hookprogram.KeyFile,
		Projects: func(home string, more []string) []string {
			return install.Folders(append(more, install.Projects(place(cli.HookPlace{Home: home}))...))
		},
	}
}
