package shell

import (
	"path"
	"slices"
	"strings"
	"sync"

	"deskbell/backend/gate/lazy"
	"deskbell/backend/gate/shell/arg"
	"deskbell/backend/gate/shell/commands"
	"deskbell/backend/gate/shell/paths"
	"deskbell/backend/human"
)

// shellCmd is sh and its like: -c with text, a script, or what comes through the pipe.
func shellCmd(w *walker, c *cmd) (stream, bool) {
	var text *arg.Word
	interactive, plain, piped := false, false, false
	i := 0
options:
	for ; i < len(c.args); i++ {
		s := c.args[i].Text
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
		case strings.HasPrefix(s, "--init-command="): // fish
			w.script(s[len("--init-command="):], "sh", nil, stream{})
		case strings.HasPrefix(s, "--command"): // fish
			if _, v, ok := strings.Cut(s, "="); ok {
				text = &arg.Word{Text: v, Quoted: true}
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
					if i+1 < len(c.args) && !strings.HasPrefix(c.args[i+1].Text, "-") {
						i++
						if strings.ContainsRune(s, 'c') && j > strings.IndexByte(s, 'c') { // -co pipefail text: the text comes after
							continue
						}
					}
				case 's':
					piped = s[0] == '-'
				case 'c':
					if text == nil {
						text = &arg.Word{Text: "\x01"}
					}
				}
			}
		default:
			break options
		}
	}
	rest := c.args[i:]
	if text != nil && text.Text == "\x01" {
		if len(rest) == 0 {
			w.simple(c, human.UnknownEffect, human.MediumRisk, "nothing")
			return handled(stream{})
		}
		text, rest = &rest[0], rest[1:]
	}
	switch {
	case text != nil:
		if strings.TrimSpace(text.Text) == "" {
			w.simple(c, human.UnknownEffect, human.LowRisk, "nothing")
			return handled(stream{})
		}
		if text.Taint&(arg.FromNetwork|arg.FromDecoder) != 0 {
			w.feed("sh", stream{text: text.Text, known: text.Known(), taint: text.Taint}, "shell.built_command")
			return handled(stream{taint: arg.MadeHere})
		}
		if !text.Known() && strings.Trim(text.Text, arg.Unknown+" ") == "" {
			w.unseen(*text, "shell.built_command")
			return handled(stream{taint: arg.MadeHere})
		}
		var params []arg.Word
		if len(rest) > 1 {
			params = rest[1:]
		} else {
			params = []arg.Word{}
		}
		// "-c cat": what comes through the pipe is not a script then.
		return handled(w.script(text.Text, c.name, params, c.in))
	case len(rest) > 0 && !piped && rest[0].Text != "-" && rest[0].Text != "/dev/stdin":
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
		return handled(stream{taint: arg.MadeHere, shell: !c.in.known})
	default:
		risk := human.MediumRisk
		if interactive {
			risk = human.MediumRisk
		}
		w.simple(c, human.LangExec, risk, "interactive")
	}
	return handled(stream{taint: arg.MadeHere})
}

// interpreter is a program that runs code in a language: inline, a file, a module, or what comes through the pipe.
func interpreter(language string) func(*walker, *cmd) (stream, bool) {
	options := sync.OnceValues(func() (isInline, isValued map[string]bool) {
		inline := map[string]string{
			"python": "-c", "javascript": "-e -p -pe --eval --print eval -ep", "ruby": "-e", "perl": "-e -E", "php": "-r -B -R -E", "lua": "-e", "r": "-e",
			"applescript": "-e", "powershell": "-c -Command -command -C --command -EncodedCommand -enc -e -ec", "tcl": "",
		}
		valued := map[string]string{
			"python": "-W -X -Q --check-hash-based-pycs", "javascript": "-r --require --loader --import --env-file -C --conditions --experimental-loader --stack-trace-limit --max-old-space-size",
			"ruby": "-r -I -C -E", "perl": "-I -M -m", "php": "-d -c -z", "lua": "-l", "r": "", "applescript": "-l", "powershell": "-ExecutionPolicy -ep -File -f -WorkingDirectory -OutputFormat -InputFormat", "tcl": "",
		}
		return lazy.Words(inline[language]), lazy.Words(valued[language])
	})
	return func(w *walker, c *cmd) (stream, bool) {
		isInline, isValued := options()
		out := stream{taint: c.in.taint | arg.MadeHere}
		args := c.args
		ranAny := false
		edits := false
		tests := false
		loads := loadedModules(language, args)
		inline := func(v arg.Word) {
			v.Text = loads + v.Text
			w.code(language, v)
		}
		for i := 0; i < len(args); i++ {
			s := args[i].Text
			if o, v, ok := strings.Cut(s, "="); ok && loadsScript()[o] && language == "javascript" {
				w.scriptFile(arg.Known(v), language, c)
				continue
			}
			switch {
			case isInline[s] && i+1 < len(args):
				code := args[i+1]
				if strings.HasPrefix(strings.ToLower(s), "-enc") || s == "-ec" || s == "-EncodedCommand" {
					w.emit(human.Effect{Verb: human.ObfuscatedEffect, Resource: w.shown(c), Risk: human.HighRisk, Reversibility: human.Irreversible, Blast: human.MachineBlast, Rule: "code.encoded"})
				}
				if language == "powershell" {
					code = arg.Joined(args[i+1:])
					w.windows(code.Text)
					return handled(out)
				}
				inline(code)
				ranAny = true
				i++
				if language == "python" {
					return handled(out)
				}
				continue
			case language == "python" && strings.HasPrefix(s, "-") && !strings.HasPrefix(s, "--") && strings.HasSuffix(s, "c") && len(s) > 2 && i+1 < len(args): // -Sc, -Ic
				w.code(language, args[i+1])
				return handled(out)
			case language == "python" && strings.HasPrefix(s, "-c") && len(s) > 2:
				w.code(language, arg.Word{Text: s[2:], Taint: args[i].Taint, Quoted: true})
				return handled(out)
			case (language == "perl" || language == "ruby") && len(s) > 2 && s[0] == '-' && s[1] != '-' && holdsCode(language, s):
				// -ne, -pe, -lane, -i.bak -pe: the code comes next, unless it follows right on the letter
				if strings.ContainsRune(s, 'i') && (strings.ContainsRune(s, 'p') || strings.ContainsRune(s, 'n') || strings.HasPrefix(s, "-i")) {
					edits = true
				}
				if k := strings.LastIndexAny(s, "eE"); k == len(s)-1 && i+1 < len(args) {
					inline(args[i+1])
					i++
				} else {
					inline(arg.Word{Text: s[k+1:], Quoted: true})
				}
				ranAny = true
			case (language == "perl" || language == "ruby") && len(s) > 1 && s[0] == '-' && s[1] != '-' && strings.ContainsRune(s, 'i') && strings.IndexByte("IMm", s[1]) < 0:
				edits = true
			case language == "python" && s == "-m":
				if i+1 < len(args) {
					w.module(c, args[i+1:])
				}
				return handled(out)
			case (language == "javascript" && (s == "-r" || s == "--require" || s == "--import" || s == "--loader" || s == "--experimental-loader") || language == "ruby" && s == "-r") && i+1 < len(args):
				w.scriptFile(args[i+1], language, c)
				i++
			case language == "perl" && strings.HasPrefix(s, "-MCPAN"):
				w.simple(c, human.PackageInstall, human.MediumRisk, "cpan")
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
				if language != "perl" && !slices.ContainsFunc(args, func(a arg.Word) bool { return loadsCode.MatchString(a.Text) }) {
					w.harmless(c)
					return handled(out)
				}
			case language == "php" && (s == "-m" || s == "-i" || s == "--ini" || s == "--modules" || s == "--info") && len(args) == 1:
				w.harmless(c)
				return handled(out)
			case language == "javascript" && s == "--test":
				tests = true
			case language == "javascript" && s == "--run" && i+1 < len(args):
				return handled(w.run(append([]arg.Word{arg.Known("npm"), arg.Known("run")}, args[i+1:]...), c.in))
			case len(s) > 1 && s[0] == '-' && s != "-":
				if known, ok := plainOptions()[strings.TrimRight(c.name, "0123456789.")]; ok && !known.MatchString(s) {
					w.simple(c, human.LangExec, human.MediumRisk, "option")
				}
			case tests: // the project's own tests, as under any other program that runs them
			case s == "-" || s == "/dev/stdin":
				if c.in.open {
					w.feed(language, c.in, "code.stdin")
				} else {
					w.simple(c, human.LangExec, human.MediumRisk, "interactive")
				}
				return handled(out)
			default:
				if ranAny { // files that the inline code goes through
					if trimmed := strings.TrimSpace(s); language == "perl" && strings.ContainsAny(trimmed, "|>") { // which <> opens as open does
						if strings.HasPrefix(trimmed, ">") {
							w.writing(arg.Known(strings.Trim(trimmed, "> ")), c.name+".writes")
						} else {
							w.script(strings.Trim(trimmed, "| "), "sh", nil, stream{})
						}
					}
					if edits {
						w.writing(args[i], c.name+".edits")
						w.edited(args[i], arg.Joined(args[:i]))
					} else {
						w.reading(args[i], c.name+".reads")
					}
					continue
				}
				switch {
				case c.name == "bun" || c.name == "deno":
					if commands.Of(c.name) != nil && !strings.ContainsAny(s, "./") {
						packageScripts(w, c)
						return stream{}, false
					}
				case strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://"):
					w.feed(language, stream{taint: arg.FromNetwork}, "code.url")
					return handled(out)
				}
				if language == "powershell" {
					w.windows(arg.Joined(args[i:]).Text)
					return handled(out)
				}
				if tool := entries[path.Base(s)]; tool != "" && w.ownProject(args[i]) {
					w.runsWritten(args[i], language, nil)
					return handled(w.run(append([]arg.Word{arg.Known(tool)}, args[i+1:]...), c.in))
				}
				w.asked(c, args[i+1:])
				w.scriptFile(args[i], language, c)
				return handled(out)
			}
		}
		if tests {
			w.runsAll(c)
			w.simple(c, human.PackageRun, human.LowRisk, "tests")
			return handled(out)
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

// plainOptions are the options of interpreters that change nothing but how code is read and what is printed. Any other may
// write a file, load code or open a port, and is asked about.
var plainOptions = sync.OnceValue(func() map[string]lazy.Regexp {
	node := lazy.Pattern(`^(--(no-)?(warnings|deprecation|addons|experimental-[\w-]+|harmony[\w-]*|enable-source-maps|expose[-_]gc|preserve-symlinks(-main)?|trace-(warnings|deprecation|uncaught|exit)|throw-deprecation|pending-deprecation|permission|allow-fs-read|stack-size|max[-_]old[-_]space[-_]size|max-http-header-size|stack-trace-limit|input-type|unhandled-rejections|dns-result-order|icu-data-dir|interactive|test[\w-]*|watch[\w-]*|inspect-port|title|version|help|v8-options|strip-types|conditions|check|print|eval|env-file-if-exists|disable-warning|force-color|color|use_strict|use-strict|frozen-intrinsics|es-module-specifier-resolution|allow-natives-syntax|noexpose[\w-]*|optimize[\w-]*|max-semi-space-size|zero-fill-buffers|report-uncaught-exception)(=.*)?|-[ipvhC])$`)
	return map[string]lazy.Regexp{
		"node": node, "nodejs": node,
		"python": lazy.Pattern(`^-([bBdEiIOqsSuvVxP]+|[WX].*|-help.*|-version|-check-hash-based-pycs.*)$`),
		"perl":   lazy.Pattern(`^-([wnplaWXTtUucsSEeiIMmFVv0].*|-version|-help|C\w*)$`),
		"ruby":   lazy.Pattern(`^-([wWnplasUKEFxSv0iIrCceT].*|-(disable|enable|yjit|jit|encoding|external-encoding|internal-encoding|verbose|version|help|parser|copyright|debug|backtrace-limit)\b.*)$`),
	}
})

// holdsCode says whether letters of options that are written together have -e among them, before one that takes the rest.
func holdsCode(language, s string) bool {
	takes := map[string]string{"perl": "MmIFDdxVC0", "ruby": "rICFKWxET0"}[language]
	for _, c := range s[1:] {
		switch {
		case c == 'e' || c == 'E' && language == "perl":
			return true
		case strings.ContainsRune(takes, c):
			return false
		}
	}
	return false
}

// loadsCode are options that load code even where a file is only checked.
var loadsCode = lazy.Pattern(`^(-r.*|--require.*|--import.*|--loader.*|-d|-d.*prepend.*|-I.*)$`)

var loadsScript = lazy.Set("-r --require --import --loader --experimental-loader")

// loadedModules is what -M of Perl and -r of Ruby load, as the code that they stand for. Perl itself puts what follows -M into
// its program as it is.
func loadedModules(language string, args []arg.Word) string {
	var b strings.Builder
	for i, a := range args {
		if len(a.Text) < 2 || a.Text[0] != '-' {
			continue
		}
		rest := a.Text[2:]
		if rest == "" && i+1 < len(args) {
			rest = args[i+1].Text
		}
		switch {
		case language == "perl" && (a.Text[1] == 'M' || a.Text[1] == 'm'):
			m, list, some := strings.Cut(rest, "=")
			if some {
				m += " split(/,/,q{" + list + "})"
			}
			b.WriteString("use " + m + ";\n")
		case language == "perl" && a.Text[1] == 'd' && a.Text[2:] != "":
			b.WriteString("use Devel::" + strings.TrimLeft(rest, "t:") + ";\n")
		case a.Text[1] == 'I' && (language == "ruby" || language == "perl"):
			b.WriteString(map[string]string{"ruby": "$LOAD_PATH\n", "perl": "use lib;\n"}[language])
		case language == "ruby" && a.Text[1] == 'r':
			b.WriteString("require \"" + rest + "\"\n")
		}
	}
	return b.String()
}

// entries are the scripts that frameworks put into each project. What one does follows from its arguments, as long as it was
// not changed.
var entries = map[string]string{"manage.py": "django-admin", "artisan": "artisan", "console": "symfony-console"}

func (w *walker) ownProject(v arg.Word) bool {
	p, _ := w.placeOf(v, w.dir)
	return v.Known() && p == paths.InProject
}

// timed is the program that timeit runs: what is set up, and the lines of its statement.
func timed(args []arg.Word) arg.Word {
	all := arg.Word{Quoted: true}
	add := func(v arg.Word) {
		all.Text, all.Taint = all.Text+v.Text+"\n", all.Taint|v.Taint
	}
	for i := 0; i < len(args); i++ {
		switch s := args[i].Text; {
		case (s == "-s" || s == "--setup") && i+1 < len(args):
			i++
			add(args[i])
		case strings.HasPrefix(s, "--setup="):
			add(arg.Word{Text: s[len("--setup="):]})
		case strings.HasPrefix(s, "-s") && len(s) > 2:
			add(arg.Word{Text: s[2:]})
		case s == "-n" || s == "-r" || s == "-u" || s == "--number" || s == "--repeat" || s == "--unit":
			i++
		case !strings.HasPrefix(s, "-"):
			add(args[i])
		}
	}
	return all
}

// module is python -m.
func (w *walker) module(c *cmd, args []arg.Word) {
	name := args[0].Text
	switch name {
	case "pip", "pytest", "black", "ruff", "mypy", "isort", "flake8", "pylint", "coverage", "uv", "poetry", "virtualenv", "twine", "tox", "nox", "ansible", "pre_commit", "pipx", "build", "unittest":
		if commands.Of(name) != nil {
			w.run(append([]arg.Word{arg.Known(name)}, args[1:]...), c.in)
			return
		}
		w.simple(c, human.PackageRun, human.LowRisk, "module")
	case "json.tool", "this", "calendar", "platform", "site", "sysconfig", "tabnanny", "tokenize", "ast", "dis", "inspect", "pydoc", "timeit", "symtable":
		if name == "timeit" {
			w.code("python", timed(args[1:]))
		}
		if name == "json.tool" && len(args) > 2 && !strings.HasPrefix(args[len(args)-1].Text, "-") && !strings.HasPrefix(args[len(args)-2].Text, "-") {
			w.writing(args[len(args)-1], "python3.writes")
			return
		}
		if name == "timeit" {
			w.simple(c, human.PackageRun, human.LowRisk, "module")
			return
		}
		w.harmless(c)
	case "http.server":
		for i, a := range args {
			if (a.Text == "-d" || a.Text == "--directory") && i+1 < len(args) {
				if p, _ := w.placeOf(args[i+1], w.dir); p > paths.Unknown {
					w.simple(c, human.SecurityWeakening, human.HighRisk, "shows_files")
				}
			}
		}
		w.simple(c, human.PackageRun, human.LowRisk, "module")
	case "pdb", "cProfile", "profile", "trace", "runpy":
		o, rest := commands.Parse(args[1:], lazy.Words("-c --command -o --outfile -s --sort -C --coverdir --ignore-module --ignore-dir"), false, true)
		if name == "pdb" && o.Has("-c", "--command") {
			w.simple(c, human.LangExec, human.MediumRisk, "module")
		}
		w.simple(c, human.PackageRun, human.LowRisk, "module")
		if len(rest) > 0 {
			w.scriptFile(rest[0], "python", c)
		}
	case "compileall", "zipfile", "tarfile":
		w.simple(c, human.PackageRun, human.LowRisk, "module")
		for _, a := range args[1:] {
			w.outside(a, "python3.writes")
		}
	case "venv", "py_compile", "ensurepip", "doctest", "sphinx", "mkdocs", "django", "flask", "uvicorn", "gunicorn":
		w.simple(c, human.PackageRun, human.LowRisk, "module")
	default:
		if s := strings.ReplaceAll(name, "_", "-"); commands.Of(s) != nil && !noHelp()[s] {
			w.run(append([]arg.Word{arg.Known(s)}, args[1:]...), c.in)
			return
		}
		// A module of the project, which may have been written just now.
		file := arg.Word{Text: strings.ReplaceAll(name, ".", "/"), Quoted: true}
		for _, end := range []string{".py", "/__main__.py"} {
			f := file
			f.Text += end
			if w.runsWritten(f, "python", nil) {
				break
			}
		}
		w.simple(c, human.LangExec, human.MediumRisk, "module")
	}
}

func java(w *walker, c *cmd) (stream, bool) {
	for i, a := range c.args {
		if a.Text == "-jar" && i+1 < len(c.args) {
			if path.Base(c.args[i+1].Text) == "jenkins-cli.jar" {
				return handled(w.run(append([]arg.Word{arg.Known("jenkins-cli")}, c.args[i+2:]...), c.in))
			}
		}
	}
	return stream{}, false
}

// transfers are programs that take their commands from a file or a pipe, and carry them out on another machine.
func transfers(w *walker, c *cmd) (stream, bool) {
	texts := []string{}
	for i, a := range c.args {
		if (a.Text == "-e" || a.Text == "-c") && i+1 < len(c.args) && c.name != "sftp" {
			texts = append(texts, c.args[i+1].Text)
		}
	}
	if c.in.open {
		if !c.in.known {
			w.simple(c, human.NetworkWrite, human.HighRisk, "script")
		}
		texts = append(texts, c.in.text)
	}
	for _, text := range texts {
		for _, one := range strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == ';' || r == '&' }) {
			words := strings.Fields(strings.TrimLeft(one, " -@"))
			if len(words) == 0 {
				continue
			}
			switch verb := words[0]; {
			case strings.HasPrefix(verb, "!"):
				w.script(strings.TrimLeft(strings.TrimSpace(one), "!"), "sh", nil, stream{})
			case loses(verb), verb == "mdelete", verb == "mdel", verb == "mrm", verb == "deltree", verb == "glob":
				w.simple(c, human.NetworkWrite, human.HighRisk, "deletes")
			case verb == "mirror" && strings.Contains(one, "--delete"), verb == "mirror" && strings.Contains(one, "-e"):
				w.simple(c, human.NetworkWrite, human.HighRisk, "deletes")
			case verb == "ls", verb == "dir", verb == "pwd", verb == "cd", verb == "lcd", verb == "lpwd", verb == "lls", verb == "bye", verb == "quit", verb == "exit", verb == "help", verb == "open", verb == "user", verb == "binary", verb == "df", verb == "version", verb == "set":
			case verb == "get", verb == "mget", verb == "reget":
				w.simple(c, human.FilesystemWrite, human.LowRisk, "gets")
			default:
				w.simple(c, human.NetworkWrite, human.MediumRisk, "sends")
			}
		}
	}
	return stream{}, false
}
