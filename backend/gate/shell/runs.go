package shell

import (
	"path"
	"strconv"
	"strings"

	"deskbell/backend/gate/shell/arg"
	"deskbell/backend/gate/shell/commands"
	"deskbell/backend/gate/shell/paths"
	"deskbell/backend/gate/shell/recipes"
	"deskbell/backend/human"
)

// runsWhat goes through what a rule says that a command runs.
func (w *walker) runsWhat(e commands.Effect, s *commands.Spec, o *commands.Options, c *cmd) (out stream) {
	if e.Away {
		e.Away = false
		return w.away(c.name, func() stream { return w.runsWhat(e, s, o, c) })
	}
	switch {
	case e.Runs == "project":
		w.runsAll(c)
		return stream{}
	case e.Paths == "stdin":
		w.runsInput(e.Runs, o, c)
		return stream{}
	}
	all := w.runWords(e.Paths, s, o, c)
	if len(all) == 0 {
		return stream{}
	}
	switch e.Runs {
	case "command":
		if e.Guess {
			return w.guessed(all, c)
		}
		return w.run(all, c.in)
	case "sh":
		if strings.HasSuffix(e.Paths, "...") {
			all = []arg.Word{arg.Joined(all)}
		}
	}
	for _, v := range all {
		switch {
		case e.Guess && !begins(v), e.Runs == "texts" && !strings.Contains(v.Text, " "):
		case e.Runs == "sh", e.Runs == "texts":
			out.taint |= w.script(trimList(v.Text), "sh", nil, c.in).taint
		case e.Runs == "sql":
			w.query(c, v, readOnly(o))
		case e.Runs == "outside":
			w.runsOutside(v, c)
		case recipes.Language(v.Text) == e.Runs && !strings.ContainsAny(v.Text, " (;"):
			w.scriptFile(v, e.Runs, c)
		default:
			w.code(e.Runs, v)
		}
	}
	return out
}

// runsInput is what comes by a pipe, where a command runs it.
func (w *walker) runsInput(what string, o *commands.Options, c *cmd) {
	switch {
	case !c.in.open:
	case what != "sql":
		w.feed(what, c.in, c.name+".stdin")
	case c.in.known:
		w.query(c, arg.Word{Text: c.in.text, Taint: c.in.taint}, readOnly(o))
	default:
		w.simple(c, human.DatabaseEffect, human.HighRisk, "script")
	}
}

// runsOutside judges a file of code or of settings that a program of the project runs: those of the project are as trusted as
// the project is, and any other is a script like others.
func (w *walker) runsOutside(v arg.Word, c *cmd) {
	switch p, _ := w.placeOf(v, w.dir); p {
	case paths.InProject, paths.Root, paths.NullDevice, paths.Unknown:
	default:
		if _, written := w.file(v); !written { // which is judged as what was written, then run
			w.scriptFile(v, "", c)
		}
	}
}

// readOnly says whether SQLite or DuckDB opens its database for reading.
func readOnly(o *commands.Options) bool { return o.Has("-readonly", "--readonly") }

// runWords are the arguments that a selector names: "all", "3...", "--args...", "-c|--command" and so on.
func (w *walker) runWords(selector string, s *commands.Spec, o *commands.Options, c *cmd) []arg.Word {
	names, follow := strings.CutSuffix(selector, "...")
	if !follow {
		return o.Selected(selector)
	}
	n, err := strconv.Atoi(names)
	if err != nil { // what follows an option
		for i, a := range c.args {
			if a.Text != "" && commands.OneOf(a.Text, names) {
				return c.args[i+1:]
			}
		}
		return nil
	}
	_, rest := commands.Parse(c.args, s.Values, s.Long, true)
	for range n - 1 {
		if len(rest) == 0 {
			return nil
		}
		_, rest = commands.Parse(rest[1:], s.Values, s.Long, true)
	}
	return rest
}

// mostGuessed is how many words may stand before a command whose program has options of its own.
const mostGuessed = 5

// guessed runs a command that begins where the first known name of one stands: before it are options of the program, of which it is
// not known whether they take a value.
func (w *walker) guessed(words []arg.Word, c *cmd) stream {
	for i, v := range words {
		if v.Text == "--" {
			words = words[i+1:]
			break
		}
	}
	for i, v := range words[:min(mostGuessed, len(words))] {
		if base := path.Base(v.Text); !strings.HasPrefix(v.Text, "-") && v.Text != "." && described(base) {
			return w.run(words[i:], c.in)
		}
		if strings.Contains(v.Text, " ") && begins(v) {
			return w.script(v.Text, "sh", nil, c.in)
		}
	}
	return stream{}
}

// described says whether anything is known of a command.
func described(name string) bool { return handlers()[name] != nil || commands.Of(name) != nil }

// begins says whether a text begins with the name of a command.
func begins(v arg.Word) bool {
	first, _, _ := strings.Cut(strings.TrimSpace(trimList(v.Text)), " ")
	return described(path.Base(first))
}

// trimList takes off what aws writes around a list: commands=["ls"].
func trimList(s string) string {
	if i := strings.Index(s, `=[`); i >= 0 && i < 20 {
		return strings.Trim(s[i+2:], `[]"' `)
	}
	return s
}
