package shell

import (
	"path"
	"slices"
	"strings"

	"deskbell/backend/gate/lazy"
	"deskbell/backend/gate/shell/arg"
	"deskbell/backend/gate/shell/commands"
	"deskbell/backend/gate/shell/paths"
	"deskbell/backend/human"
)

// find deletes, writes and runs by its expressions.
func find(w *walker, c *cmd) (stream, bool) {
	var roots []arg.Word
	for _, a := range c.args {
		if strings.HasPrefix(a.Text, "-") || a.Text == "(" || a.Text == "!" {
			if len(a.Text) == 2 && strings.IndexByte("HLPOEXxds", a.Text[1]) >= 0 {
				continue
			}
			break
		}
		roots = append(roots, a)
	}
	narrowed, partly := false, false
	for _, a := range c.args {
		switch a.Text {
		case "-type", "-maxdepth", "-not", "!", "-prune", "-newermt", "-links", "-xtype", "-group", "-nouser":
			partly = true
		case "-name", "-iname", "-path", "-regex", "-newer", "-mtime", "-mmin", "-size", "-empty", "-user", "-iregex", "-wholename", "-ipath", "-amin", "-atime", "-cmin", "-ctime", "-inum", "-samefile", "-perm":
			narrowed = true
		}
	}
	w.emit(human.Effect{Verb: human.FilesystemRead, Resource: w.shown(c), Risk: human.NoRisk, Rule: "find.lists"})
	found := func() []arg.Word {
		if len(roots) == 0 {
			return []arg.Word{{Text: ".", Quoted: true}}
		}
		return roots
	}
	for i := 0; i < len(c.args); i++ {
		s := c.args[i].Text
		switch s {
		case "-delete":
			for _, p := range found() {
				if narrowed || partly {
					pl, _ := w.placeOf(p, w.dir)
					if pl == paths.Root || pl == paths.InProject {
						w.simple(c, human.FilesystemDelete, human.HighRisk, "deletes")
						continue
					}
				}
				w.deleting(p, true, "find.deletes")
			}
		case "-fprint", "-fls", "-fprint0", "-fprintf":
			if i+1 < len(c.args) {
				w.writing(c.args[i+1], "find.writes")
			}
		case "-exec", "-execdir", "-ok", "-okdir":
			end := i + 1
			for end < len(c.args) && c.args[end].Text != ";" && (c.args[end].Text != "+" || c.args[end-1].Text != "{}") {
				end++
			}
			args := append([]arg.Word{}, c.args[i+1:end]...)
			if len(args) == 0 {
				continue
			}
			if s == "-ok" || s == "-okdir" {
				w.simple(c, human.UnknownEffect, human.LowRisk, "interactive")
			}
			if args[0].Text == "{}" {
				w.unseen(arg.Word{Text: arg.Unknown}, "find.command")
				i = end
				continue
			}
			for j := range args {
				if args[j].Text == "{}" {
					p := found()[0]
					args[j] = arg.Word{Text: strings.TrimSuffix(p.Text, "/") + "/" + "*", Glob: true, Quoted: true}
					if narrowed || p.Text == "." {
						args[j].Text = strings.TrimSuffix(p.Text, "/") + "/" + arg.Unknown
					}
				} else if strings.Contains(args[j].Text, "{}") {
					args[j].Text = strings.ReplaceAll(args[j].Text, "{}", "\"$_found\"")
				}
			}
			if name := path.Base(args[0].Text); !narrowed && (name == "rm" || name == "shred" || name == "unlink") {
				for _, p := range found() {
					if w.wholly(p, partly) {
						w.deleting(p, true, "find.deletes")
					}
				}
			}
			if w.findsGuard(found(), c.args) {
				w.tampers(w.shown(c))
			}
			w.run(args, c.in)
			i = end
		}
	}
	out := stream{taint: arg.MadeHere}
	for _, p := range found() {
		if !narrowed && w.wholly(p, partly) {
			out.all = p.Text
		}
	}
	return handled(out)
}

// guardFiles are files of the gatekeeper's own folder, by which a search for names is compared with what it holds.
var guardFiles = []string{"deskbell.db", "deskbell.db-wal", "deskbell.log", "start.log", "server.json", "config.toml", "gate.toml", "agents.toml", "gate.mirror", "gate.mirror.key",
	"receipt-keys.json", "stepup.key", "known_agents", "agent.key", "deskbell.sock", "phone.pem", "phones.json"}

// findsGuard says whether a search below these roots comes to files of the gatekeeper's own folder, as far as the names it looks for say.
func (w *walker) findsGuard(roots, args []arg.Word) bool {
	if !slices.ContainsFunc(roots, func(p arg.Word) bool {
		return slices.ContainsFunc(w.cwds(), func(cwd string) bool {
			at, target := w.placeOf(p, cwd)
			return at == paths.Gate || w.holdsGuard(target, p.Glob)
		})
	}) {
		return false
	}
	named := false
	for i, a := range args[:max(len(args)-1, 0)] {
		if a.Text != "-name" && a.Text != "-iname" {
			continue
		}
		named = true
		pattern := strings.ToLower(args[i+1].Text)
		if strings.Contains(pattern, arg.Unknown) || slices.ContainsFunc(guardFiles, func(file string) bool { is, err := path.Match(pattern, file); return is || err != nil }) {
			return true
		}
	}
	return !named
}

// wholly says whether all that is under a path is more than may go: of a home or the root even what partly chooses from.
func (w *walker) wholly(p arg.Word, partly bool) bool {
	at, _ := w.placeOf(p, w.dir)
	return at >= paths.Home || at == paths.Root && !partly
}

func fd(w *walker, c *cmd) (stream, bool) {
	for i, a := range c.args {
		switch a.Text {
		case "-x", "-X", "--exec", "--exec-batch":
			var args []arg.Word
			for _, x := range c.args[i+1:] {
				if x.Text == ";" {
					break
				}
				x.Text = strings.ReplaceAll(x.Text, "{}", arg.Unknown)
				args = append(args, x)
			}
			if len(args) > 0 && !strings.Contains(arg.Joined(args).Text, arg.Unknown) {
				args = append(args, arg.Word{Text: arg.Unknown, Quoted: true})
			}
			w.harmless(c)
			return handled(w.run(args, stream{}))
		}
		if text, ok := strings.CutPrefix(a.Text, "--exec="); ok {
			return handled(w.script(text, "sh", nil, stream{}))
		}
	}
	return stream{}, false
}

// fzf runs what its bindings and previews say.
func fzf(w *walker, c *cmd) (stream, bool) {
	w.harmless(c)
	o, _ := commands.Parse(c.args, lazy.Words("--bind --preview -q --query -d --delimiter -f --filter --header --history --expect"), false, false)
	for i, a := range c.args {
		bind := ""
		if a.Text == "--bind" && i+1 < len(c.args) {
			bind = c.args[i+1].Text
		} else if v, ok := strings.CutPrefix(a.Text, "--bind="); ok {
			bind = v
		}
		for _, action := range []string{"execute", "become", "reload", "preview"} {
			for rest := bind; ; {
				k := strings.Index(rest, action)
				if k < 0 {
					break
				}
				rest = rest[k+len(action):]
				text := strings.TrimLeft(rest, "-abcdehilmnopqrstuy")
				if text == "" || strings.IndexByte("([{:<~!@#$%^&*;/|", text[0]) < 0 {
					continue
				}
				text = strings.TrimRight(text[1:], ")]}>")
				if action == "execute" || action == "become" {
					w.simple(c, human.LangExec, human.LowRisk, "runs")
				}
				w.script(strings.ReplaceAll(text, "{}", "\"$_chosen\""), "sh", nil, stream{})
			}
		}
		if v, ok := strings.CutPrefix(a.Text, "--preview="); ok {
			w.script(strings.ReplaceAll(v, "{}", "\"$_chosen\""), "sh", nil, stream{})
		}
	}
	if v, ok := o.Flags["--preview"]; ok && v.Text != "" {
		w.script(strings.ReplaceAll(v.Text, "{}", "\"$_chosen\""), "sh", nil, stream{})
	}
	if o.Has("--listen-unsafe") {
		w.simple(c, human.SecurityWeakening, human.HighRisk, "listens")
	}
	return handled(stream{taint: c.in.taint | arg.MadeHere})
}
