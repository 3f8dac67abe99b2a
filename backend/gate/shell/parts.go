package shell

import (
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"deskbell/backend/gate/shell/arg"
	"deskbell/backend/gate/shell/paths"
	"deskbell/backend/human"
)

// A Part is a piece of a script with the effects that are its own: a simple command, or all that belongs to none.
type Part struct {
	// Words are the command as the shell would run it: aliases and functions replaced by what they stand for, assignments
	// left out, variables that are known filled in. A wrapper (sudo, timeout, xargs) is one command with the words as
	// they are written. Patterns stay as they are written. None for what belongs to no command: redirects,
	// substitutions and what runs in them, what cannot be read.
	Words   []string
	Known   bool // every word is known before it runs; false where there are no words
	Effects []human.Effect
	Fed     bool // a pipe, a here-document or a file is its standard input
	// Dirs are the folders it may run in, as far as they are known: … stands for what is not.
	Dirs []string
	// Runs are the words of every command that it would run: its own, and those within wrappers, scripts and
	// substitutions. … stands for what is not known.
	Runs [][]string
}

// Parts tells the effects of a script command by command, in the order in which they stand. Every effect that Lower finds
// is in at least one of them, and none that it does not find; two commands with the same effect both have it.
func Parts(script string, at Place) []Part {
	w := newWalker(at)
	w.parts = &parts{seen: map[partEffect]bool{}, places: map[string]int{}}
	w.script(script, "bash", nil, stream{})
	before := len(w.effects)
	if w.done(); before == 0 {
		w.attribute(w.effects[0])
	}
	// What stands for others, a function's call, does nothing itself.
	out := slices.DeleteFunc(w.parts.list, func(p Part) bool { return len(p.Effects) == 0 })
	if len(w.parts.rest.Effects) > 0 {
		out = append(out, w.parts.rest)
	}
	for _, p := range out {
		mostSevereFirst(p.Effects)
	}
	return out
}

// parts collects what a walker finds, by command.
type parts struct {
	list   []Part
	rest   Part
	in     int // 1 + the place in list of the command that is being gone through; 0 for none
	inside int // within what belongs to no command
	seen   map[partEffect]bool
	places map[string]int // of each command in list, from 1
}

type partEffect struct {
	part int
	e    human.Effect
}

// enter begins the part of a command, where it is an outermost one. leave ends it.
func (w *walker) enter(c *syntax.CallExpr, args []arg.Word, in stream) (leave func()) {
	p := w.parts
	if p == nil || p.in != 0 || p.inside != 0 || len(args) == 0 {
		return func() {}
	}
	part := Part{Known: true, Fed: in.open}
	for _, a := range args {
		part.Words = append(part.Words, a.Shown())
		part.Known = part.Known && a.Known()
	}
	part.Known = part.Known && !args[0].Glob
	for _, dir := range w.cwds() {
		part.Dirs = append(part.Dirs, strings.ReplaceAll(strings.ReplaceAll(dir, paths.ProjectDir, "."), arg.Unknown, "…"))
	}
	key := fmt.Sprint(c.Pos(), part.Words, part.Known, part.Fed, part.Dirs)
	if at, ok := p.places[key]; ok { // another pass of a loop, or another way through the script
		p.in = at
	} else {
		p.list = append(p.list, part)
		p.in = len(p.list)
		p.places[key] = p.in
	}
	w.own = true
	return func() { p.in = 0 }
}

// apart goes through what belongs to no command, unless a command is being gone through.
func (w *walker) apart() (back func()) {
	if w.parts == nil {
		return func() {}
	}
	w.parts.inside++
	return func() { w.parts.inside-- }
}

// instead goes through what a command stands for, an alias or a function: its commands are the parts then. own says that
// the command is a part itself.
func (w *walker) instead(own bool) (back func()) {
	p := w.parts
	if p == nil || !own {
		return func() {}
	}
	in := p.in
	p.in = 0
	return func() { p.in = in }
}

// ran notes a command that is run, at whatever depth.
func (w *walker) ran(args []arg.Word) {
	if w.parts == nil && w.watcher == nil {
		return
	}
	words := make([]string, len(args))
	for i, a := range args {
		words[i] = a.Shown()
	}
	if w.watcher != nil {
		w.watcher.Ran(words)
	}
	if w.parts == nil {
		return
	}
	part := w.parts.at(w.parts.in)
	if !slices.ContainsFunc(part.Runs, func(r []string) bool { return slices.Equal(r, words) }) {
		part.Runs = append(part.Runs, words)
	}
}

// at is the part at a place; 0 is the one of what belongs to no command.
func (p *parts) at(in int) *Part {
	if in == 0 {
		return &p.rest
	}
	return &p.list[in-1]
}

func (w *walker) attribute(e human.Effect) {
	w.found(e)
	p := w.parts
	if p == nil {
		return
	}
	in := p.in
	if e.Rule == "shell.too_much" {
		in = 0 // what was not looked at is not this command's alone
	}
	if p.seen[partEffect{in, e}] {
		return
	}
	p.seen[partEffect{in, e}] = true
	part := p.at(in)
	part.Effects = append(part.Effects, e)
}
