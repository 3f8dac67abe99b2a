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

// maxLinks is how many links are followed from one path, and how many of a call are kept.
const maxLinks = 40

// leads are where a path leads by links: those that this call has made, those that its session has, and those that are there.
// Without last, a link at its end is not followed.
func (w *walker) leads(v arg.Word, cwd string, last bool) []arg.Word {
	if w.otherHost != "" || len(w.links) == 0 && w.world == nil {
		return nil
	}
	abs, ok := w.resolve(v, cwd)
	if !ok || strings.Contains(abs, arg.Unknown) || strings.HasPrefix(abs, paths.ProjectDir) && len(w.links) == 0 {
		return nil
	}
	if strings.HasPrefix(abs, "/dev/") || abs == "/" {
		return nil
	}
	from, end := abs, ""
	if strings.Contains(v.Text, "..") {
		abs = w.climbed(v.Text, cwd, abs)
	}
	if !last {
		abs, end = path.Split(abs)
		abs, from = path.Clean(abs), path.Dir(from)
	}
	found := w.followed(abs, v.Glob)
	var out []arg.Word
	for _, real := range found {
		if real = w.known(real); real != from {
			out = append(out, arg.Word{Text: path.Join(real, end), Quoted: true, Glob: v.Glob})
		}
	}
	return out
}

// followed is where a path leads: by links of this call, then by those that are there.
func (w *walker) followed(abs string, pattern bool) []string {
	for range maxLinks {
		next, ok := w.linked(abs)
		if !ok {
			break
		}
		abs = next
	}
	if w.world != nil {
		return w.world.Real(abs, pattern)
	}
	return []string{abs}
}

// climbed is an absolute path in which each ".." counts from where what stands before it leads, as it does for the system.
func (w *walker) climbed(s, cwd, clean string) string {
	switch {
	case strings.HasPrefix(s, "~/"):
		s = w.home + s[1:]
	case !strings.HasPrefix(s, "/"):
		s = cwd + "/" + s
	}
	if strings.Count(s, "/") > 100 || strings.HasPrefix(s, "/proc/") {
		return clean
	}
	at := "/"
	for part := range strings.SplitSeq(s, "/") {
		switch part {
		case "", ".":
		case "..":
			at = path.Dir(w.followed(at, false)[0])
		default:
			at = path.Join(at, part)
		}
	}
	return at
}

// linked is a path behind the first link of it that this call has made.
func (w *walker) linked(abs string) (string, bool) {
	for at := abs; len(at) > 1; at = path.Dir(at) {
		if to, ok := w.links[at]; ok && !strings.HasPrefix(to+"/", at+"/") {
			return path.Join(to, abs[len(at):]), true
		}
	}
	return abs, false
}

// known is a path in the words of the call, where the home, the project or the guarded folder are behind links themselves.
func (w *walker) known(real string) string {
	if w.behind == nil {
		w.behind = map[string]string{}
		for _, dir := range []string{w.home, w.root, w.guard} {
			if dir == "" || strings.HasPrefix(dir, paths.ProjectDir) || w.world == nil {
				continue
			}
			if to := w.world.Real(dir, false); len(to) == 1 && to[0] != dir {
				w.behind[to[0]] = dir
			}
		}
	}
	for to, dir := range w.behind {
		if real == to || strings.HasPrefix(real, to+"/") {
			return dir + real[len(to):]
		}
	}
	return real
}

// link notes that one path leads to another from now on. A file that was moved lasts for the call; after it, it is there.
func (w *walker) link(from, to arg.Word, lasts bool) {
	at, ok := w.resolve(from, w.dir)
	if !ok || !from.Known() || len(w.links) >= maxLinks || !to.Known() {
		return
	}
	dir := path.Dir(at) // what a link holds counts from where it is
	target, ok := w.resolve(to, dir)
	if !ok {
		return
	}
	if w.links == nil {
		w.links = map[string]string{}
	}
	w.links[at] = target
	if w.world != nil && w.otherHost == "" && lasts {
		w.world.Linked(at, target)
	}
}

// ownSpot says whether a path is of Deskbell's own folder, or of what starts it; inProject for neither.
func (w *walker) ownSpot(abs string, glob bool) paths.Place {
	if w.guard != "" && (abs == w.guard || strings.HasPrefix(abs, w.guard+"/") || glob && paths.Fits(abs, w.guard)) {
		return paths.Gate
	}
	lower := strings.ToLower(abs) + "/"
	for _, p := range paths.GateParts {
		if strings.Contains(lower, p) {
			return paths.Gate
		}
	}
	for _, p := range paths.HookSettings() {
		if strings.HasSuffix(lower, p+"/") || glob && (paths.Fits(lower[:len(lower)-1], strings.ToLower(w.home)+p) || paths.Fits(lower[:len(lower)-1], strings.ToLower(w.root)+p)) {
			return paths.Hook
		}
	}
	if glob && w.home != "" {
		for _, p := range []string{"/.local/share/deskbell", "/.config/deskbell"} {
			if paths.Fits(lower[:len(lower)-1], strings.ToLower(w.home)+p) {
				return paths.Gate
			}
		}
	}
	if base := path.Base(abs); ownProgram(base) != "" && (standardDirs()[path.Dir(abs)] || w.home != "" && (path.Dir(abs) == w.home+"/bin" || path.Dir(abs) == w.home+"/.local/bin")) || w.world != nil && strings.Contains(lower, ownName) && w.world.Runs(abs) {
		return paths.Hook
	}
	return paths.InProject
}

// replacesHooks notes a folder that becomes that of clients' settings for hooks, or has such settings in it.
func (w *walker) replacesHooks(c *cmd, from, to arg.Word, into bool) {
	if c.name != "mv" && c.name != "ln" && (c.name != "cp" || !tree(c)) {
		return
	}
	if abs, ok := w.resolve(to, w.dir); c.name != "ln" && w.bringsHooks(from) || !into && ok && paths.HoldsHooks(abs) && w.absent(abs) {
		w.tampers(w.shown(c))
	}
}

// bringsHooks says whether clients' settings for hooks are in a folder that goes elsewhere.
func (w *walker) bringsHooks(from arg.Word) bool {
	abs, ok := w.resolve(from, w.dir)
	if !ok || w.evidence == nil || !from.Known() {
		return false
	}
	// A text is found without asking git; where there was no time to read it, it may be there.
	there := func(file string) bool {
		_, is := w.evidence.Text(file)
		return is || w.evidence.File(file) != Absent
	}
	return slices.ContainsFunc(paths.HookSettings(), func(file string) bool {
		return there(abs+file) || paths.HoldsHooks(abs) && there(path.Dir(abs)+file)
	})
}

// absent says whether nothing is known to be at a path.
func (w *walker) absent(abs string) bool {
	if w.evidence == nil {
		return true
	}
	state := w.evidence.File(abs)
	return state == Absent || state == NotKnown
}

// tree says whether cp copies folders.
func tree(c *cmd) bool {
	o, _ := commands.Parse(c.args, nil, false, false)
	return o.Has("-r", "-R", "-a", "--recursive", "--archive")
}

// Programs that take all that is below a folder with them, and those that print what they find there.
var (
	copiers   = lazy.Set("cp tar gtar bsdtar zip 7z 7za rar cpio pax rsync scp rclone restic borg kopia ditto robocopy xcopy duplicity")
	toLast    = lazy.Set("cp rsync scp ditto rclone robocopy xcopy")
	searchers = lazy.Set("grep egrep fgrep rg ag ack ugrep strings find fd fdfind cat diff")
	// Programs that give others a folder, or show it at another place.
	sharers = lazy.Set("python python3 busybox httpd php ruby caddy darkhttpd http-server serve miniserve bwrap bindfs chroot proot docker podman nerdctl sshfs")
	// Programs of which none reads what files hold.
	namers = lazy.Set("ls cd pushd popd pwd dirs dir vdir tree du df stat test [ [[ echo printf true : basename dirname realpath readlink exit set export unset wait sleep date")
)

// mounts notes what mount --bind makes of a folder.
func (w *walker) mounts(c *cmd) {
	if c.name != "mount" {
		return
	}
	o, _ := commands.Parse(c.args, lazy.Words("-t -o -O --options --types -L -U"), false, false)
	bind := o.Has("-B", "--bind", "-R", "--rbind", "-M", "--move")
	for _, name := range []string{"-o", "--options"} {
		bind = bind || strings.Contains(o.Flags[name].Text, "bind")
	}
	if bind && len(o.Words) == 2 {
		if p, target := w.placeOf(o.Words[0], w.dir); p == paths.Gate || w.holdsGuard(target, false) {
			w.tampers(w.shown(c))
		}
		w.link(o.Words[1], o.Words[0], true)
	}
}

// takesAll notes a program that takes Deskbell's folder with a folder around it.
func (w *walker) takesAll(c *cmd) {
	w.mounts(c)
	if !namers()[c.name] && ownProgram(c.name) == "" {
		// In the folder itself it takes whatever is there without being told. A project's own file is another.
		if p, target := w.placeOf(arg.Word{Text: ".", Glob: true}, w.dir); p == paths.Gate && !strings.Contains(target+"/", "/.deskbell/") {
			w.tampers(w.shown(c))
		}
	}
	if !copiers()[c.name] && !searchers()[c.name] && !sharers()[c.name] {
		return
	}
	for i, a := range c.args {
		if i == len(c.args)-1 && i > 0 && toLast()[c.name] {
			break // where it goes to
		}
		if !couldBePath(a.Text) && a.Text != "/" && a.Text != "~" {
			continue
		}
		if toLast()[c.name] && c.name != "cp" && w.bringsHooks(a) {
			w.tampers(w.shown(c))
		}
		for _, s := range w.spots(a, true) {
			if s.Place == paths.Gate || !w.holdsGuard(s.target, a.Glob) {
				continue
			}
			wide := s.target == w.home || !strings.HasPrefix(s.target, w.home+"/")
			switch {
			case copiers()[c.name] && !wide:
				w.tampers(w.shown(c))
			case copiers()[c.name], sharers()[c.name] && (s.target != "/" || languages[c.name] != ""), !wide && recursive(c), wide && prints(c):
				w.simple(c, human.CredentialAccess, human.HighRisk, "own_folder")
			}
		}
	}
}

func recursive(c *cmd) bool {
	o, _ := commands.Parse(c.args, nil, false, false)
	return !strings.HasSuffix(c.name, "grep") && c.name != "diff" || o.Has("-r", "-R", "--recursive", "--dereference-recursive") || c.name == "ugrep"
}

// prints says whether a command prints what it finds in hidden folders as well.
func prints(c *cmd) bool {
	o, _ := commands.Parse(c.args, nil, false, false)
	switch c.name {
	case "grep", "egrep", "fgrep", "diff":
		return recursive(c)
	case "rg", "ag", "ack", "ugrep":
		return o.Has("--hidden", "-.", "-u", "--unrestricted")
	case "fd", "fdfind":
		return o.Has("-x", "-X", "--exec", "--exec-batch") && o.Has("-H", "--hidden", "-u", "--unrestricted")
	}
	return false
}
