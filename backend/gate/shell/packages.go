package shell

import (
	"path"
	"strings"

	"deskbell/backend/gate/lazy"
	"deskbell/backend/gate/shell/arg"
	"deskbell/backend/gate/shell/commands"
	"deskbell/backend/gate/shell/recipes"
	"deskbell/backend/human"
)

func uv(w *walker, c *cmd) (stream, bool) {
	values := lazy.Words("--with --python -p --group --extra --env-file --directory --project --from --package --index-url --with-requirements --with-editable --no-group --only-group --index -w --config-file --cache-dir --refresh-package --color")
	_, rest := commands.Parse(c.args, values, false, true)
	if len(rest) > 0 && rest[0].Text == "run" {
		o, cmdline := commands.Parse(rest[1:], values, false, true)
		if o.Has("-m", "--module") && len(cmdline) > 0 {
			w.module(c, cmdline)
			return handled(stream{})
		}
		if len(cmdline) == 0 {
			w.simple(c, human.PackageRun, human.LowRisk, "nothing")
			return handled(stream{})
		}
		if o.Has("--with", "-w", "--with-requirements") {
			w.simple(c, human.PackageInstall, human.LowRisk, "with")
		}
		return handled(w.run(cmdline, c.in))
	}
	if len(rest) > 1 && rest[0].Text == "pip" {
		sub := rest[1].Text
		if sub == "compile" || sub == "sync" || sub == "tree" {
			return stream{}, false
		}
		return handled(w.run(append([]arg.Word{arg.Known("pip")}, rest[1:]...), c.in))
	}
	if len(rest) > 1 && rest[0].Text == "tool" && rest[1].Text == "run" {
		return npx(w, &cmd{name: "uvx", args: rest[2:], in: c.in})
	}
	return stream{}, false
}

// npx and its like fetch a package, where it is not there yet, and run it.
func npx(w *walker, c *cmd) (stream, bool) {
	w.tasks(c)
	o, rest := commands.Parse(c.args, lazy.Words("-p --package -c --call --from --with --python --registry"), false, true)
	for _, n := range []string{"-c", "--call"} {
		if v, ok := o.Flags[n]; ok {
			w.simple(c, human.PackageRun, human.LowRisk, "runs")
			return handled(w.script(v.Text, "sh", nil, c.in))
		}
	}
	if len(rest) == 0 {
		if o.Has("--help", "--version", "-h", "-v") {
			w.harmless(c)
		} else {
			w.simple(c, human.PackageRun, human.MediumRisk, "runs")
		}
		return handled(stream{})
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(rest[0].Text, "@"), "@")
	if commands.Of(name) != nil || handlers()[name] != nil {
		w.simple(c, human.PackageRun, human.LowRisk, "runs")
		return handled(w.run(append([]arg.Word{arg.Known(name)}, rest[1:]...), c.in))
	}
	risk := human.MediumRisk
	if o.Has("--no-install") {
		risk = human.LowRisk
	}
	w.simple(c, human.PackageRun, risk, "runs")
	return handled(stream{taint: arg.MadeHere})
}

// make_ runs targets; some names of targets tell what they do.
func make_(w *walker, c *cmd) (stream, bool) {
	o, _ := commands.Parse(c.args, lazy.Words("-f --file --makefile -C --directory -I -o -W --eval -E --justfile --working-directory --set"), false, false)
	if v, ok := o.Flags["--eval"]; ok {
		w.script(v.Text, "sh", nil, stream{})
	}
	if v, ok := o.Flags["-E"]; ok {
		w.script(v.Text, "sh", nil, stream{})
	}
	for i, a := range c.args {
		if c.name == "just" && (a.Text == "-c" || a.Text == "--command") && i+1 < len(c.args) {
			if strings.ContainsRune(c.args[i+1].Text, ' ') {
				w.script(c.args[i+1].Text, "sh", nil, c.in)
			} else {
				w.run(c.args[i+1:], c.in)
			}
		}
	}
	for _, n := range []string{"-f", "--file", "--makefile", "--justfile"} {
		if v, ok := o.Flags[n]; ok && (v.Text == "-" || strings.HasPrefix(v.Text, "/dev/")) {
			w.unseen(v, "make.piped")
		}
	}
	w.makeVariables(&o)
	if o.Has("-n", "--dry-run", "--just-print", "--recon", "-q", "--question", "--version", "-v", "--help", "-h", "--list", "-l", "--summary", "--dump", "--show", "--evaluate") && !o.Has("--eval", "-E") {
		w.simple(c, human.PackageRun, human.NoRisk, "shows")
		return handled(stream{})
	}
	w.simple(c, human.PackageRun, human.LowRisk, "builds")
	w.makes(c, &o)
	for _, v := range o.Words {
		name := strings.ToLower(v.Text)
		if key, val, ok := strings.Cut(v.Text, "="); ok {
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

// makeVariables judges variables that are given to make: what they run as they are read, and programs that they name.
func (w *walker) makeVariables(o *commands.Options) {
	for _, v := range o.Words {
		if key, value, ok := strings.Cut(v.Text, "="); ok {
			if strings.Contains(value, "$(shell") {
				w.script(strings.TrimSuffix(strings.TrimPrefix(value, "$(shell "), ")"), "sh", nil, stream{})
			}
			w.variable(key, arg.Word{Text: value, Taint: v.Taint, Quoted: true})
			if strings.HasPrefix(value, "/") && len(key) <= 3 { // CC, CXX, AR
				w.loads("program", arg.Word{Text: value, Quoted: true}, "make.loads")
			}
		}
	}
}

// makes judges a Makefile or justfile that was changed, by the targets that are made.
func (w *walker) makes(c *cmd, o *commands.Options) {
	dir := ""
	for _, n := range []string{"-C", "--directory", "--working-directory"} {
		if v, ok := o.Flags[n]; ok && v.Text != "" && c.name != "just" {
			dir = strings.TrimRight(v.Text, "/") + "/"
		}
	}
	names := []string{"GNUmakefile", "makefile", "Makefile"}
	if c.name == "just" {
		names = []string{"justfile", "Justfile", ".justfile"}
	}
	for _, n := range []string{"-f", "--file", "--makefile", "--justfile"} {
		if v, ok := o.Flags[n]; ok && v.Text != "" {
			names = []string{v.Text}
			w.runsOutside(v, c)
		}
	}
	var targets []string
	for _, v := range o.Words {
		if !strings.Contains(v.Text, "=") {
			targets = append(targets, v.Text)
		}
	}
	for _, n := range names {
		pick := func(text string) string { return recipes.Makefile(text, targets) }
		if c.name == "just" {
			pick = func(text string) string { return recipes.Justfile(text, targets) }
		}
		file := arg.Word{Text: dir + n, Quoted: true}
		changed := w.runsWritten(file, "sh", pick)
		w.includes(file, dir, pick, 0)
		if changed {
			break
		}
	}
	w.runsAll(c)
}

// maxIncluded is how deep files that makefiles include are followed.
const maxIncluded = 4

// includes judges the files that a makefile includes, where they were changed.
func (w *walker) includes(file arg.Word, dir string, pick func(string) string, depth int) {
	if w.evidence == nil || depth >= maxIncluded {
		return
	}
	text := ""
	if s, ok := w.file(file); ok {
		text = s.text
	} else if target, ok := w.rests(file); ok {
		text, _ = w.evidence.Text(target)
	}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(line, "\t") {
			continue
		}
		switch words[0] {
		case "include", "-include", "sinclude", "import", "import?":
		default:
			continue
		}
		for _, name := range words[1:] {
			name = strings.Trim(name, "\"'")
			if strings.HasPrefix(name, "#") {
				break
			}
			if name == "" || strings.ContainsAny(name, "$*?[") || !w.step(1) {
				continue
			}
			if !path.IsAbs(name) {
				name = dir + name
			}
			one := arg.Word{Text: name, Quoted: true}
			w.runsWritten(one, "sh", pick)
			w.includes(one, dir, pick, depth+1)
		}
	}
}

// goTool runs the tests or the program of a project; of a file that is named, its text tells what it does.
func goTool(w *walker, c *cmd) (stream, bool) {
	o, _ := commands.Parse(c.args, commands.Of("go").Values, true, false)
	if len(o.Words) == 0 {
		return stream{}, false
	}
	switch o.Words[0].Text {
	case "run":
		if c.in.open && len(o.Words) > 1 && (o.Words[1].Text == "-" || o.Words[1].Text == "/dev/stdin") {
			w.feed("go", c.in, "code.stdin")
		}
		files := false
		for _, v := range o.Words[1:] {
			if !strings.HasSuffix(v.Text, ".go") {
				if !files {
					w.runsWritten(arg.Word{Text: strings.TrimRight(v.Text, "/") + "/main.go", Quoted: true}, "go", nil)
				}
				break
			}
			files = true
			w.scriptFile(v, "go", c)
		}
		w.runsAll(&cmd{})
	case "test", "generate", "tool":
		w.runsAll(c)
	}
	return stream{}, false
}
