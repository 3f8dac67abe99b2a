package shell

import (
	"slices"
	"strings"
)

// unknown stands in a value for a part that is known only when the command runs. No script can hold it: Parse returns an
// error for NUL.
const unknown = "\x00"

// job stands for the number of a process that the script started: $!.
const job = "0" + unknown

// taint is where a value, or what flows through a pipe, may come from.
type taint uint8

const (
	fromNetwork taint = 1 << iota // was downloaded
	fromSecret                    // was read from where secrets are kept
	fromDecoder                   // was decoded: base64, hex, a cipher
	fromFile                      // was read from some file
	madeHere                      // was put together by a program whose output we do not know
	ofJob                         // is the number of a process that this script started
)

// A value is the text of one argument as far as it is known.
type value struct {
	s      string // with unknown for each part that is not known
	taint  taint
	glob   bool // has unquoted * ? [
	quoted bool // any part of it was quoted, so that it cannot fall apart into several

	list []value  // of an array: its elements
	keys []string // and what they are found by, where that is no number
	open bool     // an array that may have others as well
}

// same says whether two values are the same text, wherever they come from.
func (v value) same(o value) bool {
	return v.s == o.s && v.glob == o.glob && v.open == o.open && len(v.list) == len(o.list) && slices.Equal(v.keys, o.keys) && slices.EqualFunc(v.list, o.list, value.same)
}

// array is a value that holds several.
func array(list []value) value {
	v := joined(list)
	v.quoted = false
	v.list = list
	if v.list == nil {
		v.list = []value{}
	}
	return v
}

func known(s string) value { return value{s: s, quoted: true} }

func (v value) known() bool { return !strings.Contains(v.s, unknown) }

// shown is the value for people.
func (v value) shown() string { return strings.ReplaceAll(v.s, unknown, "…") }

func texts(args []value) []string {
	out := make([]string, len(args))
	for i, a := range args {
		out[i] = a.s
	}
	return out
}

// joined is the arguments as one text, as eval and ssh take them.
func joined(args []value) value {
	v := value{s: strings.Join(texts(args), " "), quoted: true}
	for _, a := range args {
		v.taint |= a.taint
	}
	return v
}

// A stream is what goes through a pipe, or comes from a file or a here-document.
type stream struct {
	text  string
	known bool
	taint taint
	open  bool // a command writes to it; the zero stream is the terminal

	shell  bool   // a shell's answers
	remote bool   // a socket
	edited bool   // of files: holds what it held before, changed in some way
	from   string // of files: a copy of this one
	all    string // of names: of all that is under this folder
	built  bool   // of files: a program made of the project's own code
	at     int    // of files: after how many writes
}
