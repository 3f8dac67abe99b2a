package install

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"deskbell/backend/human"
)

// Server is the name that Deskbell's MCP server has in clients' settings.
const Server = "deskbell"

// patience is how long a client waits at most for one of Deskbell's tools: a person may take that long.
const patience = time.Hour

// Patience is how long Deskbell may take for a call of one of its tools by a client that is connected here, a little less than
// that client waits; 0 where its limit cannot be set or is not known.
func Patience(id string) time.Duration {
	if c := find(id); c != nil && c.waits {
		return patience - time.Minute
	}
	return 0
}

// A client is a program that Deskbell can be connected to.
type client struct {
	id, name string
	programs []string             // what it may be called on the path
	folders  func(Place) []string // one of which is there where it was installed or has run
	settings []*setting           // its MCP server first
	hook     bool                 // there is a target of its name
	waits    bool                 // for its tools, as long as patience says: its settings say so, or it has no limit
	next     human.Sentence       // what its user has to do once it is connected
}

func (p Place) system() string {
	if p.System != "" {
		return p.System
	}
	return runtime.GOOS
}

// config is the folder for programs' settings: of the user on Linux (XDG_CONFIG_HOME), macOS and Windows.
func (p Place) config(linux, mac, windows string) string {
	switch p.system() {
	case "windows":
		if dir := p.Env("APPDATA"); filepath.IsAbs(dir) {
			return filepath.Join(dir, filepath.FromSlash(windows))
		}
		return filepath.Join(p.Home, "AppData", "Roaming", filepath.FromSlash(windows))
	case "darwin":
		return filepath.Join(p.Home, filepath.FromSlash(mac))
	}
	return filepath.Join(p.xdg(), filepath.FromSlash(linux))
}

// xdg is the folder for settings of programs that use the same one on every system.
func (p Place) xdg() string {
	if dir := p.Env("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(p.Home, ".config")
}

// own is a client's folder: what its variable says, or one in the home.
func (p Place) own(variable, usual string) string {
	if dir := p.Env(variable); variable != "" && filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(p.Home, filepath.FromSlash(usual))
}

// in is a file below one of these folders.
func in(dir func(Place) string, name string) func(Place) string {
	return func(p Place) string { return filepath.Join(dir(p), filepath.FromSlash(name)) }
}

func oneOf(dirs ...func(Place) string) func(Place) []string {
	return func(p Place) []string {
		out := make([]string, len(dirs))
		for i, dir := range dirs {
			out[i] = dir(p)
		}
		return out
	}
}

// mac is an app of macOS; elsewhere a place where nothing is.
func mac(app string) func(Place) string {
	return func(p Place) string {
		if p.system() != "darwin" {
			return ""
		}
		return "/Applications/" + app + ".app"
	}
}

// stdio is an MCP server as most clients have it, with what else they want.
type stdio struct {
	Type    string   `json:"type,omitempty"`
	Source  string   `json:"source,omitempty"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
	Tools   []string `json:"tools,omitempty"`
	Timeout int64    `json:"timeout,omitempty"`
	Trust   bool     `json:"trust,omitempty"`
}

func (s stdio) value(program []string) any {
	if len(program) > 0 {
		s.Command, s.Args = program[0], program[1:]
	}
	return s
}

// list is an MCP server whose command has its arguments in it.
type list struct {
	Type    string   `json:"type"`
	Command []string `json:"command"`
	Enabled bool     `json:"enabled"`
	Timeout int64    `json:"timeout"`
}

func server(file func(Place) string, at string, s stdio) *setting {
	return &setting{what: "server", file: file, at: []string{at}, name: Server, value: s.value}
}

func word(s string) func([]string) any { return func([]string) any { return s } }

// allow is a setting that lets a client call Deskbell's tools without its own question: an element of a list.
func allow(file func(Place) string, element string, at ...string) *setting {
	return &setting{what: "permission", file: file, at: at, value: word(element)}
}

// Folders of clients.
var (
	claudeHome   = func(p Place) string { return p.own("CLAUDE_CONFIG_DIR", ".claude") }
	codexHome    = func(p Place) string { return p.own("CODEX_HOME", ".codex") }
	geminiHome   = func(p Place) string { return filepath.Join(p.own("GEMINI_CLI_HOME", ""), ".gemini") }
	qwenHome     = func(p Place) string { return p.own("QWEN_HOME", ".qwen") }
	copilotHome  = func(p Place) string { return p.own("COPILOT_HOME", ".copilot") }
	cursorHome   = func(p Place) string { return p.own("", ".cursor") }
	windsurfHome = func(p Place) string { return p.own("", ".codeium/windsurf") }
	devinHome    = func(p Place) string { return p.config("devin", ".config/devin", "devin") }
	codeHome     = func(p Place) string {
		return p.config("Code/User", "Library/Application Support/Code/User", "Code/User")
	}
	claudeApp = func(p Place) string {
		if dirs := p.packaged("Claude_*", "Claude"); len(dirs) > 0 {
			return dirs[0]
		}
		return p.config("Claude", "Library/Application Support/Claude", "Claude")
	}
	opencodeHome = func(p Place) string {
		if dir := p.Env("OPENCODE_CONFIG_DIR"); filepath.IsAbs(dir) {
			return dir
		}
		return filepath.Join(p.xdg(), "opencode")
	}
	crushHome = func(p Place) string {
		if dir := p.Env("CRUSH_GLOBAL_CONFIG"); filepath.IsAbs(dir) {
			return dir
		}
		return filepath.Join(p.xdg(), "crush")
	}
	zedHome = func(p Place) string {
		if p.system() == "windows" {
			return p.config("", "", "Zed")
		}
		if p.system() == "darwin" {
			return filepath.Join(p.Home, ".config", "zed")
		}
		return filepath.Join(p.xdg(), "zed")
	}
)

// packaged are the folders in which Windows keeps what a packaged app (MSIX) takes for its own one in APPDATA.
func (p Place) packaged(app, dir string) []string {
	if p.system() != "windows" {
		return nil
	}
	local := p.Env("LOCALAPPDATA")
	if !filepath.IsAbs(local) {
		local = filepath.Join(p.Home, "AppData", "Local")
	}
	found, err := filepath.Glob(filepath.Join(local, "Packages", app, "LocalCache", "Roaming", dir))
	if err != nil {
		return nil // a folder's name that is no pattern
	}
	return found
}

// windsurfFile is where Windsurf keeps its servers: since it is called Devin Desktop, in a folder of that name.
func windsurfFile(p Place) string {
	if info, err := os.Stat(devinHome(p)); err == nil && info.IsDir() {
		return filepath.Join(devinHome(p), "mcp_config.json")
	}
	return filepath.Join(windsurfHome(p), "mcp_config.json")
}

// claudeServers is where Claude Code keeps the servers of its user: beside its folder, or in the one that was chosen.
func claudeServers(p Place) string {
	if dir := p.Env("CLAUDE_CONFIG_DIR"); filepath.IsAbs(dir) {
		return filepath.Join(dir, ".claude.json")
	}
	return filepath.Join(p.Home, ".claude.json")
}

// opencodeFile is the one of opencode's settings files that is there.
func opencodeFile(p Place) string {
	dir := opencodeHome(p)
	for _, name := range []string{"opencode.jsonc", "opencode.json"} {
		if text, err := read(filepath.Join(dir, name)); text != nil || err != nil {
			return filepath.Join(dir, name)
		}
	}
	return filepath.Join(dir, "opencode.json")
}

// clients are all that are known, the most used first.
var clients = []client{
	{
		// https://code.claude.com/docs/en/mcp, https://code.claude.com/docs/en/permissions
		id: "claude-code", name: "Claude Code", programs: []string{"claude"}, folders: oneOf(claudeHome), hook: true, waits: true,
		settings: []*setting{
			server(claudeServers, "mcpServers", stdio{Type: "stdio", Timeout: patience.Milliseconds()}),
			allow(in(claudeHome, "settings.json"), "mcp__"+Server, "permissions", "allow"),
		},
		next: human.Sayf("Start %s again; sessions that run now do not see the new tool.", "Claude Code"),
	},
	{
		// https://developers.openai.com/codex/config-reference
		id: "codex", name: "Codex", programs: []string{"codex"}, folders: oneOf(codexHome), hook: true, waits: true,
		settings: []*setting{{what: "server", file: in(codexHome, "config.toml"), at: []string{"mcp_servers"}, name: Server, value: func(program []string) any {
			command, args := split(program)
			return map[string]any{"command": command, "args": args, "tool_timeout_sec": int64(patience.Seconds()), "default_tools_approval_mode": "approve"}
		}}},
		next: human.Sayf("Start Codex again, open /hooks in it and trust Deskbell's hook."),
	},
	{
		// https://geminicli.com/docs/tools/mcp-server
		id: "gemini", name: "Gemini CLI", programs: []string{"gemini"}, folders: oneOf(geminiHome), hook: true, waits: true,
		settings: []*setting{server(in(geminiHome, "settings.json"), "mcpServers", stdio{Timeout: patience.Milliseconds(), Trust: true})},
		next:     human.Sayf("Start %s again; sessions that run now do not see the new tool.", "Gemini CLI"),
	},
	{
		// https://opencode.ai/docs/mcp-servers, https://opencode.ai/docs/permissions
		id: "opencode", name: "opencode", programs: []string{"opencode"}, folders: oneOf(opencodeHome), hook: true, waits: true,
		settings: []*setting{
			{what: "server", file: opencodeFile, at: []string{"mcp"}, name: Server, value: func(program []string) any {
				return list{"local", program, true, patience.Milliseconds()}
			}},
			{what: "permission", file: opencodeFile, at: []string{"permission"}, name: Server + "_*", value: word("allow"), soft: true},
		},
		next: human.Sayf("Start %s again; sessions that run now do not see the new tool.", "opencode"),
	},
	{
		// https://cursor.com/docs/context/mcp
		id: "cursor", name: "Cursor", programs: []string{"cursor", "cursor-agent"}, folders: oneOf(cursorHome, mac("Cursor")), hook: true,
		settings: []*setting{server(in(cursorHome, "mcp.json"), "mcpServers", stdio{Type: "stdio"})},
		next:     human.Sayf("Switch the server on in Cursor's settings, under MCP, and allow its tools there when Cursor asks for the first time."),
	},
	{
		// https://code.visualstudio.com/docs/copilot/reference/mcp-configuration
		id: "vscode", name: "VS Code", programs: []string{"code"}, folders: oneOf(codeHome, mac("Visual Studio Code")),
		settings: []*setting{server(in(codeHome, "mcp.json"), "servers", stdio{Type: "stdio"})},
		next:     human.Sayf("VS Code asks once whether the server may start, and at its first call whether its tools may be called: choose Always Allow."),
	},
	{
		// https://docs.github.com/en/copilot/how-tos/copilot-cli
		id: "copilot", name: "GitHub Copilot CLI", programs: []string{"copilot"}, folders: oneOf(copilotHome), hook: true, waits: true,
		settings: []*setting{server(in(copilotHome, "mcp-config.json"), "mcpServers", stdio{Type: "local", Tools: []string{"*"}, Timeout: patience.Milliseconds()})},
		next:     human.Sayf("Start Copilot CLI again; it asks once whether Deskbell's tools may be called."),
	},
	{
		// https://qwenlm.github.io/qwen-code-docs
		id: "qwen", name: "Qwen Code", programs: []string{"qwen"}, folders: oneOf(qwenHome), hook: true, waits: true,
		settings: []*setting{server(in(qwenHome, "settings.json"), "mcpServers", stdio{Timeout: patience.Milliseconds(), Trust: true})},
		next:     human.Sayf("Start %s again; sessions that run now do not see the new tool.", "Qwen Code"),
	},
	{
		// https://github.com/charmbracelet/crush; its timeout is for the start of a server and for each look whether it is there, a call has none
		id: "crush", name: "Crush", programs: []string{"crush"}, folders: oneOf(crushHome), waits: true,
		settings: []*setting{
			server(in(crushHome, "crush.json"), "mcp", stdio{Type: "stdio", Timeout: 60}),
			allow(in(crushHome, "crush.json"), "mcp_"+Server+"_human", "permissions", "allowed_tools"),
			allow(in(crushHome, "crush.json"), "mcp_"+Server+"_confirm_plan", "permissions", "allowed_tools"),
		},
		next: human.Sayf("Start %s again; sessions that run now do not see the new tool.", "Crush"),
	},
	{
		// https://zed.dev/docs/ai/mcp, https://zed.dev/docs/ai/tool-permissions
		id: "zed", name: "Zed", programs: []string{"zed", "zeditor"}, folders: oneOf(zedHome, mac("Zed")),
		settings: []*setting{
			server(in(zedHome, "settings.json"), "context_servers", stdio{}),
			zedTool("human"), zedTool("confirm_plan"),
		},
		next: human.Sayf("Zed takes it up by itself; its agent panel lists the server."),
	},
	{
		// https://docs.windsurf.com/windsurf/cascade/mcp
		id: "windsurf", name: "Devin Desktop (Windsurf)", programs: []string{"windsurf"}, folders: oneOf(windsurfHome, devinHome, mac("Windsurf")),
		settings: []*setting{server(windsurfFile, "mcpServers", stdio{})},
		next:     human.Sayf("Press Refresh in its list of MCP servers."),
	},
	{
		// https://modelcontextprotocol.io/docs/develop/connect-local-servers
		id: "claude-desktop", name: "Claude Desktop", programs: []string{"claude-desktop"}, folders: oneOf(claudeApp, mac("Claude")),
		settings: []*setting{server(in(claudeApp, "claude_desktop_config.json"), "mcpServers", stdio{})},
		next:     human.Sayf("Quit Claude Desktop and start it again; it asks once whether Deskbell's tools may be called."),
	},
}

func zedTool(tool string) *setting {
	return &setting{what: "permission", file: in(zedHome, "settings.json"), at: []string{"agent", "tool_permissions", "tools", "mcp:" + Server + ":" + tool}, name: "default", value: word("allow")}
}

// split is a command and its arguments.
func split(program []string) (string, []string) {
	if len(program) == 0 {
		return "", []string{}
	}
	return program[0], program[1:]
}

func find(id string) *client {
	if i := slices.IndexFunc(clients, func(c client) bool { return c.id == id }); i >= 0 {
		return &clients[i]
	}
	return nil
}
