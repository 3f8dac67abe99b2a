package shell

import (
	"encoding/base64"
	"encoding/hex"
	"path"
	"strings"

	"mvdan.cc/sh/v3/expand"

	"deskbell/backend/gate/sql"
	"deskbell/backend/human"
)

// handlers judge the commands whose effects do not follow from their options alone. One that says that it has not
// handled a command leaves it to what is written of it.
var handlers map[string]func(*walker, *cmd) (stream, bool)

func init() {
	handlers = map[string]func(*walker, *cmd) (stream, bool){
		"cd": cd, "pushd": cd, "popd": cd, "chdir": cd,
		"echo": echo, "printf": printf, "cat": cat, "base64": decode, "basenc": decode, "base32": decode, "xxd": decode, "rev": reverse,
		"openssl": decode, "gpg": decode, "uudecode": decode, "gunzip": decode, "zcat": decode, "tr": translate,
		"env": env, "sudo": sudo, "doas": sudo, "su": su, "runuser": su, "exec": execute, "command": execute, "builtin": builtin,
		"eval": eval, "source": source, ".": source, "trap": trap, "alias": alias, "read": reads, "mapfile": reads, "readarray": reads,
		"xargs": xargs, "parallel": xargs, "find": find, "gfind": find, "fd": fd, "fdfind": fd, "watch": watch, "script": scriptCmd, "busybox": builtin, "toybox": builtin,
		"ssh": ssh, "autossh": ssh, "docker": docker, "podman": docker, "nerdctl": docker, "kubectl": kubectl, "oc": kubectl, "k": kubectl,
		"docker-compose": compose, "podman-compose": compose, "at": fedScript, "batch": fedScript,
		"git": git, "sed": sed, "gsed": sed, "awk": awk, "gawk": awk, "mawk": awk, "nawk": awk, "tar": tar, "gtar": tar, "bsdtar": tar,
		"rm": remove, "unlink": remove, "rmdir": remove, "shred": remove, "srm": remove, "grm": remove,
		"cp": copies, "mv": copies, "ln": copies, "install": copies, "gcp": copies, "gmv": copies, "ditto": copies,
		"tee": tee, "dd": dd, "chmod": chmod, "chown": chmod, "chgrp": chmod, "chattr": chmod, "setfacl": chmod,
		"curl": curl, "wget": wget, "http": httpie, "https": httpie, "xh": httpie,
		"psql": database, "mysql": database, "mariadb": database, "sqlite3": database, "duckdb": database, "sqlcmd": database, "cockroach": database, "clickhouse-client": database, "bq": database,
		"athena-query": database, "aws": aws, "uv": uv, "npx": npx, "bunx": npx, "uvx": npx, "pnpx": npx, "make": make_, "gmake": make_, "just": make_,
		"printenv": printenv, "export": printenv, "rsync": rsync, "nc": netcat, "ncat": netcat, "netcat": netcat, "socat": netcat, "telnet": netcat,
		"nsupdate": fedData, "fzf": fzf, "rtk": execute, "auth0": auth0, "glab": api, "gh": api, "test": test, "[": test, "let": lets, "unset": test, "java": java, "rg": rg,
	}
	for name := range shells {
		handlers[name] = shellCmd
	}
	for name, language := range languages {
		handlers[name] = interpreter(language)
	}
}

var languages = map[string]string{
	"python": "python", "python3": "python", "python2": "python", "pypy": "python", "pypy3": "python", "ipython": "python", "py": "python",
	"node": "javascript", "nodejs": "javascript", "bun": "javascript", "deno": "javascript", "tsx": "javascript", "ts-node": "javascript",
	"ruby": "ruby", "perl": "perl", "php": "php", "lua": "lua", "Rscript": "r", "osascript": "applescript", "pwsh": "powershell", "powershell": "powershell", "tclsh": "tcl",
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

func cd(w *walker, c *cmd) (stream, bool) {
	w.harmless(c)
	o, _ := parse(c.args, nil, false, false)
	to := value{s: w.home}
	if len(o.words) > 0 {
		to = o.words[0]
	}
	if to.s == "-" || c.name == "popd" || strings.Contains(to.s, "*") {
		to = value{s: unknown}
	}
	old := w.dir
	if abs, ok := w.resolve(to, w.dir); ok && to.known() {
		w.dir = abs
	} else {
		w.dir = unknown
	}
	// A cd that fails leaves the shell where it was.
	if old != w.dir && len(w.otherDirs) < 3 {
		w.otherDirs = append(w.otherDirs[:len(w.otherDirs):len(w.otherDirs)], old)
	}
	return handled(stream{known: true})
}

func echo(w *walker, c *cmd) (stream, bool) {
	w.harmless(c)
	args := c.args
	for len(args) > 0 && len(args[0].s) > 1 && args[0].s[0] == '-' && strings.Trim(args[0].s[1:], "neE") == "" {
		args = args[1:]
	}
	v := joined(args)
	text := v.s
	if strings.Contains(text, `\`) {
		if t, _, err := expand.Format(nil, strings.ReplaceAll(text, "%", "%%"), nil); err == nil && len(args) < len(c.args) && strings.Contains(c.args[0].s, "e") {
			text = t
		}
	}
	return handled(stream{text: text + "\n", known: v.known(), taint: v.taint})
}

func printf(w *walker, c *cmd) (stream, bool) {
	w.harmless(c)
	args := c.args
	if len(args) > 1 && args[0].s == "-v" {
		w.arithText(args[1].s)
		w.set(args[1].s, value{s: unknown})
		return handled(stream{known: true})
	}
	if len(args) > 0 && args[0].s == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		return handled(stream{known: true})
	}
	all := joined(args)
	if !all.known() {
		return handled(stream{text: all.s, taint: all.taint})
	}
	text, n, err := expand.Format(nil, args[0].s, texts(args[1:]))
	if err != nil || strings.Contains(text, unknown) {
		return handled(stream{text: all.s, taint: all.taint | madeHere})
	}
	if n > 0 && len(args)-1 > n { // the format is used again for what is left
		for rest := args[1+n:]; len(rest) > 0 && len(text) < maxValue; rest = rest[min(n, len(rest)):] {
			t, _, err := expand.Format(nil, args[0].s, texts(rest))
			if err != nil {
				break
			}
			text += t
		}
	}
	return handled(stream{text: text, known: true, taint: all.taint})
}

func cat(w *walker, c *cmd) (stream, bool) {
	o, _ := parse(c.args, nil, false, false)
	w.harmless(c)
	out := stream{known: len(o.words) > 0}
	if len(o.words) == 0 {
		out = c.in
	}
	for _, v := range o.words {
		if v.s == "-" || v.s == "/dev/stdin" {
			out = join(out, c.in, true)
			continue
		}
		if f, ok := w.file(v); ok {
			out = join(out, f, true)
			continue
		}
		out.known = false
		out.taint |= w.reading(v, "cat.reads")
	}
	return handled(out)
}

func decode(w *walker, c *cmd) (stream, bool) {
	o, _ := parse(c.args, nil, c.name == "openssl", false)
	s := specOf(c.name)
	if s != nil {
		oo, _ := parse(c.args, s.values, s.long, false)
		w.rules(s, &oo, c, true)
	} else {
		w.harmless(c)
	}
	decoding := o.has("-d", "-D", "--decode", "-r", "-dc") || c.name == "uudecode" || c.name == "gunzip" || c.name == "zcat"
	if !decoding {
		return handled(stream{taint: c.in.taint})
	}
	out := stream{taint: c.in.taint | fromDecoder}
	if c.in.known {
		text := strings.Join(strings.Fields(c.in.text), "")
		var raw []byte
		var err error
		switch c.name {
		case "base64", "openssl":
			if raw, err = base64.StdEncoding.DecodeString(text); err != nil {
				raw, err = base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
			}
		case "xxd":
			raw, err = hex.DecodeString(text)
		default:
			return handled(out)
		}
		if err == nil && !strings.Contains(string(raw), unknown) {
			out.text, out.known = string(raw), true
		}
	}
	return handled(out)
}

func reverse(w *walker, c *cmd) (stream, bool) {
	w.harmless(c)
	if !c.in.known || len(c.args) > 0 {
		return handled(stream{taint: c.in.taint | fromDecoder})
	}
	lines := strings.Split(c.in.text, "\n")
	for i, l := range lines {
		r := []rune(l)
		for a, b := 0, len(r)-1; a < b; a, b = a+1, b-1 {
			r[a], r[b] = r[b], r[a]
		}
		lines[i] = string(r)
	}
	return handled(stream{text: strings.Join(lines, "\n"), known: true, taint: c.in.taint | fromDecoder})
}

func translate(w *walker, c *cmd) (stream, bool) {
	w.harmless(c)
	return handled(stream{taint: c.in.taint | fromDecoder})
}

// env takes options and assignments before a command; without one it prints.
func env(w *walker, c *cmd) (stream, bool) {
	values := map[string]bool{"-u": true, "--unset": true, "-C": true, "--chdir": true, "-S": true, "--split-string": true, "-P": true, "-a": true, "--argv0": true}
	o, rest := parse(c.args, values, false, true)
	for _, name := range []string{"-S", "--split-string"} {
		if v, ok := o.flags[name]; ok {
			return handled(w.script("env "+v.s+quoteAll(rest), "sh", nil, c.in))
		}
	}
	if v, ok := o.flags["-C"]; ok {
		defer func(old string) { w.dir = old }(w.dir)
		if abs, ok := w.resolve(v, w.dir); ok {
			w.dir = abs
		}
	}
	return handled(w.assignsThen(c, rest, "env"))
}

func (w *walker) assignsThen(c *cmd, rest []value, name string) stream {
	for len(rest) > 0 {
		key, val, ok := strings.Cut(rest[0].s, "=")
		if !ok || strings.ContainsAny(key, "/ ") {
			break
		}
		v := value{s: val, taint: rest[0].taint, quoted: true}
		w.assigned(key, v)
		rest = rest[1:]
	}
	if len(rest) == 0 {
		w.emit(human.Effect{Verb: human.FilesystemRead, Resource: w.shown(c), Risk: human.NoRisk, Rule: name + ".prints"})
		return stream{taint: fromSecret | c.in.taint}
	}
	return w.run(rest, c.in)
}

func printenv(w *walker, c *cmd) (stream, bool) {
	w.harmless(c)
	var t taint
	if len(c.args) == 0 || c.args[0].s == "-p" {
		t = fromSecret
	}
	for _, a := range c.args {
		if secretVar(a.s) {
			t = fromSecret
		}
	}
	return handled(stream{taint: t})
}

func sudo(w *walker, c *cmd) (stream, bool) {
	values := map[string]bool{"-u": true, "-g": true, "-h": true, "-p": true, "-C": true, "-D": true, "-R": true, "-T": true, "-U": true, "-r": true, "-t": true, "-a": true, "-c": true,
		"--user": true, "--group": true, "--host": true, "--prompt": true, "--chdir": true, "--chroot": true, "--role": true, "--type": true, "--close-from": true, "--command-timeout": true, "--other-user": true}
	o, rest := parse(c.args, values, false, true)
	risk := human.MediumRisk
	if len(rest) == 0 {
		if o.has("-l", "--list", "-v", "-k", "-K", "-V", "--version", "--help", "--validate", "--reset-timestamp", "--remove-timestamp") {
			w.harmless(c)
			return handled(stream{})
		}
		if !o.has("-e", "--edit") {
			risk = human.HighRisk // a shell, as somebody else
		}
		if c.in.open {
			w.feed("sh", c.in, "sudo.stdin")
		}
	}
	if o.has("-e", "--edit") {
		for _, v := range rest {
			w.writing(v, "sudo.edits")
		}
		rest = nil
	}
	w.simple(c, human.PrivilegeEscalation, risk, "other_user")
	if len(rest) == 0 {
		return handled(stream{})
	}
	return handled(w.assignsThen(c, rest, "sudo"))
}

func su(w *walker, c *cmd) (stream, bool) {
	o, _ := parse(c.args, map[string]bool{"-c": true, "--command": true, "-s": true, "-u": true, "-g": true, "-G": true}, false, false)
	w.simple(c, human.PrivilegeEscalation, human.HighRisk, "other_user")
	for _, n := range []string{"-c", "--command"} {
		if v, ok := o.flags[n]; ok {
			w.script(v.s, "sh", nil, c.in)
		}
	}
	if c.name == "runuser" && len(o.words) > 0 {
		w.run(o.words, c.in)
	}
	return handled(stream{})
}

// execute runs the command that follows the options.
func execute(w *walker, c *cmd) (stream, bool) {
	values := map[string]bool{}
	if c.name == "exec" {
		values["-a"] = true
	}
	o, rest := parse(c.args, values, false, true)
	if c.name == "command" && o.has("-v", "-V") {
		w.harmless(c)
		return handled(stream{})
	}
	if c.name == "rtk" && len(rest) > 0 {
		switch rest[0].s {
		case "proxy":
			rest = rest[1:]
		case "gain", "init", "config", "discover", "smart":
			return stream{}, false
		}
	}
	if len(rest) == 0 {
		if c.name == "rtk" {
			return stream{}, false
		}
		w.harmless(c)
		return handled(stream{known: true})
	}
	return handled(w.run(rest, c.in))
}

func builtin(w *walker, c *cmd) (stream, bool) {
	if len(c.args) == 0 || c.args[0].s == "--list" || c.args[0].s == "--help" {
		w.harmless(c)
		return handled(stream{})
	}
	return handled(w.run(c.args, c.in))
}

func eval(w *walker, c *cmd) (stream, bool) {
	args := c.args
	if len(args) > 0 && args[0].s == "--" {
		args = args[1:]
	}
	v := joined(args)
	if v.taint&fromNetwork != 0 {
		w.unseen(v, "eval.unknown")
	} else if !v.known() && strings.Trim(v.s, unknown+" ") == "" {
		if v.taint&fromDecoder != 0 {
			w.unseen(v, "eval.unknown")
		}
		w.emit(human.Effect{Verb: human.LangExec, Resource: w.shown(c), Certainty: human.Possible, Risk: human.HighRisk, Reversibility: human.Irreversible, Blast: human.MachineBlast, Rule: "eval.unknown"})
		return handled(stream{})
	}
	if v.taint&fromDecoder != 0 && v.known() {
		w.emit(human.Effect{Verb: human.ObfuscatedEffect, Resource: clip(v.s), Risk: human.HighRisk, Reversibility: human.Irreversible, Blast: human.MachineBlast, Rule: "shell.decoded_run"})
	}
	return handled(w.script(v.s, "bash", nil, c.in))
}

func source(w *walker, c *cmd) (stream, bool) {
	args := c.args
	if len(args) > 0 && args[0].s == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		w.harmless(c)
		return handled(stream{})
	}
	if (args[0].s == "/dev/stdin" || args[0].s == "-") && c.in.open {
		w.feed("sh", c.in, "source.stdin")
		return handled(stream{})
	}
	if f, ok := w.file(args[0]); ok {
		w.feed("sh", f, "shell.written_script")
		return handled(stream{})
	}
	if s := args[0].s; strings.HasSuffix(s, "/bin/activate") || s == "activate" {
		w.simple(c, human.LangExec, human.LowRisk, "virtualenv")
		return handled(stream{})
	}
	w.scriptFile(args[0], "sh", c)
	return handled(stream{})
}

func trap(w *walker, c *cmd) (stream, bool) {
	o, rest := parse(c.args, nil, false, true)
	w.harmless(c)
	if o.has("-l", "-p") || len(rest) < 2 || rest[0].s == "-" || rest[0].s == "" {
		return handled(stream{})
	}
	w.script(rest[0].s, "bash", nil, stream{})
	return handled(stream{})
}

func alias(w *walker, c *cmd) (stream, bool) {
	w.harmless(c)
	for _, a := range c.args {
		if name, text, ok := strings.Cut(a.s, "="); ok && len(w.aliases) < 200 {
			w.aliases[name] = value{s: text, taint: a.taint}
			w.script(text, "bash", nil, stream{})
		}
	}
	return handled(stream{})
}

func reads(w *walker, c *cmd) (stream, bool) {
	o, _ := parse(c.args, map[string]bool{"-p": true, "-t": true, "-n": true, "-N": true, "-d": true, "-u": true, "-i": true, "-a": true, "-C": true, "-c": true, "-O": true, "-s": false}, false, false)
	w.harmless(c)
	for _, v := range o.words {
		w.arithText(v.s)
		got := value{s: unknown, taint: c.in.taint}
		if c.in.known && len(o.words) == 1 {
			got.s = strings.TrimSpace(c.in.text)
		}
		w.set(v.s, got)
	}
	return handled(stream{known: true})
}

func test(w *walker, c *cmd) (stream, bool) {
	w.harmless(c)
	for _, v := range c.args {
		w.arithText(v.s)
	}
	return handled(stream{known: true})
}

func lets(w *walker, c *cmd) (stream, bool) { return test(w, c) }

// shellCmd is sh and its like: -c with text, a script, or what comes through the pipe.
func shellCmd(w *walker, c *cmd) (stream, bool) {
	var text *value
	interactive, plain, piped := false, false, false
	i := 0
options:
	for ; i < len(c.args); i++ {
		s := c.args[i].s
		switch {
		case s == "--":
			i++
			break options
		case s == "--help" || s == "--version":
			if len(c.args) == 1 {
				w.harmless(c)
				return handled(stream{})
			}
		case s == "--rcfile" || s == "--init-file":
			i++
			if i < len(c.args) {
				w.scriptFile(c.args[i], "sh", c)
			}
		case strings.HasPrefix(s, "--command"): // fish
			if _, v, ok := strings.Cut(s, "="); ok {
				text = &value{s: v, quoted: true}
			} else if i+1 < len(c.args) {
				i++
				text = &c.args[i]
			}
		case strings.HasPrefix(s, "--"):
			if s == "--login" {
				interactive = true
			}
		case len(s) > 1 && (s[0] == '-' || s[0] == '+'):
			if strings.ContainsRune(s, 'i') && s[0] == '-' {
				interactive = true
			}
			if strings.ContainsRune(s, 'n') && s[0] == '-' && !strings.Contains(s, "o") && !strings.Contains(s, "c") {
				plain = true // only checks the syntax
			}
			for j := 1; j < len(s); j++ {
				switch s[j] {
				case 'o', 'O':
					if i+1 < len(c.args) && !strings.HasPrefix(c.args[i+1].s, "-") {
						i++
						if strings.ContainsRune(s, 'c') && j > strings.IndexByte(s, 'c') { // -co pipefail text: the text comes after
							continue
						}
					}
				case 's':
					piped = s[0] == '-'
				case 'c':
					if text == nil {
						text = &value{s: "\x01"}
					}
				}
			}
		default:
			break options
		}
	}
	rest := c.args[i:]
	if text != nil && text.s == "\x01" {
		if len(rest) == 0 {
			w.simple(c, human.UnknownEffect, human.MediumRisk, "nothing")
			return handled(stream{})
		}
		text, rest = &rest[0], rest[1:]
	}
	switch {
	case text != nil:
		if strings.TrimSpace(text.s) == "" {
			w.simple(c, human.UnknownEffect, human.LowRisk, "nothing")
			return handled(stream{})
		}
		if text.taint&(fromNetwork|fromDecoder) != 0 {
			w.feed("sh", stream{text: text.s, known: text.known(), taint: text.taint}, "shell.built_command")
			return handled(stream{taint: madeHere})
		}
		if !text.known() && strings.Trim(text.s, unknown+" ") == "" {
			w.unseen(*text, "shell.built_command")
			return handled(stream{taint: madeHere})
		}
		var params []value
		if len(rest) > 1 {
			params = rest[1:]
		} else {
			params = []value{}
		}
		// "-c cat": what comes through the pipe is not a script then.
		return handled(w.script(text.s, c.name, params, c.in))
	case len(rest) > 0 && !piped && rest[0].s != "-" && rest[0].s != "/dev/stdin":
		if plain {
			w.harmless(c)
			return handled(stream{})
		}
		w.scriptFile(rest[0], "sh", c)
	case c.in.open:
		if plain {
			w.harmless(c)
			return handled(stream{})
		}
		w.feed("sh", c.in, "shell.piped_script")
	default:
		risk := human.MediumRisk
		if interactive {
			risk = human.MediumRisk
		}
		w.simple(c, human.LangExec, risk, "interactive")
	}
	return handled(stream{taint: madeHere})
}

// interpreter is a program that runs code in a language: inline, a file, a module, or what comes through the pipe.
func interpreter(language string) func(*walker, *cmd) (stream, bool) {
	inline := map[string]string{
		"python": "-c", "javascript": "-e -p -pe --eval --print eval", "ruby": "-e", "perl": "-e -E", "php": "-r -B -R -E", "lua": "-e", "r": "-e",
		"applescript": "-e", "powershell": "-c -Command -command -C --command -EncodedCommand -enc -e -ec", "tcl": "",
	}[language]
	valued := map[string]string{
		"python": "-W -X -Q --check-hash-based-pycs", "javascript": "-r --require --loader --import --env-file -C --conditions --experimental-loader --stack-trace-limit --max-old-space-size",
		"ruby": "-r -I -C -E", "perl": "-I -M -m", "php": "-d -c -z", "lua": "-l", "r": "", "applescript": "-l", "powershell": "-ExecutionPolicy -ep -File -f -NoProfile2 -WorkingDirectory -OutputFormat -InputFormat", "tcl": "",
	}[language]
	isInline, isValued := set(inline), set(valued)
	return func(w *walker, c *cmd) (stream, bool) {
		out := stream{taint: c.in.taint | madeHere}
		args := c.args
		ranAny := false
		edits := false
		for i := 0; i < len(args); i++ {
			s := args[i].s
			switch {
			case isInline[s] && i+1 < len(args):
				code := args[i+1]
				if strings.HasPrefix(strings.ToLower(s), "-enc") || s == "-ec" || s == "-EncodedCommand" {
					w.emit(human.Effect{Verb: human.ObfuscatedEffect, Resource: w.shown(c), Risk: human.HighRisk, Reversibility: human.Irreversible, Blast: human.MachineBlast, Rule: "code.encoded"})
				}
				if language == "powershell" {
					code = joined(args[i+1:])
					w.windows(code.s)
					return handled(out)
				}
				w.code(language, code)
				ranAny = true
				i++
				if language == "python" || language == "javascript" {
					return handled(out)
				}
				continue
			case language == "python" && strings.HasPrefix(s, "-") && !strings.HasPrefix(s, "--") && strings.HasSuffix(s, "c") && len(s) > 2 && i+1 < len(args): // -Sc, -Ic
				w.code(language, args[i+1])
				return handled(out)
			case language == "python" && strings.HasPrefix(s, "-c") && len(s) > 2:
				w.code(language, value{s: s[2:], taint: args[i].taint, quoted: true})
				return handled(out)
			case (language == "perl" || language == "ruby") && len(s) > 2 && s[0] == '-' && s[1] != '-' && strings.ContainsAny(s, "eE") && !strings.ContainsAny(s[:2], "MmI"):
				// -ne, -pe, -lane, -i.bak -pe: the code comes next, unless it follows right on the letter
				if strings.ContainsRune(s, 'i') && (strings.ContainsRune(s, 'p') || strings.ContainsRune(s, 'n') || strings.HasPrefix(s, "-i")) {
					edits = true
				}
				if k := strings.LastIndexAny(s, "eE"); k == len(s)-1 && i+1 < len(args) {
					w.code(language, args[i+1])
					i++
				} else {
					w.code(language, value{s: s[k+1:], quoted: true})
				}
				ranAny = true
			case (language == "perl" || language == "ruby") && strings.HasPrefix(s, "-i"):
				edits = true
			case language == "python" && s == "-m":
				if i+1 < len(args) {
					w.module(c, args[i+1:])
				}
				return handled(out)
			case (language == "javascript" && (s == "-r" || s == "--require" || s == "--import" || s == "--loader" || s == "--experimental-loader") || language == "ruby" && s == "-r") && i+1 < len(args):
				w.scriptFile(args[i+1], language, c)
				i++
			case isValued[s]:
				if (s == "-File" || s == "-f") && i+1 < len(args) {
					w.scriptFile(args[i+1], language, c)
					return handled(out)
				}
				i++
			case s == "--version" || s == "-V" || s == "--help" || s == "-h" || s == "-v" && language != "python" || s == "-?":
				if len(args) == 1 {
					w.harmless(c)
					return handled(out)
				}
			case language == "javascript" && (s == "--check" || s == "-c" && c.name == "node"), language == "php" && s == "-l", language == "ruby" && s == "-c", language == "perl" && s == "-c":
				if language != "perl" {
					w.harmless(c)
					return handled(out)
				}
			case len(s) > 1 && s[0] == '-' && s != "-":
			case s == "-" || s == "/dev/stdin":
				if c.in.open {
					w.feed(language, c.in, "code.stdin")
				} else {
					w.simple(c, human.LangExec, human.MediumRisk, "interactive")
				}
				return handled(out)
			default:
				if ranAny { // files that the inline code goes through
					if edits {
						w.writing(args[i], c.name+".edits")
					} else {
						w.reading(args[i], c.name+".reads")
					}
					continue
				}
				switch {
				case c.name == "bun" || c.name == "deno":
					if specOf(c.name) != nil && !strings.ContainsAny(s, "./") {
						return stream{}, false
					}
				case strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://"):
					w.feed(language, stream{taint: fromNetwork}, "code.url")
					return handled(out)
				}
				if language == "powershell" {
					w.windows(joined(args[i:]).s)
					return handled(out)
				}
				w.scriptFile(args[i], language, c)
				return handled(out)
			}
		}
		if !ranAny {
			if c.in.open {
				w.feed(language, c.in, "code.stdin")
			} else {
				w.simple(c, human.LangExec, human.MediumRisk, "interactive")
			}
		}
		return handled(out)
	}
}

// module is python -m.
func (w *walker) module(c *cmd, args []value) {
	name := args[0].s
	switch name {
	case "pip", "pytest", "black", "ruff", "mypy", "isort", "flake8", "pylint", "coverage", "uv", "poetry", "virtualenv", "twine", "tox", "nox", "ansible", "pre_commit", "pipx", "build", "unittest":
		if specOf(name) != nil {
			w.run(append([]value{known(name)}, args[1:]...), c.in)
			return
		}
		w.simple(c, human.PackageRun, human.LowRisk, "module")
	case "json.tool", "this", "calendar", "platform", "site", "sysconfig", "tabnanny", "tokenize", "ast", "dis", "inspect", "pydoc", "timeit", "trace", "symtable":
		if name == "timeit" {
			for _, a := range args[1:] {
				if !strings.HasPrefix(a.s, "-") {
					w.code("python", a)
				}
			}
		}
		if name == "timeit" || name == "trace" {
			w.simple(c, human.PackageRun, human.LowRisk, "module")
			return
		}
		w.harmless(c)
	case "venv", "compileall", "py_compile", "ensurepip", "http.server", "zipfile", "tarfile", "doctest", "pdb", "cProfile", "sphinx", "mkdocs", "django", "flask", "uvicorn", "gunicorn":
		w.simple(c, human.PackageRun, human.LowRisk, "module")
	default:
		w.simple(c, human.LangExec, human.MediumRisk, "module")
	}
}

func xargs(w *walker, c *cmd) (stream, bool) {
	values := set("-a -d -E -I -i2 -L -n -P -s -S -R -J --arg-file --delimiter --max-lines2 --max-args --max-procs --max-chars --process-slot-var --replace2 -j --jobs -N --colsep -S --sshlogin --joblog --results --tmpdir --retries --timeout --delay -e2")
	if c.name == "xargs" {
		for _, n := range []string{"-N", "-j", "--jobs"} {
			delete(values, n)
		}
	}
	o, rest := parse(c.args, values, false, true)
	if c.name == "xargs" {
		// -e STOP: some take the word after -e for its value
		if v, ok := o.flags["-e"]; ok && v.s == "" && len(rest) > 1 && rest[0].s == strings.ToUpper(rest[0].s) && handlers[rest[0].s] == nil {
			rest = rest[1:]
		}
	}
	if v, ok := o.flags["-a"]; ok {
		w.reading(v, "xargs.reads")
	}
	if o.has("-p", "--interactive", "-o", "--open-tty") {
		w.simple(c, human.UnknownEffect, human.LowRisk, "interactive")
	}
	marks := []string{"{}"}
	if v, ok := o.flags["-I"]; ok && v.s != "" {
		marks = append(marks, v.s)
	}
	if v, ok := o.flags["-J"]; ok && v.s != "" {
		marks = append(marks, v.s)
	}
	if len(rest) == 0 {
		if c.name == "parallel" && c.in.open {
			w.feed("sh", c.in, "parallel.stdin")
			return handled(stream{})
		}
		w.simple(c, human.UnknownEffect, human.LowRisk, "echoes")
		return handled(stream{})
	}
	if c.name == "parallel" {
		for i, a := range rest {
			if a.s == ":::" || a.s == "::::" || a.s == ":::+" {
				for _, x := range rest[i+1:] {
					if strings.ContainsRune(x.s, ' ') {
						w.script(x.s, "sh", nil, stream{})
					}
				}
				rest = rest[:i]
				break
			}
		}
		if len(rest) == 1 && strings.ContainsRune(rest[0].s, ' ') {
			return handled(w.script(strings.ReplaceAll(rest[0].s, "{}", "\"$_parallel\""), "sh", nil, stream{}))
		}
		if len(rest) == 0 {
			return handled(stream{})
		}
	}
	fed := value{s: unknown, taint: c.in.taint, quoted: true}
	if c.in.known && !strings.ContainsAny(c.in.text, " \n\t") {
		fed.s = c.in.text
	}
	var args []value
	used := false
	for _, a := range rest {
		for _, m := range marks {
			if strings.Contains(a.s, m) {
				a.s = strings.ReplaceAll(a.s, m, fed.s)
				a.taint |= fed.taint
				used = true
			}
		}
		args = append(args, a)
	}
	if args[0].s == unknown {
		w.unseen(args[0], "xargs.command")
		return handled(stream{})
	}
	name := path.Base(args[0].s)
	if !used && !o.has("-I", "-J", "--replace", "-i") {
		if c.in.known {
			pieces := strings.Fields(c.in.text)
			if len(pieces) > 64 {
				pieces = []string{unknown}
			}
			for _, x := range pieces {
				args = append(args, value{s: x, taint: c.in.taint, quoted: true})
			}
		} else {
			args = append(args, fed)
		}
	}
	// sh -c 'text {}' with what is fed within the text is a command made of it.
	if isShell(name) || name == "eval" {
		if len(args) > 2 {
			for i, a := range args {
				if strings.HasPrefix(a.s, "-") && strings.Contains(a.s, "c") && i+1 < len(args) && args[i+1].s == unknown {
					w.unseen(args[i+1], "xargs.command")
				}
				if i > 0 && strings.Contains(a.s, unknown) && strings.ContainsRune(a.s, ' ') && !a.known() {
					args[i].s = strings.ReplaceAll(a.s, unknown, "\"$_fed\"")
				}
			}
		}
	}
	return handled(w.run(args, stream{taint: c.in.taint}))
}

// find deletes, writes and runs by its expressions.
func find(w *walker, c *cmd) (stream, bool) {
	var paths []value
	for _, a := range c.args {
		if strings.HasPrefix(a.s, "-") || a.s == "(" || a.s == "!" {
			if len(a.s) == 2 && strings.IndexByte("HLPOEXxds", a.s[1]) >= 0 {
				continue
			}
			break
		}
		paths = append(paths, a)
	}
	narrowed := false
	for _, a := range c.args {
		switch a.s {
		case "-name", "-iname", "-path", "-regex", "-newer", "-mtime", "-mmin", "-size", "-empty", "-user", "-iregex", "-wholename", "-ipath", "-amin", "-atime", "-cmin", "-ctime", "-inum", "-samefile", "-perm":
			narrowed = true
		}
	}
	w.emit(human.Effect{Verb: human.FilesystemRead, Resource: w.shown(c), Risk: human.NoRisk, Rule: "find.lists"})
	found := func() []value {
		if len(paths) == 0 {
			return []value{{s: ".", quoted: true}}
		}
		return paths
	}
	for i := 0; i < len(c.args); i++ {
		s := c.args[i].s
		switch s {
		case "-delete":
			for _, p := range found() {
				if narrowed {
					pl, _ := w.placeOf(p, w.dir)
					if pl == projectRoot || pl == inProject {
						w.simple(c, human.FilesystemDelete, human.HighRisk, "deletes")
						continue
					}
				}
				w.deleting(p, true, "find.deletes")
			}
		case "-fprint", "-fls", "-fprint0", "-fprintf":
			if i+1 < len(c.args) {
				w.writing(c.args[i+1], "find.writes")
			}
		case "-exec", "-execdir", "-ok", "-okdir":
			end := i + 1
			for end < len(c.args) && c.args[end].s != ";" && (c.args[end].s != "+" || c.args[end-1].s != "{}") {
				end++
			}
			args := append([]value{}, c.args[i+1:end]...)
			if len(args) == 0 {
				continue
			}
			if s == "-ok" || s == "-okdir" {
				w.simple(c, human.UnknownEffect, human.LowRisk, "interactive")
			}
			if args[0].s == "{}" {
				w.unseen(value{s: unknown}, "find.command")
				i = end
				continue
			}
			for j := range args {
				if args[j].s == "{}" {
					p := found()[0]
					args[j] = value{s: strings.TrimSuffix(p.s, "/") + "/" + "*", glob: true, quoted: true}
					if narrowed || p.s == "." {
						args[j].s = strings.TrimSuffix(p.s, "/") + "/" + unknown
					}
				} else if strings.Contains(args[j].s, "{}") {
					args[j].s = strings.ReplaceAll(args[j].s, "{}", "\"$_found\"")
				}
			}
			w.run(args, c.in)
			i = end
		}
	}
	return handled(stream{taint: madeHere})
}

func fd(w *walker, c *cmd) (stream, bool) {
	for i, a := range c.args {
		switch a.s {
		case "-x", "-X", "--exec", "--exec-batch":
			var args []value
			for _, x := range c.args[i+1:] {
				if x.s == ";" {
					break
				}
				x.s = strings.ReplaceAll(x.s, "{}", unknown)
				args = append(args, x)
			}
			if len(args) > 0 && !strings.Contains(joined(args).s, unknown) {
				args = append(args, value{s: unknown, quoted: true})
			}
			w.harmless(c)
			return handled(w.run(args, stream{}))
		}
		if text, ok := strings.CutPrefix(a.s, "--exec="); ok {
			return handled(w.script(text, "sh", nil, stream{}))
		}
	}
	return stream{}, false
}

// rg and its like run programs by their options; the rest is written down.
func rg(w *walker, c *cmd) (stream, bool) {
	o, _ := parse(c.args, set("--pre --hostname-bin -e -f -g -t -T -A -B -C -m -M -j -r --search-zip2 --type --glob --max-count --replace --engine --sort --encoding --pre-glob --context --iglob"), false, false)
	for _, n := range []string{"--pre", "--hostname-bin"} {
		if v, ok := o.flags[n]; ok {
			w.script(v.s, "sh", nil, stream{})
		}
	}
	return stream{}, false
}

func watch(w *walker, c *cmd) (stream, bool) {
	o, rest := parse(c.args, set("-n --interval -q --equexit -s --shotsdir"), false, true)
	if len(rest) == 0 {
		return stream{}, false
	}
	if o.has("-x", "--exec") {
		return handled(w.run(rest, stream{}))
	}
	return handled(w.script(joined(rest).s, "sh", nil, stream{}))
}

func scriptCmd(w *walker, c *cmd) (stream, bool) {
	o, rest := parse(c.args, set("-c --command -E -O -I -B -T -o -m -t2 --log-out --log-in --log-io --log-timing"), false, true)
	for _, n := range []string{"-c", "--command"} {
		if v, ok := o.flags[n]; ok {
			w.script(v.s, "sh", nil, stream{})
			for _, p := range rest {
				w.writing(p, "script.writes")
			}
			return handled(stream{})
		}
	}
	if o.has("-p") { // plays back what was recorded
		w.harmless(c)
		return handled(stream{})
	}
	if len(rest) > 0 {
		w.writing(rest[0], "script.writes")
	}
	if len(rest) > 1 {
		return handled(w.run(rest[1:], stream{}))
	}
	w.simple(c, human.LangExec, human.MediumRisk, "interactive")
	return handled(stream{})
}

// away goes through what runs on another machine.
func (w *walker) away(host string, run func() stream) stream {
	old, dir, others, home := w.otherHost, w.dir, w.otherDirs, w.root
	w.otherHost, w.dir, w.otherDirs, w.root = host, w.home, nil, "/\x01nowhere"
	out := run()
	w.otherHost, w.dir, w.otherDirs, w.root = old, dir, others, home
	return out
}

func ssh(w *walker, c *cmd) (stream, bool) {
	o, rest := parse(c.args, set("-B -b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w -M2"), false, true)
	if v, ok := o.flags["-o"]; ok {
		l := strings.ToLower(v.s)
		for _, key := range []string{"proxycommand", "localcommand", "knownhostscommand"} {
			if rest, ok := strings.CutPrefix(l, key); ok {
				w.script(strings.TrimLeft(v.s[len(v.s)-len(rest):], "= "), "sh", nil, stream{})
			}
		}
		if strings.Contains(l, "stricthostkeychecking=no") || strings.Contains(l, "stricthostkeychecking no") {
			w.simple(c, human.SecurityWeakening, human.MediumRisk, "host_unchecked")
		}
	}
	if o.has("-Q", "-V", "-G") && len(rest) <= 1 || len(rest) == 0 {
		w.harmless(c)
		return handled(stream{})
	}
	if o.has("-R", "-D", "-L", "-w") {
		w.simple(c, human.NetworkWrite, human.MediumRisk, "tunnel")
	}
	host := rest[0].shown()
	if c.in.taint&fromSecret != 0 {
		w.leak(host)
	}
	cmdline := rest[1:]
	// Options may follow the host.
	for len(cmdline) > 0 && len(cmdline[0].s) > 1 && cmdline[0].s[0] == '-' {
		cmdline = cmdline[1:]
	}
	if len(cmdline) == 0 {
		w.simple(c, human.NetworkWrite, human.MediumRisk, "session")
		if c.in.open {
			w.away(host, func() stream { w.feed("sh", c.in, "ssh.stdin"); return stream{} })
		}
		return handled(stream{taint: madeHere})
	}
	w.simple(c, human.NetworkRead, human.LowRisk, "runs_there")
	out := w.away(host, func() stream { return w.script(joined(cmdline).s, "sh", nil, c.in) })
	return handled(stream{taint: out.taint | fromNetwork})
}

// docker run and exec hold commands; what they may reach depends on what is mounted.
func docker(w *walker, c *cmd) (stream, bool) {
	globals := set("-H --host -c --context --config -l --log-level --tlscacert --tlscert --tlskey --connection --url --identity --namespace -n --address -a")
	_, rest := parse(c.args, globals, false, true)
	if len(rest) == 0 {
		return stream{}, false
	}
	sub := rest[0].s
	args := rest[1:]
	if sub == "container" && len(args) > 0 {
		sub, args = args[0].s, args[1:]
	}
	switch sub {
	case "compose":
		return compose(w, &cmd{name: "docker-compose", args: args, in: c.in})
	case "exec":
		o, cmdline := parse(args, set("-e --env -u --user -w --workdir --env-file --detach-keys"), false, true)
		if o.has("--privileged") {
			w.simple(c, human.PrivilegeEscalation, human.HighRisk, "privileged")
		}
		if len(cmdline) < 2 {
			w.simple(c, human.ContainerEffect, human.MediumRisk, "exec")
			return handled(stream{})
		}
		w.away("container", func() stream { return w.run(cmdline[1:], c.in) })
		return handled(stream{taint: madeHere})
	case "run", "create":
		values := set("-a --add-host --annotation --attach --blkio-weight --cap-add --cap-drop --cgroup-parent --cgroupns --cidfile --cpu-period --cpus -c --cpu-shares --cpuset-cpus " +
			"--detach-keys --device --dns --domainname --entrypoint -e --env --env-file --expose --gpus --group-add --health-cmd --hostname -h --ip --ipc --isolation -l --label --link --log-driver --log-opt " +
			"--mac-address -m --memory --mount --name --network --net --network-alias --oom-score-adj --pid --pids-limit --platform -p --publish --pull --restart --runtime --security-opt --shm-size --stop-signal " +
			"--storage-opt --sysctl --tmpfs --ulimit -u --user --userns --uts -v --volume --volume-driver --volumes-from -w --workdir")
		o, cmdline := parse(args, values, false, true)
		w.simple(c, human.ContainerEffect, human.MediumRisk, "run")
		if o.has("--privileged") || o.any("--cap-add=ALL|SYS_ADMIN|SYS_PTRACE|SYS_MODULE") || o.any("--pid=host") || o.any("--userns=host") || o.any("--security-opt=seccomp=unconfined|apparmor=unconfined") || o.has("--device") {
			w.simple(c, human.PrivilegeEscalation, human.HighRisk, "privileged")
		}
		host := false
		for i, a := range args {
			mount, isMount := "", false
			if (a.s == "-v" || a.s == "--volume" || a.s == "--mount") && i+1 < len(args) {
				mount, isMount = args[i+1].s, true
			} else if _, v, ok := strings.Cut(a.s, "="); ok && (strings.HasPrefix(a.s, "--volume=") || strings.HasPrefix(a.s, "--mount=")) {
				mount, isMount = v, true
			} else if strings.HasPrefix(a.s, "-v") && len(a.s) > 2 {
				mount, isMount = a.s[2:], true
			}
			if !isMount {
				continue
			}
			src := mount
			if k := strings.Index(src, "source="); k >= 0 {
				src, _, _ = strings.Cut(src[k+7:], ",")
			} else if k := strings.Index(src, "src="); k >= 0 {
				src, _, _ = strings.Cut(src[k+4:], ",")
			} else {
				src, _, _ = strings.Cut(src, ":")
			}
			ro := strings.HasSuffix(mount, ":ro") || strings.Contains(mount, "readonly")
			p, _ := w.placeOf(value{s: src, quoted: true}, w.dir)
			switch {
			case strings.HasSuffix(src, "docker.sock"):
				w.simple(c, human.PrivilegeEscalation, human.HighRisk, "docker_socket")
			case strings.HasPrefix(src, "/") || strings.HasPrefix(src, "~") || strings.HasPrefix(src, "."):
				if !ro {
					host = true
				}
				if p == rootSpot || p == systemSpot || p == homeSpot || p == secretSpot || p == rawDevice {
					if ro {
						w.simple(c, human.CredentialAccess, human.HighRisk, "mounts_host")
					} else {
						w.simple(c, human.PrivilegeEscalation, human.HighRisk, "mounts_host")
					}
				}
			}
		}
		if v, ok := o.flags["--entrypoint"]; ok && len(cmdline) > 0 {
			cmdline = append([]value{cmdline[0], v}, cmdline[1:]...)
		}
		if len(cmdline) > 1 {
			if host {
				w.run(cmdline[1:], c.in)
			} else {
				w.away("container", func() stream { return w.run(cmdline[1:], c.in) })
			}
		} else if c.in.open && len(cmdline) == 1 {
			w.feed("sh", c.in, "docker.stdin")
		}
		return handled(stream{taint: madeHere})
	}
	return stream{}, false
}

func compose(w *walker, c *cmd) (stream, bool) {
	_, rest := parse(c.args, set("-f --file -p --project-name --profile --env-file --project-directory --ansi --progress --parallel"), false, true)
	if len(rest) > 0 && (rest[0].s == "exec" || rest[0].s == "run") {
		_, cmdline := parse(rest[1:], set("-e --env -u --user -w --workdir --index -l --label --name -p --publish -v --volume --entrypoint"), false, true)
		if len(cmdline) >= 2 {
			if rest[0].s == "run" {
				w.simple(c, human.ContainerEffect, human.MediumRisk, "run")
			}
			w.away("container", func() stream { return w.run(cmdline[1:], c.in) })
			return handled(stream{})
		}
		w.simple(c, human.ContainerEffect, human.MediumRisk, "exec")
		return handled(stream{})
	}
	if c.name == "docker-compose" || c.name == "podman-compose" {
		s := specOf("docker-compose")
		o, _ := parse(c.args, s.values, s.long, false)
		w.rules(s, &o, c, true)
		return handled(stream{})
	}
	return stream{}, false
}

func kubectl(w *walker, c *cmd) (stream, bool) {
	_, rest := parse(c.args, set("-n --namespace --context --cluster --kubeconfig -s --server --user --token --as --as-group -v --request-timeout"), false, true)
	if len(rest) > 0 && rest[0].s == "exec" {
		for i, a := range rest {
			if a.s == "--" && i+1 < len(rest) {
				w.emit(human.Effect{Verb: human.ContainerEffect, Resource: w.shown(c), Risk: human.NoRisk, Blast: human.SharedBlast, Rule: "kubectl.exec"})
				return handled(w.away("pod", func() stream { return w.run(rest[i+1:], c.in) }))
			}
		}
		o, words := parse(rest[1:], set("-c --container -n --namespace --context"), false, true)
		_ = o
		if len(words) > 1 {
			return handled(w.away("pod", func() stream { return w.run(words[1:], c.in) }))
		}
		w.simple(c, human.ContainerEffect, human.MediumRisk, "exec")
		return handled(stream{})
	}
	return stream{}, false
}

func fedScript(w *walker, c *cmd) (stream, bool) {
	if c.in.open {
		w.feed("sh", c.in, c.name+".stdin")
	}
	return stream{}, false
}

func fedData(w *walker, c *cmd) (stream, bool) {
	w.simple(c, human.ServiceEffect, human.HighRisk, "updates")
	return handled(stream{})
}

// Settings of git that run what they hold.
func gitRuns(key string) bool {
	key = strings.ToLower(key)
	switch key {
	case "core.pager", "core.editor", "core.sshcommand", "core.askpass", "core.gitproxy", "core.fsmonitor", "sequence.editor", "diff.external", "credential.helper", "gpg.program", "web.browser", "uploadpack.packobjectshook", "init.templatedir", "core.hookspath", "core.alternaterefscommand", "interactive.difffilter", "sendemail.smtpserver":
		return true
	}
	for _, p := range []string{"alias.", "pager.", "filter.", "difftool.", "mergetool.", "browser.", "man.", "guitool.", "remote.", "diff.", "merge.", "gpg.", "trailer.", "include", "credential.", "url.", "protocol.ext"} {
		if strings.HasPrefix(key, p) {
			for _, end := range []string{".cmd", ".clean", ".smudge", ".process", ".command", ".textconv", ".driver", ".program", ".helper", ".path", ".uploadpack", ".receivepack", ".vcs", ".allow"} {
				if strings.HasSuffix(key, end) {
					return true
				}
			}
			return p == "alias." || p == "pager."
		}
	}
	return false
}

func (w *walker) gitSetting(setting value) {
	key, val, _ := strings.Cut(setting.s, "=")
	if !setting.known() && strings.Contains(key, unknown) {
		w.unseen(setting, "git.setting")
		return
	}
	if !gitRuns(key) {
		return
	}
	text := val
	lower := strings.ToLower(key)
	switch {
	case strings.HasPrefix(lower, "alias."):
		if sh, ok := strings.CutPrefix(text, "!"); ok {
			text = sh
		} else {
			text = "git " + text
		}
	case lower == "core.pager" && (text == "cat" || text == "less" || text == "" || text == "delta"), strings.HasPrefix(lower, "pager.") && (text == "cat" || text == "false" || text == "true" || text == "less"):
		return
	case lower == "core.fsmonitor" && (text == "false" || text == "true"), lower == "core.hookspath" && text == "/dev/null", lower == "core.editor" && (text == "true" || text == ":" || text == "vim" || text == "cat"), lower == "sequence.editor" && (text == "true" || text == ":"):
		return
	case lower == "core.hookspath" || strings.HasPrefix(lower, "include") || lower == "init.templatedir":
		w.emit(human.Effect{Verb: human.LangExec, Resource: setting.shown(), Certainty: human.Likely, Risk: human.HighRisk, Reversibility: human.Irreversible, Blast: human.MachineBlast, Rule: "git.setting_runs"})
		return
	case lower == "credential.helper":
		if !strings.HasPrefix(text, "!") {
			return
		}
	}
	w.emit(human.Effect{Verb: human.LangExec, Resource: setting.shown(), Certainty: human.Likely, Risk: human.LowRisk, Reversibility: human.Costly, Blast: human.MachineBlast, Rule: "git.setting_runs"})
	w.script(strings.TrimPrefix(text, "!"), "sh", nil, stream{})
}

func git(w *walker, c *cmd) (stream, bool) {
	args := c.args
	var words []value
	for i := 0; i < len(args); i++ {
		s := args[i].s
		switch {
		case s == "-c" && i+1 < len(args):
			i++
			w.gitSetting(args[i])
		case strings.HasPrefix(s, "-c") && strings.Contains(s, "=") && len(s) > 2 && s[2] != '=':
			w.gitSetting(value{s: s[2:], taint: args[i].taint, quoted: true})
		case strings.HasPrefix(s, "--config-env"):
			w.simple(c, human.LangExec, human.HighRisk, "setting_runs")
		case strings.HasPrefix(s, "--exec-path="):
			w.simple(c, human.LangExec, human.HighRisk, "setting_runs")
		case s == "-C" || s == "--git-dir" || s == "--work-tree" || s == "--namespace":
			i++
		case strings.HasPrefix(s, "-"):
		default:
			words = args[i:]
			i = len(args)
		}
	}
	if len(words) == 0 {
		return stream{}, false
	}
	sub := words[0].s
	if !words[0].known() {
		w.unseen(words[0], "git.unknown")
		return handled(stream{})
	}
	o, _ := parse(words[1:], set("-x --exec --upload-pack --receive-pack -u2 --strategy --ext-diff2 --output -O2 --open-files-in-pager2"), false, false)
	for _, n := range []string{"--exec", "--upload-pack", "--receive-pack", "-x"} {
		if v, ok := o.flags[n]; ok && v.s != "" && (sub == "rebase" || n == "--upload-pack" || n == "--receive-pack" || n == "--exec") {
			w.script(v.s, "sh", nil, stream{})
		}
	}
	for _, a := range words[1:] {
		for _, p := range []string{"-O", "--open-files-in-pager="} { // git grep -Orm
			if text, ok := strings.CutPrefix(a.s, p); ok && text != "" && sub == "grep" {
				w.script(text, "sh", nil, stream{})
			}
		}
		if strings.HasPrefix(a.s, "ext::") {
			w.simple(c, human.LangExec, human.HighRisk, "remote_command")
			w.script(strings.TrimPrefix(a.s, "ext::"), "sh", nil, stream{})
		}
		for _, p := range []string{"--upload-pack=", "--receive-pack=", "--exec=", "--tree-filter=", "--index-filter=", "--msg-filter="} {
			if text, ok := strings.CutPrefix(a.s, p); ok {
				w.script(text, "sh", nil, stream{})
			}
		}
	}
	ow := o.words
	switch {
	case sub == "config":
		if len(ow) >= 2 {
			k := ow[0].s
			i := 1
			if k == "set" && len(ow) >= 3 {
				k, i = ow[1].s, 2
			}
			if gitRuns(k) {
				w.gitSetting(value{s: k + "=" + ow[i].s, taint: ow[i].taint, quoted: true})
				if !o.has("--get", "--get-all", "--unset", "--get-regexp", "--list", "-l") && ow[0].s != "get" && ow[0].s != "unset" && ow[0].s != "list" {
					w.simple(c, human.PersistenceEffect, human.MediumRisk, "config_runs")
				}
			}
		}
	case sub == "bisect" && len(ow) > 1 && ow[0].s == "run":
		w.run(afterWord(words, "run"), stream{})
	case sub == "submodule" && len(ow) > 1 && ow[0].s == "foreach":
		w.script(joined(afterWord(words, "foreach")).s, "sh", nil, stream{})
	case sub == "filter-branch":
		for i, a := range words {
			if strings.HasSuffix(a.s, "-filter") && i+1 < len(words) {
				w.script(words[i+1].s, "sh", nil, stream{})
			}
		}
	case sub == "worktree" && len(ow) > 1 && ow[0].s == "remove" && !o.has("--force", "-f"):
	case sub == "clone" && o.has("-c", "--config"):
		for i, a := range words {
			if (a.s == "-c" || a.s == "--config") && i+1 < len(words) {
				w.gitSetting(words[i+1])
			} else if v, ok := strings.CutPrefix(a.s, "--config="); ok {
				w.gitSetting(value{s: v, taint: a.taint, quoted: true})
			}
		}
	case sub == "clone" && len(ow) > 1:
		w.writing(ow[len(ow)-1], "git.clone")
	}
	return stream{taint: madeHere}, false
}

func afterWord(args []value, word string) []value {
	for i, a := range args {
		if a.s == word {
			rest := args[i+1:]
			for len(rest) > 0 && strings.HasPrefix(rest[0].s, "--") {
				rest = rest[1:]
			}
			return rest
		}
	}
	return nil
}

// sed runs and writes by its script: e, w, s///e, s///w; and edits with -i.
func sed(w *walker, c *cmd) (stream, bool) {
	o, _ := parse(c.args, set("-e -f --expression --file -l --line-length"), false, false)
	var scripts []value
	files := o.words
	for i, a := range c.args {
		switch {
		case (a.s == "-e" || a.s == "--expression") && i+1 < len(c.args):
			scripts = append(scripts, c.args[i+1])
		case strings.HasPrefix(a.s, "--expression="):
			scripts = append(scripts, value{s: a.s[len("--expression="):]})
		case len(a.s) > 2 && a.s[0] == '-' && a.s[1] != '-' && strings.HasSuffix(a.s, "e") && i+1 < len(c.args) && !strings.ContainsAny(a.s, "i"):
			scripts = append(scripts, c.args[i+1])
		}
	}
	if o.has("-f", "--file") {
		w.simple(c, human.LangExec, human.LowRisk, "script_file")
	} else if len(scripts) == 0 && len(files) > 0 {
		scripts, files = files[:1], files[1:]
	}
	for _, s := range scripts {
		w.sedScript(c, s.s)
	}
	w.emit(human.Effect{Verb: human.FilesystemRead, Resource: w.shown(c), Risk: human.NoRisk, Rule: "sed.reads"})
	inPlace := false
	for _, a := range c.args {
		if strings.HasPrefix(a.s, "-i") || strings.HasPrefix(a.s, "--in-place") || len(a.s) > 1 && a.s[0] == '-' && a.s[1] != '-' && strings.ContainsRune(a.s, 'i') && !strings.HasPrefix(a.s, "-e") && !strings.HasPrefix(a.s, "-f") {
			inPlace = true
		}
	}
	for _, f := range files {
		if inPlace {
			w.writing(f, "sed.edits")
		} else {
			w.reading(f, "sed.reads")
		}
	}
	if inPlace && len(files) == 0 {
		w.simple(c, human.FilesystemWrite, human.LowRisk, "edits")
	}
	return handled(stream{taint: c.in.taint | madeHere})
}

func (w *walker) sedScript(c *cmd, s string) {
	// Commands stand at the beginning, after a semicolon, a brace or an address.
	for i := 0; i < len(s); i++ {
		switch ch := s[i]; {
		case ch == ' ' || ch == ';' || ch == '\n' || ch == '{' || ch == '}' || ch == '!' || ch == ',' || ch == '$' || ch >= '0' && ch <= '9' || ch == '~' || ch == '+':
		case ch == '/' || ch == '\\': // an address
			d := ch
			if ch == '\\' && i+1 < len(s) {
				i++
				d = s[i]
			}
			i = skipTo(s, i+1, d)
			for i+1 < len(s) && (s[i+1] == 'I' || s[i+1] == 'M') {
				i++
			}
		case ch == 's' || ch == 'y':
			if i+1 >= len(s) {
				return
			}
			d := s[i+1]
			j := skipTo(s, i+2, d)
			repl := j + 1
			j = skipTo(s, j+1, d)
			k := j + 1
			for k < len(s) && strings.IndexByte("gpiIeMm0123456789", s[k]) >= 0 {
				if s[k] == 'e' && ch == 's' {
					w.simple(c, human.LangExec, human.HighRisk, "runs")
					if repl < j && j <= len(s) {
						w.script(s[repl:j], "sh", nil, stream{})
					}
				}
				k++
			}
			if k < len(s) && s[k] == 'w' && ch == 's' {
				name, _, _ := strings.Cut(strings.TrimSpace(s[k+1:]), "\n")
				w.writing(known(name), "sed.writes")
				return
			}
			i = k - 1
		case ch == 'e':
			line, _, _ := strings.Cut(s[i+1:], "\n")
			line = strings.TrimSpace(line)
			if line == "" {
				w.simple(c, human.LangExec, human.HighRisk, "runs")
			} else {
				w.simple(c, human.LangExec, human.MediumRisk, "runs")
				w.script(s[i+1:], "sh", nil, stream{}) // lines that follow may be the command's as well
			}
			i += 1 + len(line)
		case ch == 'w' || ch == 'W':
			name, _, _ := strings.Cut(strings.TrimSpace(s[i+1:]), "\n")
			w.writing(known(name), "sed.writes")
			return
		case ch == 'a' || ch == 'i' || ch == 'c' || ch == 'b' || ch == 't' || ch == 'T' || ch == ':' || ch == 'r' || ch == 'R' || ch == '#':
			if ch == 'r' || ch == 'R' {
				name, _, _ := strings.Cut(strings.TrimSpace(s[i+1:]), "\n")
				w.reading(known(name), "sed.reads")
			}
			labelled := strings.IndexByte("btT:", ch) >= 0 // a label ends where text goes on
			for i < len(s) && s[i] != '\n' && (!labelled || s[i] != ';' && s[i] != '}') {
				i++
			}
		}
	}
}

func skipTo(s string, i int, d byte) int {
	for ; i < len(s); i++ {
		if s[i] == '\\' {
			i++
			continue
		}
		if s[i] == d {
			return i
		}
	}
	return len(s)
}

func awk(w *walker, c *cmd) (stream, bool) {
	o, _ := parse(c.args, set("-F -v -f -e -i -l -o2 --field-separator --assign --file --source --include --load"), false, false)
	var program *value
	words := o.words
	for _, n := range []string{"-e", "--source"} {
		if v, ok := o.flags[n]; ok {
			program = &v
		}
	}
	if o.has("-f", "--file") {
		w.simple(c, human.LangExec, human.MediumRisk, "script_file")
	} else if program == nil {
		if len(words) == 0 {
			if o.has("-V", "--version", "-W", "--help", "-h") {
				w.harmless(c)
			} else {
				w.simple(c, human.UnknownEffect, human.MediumRisk, "nothing")
			}
			return handled(stream{})
		}
		program, words = &words[0], words[1:]
	}
	if o.has("-i", "--include", "-l", "--load") {
		w.simple(c, human.FilesystemWrite, human.LowRisk, "extension")
	}
	w.emit(human.Effect{Verb: human.FilesystemRead, Resource: w.shown(c), Risk: human.NoRisk, Rule: "awk.reads"})
	if program != nil {
		w.awkProgram(c, *program)
	}
	for _, f := range words {
		w.reading(f, "awk.reads")
	}
	return handled(stream{taint: c.in.taint | madeHere})
}

func (w *walker) awkProgram(c *cmd, v value) {
	bare, literals := strip(v.s, "awk")
	if strings.Contains(bare, "system(") || strings.Contains(bare, "system (") {
		w.simple(c, human.LangExec, human.MediumRisk, "runs")
		found := false
		for _, l := range literals {
			if strings.TrimSpace(l) != "" {
				w.script(l, "sh", nil, stream{})
				found = true
			}
		}
		w.rest(v.s, "system")
		if !found || !strings.Contains(strings.ReplaceAll(bare, " ", ""), "system(\"\")") {
			w.unseen(value{s: unknown}, "awk.runs")
		}
	}
	if strings.Contains(bare, "@load") || strings.Contains(bare, "@include") {
		w.simple(c, human.LangExec, human.MediumRisk, "loads")
	}
	// print > "file", print | "command", "command" | getline
	flat := strings.ReplaceAll(bare, "||", "  ")
	for i := 0; i < len(flat); i++ {
		switch flat[i] {
		case '|':
			w.simple(c, human.LangExec, human.MediumRisk, "pipes")
			for _, l := range literals {
				if strings.TrimSpace(l) != "" {
					w.script(l, "sh", nil, stream{})
				}
			}
		case '>':
			before := flat[:i]
			if k := strings.LastIndexAny(before, "{};\n"); k >= 0 {
				before = before[k:]
			}
			if strings.Contains(before, "print") && (i+1 >= len(flat) || flat[i+1] != '=') && strings.Count(before, "(") == strings.Count(before, ")") {
				named := false
				for _, l := range literals {
					if couldBePath(l) || len(literals) == 1 {
						w.writing(known(l), "awk.writes")
						named = true
					}
				}
				if !named {
					w.simple(c, human.FilesystemWrite, human.LowRisk, "writes")
				}
			}
		}
	}
}

func tar(w *walker, c *cmd) (stream, bool) {
	values := set("-f -C -T -X -I -K -N -g -V -b -H -L -F --file --directory --files-from --exclude --exclude-from --use-compress-program --to-command --checkpoint-action --info-script --new-volume-script --rsh-command --rmt-command --transform --strip-components --owner --group --mode --one-top-level2")
	args := c.args
	if len(args) > 0 && !strings.HasPrefix(args[0].s, "-") && args[0].s != "" { // tar xzf: the old way, values in their order
		var spread []value
		rest := args[1:]
		for _, ch := range args[0].s {
			n := "-" + string(ch)
			spread = append(spread, known(n))
			if values[n] && len(rest) > 0 {
				spread = append(spread, rest[0])
				rest = rest[1:]
			}
		}
		args = append(spread, rest...)
	}
	for _, n := range []string{"--to-command", "--checkpoint-action", "--use-compress-program", "-I", "--info-script", "--new-volume-script", "-F", "--rsh-command", "--rmt-command"} {
		for i, a := range args {
			text := ""
			switch {
			case a.s == n && i+1 < len(args):
				text = args[i+1].s
			case strings.HasPrefix(a.s, n+"="):
				text = a.s[len(n)+1:]
			case len(n) == 2 && len(a.s) > 2 && strings.HasPrefix(a.s, n):
				text = a.s[2:]
			case strings.HasPrefix(n, "--") && len(a.s) > 6 && strings.HasPrefix(n, strings.SplitN(a.s, "=", 2)[0]) && strings.Contains(a.s, "="):
				text = strings.SplitN(a.s, "=", 2)[1]
			default:
				continue
			}
			if n == "--checkpoint-action" {
				sh, ok := strings.CutPrefix(text, "exec=")
				if !ok {
					continue
				}
				text = sh
			}
			first, _, _ := strings.Cut(text, " ")
			switch first {
			case "gzip", "pigz", "zstd", "xz", "bzip2", "lz4", "pixz", "pbzip2", "lzma", "zstdmt", "brotli", "lzop":
				continue
			}
			w.script(text, "sh", nil, stream{})
		}
	}
	o, _ := parse(args, values, false, false)
	var file value
	if v, ok := o.flags["-f"]; ok {
		file = v
	} else if v, ok := o.flags["--file"]; ok {
		file = v
	}
	dir := value{s: ".", quoted: true}
	for _, n := range []string{"-C", "--directory"} {
		if v, ok := o.flags[n]; ok {
			dir = v
		}
	}
	switch {
	case o.has("-x", "--extract", "--get"):
		if o.has("-O", "--to-stdout") {
			w.harmless(c)
			return handled(stream{taint: c.in.taint | fromDecoder})
		}
		w.writing(dir, "tar.extract")
		if o.has("-P", "--absolute-names") {
			w.simple(c, human.FilesystemWrite, human.HighRisk, "absolute_names")
		}
	case o.has("-t", "--list", "-d", "--diff", "--compare") && !o.has("-c", "-r", "-u"):
		w.harmless(c)
	case o.has("-c", "--create", "-r", "--append", "-u", "--update", "--delete", "-A"):
		if file.s != "" && file.s != "-" {
			w.writing(file, "tar.create")
		}
		var t taint
		for _, v := range o.words {
			t |= w.reading(v, "tar.reads")
		}
		if o.has("--remove-files") {
			w.simple(c, human.FilesystemDelete, human.HighRisk, "remove_files")
		}
		w.simple(c, human.FilesystemWrite, human.LowRisk, "create")
		return handled(stream{taint: t})
	case o.has("--version", "--help", "--usage"):
		w.harmless(c)
	default:
		w.simple(c, human.UnknownEffect, human.MediumRisk, "unknown")
	}
	return handled(stream{taint: c.in.taint})
}

func remove(w *walker, c *cmd) (stream, bool) {
	o, _ := parse(c.args, set("-n --iterations -s --size --random-source"), false, false)
	if len(c.args) == 1 && o.has("--help", "--version") {
		w.harmless(c)
		return handled(stream{})
	}
	recursive := o.has("-r", "-R") || o.any("--recursive") || c.name == "srm" && o.has("-r")
	if o.has("--no-preserve-root") || o.any("--no-preserve-root") {
		w.emit(human.Effect{Verb: human.FilesystemDelete, Resource: w.shown(c), Risk: human.CriticalRisk, Floor: true, Reversibility: human.Irreversible, Blast: human.MachineBlast, Rule: "rm.no_preserve_root"})
	}
	if len(o.words) == 0 {
		risk := human.MediumRisk
		if recursive {
			risk = human.HighRisk
		}
		w.simple(c, human.FilesystemDelete, risk, "nothing_named")
	}
	for i, v := range o.words {
		if i > 100 {
			w.opaque("shell.too_much", "deletes too much to be told one by one")
			break
		}
		if c.name == "rmdir" {
			w.simple(c, human.FilesystemDelete, human.LowRisk, "empty_folder")
			if p, _ := w.placeOf(v, w.dir); p >= secretSpot {
				w.deleting(v, false, "rmdir")
			}
			continue
		}
		w.deleting(v, recursive, c.name)
		if c.name == "shred" && !recursive {
			w.simple(c, human.FilesystemDelete, human.HighRisk, "overwrites")
		}
	}
	return handled(stream{})
}

func copies(w *walker, c *cmd) (stream, bool) {
	o, _ := parse(c.args, set("-t --target-directory -S --suffix -m --mode -o --owner -g --group"), false, false)
	words := o.words
	var to value
	if v, ok := o.flags["-t"]; ok && v.s != "" {
		to = v
	} else if v, ok := o.flags["--target-directory"]; ok {
		to = v
	} else if len(words) > 1 {
		to, words = words[len(words)-1], words[:len(words)-1]
	} else {
		w.simple(c, human.FilesystemWrite, human.LowRisk, "writes")
		return handled(stream{})
	}
	var t taint
	for _, v := range words {
		if c.name != "ln" {
			t |= w.reading(v, c.name+".reads")
		}
		if f, ok := w.file(v); ok && len(words) == 1 {
			w.keep(to, f)
		}
		if c.name == "mv" {
			p, target := w.placeOf(v, w.dir)
			e := human.Effect{Verb: human.FilesystemWrite, Resource: v.shown(), Target: target, Risk: human.LowRisk, Reversibility: human.Reversible, Rule: "mv.moves"}
			switch p {
			case rootSpot, homeSpot, rawDevice:
				e.Risk, e.Floor, e.Blast = human.CriticalRisk, true, human.MachineBlast
			case projectRoot, gitDir, systemSpot, startSpot, secretSpot, unknownSpot:
				e.Risk, e.Blast = human.HighRisk, human.MachineBlast
			case gateSpot:
				e.Risk, e.Floor = human.CriticalRisk, true
			case outside, envFile:
				e.Risk = human.MediumRisk
			}
			if to.s == "/dev/null" {
				e.Verb, e.Risk, e.Reversibility = human.FilesystemDelete, human.HighRisk, human.Irreversible
			}
			w.emit(e)
		}
		if c.name == "ln" && len(words) == 1 {
			if p, _ := w.placeOf(v, w.dir); p == secretSpot || p == rawDevice || p == rootSpot {
				w.simple(c, human.CredentialAccess, human.HighRisk, "links")
			}
		}
	}
	// Into a folder, the file's own name decides what it becomes.
	for _, v := range words {
		base := path.Base(strings.TrimRight(v.s, "/"))
		if secretNames[base] || startFiles[base] {
			w.writing(value{s: strings.TrimRight(to.s, "/") + "/" + base, quoted: true}, c.name+".writes")
		}
	}
	w.writing(to, c.name+".writes")
	if c.name == "install" && o.has("-m") && strings.HasPrefix(o.flags["-m"].s, "4") {
		w.simple(c, human.PrivilegeEscalation, human.HighRisk, "setuid")
	}
	return handled(stream{taint: t})
}

func tee(w *walker, c *cmd) (stream, bool) {
	o, _ := parse(c.args, nil, false, false)
	w.harmless(c)
	for _, v := range o.words {
		w.writing(v, "tee.writes")
		w.keep(v, c.in)
	}
	return handled(c.in)
}

func dd(w *walker, c *cmd) (stream, bool) {
	var t taint
	for _, a := range c.args {
		if v, ok := strings.CutPrefix(a.s, "of="); ok {
			w.writing(value{s: v, taint: a.taint, quoted: true}, "dd.writes")
			w.simple(c, human.FilesystemWrite, human.MediumRisk, "copies")
		}
		if v, ok := strings.CutPrefix(a.s, "if="); ok {
			p, _ := w.placeOf(value{s: v}, w.dir)
			t |= w.reading(value{s: v, taint: a.taint, quoted: true}, "dd.reads")
			if p == rawDevice {
				w.simple(c, human.CredentialAccess, human.HighRisk, "reads_device")
			}
		}
	}
	w.simple(c, human.FilesystemWrite, human.LowRisk, "copies")
	return handled(stream{taint: t | c.in.taint})
}

// chmod, chown and their like change who may do what.
func chmod(w *walker, c *cmd) (stream, bool) {
	o, _ := parse(c.args, set("--reference --from -m -M -x -X -s2"), false, false)
	if len(c.args) == 1 && o.has("--help", "--version") {
		w.harmless(c)
		return handled(stream{})
	}
	recursive := o.has("-R", "-r") || o.any("--recursive")
	words := o.words
	mode := ""
	if len(words) > 0 && !o.has("--reference") {
		mode, words = words[0].s, words[1:]
	}
	risk := human.LowRisk
	if c.name != "chmod" {
		risk = human.MediumRisk
	}
	octal := strings.TrimLeft(mode, "0")
	switch {
	case c.name == "chmod" && (strings.Contains(mode, "+s") || strings.Contains(mode, "u=s") || len(octal) == 4 && octal[0] >= '2' && octal[0] <= '7' && strings.Trim(octal, "01234567") == ""):
		w.simple(c, human.PrivilegeEscalation, human.HighRisk, "setuid")
	case c.name == "chmod" && (octal == "777" || octal == "666" || octal == "776" || mode == "a+rwx" || mode == "a+w" || mode == "o+w" || mode == "ugo+rwx" || mode == "a=rwx" || strings.Contains(mode, "o+rw") || strings.Contains(mode, "a+rw")):
		w.simple(c, human.SecurityWeakening, human.MediumRisk, "anybody_writes")
		if recursive {
			risk = human.HighRisk
		} else {
			risk = human.MediumRisk
		}
	case c.name == "chmod" && (octal == "" && mode == "000" || mode == "0" || mode == "a-rwx"):
		risk = human.MediumRisk
	}
	for _, v := range words {
		p, target := w.placeOf(v, w.dir)
		e := human.Effect{Verb: human.SecurityWeakening, Resource: v.shown(), Target: target, Risk: risk, Reversibility: human.Costly, Blast: human.FileBlast, Rule: c.name + ".changes"}
		if risk == human.LowRisk {
			e.Verb = human.FilesystemWrite
		}
		switch {
		case (p == rootSpot || p == homeSpot) && recursive:
			e.Risk, e.Blast, e.Floor = human.CriticalRisk, human.MachineBlast, true
		case p == systemSpot || p == rootSpot || p == homeSpot || p == rawDevice || p == secretSpot && mode != "600" && mode != "400" && mode != "700" && mode != "0600" || p == startSpot && c.name != "chmod":
			e.Risk, e.Blast = human.HighRisk, human.MachineBlast
			if recursive {
				e.Risk = human.CriticalRisk
			}
		case p == gateSpot:
			e.Risk, e.Floor = human.CriticalRisk, true
		case p == outside || p == unknownSpot:
			if recursive {
				e.Risk = human.HighRisk
			} else if e.Risk == human.LowRisk {
				e.Risk = human.MediumRisk
			}
		}
		w.emit(e)
		if f, ok := w.file(v); ok && strings.Contains(mode, "x") && f.taint&fromNetwork != 0 {
			w.simple(c, human.LangExec, human.MediumRisk, "made_runnable")
		}
	}
	if len(words) == 0 {
		w.simple(c, human.SecurityWeakening, human.MediumRisk, "changes")
	}
	return handled(stream{})
}

// curl and wget read from the network, write files, and send.
func curl(w *walker, c *cmd) (stream, bool) {
	s := specOf("curl")
	o, _ := parse(c.args, s.values, s.long, false)
	secret := false
	sends := c.in.taint&fromSecret != 0 && false
	for i, a := range c.args {
		data := ""
		switch {
		case i > 0 && isCurlData(c.args[i-1].s):
			data = a.s
		case strings.HasPrefix(a.s, "--") && strings.Contains(a.s, "=") && isCurlData(a.s[:strings.IndexByte(a.s, '=')]):
			data = a.s[strings.IndexByte(a.s, '=')+1:]
		case len(a.s) > 2 && (strings.HasPrefix(a.s, "-d") || strings.HasPrefix(a.s, "-F") || strings.HasPrefix(a.s, "-T")) && a.s[1] != '-':
			data = a.s[2:]
		case strings.HasPrefix(a.s, "http://") || strings.HasPrefix(a.s, "https://") || strings.HasPrefix(a.s, "ftp://"):
			if a.taint&fromSecret != 0 && !a.known() {
				secret = true
			}
			continue
		default:
			continue
		}
		sends = true
		if a.taint&fromSecret != 0 {
			secret = true
		}
		file := data
		if k := strings.LastIndexAny(data, "@<"); k >= 0 {
			file = data[k+1:]
			file, _, _ = strings.Cut(file, ";")
			if file == "-" && c.in.taint&fromSecret != 0 {
				secret = true
			}
		} else if !strings.HasPrefix(a.s, "-T") && (i == 0 || c.args[i-1].s != "-T" && c.args[i-1].s != "--upload-file") {
			continue
		}
		if f, ok := w.file(value{s: file}); ok && f.taint&fromSecret != 0 {
			secret = true
		}
		if w.reading(value{s: file, quoted: true}, "curl.reads")&fromSecret != 0 {
			secret = true
		}
		if file == "." || file == "-" && c.in.taint&fromSecret != 0 {
			secret = secret || c.in.taint&fromSecret != 0
		}
	}
	if secret {
		w.leak(w.shown(c))
	}
	_ = sends
	for _, v := range []string{"-o", "--output", "-O", "--remote-name", "-K", "--config"} {
		if f, ok := o.flags[v]; ok && f.s != "" && (v == "-o" || v == "--output") {
			w.writing(f, "curl.writes")
			w.keep(f, stream{taint: fromNetwork})
		}
	}
	if o.has("-O", "--remote-name", "--remote-name-all") {
		for _, u := range o.words {
			name := path.Base(strings.SplitN(u.s, "?", 2)[0])
			w.keep(known(name), stream{taint: fromNetwork})
		}
	}
	w.rules(s, &o, c, true)
	w.destructiveURL(c, &o)
	return handled(stream{taint: fromNetwork})
}

func isCurlData(flag string) bool {
	switch flag {
	case "-d", "--data", "--data-raw", "--data-binary", "--data-urlencode", "--data-ascii", "-F", "--form", "--form-string", "-T", "--upload-file", "--json", "--post-file", "--post-data", "--body-file", "--body-data":
		return true
	}
	return false
}

// destructiveURL looks for what the request asks the other side to do, in its path and in its body.
func (w *walker) destructiveURL(c *cmd, o *options) {
	method := ""
	for _, n := range []string{"-X", "--request", "--method"} {
		if v, ok := o.flags[n]; ok {
			method = strings.ToUpper(v.s)
		}
	}
	body := false
	for f := range o.flags {
		if isCurlData(f) {
			body = true
		}
	}
	if method == "" && !body || method == "GET" || method == "HEAD" || method == "OPTIONS" {
		return
	}
	for _, a := range c.args {
		l := strings.ToLower(a.s)
		for _, word := range []string{"delete", "destroy", "purge", "/drop", "terminate", "_close", "truncate", "wipe", "shutdown", "revoke", "remove", "reset", "cancel", "uninstall", "unregister", "archive"} {
			if strings.Contains(l, word) {
				w.simple(c, human.ServiceEffect, human.HighRisk, "asks_to_destroy")
				return
			}
		}
	}
}

func wget(w *walker, c *cmd) (stream, bool) {
	s := specOf("wget")
	o, _ := parse(c.args, s.values, s.long, false)
	for _, n := range []string{"--post-file", "--body-file"} {
		if v, ok := o.flags[n]; ok {
			if w.reading(v, "wget.reads")&fromSecret != 0 {
				w.leak(w.shown(c))
			}
		}
	}
	for _, a := range c.args {
		if a.taint&fromSecret != 0 && !a.known() {
			w.leak(w.shown(c))
		}
	}
	if v, ok := o.flags["--use-askpass"]; ok {
		w.script(v.s, "sh", nil, stream{})
	}
	toStdout := false
	for _, n := range []string{"-O", "--output-document"} {
		if v, ok := o.flags[n]; ok {
			if v.s == "-" || v.s == "/dev/stdout" {
				toStdout = true
			} else {
				w.writing(v, "wget.writes")
				w.keep(v, stream{taint: fromNetwork})
			}
		}
	}
	if !toStdout {
		for _, u := range o.words {
			w.keep(known(path.Base(strings.SplitN(u.s, "?", 2)[0])), stream{taint: fromNetwork})
		}
	}
	w.rules(s, &o, c, true)
	if toStdout {
		w.emit(human.Effect{Verb: human.NetworkRead, Resource: w.shown(c), Risk: human.NoRisk, Blast: human.MachineBlast, Rule: "wget.prints"})
	}
	return handled(stream{taint: fromNetwork})
}

func httpie(w *walker, c *cmd) (stream, bool) {
	o, _ := parse(c.args, set("-o --output -a --auth -A --auth-type --session --timeout --verify --cert -p --print --style -s --pretty"), false, false)
	method := "GET"
	body := c.in.open
	for i, v := range o.words {
		if i == 0 && v.s == strings.ToUpper(v.s) && !strings.ContainsAny(v.s, ":/.") {
			method = v.s
			continue
		}
		if i > 0 && (strings.Contains(v.s, "=") && !strings.Contains(v.s, "==") || strings.Contains(v.s, "@")) && !strings.HasPrefix(v.s, "http") && !strings.HasPrefix(v.s, ":") {
			body = true
			if k := strings.IndexByte(v.s, '@'); k >= 0 {
				if w.reading(value{s: v.s[k+1:], quoted: true}, "http.reads")&fromSecret != 0 {
					w.leak(w.shown(c))
				}
			}
		}
	}
	w.request(c, method, body)
	if v, ok := o.flags["-o"]; ok {
		w.writing(v, "http.writes")
		w.keep(v, stream{taint: fromNetwork})
	} else if o.has("-d", "--download") {
		w.simple(c, human.FilesystemWrite, human.LowRisk, "downloads")
	}
	return handled(stream{taint: fromNetwork})
}

func (w *walker) request(c *cmd, method string, body bool) {
	switch strings.ToUpper(method) {
	case "GET", "HEAD", "OPTIONS", "":
		if body && method == "" {
			w.simple(c, human.NetworkWrite, human.MediumRisk, "sends")
			return
		}
		w.simple(c, human.NetworkRead, human.NoRisk, "reads")
	case "DELETE":
		w.simple(c, human.NetworkWrite, human.HighRisk, "deletes")
	default:
		w.simple(c, human.NetworkWrite, human.MediumRisk, "sends")
	}
}

// database is a client that takes SQL by option, argument or pipe.
func database(w *walker, c *cmd) (stream, bool) {
	s := specOf(c.name)
	if s == nil {
		return stream{}, false
	}
	o, _ := parse(c.args, s.values, s.long, false)
	var queries []value
	for i, a := range c.args {
		switch a.s {
		case "-c", "--command", "-e", "--execute", "-Q", "-q", "-s", "--query", "--text", "-cmd", "--sql":
			if a.s == "-s" && c.name != "duckdb" {
				continue
			}
			if a.s == "-c" && (c.name == "sqlite3" || c.name == "mysql" || c.name == "mariadb") {
				continue
			}
			if a.s == "-e" && (c.name == "psql" || c.name == "sqlite3") || a.s == "-q" && c.name != "sqlcmd" {
				continue
			}
			if i+1 < len(c.args) {
				queries = append(queries, c.args[i+1])
			}
		default:
			for _, p := range []string{"--command=", "--execute=", "--query=", "-e", "-c", "--text="} {
				if p == "-e" && c.name != "mysql" && c.name != "mariadb" || p == "-c" && c.name != "psql" {
					continue
				}
				if text, ok := strings.CutPrefix(a.s, p); ok && text != "" && !strings.HasPrefix(a.s, p+"-") {
					queries = append(queries, value{s: text, taint: a.taint})
				}
			}
		}
	}
	switch c.name {
	case "sqlite3", "duckdb":
		if len(o.words) > 1 {
			queries = append(queries, o.words[1:]...)
		}
	case "sqlcmd":
		if len(o.words) > 1 && o.words[0].s == "query" {
			queries = append(queries, o.words[1:]...)
		}
	case "bq":
		if len(o.words) > 1 && o.words[0].s == "query" {
			queries = append(queries, o.words[1:]...)
		}
	}
	readonly := o.has("-readonly", "--readonly") && (c.name == "sqlite3" || c.name == "duckdb")
	for _, q := range queries {
		w.query(c, q, readonly)
	}
	ruled := false
	for i := range s.rules {
		if s.rules[i].matches(&o, s.action) {
			ruled = true
			for _, e := range s.rules[i].effects {
				w.effect(e, s.rules[i].id, &o, c)
			}
		}
	}
	if (o.has("--file", "-init", "-i") || o.has("-f") && c.name != "sqlite3") && !ruled {
		w.simple(c, human.DatabaseEffect, human.MediumRisk, "script_file")
		ruled = true
	}
	switch {
	case len(queries) > 0 || ruled:
	case c.in.open && c.in.known:
		w.query(c, value{s: c.in.text, taint: c.in.taint}, readonly)
	case c.in.open:
		w.simple(c, human.DatabaseEffect, human.HighRisk, "script")
	case s.verbs:
		w.byVerb(s.name, &o, c, true)
	default:
		w.simple(c, human.DatabaseEffect, human.MediumRisk, "interactive")
	}
	return handled(stream{taint: madeHere})
}

// query judges SQL, and what the clients themselves take for commands.
func (w *walker) query(c *cmd, v value, readonly bool) {
	text := v.s
	effect := func(risk human.Risk, rule string, lost bool) {
		e := verbDefaults[human.DatabaseEffect]
		e.Verb, e.Risk, e.Rule, e.Resource, e.Certainty = human.DatabaseEffect, risk, c.name+"."+rule, clip(v.shown()), human.Certain
		if lost {
			e.Reversibility = human.Irreversible
		}
		if risk == human.NoRisk {
			e.Reversibility, e.Blast = human.Reversible, human.FileBlast
		}
		w.emit(e)
	}
	var plain []string
	for _, line := range strings.Split(text, "\n") {
		t := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(t, ".") && (c.name == "sqlite3" || c.name == "duckdb"):
			word, rest, _ := strings.Cut(t[1:], " ")
			switch word {
			case "shell", "system":
				w.script(rest, "sh", nil, stream{})
			case "output", "once", "backup", "save", "log", "excel":
				effect(human.LowRisk, "writes_file", false)
			case "import", "restore", "read", "load", "open", "clone", "archive", "dump2":
				effect(human.MediumRisk, "loads", false)
			default:
				effect(human.NoRisk, "reads", false)
			}
		case strings.HasPrefix(t, `\`) && (c.name == "psql" || c.name == "mysql" || c.name == "mariadb"):
			switch {
			case strings.HasPrefix(t, `\!`):
				w.script(strings.TrimSpace(t[2:]), "sh", nil, stream{})
			case strings.Contains(strings.ToLower(t), "program") || strings.HasPrefix(t, `\copy`) || strings.HasPrefix(t, `\i`) || strings.HasPrefix(t, `\o`) || strings.HasPrefix(t, `\g`) || strings.HasPrefix(t, `\w`):
				effect(human.MediumRisk, "files", false)
			default:
				effect(human.NoRisk, "reads", false)
			}
		default:
			plain = append(plain, line)
		}
	}
	statements := sql.Split(strings.ReplaceAll(strings.Join(plain, "\n"), unknown, " ? "))
	if !v.known() && len(statements) == 0 || strings.HasPrefix(strings.TrimSpace(text), unknown) {
		effect(human.HighRisk, "unknown", true)
		return
	}
	if len(statements) > 1 {
		effect(human.LowRisk, "several", false)
	}
	for _, s := range statements {
		switch {
		case s.Kind == sql.RunsCode:
			effect(human.HighRisk, "runs_code", true)
		case readonly || s.Kind == sql.Reads:
			effect(human.NoRisk, "reads", false)
		case s.Kind == sql.Session:
			effect(human.LowRisk, "session", false)
		case s.Kind == sql.Writes:
			effect(human.MediumRisk, "writes", false)
		case s.Kind == sql.Destroys:
			effect(human.HighRisk, "destroys", true)
		case s.Kind == sql.Changes:
			effect(human.MediumRisk, "changes", false)
		default:
			effect(human.MediumRisk, "unknown", false)
		}
	}
	if !v.known() {
		effect(human.MediumRisk, "built", false)
	}
	if len(statements) == 0 && strings.TrimSpace(strings.Join(plain, "")) != "" {
		effect(human.NoRisk, "reads", false)
	}
}

func aws(w *walker, c *cmd) (stream, bool) {
	s := specOf("aws")
	o, _ := parse(c.args, s.values, s.long, false)
	if len(o.words) >= 2 && o.words[1].s == "start-query-execution" {
		q, ok := o.flags["--query-string"]
		if !ok || strings.TrimSpace(q.s) == "" {
			w.simple(c, human.DatabaseEffect, human.MediumRisk, "query")
			return handled(stream{})
		}
		w.query(c, q, false)
		return handled(stream{})
	}
	if len(o.words) == 0 {
		return stream{}, false
	}
	w.rules(s, &o, c, false)
	for i := range s.rules {
		if s.rules[i].matches(&o, s.action) {
			return handled(stream{})
		}
	}
	if len(o.words) < 2 || !o.words[1].known() {
		w.simple(c, human.ServiceEffect, human.MediumRisk, "unknown")
		return handled(stream{})
	}
	op := o.words[1].s
	switch {
	case op == "help" || op == "wait" || hasPrefix(op, []string{"describe-", "list-", "get-", "head-", "search-", "lookup-", "filter-", "batch-get-", "check-", "validate-", "estimate-", "simulate-", "preview-", "query-", "discover-", "detect-", "test-", "view-", "scan-", "admin-get-", "admin-list-", "transact-get-", "select-", "count-", "poll-", "classify-", "compare-", "verify-", "decode-", "download-", "generate-policy", "is-", "evaluate-"}),
		op == "ls" || op == "scan" || op == "query" || op == "tail" || op == "receive-message" || op == "describe":
		w.simple(c, human.NetworkRead, human.NoRisk, "looks")
	case loses(op) || hasPrefix(op, []string{"batch-delete", "stop-", "reboot-", "deactivate-", "detach-", "disassociate-", "unsubscribe", "release-", "cancel-", "schedule-key-deletion", "empty-", "admin-delete", "admin-disable", "restore-", "modify-", "rollback-", "abort-", "reject-", "untag-", "unassign-", "revoke-", "reset-", "force-"}):
		w.simple(c, human.ServiceEffect, human.HighRisk, "destroys")
	default:
		w.simple(c, human.ServiceEffect, human.MediumRisk, "changes")
	}
	return handled(stream{})
}

func uv(w *walker, c *cmd) (stream, bool) {
	values := set("--with --python -p --group --extra --env-file --directory --project --from --package --index-url --with-requirements --with-editable --no-group --only-group --index -w --config-file --cache-dir --refresh-package --color --script2")
	_, rest := parse(c.args, values, false, true)
	if len(rest) > 0 && rest[0].s == "run" {
		o, cmdline := parse(rest[1:], values, false, true)
		if o.has("-m", "--module") && len(cmdline) > 0 {
			w.module(c, cmdline)
			return handled(stream{})
		}
		if len(cmdline) == 0 {
			w.simple(c, human.PackageRun, human.LowRisk, "nothing")
			return handled(stream{})
		}
		if o.has("--with", "-w", "--with-requirements") {
			w.simple(c, human.PackageInstall, human.LowRisk, "with")
		}
		return handled(w.run(cmdline, c.in))
	}
	if len(rest) > 1 && rest[0].s == "pip" {
		sub := rest[1].s
		if sub == "compile" || sub == "sync" || sub == "tree" {
			return stream{}, false
		}
		return handled(w.run(append([]value{known("pip")}, rest[1:]...), c.in))
	}
	if len(rest) > 1 && rest[0].s == "tool" && rest[1].s == "run" {
		return npx(w, &cmd{name: "uvx", args: rest[2:], in: c.in})
	}
	return stream{}, false
}

// npx and its like fetch a package, where it is not there yet, and run it.
func npx(w *walker, c *cmd) (stream, bool) {
	o, rest := parse(c.args, set("-p --package -c --call --from --with --python --registry"), false, true)
	for _, n := range []string{"-c", "--call"} {
		if v, ok := o.flags[n]; ok {
			w.simple(c, human.PackageRun, human.LowRisk, "runs")
			return handled(w.script(v.s, "sh", nil, c.in))
		}
	}
	if len(rest) == 0 {
		if o.has("--help", "--version", "-h", "-v") {
			w.harmless(c)
		} else {
			w.simple(c, human.PackageRun, human.MediumRisk, "runs")
		}
		return handled(stream{})
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(rest[0].s, "@"), "@")
	if specOf(name) != nil || handlers[name] != nil {
		w.simple(c, human.PackageRun, human.LowRisk, "runs")
		return handled(w.run(append([]value{known(name)}, rest[1:]...), c.in))
	}
	risk := human.MediumRisk
	if o.has("--no-install") {
		risk = human.LowRisk
	}
	w.simple(c, human.PackageRun, risk, "runs")
	return handled(stream{taint: madeHere})
}

// make_ runs targets; some names of targets tell what they do.
func make_(w *walker, c *cmd) (stream, bool) {
	o, _ := parse(c.args, set("-f --file --makefile -C --directory -I -j2 -o -W -l2 --eval -E -d2 --justfile --working-directory --set"), false, false)
	if v, ok := o.flags["--eval"]; ok {
		w.script(v.s, "sh", nil, stream{})
	}
	if v, ok := o.flags["-E"]; ok {
		w.script(v.s, "sh", nil, stream{})
	}
	for _, n := range []string{"-f", "--file", "--makefile", "--justfile"} {
		if v, ok := o.flags[n]; ok && (v.s == "-" || strings.HasPrefix(v.s, "/dev/")) {
			w.unseen(v, "make.piped")
		}
	}
	if o.has("-n", "--dry-run", "--just-print", "--recon", "-q", "--question", "--version", "-v", "--help", "-h", "--list", "-l", "--summary", "--dump", "--show", "--evaluate") && !o.has("--eval", "-E") {
		w.simple(c, human.PackageRun, human.NoRisk, "shows")
		return handled(stream{})
	}
	w.simple(c, human.PackageRun, human.LowRisk, "builds")
	for _, v := range o.words {
		name := strings.ToLower(v.s)
		if key, val, ok := strings.Cut(v.s, "="); ok {
			if key == "SHELL" || strings.Contains(val, "$(shell") || strings.Contains(val, ";") {
				w.script(strings.TrimSuffix(strings.TrimPrefix(val, "$(shell "), ")"), "sh", nil, stream{})
			}
			continue
		}
		for _, part := range strings.FieldsFunc(name, func(r rune) bool { return r == '-' || r == '_' || r == ':' || r == '.' || r == '/' }) {
			switch part {
			case "deploy", "publish", "release", "destroy", "drop", "nuke", "wipe", "prod", "production", "uninstall", "purge", "push", "migrate", "rollback", "reset", "distclean":
				w.simple(c, human.PackageRun, human.HighRisk, "far_reaching")
			case "install", "apply":
				w.simple(c, human.PackageRun, human.MediumRisk, "installs")
			}
		}
	}
	return handled(stream{})
}

func rsync(w *walker, c *cmd) (stream, bool) {
	s := specOf("rsync")
	o, _ := parse(c.args, s.values, s.long, false)
	for _, n := range []string{"-e", "--rsh", "--rsync-path"} {
		if v, ok := o.flags[n]; ok && v.s != "" {
			first, _, _ := strings.Cut(v.s, " ")
			if path.Base(first) != "ssh" && first != "rsync" || strings.ContainsAny(v.s, ";|&`$") {
				w.script(v.s, "sh", nil, stream{})
			}
		}
	}
	w.rules(s, &o, c, true)
	if n := len(o.words); n > 1 {
		to := o.words[n-1]
		if strings.Contains(to.s, ":") {
			w.simple(c, human.NetworkWrite, human.MediumRisk, "sends")
		} else if !o.has("-n", "--dry-run", "--list-only") {
			w.writing(to, "rsync.writes")
		}
	}
	return handled(stream{})
}

func netcat(w *walker, c *cmd) (stream, bool) {
	o, _ := parse(c.args, set("-e -c -p -s -w -i -q -x -X -k2 --exec --sh-exec --proxy"), false, false)
	for _, n := range []string{"-e", "-c", "--exec", "--sh-exec"} {
		if v, ok := o.flags[n]; ok {
			w.emit(human.Effect{Verb: human.SecurityWeakening, Resource: w.shown(c), Risk: human.CriticalRisk, Floor: true, Reversibility: human.Irreversible, Blast: human.PublicBlast, Rule: c.name + ".gives_shell"})
			w.script(v.s, "sh", nil, stream{})
		}
	}
	for _, v := range o.words {
		u := strings.ToUpper(v.s)
		if c.name == "socat" && (strings.HasPrefix(u, "EXEC:") || strings.HasPrefix(u, "SYSTEM:") || strings.HasPrefix(u, "SHELL:")) {
			w.emit(human.Effect{Verb: human.SecurityWeakening, Resource: w.shown(c), Risk: human.CriticalRisk, Floor: true, Reversibility: human.Irreversible, Blast: human.PublicBlast, Rule: c.name + ".gives_shell"})
			text, _, _ := strings.Cut(v.s[strings.IndexByte(v.s, ':')+1:], ",")
			w.script(text, "sh", nil, stream{})
		}
	}
	if c.in.taint&fromSecret != 0 {
		w.leak(w.shown(c))
	}
	switch {
	case o.has("-z") && !o.has("-l"):
		w.simple(c, human.NetworkRead, human.NoRisk, "scans")
	case c.in.known && c.in.open:
		risk := human.MediumRisk
		first := strings.Fields(strings.ToLower(c.in.text))
		if len(first) > 0 {
			switch {
			case first[0] == "show" || first[0] == "stats" || first[0] == "info" || first[0] == "ping" || first[0] == "help" || first[0] == "stat" || first[0] == "ruok":
				risk = human.LowRisk
			case loses(first[0]) || first[0] == "flushall" || first[0] == "flush_all":
				risk = human.HighRisk
			}
		}
		w.simple(c, human.NetworkWrite, risk, "sends")
	default:
		w.simple(c, human.NetworkWrite, human.MediumRisk, "connects")
	}
	return handled(stream{taint: fromNetwork})
}

// fzf runs what its bindings and previews say.
func fzf(w *walker, c *cmd) (stream, bool) {
	w.harmless(c)
	o, _ := parse(c.args, set("--bind --preview --listen-unsafe2 -q --query -d --delimiter -f --filter --header --history --expect"), false, false)
	for i, a := range c.args {
		bind := ""
		if a.s == "--bind" && i+1 < len(c.args) {
			bind = c.args[i+1].s
		} else if v, ok := strings.CutPrefix(a.s, "--bind="); ok {
			bind = v
		}
		for _, action := range []string{"execute", "become", "reload", "preview"} {
			for rest := bind; ; {
				k := strings.Index(rest, action)
				if k < 0 {
					break
				}
				rest = rest[k+len(action):]
				text := strings.TrimLeft(rest, "-abcdehilmnopqrstuy")
				if text == "" || strings.IndexByte("([{:<~!@#$%^&*;/|", text[0]) < 0 {
					continue
				}
				text = strings.TrimRight(text[1:], ")]}>")
				if action == "execute" || action == "become" {
					w.simple(c, human.LangExec, human.LowRisk, "runs")
				}
				w.script(strings.ReplaceAll(text, "{}", "\"$_chosen\""), "sh", nil, stream{})
			}
		}
		if v, ok := strings.CutPrefix(a.s, "--preview="); ok {
			w.script(strings.ReplaceAll(v, "{}", "\"$_chosen\""), "sh", nil, stream{})
		}
	}
	if v, ok := o.flags["--preview"]; ok && v.s != "" {
		w.script(strings.ReplaceAll(v.s, "{}", "\"$_chosen\""), "sh", nil, stream{})
	}
	if o.has("--listen-unsafe") {
		w.simple(c, human.SecurityWeakening, human.HighRisk, "listens")
	}
	return handled(stream{taint: c.in.taint | madeHere})
}

// auth0 api, gh api and glab api are HTTP requests.
func auth0(w *walker, c *cmd) (stream, bool) {
	o, _ := parse(c.args, set("--tenant -d --data -q --query"), false, false)
	if len(o.words) > 1 && o.words[0].s == "api" {
		method := "GET"
		switch m := strings.ToUpper(o.words[1].s); m {
		case "GET", "POST", "PUT", "PATCH", "DELETE":
			method = m
		default:
			if o.has("-d", "--data") {
				method = "POST"
			}
		}
		w.request(c, method, o.has("-d", "--data"))
		return handled(stream{})
	}
	return stream{}, false
}

func api(w *walker, c *cmd) (stream, bool) {
	o, _ := parse(c.args, set("-X --method -f -F -H --header --field --raw-field --input --jq -q -t --template --hostname -R --repo --cache --preview -p"), false, false)
	if len(o.words) == 0 || o.words[0].s != "api" {
		return stream{}, false
	}
	method := ""
	for _, n := range []string{"-X", "--method"} {
		if v, ok := o.flags[n]; ok {
			method = v.s
		}
	}
	fields := o.has("-f", "-F", "--field", "--raw-field", "--input")
	if method == "" {
		method = "GET"
		if fields {
			method = "POST"
		}
	}
	if len(o.words) > 1 && o.words[1].s == "graphql" {
		text := joined(c.args).s
		if strings.Contains(text, "mutation") || !strings.Contains(text, "query") {
			method = "POST"
			if strings.Contains(strings.ToLower(text), "delete") {
				method = "DELETE"
			}
		} else {
			method = "GET"
		}
	}
	w.request(c, method, fields)
	return handled(stream{})
}

func java(w *walker, c *cmd) (stream, bool) {
	for i, a := range c.args {
		if a.s == "-jar" && i+1 < len(c.args) {
			if path.Base(c.args[i+1].s) == "jenkins-cli.jar" {
				return handled(w.run(append([]value{known("jenkins-cli")}, c.args[i+2:]...), c.in))
			}
		}
	}
	return stream{}, false
}
