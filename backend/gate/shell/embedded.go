package shell

import (
	"path"
	"strings"
	"sync"
)

// Programs that run a command which follows one of their verbs: poetry run, bundle exec, mise x --.
var runVerbs = sync.OnceValue(func() map[string]map[string]bool {
	all := map[string]map[string]bool{}
	for verbs, names := range map[string]string{
		"run":                   "poetry pipenv hatch pdm rye pixi conda mamba micromamba devbox toolbox dotenv op doppler infisical rr railway heroku nix",
		"exec":                  "lerna bundle bundler asdf rbenv pyenv nodenv goenv jenv nvm chamber aws-vault direnv rustup lxc incus multipass fly npm pnpm yarn teller distrobox limactl colima",
		"exec x run env":        "mise rtx volta fnm proto",
		"exec x":                "npm pnpm cnpm bun",
		"enter":                 "distrobox toolbox",
		"shell":                 "machinectl devbox lima limactl",
		"stat record trace run": "perf",
		"add":                   "pueue",
		"watch":                 "cargo",
		"debug run":             "kubectl",
	} {
		for _, name := range strings.Fields(names) {
			if all[name] == nil {
				all[name] = map[string]bool{}
			}
			for _, v := range strings.Fields(verbs) {
				all[name][v] = true
			}
		}
	}
	return all
})

// Options whose value is a command, for programs that have them.
var (
	commandOptions = setOf("--command --exec --run --cmd --extcmd --scripts --shell --script --parameters --on-change --on-event")
	shortOptions   = sync.OnceValue(func() map[string]map[string]bool {
		return map[string]map[string]bool{
			"fly": set("-C"), "flyctl": set("-C"), "vagrant": set("-c"), "git": set("-x"), "cargo": set("-x -s"), "nodemon": set("-x"), "npm": set("-c"), "watchexec": set("-x"), "reflex": set("-s"), "pnpm": set("-c"), "mise": set("-c"),
			"runuser": set("-c"), "machinectl": set("-c"), "entr": set("-s"), "toolbox": set("-c"), "viddy": set("-x"), "rlwrap": set("-c"), "onchange": set("-x"),
		}
	})
	wordsAreRun = setOf("concurrently hyperfine watchexec rush pee nodemon run-p run-s npm-run-all viddy onchange chokidar")
	terminals   = setOf("gnome-terminal konsole xterm xfce4-terminal alacritty kitty wezterm ghostty foot tilix terminator terminology urxvt st rxvt lxterminal qterminal mate-terminal cool-retro-term x-terminal-emulator uxterm")
	elsewhere   = setOf("gcloud az aws fly flyctl vagrant heroku lxc incus multipass kubectl machinectl railway")
)

// embedded looks for commands within the arguments of a program that runs what it is given.
func (w *walker) embedded(c *cmd) {
	if c.name == "git" && (len(c.args) == 0 || c.args[0].s != "difftool") {
		return // its own options say which of them are commands
	}
	run := func(args []value) { w.run(args, c.in) }
	script := func(v value) { w.script(v.s, "sh", nil, c.in) }
	if elsewhere()[c.name] {
		run = func(args []value) { w.away(c.name, func() stream { return w.run(args, c.in) }) }
		script = func(v value) { w.away(c.name, func() stream { return w.script(v.s, "sh", nil, c.in) }) }
	}
	verbs := runVerbs()[c.name]
	for i, a := range c.args {
		if i > 40 {
			return
		}
		switch {
		case terminals()[c.name] && i+1 < len(c.args) && (a.s == "-e" || a.s == "-x" || a.s == "--" || a.s == "--command" || a.s == "start" || a.s == "-c"):
			if rest := c.args[i+1:]; strings.Contains(rest[0].s, " ") {
				script(rest[0])
			} else {
				run(rest)
			}
			return
		case verbs[a.s]:
			rest := c.args[i+1:]
			for j, x := range rest {
				if x.s == "--" {
					rest = rest[j+1:]
					break
				}
			}
			// Options of the program's own, with or without a value; then the command, the first word that is one.
			for j, x := range rest {
				if j > 4 {
					break
				}
				if base := path.Base(x.s); !strings.HasPrefix(x.s, "-") && x.s != "." && (handlers()[base] != nil || specOf(base) != nil) {
					run(rest[j:])
					break
				}
				if strings.Contains(x.s, " ") && w.looksRun(x) {
					script(x)
					break
				}
			}
			return
		case (commandOptions()[a.s] || shortOptions()[c.name][a.s]) && i+1 < len(c.args) && w.looksRun(c.args[i+1]):
			script(value{s: trimList(c.args[i+1].s), taint: c.args[i+1].taint})
		case strings.HasPrefix(a.s, "--"):
			name, text, ok := strings.Cut(a.s, "=")
			if ok && commandOptions()[name] && w.looksRun(value{s: text}) {
				script(value{s: trimList(text), taint: a.taint})
			}
		case wordsAreRun()[c.name] && strings.Contains(a.s, " "):
			script(a)
		case wordsAreRun()[c.name] && dangerousNames()[path.Base(a.s)]:
			run(c.args[i:])
			return
		}
	}
}

// looksRun says whether a text begins like a command that matters.
func (w *walker) looksRun(v value) bool {
	if !strings.ContainsRune(v.s, ' ') || len(v.s) > 8000 {
		return false
	}
	first, _, _ := strings.Cut(strings.TrimSpace(trimList(v.s)), " ")
	return dangerousNames()[path.Base(first)]
}

// trimList takes off what aws writes around a list: commands=["ls"].
func trimList(s string) string {
	if i := strings.Index(s, `=[`); i >= 0 && i < 20 {
		s = s[i+2:]
	}
	return strings.Trim(s, `[]"' `)
}
