package app

import (
	"context"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"deskbell/backend/app/hookprogram"
	"deskbell/backend/gate/service"
	"deskbell/backend/human"
	"deskbell/backend/transport/cli"
	"deskbell/backend/transport/client"
	"deskbell/backend/transport/mcpproxy"
)

// serveProxy stands between an MCP client and a server; see cli.Program.
func serveProxy(ctx context.Context, who cli.Asker, p cli.Proxied, in io.Reader, out, errs io.Writer) (int, error) {
	judge := &proxyJudge{who: who}
	defer judge.close()
	opts := mcpproxy.Options{
		Server: p.Name, Session: thread(), Patience: p.Patience,
		Log: slog.New(slog.NewTextHandler(errs, &slog.HandlerOptions{Level: slog.LevelWarn})),
	}
	if p.URL == "" {
		var err error
		if opts.Cwd, err = os.Getwd(); err != nil {
			return 0, human.Wrap(human.Internal, err, "the folder this runs in cannot be told: %v", err)
		}
		signals := make(chan os.Signal, 8)
		signal.Notify(signals, mcpproxy.Signals()...)
		defer signal.Stop(signals)
		return mcpproxy.Child{Command: p.Command, In: in, Out: out, Err: errs, Signals: signals}.Serve(ctx, judge, opts)
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	server := mcpproxy.Remote{URL: p.URL, Header: p.Header}
	if p.Listen == "" {
		return 0, server.Serve(ctx, judge, in, out, opts)
	}
	return 0, server.Listen(ctx, judge, p.Listen, func(url string) {
		_, _ = io.WriteString(out, url+"\n") // whoever started it reads where it is, or does not
	}, opts)
}

// A proxyJudge asks the Deskbell that runs, wherever it is now. Where none does, it judges as hooks do then.
type proxyJudge struct {
	who cli.Asker

	mu sync.Mutex
	to *client.Client
}

// Evaluate implements mcpproxy.Judge.
func (j *proxyJudge) Evaluate(ctx context.Context, call human.ToolCall, how service.Asking) (human.Judgement, error) {
	if call.Home == "" {
		call.Home, _ = os.UserHomeDir() // without it the engine is the more careful
	}
	for tried := ""; ; {
		at, err := j.who.Find()
		if err == nil && at != tried {
			var verdict human.Judgement
			verdict, err = j.at(at).Evaluate(ctx, call, how)
			if err == nil || human.KindOf(err) != human.Unavailable {
				return verdict, err
			}
			tried = at
			if ctx.Err() == nil {
				continue // it may have moved
			}
		}
		if ctx.Err() != nil || how.Question != "" {
			return human.Judgement{}, human.Wrap(human.Unavailable, err, "Deskbell went away while an operator was being asked; call again when it runs")
		}
		return hookprogram.Away(ctx, j.who.Dir, call.Client, call)
	}
}

// Withdraw implements mcpproxy.Withdrawer.
func (j *proxyJudge) Withdraw(ctx context.Context, id human.OperationID, reason string) error {
	at, err := j.who.Find()
	if err != nil {
		return err
	}
	_, err = j.at(at).Cancel(ctx, id, reason)
	return err
}

// at is a client of the server at a URL.
func (j *proxyJudge) at(url string) *client.Client {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.to == nil || j.to.URL != url {
		if j.to != nil {
			j.to.Close()
		}
		j.to = client.New(url, j.who.Key)
	}
	return j.to
}

func (j *proxyJudge) close() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.to != nil {
		j.to.Close()
	}
}
