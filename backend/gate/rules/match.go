package rules

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"deskbell/backend/gate"
	"deskbell/backend/human"
)

// A word is one of a rule's command.
type word struct {
	text string
	one  bool // stands for any one word
}

// A command is the words that a rule names.
type command struct {
	words []word
	rest  bool // any more words may follow
}

// parseCommand reads the words of a rule's command. Quotes work as in a shell, and what is quoted stands for itself.
func parseCommand(text string) (command, error) {
	var c command
	var b strings.Builder
	inWord, quoted := false, false
	end := func() error {
		if !inWord {
			return nil
		}
		w := word{text: b.String()}
		switch {
		case c.rest:
			return errors.New("** stands at the end, for any more words")
		case !quoted && w.text == "**":
			c.rest = true
		default:
			w.one = !quoted && w.text == "*"
			c.words = append(c.words, w)
		}
		b.Reset()
		inWord, quoted = false, false
		return nil
	}
	for i := 0; i < len(text); i++ {
		ch := text[i]
		switch {
		case ch == ' ' || ch == '\t':
			if err := end(); err != nil {
				return c, err
			}
			continue
		case ch == '\'' || ch == '"':
			j := i + 1
			for ; j < len(text) && text[j] != ch; j++ {
				if ch == '"' && text[j] == '\\' && j+1 < len(text) && strings.IndexByte("\"\\$`", text[j+1]) >= 0 {
					j++
				}
				b.WriteByte(text[j])
			}
			if j >= len(text) {
				return c, fmt.Errorf("a quote %c is not closed", ch)
			}
			i, inWord, quoted = j, true, true
			continue
		case ch == '\\' && i+1 < len(text):
			i++
			b.WriteByte(text[i])
			quoted = true
		case strings.IndexByte("|&;<>()`\n\r", ch) >= 0:
			return c, fmt.Errorf("%q joins commands, and a rule is of one command; quote it where it is meant as a word", ch)
		default:
			b.WriteByte(ch)
		}
		inWord = true
	}
	if err := end(); err != nil {
		return c, err
	}
	if len(c.words) == 0 && !c.rest {
		return c, errors.New("it has no words")
	}
	return c, nil
}

// String is the command as parseCommand reads it.
func (c command) String() string {
	parts := make([]string, 0, len(c.words)+1)
	for _, w := range c.words {
		switch {
		case w.one:
			parts = append(parts, "*")
		default:
			parts = append(parts, spell(w.text))
		}
	}
	if c.rest {
		parts = append(parts, "**")
	}
	return strings.Join(parts, " ")
}

func spell(s string) string {
	if s != "" && s != "*" && s != "**" && !strings.ContainsAny(s, " \t'\"\\|&;<>()`\n\r") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// wild says whether a word of it stands for others.
func (c command) wild() bool {
	return c.rest || slices.ContainsFunc(c.words, func(w word) bool { return w.one })
}

// exactly says whether these are the words, one by one.
func (c command) exactly(words []string) bool {
	if len(words) < len(c.words) || len(words) > len(c.words) && !c.rest {
		return false
	}
	for i, w := range c.words {
		if !w.one && w.text != words[i] && (i > 0 || w.text != systemProgram(words[i])) {
			return false
		}
	}
	return true
}

// within says whether these words are such a command, for a rule that asks or blocks: however its options are ordered,
// bundled or valued, and with further options anywhere.
func (c command) within(words []string) bool { return c.in(words, c.rest) }

// inside says whether its words stand in these in their order, with any others between them.
func (c command) inside(words []string) bool {
	if len(words) == 0 || c.in(words, true) {
		return len(words) > 0
	}
	if slices.Contains(talks, programName(words[0])) {
		return false // what follows is text
	}
	for i := 1; i < len(words); i++ {
		if slices.Contains(messages, words[i-1]) {
			continue
		}
		if c.in(words[i:], true) {
			return true
		}
	}
	return false
}

var (
	talks    = []string{"echo", "printf", "grep", "egrep", "fgrep", "rg", "ag", "ack", "say"}
	messages = []string{"-m", "--message", "--title", "--body", "--notes", "--description"}
)

func (c command) in(words []string, more bool) bool {
	if len(words) == 0 {
		return false
	}
	first := 0
	if len(c.words) > 0 && !c.words[0].option() {
		if w := c.words[0]; !w.one && !strings.EqualFold(w.text, words[0]) && !strings.EqualFold(w.text, programName(words[0])) {
			return false
		}
		first, words = 1, words[1:]
	}
	var operands []word
	for _, w := range c.words[first:] {
		if !w.option() {
			operands = append(operands, w)
		} else if !hasOption(words, w.text) {
			return false
		}
	}
	next, value := 0, false
	for _, w := range words {
		switch {
		case len(w) > 1 && w[0] == '-':
			value = !strings.Contains(w, "=")
			continue
		case next < len(operands) && (operands[next].one || operands[next].text == w):
			next++
		case value || more: // what an option may take for its value, or what may stand there besides
		default:
			return false
		}
		value = false
	}
	return next == len(operands)
}

func (w word) option() bool { return !w.one && len(w.text) > 1 && w.text[0] == '-' }

// hasOption says whether an option is among words: by itself, with a value, or bundled with others.
func hasOption(words []string, option string) bool {
	short := option[0] == '-' && option[1] != '-'
	missing := ""
	if short {
		missing = option[1:]
	}
	for _, w := range words {
		if w == option || strings.HasPrefix(w, option+"=") {
			return true
		}
		if short && len(w) > 1 && w[0] == '-' && w[1] != '-' {
			for i := range len(w) - 1 {
				missing = strings.ReplaceAll(missing, w[i+1:i+2], "")
			}
			if missing == "" {
				return true
			}
		}
	}
	return false
}

// systemProgram is a program's name without the folder, where that is one of the system's; any other folder may hold
// anything under that name.
func systemProgram(s string) string {
	dir, name := path.Split(s)
	switch dir {
	case "/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/", "/usr/local/bin/", "/usr/local/sbin/", "/opt/homebrew/bin/":
		return name
	}
	return s
}

// programName is a program's name without its folder and Windows' ending.
func programName(s string) string {
	if i := strings.LastIndexAny(s, `/\`); i >= 0 {
		s = s[i+1:]
	}
	return strings.TrimSuffix(s, ".exe")
}

// globPath says whether a path is of a pattern: * stands for any letters of a name, ** for any folders.
func globPath(pattern, name []string) bool { return along(pattern, name, "", human.Glob) }

// meet says whether a path could be of both a pattern and what a shell expands. It says yes too often rather than too
// rarely.
func meet(pattern, expanded []string) bool {
	return along(pattern, expanded, "**", func(p, name string) bool {
		if strings.ContainsAny(p, "*") && strings.ContainsAny(name, "*?[{") {
			return true
		}
		return human.Glob(p, name) || shellGlob(name, p)
	})
}

// along goes along both, in time that is the product of their lengths; any is what stands for any folders in b.
func along(a, b []string, any string, same func(a, b string) bool) bool {
	if len(a) != len(b) && !slices.Contains(a, "**") && !slices.Contains(b, any) {
		return false
	}
	// row[j] says whether what is left of a is of what is left of b from j on.
	row, below := make([]bool, len(b)+1), make([]bool, len(b)+1)
	for i := len(a); i >= 0; i-- {
		for j := len(b); j >= 0; j-- {
			switch {
			case i == len(a) && j == len(b):
				row[j] = true
			case i < len(a) && a[i] == "**":
				row[j] = below[j] || j < len(b) && row[j+1]
			case j < len(b) && b[j] == any:
				row[j] = row[j+1] || i < len(a) && below[j]
			case i == len(a) || j == len(b):
				row[j] = false
			default:
				row[j] = below[j+1] && same(a[i], b[j])
			}
		}
		row, below = below, row
	}
	return below[0]
}

// shellGlob is glob for what a shell expands. Whatever else than * it may expand, it may be the name.
func shellGlob(pattern, name string) bool {
	return strings.ContainsAny(pattern, "?[{") || human.Glob(pattern, name)
}

// maxDepth is how many folders deep a path is looked at.
const maxDepth = 100

// ground is where a call is made.
type ground struct{ root, home string }

func factsOf(call gate.Call, c Circumstances) ground {
	g := ground{root: c.Project, home: cmp.Or(call.Home, "/home/user")} // as the engine has it
	if g.root == "" {
		g.root = call.Root
	}
	if g.root == "" {
		g.root = call.Cwd
	}
	return g
}

// absolute is a path from a rule or an effect, cleaned.
func (g ground) absolute(p string) string {
	switch {
	case p == "~" || strings.HasPrefix(p, "~/"):
		p = g.home + p[1:]
	case !strings.HasPrefix(p, "/"):
		p = g.root + "/" + p
	}
	return path.Clean("/" + p)
}

func split(abs string) []string { return strings.Split(strings.TrimPrefix(abs, "/"), "/") }

// pathOf is the path that an effect touches, or "" for none.
func pathOf(e human.Effect) string {
	if e.Target != "" {
		if e.Target[0] == '/' || e.Target[0] == '.' {
			return e.Target
		}
		return ""
	}
	switch e.Verb {
	case human.FilesystemRead, human.FilesystemWrite, human.FilesystemDelete, human.CredentialAccess, human.PersistenceEffect:
		return e.Resource
	}
	return ""
}

// A route is a rule's path, made ready.
type route struct {
	from  byte // what it begins at: / the root, ~ the home, . the project
	names []string
}

func routeOf(p string) *route {
	switch {
	case p == "":
		return nil
	case p[0] == '/':
		return &route{'/', split(path.Clean(p))}
	case p == "~" || strings.HasPrefix(p, "~/"):
		return &route{'~', split(path.Clean("/" + p[1:]))}
	}
	return &route{'.', split(path.Clean("/" + p))} // not above the project
}

// of is the route as names from the root, for a call. It holds until the next is asked for.
func (j *judging) of(r *route) []string {
	start := j.roots
	switch r.from {
	case '/':
		return r.names
	case '~':
		start = j.homes
	}
	if len(r.names) == 1 && r.names[0] == "" {
		return start
	}
	j.scratch = append(append(j.scratch[:0], start...), r.names...)
	return j.scratch
}

// at is the path of an effect as names from the root; nil for none.
func (j *judging) at(e human.Effect) []string {
	p := pathOf(e)
	if p == "" {
		return nil
	}
	have, ok := j.paths[p]
	if !ok {
		have = split(j.ground.absolute(strings.TrimSuffix(strings.TrimSuffix(p, "/**"), "/*")))
		if j.paths == nil {
			j.paths = map[string][]string{}
		}
		j.paths[p] = have
	}
	return have
}

// touches says whether an effect is of what a rule's path names. Where wide, that is so too of what is removed with the
// folder around it.
func (j *judging) touches(r *route, e human.Effect, wide bool) bool {
	have := j.at(e)
	if have == nil {
		return false
	}
	if len(have) > maxDepth {
		return wide
	}
	want := j.of(r)
	if globPath(want, have) || wide && meet(want, have) {
		return true
	}
	if !wide || e.Verb != human.FilesystemDelete && e.Verb != human.GitDiscard {
		return false
	}
	// The folders above what the pattern names: those that its beginning names.
	for i := range want {
		if want[i] == "**" {
			break
		}
		if globPath(want[:i], have) {
			return true
		}
	}
	return len(have) == 1 && have[0] == ""
}
