// Package arg holds what is known of the words of a command before it runs: their text, as far as it is known, and where it comes from.
package arg

import (
	"slices"
	"strings"
)

// Unknown stands in a text for a part that is known only when the command runs. No script can hold it: a script with a NUL is an
// error.
const Unknown = "\x00"

// Job stands for the number of a process that the script started: $!.
const Job = "0" + Unknown

// A Taint is where a word, or what flows through a pipe, may come from.
type Taint uint8

// What a Taint is made of.
const (
	FromNetwork Taint = 1 << iota // was downloaded
	FromSecret                    // was read from where secrets are kept
	FromDecoder                   // was decoded: base64, hex, a cipher
	FromFile                      // was read from some file
	MadeHere                      // was put together by a program whose output is not known
	OfJob                         // is the number of a process that this script started
)

// A Word is one argument, as far as it is known.
type Word struct {
	Text   string // with Unknown for each part that is not known
	Taint  Taint
	Glob   bool // has unquoted * ? [
	Quoted bool // any part of it was quoted, so that it cannot fall apart into several

	List []Word   // of an array: its elements
	Keys []string // and what they are found by, where that is no number
	Open bool     // an array that may have others as well
}

// Same says whether two words are the same text, wherever they come from.
func (v Word) Same(o Word) bool {
	return v.Text == o.Text && v.Glob == o.Glob && v.Open == o.Open && len(v.List) == len(o.List) && slices.Equal(v.Keys, o.Keys) && slices.EqualFunc(v.List, o.List, Word.Same)
}

// Array is a word that holds several.
func Array(list []Word) Word {
	v := Joined(list)
	v.Quoted = false
	v.List = list
	if v.List == nil {
		v.List = []Word{}
	}
	return v
}

// Known is a word of which all is known.
func Known(s string) Word { return Word{Text: s, Quoted: true} }

// Known says whether all of the text is known.
func (v Word) Known() bool { return !strings.Contains(v.Text, Unknown) }

// Shown is the word for people.
func (v Word) Shown() string { return strings.ReplaceAll(v.Text, Unknown, "…") }

// Texts are the words' texts.
func Texts(args []Word) []string {
	out := make([]string, len(args))
	for i, a := range args {
		out[i] = a.Text
	}
	return out
}

// Joined is the words as one text, as eval and ssh take them.
func Joined(args []Word) Word {
	v := Word{Text: strings.Join(Texts(args), " "), Quoted: true}
	for _, a := range args {
		v.Taint |= a.Taint
	}
	return v
}
