package folders

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"deskbell/backend/human"
)

const (
	quiet  = 300 * time.Millisecond // a path is looked at when nothing has been heard of it for so long
	atMost = 10 * time.Second       // or when it has not been quiet for so long
	look   = 50 * time.Millisecond  // how often to ask whether one has become quiet
	drain  = 50 * time.Millisecond  // at the end: how long to wait for notices that are under way
)

// An entry is what a path was when it was last looked at.
type entry struct {
	id    fileID
	size  int64
	mtime int64
	dir   bool
}

// pending is a path of which something was heard.
type pending struct {
	path         string
	first, last  int64 // monotonic ns of the notices
	order        uint64
	wrote, moved bool
}

// A run is one Run's state. Only its goroutine touches it.
type run struct {
	now     func() int64
	without string
	emit    func(human.RecordedEvent)
	watcher *watcher
	roots   map[string]bool
	watched map[string]bool
	known   map[string]entry
	heard   map[string]*pending
	left    map[fileID]string // where a known one was that was moved away
	arrived map[fileID]string // where one came up
	order   uint64
	seen    uint64
	full    bool
}

// Run watches until ctx ends; see record.Source. A limit of the system's, and notices it dropped, are reported as
// GapOpened events of this source; after dropped notices all folders are read again, so that only what came and
// went unseen is missing. The error, Unavailable, says that all the folders are gone.
func (s *Source) Run(ctx context.Context, ready func(), emit func(human.RecordedEvent)) (uint64, error) {
	watcher, err := newWatcher()
	if err != nil {
		return 0, human.Wrap(human.Unavailable, err, "The system's limit for watched folders is reached. Close programs that watch many, or raise fs.inotify.max_user_instances.")
	}
	defer func() { _ = watcher.Close() }()
	r := &run{
		now:     func() int64 { _, mono := s.clock(); return mono },
		emit:    emit,
		without: s.without,
		watcher: watcher,
		roots:   map[string]bool{},
		watched: map[string]bool{},
		known:   map[string]entry{},
		heard:   map[string]*pending{},
		left:    map[fileID]string{},
		arrived: map[fileID]string{},
	}
	for _, f := range s.folders {
		if usable(f) != nil {
			continue
		}
		info, err := os.Stat(f)
		if err != nil {
			continue
		}
		r.roots[f] = true
		r.known[f] = entryOf(f, info)
		r.adopt(f, func(path string, info fs.FileInfo) { r.known[path] = entryOf(path, info) })
	}
	if len(r.roots) == 0 {
		return 0, human.Errorf(human.Unavailable, "None of the folders can be watched: %s.", strings.Join(s.folders, ", "))
	}
	ready()

	timer := time.NewTimer(look)
	timer.Stop()
	defer timer.Stop()
	armed := false
	for {
		if !armed && len(r.heard) > 0 {
			timer.Reset(look)
			armed = true
		}
		select {
		case <-ctx.Done():
			r.finish()
			return r.seen, nil
		case ev, ok := <-watcher.Events:
			if !ok {
				return r.seen, human.Errorf(human.Unavailable, "The system stopped watching the folders.")
			}
			r.notice(ev)
		case err := <-watcher.Errors:
			if errors.Is(err, fsnotify.ErrEventOverflow) {
				r.gap("overflow")
				r.again()
			}
		case <-timer.C:
			armed = false
			r.settle(false)
			if len(r.roots) == 0 {
				return r.seen, human.Errorf(human.Unavailable, "The folders are gone: %s.", strings.Join(s.folders, ", "))
			}
		}
	}
}

// finish takes in what the system has told already, and tells of everything at once.
func (r *run) finish() {
	for {
		select {
		case ev, ok := <-r.watcher.Events:
			if ok {
				r.notice(ev)
				continue
			}
		case err := <-r.watcher.Errors:
			if errors.Is(err, fsnotify.ErrEventOverflow) {
				r.gap("overflow")
				r.again()
			}
			continue
		case <-time.After(drain):
		}
		r.settle(true)
		return
	}
}

func entryOf(path string, info fs.FileInfo) entry {
	e := entry{id: identify(path, info), dir: info.IsDir(), mtime: info.ModTime().UnixNano()}
	if !e.dir {
		e.size = info.Size()
	}
	return e
}

// adopt watches a folder and those below it, and hands every entry found there to found. The watch comes first:
// what comes up in between is found twice rather than never.
func (r *run) adopt(dir string, found func(path string, info fs.FileInfo)) {
	if len(r.watched) >= maxFolders || len(r.known)+len(r.heard) >= maxEntries {
		r.limit()
		return
	}
	if err := r.watcher.Add(dir); err != nil {
		// One that went meanwhile needs no watch; one that may not be read was told of by Check.
		if !errors.Is(err, os.ErrNotExist) && !errors.Is(err, os.ErrPermission) {
			r.limit()
		}
		return
	}
	r.watched[dir] = true
	entries, _ := os.ReadDir(dir) // what could be read before an error counts, too
	for _, e := range entries {
		if passing(e.Name()) || e.IsDir() && (hidden(e.Name()) || filepath.Join(dir, e.Name()) == r.without) {
			continue
		}
		info, err := e.Info()
		if err != nil {
			continue
		}
		path := filepath.Join(dir, e.Name())
		found(path, info)
		if info.IsDir() {
			r.adopt(path, found)
		}
	}
}

// under calls f for each key of m that is path or lies below it.
func under[V any](m map[string]V, path string, f func(string)) {
	below := strings.TrimSuffix(path, string(filepath.Separator)) + string(filepath.Separator)
	for p := range m {
		if p == path || strings.HasPrefix(p, below) {
			f(p)
		}
	}
}

// forsake ends the watches of a folder and of those below it.
func (r *run) forsake(dir string) {
	if !r.watched[dir] {
		return
	}
	under(r.watched, dir, func(p string) {
		_ = r.watcher.Remove(p) // it may be gone already
		delete(r.watched, p)
	})
}

func (r *run) limit() {
	if !r.full {
		r.full = true
		r.gap("limit")
	}
}

func (r *run) gap(reason string) {
	at := r.now()
	r.seen++
	r.emit(human.RecordedEvent{At: at, Source: human.FileSource, Type: human.GapOpened,
		Gap: &human.Gap{From: at, To: at, Source: human.FileSource, Reason: reason}})
}

func (r *run) mark(path string) *pending {
	p := r.heard[path]
	if p == nil {
		r.order++
		p = &pending{first: r.now(), order: r.order, path: path}
		r.heard[path] = p
	}
	p.last = r.now()
	return p
}

// notice takes one notice in. It is quick: the system keeps a bounded number of them.
func (r *run) notice(ev fsnotify.Event) {
	if ev.Name == "" || passing(filepath.Base(ev.Name)) {
		return
	}
	path := filepath.Clean(ev.Name)
	if r.inHidden(path) {
		return
	}
	switch {
	case ev.Has(fsnotify.Create):
		info, err := os.Lstat(path)
		if err == nil && info.IsDir() && (hidden(info.Name()) || path == r.without) {
			return
		}
		r.mark(path)
		if err != nil {
			return
		}
		r.arrived[identify(path, info)] = path
		if info.IsDir() {
			r.forsake(path) // another folder that had this name
			r.adopt(path, func(p string, _ fs.FileInfo) { r.mark(p) })
		}
	case ev.Has(fsnotify.Rename):
		e, ok := r.known[path]
		if ok {
			r.left[e.id] = path
		}
		r.mark(path).moved = true
		// Watches follow a folder and continue naming it as it was called; the new name gets new ones.
		r.forsake(path)
	case ev.Has(fsnotify.Remove):
		r.mark(path)
		r.forsake(path)
	case ev.Has(fsnotify.Write):
		r.mark(path).wrote = true
	}
}

// inHidden says whether a path lies in a hidden folder, or in Deskbell's own: some systems tell of all below a root.
func (r *run) inHidden(path string) bool {
	dir := filepath.Dir(path)
	if r.without != "" && strings.HasPrefix(path+string(filepath.Separator), r.without+string(filepath.Separator)) {
		return true
	}
	if r.watched[dir] || r.roots[path] {
		return false
	}
	for root := range r.roots {
		below, err := filepath.Rel(root, dir)
		if err != nil || below == ".." || strings.HasPrefix(below, ".."+string(filepath.Separator)) {
			continue
		}
		for part := range strings.SplitSeq(below, string(filepath.Separator)) {
			if part != "." && hidden(part) {
				return true
			}
		}
	}
	return false
}

// again reads all folders anew, after notices were lost.
func (r *run) again() {
	for path, e := range r.known {
		r.mark(path)
		r.left[e.id] = path
	}
	for root := range r.roots {
		r.adopt(root, func(path string, info fs.FileInfo) {
			r.mark(path)
			r.arrived[identify(path, info)] = path
		})
	}
}

// settle tells of the paths that have become quiet, or of all.
func (r *run) settle(all bool) {
	now := r.now()
	var due []*pending
	for _, p := range r.heard {
		if all || now-p.last >= int64(quiet) || now-p.first >= int64(atMost) {
			due = append(due, p)
		}
	}
	slices.SortFunc(due, func(a, b *pending) int { return cmp.Or(cmp.Compare(a.last, b.last), cmp.Compare(a.order, b.order)) })
	for _, p := range due {
		r.judge(p)
	}
	if len(r.heard) == 0 {
		clear(r.left)
		clear(r.arrived)
	}
}

// judge compares what a path is with what it was, and tells of it.
func (r *run) judge(p *pending) {
	if r.heard[p.path] != p {
		return // it was told of with another
	}
	// A folder that came or moved is told of before what is in it; one that was deleted, after.
	if parent := r.heard[filepath.Dir(p.path)]; parent != nil && (parent.moved || exists(parent.path)) {
		r.judge(parent)
		r.judge(p)
		return
	}
	delete(r.heard, p.path)
	was, knew := r.known[p.path]
	info, err := os.Lstat(p.path)
	if err == nil && r.roots[p.path] {
		return
	}
	if err != nil {
		if !knew {
			return
		}
		if to, ok := r.arrived[was.id]; ok && to != p.path && same(was, to, p.moved) {
			r.renamed(p, p.path, to)
			return
		}
		if was.dir && !p.moved {
			r.judgeBelow(p.path)
		}
		r.forget(p.path)
		r.tell(p, human.FileChange{Op: "deleted", Path: p.path, Dir: was.dir})
		delete(r.roots, p.path)
		return
	}
	is := entryOf(p.path, info)
	switch {
	case !knew:
		if from, ok := r.left[is.id]; ok && from != p.path {
			before, knew := r.known[from]
			q := r.heard[from]
			if knew && !exists(from) && same(before, p.path, q != nil && q.moved) {
				r.renamed(p, from, p.path)
				return
			}
		}
		r.known[p.path] = is
		r.tell(p, human.FileChange{Op: "created", Path: p.path, Dir: is.dir, Size: is.size})
	case was.dir != is.dir:
		r.forget(p.path)
		r.tell(p, human.FileChange{Op: "deleted", Path: p.path, Dir: was.dir})
		r.known[p.path] = is
		r.tell(p, human.FileChange{Op: "created", Path: p.path, Dir: is.dir, Size: is.size})
	case !is.dir && (p.wrote || was != is):
		r.known[p.path] = is
		r.tell(p, human.FileChange{Op: "changed", Path: p.path, Size: is.size})
	}
}

// judgeBelow judges what was heard of below a folder that was deleted, the innermost first.
func (r *run) judgeBelow(dir string) {
	var below []string
	under(r.heard, dir, func(path string) { below = append(below, path) })
	slices.SortFunc(below, func(a, b string) int { return strings.Compare(b, a) })
	for _, path := range below {
		if p := r.heard[path]; p != nil {
			r.judge(p)
		}
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// same says whether path is now what was known under another name. The system uses the numbers of deleted files
// again: without its word that the file was moved, its time and size must be the same, too.
func same(was entry, path string, moved bool) bool {
	info, err := os.Lstat(path)
	if err != nil {
		return false
	}
	is := entryOf(path, info)
	return is.id == was.id && is.id != (fileID{}) && is.dir == was.dir && (moved || is.size == was.size && is.mtime == was.mtime)
}

func (r *run) renamed(p *pending, from, to string) {
	info, err := os.Lstat(to)
	if err != nil {
		return
	}
	is := entryOf(to, info)
	r.forget(to) // it took another's place
	var old []string
	under(r.known, from, func(path string) { old = append(old, path) })
	for _, path := range old {
		r.known[to+strings.TrimPrefix(path, from)] = r.known[path]
		delete(r.known, path)
	}
	r.known[to] = is
	delete(r.heard, to)
	under(r.heard, from, func(path string) { delete(r.heard, path) })
	r.tell(p, human.FileChange{Op: "renamed", Path: from, To: to, Dir: is.dir, Size: is.size})
	if !is.dir {
		return
	}
	// What was written, came or went within while it was being moved shows by comparing.
	under(r.known, to, func(path string) {
		if path != to {
			r.mark(path)
		}
	})
	if !r.watched[to] {
		r.adopt(to, func(path string, _ fs.FileInfo) { r.mark(path) })
	}
}

// forget drops what is known of a path and of all below it.
func (r *run) forget(path string) {
	e, ok := r.known[path]
	if !ok {
		return
	}
	delete(r.known, path)
	if e.dir {
		under(r.known, path, func(p string) { delete(r.known, p) })
	}
}

func (r *run) tell(p *pending, c human.FileChange) {
	r.seen++
	r.emit(human.RecordedEvent{At: p.last, Source: human.FileSource, Type: human.FileChanged, File: &c})
}
