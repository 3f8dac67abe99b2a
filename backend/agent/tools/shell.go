package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"deskbell/backend/agent"
	"deskbell/backend/platform/procgroup"
)

// The bounds of a command.
const (
	usualTime = 2 * time.Minute
	mostTime  = 30 * time.Minute
	leftOver  = time.Second // for output of a command that has ended
)

// Shell runs commands in a folder, one a call, with no input. Each is ended with all that it started: when ctx ends, when
// its time is up, and what it leaves in the background when it ends itself. Commands may do whatever this process may.
type Shell struct {
	Dir string // absolute
}

// Spec implements agent.Tool.
func (Shell) Spec() agent.ToolSpec {
	return agent.ToolSpec{
		Name: shellName,
		Description: "Run one command " + shellWords + " in the working folder and return what it printed, with its exit code. It has no input; " +
			"what it leaves running in the background is ended. Of long output the middle is left out.",
		Schema: schema(
			property{"command", "string", "The command.", true},
			property{"cwd", "string", "The folder to run it in, if not the working folder.", false},
			property{"timeout", "number", fmt.Sprintf("Seconds it may take; absent: %d, at most %d.", int(usualTime.Seconds()), int(mostTime.Seconds())), false},
		),
	}
}

// Category implements agent.Tool.
func (Shell) Category() agent.Category { return agent.Shell }

// Run implements agent.Tool.
func (s Shell) Run(ctx context.Context, raw json.RawMessage) (agent.Output, error) {
	var args struct {
		Command string   `json:"command"`
		Cwd     string   `json:"cwd"`
		Timeout *float64 `json:"timeout"`
	}
	if err := read(raw, &args); err != nil {
		return failed("%v", err), nil
	}
	if strings.TrimSpace(args.Command) == "" || strings.ContainsRune(args.Command, 0) {
		return failed("command is empty, or has a character that no command can have"), nil
	}
	dir := s.Dir
	if args.Cwd != "" {
		if dir = args.Cwd; !filepath.IsAbs(dir) {
			dir = filepath.Join(s.Dir, dir)
		}
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return failed("there is no folder %s", dir), nil
	}
	limit := usualTime
	if args.Timeout != nil {
		if math.IsNaN(*args.Timeout) || *args.Timeout <= 0 || *args.Timeout > mostTime.Seconds() {
			return failed("timeout must be more than 0 and at the most %d seconds", int(mostTime.Seconds())), nil
		}
		limit = time.Duration(*args.Timeout * float64(time.Second))
	}
	return run(ctx, args.Command, dir, limit)
}

var errTime = errors.New("its time is up")

func run(ctx context.Context, command, dir string, limit time.Duration) (agent.Output, error) {
	ctx, stop := context.WithTimeoutCause(ctx, limit, errTime)
	defer stop()
	if err := ctx.Err(); err != nil {
		return agent.Output{}, err
	}
	words := shellCommand(command)
	cmd := exec.Command(words[0], words[1:]...)
	out := &ends{most: maxText / 2}
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = dir, out, out, leftOver
	cmd.Env = environment("TERM=dumb", "NO_COLOR=1", "PAGER=cat", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0")
	if path, err := filepath.Abs(dir); err == nil {
		cmd.Env = append(cmd.Env, "PWD="+path)
	}
	g, err := procgroup.Start(cmd)
	if err != nil {
		return failed("the command could not be started: %v", err), nil
	}
	ended, guarded := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(guarded)
		select {
		case <-ctx.Done():
			g.Kill()
		case <-ended:
		}
	}()
	err = cmd.Wait()
	cut := ctx.Err() != nil
	close(ended)
	<-guarded
	g.Kill() // what it left behind
	g.Release()
	text := strings.TrimRight(out.text(), "\n")
	if text != "" {
		text += "\n"
	}
	code := procgroup.ExitCode(cmd.ProcessState)
	var exit *exec.ExitError
	switch {
	case cut && errors.Is(context.Cause(ctx), errTime):
		return failed("%s[ended after %v: its time is up; it may have done a part of its work]", text, limit), nil
	case cut:
		return failed("%s[ended, because the run was ended; it may have done a part of its work]", text), ctx.Err()
	case err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay):
		return failed("%s[%v]", text, err), nil
	}
	return agent.Output{Text: fmt.Sprintf("%s[exit code %d]", text, code), Failed: code != 0}, nil
}
