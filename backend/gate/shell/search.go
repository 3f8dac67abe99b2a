package shell

import (
	"path"
	"slices"
	"strings"

	"deskbell/backend/gate/lazy"
	"deskbell/backend/human"
)

// find deletes, writes and runs by its expressions.
func find(w *walker, c *cmd) (stream, bool) {
	var paths []value
	for _, a := range c.args {
		if strings.HasPrefix(a.s, "-") || a.s == "(" || a.s == "!" {
			if len(a.s) == 2 && strings.IndexByte("HLPOEXxds", a.s[1]) >= 0 {
				continue
			}
			break
		}
		paths = append(paths, a)
	}
	narrowed, partly := false, false
	for _, a := range c.args {
		switch a.s {
		case "-type", "-maxdepth", "-not", "!", "-prune", "-newermt", "-links", "-xtype", "-group", "-nouser":
			partly = true
		case "-name", "-iname", "-path", "-regex", "-newer", "-mtime", "-mmin", "-size", "-empty", "-user", "-iregex", "-wholename", "-ipath", "-amin", "-atime", "-cmin", "-ctime", "-inum", "-samefile", "-perm":
			narrowed = true
		}
	}
	w.emit(human.Effect{Verb: human.FilesystemRead, Resource: w.shown(c), Risk: human.NoRisk, Rule: "find.lists"})
	found := func() []value {
		if len(paths) == 0 {
			return []value{{s: ".", quoted: true}}
		}
		return paths
	}
	for i := 0; i < len(c.args); i++ {
		s := c.args[i].s
		switch s {
		case "-delete":
			for _, p := range found() {
				if narrowed || partly {
					pl, _ := w.placeOf(p, w.dir)
					if pl == projectRoot || pl == inProject {
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
			for end < len(c.args) && c.args[end].s != ";" && (c.args[end].s != "+" || c.args[end-1].s != "{}") {
				end++
			}
			args := append([]value{}, c.args[i+1:end]...)
			if len(args) == 0 {
				continue
			}
			if s == "-ok" || s == "-okdir" {
				w.simple(c, human.UnknownEffect, human.LowRisk, "interactive")
			}
			if args[0].s == "{}" {
				w.unseen(value{s: unknown}, "find.command")
				i = end
				continue
			}
			for j := range args {
				if args[j].s == "{}" {
					p := found()[0]
					args[j] = value{s: strings.TrimSuffix(p.s, "/") + "/" + "*", glob: true, quoted: true}
					if narrowed || p.s == "." {
						args[j].s = strings.TrimSuffix(p.s, "/") + "/" + unknown
					}
				} else if strings.Contains(args[j].s, "{}") {
					args[j].s = strings.ReplaceAll(args[j].s, "{}", "\"$_found\"")
				}
			}
			if name := path.Base(args[0].s); !narrowed && (name == "rm" || name == "shred" || name == "unlink") {
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
	out := stream{taint: madeHere}
	for _, p := range found() {
		if !narrowed && w.wholly(p, partly) {
			out.all = p.s
		}
	}
	return handled(out)
}

// guardFiles are files of the gatekeeper's own folder, by which a search for names is compared with what it holds.
var guardFiles = []string{"deskbell.db", "deskbell.db-wal", "deskbell.log", "start.log", "server.json", "config.toml", "gate.toml", "agents.toml", "gate.mirror", "gate.mirror.key",
	"receipt-keys.json", "stepup.key", "known_agents", "agent.key", "deskbell.sock", "phone.pem", "phones.json"}

// findsGuard says whether a search below these paths comes to files of the gatekeeper's own folder, as far as the names it looks for say.
func (w *walker) findsGuard(paths, args []value) bool {
	if !slices.ContainsFunc(paths, func(p value) bool {
		return slices.ContainsFunc(w.cwds(), func(cwd string) bool {
			at, target := w.placeOf(p, cwd)
			return at == gateSpot || w.holdsGuard(target, p.glob)
		})
	}) {
		return false
	}
	named := false
	for i, a := range args[:max(len(args)-1, 0)] {
		if a.s != "-name" && a.s != "-iname" {
			continue
		}
		named = true
		pattern := strings.ToLower(args[i+1].s)
		if strings.Contains(pattern, unknown) || slices.ContainsFunc(guardFiles, func(file string) bool { is, err := path.Match(pattern, file); return is || err != nil }) {
			return true
		}
	}
	return !named
}

// wholly says whether all that is under a path is more than may go: of a home or the root even what partly chooses from.
func (w *walker) wholly(p value, partly bool) bool {
	at, _ := w.placeOf(p, w.dir)
	return at >= homeSpot || at == projectRoot && !partly
}

func fd(w *walker, c *cmd) (stream, bool) {
	for i, a := range c.args {
		switch a.s {
		case "-x", "-X", "--exec", "--exec-batch":
			var args []value
			for _, x := range c.args[i+1:] {
				if x.s == ";" {
					break
				}
				x.s = strings.ReplaceAll(x.s, "{}", unknown)
				args = append(args, x)
			}
			if len(args) > 0 && !strings.Contains(joined(args).s, unknown) {
				args = append(args, value{s: unknown, quoted: true})
			}
			w.harmless(c)
			return handled(w.run(args, stream{}))
		}
		if text, ok := strings.CutPrefix(a.s, "--exec="); ok {
			return handled(w.script(text, "sh", nil, stream{}))
		}
	}
	return stream{}, false
}

// fzf runs what its bindings and previews say.
func fzf(w *walker, c *cmd) (stream, bool) {
	w.harmless(c)
	o, _ := parse(c.args, lazy.Words("--bind --preview -q --query -d --delimiter -f --filter --header --history --expect"), false, false)
	for i, a := range c.args {
		bind := ""
		if a.s == "--bind" && i+1 < len(c.args) {
			bind = c.args[i+1].s
		} else if v, ok := strings.CutPrefix(a.s, "--bind="); ok {
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
		if v, ok := strings.CutPrefix(a.s, "--preview="); ok {
			w.script(strings.ReplaceAll(v, "{}", "\"$_chosen\""), "sh", nil, stream{})
		}
	}
	if v, ok := o.flags["--preview"]; ok && v.s != "" {
		w.script(strings.ReplaceAll(v.s, "{}", "\"$_chosen\""), "sh", nil, stream{})
	}
	if o.has("--listen-unsafe") {
		w.simple(c, human.SecurityWeakening, human.HighRisk, "listens")
	}
	return handled(stream{taint: c.in.taint | madeHere})
}
