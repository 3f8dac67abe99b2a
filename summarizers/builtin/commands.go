package builtin

import (
	"slices"
	"strings"
	"time"

	"deskbell/backend/human"
	"deskbell/summarizers"
)

// A command is one of a terminal, with the recording it is in.
type command struct {
	*summarizers.Command
	rec *summarizers.Recorded
}

func (c command) ref() human.Ref {
	return human.Ref{Kind: human.RefCommand, Recording: c.rec.ID, ID: c.ID}
}

func (c command) took() time.Duration { return time.Duration(max(c.End-c.At, 0)) }

// failed says whether a command ended with an error. Some say no with 1 and mean nothing bad by it; what was stopped
// by the keyboard did not fail.
func (c command) failed() bool {
	if c.Exit == nil || *c.Exit == 0 || c.stopped() {
		return false
	}
	if *c.Exit == 1 {
		switch program(c.Line) {
		case "grep", "egrep", "fgrep", "rg", "diff", "cmp", "test", "[", "[[", "pgrep", "which", "type", "expr", "false", "git diff", "systemctl is-active":
			return false
		}
	}
	return true
}

// stopped says whether a command was ended by Ctrl+C.
func (c command) stopped() bool { return c.Exit != nil && *c.Exit == 130 }

// program is what a line runs last, without what is put before it.
func program(line string) string {
	if i := strings.LastIndexAny(line, "|;&"); i >= 0 {
		line = line[i+1:]
	}
	words := strings.Fields(line)
	for len(words) > 0 && (strings.Contains(words[0], "=") || words[0] == "sudo" || words[0] == "time" || words[0] == "env") {
		words = words[1:]
	}
	if len(words) == 0 {
		return ""
	}
	first := words[0][strings.LastIndexByte(words[0], '/')+1:]
	if len(words) > 1 && (first == "git" || first == "systemctl") {
		return first + " " + words[1]
	}
	return first
}

// lastLine is the last line of what a command printed that says anything.
func lastLine(output string) string {
	output = strings.TrimRight(output, " \t\r\n")
	return output[strings.LastIndexByte(output, '\n')+1:]
}

func (r *reading) commands() []command {
	var out []command
	for i := range r.in.Recordings {
		rec := &r.in.Recordings[i]
		for j := range rec.Commands {
			out = append(out, command{&rec.Commands[j], rec})
		}
	}
	slices.SortStableFunc(out, func(a, b command) int {
		return a.rec.StartedAt.Add(time.Duration(a.At)).Compare(b.rec.StartedAt.Add(time.Duration(b.At)))
	})
	return out
}

// findCommands tells of commands of a terminal: those that failed, those that were run until they passed, and those
// that took long.
func findCommands(r *reading) []human.Finding {
	all := r.commands()
	if len(all) == 0 {
		return nil
	}
	runs := map[string][]command{}
	var order []string
	var took []time.Duration
	for _, c := range all {
		line := strings.Join(strings.Fields(c.Line), " ")
		if line == "" {
			continue
		}
		key := line + "\x00" + c.Dir
		if runs[key] == nil {
			order = append(order, key)
		}
		runs[key] = append(runs[key], c)
		if c.Exit != nil {
			took = append(took, c.took())
		}
	}
	usual := middle(took)
	var errors, detours, slow, unseen []human.Finding
	for _, key := range order {
		tries := runs[key]
		var bad []command
		passed := false
		for _, c := range tries {
			switch {
			case c.failed():
				bad, passed = append(bad, c), false
			case c.Exit != nil && *c.Exit == 0:
				passed = true
			}
		}
		first := tries[0]
		called := r.quote(first.Line)
		switch n := len(bad); {
		case n == 0:
		case passed:
			pass := first
			for _, c := range tries {
				if c.Exit != nil && *c.Exit == 0 {
					pass = c
				}
			}
			detours = append(detours, finding(human.FoundDetour, 1, r.say("It took %[2]d runs of %[1]s until it passed", "%s运行 %d 次后才通过", called, min(n+1, maxRefs)),
				append(commandRefs(bad[:min(n, maxRefs-1)]), pass.ref())...))
		default:
			last := bad[n-1]
			text := r.say("%s failed with exit code %d", "%s执行失败，退出码 %d", called, *last.Exit)
			if n > 1 {
				text = r.say("%s failed %s, at last with exit code %d", "%s失败%s，最后一次退出码 %d", called, r.often(min(n, maxRefs)), *last.Exit)
			}
			if said := lastLine(last.Output); strings.TrimSpace(said) != "" {
				text += r.say("; it printed %s", "，输出为%s", r.quote(said))
			}
			slices.Reverse(bad) // the last is the most telling
			errors = append(errors, finding(human.FoundError, 1, text, commandRefs(bad)...))
		}
		for _, c := range tries {
			switch {
			case c.stopped():
				detours = append(detours, finding(human.FoundDetour, 0.9, r.say("%s was stopped with Ctrl+C (exit code %d)", "%s被 Ctrl+C 中断（退出码 %d）", called, *c.Exit), c.ref()))
			case c.Exit == nil:
				unseen = append(unseen, finding(human.FoundUnseen, 0.9, r.say("How %s ended is not known", "%s的执行结果不得而知", called), c.ref()))
			case c.took() >= longWait && c.took() >= muchMore*usual:
				slow = append(slow, finding(human.FoundSlow, 1, r.say("%s took %s", "%s用时 %s", called, r.duration(c.took())), c.ref()))
			}
		}
	}
	return slices.Concat(errors, detours, slow[:min(len(slow), fewSlow)], unseen[:min(len(unseen), fewSlow)])
}

// often is how many times something failed.
func (r *reading) often(n int) string {
	switch {
	case r.lang == chinese:
		return r.say("", " %d 次", n)
	case n == 2:
		return "twice"
	}
	return r.say("%d times", "", n)
}

func commandRefs(all []command) []human.Ref {
	var out []human.Ref
	for _, c := range all {
		out = append(out, c.ref())
	}
	return out
}
