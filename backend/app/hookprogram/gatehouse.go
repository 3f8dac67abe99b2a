// Package hookprogram wires the programs that stand in front of agents. It is small on purpose: an agent's client starts
// such a program for every call of a tool, so it links no window, no database and no browser.
package hookprogram

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"deskbell/backend/store/datadir"
	"deskbell/backend/transport/hook"
)

const usage = `usage: deskbell-hook CLIENT [--data DIR] [--limit SECONDS]

It answers the hook of a coding agent that is about to call a tool. CLIENT is one of: %s.
It reads the hook's input from standard input. ` + "`deskbell hook install CLIENT`" + ` makes a client call it.
`

// Hook is the program deskbell-hook: it answers one call with the arguments in args (without the program's name) and
// returns the exit code. After any mistake it blocks the call.
func Hook(args []string, in io.Reader, out, errs io.Writer) int {
	client, dir, limit, err := parse(args)
	if err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			_, _ = fmt.Fprintln(errs, "deskbell-hook:", err) // there is nowhere else to complain
		}
		_, _ = fmt.Fprintf(errs, usage, strings.Join(hook.Names(), ", "))
		return 2 // clients block the call
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	// Most answers are there before this counts; a hook that is ended until then has asked no one.
	defer time.AfterFunc(watchAfter, func() { watch(ctx, stop) }).Stop()
	return hook.Run(ctx, client, limit, in, out, errs, newJudge(dir, client.Name))
}

const watchAfter = 100 * time.Millisecond

// watch calls stop when a signal ends this process, or its parent has ended, until ctx ends. A client that runs out of
// patience ends its hook, some only the hook's shell, and some still read what it says. Windows sends no signal.
func watch(ctx context.Context, stop func()) {
	parent := os.Getppid()
	told := make(chan os.Signal, 1)
	signal.Notify(told, os.Interrupt, syscall.SIGTERM)
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for os.Getppid() == parent {
		select {
		case <-tick.C:
			continue
		case <-told:
		case <-ctx.Done():
			return
		}
		break
	}
	stop()
}

func parse(args []string) (c hook.Client, dir string, limit time.Duration, err error) {
	var seconds float64
	f := flag.NewFlagSet("deskbell-hook", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.StringVar(&dir, "data", "", "")
	f.Float64Var(&seconds, "limit", 0, "")
	var names []string
	for len(args) > 0 { // flags may stand on both sides of the name
		if err = f.Parse(args); err != nil {
			return c, "", 0, err
		}
		if args = f.Args(); len(args) > 0 {
			names, args = append(names, args[0]), args[1:]
		}
	}
	if len(names) != 1 {
		return c, "", 0, errors.New("it takes the name of one client")
	}
	if c, err = hook.Find(names[0]); err != nil {
		return c, "", 0, err
	}
	limit = c.Limit
	if seconds > 0 && seconds < 1e6 {
		limit = time.Duration(seconds * float64(time.Second))
	}
	dir, err = datadir.Choose(dir)
	return c, dir, limit, err
}
