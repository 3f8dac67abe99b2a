package workspace

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/tailscale/hujson"
)

// A mcpServer is how agents' settings start an MCP server, or where they call it.
type mcpServer struct {
	Command any            `json:"command" toml:"command"` // a text, or a list with the arguments
	Args    []string       `json:"args" toml:"args"`
	URL     string         `json:"url" toml:"url"`
	HTTPURL string         `json:"httpUrl" toml:"-"` // Gemini CLI's
	Env     map[string]any `json:"env" toml:"env"`
	Vars    map[string]any `json:"environment" toml:"-"` // opencode's
}

type mcpServers map[string]mcpServer

// mcpSettings are the members of agents' settings that have them.
type mcpSettings struct {
	MCPServers mcpServers                                 `json:"mcpServers" toml:"-"`
	Servers    mcpServers                                 `json:"servers" toml:"-"` // VS Code's
	MCP        mcpServers                                 `json:"mcp" toml:"-"`     // opencode's
	Projects   map[string]struct{ MCPServers mcpServers } `json:"projects" toml:"-"`
	Codex      mcpServers                                 `json:"-" toml:"mcp_servers"`
}

// maxSettings is the longest settings file that is read, in bytes. Claude Code keeps its history in one.
const maxSettings = 16 << 20

// OurServer says whether every settings file of an agent that has an MCP server of this name, in the home and the project of
// the call, starts Deskbell itself for it, or calls the Deskbell that runs. One that cannot be read says no.
func (g *Facts) OurServer(name string) bool {
	ours := false
	g.look(func(context.Context) {
		for _, file := range g.mcpFiles() {
			text, err := small(file, maxSettings)
			if err != nil || !strings.Contains(text, name) {
				continue
			}
			var s mcpSettings
			if filepath.Ext(file) == ".toml" {
				err = toml.Unmarshal([]byte(text), &s)
			} else {
				err = withComments([]byte(text), &s)
			}
			if err != nil {
				ours = false
				return
			}
			for _, list := range []mcpServers{s.MCPServers, s.Servers, s.MCP, s.Codex, s.Projects[g.call.Root].MCPServers, s.Projects[g.call.Cwd].MCPServers} {
				if server, there := list[name]; there {
					if ours = g.starts(server); !ours {
						return
					}
				}
			}
		}
	})
	return ours
}

// withComments reads JSON as editors and agents do, with comments and trailing commas.
func withComments(text []byte, into any) error {
	plain, err := hujson.Standardize(text)
	if err != nil {
		return err
	}
	return json.Unmarshal(plain, into)
}

func (g *Facts) mcpFiles() []string {
	var files []string
	in := func(dir string, names ...string) {
		for _, name := range names {
			if dir != "" {
				files = append(files, filepath.Join(dir, filepath.FromSlash(name)))
			}
		}
	}
	in(g.call.Home, ".claude.json", ".codex/config.toml", ".gemini/settings.json", ".cursor/mcp.json", ".config/opencode/opencode.json", ".config/opencode/opencode.jsonc",
		".qwen/settings.json", ".copilot/mcp-config.json")
	for _, dir := range slices.Compact([]string{g.call.Root, g.call.Cwd}) {
		in(dir, ".mcp.json", ".codex/config.toml", ".gemini/settings.json", ".cursor/mcp.json", ".vscode/mcp.json", "opencode.json", "opencode.jsonc", ".qwen/settings.json", ".github/mcp.json")
	}
	return files
}

// starts says whether a server is `deskbell mcp` on the guarded folder, or the Deskbell that runs.
func (g *Facts) starts(s mcpServer) bool {
	for _, url := range []string{s.URL, s.HTTPURL} {
		if url != "" {
			return s.Command == nil && g.Server() != "" && url == "http://"+g.Server()+"/mcp"
		}
	}
	words := s.Args
	switch c := s.Command.(type) {
	case string:
		words = append([]string{c}, words...)
	case []any:
		for i, x := range c {
			word, _ := x.(string)
			words = slices.Insert(words, i, word)
		}
	}
	for _, vars := range []map[string]any{s.Env, s.Vars} {
		for name := range vars {
			if name != "DESKBELL_KEY" && name != "DESKBELL_AGENT" {
				return false // another folder, home or server
			}
		}
	}
	if len(words) < 2 || words[1] != "mcp" {
		return false
	}
	flags := slices.DeleteFunc(slices.Clone(words[2:]), func(word string) bool { return word == "--permission" })
	if len(flags)%2 != 0 {
		return false
	}
	for pair := range slices.Chunk(flags, 2) {
		switch pair[0] {
		case "--agent", "--patience":
		case "--data":
			if filepath.Clean(pair[1]) != filepath.Clean(g.call.Guard) {
				return false
			}
		default:
			return false
		}
	}
	return ours(words[0])
}
