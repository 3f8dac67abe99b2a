package app

import (
	"context"
	"io"
	"log/slog"
	"os"

	"deskbell/backend/app/hookprogram"
	"deskbell/backend/human"
	"deskbell/backend/transport/cli"
	"deskbell/backend/transport/client"
	"deskbell/backend/transport/mcpproxy"
)

// serveProxy stands between an MCP client and a server; see cli.Program.
func serveProxy(ctx context.Context, who cli.Asker, p cli.Proxied, in io.Reader, out, errs io.Writer) (int, error) {
	c := client.Finding(who.Find, who.Key)
	defer c.Close()
	judge := mcpproxy.ForClient(c, func(ctx context.Context, call human.ToolCall) (human.Judgement, error) {
		return hookprogram.Away(ctx, who.Dir, call.Client, who.Key, call)
	})
	folder, _ := os.Getwd() // without it no server is started
	return mcpproxy.Front{Command: p.Command, URL: p.URL, Header: p.Header, Listen: p.Listen, In: in, Out: out, Err: errs}.Serve(ctx, judge, mcpproxy.Options{
		Server: p.Name, Session: client.Thread(folder), Cwd: folder, Patience: p.Patience, NoElicitation: p.NoElicitation,
		Log: slog.New(slog.NewTextHandler(errs, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
}
