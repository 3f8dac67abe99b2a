package shell

import (
	"path"
	"strings"

	"deskbell/backend/gate/lazy"
	"deskbell/backend/gate/shell/arg"
	"deskbell/backend/gate/shell/commands"
	"deskbell/backend/gate/shell/paths"
	"deskbell/backend/human"
)

// spread gives each letter of options that are written together an argument of its own; what follows one that takes a value
// is its value.
func spread(args []arg.Word, values map[string]bool) []arg.Word {
	var all []arg.Word
	for i := 0; i < len(args); i++ {
		a := args[i]
		if len(a.Text) < 3 || a.Text[0] != '-' || a.Text[1] == '-' || values[a.Text[:2]] || !a.Known() {
			if all = append(all, a); values[a.Text] && i+1 < len(args) {
				i++
				all = append(all, args[i])
			}
			continue
		}
		for j := 1; j < len(a.Text); j++ {
			n := "-" + a.Text[j:j+1]
			if all = append(all, arg.Known(n)); values[n] {
				if rest := a.Text[j+1:]; rest != "" {
					all = append(all, arg.Word{Text: rest, Taint: a.Taint, Quoted: true})
				} else if i+1 < len(args) {
					i++
					all = append(all, args[i])
				}
				break
			}
		}
	}
	return all
}

func tar(w *walker, c *cmd) (stream, bool) {
	values := lazy.Words("-f -C -T -X -I -K -N -g -V -b -H -L -F --file --directory --files-from --exclude --exclude-from --use-compress-program --to-command --checkpoint-action --info-script --new-volume-script --rsh-command --rmt-command --transform --strip-components --owner --group --mode")
	args := c.args
	if len(args) > 0 && !strings.HasPrefix(args[0].Text, "-") && args[0].Text != "" { // tar xzf: the old way, values in their order
		var spread []arg.Word
		rest := args[1:]
		for _, ch := range args[0].Text {
			n := "-" + string(ch)
			spread = append(spread, arg.Known(n))
			if values[n] && len(rest) > 0 {
				spread = append(spread, rest[0])
				rest = rest[1:]
			}
		}
		args = append(spread, rest...)
	}
	args = spread(args, values)
	for _, n := range []string{"--to-command", "--checkpoint-action", "--use-compress-program", "-I", "--info-script", "--new-volume-script", "-F", "--rsh-command", "--rmt-command"} {
		for i, a := range args {
			text := ""
			switch {
			case a.Text == n && i+1 < len(args):
				text = args[i+1].Text
			case strings.HasPrefix(a.Text, n+"="):
				text = a.Text[len(n)+1:]
			case len(n) == 2 && len(a.Text) > 2 && strings.HasPrefix(a.Text, n):
				text = a.Text[2:]
			case strings.HasPrefix(n, "--") && len(a.Text) > 6 && strings.HasPrefix(n, strings.SplitN(a.Text, "=", 2)[0]) && strings.Contains(a.Text, "="):
				text = strings.SplitN(a.Text, "=", 2)[1]
			default:
				continue
			}
			if n == "--checkpoint-action" {
				sh, ok := strings.CutPrefix(text, "exec=")
				if !ok {
					continue
				}
				text = sh
			}
			first, _, _ := strings.Cut(text, " ")
			switch first {
			case "gzip", "pigz", "zstd", "xz", "bzip2", "lz4", "pixz", "pbzip2", "lzma", "zstdmt", "brotli", "lzop":
				continue
			}
			w.script(text, "sh", nil, fed(arg.FromFile))
		}
	}
	o, _ := commands.Parse(args, values, false, false)
	var file arg.Word
	if v, ok := o.Flags["-f"]; ok {
		file = v
	} else if v, ok := o.Flags["--file"]; ok {
		file = v
	}
	dir := arg.Word{Text: ".", Quoted: true}
	for _, n := range []string{"-C", "--directory"} {
		if v, ok := o.Flags[n]; ok {
			dir = v
		}
	}
	switch {
	case o.Has("-x", "--extract", "--get"):
		if o.Has("-O", "--to-stdout") {
			w.harmless(c)
			return handled(stream{taint: c.in.taint | arg.FromDecoder})
		}
		w.writing(dir, "tar.extract")
		if o.Has("-P", "--absolute-names") {
			w.simple(c, human.FilesystemWrite, human.HighRisk, "absolute_names")
		}
	case o.Has("-t", "--list", "-d", "--diff", "--compare") && !o.Has("-c", "-r", "-u"):
		w.harmless(c)
	case o.Has("-c", "--create", "-r", "--append", "-u", "--update", "--delete", "-A"):
		if file.Text != "" && file.Text != "-" {
			w.writing(file, "tar.create")
		}
		var t arg.Taint
		for _, v := range o.Words {
			t |= w.reading(v, "tar.reads")
		}
		if o.Has("--remove-files") {
			w.simple(c, human.FilesystemDelete, human.HighRisk, "remove_files")
		}
		if file.Text != "" && file.Text != "-" {
			w.keep(file, stream{taint: t &^ arg.FromFile})
		}
		w.simple(c, human.FilesystemWrite, human.LowRisk, "create")
		return handled(stream{taint: t})
	case o.Has("--version", "--help", "--usage"):
		w.harmless(c)
	default:
		w.simple(c, human.UnknownEffect, human.MediumRisk, "unknown")
	}
	return handled(stream{taint: c.in.taint})
}

func remove(w *walker, c *cmd) (stream, bool) {
	o, _ := commands.Parse(c.args, lazy.Words("-n --iterations -s --size --random-source"), false, false)
	if len(c.args) == 1 && o.Has("--help", "--version") {
		w.harmless(c)
		return handled(stream{})
	}
	recursive := o.Has("-r", "-R") || o.Any("--recursive") || c.name == "srm" && o.Has("-r")
	if o.Has("--no-preserve-root") || o.Any("--no-preserve-root") {
		w.emit(human.Effect{Verb: human.FilesystemDelete, Resource: w.shown(c), Risk: human.CriticalRisk, HardLimit: true, Reversibility: human.Irreversible, Blast: human.MachineBlast, Rule: "rm.no_preserve_root"})
	}
	if len(o.Words) == 0 {
		risk := human.MediumRisk
		if recursive {
			risk = human.HighRisk
		}
		w.simple(c, human.FilesystemDelete, risk, "nothing_named")
	}
	for i, v := range o.Words {
		if i > 100 {
			w.opaque("shell.too_much", "thing_deletes_much")
			break
		}
		if c.name == "rmdir" {
			w.simple(c, human.FilesystemDelete, human.LowRisk, "empty_folder")
			if p, _ := w.placeOf(v, w.dir); p >= paths.Secret {
				w.deleting(v, false, "rmdir")
			}
			continue
		}
		w.deleting(v, recursive, c.name)
		if c.name == "shred" && !recursive {
			w.simple(c, human.FilesystemDelete, human.HighRisk, "overwrites")
		}
	}
	return handled(stream{})
}

func copies(w *walker, c *cmd) (stream, bool) {
	o, _ := commands.Parse(c.args, lazy.Words("-t --target-directory -S --suffix -m --mode -o --owner -g --group"), false, false)
	words := o.Words
	var to arg.Word
	if v, ok := o.Flags["-t"]; ok && v.Text != "" {
		to = v
	} else if v, ok := o.Flags["--target-directory"]; ok {
		to = v
	} else if len(words) > 1 {
		to, words = words[len(words)-1], words[:len(words)-1]
	} else {
		w.simple(c, human.FilesystemWrite, human.LowRisk, "writes")
		if c.name != "ln" || len(words) == 0 {
			return handled(stream{})
		}
		to = arg.Word{Text: ".", Quoted: true}
	}
	var t arg.Taint
	forced := c.name == "ln" && o.Has("-f", "--force")
	keeps := !forced && o.Has("-n", "--no-clobber", "--update", "-u", "-b", "--backup", "-i", "--interactive", "-s", "--symbolic")
	for _, v := range words {
		from := v.Taint
		if c.name != "ln" {
			from |= w.reading(v, c.name+".reads")
		} else if p, _ := w.placeOf(v, w.dir); p == paths.Secret || p == paths.EnvFile {
			from |= arg.FromSecret
		}
		t |= from
		v.Taint = from &^ arg.FromFile
		w.copied(v, to, len(words) == 1, keeps, forced, c)
		if c.name == "mv" {
			w.moves(v, to)
		}
		if c.name == "ln" {
			switch p, target := w.placeOf(v, w.dir); {
			case p == paths.Gate:
				w.tampers(w.shown(c))
			case p == paths.Secret, p == paths.RawDevice, p == paths.Slash, w.holdsGuard(target, v.Glob):
				w.simple(c, human.CredentialAccess, human.HighRisk, "links")
			}
		}
	}
	// Into a folder, the file's own name decides what it becomes.
	for _, v := range words {
		base := path.Base(strings.TrimRight(v.Text, "/"))
		if paths.SecretNames()[base] || paths.StartNames()[base] {
			w.writing(arg.Word{Text: strings.TrimRight(to.Text, "/") + "/" + base, Quoted: true}, c.name+".writes")
		}
	}
	if c.name == "install" && o.Has("-m") && strings.HasPrefix(o.Flags["-m"].Text, "4") {
		w.simple(c, human.PrivilegeEscalation, human.HighRisk, "setuid")
	}
	return handled(stream{taint: t})
}

// moves is what mv does to one of its words.
func (w *walker) moves(v, to arg.Word) {
	p, target := w.placeOf(v, w.dir)
	e := human.Effect{Verb: human.FilesystemWrite, Resource: v.Shown(), Target: target, Risk: human.LowRisk, Reversibility: human.Reversible, Rule: "mv.moves"}
	switch p {
	case paths.Slash, paths.Home, paths.RawDevice:
		e.Risk, e.HardLimit, e.Blast = human.CriticalRisk, true, human.MachineBlast
	case paths.Root, paths.GitDir, paths.System, paths.Start, paths.Secret, paths.Unknown:
		e.Risk, e.Blast = human.HighRisk, human.MachineBlast
	case paths.Gate, paths.Hook:
		e.Risk, e.HardLimit = human.CriticalRisk, true
	case paths.Outside, paths.EnvFile:
		e.Risk = human.MediumRisk
	}
	if w.holdsGuard(target, v.Glob) || paths.HoldsHooks(target) {
		e.Risk, e.HardLimit = human.CriticalRisk, true
	}
	if to.Text == "/dev/null" {
		e.Verb, e.Reversibility = human.FilesystemDelete, human.Irreversible
		if !e.HardLimit {
			e.Risk = human.HighRisk
		}
	}
	w.emit(e)
}

// copied is what becomes of the place where a file is copied, moved or linked to: a name, or a folder.
func (w *walker) copied(v, to arg.Word, one, keeps, forced bool, c *cmd) {
	base := path.Base(strings.TrimRight(v.Text, "/"))
	into := arg.Word{Text: strings.TrimRight(to.Text, "/") + "/" + base, Quoted: true, Taint: to.Taint}
	folder := !one || strings.HasSuffix(to.Text, "/") || to.Text == "." || to.Text == ".." || strings.HasSuffix(to.Text, "/..") || path.Ext(base) != "" && path.Ext(to.Text) == ""
	o, _ := commands.Parse(c.args, nil, false, false)
	links, hard := o.Has("-s", "--symbolic-link", "-l", "--link"), !o.Has("-s", "--symbolic", "--symbolic-link")
	became := stream{from: v.Text, taint: v.Taint}
	if abs, ok := w.resolve(v, w.dir); ok && v.Known() {
		became.from = abs
	} else {
		became = stream{taint: v.Taint | arg.MadeHere, edited: true}
	}
	if f, ok := w.file(v); ok {
		became = f
	}
	if c.name == "ln" || c.name == "mv" || c.name == "cp" && links {
		defer func(was bool) { w.replacesLinks = was }(w.replacesLinks)
		w.replacesLinks = true
		defer func() {
			from := v
			if abs, ok := w.resolve(v, w.dir); ok && (c.name == "mv" || hard) {
				from = arg.Known(abs)
			}
			w.link(into, from, c.name != "mv")
			if one { // what is there says which of the two it is
				w.link(to, from, c.name != "mv")
			}
		}()
	}
	defer func() {
		w.keep(into, became)
		if one {
			w.keep(to, became)
		}
	}()
	rule := c.name + ".writes"
	w.writing(to, rule)
	w.replacesHooks(c, v, to, folder)
	at := to
	if folder {
		at = into
	}
	switch {
	case keeps || v.Glob || c.name == "ln" && !forced:
	case v.Text == "/dev/null":
		w.emptying(to, c.name+".empties")
	default:
		if p, _ := w.placeOf(at, w.dir); p == paths.InProject || p == paths.Outside || p == paths.EnvFile {
			w.replacing(at, rule)
		}
	}
}

// uniq writes to the second file that is named.
func uniq(w *walker, c *cmd) (stream, bool) {
	o, _ := commands.Parse(c.args, lazy.Words("-f -s -w --skip-fields --skip-chars --check-chars"), false, false)
	if len(o.Words) > 1 {
		w.replacing(o.Words[1], "uniq.writes")
	}
	return stream{}, false
}

func truncate(w *walker, c *cmd) (stream, bool) {
	o, _ := commands.Parse(c.args, commands.Of("truncate").Values, false, false)
	for _, v := range o.Words {
		w.emptying(v, "truncate.empties")
	}
	return stream{}, false
}

func dd(w *walker, c *cmd) (stream, bool) {
	var t arg.Taint
	for _, a := range c.args {
		if v, ok := strings.CutPrefix(a.Text, "of="); ok {
			w.replacing(arg.Word{Text: v, Taint: a.Taint, Quoted: true}, "dd.writes")
			w.simple(c, human.FilesystemWrite, human.MediumRisk, "copies")
		}
		if v, ok := strings.CutPrefix(a.Text, "if="); ok {
			p, _ := w.placeOf(arg.Word{Text: v}, w.dir)
			t |= w.reading(arg.Word{Text: v, Taint: a.Taint, Quoted: true}, "dd.reads")
			if p == paths.RawDevice {
				w.simple(c, human.CredentialAccess, human.HighRisk, "reads_device")
			}
		}
	}
	w.simple(c, human.FilesystemWrite, human.LowRisk, "copies")
	return handled(stream{taint: t | c.in.taint})
}

// chmod, chown and their like change who may do what.
func chmod(w *walker, c *cmd) (stream, bool) {
	o, _ := commands.Parse(c.args, lazy.Words("--reference --from -m -M -x -X --modify --set"), false, false)
	if len(c.args) == 1 && o.Has("--help", "--version") {
		w.harmless(c)
		return handled(stream{})
	}
	recursive := o.Has("-R", "-r") || o.Any("--recursive")
	words := o.Words
	mode := ""
	if len(words) > 0 && !o.Has("--reference") && (c.name != "setfacl" || !o.Has("-m", "-M", "-x", "-X", "-b", "-k", "--modify", "--remove-all", "--set")) {
		mode, words = words[0].Text, words[1:]
	}
	risk := human.LowRisk
	if c.name != "chmod" {
		risk = human.MediumRisk
	}
	octal := strings.TrimLeft(mode, "0")
	switch {
	case c.name == "chmod" && (strings.Contains(mode, "+s") || strings.Contains(mode, "u=s") || len(octal) == 4 && octal[0] >= '2' && octal[0] <= '7' && strings.Trim(octal, "01234567") == ""):
		w.simple(c, human.PrivilegeEscalation, human.HighRisk, "setuid")
	case c.name == "chmod" && (octal == "777" || octal == "666" || octal == "776" || mode == "a+rwx" || mode == "a+w" || mode == "o+w" || mode == "ugo+rwx" || mode == "a=rwx" || strings.Contains(mode, "o+rw") || strings.Contains(mode, "a+rw")):
		w.simple(c, human.SecurityWeakening, human.MediumRisk, "anybody_writes")
		if recursive {
			risk = human.HighRisk
		} else {
			risk = human.MediumRisk
		}
	case c.name == "chmod" && (octal == "" && mode == "000" || mode == "0" || mode == "a-rwx"):
		risk = human.MediumRisk
	}
	for _, v := range words {
		p, target := w.placeOf(v, w.dir)
		e := human.Effect{Verb: human.SecurityWeakening, Resource: v.Shown(), Target: target, Risk: risk, Reversibility: human.Costly, Blast: human.FileBlast, Rule: c.name + ".changes"}
		if risk == human.LowRisk {
			e.Verb = human.FilesystemWrite
		}
		switch {
		case (p == paths.Slash || p == paths.Home || w.holdsGuard(target, v.Glob) || paths.HoldsHooks(target)) && recursive, p == paths.Gate, p == paths.Hook:
			e.Risk, e.Blast, e.HardLimit = human.CriticalRisk, human.MachineBlast, true
		case p == paths.System || p == paths.Slash || p == paths.Home || p == paths.RawDevice || p == paths.Secret && mode != "600" && mode != "400" && mode != "700" && mode != "0600" || p == paths.Start && c.name != "chmod":
			e.Risk, e.Blast = human.HighRisk, human.MachineBlast
			if recursive {
				e.Risk = human.CriticalRisk
			}
		case p == paths.Outside || p == paths.Unknown:
			if recursive {
				e.Risk = human.HighRisk
			} else if e.Risk == human.LowRisk {
				e.Risk = human.MediumRisk
			}
		}
		w.emit(e)
		if f, ok := w.file(v); ok && strings.Contains(mode, "x") && f.taint&arg.FromNetwork != 0 {
			w.simple(c, human.LangExec, human.MediumRisk, "made_runnable")
		}
	}
	if len(words) == 0 {
		w.simple(c, human.SecurityWeakening, human.MediumRisk, "changes")
	}
	return handled(stream{})
}

func rsync(w *walker, c *cmd) (stream, bool) {
	s := commands.Of("rsync")
	o, _ := commands.Parse(c.args, s.Values, s.Long, false)
	for _, n := range []string{"-e", "--rsh", "--rsync-path"} {
		if v, ok := o.Flags[n]; ok && v.Text != "" {
			first, _, _ := strings.Cut(v.Text, " ")
			if path.Base(first) != "ssh" && first != "rsync" || strings.ContainsAny(v.Text, ";|&`$") {
				w.script(v.Text, "sh", nil, stream{})
			}
		}
	}
	w.rules(s, &o, c, true)
	if n := len(o.Words); n > 1 {
		to := o.Words[n-1]
		if strings.Contains(to.Text, ":") {
			w.simple(c, human.NetworkWrite, human.MediumRisk, "sends")
		} else if !o.Has("-n", "--dry-run", "--list-only") {
			w.writing(to, "rsync.writes")
			if o.Any("--delete|--delete-before|--delete-during|--delete-delay|--delete-after|--delete-excluded|--del") {
				w.mirrored(to, "rsync.deletes")
			}
		}
	}
	return handled(stream{})
}
