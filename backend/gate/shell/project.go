package shell

import (
	"path"
	"slices"
	"strings"

	"deskbell/backend/gate/lazy"
	"deskbell/backend/gate/shell/arg"
	"deskbell/backend/gate/shell/commands"
	"deskbell/backend/gate/shell/paths"
	"deskbell/backend/gate/shell/recipes"
)

// What programs of a project run stands in its files: package.json, Makefile, tests. Where the agent has just written such
// a file, running the program runs what the agent wrote, which is judged like any command of its own.

// written returns a file's text, where this script or the agent's session has changed it, or may have. changed is false for
// a file as its project has it. all says that every effect of the text is the agent's own; else the file is only known to
// differ from what is in a commit, or not known at all.
func (w *walker) written(name arg.Word) (s stream, changed, all bool) {
	if f, ok := w.file(name); ok {
		return f, true, true
	}
	if w.evidence == nil || !name.Known() {
		return stream{}, false, false
	}
	target, ok := w.rests(name)
	if !ok {
		return stream{}, false, false
	}
	state := w.evidence.File(target)
	switch state {
	case MadeHere, Precious, Unseen, NotKnown: // of one that no time was left for, it is not known whose it is
		text, ok := w.evidence.Text(target)
		return stream{text: text, known: ok}, true, state == MadeHere
	}
	return stream{}, false, false
}

// rests tells the watcher of a file whose text says what runs, and returns where it is; ok is false where that is not known.
func (w *walker) rests(name arg.Word) (target string, ok bool) {
	if !name.Known() {
		return "", false
	}
	p, target := w.placeOf(name, w.dir)
	if p == paths.Unknown || strings.ContainsAny(target, "*?[…") {
		return "", false
	}
	if w.watcher != nil && path.IsAbs(target) {
		w.watcher.Rests(target)
	}
	return target, true
}

// runsWritten goes through a file that a program runs, if it was changed; pick chooses what of its text is run.
func (w *walker) runsWritten(name arg.Word, language string, pick func(text string) string) bool {
	s, changed, all := w.written(name)
	if !changed {
		return false
	}
	if !s.known && s.taint&arg.FromNetwork == 0 {
		w.changedFile(name)
		return true
	}
	if pick != nil && s.known {
		s.text = pick(s.text)
	}
	before := w.unsure
	w.unsure = w.unsure || !all
	w.feed(language, s, "shell.changed_file")
	w.unsure = before
	return true
}

// packageScripts looks at what npm and its like run of package.json: scripts by name, and those of installing.
func packageScripts(w *walker, c *cmd) (stream, bool) {
	o, _ := commands.Parse(c.args, lazy.Words("--prefix -C --registry -w --workspace --filter --cwd --dir --loglevel --userconfig --cache"), false, false)
	file := arg.Word{Text: "package.json", Quoted: true}
	for _, n := range []string{"--prefix", "-C", "--cwd", "--dir"} {
		if v, ok := o.Flags[n]; ok && v.Text != "" {
			file.Text = strings.TrimRight(v.Text, "/") + "/package.json"
		}
	}
	if len(o.Words) == 0 && c.name != "yarn" {
		return stream{}, false
	}
	var names []string
	sub := "install"
	if len(o.Words) > 0 {
		sub = o.Words[0].Text
	}
	switch sub {
	case "run", "run-script", "rum", "urn":
		if len(o.Words) > 1 {
			names = []string{o.Words[1].Text}
		}
	case "t", "tst":
		names = []string{"test"}
	case "install", "i", "ci", "add", "it", "cit", "rebuild", "rb", "clean-install", "install-test", "link", "in":
		names = []string{"preinstall", "install", "postinstall", "prepublish", "preprepare", "prepare", "postprepare"}
		if sub == "it" || sub == "cit" || sub == "install-test" {
			names = append(names, "test")
		}
	case "publish", "pack":
		names = []string{"prepublishOnly", "prepublish", "prepack", "prepare", "postpack", "publish", "postpublish"}
	case "version":
		names = []string{"preversion", "version", "postversion"}
	case "pkg", "set-script":
		w.edited(file, arg.Joined(c.args))
		return stream{}, false
	default:
		names = []string{sub}
	}
	w.runsWritten(file, "sh", func(text string) string { return recipes.Scripts(text, names) })
	if slices.Contains(names, "test") {
		w.runsAll(c)
	}
	return stream{}, false
}

// runsAll is for programs that run the code of a project, as tests do: the files that are named are judged where they were
// changed in this session. What this script has written is judged by runsWhatWasWritten.
func (w *walker) runsAll(c *cmd) {
	for _, a := range c.args {
		name, _, _ := strings.Cut(a.Text, "::") // pytest's test_a.py::test_b
		v := arg.Word{Text: name, Taint: a.Taint, Quoted: true}
		if _, ours := w.file(v); ours {
			continue
		}
		if lang := recipes.Language(name); lang != "" && !strings.HasPrefix(name, "-") {
			w.runsWritten(v, lang, nil)
		}
	}
	w.ranCode++
}
