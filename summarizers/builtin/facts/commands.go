package facts

import (
	"slices"
	"strings"
	"time"

	"deskbell/backend/human"
	"deskbell/summarizers"
)

// A Command is one of a terminal, with the recording it is in.
type Command struct {
	*summarizers.Command
	rec *summarizers.Recorded
}

// Ref is what a finding about the command points at.
func (c Command) Ref() human.Ref {
	return human.Ref{Kind: human.RefCommand, Recording: c.rec.ID, ID: c.ID}
}

// Took is how long the command ran; 0 where its end came before its beginning.
func (c Command) Took() time.Duration { return time.Duration(max(c.End-c.At, 0)) }

// Failed says whether a command ended with an error. Some say no with 1 and mean nothing bad by it; what was stopped
// by the keyboard did not fail.
func (c Command) Failed() bool {
	if c.Exit == nil || *c.Exit == 0 || c.Stopped() {
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

// Stopped says whether a command was ended by Ctrl+C.
func (c Command) Stopped() bool { return c.Exit != nil && *c.Exit == 130 }

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

// LastLine is the last line of what a command printed that says anything.
func LastLine(output string) string {
	output = strings.TrimRight(output, " \t\r\n")
	return output[strings.LastIndexByte(output, '\n')+1:]
}

// Commands are those of all recordings, in their order.
func (fs *Facts) Commands() []Command {
	var out []Command
	for i := range fs.In.Recordings {
		rec := &fs.In.Recordings[i]
		for j := range rec.Commands {
			out = append(out, Command{&rec.Commands[j], rec})
		}
	}
	slices.SortStableFunc(out, func(a, b Command) int {
		return a.rec.StartedAt.Add(time.Duration(a.At)).Compare(b.rec.StartedAt.Add(time.Duration(b.At)))
	})
	return out
}

// CommandRefs are what a finding about all of them points at.
func CommandRefs(all []Command) []human.Ref {
	var out []human.Ref
	for _, c := range all {
		out = append(out, c.Ref())
	}
	return out
}
