package commands_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"deskbell/backend/gate/shell"
	"deskbell/backend/gate/shell/arg"
	"deskbell/backend/gate/shell/commands"
	"deskbell/backend/human"
)

// A wrapper is a way in which an entry says that a program runs a command.
type wrapper struct {
	id   string
	wrap func(command string) string
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func line(name string, args []arg.Word) string {
	words := []string{name}
	for _, a := range args {
		words = append(words, quote(a.Text))
	}
	return strings.Join(words, " ")
}

// wrappers are all that the entries tell of.
func wrappers() (all []wrapper) {
	add := func(id string, wrap func(string) string) { all = append(all, wrapper{id, wrap}) }
	for _, name := range commands.Names() {
		s := commands.Of(name)
		if s.Wrap >= 0 {
			before := line(name, nil) + strings.Repeat(" 5", s.Wrap)
			add(name, func(c string) string { return before + " " + c })
		}
		for i := range s.Rules {
			r := &s.Rules[i]
			args := commands.Meeting(s, r, 0)
			for _, e := range r.Effects {
				id := name + " " + r.ID + " @" + e.Paths
				as := func(c string) string { return c } // its words
				if e.Runs != "command" {
					as = quote
				}
				selector, follows := strings.CutSuffix(e.Paths, "...")
				option, _, _ := strings.Cut(selector, "|")
				n, err := strconv.Atoi(selector)
				switch {
				case e.Runs != "command" && e.Runs != "sh" && e.Runs != "texts":
				case e.Paths == "stdin":
					add(id, func(c string) string { return "echo " + quote(c) + " | " + line(name, args) })
				case follows && err == nil:
					// An "any word" of the pattern is where the command stands; the options of the pattern stand before its words.
					words := slices.DeleteFunc(slices.Clone(args), func(a arg.Word) bool { return strings.HasPrefix(a.Text, "-") })
					args = slices.DeleteFunc(args, func(a arg.Word) bool { return !strings.HasPrefix(a.Text, "-") })
					words = append(words, arg.Known("x"), arg.Known("x"), arg.Known("x"))
					args = append(args, words[:n-1]...)
					add(id, func(c string) string { return line(name, args) + " " + as(c) })
				case follows:
					add(id, func(c string) string { return line(name, without(args, selector)) + " " + option + " " + as(c) })
				case strings.HasPrefix(option, "-"):
					add(id, func(c string) string { return line(name, without(args, selector)) + " " + option + " " + quote(c) })
				default:
					add(id, func(c string) string { return line(name, args) + " " + quote(c) })
				}
			}
		}
	}
	return all
}

// without are arguments without one of the options "-a|--bb" and its value.
func without(args []arg.Word, options string) (rest []arg.Word) {
	for i := 0; i < len(args); i++ {
		name, _, joined := strings.Cut(args[i].Text, "=")
		if commands.OneOf(name, options) {
			if !joined && i+1 < len(args) && args[i+1].Text == "x" {
				i++
			}
			continue
		}
		rest = append(rest, args[i])
	}
	return rest
}

// Whatever the entries say runs a command runs a grave one as gravely, nested up to three deep.
func TestWrappersOfTheEntries(t *testing.T) {
	all := wrappers()
	t.Logf("%d wrappers", len(all))
	if len(all) < 150 {
		t.Errorf("%d wrappers", len(all))
	}
	grave := func(command string) bool {
		for _, e := range shell.Lower(command, shell.Place{}) {
			if e.Risk.Level() >= human.HighRisk.Level() {
				return true
			}
		}
		return false
	}
	const bare = "git push --force origin main"
	alone := map[string]bool{}
	for _, x := range all {
		if alone[x.id] = grave(x.wrap(bare)); !alone[x.id] {
			t.Errorf("%s: %s hides what it runs", x.id, x.wrap(bare))
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		command := bare
		var ids []string
		for range rapid.IntRange(2, 3).Draw(t, "depth") {
			x := rapid.SampledFrom(all).Draw(t, "wrapper")
			command, ids = x.wrap(command), append(ids, x.id)
		}
		if !grave(command) {
			t.Fatalf("%s: %s hides what it runs", strings.Join(ids, ", "), command)
		}
	})
}
