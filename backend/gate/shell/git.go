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

// Settings of git that run what they hold.
func gitRuns(key string) bool {
	key = strings.ToLower(key)
	switch key {
	case "core.pager", "core.editor", "core.sshcommand", "core.askpass", "core.gitproxy", "core.fsmonitor", "sequence.editor", "diff.external", "credential.helper", "gpg.program", "web.browser", "uploadpack.packobjectshook", "init.templatedir", "core.hookspath", "core.alternaterefscommand", "interactive.difffilter", "sendemail.smtpserver":
		return true
	}
	for _, p := range []string{"alias.", "pager.", "filter.", "difftool.", "mergetool.", "browser.", "man.", "guitool.", "remote.", "diff.", "merge.", "gpg.", "trailer.", "include", "credential.", "url.", "protocol.ext"} {
		if strings.HasPrefix(key, p) {
			for _, end := range []string{".cmd", ".clean", ".smudge", ".process", ".command", ".textconv", ".driver", ".program", ".helper", ".path", ".uploadpack", ".receivepack", ".vcs", ".allow"} {
				if strings.HasSuffix(key, end) {
					return true
				}
			}
			return p == "alias." || p == "pager."
		}
	}
	return false
}

func (w *walker) gitSetting(setting arg.Word) {
	key, val, _ := strings.Cut(setting.Text, "=")
	if !setting.Known() && strings.Contains(key, arg.Unknown) {
		w.unseen(setting, "git.setting")
		return
	}
	lower := strings.ToLower(key)
	if off := strings.ToLower(val); lower == "http.proxy" && val != "" || lower == "https.proxy" && val != "" || strings.HasSuffix(lower, ".insteadof") || strings.HasSuffix(lower, "sslverify") && (off == "false" || off == "0" || off == "no" || off == "off") {
		w.emit(human.Effect{Verb: human.SecurityWeakening, Resource: setting.Shown(), Risk: human.MediumRisk, Reversibility: human.Costly, Blast: human.MachineBlast, Rule: "git.setting_reroutes"})
	}
	if !gitRuns(key) && !strings.HasSuffix(lower, ".command") {
		return
	}
	text := val
	switch {
	case strings.HasPrefix(lower, "alias."):
		if sh, ok := strings.CutPrefix(text, "!"); ok {
			text = sh
		} else {
			text = "git " + text
		}
	case lower == "core.pager" && (text == "cat" || text == "less" || text == "" || text == "delta"), strings.HasPrefix(lower, "pager.") && (text == "cat" || text == "false" || text == "true" || text == "less"):
		return
	case lower == "core.fsmonitor" && (text == "false" || text == "true"), lower == "core.hookspath" && text == "/dev/null", lower == "core.editor" && (text == "true" || text == ":" || text == "vim" || text == "cat"), lower == "sequence.editor" && (text == "true" || text == ":"):
		return
	case lower == "core.hookspath" || strings.HasPrefix(lower, "include") || lower == "init.templatedir":
		w.emit(human.Effect{Verb: human.LangExec, Resource: setting.Shown(), Certainty: human.Likely, Risk: human.HighRisk, Reversibility: human.Irreversible, Blast: human.MachineBlast, Rule: "git.setting_runs"})
		return
	case lower == "credential.helper":
		if !strings.HasPrefix(text, "!") {
			return
		}
	}
	w.emit(human.Effect{Verb: human.LangExec, Resource: setting.Shown(), Certainty: human.Likely, Risk: human.LowRisk, Reversibility: human.Costly, Blast: human.MachineBlast, Rule: "git.setting_runs"})
	w.script(strings.TrimPrefix(text, "!"), "sh", nil, stream{})
}

func git(w *walker, c *cmd) (stream, bool) {
	args := c.args
	var words []arg.Word
	for i := 0; i < len(args); i++ {
		s := args[i].Text
		switch {
		case s == "-c" && i+1 < len(args):
			i++
			w.gitSetting(args[i])
		case strings.HasPrefix(s, "-c") && strings.Contains(s, "=") && len(s) > 2 && s[2] != '=':
			w.gitSetting(arg.Word{Text: s[2:], Taint: args[i].Taint, Quoted: true})
		case strings.HasPrefix(s, "--config-env"):
			w.simple(c, human.LangExec, human.HighRisk, "setting_runs")
		case strings.HasPrefix(s, "--exec-path="):
			w.simple(c, human.LangExec, human.HighRisk, "setting_runs")
		case s == "--git-dir" && i+1 < len(args):
			i++
			w.repository(args[i])
		case strings.HasPrefix(s, "--git-dir="):
			w.repository(arg.Word{Text: s[len("--git-dir="):], Quoted: true})
		case s == "-C" || s == "--work-tree" || s == "--namespace":
			i++
		case strings.HasPrefix(s, "-"):
		default:
			words = args[i:]
			i = len(args)
		}
	}
	if len(words) == 0 {
		return stream{}, false
	}
	sub := words[0].Text
	if !words[0].Known() {
		w.unseen(words[0], "git.unknown")
		return handled(stream{})
	}
	o, _ := commands.Parse(words[1:], lazy.Words("-x --exec --upload-pack --receive-pack --strategy --output --template -u"), false, false)
	for _, n := range []string{"--exec", "--upload-pack", "--receive-pack", "-x"} {
		if v, ok := o.Flags[n]; ok && v.Text != "" && (sub == "rebase" || n == "--upload-pack" || n == "--receive-pack" || n == "--exec") {
			w.script(v.Text, "sh", nil, stream{})
		}
	}
	for _, a := range words[1:] {
		for _, p := range []string{"-O", "--open-files-in-pager="} { // git grep -Orm
			if text, ok := strings.CutPrefix(a.Text, p); ok && text != "" && sub == "grep" {
				w.script(text, "sh", nil, stream{})
			}
		}
		if strings.HasPrefix(a.Text, "ext::") {
			w.simple(c, human.LangExec, human.HighRisk, "remote_command")
			w.script(strings.TrimPrefix(a.Text, "ext::"), "sh", nil, stream{})
		}
		for _, p := range []string{"--upload-pack=", "--receive-pack=", "--exec=", "--tree-filter=", "--index-filter=", "--msg-filter="} {
			if text, ok := strings.CutPrefix(a.Text, p); ok {
				w.script(text, "sh", nil, stream{})
			}
		}
	}
	for _, n := range []string{"--template", "-u"} {
		if v := o.Flags[n]; v.Text != "" && (sub == "clone" || sub == "init" && n == "--template") {
			w.loads("template-dir", v, "git.loads")
		}
	}
	ow := o.Words
	w.gitForces(c, sub, words[1:])
	switch {
	case sub == "checkout" && len(o.After) > 0 && !o.Has("-p", "--patch"): // checkout -- a.txt
		w.discards(c, o.After)
	case sub == "config":
		if len(ow) >= 2 {
			k := ow[0].Text
			i := 1
			if k == "set" && len(ow) >= 3 {
				k, i = ow[1].Text, 2
			}
			if (o.Has("--global") || o.Has("--system")) && !o.Has("--get", "--get-all", "--unset", "--get-regexp", "--list", "-l") && ow[0].Text != "get" && ow[0].Text != "list" {
				w.simple(c, human.PersistenceEffect, human.MediumRisk, "config_global")
			}
			if gitRuns(k) {
				w.gitSetting(arg.Word{Text: k + "=" + ow[i].Text, Taint: ow[i].Taint, Quoted: true})
				if !o.Has("--get", "--get-all", "--unset", "--get-regexp", "--list", "-l") && ow[0].Text != "get" && ow[0].Text != "unset" && ow[0].Text != "list" {
					w.simple(c, human.PersistenceEffect, human.MediumRisk, "config_runs")
				}
			}
		}
	case sub == "rev-parse" && len(o.Flags) == 1 && o.Has("--show-toplevel") && w.inOwnTree(c) && !strings.HasPrefix(w.root, "/\x01nowhere"):
		w.apply(c)
		return handled(stream{text: w.root + "\n", known: true})
	case sub == "bisect" && len(ow) > 1 && ow[0].Text == "run":
		w.run(afterWord(words, "run"), stream{})
	case sub == "submodule" && len(ow) > 1 && ow[0].Text == "foreach":
		w.script(arg.Joined(afterWord(words, "foreach")).Text, "sh", nil, stream{})
	case sub == "filter-branch":
		for i, a := range words {
			if strings.HasSuffix(a.Text, "-filter") && i+1 < len(words) {
				w.script(words[i+1].Text, "sh", nil, stream{})
			}
		}
	case sub == "worktree" && len(ow) > 1 && ow[0].Text == "remove" && !o.Has("--force", "-f"):
	case sub == "clone" && o.Has("-c", "--config"):
		for i, a := range words {
			if (a.Text == "-c" || a.Text == "--config") && i+1 < len(words) {
				w.gitSetting(words[i+1])
			} else if v, ok := strings.CutPrefix(a.Text, "--config="); ok {
				w.gitSetting(arg.Word{Text: v, Taint: a.Taint, Quoted: true})
			}
		}
	case sub == "clone" && len(ow) > 1:
		w.writing(ow[len(ow)-1], "git.clone")
	}
	return stream{taint: arg.MadeHere}, false
}

// gitForces looks for the one letter that forces, in a cluster of them: what the other letters take for a value depends
// on the command.
func (w *walker) gitForces(c *cmd, sub string, args []arg.Word) {
	letters, risk, verb := "", human.HighRisk, human.GitHistoryRewrite
	switch sub {
	case "push":
		letters = "fd"
	case "branch":
		letters = "DMCf"
	case "checkout", "switch":
		letters, verb = "f", human.GitDiscard
	case "restore": // -SW
		letters, verb = "W", human.GitDiscard
	case "tag":
		letters, risk = "fd", human.MediumRisk
	default:
		return
	}
	forced, dry := false, false
	if i := slices.IndexFunc(args, func(v arg.Word) bool { return v.Text == "--" }); i >= 0 {
		args = args[:i]
	}
	for _, a := range args {
		switch {
		case a.Text == "--dry-run" || a.Text == "-n" && sub == "push":
			dry = true
		case len(a.Text) > 2 && a.Text[0] == '-' && a.Text[1] != '-' && strings.Trim(a.Text[1:], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" && (sub == "restore" || strings.IndexByte("oSLGOFbB", a.Text[1]) < 0):
			forced = forced || strings.ContainsAny(a.Text[1:], letters)
			dry = dry || sub == "push" && strings.ContainsRune(a.Text, 'n')
		}
	}
	if !forced || dry {
		return
	}
	e := commands.Defaults[verb]
	e.Verb, e.Risk, e.Rule, e.Resource, e.Certainty = verb, risk, "git."+sub+".forces", w.shown(c), human.Certain
	if sub == "push" {
		e.Blast, e.Reversibility = human.SharedBlast, human.Irreversible
	}
	w.emit(e)
}

// repository is a folder by whose settings git runs commands: hooks, a monitor of files.
func (w *walker) repository(v arg.Word) {
	v.Text = strings.TrimSuffix(strings.TrimSuffix(v.Text, "/"), "/.git")
	switch p, target := w.placeOf(v, w.dir); p {
	case paths.InTemp, paths.Outside:
		w.emit(human.Effect{Verb: human.LangExec, Resource: v.Shown(), Target: target, Certainty: human.Possible, Risk: human.MediumRisk, Reversibility: human.Costly, Blast: human.MachineBlast, Rule: "git.other_repository"})
	}
}

// inOwnTree says whether a command of git surely works on the working tree that the evidence is of.
func (w *walker) inOwnTree(c *cmd) bool {
	if w.otherRepo || len(w.otherDirs) > 0 || w.dir != w.root && w.dir != w.start {
		return false
	}
	for _, a := range c.args {
		if a.Text == "-C" || strings.HasPrefix(a.Text, "--git-dir") || strings.HasPrefix(a.Text, "--work-tree") || strings.HasPrefix(a.Text, "--namespace") || !a.Known() {
			return false
		}
	}
	return true
}

// discards is the loss of what was changed in files and is in no commit.
func (w *walker) discards(c *cmd, files []arg.Word) {
	e := commands.Defaults[human.GitDiscard]
	e.Verb, e.Rule, e.Resource, e.Certainty = human.GitDiscard, "git.checkout.files", w.shown(c), human.Certain
	kept := w.evidence != nil
	for _, f := range files {
		p, target := w.placeOf(f, w.dir)
		kept = kept && !f.Glob && f.Known() && p != paths.Root
		if kept {
			s := w.evidence.File(target)
			kept = s == Committed || s == Absent
		}
	}
	if w.evidence != nil && w.inOwnTree(c) && (kept || w.evidence.Clean()) {
		e.Risk = human.LowRisk // there is nothing that no commit holds
	}
	w.emit(e)
}

func afterWord(args []arg.Word, word string) []arg.Word {
	for i, a := range args {
		if a.Text == word {
			rest := args[i+1:]
			for len(rest) > 0 && strings.HasPrefix(rest[0].Text, "--") {
				rest = rest[1:]
			}
			return rest
		}
	}
	return nil
}
