package shell

import (
	"path"
	"slices"
	"strings"

	"deskbell/backend/gate/lazy"
	"deskbell/backend/human"
)

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
	// A cd that fails leaves the shell where it was.
	was := w.cwds()
	w.dir, w.otherDirs = w.moved(to, was[0]), nil
	for _, dir := range was[1:] {
		w.mayBeIn(w.moved(to, dir))
	}
	for _, dir := range was {
		w.mayBeIn(dir)
	}
	return handled(stream{known: true})
}

// moved is where cd goes to from a folder.
func (w *walker) moved(to value, from string) string {
	if abs, ok := w.resolve(to, from); ok && to.known() {
		return abs
	}
	return unknown
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
		w.rests(args[0])
		w.simple(c, human.LangExec, human.LowRisk, "virtualenv")
		return handled(stream{})
	}
	w.scriptFile(args[0], "sh", c)
	return handled(stream{})
}

func alias(w *walker, c *cmd) (stream, bool) {
	w.harmless(c)
	for _, a := range c.args {
		if name, text, ok := strings.Cut(a.s, "="); ok && len(w.aliases) < 200 {
			w.aliases[name] = value{s: text, taint: a.taint}
			before := w.save()
			w.script(text, "bash", nil, stream{})
			w.restore(before)
		}
	}
	return handled(stream{})
}

// kill lists signals or sends one; what comes after the signal is no option, so that -KILL is not -l.
func kill(w *walker, c *cmd) (stream, bool) {
	if len(c.args) > 0 {
		switch c.args[0].s {
		case "-l", "-L", "--list", "--table":
			w.harmless(c)
			return handled(stream{})
		}
	}
	to, signal := c.args, ""
	if len(to) > 1 && to[0].s == "-s" {
		to, signal = to[2:], to[1].s
	} else if len(to) > 0 && strings.HasPrefix(to[0].s, "-") {
		to, signal = to[1:], to[0].s[1:]
	}
	switch {
	case len(to) == 0:
	case signal == "0": // sends nothing: asks whether it runs
		w.harmless(c)
		return handled(stream{})
	case !slices.ContainsFunc(to, func(v value) bool { return !ownJob(v) }):
		w.simple(c, human.ProcessSignal, human.LowRisk, "own_job")
		return handled(stream{})
	}
	return stream{}, false
}

// ownJob says whether what is to be stopped was started by the shell that stops it.
func ownJob(v value) bool {
	return v.s == job && v.taint == ofJob || len(v.s) > 1 && v.s[0] == '%' && v.known()
}

// readsCommand is a builtin that gets a command to run later, or the place of one.
func readsCommand(w *walker, c *cmd) (stream, bool) {
	o, _ := parse(c.args, lazy.Words("-C -F -W -p -f"), false, false)
	switch {
	case c.name == "complete" || c.name == "compgen":
		if v := o.flags["-C"]; v.s != "" {
			w.script(v.s, "sh", nil, stream{})
		}
		if v := o.flags["-W"]; v.s != "" {
			w.expandText(v.s)
		}
		if f := o.flags["-F"]; f.s != "" && len(w.funcs[f.s]) > 0 {
			w.run([]value{f}, stream{})
		}
	case c.name == "bind" && o.has("-x"):
		for _, a := range c.args {
			if _, text, ok := strings.Cut(a.s, ":"); ok {
				w.script(strings.Trim(text, " \"'"), "sh", nil, stream{})
			}
		}
	case c.name == "jobs" && o.has("-x"):
		w.run(o.words, c.in)
	case c.name == "history" && o.has("-s"), c.name == "fc" && (o.has("-s", "-e") || len(c.args) == 0):
		w.script(joined(o.words).s, "bash", nil, stream{})
	case c.name == "hash" && o.has("-p"), c.name == "enable" && o.has("-f"):
		w.simple(c, human.LangExec, human.HighRisk, "replaces_command")
	}
	return stream{}, false
}

// located prints a place or a part of one, which is known where what it is given is.
func located(w *walker, c *cmd) (stream, bool) {
	out := w.apply(c)
	for _, a := range c.args {
		out.taint |= a.taint
	}
	o, _ := parse(c.args, nil, false, false)
	v := value{s: w.dir, quoted: true}
	if c.name != "pwd" {
		if len(o.words) != 1 || o.has("-a", "-s", "--relative-to", "--relative-base") {
			return handled(out)
		}
		v = o.words[0]
	}
	if !v.known() || v.glob || strings.HasPrefix(w.dir, unknown) || len(w.otherDirs) > 0 {
		return handled(out)
	}
	switch c.name {
	case "realpath", "readlink":
		if c.name == "readlink" && !o.has("-f", "-e", "-m", "--canonicalize", "--canonicalize-existing", "--canonicalize-missing") {
			return handled(out)
		}
		v.s, _ = w.resolve(v, w.dir)
	case "dirname":
		v.s = path.Dir(v.s)
	case "basename":
		v.s = path.Base(v.s)
	}
	return handled(stream{text: v.s + "\n", known: true, taint: out.taint &^ madeHere})
}

// calculator is dc, which runs what follows an exclamation mark.
func calculator(w *walker, c *cmd) (stream, bool) {
	texts := []string{c.in.text}
	for _, a := range c.args {
		texts = append(texts, a.s)
	}
	for _, text := range texts {
		if _, after, ok := strings.Cut(text, "!"); ok && after != "" && strings.IndexByte("<>=", after[0]) < 0 {
			w.simple(c, human.LangExec, human.MediumRisk, "runs")
			w.script(after, "sh", nil, stream{})
		}
	}
	return stream{}, false
}

// quiet is a command that does nothing and prints nothing.
func quiet(w *walker, c *cmd) (stream, bool) {
	w.harmless(c)
	return handled(stream{known: true})
}

func test(w *walker, c *cmd) (stream, bool) {
	w.harmless(c)
	evaluates := c.name == "let"
	for _, v := range c.args {
		switch v.s {
		case "-v", "-R", "-eq", "-ne", "-lt", "-le", "-gt", "-ge":
			evaluates = true
		}
	}
	for _, v := range c.args {
		if evaluates {
			w.arithText(v.s)
		}
	}
	return handled(stream{known: true})
}

func lets(w *walker, c *cmd) (stream, bool) { return test(w, c) }
