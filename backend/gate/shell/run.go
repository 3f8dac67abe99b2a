package shell

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"deskbell/backend/gate/lazy"
	"deskbell/backend/gate/shell/arg"
	"deskbell/backend/gate/shell/commands"
	"deskbell/backend/gate/shell/paths"
	"deskbell/backend/gate/shell/recipes"
	"deskbell/backend/human"
)

// a cmd is one command that is being gone through.
type cmd struct {
	name string
	args []arg.Word // without the name
	in   stream

	secrets int // how many secrets had been read before it
}

func (w *walker) call(c *syntax.CallExpr, in stream) stream {
	var args []arg.Word
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
var standardDirs = lazy.Set("/bin /sbin /usr/bin /usr/sbin /usr/local/bin /usr/local/sbin /opt/homebrew/bin /snap/bin /opt/local/bin /run/current-system/sw/bin")

func (w *walker) run(args []arg.Word, in stream) stream {
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
	if !name.Known() {
		if base := path.Base(name.Text); base != "" && strings.Contains(name.Text, "/") && !strings.Contains(base, arg.Unknown) {
			name = arg.Known(base) // $DIR/bin/rm is still called rm
			if h := handlers()[base]; h == nil && commands.Of(base) == nil {
				w.unseen(args[0], "shell.unknown_command")
				return stream{taint: in.taint | arg.MadeHere}
			}
		} else {
			w.unseen(args[0], "shell.unknown_command")
			return stream{taint: in.taint | arg.MadeHere}
		}
	}
	c.name = name.Text
	if name.Glob && strings.ContainsAny(c.name, "*?[") && c.name != "[" && c.name != "[[" {
		w.unseen(name, "shell.unknown_command") // whatever file it fits
		return stream{taint: in.taint | arg.MadeHere}
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
		w.script(alias.Text+" "+quoteAll(c.args), "bash", nil, in)
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
	if toolchains()[c.name] && len(c.args) > 0 && strings.HasPrefix(c.args[0].Text, "+") {
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
		w.telling(c)
		w.makesOutside(c, from)
		w.tasks(c)
		if taskRunners()[c.name] {
			w.asked(c, c.args)
		}
	}
	w.loading(c)
	for _, a := range c.args {
		out.taint |= a.Taint
	}
	w.guards(c, before, from)
	w.runsWhatWasWritten(c, ran, writes)
	w.takesAll(c)
	w.reaches(c, from, asked)
	if w.secrets > before {
		out.taint |= arg.FromSecret
	}
	if !out.known {
		out.taint |= in.taint
	}
	out.open = true
	return out
}

// inShell are the commands that the shell itself runs, and that may change what it is left in.
var inShell = lazy.Set(": . source eval exec command builtin cd pushd popd chdir set shift unset read mapfile readarray getopts export declare typeset local readonly break continue return trap alias unalias printf let test [ " +
	"hash umask shopt setopt unsetopt enable true false echo noglob nocorrect")

// toolchains take the name of one, "+nightly", before all else.
var toolchains = lazy.Set("cargo rustc rustdoc rustfmt")

// stubs are what frameworks put into a project's folder bin for a program of that name.
var stubs = lazy.Set("rails rake rspec rubocop bundle brakeman importmap phpunit")

func quoteAll(args []arg.Word) string {
	var b strings.Builder
	for _, a := range args {
		b.WriteString(" '")
		b.WriteString(strings.ReplaceAll(a.Text, "'", `'\''`))
		b.WriteString("'")
	}
	return b.String()
}

// unseen is a command that is known only when it runs.
func (w *walker) unseen(v arg.Word, rule string) {
	e := human.Effect{Verb: human.UnknownEffect, Resource: v.Shown(), Certainty: human.Possible, Risk: human.HighRisk, Reversibility: human.Irreversible, Blast: human.MachineBlast, Rule: rule}
	if v.Taint&arg.FromDecoder != 0 {
		e.Verb, e.Risk = human.ObfuscatedEffect, human.CriticalRisk
	}
	if v.Taint&arg.FromNetwork != 0 {
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
	w.vars[parameters] = variable{may: []arg.Word{arg.Array(c.args)}}
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
	if handlers()[c.name] != nil || commands.Of(c.name) != nil {
		fn := w.funcs[c.name]
		delete(w.funcs, c.name)
		out.taint |= w.run(append([]arg.Word{arg.Known(c.name)}, c.args...), c.in).taint // what comes of either
		w.funcs[c.name] = fn
	}
	return out
}

// program is a program or script named by its path.
func (w *walker) program(name arg.Word, c *cmd) stream {
	if _, ok := w.file(name); ok {
		w.asked(c, c.args)
		w.scriptFile(name, "", c)
		if own, _ := w.ours(name); own != "" {
			w.run(append([]arg.Word{arg.Known(own)}, c.args...), c.in)
		}
		return stream{taint: c.in.taint}
	}
	if w.onlyHelp(c) {
		w.emit(human.Effect{Verb: human.LangExec, Resource: name.Shown(), Risk: human.LowRisk, Certainty: human.Likely, Rule: "shell.program_help"})
		return stream{}
	}
	w.asked(c, c.args)
	w.scriptFile(name, "", c)
	// A program that lies elsewhere may still be the one that its name says.
	base := path.Base(c.name)
	if own := ownProgram(base); own != "" {
		base = own
	}
	if handlers()[base] != nil || commands.Of(base) != nil {
		w.run(append([]arg.Word{arg.Known(base)}, c.args...), c.in)
	}
	return stream{taint: c.in.taint | arg.MadeHere}
}

// scriptFile is a script that is run by its path; language is "" where it is not known.
func (w *walker) scriptFile(name arg.Word, language string, c *cmd) {
	if f, ok := w.file(name); ok {
		if f.built && language == "" {
			w.emit(human.Effect{Verb: human.PackageRun, Resource: name.Shown(), Certainty: human.Likely, Risk: human.LowRisk, Reversibility: human.Costly, Blast: human.ProjectBlast, Rule: "shell.built_program"})
			return
		}
		if language == "" {
			language = languageOf(name.Text, language, f.text)
		}
		switch {
		case f.from != "" && f.taint&arg.FromNetwork == 0:
			name = arg.Known(f.from)
		case f.edited && !f.known && f.taint&arg.FromNetwork == 0:
			w.changedFile(name)
			return
		default:
			w.feed(language, f, "shell.written_script")
			return
		}
	}
	p, target := w.placeOf(name, w.dir)
	e := human.Effect{Verb: human.LangExec, Resource: name.Shown(), Target: target, Certainty: human.Possible, Risk: human.MediumRisk, Reversibility: human.Costly, Blast: human.MachineBlast, Rule: "shell.script_file"}
	w.rests(name)
	if w.evidence != nil && name.Known() && p != paths.Unknown {
		if text, ok := w.evidence.Text(target); ok {
			w.emit(human.Effect{Verb: human.LangExec, Resource: name.Shown(), Target: target, Risk: human.LowRisk, Reversibility: human.Costly, Blast: human.ProjectBlast, Rule: "shell.script_read"})
			w.feed(languageOf(name.Text, language, text), stream{text: text, known: true}, "shell.script_read")
			return
		}
	}
	if p == paths.Unknown || p == paths.NullDevice || p == paths.InTemp || p == paths.Outside {
		e.Risk = human.HighRisk
	}
	if p == paths.NullDevice && name.Text != "/dev/stdin" && name.Text != "-" {
		e.Risk = human.MediumRisk
	}
	w.emit(e)
}

func languageOf(name, language, text string) string {
	if language != "" {
		return language
	}
	if l := recipes.Language(name); l != "" {
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
	if s.taint&arg.FromNetwork != 0 {
		w.emit(unnamed("thing_downloaded", human.Effect{Verb: human.LangExec, Certainty: human.Certain, Risk: human.CriticalRisk, HardLimit: true, Reversibility: human.Irreversible, Blast: human.MachineBlast, Rule: "floor.download_run"}))
	}
	if s.known {
		source := rule == "shell.changed_file" || rule == "shell.script_read"
		if language == "" || isShell(language) {
			w.script(s.text, "bash", nil, stream{})
			if s.taint&arg.FromDecoder != 0 {
				w.emit(human.Effect{Verb: human.ObfuscatedEffect, Resource: clip(s.text), Certainty: human.Certain, Risk: human.HighRisk, Reversibility: human.Irreversible, Blast: human.MachineBlast, Rule: "shell.decoded_run"})
			}
			return
		}
		w.judge(language, arg.Word{Text: s.text, Taint: s.taint, Quoted: true}, !source)
		return
	}
	if s.taint&arg.FromNetwork != 0 {
		return
	}
	e := unnamed("thing_pipe", human.Effect{Verb: human.LangExec, Certainty: human.Possible, Risk: human.HighRisk, Reversibility: human.Irreversible, Blast: human.MachineBlast, Rule: rule})
	if s.taint&arg.FromDecoder != 0 {
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
	last := c.args[n-1].Text
	switch last {
	case "--help", "--version", "-help", "-version", "--usage":
	case "-h", "-V":
		if n > 1 && handlers()[c.name] != nil || c.name == "shutdown" {
			return false
		}
	case "-v", "version", "help", "-?", "-H":
		if n > 1 && (c.name != "aws" || last != "help" || n > 3) || commands.Of(c.name) == nil && handlers()[c.name] == nil || last == "-H" {
			return false
		}
	default:
		return false
	}
	for _, a := range c.args[:n-1] {
		for i := range len(a.Text) {
			ch := a.Text[i]
			letter := ch >= 'a' && ch <= 'z' || ch >= 'A' && ch <= 'Z'
			if !letter && (i == 0 || (ch < '0' || ch > '9') && ch != '-' && ch != '_' && ch != ':' && ch != '.') {
				return false
			}
		}
		if a.Text == "" {
			return false
		}
	}
	return true
}

// noHelp are commands whose words are not their own: commands that they run, text, files that they delete.
var noHelp = lazy.Set("sudo doas env xargs eval exec command builtin nohup nice timeout time watch bash sh zsh dash ksh fish ash find echo printf rm rmdir unlink shred dd ssh parallel " +
	"python python3 perl ruby node php setsid stdbuf ionice chroot su script strace ltrace busybox toybox npx uvx trap source . read test [ git-upload-pack tee kill pkill killall cat cd say print")

// apply judges a command by what is written of it.
func (w *walker) apply(c *cmd) stream {
	s := commands.Of(c.name)
	if s == nil {
		w.generic(c)
		return stream{taint: c.in.taint | arg.MadeHere}
	}
	if s.Wrap >= 0 {
		o, rest := commands.Parse(c.args, s.Values, s.Long, true)
		// An option that takes no value here may take one in another version, and the other way round.
		for i := range c.args[:max(0, len(c.args)-len(rest))] {
			own, _ := w.ours(c.args[i])
			if i > 0 && (own != "" || dangerousNames()[path.Base(c.args[i].Text)]) {
				w.run(c.args[i:], c.in)
				break
			}
		}
		w.pipesTo(s, c.args[:len(c.args)-len(rest)])
		if len(rest) > s.Wrap {
			w.rules(s, &o, c, false)
			return w.run(rest[s.Wrap:], c.in)
		}
		return stream{taint: w.rules(s, &o, c, true)}
	}
	o, _ := commands.Parse(c.args, s.Values, s.Long, false)
	out := w.rules(s, &o, c, true)
	w.pipesTo(s, c.args)
	return stream{taint: out | arg.MadeHere}
}

// Options whose values are words to look for or to write, in whatever program.
var wordOptions = lazy.Set("-e -m -q -F -t -b --grep --search --message --body --title --query --pattern --regexp --regex --filter --match --jq --format --template --author --label --separator --delimiter --expression --replace")

// pipesTo goes through the values of options that are no file but a pipe to a command, as many programs take them.
func (w *walker) pipesTo(s *commands.Spec, args []arg.Word) {
	for i, a := range args {
		name, _, _ := strings.Cut(a.Text, "=")
		if wordOptions()[name] || i > 0 && wordOptions()[args[i-1].Text] {
			continue
		}
		text := strings.TrimLeft(a.Text, "-")
		if at := strings.IndexAny(text, "|="); at >= 0 && at+1 < len(text) && text[at] == '=' {
			text = text[at+1:]
		}
		if (i > 0 || strings.HasPrefix(a.Text, "-")) && !s.Data && len(text) > 2 && text[0] == '|' && text[1] != '|' && (strings.HasPrefix(a.Text, "-") || strings.HasPrefix(args[i-1].Text, "-")) {
			w.script(text[1:], "sh", nil, stream{})
		}
	}
}

// rules emits the effects of every rule that is about this command: none ends the search, the most severe decides. It returns
// what is known of the output of what the command runs.
func (w *walker) rules(s *commands.Spec, o *commands.Options, c *cmd, must bool) (out arg.Taint) {
	if !s.Data {
		w.readsSecrets(o, c.name)
	}
	found := false
	o.Piped = c.in.open
	for i := range s.Rules {
		r := &s.Rules[i]
		if !r.Matches(o, s.Action) {
			continue
		}
		for _, e := range r.Effects {
			found = found || !e.Guess && e.Runs != "project" && e.Runs != "outside"
			if e.Runs != "" {
				out |= w.runsWhat(e, s, o, c).taint
			} else {
				w.effect(e, r.ID, o, c)
			}
		}
	}
	if found || !must {
		return out
	}
	if s.Verbs {
		w.byVerb(s.Name, o, c, true)
		return out
	}
	w.emit(human.Effect{Verb: human.UnknownEffect, Resource: w.shown(c), Certainty: human.Possible, Risk: human.MediumRisk, Reversibility: human.Costly, Blast: human.MachineBlast, Rule: s.Name + ".unknown"})
	return out
}

func (w *walker) shown(c *cmd) string {
	var b strings.Builder
	b.WriteString(c.name)
	for _, a := range c.args {
		b.WriteByte(' ')
		b.WriteString(a.Shown())
		if b.Len() > 120 {
			break
		}
	}
	return clip(b.String())
}

func (w *walker) readsSecrets(o *commands.Options, name string) {
	given := o.Has("-e", "--regexp", "-f", "--file", "--from-file")
	for i, v := range o.Words {
		if i == 0 && !given && looksFor()[name] || filters()[name] && (i == 0 || i == 1 && !strings.HasPrefix(o.Words[0].Text, ".")) && strings.HasPrefix(v.Text, ".") && !strings.Contains(v.Text, "/") && !given {
			continue
		}
		if couldBePath(v.Text) {
			w.reading(v, name+".reads")
		}
	}
	if len(o.Flags) > 0 {
		for _, f := range sortedKeys(o.Flags) {
			if looksFor()[name] && (f == "-e" || f == "--regexp") {
				continue
			}
			if v := o.Flags[f]; v.Text != "" && couldBePath(v.Text) && !usesKeys()[f] && !textOptions()[f] {
				v.Text = strings.TrimPrefix(v.Text, "@")
				w.reading(v, name+".reads")
			}
		}
	}
}

// Programs whose first word is what they look for, and those whose words may be filters of a language of their own.
var (
	looksFor = lazy.Set("grep egrep fgrep zgrep bzgrep xzgrep rg ag ack ugrep pcregrep fd fdfind rga sift pt pgrep")
	filters  = lazy.Set("jq yq gojq jaq dasel fx jless xq")
)

// Options whose value is text for people, or to look for.
var textOptions = lazy.Set("-m --message --title --body --grep --author --reason --description --search --comment --notes --subject --label --name --query --jq --format --template --filter --pattern -S -G")

// Those of them that take a value in every program that has them.

// Options that name a key or a certificate to prove who one is: using it is not reading it.
var usesKeys = lazy.Set("--cert --key -E --cacert --capath --env-file --vault-password-file --private-key --identity-file --client-certificate --client-key --certificate-authority --kubeconfig --ca-certificate --certificate --tls-cert --tls-key")

func sortedKeys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

func couldBePath(s string) bool {
	return s != "" && len(s) < 512 && !strings.ContainsAny(s, " \n\t;|&<>") && strings.ContainsAny(s, "./_~") || paths.SecretNames()[s] || s == ownName
}

func (w *walker) effect(s commands.Effect, id string, o *commands.Options, c *cmd) {
	e := s.Effect
	e.Rule = id
	if e.Verb == human.GitDiscard && w.evidence != nil && e.Risk == human.HighRisk && w.inOwnTree(c) && w.evidence.Clean() {
		switch {
		case strings.HasPrefix(id, "git.checkout"), strings.HasPrefix(id, "git.restore"):
			e.Risk = human.LowRisk // there is nothing that no commit holds
		case strings.HasPrefix(id, "git.reset") && w.evidence.Pushed():
			e.Risk = human.MediumRisk
		}
	}
	if s.Paths == "" {
		e.Resource = w.shown(c)
		if e.Verb == human.NetworkWrite && e.Risk == human.MediumRisk && toItself(c, o) {
			e.Risk, e.Blast, e.Reversibility = human.LowRisk, human.MachineBlast, human.Costly
		}
		w.emit(e)
		if e.Verb == human.NetworkRead || e.Verb == human.NetworkWrite {
			for _, a := range c.args {
				w.tellsKeys(a.Text)
			}
		}
		switch {
		case e.Verb == human.NetworkWrite:
			w.sends(c, id)
		case tells()[c.name]:
			secret := c.in.taint&arg.FromSecret != 0 && e.Verb == human.NetworkRead
			for _, a := range c.args {
				secret = secret || a.Taint&arg.FromSecret != 0
				// $(whoami).x.example tells x.example who one is.
				if a.Taint&arg.MadeHere != 0 && strings.HasPrefix(a.Text, arg.Unknown) && strings.HasPrefix(strings.TrimLeft(a.Text, arg.Unknown), ".") {
					w.simple(c, human.NetworkWrite, human.MediumRisk, "tells")
				}
			}
			if secret {
				w.leak(w.shown(c))
			}
		}
		return
	}
	paths := o.Selected(s.Paths)
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
				t |= arg.FromSecret // an archive of them, or an encoding
			}
			w.keep(p, stream{taint: t, built: w.builds(c, o)})
		case human.FilesystemDelete:
			w.deleting(p, e.Blast == human.ProjectBlast && o.Has("-r", "-R", "--recursive"), id)
		default:
			w.reading(p, id)
		}
	}
}

var compilers = lazy.Set("go gcc g++ clang clang++ cc c++ rustc")

// builds says whether a compiler makes a program of nothing but the project's own code, as it was before this script: to
// run that is no more than to run the project, as `go run` does.
func (w *walker) builds(c *cmd, o *commands.Options) bool {
	if !compilers()[c.name] || c.in.open || len(o.Words) == 0 {
		return false
	}
	for name, f := range w.files {
		if !f.built && recipes.Kind(name) != "text" {
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
	for _, v := range o.Words {
		p, _ := w.placeOf(v, w.dir)
		if !v.Known() || p != paths.InProject && p != paths.Root {
			return false
		}
	}
	return true
}

// tells are programs that only look something up, but tell others what they look for.
var tells = lazy.Set("dig nslookup drill host doggo dog ping ping6 traceroute tracepath tracert mtr whois arping fping tcptraceroute firefox chromium google-chrome brave lynx w3m links elinks open xdg-open browsh httpx grpcurl openssl websocat wscat curlie ssh-keyscan finger getent showmount rpcinfo nmap")

// sends checks whether what a command sends to the network is a secret.
func (w *walker) sends(c *cmd, id string) {
	secret := c.in.taint&arg.FromSecret != 0
	for _, a := range c.args {
		secret = secret || a.Taint&arg.FromSecret != 0
		if p, _ := w.placeOf(arg.Word{Text: strings.TrimPrefix(a.Text, "@")}, w.dir); couldBePath(a.Text) && (p == paths.Secret || p == paths.EnvFile) {
			secret = true
		}
	}
	if secret {
		w.leak(w.shown(c))
	}
}

// The verbs that commands of all kinds name their actions by.
var (
	lookVerbs = lazy.Set("list ls get show describe status info view inspect version help search find print display query diff log logs history tail head cat " +
		"whoami ping check validate verify test explain top stats count exists read lookup which why tree outdated doctor events ps images docs lint audit " +
		"ll index enumerate summary report usage env completion details dump-config current peek lint-config plan preview diagnose capabilities")
	// Of programs that are known to use verbs: one of these, and nothing else, lists them.
	lists = lazy.Set("apps devices routes deployments available tags topics members nodes services projects regions zones buckets images versions releases plugins " +
		"environments instances volumes networks groups clusters domains addons contexts profiles providers models sessions tasks jobs builds pods stacks workspaces boards targets packages modules recipes templates balance")
	loseVerbs = lazy.Set("delete del rm remove destroy drop purge erase wipe clear reset revoke terminate kill prune uninstall flush truncate rollback revert " +
		"deregister unregister disable detach disassociate format shutdown reboot stop force-delete empty unpublish deprecate archive expire discard " +
		"overwrite forget nuke cleanup clean abort cancel drain evict rotate roll restore failover undeploy teardown deactivate unlink unset " +
		"delete-all remove-all deletefile rmdir rmdirs invalidate close down unsubscribe destroy-all down-all reset-all factory-reset repossess")
	losePrefixes = []string{"delete-", "delete_", "remove-", "remove_", "destroy-", "purge-", "terminate-", "drop-", "revoke-", "deregister-", "wipe-", "reset-", "clear-", "clear_", "force-", "disable-", "uninstall-", "forget_", "purge_"}
	lookPrefixes = []string{"list-", "list_", "get-", "get_", "describe-", "show-", "show_", "search-", "view-"}
)

// byVerb judges a command by the first of its words that is a verb. known says that the program is one we know to use
// verbs that way.
func (w *walker) byVerb(name string, o *commands.Options, c *cmd, known bool) {
	e := human.Effect{Verb: human.ServiceEffect, Resource: w.shown(c), Certainty: human.Likely, Risk: human.MediumRisk, Reversibility: human.Costly, Blast: human.SharedBlast, Rule: name + ".changes"}
	if !known {
		e = human.Effect{Verb: human.UnknownEffect, Resource: w.shown(c), Certainty: human.Possible, Risk: human.MediumRisk, Reversibility: human.Costly, Blast: human.MachineBlast, Rule: "shell.unknown_program"}
	}
	look := false
	for i, v := range o.Words {
		if i > 4 {
			break
		}
		word := v.Text
		if !v.Known() {
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
		if lookVerbs()[word] || hasPrefix(word, lookPrefixes) || known && len(o.Words) == 1 && lists()[word] {
			look = true
			break
		}
	}
	for _, f := range []string{"--delete", "--destroy", "--purge", "--wipe", "--drop", "--erase", "--remove", "--delete-all", "--force-delete"} {
		if o.Has(f) {
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
	o, _ := commands.Parse(c.args, nil, false, false)
	w.readsSecrets(&o, "shell.unknown_program")
	if sqlVerbs()[c.name] { // a statement, given to a shell by mistake or to a client that takes it so
		w.query(&cmd{name: "sql"}, arg.Joined(append([]arg.Word{arg.Known(c.name)}, c.args...)), false)
	}
	w.byVerb(c.name, &o, c, false)
	// Unknown programs often run what they are given: a destructive command among the arguments counts.
	for i, a := range c.args {
		if i > 12 {
			break
		}
		if dangerousNames()[path.Base(a.Text)] && i+1 <= len(c.args) {
			w.run(c.args[i:], c.in)
			break
		}
		if strings.ContainsRune(a.Text, ' ') && len(a.Text) < 2000 && a.Known() {
			first, _, _ := strings.Cut(strings.TrimSpace(a.Text), " ")
			if sqlVerbs()[strings.ToUpper(first)] && i > 0 && takesQuery()[c.args[i-1].Text] {
				w.query(&cmd{name: "sql"}, a, false)
			}
			if dangerousNames()[path.Base(first)] {
				w.script(a.Text, "sh", nil, stream{})
			}
		}
	}
	given := c.in.taint
	for _, a := range c.args {
		given |= a.Taint
	}
	if given&arg.FromSecret != 0 {
		w.emit(human.Effect{Verb: human.CredentialAccess, Resource: w.shown(c), Certainty: human.Possible, Risk: human.HighRisk, Reversibility: human.Irreversible, Blast: human.MachineBlast, Rule: "shell.secret_given"})
	}
}

// Options by which clients of databases take a query.
var takesQuery = lazy.Set("-e -c -q -Q -s --execute --command --query --sql -execute -query --eval")

// scriptLoses are what programs of a project are asked to do that takes data away, by the words of many: manage.py flush.
var scriptLoses = lazy.Set("flush sqlflush drop drop_all drop-all destroy destroy_all destroy-all purge wipe truncate nuke fresh delete delete_all delete-all reset_db reset-db db-reset db_reset dropdb drop_db drop-db erase teardown undeploy unpublish revoke")

// asked notes what a script is asked to do, where its words say that something goes. What the script makes of it is not known.
func (w *walker) asked(c *cmd, words []arg.Word) {
	for i, v := range words {
		if i > 2 {
			return
		}
		if scriptLoses()[v.Text[strings.LastIndexByte(v.Text, ':')+1:]] {
			e := commands.Defaults[human.ServiceEffect]
			e.Verb, e.Risk, e.Rule, e.Resource, e.Certainty, e.Reversibility = human.ServiceEffect, human.HighRisk, "shell.script_asked", w.shown(c), human.Likely, human.Irreversible
			w.emit(e)
			return
		}
	}
}

// Runners of a project's tasks, whose words are the project's own.
var taskRunners = lazy.Set("task go-task invoke inv mage doit poe tox nox nx turbo mise just make gmake rake grunt gulp fab")

var (
	dbTasks = lazy.Set("db database schema migrate migration migrations doctrine ecto")
	dbLoses = lazy.Set("drop reset rollback purge wipe fresh replant truncate_all truncate down undo destroy flush refresh")
)

// tasks notes tasks of a database that are named with colons, as runners of tasks do: rake db:drop:all.
func (w *walker) tasks(c *cmd) {
	for i, v := range c.args {
		if i > 6 {
			return
		}
		parts := strings.Split(v.Text, ":")
		if len(parts) > 1 && len(parts) < 6 && dbTasks()[parts[0]] && slices.ContainsFunc(parts[1:], func(p string) bool { return dbLoses()[strings.TrimLeft(p, "_")] }) {
			w.simple(c, human.DatabaseEffect, human.HighRisk, "database_task")
			return
		}
	}
}

var sqlVerbs = lazy.Set("TRUNCATE DROP DELETE GRANT REVOKE UPDATE ALTER INSERT CREATE MERGE REPLACE")

var dangerousNames = lazy.Set("rm shred dd mkfs mkfs.ext4 mkfs.xfs mkfs.btrfs mkfs.vfat wipefs sudo bash sh zsh git kubectl terraform aws gcloud docker curl wget chmod chown kill eval python python3 perl ruby node systemctl shutdown reboot mv truncate find xargs deskbell deskbell-hook")
