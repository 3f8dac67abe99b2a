package mcpproxy

import (
	"context"
	"io"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	"deskbell/backend/human"
)

// A Front is a server to stand in front of, and where its client is.
type Front struct {
	Command []string // of a server on standard input and output; nil for one at URL
	URL     string
	Header  http.Header
	Listen  string // where to serve clients of URL; empty: on In and Out

	In       io.Reader
	Out, Err io.Writer
}

// Serve passes messages until the client or the server has gone, ctx ends or a signal ends this process. It returns the exit
// code of a server that it started. It writes nothing but the protocol to Out; with Listen, the URL.
func (f Front) Serve(ctx context.Context, judge Judge, opts Options) (code int, err error) {
	if f.URL == "" {
		if opts.Cwd == "" {
			return 0, human.Errorf(human.Internal, "the folder that this runs in is not known")
		}
		signals := make(chan os.Signal, 8)
		signal.Notify(signals, Signals()...)
		defer signal.Stop(signals)
		return Child{Command: f.Command, In: f.In, Out: f.Out, Err: f.Err, Signals: signals}.Serve(ctx, judge, opts)
	}
	opts.Cwd = "" // it may run on another machine
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	server := Remote{URL: f.URL, Header: f.Header}
	if f.Listen == "" {
		return 0, server.Serve(ctx, judge, f.In, f.Out, opts)
	}
	return 0, server.Listen(ctx, judge, f.Listen, func(url string) {
		_, _ = io.WriteString(f.Out, url+"\n") // whoever started it reads where it is, or does not
	}, opts)
}
