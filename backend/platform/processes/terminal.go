package processes

import "fmt"

// Own says whether a process runs as the user that this one runs as.
func Own(p Process) bool { return own(p) }

// SessionOf returns the first process of the session that a process's terminal belongs to, and a name of that session that no
// other one has while this machine runs. ErrUnknown for a process without a terminal. On Windows such a session is that of a
// shell, with those that it started directly.
func SessionOf(p Process) (first Process, name string, err error) {
	first, err = leader(p)
	return first, fmt.Sprintf("%d-%d", first.PID, first.Started), err
}

// Draw writes a text to the terminal of a process, as if a program in it had. On Windows a process that has a console of its own
// cannot.
func Draw(p Process, text string) error { return draw(p, text) }
