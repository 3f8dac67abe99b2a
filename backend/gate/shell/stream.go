package shell

import (
	"deskbell/backend/gate/shell/arg"
)

// A stream is what goes through a pipe, or comes from a file or a here-document.
type stream struct {
	text  string
	known bool
	taint arg.Taint
	open  bool // a command writes to it; the zero stream is the terminal

	shell  bool   // a shell's answers
	remote bool   // a socket
	edited bool   // of files: holds what it held before, changed in some way
	from   string // of files: a copy of this one
	all    string // of names: of all that is under this folder
	built  bool   // of files: a program made of the project's own code
	at     int    // of files: after how many writes
}
