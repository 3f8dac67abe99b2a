package persons

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"deskbell/backend/human"
)

// A rule reads sentences of one sort: where pattern matches, check says whether what the groups say is true.
type rule struct {
	pattern *regexp.Regexp
	check   func(t Truth, said []string) bool
}

// rules are for the English sentences of the built-in summarizers. What none of them matches is not judged.
var rules = []rule{
	{regexp.MustCompile(`(?i)\bnothing (was|were) (changed|done)|no file, form or setting was seen to change`), func(t Truth, _ []string) bool {
		return len(t.Files) == 0 && len(t.Settings) == 0 && !slices.ContainsFunc(t.Acts, func(d Act) bool { return d.Does == human.Typing || d.Does == human.Drag })
	}},
	{regexp.MustCompile(`^Opened (.+?) and (?:closed it again|left it again with .+); nothing was done in it`), func(t Truth, said []string) bool { return slices.Contains(t.Idle, said[1]) }},
	{regexp.MustCompile(`(?i)^as expected`), func(t Truth, _ []string) bool { return t.Met != nil && *t.Met }},
	{regexp.MustCompile(`^(Expected .+, but|Not as expected|Not met)`), func(t Truth, _ []string) bool { return t.Met != nil && !*t.Met }},
	{regexp.MustCompile(`^(?i)(created|deleted) (\d+) files`), func(t Truth, said []string) bool { return t.count(strings.ToLower(said[1])) >= number(said[2]) }},
	{regexp.MustCompile(`^(.+?) was (renamed|moved) to (.+)`), func(t Truth, said []string) bool { return t.file(said[2], said[1], said[3]) }},
	{regexp.MustCompile(`^(.+?) was (created|deleted)$`), func(t Truth, said []string) bool { return t.file(said[2], said[1], "") }},
	{regexp.MustCompile(`^(?:otherwise than expected)`), func(t Truth, _ []string) bool { return t.Met != nil && !*t.Met }},
	{regexp.MustCompile(`^“(.+?)” came up`), func(t Truth, said []string) bool { return slices.Contains(t.Dialogs, said[1]) }},
	{regexp.MustCompile(`^What was typed is hidden`), func(t Truth, _ []string) bool { return true }},
	{regexp.MustCompile(`does not confirm what was expected|not seen|not confirmed|the rest cannot be told`), func(t Truth, _ []string) bool { return t.Met != nil }},
	{regexp.MustCompile(`^Renamed (?:the folder |folder )?(.+?) to (.+?) and back again`), func(t Truth, said []string) bool {
		return t.file("renamed", said[1], said[2]) && t.file("renamed", said[2], said[1])
	}},
	{regexp.MustCompile(`^Renamed (?:the folder |folder )?(.+?) to (.+?) in `), func(t Truth, said []string) bool { return t.file("renamed", said[1], said[2]) }},
	{regexp.MustCompile(`^Created (?:the folder |folder )?(.+?) and deleted it again`), func(t Truth, said []string) bool {
		return t.file("created", said[1], "") && t.file("deleted", said[1], "")
	}},
	{regexp.MustCompile(`^Created (?:the folder |folder )?(.+?), then (?:renamed|moved) it to (.+)`), func(t Truth, said []string) bool {
		return t.file("created", said[1], "") && (t.file("renamed", said[1], said[2]) || t.file("moved", said[1], said[2]))
	}},
	{regexp.MustCompile(`^Deleted (.+?) and brought it back`), func(t Truth, said []string) bool {
		return t.file("deleted", said[1], "") && t.file("created", said[1], "")
	}},
	{regexp.MustCompile(`^(Created|Deleted|Moved) (\d+) files (?:in|to) .+?: (.+)`), func(t Truth, said []string) bool { return t.every(strings.ToLower(said[1]), said[3]) }},
	{regexp.MustCompile(`^Saved changes to \d+ files in .+?: (.+)`), func(t Truth, said []string) bool { return t.every("changed", said[1]) }},
	{regexp.MustCompile(`^Renamed \d+ files in .+; they are now (.+)`), func(t Truth, said []string) bool { return t.every("renamed to", said[1]) }},
	{regexp.MustCompile(`(?i)^(created|deleted) (?:the folder |folder )?(.+?)(?: in .+)?$`), func(t Truth, said []string) bool { return t.file(strings.ToLower(said[1]), said[2], "") }},
	{regexp.MustCompile(`(?i)^moved (?:the folder |folder )?(.+?) to (.+)`), func(t Truth, said []string) bool {
		name, folder := t.fate(last(said[1]))
		return folder != "" && (last(said[2]) == folder || last(said[2]) == name)
	}},
	{regexp.MustCompile(`^Saved changes to (.+?)(?: in .+)?$`), func(t Truth, said []string) bool {
		return t.file("changed", said[1], "") || t.file("created", said[1], "")
	}},
	{regexp.MustCompile(`^Dialog “(.+?)” came up`), func(t Truth, said []string) bool { return slices.Contains(t.Dialogs, said[1]) }},
	{regexp.MustCompile(`^The dialog “(.+?)” was opened and cancell?ed`), func(t Truth, said []string) bool { return slices.Contains(t.Canceled, said[1]) }},
	{regexp.MustCompile(`^Tried again`), func(t Truth, _ []string) bool { return t.Retried }},
	{regexp.MustCompile(`(?i)^changes were not kept`), func(t Truth, _ []string) bool { return t.Dropped }},
	{regexp.MustCompile(`^Not saved when it was last seen.*: (.+)`), func(t Truth, said []string) bool {
		return slices.ContainsFunc(t.Unsaved, func(n string) bool { return strings.Contains(said[1], n) })
	}},
	{regexp.MustCompile(`^Something was undone`), func(t Truth, _ []string) bool { return t.Undone }},
	{regexp.MustCompile(`^(?i)clicked settings(?: in .+?)?: (.+)`), func(t Truth, said []string) bool {
		for name := range strings.SplitSeq(said[1], ", ") {
			name = strings.Trim(name, "“” ")
			if !slices.ContainsFunc(t.Acts, func(d Act) bool { return strings.HasPrefix(name, d.On) && d.On != "" }) {
				return false
			}
		}
		return true
	}},
	{regexp.MustCompile(`^(?:Clicked|clicked) (?:\w+ )?(.+?)(?: in .+)?$`), func(t Truth, said []string) bool {
		return slices.ContainsFunc(t.Acts, func(d Act) bool { return d.On != "" && strings.Contains(said[1], d.On) })
	}},
	{regexp.MustCompile(`^Text was typed into (.+?)(?: in .+)?$`), func(t Truth, said []string) bool {
		return slices.ContainsFunc(t.Acts, func(d Act) bool { return d.Does == human.Typing && (d.On == "" || strings.Contains(said[1], d.On)) })
	}},
}

// file says whether something became of a file. Of paths the last part counts.
func (t Truth) file(op, name, to string) bool {
	name, to = last(name), last(to)
	return slices.ContainsFunc(t.Files, func(f human.FileChange) bool {
		switch {
		case f.Path != name:
			return false
		case f.Op == op:
			return to == "" || f.To == to
		}
		return false
	})
}

// every says so of a list.
func (t Truth) every(op, list string) bool {
	list = strings.ReplaceAll(list, " and more", "")
	for name := range strings.SplitSeq(strings.ReplaceAll(list, " and ", ", "), ", ") {
		name = last(strings.Trim(name, " ."))
		ok := slices.ContainsFunc(t.Files, func(f human.FileChange) bool {
			if op == "renamed to" {
				return f.Op == "renamed" && f.To == name
			}
			return f.Op == op && f.Path == name
		})
		if !ok {
			return false
		}
	}
	return true
}

// fate is what a file is called in the end, and the folder that it was moved to, "" where it was not.
func (t Truth) fate(name string) (now, folder string) {
	for _, f := range t.Files {
		switch {
		case f.Path != name:
		case f.Op == "renamed":
			name = f.To
		case f.Op == "moved":
			folder = f.To
		}
	}
	return name, folder
}

// count is of how many files something became.
func (t Truth) count(op string) (n int) {
	for _, f := range t.Files {
		if f.Op == op {
			n++
		}
	}
	return n
}

func number(digits string) int {
	n, _ := strconv.Atoi(digits) // the pattern has digits only
	return n
}

func last(path string) string {
	path = strings.TrimRight(path, "/ .")
	return path[strings.LastIndexByte(path, '/')+1:]
}

// Claims judges the findings of an English report and its line, and adds what came of it to the reading.
func (t Truth) Claims(report human.Report, r *Reading) {
	said := []string{}
	for _, f := range report.Findings {
		if f.Kind != "note" {
			said = append(said, f.Text)
		}
	}
	if report.Line != "" {
		_, line, found := strings.Cut(report.Line, ": ")
		if !found {
			line = report.Line
		}
		said = append(said, strings.Split(line, "; ")...)
	}
	for _, text := range said {
		i := slices.IndexFunc(rules, func(r rule) bool { return r.pattern.MatchString(text) })
		r.Claims++
		switch {
		case i < 0:
			r.Unjudged = append(r.Unjudged, text)
		case !rules[i].check(t, rules[i].pattern.FindStringSubmatch(text)):
			r.False = append(r.False, text)
		}
	}
}
