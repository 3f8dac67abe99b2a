// Package serving is how tests and measurements wait for Deskbell, and how they get the one-time code of a `deskbell serve` that they start: over a pipe of
// their own, as the program prints codes to a person's terminal only.
package serving

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
)

// Ready is what a server says when it is ready.
type Ready struct{ URL, Console, Code string }

// Code adds to a command that runs `deskbell serve` and has not started yet that it writes a one-time code to a pipe, and
// that operators' calls may come from agents' processes: a test is both, unless its own flags say otherwise. read is
// to be called once, after the command has started or failed to; it blocks until the server is ready or has ended, which is an error.
func Code(cmd *exec.Cmd) (read func() (Ready, error), err error) {
	from, to, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	number, err := inherit(cmd, to)
	if err != nil {
		return nil, err
	}
	cmd.Args = append(cmd.Args, "--code-fd", number)
	at := slices.Index(cmd.Args, "serve") + 1
	cmd.Args = slices.Insert(cmd.Args, at, "--set", "server.check_callers=false")
	return func() (ready Ready, err error) {
		defer func() { _ = from.Close() }()
		if err := to.Close(); err != nil { // the server has its own
			return ready, err
		}
		if err := json.NewDecoder(from).Decode(&ready); err != nil {
			return ready, fmt.Errorf("deskbell serve wrote no code: %w", err)
		}
		return ready, nil
	}, nil
}
