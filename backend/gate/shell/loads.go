package shell

import (
	"slices"
	"strings"

	"deskbell/backend/gate/lazy"
	"deskbell/backend/gate/shell/arg"
	"deskbell/backend/gate/shell/commands"
	"deskbell/backend/gate/shell/paths"
	"deskbell/backend/human"
)

// What names of options, settings and variables say of their values, whatever the program: that it loads code from them or learns
// by them what to run, or that it is a place to write to.
var (
	loading = lazy.Pattern(`(^|[-_.:])(conf|config\w*|cfg|rc|\w{2,}rc|rcfile|\w+config|\w*plugins?|(pre)?load|requires?|scripts?|engine|provider|provider-path|addons?|\w*extensions?\w*|executable|prog|program|command|cmd|external-diff|` +
		`wrapper|launcher|runner|linker|compiler|\w*agent|interpreter|bootstrap|\w*setup|\w*reporter|formatter|specs|toolchain\w*|toolchain-file|toolexec|processor\w*|pgm\w*|exe|extld|ld-path|init-?file|init-script|hooks?|class[-.]?path|pager|browser|editor|ini-scan-dir|` +
		`argline|jvmargs?|logger|gemfile|pipfile|justfile|makefiles|mix-exs|exec-prefix|compiler-path|path-profiler|profiler-path|startup-hooks|goroot|goenv|rustdoc|rustfmt|pkg-config|python|yarn-path|\w*cacheprog|goauth|ar|agent-program|auth-prog|config-home|phprc|psqlrc|wgetrc|` +
		`curl-home|gnupghome|config-dir|servicefile|passcommand|rsh|plugin-dir|[-\w]*template-dir)(-?(file|path|dir))?$`)
	outputs = lazy.Pattern(`(cache|tmp|temp|logs?|data|out|output|target|state|runtime|reports?|coverage|pid|sock|dump|history)(-?(dir|file|path|home))?$`)
	remote  = lazy.Pattern(`^(https?|ftp|git|ssh)://`)
	// Options for a program's own options, in variables: SPEC_OPTS, ERL_FLAGS.
	optionHolders = lazy.Pattern(`(FLAGS|OPTS|_OPT|OPTIONS|ARGS)$|^(RAKEOPT|UNZIP|UNZIPOPT|ZIPOPT|GNUMAKEFLAGS)$`)
	// Variables by which a program talks with another server, or through one.
	servers = lazy.Set("DOCKER_HOST CONTAINER_HOST GH_HOST HTTP_PROXY HTTPS_PROXY ALL_PROXY AWS_ENDPOINT_URL KUBERNETES_MASTER")
)

// loads judges the value of an option or a setting by which a program loads code or learns what to run: a file of the project is as
// trusted as the project is, and what the system's folders hold is the system's. It says whether the name is of that kind.
func (w *walker) loads(name string, v arg.Word, rule string) bool {
	if !strings.ContainsAny(v.Text, "/~") { // no path: most calls need no pattern
		return false
	}
	name = strings.ToLower(strings.ReplaceAll(strings.TrimLeft(name, "-"), "_", "-"))
	if !loading.MatchString(name) || outputs.MatchString(name) {
		return false
	}
	if remote.MatchString(v.Text) {
		w.emit(human.Effect{Verb: human.LangExec, Resource: v.Shown(), Certainty: human.Likely, Risk: human.MediumRisk, Reversibility: human.Costly, Blast: human.MachineBlast, Rule: rule})
		return true
	}
	for _, text := range strings.FieldsFunc(v.Text, func(r rune) bool { return r == ' ' || r == ',' }) {
		if i := strings.LastIndexAny(text, "=:"); i >= 0 {
			text = text[i+1:]
		}
		if strings.IndexByte(text, '/') < 0 && !strings.HasPrefix(text, "~") {
			continue
		}
		switch p, target := w.placeOf(arg.Word{Text: text, Quoted: true}, w.dir); p {
		case paths.InTemp, paths.Outside, paths.Home, paths.Start:
			w.emit(human.Effect{Verb: human.LangExec, Resource: name + " " + arg.Known(text).Shown(), Target: target, Certainty: human.Likely, Risk: human.MediumRisk, Reversibility: human.Costly, Blast: human.MachineBlast, Rule: rule})
			return true
		}
	}
	return true
}

// makesOutside judges the paths that a program gets which makes something, though its entry does not say where: what is written in the
// project is the project's, and what starts by itself, a home, and what an option for results names elsewhere, may be overwritten.
func (w *walker) makesOutside(c *cmd, from int) {
	if s := commands.Of(c.name); s == nil || s.Wrap >= 0 || s.Runs(false) || c.name == "git" || !slices.ContainsFunc(w.effects[min(from, len(w.effects)):], func(e human.Effect) bool {
		return e.Verb == human.PackageRun || e.Verb == human.FilesystemWrite && e.Target == ""
	}) {
		return
	}
	edits := !slices.ContainsFunc(w.effects[from:], func(e human.Effect) bool { return e.Verb == human.PackageRun })
	for i, a := range c.args {
		option, v := "", a
		switch at := strings.IndexAny(a.Text, "/~"); {
		case at < 0 || i > 200:
			continue
		case strings.HasPrefix(a.Text, "-") && at > 1:
			option, v = strings.TrimRight(a.Text[:at], "="), arg.Word{Text: a.Text[at:], Taint: a.Taint, Quoted: true}
		case i > 0 && strings.HasPrefix(c.args[i-1].Text, "-"):
			option = c.args[i-1].Text
		}
		switch p, target := w.placeOf(v, w.dir); {
		case p == paths.Start, p == paths.Hook, p == paths.Gate, p == paths.Home, p == paths.Slash, p == paths.Secret && !strings.HasPrefix(target, w.root+"/"),
			p == paths.Outside && option == "" && edits, p == paths.Outside && results.MatchString(strings.TrimLeft(option, "-")):
			w.writing(v, c.name+".elsewhere")
		}
	}
}

// results are options that say where results go.
var results = lazy.Pattern(`^(o|d|\w*out\w*|\w*-?out-?(dir|file)|dest\w*|target-?dir|output[-.\w]*|\w*basetemp|\w*xml|report\w*|cover\w*|extract-media|log-?file|prefix|clear)$`)

// shortLoads are options of one letter that name what a program loads.
var shortLoads = map[string]string{"ssh": "-F", "scp": "-F", "sftp": "-F", "screen": "-c", "tmux": "-f", "man": "-C", "cmake": "-C", "gcc": "-B"}

// variable judges the value of a variable of the environment that no list names.
func (w *walker) variable(name string, v arg.Word) {
	const rule = "shell.option_variable"
	upper := strings.ToUpper(name)
	switch {
	case servers()[upper]:
		_, host, scheme := strings.Cut(v.Text, "://")
		if !scheme {
			host = v.Text
		}
		if host, _, _ = strings.Cut(host, ":"); host != "" && !loopback(host) && !strings.HasPrefix(v.Text, "unix:") {
			w.emit(human.Effect{Verb: human.NetworkWrite, Resource: name + "=" + v.Shown(), Certainty: human.Likely, Risk: human.MediumRisk, Reversibility: human.Irreversible, Blast: human.SharedBlast, Rule: "shell.server_variable"})
		}
	case upper == "NODE_TLS_REJECT_UNAUTHORIZED" && v.Text == "0", upper == "GIT_SSL_NO_VERIFY" && v.Text != "0" && v.Text != "", upper == "PYTHONHTTPSVERIFY" && v.Text == "0":
		w.emit(human.Effect{Verb: human.SecurityWeakening, Resource: name + "=" + v.Shown(), Certainty: human.Certain, Risk: human.MediumRisk, Reversibility: human.Costly, Blast: human.MachineBlast, Rule: "shell.unchecked_servers"})
	case strings.HasPrefix(upper, "GIT_TRACE"), upper == "SSLKEYLOGFILE":
		if strings.HasPrefix(v.Text, "/") || strings.HasPrefix(v.Text, "~") {
			w.outside(v, "shell.output_variable")
		}
	case strings.ContainsAny(v.Text, "/~-") && optionHolders.MatchString(upper):
		if takesCommand.MatchString(v.Text) {
			w.emit(human.Effect{Verb: human.LangExec, Resource: name + "=" + v.Shown(), Certainty: human.Likely, Risk: human.MediumRisk, Reversibility: human.Costly, Blast: human.MachineBlast, Rule: rule})
			return
		}
		for _, field := range strings.Fields(v.Text) {
			if at := strings.IndexAny(field, "/~"); at > 0 && (field[0] == '-' && field[1] != 'I' && field[1] != 'L') {
				w.loads("config", arg.Word{Text: field[at:], Quoted: true}, rule)
			} else if at == 0 {
				w.loads("config", arg.Word{Text: field, Quoted: true}, rule)
			}
		}
	case strings.ContainsAny(v.Text, "/~"):
		if w.loads(name, v, rule) && strings.ContainsRune(v.Text, ' ') && begins(v) {
			w.script(v.Text, "sh", nil, stream{})
		}
	case strings.ContainsRune(v.Text, ' ') && begins(v) && loading.MatchString(strings.ToLower(strings.ReplaceAll(name, "_", "-"))):
		w.script(v.Text, "sh", nil, stream{})
	}
}
