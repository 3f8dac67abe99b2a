package shell

import (
	"strings"
	"sync"

	"deskbell/backend/human"
)

// handlers judge the commands whose effects do not follow from their options alone. One that says that it has not
// handled a command leaves it to what is written of it.
var handlers func() map[string]func(*walker, *cmd) (stream, bool)

// Handlers look others up, so the table cannot be a variable that begins with them.
func init() { handlers = sync.OnceValue(allHandlers) }

func allHandlers() map[string]func(*walker, *cmd) (stream, bool) {
	handlers := map[string]func(*walker, *cmd) (stream, bool){
		"cd": cd, "pushd": cd, "popd": cd, "chdir": cd,
		"pwd": located, "realpath": located, "readlink": located, "dirname": located, "basename": located, ":": quiet, "true": quiet, "false": quiet, "echo": echo, "printf": printf, "cat": cat, "mktemp": mktemp, "base64": decode, "basenc": decode, "base32": decode, "xxd": decode, "rev": reverse,
		"openssl": decode, "gpg": decode, "uudecode": decode, "gunzip": decode, "zcat": decode, "tr": translate,
		"env": env, "sudo": sudo, "doas": sudo, "su": su, "runuser": su, "exec": execute, "command": execute, "builtin": builtin,
		"eval": eval, "source": source, ".": source, "trap": trap, "alias": alias, "read": reads, "mapfile": reads, "readarray": reads,
		"xargs": xargs, "parallel": xargs, "find": find, "gfind": find, "bfs": find, "fd": fd, "fdfind": fd, "watch": watch, "script": scriptCmd, "busybox": builtin, "toybox": builtin,
		"ssh": ssh, "autossh": ssh, "docker": docker, "podman": docker, "nerdctl": docker, "kubectl": kubectl, "oc": kubectl, "k": kubectl,
		"docker-compose": compose, "podman-compose": compose, "at": fedScript, "batch": fedScript,
		"git": git, "sed": sed, "gsed": sed, "awk": awk, "gawk": awk, "mawk": awk, "nawk": awk, "tar": tar, "gtar": tar, "bsdtar": tar,
		"truncate": truncate, "uniq": uniq, "rm": remove, "unlink": remove, "rmdir": remove, "shred": remove, "srm": remove, "grm": remove,
		"cp": copies, "mv": copies, "ln": copies, "install": copies, "gcp": copies, "gmv": copies, "ditto": copies,
		"tee": tee, "dd": dd, "chmod": chmod, "chown": chmod, "chgrp": chmod, "chattr": chmod, "setfacl": chmod,
		"curl": curl, "wget": wget, "http": httpie, "https": httpie, "xh": httpie,
		"psql": database, "mysql": database, "mariadb": database, "sqlite3": database, "duckdb": database, "sqlcmd": database, "cockroach": database, "clickhouse-client": database, "bq": database,
		"athena-query": database, "aws": aws, "uv": uv, "npx": npx, "bunx": npx, "uvx": npx, "pnpx": npx, "make": make_, "gmake": make_, "just": make_,
		"kill": kill, "rails": rails, "django-admin": django, "perf": perf, "hyperfine": hyperfine, "redis-cli": redis, "valkey-cli": redis, "keydb-cli": redis, "bind": readsCommand, "complete": readsCommand, "compgen": readsCommand, "jobs": readsCommand, "history": readsCommand, "fc": readsCommand, "hash": readsCommand, "enable": readsCommand, "start-stop-daemon": daemon, "gdb": gdb, "nix-shell": gdb, "nix": gdb, "screen": multiplexer, "tmux": multiplexer, "byobu": multiplexer, "vim": editor, "vi": editor, "nvim": editor, "view": editor, "vimdiff": editor, "emacs": editor, "ex": editor, "gvim": editor,
		"mongosh": mongo, "mongo": mongo, "ansible": ansible, "cmd": winShell, "npm": packageScripts, "pnpm": packageScripts, "yarn": packageScripts, "cnpm": packageScripts, "tnpm": packageScripts, "go": goTool,
		"printenv": printenv, "export": declares, "declare": declares, "typeset": declares, "local": declares, "readonly": declares, "set": setParams, "shift": shift, "getopts": getopts, "break": jumps, "continue": jumps, "return": jumps, "rsync": rsync, "nc": netcat, "ncat": netcat, "netcat": netcat, "socat": netcat, "telnet": netcat,
		"nsupdate": fedData, "sftp": transfers, "ftp": transfers, "lftp": transfers, "smbclient": transfers, "dc": calculator, "fzf": fzf, "rtk": execute, "auth0": auth0, "glab": api, "gh": api, "test": test, "[": test, ownName: closed, hookName: closed, "let": lets, "unset": unset, "java": java, "rg": rg,
	}
	for name := range shells() {
		handlers[name] = shellCmd
	}
	for _, name := range strings.Fields("R octave gnuplot swipl ocaml maxima ghc erl elixir groovy julia scala crystal clj clojure bb racket guile sbcl jshell ghci swift iex raku kotlin") {
		handlers[name] = otherCode
	}
	for _, name := range runners {
		handlers[name] = runner
	}
	for name, language := range languages {
		handlers[name] = interpreter(language)
	}
	return handlers
}

var languages = map[string]string{
	"python": "python", "python3": "python", "python2": "python", "pypy": "python", "pypy3": "python", "ipython": "python", "py": "python",
	"node": "javascript", "nodejs": "javascript", "bun": "javascript", "deno": "javascript", "tsx": "javascript", "ts-node": "javascript",
	"ruby": "ruby", "irb": "ruby", "perl": "perl", "php": "php", "lua": "lua", "Rscript": "r", "osascript": "applescript", "pwsh": "powershell", "powershell": "powershell", "tclsh": "tcl",
}

// runners run the code of a project without naming its files.
var runners = strings.Fields("pytest py.test tox nox unittest coverage behave nose2 jest vitest mocha ava playwright cypress cargo rake rspec phpunit gradle gradlew mvn mvnw dotnet mix sbt bats prove busted")

func runner(w *walker, c *cmd) (stream, bool) {
	w.runsAll(c)
	return stream{}, false
}

func handled(s stream) (stream, bool) { return s, true }

func (w *walker) harmless(c *cmd) {
	w.emit(human.Effect{Verb: human.FilesystemRead, Resource: w.shown(c), Risk: human.NoRisk, Rule: c.name + ".harmless"})
}

func (w *walker) simple(c *cmd, verb human.EffectVerb, risk human.Risk, rule string) {
	e := verbDefaults[verb]
	e.Verb, e.Risk, e.Rule, e.Resource, e.Certainty = verb, risk, c.name+"."+rule, w.shown(c), human.Certain
	w.emit(e)
	if verb == human.NetworkWrite {
		w.sends(c, e.Rule)
	}
}
