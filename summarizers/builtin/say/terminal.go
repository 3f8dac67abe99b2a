package say

import (
	"strings"

	"deskbell/summarizers/builtin/facts"
)

// maxCommands are listed in the account.
const maxCommands = 24

// ran tells which commands were run, folder after folder, with the exit codes of those that failed.
func (r *report) ran() string {
	var lines, in []string
	folder, most := "", maxCommands
	end := func() {
		if len(in) == 0 {
			return
		}
		what := strings.Join(in, r.say("clause"))
		if folder != "" {
			what = r.say("colon", folder, what)
		}
		lines, in = append(lines, r.fullStop(what)), nil
	}
	for _, c := range r.Commands() {
		text := facts.Quote(c.Line)
		if text == "" {
			continue
		}
		if c.Exit != nil && *c.Exit != 0 {
			text += r.say("with-exit-code", *c.Exit)
		}
		if c.Dir != folder {
			end()
			folder = c.Dir
		}
		if n := len(in); n > 0 && in[n-1] == text {
			continue
		}
		if most--; most < 0 {
			end()
			return r.say("ran", strings.Join(append(lines, r.say("more-commands")), r.say("space")))
		}
		in = append(in, text)
	}
	end()
	if len(lines) == 0 {
		return ""
	}
	return r.say("ran", strings.Join(lines, r.say("space")))
}
