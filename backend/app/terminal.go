package app

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"

	"deskbell/backend/human"
	"deskbell/backend/platform/processes"
	"deskbell/backend/store/keychain"
	"deskbell/backend/transport/api"
)

// terminal is where the process at the other end of a connection runs, as the API asks for it.
func (a *App) terminal(conn net.Conn) (api.Terminal, error) {
	p, err := processes.Peer(conn)
	if err != nil {
		return api.Terminal{}, human.Wrap(human.NotFound, err, "Deskbell cannot see which program calls, and so not in which terminal")
	}
	leader, name, err := processes.SessionOf(p)
	if err != nil {
		return api.Terminal{}, human.Wrap(human.Denied, err, "the program that calls does not run in a terminal of this machine")
	}
	if !processes.Own(p) {
		return api.Terminal{}, human.Errorf(human.Denied, "the program that calls is another user's")
	}
	if !slices.ContainsFunc(processes.Lineage(p), func(a human.Process) bool { return a.ID() == leader.ID() }) {
		return api.Terminal{Device: p.Terminal}, human.Errorf(human.Denied, "what started the program that calls has ended, and so Deskbell cannot see who did")
	}
	if p.Terminal == "" { // on Windows
		p.Terminal = fmt.Sprintf("%s, process %d", filepath.Base(leader.Program), leader.PID)
	}
	return api.Terminal{
		Session: name, Device: p.Terminal, Foreground: p.Foreground, Agent: a.agentOf(p, leader),
		Show: func(text string) error { return processes.Draw(p, text) },
	}, nil
}

// agentOf is the agent that one of these processes descends from.
func (a *App) agentOf(those ...human.Process) string {
	for _, p := range those {
		if agent, is := a.callers.Descends(p); is {
			return cmp.Or(agent.Name, "unknown")
		}
	}
	return ""
}

// terminalSessions keep operators' sessions for the terminal that this process runs in, as the command line asks for it.
type terminalSessions struct{}

// entry is where the session of a server is kept.
func (terminalSessions) entry(server string) (keychain.Session, error) {
	p, err := processes.Find(os.Getpid())
	if err != nil {
		return keychain.Session{}, err
	}
	_, name, err := processes.SessionOf(p)
	sum := sha256.Sum256([]byte(server))
	return keychain.Session{Name: name + " " + hex.EncodeToString(sum[:8])}, err
}

// Load implements cli.Sessions.
func (t terminalSessions) Load(ctx context.Context, server string) (string, error) {
	e, err := t.entry(server)
	if err != nil {
		return "", human.Wrap(human.Unavailable, err, "this program does not run in a terminal that Deskbell knows")
	}
	token, err := e.Get(ctx)
	if human.KindOf(err) == human.NotFound {
		return "", nil
	}
	return token, err
}

// Save implements cli.Sessions.
func (t terminalSessions) Save(ctx context.Context, server, token string) error {
	e, err := t.entry(server)
	if err != nil {
		return err
	}
	return e.Set(ctx, token)
}

// Remove implements cli.Sessions.
func (t terminalSessions) Remove(ctx context.Context, server string) error {
	e, err := t.entry(server)
	if err != nil {
		return err
	}
	return e.Remove(ctx)
}
