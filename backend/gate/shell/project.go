package shell

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"deskbell/backend/gate/lazy"
	"deskbell/backend/gate/shell/arg"
	"deskbell/backend/gate/shell/commands"
	"deskbell/backend/gate/shell/paths"
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
	w.runsWritten(file, "sh", func(text string) string { return scriptsOf(text, names) })
	if slices.Contains(names, "test") {
		w.runsAll(c)
	}
	return stream{}, false
}

// scriptsOf is the shell text of scripts of a package.json, with what runs before and after each.
func scriptsOf(text string, names []string) string {
	var file struct {
		Scripts map[string]string `json:"scripts"`
	}
	if json.Unmarshal([]byte(text), &file) != nil {
		return text // what it is then, npm does not run either
	}
	var b strings.Builder
	for _, name := range names {
		for _, n := range []string{"pre" + name, name, "post" + name} {
			if s, ok := file.Scripts[n]; ok {
				b.WriteString(s)
				b.WriteByte('\n')
			}
		}
	}
	return b.String()
}

// makefile is the shell text that make runs of a Makefile for its targets: their recipes and those of what they need,
// and what $(shell) runs as the file is read.
func makefile(text string, targets []string) string {
	recipes := map[string][]string{}
	needs := map[string][]string{}
	vars := map[string]string{}
	var current []string
	first := ""
	var shells strings.Builder
	for _, line := range strings.Split(strings.ReplaceAll(text, "\\\n", " "), "\n") {
		if rest := line; strings.Contains(line, "$(shell ") {
			for n := 0; n < 20; n++ {
				_, after, ok := strings.Cut(rest, "$(shell ")
				if !ok {
					break
				}
				end := closing(after)
				shells.WriteString(after[:end] + "\n")
				rest = after[end:]
			}
		}
		if recipe, ok := strings.CutPrefix(line, "\t"); ok {
			for _, t := range current {
				recipes[t] = append(recipes[t], strings.TrimLeft(recipe, "@-+ "))
			}
			continue
		}
		line, _, _ = strings.Cut(line, "#")
		if i := strings.IndexAny(line, ":="); i > 0 && (line[i] == '=' || strings.HasPrefix(line[i:], ":=") || strings.HasPrefix(line[i:], "::=")) {
			name := strings.Trim(line[:i], " \t?+!:")
			value := strings.TrimLeft(line[i:], ":= \t")
			if len(vars) < 200 && len(value) < 1000 {
				vars[name] = value
			}
			continue
		}
		head, rest, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		rest = strings.TrimLeft(rest, ":")
		deps, inline, _ := strings.Cut(rest, ";")
		current = strings.Fields(head)
		for _, t := range current {
			needs[t] = append(needs[t], strings.Fields(deps)...)
			if inline != "" {
				recipes[t] = append(recipes[t], strings.TrimLeft(inline, "@-+ "))
			}
			if first == "" && !strings.HasPrefix(t, ".") {
				first = t
			}
		}
	}
	if len(targets) == 0 {
		targets = []string{first}
	}
	var b strings.Builder
	done := map[string]bool{}
	var add func(t string)
	add = func(t string) {
		if done[t] || len(done) > 200 {
			return
		}
		done[t] = true
		for _, n := range needs[t] {
			add(n)
		}
		for _, r := range recipes[t] {
			b.WriteString(r + "\n")
		}
	}
	for _, t := range targets {
		if recipes[t] == nil && needs[t] == nil { // by a pattern: any of them
			for _, name := range sortedKeys(recipes) {
				if strings.Contains(name, "%") || strings.Contains(name, "$") {
					add(name)
				}
			}
		}
		add(t)
	}
	return shells.String() + expandMake(b.String(), vars)
}

// justfile is the shell text of a justfile's recipes; the same, with indents of any kind and variables in braces.
func justfile(text string, targets []string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, " ") {
			lines[i] = "\t" + strings.TrimLeft(line, " \t")
		}
	}
	out := strings.ReplaceAll(strings.Join(lines, "\n"), "$", "$$")
	return strings.NewReplacer("{{", "${_just", "}}", "}").Replace(makefile(out, targets))
}

// expandMake puts the values of variables into recipes; the rest is left to the shell as variables that are not known.
func expandMake(s string, vars map[string]string) string {
	for range 3 {
		var b strings.Builder
		for i := 0; i < len(s); i++ {
			if s[i] != '$' || i+1 >= len(s) {
				b.WriteByte(s[i])
				continue
			}
			switch s[i+1] {
			case '$':
				b.WriteString("$$")
				i++
			case '(', '{':
				end := closing(s[i+2:])
				name := s[i+2 : i+2+end]
				i += 2 + end
				if v, ok := vars[name]; ok {
					b.WriteString(v)
				} else if run, ok := strings.CutPrefix(name, "shell "); ok {
					b.WriteString("$$(" + run + ")")
				} else {
					b.WriteString("$${_make}")
				}
			default: // $@, $<
				b.WriteString("$${_make}")
				i++
			}
		}
		if b.Len() > MaxScript/2 {
			break
		}
		if s = b.String(); !strings.Contains(strings.ReplaceAll(s, "$$", ""), "$") {
			break
		}
	}
	return strings.ReplaceAll(s, "$$", "$")
}

// closing is where the bracket ends that s is within.
func closing(s string) int {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '(', '{':
			depth++
		case ')', '}':
			if depth == 0 {
				return i
			}
			depth--
		case '\n':
			return i
		}
	}
	return len(s)
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
		if lang := codeByName(name); lang != "" && !strings.HasPrefix(name, "-") {
			w.runsWritten(v, lang, nil)
		}
	}
	w.ranCode++
}

// codeByName is the language of a file of code, by its name; empty for other files.
func codeByName(name string) string {
	switch path.Ext(name) {
	case ".py", ".pyi":
		return "python"
	case ".js", ".mjs", ".cjs", ".ts", ".tsx", ".jsx", ".mts", ".cts":
		return "javascript"
	case ".rb", ".rake":
		return "ruby"
	case ".pl", ".pm", ".t":
		return "perl"
	case ".php":
		return "php"
	case ".lua":
		return "lua"
	case ".go":
		return "go"
	case ".rs":
		return "rust"
	case ".c", ".cc", ".cpp", ".h", ".hpp", ".java", ".kt", ".swift", ".cs", ".zig", ".scala", ".ex", ".exs":
		return "compiled"
	case ".sh", ".bash", ".zsh", ".bats":
		return "sh"
	}
	return ""
}
