package shell

import (
	"path"
	"slices"
	"strings"

	"deskbell/backend/gate/lazy"
	"deskbell/backend/gate/shell/arg"
	"deskbell/backend/gate/shell/commands"
	"deskbell/backend/human"
)

// env takes options and assignments before a command; without one it prints.
func env(w *walker, c *cmd) (stream, bool) {
	values := map[string]bool{"-u": true, "--unset": true, "-C": true, "--chdir": true, "-S": true, "--split-string": true, "-P": true, "-a": true, "--argv0": true}
	o, rest := commands.Parse(c.args, values, false, true)
	for _, name := range []string{"-S", "--split-string"} {
		if v, ok := o.Flags[name]; ok {
			return handled(w.script("env "+v.Text+quoteAll(rest), "sh", nil, c.in))
		}
	}
	if v, ok := o.Flags["-C"]; ok {
		defer func(old string) { w.dir = old }(w.dir)
		if abs, ok := w.resolve(v, w.dir); ok {
			w.dir = abs
		}
	}
	return handled(w.assignsThen(c, rest, "env"))
}

func (w *walker) assignsThen(c *cmd, rest []arg.Word, name string) stream {
	defer func(vars map[string]variable) { w.vars = vars }(w.save().vars)
	for len(rest) > 0 {
		key, val, ok := strings.Cut(rest[0].Text, "=")
		if !ok || strings.ContainsAny(key, "/ ") {
			break
		}
		v := arg.Word{Text: val, Taint: rest[0].Taint, Quoted: true}
		w.assigned(key, v)
		w.set(key, v)
		rest = rest[1:]
	}
	if len(rest) == 0 {
		w.emit(human.Effect{Verb: human.FilesystemRead, Resource: w.shown(c), Risk: human.NoRisk, Rule: name + ".prints"})
		return stream{taint: arg.FromSecret | c.in.taint}
	}
	return w.run(rest, c.in)
}

func sudo(w *walker, c *cmd) (stream, bool) {
	values := map[string]bool{"-u": true, "-g": true, "-h": true, "-p": true, "-C": true, "-D": true, "-R": true, "-T": true, "-U": true, "-r": true, "-t": true, "-a": true, "-c": true,
		"--user": true, "--group": true, "--host": true, "--prompt": true, "--chdir": true, "--chroot": true, "--role": true, "--type": true, "--close-from": true, "--command-timeout": true, "--other-user": true}
	o, rest := commands.Parse(c.args, values, false, true)
	risk := human.MediumRisk
	if len(rest) == 0 {
		if o.Has("-l", "--list", "-v", "-k", "-K", "-V", "--version", "--help", "--validate", "--reset-timestamp", "--remove-timestamp") {
			w.harmless(c)
			return handled(stream{})
		}
		if !o.Has("-e", "--edit") {
			risk = human.HighRisk // a shell, as another user
		}
		if c.in.open {
			w.feed("sh", c.in, "sudo.stdin")
		}
	}
	if o.Has("-e", "--edit") {
		for _, v := range rest {
			w.writing(v, "sudo.edits")
		}
		rest = nil
	}
	if len(rest) == 0 {
		w.simple(c, human.PrivilegeEscalation, risk, "other_user")
		return handled(stream{})
	}
	did := w.did
	out := w.assignsThen(c, rest, "sudo")
	if did == w.did && !slices.ContainsFunc(rest, func(v arg.Word) bool { return !v.Known() }) {
		risk = human.LowRisk // what only looks, looks as another user
	}
	w.simple(c, human.PrivilegeEscalation, risk, "other_user")
	return handled(out)
}

// execute runs the command that follows the options.
func execute(w *walker, c *cmd) (stream, bool) {
	values := map[string]bool{}
	if c.name == "exec" {
		values["-a"] = true
	}
	o, rest := commands.Parse(c.args, values, false, true)
	if c.name == "command" && o.Has("-v", "-V") {
		w.harmless(c)
		return handled(stream{})
	}
	if c.name == "rtk" && len(rest) > 0 {
		switch rest[0].Text {
		case "proxy":
			rest = rest[1:]
		case "gain", "init", "config", "discover", "smart":
			return stream{}, false
		}
	}
	if len(rest) == 0 {
		if c.name == "rtk" {
			return stream{}, false
		}
		w.harmless(c)
		return handled(stream{taint: arg.MadeHere}) // its redirects are those of all that follows
	}
	return handled(w.run(rest, c.in))
}

func builtin(w *walker, c *cmd) (stream, bool) {
	if len(c.args) == 0 || c.args[0].Text == "--list" || c.args[0].Text == "--help" {
		w.harmless(c)
		return handled(stream{})
	}
	return handled(w.run(c.args, c.in))
}

func xargs(w *walker, c *cmd) (stream, bool) {
	values := lazy.Words("-a -d -E -I -L -n -P -s -S -R -J --arg-file --delimiter --max-args --max-procs --max-chars --process-slot-var -j --jobs -N --colsep -S --sshlogin --joblog --results --tmpdir --retries --timeout --delay")
	if c.name == "xargs" {
		for _, n := range []string{"-N", "-j", "--jobs"} {
			delete(values, n)
		}
	}
	o, rest := commands.Parse(c.args, values, false, true)
	if c.name == "xargs" {
		// -e STOP: some take the word after -e for its value
		if v, ok := o.Flags["-e"]; ok && v.Text == "" && len(rest) > 1 && rest[0].Text == strings.ToUpper(rest[0].Text) && handlers()[rest[0].Text] == nil {
			rest = rest[1:]
		}
	}
	if v, ok := o.Flags["-a"]; ok {
		w.reading(v, "xargs.reads")
	}
	if o.Has("-p", "--interactive", "-o", "--open-tty") {
		w.simple(c, human.UnknownEffect, human.LowRisk, "interactive")
	}
	marks := []string{"{}"}
	if v, ok := o.Flags["-I"]; ok && v.Text != "" {
		marks = append(marks, v.Text)
	}
	if v, ok := o.Flags["-J"]; ok && v.Text != "" {
		marks = append(marks, v.Text)
	}
	if len(rest) == 0 {
		if c.name == "parallel" && c.in.open {
			w.feed("sh", c.in, "parallel.stdin")
			return handled(stream{})
		}
		w.simple(c, human.UnknownEffect, human.LowRisk, "echoes")
		return handled(stream{})
	}
	if c.name == "parallel" {
		for i, a := range rest {
			if a.Text == ":::" || a.Text == "::::" || a.Text == ":::+" {
				for _, x := range rest[i+1:] {
					if strings.ContainsRune(x.Text, ' ') {
						w.script(x.Text, "sh", nil, stream{})
					}
				}
				rest = rest[:i]
				break
			}
		}
		if len(rest) == 1 && strings.ContainsRune(rest[0].Text, ' ') {
			return handled(w.script(strings.ReplaceAll(rest[0].Text, "{}", "\"$_parallel\""), "sh", nil, stream{}))
		}
		if len(rest) == 0 {
			return handled(stream{})
		}
	}
	fed := arg.Word{Text: arg.Unknown, Taint: c.in.taint, Quoted: true}
	if c.in.known && !strings.ContainsAny(c.in.text, " \n\t") {
		fed.Text = c.in.text
	}
	var args []arg.Word
	used := false
	for _, a := range rest {
		for _, m := range marks {
			if strings.Contains(a.Text, m) {
				a.Text = strings.ReplaceAll(a.Text, m, fed.Text)
				a.Taint |= fed.Taint
				used = true
			}
		}
		args = append(args, a)
	}
	if args[0].Text == arg.Unknown {
		w.unseen(args[0], "xargs.command")
		return handled(stream{})
	}
	name := path.Base(args[0].Text)
	if c.in.all != "" && (name == "rm" || name == "shred" || name == "unlink") {
		w.deleting(arg.Known(c.in.all), true, "xargs.deletes")
	}
	if !used && !o.Has("-I", "-J", "--replace", "-i") {
		if c.in.known {
			pieces := strings.Fields(c.in.text)
			if o.Has("-0", "--null", "-d", "--delimiter") {
				pieces = []string{strings.TrimRight(c.in.text, "\n")}
			}
			if len(pieces) > 64 {
				pieces = []string{arg.Unknown}
			}
			for _, x := range pieces {
				args = append(args, arg.Word{Text: x, Taint: c.in.taint, Quoted: true})
			}
		} else {
			args = append(args, fed)
		}
	}
	// sh -c 'text {}' with what is fed within the text is a command made of it.
	if isShell(name) || name == "eval" {
		if len(args) > 2 {
			for i, a := range args {
				if strings.HasPrefix(a.Text, "-") && strings.Contains(a.Text, "c") && i+1 < len(args) && args[i+1].Text == arg.Unknown {
					w.unseen(args[i+1], "xargs.command")
				}
				if i > 0 && strings.Contains(a.Text, arg.Unknown) && strings.ContainsRune(a.Text, ' ') && !a.Known() {
					args[i].Text = strings.ReplaceAll(a.Text, arg.Unknown, "\"$_fed\"")
				}
			}
		}
	}
	return handled(w.run(args, stream{taint: c.in.taint}))
}

func scriptCmd(w *walker, c *cmd) (stream, bool) {
	o, rest := commands.Parse(c.args, lazy.Words("-c --command -E -O -I -B -T -o -m --log-out --log-in --log-io --log-timing"), false, true)
	for _, n := range []string{"-c", "--command"} {
		if v, ok := o.Flags[n]; ok {
			w.script(v.Text, "sh", nil, stream{})
			for _, p := range rest {
				w.writing(p, "script.writes")
			}
			return handled(stream{})
		}
	}
	if o.Has("-p") { // plays back what was recorded
		w.harmless(c)
		return handled(stream{})
	}
	if len(rest) > 0 {
		w.writing(rest[0], "script.writes")
	}
	if len(rest) > 1 {
		return handled(w.run(rest[1:], stream{}))
	}
	w.simple(c, human.LangExec, human.MediumRisk, "interactive")
	return handled(stream{})
}

// away goes through what runs on another machine.
func (w *walker) away(host string, run func() stream) stream {
	old, dir, others, home, world := w.otherHost, w.dir, w.otherDirs, w.root, w.world
	w.world = nil
	w.otherHost, w.dir, w.otherDirs, w.root = host, w.home, nil, "/\x01nowhere"
	out := run()
	w.otherHost, w.dir, w.otherDirs, w.root, w.world = old, dir, others, home, world
	return out
}

func ssh(w *walker, c *cmd) (stream, bool) {
	o, rest := commands.Parse(c.args, lazy.Words("-B -b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w"), false, true)
	if v, ok := o.Flags["-o"]; ok {
		l := strings.ToLower(v.Text)
		for _, key := range []string{"proxycommand", "localcommand", "knownhostscommand"} {
			if rest, ok := strings.CutPrefix(l, key); ok {
				w.script(strings.TrimLeft(v.Text[len(v.Text)-len(rest):], "= "), "sh", nil, stream{})
			}
		}
		if strings.Contains(l, "stricthostkeychecking=no") || strings.Contains(l, "stricthostkeychecking no") {
			w.simple(c, human.SecurityWeakening, human.MediumRisk, "host_unchecked")
		}
	}
	if o.Has("-Q", "-V", "-G") && len(rest) <= 1 || len(rest) == 0 {
		w.harmless(c)
		return handled(stream{})
	}
	if o.Has("-R", "-D", "-L", "-w") {
		w.simple(c, human.NetworkWrite, human.MediumRisk, "tunnel")
	}
	host := rest[0].Shown()
	if c.in.taint&arg.FromSecret != 0 {
		w.leak(host)
	}
	cmdline := rest[1:]
	// Options may follow the host.
	for len(cmdline) > 0 && len(cmdline[0].Text) > 1 && cmdline[0].Text[0] == '-' {
		cmdline = cmdline[1:]
	}
	if len(cmdline) == 0 {
		w.simple(c, human.NetworkWrite, human.MediumRisk, "session")
		if c.in.open {
			w.away(host, func() stream { w.feed("sh", c.in, "ssh.stdin"); return stream{} })
		}
		return handled(stream{taint: arg.MadeHere})
	}
	w.simple(c, human.NetworkRead, human.LowRisk, "runs_there")
	out := w.away(host, func() stream { return w.script(arg.Joined(cmdline).Text, "sh", nil, c.in) })
	return handled(stream{taint: out.taint | arg.FromNetwork})
}

// daemon is start-stop-daemon, which takes the program by option and its arguments after --.
func daemon(w *walker, c *cmd) (stream, bool) {
	o, _ := commands.Parse(c.args, lazy.Words("-x --exec -a --startas -p --pidfile -n --name -u --user -c --chuid -d --chdir -g --group -k -s --signal"), false, false)
	for _, n := range []string{"-a", "--startas", "-x", "--exec"} {
		if v, ok := o.Flags[n]; ok && v.Text != "" && !o.Has("-K", "--stop", "-T", "--status") {
			return handled(w.run(append([]arg.Word{v}, o.After...), stream{}))
		}
	}
	return stream{}, false
}
