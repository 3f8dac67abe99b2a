package shell

import (
	"path"
	"slices"
	"strings"

	"deskbell/backend/gate/lazy"
	"deskbell/backend/gate/shell/arg"
	"deskbell/backend/gate/shell/commands"
	"deskbell/backend/human"
)

func cd(w *walker, c *cmd) (stream, bool) {
	w.harmless(c)
	o, _ := commands.Parse(c.args, nil, false, false)
	to := arg.Word{Text: w.home}
	if len(o.Words) > 0 {
		to = o.Words[0]
	}
	if to.Text == "-" || c.name == "popd" || strings.Contains(to.Text, "*") {
		to = arg.Word{Text: arg.Unknown}
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
func (w *walker) moved(to arg.Word, from string) string {
	if abs, ok := w.resolve(to, from); ok && to.Known() {
		return abs
	}
	return arg.Unknown
}

func eval(w *walker, c *cmd) (stream, bool) {
	args := c.args
	if len(args) > 0 && args[0].Text == "--" {
		args = args[1:]
	}
	v := arg.Joined(args)
	if v.Taint&arg.FromNetwork != 0 {
		w.unseen(v, "eval.unknown")
	} else if !v.Known() && strings.Trim(v.Text, arg.Unknown+" ") == "" {
		if v.Taint&arg.FromDecoder != 0 {
			w.unseen(v, "eval.unknown")
		}
		w.emit(human.Effect{Verb: human.LangExec, Resource: w.shown(c), Certainty: human.Possible, Risk: human.HighRisk, Reversibility: human.Irreversible, Blast: human.MachineBlast, Rule: "eval.unknown"})
		return handled(stream{})
	}
	if v.Taint&arg.FromDecoder != 0 && v.Known() {
		w.emit(human.Effect{Verb: human.ObfuscatedEffect, Resource: clip(v.Text), Risk: human.HighRisk, Reversibility: human.Irreversible, Blast: human.MachineBlast, Rule: "shell.decoded_run"})
	}
	return handled(w.script(v.Text, "bash", nil, c.in))
}

func source(w *walker, c *cmd) (stream, bool) {
	args := c.args
	if len(args) > 0 && args[0].Text == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		w.harmless(c)
		return handled(stream{})
	}
	if (args[0].Text == "/dev/stdin" || args[0].Text == "-") && c.in.open {
		w.feed("sh", c.in, "source.stdin")
		return handled(stream{})
	}
	if f, ok := w.file(args[0]); ok {
		w.feed("sh", f, "shell.written_script")
		return handled(stream{})
	}
	if s := args[0].Text; strings.HasSuffix(s, "/bin/activate") || s == "activate" {
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
		if name, text, ok := strings.Cut(a.Text, "="); ok && len(w.aliases) < 200 {
			w.aliases[name] = arg.Word{Text: text, Taint: a.Taint}
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
		switch c.args[0].Text {
		case "-l", "-L", "--list", "--table":
			w.harmless(c)
			return handled(stream{})
		}
	}
	to, signal := c.args, ""
	if len(to) > 1 && to[0].Text == "-s" {
		to, signal = to[2:], to[1].Text
	} else if len(to) > 0 && strings.HasPrefix(to[0].Text, "-") {
		to, signal = to[1:], to[0].Text[1:]
	}
	switch {
	case len(to) == 0:
	case signal == "0": // sends nothing: asks whether it runs
		w.harmless(c)
		return handled(stream{})
	case !slices.ContainsFunc(to, func(v arg.Word) bool { return !ownJob(v) }):
		w.simple(c, human.ProcessSignal, human.LowRisk, "own_job")
		return handled(stream{})
	}
	return stream{}, false
}

// ownJob says whether what is to be stopped was started by the shell that stops it.
func ownJob(v arg.Word) bool {
	return v.Text == arg.Job && v.Taint == arg.OfJob || len(v.Text) > 1 && v.Text[0] == '%' && v.Known()
}

// readsCommand is a builtin that gets a command to run later, or the place of one.
func readsCommand(w *walker, c *cmd) (stream, bool) {
	o, _ := commands.Parse(c.args, lazy.Words("-C -F -W -p -f"), false, false)
	switch {
	case c.name == "complete" || c.name == "compgen":
		if v := o.Flags["-C"]; v.Text != "" {
			w.script(v.Text, "sh", nil, stream{})
		}
		if v := o.Flags["-W"]; v.Text != "" {
			w.expandText(v.Text)
		}
		if f := o.Flags["-F"]; f.Text != "" && len(w.funcs[f.Text]) > 0 {
			w.run([]arg.Word{f}, stream{})
		}
	case c.name == "bind" && o.Has("-x"):
		for _, a := range c.args {
			if _, text, ok := strings.Cut(a.Text, ":"); ok {
				w.script(strings.Trim(text, " \"'"), "sh", nil, stream{})
			}
		}
	case c.name == "jobs" && o.Has("-x"):
		w.run(o.Words, c.in)
	case c.name == "history" && o.Has("-s"), c.name == "fc" && (o.Has("-s", "-e") || len(c.args) == 0):
		w.script(arg.Joined(o.Words).Text, "bash", nil, stream{})
	case c.name == "hash" && o.Has("-p"), c.name == "enable" && o.Has("-f"):
		w.simple(c, human.LangExec, human.HighRisk, "replaces_command")
	}
	return stream{}, false
}

// located prints a place or a part of one, which is known where what it is given is.
func located(w *walker, c *cmd) (stream, bool) {
	out := w.apply(c)
	for _, a := range c.args {
		out.taint |= a.Taint
	}
	o, _ := commands.Parse(c.args, nil, false, false)
	v := arg.Word{Text: w.dir, Quoted: true}
	if c.name != "pwd" {
		if len(o.Words) != 1 || o.Has("-a", "-s", "--relative-to", "--relative-base") {
			return handled(out)
		}
		v = o.Words[0]
	}
	if !v.Known() || v.Glob || strings.HasPrefix(w.dir, arg.Unknown) || len(w.otherDirs) > 0 {
		return handled(out)
	}
	switch c.name {
	case "realpath", "readlink":
		if c.name == "readlink" && !o.Has("-f", "-e", "-m", "--canonicalize", "--canonicalize-existing", "--canonicalize-missing") {
			return handled(out)
		}
		v.Text, _ = w.resolve(v, w.dir)
	case "dirname":
		v.Text = path.Dir(v.Text)
	case "basename":
		v.Text = path.Base(v.Text)
	}
	return handled(stream{text: v.Text + "\n", known: true, taint: out.taint &^ arg.MadeHere})
}

// calculator is dc, which runs what follows an exclamation mark.
func calculator(w *walker, c *cmd) (stream, bool) {
	texts := []string{c.in.text}
	for _, a := range c.args {
		texts = append(texts, a.Text)
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
		switch v.Text {
		case "-v", "-R", "-eq", "-ne", "-lt", "-le", "-gt", "-ge":
			evaluates = true
		}
	}
	for _, v := range c.args {
		if evaluates {
			w.arithText(v.Text)
		}
	}
	return handled(stream{known: true})
}

func lets(w *walker, c *cmd) (stream, bool) { return test(w, c) }
