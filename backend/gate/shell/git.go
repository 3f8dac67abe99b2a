package shell

import (
	"slices"
	"strings"

	"deskbell/backend/gate/lazy"
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

func (w *walker) gitSetting(setting value) {
	key, val, _ := strings.Cut(setting.s, "=")
	if !setting.known() && strings.Contains(key, unknown) {
		w.unseen(setting, "git.setting")
		return
	}
	lower := strings.ToLower(key)
	if off := strings.ToLower(val); lower == "http.proxy" && val != "" || lower == "https.proxy" && val != "" || strings.HasSuffix(lower, ".insteadof") || strings.HasSuffix(lower, "sslverify") && (off == "false" || off == "0" || off == "no" || off == "off") {
		w.emit(human.Effect{Verb: human.SecurityWeakening, Resource: setting.shown(), Risk: human.MediumRisk, Reversibility: human.Costly, Blast: human.MachineBlast, Rule: "git.setting_reroutes"})
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
		w.emit(human.Effect{Verb: human.LangExec, Resource: setting.shown(), Certainty: human.Likely, Risk: human.HighRisk, Reversibility: human.Irreversible, Blast: human.MachineBlast, Rule: "git.setting_runs"})
		return
	case lower == "credential.helper":
		if !strings.HasPrefix(text, "!") {
			return
		}
	}
	w.emit(human.Effect{Verb: human.LangExec, Resource: setting.shown(), Certainty: human.Likely, Risk: human.LowRisk, Reversibility: human.Costly, Blast: human.MachineBlast, Rule: "git.setting_runs"})
	w.script(strings.TrimPrefix(text, "!"), "sh", nil, stream{})
}

func git(w *walker, c *cmd) (stream, bool) {
	args := c.args
	var words []value
	for i := 0; i < len(args); i++ {
		s := args[i].s
		switch {
		case s == "-c" && i+1 < len(args):
			i++
			w.gitSetting(args[i])
		case strings.HasPrefix(s, "-c") && strings.Contains(s, "=") && len(s) > 2 && s[2] != '=':
			w.gitSetting(value{s: s[2:], taint: args[i].taint, quoted: true})
		case strings.HasPrefix(s, "--config-env"):
			w.simple(c, human.LangExec, human.HighRisk, "setting_runs")
		case strings.HasPrefix(s, "--exec-path="):
			w.simple(c, human.LangExec, human.HighRisk, "setting_runs")
		case s == "-C" || s == "--git-dir" || s == "--work-tree" || s == "--namespace":
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
	sub := words[0].s
	if !words[0].known() {
		w.unseen(words[0], "git.unknown")
		return handled(stream{})
	}
	o, _ := parse(words[1:], lazy.Words("-x --exec --upload-pack --receive-pack --strategy --output"), false, false)
	for _, n := range []string{"--exec", "--upload-pack", "--receive-pack", "-x"} {
		if v, ok := o.flags[n]; ok && v.s != "" && (sub == "rebase" || n == "--upload-pack" || n == "--receive-pack" || n == "--exec") {
			w.script(v.s, "sh", nil, stream{})
		}
	}
	for _, a := range words[1:] {
		for _, p := range []string{"-O", "--open-files-in-pager="} { // git grep -Orm
			if text, ok := strings.CutPrefix(a.s, p); ok && text != "" && sub == "grep" {
				w.script(text, "sh", nil, stream{})
			}
		}
		if strings.HasPrefix(a.s, "ext::") {
			w.simple(c, human.LangExec, human.HighRisk, "remote_command")
			w.script(strings.TrimPrefix(a.s, "ext::"), "sh", nil, stream{})
		}
		for _, p := range []string{"--upload-pack=", "--receive-pack=", "--exec=", "--tree-filter=", "--index-filter=", "--msg-filter="} {
			if text, ok := strings.CutPrefix(a.s, p); ok {
				w.script(text, "sh", nil, stream{})
			}
		}
	}
	ow := o.words
	w.gitForces(c, sub, words[1:])
	switch {
	case sub == "checkout" && len(o.after) > 0 && !o.has("-p", "--patch"): // checkout -- a.txt
		w.discards(c, o.after)
	case sub == "config":
		if len(ow) >= 2 {
			k := ow[0].s
			i := 1
			if k == "set" && len(ow) >= 3 {
				k, i = ow[1].s, 2
			}
			if (o.has("--global") || o.has("--system")) && !o.has("--get", "--get-all", "--unset", "--get-regexp", "--list", "-l") && ow[0].s != "get" && ow[0].s != "list" {
				w.simple(c, human.PersistenceEffect, human.MediumRisk, "config_global")
			}
			if gitRuns(k) {
				w.gitSetting(value{s: k + "=" + ow[i].s, taint: ow[i].taint, quoted: true})
				if !o.has("--get", "--get-all", "--unset", "--get-regexp", "--list", "-l") && ow[0].s != "get" && ow[0].s != "unset" && ow[0].s != "list" {
					w.simple(c, human.PersistenceEffect, human.MediumRisk, "config_runs")
				}
			}
		}
	case sub == "rev-parse" && len(o.flags) == 1 && o.has("--show-toplevel") && w.inOwnTree(c) && !strings.HasPrefix(w.root, "/\x01nowhere"):
		w.apply(c)
		return handled(stream{text: w.root + "\n", known: true})
	case sub == "bisect" && len(ow) > 1 && ow[0].s == "run":
		w.run(afterWord(words, "run"), stream{})
	case sub == "submodule" && len(ow) > 1 && ow[0].s == "foreach":
		w.script(joined(afterWord(words, "foreach")).s, "sh", nil, stream{})
	case sub == "filter-branch":
		for i, a := range words {
			if strings.HasSuffix(a.s, "-filter") && i+1 < len(words) {
				w.script(words[i+1].s, "sh", nil, stream{})
			}
		}
	case sub == "worktree" && len(ow) > 1 && ow[0].s == "remove" && !o.has("--force", "-f"):
	case sub == "clone" && o.has("-c", "--config"):
		for i, a := range words {
			if (a.s == "-c" || a.s == "--config") && i+1 < len(words) {
				w.gitSetting(words[i+1])
			} else if v, ok := strings.CutPrefix(a.s, "--config="); ok {
				w.gitSetting(value{s: v, taint: a.taint, quoted: true})
			}
		}
	case sub == "clone" && len(ow) > 1:
		w.writing(ow[len(ow)-1], "git.clone")
	}
	return stream{taint: madeHere}, false
}

// gitForces looks for the one letter that forces, in a cluster of them: what the other letters take for a value depends
// on the command.
func (w *walker) gitForces(c *cmd, sub string, args []value) {
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
	if i := slices.IndexFunc(args, func(v value) bool { return v.s == "--" }); i >= 0 {
		args = args[:i]
	}
	for _, a := range args {
		switch {
		case a.s == "--dry-run" || a.s == "-n" && sub == "push":
			dry = true
		case len(a.s) > 2 && a.s[0] == '-' && a.s[1] != '-' && strings.Trim(a.s[1:], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" && (sub == "restore" || strings.IndexByte("oSLGOFbB", a.s[1]) < 0):
			forced = forced || strings.ContainsAny(a.s[1:], letters)
			dry = dry || sub == "push" && strings.ContainsRune(a.s, 'n')
		}
	}
	if !forced || dry {
		return
	}
	e := verbDefaults[verb]
	e.Verb, e.Risk, e.Rule, e.Resource, e.Certainty = verb, risk, "git."+sub+".forces", w.shown(c), human.Certain
	if sub == "push" {
		e.Blast, e.Reversibility = human.SharedBlast, human.Irreversible
	}
	w.emit(e)
}

// inOwnTree says whether a command of git surely works on the working tree that the evidence is of.
func (w *walker) inOwnTree(c *cmd) bool {
	if w.otherRepo || len(w.otherDirs) > 0 || w.dir != w.root && w.dir != w.start {
		return false
	}
	for _, a := range c.args {
		if a.s == "-C" || strings.HasPrefix(a.s, "--git-dir") || strings.HasPrefix(a.s, "--work-tree") || strings.HasPrefix(a.s, "--namespace") || !a.known() {
			return false
		}
	}
	return true
}

// discards is the loss of what was changed in files and is in no commit.
func (w *walker) discards(c *cmd, files []value) {
	e := verbDefaults[human.GitDiscard]
	e.Verb, e.Rule, e.Resource, e.Certainty = human.GitDiscard, "git.checkout.files", w.shown(c), human.Certain
	kept := w.evidence != nil
	for _, f := range files {
		p, target := w.placeOf(f, w.dir)
		kept = kept && !f.glob && f.known() && p != projectRoot
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

func afterWord(args []value, word string) []value {
	for i, a := range args {
		if a.s == word {
			rest := args[i+1:]
			for len(rest) > 0 && strings.HasPrefix(rest[0].s, "--") {
				rest = rest[1:]
			}
			return rest
		}
	}
	return nil
}
