// Package box runs a command on a copy of a project: without a network, without the operator's secrets, and with nothing to
// write but the copy. What it changed there is then shown, and kept or discarded. It needs bubblewrap, Landlock and seccomp,
// and is offered on Linux only; without one of them nothing runs.
package box

import (
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"deskbell/backend/human"
)

// Exit codes of what did not end by itself, as timeout(1) and env(1) have them.
const (
	TimedOut  = 124
	NotBoxed  = 125 // the box could not be made, or what was written not be kept
	NotFound  = 127
	bySignal  = 128 // and the signal's number
	interrupt = 130
)

// Limits of a run; a zero is the default.
type Limits struct {
	Time      time.Duration // on the clock; 10 minutes
	Memory    int64         // bytes of all processes together, and for temporary files a quarter of it each; 4 GiB
	Disk      int64         // bytes that the copy may grow by; 2 GiB
	Copy      int64         // bytes of the project; 2 GiB
	Processes int           // and threads; 1024
}

func (l Limits) filled() Limits {
	or := func(n *int64, most int64) {
		if *n == 0 {
			*n = most
		}
	}
	or((*int64)(&l.Time), int64(10*time.Minute))
	or(&l.Memory, 4<<30)
	or(&l.Disk, 2<<30)
	or(&l.Copy, 2<<30)
	if l.Processes == 0 {
		l.Processes = 1024
	}
	return l
}

// Options say what runs, and on what.
type Options struct {
	Command []string
	Folder  string   // in which it runs; the project is the working tree around it
	Boxes   string   // the folder of copies, made where it is missing
	Hidden  []string // files and folders that it must not see, besides secrets
	Shown   []string // files and folders that it may read, though they are in a home or hold secrets
	// Variables are names of the environment's variables that it gets, besides those that every command does.
	Variables []string
	Limits    Limits
	In        io.Reader // nil: none
	Out, Errs io.Writer
}

// An Ending is how a command ended.
type Ending struct {
	Code   int    `json:"exit_code"`
	Signal string `json:"signal,omitempty"`
	Reason string `json:"reason,omitempty"` // why it was ended, or never begun
}

// How is what became of a file.
type How string

// What became of files.
const (
	Added   How = "added"
	Changed How = "changed"
	Deleted How = "deleted"
	Mode    How = "mode" // its permissions alone
)

// A Change is a file, folder or link of the project that is not what it was.
type Change struct {
	Path   string      `json:"path"` // within the project, with slashes
	How    How         `json:"change"`
	Before fs.FileMode `json:"-"` // type and permissions; of no meaning where there was or is none
	After  fs.FileMode `json:"-"`
	Sizes  [2]int64    `json:"sizes"`          // bytes before and after
	Link   string      `json:"link,omitempty"` // where a link leads now
	// Warning says why keeping it needs a consent of its own: empty for most.
	Warning Warning `json:"warning,omitempty"`
}

// A Warning is why a change may do more than its text says.
type Warning string

// What is warned of.
const (
	Runs    Warning = "runs_by_itself" // hooks and settings of git, start files, settings of agents and editors
	LeadsTo Warning = "leads_out"      // a link to what is not in the project
)

// Changes are what a run wrote.
type Changes struct {
	Files []Change
	// Lost are paths that cannot be kept: what was written to masked files of secrets, and what is no file, folder or link.
	Lost []string
}

// Warned are the changes that need a consent of their own.
func (c Changes) Warned() (all []Change) {
	for _, f := range c.Files {
		if f.Warning != "" {
			all = append(all, f)
		}
	}
	return all
}

// A Choice is what of a run can be kept by itself.
type Choice struct {
	Change
	// Files is, of a choice whose path ends with a slash, how many files it stands for: a repository's own, which are kept
	// together or not at all. Of others it is 0.
	Files int
	parts []int // in Changes.Files
}

// Choices are what of the changes can be kept by itself, in the order of their paths. A folder that is new, gone, or in the place of
// something else comes and goes with what is in it.
func (c Changes) Choices() []Choice {
	var all []Choice
	inside, replaced := map[string]bool{}, map[string]int{}
	for _, f := range c.Files {
		for at := parent(f.Path); at != ""; at = parent(at) {
			inside[at] = true
		}
	}
	groups := map[string]int{}
	for i, f := range c.Files {
		dir := f.After.IsDir() && f.How != Mode || f.How == Deleted && f.Before.IsDir()
		if group := ownOfGit(f.Path); group != "" && f.Warning == "" {
			at, known := groups[group]
			if !known {
				at = len(all)
				groups[group] = at
				all = append(all, Choice{Change: Change{Path: group, How: Changed}})
			}
			all[at].parts = append(all[at].parts, i)
			if !dir {
				all[at].Files++
				all[at].Sizes[0] += f.Sizes[0]
				all[at].Sizes[1] += f.Sizes[1]
			}
			continue
		}
		if dir && inside[f.Path] {
			continue
		}
		within := -1
		for at := parent(f.Path); at != "" && within < 0; at = parent(at) {
			if r, is := replaced[at]; is {
				within = r
			}
		}
		if within >= 0 { // it had to go for what is there now
			all[within].parts = append(all[within].parts, i)
			continue
		}
		if f.How == Changed && f.Before.IsDir() && !f.After.IsDir() {
			replaced[f.Path] = len(all)
		}
		all = append(all, Choice{Change: f, parts: []int{i}})
	}
	return all
}

// Chosen are the changes that some choices stand for, by their paths, with the folders that go with them. A path that is none is
// Invalid.
func (c Changes) Chosen(paths []string) (Changes, error) {
	choices := c.Choices()
	kept, alone := make([]bool, len(c.Files)), make([]bool, len(c.Files))
	below, keptBelow := map[string]int{}, map[string]int{} // by folders
	for _, o := range choices {
		chosen := slices.Contains(paths, o.Path)
		for _, i := range o.parts {
			kept[i], alone[i] = chosen, true
			for at := parent(c.Files[i].Path); at != ""; at = parent(at) {
				if below[at]++; chosen {
					keptBelow[at]++
				}
			}
		}
	}
	for _, path := range paths {
		if !slices.ContainsFunc(choices, func(o Choice) bool { return o.Path == path }) {
			return Changes{}, human.Errorf(human.Invalid, "the command did not write %s", human.OneLine(path, 200))
		}
	}
	var some Changes
	for i, f := range c.Files {
		switch {
		case alone[i]:
		case f.How == Deleted:
			kept[i] = keptBelow[f.Path] == below[f.Path]
		default:
			kept[i] = keptBelow[f.Path] > 0
		}
		if kept[i] {
			some.Files = append(some.Files, f)
		}
	}
	return some, nil
}

// parent is the folder that a path is in; empty for that of the project.
func parent(path string) string { return path[:max(strings.LastIndexByte(path, '/'), 0)] }

// ownOfGit is the folder of a repository's own files that a path is in, with a slash at the end; empty where it is in none.
func ownOfGit(path string) string {
	if strings.HasPrefix(path, ".git/") {
		return ".git/"
	}
	if at := strings.Index(path, "/.git/"); at >= 0 {
		return path[:at+len("/.git/")]
	}
	return ""
}
