package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deskbell/backend/agent"
	"deskbell/backend/human"
	"deskbell/backend/platform/procgroup"
)

// The bounds of an MCP server.
const (
	beginTime  = time.Minute // until it has told its tools
	callTime   = 10 * time.Minute
	maxTools   = 200 // of one server
	maxAbout   = 4 << 10
	maxSchema  = 64 << 10
	maxName    = 64 // of a tool, as models take them
	lastMoment = 2 * time.Second
)

// An MCPServer is a server of tools: a command that speaks MCP on standard input and output, or a URL where one speaks it
// over HTTP.
type MCPServer struct {
	Name    string // what its tools are called after: mcp__NAME__TOOL; letters, digits, - and single _
	Command []string
	URL     string
	Header  http.Header

	Category agent.Category // of its tools; empty: mcp

	Dir     string // the folder to run in
	Version string // Deskbell's
}

// A Connection is an MCP server at work. Its methods are safe for concurrent use.
type Connection struct {
	name     string
	category agent.Category
	session  *mcp.ClientSession
	tools    []agent.Tool
	child    *child          // nil for one at a URL
	web      *http.Transport // nil for a command
	closing  sync.Once
	err      error
}

// ConnectMCP starts a server, or connects to it, and asks for its tools. They are those that it told now: what it tells
// later is not taken, so that no tool becomes another one while the agent runs. Close ends it.
func ConnectMCP(ctx context.Context, s MCPServer) (_ *Connection, err error) {
	c := &Connection{name: s.Name, category: cmp.Or(s.Category, agent.Remote)}
	defer func() {
		if err != nil {
			_ = c.Close() // the first error is the one that counts
		}
	}()
	client := mcp.NewClient(&mcp.Implementation{Name: "deskbell-agent", Version: s.Version}, &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}})
	var over mcp.Transport
	if s.URL != "" {
		c.web = http.DefaultTransport.(*http.Transport).Clone()
		over = &mcp.StreamableClientTransport{Endpoint: s.URL, HTTPClient: &http.Client{
			Transport: headers{s.Header, c.web},
			// A key must not go along to another place.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}}
	} else {
		if len(s.Command) == 0 {
			return nil, human.Errorf(human.Invalid, "the MCP server %s has no command", s.Name)
		}
		if over, err = c.start(s); err != nil {
			return nil, human.Wrap(human.Invalid, err, "the MCP server %s could not be started: %v", s.Name, err)
		}
	}
	begin, stop := context.WithTimeout(ctx, beginTime)
	defer stop()
	if c.session, err = client.Connect(begin, over, nil); err != nil {
		said := ""
		if c.child != nil {
			_ = c.child.Close() // it has said all, then
			if words := strings.TrimSpace(c.child.said.text()); words != "" {
				said = "; it said: " + words
			}
		}
		return nil, human.Wrap(human.Unavailable, err, "the MCP server %s did not start: %s%s", s.Name, human.OneLine(err.Error(), 300), said)
	}
	taken := map[string]bool{}
	for tool, err := range c.session.Tools(begin, nil) {
		if err != nil {
			return nil, human.Wrap(human.Unavailable, err, "the MCP server %s does not list its tools: %s", s.Name, human.OneLine(err.Error(), 300))
		}
		if len(c.tools) == maxTools {
			return nil, human.Errorf(human.Invalid, "the MCP server %s has more than %d tools", s.Name, maxTools)
		}
		t, err := c.tool(tool)
		if err != nil {
			return nil, err
		}
		if taken[t.spec.Name] {
			return nil, human.Errorf(human.Invalid, "the MCP server %s has two tools that would be called %s", s.Name, t.spec.Name)
		}
		taken[t.spec.Name] = true
		c.tools = append(c.tools, t)
	}
	return c, nil
}

// start starts the server's command in a group of its own.
func (c *Connection) start(s MCPServer) (mcp.Transport, error) {
	cmd := exec.Command(s.Command[0], s.Command[1:]...)
	said := &ends{most: 1 << 10}
	cmd.Dir, cmd.Env, cmd.Stderr, cmd.WaitDelay = s.Dir, environment(), said, leftOver
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	group, err := procgroup.Start(cmd)
	if err != nil {
		return nil, err
	}
	c.child = &child{WriteCloser: in, cmd: cmd, group: group, said: said}
	return &mcp.IOTransport{Reader: out, Writer: c.child}, nil
}

// A child is a server's process, written to by its standard input. Closing that ends it, after a moment to end by itself,
// and all that it started and left in its group.
type child struct {
	io.WriteCloser
	cmd   *exec.Cmd
	group *procgroup.Group
	said  *ends // on its standard error; to be read once it has ended
	once  sync.Once
	err   error
}

func (c *child) Close() error {
	c.once.Do(func() {
		c.err = c.WriteCloser.Close()
		late := time.AfterFunc(lastMoment, c.group.Kill)
		defer late.Stop()
		_ = c.cmd.Wait() // how it ends does not matter
		c.group.Kill()
		c.group.Release()
	})
	return c.err
}

// Tools are the server's.
func (c *Connection) Tools() []agent.Tool { return c.tools }

// Close ends the server, with all processes that it started and left in its group.
func (c *Connection) Close() error {
	c.closing.Do(func() {
		if c.session != nil {
			c.err = c.session.Close()
		}
		if c.child != nil {
			_ = c.child.Close() // where there was no session to do it
		}
		if c.web != nil {
			c.web.CloseIdleConnections()
		}
	})
	return c.err
}

// headers adds headers to every request.
type headers struct {
	add  http.Header
	next http.RoundTripper
}

func (h headers) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, values := range h.add {
		r.Header[name] = values
	}
	return h.next.RoundTrip(r)
}

// A remote is a tool of an MCP server.
type remote struct {
	of   *Connection
	spec agent.ToolSpec
	own  string // its name at its server
	call human.ToolCall
}

func (c *Connection) tool(t *mcp.Tool) (*remote, error) {
	text, err := json.Marshal(t.InputSchema)
	if err != nil || len(text) > maxSchema || len(t.Name) > 200 {
		return nil, human.Errorf(human.Invalid, "the MCP server %s has a tool that is too large: %s", c.name, human.OneLine(t.Name, 80))
	}
	if text, err = objectSchema(text); err != nil {
		return nil, human.Wrap(human.Invalid, err, "the MCP server %s has a tool without a schema of an object: %s", c.name, human.OneLine(t.Name, 80))
	}
	about := human.Shorten(plain(t.Description), maxAbout)
	r := &remote{of: c, own: t.Name, spec: agent.ToolSpec{Name: toolName("mcp__" + c.name + "__" + t.Name), Description: about, Schema: text}}
	r.call = human.ToolCall{Tool: "mcp__" + c.name + "__" + t.Name, Schema: text, About: about}
	if a := t.Annotations; a != nil {
		r.call.Annotations = human.Annotations{ReadOnly: &a.ReadOnlyHint, Destructive: a.DestructiveHint, Idempotent: &a.IdempotentHint, OpenWorld: a.OpenWorldHint}
	}
	return r, nil
}

// objectSchema is a schema as models take it: of an object, with its properties.
func objectSchema(text []byte) ([]byte, error) {
	var s map[string]json.RawMessage
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, err
	}
	if kind := string(s["type"]); kind != `"object"` {
		return nil, fmt.Errorf("its type is %s", kind)
	}
	if _, ok := s["properties"]; ok {
		return text, nil
	}
	s["properties"] = json.RawMessage("{}")
	return json.Marshal(s)
}

// toolName is a name as models take it: letters, digits, - and _, and not too long.
func toolName(name string) string {
	plain := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		}
		return '_'
	}, name)
	return plain[:min(len(plain), maxName)]
}

// Spec implements agent.Tool.
func (r *remote) Spec() agent.ToolSpec { return r.spec }

// Category implements agent.Tool.
func (r *remote) Category() agent.Category { return r.of.category }

// Tell implements Judged.
func (r *remote) Tell(call *human.ToolCall) {
	call.Tool, call.Schema, call.About, call.Annotations = r.call.Tool, r.call.Schema, r.call.About, r.call.Annotations
}

// Run implements agent.Tool.
func (r *remote) Run(ctx context.Context, args json.RawMessage) (agent.Output, error) {
	var object map[string]json.RawMessage
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	if err := json.Unmarshal(args, &object); err != nil || object == nil {
		return failed("the arguments must be a JSON object"), nil
	}
	ctx, stop := context.WithTimeoutCause(ctx, callTime, errTime)
	defer stop()
	res, err := r.of.session.CallTool(ctx, &mcp.CallToolParams{Name: r.own, Arguments: args})
	switch {
	case err != nil && ctx.Err() != nil && context.Cause(ctx) != errTime:
		return agent.Output{}, ctx.Err()
	case err != nil && ctx.Err() != nil:
		return failed("it took longer than %v; it may have done a part of its work", callTime), nil
	case err != nil:
		return failed("the MCP server %s: %s", r.of.name, human.OneLine(err.Error(), 1000)), nil
	}
	return agent.Output{Text: contents(res), Failed: res.IsError}, nil
}

// contents is what a tool returned, as text.
func contents(res *mcp.CallToolResult) string {
	var parts []string
	for _, c := range res.Content {
		switch c := c.(type) {
		case *mcp.TextContent:
			parts = append(parts, c.Text)
		case *mcp.ImageContent:
			parts = append(parts, fmt.Sprintf("[an image, %s, %d bytes]", c.MIMEType, len(c.Data)))
		case *mcp.AudioContent:
			parts = append(parts, fmt.Sprintf("[a sound, %s, %d bytes]", c.MIMEType, len(c.Data)))
		case *mcp.ResourceLink:
			parts = append(parts, fmt.Sprintf("[a link to %s]", c.URI))
		case *mcp.EmbeddedResource:
			switch {
			case c.Resource == nil:
			case c.Resource.Text != "":
				parts = append(parts, c.Resource.Text)
			default:
				parts = append(parts, fmt.Sprintf("[%s, %s, %d bytes]", c.Resource.URI, c.Resource.MIMEType, len(c.Resource.Blob)))
			}
		}
	}
	if len(parts) == 0 && res.StructuredContent != nil {
		if text, err := json.Marshal(res.StructuredContent); err == nil {
			parts = append(parts, string(text))
		}
	}
	if len(parts) == 0 {
		return "[it returned nothing]"
	}
	return bounded(strings.Join(parts, "\n"))
}
