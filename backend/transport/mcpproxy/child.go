package mcpproxy

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/platform/procgroup"
)

// A Child is a server that speaks MCP on its standard input and output, and the client that started the proxy in its place.
type Child struct {
	Command []string // the program and its arguments
	In      io.Reader
	Out     io.Writer
	Err     io.Writer        // what the server writes to its standard error; a file is given to it as it is
	Signals <-chan os.Signal // passed on to the server; may be nil
}

const (
	// How long a server that was told to end has before it is killed.
	lastWords = 5 * time.Second
	// How long output of a server that has ended may take to arrive.
	leftOver = time.Second
)

// Serve starts the server and passes messages between it and the client, until the server has ended; with it ends every
// process that it started and left in its process group. It returns the server's exit code, 128 and the number of the
// signal where one ended it. The error says why the proxy itself could not go on. When the client's input ends, so does the
// server's. In may still be read from when Serve has returned.
func (c Child) Serve(ctx context.Context, judge Judge, opts Options) (int, error) {
	d := newChecker(judge, opts)
	if len(c.Command) == 0 {
		return 0, human.Errorf(human.Invalid, "a command is missing: deskbell mcp-proxy -- COMMAND ARGS")
	}
	cmd := exec.Command(c.Command[0], c.Command[1:]...)
	cmd.Stderr, cmd.WaitDelay = c.Err, leftOver
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return 0, human.Wrap(human.Internal, err, "no pipe to the server could be made: %v", err)
	}
	// A pipe of our own: what the server has said is read to its end, also when it has ended before.
	theirs, said, err := os.Pipe()
	if err != nil {
		return 0, human.Wrap(human.Internal, err, "no pipe from the server could be made: %v", err)
	}
	defer func() { _ = theirs.Close() }()
	cmd.Stdout = said
	group, err := procgroup.Start(cmd)
	_ = said.Close()
	if err != nil {
		return 0, human.Wrap(human.Invalid, err, "%s could not be started: %v", c.Command[0], err)
	}
	defer group.Release()

	life, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	input := &writer{w: stdin}
	l := newLines(d, &writer{w: c.Out}, func(_ message, raw []byte) error { return input.write(raw) })

	var trouble atomic.Pointer[error]
	because := func(err error) { trouble.CompareAndSwap(nil, &err) }
	stop := make(chan struct{}) // closed when the server is to end by itself
	stopOnce := sync.OnceFunc(func() { close(stop) })
	go func() { // ends with the client's input, at the latest with the process
		if err := l.run(life, c.In); err != nil && life.Err() == nil && errors.Is(err, errTooLong) {
			because(err)
		}
		_ = stdin.Close()
		stopOnce()
	}()

	var pumps sync.WaitGroup
	pumps.Go(func() {
		r := newReader(theirs)
		for {
			line, err := r.next()
			if len(line) > 0 {
				if l.deliver(life, line, message{}) != nil {
					stopOnce() // the client has gone
				}
			}
			if err != nil {
				if errors.Is(err, errTooLong) {
					because(human.Wrap(human.Invalid, err, "the server sent a message that is longer than %d MiB", maxMessage>>20))
					group.Kill()
				}
				return
			}
		}
	})

	ended := make(chan struct{})
	var guard sync.WaitGroup
	guard.Go(func() { c.guard(ctx, d.opts.Grace, group, stop, stdin, ended) })
	err = cmd.Wait()
	close(ended)
	guard.Wait()
	end()
	group.Kill() // what it left behind
	defer d.close()
	_ = theirs.SetReadDeadline(time.Now().Add(leftOver))
	c.drain(ctx, d.opts.Grace, &pumps, stop)
	if why := trouble.Load(); why != nil {
		return 0, *why
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		return 0, human.Wrap(human.Internal, err, "the server could not be waited for: %v", err)
	}
	return procgroup.ExitCode(cmd.ProcessState), nil
}

// drain waits until the client has read what the server said, which has ended; where the client wants no more, for a while
// only.
func (c Child) drain(ctx context.Context, grace time.Duration, pumps *sync.WaitGroup, stop <-chan struct{}) {
	read := make(chan struct{})
	go func() {
		pumps.Wait()
		close(read)
	}()
	var over <-chan time.Time
	done := ctx.Done()
	for {
		select {
		case <-read:
			return
		case <-over:
			return
		case s := <-c.Signals:
			if !passes(s) || !ends(s) {
				continue
			}
		case <-stop:
			stop = nil
		case <-done:
			done = nil
		}
		if over == nil {
			over = time.After(grace)
		}
	}
}

// guard passes signals on, and ends a server that does not end when it should.
func (c Child) guard(ctx context.Context, grace time.Duration, group *procgroup.Group, stop <-chan struct{}, stdin io.Closer, ended <-chan struct{}) {
	var kill, over <-chan time.Time
	done := ctx.Done()
	for {
		select {
		case <-ended:
			return
		case s := <-c.Signals:
			if !passes(s) {
				continue
			}
			group.Signal(s)
			if kill == nil && ends(s) {
				kill = time.After(lastWords)
			}
		case <-stop:
			stop = nil
			_ = stdin.Close()
			over = time.After(grace)
		case <-over:
			over = nil
			group.End()
			kill = time.After(lastWords)
		case <-done:
			done = nil
			_ = stdin.Close()
			group.End()
			kill = time.After(lastWords)
		case <-kill:
			kill = nil
			group.Kill()
		}
	}
}
