package workspace

import (
	"context"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// maxCompared is how many bytes of files are compared for one call.
const maxCompared = 16 << 20

// A gitView answers for one call what git would, without starting it: it reads the index, the trees of the commit that is checked
// out and the patterns of ignored files, and compares the numbers of files as git does. What it does not know as git would it
// leaves to git: ok is false. Nothing of the repository runs, and nothing is written.
type gitView struct {
	repo     *Repo
	index    *gitIndex
	objects  objects
	root     string // tree of the commit
	program  bool   // whether a file can be executed counts
	lines    bool   // ends of lines may be converted
	plain    bool   // names are the same only where their bytes are
	compared int64  // bytes
}

// view reads what a repository tracks; nil where git has to be asked. kept may be nil.
func (r *Repo) view(ctx context.Context, kept *indexes) *gitView {
	commit, _ := r.Head()
	if !statsKnown || len(commit) != 40 || ctx.Err() != nil {
		return nil
	}
	set := r.config(ctx)
	v := &gitView{repo: r, objects: objects{dir: filepath.Join(r.common, "objects")}}
	folds, ok1 := flag(set, "core.ignorecase", false)
	composed, ok2 := flag(set, "core.precomposeunicode", false)
	links, ok3 := flag(set, "core.symlinks", true)
	program, ok4 := flag(set, "core.filemode", true)
	if !ok1 || !ok2 || !ok3 || !ok4 || !links {
		return nil
	}
	v.plain, v.program, v.lines = !folds && !composed, program, set["core.autocrlf"] != "" && set["core.autocrlf"] != "false"
	if kept == nil {
		v.index = readIndex(r.Index())
	} else {
		v.index = kept.read(r.Index(), time.Now())
	}
	if v.index == nil {
		return nil
	}
	name, err := hex.DecodeString(commit)
	if err != nil {
		return nil
	}
	text, ok := v.objects.object("commit", string(name))
	if !ok {
		return nil
	}
	line, _, _ := strings.Cut(text, "\n")
	tree, ok := strings.CutPrefix(line, "tree ")
	if !ok || len(tree) != 40 || !isHash(tree) {
		return nil
	}
	raw, _ := hex.DecodeString(tree)
	v.root = string(raw)
	return v
}

// known is Repo.everything for one path, which is not the root, with what is ignored.
func (v *gitView) known(ctx context.Context, rel string) (e everything, ok bool) {
	x := v.index
	at, after := x.at(0, len(x.entries), rel)
	lo, hi := x.below(0, len(x.entries), rel+"/")
	if at < after && lo < hi {
		return e, false
	}
	file := at < after
	if file {
		lo, hi = at, after
	}
	for i := lo; i < hi; i++ {
		if x.entries[i].added {
			return e, false
		}
		e.held = append(e.held, entry{x.entries[i].name, x.entries[i].plain})
	}
	if !sound(e.held) {
		return e, true // whatever else there is
	}
	same, single, ok := v.staged(rel, lo, hi, file)
	if !ok || !same && !single {
		return e, false
	}
	if !same {
		e.changes = append(e.changes, Change{Changed, rel})
	}
	if file {
		if now, err := fileStat(nil, filepath.Join(v.repo.top, filepath.FromSlash(rel))); err == nil && now.folder {
			return e, false // with files in it that git knows or not
		}
		is, ok := v.unchanged(&x.entries[lo])
		if !ok {
			return e, false
		}
		if !is && same {
			e.changes = append(e.changes, Change{Changed, rel})
		}
		return e, true
	}
	w := walker{view: v, ctx: ctx, ignored: true}
	if !w.from(rel, lo, hi) {
		return e, false
	}
	e.changes = append(e.changes, w.changes...)
	return e, true
}

// clean says whether nothing differs from the commit, but for what is ignored.
func (v *gitView) clean(ctx context.Context) (is, ok bool) {
	x := v.index
	for i := range x.entries {
		if x.entries[i].added {
			return false, false
		}
		if !x.entries[i].plain {
			return false, true
		}
	}
	if x.tree(0, len(x.entries), 0) != v.root {
		return false, true
	}
	w := walker{view: v, ctx: ctx}
	above, ok := v.repo.exclude()
	if !v.plain || !ok || !w.folder("", 0, len(x.entries), above) || !w.compare() {
		return false, false
	}
	return len(w.changes) == 0, true
}

// staged says whether the commit has the same at a path as the index; single is that it is a file in both that differs, or in one.
func (v *gitView) staged(rel string, lo, hi int, file bool) (same, single, ok bool) {
	x, hash, mode := v.index, v.root, uint32(modeTree)
	for part := range strings.SplitSeq(rel, "/") {
		if mode != modeTree {
			mode, hash = 0, ""
			break
		}
		tree, ok := v.objects.object("tree", hash)
		if !ok {
			return false, false, false
		}
		if mode, hash, ok = inTree(tree, part); !ok {
			return false, false, false
		}
	}
	switch {
	case file:
		e := &x.entries[lo]
		return mode == x.number(e, atMode) && hash == x.hash(e), mode != modeTree, true
	case lo < hi:
		return mode == modeTree && hash == x.tree(lo, hi, len(rel)+1), false, true
	}
	return mode == 0, mode != modeTree, true
}

// A stat is what the system says of a file.
type stat struct {
	numbers            [8]uint32 // as an index has them: times of change with nanoseconds, inode, owner, group and size
	size               int64
	file, link, folder bool
	runs               bool // its owner may execute it
}

// likeness is what numbers show of a tracked file.
type likeness uint8

const (
	unsure likeness = iota // what it holds has to be compared
	alike
	other
)

// likeness compares the numbers of a tracked file with its entry. It is safe for concurrent use.
func (v *gitView) likeness(e *gitEntry, now *stat) likeness {
	x, mode := v.index, v.index.number(e, atMode)
	link := mode == modeLink
	switch {
	case link != now.link, link == now.file:
		return other
	case !link && v.program && (mode == modeProgram) != now.runs:
		return other
	}
	same := true
	for i, at := range [...]int{atCtime, atCtimeNano, atMtime, atMtimeNano, atInode, atUID, atGID, atSize} {
		same = same && now.numbers[i] == x.number(e, at)
	}
	size, mtime, nano := x.number(e, atSize), int64(x.number(e, atMtime)), int64(x.number(e, atMtimeNano))
	// A file that was written after its entry, or at the same time, may hold something else in as many bytes; see "racy git" in
	// gitformat-index(5). An entry with a size of 0 is one that git found to be such.
	racy := mtime > x.sec || mtime == x.sec && (nano >= x.nano || nano == 0 || x.nano == 0)
	switch {
	case size != 0 && size != uint32(now.size):
		return other
	case same && !racy && size != 0:
		return alike
	}
	return unsure
}

// unchanged compares a tracked file with its entry: first its numbers, then, where these do not show that it is the same, what it
// holds.
func (v *gitView) unchanged(e *gitEntry) (is, ok bool) {
	name := filepath.Join(v.repo.top, filepath.FromSlash(e.name))
	now, err := fileStat(nil, name)
	if err != nil {
		return false, errors.Is(err, fs.ErrNotExist)
	}
	if l := v.likeness(e, &now); l != unsure {
		return l == alike, true
	}
	// What git compares is converted: the ends of lines, an encoding, its own keywords.
	if v.compared += now.size; v.compared > maxCompared {
		return false, false
	}
	if now.link {
		to, err := os.Readlink(name)
		return err == nil && hashOf("blob", to) == v.index.hash(e), err == nil
	}
	text, err := small(name, maxCompared)
	if err != nil || v.lines && strings.Contains(text, "\r") || !v.verbatim(e.name, strings.Contains(text, "\r")) {
		return false, false
	}
	return hashOf("blob", text) == v.index.hash(e), true
}

// verbatim says whether no .gitattributes has git convert a file, which has ends of lines of other systems or not.
func (v *gitView) verbatim(name string, returns bool) bool {
	for dir := name; dir != ""; {
		dir = dir[:max(strings.LastIndexByte(dir, '/'), 0)]
		file := path.Join(dir, ".gitattributes")
		set, err := small(filepath.Join(v.repo.top, filepath.FromSlash(file)), maxIgnored)
		if errors.Is(err, fs.ErrNotExist) {
			if at, after := v.index.at(0, len(v.index.entries), file); at < after {
				return false // git reads that of the index
			}
			continue
		}
		if err != nil || returns || strings.Contains(set, "ident") || strings.Contains(set, "encoding") {
			return false
		}
	}
	return true
}

// A walker looks for what differs in folders.
type walker struct {
	view    *gitView
	ctx     context.Context
	ignored bool // what is ignored counts; else the first change is enough
	n       int
	changes []Change
	tracked []batch // yet to be compared
}

// A batch is the tracked files in one folder.
type batch struct {
	dir     string
	entries []int
	unlike  []int // of them, which are not known to be as their entries
	failed  bool
}

// from looks at a path that is no tracked file, and has the entries from lo to hi in it. false is for git.
func (w *walker) from(rel string, lo, hi int) (ok bool) {
	v := w.view
	rules, ok := v.repo.exclude()
	if !ok || !v.plain || v.index.skips {
		return false
	}
	info, err := os.Lstat(filepath.Join(v.repo.top, filepath.FromSlash(rel)))
	if err != nil {
		return false
	}
	for at := 0; ; {
		folder := rel[:at]
		dir := filepath.Join(v.repo.top, filepath.FromSlash(folder))
		if at > 0 {
			if _, err := os.Lstat(filepath.Join(dir, ".git")); !errors.Is(err, fs.ErrNotExist) {
				return false
			}
		}
		if rules, ok = rules.with(filepath.Join(dir, ".gitignore"), folder); !ok {
			return false
		}
		next := strings.IndexByte(rel[at:], '/')
		if next < 0 {
			break
		}
		at += next + 1
		if rules.ignored(rel[:at-1], true) {
			return w.out(rel[:at], 0, len(v.index.entries))
		}
	}
	switch {
	case info.IsDir() && rules.ignored(rel, true):
		return w.out(rel+"/", lo, hi)
	case info.IsDir():
		return w.folder(rel+"/", lo, hi, rules) && w.compare()
	case info.Mode().IsRegular() || info.Mode()&fs.ModeSymlink != 0:
		w.loose(rel, rules)
	}
	return lo == hi
}

// out is a folder that is ignored, with a slash at its end.
func (w *walker) out(folder string, lo, hi int) (ok bool) {
	if lo, hi = w.view.index.below(lo, hi, folder); lo < hi {
		return false
	}
	if w.ignored {
		w.changes = append(w.changes, Change{Ignored, folder})
	}
	return true
}

func (w *walker) loose(rel string, rules *patterns) {
	switch {
	case !rules.ignored(rel, false):
		w.changes = append(w.changes, Change{Untracked, rel})
	case w.ignored:
		w.changes = append(w.changes, Change{Ignored, rel})
	}
}

// folder looks at what is in a folder that is not ignored. Its name has a slash at its end, but for the root's; rules are those of the
// folders above, and of the folder itself only where it is where the walk begins.
func (w *walker) folder(folder string, lo, hi int, rules *patterns) (ok bool) {
	v := w.view
	dir := filepath.Join(v.repo.top, filepath.FromSlash(folder))
	list, err := os.ReadDir(dir)
	if err != nil || w.ctx.Err() != nil || v.index.skips {
		return false
	}
	if rules, ok = rules.with(filepath.Join(dir, ".gitignore"), folder); !ok {
		return false
	}
	seen, mine := 0, batch{dir: dir}
	for _, d := range list {
		if w.n++; w.n > maxEntries || w.ctx.Err() != nil {
			return false
		}
		if len(w.changes) > 0 && !w.ignored {
			return true
		}
		name := folder + d.Name()
		switch {
		case folder == "" && d.Name() == ".git":
		case strings.EqualFold(d.Name(), ".git"):
			return false
		case d.IsDir():
			from, to := v.index.below(lo, hi, name+"/")
			seen += to - from
			if rules.ignored(name, true) {
				if !w.out(name+"/", from, to) {
					return false
				}
			} else if !w.folder(name+"/", from, to, rules) {
				return false
			}
		case d.Type().IsRegular() || d.Type()&fs.ModeSymlink != 0:
			at, after := v.index.at(lo, hi, name)
			if at == after {
				w.loose(name, rules)
				continue
			}
			mine.entries = append(mine.entries, at)
			seen++
		}
	}
	if len(mine.entries) > 0 {
		w.tracked = append(w.tracked, mine)
	}
	if seen != hi-lo {
		return w.missing(folder, lo, hi)
	}
	return true
}

// compare compares the tracked files that were found. The system takes most of the time for it, so several are asked about at once.
func (w *walker) compare() (ok bool) {
	if len(w.changes) > 0 && !w.ignored {
		return true
	}
	var next atomic.Int64
	var all sync.WaitGroup
	work := func() {
		for {
			i := int(next.Add(1)) - 1
			if i >= len(w.tracked) || w.ctx.Err() != nil {
				return
			}
			w.view.stats(&w.tracked[i])
		}
	}
	for range min(runtime.GOMAXPROCS(0), 4, len(w.tracked)/8) {
		all.Go(work)
	}
	work()
	all.Wait()
	if w.ctx.Err() != nil {
		return false
	}
	for _, b := range w.tracked {
		if b.failed {
			return false
		}
		for _, at := range b.unlike {
			e := &w.view.index.entries[at]
			is, ok := w.view.unchanged(e)
			if !ok || w.ctx.Err() != nil {
				return false
			}
			if !is {
				w.changes = append(w.changes, Change{Changed, e.name})
				if !w.ignored {
					return true
				}
			}
		}
	}
	return true
}

// stats looks at the files of a batch.
func (v *gitView) stats(b *batch) {
	dir, err := os.Open(b.dir)
	if err != nil {
		b.failed = true
		return
	}
	defer func() { _ = dir.Close() }()
	for _, at := range b.entries {
		e := &v.index.entries[at]
		now, err := fileStat(dir, path.Base(e.name))
		if err != nil || v.likeness(e, &now) != alike {
			b.unlike = append(b.unlike, at)
		}
	}
}

// missing adds the entries of a folder that are not in it any more, or are something else now.
func (w *walker) missing(folder string, lo, hi int) (ok bool) {
	for i := lo; i < hi; {
		e := &w.view.index.entries[i]
		name, _, deeper := strings.Cut(e.name[len(folder):], "/")
		now, err := fileStat(nil, filepath.Join(w.view.repo.top, filepath.FromSlash(folder+name)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false
		}
		to := i + 1
		if deeper {
			_, to = w.view.index.below(i, hi, folder+name+"/")
		}
		for ; i < to; i++ {
			if err != nil || deeper && !now.folder || !deeper && !now.file && !now.link {
				w.changes = append(w.changes, Change{Changed, w.view.index.entries[i].name})
			}
		}
	}
	return true
}
