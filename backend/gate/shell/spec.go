package shell

import (
	"fmt"
	"slices"
	"strings"

	"deskbell/backend/gate/shell/arg"
	"deskbell/backend/human"
)

// A spec is what is known of a command, from one of the text files in the folder knowledge. Their format:
// docs/development/teaching-a-command.md.
type spec struct {
	name   string
	values map[string]bool
	long   bool
	wrap   int // -1 where it wraps nothing
	verbs  bool
	data   bool
	rules  []rule
	action string // where ".." finds the verb: "last" word, "rest" without the first, or anywhere

	closed                          bool
	before, variables, homes, loads []string
}

type rule struct {
	id       string
	words    []string
	any      bool // the words may stand anywhere, in order
	end      bool
	flags    []string
	without  []string
	has      []string
	hasNot   []string
	effects  []effectSpec
	yes, no  []string
	patterns string

	with, not []string // of a closed command: options
	wraps     bool     // it runs a command that follows
	commands  []string // options whose values are commands

	piped, unpiped bool // whether something must, or must not, come by a pipe
}

type effectSpec struct {
	e     human.Effect
	paths string
	runs  string // what is run: command, sh, ...; empty for an effect that runs nothing
	away  bool
	guess bool
}

func (s *spec) read(text string) error {
	s.values = map[string]bool{}
	s.rules = make([]rule, 0, strings.Count(text, " : ")+strings.Count(text, " ; "))
	last := 0 // the first rule of the last line that has one
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		word, rest, _ := strings.Cut(line, " ")
		if s.closedLine(word, rest, last) {
			continue
		}
		switch word {
		case "":
		case "#":
		case "values":
			for v := range strings.FieldsSeq(rest) {
				s.values[v] = true
			}
		case "long":
			s.long = true
		case "verbs":
			s.verbs = true
		case "action":
			s.action = rest
		case "data":
			s.data = true
		case "wrap":
			s.wrap = 0
			if rest != "" {
				s.wrap = int(rest[0] - '0')
			}
		case "from":
			o := specOf(rest)
			if o == nil {
				return fmt.Errorf("%s: from %q, which is not there", s.name, rest)
			}
			for v := range o.values {
				s.values[v] = true
			}
			s.rules = append(s.rules, o.rules...)
			s.action = o.action
			s.long, s.verbs, s.data = s.long || o.long, s.verbs || o.verbs, s.data || o.data
		case "yes", "no":
			if len(s.rules) == 0 {
				return fmt.Errorf("%s: example %q before a rule", s.name, line)
			}
			last := &s.rules[len(s.rules)-1]
			if word == "yes" {
				last.yes = append(last.yes, rest)
			} else {
				last.no = append(last.no, rest)
			}
		default:
			i := strings.LastIndex(line, " : ")
			if i < 0 {
				return fmt.Errorf("%s: cannot read %q", s.name, line)
			}
			effects, err := parseEffects(line[i+3:])
			if err != nil {
				return fmt.Errorf("%s: %q: %w", s.name, line, err)
			}
			last = len(s.rules)
			for pattern := range strings.SplitSeq(line[:i], " ; ") {
				r := parsePattern(pattern)
				r.id = s.name + r.id
				r.effects = effects
				for j := range r.effects {
					r.effects[j].e.Rule = ""
				}
				s.rules = append(s.rules, r)
			}
		}
	}
	return nil
}

// runs says whether rules tell what the command runs of what it is given; away: on another machine.
func (s *spec) runs(away bool) bool {
	return slices.ContainsFunc(s.rules, func(r rule) bool {
		return slices.ContainsFunc(r.effects, func(e effectSpec) bool {
			return e.runs != "" && e.runs != "project" && e.runs != "outside" && (away && e.away || !away && !e.guess)
		})
	})
}

func parsePattern(pattern string) rule {
	r := rule{patterns: pattern}
	for t := range strings.FieldsSeq(pattern) {
		switch {
		case t == ".":
		case t == "$":
			r.end = true
		case t == "<":
			r.piped = true
		case t == "!<":
			r.unpiped = true
		case t == "..":
			r.any = true
		case strings.HasPrefix(t, "!?"):
			r.hasNot = append(r.hasNot, t[2:])
		case strings.HasPrefix(t, "?"):
			r.has = append(r.has, t[1:])
			first, _, _ := strings.Cut(t[1:], "|")
			r.id += ".with_" + strings.TrimLeft(first, "^=")
		case strings.HasPrefix(t, "!"):
			r.without = append(r.without, t[1:])
		case strings.HasPrefix(t, "-") && len(t) > 1 || strings.HasPrefix(t, "+") && len(t) > 1:
			r.flags = append(r.flags, t)
			first, want, _ := strings.Cut(t, "=")
			first, _, _ = strings.Cut(first, "|")
			want, _, _ = strings.Cut(want, "|")
			r.id += "." + strings.TrimLeft(first, "-") + want
		default:
			r.words = append(r.words, t)
			first, _, _ := strings.Cut(t, "|")
			r.id += "." + first
		}
	}
	return r
}

var verbDefaults = map[human.EffectVerb]human.Effect{
	human.FilesystemRead:      {Risk: human.NoRisk, Reversibility: human.Reversible, Blast: human.FileBlast},
	human.FilesystemWrite:     {Risk: human.LowRisk, Reversibility: human.Costly, Blast: human.FileBlast},
	human.FilesystemDelete:    {Risk: human.HighRisk, Reversibility: human.Irreversible, Blast: human.ProjectBlast},
	human.GitRead:             {Risk: human.NoRisk, Reversibility: human.Reversible, Blast: human.ProjectBlast},
	human.GitWrite:            {Risk: human.LowRisk, Reversibility: human.Reversible, Blast: human.ProjectBlast},
	human.GitDiscard:          {Risk: human.HighRisk, Reversibility: human.Irreversible, Blast: human.ProjectBlast},
	human.GitRemoteWrite:      {Risk: human.MediumRisk, Reversibility: human.Costly, Blast: human.SharedBlast},
	human.GitHistoryRewrite:   {Risk: human.HighRisk, Reversibility: human.Costly, Blast: human.ProjectBlast},
	human.NetworkRead:         {Risk: human.NoRisk, Reversibility: human.Reversible, Blast: human.MachineBlast},
	human.NetworkWrite:        {Risk: human.MediumRisk, Reversibility: human.Irreversible, Blast: human.SharedBlast},
	human.PackageInstall:      {Risk: human.MediumRisk, Reversibility: human.Costly, Blast: human.MachineBlast},
	human.PackageRun:          {Risk: human.LowRisk, Reversibility: human.Costly, Blast: human.ProjectBlast},
	human.LangExec:            {Risk: human.MediumRisk, Reversibility: human.Costly, Blast: human.MachineBlast},
	human.ProcessSignal:       {Risk: human.MediumRisk, Reversibility: human.Costly, Blast: human.MachineBlast},
	human.ContainerEffect:     {Risk: human.MediumRisk, Reversibility: human.Costly, Blast: human.MachineBlast},
	human.ServiceEffect:       {Risk: human.MediumRisk, Reversibility: human.Costly, Blast: human.SharedBlast},
	human.DatabaseEffect:      {Risk: human.MediumRisk, Reversibility: human.Costly, Blast: human.SharedBlast},
	human.CredentialAccess:    {Risk: human.HighRisk, Reversibility: human.Irreversible, Blast: human.MachineBlast},
	human.PersistenceEffect:   {Risk: human.HighRisk, Reversibility: human.Costly, Blast: human.MachineBlast},
	human.PrivilegeEscalation: {Risk: human.MediumRisk, Reversibility: human.Costly, Blast: human.MachineBlast},
	human.SecurityWeakening:   {Risk: human.HighRisk, Reversibility: human.Costly, Blast: human.MachineBlast},
	human.CostEffect:          {Risk: human.MediumRisk, Reversibility: human.Costly, Blast: human.SharedBlast},
	human.ObfuscatedEffect:    {Risk: human.HighRisk, Reversibility: human.Irreversible, Blast: human.MachineBlast},
	human.UnknownEffect:       {Risk: human.MediumRisk, Reversibility: human.Costly, Blast: human.MachineBlast},
}

// Shorter names for what is said most.
var shortVerbs = map[string]human.EffectVerb{
	"read": human.FilesystemRead, "write": human.FilesystemWrite, "delete": human.FilesystemDelete, "net": human.NetworkRead,
	"send": human.NetworkWrite, "install": human.PackageInstall, "run": human.PackageRun, "code": human.LangExec,
	"secret": human.CredentialAccess, "persist": human.PersistenceEffect, "weaken": human.SecurityWeakening, "signal": human.ProcessSignal,
}

func parseEffects(text string) ([]effectSpec, error) {
	out := make([]effectSpec, 0, 1+strings.Count(text, ","))
	for part := range strings.SplitSeq(text, ",") {
		words := strings.Fields(part)
		if len(words) == 0 {
			return nil, fmt.Errorf("an effect without a verb")
		}
		if words[0] == "runs" {
			s, err := parseRuns(words[1:])
			if err != nil {
				return nil, err
			}
			out = append(out, s)
			continue
		}
		verb := human.EffectVerb(words[0])
		if long, ok := shortVerbs[words[0]]; ok {
			verb = long
		}
		e, ok := verbDefaults[verb]
		if !ok {
			return nil, fmt.Errorf("no verb %q", words[0])
		}
		e.Verb, e.Certainty = verb, human.Certain
		s := effectSpec{e: e}
		for _, word := range words[1:] {
			switch word {
			case "none", "low", "medium", "high", "critical":
				s.e.Risk = human.Risk(word)
			case "file", "project", "machine", "shared", "production", "public":
				s.e.Blast = human.BlastRadius(word)
			case "reversible", "costly", "irreversible":
				s.e.Reversibility = human.Reversibility(word)
			case "likely", "possible":
				s.e.Certainty = human.Certainty(word)
			case "floor":
				s.e.HardLimit = true
			default:
				if !strings.HasPrefix(word, "@") {
					return nil, fmt.Errorf("cannot read %q", word)
				}
				s.paths = word[1:]
			}
		}
		out = append(out, s)
	}
	return out, nil
}

func parseRuns(words []string) (s effectSpec, err error) {
	for i, word := range words {
		switch {
		case i == 0:
			s.runs = word
		case word == "away":
			s.away = true
		case word == "guess":
			s.guess = true
		case strings.HasPrefix(word, "@") && s.paths == "":
			s.paths = word[1:]
		default:
			return s, fmt.Errorf("cannot read %q", word)
		}
	}
	if s.runs == "" || s.paths == "" && s.runs != "project" {
		return s, fmt.Errorf("it does not say what is run")
	}
	return s, nil
}

// options are the arguments of a command, told apart.
type options struct {
	flags map[string]arg.Word // each option with its last value, under every spelling it may be asked for
	again []option            // values of options that were given before
	words []arg.Word          // what is no option
	piped bool                // something comes by a pipe
	open  bool                // some argument is not known, and could be an option
	after []arg.Word          // what follows --
}

type option struct {
	name string
	v    arg.Word
}

func (o *options) put(name string, v arg.Word) {
	if old := o.flags[name]; old.Text != "" {
		o.again = append(o.again, option{name, old})
	}
	o.flags[name] = v
}

// values are those of options "a|b", in no order.
func (o *options) values(alternatives string) (all []arg.Word) {
	for name := range strings.SplitSeq(alternatives, "|") {
		name, v := o.given(name)
		for _, x := range o.again {
			if x.name == name {
				all = append(all, x.v)
			}
		}
		if v.Text != "" {
			all = append(all, v)
		}
	}
	return all
}

// given is an option as it was written, and its value: GNU and git take any beginning of a long one that is enough to tell it by.
func (o *options) given(name string) (string, arg.Word) {
	if v, ok := o.flags[name]; ok {
		return name, v
	}
	if strings.HasPrefix(name, "--") && len(name) > 5 {
		for given, v := range o.flags {
			if len(given) >= 4 && strings.HasPrefix(name, given) && strings.HasPrefix(given, "--") {
				return given, v
			}
		}
	}
	return "", arg.Word{}
}

func (o *options) has(names ...string) bool {
	for _, n := range names {
		if _, ok := o.flags[n]; ok {
			return true
		}
	}
	return false
}

// any says whether one of the options "a|b" is there, and of a wanted value where one is named.
func (o *options) any(alternatives string) bool {
	alternatives, want, valued := cutValue(alternatives)
	for _, n := range strings.Split(alternatives, "|") {
		name, v := o.given(n)
		if name != "" && (!valued || !v.Known() || isOne(v.Text, want)) {
			return true
		}
	}
	return false
}

func cutValue(s string) (names, want string, ok bool) {
	// "-o|--output=json|yaml": the value is asked of each of the names.
	i := strings.Index(s, "=")
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}

// parse tells options from words. stop ends at the first word, as wrappers do.
func parse(args []arg.Word, values map[string]bool, long, stop bool) (o options, rest []arg.Word) {
	o.flags = make(map[string]arg.Word, len(args))
	for i := 0; i < len(args); i++ {
		a := args[i]
		s := a.Text
		switch {
		case s == "--":
			o.after = args[i+1:]
			if stop {
				return o, args[i+1:]
			}
			o.words = append(o.words, args[i+1:]...)
			return o, nil
		case len(s) > 2 && s[:2] == "--":
			name, val, eq := strings.Cut(s, "=")
			v := arg.Word{Text: val, Taint: a.Taint, Quoted: true}
			if !eq && (values[name] || (values["all"] || longText()[name]) && i+1 < len(args) && !strings.HasPrefix(args[i+1].Text, "-")) && i+1 < len(args) {
				i++
				v = args[i]
			}
			o.put(name, v)
		case len(s) > 1 && (s[0] == '-' || s[0] == '+') && s != "-":
			if long || s[0] == '+' {
				name, val, eq := strings.Cut(s, "=")
				v := arg.Word{Text: val, Taint: a.Taint, Quoted: true}
				if !eq && values[name] && i+1 < len(args) {
					i++
					v = args[i]
				}
				o.put(name, v)
				if s[0] == '+' {
					o.words = append(o.words, a) // to most, a word like any other
				} else {
					o.flags["-"+name] = v
				}
				continue
			}
			if values[s] && len(s) > 2 { // a long option with one dash
				if i+1 < len(args) {
					i++
					o.put(s, args[i])
				}
				continue
			}
			if _, ok := o.flags[s]; !ok {
				o.flags[s] = arg.Word{}
			}
			if name, val, eq := strings.Cut(s, "="); eq && len(name) > 2 {
				o.put(name, arg.Word{Text: val, Taint: a.Taint, Quoted: true})
			}
			for j := 1; j < len(s); j++ {
				name := "-" + string(s[j])
				if !values[name] {
					if _, ok := o.flags[name]; !ok {
						o.flags[name] = arg.Word{}
					}
					if s[j] == '=' {
						break
					}
					continue
				}
				v := arg.Word{Text: strings.TrimPrefix(s[j+1:], "="), Taint: a.Taint, Quoted: true}
				if j+1 == len(s) && i+1 < len(args) {
					i++
					v = args[i]
				}
				o.put(name, v)
				break
			}
		default:
			if stop {
				return o, args[i:]
			}
			if strings.HasPrefix(s, arg.Unknown) && !a.Quoted {
				o.open = true
			}
			o.words = append(o.words, a)
		}
	}
	return o, nil
}

// matches says whether a rule is about these arguments.
func (r *rule) matches(o *options, action string) bool {
	if !r.meets(o.words, action) {
		return false
	}
	if r.end && len(o.words) > len(r.words) || r.piped && !o.piped || r.unpiped && o.piped {
		return false
	}
	for _, f := range r.flags {
		if !o.any(f) {
			if o.open && r.secret() {
				continue // what is not known could be that option
			}
			return false
		}
	}
	for _, f := range r.without {
		if o.exact(f) {
			return false
		}
	}
	for _, text := range r.has {
		if !hasText(o.words, text, r.secret()) {
			return false
		}
	}
	for _, text := range r.hasNot {
		if hasText(o.words, text, false) {
			return false
		}
	}
	return true
}

// meets says whether a command's words are those of the rule.
func (r *rule) meets(words []arg.Word, action string) bool {
	if !r.any {
		for i, want := range r.words {
			if i >= len(words) || !isOne(words[i].Text, want) {
				return false
			}
		}
		return true
	}
	switch {
	case r.grave(): // what destroys counts wherever it stands
	case action == "last" && len(words) > 0:
		words = words[len(words)-1:]
	case action == "rest" && len(words) > 0:
		if s := words[0].Text; (s == "alpha" || s == "beta") && len(words) > 1 {
			words = words[1:]
		}
		words = words[1:]
	}
	i := 0
	for _, v := range words {
		if i < len(r.words) && isOne(v.Text, r.words[i]) {
			i++
		}
	}
	return i == len(r.words)
}

func (r *rule) grave() bool {
	for _, e := range r.effects {
		if e.e.Risk.Level() >= human.HighRisk.Level() {
			return true
		}
	}
	return false
}

func (r *rule) secret() bool {
	for _, e := range r.effects {
		if e.e.Verb == human.CredentialAccess {
			return true
		}
	}
	return false
}

// exact is any without abbreviations, for what makes a command harmless.
func (o *options) exact(alternatives string) bool {
	names, want, valued := cutValue(alternatives)
	for _, n := range strings.Split(names, "|") {
		v, ok := o.flags[n]
		if !ok {
			continue
		}
		if !valued {
			if v.Text == "false" || v.Text == "none" {
				continue // --dry-run=none
			}
			return true
		}
		for _, x := range strings.Split(want, "|") {
			if v.Text == x {
				return true
			}
		}
	}
	return false
}

func isOne(s, alternatives string) bool {
	if alternatives == "*" {
		return true
	}
	for alternatives != "" {
		var one string
		one, alternatives, _ = strings.Cut(alternatives, "|")
		begin, starred := strings.CutSuffix(one, "*")
		if inner, anywhere := strings.CutPrefix(begin, "*"); s == one || starred && (strings.HasPrefix(s, begin) || anywhere && inner != "" && strings.Contains(s, inner)) {
			return true
		}
	}
	return false
}

// hasText says whether one of the texts stands in a word; one that is not known may hold any, where that is asked.
func hasText(words []arg.Word, alternatives string, may bool) bool {
	for _, one := range strings.Split(alternatives, "|") {
		for _, v := range words {
			switch {
			case may && !v.Known():
				return true
			case len(one) > 1 && one[0] == '=':
				if v.Text == one[1:] {
					return true
				}
			case strings.HasPrefix(one, "^"):
				if strings.HasPrefix(v.Text, one[1:]) {
					return true
				}
			case strings.Contains(v.Text, one):
				return true
			}
		}
	}
	return false
}
