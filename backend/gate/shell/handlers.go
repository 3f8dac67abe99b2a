package shell

import (
	"sync"

	"deskbell/backend/gate/shell/commands"
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
		"env": env, "sudo": sudo, "doas": sudo, "exec": execute, "command": execute, "builtin": builtin,
		"eval": eval, "source": source, ".": source, "trap": trap, "alias": alias, "read": reads, "mapfile": reads, "readarray": reads,
		"xargs": xargs, "parallel": xargs, "find": find, "gfind": find, "bfs": find, "fd": fd, "fdfind": fd, "script": scriptCmd, "busybox": builtin, "toybox": builtin,
		"ssh": ssh, "autossh": ssh, "docker": docker, "podman": docker, "nerdctl": docker,
		"docker-compose": compose, "podman-compose": compose,
		"git": git, "sed": sed, "gsed": sed, "awk": awk, "gawk": awk, "mawk": awk, "nawk": awk, "tar": tar, "gtar": tar, "bsdtar": tar,
		"truncate": truncate, "uniq": uniq, "rm": remove, "unlink": remove, "rmdir": remove, "shred": remove, "srm": remove, "grm": remove,
		"cp": copies, "mv": copies, "ln": copies, "install": copies, "gcp": copies, "gmv": copies, "ditto": copies,
		"tee": tee, "dd": dd, "chmod": chmod, "chown": chmod, "chgrp": chmod, "chattr": chmod, "setfacl": chmod,
		"curl": curl, "wget": wget, "http": httpie, "https": httpie, "xh": httpie,

		"aws": aws, "uv": uv, "npx": npx, "bunx": npx, "uvx": npx, "pnpx": npx, "make": make_, "gmake": make_, "just": make_,
		"kill": kill, "redis-cli": redis, "valkey-cli": redis, "keydb-cli": redis, "bind": readsCommand, "complete": readsCommand, "compgen": readsCommand, "jobs": readsCommand, "history": readsCommand, "fc": readsCommand, "hash": readsCommand, "enable": readsCommand, "start-stop-daemon": daemon, "screen": multiplexer, "tmux": multiplexer, "byobu": multiplexer, "vim": editor, "vi": editor, "nvim": editor, "view": editor, "vimdiff": editor, "emacs": editor, "ex": editor, "gvim": editor,
		"mongosh": mongo, "mongo": mongo, "cmd": winShell, "npm": packageScripts, "pnpm": packageScripts, "yarn": packageScripts, "cnpm": packageScripts, "tnpm": packageScripts, "go": goTool,
		"printenv": printenv, "export": declares, "declare": declares, "typeset": declares, "local": declares, "readonly": declares, "set": setParams, "shift": shift, "getopts": getopts, "break": jumps, "continue": jumps, "return": jumps, "rsync": rsync, "nc": netcat, "ncat": netcat, "netcat": netcat, "socat": netcat, "telnet": netcat,
		"sftp": transfers, "ftp": transfers, "lftp": transfers, "smbclient": transfers, "dc": calculator, "fzf": fzf, "rtk": execute, "auth0": auth0, "glab": api, "gh": api, "test": test, "[": test, ownName: closed, hookName: closed, "let": lets, "unset": unset, "java": java,
	}
	for name := range shells() {
		handlers[name] = shellCmd
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

func handled(s stream) (stream, bool) { return s, true }

func (w *walker) harmless(c *cmd) {
	w.emit(human.Effect{Verb: human.FilesystemRead, Resource: w.shown(c), Risk: human.NoRisk, Rule: c.name + ".harmless"})
}

func (w *walker) simple(c *cmd, verb human.EffectVerb, risk human.Risk, rule string) {
	e := commands.Defaults[verb]
	e.Verb, e.Risk, e.Rule, e.Resource, e.Certainty = verb, risk, c.name+"."+rule, w.shown(c), human.Certain
	w.emit(e)
	if verb == human.NetworkWrite {
		w.sends(c, e.Rule)
	}
}
