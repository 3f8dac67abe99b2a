package workspace

import (
	"context"
	"debug/buildinfo"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// Programs of Deskbell's, as a build writes into them what they are made of.
const (
	programPath = "deskbell"
	hookPath    = "deskbell/backend/app/hookprogram/deskbell-hook"
)

// Ours says whether a file is Deskbell's own program: the one that runs here, the one beside it, or another build, whatever
// its name. A name without a folder is looked for as the system would.
func (g *Facts) Ours(file string) bool {
	if is, ok := g.ours[file]; ok {
		return is
	}
	is := false
	g.look(func(context.Context) { is = ours(file) })
	g.ours[file] = is
	return is
}

// Runs says whether a path is the Deskbell program that runs here, the one beside it, or a folder around them.
func (g *Facts) Runs(abs string) bool {
	runs := false
	g.look(func(context.Context) {
		info, err := os.Stat(abs)
		if err != nil {
			return
		}
		for _, own := range programs() {
			there, err := os.Stat(own)
			runs = runs || err == nil && os.SameFile(info, there) || info.IsDir() && strings.HasPrefix(own, abs+string(filepath.Separator))
		}
	})
	return runs
}

// programs are this program and those beside it, as far as they have Deskbell's name.
func programs() []string {
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	var out []string
	for _, own := range []string{self, filepath.Join(filepath.Dir(self), "deskbell"), filepath.Join(filepath.Dir(self), "deskbell-hook")} {
		if strings.HasPrefix(strings.ToLower(filepath.Base(own)), "deskbell") {
			out = append(out, own)
		}
	}
	return out
}

// Real says where an absolute path leads, links followed as far as they are there: those of the file system, those that the
// session made, and a file's other names, where it is one of the guarded folder's. With pattern, it is each of the first files
// that fit.
func (g *Facts) Real(abs string, pattern bool) []string {
	if found, ok := g.links[abs]; ok && !pattern {
		return found
	}
	found := []string{abs}
	g.look(func(context.Context) {
		if pattern {
			if all, err := filepath.Glob(abs); err == nil && len(all) > 0 {
				found = all[:min(len(all), mostFitting)]
			}
		}
		for i, path := range found {
			found[i] = g.leads(path)
		}
	})
	g.links[abs] = found
	return found
}

// mostFitting is how many files that fit a pattern are looked at.
const mostFitting = 50

func (g *Facts) leads(abs string) string {
	if g.session != nil {
		abs = g.session.follow(g.call.Session, abs)
	}
	// The longest part that is there; what follows it is yet to be made, be it behind a link that leads to nothing yet.
	head, rest := abs, ""
	for range 100 {
		real, err := filepath.EvalSymlinks(head)
		if err == nil {
			abs = filepath.Join(real, rest)
			break
		}
		if to, err := os.Readlink(head); err == nil {
			if !filepath.IsAbs(to) {
				to = filepath.Join(filepath.Dir(head), to)
			}
			head, abs = to, filepath.Join(to, rest)
			continue
		}
		up := filepath.Dir(head)
		if up == head {
			break
		}
		head, rest = up, filepath.Join(filepath.Base(head), rest)
	}
	return g.otherName(abs)
}

// otherName is a file or folder of the guarded folder that is the same as the one at a path: by a hard link, or a mount.
func (g *Facts) otherName(abs string) string {
	if g.call.Guard == "" || strings.HasPrefix(abs, g.call.Guard+string(filepath.Separator)) {
		return abs
	}
	if g.guarded == nil {
		g.guarded = map[string]os.FileInfo{}
		for _, dir := range []string{g.call.Guard, filepath.Join(g.call.Guard, "hooks")} {
			if info, err := os.Stat(dir); err == nil {
				g.guarded[dir] = info
			}
			list, _ := os.ReadDir(dir) // then there is nothing to compare with
			for _, e := range list {
				if info, err := e.Info(); err == nil && len(g.guarded) < 100 {
					g.guarded[filepath.Join(dir, e.Name())] = info
				}
			}
		}
	}
	for at := abs; len(at) > 1; at = filepath.Dir(at) {
		if info, err := os.Stat(at); err == nil {
			for name, other := range g.guarded {
				if os.SameFile(info, other) {
					return filepath.Join(name, abs[len(at):])
				}
			}
		}
		if filepath.Dir(at) == at {
			break
		}
	}
	return abs
}

// Linked keeps, for later calls of the session, that a path leads to another.
func (g *Facts) Linked(from, to string) {
	if g.session != nil {
		g.session.link(g.call.Session, from, to)
	}
}

// Sessions keep the links that sessions' calls make: one that is not there yet when a later call is judged may be there when it
// runs. They keep indexes of repositories, too, as long as these are as they were. They are safe for concurrent use, and forget the
// oldest of each.
type Sessions struct {
	mu    sync.Mutex
	order []string
	links map[string]map[string]string

	indexes indexes
}

const (
	mostSessions = 200
	mostLinks    = 200
)

func (s *Sessions) link(session, from, to string) {
	if session == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.links == nil {
		s.links = map[string]map[string]string{}
	}
	if s.links[session] == nil {
		if s.order = append(s.order, session); len(s.order) > mostSessions {
			delete(s.links, s.order[0])
			s.order = s.order[1:]
		}
		s.links[session] = map[string]string{}
	}
	if len(s.links[session]) < mostLinks {
		s.links[session][from] = to
	}
}

// follow is a path behind the links that a session made.
func (s *Sessions) follow(session, abs string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	links := s.links[session]
	for range len(links) {
		next := abs
		for at := abs; len(at) > 1; at = filepath.Dir(at) {
			if to, ok := links[at]; ok && !strings.HasPrefix(to+"/", at+"/") {
				next = filepath.Join(to, abs[len(at):])
				break
			}
			if filepath.Dir(at) == at {
				break
			}
		}
		if next == abs {
			break
		}
		abs = next
	}
	return abs
}

func ours(file string) bool {
	if !strings.ContainsAny(file, `/\`) {
		found, err := exec.LookPath(file)
		if err != nil {
			return false
		}
		file = found
	}
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	for _, own := range programs() {
		if there, err := os.Stat(own); err == nil && os.SameFile(info, there) {
			return true
		}
	}
	built, err := buildinfo.ReadFile(file)
	return err == nil && (built.Path == programPath || built.Path == hookPath)
}

// Server is where the server of the guarded folder says that it listens; empty where it says nothing.
func (g *Facts) Server() string {
	if g.server == nil {
		var told struct {
			URL string `json:"url"`
		}
		g.look(func(context.Context) {
			// server.json of package datadir, which is another adapter.
			if text, err := small(filepath.Join(g.call.Guard, "server.json"), 4<<10); err == nil && g.call.Guard != "" {
				_ = json.Unmarshal([]byte(text), &told) // then there is no address
			}
		})
		_, address, _ := strings.Cut(told.URL, "://")
		address, _, _ = strings.Cut(address, "/")
		g.server = &address
	}
	return *g.server
}
