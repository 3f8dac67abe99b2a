package facts

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"deskbell/backend/human"
)

// A File is what became of one file or folder, whatever it was called on the way.
type File struct {
	Was, Now string // paths; was is "" for one that was made here, now "" for one that is gone
	Dir      bool
	back     bool // it was deleted, and restored
	Ops      []Action
	hands    int // what had been done by hand when it was deleted
}

// Last is the last action on the file.
func (f *File) Last() Action { return f.Ops[len(f.Ops)-1] }

// Files are those that were made, changed, renamed and deleted in watched folders, in the order in which they were
// first heard of.
func (fs *Facts) Files() []*File {
	if fs.touched != nil {
		return fs.touched
	}
	fs.touched = []*File{}
	known := map[string]*File{} // all recordings are of one machine
	hands := 0
	for _, a := range fs.Actions {
		if ByHand(a) {
			hands++
		}
		c := a.File
		if a.Type != human.FileOperation || c == nil || c.Path == "" || c.Op == "renamed" && c.To == "" {
			continue
		}
		f := known[c.Path]
		if f == nil || f.Now == "" && c.Op != "created" {
			f = &File{Now: c.Path, Dir: c.Dir}
			if c.Op != "created" {
				f.Was = c.Path
			}
			fs.touched = append(fs.touched, f)
		}
		f.Ops = append(f.Ops, a)
		switch c.Op {
		case "renamed":
			delete(known, c.Path)
			f.Now = c.To
		case "deleted":
			f.Now, f.hands = "", hands
		default:
			// Some programs save by deleting and writing anew: no one does anything in between.
			f.back = f.back || f.Now == "" && f.Was != "" && hands > f.hands
			f.Now = c.Path
		}
		known[cmp.Or(f.Now, c.Path)] = f
	}
	return fs.touched
}

// BaseName is the last part of a path of any system, folder what comes before it.
func BaseName(p string) string {
	p = strings.TrimRight(p, `/\`)
	return p[strings.LastIndexAny(p, `/\`)+1:]
}

// Folder is the name of the folder a path is in, with / or \; "" where the path names none.
func Folder(p string) string {
	p = strings.TrimRight(p, `/\`)
	i := strings.LastIndexAny(p, `/\`)
	if i < 0 {
		return ""
	}
	return p[:max(i, 1)]
}

// FileGroup are files of one folder that went the same way.
type FileGroup struct {
	Verb, Dir string
	Files     []*File
}

// FileGroup joins files that became the same in the same folder into groups, in the order of their first files.
func (fs *Facts) FileGroup() []*FileGroup {
	groups := map[[2]string]*FileGroup{}
	var out []*FileGroup
	for _, f := range fs.Files() {
		if f.Was == "" && f.Now == "" {
			continue // it came and went: findFilesGone
		}
		verb, at := "changed", f.Now
		switch {
		case f.Was == "":
			verb = "created"
		case f.Now == "":
			verb, at = "deleted", f.Was
		case f.Was != f.Now:
			verb = "renamed"
			if Folder(f.Was) != Folder(f.Now) {
				verb = "moved"
			}
		case f.Ops[0].File.Op == "renamed" || f.Restored():
			continue // as it was: findFilesGone
		}
		key := [2]string{verb, Folder(at)}
		g := groups[key]
		if g == nil {
			g = &FileGroup{Verb: verb, Dir: Folder(at)}
			groups[key] = g
			out = append(out, g)
		}
		g.Files = append(g.Files, f)
	}
	return out
}

// Restored says whether a file was deleted and is there again.
func (f *File) Restored() bool { return f.back && f.Was != "" && f.Now == f.Was }

// IsFolder says whether a path names no file.
func IsFolder(p string) bool { return strings.HasSuffix(p, "/") || path.Ext(p) == "" }

// Made are the files of folders that were watched, and those that were downloaded.
func (fs *Facts) Made() []*File {
	out := slices.Clone(fs.Files())
	for _, a := range fs.Actions {
		if a.Type == human.Download {
			for _, t := range a.Transfers {
				if t.State == "completed" && t.Name != "" {
					out = append(out, &File{Now: t.Name, Ops: []Action{a}})
				}
			}
		}
	}
	return out
}

// SamePath says whether a file is the one that is named: by its whole path, from the home folder, from a watched
// folder, by its name, or by the folder it lies in.
func (fs *Facts) SamePath(named, at string, a Action) bool {
	if at == "" {
		return false
	}
	named, at = strings.ReplaceAll(named, `\`, "/"), strings.ReplaceAll(at, `\`, "/")
	dir := strings.HasSuffix(named, "/") || path.Ext(named) == ""
	named = strings.TrimSuffix(named, "/")
	if rest, ok := strings.CutPrefix(named, "~/"); ok {
		if !strings.HasPrefix(at, "/") && !strings.Contains(at, ":/") {
			return path.Base(named) == at // of a download the folder is not known
		}
		return strings.HasSuffix(at, "/"+rest) || dir && strings.HasSuffix(path.Dir(at), "/"+rest)
	}
	switch {
	case named == at, dir && path.Dir(at) == named:
		return true
	case !strings.HasPrefix(named, "/") && !strings.Contains(named, ":/"):
		return strings.HasSuffix(at, "/"+named) || dir && strings.Contains(named, "/") && strings.HasSuffix(path.Dir(at), "/"+named)
	}
	return a.File == nil && path.Base(named) == at
}

// Alike says whether a file may be the one that is named under another name: of the same kind in the same folder, or
// with the same name and another end.
func Alike(named, at string) bool {
	named, at = strings.ReplaceAll(named, `\`, "/"), strings.ReplaceAll(at, `\`, "/")
	if at == "" || path.Ext(named) == "" {
		return false
	}
	stem := func(p string) string { return strings.ToLower(strings.TrimSuffix(path.Base(p), path.Ext(p))) }
	a, b := stem(named), stem(at)
	if a == b {
		return true
	}
	return strings.EqualFold(path.Ext(named), path.Ext(at)) && len(a) > 3 && len(b) > 3 && (strings.Contains(a, b) || strings.Contains(b, a))
}
