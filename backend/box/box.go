// Package box runs a command on a copy of a project: without a network, without the operator's secrets, and with nothing to
// write but the copy. What it changed there is then shown, and kept or discarded. It needs bubblewrap, Landlock and seccomp,
// and is offered on Linux only; without one of them nothing runs.
package box

import (
	"io"
	"io/fs"
	"time"
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
