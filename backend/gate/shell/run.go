package shell

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"deskbell/backend/human"
)

// a cmd is one command that is being gone through.
type cmd struct {
	name string
	args []value // without the name
	in   stream

	secrets int // how many secrets had been read before it
}

func (w *walker) call(c *syntax.CallExpr, in stream) stream {
	var args []value
	for _, word := range c.Args {
		args = append(args, w.fields(word)...)
	}
	if len(args) == 0 {
		for _, a := range c.Assigns {
			w.assign(a)
		}
		// $(cmd) alone on a line runs what cmd printed; where that is known, or nothing, it has been dealt with.
		return stream{known: true}
	}
	if len(c.Assigns) > 0 {
		before := w.save().vars
		for _, a := range c.Assigns {
			w.assign(a)
		}
		defer func() {
			for _, a := range c.Assigns { // some shells keep what stands before a builtin or a function
				old, there := before[a.Name.Value]
				if !there {
					old = variable{begun: true}
				}
				w.vars[a.Name.Value] = w.either(old, w.vars[a.Name.Value])
			}
		}()
	}
	defer w.enter(c, args, in)()
	return w.run(args, in)
}

// standardDirs are where the programs of the system lie; elsewhere a name says nothing about a program.
var standardDirs = setOf("/bin /sbin /usr/bin /usr/sbin /usr/local/bin /usr/local/sbin /opt/homebrew/bin /snap/bin /opt/local/bin /run/current-system/sw/bin")

func (w *walker) run(args []value, in stream) stream {
	own := w.own
	w.own = false
	if len(args) == 0 {
		return stream{known: true}
	}
	w.ran(args)
	if w.node != nil {
		defer w.deeper("", written(args), args...)()
	}
	if w.depth >= maxDepth || !w.step(2+len(args)/2) {
		if !w.spent {
			w.opaque("shell.too_deep", "thing_commands_within")
		}
		return stream{}
	}
	w.depth++
	defer func() { w.depth-- }()
	c := &cmd{args: args[1:], in: in, secrets: w.secrets}
	name := args[0]
	if !name.known() {
		if base := path.Base(name.s); base != "" && strings.Contains(name.s, "/") && !strings.Contains(base, unknown) {
			name = known(base) // $DIR/bin/rm is still called rm
			if h := handlers()[base]; h == nil && specOf(base) == nil {
				w.unseen(args[0], "shell.unknown_command")
				return stream{taint: in.taint | madeHere}
			}
		} else {
			w.unseen(args[0], "shell.unknown_command")
			return stream{taint: in.taint | madeHere}
		}
	}
	c.name = name.s
	if name.glob && strings.ContainsAny(c.name, "*?[") && c.name != "[" && c.name != "[[" {
		w.unseen(name, "shell.unknown_command") // whatever file it fits
		return stream{taint: in.taint | madeHere}
	}
	if key, _, ok := strings.Cut(c.name, "="); ok && key != "" && strings.Trim(key, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789") == "" {
		return w.assignsThen(c, args, "env") // what some wrappers take for an assignment
	}
	if strings.ContainsAny(c.name, " \n") {
		// Hardly a program's name; more likely a command that was quoted once too often.
		w.emit(human.Effect{Verb: human.UnknownEffect, Resource: clip(c.name), Certainty: human.Possible, Risk: human.MediumRisk, Reversibility: human.Costly, Blast: human.MachineBlast, Rule: "shell.odd_name"})
		return w.script(c.name, "sh", nil, in)
	}
	if alias, ok := w.aliases[c.name]; ok {
		delete(w.aliases, c.name)
		back := w.instead(own)
		w.script(alias.s+" "+quoteAll(c.args), "bash", nil, in)
		back()
		w.aliases[c.name] = alias
	}
	if bodies := w.funcs[c.name]; len(bodies) > 0 {
		return w.function(c, bodies[w.pick(len(bodies))], own)
	}
	if !inShell()[c.name] { // a process of its own: what it sets is gone with it
		defer w.restore(w.save())
	}
	if own, sure := w.ours(name); own != "" && sure {
		c.name = own
	}
	if strings.Contains(c.name, "/") {
		dir, base := path.Split(c.name)
		dir = path.Clean(dir)
		switch {
		case standardDirs()[dir]:
			c.name = base
		case strings.HasSuffix(dir, "node_modules/.bin") || strings.HasSuffix(dir, "venv/bin") || strings.HasSuffix(dir, "env/bin") || strings.HasSuffix(dir, "vendor/bin"):
			c.name = base
		case base == "gradlew" || base == "mvnw":
			c.name = base
		case dir == "bin" && stubs()[base] && !w.runsWritten(name, "ruby", nil):
			c.name = base
		default:
			return w.program(args[0], c)
		}
	}
	c.name = strings.TrimSuffix(c.name, ".exe")
	if toolchains()[c.name] && len(c.args) > 0 && strings.HasPrefix(c.args[0].s, "+") {
		c.args = c.args[1:] // cargo +nightly
	}
	if w.onlyHelp(c) {
		w.emit(human.Effect{Verb: human.FilesystemRead, Resource: c.name, Risk: human.NoRisk, Rule: "shell.help"})
		return stream{taint: in.taint}
	}
	before, from, asked, ran, writes := w.secrets, len(w.effects), len(w.called), w.ranCode, w.kept
	out, handled := stream{}, false
	if h := handlers()[c.name]; h != nil {
		out, handled = h(w, c)
	}
	if !handled {
		out = w.apply(c)
		w.embedded(c)
		w.telling(c)
		w.tasks(c)
		if taskRunners()[c.name] {
			w.asked(c, c.args)
		}
	}
	for _, a := range c.args {
		out.taint |= a.taint
	}
	w.guards(c, before, from)
	w.runsWhatWasWritten(c, ran, writes)
	w.takesAll(c)
	w.reaches(c, from, asked)
	if w.secrets > before {
		out.taint |= fromSecret
	}
	if !out.known {
		out.taint |= in.taint
	}
	out.open = true
	return out
}

// inShell are the commands that the shell itself runs, and that may change what it is left in.
var inShell = setOf(": . source eval exec command builtin cd pushd popd chdir set shift unset read mapfile readarray getopts export declare typeset local readonly break continue return trap alias unalias printf let test [ " +
	"hash umask shopt setopt unsetopt enable true false echo noglob nocorrect")

// toolchains take the name of one, "+nightly", before all else.
var toolchains = setOf("cargo rustc rustdoc rustfmt")

// stubs are what frameworks put into a project's folder bin for a program of that name.
var stubs = setOf("rails rake rspec rubocop bundle brakeman importmap phpunit")

func quoteAll(args []value) string {
	var b strings.Builder
	for _, a := range args {
		b.WriteString(" '")
		b.WriteString(strings.ReplaceAll(a.s, "'", `'\''`))
		b.WriteString("'")
	}
	return b.String()
}

// unseen is a command that is known only when it runs.
func (w *walker) unseen(v value, rule string) {
	e := human.Effect{Verb: human.UnknownEffect, Resource: v.shown(), Certainty: human.Possible, Risk: human.HighRisk, Reversibility: human.Irreversible, Blast: human.MachineBlast, Rule: rule}
	if v.taint&fromDecoder != 0 {
		e.Verb, e.Risk = human.ObfuscatedEffect, human.CriticalRisk
	}
	if v.taint&fromNetwork != 0 {
		e.Verb, e.Risk, e.HardLimit, e.Rule = human.LangExec, human.CriticalRisk, true, "floor.download_run"
	}
	w.emit(e)
}

func (w *walker) function(c *cmd, body *syntax.Stmt, own bool) stream {
	if slices.Contains(w.active, body) {
		if w.spawning > 0 {
			w.emit(human.Effect{Verb: human.ProcessSignal, Resource: c.name, Certainty: human.Certain, Risk: human.CriticalRisk, HardLimit: true, Reversibility: human.Costly, Blast: human.MachineBlast, Rule: "floor.fork_bomb"})
		}
		return stream{}
	}
	w.active = append(w.active, body)
	old, there := w.vars[parameters]
	w.vars[parameters] = variable{may: []value{array(c.args)}}
	back := w.instead(own)
	f := &frame{function: true, doubts: w.doubts}
	var out stream
	w.within(f, func() { out = w.stmt(body, c.in) })
	w.shows(f)
	back()
	w.vars[parameters] = old
	if !there {
		delete(w.vars, parameters)
	}
	w.active = w.active[:len(w.active)-1]
	// A function may hide a command of the same name. Whether it does where this runs is not for us to trust.
	if handlers()[c.name] != nil || specOf(c.name) != nil {
		fn := w.funcs[c.name]
		delete(w.funcs, c.name)
		out.taint |= w.run(append([]value{known(c.name)}, c.args...), c.in).taint // what comes of either
		w.funcs[c.name] = fn
	}
	return out
}

// program is a program or script named by its path.
func (w *walker) program(name value, c *cmd) stream {
	if _, ok := w.file(name); ok {
		w.asked(c, c.args)
		w.scriptFile(name, "", c)
		if own, _ := w.ours(name); own != "" {
			w.run(append([]value{known(own)}, c.args...), c.in)
		}
		return stream{taint: c.in.taint}
	}
	if w.onlyHelp(c) {
		w.emit(human.Effect{Verb: human.LangExec, Resource: name.shown(), Risk: human.LowRisk, Certainty: human.Likely, Rule: "shell.program_help"})
		return stream{}
	}
	w.asked(c, c.args)
	w.scriptFile(name, "", c)
	// A program that lies elsewhere may still be the one that its name says.
	base := path.Base(c.name)
	if own := ownProgram(base); own != "" {
		base = own
	}
	if handlers()[base] != nil || specOf(base) != nil {
		w.run(append([]value{known(base)}, c.args...), c.in)
	}
	return stream{taint: c.in.taint | madeHere}
}

// scriptFile is a script that is run by its path; language is "" where it is not known.
func (w *walker) scriptFile(name value, language string, c *cmd) {
	if f, ok := w.file(name); ok {
		if f.built && language == "" {
			w.emit(human.Effect{Verb: human.PackageRun, Resource: name.shown(), Certainty: human.Likely, Risk: human.LowRisk, Reversibility: human.Costly, Blast: human.ProjectBlast, Rule: "shell.built_program"})
			return
		}
		if language == "" {
			language = languageOf(name.s, language, f.text)
		}
		switch {
		case f.from != "" && f.taint&fromNetwork == 0:
			name = known(f.from)
		case f.edited && !f.known && f.taint&fromNetwork == 0:
			w.changedFile(name)
			return
		default:
			w.feed(language, f, "shell.written_script")
			return
		}
	}
	p, target := w.placeOf(name, w.dir)
	e := human.Effect{Verb: human.LangExec, Resource: name.shown(), Target: target, Certainty: human.Possible, Risk: human.MediumRisk, Reversibility: human.Costly, Blast: human.MachineBlast, Rule: "shell.script_file"}
	w.rests(name)
	if w.evidence != nil && name.known() && p != unknownSpot {
		if text, ok := w.evidence.Text(target); ok {
			w.emit(human.Effect{Verb: human.LangExec, Resource: name.shown(), Target: target, Risk: human.LowRisk, Reversibility: human.Costly, Blast: human.ProjectBlast, Rule: "shell.script_read"})
			w.feed(languageOf(name.s, language, text), stream{text: text, known: true}, "shell.script_read")
			return
		}
	}
	if p == unknownSpot || p == nullDevice || p == inTemp || p == outside {
		e.Risk = human.HighRisk
	}
	if p == nullDevice && name.s != "/dev/stdin" && name.s != "-" {
		e.Risk = human.MediumRisk
	}
	w.emit(e)
}

func languageOf(name, language, text string) string {
	if language != "" {
		return language
	}
	if l := codeByName(name); l != "" {
		return l
	}
	first, _, _ := strings.Cut(text, "\n")
	for _, l := range []string{"python", "node", "ruby", "perl", "php"} {
		if strings.HasPrefix(first, "#!") && strings.Contains(first, l) {
			return l
		}
	}
	return "sh"
}

// feed is what an interpreter is given to run by a pipe, a here-document or a file that this script wrote.
func (w *walker) feed(language string, s stream, rule string) {
	if s.taint&fromNetwork != 0 {
		w.emit(unnamed("thing_downloaded", human.Effect{Verb: human.LangExec, Certainty: human.Certain, Risk: human.CriticalRisk, HardLimit: true, Reversibility: human.Irreversible, Blast: human.MachineBlast, Rule: "floor.download_run"}))
	}
	if s.known {
		source := rule == "shell.changed_file" || rule == "shell.script_read"
		if language == "" || isShell(language) {
			w.script(s.text, "bash", nil, stream{})
			if s.taint&fromDecoder != 0 {
				w.emit(human.Effect{Verb: human.ObfuscatedEffect, Resource: clip(s.text), Certainty: human.Certain, Risk: human.HighRisk, Reversibility: human.Irreversible, Blast: human.MachineBlast, Rule: "shell.decoded_run"})
			}
			return
		}
		w.judge(language, value{s: s.text, taint: s.taint, quoted: true}, !source)
		return
	}
	if s.taint&fromNetwork != 0 {
		return
	}
	e := unnamed("thing_pipe", human.Effect{Verb: human.LangExec, Certainty: human.Possible, Risk: human.HighRisk, Reversibility: human.Irreversible, Blast: human.MachineBlast, Rule: rule})
	if s.taint&fromDecoder != 0 {
		e.Verb, e.Risk, e.Rule = human.ObfuscatedEffect, human.CriticalRisk, "shell.decoded_run"
	}
	w.emit(e)
	if s.text != "" {
		w.script(s.text, "bash", nil, stream{})
	}
}

// leak is a secret that leaves for the network.
func (w *walker) leak(to string) {
	w.emit(human.Effect{Verb: human.NetworkWrite, Resource: to, Certainty: human.Certain, Risk: human.CriticalRisk, HardLimit: true, Reversibility: human.Irreversible, Blast: human.PublicBlast, Rule: "floor.secret_sent"})
}

// onlyHelp says whether a command asks for nothing but its help or version: words that could be subcommands, and then
// the one option. More than that, and it could be an argument of something else.
func (w *walker) onlyHelp(c *cmd) bool {
	n := len(c.args)
	if n == 0 || n > 6 || noHelp()[c.name] {
		return false
	}
	last := c.args[n-1].s
	switch last {
	case "--help", "--version", "-help", "-version", "--usage":
	case "-h", "-V":
		if n > 1 && handlers()[c.name] != nil || c.name == "shutdown" {
			return false
		}
	case "-v", "version", "help", "-?", "-H":
		if n > 1 && (c.name != "aws" || last != "help" || n > 3) || specOf(c.name) == nil && handlers()[c.name] == nil || last == "-H" {
			return false
		}
	default:
		return false
	}
	for _, a := range c.args[:n-1] {
		for i := range len(a.s) {
			ch := a.s[i]
			letter := ch >= 'a' && ch <= 'z' || ch >= 'A' && ch <= 'Z'
			if !letter && (i == 0 || (ch < '0' || ch > '9') && ch != '-' && ch != '_' && ch != ':' && ch != '.') {
				return false
			}
		}
		if a.s == "" {
			return false
		}
	}
	return true
}

// noHelp are commands whose words are not their own: commands that they run, text, files that they delete.
var noHelp = setOf("sudo doas env xargs eval exec command builtin nohup nice timeout time watch bash sh zsh dash ksh fish ash find echo printf rm rmdir unlink shred dd ssh parallel " +
	"python python3 perl ruby node php setsid stdbuf ionice chroot su script strace ltrace busybox toybox npx uvx trap source . read test [ git-upload-pack tee kill pkill killall cat cd say print")

// apply judges a command by what is written of it.
func (w *walker) apply(c *cmd) stream {
	s := specOf(c.name)
	if s == nil {
		w.generic(c)
		return stream{taint: c.in.taint | madeHere}
	}
	if s.wrap >= 0 {
		o, rest := parse(c.args, s.values, s.long, true)
		// An option that takes no value here may take one in another version, and the other way round.
		for i := range c.args[:max(0, len(c.args)-len(rest))] {
			own, _ := w.ours(c.args[i])
			if i > 0 && (own != "" || dangerousNames()[path.Base(c.args[i].s)]) {
				w.run(c.args[i:], c.in)
				break
			}
		}
		w.pipesTo(s, c.args[:len(c.args)-len(rest)])
		if len(rest) > s.wrap {
			w.rules(s, &o, c, false)
			return w.run(rest[s.wrap:], c.in)
		}
		w.rules(s, &o, c, true)
		return stream{}
	}
	o, _ := parse(c.args, s.values, s.long, false)
	w.rules(s, &o, c, true)
	w.pipesTo(s, c.args)
	return stream{taint: madeHere}
}

// Options whose values are words to look for or to write, in whatever program.
var wordOptions = setOf("-e -m -q -F -t -b --grep --search --message --body --title --query --pattern --regexp --regex --filter --match --jq --format --template --author --label --separator --delimiter --expression --replace")

// pipesTo goes through the values of options that are no file but a pipe to a command, as many programs take them.
func (w *walker) pipesTo(s *spec, args []value) {
	for i, a := range args {
		name, _, _ := strings.Cut(a.s, "=")
		if wordOptions()[name] || i > 0 && wordOptions()[args[i-1].s] {
			continue
		}
		text := strings.TrimLeft(a.s, "-")
		if at := strings.IndexAny(text, "|="); at >= 0 && at+1 < len(text) && text[at] == '=' {
			text = text[at+1:]
		}
		if (i > 0 || strings.HasPrefix(a.s, "-")) && !s.data && len(text) > 2 && text[0] == '|' && text[1] != '|' && (strings.HasPrefix(a.s, "-") || strings.HasPrefix(args[i-1].s, "-")) {
			w.script(text[1:], "sh", nil, stream{})
		}
	}
}

// rules emits the effects of every rule that is about this command: none ends the search, the most severe decides.
func (w *walker) rules(s *spec, o *options, c *cmd, must bool) {
	if !s.data {
		w.readsSecrets(o, c.name)
	}
	found := false
	for i := range s.rules {
		r := &s.rules[i]
		if !r.matches(o, s.action) {
			continue
		}
		found = true
		for _, e := range r.effects {
			w.effect(e, r.id, o, c)
		}
	}
	if found || !must {
		return
	}
	if s.verbs {
		w.byVerb(s.name, o, c, true)
		return
	}
	w.emit(human.Effect{Verb: human.UnknownEffect, Resource: w.shown(c), Certainty: human.Possible, Risk: human.MediumRisk, Reversibility: human.Costly, Blast: human.MachineBlast, Rule: s.name + ".unknown"})
}

func (w *walker) shown(c *cmd) string {
	var b strings.Builder
	b.WriteString(c.name)
	for _, a := range c.args {
		b.WriteByte(' ')
		b.WriteString(a.shown())
		if b.Len() > 120 {
			break
		}
	}
	return clip(b.String())
}

func (w *walker) readsSecrets(o *options, name string) {
	given := o.has("-e", "--regexp", "-f", "--file", "--from-file")
	for i, v := range o.words {
		if i == 0 && !given && looksFor()[name] || filters()[name] && (i == 0 || i == 1 && !strings.HasPrefix(o.words[0].s, ".")) && strings.HasPrefix(v.s, ".") && !strings.Contains(v.s, "/") && !given {
			continue
		}
		if couldBePath(v.s) {
			w.reading(v, name+".reads")
		}
	}
	if len(o.flags) > 0 {
		for _, f := range sortedKeys(o.flags) {
			if looksFor()[name] && (f == "-e" || f == "--regexp") {
				continue
			}
			if v := o.flags[f]; v.s != "" && couldBePath(v.s) && !usesKeys()[f] && !textOptions()[f] {
				v.s = strings.TrimPrefix(v.s, "@")
				w.reading(v, name+".reads")
			}
		}
	}
}

// Programs whose first word is what they look for, and those whose words may be filters of a language of their own.
var (
	looksFor = setOf("grep egrep fgrep zgrep bzgrep xzgrep rg ag ack ugrep pcregrep fd fdfind rga sift pt pgrep")
	filters  = setOf("jq yq gojq jaq dasel fx jless xq")
)

// Options whose value is text for people, or to look for.
var textOptions = setOf("-m --message --title --body --grep --author --reason --description --search --comment --notes --subject --label --name --query --jq --format --template --filter --pattern -S -G")

// Those of them that take a value in every program that has them.
var longText = setOf("--message --title --body --grep --author --reason --description --search --comment --notes --subject")

// Options that name a key or a certificate to prove who one is: using it is not reading it.
var usesKeys = setOf("--cert --key -E --cacert --capath --env-file --vault-password-file --private-key --identity-file --client-certificate --client-key --certificate-authority --kubeconfig --ca-certificate --certificate --tls-cert --tls-key")

func sortedKeys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

func couldBePath(s string) bool {
	return s != "" && len(s) < 512 && !strings.ContainsAny(s, " \n\t;|&<>") && strings.ContainsAny(s, "./_~") || secretNames()[s] || s == ownName
}

func (w *walker) effect(s effectSpec, id string, o *options, c *cmd) {
	e := s.e
	e.Rule = id
	if e.Verb == human.GitDiscard && w.evidence != nil && e.Risk == human.HighRisk && w.inOwnTree(c) && w.evidence.Clean() {
		switch {
		case strings.HasPrefix(id, "git.checkout"), strings.HasPrefix(id, "git.restore"):
			e.Risk = human.LowRisk // there is nothing that no commit holds
		case strings.HasPrefix(id, "git.reset") && w.evidence.Pushed():
			e.Risk = human.MediumRisk
		}
	}
	if s.paths == "" {
		e.Resource = w.shown(c)
		if e.Verb == human.NetworkWrite && e.Risk == human.MediumRisk && toItself(c, o) {
			e.Risk, e.Blast, e.Reversibility = human.LowRisk, human.MachineBlast, human.Costly
		}
		w.emit(e)
		if e.Verb == human.NetworkRead || e.Verb == human.NetworkWrite {
			for _, a := range c.args {
				w.tellsKeys(a.s)
			}
		}
		switch {
		case e.Verb == human.NetworkWrite:
			w.sends(c, id)
		case tells()[c.name]:
			secret := c.in.taint&fromSecret != 0 && e.Verb == human.NetworkRead
			for _, a := range c.args {
				secret = secret || a.taint&fromSecret != 0
				// $(whoami).x.example tells x.example who one is.
				if a.taint&madeHere != 0 && strings.HasPrefix(a.s, unknown) && strings.HasPrefix(strings.TrimLeft(a.s, unknown), ".") {
					w.simple(c, human.NetworkWrite, human.MediumRisk, "tells")
				}
			}
			if secret {
				w.leak(w.shown(c))
			}
		}
		return
	}
	var paths []value
	switch s.paths {
	case "all":
		paths = o.words
	case "first":
		paths = o.words[:min(1, len(o.words))]
	case "last":
		paths = o.words[max(0, len(o.words)-1):]
	case "rest":
		paths = o.words[min(1, len(o.words)):]
	default:
		for _, f := range strings.Split(s.paths, "|") {
			if v, ok := o.flags[f]; ok && v.s != "" {
				paths = append(paths, v)
			}
		}
	}
	if len(paths) == 0 {
		e.Resource = w.shown(c)
		e.Certainty = human.Likely
		w.emit(e)
	}
	for _, p := range paths {
		switch e.Verb {
		case human.FilesystemWrite:
			w.writing(p, id)
			if c.name == "mkdir" {
				continue // a folder is nothing that runs
			}
			t := c.in.taint
			if w.secrets > c.secrets {
				t |= fromSecret // an archive of them, or an encoding
			}
			w.keep(p, stream{taint: t, built: w.builds(c, o)})
		case human.FilesystemDelete:
			w.deleting(p, e.Blast == human.ProjectBlast && o.has("-r", "-R", "--recursive"), id)
		default:
			w.reading(p, id)
		}
	}
}

var compilers = setOf("go gcc g++ clang clang++ cc c++ rustc")

// builds says whether a compiler makes a program of nothing but the project's own code, as it was before this script: to
// run that is no more than to run the project, as `go run` does.
func (w *walker) builds(c *cmd, o *options) bool {
	if !compilers()[c.name] || c.in.open || len(o.words) == 0 {
		return false
	}
	for name, f := range w.files {
		if !f.built && kindOf(name) != "text" {
			return false
		}
	}
	for _, e := range w.effects {
		switch e.Verb {
		case human.FilesystemRead, human.GitRead, human.PackageRun:
		case human.FilesystemWrite:
			if e.Risk.Level() > human.LowRisk.Level() {
				return false
			}
		default:
			return false
		}
	}
	for _, v := range o.words {
		p, _ := w.placeOf(v, w.dir)
		if !v.known() || p != inProject && p != projectRoot {
			return false
		}
	}
	return true
}

// tells are programs that only look something up, but tell others what they look for.
var tells = setOf("dig nslookup drill host doggo dog ping ping6 traceroute tracepath tracert mtr whois arping fping tcptraceroute firefox chromium google-chrome brave lynx w3m links elinks open xdg-open browsh httpx grpcurl openssl websocat wscat curlie ssh-keyscan finger getent showmount rpcinfo nmap")

// sends checks whether what a command sends to the network is a secret.
func (w *walker) sends(c *cmd, id string) {
	secret := c.in.taint&fromSecret != 0
	for _, a := range c.args {
		secret = secret || a.taint&fromSecret != 0
		if p, _ := w.placeOf(value{s: strings.TrimPrefix(a.s, "@")}, w.dir); couldBePath(a.s) && (p == secretSpot || p == envFile) {
			secret = true
		}
	}
	if secret {
		w.leak(w.shown(c))
	}
}

// The verbs that commands of all kinds name their actions by.
var (
	lookVerbs = setOf("list ls get show describe status info view inspect version help search find print display query diff log logs history tail head cat " +
		"whoami ping check validate verify test explain top stats count exists read lookup which why tree outdated doctor events ps images docs lint audit " +
		"ll index enumerate summary report usage env completion details dump-config current peek lint-config plan preview diagnose capabilities")
	// Of programs that are known to use verbs: one of these, and nothing else, lists them.
	lists = setOf("apps devices routes deployments available tags topics members nodes services projects regions zones buckets images versions releases plugins " +
		"environments instances volumes networks groups clusters domains addons contexts profiles providers models sessions tasks jobs builds pods stacks workspaces boards targets packages modules recipes templates balance")
	loseVerbs = setOf("delete del rm remove destroy drop purge erase wipe clear reset revoke terminate kill prune uninstall flush truncate rollback revert " +
		"deregister unregister disable detach disassociate format shutdown reboot stop force-delete empty unpublish deprecate archive expire discard " +
		"overwrite forget nuke cleanup clean abort cancel drain evict rotate roll restore failover undeploy teardown deactivate unlink unset " +
		"delete-all remove-all deletefile rmdir rmdirs invalidate close down unsubscribe destroy-all down-all reset-all factory-reset repossess")
	losePrefixes = []string{"delete-", "delete_", "remove-", "remove_", "destroy-", "purge-", "terminate-", "drop-", "revoke-", "deregister-", "wipe-", "reset-", "clear-", "clear_", "force-", "disable-", "uninstall-", "forget_", "purge_"}
	lookPrefixes = []string{"list-", "list_", "get-", "get_", "describe-", "show-", "show_", "search-", "view-"}
)

// byVerb judges a command by the first of its words that is a verb. known says that the program is one we know to use
// verbs that way.
func (w *walker) byVerb(name string, o *options, c *cmd, known bool) {
	e := human.Effect{Verb: human.ServiceEffect, Resource: w.shown(c), Certainty: human.Likely, Risk: human.MediumRisk, Reversibility: human.Costly, Blast: human.SharedBlast, Rule: name + ".changes"}
	if !known {
		e = human.Effect{Verb: human.UnknownEffect, Resource: w.shown(c), Certainty: human.Possible, Risk: human.MediumRisk, Reversibility: human.Costly, Blast: human.MachineBlast, Rule: "shell.unknown_program"}
	}
	look := false
	for i, v := range o.words {
		if i > 4 {
			break
		}
		word := v.s
		if !v.known() {
			break
		}
		if i := strings.LastIndexByte(word, ':'); i >= 0 { // apps:destroy
			word = word[i+1:]
		}
		if loses(word) {
			e.Risk, e.Reversibility = human.HighRisk, human.Irreversible
			e.Rule = strings.TrimSuffix(e.Rule, ".changes") + ".destroys"
			look = false
			break
		}
		if lookVerbs()[word] || hasPrefix(word, lookPrefixes) || known && len(o.words) == 1 && lists()[word] {
			look = true
			break
		}
	}
	for _, f := range []string{"--delete", "--destroy", "--purge", "--wipe", "--drop", "--erase", "--remove", "--delete-all", "--force-delete"} {
		if o.has(f) {
			e.Risk, e.Reversibility, look = human.HighRisk, human.Irreversible, false
		}
	}
	if look {
		e.Verb, e.Risk, e.Reversibility, e.Blast = human.FilesystemRead, human.NoRisk, human.Reversible, human.FileBlast
		e.Rule = name + ".looks"
		if !known {
			e.Risk, e.Rule = human.LowRisk, "shell.unknown_looks"
		}
	}
	w.emit(e)
}

func loses(word string) bool { return loseVerbs()[word] || hasPrefix(word, losePrefixes) }

func hasPrefix(s string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

// generic judges a program that nothing is known of.
func (w *walker) generic(c *cmd) {
	o, _ := parse(c.args, nil, false, false)
	w.readsSecrets(&o, "shell.unknown_program")
	if sqlVerbs()[c.name] { // a statement, given to a shell by mistake or to a client that takes it so
		w.query(&cmd{name: "sql"}, joined(append([]value{known(c.name)}, c.args...)), false)
	}
	w.byVerb(c.name, &o, c, false)
	// Unknown programs often run what they are given: a destructive command among the arguments counts.
	for i, a := range c.args {
		if i > 12 {
			break
		}
		if dangerousNames()[path.Base(a.s)] && i+1 <= len(c.args) {
			w.run(c.args[i:], c.in)
			break
		}
		if strings.ContainsRune(a.s, ' ') && len(a.s) < 2000 && a.known() {
			first, _, _ := strings.Cut(strings.TrimSpace(a.s), " ")
			if sqlVerbs()[strings.ToUpper(first)] && i > 0 && takesQuery()[c.args[i-1].s] {
				w.query(&cmd{name: "sql"}, a, false)
			}
			if dangerousNames()[path.Base(first)] {
				w.script(a.s, "sh", nil, stream{})
			}
		}
	}
	given := c.in.taint
	for _, a := range c.args {
		given |= a.taint
	}
	if given&fromSecret != 0 {
		w.emit(human.Effect{Verb: human.CredentialAccess, Resource: w.shown(c), Certainty: human.Possible, Risk: human.HighRisk, Reversibility: human.Irreversible, Blast: human.MachineBlast, Rule: "shell.secret_given"})
	}
}

// Options by which clients of databases take a query.
var takesQuery = setOf("-e -c -q -Q -s --execute --command --query --sql -execute -query --eval")

// scriptLoses are what programs of a project are asked to do that takes data away, by the words of many: manage.py flush.
var scriptLoses = setOf("flush sqlflush drop drop_all drop-all destroy destroy_all destroy-all purge wipe truncate nuke fresh delete delete_all delete-all reset_db reset-db db-reset db_reset dropdb drop_db drop-db erase teardown undeploy unpublish revoke")

// asked notes what a script is asked to do, where its words say that something goes. What the script makes of it is not known.
func (w *walker) asked(c *cmd, words []value) {
	for i, v := range words {
		if i > 2 {
			return
		}
		if scriptLoses()[v.s[strings.LastIndexByte(v.s, ':')+1:]] {
			e := verbDefaults[human.ServiceEffect]
			e.Verb, e.Risk, e.Rule, e.Resource, e.Certainty, e.Reversibility = human.ServiceEffect, human.HighRisk, "shell.script_asked", w.shown(c), human.Likely, human.Irreversible
			w.emit(e)
			return
		}
	}
}

// Runners of a project's tasks, whose words are the project's own.
var taskRunners = setOf("task go-task invoke inv mage doit poe tox nox nx turbo mise just make gmake rake grunt gulp fab")

var (
	dbTasks = setOf("db database schema migrate migration migrations doctrine ecto")
	dbLoses = setOf("drop reset rollback purge wipe fresh replant truncate_all truncate down undo destroy flush refresh")
)

// tasks notes tasks of a database that are named with colons, as runners of tasks do: rake db:drop:all.
func (w *walker) tasks(c *cmd) {
	for i, v := range c.args {
		if i > 6 {
			return
		}
		parts := strings.Split(v.s, ":")
		if len(parts) > 1 && len(parts) < 6 && dbTasks()[parts[0]] && slices.ContainsFunc(parts[1:], func(p string) bool { return dbLoses()[strings.TrimLeft(p, "_")] }) {
			w.simple(c, human.DatabaseEffect, human.HighRisk, "database_task")
			return
		}
	}
}

var sqlVerbs = setOf("TRUNCATE DROP DELETE GRANT REVOKE UPDATE ALTER INSERT CREATE MERGE REPLACE")

var dangerousNames = setOf("rm shred dd mkfs mkfs.ext4 mkfs.xfs mkfs.btrfs mkfs.vfat wipefs sudo bash sh zsh git kubectl terraform aws gcloud docker curl wget chmod chown kill eval python python3 perl ruby node systemctl shutdown reboot mv truncate find xargs deskbell deskbell-hook")
