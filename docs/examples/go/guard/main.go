// Command guard runs a shell command with the gatekeeper in front of it: one that is denied never runs.
//
//	export DESKBELL_URL=http://127.0.0.1:7717 DESKBELL_KEY=...    # deskbell keys add my-agent
//	go run ./docs/examples/go/guard "git status"
//	go run ./docs/examples/go/guard "rm -rf build"
//
// A safe command runs at once; for others an operator is asked, who may change it. The exit code is 0 where it ran, 1 where
// it was denied, 2 where it was stopped while an operator was asked, 3 for an error, the command's own included.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"

	"deskbell/docs/examples/go/bell"
)

// arguments are what the tool takes. The gatekeeper knows a tool bash with a command, and reads the command.
type arguments struct {
	Command string `json:"command"`
}

// shell is a tool as an agent has it. It knows nothing of Deskbell.
func shell(ctx context.Context, a arguments) (output string, err error) {
	out, err := exec.CommandContext(ctx, "/bin/sh", "-c", a.Command).CombinedOutput()
	return string(out), err
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	out, err := run(ctx)
	fmt.Print(out)
	var denied *bell.Denied
	switch {
	case errors.As(err, &denied):
		fmt.Println("denied:", denied.Reason)
		if denied.Instead != "" {
			fmt.Println("instead:", denied.Instead)
		}
		os.Exit(1)
	case ctx.Err() != nil:
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "guard:", err)
		os.Exit(3)
	}
}

func run(ctx context.Context) (out string, err error) {
	if len(os.Args) != 2 {
		return "", errors.New("give one command, in quotation marks")
	}
	b, err := bell.FromEnv()
	if err != nil {
		return "", err
	}
	return bell.Guard(b, "bash", shell)(ctx, arguments{Command: os.Args[1]})
}
