package mcp_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deskbell/backend/human"
	mcpserver "deskbell/backend/transport/mcp"
)

// both copies to a buffer what goes to a pipe.
type both struct {
	io.Writer
	copy *bytes.Buffer
}

func (b both) Write(p []byte) (int, error) {
	b.copy.Write(p)
	return b.Writer.Write(p)
}

func TestStdioSpeaksOnlyTheProtocolAndEndsWithItsInput(t *testing.T) {
	q := open(t)
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	var spoken bytes.Buffer
	ended := make(chan error, 1)
	go func() {
		ended <- mcpserver.ServeStdio(t.Context(), mcpserver.ForQueue(q, nil, bot), in, both{out, &spoken}, mcpserver.Options{Version: "1.2.3"})
	}()
	c := connect(t, &mcp.IOTransport{Reader: fromServer, Writer: toServer}, legacy)
	if v := c.InitializeResult().ServerInfo; v.Name != "deskbell" || v.Version != "1.2.3" {
		t.Errorf("server %+v", v)
	}
	done := c.start(ask("Over stdio"), make(chan note, 10))
	op := requested(t, q, bot, 1)
	answer(t, q, op.ID, human.Answer{HumanInput: "ok"})
	if r := <-done; r.HumanInput != "ok" {
		t.Errorf("%+v", r)
	}
	until(t, "it counts as delivered", func() (bool, bool) { return true, delivered(t, q, op.ID) })
	if r := c.use(ask("Over stdio").with(args{"wait_seconds": 0})); r.Attached {
		t.Error("the old answer came twice")
	}

	// The input ends while a call waits.
	go func() { _, _ = c.try(context.Background(), ask("The last"), make(chan note, 10)) }()
	last := requested(t, q, bot, 2)
	_ = toServer.Close()
	if err := <-ended; err != nil {
		t.Errorf("the end of the input is an error: %v", err)
	}
	_ = out.Close()
	_ = c.Close()
	if q.PresenceOf(last.ID).Waiting {
		t.Error("the call outlived its server")
	}
	answer(t, q, last.ID, human.Answer{HumanInput: "too late"})
	if delivered(t, q, last.ID) {
		t.Error("an answer nobody read counts as delivered")
	}
	for lines := bufio.NewScanner(&spoken); lines.Scan(); {
		var m struct{ JSONRPC string }
		if json.Unmarshal(lines.Bytes(), &m) != nil || m.JSONRPC != "2.0" {
			t.Errorf("on stdout: %s", lines.Text())
		}
	}
}

// broken is a client that went away: what is written to it goes nowhere.
type broken struct{ io.Writer }

func (b broken) Write(p []byte) (int, error) {
	if strings.Contains(string(p), "for nobody") {
		return 0, errors.New("broken pipe")
	}
	return b.Writer.Write(p)
}

func TestAnAnswerThatCouldNotBeWrittenIsNotDelivered(t *testing.T) {
	q := open(t)
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- mcpserver.ServeStdio(t.Context(), mcpserver.ForQueue(q, nil, bot), in, broken{out}, mcpserver.Options{})
	}()
	c := connect(t, &mcp.IOTransport{Reader: fromServer, Writer: toServer}, modern)
	go func() { _, _ = c.try(context.Background(), ask("Who reads this?"), nil) }()
	op := requested(t, q, bot, 1)
	until(t, "it waits", func() (bool, bool) { return true, q.PresenceOf(op.ID).Waiting })
	answer(t, q, op.ID, human.Answer{HumanInput: "for nobody"})
	until(t, "nobody waits", func() (bool, bool) { return true, !q.PresenceOf(op.ID).Waiting })
	_ = toServer.Close()
	t.Logf("it ended with: %v", <-ended)
	_ = out.Close()
	_ = c.Close()
	if delivered(t, q, op.ID) {
		t.Error("an answer that could not be written counts as delivered")
	}
}

func TestStdioEndsWithItsContext(t *testing.T) {
	q := open(t)
	in, toServer := io.Pipe()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- mcpserver.ServeStdio(ctx, mcpserver.ForQueue(q, nil, bot), in, io.Discard, mcpserver.Options{})
	}()
	stop()
	if err := <-ended; err != nil {
		t.Errorf("stopped with %v", err)
	}
	_ = toServer.Close()
}
