package cli

import (
	"context"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"deskbell/backend/human"
)

// A Proxied is an MCP server that the gatekeeper is to stand in front of.
type Proxied struct {
	Command []string // of a server on standard input and output; nil for one at URL
	URL     string
	Header  http.Header
	Listen  string // where to serve clients of URL; empty: standard input and output

	Name     string        // of the server, as rules call its tools: mcp__NAME__TOOL
	Patience time.Duration // how long a call may take while an operator is asked; 0 is as long as its client is known to wait

	NoElicitation bool // what a server asks its user stays with the client
}

// An Asker is the agent for whom calls are judged.
type Asker struct {
	Dir  string                 // the data folder
	Find func() (string, error) // where the server is now; an error where none runs
	Key  string
}

func (s *shell) mcpProxyCommand() *cobra.Command {
	var p Proxied
	var name string
	var headers []string
	c := &cobra.Command{
		Use:   "mcp-proxy [flags] -- COMMAND [ARGS...]",
		Short: "Run between an MCP client and an MCP server, and pass on the calls that the gatekeeper allows",
		Long: "Run between an MCP client and an MCP server. The gatekeeper checks each tool call before the server gets it:\n" +
			"it is passed on, changed, blocked, or held while the operator is asked. Everything else passes unchanged, both ways.\n\n" +
			"With COMMAND it starts a server that speaks MCP on standard input and output; the client starts the proxy instead.\n" +
			"With --url it calls a server that speaks streamable HTTP; its client speaks MCP on standard input and\n" +
			"output, or with --listen also streamable HTTP.\n\n" +
			"While Deskbell does not run, harmless calls pass and all others are blocked.",
		Example: "  deskbell mcp-proxy -- npx -y @modelcontextprotocol/server-filesystem ~/notes\n" +
			"  deskbell mcp-proxy --url https://mcp.example.com/mcp --header 'Authorization: Bearer ${TOKEN}'\n" +
			"  deskbell mcp-proxy --url http://127.0.0.1:3001/mcp --listen 127.0.0.1:8931",
		RunE: func(c *cobra.Command, args []string) error {
			p.Command = args
			if err := p.complete(headers); err != nil {
				return err
			}
			return s.mcpProxy(c.Context(), p, agentName(name))
		},
	}
	c.Flags().SetInterspersed(false) // what follows the command is its own
	c.Flags().StringVar(&p.URL, "url", "", "the address of a server that speaks streamable HTTP")
	c.Flags().StringVar(&p.Listen, "listen", "", "with --url: serve streamable HTTP on this address of this machine, such as 127.0.0.1:8931")
	c.Flags().StringArrayVar(&headers, "header", nil, "with --url: add `\"NAME: VALUE\"` to every request; ${VARIABLE} stands for the environment's")
	c.Flags().StringVar(&p.Name, "name", "", "what rules call the server: its tools are mcp__NAME__TOOL; default: from its command or address")
	c.Flags().StringVar(&name, "agent", "", "the agent's name for the operator (DESKBELL_AGENT); default: the name of the program that starts it, or mcp")
	c.Flags().DurationVar(&p.Patience, "patience", 0, "how long a call may take while an operator is asked, a little less than its client waits; default 45s, and longer for clients that progress keeps waiting")
	c.Flags().BoolVar(&p.NoElicitation, "no-elicitation", false, "ask no operator what the server asks its user (MCP's elicitation)")
	return c
}

// complete checks what was given and fills in the rest.
func (p *Proxied) complete(headers []string) error {
	switch {
	case len(p.Command) == 0 && p.URL == "":
		return human.Errorf(human.Invalid, "say which server: deskbell mcp-proxy -- COMMAND ARGS, or --url URL")
	case len(p.Command) > 0 && p.URL != "":
		return human.Errorf(human.Invalid, "a COMMAND and --url are two servers; give one")
	case p.URL == "" && (p.Listen != "" || len(headers) > 0):
		return human.Errorf(human.Invalid, "--listen and --header go with --url")
	case p.Patience < 0:
		return human.Errorf(human.Invalid, "--patience must not be negative")
	}
	if p.URL != "" {
		u, err := url.Parse(p.URL)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return human.Errorf(human.Invalid, "%q is not the address of a server; one is like http://127.0.0.1:3001/mcp", p.URL)
		}
	}
	p.Header = http.Header{}
	for _, h := range headers {
		name, value, ok := strings.Cut(h, ":")
		if name = strings.TrimSpace(name); !ok || name == "" || strings.ContainsAny(name, " \t\r\n") {
			return human.Errorf(human.Invalid, "--header must be \"NAME: VALUE\"")
		}
		value, err := expand(strings.TrimSpace(value))
		if err != nil {
			return err
		}
		p.Header.Add(name, value)
	}
	if p.Name == "" {
		p.Name = serverName(p.Command, p.URL)
	}
	if !serverNames.MatchString(p.Name) || strings.Contains(p.Name, "__") {
		return human.Errorf(human.Invalid, "--name may have letters, digits, - and single _, and at most 64 of them")
	}
	return nil
}

var (
	serverNames = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	variables   = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)
)

// expand puts the environment's values in. They are not in the list of processes, then, for all to read.
func expand(text string) (string, error) {
	missing := ""
	text = variables.ReplaceAllStringFunc(text, func(name string) string {
		name = name[2 : len(name)-1]
		value, ok := os.LookupEnv(name)
		if !ok {
			missing = name
		}
		return value
	})
	if missing != "" {
		return "", human.Errorf(human.Invalid, "--header names the variable %s, which is not set", missing)
	}
	if strings.ContainsAny(text, "\r\n") {
		return "", human.Errorf(human.Invalid, "a header's value has one line")
	}
	return text, nil
}

// runners start other programs, which are the servers.
var runners = []string{"npx", "npm", "pnpm", "pnpx", "yarn", "bunx", "bun", "deno", "node", "uvx", "uv", "pipx", "python", "python3", "docker", "podman", "env", "run", "exec", "dlx", "tool", "sh", "bash"}

// serverName makes a name from a command, as one would call the server: the first of its words that is neither a flag nor
// a runner, without its path, its version, and the words that all servers have in their names.
func serverName(command []string, address string) string {
	name := ""
	if u, err := url.Parse(address); err == nil && address != "" {
		name = u.Hostname()
	}
	for _, word := range command {
		base := strings.TrimSuffix(filepath.Base(word), ".exe")
		if strings.HasPrefix(word, "-") || slices.Contains(runners, base) || strings.Contains(word, "=") {
			continue
		}
		name = base
		break
	}
	if at := strings.LastIndex(name, "@"); at > 0 {
		name = name[:at] // npm's version
	}
	for _, end := range []string{".js", ".mjs", ".cjs", ".ts", ".py"} {
		name = strings.TrimSuffix(name, end)
	}
	for _, end := range []string{"mcp-server-", "server-", "mcp-"} {
		name = strings.TrimPrefix(name, end)
	}
	for _, end := range []string{"-mcp-server", "-server", "-mcp"} {
		name = strings.TrimSuffix(name, end)
	}
	name = regexp.MustCompile(`[^A-Za-z0-9-]+`).ReplaceAllString(name, "-")
	if name = strings.Trim(name, "-"); name == "" {
		return "server"
	}
	return name[:min(len(name), 64)]
}

func (s *shell) mcpProxy(ctx context.Context, p Proxied, name string) (err error) {
	dir, err := s.dir()
	if err != nil {
		return err
	}
	who := Asker{Dir: dir, Find: s.server, Key: os.Getenv("DESKBELL_KEY")}
	if who.Key == "" {
		if os.Getenv("DESKBELL_URL") != "" {
			return human.Errorf(human.Unauthorized, "a Deskbell elsewhere needs a key: set DESKBELL_KEY to one that was made there")
		}
		var drop func() error
		if who.Key, drop, err = s.mint(ctx, name); err != nil {
			return err
		}
		defer func() {
			if err := drop(); err != nil {
				s.note("deskbell: the proxy's key could not be dropped: %v", err)
			}
		}()
	}
	s.code, err = s.MCPProxy(ctx, who, p, s.in, s.out, s.err)
	return err
}
