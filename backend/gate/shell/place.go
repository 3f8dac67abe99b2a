package shell

import (
	"net/url"
	"path"
	"strings"

	"deskbell/backend/gate/shell/arg"
	"deskbell/backend/gate/shell/paths"
	"deskbell/backend/human"
)

// resolve makes a path absolute and clean without looking at a disk. Unknown parts stay; ok is false where they make the
// place of the path unknown.
func (w *walker) resolve(v arg.Word, cwd string) (abs string, ok bool) {
	s := v.Text
	if rest, is := strings.CutPrefix(s, "file://"); is {
		s = strings.TrimPrefix(rest, "localhost")
		if plain, err := url.PathUnescape(s); err == nil {
			s = plain
		}
	}
	if s == "~" || strings.HasPrefix(s, "~/") {
		s = w.home + s[1:]
	} else if strings.HasPrefix(s, "~") && !v.Quoted {
		s = "/home/" + s[1:]
	}
	if strings.HasPrefix(s, arg.Unknown) {
		return s, false
	}
	if paths.OnDrive(s) {
		root := strings.ReplaceAll(w.root, `\`, "/")
		if plain := strings.ReplaceAll(s, `\`, "/"); paths.OnDrive(w.root) && strings.HasPrefix(strings.ToLower(plain)+"/", strings.ToLower(root)+"/") {
			s = w.root + plain[len(root):]
			return path.Clean(s), true
		}
		if s = winPath(s).Text; strings.HasPrefix(s, arg.Unknown) {
			return s, false
		}
	}
	if !strings.HasPrefix(s, "/") {
		if strings.HasPrefix(cwd, arg.Unknown) {
			return s, false
		}
		s = cwd + "/" + s
	}
	// An unknown part can hold anything, "..", too; what follows it says little about where it leads.
	if i := strings.Index(s, arg.Unknown); i >= 0 {
		head := path.Clean(s[:i] + "x")
		return path.Dir(head) + "/" + strings.ReplaceAll(s[i:], "/", "∕"), true
	}
	s = path.Clean(s)
	if strings.HasPrefix(s, "/proc/") {
		s = paths.BehindProc(s, cwd)
	}
	return s, true
}

// placeOf says what kind of place a path is: as it is written, or as where it leads, if that is graver.
func (w *walker) placeOf(v arg.Word, cwd string) (paths.Place, string) {
	p, shown := w.spotOf(v, cwd)
	for _, real := range w.leads(v, cwd, true) {
		if other, _ := w.spotOf(real, cwd); other.Rank() > p.Rank() {
			p = other
		}
	}
	return p, shown
}

// A spot is a place that a path names or leads to.
type spot struct {
	paths.Place
	target string
}

// spots are the places of a path, as it is written and as where it leads. Without last, a link at its end is not followed.
func (w *walker) spots(v arg.Word, last bool) []spot {
	var out []spot
	for _, cwd := range w.cwds() {
		p, target := w.spotOf(v, cwd)
		out = append(out, spot{p, target})
		for _, real := range w.leads(v, cwd, last) {
			if p, there := w.spotOf(real, cwd); there != target {
				out = append(out, spot{p, there})
			}
		}
	}
	return out
}

// spotOf says what kind of place a path is, as it is written.
func (w *walker) spotOf(v arg.Word, cwd string) (paths.Place, string) {
	s := v.Text
	switch s {
	case "/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/stdin", "/dev/zero", "/dev/random", "/dev/urandom", "-", "NUL", "nul":
		return paths.NullDevice, s
	}
	for _, open := range []string{"/dev/fd/", "/proc/self/fd/", "/proc/thread-self/fd/"} { // what was opened was judged then
		if n, ok := strings.CutPrefix(s, open); ok && !strings.Contains(n, "/") {
			return paths.NullDevice, s
		}
	}
	abs, ok := w.resolve(v, cwd)
	if !ok {
		return paths.Unknown, strings.ReplaceAll(abs, arg.Unknown, "…")
	}
	p := paths.Of(abs, w.home, w.root, v.Glob)
	if p != paths.Slash && p != paths.Home {
		if own := w.ownSpot(abs, v.Glob); own != paths.InProject {
			p = own
		}
	}
	return p, strings.ReplaceAll(abs, arg.Unknown, "…")
}

// deleting is the effect of deleting what is at a path.
func (w *walker) deleting(v arg.Word, recursive bool, rule string) {
	for _, s := range w.spots(v, strings.HasSuffix(v.Text, "/")) {
		p, target := s.Place, s.target
		e := human.Effect{Verb: human.FilesystemDelete, Resource: v.Shown(), Target: target, Rule: rule, Certainty: human.Certain, Reversibility: human.Irreversible, Blast: human.FileBlast}
		if v.Glob {
			e.Certainty = human.Likely
		}
		switch p {
		case paths.NullDevice:
			e.Risk, e.Blast = human.HighRisk, human.MachineBlast
		case paths.Slash, paths.Home:
			e.Risk, e.Blast, e.HardLimit = human.CriticalRisk, human.MachineBlast, recursive
		case paths.RawDevice:
			e.Risk, e.Blast, e.HardLimit = human.CriticalRisk, human.MachineBlast, true
		case paths.Gate, paths.Hook:
			e.Risk, e.HardLimit = human.CriticalRisk, true
		case paths.Root:
			e.Risk, e.Blast, e.HardLimit = human.HighRisk, human.ProjectBlast, recursive
			if recursive {
				e.Risk = human.CriticalRisk
			}
		case paths.System, paths.Start, paths.Secret:
			e.Risk, e.Blast = human.HighRisk, human.MachineBlast
			if recursive {
				e.Risk = human.CriticalRisk
			}
		case paths.GitDir:
			e.Risk, e.Blast = human.HighRisk, human.ProjectBlast
			if recursive {
				e.Risk = human.CriticalRisk
			}
		case paths.Unknown:
			e.Risk, e.Certainty = human.HighRisk, human.Possible
		case paths.InTemp:
			e.Risk = human.MediumRisk
			if s := strings.TrimPrefix(v.Text, madeTemp); len(s) < len(v.Text) && s != "/" && !v.Glob {
				e.Risk = human.LowRisk // this script made it
			}
		case paths.EnvFile, paths.Outside:
			e.Risk = human.HighRisk
		case paths.InProject:
			e.Risk = human.MediumRisk
			if recursive || v.Glob {
				e.Risk, e.Blast = human.HighRisk, human.ProjectBlast
			}
		}
		if p == paths.InTemp || p == paths.InProject && paths.Remade()[path.Base(target)] {
			e.Reversibility = human.Costly
		}
		if recursive && (w.holdsGuard(target, v.Glob) || paths.HoldsHooks(target)) {
			e.Risk, e.Blast, e.HardLimit, e.Reversibility = human.CriticalRisk, human.MachineBlast, true, human.Irreversible
		}
		w.emit(w.proven(e, recursive))
	}
}

// holdsGuard says whether the gatekeeper's own folder is at a path, or below it.
func (w *walker) holdsGuard(target string, glob bool) bool {
	for at := w.guard; len(at) > 1; at = path.Dir(at) {
		if matches, err := path.Match(target, at); at == target || glob && matches && err == nil {
			return true
		}
	}
	return false
}

// proven lowers the risk of deleting or overwriting where evidence shows that nothing is lost.
func (w *walker) proven(e human.Effect, recursive bool) human.Effect {
	if e.HardLimit || w.evidence == nil || e.Target == "" || e.Certainty == human.Possible || e.Risk == human.CriticalRisk {
		return e
	}
	if strings.ContainsAny(e.Target, "*?[…") {
		return e
	}
	switch state := w.evidence.File(e.Target); state {
	case Absent:
		if e.Verb == human.FilesystemDelete && !recursive {
			e.Risk = human.LowRisk
		}
	case MadeHere:
		e.Risk, e.Reversibility = human.LowRisk, human.Costly
	case Committed, Ignored:
		if e.Risk == human.HighRisk || e.Risk == human.MediumRisk {
			e.Risk, e.Reversibility = human.LowRisk, human.Reversible
			if base := path.Base(e.Target); recursive && !paths.Caches()[base] && (state == Committed || !paths.Remade()[base] || base == "tmp") {
				e.Risk = human.MediumRisk
			}
		}
	}
	return e
}

// change is what becomes of what a file held before it is written.
type change uint8

const (
	edits change = iota
	replaces
	empties
)

// writing is the effect of writing a file, of whatever tool.
func (w *walker) writing(v arg.Word, rule string) { w.writes(v, rule, edits) }

// replacing is that of writing it anew: what it held is gone.
func (w *walker) replacing(v arg.Word, rule string) { w.writes(v, rule, replaces) }

// emptying is that of leaving it with nothing in it.
func (w *walker) emptying(v arg.Word, rule string) { w.writes(v, rule, empties) }

func (w *walker) writes(v arg.Word, rule string, how change) {
	w.connects(v)
	for _, s := range w.spots(v, !w.replacesLinks) {
		p, target := s.Place, s.target
		e := human.Effect{Verb: human.FilesystemWrite, Resource: v.Shown(), Target: target, Rule: rule, Certainty: human.Certain, Reversibility: human.Costly, Blast: human.FileBlast, Risk: human.LowRisk}
		switch p {
		case paths.NullDevice:
			continue
		case paths.InProject, paths.InTemp:
			if v.Glob {
				e.Certainty = human.Likely
			}
		case paths.Outside:
			e.Risk = human.MediumRisk
			if strings.HasPrefix(target, "/dev/tcp/") || strings.HasPrefix(target, "/dev/udp/") {
				e.Verb, e.Blast, e.Risk = human.NetworkWrite, human.PublicBlast, human.HighRisk
			}
		case paths.Unknown:
			e.Risk, e.Certainty = human.MediumRisk, human.Possible
		case paths.EnvFile:
			e.Risk = human.MediumRisk
			e.Blast = human.ProjectBlast
			if w.evidence != nil && !v.Glob && w.evidence.File(target) == Absent {
				e.Risk = human.LowRisk // nothing to lose
			}
		case paths.Secret:
			e.Risk, e.Blast = human.HighRisk, human.MachineBlast
			if strings.HasSuffix(target, "/authorized_keys") {
				e.Verb = human.PersistenceEffect
			}
		case paths.Start:
			e.Verb, e.Risk, e.Blast = human.PersistenceEffect, human.HighRisk, human.MachineBlast
		case paths.System, paths.Slash, paths.Home:
			e.Risk, e.Blast = human.HighRisk, human.MachineBlast
		case paths.Root:
			e.Risk = human.LowRisk
		case paths.GitDir:
			e.Risk, e.Blast = human.HighRisk, human.ProjectBlast
		case paths.Gate, paths.Hook:
			e.Verb, e.Risk, e.Blast, e.HardLimit = human.SecurityWeakening, human.CriticalRisk, human.MachineBlast, true
		case paths.RawDevice:
			e.Risk, e.Blast, e.HardLimit, e.Reversibility = human.CriticalRisk, human.MachineBlast, true, human.Irreversible
		}
		if how != edits && e.Verb == human.FilesystemWrite && p != paths.Root && p != paths.InTemp {
			e = w.lost(e, how, v)
		}
		w.emit(e)
	}
}

// lost raises the risk of writing a file anew by what that removes.
func (w *walker) lost(e human.Effect, how change, v arg.Word) human.Effect {
	state := NotKnown
	if _, ok := w.file(v); ok {
		state = MadeHere
	} else if w.evidence != nil && !strings.ContainsAny(e.Target, "*?[…") {
		state = w.evidence.File(e.Target)
	}
	risk := human.NoRisk
	switch {
	case state == Precious && how == empties:
		risk = human.HighRisk
	case state == Precious, state == Unseen, state == NotKnown && how == empties && !strings.HasSuffix(e.Target, ".log"):
		risk = human.MediumRisk
	default:
		return e
	}
	e.Reversibility = human.Irreversible
	if risk.Level() > e.Risk.Level() {
		e.Risk = risk
	}
	return e
}

// reading notes when what is read is where secrets are kept. It returns where the text comes from.
func (w *walker) reading(v arg.Word, rule string) arg.Taint {
	var t arg.Taint
	w.connects(v)
	for _, s := range w.spots(v, true) {
		p, target := s.Place, s.target
		if w.watcher != nil {
			w.watcher.Read(strings.ReplaceAll(target, paths.ProjectDir, "."))
		}
		e := human.Effect{Verb: human.CredentialAccess, Resource: v.Shown(), Target: target, Rule: rule, Certainty: human.Certain, Reversibility: human.Irreversible, Blast: human.MachineBlast}
		switch p {
		case paths.Secret:
			e.Risk = human.HighRisk
		case paths.EnvFile:
			e.Risk = human.MediumRisk
		case paths.Gate:
			if e.Risk = human.MediumRisk; !strings.Contains(target+"/", "/.deskbell/") || w.guard != "" && strings.HasPrefix(target, w.guard) {
				e.Risk, e.HardLimit, e.Rule = human.CriticalRisk, true, "floor.own_folder" // of a project's own file every agent may know
			}
		case paths.RawDevice:
			e.Risk = human.HighRisk // every file on it
		default:
			t |= arg.FromFile
			continue
		}
		t |= arg.FromSecret
		w.emit(e)
	}
	return t
}

// connects looks for Deskbell's own API in a name that a shell connects to.
func (w *walker) connects(v arg.Word) {
	if isSocket(v.Text) && len(w.reached(v.Text, true)) > 0 {
		w.tampers(v.Shown())
	}
}
