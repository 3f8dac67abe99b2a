//go:build unix

package mcpproxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"deskbell/backend/human"
)

// The test binary is a server, too, and a proxy that can be killed: what it is stands in this variable.
const role = "DESKBELL_TEST_ROLE"

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	switch os.Getenv(role) {
	case "":
		goleak.VerifyTestMain(m)
	case "mirror": // sends every line back as it came
		_, _ = io.Copy(os.Stdout, os.Stdin)
		os.Exit(0)
	case "tools":
		err := toolServer().Run(context.Background(), &mcp.StdioTransport{})
		if err != nil && !errors.Is(err, io.EOF) {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	case "stubborn": // hears of signals, and does not end with its input
		c := make(chan os.Signal, 8)
		signal.Notify(c, syscall.SIGTERM, syscall.SIGUSR1)
		fmt.Println("ready")
		for s := range c {
			fmt.Println(s)
			if s == syscall.SIGTERM && os.Getenv("DESKBELL_TEST_DEAF") == "" {
				os.Exit(5)
			}
		}
	case "parent": // starts a process that would stay, and ends
		c := exec.Command("sleep", "1000")
		_ = c.Start()
		fmt.Println(c.Process.Pid)
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	case "proxy": // to be killed
		_ = os.Setenv(role, "stubborn")
		code, err := Child{Command: []string{os.Args[0]}, In: os.Stdin, Out: os.Stdout, Err: os.Stderr}.
			Serve(context.Background(), says(human.Judgement{Decision: human.Allow}), Options{})
		fmt.Fprintln(os.Stderr, err)
		os.Exit(code)
	}
}

// server is a command that runs the test binary in a role.
func server(t testing.TB, is string) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{"env", role + "=" + is, self}
}

type paths struct {
	Path string `json:"path" jsonschema:"what to take away"`
}

// toolServer is a server with tools of many kinds.
func toolServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "tools", Version: "1"}, nil)
	text := func(t string) *mcp.CallToolResult {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: t}}}
	}
	destructive := true
	mcp.AddTool(s, &mcp.Tool{Name: "remove", Description: "Takes a file away", Annotations: &mcp.ToolAnnotations{DestructiveHint: &destructive}},
		func(_ context.Context, _ *mcp.CallToolRequest, in paths) (*mcp.CallToolResult, any, error) {
			return text("removed " + in.Path), nil, os.Remove(in.Path)
		})
	addInput(s)
	type words struct {
		Text string `json:"text"`
	}
	mcp.AddTool(s, &mcp.Tool{Name: "echo", Description: "Says it again"},
		func(_ context.Context, _ *mcp.CallToolRequest, in words) (*mcp.CallToolResult, any, error) {
			return text(in.Text), nil, nil
		})
	type size struct {
		Bytes int `json:"bytes"`
	}
	mcp.AddTool(s, &mcp.Tool{Name: "large"}, func(_ context.Context, _ *mcp.CallToolRequest, in size) (*mcp.CallToolResult, any, error) {
		return text(strings.Repeat("01234567", in.Bytes/8)), nil, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "steps"}, func(ctx context.Context, r *mcp.CallToolRequest, _ any) (*mcp.CallToolResult, any, error) {
		for i := range 5 {
			if err := r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: float64(i), Total: 5}); err != nil {
				return nil, nil, err
			}
		}
		return text("done"), nil, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "ask"}, func(ctx context.Context, r *mcp.CallToolRequest, _ any) (*mcp.CallToolResult, any, error) {
		a, err := r.Session.Elicit(ctx, &mcp.ElicitParams{Message: "Which?"})
		if err != nil {
			return nil, nil, err
		}
		return text("it was " + a.Action), nil, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "form"}, func(ctx context.Context, r *mcp.CallToolRequest, in struct {
		URL string `json:"url,omitempty"`
	}) (*mcp.CallToolResult, any, error) {
		p := &mcp.ElicitParams{Message: "When?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{"day":{"type":"string","format":"date"}},"required":["day"]}`)}
		if in.URL != "" {
			p = &mcp.ElicitParams{Mode: "url", Message: "Sign in", URL: in.URL, ElicitationID: "1"}
		}
		a, err := r.Session.Elicit(ctx, p)
		if err != nil {
			return nil, nil, err
		}
		return text(fmt.Sprintf("%s %v", a.Action, a.Content)), nil, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "wait"}, func(ctx context.Context, _ *mcp.CallToolRequest, in paths) (*mcp.CallToolResult, any, error) {
		t := time.NewTimer(time.Minute)
		defer t.Stop()
		select {
		case <-ctx.Done():
			return nil, nil, os.WriteFile(in.Path, []byte("it was told"), 0o600)
		case <-t.C:
			return text("nobody told it"), nil, nil
		}
	})
	mcp.AddTool(s, &mcp.Tool{Name: "fails"}, func(context.Context, *mcp.CallToolRequest, any) (*mcp.CallToolResult, any, error) {
		return nil, nil, errors.New("it failed")
	})
	return s
}
