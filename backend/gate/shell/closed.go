package shell

import (
	"path"
	"slices"
	"strings"

	"deskbell/backend/gate/shell/arg"
	"deskbell/backend/gate/shell/commands"
	"deskbell/backend/gate/shell/paths"
	"deskbell/backend/human"
)

// Names of Deskbell's programs in the tables.
const (
	ownName  = "deskbell"
	hookName = "deskbell-hook"
)

// ownProgram is which of Deskbell's programs a name says, in any case, with a version or an ending behind it; empty for none.
func ownProgram(name string) string {
	if len(name) < len(ownName) || !strings.EqualFold(name[:len(ownName)], ownName) {
		return ""
	}
	rest := strings.ToLower(name[len(ownName):])
	switch {
	case strings.HasPrefix(rest, "-hook"):
		return hookName
	case rest == "", rest == ".exe", rest == ".appimage", rest == "w", rest == "w.exe", len(rest) > 1 && strings.ContainsRune("-_.", rune(rest[0])) && (rest[1] >= '0' && rest[1] <= '9' || strings.HasPrefix(rest[1:], "linux") || strings.HasPrefix(rest[1:], "darwin") || strings.HasPrefix(rest[1:], "windows")):
		return ownName
	}
	return ""
}

// ours is which of Deskbell's programs a command starts. sure says that it is that program, by its contents, and not only
// something of its name.
func (w *walker) ours(name arg.Word) (own string, sure bool) {
	if !name.Known() || name.Text == "" {
		return "", false
	}
	base := name.Text[strings.LastIndexAny(name.Text, `/\`)+1:]
	own = ownProgram(base)
	if len(base) == len(name.Text) {
		if own == "" && w.world != nil && handlers()[base] == nil && commands.Of(base) == nil && w.world.Ours(base) {
			own = ownName
		}
		return own, own != ""
	}
	abs, ok := w.resolve(name, w.dir)
	if !ok {
		return own, false
	}
	if f, ok := w.files[abs]; ok {
		if f.from == "" {
			return own, false
		}
		abs = f.from // a copy, which is not there yet
		if own == "" {
			own = ownProgram(path.Base(abs))
		}
	}
	if w.world != nil {
		if sure = w.world.Ours(abs); sure && own == "" {
			own = ownName
		}
	}
	return own, own != "" && (sure || standardDirs()[path.Dir(abs)])
}

// closed judges a command of which nothing is allowed that its table does not say.
func closed(w *walker, c *cmd) (stream, bool) {
	s := commands.Of(c.name)
	a := s.Arguments(c.args)
	w.elsewhere(s, c, a)
	best := -1
	var met []*commands.Rule
	for i := range s.Rules {
		r := &s.Rules[i]
		if a.Meets(r) && len(r.Words) >= best && (len(r.Words) > 0 || r.End) {
			if len(r.Words) > best {
				met = met[:0]
			}
			best, met = len(r.Words), append(met, r)
		}
	}
	if len(met) == 0 || a.Early {
		w.ownLimit(c, "floor.own_unknown")
		w.runAfter(c.args)
		return handled(stream{taint: arg.MadeHere})
	}
	for _, r := range met {
		for _, e := range r.Effects {
			w.effect(e, r.ID, &a.Options, c)
		}
	}
	for i := range s.Rules {
		if r := &s.Rules[i]; len(r.Words) == 0 && !r.End && a.Meets(r) {
			for _, e := range r.Effects {
				w.effect(e, r.ID, &a.Options, c)
			}
		}
	}
	if !slices.ContainsFunc(met, (*commands.Rule).Limit) {
		w.allowed(c, a, met, best)
	}
	w.wrapped(c, a, met, best)
	return handled(stream{taint: arg.MadeHere})
}

// ownLimit notes what an agent may not do with Deskbell's own program.
func (w *walker) ownLimit(c *cmd, rule string) {
	e := commands.Defaults[human.SecurityWeakening]
	e.Verb, e.Risk, e.HardLimit, e.Rule, e.Resource, e.Certainty = human.SecurityWeakening, human.CriticalRisk, true, rule, w.shown(c), human.Certain
	w.emit(e)
}

// allowed looks for options that the rules do not allow.
func (w *walker) allowed(c *cmd, a commands.Arguments, met []*commands.Rule, words int) {
	lists := func(of func(*commands.Rule) []string, name string) bool {
		return slices.ContainsFunc(met, func(r *commands.Rule) bool { return slices.Contains(of(r), name) })
	}
	own := lists(func(r *commands.Rule) []string { return r.With }, "--key")
	for _, name := range sortedKeys(a.Flags) {
		switch {
		case lists(func(r *commands.Rule) []string { return r.With }, name), slices.Contains(a.Spec.Before, name), name == "--help", name == "-h":
		case lists(func(r *commands.Rule) []string { return r.Not }, name):
			w.ownLimit(c, met[0].ID+"."+strings.TrimLeft(name, "-"))
		default:
			w.ownLimit(c, "floor.own_unknown")
		}
	}
	for _, v := range a.Words[min(words, len(a.Words)):] {
		// A word that is not known may be an option; in a text for a person it hardly is.
		if strings.HasPrefix(v.Text, arg.Unknown) && (!own || !v.Quoted) && !slices.ContainsFunc(met, func(r *commands.Rule) bool { return r.Wraps }) {
			w.unseen(v, c.name+".unknown")
		}
	}
}

// wrapped goes through the commands that a command runs, as if they were bare.
func (w *walker) wrapped(c *cmd, a commands.Arguments, met []*commands.Rule, words int) {
	for _, r := range met {
		for _, name := range r.Commands {
			for _, v := range a.All[name] {
				w.script(v.Text, "sh", nil, stream{})
			}
		}
		if r.Wraps && len(a.Words) > words {
			w.run(a.Words[words:], c.in)
			return
		}
	}
}

// runAfter goes through what follows --.
func (w *walker) runAfter(args []arg.Word) {
	if i := slices.IndexFunc(args, func(v arg.Word) bool { return v.Text == "--" }); i >= 0 && i+1 < len(args) {
		w.run(args[i+1:], stream{})
	}
}

// elsewhere looks for another data folder than the one that is guarded: by an option, or by the environment.
func (w *walker) elsewhere(s *commands.Spec, c *cmd, a commands.Arguments) {
	for _, name := range s.Before {
		for _, v := range a.All[name] {
			if p, target := w.placeOf(v, w.dir); p != paths.Gate || name == "--data" && w.guard != "" && target != w.guard {
				w.ownLimit(c, c.name+"."+strings.TrimLeft(name, "-"))
			}
		}
	}
	for _, name := range s.Homes {
		if v, _ := w.lookup(name); w.vars[name].may != nil && (name != "HOME" || v.Text != w.home) {
			w.ownLimit(c, c.name+".home")
		}
	}
	if len(a.Words) == 0 || a.Words[0].Text == "serve" || a.Words[0].Text == "mcp" { // which start a server
		for _, name := range sortedKeys(w.vars) {
			if s.Loaded(name) && !w.systemPath(name) {
				w.ownLimit(c, "floor.own_variable")
			}
		}
	}
}

// systemPath says whether a variable is a PATH that looks for programs in the system's folders first, or where it did before.
func (w *walker) systemPath(name string) bool {
	v, _ := w.lookup(name)
	first, _, _ := strings.Cut(v.Text, ":")
	return name == "PATH" && (standardDirs()[first] || strings.HasPrefix(first, arg.Unknown))
}

// ownVariable notes a variable of Deskbell's that a call sets, unless it names the data folder that is guarded.
func (w *walker) ownVariable(name string, v arg.Word) {
	if !slices.Contains(commands.Of(ownName).Variables, name) {
		return
	}
	if _, target := w.placeOf(v, w.dir); name == "DESKBELL_DATA" && w.guard != "" && target == w.guard {
		return
	}
	w.ownLimit(&cmd{name: name + "=" + v.Text}, "floor.own_variable")
}

// ownToken notes that a call names the variable that an operator's session was kept in.
func (w *walker) ownToken(name string) {
	if name == "DESKBELL_TOKEN" {
		w.ownLimit(&cmd{name: name}, "floor.own_variable")
	}
}

// ownInWindows looks for such variables in a command of PowerShell or cmd.
func (w *walker) ownInWindows(text string, runsOwn bool) {
	text = strings.ToUpper(text)
	s := commands.Of(ownName)
	for _, name := range slices.Concat(s.Variables, s.Homes) {
		for at := 0; ; {
			i := strings.Index(text[at:], name)
			if i < 0 {
				break
			}
			at += i + len(name)
			rest := strings.TrimLeft(text[at:], " }\"'")
			sets := strings.HasPrefix(rest, "=") && !strings.HasPrefix(rest, "==") || strings.HasPrefix(rest, ",") || strings.Contains(text[:at], "SETX ")
			if sets && (runsOwn || !slices.Contains(s.Homes, name)) || name == "DESKBELL_TOKEN" {
				w.ownLimit(&cmd{name: name}, "floor.own_variable")
			}
		}
	}
}
