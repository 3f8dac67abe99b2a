package shell

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"deskbell/backend/gate/lazy"
	"deskbell/backend/gate/shell/arg"
	"deskbell/backend/gate/shell/paths"
	"deskbell/backend/human"
)

// fields expands a word to the arguments it makes.
func (w *walker) fields(word *syntax.Word) []arg.Word {
	if word == nil {
		return nil
	}
	if !w.step(1) {
		return []arg.Word{{Text: arg.Unknown}}
	}
	if !hasBraces(word) {
		return w.field(word)
	}
	split := *word // what the script says stays as it is: a word that is split may have no place in it
	syntax.SplitBraces(&split)
	if size(&split) > 200 {
		return []arg.Word{{Text: arg.Unknown}}
	}
	var out []arg.Word
	for one, err := range expand.BracesSeq(nil, &split) {
		if err != nil {
			return []arg.Word{{Text: arg.Unknown}}
		}
		out = append(out, w.field(one)...)
	}
	return out
}

func hasBraces(word *syntax.Word) bool {
	for _, p := range word.Parts {
		switch p := p.(type) {
		case *syntax.BraceExp:
			return true
		case *syntax.Lit:
			if strings.Contains(p.Value, "{") && strings.ContainsAny(p.Value, ",.") {
				return true
			}
		}
	}
	return false
}

// size is how many words the braces of a word make, as far as that matters.
func size(word *syntax.Word) int {
	total := 1
	for _, p := range word.Parts {
		b, ok := p.(*syntax.BraceExp)
		if !ok {
			continue
		}
		n := 0
		if b.Sequence {
			n = 1000
			if len(b.Elems) >= 2 {
				from, err1 := strconv.Atoi(b.Elems[0].Lit())
				to, err2 := strconv.Atoi(b.Elems[1].Lit())
				if err1 == nil && err2 == nil {
					n = max(from-to, to-from) + 1
				} else if len(b.Elems[0].Lit()) == 1 && len(b.Elems[1].Lit()) == 1 {
					n = 60
				}
			}
		} else {
			for _, e := range b.Elems {
				n += size(e)
			}
		}
		total *= max(n, 1)
		if total > 1000 || total <= 0 {
			return 1000
		}
	}
	return total
}

// single is a word as one text: a redirect's target, the word of a case.
func (w *walker) single(word *syntax.Word) arg.Word {
	if word == nil {
		return arg.Word{}
	}
	var v arg.Word
	for i, f := range w.fields(word) {
		if i > 0 {
			v.Text += " "
		}
		v.Text += f.Text
		v.Taint |= f.Taint
		v.Glob = v.Glob || f.Glob
		v.Quoted = v.Quoted || f.Quoted
	}
	return v
}

// field expands one word without braces. Unquoted parts that hold white space fall apart.
func (w *walker) field(word *syntax.Word) []arg.Word {
	var out []arg.Word
	cur, has := arg.Word{}, false
	for i, p := range word.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			text, glob := unescape(p.Value)
			if i == 0 && strings.HasPrefix(p.Value, "~") {
				text = w.tilde(text, len(word.Parts) == 1)
			}
			cur.Text += text
			cur.Glob = cur.Glob || glob
			has = true
		case *syntax.SglQuoted:
			cur.Text += ansi(p)
			cur.Quoted, has = true, true
		case *syntax.DblQuoted:
			for i, v := range w.quotedList(p.Parts) {
				if i > 0 {
					out, cur = append(out, cur), arg.Word{}
				}
				cur.Text += v.Text
				cur.Taint |= v.Taint
				cur.Quoted, has = true, true
			}
		case *syntax.ExtGlob:
			cur.Text += "*"
			cur.Glob, has = true, true
		default:
			v := w.part(p)
			cur.Taint |= v.Taint
			if v.Quoted { // a process substitution's name, a number
				cur.Text += v.Text
				has = true
				continue
			}
			if ifs, ok := w.lookup("IFS"); ok && ifs.Known() && strings.Trim(ifs.Text, " \t\n") != "" {
				v.Text = strings.Map(func(r rune) rune {
					if strings.ContainsRune(ifs.Text, r) {
						return ' '
					}
					return r
				}, v.Text)
			}
			pieces, lead, trail := split(v.Text)
			cur.Glob = cur.Glob || v.Glob || strings.ContainsAny(v.Text, "*?[")
			if lead && has && cur.Text != "" {
				out, cur, has = append(out, cur), arg.Word{Taint: cur.Taint, Glob: cur.Glob}, false
			}
			for j, piece := range pieces {
				if j > 0 {
					out, cur = append(out, cur), arg.Word{Taint: cur.Taint, Glob: cur.Glob}
				}
				cur.Text += piece
				has = true
			}
			if trail && has {
				out, cur, has = append(out, cur), arg.Word{Taint: cur.Taint, Glob: cur.Glob}, false
			}
		}
		if len(cur.Text) > maxValue {
			cur.Text = arg.Unknown
		}
	}
	if has {
		out = append(out, cur)
	}
	return out
}

func split(s string) (pieces []string, lead, trail bool) {
	pieces = strings.Fields(s)
	if len(pieces) > 64 {
		return []string{arg.Unknown}, false, false
	}
	if s == "" {
		return nil, false, false
	}
	const space = " \t\n"
	return pieces, strings.ContainsRune(space, rune(s[0])), strings.ContainsRune(space, rune(s[len(s)-1]))
}

func (w *walker) tilde(s string, _ bool) string {
	name, rest, _ := strings.Cut(s[1:], "/")
	if strings.Contains(s, "/") {
		rest = "/" + rest
	}
	switch name {
	case "":
		return w.home + rest
	case "+":
		return w.dir + rest
	case "-":
		return arg.Unknown + rest
	}
	return "/home/" + name + rest
}

// quotedList is what double quotes make: one word, or one for each element of an array, which may be none.
func (w *walker) quotedList(parts []syntax.WordPart) []arg.Word {
	at := slices.IndexFunc(parts, func(p syntax.WordPart) bool {
		e, ok := p.(*syntax.ParamExp)
		return ok && isList(e)
	})
	if at < 0 {
		return []arg.Word{w.quoted(parts)}
	}
	before, list := w.quoted(parts[:at]), slices.Clone(w.elements(parts[at].(*syntax.ParamExp)))
	rest := w.quotedList(parts[at+1:])
	if len(list) == 0 {
		if before.Text == "" && len(rest) == 1 && rest[0].Text == "" {
			return nil
		}
		list = []arg.Word{{}}
	}
	list[0].Text, list[0].Taint = before.Text+list[0].Text, list[0].Taint|before.Taint
	if len(rest) > 0 {
		last := &list[len(list)-1]
		last.Text, last.Taint = last.Text+rest[0].Text, last.Taint|rest[0].Taint
		list = append(list, rest[1:]...)
	}
	for i := range list {
		list[i].Quoted, list[i].Glob = true, false
	}
	return list
}

// quoted is the text between double quotes, or of a here-document.
func (w *walker) quoted(parts []syntax.WordPart) arg.Word {
	var v arg.Word
	var b strings.Builder
	for _, p := range parts {
		if l, ok := p.(*syntax.Lit); ok {
			b.WriteString(unescapeQuoted(l.Value))
			continue
		}
		x := w.part(p)
		b.WriteString(x.Text)
		v.Taint |= x.Taint
		if b.Len() > maxValue*4 {
			b.Reset()
			b.WriteString(arg.Unknown)
		}
	}
	v.Text = b.String()
	v.Quoted = true
	return v
}

func (w *walker) heredoc(r *syntax.Redirect) arg.Word {
	if r.Hdoc == nil {
		return arg.Word{}
	}
	for _, p := range r.Word.Parts {
		switch p.(type) {
		case *syntax.SglQuoted, *syntax.DblQuoted:
			return arg.Known(rawLits(r.Hdoc))
		}
		if l, ok := p.(*syntax.Lit); ok && strings.Contains(l.Value, `\`) {
			return arg.Known(rawLits(r.Hdoc))
		}
	}
	return w.quoted(r.Hdoc.Parts)
}

func rawLits(word *syntax.Word) string {
	var b strings.Builder
	for _, p := range word.Parts {
		if l, ok := p.(*syntax.Lit); ok {
			b.WriteString(l.Value)
		}
	}
	return b.String()
}

// part is the value of an expansion.
func (w *walker) part(p syntax.WordPart) arg.Word {
	if !w.step(1) {
		return arg.Word{Text: arg.Unknown}
	}
	switch p := p.(type) {
	case *syntax.SglQuoted:
		return arg.Known(ansi(p))
	case *syntax.DblQuoted:
		return w.quoted(p.Parts)
	case *syntax.ParamExp:
		return w.param(p)
	case *syntax.CmdSubst:
		out := w.substitution(p.Stmts)
		if out.known {
			return arg.Word{Text: strings.TrimRight(out.text, "\n"), Taint: out.taint}
		}
		return arg.Word{Text: arg.Unknown, Taint: out.taint | arg.MadeHere}
	case *syntax.ProcSubst:
		if p.Op == syntax.CmdOut { // >(cmd)
			name := fmt.Sprintf("/dev/fd/%d", 100+len(w.files)+len(w.sinks))
			if w.sinks == nil {
				w.sinks = map[string][]*syntax.Stmt{}
			}
			w.sinks[name] = p.Stmts
			w.given(name, stream{open: true, taint: arg.MadeHere})
			return arg.Word{Text: name, Quoted: true}
		}
		out := w.substitution(p.Stmts)
		name := fmt.Sprintf("/dev/fd/%d", 100+len(w.files))
		if !out.known && out.taint == 0 {
			out.taint = arg.MadeHere
		}
		w.files[name] = out
		return arg.Word{Text: name, Quoted: true, Taint: out.taint & arg.FromSecret}
	case *syntax.ArithmExp:
		w.scan(p)
		return arg.Word{Text: "0" + arg.Unknown, Quoted: true}
	case *syntax.Lit:
		return arg.Known(p.Value)
	}
	w.scan(p)
	return arg.Word{Text: arg.Unknown}
}

// given goes through what stands in >( ) with what is written to it.
func (w *walker) given(name string, in stream) {
	list, ok := w.sinks[name]
	if !ok || w.depth >= maxDepth || !w.step(4) {
		return
	}
	w.depth++
	defer w.apart()()
	before := w.save()
	w.stmts(list, in)
	w.restore(before)
	w.depth--
}

func (w *walker) substitution(list []*syntax.Stmt) stream {
	if w.depth >= maxDepth {
		w.opaque("shell.too_deep", "thing_commands_within")
		return stream{}
	}
	w.depth++
	defer w.apart()()
	before := w.save()
	var out stream
	if len(list) == 1 && list[0].Cmd == nil && len(list[0].Redirs) == 1 && list[0].Redirs[0].Op == syntax.RdrIn { // $(<file)
		v := w.single(list[0].Redirs[0].Word)
		out = stream{taint: w.reading(v, "shell.redirect_in"), open: true}
	} else {
		out = w.stmts(list, stream{})
	}
	w.restore(before)
	w.depth--
	return out
}

func (w *walker) param(p *syntax.ParamExp) arg.Word {
	if p.NestedParam != nil {
		w.part(p.NestedParam)
	}
	if p.Index != nil {
		w.scan(p.Index)
	}
	if p.Slice != nil {
		if p.Slice.Offset != nil {
			w.scan(p.Slice.Offset)
		}
		if p.Slice.Length != nil {
			w.scan(p.Slice.Length)
		}
	}
	if p.Param == nil {
		return arg.Word{Text: arg.Unknown}
	}
	name := p.Param.Value
	plain := !p.Excl && !p.Length && !p.Width && !p.IsSet && p.Slice == nil && p.Repl == nil && p.Names == 0 && p.Exp == nil && p.Flags == nil && len(p.Modifiers) == 0
	if !plain {
		if v, ok := w.computed(p); ok {
			return v
		}
	}
	if p.Length || p.Width || p.IsSet {
		return arg.Word{Text: "0" + arg.Unknown, Quoted: true}
	}
	if name == "*" {
		name = parameters
	}
	v, isSet := w.lookup(name)
	switch {
	case p.Index != nil:
		if word, ok := p.Index.(*syntax.Word); ok && (word.Lit() == "@" || word.Lit() == "*") {
			break
		}
		if v.List == nil && isSet && v.Known() {
			v.List = []arg.Word{{Text: v.Text, Taint: v.Taint}}
		}
		if v.List != nil {
			v = w.element(v, w.index(name, p.Index))
			isSet = v.Text != ""
		}
	case v.List != nil && name != parameters && len(v.List) > 0:
		v = w.element(v, "0")
	}
	if plain {
		return arg.Word{Text: v.Text, Taint: v.Taint, Glob: v.Glob}
	}
	if p.Excl || p.Slice != nil || p.Names != 0 || p.Flags != nil || len(p.Modifiers) > 0 {
		if p.Excl && isSet && v.Known() {
			x, _ := w.lookup(v.Text)
			return x
		}
		return arg.Word{Text: arg.Unknown, Taint: v.Taint}
	}
	if r := p.Repl; r != nil {
		a, b := w.single(r.Orig), w.single(r.With)
		if v.Known() && a.Known() && b.Known() && isSet && !strings.ContainsAny(a.Text, "*?[") && len(v.Text) < 4096 && a.Text != "" {
			v.Text = strings.Replace(v.Text, a.Text, b.Text, 1+boolTo(r.All, 1<<20))
			return v
		}
		return arg.Word{Text: arg.Unknown, Taint: v.Taint | b.Taint}
	}
	if e := p.Exp; e != nil {
		var alt arg.Word
		if e.Word != nil {
			alt = w.single(e.Word)
		}
		switch e.Op {
		case syntax.DefaultUnset, syntax.DefaultUnsetOrNull:
			if isSet && (v.Text != "" || e.Op == syntax.DefaultUnset) {
				return v
			}
			alt.Taint |= v.Taint
			return alt
		case syntax.AssignUnset, syntax.AssignUnsetOrNull:
			if isSet && (v.Text != "" || e.Op == syntax.AssignUnset) {
				return v
			}
			w.set(name, alt)
			return alt
		case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
			return alt
		case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
			return v
		case syntax.OtherParamOps: // ${x@P} expands what x holds
			if isSet {
				w.expandText(v.Text)
			}
			return w.transformed(v, e.Word)
		default:
			return arg.Word{Text: arg.Unknown, Taint: v.Taint}
		}
	}
	return v
}

// transformed is ${x@U} and the like.
func (w *walker) transformed(v arg.Word, how *syntax.Word) arg.Word {
	if how != nil && v.Known() {
		switch how.Lit() {
		case "U":
			return arg.Word{Text: strings.ToUpper(v.Text), Taint: v.Taint}
		case "L":
			return arg.Word{Text: strings.ToLower(v.Text), Taint: v.Taint}
		}
	}
	return arg.Word{Text: arg.Unknown, Taint: v.Taint}
}

func boolTo(b bool, n int) int {
	if b {
		return n
	}
	return 0
}

// secretVar says whether a variable's name says that it holds a secret.
func secretVar(name string) bool {
	u := strings.ToUpper(name)
	for _, part := range []string{"SECRET", "TOKEN", "PASSWORD", "PASSWD", "API_KEY", "APIKEY", "ACCESS_KEY", "PRIVATE_KEY", "CREDENTIAL"} {
		if strings.Contains(u, part) {
			return true
		}
	}
	return false
}

// What variables hold that programs run: a command each, or the path of a file that is run.
var (
	commandVars = lazy.Set("PAGER GIT_PAGER MANPAGER GIT_EDITOR EDITOR VISUAL GIT_SEQUENCE_EDITOR GIT_SSH_COMMAND GIT_SSH GIT_ASKPASS SSH_ASKPASS " +
		"GIT_EXTERNAL_DIFF GIT_PROXY_COMMAND PROMPT_COMMAND LESSOPEN LESSCLOSE BROWSER FZF_DEFAULT_COMMAND FCEDIT CC CXX RUSTC_WRAPPER RSYNC_RSH SYSTEMD_PAGER AWS_PAGER GH_PAGER BAT_PAGER DELTA_PAGER SUDO_ASKPASS RSYNC_CONNECT_PROG MANOPT TAR_OPTIONS XARGS_CMD KUBE_EDITOR")
	fileVars   = lazy.Set("BASH_ENV ENV PYTHONSTARTUP PERL5DB RUBYOPT NODE_OPTIONS PERL5OPT JAVA_TOOL_OPTIONS GIT_EXEC_PATH GIT_TEMPLATE_DIR GIT_CONFIG GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM ZDOTDIR INPUTRC")
	loadVars   = lazy.Set("LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT DYLD_INSERT_LIBRARIES DYLD_LIBRARY_PATH PYTHONPATH PERL5LIB RUBYLIB NODE_PATH GCONV_PATH")
	sourceVars = lazy.Set("PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_TRUSTED_HOST PIP_CONFIG_FILE PIP_FIND_LINKS UV_INDEX_URL UV_DEFAULT_INDEX UV_INDEX UV_EXTRA_INDEX_URL UV_CONFIG_FILE POETRY_REPOSITORIES YARN_REGISTRY YARN_NPM_REGISTRY_SERVER GOPROXY GONOSUMDB GONOSUMCHECK GOINSECURE GOSUMDB RUSTUP_DIST_SERVER RUSTUP_UPDATE_ROOT CARGO_REGISTRY_DEFAULT COMPOSER_REPO_PACKAGIST CONDA_CHANNELS GEM_SOURCE HOMEBREW_BOTTLE_DOMAIN HOMEBREW_API_DOMAIN MISE_DATA_DIR NVM_NODEJS_ORG_MIRROR ELECTRON_MIRROR")
	optionVars = lazy.Set("GOFLAGS MAVEN_OPTS MAVEN_ARGS GRADLE_OPTS JAVA_OPTS JAVA_OPTIONS JDK_JAVA_OPTIONS SBT_OPTS MAKEFLAGS RUSTFLAGS RUSTDOCFLAGS CGO_LDFLAGS PYTEST_ADDOPTS PYTEST_PLUGINS PYTHONBREAKPOINT PYTHONWARNINGS RUSTC RUSTC_WORKSPACE_WRAPPER CARGO_BUILD_RUSTC CARGO_BUILD_RUSTC_WRAPPER")
	plainVars  = lazy.Set("loglevel cache yes fund audit progress update-notifier offline prefer-offline color legacy-peer-deps save-exact production include omit engine-strict strict-peer-dependencies")
	textVars   = lazy.Set("PS0 PS1 PS2 PS4 PROMPT")
	loudVars   = lazy.Set("LD_PRELOAD LD_AUDIT DYLD_INSERT_LIBRARIES GCONV_PATH LD_LIBRARY_PATH DYLD_LIBRARY_PATH")
)

// npmSetting judges a setting of npm that a variable makes.
func (w *walker) npmSetting(key string, v arg.Word) {
	switch {
	case plainVars()[key]:
	case key == "script-shell", key == "shell", key == "editor", key == "git", key == "viewer":
		w.script(v.Text, "sh", nil, stream{})
	default:
		w.emit(human.Effect{Verb: human.PackageInstall, Resource: key + "=" + v.Shown(), Certainty: human.Likely, Risk: human.MediumRisk, Reversibility: human.Costly, Blast: human.MachineBlast, Rule: "shell.source_variable"})
	}
}

// takesCommand is an option that has a program run another, or load its code.
var takesCommand = lazy.Pattern(`(?i)exec|agent|(^|\s)-eval\b|OnError|OnOutOfMemory|linker=|--eval|\brunner|(^|\s)-p\s|plugin|load`)

// assigned notes what setting a variable runs, now or later. variant is export, declare and so on, or empty.
func (w *walker) assigned(name string, v arg.Word) {
	defer w.apart()()
	if commandVars()[name] || fileVars()[name] || strings.HasPrefix(name, "GIT_CONFIG_VALUE_") {
		defer w.restore(w.save()) // what is run by it is another program's
	}
	if strings.HasPrefix(name, "DESKBELL_") {
		w.ownVariable(name, v)
	}
	switch {
	case commandVars()[name]:
		text := strings.TrimLeft(v.Text, "|! ")
		switch text {
		case "", "cat", "less", "more", "true", ":", "vim", "vi", "nano", "emacs", "code", "gcc", "clang", "cc", "g++", "clang++", "less -R", "less -FRX", "cat -", "code --wait", "sccache", "never":
			return
		}
		w.script(text, "sh", nil, stream{})
	case fileVars()[name]:
		if v.Text == "" || v.Text == "/dev/null" {
			return
		}
		if f, ok := w.file(v); ok {
			w.feed("bash", f, "shell.startup_variable")
			return
		}
		if strings.Contains(v.Text, "$(") || strings.Contains(v.Text, "`") {
			w.expandText(v.Text)
		}
		risk := human.HighRisk
		if name == "NODE_OPTIONS" && !strings.Contains(v.Text, "require") && !strings.Contains(v.Text, "import") && !strings.Contains(v.Text, "loader") && !strings.Contains(v.Text, "-r") && v.Known() {
			risk = human.NoRisk
		}
		if risk != human.NoRisk {
			w.emit(human.Effect{Verb: human.LangExec, Resource: name + "=" + v.Shown(), Certainty: human.Likely, Risk: risk, Reversibility: human.Irreversible, Blast: human.MachineBlast, Rule: "shell.startup_variable"})
		}
	case sourceVars()[name], strings.HasPrefix(name, "CARGO_REGISTRIES_"), strings.HasPrefix(name, "BUNDLE_MIRROR__"):
		if v.Text != "off" && v.Text != "direct" {
			w.emit(human.Effect{Verb: human.PackageInstall, Resource: name + "=" + v.Shown(), Certainty: human.Likely, Risk: human.MediumRisk, Reversibility: human.Costly, Blast: human.MachineBlast, Rule: "shell.source_variable"})
		}
	case strings.HasPrefix(strings.ToLower(name), "npm_config_"):
		w.npmSetting(strings.ReplaceAll(strings.ToLower(name)[len("npm_config_"):], "_", "-"), v)
	case optionVars()[strings.TrimPrefix(name, "_")]:
		if takesCommand.MatchString(v.Text) || strings.HasPrefix(name, "RUSTC") || strings.HasSuffix(name, "_WRAPPER") || !v.Known() || name == "PYTHONBREAKPOINT" && v.Text != "0" || name == "PYTEST_PLUGINS" {
			w.emit(human.Effect{Verb: human.LangExec, Resource: name + "=" + v.Shown(), Certainty: human.Likely, Risk: human.MediumRisk, Reversibility: human.Costly, Blast: human.MachineBlast, Rule: "shell.option_variable"})
		} else {
			w.variable(name, v)
		}
	case loadVars()[name]:
		risk := human.LowRisk
		first, _, _ := strings.Cut(v.Text, ":")
		if p, _ := w.placeOf(arg.Word{Text: first, Quoted: true}, w.dir); p == paths.InTemp {
			risk = human.MediumRisk // where anybody may have put anything
		}
		if loudVars()[name] {
			risk = human.HighRisk
		}
		if v.Text != "" {
			w.emit(human.Effect{Verb: human.LangExec, Resource: name + "=" + v.Shown(), Certainty: human.Likely, Risk: risk, Reversibility: human.Irreversible, Blast: human.MachineBlast, Rule: "shell.load_variable"})
		}
	case name == "LUA_INIT" || strings.HasPrefix(name, "LUA_INIT_"):
		if file, ok := strings.CutPrefix(v.Text, "@"); ok {
			w.scriptFile(arg.Known(file), "lua", &cmd{})
		} else {
			w.code("lua", v)
		}
	case name == "LESS":
		if strings.Contains(v.Text, "+!") || strings.Contains(v.Text, "+|") {
			w.emit(human.Effect{Verb: human.LangExec, Resource: name + "=" + v.Shown(), Certainty: human.Likely, Risk: human.HighRisk, Reversibility: human.Irreversible, Blast: human.MachineBlast, Rule: "shell.startup_variable"})
		}
	case name == "PATH":
		first, _, _ := strings.Cut(v.Text, ":")
		if p, _ := w.placeOf(arg.Word{Text: first, Quoted: true}, w.dir); first == "" || first == "." || first == "/tmp" || first == "/var/tmp" || p == paths.InTemp {
			w.emit(human.Effect{Verb: human.LangExec, Resource: name + "=" + v.Shown(), Certainty: human.Likely, Risk: human.HighRisk, Reversibility: human.Costly, Blast: human.MachineBlast, Rule: "shell.search_path"})
		}
	case name == "HISTFILE" && (v.Text == "" || v.Text == "/dev/null"), (name == "HISTSIZE" || name == "HISTFILESIZE") && v.Text == "0":
		w.emit(human.Effect{Verb: human.SecurityWeakening, Resource: name + "=" + v.Shown(), Certainty: human.Likely, Risk: human.MediumRisk, Reversibility: human.Costly, Blast: human.MachineBlast, Rule: "shell.no_history"})
	case textVars()[name]:
		w.expandText(v.Text)
	case name == "GIT_DIR", name == "GIT_WORK_TREE", name == "GIT_INDEX_FILE", name == "GIT_COMMON_DIR", name == "GIT_OBJECT_DIRECTORY", name == "GIT_NAMESPACE":
		w.otherRepo = true
		w.repository(v)
	case name == "GIT_CONFIG_PARAMETERS":
		for _, setting := range strings.Split(v.Text, "'") {
			if strings.Contains(setting, "=") {
				w.gitSetting(arg.Word{Text: setting, Taint: v.Taint, Quoted: true})
			}
		}
	case strings.HasPrefix(name, "GIT_CONFIG_VALUE_"):
		w.script(strings.TrimLeft(v.Text, "!"), "sh", nil, stream{})
	case strings.HasPrefix(name, "BASH_FUNC_"):
		w.opaque("shell.startup_variable", "thing_startup_variable")
	case name == strings.ToUpper(name) || strings.HasSuffix(name, "_proxy"):
		w.variable(name, v)
	}
}

// scan runs the substitutions that are anywhere in a part of the script: arithmetic, tests, indexes.
func (w *walker) scan(node syntax.Node) {
	syntax.Walk(node, func(n syntax.Node) bool {
		if n == nil {
			return false
		}
		if !w.step(1) {
			return false
		}
		switch n := n.(type) {
		case *syntax.BinaryTest:
			switch n.Op {
			case syntax.TsMatch, syntax.TsMatchShort, syntax.TsNoMatch, syntax.TsReMatch, syntax.TsBefore, syntax.TsAfter, syntax.TsNewer, syntax.TsOlder, syntax.TsDevIno:
				for _, x := range []syntax.TestExpr{n.X, n.Y} { // texts: expanded, not evaluated
					if word, ok := x.(*syntax.Word); ok {
						w.single(word)
					} else {
						w.scan(x)
					}
				}
				return false
			}
		case *syntax.UnaryTest:
			if word, ok := n.X.(*syntax.Word); ok && n.Op != syntax.TsVarSet && n.Op != syntax.TsRefVar {
				w.single(word)
				return false
			}
		case *syntax.CmdSubst:
			w.part(n)
			return false
		case *syntax.ProcSubst:
			w.part(n)
			return false
		case *syntax.SglQuoted:
			w.arithText(n.Value)
		case *syntax.ParamExp:
			if n.Param != nil {
				if v, ok := w.lookup(n.Param.Value); ok {
					w.arithText(v.Text)
				}
			}
			if n.Exp != nil || n.Repl != nil {
				w.part(n)
				return false
			}
		case *syntax.Lit:
			if _, ok := w.vars[n.Value]; ok {
				v, _ := w.lookup(n.Value)
				w.arithText(v.Text) // arithmetic takes a bare name for the variable and evaluates what it holds
			}
		}
		return true
	})
}

// arithText is text that the shell evaluates as arithmetic or as the name of a variable: a substitution in an index runs.
func (w *walker) arithText(s string) {
	if strings.Contains(s, "$(") || strings.Contains(s, "`") {
		w.expandText(s)
	}
	for _, name := range arithNames.FindAllStringSubmatch(s, 20) { // names stand for their values, which are evaluated
		if v, ok := w.lookup(name[0]); ok && (strings.Contains(v.Text, "$(") || strings.Contains(v.Text, "`")) {
			w.expandText(v.Text)
		}
	}
}

var arithNames = lazy.Pattern(`[A-Za-z_]\w*`)

// expandText is text that the shell expands as if it stood between double quotes.
func (w *walker) expandText(s string) {
	if w.depth >= maxDepth || len(s) > MaxScript || !w.step(len(s)/16+1) || nests(s) {
		w.opaque("shell.too_deep", "thing_commands_within")
		return
	}
	s = strings.ToValidUTF8(s, "\ufffd")
	word, err := syntax.NewParser().Document(strings.NewReader(s))
	if err != nil && strings.Contains(s, "((") {
		word, err = syntax.NewParser().Document(strings.NewReader(strings.ReplaceAll(s, "((", "( (")))
	}
	if err != nil && strings.Contains(s, "<<") {
		word, err = syntax.NewParser().Document(strings.NewReader(endHeredocs(s)))
	}
	if err != nil || word == nil {
		w.opaque(UnparsedRule, "thing_unparsed")
		w.salvage(s)
		return
	}
	w.depth++
	w.quoted(word.Parts)
	w.depth--
}

// unescape takes the backslashes out of unquoted text, and says whether it has characters of a pattern.
func unescape(s string) (string, bool) {
	if !strings.ContainsAny(s, `\*?[`) {
		return s, false
	}
	var b strings.Builder
	glob := false
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
			if i < len(s) && s[i] != '\n' {
				b.WriteByte(s[i])
			}
		case '*', '?', '[':
			glob = true
			b.WriteByte(s[i])
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String(), glob
}

func unescapeQuoted(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("$`\"\\\n", s[i+1]) >= 0 {
			i++
			if s[i] != '\n' {
				b.WriteByte(s[i])
			}
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// ansi is the text of single quotes, $'...' among them.
func ansi(q *syntax.SglQuoted) string {
	if !q.Dollar {
		return q.Value
	}
	text, _, err := expand.Format(nil, strings.ReplaceAll(q.Value, "%", "%%"), nil)
	if err != nil {
		return arg.Unknown
	}
	text = strings.NewReplacer(`\'`, `'`, `\"`, `"`).Replace(text)
	if strings.Contains(text, arg.Unknown) {
		text = text[:strings.Index(text, arg.Unknown)] // as bash does: NUL ends it
	}
	return text
}
