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

// What a project runs, its builders and tests run out of its files. Where a script has written such a file and then runs the
// project, what it wrote is judged: code as code, settings by the commands in them. The files are known by their names.

// buildsFrom are programs that read the project's files as code even where they are said to look only.
var buildsFrom = lazy.Set("terraform tofu terragrunt nix nix-shell nix-build bundle composer pre-commit sphinx-build")

// runsWhatWasWritten judges what this script has written into files that a command of the project's may run. ran is how
// often something was run before the command, writes how many files were written.
func (w *walker) runsWhatWasWritten(c *cmd, ran, writes int) {
	if w.ranCode == ran && !buildsFrom()[c.name] {
		return
	}
	if w.ranCode != ran && !judgesArguments(c.name) {
		w.suspectsArguments(c)
	}
	if len(w.files) == 0 {
		return
	}
	named := map[string]bool{}
	for _, a := range c.args {
		text := a.Text
		if _, v, ok := strings.Cut(text, "="); ok {
			text = v
		}
		if abs, ok := w.resolve(arg.Word{Text: strings.TrimPrefix(text, "@"), Quoted: true}, w.dir); ok {
			named[abs] = true
		}
	}
	for _, name := range sortedKeys(w.files) {
		f := w.files[name]
		inside := strings.HasPrefix(name, w.dir+"/") || strings.HasPrefix(name, w.root+"/")
		if f.built || f.from != "" || f.at > writes || !inside && !named[name] || strings.HasPrefix(name, "/dev/") || !w.step(4) {
			continue
		}
		w.judgeWritten(name, f, named[name])
	}
}

// judgesArguments says whether what a program is given to run has been judged where it was run.
func judgesArguments(name string) bool {
	s := commands.Of(name)
	return handlers()[name] != nil || isShell(name) || s == nil || s.Wrap >= 0 || s.Runs(false)
}

// suspectsArguments looks for commands in what a program that runs code is given, where its entry does not say that it takes
// some: in its arguments, but for those that are text, and in what it reads.
func (w *walker) suspectsArguments(c *cmd) {
	for i, a := range c.args {
		switch {
		case i > 40 || i > 0 && textOptions()[c.args[i-1].Text]:
		case dangerousNames()[a.Text] && i+1 < len(c.args) && strings.Contains(c.args[0].Text, "-"):
			w.doubtful(func() { w.run(c.args[i:], stream{}) })
		case len(a.Text) > 3 && strings.ContainsAny(a.Text, " (=") && a.Known():
			_, rest, ok := strings.Cut(a.Text, "=")
			if !ok || !strings.HasPrefix(a.Text, "-") {
				rest = a.Text
			}
			w.suspects(rest)
		}
	}
	if c.in.open && c.in.known {
		w.suspects(c.in.text)
	}
}

// doubtful goes through what may be no command at all.
func (w *walker) doubtful(run func()) {
	before := w.unsure
	w.unsure = true
	run()
	w.unsure = before
}

func (w *walker) judgeWritten(name string, f stream, named bool) {
	kind := recipes.Kind(name)
	switch {
	case kind == "text":
	case f.taint&arg.FromNetwork != 0:
		if kind != "" && kind != "settings" {
			w.feed(kind, f, "shell.changed_file")
		}
	case f.edited && f.text != "" || f.known && kind == "settings":
		w.suspects(f.text)
		if f.edited && strings.Contains(f.text, "scripts") { // of package.json or composer.json, which run by themselves
			w.changedFile(arg.Known(name))
		}
		if f.edited && wellKnown()[kind] {
			w.source(kind, arg.Known(f.text))
		}
	case kind == "" && !named || kind == "settings":
	case kind == "go" && strings.Contains(f.text, "//go:generate "):
		for line := range strings.Lines(f.text) {
			if text, ok := strings.CutPrefix(line, "//go:generate "); ok {
				w.script(strings.TrimRight(text, "\n"), "sh", nil, stream{})
			}
		}
		w.feed(kind, f, "shell.changed_file")
	case kind == "build" || kind == "" || !f.known:
		if f.known && strings.HasSuffix(name, "CMakeLists.txt") && recipes.OnlyBuilds(f.text) {
			break
		}
		w.suspects(f.text)
		w.changedFile(arg.Known(name))
	default:
		w.feed(kind, f, "shell.changed_file")
	}
}

var (
	quotedText = lazy.Pattern(`"([^"\n]{3,})"|'([^'\n]{3,})'|` + "`([^`\n]{3,})`")
	listOfText = lazy.Pattern(`\[[^\[\]\n]*\]`)
	wordOfText = lazy.Pattern(`[A-Za-z_][\w.-]*`)
)

// suspects looks for commands in text that is no script, such as settings: what stands in quotes, in a list, behind a colon,
// and from any word on that names a program that does much. What it does not know it does not ask about.
func (w *walker) suspects(text string) {
	if len(text) > MaxScript {
		w.opaque("shell.too_much", "thing_too_large")
		return
	}
	w.depth++
	defer func() { w.depth-- }()
	try := func(s string) {
		s = strings.TrimSpace(s)
		first, _, _ := strings.Cut(s, " ")
		if dangerousNames()[path.Base(first)] && w.depth < maxDepth && w.step(4) {
			before := w.save()
			w.doubtful(func() { w.script(s, "sh", nil, stream{}) })
			w.restore(before)
		}
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		for _, list := range listOfText.FindAllStringSubmatch(line, 4) {
			var words []arg.Word
			for _, m := range quotedText.FindAllStringSubmatch(list[0], 20) {
				words = append(words, arg.Known(m[1]+m[2]+m[3]))
			}
			if len(words) > 1 && dangerousNames()[path.Base(words[0].Text)] {
				w.doubtful(func() { w.run(words, stream{}) })
			}
		}
		for _, m := range quotedText.FindAllStringSubmatch(strings.ReplaceAll(line, `\"`, "'"), 20) {
			try(m[1] + m[2] + m[3])
		}
		for n, at := range wordOfText.FindAllStringIndex(line, 60) {
			if word := line[at[0]:at[1]]; n < 60 && dangerousNames()[word] {
				rest := line[at[0]:]
				if end := strings.IndexAny(rest, "\"'`)]}"); end > 0 {
					try(rest[:end])
				} else {
					try(rest)
				}
			}
		}
	}
}

// changedFile is code that is run after it was changed in a way that is known only when it runs.
func (w *walker) changedFile(name arg.Word) {
	w.emit(human.Effect{Verb: human.LangExec, Resource: name.Shown(), Certainty: human.Possible, Risk: human.MediumRisk, Reversibility: human.Costly, Blast: human.MachineBlast, Rule: "shell.changed_file"})
}
