package builtin

import (
	"cmp"
	"strings"

	"deskbell/backend/human"
)

// A file is what became of one file or folder, whatever it was called on the way.
type file struct {
	was, now string // paths; was is "" for one that was made here, now "" for one that is gone
	dir      bool
	back     bool // it was deleted, and somebody brought it back
	ops      []act
	hands    int // what had been done by hand when it was deleted
}

func (f *file) last() act { return f.ops[len(f.ops)-1] }

// files are those that were made, changed, renamed and deleted in watched folders, in the order in which they were
// first heard of.
func (r *reading) files() []*file {
	if r.touched != nil {
		return r.touched
	}
	r.touched = []*file{}
	known := map[string]*file{} // all recordings are of one machine
	hands := 0
	for _, a := range r.acts {
		if byHand(a) {
			hands++
		}
		c := a.File
		if a.Type != human.FileOperation || c == nil || c.Path == "" || c.Op == "renamed" && c.To == "" {
			continue
		}
		f := known[c.Path]
		if f == nil || f.now == "" && c.Op != "created" {
			f = &file{now: c.Path, dir: c.Dir}
			if c.Op != "created" {
				f.was = c.Path
			}
			r.touched = append(r.touched, f)
		}
		f.ops = append(f.ops, a)
		switch c.Op {
		case "renamed":
			delete(known, c.Path)
			f.now = c.To
		case "deleted":
			f.now, f.hands = "", hands
		default:
			// Some programs save by deleting and writing anew: nobody does anything in between.
			f.back = f.back || f.now == "" && f.was != "" && hands > f.hands
			f.now = c.Path
		}
		known[cmp.Or(f.now, c.Path)] = f
	}
	return r.touched
}

// baseName is the last part of a path of any system, folder what comes before it.
func baseName(p string) string {
	p = strings.TrimRight(p, `/\`)
	return p[strings.LastIndexAny(p, `/\`)+1:]
}

func folder(p string) string {
	p = strings.TrimRight(p, `/\`)
	i := strings.LastIndexAny(p, `/\`)
	if i < 0 {
		return ""
	}
	return p[:max(i, 1)]
}

// fewFiles is how many files with the same fate in one folder have a finding each; of more, so many are named.
const (
	fewFiles   = 3
	namedFiles = 8
)

// fates are files of one folder that went the same way.
type fates struct {
	verb, dir string
	files     []*file
}

func (r *reading) fates() []*fates {
	groups := map[[2]string]*fates{}
	var out []*fates
	for _, f := range r.files() {
		if f.was == "" && f.now == "" {
			continue // it came and went: findFilesGone
		}
		verb, at := "changed", f.now
		switch {
		case f.was == "":
			verb = "created"
		case f.now == "":
			verb, at = "deleted", f.was
		case f.was != f.now:
			verb = "renamed"
			if folder(f.was) != folder(f.now) {
				verb = "moved"
			}
		case f.ops[0].File.Op == "renamed" || f.restored():
			continue // as it was: findFilesGone
		}
		key := [2]string{verb, folder(at)}
		g := groups[key]
		if g == nil {
			g = &fates{verb: verb, dir: folder(at)}
			groups[key] = g
			out = append(out, g)
		}
		g.files = append(g.files, f)
	}
	return out
}

// findFiles tells what became of files. Those of one folder that went the same way are told together.
func findFiles(r *reading) []human.Finding {
	var out []human.Finding
	for _, g := range r.fates() {
		if len(g.files) <= fewFiles {
			for _, f := range g.files {
				out = append(out, finding(human.FoundDone, 1, r.fate(f, g.verb), refs(f.ops...)...))
			}
			continue
		}
		var names []string
		var evidence []human.Ref
		for i, f := range g.files {
			if i < namedFiles {
				names = append(names, r.exactly(baseName(cmp.Or(f.now, f.was)), maxName))
			}
			if len(g.files) > 10*maxRefs && i >= namedFiles {
				break
			}
			evidence = append(evidence, f.last().ref())
		}
		dir := r.exactly(g.dir, maxSaid)
		what := r.list(names)
		if more := len(g.files) > len(names); more && r.lang == english {
			what = strings.Join(names, ", ") + " and more"
		} else if more {
			what = strings.Join(names, "、") + "等"
		}
		n := r.manyFiles(len(g.files))
		text := map[string]string{
			"created": r.say("Created %s in %s: %s", "在 %[2]s 中新建了%[1]s：%[3]s", n, dir, what),
			"changed": r.say("Saved changes to %s in %s: %s", "在 %[2]s 中保存了%[1]s：%[3]s", n, dir, what),
			"renamed": r.say("Renamed %s in %s; they are now %s", "在 %[2]s 中重命名了%[1]s，现名为 %[3]s", n, dir, what),
			"moved":   r.say("Moved %s to %s: %s", "将%[1]s移到了 %[2]s：%[3]s", n, dir, what),
			"deleted": r.say("Deleted %s in %s: %s", "删除了 %[2]s 中的%[1]s：%[3]s", n, dir, what),
		}[g.verb]
		out = append(out, finding(human.FoundDone, 1, text, evidence...))
	}
	return out
}

// manyFiles counts files, as far as their references can be counted.
func (r *reading) manyFiles(n int) string {
	if n > maxRefs {
		return r.say("many files", "多个文件")
	}
	return r.count(n, "file", "files", "个文件")
}

// briefly says what became of files, for the line.
func (r *reading) briefly(g *fates) string {
	f := g.files[0]
	now := r.exactly(baseName(cmp.Or(f.now, f.was)), maxName)
	if len(g.files) > 1 {
		now = r.manyFiles(len(g.files))
	}
	switch g.verb {
	case "created":
		return r.say("created %s", "新建了%s", now)
	case "deleted":
		return r.say("deleted %s", "删除了%s", now)
	case "renamed":
		if len(g.files) == 1 {
			return r.say("renamed %s to %s", "将%s重命名为%s", r.exactly(baseName(f.was), maxName), now)
		}
		return r.say("renamed %s", "重命名了%s", now)
	case "moved":
		if len(g.files) == 1 {
			return r.say("moved %s to %s", "将%s移到了%s", r.exactly(baseName(f.was), maxName), r.exactly(baseName(folder(f.now)), maxName))
		}
		return r.say("moved %s", "移动了%s", now)
	}
	return r.say("saved %s", "保存了%s", now)
}

// fate says what became of one file.
func (r *reading) fate(f *file, verb string) string {
	en, zh := "", "文件 "
	if f.dir {
		en, zh = "folder ", "文件夹 "
	}
	was, now := r.exactly(f.was, maxSaid), r.exactly(f.now, maxSaid)
	switch first := f.ops[0].File; {
	case verb == "created" && first.Path != f.now && folder(first.Path) != folder(f.now):
		return r.say("Created "+en+"%s, then moved it to %s", "新建了"+zh+"%s，随后移到了 %s", r.exactly(first.Path, maxSaid), now)
	case verb == "created" && first.Path != f.now:
		return r.say("Created "+en+"%s, then renamed it to %s", "新建了"+zh+"%s，随后重命名为 %s", r.exactly(first.Path, maxSaid), now)
	}
	switch verb {
	case "created":
		return r.say("Created "+en+"%s", "新建了"+zh+"%s", now)
	case "deleted":
		return r.say("Deleted "+en+"%s", "删除了"+zh+"%s", was)
	case "renamed":
		return r.say("Renamed "+en+"%s to %s in %s", "在 %[3]s 中将"+zh+"%[1]s 重命名为 %[2]s", r.exactly(baseName(f.was), maxSaid), r.exactly(baseName(f.now), maxSaid), r.exactly(folder(f.now), maxSaid))
	case "moved":
		if baseName(f.was) == baseName(f.now) {
			return r.say("Moved "+en+"%s to %s", "将"+zh+"%s 移到了 %s", was, r.exactly(folder(f.now), maxSaid))
		}
		return r.say("Moved "+en+"%s to %s", "将"+zh+"%s 移为 %s", was, now)
	}
	return r.say("Saved changes to "+en+"%s", "保存了"+zh+"%s 的修改", now)
}

// restored says whether a file was deleted and is there again.
func (f *file) restored() bool { return f.back && f.was != "" && f.now == f.was }

// findFilesGone tells of files that came and went again, went and came again, or got a name and lost it.
func findFilesGone(r *reading) []human.Finding {
	var out []human.Finding
	for _, f := range r.files() {
		switch {
		case f.was == "" && f.now == "" && len(f.ops) > 1:
			first := f.ops[0].File
			out = append(out, finding(human.FoundDetour, 1, r.say("Created %s and deleted it again", "新建了 %s，随后又删除", r.exactly(first.Path, maxSaid)), refs(f.ops...)...))
		case f.restored():
			out = append(out, finding(human.FoundDetour, 1, r.say("Deleted %s and brought it back", "删除了 %s，随后又恢复", r.exactly(f.was, maxSaid)), refs(f.ops...)...))
		case f.was != "" && f.was == f.now && f.ops[0].File.Op == "renamed" && len(f.ops) > 1:
			out = append(out, finding(human.FoundDetour, 1, r.say("Renamed %s to %s and back again", "将 %s 重命名为 %s，随后又改了回来",
				r.exactly(f.was, maxSaid), r.exactly(baseName(f.ops[0].File.To), maxSaid)), refs(f.ops...)...))
		}
	}
	return out
}
