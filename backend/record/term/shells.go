package term

import (
	_ "embed" // the integrations
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The integrations of shells. Each reads the operator's own files first, and changes none.
var (
	//go:embed shells/bash.sh
	bashFile string
	//go:embed shells/zsh.zsh
	zshFile string
	//go:embed shells/zshenv.zsh
	zshenvFile string
	//go:embed shells/fish.fish
	fishFile string
	//go:embed shells/pwsh.ps1
	pwshFile string
)

// integrate says how a shell is started so that it tells its commands apart. The files are in a new folder of the user's alone,
// which is removed at the first prompt; it is empty for a shell without integration.
func integrate(shell Shell, nonce string, env []string) (p Program, folder string, err error) {
	p = Program{Path: shell.Path, Env: environment(env)}
	files := map[string]map[string]string{
		"bash": {"bashrc": bashFile}, "zsh": {".zshrc": zshFile, ".zshenv": zshenvFile}, "fish": {"deskbell.fish": fishFile},
		"pwsh": {"deskbell.ps1": pwshFile}, "powershell": {"deskbell.ps1": pwshFile},
	}[shell.Name]
	if files == nil {
		return p, "", nil
	}
	if folder, err = os.MkdirTemp("", "deskbell-shell-"); err != nil { // 0700
		return p, "", err
	}
	for name, text := range files {
		if err = os.WriteFile(filepath.Join(folder, name), []byte(strings.ReplaceAll(text, "@NONCE@", nonce)), 0o600); err != nil {
			_ = os.RemoveAll(folder) // the first error counts
			return p, "", err
		}
	}
	switch shell.Name {
	case "bash":
		p.Args = []string{"--rcfile", filepath.Join(folder, "bashrc"), "-i"}
	case "zsh":
		p.Args = []string{"-i"}
		if own, is := lookup(p.Env, "ZDOTDIR"); is {
			p.Env = append(p.Env, "DESKBELL_ZDOTDIR="+own)
		}
		p.Env = append(without(p.Env, "ZDOTDIR"), "ZDOTDIR="+folder)
	case "fish":
		p.Args = []string{"-i", "-C", "source " + filepath.Join(folder, "deskbell.fish")}
	default:
		p.Args = []string{"-NoLogo", "-NoExit", "-Command", ". '" + strings.ReplaceAll(filepath.Join(folder, "deskbell.ps1"), "'", "''") + "'"}
	}
	return p, folder, nil
}

// environment is what a shell gets of ours: nothing of Deskbell's own, nor of the service manager's or the agents' programs.
func environment(env []string) []string {
	out := slices.DeleteFunc(slices.Clone(env), func(pair string) bool {
		name, _, _ := strings.Cut(strings.ToUpper(pair), "=")
		for _, own := range []string{"DESKBELL_", "CLAUDECODE", "CLAUDE_CODE_", "CODEX_", "MCP_", "LISTEN_"} {
			if strings.HasPrefix(name, own) {
				return true
			}
		}
		switch name {
		case "NOTIFY_SOCKET", "INVOCATION_ID", "JOURNAL_STREAM", "WATCHDOG_PID", "WATCHDOG_USEC", "TERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "COLORTERM",
			"COLUMNS", "LINES", "SHLVL", "STY", "TMUX", "TMUX_PANE", "VSCODE_INJECTION", "BASH_ENV", "PROMPT_COMMAND", "PS0", "PS1":
			return true
		}
		return false
	})
	return append(out, "TERM="+termType, "COLORTERM=truecolor", "TERM_PROGRAM=deskbell")
}

func lookup(env []string, name string) (string, bool) {
	for _, pair := range slices.Backward(env) {
		if value, is := strings.CutPrefix(pair, name+"="); is {
			return value, true
		}
	}
	return "", false
}

func without(env []string, name string) []string {
	return slices.DeleteFunc(env, func(pair string) bool { return strings.HasPrefix(pair, name+"=") })
}
