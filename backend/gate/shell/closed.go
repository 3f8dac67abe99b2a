package shell

import (
	"path"
	"slices"
	"strings"

	"deskbell/backend/gate/shell/arg"
	"deskbell/backend/human"
)

// closedLine reads what only closed commands have; from is the first rule of the line above. Of a closed command what no rule is
// about is a hard limit, and a rule's words are those of the command itself. Its lines:
//
//	before -a --bb          options that may stand before its subcommand
//	with -a --bb            options that the rules of the line above allow
//	not -a --bb             options that they do not: a hard limit
//	runs --bb               the option's value, or without one what follows the options, is a command of its own
//	variables A B           variables of the environment that no call may set
//	homes A B               those by which the program finds its folder
//	loads A_* B             those that say what a server of it loads, runs and trusts
func (s *spec) closedLine(word, rest string, from int) bool {
	switch word {
	case "closed":
		s.closed = true
		return true
	case "before":
		s.before = strings.Fields(rest)
	case "variables":
		s.variables = append(s.variables, strings.Fields(rest)...)
	case "homes":
		s.homes = strings.Fields(rest)
	case "loads":
		s.loads = strings.Fields(rest)
	case "with", "not", "runs":
		for i := from; i < len(s.rules) && s.closed; i++ {
			switch r := &s.rules[i]; word {
			case "with":
				r.with = append(r.with, strings.Fields(rest)...)
			case "not":
				r.not = append(r.not, strings.Fields(rest)...)
			default:
				r.wraps, r.commands = rest == "", strings.Fields(rest)
			}
		}
	default:
		return false
	}
	return s.closed
}

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
		if own == "" && w.world != nil && handlers()[base] == nil && specOf(base) == nil && w.world.Ours(base) {
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
	s := specOf(c.name)
	a := s.arguments(c.args)
	w.elsewhere(s, c, a)
	best := -1
	var met []*rule
	for i := range s.rules {
		r := &s.rules[i]
		if a.meets(r) && len(r.words) >= best && (len(r.words) > 0 || r.end) {
			if len(r.words) > best {
				met = met[:0]
			}
			best, met = len(r.words), append(met, r)
		}
	}
	if len(met) == 0 || a.early {
		w.ownLimit(c, "floor.own_unknown")
		w.runAfter(c.args)
		return handled(stream{taint: arg.MadeHere})
	}
	for _, r := range met {
		for _, e := range r.effects {
			w.effect(e, r.id, &a.options, c)
		}
	}
	for i := range s.rules {
		if r := &s.rules[i]; len(r.words) == 0 && !r.end && a.meets(r) {
			for _, e := range r.effects {
				w.effect(e, r.id, &a.options, c)
			}
		}
	}
	if !slices.ContainsFunc(met, (*rule).limit) {
		w.allowed(c, a, met, best)
	}
	w.wrapped(c, a, met, best)
	return handled(stream{taint: arg.MadeHere})
}

// limit says whether a rule is a hard limit.
func (r *rule) limit() bool {
	return slices.ContainsFunc(r.effects, func(e effectSpec) bool { return e.e.HardLimit })
}

// ownLimit notes what an agent may not do with Deskbell's own program.
func (w *walker) ownLimit(c *cmd, rule string) {
	e := verbDefaults[human.SecurityWeakening]
	e.Verb, e.Risk, e.HardLimit, e.Rule, e.Resource, e.Certainty = human.SecurityWeakening, human.CriticalRisk, true, rule, w.shown(c), human.Certain
	w.emit(e)
}

// allowed looks for options that the rules do not allow.
func (w *walker) allowed(c *cmd, a arguments, met []*rule, words int) {
	lists := func(of func(*rule) []string, name string) bool {
		return slices.ContainsFunc(met, func(r *rule) bool { return slices.Contains(of(r), name) })
	}
	own := lists(func(r *rule) []string { return r.with }, "--key")
	for _, name := range sortedKeys(a.flags) {
		switch {
		case lists(func(r *rule) []string { return r.with }, name), slices.Contains(a.spec.before, name), name == "--help", name == "-h":
		case lists(func(r *rule) []string { return r.not }, name):
			w.ownLimit(c, met[0].id+"."+strings.TrimLeft(name, "-"))
		default:
			w.ownLimit(c, "floor.own_unknown")
		}
	}
	for _, v := range a.words[min(words, len(a.words)):] {
		// A word that is not known may be an option; in a text for a person it hardly is.
		if strings.HasPrefix(v.Text, arg.Unknown) && (!own || !v.Quoted) && !slices.ContainsFunc(met, func(r *rule) bool { return r.wraps }) {
			w.unseen(v, c.name+".unknown")
		}
	}
}

// wrapped goes through the commands that a command runs, as if they were bare.
func (w *walker) wrapped(c *cmd, a arguments, met []*rule, words int) {
	for _, r := range met {
		for _, name := range r.commands {
			for _, v := range a.all[name] {
				w.script(v.Text, "sh", nil, stream{})
			}
		}
		if r.wraps && len(a.words) > words {
			w.run(a.words[words:], c.in)
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
func (w *walker) elsewhere(s *spec, c *cmd, a arguments) {
	for _, name := range s.before {
		for _, v := range a.all[name] {
			if p, target := w.placeOf(v, w.dir); p != gateSpot || name == "--data" && w.guard != "" && target != w.guard {
				w.ownLimit(c, c.name+"."+strings.TrimLeft(name, "-"))
			}
		}
	}
	for _, name := range s.homes {
		if v, _ := w.lookup(name); w.vars[name].may != nil && (name != "HOME" || v.Text != w.home) {
			w.ownLimit(c, c.name+".home")
		}
	}
	if len(a.words) == 0 || a.words[0].Text == "serve" || a.words[0].Text == "mcp" { // which start a server
		for _, name := range sortedKeys(w.vars) {
			if s.loaded(name) && !w.systemPath(name) {
				w.ownLimit(c, "floor.own_variable")
			}
		}
	}
}

// loaded says whether a variable chooses what a server loads, runs or trusts.
func (s *spec) loaded(name string) bool {
	return slices.ContainsFunc(s.loads, func(pattern string) bool { is, err := path.Match(pattern, name); return is && err == nil })
}

// systemPath says whether a variable is a PATH that looks for programs in the system's folders first, or where it did before.
func (w *walker) systemPath(name string) bool {
	v, _ := w.lookup(name)
	first, _, _ := strings.Cut(v.Text, ":")
	return name == "PATH" && (standardDirs()[first] || strings.HasPrefix(first, arg.Unknown))
}

// ownVariable notes a variable of Deskbell's that a call sets, unless it names the data folder that is guarded.
func (w *walker) ownVariable(name string, v arg.Word) {
	if !slices.Contains(specOf(ownName).variables, name) {
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
	s := specOf(ownName)
	for _, name := range slices.Concat(s.variables, s.homes) {
		for at := 0; ; {
			i := strings.Index(text[at:], name)
			if i < 0 {
				break
			}
			at += i + len(name)
			rest := strings.TrimLeft(text[at:], " }\"'")
			sets := strings.HasPrefix(rest, "=") && !strings.HasPrefix(rest, "==") || strings.HasPrefix(rest, ",") || strings.Contains(text[:at], "SETX ")
			if sets && (runsOwn || !slices.Contains(s.homes, name)) || name == "DESKBELL_TOKEN" {
				w.ownLimit(&cmd{name: name}, "floor.own_variable")
			}
		}
	}
}

// arguments are a closed command's: its words, and its options wherever they stand.
type arguments struct {
	options
	spec  *spec
	all   map[string][]arg.Word
	early bool // an option stands before a word that may name the subcommand
}

// arguments takes them apart as the program does: the words before any unknown option name the subcommand.
func (s *spec) arguments(args []arg.Word) arguments {
	a := arguments{options: options{flags: map[string]arg.Word{}}, spec: s, all: map[string][]arg.Word{}}
	open := false // an option stood where a subcommand may follow
	give := func(name string, v arg.Word) { a.flags[name] = v; a.all[name] = append(a.all[name], v) }
	for i := 0; i < len(args); i++ {
		text := args[i].Text
		switch {
		case text == "--":
			a.words = append(a.words, args[i+1:]...)
			return a
		case len(text) < 2 || text[0] != '-':
			a.words = append(a.words, args[i])
			a.early = a.early || open
			if s.wrapsAt(a.words) && len(a.words) > 1 {
				a.words = append(a.words, args[i+1:]...)
				return a
			}
			continue
		}
		name, val, has := strings.Cut(text, "=")
		if text[1] != '-' && len(name) > 2 { // bundled, or with its value behind it
			name, val, has = text[:2], text[2:], true
			for j := 1; j < len(text) && !s.values["-"+string(text[j])]; j++ {
				give("-"+string(text[j]), arg.Word{})
			}
		}
		v := arg.Word{Text: val, Quoted: true, Taint: args[i].Taint}
		if !has && s.values[name] && i+1 < len(args) {
			i++
			v = args[i]
		}
		give(name, v)
		open = open || !slices.Contains(s.before, name) && !s.complete(a.words)
	}
	return a
}

// wrapsAt says whether words are those of a command that takes all that follows for another command.
func (s *spec) wrapsAt(words []arg.Word) bool {
	return slices.ContainsFunc(s.rules, func(r rule) bool {
		return r.wraps && len(words) > len(r.words) && begin(words, r.words)
	})
}

// complete says whether words name a command that has no other below it. An option that stands before takes the next word
// for its value where the program does not expect it there, so that another command runs than it seems.
func (s *spec) complete(words []arg.Word) bool {
	return !slices.ContainsFunc(s.rules, func(r rule) bool { return len(r.words) > len(words) && begin(words, r.words[:len(words)]) })
}

func begin(words []arg.Word, want []string) bool {
	if len(words) < len(want) {
		return false
	}
	for i, one := range want {
		if !isOne(words[i].Text, one) {
			return false
		}
	}
	return true
}

func (a *arguments) meets(r *rule) bool {
	if !begin(a.words, r.words) || r.end && len(a.words) > len(r.words) {
		return false
	}
	has := func(alternatives string) bool {
		return slices.ContainsFunc(strings.Split(alternatives, "|"), func(name string) bool { _, ok := a.flags[name]; return ok })
	}
	return !slices.ContainsFunc(r.flags, func(f string) bool { return !has(f) }) && !slices.ContainsFunc(r.without, has)
}
